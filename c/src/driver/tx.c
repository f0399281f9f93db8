/* The transmit path (datasheet 7.2). tx.h and rx.h explain the ring protocol. */
#include "driver/tx.h"
#include "driver/data_path.h"

/* The driver checks DD once for this many packets. */
#define TX_CLEAN_BATCH 32

/* Takes back the packets of `count` descriptors that the device has sent. */
static inline void tx_free(struct tx_queue *queue, uint32_t count)
{
	struct packet **const packets = queue->packets;
	const uint32_t mask = queue->mask;
	uint32_t index = queue->clean_index;

	queue->done += count;
	/* The packets come from one pool, or from few, so the end of its stack stays at hand. */
	while (count > 0) {
		struct mempool *const pool = packets[index]->pool;
		struct packet **free = pool->free + pool->free_count;

		for (; count > 0 && packets[index]->pool == pool; count--) {
			*free = packets[index];
			free++;
			index = (index + 1) & mask;
		}
		pool->free_count = (uint32_t)(free - pool->free);
	}
	queue->clean_index = index;
}

/* Takes sent packets back, TX_CLEAN_BATCH at a time. */
static inline void tx_clean(struct tx_queue *queue)
{
	while (tx_all_done(queue, TX_CLEAN_BATCH)) {
		tx_free(queue, TX_CLEAN_BATCH);
	}
}

void tx_reclaim(struct tx_queue *queue)
{
	while (queue->clean_index != queue->index && tx_done(queue, queue->clean_index)) {
		tx_free(queue, 1);
	}
}

uint32_t tx_space(const struct tx_queue *queue)
{
	/* 7.2.1.2: TDH == TDT means empty, so one descriptor stays free. */
	return (queue->clean_index - queue->index - 1) & queue->mask;
}

DATA_PATH uint32_t tx_put(struct tx_queue *queue, struct packet **packets, uint32_t count)
{
	const uint32_t mask = queue->mask;
	uint32_t index = queue->index;
	uint32_t space = tx_space(queue);
	uint32_t sent = count < space ? count : space;

	for (uint32_t i = 0; i < sent; i++) {
		struct packet *packet = packets[i];
		struct descriptor *descriptor = &queue->ring[index];
		/*
		 * TRUST-SIZE: C believes the application's size. A size beyond the buffer makes
		 * the device send the bytes behind it.
		 */
		uint64_t size = packet->size;

		queue->packets[index] = packet;
		/* 7.2.3.2.4 advanced data descriptor: one buffer, which is the whole frame */
		dma_store64(&descriptor->lower, packet->iova);
		dma_store64(&descriptor->upper,
			    IXGBE_TXD_DTYP_DATA | IXGBE_TXD_DEXT | IXGBE_TXD_RS | IXGBE_TXD_IFCS |
				    IXGBE_TXD_EOP | IXGBE_FIELD(IXGBE_TXD_PAYLEN, size) |
				    IXGBE_FIELD(IXGBE_TXD_DTALEN, size));
		/* The mask keeps the index inside the ring. */
		index = (index + 1) & mask;
	}
	if (sent > 0) {
		queue->index = index;
		/* Orders the writes of the descriptors and packets above before the write of TDT. */
		dma_write_barrier();
		tail_write(queue->vfio, queue->tail, queue->tail_offset, index);
	}
	return sent;
}

DATA_PATH uint32_t tx_batch(struct tx_queue *queue, struct packet **packets, uint32_t count)
{
	tx_clean(queue);
	return tx_put(queue, packets, count);
}
