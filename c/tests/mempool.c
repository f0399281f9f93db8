/* The pool of packets. */
#include "mempool.h"
#include "test.h"

#define CAPACITY 100

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
		CHECK(packets[i]->pool == &pool);
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
	CHECK_EQUAL(pool.free_count, CAPACITY);
	mempool_destroy(&pool);
	vfio_container_close(&container);
}

static void the_packet_freed_last_is_the_next(void)
{
	struct vfio_container container;
	struct mempool pool;
	struct error error;

	vfio_container_init(&container);
	CHECK(mempool_create(&pool, &container, CAPACITY, &error) == 0);
	struct packet *first = packet_alloc(&pool);
	struct packet *second = packet_alloc(&pool);

	packet_free(second);
	packet_free(first);
	CHECK(packet_alloc(&pool) == first);
	CHECK(packet_alloc(&pool) == second);
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
	vfio_container_close(&container);
}

int main(void)
{
	packets_lie_apart_and_come_back();
	the_packet_freed_last_is_the_next();
	a_capacity_out_of_range_is_refused();
	return 0;
}
