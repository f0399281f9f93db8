/* Access to the registers of an open device, for the driver: fields, waits, doorbells. */
#include "driver/register_access.h"
#include "clock.h"

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

/*
 * Polls until the bits of `mask` equal `value`. `read` is the last value of the register. `timeout_ms`
 * becomes shorter if the patience for the device is.
 */
static bool poll_register(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
			  uint32_t *timeout_ms, uint32_t *read)
{
	uint64_t patience_ms = vfio_patience(vfio) / 1000;

	if (patience_ms < *timeout_ms) {
		*timeout_ms = (uint32_t)patience_ms;
	}
	uint64_t deadline = now_ms() + *timeout_ms;

	for (;;) {
		/* The clock comes first, so that a slow read does not cost the last attempt. */
		bool late = now_ms() >= deadline;

		*read = reg_read(vfio, offset);
		if (vfio->failed) {
			return false;
		}
		if ((*read & mask) == value) {
			return true;
		}
		if (late) {
			return false;
		}
		uint64_t asleep = now_us();

		sleep_us(POLL_INTERVAL_US);
		vfio_patience_use(vfio, now_us() - asleep);
	}
}

bool reg_reaches(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
		 uint32_t timeout_ms)
{
	uint32_t read = 0;

	return poll_register(vfio, offset, mask, value, &timeout_ms, &read);
}

int reg_wait(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
	     uint32_t timeout_ms, const char *name, const char *remedy, struct error *error)
{
	uint32_t read = 0;

	if (poll_register(vfio, offset, mask, value, &timeout_ms, &read)) {
		return 0;
	}
	if (vfio_check(vfio, error) != 0) {
		return -1;
	}
	error_set(error, "%s: %s is 0x%08x after %u ms, waited for 0x%x of 0x%x; %s", vfio->address,
		  name, read, timeout_ms, value, mask, remedy);
	return -1;
}
