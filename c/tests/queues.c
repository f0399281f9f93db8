/*
 * Queues without a device: rings in the DMA memory of a container without devices, and variables
 * as tail registers. The test plays the device.
 */
#include "driver/device.h"
#include "rooms/health.h"
#include "test.h"

#define TEST_RING_SIZE 64
#define TEST_POOL_CAPACITY 256

struct queues {
	struct vfio_container container;
	struct mempool pool;
	struct device device;
	uint32_t rdt;
	uint32_t tdt;
};

static void queues_create(struct queues *queues, uint32_t pool_capacity)
{
	struct error error;
	const size_t ring_bytes = TEST_RING_SIZE * sizeof(struct descriptor);

	memset(queues, 0, sizeof(*queues));
	vfio_container_init(&queues->container);
	CHECK(mempool_create(&queues->pool, &queues->container, pool_capacity, &error) == 0);

	struct rx_queue *rx = &queues->device.rx[0];
	struct tx_queue *tx = &queues->device.tx[0];

	CHECK(dma_alloc(&queues->container, ring_bytes, &rx->dma, &error) == 0);
	CHECK(dma_alloc(&queues->container, ring_bytes, &tx->dma, &error) == 0);
	rx->ring = rx->dma.memory;
	tx->ring = tx->dma.memory;
	rx->packets = calloc(TEST_RING_SIZE, sizeof(struct packet *));
	tx->packets = calloc(TEST_RING_SIZE, sizeof(struct packet *));
	CHECK(rx->packets != NULL && tx->packets != NULL);
	rx->mask = TEST_RING_SIZE - 1;
	tx->mask = TEST_RING_SIZE - 1;
	rx->pool = &queues->pool;
	rx->vfio = &queues->device.vfio;
	tx->vfio = &queues->device.vfio;
	rx->tail = &queues->rdt;
	tx->tail = &queues->tdt;
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		rx->packets[i] = packet_alloc(&queues->pool);
		CHECK(rx->packets[i] != NULL);
		rx->ring[i].lower = rx->packets[i]->iova;
	}
	queues->rdt = TEST_RING_SIZE - 1;
}

static void queues_destroy(struct queues *queues)
{
	device_release(&queues->device);
	/* Every packet has come back. */
	CHECK_EQUAL(queues->pool.free_count, queues->pool.capacity);
	mempool_destroy(&queues->pool);
	vfio_container_close(&queues->container);
	CHECK_EQUAL(queues->container.map_count, 0);
}

/* Writes back RX descriptor `index`: a frame of `size` bytes, or a part of one. */
static void device_receives(struct queues *queues, uint32_t index, uint64_t size, bool last)
{
	queues->device.rx[0].ring[index].upper = size << 32 | IXGBE_RXD_DD |
						 (last ? IXGBE_RXD_EOP : 0);
}

/* Reports TX descriptor `index` as sent. */
static void device_sends(struct queues *queues, uint32_t index)
{
	queues->device.tx[0].ring[index].upper |= IXGBE_TXD_DD;
}

static void a_frame_of_several_descriptors_is_dropped(void)
{
	struct queues queues;
	struct packet *packets[8];

	queues_create(&queues, TEST_POOL_CAPACITY);
	device_receives(&queues, 0, 60, true);
	device_receives(&queues, 1, 2048, false);
	device_receives(&queues, 2, 100, true);
	device_receives(&queues, 3, 61, true);
	/* The start of another frame, whose end comes later. */
	device_receives(&queues, 4, 2048, false);
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 8), 2);
	CHECK_EQUAL(packets[0]->size, 60);
	CHECK_EQUAL(packets[1]->size, 61);
	CHECK_EQUAL(queues.device.rx[0].discarded, 1);
	CHECK_EQUAL(queues.rdt, 4);
	device_receives(&queues, 5, 2048, false);
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets + 2, 6), 0);
	CHECK_EQUAL(queues.rdt, 5);
	device_receives(&queues, 6, 10, true);
	device_receives(&queues, 7, 62, true);
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets + 2, 6), 1);
	CHECK_EQUAL(packets[2]->size, 62);
	CHECK_EQUAL(queues.device.rx[0].discarded, 2);
	for (uint32_t i = 0; i < 3; i++) {
		packet_free(packets[i]);
	}
	queues_destroy(&queues);
}

static void frames_of_several_descriptors_end_a_batch_too(void)
{
	struct queues queues;
	struct packet *packets[8];

	queues_create(&queues, TEST_POOL_CAPACITY);
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		device_receives(&queues, i, 2048, i % 2 == 1);
	}
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 8), 0);
	CHECK_EQUAL(queues.device.rx[0].discarded, 8);
	CHECK_EQUAL(queues.rdt, 15);
	/* So does a frame that never ends. */
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		device_receives(&queues, i, 2048, false);
	}
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 8), 0);
	queues_destroy(&queues);
}

