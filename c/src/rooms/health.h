/* Checks that driver and device agree: the next RX descriptor, and the number of packets sent. */
#ifndef IXGBE_HEALTH_H
#define IXGBE_HEALTH_H

#include "driver/device.h"

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

/* 8.2.3.23: checks that GPTC of a stopped device counts all packets that DD reported as sent. */
int check_sent(struct device *device, struct error *error);

#endif
