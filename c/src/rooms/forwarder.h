/*
 * The forwarder: each of two devices sends the packets that the other receives.
 *
 * This is also the interface of libforwarder.so. With it, a benchmark or a test runs the forwarder
 * one turn at a time in its own thread.
 */
#ifndef IXGBE_FORWARDER_H
#define IXGBE_FORWARDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORWARDER_MAX_BATCH 512
#define FORWARDER_DEFAULT_BATCH 32

#define FORWARDER_DEFAULT_RING_SIZE 512

/* The queue pairs of a device. */
#define FORWARDER_MAX_QUEUES 16

/* Long enough for a software NIC that starts at the same time. */
#define FORWARDER_DEFAULT_CONNECT_TIMEOUT_MS 5000

/* Long enough for a copper link, which may train for ten seconds. */
#define FORWARDER_DEFAULT_LINK_TIMEOUT_MS 30000

/* The least time between two interrupts of a queue, in microseconds. */
#define FORWARDER_MAX_INTERRUPT_INTERVAL_US 1022
#define FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US 50

struct forwarder;

/* How packets travel from RX to TX. */
enum forwarder_path {
	FORWARDER_PATH_DEFAULT, /* with a pool: forwarder_turn */
	FORWARDER_PATH_STRIDE, /* the same, with buffers that do not alias */
	FORWARDER_PATH_TUNED, /* by exchange of places: forwarder_tuned_turn and tuned/ */
	FORWARDER_PATH_AGENT, /* with a buffer for each descriptor: forwarder_agent_turn and tuned/agent.h */
};

struct forwarder_options {
	uint32_t batch; /* 1 to FORWARDER_MAX_BATCH */
	uint32_t ring_size; /* descriptors of every ring: a power of two, 64 to 4096 */
	uint32_t queues; /* queue pairs of each device, 1 to 16 */
	uint32_t path; /* an enum forwarder_path */
	uint32_t connect_timeout_ms; /* for the servers of vfio-user sockets, all together */
	uint32_t link_timeout_ms; /* for each link */
};

/* Packets of both directions since forwarder_open. */
struct forwarder_counts {
	uint64_t rx; /* received */
	uint64_t tx; /* handed to the other device */
	uint64_t dropped; /* received, but not sent because the TX ring was full */
	uint64_t rx_calls; /* calls of rx_batch */
	uint64_t full_batches; /* calls that returned as many packets as wanted */
};

/* The interrupts that have been taken, and the sleeps, since forwarder_use_interrupts. */
struct forwarder_waits {
	uint64_t interrupts;
	uint64_t sleeps;
};

/* The counters of a device since forwarder_open. Bytes include the CRC. */
struct forwarder_device_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
};

/*
 * What libforwarder.so exports. Functions that can fail return NULL or -1, with the reason in `error`, at
 * most `error_size` bytes with the NUL.
 */
#pragma GCC visibility push(default)

/*
 * Opens and starts both devices, then waits for the link of each. `batch` is 1 to
 * FORWARDER_MAX_BATCH. `ring_size` is the number of descriptors of every ring: a power of two, 64 to
 * 4096. It waits at most `connect_timeout_ms` milliseconds for the servers of vfio-user sockets, all
 * together, and at most `link_timeout_ms` for each link.
 */
struct forwarder *forwarder_open(const char *device_a, const char *device_b, uint32_t batch,
				 uint32_t ring_size, uint32_t connect_timeout_ms,
				 uint32_t link_timeout_ms, char *error, size_t error_size);

/*
 * The same with all options. Queue i of one device sends what queue i of the other receives. RSS divides the
 * flows among the queues.
 */
struct forwarder *forwarder_open_with(const char *device_a, const char *device_b,
				      const struct forwarder_options *options, char *error,
				      size_t error_size);

/* Stops receiving after `packets` more packets. Without this call there is no limit. */
void forwarder_limit(struct forwarder *forwarder, uint64_t packets);

/* Whether some of its memory is on ordinary pages because too few 2 MiB pages were free. */
bool forwarder_on_ordinary_pages(const struct forwarder *forwarder);

