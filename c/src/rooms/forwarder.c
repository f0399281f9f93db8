/* The forwarder: each of two devices sends the packets that the other receives. */
#include "rooms/forwarder.h"
#include "driver/device.h"
#include "rooms/direction.h"
#include "rooms/interrupts.h"
#include "rooms/health.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <stdlib.h>

/*
 * Enough packets for an RX ring, a TX ring and a batch, so that the pool never runs empty: the
 * paper's 2048, and more for rings larger than its 512.
 */
#define POOL_MIN_CAPACITY 2048
#define POOL_PACKETS_PER_DESCRIPTOR 4

/* The size of a packet of forwarder_send: the smallest frame, without CRC. */
#define SENT_SIZE 60

/*
 * Queue `i` of both devices, and all that a thread needs to forward between them. Its packets are of
 * the pools of these queues, so no packet leaves its lane.
 */
struct lane {
	struct direction directions[2];
	uint32_t batch;
	struct forwarder_counts counts;
	uint64_t packets_left;
	struct packet *packets[FORWARDER_MAX_BATCH];
	uint8_t apart[CACHE_LINES_APART]; /* the next lane may belong to another thread */
};

struct forwarder {
	struct lane lanes[DEVICE_MAX_QUEUES];
	uint32_t queues; /* queue pairs of each device, and lanes in use */
	struct vfio_container container;
	struct mempool pools[2][DEVICE_MAX_QUEUES]; /* pools[i][j] feeds RX queue j of devices[i] */
	struct device devices[2];
	uint32_t opened; /* devices that are open */
	struct interrupts_waits waits;
};

/* Forwards a batch from one device to the other. Returns the number of received packets. */
static inline uint32_t forward(struct lane *lane, const struct direction *direction)
{
	struct forwarder_counts *counts = &lane->counts;
	struct packet **packets = lane->packets;
	uint32_t wanted = lane->batch;

	if (lane->packets_left < wanted) {
		wanted = (uint32_t)lane->packets_left;
	}
	uint32_t received = rx_batch(direction->rx, packets, wanted);

	counts->rx_calls++;
	if (received == 0) {
		return 0;
	}
	for (uint32_t i = 0; i < received; i++) {
		packets[i]->data[TOUCHED_BYTE]++;
	}
	uint32_t sent = tx_batch(direction->tx, packets, received);

	/* Drops the packets that the ring cannot take: waiting would only move the loss to RX. */
	for (uint32_t i = sent; i < received; i++) {
		packet_free(packets[i]);
	}
	lane->packets_left -= received;
	counts->rx += received;
	counts->tx += sent;
	counts->dropped += received - sent;
	counts->full_batches += received == wanted;
	return received;
}

/* Forwards a batch each way. Returns the number of received packets. */
static inline uint32_t lane_turn(struct lane *lane)
{
	return forward(lane, &lane->directions[0]) + forward(lane, &lane->directions[1]);
}

uint32_t forwarder_turn(struct forwarder *forwarder)
{
	return lane_turn(&forwarder->lanes[0]);
}

uint32_t forwarder_queue_turn(struct forwarder *forwarder, uint32_t queue)
{
	return lane_turn(&forwarder->lanes[queue % DEVICE_MAX_QUEUES]);
}

/* Takes a batch from a pool into lane->packets. Returns the number of packets. */
static uint32_t alloc_batch(struct lane *lane, struct mempool *pool)
{
	uint32_t count = 0;

	while (count < lane->batch) {
		struct packet *packet = packet_alloc(pool);

		if (packet == NULL) {
			break;
		}
		lane->packets[count] = packet;
		count++;
	}
	return count;
}

/* Frees lane->packets from `first` to `count`. */
static void free_batch(struct lane *lane, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < count; i++) {
		packet_free(lane->packets[i]);
	}
}

uint32_t forwarder_receive(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t received = rx_batch(&forwarder->devices[i].rx[0], lane->packets,
					     lane->batch);

		free_batch(lane, 0, received);
		total += received;
	}
	return total;
}

