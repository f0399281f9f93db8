/* Access to the registers of an open device, for the driver: fields, waits, doorbells. */
#ifndef IXGBE_REGISTER_ACCESS_H
#define IXGBE_REGISTER_ACCESS_H

#include "driver/mmio.h"
#include "driver/registers.h"
#include "vfio/vfio.h"

/*
 * The bound of a wait, in milliseconds. A working device is far faster, but the software NIC may have to
 * wait for a processor.
 */
#define REG_TIMEOUT_MS 1000

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
 * Waits until the bits of `mask` equal `value`, for at most REG_TIMEOUT_MS, or the patience for the device
 * if that is less (vfio/patience.c). The register is read at least once. `name`, of the register and the
 * field, is for the error.
 */
int reg_wait(struct vfio_device *vfio, uint32_t offset, uint32_t mask, uint32_t value,
	     const char *name, struct error *error);

/* As reg_wait, and sets `bits` of the register at `request` before each look. */
int reg_wait_setting(struct vfio_device *vfio, uint32_t request, uint32_t bits, uint32_t offset,
		     uint32_t mask, uint32_t value, const char *name, struct error *error);

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