/* One turn: a batch from a to b, and one from b to a. Returns the number of received packets. */
uint32_t forwarder_turn(struct forwarder *forwarder);

/* The same by other paths, of a forwarder that was opened with them. */
uint32_t forwarder_tuned_turn(struct forwarder *forwarder);
uint32_t forwarder_agent_turn(struct forwarder *forwarder);

/*
 * Single parts of a turn, to measure each by itself: receives a batch and frees it, sends a batch of fresh
 * packets of 60 bytes with the contents of their last use, or allocates a batch and frees it. Each works on
 * both devices and returns the number of packets. forwarder_read_counts does not count these packets.
 */
uint32_t forwarder_receive(struct forwarder *forwarder);
uint32_t forwarder_send(struct forwarder *forwarder);
uint32_t forwarder_alloc(struct forwarder *forwarder);

/* The counts of all queues together. No other thread may have a queue. */
void forwarder_read_counts(const struct forwarder *forwarder, struct forwarder_counts *counts);

/*
 * The functions with `queue` work on one queue pair of both devices, below the number of queues, and on
 * nothing that another queue uses. So each queue may have a thread of its own, if all doorbells are mapped
 * (forwarder_is_trapped). Between forwarder_give_queues(forwarder, true) and
 * forwarder_give_queues(forwarder, false), threads have the queues. The thread of the forwarder then
 * calls only forwarder_device_stats and forwarder_queue_stats.
 */
void forwarder_give_queues(struct forwarder *forwarder, bool to_threads);

/* A turn of one queue pair: as forwarder_turn, which is that of queue 0. */
uint32_t forwarder_queue_turn(struct forwarder *forwarder, uint32_t queue);

/* The same by other paths. */
uint32_t forwarder_tuned_queue_turn(struct forwarder *forwarder, uint32_t queue);
uint32_t forwarder_agent_queue_turn(struct forwarder *forwarder, uint32_t queue);

/* Stops receiving on the queue after `packets` more packets. */
void forwarder_queue_limit(struct forwarder *forwarder, uint32_t queue, uint64_t packets);

void forwarder_read_queue_counts(const struct forwarder *forwarder, uint32_t queue,
				 struct forwarder_counts *counts);

/* Checks that the queue pair is not stalled; threads call it about once a second. */
int forwarder_queue_check(struct forwarder *forwarder, uint32_t queue, char *error,
			  size_t error_size);

/* What device 0 (a) or 1 (b) counted for the queue. Needs more than one queue. */
int forwarder_queue_stats(struct forwarder *forwarder, uint32_t device, uint32_t queue,
			  struct forwarder_device_stats *stats, char *error, size_t error_size);

/*
 * Reads the counters of device 0 (a) or 1 (b). It also detects a dead device, because the
 * forwarding itself does not wait for answers.
 */
int forwarder_device_stats(struct forwarder *forwarder, uint32_t device,
			   struct forwarder_device_stats *stats, char *error, size_t error_size);

/* Sends what is in the TX rings, stops both devices and frees everything. */
int forwarder_close(struct forwarder *forwarder, char *error, size_t error_size);

#pragma GCC visibility pop

/* The rest is for the program ixgbe-fwd. */

/* Whether some doorbell is a message to a server, which may take its time to answer. */
bool forwarder_is_trapped(const struct forwarder *forwarder);

/* Gives the queues interrupts, at least `interval_us` microseconds apart. */
int forwarder_use_interrupts(struct forwarder *forwarder, uint32_t interval_us, char *error,
			     size_t error_size);

/*
 * Sleeps until a packet arrives, for at most `timeout_ms` milliseconds and at most 0.1 s. Returns at once
 * if a packet waits already.
 */
int forwarder_wait(struct forwarder *forwarder, uint32_t timeout_ms, char *error,
		   size_t error_size);

void forwarder_read_waits(const struct forwarder *forwarder, struct forwarder_waits *waits);

/*
 * Reads for how many frames the queues of both devices had no descriptor. No other thread may have a queue.
 */
int forwarder_read_missed(struct forwarder *forwarder, uint64_t *missed, char *error,
			  size_t error_size);

#endif
