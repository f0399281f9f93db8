/*
 * Packet buffers: 2 KiB each, with 64 bytes of metadata in front of the data. So the metadata and
 * the data of a packet share a page and, often, a pair of cache lines.
 *
 * A pool belongs to one thread, and only that thread takes and frees its packets. If a packet is in another
 * thread, packets_return sends it home: onto a list, from which the pool's thread takes it (rooms/remote.h).
 */
#ifndef IXGBE_MEMPOOL_H
#define IXGBE_MEMPOOL_H

#include "driver/dma.h"

/*
 * Two cache lines: a processor may fetch lines in pairs. What different threads write lies so far
 * apart, so that the line does not travel between their processors (false sharing).
 */
#define CACHE_LINES_APART 128

#define PACKET_BUFFER_SIZE 2048
#define PACKET_HEADROOM 64
#define PACKET_MAX_SIZE (PACKET_BUFFER_SIZE - PACKET_HEADROOM)

/*
 * Bytes from one buffer to the next that do not alias: 33 cache lines, an odd number. With PACKET_BUFFER_SIZE, 32 lines,
 * the first lines of all buffers share two of the 64 sets of an L1 cache.
 */
#define PACKET_STRIDE_ODD 2112

/*
 * The largest pool, in packets: 2 GiB of memory. A device with 16 queues of 4096 descriptors each
 * way holds an eighth of that.
 */
#define MEMPOOL_MAX_CAPACITY (1U << 20)

struct packet {
	uint64_t iova; /* the address of data for the device */
	struct mempool *pool; /* the pool that the packet belongs to */
	uint32_t size; /* bytes of data, without CRC */
	uint8_t reserved[4]; /* explicit, because C2Rust drops field alignment */
	struct packet *next; /* of the packets that another thread has returned */
	uint8_t reserved_too[PACKET_HEADROOM - 32];
	uint8_t data[];
};

_Static_assert(offsetof(struct packet, data) == PACKET_HEADROOM, "the metadata fill the headroom");

struct mempool {
	struct dma_memory dma;
	uint32_t capacity; /* packets */
	uint32_t free_count;
	struct packet **free; /* a stack: the cache most likely holds the packet freed last */
	uint8_t apart[CACHE_LINES_APART]; /* the next pool may belong to another thread */
	void *returned; /* the packet returned last by another thread, or NULL */
	uint8_t apart_returned[CACHE_LINES_APART];
};

/* Allocates a pool of `capacity` packets, 1 to MEMPOOL_MAX_CAPACITY, all of them free. */
int mempool_create(struct mempool *pool, struct vfio_container *container, uint32_t capacity,
		   struct error *error);

/* The same with `stride` bytes from one buffer to the next, at least PACKET_BUFFER_SIZE, in whole cache lines. */
int mempool_create_strided(struct mempool *pool, struct vfio_container *container,
			   uint32_t capacity, uint32_t stride, struct error *error);

/* Frees the pool. The caller must not use its packets afterwards. */
void mempool_destroy(struct mempool *pool);

/* Takes a packet, or NULL if the pool is empty. Its size and contents are those of its last use. */
static inline struct packet *packet_alloc(struct mempool *pool)
{
	if (pool->free_count == 0) {
		return NULL;
	}
	pool->free_count--;
	return pool->free[pool->free_count];
}

/* Returns a packet to its pool, in the pool's thread. */
static inline void packet_free(struct packet *packet)
{
	struct mempool *pool = packet->pool;

	pool->free[pool->free_count] = packet;
	pool->free_count++;
}

#endif
