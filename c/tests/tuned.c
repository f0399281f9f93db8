/* The tuned path without a device: the test plays the device, at both ends of one direction. */
#include "rooms/lane.h"
#include "test.h"

#define RING_SIZE 64
#define POOL_CAPACITY (4 * RING_SIZE + TUNED_MAX_BATCH)

struct played {
	struct vfio_container container;
	struct vfio_device vfio;
	struct mempool pool;
	struct rx_queue rx[2];
	struct tx_queue tx[2];
	uint32_t tails[4];
	struct tuned_lane *lane;
	struct agent agent; /* from rx[0] to tx[1], for tests without the lane */
	uint32_t rx_head; /* RDH of rx[0] */
	uint32_t tx_head; /* TDH of tx[1] */
};

static void alloc_ring(struct played *played, struct dma_memory *dma, struct descriptor **ring)
{
	struct error error;

	CHECK(dma_alloc(&played->container, RING_SIZE * sizeof(**ring), dma, &error) == 0);
	*ring = dma->memory;
}

static struct played *played_create(void)
{
	struct error error;
	struct played *played = calloc(1, sizeof(*played));

	CHECK(played != NULL);
	vfio_container_init(&played->container);
	CHECK(mempool_create_strided(&played->pool, &played->container, POOL_CAPACITY,
				     PACKET_STRIDE_ODD, &error) == 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct rx_queue *rx = &played->rx[i];
		struct tx_queue *tx = &played->tx[i];

		*rx = (struct rx_queue){.pool = &played->pool,
					.mask = RING_SIZE - 1,
					.tail = &played->tails[i],
					.vfio = &played->vfio};
		*tx = (struct tx_queue){.mask = RING_SIZE - 1,
					.tail = &played->tails[2 + i],
					.vfio = &played->vfio};
		alloc_ring(played, &rx->dma, &rx->ring);
		alloc_ring(played, &tx->dma, &tx->ring);
		rx->packets = calloc(RING_SIZE, sizeof(struct packet *));
		CHECK(rx->packets != NULL);
		for (uint32_t j = 0; j < RING_SIZE; j++) {
			rx->packets[j] = packet_alloc(&played->pool);
			rx->ring[j].lower = rx->packets[j]->iova;
		}
		played->tails[i] = RING_SIZE - 1;
	}
	struct rx_queue *const rx[2] = {&played->rx[0], &played->rx[1]};
	struct tx_queue *const tx[2] = {&played->tx[0], &played->tx[1]};

	played->lane = tuned_lane_create(rx, tx);
	CHECK(played->lane != NULL);
	CHECK(agent_init(&played->agent, rx[0], tx[1], &error) == 0);
	return played;
}

static void played_destroy(struct played *played)
{
	tuned_lane_destroy(played->lane);
	for (uint32_t i = 0; i < 2; i++) {
		free((void *)played->rx[i].packets);
		dma_free(&played->rx[i].dma);
		dma_free(&played->tx[i].dma);
	}
	mempool_destroy(&played->pool);
	vfio_container_close(&played->container);
	free(played);
}

/* Frames of `size` bytes arrive, or parts of one. The last byte of each is written, to show that there is room. */
static void device_receives(struct played *played, uint32_t count, uint64_t size, bool last)
{
	for (uint32_t i = 0; i < count; i++) {
		struct descriptor *descriptor = &played->rx[0].ring[played->rx_head];
		uint64_t place = descriptor->lower - played->pool.dma.iova;

		CHECK(played->rx_head != played->tails[0]);
		if (size > 0 && size <= 2048) {
			((uint8_t *)played->pool.dma.memory)[place + size - 1] = 0xff;
		}
		descriptor->upper = size << 32 | IXGBE_RXD_DD | (last ? IXGBE_RXD_EOP : 0);
		played->rx_head = (played->rx_head + 1) % RING_SIZE;
	}
}

/* The device sends packets, and reports those with RS. Returns their number. */
static uint32_t device_sends(struct played *played, uint32_t count)
{
	uint32_t sent = 0;

	for (; sent < count && played->tx_head != played->tails[3]; sent++) {
		struct descriptor *descriptor = &played->tx[1].ring[played->tx_head];

		if (descriptor->upper & IXGBE_TXD_RS) {
			descriptor->upper |= IXGBE_TXD_DD;
		}
		played->tx_head = (played->tx_head + 1) % RING_SIZE;
	}
	return sent;
}

