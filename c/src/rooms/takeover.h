/* What an earlier driver has left in a device: running queues, and tables that a reset does not clear. */
#ifndef IXGBE_TAKEOVER_H
#define IXGBE_TAKEOVER_H

#include "driver/device.h"

/*
 * 5.2.5.3.2: ends the device's requests before its reset: receive queues first, then the master. If one of
 * them takes too long, flushes the data path and resets the device once more. A driver that died must not
 * keep this one from starting.
 */
int end_requests(struct device *device, struct error *error);

/* Clears the filters and rate limits that survive the reset. */
void clear_tables(struct vfio_device *vfio);

#endif
