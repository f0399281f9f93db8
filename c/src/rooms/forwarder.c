/* The forwarder: each of two devices sends the packets that the other receives. */
#include "rooms/forwarder.h"
#include "driver/data_path.h"
#include "driver/device.h"
#include "rooms/health.h"
#include "rooms/interrupts.h"
#include "rooms/lane.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <assert.h>
#include <stdlib.h>

/*
 * Enough packets for an RX ring, a TX ring and a batch, so that the pool never runs empty: the
 * paper's 2048, and more for rings larger than its 512.
 */
#define POOL_MIN_CAPACITY 2048
#define POOL_PACKETS_PER_DESCRIPTOR 4

/* All rings of a tuned lane, both ways, and its batch have a buffer for each place, for ever. */
#define TUNED_RINGS 4

/* The size of a packet of forwarder_send: the smallest frame, without CRC. */
#define SENT_SIZE 60

struct forwarder {
	struct lane lanes[DEVICE_MAX_QUEUES];
	uint32_t queues; /* queue pairs of each device, and lanes in use */
	struct vfio_container container;
	struct mempool pools[2][DEVICE_MAX_QUEUES]; /* pools[i][j] feeds RX queue j of devices[i] */
	/* An enum forwarder_path. With FORWARDER_PATH_TUNED, pools[0][j] feeds RX queue j of both devices. */
	uint32_t path;
	struct device devices[2];
	struct interrupts_waits waits;
};

/* The most packets that the next batch may have. */
static inline uint32_t batch_wanted(const struct direction *direction)
{
	return direction->packets_left < direction->batch ? (uint32_t)direction->packets_left :
							    direction->batch;
}

static inline void batch_count(struct direction *direction, uint32_t wanted, uint32_t received,
			       uint32_t sent)
{
	struct forwarder_counts *counts = &direction->counts;

	direction->packets_left -= received;
	counts->rx += received;
	counts->tx += sent;
	counts->dropped += received - sent;
	counts->full_batches += received == wanted;
}

/* Forwards a batch from device `from` to the other. Returns the number of received packets. */
DATA_PATH static uint32_t forward(struct lane *lane, uint32_t from)
{
	struct direction *direction = &lane->direction;
	struct packet **packets = direction->packets;
	uint32_t wanted = batch_wanted(direction);
	uint32_t received = rx_batch(lane->rx[from], packets, wanted);

	direction->counts.rx_calls++;
	if (received == 0) {
		return 0;
	}
	for (uint32_t i = 0; i < received; i++) {
		packets[i]->data[TOUCHED_BYTE]++;
	}
	uint32_t sent = tx_batch(lane->tx[1 - from], packets, received);

	/* Drops the packets that the ring cannot take: waiting would only move the loss to RX. */
	for (uint32_t i = sent; i < received; i++) {
		packet_free(packets[i]);
	}
	batch_count(direction, wanted, received, sent);
	return received;
}

/* Forwards a batch each way. Returns the number of received packets. */
DATA_PATH static uint32_t lane_turn(struct lane *lane)
{
	return forward(lane, 0) + forward(lane, 1);
}

struct lane *forwarder_lane(struct forwarder *forwarder, uint32_t queue)
{
	assert(queue < forwarder->queues);
	return &forwarder->lanes[queue];
}

DATA_PATH uint32_t forwarder_turn(struct forwarder *forwarder)
{
	return lane_turn(&forwarder->lanes[0]);
}

DATA_PATH uint32_t forwarder_queue_turn(struct forwarder *forwarder, uint32_t queue)
{
	return lane_turn(forwarder_lane(forwarder, queue));
}

/* As `forward`, by the tuned path. */
DATA_PATH static uint32_t forward_tuned(struct lane *lane, uint32_t from)
{
	struct direction *direction = &lane->direction;
	uint32_t wanted = batch_wanted(direction);
	struct tuned_turn turn = tuned_forward(lane->tuned, from, wanted);

	direction->counts.rx_calls++;
	if (turn.received > 0) {
		batch_count(direction, wanted, turn.received, turn.sent);
	}
	return turn.received;
}

DATA_PATH uint32_t forwarder_tuned_turn(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];

	return forward_tuned(lane, 0) + forward_tuned(lane, 1);
}

DATA_PATH uint32_t forwarder_tuned_queue_turn(struct forwarder *forwarder, uint32_t queue)
{
	struct lane *lane = forwarder_lane(forwarder, queue);

	return forward_tuned(lane, 0) + forward_tuned(lane, 1);
}

