/* The tuned receive path (datasheet 7.1). rx.h and batch.h explain it. */
#include "tuned/rx.h"
#include "driver/data_path.h"
#include "tuned/quad.h"

/*
 * Receives groups of four, until one is not whole. `index` is a multiple of four, and `groups` end at the ring's end at
 * the latest. Returns the number of packets.
 */
static inline uint32_t rx_groups(const struct tuned_rx *rx, struct tuned_batch *batch,
				 uint32_t received, uint32_t index, uint32_t groups)
{
	struct descriptor *ring = rx->queue->ring + index;
	uint32_t *slots = rx->places + index;
	uint32_t *places = batch->places + received;
	uint32_t *sizes = batch->sizes + received;
	const struct quad64 iova = quad64_splat(rx->iova);
	const struct quad64 minus_whole = quad64_splat(-RX_WHOLE);
	const struct quad64 wrong = quad64_splat(RX_WRONG);
	size_t done = 0;

	UNROLLED(2)
	for (; done < groups; done++) {
		/*
		 * DD proves that the device gave the descriptor back (TRUST-DD). A group counts only if all four are
		 * done, because the device writes them one by one.
		 */
		struct quad64 upper = descriptors_load_upper(ring + QUAD * done);

		if (__builtin_expect(!quad64_has_none_of(quad64_add(upper, minus_whole), wrong),
				     0)) {
			break;
		}
		struct quad32 full = quad32_load(slots + QUAD * done);
		struct quad32 empty = quad32_load(places + QUAD * done);

		quad32_store(slots + QUAD * done, empty);
		quad32_store(places + QUAD * done, full);
		quad32_store(sizes + QUAD * done, quad64_bits_32_to_47(upper));
		/* 7.1.6.1 read format: the address, and a header address of 0, which clears DD */
		descriptors_store(ring + QUAD * done, quad64_add(quad64_widen(empty), iova),
				  quad64_splat(0));
	}
	return QUAD * (uint32_t)done;
}

/*
 * Goes on where a group was not whole: receives one descriptor at a time until the index is a multiple of four again.
 * Drops frames that span several descriptors, and those of an impossible length.
 */
static __attribute__((noinline, cold)) void rx_more(const struct tuned_rx *rx,
						    struct tuned_batch *batch, uint32_t count)
{
	struct rx_queue *const queue = rx->queue;
	uint32_t index = queue->index;
	uint32_t received = batch->count;

	while (received < count) {
		struct descriptor *descriptor = &queue->ring[index];
		uint64_t status = dma_load64(&descriptor->upper);
		bool is_end = (status & IXGBE_RXD_EOP) != 0;

		if (!(status & IXGBE_RXD_DD)) {
			break;
		}
		if (queue->discarding || !rx_is_whole(status)) {
			queue->discarding = !is_end;
			queue->discarded += is_end;
			/* Counts against the batch, so that such frames cannot keep the loop going. */
			count--;
		} else {
			uint32_t full = rx->places[index];

			rx->places[index] = batch->places[received];
			batch->places[received] = full;
			batch->sizes[received] = (uint32_t)IXGBE_FIELD_GET(IXGBE_RXD_LENGTH,
									   status);
			received++;
		}
		dma_store64(&descriptor->lower, rx->iova + rx->places[index]);
		dma_store64(&descriptor->upper, 0);
		index = (index + 1) & queue->mask;
		if (index % QUAD == 0 && !queue->discarding && received < count) {
			uint32_t left = count - received;
			uint32_t to_end = queue->mask + 1 - index;
			uint32_t whole = rx_groups(rx, batch, received, index,
						   (left < to_end ? left : to_end) / QUAD);

			received += whole;
			index = (index + whole) & queue->mask;
		}
	}
	queue->index = index;
	batch->count = received;
}

DATA_PATH uint32_t tuned_rx_batch(struct tuned_rx *rx, struct tuned_batch *batch, uint32_t count)
{
	struct rx_queue *const queue = rx->queue;
	const uint32_t mask = queue->mask;
	const uint32_t first = queue->index;
	const uint32_t to_end = mask + 1 - first;
	const uint32_t end = (first + count) & ~(QUAD - 1);
	uint32_t received = 0;

	/* Ends on a multiple of four, so that the next batch starts on one. */
	if (__builtin_expect(end > first, 1)) {
		count = end - first;
	}
	if (__builtin_expect(first % QUAD == 0 && !queue->discarding, 1)) {
		received = rx_groups(rx, batch, 0, first, (count < to_end ? count : to_end) / QUAD);
	}
	batch->count = received;
	queue->index = (first + received) & mask;
	if (__builtin_expect(received != count, 0)) {
		rx_more(rx, batch, count);
		if (queue->index == first) {
			return 0;
		}
	}
	/*
	 * Orders the reads of DD above before the caller's reads of the packets' data, and earlier reads of recycled
	 * buffers before RDT, which lets the device fill them again (TRUST-RING-PROTOCOL).
	 */
	dma_read_barrier();
	/* Orders the writes of the descriptors above before the write of RDT. */
	dma_write_barrier();
	/* 7.1.9: RDT is the last refilled descriptor, one behind the next. */
	tail_write(queue->vfio, queue->tail, queue->tail_offset, (queue->index - 1) & mask);
	return batch->count;
}
