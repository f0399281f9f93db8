/* Receive side scaling (datasheet 7.1.2.8): the card divides flows among the RX queues. */
#ifndef IXGBE_RSS_H
#define IXGBE_RSS_H

#include "driver/device.h"

/*
 * Lets the card choose the RX queue of a packet by a hash of its addresses and ports. All packets of a
 * flow, in both directions, use one queue. Packets that are not IP use queue 0. With one RX queue, RSS
 * stays off.
 */
void rss_init(struct device *device);

#endif