uint32_t forwarder_send(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t count = alloc_batch(lane, &forwarder->pools[i][0]);

		for (uint32_t j = 0; j < count; j++) {
			lane->packets[j]->size = SENT_SIZE;
		}
		uint32_t sent = tx_batch(&forwarder->devices[i].tx[0], lane->packets, count);

		free_batch(lane, sent, count);
		total += sent;
	}
	return total;
}

uint32_t forwarder_alloc(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t count = alloc_batch(lane, &forwarder->pools[i][0]);

		free_batch(lane, 0, count);
		total += count;
	}
	return total;
}

bool forwarder_on_ordinary_pages(const struct forwarder *forwarder)
{
	return forwarder->container.ordinary_pages;
}

bool forwarder_is_trapped(const struct forwarder *forwarder)
{
	return device_is_trapped(&forwarder->devices[0]) ||
	       device_is_trapped(&forwarder->devices[1]);
}

void forwarder_limit(struct forwarder *forwarder, uint64_t packets)
{
	forwarder_queue_limit(forwarder, 0, packets);
}

void forwarder_queue_limit(struct forwarder *forwarder, uint32_t queue, uint64_t packets)
{
	forwarder->lanes[queue % DEVICE_MAX_QUEUES].packets_left = packets;
}

static void add_counts(struct forwarder_counts *counts, const struct forwarder_counts *more)
{
	counts->rx += more->rx;
	counts->tx += more->tx;
	counts->dropped += more->dropped;
	counts->rx_calls += more->rx_calls;
	counts->full_batches += more->full_batches;
}

void forwarder_read_counts(const struct forwarder *forwarder, struct forwarder_counts *counts)
{
	*counts = forwarder->lanes[0].counts;
	for (uint32_t i = 1; i < forwarder->queues; i++) {
		add_counts(counts, &forwarder->lanes[i].counts);
	}
}

void forwarder_read_queue_counts(const struct forwarder *forwarder, uint32_t queue,
				 struct forwarder_counts *counts)
{
	*counts = forwarder->lanes[queue % DEVICE_MAX_QUEUES].counts;
}

void forwarder_add_counts(struct forwarder *forwarder, uint32_t queue,
			  const struct forwarder_counts *more)
{
	add_counts(&forwarder->lanes[queue % DEVICE_MAX_QUEUES].counts, more);
}

struct direction forwarder_direction(const struct forwarder *forwarder, uint32_t queue,
				     uint32_t direction)
{
	return forwarder->lanes[queue % DEVICE_MAX_QUEUES].directions[direction & 1];
}

uint32_t forwarder_queues(const struct forwarder *forwarder)
{
	return forwarder->queues;
}

uint32_t forwarder_batch(const struct forwarder *forwarder)
{
	return forwarder->lanes[0].batch;
}

void forwarder_give_queues(struct forwarder *forwarder, bool to_threads)
{
	for (uint32_t i = 0; i < 2; i++) {
		forwarder->devices[i].queues_in_threads = to_threads;
	}
}

int forwarder_queue_check(struct forwarder *forwarder, uint32_t queue, char *error,
			  size_t error_size)
{
	struct error reason;

	for (uint32_t i = 0; i < 2; i++) {
		if (rx_check_stall(&forwarder->devices[i].rx[queue % DEVICE_MAX_QUEUES], &reason) !=
		    0) {
			(void)snprintf(error, error_size, "%s", reason.text);
			return -1;
		}
	}
	return 0;
}

int forwarder_device_stats(struct forwarder *forwarder, uint32_t device,
			   struct forwarder_device_stats *stats, char *error, size_t error_size)
{
	struct device_stats read;
	struct error reason;

	if (stats_read(&forwarder->devices[device & 1], &read, &reason) != 0) {
		(void)snprintf(error, error_size, "%s", reason.text);
		return -1;
	}
	stats->rx_packets = read.rx_packets;
	stats->rx_bytes = read.rx_bytes;
	stats->tx_packets = read.tx_packets;
	stats->tx_bytes = read.tx_bytes;
	return 0;
}

