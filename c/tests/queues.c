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

static void queues_create(struct queues *queues)
{
	struct error error;
	const size_t ring_bytes = TEST_RING_SIZE * sizeof(struct descriptor);

	memset(queues, 0, sizeof(*queues));
	vfio_container_init(&queues->container);
	CHECK(mempool_create(&queues->pool, &queues->container, TEST_POOL_CAPACITY, &error) == 0);

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

/* Checks that the device may write to every descriptor: it has the address of its packet. */
static void descriptors_have_their_packets(const struct rx_queue *rx)
{
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		CHECK_EQUAL(rx->ring[i].lower, rx->packets[i]->iova);
		CHECK_EQUAL(rx->ring[i].upper, 0);
	}
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

/* Writes back RX descriptor `index`: a frame of `size` bytes, or a part of one. This overwrites the address. */
static void device_receives(struct queues *queues, uint32_t index, uint64_t size, bool last)
{
	queues->device.rx[0].ring[index].lower = 0;
	queues->device.rx[0].ring[index].upper = size << 32 | IXGBE_RXD_DD |
						 (last ? IXGBE_RXD_EOP : 0);
}

static void a_frame_of_several_descriptors_is_dropped(void)
{
	struct queues queues;
	struct packet *packets[8];

	queues_create(&queues);
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
	descriptors_have_their_packets(&queues.device.rx[0]);
	for (uint32_t i = 0; i < 3; i++) {
		packet_free(packets[i]);
	}
	queues_destroy(&queues);
}

static void frames_of_several_descriptors_end_a_batch_too(void)
{
	struct queues queues;
	struct packet *packets[8];

	queues_create(&queues);
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
	descriptors_have_their_packets(&queues.device.rx[0]);
	queues_destroy(&queues);
}

/* A late write-back is no stall. Two checks in a row that miss the same write-back are one. */
static void a_stall_is_reported_at_the_second_check(void)
{
	struct queues queues;
	struct error error;
	static uint32_t registers[0x2000 / 4];

	queues_create(&queues);
	struct rx_queue *rx = &queues.device.rx[0];

	rx->suspect = RX_NO_SUSPECT;
	queues.device.vfio.area_count = 1;
	queues.device.vfio.areas[0] = (struct vfio_area){.size = sizeof(registers),
							 .memory = (volatile uint8_t *)registers};
	registers[IXGBE_RDH(0) / 4] = 5;
	CHECK_EQUAL(rx_check_stall(rx, &error), 0);
	/* The write-back has come. */
	rx->ring[0].upper = IXGBE_RXD_DD;
	CHECK_EQUAL(rx_check_stall(rx, &error), 0);
	/* The next one that is missing counts from the start. */
	rx->ring[0].upper = 0;
	CHECK_EQUAL(rx_check_stall(rx, &error), 0);
	CHECK_EQUAL(rx_check_stall(rx, &error), -1);
	CHECK_CONTAINS(error.text, "descriptor 5 (RDH)");
	queues_destroy(&queues);
}

static void a_device_starts_again_only_once_it_is_released(void)
{
	struct queues queues;
	struct device_config config = {0};
	struct error error;

	queues_create(&queues);
	struct tx_queue *tx = &queues.device.tx[0];
	struct packet *packet = packet_alloc(&queues.pool);

	queues.device.running = true;
	CHECK(device_start(&queues.device, &config, &queues.pool, &error) == -1);
	CHECK_CONTAINS(error.text, "running already");
	/* The device still has its rings. */
	packet->size = 60;
	CHECK_EQUAL(tx_batch(tx, &packet, 1), 1);
	tx->ring[0].upper |= IXGBE_TXD_DD;
	tx_reclaim(tx);
	CHECK_EQUAL(tx->index, 1);
	device_release(&queues.device);
	CHECK_EQUAL(queues.pool.free_count, TEST_POOL_CAPACITY);
	CHECK_EQUAL(tx->index, 0);
	CHECK_EQUAL(tx->clean_index, 0);
	CHECK_EQUAL(tx->done, 0);
	queues_destroy(&queues);
}

int main(void)
{
	a_stall_is_reported_at_the_second_check();
	a_frame_of_several_descriptors_is_dropped();
	frames_of_several_descriptors_end_a_batch_too();
	a_device_starts_again_only_once_it_is_released();
	return 0;
}
