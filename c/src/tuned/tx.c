/* The tuned transmit path (datasheet 7.2). tx.h and batch.h explain it. */
#include "tuned/tx.h"
#include "driver/data_path.h"

/* Sends groups of four. `groups` end at the ring's end at the latest. `index` need not be a multiple of four. */
static inline void tx_groups(const struct tuned_tx *tx, struct tuned_batch *batch, uint32_t sent,
			     uint32_t index, uint32_t groups)
{
	struct descriptor *ring = tx->queue->ring + index;
	uint32_t *slots = tx->places + index;
	uint32_t *places = batch->places + sent;
	const uint32_t *sizes = batch->sizes + sent;
	const struct quad64 iova = quad64_splat(tx->iova);

	UNROLLED(2)
	for (size_t i = 0; i < groups; i++) {
		struct quad32 full = quad32_load(places + QUAD * i);
		struct quad32 empty = quad32_load(slots + QUAD * i);
		struct quad64 size = quad64_widen(quad32_load(sizes + QUAD * i));

		quad32_store(slots + QUAD * i, full);
		quad32_store(places + QUAD * i, empty);
		descriptors_store(ring + QUAD * i, quad64_add(quad64_widen(full), iova),
				  tx_upper_words(size));
	}
}

/* Sends the rest of a batch that does not consist of groups, or spans the ring's end. */
static __attribute__((noinline, cold)) void tx_more(const struct tuned_tx *tx,
						    struct tuned_batch *batch, uint32_t index,
						    uint32_t sent, uint32_t count)
{
	while (sent < count) {
		uint32_t left = count - sent;
		uint32_t to_end = tx->queue->mask + 1 - index;
		uint32_t groups = (left < to_end ? left : to_end) / QUAD;
		uint32_t done = QUAD * groups;

		tx_groups(tx, batch, sent, index, groups);
		if (groups == 0) {
			struct descriptor *descriptor = &tx->queue->ring[index];
			uint32_t full = batch->places[sent];

			batch->places[sent] = tx->places[index];
			tx->places[index] = full;
			dma_store64(&descriptor->lower, tx->iova + full);
			dma_store64(&descriptor->upper, tx_upper_word(batch->sizes[sent]));
			done = 1;
		}
		sent += done;
		index = (index + done) & tx->queue->mask;
	}
}

DATA_PATH uint32_t tuned_tx_batch(struct tuned_tx *tx, struct tuned_batch *batch)
{
	struct tx_queue *const queue = tx->queue;
	const uint32_t mask = queue->mask;
	const uint32_t first = queue->index;

	/* The device sends in order, so the DD of the 32nd stands for those before it (TRUST-TX-ORDER). */
	while (tx_all_done(queue, TX_RS_EVERY)) {
		queue->clean_index = (queue->clean_index + TX_RS_EVERY) & mask;
		queue->done += TX_RS_EVERY;
	}
	const uint32_t space = tx_space(queue);
	const uint32_t count = batch->count < space ? batch->count : space;
	const uint32_t to_end = mask + 1 - first;
	const uint32_t groups = (count < to_end ? count : to_end) / QUAD;

	if (__builtin_expect(count == 0, 0)) {
		return 0;
	}
	tx_groups(tx, batch, 0, first, groups);
	if (__builtin_expect(QUAD * groups != count, 0)) {
		tx_more(tx, batch, (first + QUAD * groups) & mask, QUAD * groups, count);
	}
	tx_hand_over(queue, count);
	return count;
}
