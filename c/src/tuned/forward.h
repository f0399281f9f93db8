/* A lane of the tuned path: what forwards between two queue pairs by exchange. batch.h explains the exchange. */
#ifndef IXGBE_TUNED_FORWARD_H
#define IXGBE_TUNED_FORWARD_H

#include "driver/data_path.h"
#include "tuned/rx.h"
#include "tuned/tx.h"

/* The forwarder changes this byte of every packet, so that its data reaches the L1 cache. */
#define TOUCHED_BYTE 1

/* All rings of a lane, and its batch, hold places of one memory. So both directions share the batch. */
struct tuned_lane {
	struct tuned_rx rx[2]; /* of each device */
	struct tuned_tx tx[2];
	uint8_t *memory; /* place 0 */
	struct tuned_batch batch;
};

/* What became of a batch. */
struct tuned_turn {
	uint32_t received;
	uint32_t sent; /* the others are dropped */
};

/*
 * Turns the buffers of running queues into places, with others of their pool. Both RX queues have the same pool, with
 * buffers PACKET_STRIDE_ODD apart. Returns NULL if there is too little memory.
 */
struct tuned_lane *tuned_lane_create(struct rx_queue *const rx[2], struct tx_queue *const tx[2]);

/* Forwards up to `wanted` packets from device `from` to the other. */
static inline struct tuned_turn tuned_forward(struct tuned_lane *lane, uint32_t from,
					      uint32_t wanted)
{
	struct tuned_batch *const batch = &lane->batch;
	uint8_t *const touched = lane->memory + TOUCHED_BYTE;
	struct tuned_turn turn = {tuned_rx_batch(&lane->rx[from], batch, wanted), 0};

	if (turn.received == 0) {
		return turn;
	}
	UNROLLED(4)
	for (uint32_t i = 0; i < turn.received; i++) {
		touched[batch->places[i]]++;
	}
	turn.sent = tuned_tx_batch(&lane->tx[1 - from], batch);
	return turn;
}

/* Frees a lane, if there is one. Its queues are stopped. */
void tuned_lane_destroy(struct tuned_lane *lane);

#endif
