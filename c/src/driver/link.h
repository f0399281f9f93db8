/* The link (datasheet 4.6.4): setting it up, and its speed. */
#ifndef IXGBE_LINK_H
#define IXGBE_LINK_H

#include "driver/device.h"

/* 4.6.4.2 Link initialization. It does not wait until the link is up. */
int link_init(struct device *device, struct error *error);

/* Whether the link is up within `timeout_ms` milliseconds. False, too, if an access fails. */
bool link_comes_up(struct device *device, uint32_t timeout_ms);

#endif
