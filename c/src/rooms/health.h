/* Checks that driver and device agree on the next RX descriptor. */
#ifndef IXGBE_HEALTH_H
#define IXGBE_HEALTH_H

#include "driver/rx.h"

/*
 * Checks that device and driver agree on the next descriptor. If they do not, each waits for the
 * other for ever. That is an error if two checks in a row find it at the same descriptor. The
 * checks never sleep. They do not look whether the device has failed, after which RDH has no meaning.
 */
int rx_check_stall(struct rx_queue *queue, struct error *error);

#endif
