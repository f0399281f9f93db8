/*
 * Resetting a device, and what must come before and after (datasheet 4.6.3.1, 4.6.3.2, 5.2.5.3.2).
 * DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
 */
#include "driver/reset.h"
#include "clock.h"

/* 4.2.1.6.1: no register access for 1 ms after a reset. 4.6.3.2: then 10 ms until it is complete. */
#define RESET_QUIET_US 1000
#define RESET_SETTLE_US 10000

/* X540 and X550 start their PHY again, as Linux and DPDK wait for it. */
#define RESET_SETTLE_PHY_US 100000

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
	return reg_wait(vfio, IXGBE_STATUS, IXGBE_STATUS_MASTER_ENABLE, 0, "STATUS.MASTER_ENABLE",
			error);
}

void set_bus_master(struct vfio_device *vfio, bool on)
{
	uint16_t command = vfio_config_read16(vfio, IXGBE_PCI_COMMAND);

	command &= (uint16_t)~IXGBE_PCI_COMMAND_BUS_MASTER;
	vfio_config_write16(vfio, IXGBE_PCI_COMMAND,
			    on ? command | IXGBE_PCI_COMMAND_BUS_MASTER : command);
}

/* 4.6.3.2 Global reset. */
int reset_device(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	const bool has_phy = device->family != DEVICE_FAMILY_82599;
	/* LNK_RST would take the PHY's power-up from firmware, so Linux and DPDK leave it out there. */
	const uint32_t resets = has_phy ? IXGBE_CTRL_RST : IXGBE_CTRL_RST | IXGBE_CTRL_LNK_RST;

	disable_interrupts(vfio);
	reg_set(vfio, IXGBE_CTRL, resets);
	sleep_us(RESET_QUIET_US);
	if (reg_wait(vfio, IXGBE_CTRL, resets, 0, "CTRL.RST", error) != 0) {
		return -1;
	}
	sleep_us(has_phy ? RESET_SETTLE_PHY_US : RESET_SETTLE_US);
	disable_interrupts(vfio);
	return vfio_check(vfio, error);
}

/*
 * 4.6.3: waits for EEPROM auto-read and for DMA initialization, but not for EEMNGCTL.CFG_DONE
 * (DEVIATION-CFG-DONE).
 */
int wait_until_ready(struct vfio_device *vfio, struct error *error)
{
	if (reg_wait(vfio, IXGBE_EEC, IXGBE_EEC_ARD, IXGBE_EEC_ARD, "EEC.ARD", error) != 0) {
		return -1;
	}
	return reg_wait(vfio, IXGBE_RDRXCTL, IXGBE_RDRXCTL_DMAIDONE, IXGBE_RDRXCTL_DMAIDONE,
			"RDRXCTL.DMAIDONE", error);
}
