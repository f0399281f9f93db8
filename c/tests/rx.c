/* The receive path, with the test as the device. */
#include "queues.h"
#include "rooms/health.h"

static void nothing_received_writes_nothing(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];

	queues_create(&queues, TEST_POOL_CAPACITY);
	queues.rdt = 12345;
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, TEST_RING_SIZE), 0);
	CHECK_EQUAL(queues.rdt, 12345);
	queues_destroy(&queues);
}

static void a_packet_is_exchanged_for_a_fresh_buffer(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct rx_queue *rx = &queues.device.rx[0];
	struct packet *held = rx->packets[0];

	device_receives(&queues, 0, 60, true);
	CHECK_EQUAL(rx_batch(rx, packets, TEST_RING_SIZE), 1);
	CHECK(packets[0] == held);
	CHECK_EQUAL(packets[0]->size, 60);
	CHECK(rx->packets[0] != held);
	CHECK_EQUAL(rx->ring[0].lower, rx->packets[0]->iova);
	CHECK_EQUAL(rx->ring[0].upper, 0);
	CHECK_EQUAL(queues.rdt, 0);
	packet_free(packets[0]);
	queues_destroy(&queues);
}

static void a_batch_is_not_exceeded_and_the_ring_wraps(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];
	uint32_t next = 0;
	uint32_t received = 0;

	queues_create(&queues, TEST_POOL_CAPACITY);
	for (uint32_t round = 0; round < 25 * TEST_RING_SIZE / 10; round++) {
		for (uint32_t i = 0; i < 15; i++) {
			device_receives(&queues, next, 60 + next, true);
			next = (next + 1) % TEST_RING_SIZE;
		}
		CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 10), 10);
		CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets + 10, 10), 5);
		for (uint32_t i = 0; i < 15; i++) {
			CHECK_EQUAL(packets[i]->size, 60 + received % TEST_RING_SIZE);
			packet_free(packets[i]);
			received++;
		}
		CHECK_EQUAL(queues.rdt, (received - 1) % TEST_RING_SIZE);
	}
	queues_destroy(&queues);
}

static void an_empty_pool_leaves_packets_in_the_ring(void)
{
	struct queues queues;
	struct packet *packets[4];

	queues_create(&queues, TEST_RING_SIZE + 1);
	for (uint32_t i = 0; i < 4; i++) {
		device_receives(&queues, i, 60 + i, true);
	}
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 4), 1);
	CHECK_EQUAL(queues.device.rx[0].pool_empty, 1);
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets + 1, 4), 0);
	for (uint32_t i = 0; i < 3; i++) {
		packet_free(packets[0]);
		CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 4), 1);
		CHECK_EQUAL(packets[0]->size, 61 + i);
	}
	packet_free(packets[0]);
	queues_destroy(&queues);
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
	queues_destroy(&queues);
}

static void a_ring_full_of_frame_parts_ends_the_call(void)
{
	struct queues queues;
	struct packet *packets[8];

	queues_create(&queues, TEST_POOL_CAPACITY);
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		device_receives(&queues, i, 2048, false);
	}
	CHECK_EQUAL(rx_batch(&queues.device.rx[0], packets, 8), 0);
	queues_destroy(&queues);
}

/* A part of rust/fuzz/hostile_device.rs: rings full of frames that were never received. */
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
	CHECK(strstr(error.text, "descriptor 5 (RDH)") != NULL);
	queues_destroy(&queues);
}

int main(void)
{
	a_stall_is_reported_at_the_second_check();
	nothing_received_writes_nothing();
	a_packet_is_exchanged_for_a_fresh_buffer();
	a_batch_is_not_exceeded_and_the_ring_wraps();
	an_empty_pool_leaves_packets_in_the_ring();
	a_frame_of_several_descriptors_is_dropped();
	frames_of_several_descriptors_end_a_batch_too();
	a_ring_full_of_frame_parts_ends_the_call();
	false_descriptors_lose_and_double_no_packet();
	return 0;
}
