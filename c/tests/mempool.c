/* The pool of packets. */
#include "driver/mempool.h"
#include "rooms/remote.h"
#include "test.h"
#include <pthread.h>

#define CAPACITY 99

static void packets_lie_apart_and_come_back(void)
{
	struct vfio_container container;
	struct mempool pool;
	struct error error;
	struct packet *packets[CAPACITY];

	vfio_container_init(&container);
	CHECK(mempool_create(&pool, &container, CAPACITY, &error) == 0);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		packets[i] = packet_alloc(&pool);
		CHECK(packets[i] != NULL);
		CHECK_EQUAL(packets[i]->iova,
			    pool.dma.iova + (uint64_t)i * PACKET_BUFFER_SIZE + PACKET_HEADROOM);
		/* All bytes can be written, and none of them belongs to the next packet. */
		memset(packets[i]->data, (int)i, PACKET_MAX_SIZE);
	}
	CHECK(packet_alloc(&pool) == NULL);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		CHECK_EQUAL(packets[i]->data[0], i);
		CHECK_EQUAL(packets[i]->data[PACKET_MAX_SIZE - 1], i);
		packet_free(packets[i]);
	}
	/* The packet freed last is the next. */
	CHECK(packet_alloc(&pool) == packets[CAPACITY - 1]);
	CHECK(packet_alloc(&pool) == packets[CAPACITY - 2]);
	mempool_destroy(&pool);
	vfio_container_close(&container);
}

static void a_capacity_out_of_range_is_refused(void)
{
	static const uint32_t capacities[] = {0, MEMPOOL_MAX_CAPACITY + 1, UINT32_MAX};
	struct vfio_container container;
	struct mempool pool;
	struct error error;

	vfio_container_init(&container);
	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		CHECK(mempool_create(&pool, &container, capacities[i], &error) != 0);
		CHECK_CONTAINS(error.text, "a pool has 1 to 1048576 packets");
		/* A caller may destroy what it failed to create. */
		mempool_destroy(&pool);
	}
}

/* The threads that return packets, and how many packets of both pools each has. */
#define RETURNERS 3
#define RETURNED (2 * CAPACITY / RETURNERS)

static void *return_packets(void *argument)
{
	struct packet **packets = argument;

	/* One by one, none, and the rest together. */
	packets_return(packets, 1);
	packets_return(packets + 1, 1);
	packets_return(packets + 2, 0);
	packets_return(packets + 2, RETURNED - 2);
	return NULL;
}

static void packets_come_home_from_any_thread(void)
{
	struct vfio_container container;
	struct mempool pools[2];
	struct error error;
	struct packet *packets[2 * CAPACITY];
	pthread_t threads[RETURNERS];

	vfio_container_init(&container);
	for (uint32_t i = 0; i < 2; i++) {
		CHECK(mempool_create(&pools[i], &container, CAPACITY, &error) == 0);
	}
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 2 * CAPACITY; i++) {
			/* Three packets of one pool, then three of the other. */
			packets[i] = packet_alloc(&pools[i / 3 % 2]);
			CHECK(packets[i] != NULL);
		}
		for (uint32_t i = 0; i < RETURNERS; i++) {
			CHECK(pthread_create(&threads[i], NULL, return_packets,
					     packets + (size_t)i * RETURNED) == 0);
		}
		/* Meanwhile, the pool's thread takes what is there. */
		mempool_take_returned(&pools[0]);
		for (uint32_t i = 0; i < RETURNERS; i++) {
			CHECK(pthread_join(threads[i], NULL) == 0);
		}
		for (uint32_t i = 0; i < 4; i++) {
			mempool_take_returned(&pools[i % 2]);
			CHECK_EQUAL(pools[i % 2].free_count, CAPACITY);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		mempool_destroy(&pools[i]);
	}
	vfio_container_close(&container);
}

int main(void)
{
	packets_lie_apart_and_come_back();
	a_capacity_out_of_range_is_refused();
	packets_come_home_from_any_thread();
	return 0;
}
