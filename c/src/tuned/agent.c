/* The agent (datasheet 7.1 and 7.2). agent.h explains it. */
#include "tuned/agent.h"
#include "driver/data_path.h"
#include "tuned/forward.h"

/* Bytes from buffer 0 to buffer `index`. */
#define OFFSET(index) ((size_t)(index) * PACKET_STRIDE_ODD)

/* Of four buffers in a row, from the first. */
static const uint32_t offsets[QUAD] = {OFFSET(0), OFFSET(1), OFFSET(2), OFFSET(3)};

/* The addresses of buffer `index` and the next three. */
static inline struct quad64 four_addresses(const struct agent *agent, uint32_t index)
{
	return quad64_add(quad64_splat(agent->iova + OFFSET(index)),
			  quad64_widen(quad32_load(offsets)));
}

int agent_init(struct agent *agent, struct rx_queue *rx, struct tx_queue *tx, struct error *error)
{
	*agent = (struct agent){rx, tx, rx->packets[0]->data, rx->packets[0]->iova};
	for (uint32_t i = 0; i <= rx->mask; i++) {
		if (rx->packets[i]->iova != agent->iova + OFFSET(i)) {
			return error_fail(
				error,
				"%s: the buffers of RX queue %u do not lie in the order of "
				"its descriptors, as the agent needs them",
				rx->vfio->address, rx->id);
		}
	}
	return 0;
}

/* Gives the buffers that were sent back to the receiving device, 32 at a time. */
static inline void agent_refill(const struct agent *agent)
{
	struct tx_queue *const tx = agent->tx;
	struct rx_queue *const rx = agent->rx;
	const struct quad64 next = quad64_splat(OFFSET(QUAD));
	bool refilled = false;

	/* The device sends in order, so the DD of the 32nd stands for those before it (TRUST-TX-ORDER). */
	while (tx_all_done(tx, TX_RS_EVERY)) {
		struct descriptor *ring = rx->ring + tx->clean_index;
		struct quad64 addresses = four_addresses(agent, tx->clean_index);

		/* 7.1.6.1 read format: the address, and a header address of 0, which clears DD */
		UNROLLED(8)
		for (size_t i = 0; i < TX_RS_EVERY; i += QUAD) {
			descriptors_store(ring + i, addresses, quad64_splat(0));
			addresses = quad64_add(addresses, next);
		}
		tx->clean_index = (tx->clean_index + TX_RS_EVERY) & tx->mask;
		tx->done += TX_RS_EVERY;
		refilled = true;
	}
	if (refilled) {
		/* Orders the writes of the descriptors above before the write of RDT. */
		dma_write_barrier();
		/* 7.1.9: RDT is the last refilled descriptor, one behind the next. */
		tail_write(rx->vfio, rx->tail, rx->tail_offset, (tx->clean_index - 1) & rx->mask);
	}
}

/*
 * Forwards groups of four, until one is not whole. `index` is a multiple of four, and `groups` end at the ring's end at
 * the latest. Returns the number of packets.
 */
static inline uint32_t agent_groups(const struct agent *agent, uint32_t index, uint32_t groups)
{
	const struct descriptor *from = agent->rx->ring + index;
	struct descriptor *to = agent->tx->ring + index;
	uint8_t *touched = agent->data + OFFSET(index) + TOUCHED_BYTE;
	struct quad64 addresses = four_addresses(agent, index);
	const struct quad64 next = quad64_splat(OFFSET(QUAD));
	const struct quad64 minus_whole = quad64_splat(-RX_WHOLE);
	const struct quad64 wrong = quad64_splat(RX_WRONG);
	size_t done = 0;

	UNROLLED(2)
	for (; done < groups; done++) {
		/* DD proves that the device gave the descriptor back (TRUST-DD). */
		struct quad64 upper = descriptors_load_upper(from + QUAD * done);

		if (__builtin_expect(!quad64_has_none_of(quad64_add(upper, minus_whole), wrong),
				     0)) {
			break;
		}
		/* Orders the reads of DD above before the reads of the packets' data. */
		dma_read_barrier();
		touched[0]++;
		touched[OFFSET(1)]++;
		touched[OFFSET(2)]++;
		touched[OFFSET(3)]++;
		touched += OFFSET(QUAD);
		descriptors_store(to + QUAD * done, addresses,
				  tx_upper_words(quad64_wide_bits_32_to_47(upper)));
		addresses = quad64_add(addresses, next);
	}
	return QUAD * (uint32_t)done;
}

