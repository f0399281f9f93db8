/* Packet buffers: creating and destroying a pool, and packets that come home from other threads. */
#include "driver/mempool.h"
#include "rooms/atomics.h"
#include <stdlib.h>

int mempool_create(struct mempool *pool, struct vfio_container *container, uint32_t capacity,
		   struct error *error)
{
	pool->capacity = capacity;
	pool->free_count = 0;
	pool->dma.memory = NULL;
	pool->free = NULL;
	pool->returned = NULL;
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
	if (dma_alloc(container, (size_t)capacity * PACKET_BUFFER_SIZE, &pool->dma, error) != 0) {
		mempool_destroy(pool);
		return -1;
	}
	/* The lowest address is on top, so that the first use is in ascending order. */
	for (uint32_t i = capacity; i > 0; i--) {
		size_t offset = (size_t)(i - 1) * PACKET_BUFFER_SIZE;
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

/* Puts the list from `first` to `last` in front of the packets that came before. */
static void return_list(struct packet *first, struct packet *last)
{
	struct mempool *pool = first->pool;
	void *before = NULL;

	do {
		before = atomic_load_pointer(&pool->returned);
		last->next = before;
		/* With release: shows the list, and what this thread wrote to the packets. */
	} while (!atomic_replace_pointer(&pool->returned, before, first));
}

void packets_return(struct packet *const *packets, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (packets[i]->pool == packets[first]->pool) {
			packets[i - 1]->next = packets[i];
		} else {
			return_list(packets[first], packets[i - 1]);
			first = i;
		}
	}
	if (count > 0) {
		return_list(packets[first], packets[count - 1]);
	}
}

void mempool_take_returned(struct mempool *pool)
{
	/* Looks first: taking would get the cache line for itself, even if nothing is there. */
	if (atomic_load_pointer(&pool->returned) == NULL) {
		return;
	}
	/* Takes the whole list. To take one packet would need care that none comes back meanwhile (ABA). */
	struct packet *packet = atomic_take_pointer(&pool->returned);

	while (packet != NULL) {
		struct packet *next = packet->next;

		packet_free(packet);
		packet = next;
	}
}
