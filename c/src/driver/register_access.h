/* Access to the registers of an open device, for the driver: fields, waits, doorbells. */
#ifndef IXGBE_REGISTER_ACCESS_H
#define IXGBE_REGISTER_ACCESS_H

#include "driver/mmio.h"
#include "driver/registers.h"
#include "vfio/vfio.h"

/* A check looks this often, this far apart, before it reports an error. */
#define CHECK_LOOKS 100
#define CHECK_INTERVAL_US 1000

/* For errors: what to do about a device that does not react. */
#define REMEDY_RESET                                                                               \
	"reset the device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC"

static inline uint32_t reg_read(struct vfio_device *vfio, uint32_t offset)
{
	return vfio_read32(vfio, offset);
}

static inline void reg_write(struct vfio_device *vfio, uint32_t offset, uint32_t value)
{
	vfio_write32(vfio, offset, value);
}

/* Sets bits of a register. */
void reg_set(struct vfio_device *vfio, uint32_t offset, uint32_t bits);

/* Clears bits of a register. */
void reg_clear(struct vfio_device *vfio, uint32_t offset, uint32_t bits);

/* Writes some fields of a register: the bits of `mask` become those of `value`. */
void reg_write_field(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value);

/*
 * Whether the bits of `mask` equal `value` within the time of reg_wait. It is false, too, if an access
 * fails; vfio_check has the reason then.
 */
bool reg_reaches(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
		 uint32_t timeout_ms);

/*
 * Waits until the bits of `mask` equal `value`, for at most `timeout_ms` milliseconds, and no longer
 * than the patience for the device lasts (vfio/patience.c). The bits are read at least once. `name` (of register and field) and `remedy` go into the error.
 */
int reg_wait(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
	     uint32_t timeout_ms, const char *name, const char *remedy, struct error *error);

/*
 * Rings a doorbell: the tail register at `offset`, to which `tail` points if it is mapped. The caller
 * orders the descriptors before it, with dma_write_barrier().
 */
static inline void tail_write(struct vfio_device *vfio, volatile uint32_t *tail, uint32_t offset,
			      uint32_t value)
{
	if (tail != NULL) {
		mmio_store32_relaxed(tail, value);
	} else {
		vfio_ring(vfio, offset, value);
	}
}

#endif
