/*
 * A ring of packets between two threads: one puts packets in, the other takes them out in the same order.
 *
 * `put` and `taken` count packets, modulo 2^32. Only the thread that puts writes `put`, and only the thread
 * that takes writes `taken`. So neither needs a lock or an atomic read-modify-write. Each remembers the
 * other's count, and reads it again only if it must: that takes a cache line from the other processor.
 */
#ifndef IXGBE_PACKET_RING_H
#define IXGBE_PACKET_RING_H

#include "driver/mempool.h"

struct packet_ring {
	struct packet **slots;
	uint32_t capacity; /* packets: a power of two */
	uint8_t apart[CACHE_LINES_APART];
	/* Written by the thread that puts. */
	uint32_t put;
	uint32_t taken_seen; /* `taken`, when that thread read it last */
	uint8_t apart_put[CACHE_LINES_APART];
	/* Written by the thread that takes. */
	uint32_t taken;
	uint32_t put_seen; /* `put`, when that thread read it last */
	uint8_t apart_taken[CACHE_LINES_APART];
};

/* Allocates a ring for at least `capacity` packets, at most MEMPOOL_MAX_CAPACITY. */
int packet_ring_create(struct packet_ring *ring, uint32_t capacity, struct error *error);

/* Frees the ring. It must be empty, or its packets are lost. */
void packet_ring_destroy(struct packet_ring *ring);

/* Puts up to `count` packets in. Returns their number, which is less if the ring is full. */
uint32_t packet_ring_put(struct packet_ring *ring, struct packet *const *packets, uint32_t count);

/* Takes up to `count` packets out, the oldest first. Returns their number, 0 if the ring is empty. */
uint32_t packet_ring_take(struct packet_ring *ring, struct packet **packets, uint32_t count);

/* Whether a packet is in the ring. For the thread that takes. */
bool packet_ring_waits(const struct packet_ring *ring);

#endif
