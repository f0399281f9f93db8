/*
 * The lab's application on the C driver. It forwards between two devices as ixgbe-fwd does,
 * performs one action on the way, and reports its counts at the end.
 *
 *     lab ACTION DEVICE DEVICE
 *
 * Most actions are mistakes; `forward` does nothing besides forwarding. An action starts after
 * ACTION_AFTER received packets. The program stops on SIGINT and prints one line of JSON. Exit
 * status: 0, 1 after an error of the driver, 2 for an unknown action or a wrong command line.
 * The transpiled driver takes the place of the C driver in the same program. The twin is lab.rs.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "driver/device.h"
#include "driver/mempool.h"
#include "rooms/packet_ring.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define RING_SIZE 64
#define ODD_RING_SIZE 96
#define POOL_CAPACITY 512
#define BATCH 32
#define MAX_BATCH 128
#define ACTION_AFTER 100
#define STATS_INTERVAL_MS 50
#define IDLE_US 20
#define HOLD_US 300000
#define HOLDS 10

/* The byte that the application writes outside its packets. */
#define MARK 0xee

static const char *const actions[] = {
	"forward",	  "use-after-send", "double-free",	  "use-after-pool",
	"write-past-end", "two-threads",    "write-before-start", "leak",
	"free-pool",	  "large-batch",    "odd-ring",		  "index-after-send",
	"negative-index", "hold",	    "foreign-free",	  "pool-destroyed",
};

struct lab {
	const char *action;
	struct vfio_container container;
	struct mempool pools[3]; /* a device's each, and a spare one */
	struct mempool *spare;
	struct packet *spare_packet;
	struct device devices[2];
	uint32_t opened;
	uint64_t received;
	uint64_t dropped;
	bool done; /* whether an action that happens once has happened */
	struct packet *stale;
	struct packet_ring to_second; /* packets on their way to the second thread */
	struct packet *collected[MAX_BATCH]; /* received and not sent yet */
	uint32_t collected_count;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static bool known(const char *action)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(action, actions[i]) == 0) {
			return true;
		}
	}
	return false;
}

static bool is(const struct lab *lab, const char *action)
{
	return strcmp(lab->action, action) == 0;
}

