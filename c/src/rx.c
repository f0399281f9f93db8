/* The receive path (datasheet 7.1). */
#include "device.h"

/* Takes the device's write-back out of a descriptor and points it to `packet`. */
static inline void descriptor_refill(struct descriptor *descriptor, const struct packet *packet)
{
	/* 7.1.6.1 read format: the packet's address, and a header address of 0, which also clears DD */
	dma_store64(&descriptor->lower, packet->iova);
	dma_store64(&descriptor->upper, 0);
}

/*
 * Gives back the buffers of a frame that spans several descriptors. BSIZEPACKET holds
 * any frame that MAXFRS lets through, so only a broken device sends one; it is dropped.
 * Returns the index after the descriptors it has consumed.
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

uint32_t rx_batch(struct rx_queue *queue, struct packet **packets, uint32_t count)
{
	struct mempool *pool = queue->pool;
	const uint32_t mask = queue->mask;
	uint32_t index = queue->index;
	uint32_t received = 0;

	if (__builtin_expect(queue->discarding, 0)) {
		index = rx_discard(queue, index);
	}
	while (received < count) {
		struct descriptor *descriptor = &queue->ring[index];
		/*
		 * 7.1.6.2 write-back format. One 64-bit read takes DD, EOP and the length
		 * together, so no barrier is needed between them.
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
			/* Else a device that goes on writing them would keep us here for ever. */
			count--;
			continue;
		}
		/* A received packet leaves the ring only in exchange for a fresh buffer. */
		struct packet *fresh = packet_alloc(pool);

		if (__builtin_expect(fresh == NULL, 0)) {
			queue->pool_empty++;
			break;
		}
		struct packet *packet = queue->packets[index];

		packet->size = (uint32_t)IXGBE_FIELD_GET(IXGBE_RXD_LENGTH, status);
		queue->packets[index] = fresh;
		descriptor_refill(descriptor, fresh);
		packets[received] = packet;
		received++;
		index = (index + 1) & mask;
	}
	if (index != queue->index) {
		queue->index = index;
		/* Orders the reads of DD above before the caller's reads of the packets' data. */
		dma_read_barrier();
		/* Orders the writes of the descriptors above before the write of RDT. */
		dma_write_barrier();
		/*
		 * 7.1.9 RDH == RDT would mean that the device has no descriptor, so RDT is the
		 * last one refilled, one behind the next.
		 */
		tail_write(queue->device, queue->tail, IXGBE_RDT(queue->id), (index - 1) & mask);
	}
	return received;
}

int rx_check(struct rx_queue *queue, struct error *error)
{
	struct device *device = queue->device;
	uint32_t head = 0;

	for (uint32_t i = 0; i < DEVICE_CHECK_LOOKS; i++) {
		/* 7.1.9 Below RDH all descriptors are written back, if perhaps not yet in memory. */
		head = reg_read(device, IXGBE_RDH(queue->id));
		if (head == queue->index ||
		    dma_load64(&queue->ring[queue->index].upper) & IXGBE_RXD_DD) {
			return 0;
		}
		if (vfio_check(&device->vfio, error) != 0) {
			return -1;
		}
		sleep_us(DEVICE_CHECK_INTERVAL_US);
	}
	error_set(error,
		  "%s: RX queue %u is stalled: RDH is %u, and the device has not written back "
		  "descriptor %u, which comes next; restart the driver, which resets the device",
		  device->vfio.address, queue->id, head, queue->index);
	return -1;
}
