/*
 * Resetting a device, and what must come before and after (datasheet 4.6.3.1, 4.6.3.2, 5.2.5.3.2).
 * DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
 */
#include "driver/reset.h"
#include "clock.h"

/*
 * Bounds of the waits, in milliseconds. A working device is far faster, but the software NIC may
 * have to wait for a processor.
 */
#define TIMEOUT_MASTER_DISABLE 1000
#define TIMEOUT_QUEUE 1000
#define TIMEOUT_RESET 1000
#define TIMEOUT_EEPROM 1000
#define TIMEOUT_DMA_INIT 1000

/* 4.2.1.6.1: no register access for 1 ms after a reset. 4.6.3.2: then 10 ms until it is complete. */
#define RESET_QUIET_US 1000
#define RESET_SETTLE_US 10000

/* 5.2.5.3.2: how long GCR_EXT.BUFFERS_CLEAR must be set to flush the internal buffers. */
#define FLUSH_US 20

/* 8.2.3.5.6: bit 31 is reserved. */
#define ALL_INTERRUPT_CAUSES 0x7fffffffu

/* 4.6.3.1 Interrupts during initialization: masks all, clears all causes. */
void disable_interrupts(struct vfio_device *vfio)
{
	/* 8.2.3.5.6, 8.2.3.5.9: EIMC and EIMC_EX clear EIMS and EIMS_EX. */
	reg_write(vfio, IXGBE_EIMC, ALL_INTERRUPT_CAUSES);
	for (uint32_t i = 0; i < IXGBE_EIMC_EX_COUNT; i++) {
		reg_write(vfio, IXGBE_EIMC_EX(i), UINT32_MAX);
	}
	/* 8.2.3.5.1: a read clears EICR. */
	(void)reg_read(vfio, IXGBE_EICR);
}

/* 5.2.5.3.2 Master disable: no request of the device is pending when this returns 0. */
int disable_master(struct vfio_device *vfio, struct error *error)
{
	reg_set(vfio, IXGBE_CTRL, IXGBE_CTRL_MASTER_DISABLE);
	return reg_wait(vfio, IXGBE_STATUS, IXGBE_STATUS_MASTER_ENABLE, 0, TIMEOUT_MASTER_DISABLE,
			"STATUS.MASTER_ENABLE", REMEDY_RESET, error);
}

/* 9.3.2 Command register: lets the device access memory. */
void enable_bus_master(struct vfio_device *vfio)
{
	uint16_t command = vfio_config_read16(vfio, IXGBE_PCI_COMMAND);

	vfio_config_write16(vfio, IXGBE_PCI_COMMAND, command | IXGBE_PCI_COMMAND_BUS_MASTER);
}

/* 9.3.2 Command register: keeps the device from accessing memory. */
void disable_bus_master(struct vfio_device *vfio)
{
	uint16_t command = vfio_config_read16(vfio, IXGBE_PCI_COMMAND);

	vfio_config_write16(vfio, IXGBE_PCI_COMMAND,
			    (uint16_t)(command & ~IXGBE_PCI_COMMAND_BUS_MASTER));
}

/* 4.6.7.1.2: disables the receive queues that an earlier driver left enabled. */
static int disable_old_rx_queues(struct vfio_device *vfio, struct error *error)
{
	for (uint32_t i = 0; i < IXGBE_RXDCTL_COUNT; i++) {
		if (!(reg_read(vfio, IXGBE_RXDCTL(i)) & IXGBE_RXDCTL_ENABLE)) {
			continue;
		}
		reg_clear(vfio, IXGBE_RXDCTL(i), IXGBE_RXDCTL_ENABLE);
		if (reg_wait(vfio, IXGBE_RXDCTL(i), IXGBE_RXDCTL_ENABLE, 0, TIMEOUT_QUEUE,
			     "RXDCTL.ENABLE", REMEDY_RESET, error) != 0) {
			return -1;
		}
	}
	return vfio_check(vfio, error);
}

/* 5.2.5.3.2: flushes the data path, with sending and receiving inhibited. */
static void flush_data_path(struct vfio_device *vfio)
{
	reg_set(vfio, IXGBE_HLREG0, IXGBE_HLREG0_LPBK);
	reg_clear(vfio, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	reg_set(vfio, IXGBE_GCR_EXT, IXGBE_GCR_EXT_BUFFERS_CLEAR);
	sleep_us(FLUSH_US);
	reg_clear(vfio, IXGBE_HLREG0, IXGBE_HLREG0_LPBK);
	reg_clear(vfio, IXGBE_GCR_EXT, IXGBE_GCR_EXT_BUFFERS_CLEAR);
}

/*
 * 5.2.5.3.2: ends the device's requests: receive queues first, then the master. If one of them
 * takes too long, flushes the data path. Returns how many resets must follow: two if requests may
 * be pending, else one. A driver that died must not keep this one from starting.
 */
static int prepare_reset(struct vfio_device *vfio)
{
	struct error pending;
	bool ended = disable_old_rx_queues(vfio, &pending) == 0;

	ended = disable_master(vfio, &pending) == 0 && ended;
	/* DEVIATION-PENDING: a time-out is enough. The driver does not read Transactions Pending. */
	if (ended) {
		return 1;
	}
	flush_data_path(vfio);
	return 2;
}

/* 4.6.3.2 Global reset and general configuration. */
int reset_device(struct vfio_device *vfio, struct error *error)
{
	disable_interrupts(vfio);
	int resets = prepare_reset(vfio);

	if (vfio_check(vfio, error) != 0) {
		return -1;
	}
	for (int i = 0; i < resets; i++) {
		reg_set(vfio, IXGBE_CTRL, IXGBE_CTRL_RST | IXGBE_CTRL_LNK_RST);
		sleep_us(RESET_QUIET_US);
		if (reg_wait(vfio, IXGBE_CTRL, IXGBE_CTRL_RST | IXGBE_CTRL_LNK_RST, 0,
			     TIMEOUT_RESET, "CTRL.RST", REMEDY_RESET, error) != 0) {
			return -1;
		}
	}
	sleep_us(RESET_SETTLE_US);
	disable_interrupts(vfio);
	return vfio_check(vfio, error);
}

/*
 * 4.6.3: waits for EEPROM auto-read and for DMA initialization, but not for EEMNGCTL.CFG_DONE
 * (DEVIATION-CFG-DONE).
 */
int wait_until_ready(struct vfio_device *vfio, struct error *error)
{
	if (reg_wait(vfio, IXGBE_EEC, IXGBE_EEC_ARD, IXGBE_EEC_ARD, TIMEOUT_EEPROM, "EEC.ARD",
		     REMEDY_RESET, error) != 0) {
		return -1;
	}
	return reg_wait(vfio, IXGBE_RDRXCTL, IXGBE_RDRXCTL_DMAIDONE, IXGBE_RDRXCTL_DMAIDONE,
			TIMEOUT_DMA_INIT, "RDRXCTL.DMAIDONE", REMEDY_RESET, error);
}
