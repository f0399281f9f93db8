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
	bool tx_sparse_rs; /* only some TX descriptors have RS (tuned/tx.h) */
};

/* The paper's configuration: one queue each way, rings of 512, promiscuous. */
#define DEVICE_CONFIG_DEFAULT                                                                      \
	((struct device_config){.rx_queues = 1,                                                    \
				.tx_queues = 1,                                                    \
				.rx_ring_size = 512,                                               \
				.tx_ring_size = 512,                                               \
				.promiscuous = true,                                               \
				.tx_sparse_rs = false})

/* Totals since the device was started. A read clears the registers that they come from. */
struct device_stats {
	uint64_t rx_packets; /* frames that got a descriptor */
	uint64_t rx_bytes; /* with the CRC, which some cards leave out if they strip it */
	uint64_t tx_packets;
	uint64_t tx_bytes; /* with CRC */
};

/* Totals of a queue pair since the device was started. Bytes include the CRC, as above. */
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
 * Starts the device, whatever state it was left in: device_reset, then device_init. It is an error if the
 * device is running. `pools` has a pool for each RX queue, from which the queue takes its buffers. So each
 * queue can move to a thread of its own, together with its pool. It neither waits for the link nor divides
 * packets among the queues: rooms/start.h does. init.c
 */
int device_start(struct device *device, const struct device_config *config, struct mempool *pools,
		 struct error *error);

/* 4.6.3 Initialization sequence, first half: the reset, and what waits for it. init.c */
int device_reset(struct device *device, const struct device_config *config, struct mempool *pools,
		 struct error *error);

/* 4.6.3, second half: the link of an 82599, receive and transmit. init.c */
int device_init(struct device *device, struct error *error);

/*
 * Stops a running device: it sends what is in the TX rings, disables the queues, and turns bus
 * mastering off. After an error it goes on, and reports the first error. init.c
 */
int device_stop(struct device *device, struct error *error);

/* Frees the rings and returns their packets. The device must be stopped or unreachable. */
void device_release(struct device *device);

/* Closes the device. Release its memory first, or its mappings end with it. */
void device_close(struct device *device);

#endif
