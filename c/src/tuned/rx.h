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

/* A packet has 1 to 2048 bytes: BSIZEPACKET, and the room behind each place. */
#define RX_MIN_SIZE 1
#define RX_MAX_SIZE 2048

/*
 * 7.1.6.2 write-back format. The upper word of a packet that arrived as a whole, minus RX_WHOLE, has none of these
 * bits: DD and EOP become 0, and the length minus 1 is below 2048.
 */
#define RX_WHOLE (IXGBE_RXD_DD | IXGBE_RXD_EOP | IXGBE_FIELD(IXGBE_RXD_LENGTH, RX_MIN_SIZE))
#define RX_WRONG                                                                                   \
	(IXGBE_RXD_DD | IXGBE_RXD_EOP |                                                            \
	 (IXGBE_RXD_LENGTH & ~IXGBE_FIELD(IXGBE_RXD_LENGTH, RX_MAX_SIZE - RX_MIN_SIZE)))

/* Whether a descriptor has a whole packet, of a possible length. */
static inline bool rx_is_whole(uint64_t upper)
{
	return ((upper - RX_WHOLE) & RX_WRONG) == 0;
}

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