/* Goes on where a group was not whole: one descriptor at a time until the index is a multiple of four again. */
static __attribute__((noinline, cold)) uint32_t agent_more(const struct agent *agent,
							   uint32_t forwarded, uint32_t count)
{
	const uint32_t mask = agent->rx->mask;
	uint32_t index = (agent->rx->index + forwarded) & mask;

	while (forwarded < count) {
		uint64_t status = dma_load64(&agent->rx->ring[index].upper);
		size_t offset = OFFSET(index);

		if (!rx_is_whole(status)) {
			break;
		}
		/* Orders the read of DD above before the read of the packet's data. */
		dma_read_barrier();
		agent->data[offset + TOUCHED_BYTE]++;
		dma_store64(&agent->tx->ring[index].lower, agent->iova + offset);
		dma_store64(&agent->tx->ring[index].upper,
			    tx_upper_word(IXGBE_FIELD_GET(IXGBE_RXD_LENGTH, status)));
		forwarded++;
		index = (index + 1) & mask;
		if (index % QUAD == 0) {
			uint32_t left = count - forwarded;
			uint32_t to_end = mask + 1 - index;
			uint32_t whole = agent_groups(agent, index,
						      (left < to_end ? left : to_end) / QUAD);

			forwarded += whole;
			index = (index + whole) & mask;
		}
	}
	return forwarded;
}

DATA_PATH uint32_t agent_forward(struct agent *agent, uint32_t count)
{
	struct rx_queue *const rx = agent->rx;
	const uint32_t mask = rx->mask;
	const uint32_t first = rx->index;
	const uint32_t to_end = mask + 1 - first;
	const uint32_t end = (first + count) & ~(QUAD - 1);
	uint32_t forwarded = 0;

	agent_refill(agent);
	/* Ends on a multiple of four, so that the next turn starts on one. */
	if (__builtin_expect(end > first, 1)) {
		count = end - first;
	}
	/* The others have an old DD: their packets are not sent yet. Only this limit keeps them from being sent again. */
	const uint32_t most = tx_space(agent->tx);

	if (__builtin_expect(count > most, 0)) {
		count = most;
	}
	if (__builtin_expect(first % QUAD == 0, 1)) {
		forwarded = agent_groups(agent, first, (count < to_end ? count : to_end) / QUAD);
	}
	if (__builtin_expect(forwarded != count, 0)) {
		forwarded = agent_more(agent, forwarded, count);
	}
	if (forwarded > 0) {
		rx->index = (first + forwarded) & mask;
		tx_hand_over(agent->tx, forwarded);
	}
	return forwarded;
}

int agent_check(const struct agent *agent, struct error *error)
{
	const struct rx_queue *rx = agent->rx;
	uint64_t status = dma_load64(&rx->ring[rx->index].upper);

	if (!(status & IXGBE_RXD_DD) || rx_is_whole(status)) {
		return 0;
	}
	return error_fail(
		error,
		"%s: descriptor %u of RX queue %u has %s of %u bytes, and the agent cannot "
		"drop it; --path tuned drops such frames",
		rx->vfio->address, rx->index, rx->id,
		status & IXGBE_RXD_EOP ? "a frame" : "a part of a frame",
		(uint32_t)IXGBE_FIELD_GET(IXGBE_RXD_LENGTH, status));
}
