/* Counters (datasheet 8.2.3.23), MAC address and promiscuous mode (7.1.1), and the speed of the link. */
#ifndef IXGBE_STATS_H
#define IXGBE_STATS_H

#include "driver/device.h"

/*
 * Adds what the device counted since the last call. Also fails if the device has died, or if a queue
 * is stalled in two calls in a row, so a forwarder calls it about once a second. It reads four
 * registers, seven more for each RX queue, and never sleeps: a ring of 512 is full after 34 us at
 * 14.88 Mpps.
 */
int stats_read(struct device *device, struct device_stats *stats, struct error *error);

/*
 * Adds what the device counted for RX and TX queue `id` since the last call. With one RX and one TX
 * queue, the totals of the device are those of the queue.
 */
int queue_stats_read(struct device *device, uint32_t id, struct queue_stats *stats,
		     struct error *error);

/* Sets the totals to 0, and gives each queue its own counters. */
int stats_init(struct device *device, struct error *error);

/* Reads the MAC address of filter 0. */
int mac_read(struct device *device, uint8_t mac[6], struct error *error);

/* Makes `mac` the address of filter 0, and the filter valid. */
int mac_write(struct device *device, const uint8_t mac[6], struct error *error);

/* Receives frames for any address, or only for ours. Halts reception for a moment. */
int promiscuous_set(struct device *device, bool on, struct error *error);

/* Reads the speed of the link in Mbit/s, 0 if the link is down. */
int link_speed(struct device *device, uint32_t *speed, struct error *error);

#endif
