/* The ring of packets between two threads. */
#include "rooms/packet_ring.h"
#include "test.h"
#include <pthread.h>
#include <sched.h>

/* The ring does not touch packets, so numbers stand for them. */
static struct packet *number(uintptr_t value)
{
	return (struct packet *)value;
}

static void a_ring_takes_up_to_its_capacity_and_gives_in_order(void)
{
	struct packet_ring ring;
	struct error error;
	struct packet *in[16];
	struct packet *out[16];
	uintptr_t put = 1;
	uintptr_t taken = 1;

	CHECK(packet_ring_create(&ring, 5, &error) == 0);
	CHECK_EQUAL(ring.capacity, 8);
	CHECK(!packet_ring_waits(&ring));
	CHECK_EQUAL(packet_ring_take(&ring, out, 16), 0);
	for (uint32_t round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < 16; i++) {
			in[i] = number(put + i);
		}
		uint32_t held = (uint32_t)(put - taken);
		uint32_t wanted = round % 12;
		uint32_t fits = wanted < 8 - held ? wanted : 8 - held;

		CHECK_EQUAL(packet_ring_put(&ring, in, wanted), fits);
		put += fits;
		held += fits;
		CHECK(packet_ring_waits(&ring) == (held > 0));
		uint32_t asked = round % 7;
		uint32_t comes = asked < held ? asked : held;

		CHECK_EQUAL(packet_ring_take(&ring, out, asked), comes);
		for (uint32_t i = 0; i < comes; i++) {
			CHECK(out[i] == number(taken));
			taken++;
		}
	}
	packet_ring_destroy(&ring);
	/* A caller may destroy it twice. */
	packet_ring_destroy(&ring);
}

static void the_counts_may_overflow(void)
{
	struct packet_ring ring;
	struct error error;
	struct packet *in[3] = {number(1), number(2), number(3)};
	struct packet *out[3];

	CHECK(packet_ring_create(&ring, 4, &error) == 0);
	ring.put = ring.put_seen = ring.taken = ring.taken_seen = UINT32_MAX - 1;
	for (uint32_t round = 0; round < 4; round++) {
		CHECK_EQUAL(packet_ring_put(&ring, in, 3), 3);
		CHECK_EQUAL(packet_ring_put(&ring, in, 3), 1);
		CHECK_EQUAL(packet_ring_take(&ring, out, 3), 3);
		CHECK(memcmp((void *)in, (void *)out, sizeof(in)) == 0);
		CHECK_EQUAL(packet_ring_take(&ring, out, 3), 1);
		CHECK(out[0] == in[0]);
	}
	packet_ring_destroy(&ring);
}

#define NUMBERS 200000

static void *put_numbers(void *argument)
{
	struct packet_ring *ring = argument;
	struct packet *packets[7];
	uintptr_t next = 1;

	while (next <= NUMBERS) {
		uint32_t count = 0;

		while (count < 7 && next + count <= NUMBERS) {
			packets[count] = number(next + count);
			count++;
		}
		uint32_t put = packet_ring_put(ring, packets, count);

		next += put;
		if (put == 0) {
			(void)sched_yield();
		}
	}
	return NULL;
}

static void two_threads_lose_and_reorder_nothing(void)
{
	struct packet_ring ring;
	struct error error;
	struct packet *packets[5];
	pthread_t thread;
	uintptr_t expected = 1;

	CHECK(packet_ring_create(&ring, 16, &error) == 0);
	CHECK(pthread_create(&thread, NULL, put_numbers, &ring) == 0);
	while (expected <= NUMBERS) {
		uint32_t count = packet_ring_take(&ring, packets, 5);

		for (uint32_t i = 0; i < count; i++) {
			CHECK(packets[i] == number(expected));
			expected++;
		}
		if (count == 0) {
			(void)sched_yield();
		}
	}
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(!packet_ring_waits(&ring));
	packet_ring_destroy(&ring);
}

int main(void)
{
	a_ring_takes_up_to_its_capacity_and_gives_in_order();
	the_counts_may_overflow();
	two_threads_lose_and_reorder_nothing();
	return 0;
}