int forwarder_queue_stats(struct forwarder *forwarder, uint32_t device, uint32_t queue,
			  struct forwarder_device_stats *stats, char *error, size_t error_size)
{
	struct queue_stats read;
	struct error reason;

	if (queue_stats_read(&forwarder->devices[device & 1], queue, &read, &reason) != 0) {
		(void)snprintf(error, error_size, "%s", reason.text);
		return -1;
	}
	stats->rx_packets = read.rx_packets;
	stats->rx_bytes = read.rx_bytes;
	stats->tx_packets = read.tx_packets;
	stats->tx_bytes = read.tx_bytes;
	return 0;
}

int forwarder_read_missed(struct forwarder *forwarder, uint64_t *missed, char *error,
			  size_t error_size)
{
	struct queue_stats read;
	struct error reason;

	*missed = 0;
	for (uint32_t i = 0; i < 2 * forwarder->queues; i++) {
		if (queue_stats_read(&forwarder->devices[i & 1], i / 2, &read, &reason) != 0) {
			(void)snprintf(error, error_size, "%s", reason.text);
			return -1;
		}
		*missed += read.rx_dropped;
	}
	return 0;
}

/* Frees everything. The devices must be stopped or unreachable. */
static void destroy(struct forwarder *forwarder)
{
	for (uint32_t i = 0; i < forwarder->opened; i++) {
		device_release(&forwarder->devices[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < DEVICE_MAX_QUEUES; j++) {
			mempool_destroy(&forwarder->pools[i][j]);
		}
	}
	for (uint32_t i = 0; i < forwarder->opened; i++) {
		device_close(&forwarder->devices[i]);
	}
	vfio_container_close(&forwarder->container);
	free(forwarder);
}

static uint32_t pool_capacity(uint32_t ring_size)
{
	/* device_start refuses larger rings. */
	if (ring_size > DEVICE_MAX_RING_SIZE) {
		ring_size = DEVICE_MAX_RING_SIZE;
	}
	uint32_t capacity = ring_size * POOL_PACKETS_PER_DESCRIPTOR;

	return capacity < POOL_MIN_CAPACITY ? POOL_MIN_CAPACITY : capacity;
}

/* Opens both devices, and creates a pool for each of their queues. */
static int open_ports(struct forwarder *forwarder, const char *const *addresses, uint32_t capacity,
		      struct error *error)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (device_open(&forwarder->devices[i], &forwarder->container, addresses[i],
				error) != 0) {
			return -1;
		}
		forwarder->opened++;
	}
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < forwarder->queues; j++) {
			if (mempool_create(&forwarder->pools[i][j], &forwarder->container, capacity,
					   error) != 0) {
				return -1;
			}
		}
	}
	return 0;
}

static int start(struct forwarder *forwarder, uint32_t ring_size, uint32_t link_timeout_ms,
		 struct error *error)
{
	struct device_config config = DEVICE_CONFIG_DEFAULT;

	config.rx_queues = forwarder->queues;
	config.tx_queues = forwarder->queues;
	config.rx_ring_size = ring_size;
	config.tx_ring_size = ring_size;
	for (uint32_t i = 0; i < 2; i++) {
		if (device_start_queues(&forwarder->devices[i], &config, forwarder->pools[i],
					error) != 0) {
			return -1;
		}
	}
	/* Both devices run by now, because they may be cabled to each other. */
	for (uint32_t i = 0; i < 2; i++) {
		if (device_wait_for_link(&forwarder->devices[i], link_timeout_ms, error) != 0) {
			return -1;
		}
	}
	return 0;
}