/* Performs an action on received packets. Returns how many are left to send. */
static uint32_t act(struct lab *lab, struct packet **packets, uint32_t received)
{
	struct packet *first = packets[0];

	if (is(lab, "use-after-send")) {
		/* Keeps a packet while it is sent, and writes to it later. */
		if (lab->stale == NULL) {
			lab->stale = first;
		} else {
			memset(lab->stale->data + 30, MARK, 8);
			lab->stale->size = 100;
		}
		return received;
	}
	if (is(lab, "leak")) {
		/* Neither sends nor frees half of the packets. */
		lab->dropped += received - received / 2;
		return received / 2;
	}
	if (is(lab, "foreign-free")) {
		/* Gives half of the packets to a second thread, which frees them. */
		uint32_t kept = received / 2;

		(void)packet_ring_put(&lab->to_second, packets + kept, received - kept);
		lab->dropped += received - kept;
		return kept;
	}
	if (lab->done) {
		return received;
	}
	lab->done = true;
	if (is(lab, "double-free")) {
		/* Frees a packet twice and does not send it. */
		packet_free(first);
		packet_free(first);
		memmove((void *)packets, (void *)(packets + 1),
			(received - 1) * sizeof(struct packet *));
		return received - 1;
	}
	if (is(lab, "use-after-pool")) {
		mempool_destroy(lab->spare);
		memset(lab->spare_packet->data, MARK, 60);
	} else if (is(lab, "free-pool")) {
		/* No mistake: the device loses its access to this memory. */
		mempool_destroy(lab->spare);
	} else if (is(lab, "pool-destroyed")) {
		/* A second thread still writes to a packet of the pool. Wait for its next write. */
		mempool_destroy(lab->spare);
		for (int i = 0; i < HOLDS && !stopped; i++) {
			sleep_us(HOLD_US);
		}
	} else if (is(lab, "hold")) {
		/* No mistake: the device writes to the packets meanwhile. */
		sleep_us(HOLD_US);
	} else if (is(lab, "write-past-end")) {
		/* Writes a trailer behind a packet that fills its buffer. */
		memset(first->data + PACKET_MAX_SIZE, MARK, 8);
	} else if (is(lab, "write-before-start") || is(lab, "negative-index")) {
		/* Writes a tunnel header in front of the data. */
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
	lab->dropped += count - sent;
	return sent;
}

static uint32_t forward(struct lab *lab, struct rx_queue *rx, struct tx_queue *tx)
{
	struct packet *packets[BATCH];
	uint32_t received = rx_batch(rx, packets, BATCH);

	if (received == 0) {
		return 0;
	}
	lab->received += received;
	for (uint32_t i = 0; i < received; i++) {
		packets[i]->data[1]++;
	}
	if (is(lab, "large-batch") && lab->received > ACTION_AFTER && !lab->done) {
		/* Sends more packets in one call than the ring has descriptors. */
		memcpy((void *)(lab->collected + lab->collected_count), (void *)packets,
		       received * sizeof(struct packet *));
		lab->collected_count += received;
		if (lab->collected_count > MAX_BATCH - BATCH) {
			(void)send_or_free(lab, tx, lab->collected, lab->collected_count);
			lab->collected_count = 0;
			lab->done = true;
		}
		return received;
	}
	uint32_t count = received;

	if (lab->received > ACTION_AFTER) {
		count = act(lab, packets, received);
	}
	uint32_t sent = send_or_free(lab, tx, packets, count);

	if (is(lab, "index-after-send") && lab->received > ACTION_AFTER && sent > 0) {
		/* Writes to a packet that still stands in the array after it was sent. */
		memset(packets[0]->data + 30, MARK, 8);
	}
	return received;
}

/* Forwards on the same queues in a second thread, which the driver does not allow. */
static void *forward_in_second_thread(void *argument)
{
	struct lab *lab = argument;

	while (!stopped) {
		if (lab->received > ACTION_AFTER) {
			(void)forward(lab, &lab->devices[0].rx[0], &lab->devices[1].tx[0]);
		}
	}
	return NULL;
}

/* Frees packets in a thread that does not have their pool. packets_return would be right. */
static void *free_in_second_thread(void *argument)
{
	struct lab *lab = argument;
	struct packet *packets[BATCH];

	while (!stopped) {
		uint32_t count = packet_ring_take(&lab->to_second, packets, BATCH);

		for (uint32_t i = 0; i < count; i++) {
			packet_free(packets[i]);
		}
	}
	return NULL;
}

/* Writes to a packet whose pool the first thread destroys meanwhile. */
static void *write_in_second_thread(void *argument)
{
	struct lab *lab = argument;

	while (!stopped) {
		memset(lab->spare_packet->data, MARK, 60);
		sleep_us(IDLE_US);
	}
	return NULL;
}

/* What the second thread does, or NULL if the action has none. */
static void *(*second_thread(const struct lab *lab))(void *)
{
	if (is(lab, "two-threads")) {
		return forward_in_second_thread;
	}
	if (is(lab, "foreign-free")) {
		return free_in_second_thread;
	}
	return is(lab, "pool-destroyed") ? write_in_second_thread : NULL;
}

static int run(struct lab *lab, struct error *error)
{
	struct device *a = &lab->devices[0];
	struct device *b = &lab->devices[1];
	bool shares_queues = is(lab, "two-threads");
	void *(*work)(void *) = second_thread(lab);
	uint64_t stats_time = now_ms();
	pthread_t second;
	int result = 0;

	if (work != NULL && pthread_create(&second, NULL, work, lab) != 0) {
		error_set(error, "cannot start a second thread");
		return -1;
	}
	while (!stopped && result == 0) {
		uint32_t received = forward(lab, &a->rx[0], &b->tx[0]) +
				    forward(lab, &b->rx[0], &a->tx[0]);
		uint64_t now = now_ms();

		if (now - stats_time >= STATS_INTERVAL_MS) {
			struct device_stats stats;

			stats_time = now;
			for (uint32_t i = 0; i < 2 && result == 0; i++) {
				result = stats_read(&lab->devices[i], &stats, error);
			}
		}
		if (received == 0 && !(shares_queues && lab->received > ACTION_AFTER)) {
			sleep_us(IDLE_US);
		}
	}
	if (work != NULL) {
		stopped = 1;
		(void)pthread_join(second, NULL);
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
	for (uint32_t i = 0; i < 3; i++) {
		if (mempool_create(&lab->pools[i], &lab->container, POOL_CAPACITY, error) != 0) {
			return -1;
		}
	}
	lab->spare_packet = packet_alloc(lab->spare);
	if (packet_ring_create(&lab->to_second, 2 * POOL_CAPACITY, error) != 0) {
		return -1;
	}
	for (uint32_t i = 0; i < 2; i++) {
		if (device_start_queues(&lab->devices[i], &config, &lab->pools[i], error) != 0) {
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

/* Counts the packets that did not return to their pool, and those that returned twice. */
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
	uint64_t missing = 0;
	uint64_t twice = 0;

	for (uint32_t i = 0; i < lab->opened; i++) {
		discarded += lab->devices[i].rx[0].discarded;
		device_release(&lab->devices[i]);
	}
	for (uint32_t i = 0; i < lab->collected_count; i++) {
		packet_free(lab->collected[i]);
	}
	/* What the second thread has not taken. */
	for (struct packet *packet; packet_ring_take(&lab->to_second, &packet, 1) == 1;) {
		packet_free(packet);
	}
	packet_ring_destroy(&lab->to_second);
	for (uint32_t i = 0; i < 2; i++) {
		inspect(&lab->pools[i], &missing, &twice);
	}
	(void)printf("{\"dropped\":%" PRIu64 ",\"discarded\":%" PRIu64 ",\"missing\":%" PRIu64
		     ",\"twice\":%" PRIu64 "}\n",
		     lab->dropped, discarded, missing, twice);
}

int main(int argc, char **argv)
{
	static struct lab lab;
	struct error error;
	struct error later;
	int status = EXIT_SUCCESS;

	if (argc != 4 || !known(argv[1])) {
		(void)fprintf(stderr, "usage: lab ACTION DEVICE DEVICE\n");
		return 2;
	}
	(void)signal(SIGINT, stop);
	lab.action = argv[1];
	lab.spare = &lab.pools[2];
	vfio_container_init(&lab.container);
	if (start(&lab, argv + 2, &error) != 0 || run(&lab, &error) != 0) {
		(void)fprintf(stderr, "lab: %s\n", error.text);
		status = EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < lab.opened; i++) {
		if (lab.devices[i].running && device_stop_queues(&lab.devices[i], &later) != 0 &&
		    status == EXIT_SUCCESS) {
			(void)fprintf(stderr, "lab: %s\n", later.text);
			status = EXIT_FAILURE;
		}
	}
	report(&lab);
	for (uint32_t i = 0; i < 3; i++) {
		mempool_destroy(&lab.pools[i]);
	}
	for (uint32_t i = 0; i < lab.opened; i++) {
		device_close(&lab.devices[i]);
	}
	vfio_container_close(&lab.container);
	return status;
}
