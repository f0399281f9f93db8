/* The ring of packets between two threads. */
#include "rooms/packet_ring.h"
#include "test.h"

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
	/* The counts overflow in the middle of the test. */
	ring.put = ring.put_seen = ring.taken = ring.taken_seen = UINT32_MAX - 100;
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
	CHECK(ring.put < UINT32_MAX - 100);
	packet_ring_destroy(&ring);
	/* A caller may destroy it twice. */
	packet_ring_destroy(&ring);
}

int main(void)
{
	a_ring_takes_up_to_its_capacity_and_gives_in_order();
	return 0;
}