/* As `forward`, by the agent, which drops nothing. */
DATA_PATH static uint32_t forward_by_agent(struct lane *lane, uint32_t from)
{
	struct direction *direction = &lane->direction;
	uint32_t wanted = batch_wanted(direction);
	uint32_t forwarded = agent_forward(&lane->agents[from], wanted);

	direction->counts.rx_calls++;
	if (forwarded > 0) {
		batch_count(direction, wanted, forwarded, forwarded);
	}
	return forwarded;
}

DATA_PATH uint32_t forwarder_agent_turn(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];

	return forward_by_agent(lane, 0) + forward_by_agent(lane, 1);
}

DATA_PATH uint32_t forwarder_agent_queue_turn(struct forwarder *forwarder, uint32_t queue)
{
	struct lane *lane = forwarder_lane(forwarder, queue);

	return forward_by_agent(lane, 0) + forward_by_agent(lane, 1);
}

/* Takes a batch of packets from a pool. Returns their number, which is less if the pool has fewer. */
static uint32_t alloc_batch(struct direction *direction, struct mempool *pool)
{
	uint32_t count = 0;

	while (count < direction->batch && pool->free_count > 0) {
		direction->packets[count] = packet_alloc(pool);
		count++;
	}
	return count;
}

static void free_batch(struct packet **packets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		packet_free(packets[i]);
	}
}

uint32_t forwarder_receive(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];
	struct packet **packets = lane->direction.packets;
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t received = rx_batch(lane->rx[i], packets, lane->direction.batch);

		free_batch(packets, received);
		total += received;
	}
	return total;
}

uint32_t forwarder_send(struct forwarder *forwarder)
{
	struct lane *lane = &forwarder->lanes[0];
	struct packet **packets = lane->direction.packets;
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t count = alloc_batch(&lane->direction, &forwarder->pools[i][0]);

		for (uint32_t j = 0; j < count; j++) {
			packets[j]->size = SENT_SIZE;
		}
		uint32_t sent = tx_batch(lane->tx[i], packets, count);

		free_batch(packets + sent, count - sent);
		total += sent;
	}
	return total;
}

uint32_t forwarder_alloc(struct forwarder *forwarder)
{
	struct direction *direction = &forwarder->lanes[0].direction;
	uint32_t total = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t count = alloc_batch(direction, &forwarder->pools[i][0]);

		free_batch(direction->packets, count);
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
	forwarder_lane(forwarder, queue)->direction.packets_left = packets;
}

void forwarder_read_counts(const struct forwarder *forwarder, struct forwarder_counts *counts)
{
	*counts = (struct forwarder_counts){0};
	for (uint32_t i = 0; i < forwarder->queues; i++) {
		const struct forwarder_counts *more = &forwarder->lanes[i].direction.counts;

		counts->rx += more->rx;
		counts->tx += more->tx;
		counts->dropped += more->dropped;
		counts->rx_calls += more->rx_calls;
		counts->full_batches += more->full_batches;
	}
}

void forwarder_read_queue_counts(const struct forwarder *forwarder, uint32_t queue,
				 struct forwarder_counts *counts)
{
	assert(queue < forwarder->queues);
	*counts = forwarder->lanes[queue].direction.counts;
}

uint32_t forwarder_queues(const struct forwarder *forwarder)
{
	return forwarder->queues;
}

void forwarder_give_queues(struct forwarder *forwarder, bool to_threads)
{
	for (uint32_t i = 0; i < 2; i++) {
		forwarder->devices[i].queues_in_threads = to_threads;
	}
}

static int check_agent(const struct forwarder *forwarder, uint32_t queue, uint32_t device,
		       struct error *error)
{
	return forwarder->path != FORWARDER_PATH_AGENT ?
		       0 :
		       agent_check(&forwarder->lanes[queue].agents[device], error);
}

int forwarder_queue_check(struct forwarder *forwarder, uint32_t queue, char *error,
			  size_t error_size)
{
	struct lane *lane = forwarder_lane(forwarder, queue);
	struct error reason;

	for (uint32_t i = 0; i < 2; i++) {
		if (rx_check_stall(lane->rx[i], &reason) != 0 ||
		    check_agent(forwarder, queue, i, &reason) != 0) {
			return error_copy(-1, &reason, error, error_size);
		}
	}
	return 0;
}

int forwarder_device_stats(struct forwarder *forwarder, uint32_t device,
			   struct forwarder_device_stats *stats, char *error, size_t error_size)
{
	struct device_stats read;
	struct error reason;

	assert(device < 2);
	if (stats_read(&forwarder->devices[device], &read, &reason) != 0) {
		return error_copy(-1, &reason, error, error_size);
	}
	/* A thread checks its own queues. */
	for (uint32_t i = 0; i < forwarder->queues && !forwarder->devices[device].queues_in_threads;
	     i++) {
		if (check_agent(forwarder, i, device, &reason) != 0) {
			return error_copy(-1, &reason, error, error_size);
		}
	}
	*stats = (struct forwarder_device_stats){read.rx_packets, read.rx_bytes, read.tx_packets,
						 read.tx_bytes};
	return 0;
}

