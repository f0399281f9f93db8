/*
 * Interrupts by MSI-X: vector i reports the packets of RX queue i, by an eventfd (4.6.6, 7.3).
 *
 * A vector masks itself as it signals (EIAM). So a driver that polls gets at most one signal, and arms
 * the vectors again only when it wants to sleep.
 */
#ifndef IXGBE_INTERRUPTS_H
#define IXGBE_INTERRUPTS_H

#include "driver/device.h"

/* The longest time between two interrupts of a vector, in microseconds. EITR counts in units of two. */
#define INTERRUPTS_MAX_INTERVAL_US 1022

/* The longest sleep, in milliseconds, so that signals and limits are noticed. */
#define INTERRUPTS_MAX_SLEEP_MS 100

/*
 * Gives each RX queue of a running device a vector and an eventfd. All vectors are masked at first. A
 * start of the device switches interrupts off.
 */
int interrupts_start(struct device *device, uint32_t interval_us, struct error *error);

/* Masks all vectors and closes their eventfds. Does nothing if there are none. */
void interrupts_stop(struct device *device);

/* The interrupts that have been taken, and the sleeps. */
struct interrupts_waits {
	uint64_t interrupts;
	uint64_t sleeps;
};

/*
 * Sleeps until a packet arrives at one of `devices`, for at most `timeout_ms` milliseconds and at most
 * INTERRUPTS_MAX_SLEEP_MS. Returns at once if a packet waits already. Counts in `waits`. Returns 0 or -1.
 */
int interrupts_wait(struct device *devices, uint32_t count, uint32_t timeout_ms,
		    struct interrupts_waits *waits, struct error *error);

#endif