static void check_turn(struct played *played, uint32_t wanted, uint32_t received, uint32_t sent)
{
	struct tuned_turn turn = tuned_forward(played->lane, 0, wanted);

	CHECK_EQUAL(turn.received, received);
	CHECK_EQUAL(turn.sent, sent);
}

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Checks that each buffer is in one place. */
static void check_places(const struct played *played)
{
	uint32_t all[POOL_CAPACITY];
	uint32_t *next = all;
	const struct tuned_lane *lane = played->lane;

	for (uint32_t i = 0; i < 2; i++) {
		memcpy(next, lane->rx[i].places, RING_SIZE * sizeof(all[0]));
		next += RING_SIZE;
		memcpy(next, lane->tx[i].places, RING_SIZE * sizeof(all[0]));
		next += RING_SIZE;
	}
	memcpy(next, lane->batch.places, sizeof(lane->batch.places));
	qsort(all, POOL_CAPACITY, sizeof(all[0]), compare);
	for (uint32_t i = 0; i < POOL_CAPACITY; i++) {
		CHECK_EQUAL(all[i], i * PACKET_STRIDE_ODD + PACKET_HEADROOM);
	}
}

static void only_every_32nd_descriptor_asks_for_a_report(void)
{
	struct played *played = played_create();

	device_receives(played, 60, 60, true);
	check_turn(played, 32, 32, 32);
	check_turn(played, 32, 28, 28);
	for (uint32_t i = 0; i < 60; i++) {
		CHECK_EQUAL((played->tx[1].ring[i].upper & IXGBE_TXD_RS) != 0, i == 31);
	}
	played_destroy(played);
}

static void a_group_counts_only_when_all_four_are_done(void)
{
	struct played *played = played_create();
	uint64_t *late = &played->rx[0].ring[2].upper;

	device_receives(played, 4, 60, true);
	uint64_t written_back = *late;

	*late = 0;
	check_turn(played, 32, 2, 2);
	check_turn(played, 32, 0, 0);
	*late = written_back;
	check_turn(played, 32, 2, 2);
	played_destroy(played);
}

static void impossible_lengths_and_parts_are_dropped(void)
{
	struct played *played = played_create();

	device_receives(played, 1, 60, true);
	device_receives(played, 1, 0, true);
	device_receives(played, 1, 2048, true);
	device_receives(played, 1, 2049, true);
	device_receives(played, 1, 0xffff, true);
	device_receives(played, 1, 2048, false);
	device_receives(played, 1, 100, true);
	device_receives(played, 2, 61, true);
	check_turn(played, 32, 4, 4);
	CHECK_EQUAL(played->rx[0].discarded, 4);
	check_places(played);
	/* The next batch begins at a multiple of four again. */
	device_receives(played, 43, 60, true);
	check_turn(played, 32, 31, 31);
	CHECK_EQUAL(played->rx[0].index % 4, 0);
	played_destroy(played);
}

static void a_full_ring_drops_and_goes_on(void)
{
	struct played *played = played_create();

	device_receives(played, 63, 60, true);
	check_turn(played, 63, 60, 60);
	check_turn(played, 32, 3, 3);
	device_receives(played, 32, 60, true);
	/* Three less, so that the next batch begins at a multiple of four. */
	check_turn(played, 32, 29, 0);
	check_places(played);
	CHECK_EQUAL(device_sends(played, 32), 32);
	device_receives(played, 31, 60, true);
	check_turn(played, 32, 32, 32);
	CHECK_EQUAL(played->tx[1].done, 32);
	check_places(played);
	played_destroy(played);
}

/* A descriptor whose packet waits to be sent has an old DD. Only the limit keeps the agent from sending it again. */
static void the_agent_sends_no_packet_twice(void)
{
	struct played *played = played_create();

	device_receives(played, 63, 60, true);
	CHECK_EQUAL(agent_forward(&played->agent, 63), 60);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 3);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 0);
	CHECK_EQUAL(played->tails[0], 63);
	CHECK_EQUAL(device_sends(played, 31), 31);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 0);
	/* The 32nd reports all of them. */
	CHECK_EQUAL(device_sends(played, 1), 1);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 0);
	CHECK_EQUAL(played->tails[0], 31);
	device_receives(played, 32, 60, true);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 29);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 3);
	CHECK_EQUAL(agent_forward(&played->agent, 32), 0);
	played_destroy(played);
}

static void the_agent_stops_at_a_frame_that_it_cannot_send(void)
{
	static const struct {
		uint64_t size;
		bool last;
	} frames[] = {{0, true}, {2049, true}, {60, false}};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct played *played = played_create();
		struct error error;

		device_receives(played, 5, 2048, true);
		CHECK(agent_check(&played->agent, &error) == 0);
		device_receives(played, 1, frames[i].size, frames[i].last);
		device_receives(played, 3, 60, true);
		CHECK_EQUAL(agent_forward(&played->agent, 32), 5);
		CHECK_EQUAL(agent_forward(&played->agent, 32), 0);
		CHECK(agent_check(&played->agent, &error) != 0);
		CHECK(strstr(error.text, "descriptor 5 of RX queue 0") != NULL);
		played_destroy(played);
	}
}

int main(void)
{
	only_every_32nd_descriptor_asks_for_a_report();
	a_group_counts_only_when_all_four_are_done();
	impossible_lengths_and_parts_are_dropped();
	a_full_ring_drops_and_goes_on();
	the_agent_sends_no_packet_twice();
	the_agent_stops_at_a_frame_that_it_cannot_send();
	return 0;
}
