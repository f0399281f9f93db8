/*
 * The forwarder: two devices, and what one receives the other sends.
 *
 * Also the interface of libforwarder.so, with which a benchmark or a test drives the
 * forwarder one turn at a time in its own thread.
 */
#ifndef IXGBE_FORWARDER_H
#define IXGBE_FORWARDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORWARDER_API __attribute__((visibility("default")))

#define FORWARDER_MAX_BATCH 512
#define FORWARDER_DEFAULT_BATCH 32

#define FORWARDER_DEFAULT_RING_SIZE 512

struct forwarder;

/* Packets, both directions together, since forwarder_open. */
struct forwarder_counts {
	uint64_t rx; /* received */
	uint64_t tx; /* handed to the other device */
	uint64_t dropped; /* received, but the other device's TX ring was full */
	uint64_t rx_calls; /* calls of rx_batch */
	uint64_t full_batches; /* calls that returned as many packets as were asked for */
};

/* What a device counted since forwarder_open. Bytes are with CRC. */
struct forwarder_device_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
};

/*
 * Opens both devices and takes them to running. `batch` is 1 to FORWARDER_MAX_BATCH,
 * `ring_size` the descriptors of every ring: a power of two, 64 to 4096.
 * NULL on failure, with the reason in `error` (at most `error_size` bytes with the NUL).
 */
FORWARDER_API struct forwarder *forwarder_open(const char *device_a, const char *device_b,
					       uint32_t batch, uint32_t ring_size, char *error,
					       size_t error_size);

/* From now on, receives `packets` more and then no others. Without it there is no limit. */
FORWARDER_API void forwarder_limit(struct forwarder *forwarder, uint64_t packets);

/* Whether some of its memory is on ordinary pages, for want of 2 MiB ones. */
FORWARDER_API bool forwarder_on_ordinary_pages(const struct forwarder *forwarder);

/* One turn: a batch from a to b, and a batch from b to a. Returns how many were received. */
FORWARDER_API uint32_t forwarder_turn(struct forwarder *forwarder);

FORWARDER_API void forwarder_read_counts(const struct forwarder *forwarder,
					 struct forwarder_counts *counts);

/*
 * Reads what device 0 (a) or 1 (b) counted. This is also how a device that has died is
 * noticed: the forwarding itself does not wait for answers. 0, or -1 with the reason.
 */
FORWARDER_API int forwarder_device_stats(struct forwarder *forwarder, uint32_t device,
					 struct forwarder_device_stats *stats, char *error,
					 size_t error_size);

/* Sends what is in the TX rings, quiesces both devices and frees everything. 0, or -1. */
FORWARDER_API int forwarder_close(struct forwarder *forwarder, char *error, size_t error_size);

#endif
