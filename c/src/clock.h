/* The clock of the waits for the device. */
#ifndef IXGBE_CLOCK_H
#define IXGBE_CLOCK_H

#include <stdint.h>

/* Microseconds since some moment in the past. The clock never goes backwards. */
uint64_t now_us(void);

/* The same in milliseconds. */
uint64_t now_ms(void);

/* Sleeps, also if signals arrive. */
void sleep_us(uint32_t microseconds);

#endif
