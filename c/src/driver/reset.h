/* Resetting a device (datasheet 4.6.3.1, 4.6.3.2, 5.2.5.3.2). */
#ifndef IXGBE_RESET_H
#define IXGBE_RESET_H

#include "driver/device.h"

/* 4.6.3.1 Interrupts during initialization: masks all, clears all causes. */
void disable_interrupts(struct vfio_device *vfio);

/* 5.2.5.3.2 Master disable: no request of the device is pending when this returns 0. */
int disable_master(struct vfio_device *vfio, struct error *error);

/* 9.3.2 Command register: lets the device access memory, or keeps it from that. */
void set_bus_master(struct vfio_device *vfio, bool on);

/*
 * 4.6.3.2 Global reset. No request of the device may be pending: VFIO has reset it, or device_stop has stopped
 * it. rooms/takeover.h ends the requests of a device that another driver left running. On X540 and X550, the
 * caller may have the PHY's semaphore, as rooms/start.c has it.
 */
int reset_device(struct device *device, struct error *error);

/* 4.6.3: waits for EEPROM auto-read and for DMA initialization. */
int wait_until_ready(struct vfio_device *vfio, struct error *error);

#endif
