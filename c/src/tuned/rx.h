/*
 * The tuned receive path (datasheet 7.1). driver/rx.h explains the ring protocol, batch.h the exchange.
 *
 * Four descriptors are received at once: they start at a multiple of four, so they never span the ring's end. They
 * count only if the device has written all four back.
 */
#ifndef IXGBE_TUNED_RX_H
#define IXGBE_TUNED_RX_H

#include "driver/rx.h"
#include "tuned/batch.h"

struct tuned_rx {
	struct rx_queue *queue;
	uint32_t *places; /* descriptor i points to places[i] */
	uint64_t iova; /* of place 0 */
};

/*
 * Exchanges up to `count` received packets, at most TUNED_MAX_BATCH, for empty places of the batch. Ends on a multiple
 * of four descriptors if it can, so that the next call starts on one. Returns the number of packets.
 */
uint32_t tuned_rx_batch(struct tuned_rx *rx, struct tuned_batch *batch, uint32_t count);

#endif
