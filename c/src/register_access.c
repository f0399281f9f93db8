/* Access to the registers of an open device, for the driver: fields, waits, doorbells. */
#define _GNU_SOURCE
#include "register_access.h"
#include <errno.h>
#include <time.h>

#define POLL_INTERVAL_US 1000

void reg_set(struct vfio_device *vfio, uint32_t offset, uint32_t bits)
{
	reg_write(vfio, offset, reg_read(vfio, offset) | bits);
}

void reg_clear(struct vfio_device *vfio, uint32_t offset, uint32_t bits)
{
	reg_write(vfio, offset, reg_read(vfio, offset) & ~bits);
}

void reg_write_field(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value)
{
	reg_write(vfio, offset, (reg_read(vfio, offset) & ~mask) | value);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int reg_wait(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
	     uint32_t timeout_ms, const char *name, const char *remedy, struct error *error)
{
	uint64_t deadline = now_ms() + timeout_ms;

	for (;;) {
		/* The clock comes first, so that a slow read does not cost the last attempt. */
		bool late = now_ms() >= deadline;
		uint32_t read = reg_read(vfio, offset);

		if (vfio_check(vfio, error) != 0) {
			return -1;
		}
		if ((read & mask) == value) {
			return 0;
		}
		if (late) {
			error_set(error,
				  "%s: %s is 0x%08x after %u ms, waited for 0x%x of 0x%x; %s",
				  vfio->address, name, read, timeout_ms, value, mask, remedy);
			return -1;
		}
		sleep_us(POLL_INTERVAL_US);
	}
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
