/* The transmit path, with the test as the device. */
#include "queues.h"
#include "rooms/remote.h"

static struct packet *packet_of(struct queues *queues, uint32_t size)
{
	struct packet *packet = packet_alloc(&queues->pool);

	CHECK(packet != NULL);
	packet->size = size;
	return packet;
}

static void a_descriptor_describes_the_packet(void)
{
	struct queues queues;

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];
	struct packet *packet = packet_of(&queues, 1514);

	CHECK_EQUAL(tx_batch(tx, &packet, 1), 1);
	CHECK_EQUAL(tx->ring[0].lower, packet->iova);
	/* 7.2.3.2.4: DTALEN; DTYP 3, EOP, IFCS, RS, DEXT; PAYLEN. */
	CHECK_EQUAL(tx->ring[0].upper, 1514ull | 0x2b300000ull | 1514ull << 46);
	CHECK_EQUAL(queues.tdt, 1);
	queues_destroy(&queues);
}

static void nothing_sent_writes_nothing(void)
{
	struct queues queues;

	queues_create(&queues, TEST_POOL_CAPACITY);
	queues.tdt = 12345;
	CHECK_EQUAL(tx_batch(&queues.device.tx[0], NULL, 0), 0);
	CHECK_EQUAL(queues.tdt, 12345);
	queues_destroy(&queues);
}

static void a_full_ring_takes_no_more(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];

	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		packets[i] = packet_of(&queues, 60);
	}
	/* One descriptor stays free. */
	CHECK_EQUAL(tx_batch(tx, packets, TEST_RING_SIZE), TEST_RING_SIZE - 1);
	CHECK_EQUAL(queues.tdt, TEST_RING_SIZE - 1);
	CHECK_EQUAL(tx_batch(tx, &packets[TEST_RING_SIZE - 1], 1), 0);
	/* 31 are sent: too few to check. */
	for (uint32_t i = 0; i < 31; i++) {
		device_sends(&queues, i);
	}
	CHECK_EQUAL(tx_batch(tx, &packets[TEST_RING_SIZE - 1], 1), 0);
	uint32_t free_before = queues.pool.free_count;

	device_sends(&queues, 31);
	CHECK_EQUAL(tx_batch(tx, &packets[TEST_RING_SIZE - 1], 1), 1);
	CHECK_EQUAL(queues.pool.free_count, free_before + 32);
	CHECK_EQUAL(queues.tdt, 0);
	queues_destroy(&queues);
}

static void the_ring_wraps_and_packets_come_back(void)
{
	struct queues queues;
	uint32_t sent = 0;

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];

	for (uint32_t round = 0; round < 25 * TEST_RING_SIZE; round++) {
		struct packet *packet = packet_of(&queues, 60 + round % 1000);

		CHECK_EQUAL(tx_batch(tx, &packet, 1), 1);
		CHECK_EQUAL(tx->ring[sent % TEST_RING_SIZE].upper & 0xffff, 60 + round % 1000);
		device_sends(&queues, sent % TEST_RING_SIZE);
		sent++;
		CHECK_EQUAL(queues.tdt, sent % TEST_RING_SIZE);
	}
	CHECK(queues.pool.free_count >= TEST_POOL_CAPACITY - TEST_RING_SIZE - 32);
	tx_reclaim(tx);
	CHECK_EQUAL(queues.pool.free_count, TEST_POOL_CAPACITY - TEST_RING_SIZE);
	queues_destroy(&queues);
}

static void reclaiming_stops_at_the_first_unsent_packet(void)
{
	struct queues queues;
	struct packet *packets[3];

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];

	for (uint32_t i = 0; i < 3; i++) {
		packets[i] = packet_of(&queues, 60);
	}
	CHECK_EQUAL(tx_batch(tx, packets, 3), 3);
	device_sends(&queues, 0);
	device_sends(&queues, 1);
	tx_reclaim(tx);
	CHECK_EQUAL(tx->clean_index, 2);
	queues_destroy(&queues);
}

static void sent_packets_are_taken_32_at_a_time(void)
{
	struct queues queues;
	struct packet *packets[TEST_RING_SIZE];
	struct packet *taken[32];

	queues_create(&queues, TEST_POOL_CAPACITY);
	struct tx_queue *tx = &queues.device.tx[0];

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 40; i++) {
			packets[i] = packet_of(&queues, 60);
		}
		uint32_t first = tx->index;
		uint32_t free_before = queues.pool.free_count;

		CHECK_EQUAL(tx_space(tx), TEST_RING_SIZE - 1);
		CHECK_EQUAL(tx_put(tx, packets, 40), 40);
		CHECK_EQUAL(tx_space(tx), TEST_RING_SIZE - 41);
		CHECK_EQUAL(tx_take(tx, taken, 32), 0);
		for (uint32_t i = 0; i < 40; i++) {
			device_sends(&queues, (first + i) % TEST_RING_SIZE);
		}
		CHECK_EQUAL(tx_take(tx, taken, 32), 32);
		CHECK(memcmp((void *)taken, (void *)packets, sizeof(taken)) == 0);
		/* Fewer than 32 are left. */
		CHECK_EQUAL(tx_take(tx, taken, 32), 0);
		/* The pool's thread frees them. */
		CHECK_EQUAL(queues.pool.free_count, free_before);
		packets_return(taken, 32);
		mempool_take_returned(&queues.pool);
		CHECK_EQUAL(queues.pool.free_count, free_before + 32);
		tx_reclaim(tx);
	}
	queues_destroy(&queues);
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
	a_descriptor_describes_the_packet();
	nothing_sent_writes_nothing();
	a_full_ring_takes_no_more();
	the_ring_wraps_and_packets_come_back();
	reclaiming_stops_at_the_first_unsent_packet();
	sent_packets_are_taken_32_at_a_time();
	packets_reported_as_sent_too_early_come_back_once();
	a_released_device_starts_at_descriptor_0();
	a_running_device_is_not_started();
	return 0;
}