/* Rings full of frames that were never received. */
static void false_descriptors_lose_and_double_no_packet(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];
	uint32_t random = 1;

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct rx_queue *rx = &queues.device.rx[0];

	for (uint32_t round = 0; round < 1000; round++) {
		for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
			random = random * 1664525 + 1013904223;
			/* Any status, but a length that fits: C believes a longer one (TRUST-LENGTH). */
			if (random >> 28 < 4) {
				rx->ring[i].upper = (uint64_t)(random >> 8 & 0x3ff) << 32 |
						    (random >> 24 & 3);
			}
		}
		uint32_t received = rx_batch(rx, packets, random >> 16 & (TEST_RING_SIZE - 1));

		CHECK_EQUAL(queues.pool.free_count + TEST_RING_SIZE + received,
			    queues.pool.capacity);
		for (uint32_t i = 0; i < received; i++) {
			for (uint32_t slot = 0; slot < TEST_RING_SIZE; slot++) {
				CHECK(rx->packets[slot] != packets[i]);
			}
			memset(packets[i]->data, (int)i, packets[i]->size);
		}
		for (uint32_t i = 0; i < received; i++) {
			if (packets[i]->size > 0) {
				CHECK_EQUAL(packets[i]->data[packets[i]->size - 1], i);
			}
			packet_free(packets[i]);
		}
	}
	queues_destroy(&queues);
}

/* A late write-back is no stall. Two checks in a row that miss the same write-back are one. */
static void a_stall_is_reported_at_the_second_check(void)
{
	struct queues queues;
	struct error error;
	static uint32_t registers[0x2000 / 4];

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct rx_queue *rx = &queues.device.rx[0];

	rx->suspect = RX_NO_SUSPECT;
	queues.device.vfio.area_count = 1;
	queues.device.vfio.areas[0] = (struct vfio_area){.size = sizeof(registers),
							 .memory = (volatile uint8_t *)registers};
	registers[IXGBE_RDH(0) / 4] = 5;
	CHECK_EQUAL(rx_check(rx, &error), 0);
	/* The write-back has come. */
	rx->ring[0].upper = IXGBE_RXD_DD;
	CHECK_EQUAL(rx_check(rx, &error), 0);
	/* The next one that is missing counts from the start. */
	rx->ring[0].upper = 0;
	CHECK_EQUAL(rx_check(rx, &error), 0);
	CHECK_EQUAL(rx_check(rx, &error), -1);
	CHECK_CONTAINS(error.text, "descriptor 5 (RDH)");
	queues_destroy(&queues);
}

static struct packet *packet_of(struct queues *queues, uint32_t size)
{
	struct packet *packet = packet_alloc(&queues->pool);

	CHECK(packet != NULL);
	packet->size = size;
	return packet;
}

static void packets_reported_as_sent_too_early_come_back_once(void)
{
	struct queues queues;

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];

	for (uint32_t round = 0; round < 100; round++) {
		struct packet *packet = packet_of(&queues, 60);

		/* All descriptors, even those that were never handed over. */
		for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
			device_sends(&queues, i);
		}
		CHECK_EQUAL(tx_batch(tx, &packet, 1), 1);
		/* A new descriptor is not sent, whatever was in its place before. */
		tx_reclaim(tx);
		CHECK_EQUAL((tx->index - tx->clean_index) & tx->mask, 1);
		device_sends(&queues, (tx->index - 1) & tx->mask);
		tx_reclaim(tx);
		CHECK_EQUAL(queues.pool.free_count, TEST_POOL_CAPACITY - TEST_RING_SIZE);
		tx_reclaim(tx);
		CHECK_EQUAL(queues.pool.free_count, TEST_POOL_CAPACITY - TEST_RING_SIZE);
	}
	queues_destroy(&queues);
}

static void a_released_device_starts_at_descriptor_0(void)
{
	struct queues queues;

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];
	struct packet *packet = packet_of(&queues, 60);

	CHECK_EQUAL(tx_batch(tx, &packet, 1), 1);
	device_sends(&queues, 0);
	tx_reclaim(tx);
	CHECK_EQUAL(tx->index, 1);
	device_release(&queues.device);
	CHECK_EQUAL(queues.pool.free_count, TEST_POOL_CAPACITY);
	CHECK_EQUAL(tx->index, 0);
	CHECK_EQUAL(tx->clean_index, 0);
	CHECK_EQUAL(tx->done, 0);
	queues_destroy(&queues);
}

static void a_running_device_is_not_started(void)
{
	struct queues queues;
	struct device_config config = {0};
	struct error error;

	queues_create(&queues, TEST_POOL_CAPACITY);
	queues.device.running = true;
	CHECK(device_start(&queues.device, &config, &queues.pool, &error) == -1);
	CHECK_CONTAINS(error.text, "running already");
	/* The device still has its rings. */
	CHECK(queues.device.rx[0].packets != NULL);
	queues_destroy(&queues);
}

int main(void)
{
	a_stall_is_reported_at_the_second_check();
	a_frame_of_several_descriptors_is_dropped();
	frames_of_several_descriptors_end_a_batch_too();
	false_descriptors_lose_and_double_no_packet();
	packets_reported_as_sent_too_early_come_back_once();
	a_released_device_starts_at_descriptor_0();
	a_running_device_is_not_started();
	return 0;
}