int forwarder_queue_stats(struct forwarder *forwarder, uint32_t device, uint32_t queue,
			  struct forwarder_device_stats *stats, char *error, size_t error_size)
{
	struct queue_stats read;
	struct error reason;

	assert(device < 2);
	if (queue_stats_read(&forwarder->devices[device], queue, &read, &reason) != 0) {
		return error_copy(-1, &reason, error, error_size);
	}
	*stats = (struct forwarder_device_stats){read.rx_packets, read.rx_bytes, read.tx_packets,
						 read.tx_bytes};
	return 0;
}

int forwarder_read_missed(struct forwarder *forwarder, uint64_t *missed, char *error,
			  size_t error_size)
{
	struct queue_stats read;
	struct error reason;

	*missed = 0;
	for (uint32_t i = 0; i < 2 * forwarder->queues; i++) {
		if (queue_stats_read(&forwarder->devices[i % 2], i / 2, &read, &reason) != 0) {
			return error_copy(-1, &reason, error, error_size);
		}
		*missed += read.rx_dropped;
	}
	return 0;
}

/* Stops the devices that run, and frees everything. Returns 0, or -1 with the first reason. */
static int destroy(struct forwarder *forwarder, struct error *error)
{
	struct error later;
	int result = 0;

	for (uint32_t i = 0; i < 2; i++) {
		struct device *device = &forwarder->devices[i];

		if (device->running &&
		    device_stop_queues(device, result == 0 ? error : &later) != 0) {
			result = -1;
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		device_release(&forwarder->devices[i]);
	}
	for (uint32_t i = 0; i < forwarder->queues; i++) {
		tuned_lane_destroy(forwarder->lanes[i].tuned);
		mempool_destroy(&forwarder->pools[0][i]);
		mempool_destroy(&forwarder->pools[1][i]);
	}
	/* Closes the devices, too. */
	vfio_container_close(&forwarder->container);
	free(forwarder);
	return result;
}

static uint32_t pool_capacity(const struct forwarder_options *options)
{
	uint32_t ring_size = options->ring_size;

	/* device_start refuses larger rings. */
	if (ring_size > DEVICE_MAX_RING_SIZE) {
		ring_size = DEVICE_MAX_RING_SIZE;
	}
	if (options->path == FORWARDER_PATH_TUNED) {
		return TUNED_RINGS * ring_size + FORWARDER_MAX_BATCH;
	}
	uint32_t capacity = ring_size * POOL_PACKETS_PER_DESCRIPTOR;

	return capacity < POOL_MIN_CAPACITY ? POOL_MIN_CAPACITY : capacity;
}

/* Opens both devices, and creates a pool for each of their queues. */
static int open_ports(struct forwarder *forwarder, const char *const *addresses,
		      const struct forwarder_options *options, struct error *error)
{
	uint32_t stride = options->path == FORWARDER_PATH_DEFAULT ? PACKET_BUFFER_SIZE :
								    PACKET_STRIDE_ODD;

	for (uint32_t i = 0; i < 2; i++) {
		if (device_open(&forwarder->devices[i], &forwarder->container, addresses[i],
				error) != 0) {
			return -1;
		}
	}
	for (uint32_t i = 0; i < 2 * forwarder->queues; i++) {
		if (i % 2 == 1 && options->path == FORWARDER_PATH_TUNED) {
			continue;
		}
		if (mempool_create_strided(&forwarder->pools[i % 2][i / 2], &forwarder->container,
					   pool_capacity(options), stride, error) != 0) {
			return -1;
		}
	}
	return 0;
}

static int start(struct forwarder *forwarder, const struct forwarder_options *options,
		 struct error *error)
{
	struct device_config config = DEVICE_CONFIG_DEFAULT;

	config.rx_queues = forwarder->queues;
	config.tx_queues = forwarder->queues;
	config.rx_ring_size = options->ring_size;
	config.tx_ring_size = options->ring_size;
	config.tx_sparse_rs = options->path >= FORWARDER_PATH_TUNED;
	for (uint32_t i = 0; i < 2; i++) {
		struct mempool *pools =
			forwarder->pools[options->path == FORWARDER_PATH_TUNED ? 0 : i];

		if (device_start_queues(&forwarder->devices[i], &config, pools, error) != 0) {
			return -1;
		}
	}
	/* Both devices run by now, because they may be cabled to each other. */
	for (uint32_t i = 0; i < 2; i++) {
		if (device_wait_for_link(&forwarder->devices[i], options->link_timeout_ms, error) !=
		    0) {
			return -1;
		}
	}
	return 0;
}

/* Gives the lanes what their path needs. The links are up, so no device starts again. */
static int init_path(struct forwarder *forwarder, struct error *error)
{
	for (uint32_t i = 0; i < forwarder->queues; i++) {
		struct lane *lane = &forwarder->lanes[i];

		if (forwarder->path == FORWARDER_PATH_TUNED) {
			lane->tuned = tuned_lane_create(lane->rx, lane->tx);
			if (lane->tuned == NULL) {
				return error_fail(error, "out of memory for the lane of queue %u",
						  i);
			}
		} else if (forwarder->path == FORWARDER_PATH_AGENT) {
			if (agent_init(&lane->agents[0], lane->rx[0], lane->tx[1], error) != 0 ||
			    agent_init(&lane->agents[1], lane->rx[1], lane->tx[0], error) != 0) {
				return -1;
			}
		}
	}
	return 0;
}

static void init_lanes(struct forwarder *forwarder, uint32_t batch)
{
	for (uint32_t i = 0; i < forwarder->queues; i++) {
		struct lane *lane = &forwarder->lanes[i];

		lane->direction.batch = batch;
		lane->direction.packets_left = UINT64_MAX;
		for (uint32_t j = 0; j < 2; j++) {
			lane->rx[j] = &forwarder->devices[j].rx[i];
			lane->tx[j] = &forwarder->devices[j].tx[i];
		}
	}
}

struct forwarder *forwarder_open_with(const char *device_a, const char *device_b,
				      const struct forwarder_options *options, char *error,
				      size_t error_size)
{
	const char *const addresses[2] = {device_a, device_b};
	struct error reason;

	if (options->batch < 1 || options->batch > FORWARDER_MAX_BATCH) {
		(void)snprintf(error, error_size, "a batch has 1 to %d packets, not %u",
			       FORWARDER_MAX_BATCH, options->batch);
		return NULL;
	}
	if (options->queues < 1 || options->queues > DEVICE_MAX_QUEUES) {
		(void)snprintf(error, error_size, "a device has 1 to %d queue pairs, not %u",
			       DEVICE_MAX_QUEUES, options->queues);
		return NULL;
	}
	struct forwarder *forwarder = calloc(1, sizeof(*forwarder));

	if (forwarder == NULL) {
		(void)snprintf(error, error_size, "out of memory for the forwarder");
		return NULL;
	}
	forwarder->queues = options->queues;
	forwarder->path = options->path;
	init_lanes(forwarder, options->batch);
	vfio_container_init(&forwarder->container);
	forwarder->container.connect_timeout_ms = options->connect_timeout_ms;
	if (open_ports(forwarder, addresses, options, &reason) != 0 ||
	    start(forwarder, options, &reason) != 0 || init_path(forwarder, &reason) != 0) {
		(void)error_copy(-1, &reason, error, error_size);
		/* Stops the device that did start. The first error is the one to report. */
		(void)destroy(forwarder, &reason);
		return NULL;
	}
	return forwarder;
}

struct forwarder *forwarder_open(const char *device_a, const char *device_b, uint32_t batch,
				 uint32_t ring_size, uint32_t connect_timeout_ms,
				 uint32_t link_timeout_ms, char *error, size_t error_size)
{
	const struct forwarder_options options = {
		.batch = batch,
		.ring_size = ring_size,
		.queues = 1,
		.path = FORWARDER_PATH_DEFAULT,
		.connect_timeout_ms = connect_timeout_ms,
		.link_timeout_ms = link_timeout_ms,
	};

	return forwarder_open_with(device_a, device_b, &options, error, error_size);
}

int forwarder_use_interrupts(struct forwarder *forwarder, uint32_t interval_us, char *error,
			     size_t error_size)
{
	struct error reason;

	if (interrupts_start(&forwarder->devices[0], interval_us, &reason) != 0 ||
	    interrupts_start(&forwarder->devices[1], interval_us, &reason) != 0) {
		return error_copy(-1, &reason, error, error_size);
	}
	return 0;
}

int forwarder_wait(struct forwarder *forwarder, uint32_t timeout_ms, char *error, size_t error_size)
{
	struct error reason;

	int result = interrupts_wait(forwarder->devices, 2, timeout_ms, &forwarder->waits, &reason);

	return error_copy(result, &reason, error, error_size);
}

void forwarder_read_waits(const struct forwarder *forwarder, struct forwarder_waits *waits)
{
	waits->interrupts = forwarder->waits.interrupts;
	waits->sleeps = forwarder->waits.sleeps;
}

int forwarder_close(struct forwarder *forwarder, char *error, size_t error_size)
{
	struct error reason;

	return error_copy(destroy(forwarder, &reason), &reason, error, error_size);
}
