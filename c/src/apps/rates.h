/* The lines of each second: what a device received and sent. */
#ifndef IXGBE_RATES_H
#define IXGBE_RATES_H

#include "driver/device.h"

/* Prints million packets per second, and Gbit/s on the wire, between two readings. */
void rates_print(const char *device, const struct device_stats *before,
		 const struct device_stats *now, double seconds);

#endif
