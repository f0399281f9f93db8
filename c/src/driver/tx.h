/*
 * The transmit path (datasheet 7.2).
 *
 * The ring protocol is that of rx.h, with full descriptors in place of empty ones. The device
 * owns the descriptors from the head, TDH, up to the tail, TDT, without TDT itself. It sends
 * their packets in order and reports each by DD in its descriptor. The driver owns the others.
 * It writes a descriptor at `index`, hands it over by moving TDT, and takes packets back from
 * `clean_index` on once DD is there.
 *
 * TDH == TDT means that the ring is empty, so one descriptor always stays with the driver.
 */
#ifndef IXGBE_TX_H
#define IXGBE_TX_H

#include "driver/descriptor.h"
#include "driver/mempool.h"
#include "driver/register_access.h"

struct tx_queue {
	struct descriptor *ring;
	struct packet **packets; /* packets[i] is sent from descriptor i */
	volatile uint32_t *tail; /* TDT, or NULL if it is not mapped */
	uint32_t tail_offset; /* of TDT in BAR0 */
	uint32_t mask; /* ring size - 1 */
	uint32_t index; /* the descriptor to write next */
	uint32_t clean_index; /* the oldest descriptor whose packet was not taken back */
	uint64_t done; /* packets that the device has reported as sent */
	uint32_t id;
	struct vfio_device *vfio;
	struct dma_memory dma;
	uint8_t apart[CACHE_LINES_APART]; /* the next queue may belong to another thread */
};

/* Whether the device has sent from descriptor `index`. */
static inline bool tx_done(const struct tx_queue *queue, uint32_t index)
{
	/*
	 * 7.2.3.2.4 write-back format. DD proves that the packet was sent (TRUST-DD). The buffer may
	 * then be written. That needs no barrier: a store waits for the branch before it.
	 */
	return dma_load64(&queue->ring[index].upper) & IXGBE_TXD_DD;
}

/*
 * Whether the device has sent the next `count` packets. It sends in order, so the DD of the last one's
 * descriptor stands for those before it (TRUST-TX-ORDER).
 */
static inline bool tx_all_done(const struct tx_queue *queue, uint32_t count)
{
	return ((queue->index - queue->clean_index) & queue->mask) >= count &&
	       tx_done(queue, (queue->clean_index + count - 1) & queue->mask);
}

/*
 * Hands up to `count` packets to the device. Returns the number of packets that it took; the
 * caller keeps the others. Takes sent packets back, 32 at a time.
 */
uint32_t tx_batch(struct tx_queue *queue, struct packet **packets, uint32_t count);

/*
 * The parts of tx_batch for a thread that does not have the packets' pool: tx_put only hands packets
 * to the device, at most tx_space of them.
 */
uint32_t tx_space(const struct tx_queue *queue);
uint32_t tx_put(struct tx_queue *queue, struct packet **packets, uint32_t count);

/* Takes all sent packets back, even fewer than 32. */
void tx_reclaim(struct tx_queue *queue);

#endif
