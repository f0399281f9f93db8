/*
 * The agent: descriptor i of an RX ring and of the other device's TX ring have the same buffer for ever, as in TinyNF.
 *
 * A packet is forwarded by writing its size from one ring into the other. No buffer moves, so there is neither a batch
 * nor an exchange. Both rings are always at the same index. So the agent sends all that it receives: it can drop no
 * packet, and skip no descriptor. While the TX ring is full, the device drops at the RX ring.
 */
#ifndef IXGBE_TUNED_AGENT_H
#define IXGBE_TUNED_AGENT_H

#include "driver/rx.h"
#include "driver/tx.h"
#include "error.h"

struct agent {
	struct rx_queue *rx;
	struct tx_queue *tx; /* its `clean_index` is also the RX descriptor to refill next */
	uint8_t *data; /* of buffer 0 */
	uint64_t iova; /* the same for the device */
};

/* Makes an agent of two running queues. Returns -1 and the reason if their buffers do not suit. */
int agent_init(struct agent *agent, struct rx_queue *rx, struct tx_queue *tx, struct error *error);

/* Forwards up to `count` packets. Ends on a multiple of four descriptors if it can. Returns the number of packets. */
uint32_t agent_forward(struct agent *agent, uint32_t count);

/*
 * Returns -1 and the reason if the agent is stuck at a frame that it cannot send: one that spans several descriptors,
 * or has an impossible length.
 */
int agent_check(const struct agent *agent, struct error *error);

#endif
