/*
 * The lab's application on the C driver: it forwards between two devices as ixgbe-fwd does, makes
 * one mistake on the way, and says at the end what it finds.
 *
 *     lab DEED DEVICE DEVICE
 *
 * The twins are lab.rs (safe Rust) and lab_unsafe.rs (the transpiled driver). The deed is done after
 * DEED_AFTER received packets. Ends on SIGINT: exit status 0, or 1 after an error, and one line of
 * JSON on the output.
 */
#define _GNU_SOURCE
#include "device.h"
#include "mempool.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RING_SIZE 64
#define ODD_RING_SIZE 96
#define POOL_CAPACITY 512
#define BATCH 32
#define MAX_BATCH 128
#define DEED_AFTER 100
#define STATS_INTERVAL_NS 50000000
#define IDLE_NS 20000

/* What the application writes where it must not. */
#define MARK 0xee

struct counts {
	uint64_t rx;
	uint64_t tx;
	uint64_t dropped;
};

struct lab {
	const char *deed;
	struct vfio_container container;
	struct mempool pools[2];
	struct mempool spare;
	struct packet *spare_packet;
	struct device devices[2];
	uint32_t opened;
	struct counts counts;
	bool done; /* the deed, if it is done once */
	struct packet *stale;
	struct packet *hoard[MAX_BATCH]; /* received, not sent yet */
	uint32_t hoarded;
};

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static bool is(const struct lab *lab, const char *deed)
{
	return strcmp(lab->deed, deed) == 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The mistakes with packets that have been received and not sent yet. How many are left to send. */
static uint32_t misuse(struct lab *lab, struct packet **packets, uint32_t received)
{
	struct packet *first = packets[0];

	if (is(lab, "use-after-send")) {
		/* Keeps a packet that will have been sent, and goes on writing to it. */
		if (lab->stale == NULL) {
			lab->stale = first;
		} else {
			memset(lab->stale->data + 30, MARK, 8);
			lab->stale->size = 100;
		}
		return received;
	}
	if (is(lab, "leak")) {
		/* Forgets half of them: neither sent nor freed. */
		lab->counts.dropped += received - received / 2;
		return received / 2;
	}
	if (lab->done) {
		return received;
	}
	lab->done = true;
	if (is(lab, "double-free")) {
		/* In place of sending it. */
		packet_free(first);
		packet_free(first);
		memmove((void *)packets, (void *)(packets + 1),
			(received - 1) * sizeof(struct packet *));
		return received - 1;
	}
	if (is(lab, "use-after-pool")) {
		mempool_destroy(&lab->spare);
		memset(lab->spare_packet->data, MARK, 60);
	} else if (is(lab, "free-pool")) {
		/* No mistake: memory that the device could reach, and now may not. */
		mempool_destroy(&lab->spare);
	} else if (is(lab, "write-past-end")) {
		/* A trailer behind a packet that fills its buffer. */
		memset(first->data + PACKET_MAX_SIZE, MARK, 8);
	} else if (is(lab, "write-before-start")) {
		/* A tunnel's header in front of the data. */
		memset(first->data - 48, MARK, 48);
	}
	return received;
}

static uint32_t send_or_free(struct lab *lab, struct tx_queue *tx, struct packet **packets,
			     uint32_t count)
{
	uint32_t sent = tx_batch(tx, packets, count);

	for (uint32_t i = sent; i < count; i++) {
		packet_free(packets[i]);
	}
	lab->counts.tx += sent;
	lab->counts.dropped += count - sent;
	return sent;
}

static uint32_t forward(struct lab *lab, struct rx_queue *rx, struct tx_queue *tx)
{
	struct packet *packets[BATCH];
	uint32_t received = rx_batch(rx, packets, BATCH);

	if (received == 0) {
		return 0;
	}
	lab->counts.rx += received;
	for (uint32_t i = 0; i < received; i++) {
		packets[i]->data[1]++;
	}
	if (is(lab, "large-batch") && lab->counts.rx > DEED_AFTER && !lab->done) {
		/* More packets in one call than the ring has descriptors. */
		memcpy((void *)(lab->hoard + lab->hoarded), (void *)packets,
		       received * sizeof(struct packet *));
		lab->hoarded += received;
		if (lab->hoarded > MAX_BATCH - BATCH) {
			(void)send_or_free(lab, tx, lab->hoard, lab->hoarded);
			lab->hoarded = 0;
			lab->done = true;
		}
		return received;
	}
	uint32_t count = received;

	if (lab->counts.rx > DEED_AFTER) {
		count = misuse(lab, packets, received);
	}
	(void)send_or_free(lab, tx, packets, count);
	return received;
}

static void pause_idle(void)
{
	const struct timespec idle = {.tv_nsec = IDLE_NS};

	(void)nanosleep(&idle, NULL);
}

/* Another thread on the same queues: what no driver of this kind allows. */
static void *intrude(void *argument)
{
	struct lab *lab = argument;

	while (!ended) {
		if (lab->counts.rx > DEED_AFTER) {
			(void)forward(lab, &lab->devices[0].rx[0], &lab->devices[1].tx[0]);
		}
	}
	return NULL;
}

static int run(struct lab *lab, struct error *error)
{
	struct device *a = &lab->devices[0];
	struct device *b = &lab->devices[1];
	bool threads = is(lab, "two-threads");
	uint64_t looked = now_ns();
	pthread_t intruder;
	int result = 0;

	if (threads && pthread_create(&intruder, NULL, intrude, lab) != 0) {
		error_set(error, "no second thread");
		return -1;
	}
	while (!ended && result == 0) {
		uint32_t received = forward(lab, &a->rx[0], &b->tx[0]) +
				    forward(lab, &b->rx[0], &a->tx[0]);
		uint64_t now = now_ns();

		if (now - looked >= STATS_INTERVAL_NS) {
			struct device_stats stats;

			looked = now;
			for (uint32_t i = 0; i < 2 && result == 0; i++) {
				result = stats_read(&lab->devices[i], &stats, error);
			}
		}
		if (received == 0 && !(threads && lab->counts.rx > DEED_AFTER)) {
			pause_idle();
		}
	}
	if (threads) {
		ended = 1;
		(void)pthread_join(intruder, NULL);
	}
	return result;
}

static int start(struct lab *lab, char **addresses, struct error *error)
{
	struct device_config config = DEVICE_CONFIG_DEFAULT;

	config.rx_ring_size = is(lab, "odd-ring") ? ODD_RING_SIZE : RING_SIZE;
	config.tx_ring_size = config.rx_ring_size;
	for (uint32_t i = 0; i < 2; i++) {
		if (device_open(&lab->devices[i], &lab->container, addresses[i], error) != 0) {
			return -1;
		}
		lab->opened++;
	}
	for (uint32_t i = 0; i < 2; i++) {
		if (mempool_create(&lab->pools[i], &lab->container, POOL_CAPACITY, error) != 0) {
			return -1;
		}
	}
	if (mempool_create(&lab->spare, &lab->container, POOL_CAPACITY, error) != 0) {
		return -1;
	}
	lab->spare_packet = packet_alloc(&lab->spare);
	for (uint32_t i = 0; i < 2; i++) {
		if (device_start(&lab->devices[i], &config, &lab->pools[i], error) != 0) {
			return -1;
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uintptr_t left = *(const uintptr_t *)a;
	uintptr_t right = *(const uintptr_t *)b;

	return (left > right) - (left < right);
}

/* Looks at a pool to which all packets should have come back: how many are not there, or twice. */
static void inspect(const struct mempool *pool, uint64_t *missing, uint64_t *twice)
{
	uint32_t count = pool->free_count < pool->capacity ? pool->free_count : pool->capacity;
	uintptr_t *free_packets = calloc(pool->capacity, sizeof(uintptr_t));
	uint32_t distinct = 0;

	if (free_packets == NULL || pool->free == NULL) {
		free(free_packets);
		return;
	}
	memcpy(free_packets, (void *)pool->free, count * sizeof(uintptr_t));
	qsort(free_packets, count, sizeof(uintptr_t), compare);
	for (uint32_t i = 0; i < count; i++) {
		distinct += i == 0 || free_packets[i] != free_packets[i - 1];
	}
	free(free_packets);
	*missing += pool->capacity - distinct;
	*twice += pool->free_count - distinct;
}

static void report(struct lab *lab)
{
	uint64_t discarded = 0;
	uint64_t pool_empty = 0;
	uint64_t missing = 0;
	uint64_t twice = 0;

	for (uint32_t i = 0; i < lab->opened; i++) {
		discarded += lab->devices[i].rx[0].discarded;
		pool_empty += lab->devices[i].rx[0].pool_empty;
		device_release(&lab->devices[i]);
	}
	for (uint32_t i = 0; i < lab->hoarded; i++) {
		packet_free(lab->hoard[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		inspect(&lab->pools[i], &missing, &twice);
	}
	(void)printf("{\"rx\":%" PRIu64 ",\"tx\":%" PRIu64 ",\"dropped\":%" PRIu64
		     ",\"discarded\":%" PRIu64 ",\"pool_empty\":%" PRIu64 ",\"missing\":%" PRIu64
		     ",\"twice\":%" PRIu64 "}\n",
		     lab->counts.rx, lab->counts.tx, lab->counts.dropped, discarded, pool_empty,
		     missing, twice);
}

int main(int argc, char **argv)
{
	static struct lab lab;
	struct error error;
	struct error later;
	int status = EXIT_SUCCESS;

	if (argc != 4) {
		(void)fprintf(stderr, "usage: lab DEED DEVICE DEVICE\n");
		return 2;
	}
	(void)signal(SIGINT, end);
	lab.deed = argv[1];
	vfio_container_init(&lab.container);
	if (start(&lab, argv + 2, &error) != 0 || run(&lab, &error) != 0) {
		(void)fprintf(stderr, "lab: %s\n", error.text);
		status = EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < lab.opened; i++) {
		if (lab.devices[i].running && device_stop(&lab.devices[i], &later) != 0 &&
		    status == EXIT_SUCCESS) {
			(void)fprintf(stderr, "lab: %s\n", later.text);
			status = EXIT_FAILURE;
		}
	}
	report(&lab);
	for (uint32_t i = 0; i < 2; i++) {
		mempool_destroy(&lab.pools[i]);
	}
	mempool_destroy(&lab.spare);
	for (uint32_t i = 0; i < lab.opened; i++) {
		device_close(&lab.devices[i]);
	}
	vfio_container_close(&lab.container);
	return status;
}
