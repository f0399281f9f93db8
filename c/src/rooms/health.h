/* Checks that driver and device agree on the next RX descriptor. */
#ifndef IXGBE_HEALTH_H
#define IXGBE_HEALTH_H

#include "driver/rx.h"

/*
 * Checks that device and driver agree on the next descriptor. If they do not, each waits for the
 * other for ever. That is an error if two checks in a row find it at the same descriptor. The
 * checks never sleep.
 */
int rx_check(struct rx_queue *queue, struct error *error);

/*
 * As rx_check, for a thread that has only the queue: it does not look whether the device has failed.
 * RDH must be mapped.
 */
int rx_check_stall(struct rx_queue *queue, struct error *error);

#endif