static void init_lanes(struct forwarder *forwarder, uint32_t batch)
{
	for (uint32_t i = 0; i < forwarder->queues; i++) {
		struct lane *lane = &forwarder->lanes[i];

		lane->batch = batch;
		lane->packets_left = UINT64_MAX;
		for (uint32_t j = 0; j < 2; j++) {
			lane->directions[j].rx = &forwarder->devices[j].rx[i];
			lane->directions[j].tx = &forwarder->devices[1 - j].tx[i];
		}
	}
}

struct forwarder *forwarder_open_queues(const char *device_a, const char *device_b, uint32_t batch,
					uint32_t ring_size, uint32_t queues,
					uint32_t connect_timeout_ms, uint32_t link_timeout_ms,
					char *error, size_t error_size)
{
	const char *const addresses[2] = {device_a, device_b};
	struct error reason;

	if (batch < 1 || batch > FORWARDER_MAX_BATCH) {
		(void)snprintf(error, error_size, "a batch has 1 to %d packets, not %u",
			       FORWARDER_MAX_BATCH, batch);
		return NULL;
	}
	if (queues < 1 || queues > DEVICE_MAX_QUEUES) {
		(void)snprintf(error, error_size, "a device has 1 to %d queue pairs, not %u",
			       DEVICE_MAX_QUEUES, queues);
		return NULL;
	}
	struct forwarder *forwarder = calloc(1, sizeof(*forwarder));

	if (forwarder == NULL) {
		(void)snprintf(error, error_size, "out of memory for the forwarder");
		return NULL;
	}
	forwarder->queues = queues;
	init_lanes(forwarder, batch);
	vfio_container_init(&forwarder->container);
	forwarder->container.connect_timeout_ms = connect_timeout_ms;
	if (open_ports(forwarder, addresses, pool_capacity(ring_size), &reason) != 0 ||
	    start(forwarder, ring_size, link_timeout_ms, &reason) != 0) {
		(void)snprintf(error, error_size, "%s", reason.text);
		/* Stops the device that did start. The first error is the one to report. */
		struct error ignored;

		for (uint32_t i = 0; i < forwarder->opened; i++) {
			if (forwarder->devices[i].running) {
				(void)device_stop_queues(&forwarder->devices[i], &ignored);
			}
		}
		destroy(forwarder);
		return NULL;
	}
	return forwarder;
}

struct forwarder *forwarder_open(const char *device_a, const char *device_b, uint32_t batch,
				 uint32_t ring_size, uint32_t connect_timeout_ms,
				 uint32_t link_timeout_ms, char *error, size_t error_size)
{
	return forwarder_open_queues(device_a, device_b, batch, ring_size, 1, connect_timeout_ms,
				     link_timeout_ms, error, error_size);
}

int forwarder_use_interrupts(struct forwarder *forwarder, uint32_t interval_us, char *error,
			     size_t error_size)
{
	struct error reason;

	for (uint32_t i = 0; i < 2; i++) {
		if (interrupts_start(&forwarder->devices[i], interval_us, &reason) != 0) {
			(void)snprintf(error, error_size, "%s", reason.text);
			return -1;
		}
	}
	return 0;
}

int forwarder_wait(struct forwarder *forwarder, uint32_t timeout_ms, char *error, size_t error_size)
{
	struct error reason;

	if (interrupts_wait(forwarder->devices, 2, timeout_ms, &forwarder->waits, &reason) != 0) {
		(void)snprintf(error, error_size, "%s", reason.text);
		return -1;
	}
	return 0;
}

void forwarder_read_waits(const struct forwarder *forwarder, struct forwarder_waits *waits)
{
	*waits = (struct forwarder_waits){
		.interrupts = forwarder->waits.interrupts,
		.sleeps = forwarder->waits.sleeps,
	};
}

int forwarder_close(struct forwarder *forwarder, char *error, size_t error_size)
{
	struct error reason;
	int result = 0;

	for (uint32_t i = 0; i < 2; i++) {
		if (device_stop_queues(&forwarder->devices[i], &reason) != 0 && result == 0) {
			(void)snprintf(error, error_size, "%s", reason.text);
			result = -1;
		}
	}
	destroy(forwarder);
	return result;
}
