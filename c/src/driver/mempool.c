/* Packet buffers: creating and destroying a pool. */
#include "driver/mempool.h"
#include <stdlib.h>
#include <string.h>

int mempool_create(struct mempool *pool, struct vfio_container *container, uint32_t capacity,
		   struct error *error)
{
	return mempool_create_strided(pool, container, capacity, PACKET_BUFFER_SIZE, error);
}

int mempool_create_strided(struct mempool *pool, struct vfio_container *container,
			   uint32_t capacity, uint32_t stride, struct error *error)
{
	memset(pool, 0, sizeof(*pool));
	pool->capacity = capacity;
	if (capacity == 0 || capacity > MEMPOOL_MAX_CAPACITY) {
		error_set(error, "a pool has 1 to %u packets, not %u", MEMPOOL_MAX_CAPACITY,
			  capacity);
		return -1;
	}
	pool->free = calloc(capacity, sizeof(struct packet *));
	if (pool->free == NULL) {
		error_set(error, "out of memory for a pool of %u packets", capacity);
		return -1;
	}
	if (dma_alloc(container, (size_t)capacity * stride, &pool->dma, error) != 0) {
		mempool_destroy(pool);
		return -1;
	}
	/* The lowest address is on top, so that the first use is in ascending order. */
	for (uint32_t i = capacity; i > 0; i--) {
		size_t offset = (size_t)(i - 1) * stride;
		struct packet *packet = (struct packet *)((uint8_t *)pool->dma.memory + offset);

		packet->iova = pool->dma.iova + offset + PACKET_HEADROOM;
		packet->pool = pool;
		packet->size = 0;
		packet_free(packet);
	}
	return 0;
}

void mempool_destroy(struct mempool *pool)
{
	dma_free(&pool->dma);
	free((void *)pool->free);
	pool->free = NULL;
	pool->free_count = 0;
}
