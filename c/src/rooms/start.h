/*
 * Starting and stopping a device with all that driver/ leaves out: several queues, copper ports, statistics,
 * and waiting for the link.
 */
#ifndef IXGBE_START_H
#define IXGBE_START_H

#include "driver/device.h"

/*
 * As device_start. It also divides the packets among the RX queues, powers the PHY of an X540 or X550 up,
 * and clears the statistics. It does not wait for the link: a port that is cabled to another one has a
 * link only once both have started.
 */
int device_start_queues(struct device *device, const struct device_config *config,
			struct mempool *pools, struct error *error);

/*
 * Waits for the link of a running device, for at most `timeout_ms` milliseconds. An 82599 without a
 * link is started again after 2, 4, 8... seconds, because some come up only then.
 */
int device_wait_for_link(struct device *device, uint32_t timeout_ms, struct error *error);

/* As device_stop. It also ends the interrupts, and checks that all packets were sent. */
int device_stop_queues(struct device *device, struct error *error);

/* Whether a doorbell is a message to a server, which may take its time to answer. */
bool device_is_trapped(const struct device *device);

#endif
