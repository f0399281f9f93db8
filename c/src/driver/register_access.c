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

int reg_wait(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
	     const char *name, struct error *error)
{
	return reg_wait_setting(vfio, 0, 0, offset, mask, value, name, error);
}

int reg_wait_setting(struct vfio_device *vfio, uint32_t request, uint32_t bits, uint32_t offset,
		     uint32_t mask, uint32_t value, const char *name, struct error *error)
{
	uint64_t patience_ms = vfio_patience(vfio) / 1000;
	uint64_t timeout_ms = patience_ms < REG_TIMEOUT_MS ? patience_ms : REG_TIMEOUT_MS;
	uint64_t deadline = now_ms() + timeout_ms;

	for (;;) {
		/* The clock comes first, so that a slow read does not cost the last attempt. */
		bool late = now_ms() >= deadline;

		if (bits != 0) {
			reg_set(vfio, request, bits);
		}
		uint32_t read = reg_read(vfio, offset);

		if (vfio_check(vfio, error) != 0) {
			return -1;
		}
		if ((read & mask) == value) {
			return 0;
		}
		if (late) {
			error_set(
				error,
				"%s: %s is 0x%08x after %u ms, waited for 0x%x of 0x%x; reset the "
				"device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the "
				"software NIC",
				vfio->address, name, read, (uint32_t)timeout_ms, value, mask);
			return -1;
		}
		vfio_sleep(vfio, POLL_INTERVAL_US);
	}
}
