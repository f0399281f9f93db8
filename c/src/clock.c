/* The clock of the waits for the device. */
#define _GNU_SOURCE
#include "clock.h"
#include <errno.h>
#include <time.h>

uint64_t now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t now_ms(void)
{
	return now_us() / 1000;
}

void sleep_us(uint32_t microseconds)
{
	struct timespec left = {
		.tv_sec = microseconds / 1000000,
		.tv_nsec = (long)(microseconds % 1000000) * 1000,
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR) {
	}
}
