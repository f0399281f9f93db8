/*
 * A port of an 82599 (or X540, X550): its configuration, its queues, its statistics.
 *
 * A device belongs to one thread. Its queues may move to other threads, each with its pool: then
 * `queues_in_threads` is set, and the device's thread does not touch them until they are back.
 */
#ifndef IXGBE_DEVICE_H
#define IXGBE_DEVICE_H

#include "driver/rx.h"
#include "driver/tx.h"

/* The queues that have their own packet-buffer statistics. More queues need a second layout. */
#define DEVICE_MAX_QUEUES 16

#define DEVICE_MIN_RING_SIZE 64
#define DEVICE_MAX_RING_SIZE 4096

/* Families of cards. They differ in the link and in the size of the packet buffer. */
enum device_family {
	DEVICE_FAMILY_82599,
	DEVICE_FAMILY_X540,
	DEVICE_FAMILY_X550,
};

struct device_config {
	uint32_t rx_queues; /* 1 to DEVICE_MAX_QUEUES */
	uint32_t tx_queues; /* 1 to DEVICE_MAX_QUEUES */
	uint32_t rx_ring_size; /* descriptors: a power of two, 64 to 4096 */
	uint32_t tx_ring_size; /* the same */
	bool promiscuous; /* receive frames for any address */
};

/* The paper's configuration: one queue each way, rings of 512, promiscuous. */
#define DEVICE_CONFIG_DEFAULT                                                                      \
	((struct device_config){.rx_queues = 1,                                                    \
				.tx_queues = 1,                                                    \
				.rx_ring_size = 512,                                               \
				.tx_ring_size = 512,                                               \
				.promiscuous = true})

/* Totals since the device was opened. A read clears the registers that they come from. */
struct device_stats {
	uint64_t
		rx_packets; /* good frames, even those dropped later because no descriptor was free */
	uint64_t rx_bytes; /* with CRC */
	uint64_t tx_packets;
	uint64_t tx_bytes; /* with CRC */
};

/* Totals of a queue pair since the device was started. Bytes include the CRC. */
struct queue_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_dropped; /* frames for which the queue had no descriptor */
	uint64_t tx_packets;
	uint64_t tx_bytes;
};

/* Whole cache lines, so that the queues of two devices lie alike in theirs. */
struct device_interrupts {
	uint32_t vectors; /* RX queues with an interrupt, 0 if the device is only polled */
	uint32_t armed; /* the EICR bits of the vectors that may signal */
	int eventfds[DEVICE_MAX_QUEUES];
	uint8_t apart[CACHE_LINES_APART - (2 + DEVICE_MAX_QUEUES) * sizeof(uint32_t)];
};

struct device {
	struct vfio_device vfio;
	enum device_family family;
	struct device_config config;
	struct mempool *pools; /* pools[i] feeds RX queue i */
	bool queues_in_threads; /* other threads have the queues, and check them */
	bool running; /* started and not stopped */
	uint8_t mac[6];
	struct device_stats stats;
	struct queue_stats queue_stats[DEVICE_MAX_QUEUES];
	struct rx_queue rx[DEVICE_MAX_QUEUES];
	struct tx_queue tx[DEVICE_MAX_QUEUES];
	struct device_interrupts interrupts;
};

/*
 * Opens the device at `address` and checks that this driver knows it. The structure must not
 * move while the device is open. Open all devices before you map memory.
 */
int device_open(struct device *device, struct vfio_container *container, const char *address,
		struct error *error);

/*
 * Starts the device, whatever state it was left in. It is an error if the device is running.
 * `pools` has a pool for each RX queue, from which the queue takes its buffers. So each queue can move
 * to a thread of its own, together with its pool. Does not wait for the link: a port that is cabled to
 * another one has a link only once both have started. init.c
 */
int device_start(struct device *device, const struct device_config *config, struct mempool *pools,
		 struct error *error);

/*
 * Waits for the link of a running device, for at most `timeout_ms` milliseconds. An 82599 without a
 * link is started again after 2, 4, 8... seconds, because some come up only then. init.c
 */
int device_wait_for_link(struct device *device, uint32_t timeout_ms, struct error *error);

/*
 * Stops a running device: it sends what is in the TX rings, disables the queues, and turns bus
 * mastering off. After an error it goes on, and reports the first error. init.c
 */
int device_stop(struct device *device, struct error *error);

/* Whether a doorbell is a message to a server, which may take its time to answer. */
bool device_is_trapped(const struct device *device);

/* Frees the rings and returns their packets. The device must be stopped or unreachable. */
void device_release(struct device *device);

/* Closes the device. Release its memory first, or its mappings end with it. */
void device_close(struct device *device);

/*
 * Adds what the device counted since the last call. Also fails if the device has died, or if a queue
 * is stalled in two calls in a row, so a forwarder calls it about once a second. It reads seven
 * registers and never sleeps: a ring of 512 is full after 34 us at 14.88 Mpps. stats.c
 */
int stats_read(struct device *device, struct device_stats *stats, struct error *error);

/*
 * Adds what the device counted for RX and TX queue `id` since the last call. With one RX and one TX
 * queue, the totals of the device are those of the queue. stats.c
 */
int queue_stats_read(struct device *device, uint32_t id, struct queue_stats *stats,
		     struct error *error);

/* Sets the totals to 0, and gives each queue its own counters. stats.c */
int stats_init(struct device *device, struct error *error);

/* Sets the totals to 0. stats.c */
int stats_clear(struct device *device, struct error *error);

/* Reads the MAC address of filter 0. stats.c */
int mac_read(struct device *device, uint8_t mac[6], struct error *error);

/* Makes `mac` the address of filter 0, and the filter valid. stats.c */
int mac_write(struct device *device, const uint8_t mac[6], struct error *error);

/* Receives frames for any address, or only for ours. Halts reception for a moment. stats.c */
int promiscuous_set(struct device *device, bool on, struct error *error);

/* Reads the speed of the link in Mbit/s, 0 if the link is down. link.c */
int link_speed(struct device *device, uint32_t *speed, struct error *error);

#endif
