/* The receive path (datasheet 7.1). rx.h explains the ring protocol. */
#include "driver/rx.h"
#include "driver/data_path.h"

/* Replaces the device's write-back by the address of an empty buffer. */
static inline void descriptor_refill(struct descriptor *descriptor, const struct packet *packet)
{
	/* 7.1.6.1 read format: the packet's address, and a header address of 0, which clears DD */
	dma_store64(&descriptor->lower, packet->iova);
	dma_store64(&descriptor->upper, 0);
}

/*
 * Drops a frame that spans several descriptors and refills them with their own buffers.
 * BSIZEPACKET holds any frame that MAXFRS lets through, so only a broken device sends one.
 * Returns the index after the last descriptor of the frame that is there.
 */
static uint32_t rx_discard(struct rx_queue *queue, uint32_t index)
{
	for (uint32_t i = 0; i <= queue->mask; i++) {
		struct descriptor *descriptor = &queue->ring[index];
		uint64_t status = dma_load64(&descriptor->upper);

		queue->discarding = true;
		if (!(status & IXGBE_RXD_DD)) {
			break;
		}
		descriptor_refill(descriptor, queue->packets[index]);
		index = (index + 1) & queue->mask;
		if (status & IXGBE_RXD_EOP) {
			queue->discarding = false;
			queue->discarded++;
			break;
		}
	}
	return index;
}

DATA_PATH uint32_t rx_batch(struct rx_queue *queue, struct packet **packets, uint32_t count)
{
	struct descriptor *const ring = queue->ring;
	struct packet **const ring_packets = queue->packets;
	struct mempool *const pool = queue->pool;
	struct packet **free = pool->free + pool->free_count;
	/* A received packet leaves the ring only in exchange for an empty buffer. */
	uint32_t limit = count < pool->free_count ? count : pool->free_count;
	const uint32_t mask = queue->mask;
	uint32_t index = queue->index;
	uint32_t received = 0;

	if (__builtin_expect(queue->discarding, 0)) {
		index = rx_discard(queue, index);
	}
	while (received < limit) {
		struct descriptor *descriptor = &ring[index];
		/*
		 * 7.1.6.2 write-back format. One 64-bit read takes DD, EOP and the length
		 * together, so it needs no barrier between them. DD proves that the device gave
		 * the descriptor back (TRUST-DD). Error bits are not read (TRUST-RX-ERRORS).
		 */
		uint64_t status = dma_load64(&descriptor->upper);

		if (!(status & IXGBE_RXD_DD)) {
			break;
		}
		if (__builtin_expect(!(status & IXGBE_RXD_EOP), 0)) {
			index = rx_discard(queue, index);
			if (queue->discarding) {
				break;
			}
			/* Counts against the batch, so that such frames cannot keep the loop going. */
			count--;
			limit = limit < count ? limit : count;
			continue;
		}
		/* The empty buffer is on top of the pool's stack. */
		free--;
		struct packet *fresh = *free;
		struct packet *packet = ring_packets[index];

		/* No cache of this core has the packet. It comes while the rest of the batch is received. */
		dma_prefetch(packet->data);
		/*
		 * TRUST-LENGTH: C believes the device's length. A length beyond the buffer makes
		 * the caller read and send the bytes behind it.
		 */
		packet->size = (uint32_t)IXGBE_FIELD_GET(IXGBE_RXD_LENGTH, status);
		ring_packets[index] = fresh;
		descriptor_refill(descriptor, fresh);
		packets[received] = packet;
		received++;
		/* The mask keeps the index inside the ring. */
		index = (index + 1) & mask;
	}
	pool->free_count -= received;
	if (__builtin_expect(pool->free_count == 0, 0) && received < count) {
		queue->pool_empty += dma_load64(&ring[index].upper) & IXGBE_RXD_DD;
	}
	if (index != queue->index) {
		queue->index = index;
		/*
		 * Orders the reads of DD above before the caller's reads of the packets' data.
		 * From here the device leaves those packets alone (TRUST-RING-PROTOCOL). It also
		 * orders earlier reads of recycled buffers before RDT, which lets the device fill
		 * them again.
		 */
		dma_read_barrier();
		/* Orders the writes of the descriptors above before the write of RDT. */
		dma_write_barrier();
		/* 7.1.9: RDT is the last refilled descriptor, one behind the next. See rx.h. */
		tail_write(queue->vfio, queue->tail, queue->tail_offset, (index - 1) & mask);
	}
	return received;
}

int enable_rx(struct vfio_device *vfio, bool on, struct error *error)
{
	/* 4.6.7: RXCTRL.RXEN may change only while the security block is halted. */
	reg_set(vfio, IXGBE_SECRXCTRL, IXGBE_SECRXCTRL_RX_DIS);
	if (reg_wait(vfio, IXGBE_SECRXSTAT, IXGBE_SECRXSTAT_SECRX_RDY, IXGBE_SECRXSTAT_SECRX_RDY,
		     "SECRXSTAT.SECRX_RDY", error) != 0) {
		return -1;
	}
	if (on) {
		reg_set(vfio, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	} else {
		reg_clear(vfio, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	}
	reg_clear(vfio, IXGBE_SECRXCTRL, IXGBE_SECRXCTRL_RX_DIS);
	return vfio_check(vfio, error);
}
