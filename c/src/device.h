/*
 * An 82599 (or X540, X550) port: its registers, its queues, its life from reset to
 * running and back.
 *
 * A device and everything in it belongs to one thread.
 */
#ifndef IXGBE_DEVICE_H
#define IXGBE_DEVICE_H

#include "descriptor.h"

#include "mempool.h"
#include "mmio.h"
#include "registers.h"

/* The queues that have their own packet-buffer statistics; more need a second layout. */
#define DEVICE_MAX_QUEUES 16

#define DEVICE_MIN_RING_SIZE 64
#define DEVICE_MAX_RING_SIZE 4096

/* How often, and how far apart, a check looks before it believes that something is wrong. */
#define DEVICE_CHECK_LOOKS 100
#define DEVICE_CHECK_INTERVAL_US 1000

struct device_config {
	uint32_t rx_queues; /* 1 to DEVICE_MAX_QUEUES */
	uint32_t tx_queues; /* 1 to DEVICE_MAX_QUEUES */
	uint32_t rx_ring_size; /* descriptors: a power of two, 64 to 4096 */
	uint32_t tx_ring_size; /* the same */
	bool promiscuous; /* receive frames for any address */
};

/* The paper's: one queue each way, rings of 512, everything received. */
#define DEVICE_CONFIG_DEFAULT                                                                      \
	((struct device_config){.rx_queues = 1,                                                    \
				.tx_queues = 1,                                                    \
				.rx_ring_size = 512,                                               \
				.tx_ring_size = 512,                                               \
				.promiscuous = true})

struct device;

struct rx_queue {
	struct descriptor *ring;
	struct packet **packets; /* packets[i] is the one descriptor i points to */
	struct mempool *pool; /* where fresh packets come from */
	volatile uint32_t *tail; /* RDT, or NULL if it is not mapped */
	uint32_t mask; /* ring size - 1 */
	uint32_t index; /* the descriptor that the device writes back next */
	bool discarding; /* in the middle of a frame that spans descriptors */
	uint32_t id;
	struct device *device;
	struct dma_memory dma;
	uint64_t pool_empty; /* calls that stopped early because the pool was empty */
	uint64_t discarded; /* frames that did not fit into one buffer */
};

struct tx_queue {
	struct descriptor *ring;
	struct packet **packets; /* packets[i] is being sent from descriptor i */
	volatile uint32_t *tail; /* TDT, or NULL if it is not mapped */
	uint32_t mask; /* ring size - 1 */
	uint32_t index; /* the descriptor to write next */
	uint32_t clean_index; /* the oldest one whose packet was not taken back */
	uint64_t done; /* packets that the device has reported as sent */
	uint32_t id;
	struct device *device;
	struct dma_memory dma;
};

/* Totals since the device was opened. The registers they come from clear when read. */
struct device_stats {
	uint64_t rx_packets; /* good frames, also those dropped later for want of a descriptor */
	uint64_t rx_bytes; /* with CRC */
	uint64_t tx_packets;
	uint64_t tx_bytes; /* with CRC */
};

struct device {
	struct vfio_device vfio;
	bool is_82599; /* and not one of its copper successors X540 and X550 */
	struct device_config config;
	struct mempool *pool;
	bool running; /* started and not stopped */
	uint8_t mac[6];
	struct device_stats stats;
	struct rx_queue rx[DEVICE_MAX_QUEUES];
	struct tx_queue tx[DEVICE_MAX_QUEUES];
};

/*
 * Opens the device at `address` and checks that this driver knows it. The structure
 * must not move while it is open. Memory is mapped later: open all devices first.
 */
int device_open(struct device *device, struct vfio_container *container, const char *address,
		struct error *error);

/*
 * Takes the device from any state but running, which is an error, to running: init.c. Its RX
 * queues draw from `pool`.
 */
int device_start(struct device *device, const struct device_config *config, struct mempool *pool,
		 struct error *error);

/*
 * Takes the device from running to quiet: what is in the TX rings is sent, the queues
 * are disabled, bus mastering is off. Goes on after an error, and reports the first.
 */
int device_stop(struct device *device, struct error *error);

/* Lets frames in, or keeps them out. init.c */
int enable_rx(struct device *device, bool on, struct error *error);

/* Frees the rings and returns their packets. The device must be stopped or unreachable. */
void device_release(struct device *device);

/* Closes the device. Before this, its memory is released, or its maps end with it. */
void device_close(struct device *device);

/*
 * rx_batch: takes up to `count` received packets into `packets`, and gives the device
 * fresh buffers for them. Returns how many. rx.c
 */
uint32_t rx_batch(struct rx_queue *queue, struct packet **packets, uint32_t count);

/*
 * tx_batch: hands up to `count` packets to the device. Returns how many; the others stay
 * the caller's. Takes back packets that were sent, 32 at a time. tx.c
 */
uint32_t tx_batch(struct tx_queue *queue, struct packet **packets, uint32_t count);

/* Takes back all packets that were sent, also if they are fewer than 32. tx.c */
void tx_reclaim(struct tx_queue *queue);

/*
 * Looks whether device and driver still agree on the descriptor that comes next. If they do not,
 * each waits for the other for ever, which is an error. It takes 100 ms to be sure of it. rx.c
 */
int rx_check(struct rx_queue *queue, struct error *error);

/*
 * Adds what the device counted since the last call. An error also if the device has died, or
 * if a queue is stalled: whoever forwards calls it about once a second. stats.c
 */
int stats_read(struct device *device, struct device_stats *stats, struct error *error);

/* Forgets what the device has counted so far. stats.c */
int stats_clear(struct device *device, struct error *error);

/* Reads the MAC address that filter 0 holds. stats.c */
int mac_read(struct device *device, uint8_t mac[6], struct error *error);

/* Makes `mac` the address of filter 0, and the filter valid. stats.c */
int mac_write(struct device *device, const uint8_t mac[6], struct error *error);

/* Receive frames for any address, or for ours only. Halts reception for a moment. stats.c */
int promiscuous_set(struct device *device, bool on, struct error *error);

/* The link's speed in Mbit/s, 0 if it is down. stats.c */
int link_speed(struct device *device, uint32_t *speed, struct error *error);

/* Sets, clears, and waits for bits of a register. device.c */
void reg_set(struct device *device, uint32_t offset, uint32_t bits);
void reg_clear(struct device *device, uint32_t offset, uint32_t bits);
void reg_write_field(struct device *device, uint32_t offset, uint32_t mask, uint32_t value);

/*
 * Waits until the bits of `mask` equal `value`, `timeout_ms` milliseconds at the most.
 * `name` and `mend` go into the error.
 */
int reg_wait(struct device *device, uint32_t offset, uint32_t mask, uint32_t value,
	     uint32_t timeout_ms, const char *name, const char *mend, struct error *error);

void sleep_us(uint32_t microseconds);

static inline uint32_t reg_read(struct device *device, uint32_t offset)
{
	return vfio_read32(&device->vfio, offset);
}

static inline void reg_write(struct device *device, uint32_t offset, uint32_t value)
{
	vfio_write32(&device->vfio, offset, value);
}

/* Rings the doorbell: `offset` is the tail register that `tail` points to if it is mapped. */
static inline void tail_write(struct device *device, volatile uint32_t *tail, uint32_t offset,
			      uint32_t value)
{
	if (tail != NULL) {
		mmio_store32(tail, value);
	} else {
		reg_write(device, offset, value);
	}
}

#endif
