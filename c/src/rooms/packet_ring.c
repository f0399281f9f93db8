/* A ring of packets between two threads. packet_ring.h explains its counts. */
#include "rooms/packet_ring.h"
#include "rooms/atomics.h"
#include <stdlib.h>

int packet_ring_create(struct packet_ring *ring, uint32_t capacity, struct error *error)
{
	*ring = (struct packet_ring){.capacity = 1};
	while (ring->capacity < capacity && ring->capacity < MEMPOOL_MAX_CAPACITY) {
		ring->capacity *= 2;
	}
	ring->slots = calloc(ring->capacity, sizeof(struct packet *));
	if (ring->slots == NULL) {
		return error_fail(error, "out of memory for a ring of %u packets", ring->capacity);
	}
	return 0;
}

void packet_ring_destroy(struct packet_ring *ring)
{
	free((void *)ring->slots);
	ring->slots = NULL;
}

uint32_t packet_ring_put(struct packet_ring *ring, struct packet *const *packets, uint32_t count)
{
	const uint32_t mask = ring->capacity - 1;
	uint32_t put = ring->put;
	uint32_t space = ring->capacity - (put - ring->taken_seen);

	if (space < count) {
		/* With acquire: the other thread has read the slots that this one fills again. */
		ring->taken_seen = atomic_load32_acquire(&ring->taken);
		space = ring->capacity - (put - ring->taken_seen);
	}
	if (count > space) {
		count = space;
	}
	for (uint32_t i = 0; i < count; i++) {
		ring->slots[put & mask] = packets[i];
		put++;
	}
	if (count > 0) {
		/* With release: shows the slots, and what this thread wrote to the packets. */
		atomic_store32_release(&ring->put, put);
	}
	return count;
}

uint32_t packet_ring_take(struct packet_ring *ring, struct packet **packets, uint32_t count)
{
	const uint32_t mask = ring->capacity - 1;
	uint32_t taken = ring->taken;
	uint32_t available = ring->put_seen - taken;

	if (available < count) {
		ring->put_seen = atomic_load32_acquire(&ring->put);
		available = ring->put_seen - taken;
	}
	if (count > available) {
		count = available;
	}
	for (uint32_t i = 0; i < count; i++) {
		packets[i] = ring->slots[taken & mask];
		taken++;
	}
	if (count > 0) {
		/* With release: the slots have been read, so the other thread may fill them. */
		atomic_store32_release(&ring->taken, taken);
	}
	return count;
}

bool packet_ring_waits(const struct packet_ring *ring)
{
	return atomic_load32_acquire(&ring->put) != ring->taken;
}
