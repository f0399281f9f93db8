/*
 * The tuned transmit path (datasheet 7.2). driver/tx.h explains the ring protocol, batch.h the exchange.
 *
 * The device reports only every 32nd descriptor (RS), and the driver looks only there. It needs TXDCTL.WTHRESH 0: with
 * a threshold, the device would report all descriptors (7.2.3.4.2). So DD never shows the last 1 to 31 packets; the stop
 * of the queue goes by TDH.
 */
#ifndef IXGBE_TUNED_TX_H
#define IXGBE_TUNED_TX_H

#include "driver/tx.h"
#include "tuned/batch.h"
#include "tuned/quad.h"

/* 7.2.3.2.4: one descriptor in so many has RS. */
#define TX_RS_EVERY 32

/* 7.2.3.2.4 advanced data descriptor: one buffer, which is the whole frame */
#define TX_COMMAND (IXGBE_TXD_DTYP_DATA | IXGBE_TXD_DEXT | IXGBE_TXD_IFCS | IXGBE_TXD_EOP)
#define TX_PAYLEN_SHIFT 46

_Static_assert(IXGBE_FIELD(IXGBE_TXD_PAYLEN, 1) == UINT64_C(1) << TX_PAYLEN_SHIFT, "PAYLEN");
_Static_assert(IXGBE_FIELD(IXGBE_TXD_DTALEN, 1) == 1, "DTALEN is the lowest field");

/* The upper words for frames of four sizes. Command and lengths share no bit, so the sum has all their bits. */
static inline struct quad64 tx_upper_words(struct quad64 sizes)
{
	return quad64_add(quad64_add(sizes, quad64_splat(TX_COMMAND)),
			  quad64_shift_left(sizes, TX_PAYLEN_SHIFT));
}

/* The same for one. */
static inline uint64_t tx_upper_word(uint64_t size)
{
	return TX_COMMAND | IXGBE_FIELD(IXGBE_TXD_PAYLEN, size) |
	       IXGBE_FIELD(IXGBE_TXD_DTALEN, size);
}

/* Hands the next `count` descriptors, which are written, to the device. */
static inline void tx_hand_over(struct tx_queue *queue, uint32_t count)
{
	const uint32_t first = queue->index;

	/* RS comes before TDT, from which on the device may read the descriptors. */
	for (uint32_t last = first | (TX_RS_EVERY - 1); last - first < count; last += TX_RS_EVERY) {
		uint64_t *upper = &queue->ring[last & queue->mask].upper;

		dma_store64(upper, dma_load64(upper) | IXGBE_TXD_RS);
	}
	queue->index = (first + count) & queue->mask;
	/* Orders the writes of the descriptors and packets above before the write of TDT. */
	dma_write_barrier();
	tail_write(queue->vfio, queue->tail, queue->tail_offset, queue->index);
}

struct tuned_tx {
	struct tx_queue *queue; /* `clean_index` is a multiple of 32 */
	uint32_t *places; /* descriptor i points to places[i], or did, if its packet was sent */
	uint64_t iova; /* of place 0 */
};

/*
 * Exchanges the packets of the batch for empty places, as many as the ring can take. Returns their number. The others
 * are dropped: they stay in the batch as empty places.
 */
uint32_t tuned_tx_batch(struct tuned_tx *tx, struct tuned_batch *batch);

#endif
