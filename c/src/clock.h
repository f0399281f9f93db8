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

#ifdef TRANSPILE
/* rust-unsafe/src/shim.rs */
uint64_t tsc_read(void);
#else
/*
 * A counter of fixed frequency: the time-stamp counter of x86-64, the virtual count of AArch64's generic
 * timer. The latter often counts only some ten million times a second.
 */
static inline uint64_t tsc_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t count;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count)::"memory");
	return count;
#endif
}
#endif

#endif
