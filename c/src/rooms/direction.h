/* One direction of a queue pair: what the forwarder and the pipeline share. */
#ifndef IXGBE_DIRECTION_H
#define IXGBE_DIRECTION_H

#include "driver/rx.h"
#include "driver/tx.h"
#include "rooms/forwarder.h"

/* The forwarder changes this byte of every packet, so that its data reaches the L1 cache. */
#define TOUCHED_BYTE 1

struct direction {
	struct rx_queue *rx;
	struct tx_queue *tx;
};

/* Direction 0 (a to b) or 1 (b to a) of a queue. forwarder.c, as the functions below */
struct direction forwarder_direction(const struct forwarder *forwarder, uint32_t queue,
				     uint32_t direction);

/* The queue pairs of each device. */
uint32_t forwarder_queues(const struct forwarder *forwarder);

/* The packets of a batch. */
uint32_t forwarder_batch(const struct forwarder *forwarder);

/* Adds what others forwarded with a queue. */
void forwarder_add_counts(struct forwarder *forwarder, uint32_t queue,
			  const struct forwarder_counts *more);

#endif
