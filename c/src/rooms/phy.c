/*
 * The copper PHY of the X540 and X550, on the MDIO bus. Driver and firmware share the bus, and the
 * register SW_FW_SYNC says who has it (X540 datasheet 8.2.3.4.11). Section numbers without a name
 * are those of the 82599 datasheet, which has the same registers.
 */
#include "rooms/phy.h"
#include "clock.h"

/* The bound of the wait for the bus, in milliseconds, as in Linux and DPDK. */
#define TIMEOUT_BUS 1000

#define BUS_INTERVAL_US 1000

/* A PHY that was reset answers after this time at the latest, in milliseconds. */
#define TIMEOUT_PHY 3000

#define PHY_INTERVAL_US 100000

/* The bus has this many addresses. */
#define MDIO_ADDRESSES 32

/* A read returns this where no PHY answers, because the wire stays high. */
#define MDIO_NO_ANSWER 0xffffu

#define REMEDY_BUS "switch the machine off and on, to restart the card's firmware"

/*
 * 8.2.3.4.9, 8.2.3.4.11: takes the semaphores of SW_FW_SYNC, by reading 0. A driver that died may
 * have kept them, so after the time-out this one takes them (DEVIATION-SEMAPHORE).
 */
static void take_semaphores(struct vfio_device *vfio)
{
	struct error late;

	(void)reg_wait(vfio, IXGBE_SWSM, IXGBE_SWSM_SMBI, 0, "SWSM.SMBI", &late);
	(void)reg_wait(vfio, IXGBE_SW_FW_SYNC, IXGBE_SW_FW_SYNC_REGSMP, 0, "SW_FW_SYNC.REGSMP",
		       &late);
}

static void release_semaphores(struct vfio_device *vfio)
{
	reg_clear(vfio, IXGBE_SW_FW_SYNC, IXGBE_SW_FW_SYNC_REGSMP);
	reg_clear(vfio, IXGBE_SWSM, IXGBE_SWSM_SMBI);
}

/* 8.2.3.1.2: the two ports of a card have a PHY each, and bits of SW_FW_SYNC for it. */
static bool is_first(struct vfio_device *vfio)
{
	return IXGBE_FIELD_GET(IXGBE_STATUS_LAN_ID, reg_read(vfio, IXGBE_STATUS)) == 0;
}

/* 8.2.3.4.11. Firmware has the bus only for moments, unless it has died (DEVIATION-SEMAPHORE). */
int phy_take(struct vfio_device *vfio, struct error *error)
{
	bool first = is_first(vfio);
	uint32_t software = first ? IXGBE_SW_FW_SYNC_SW_PHY0 : IXGBE_SW_FW_SYNC_SW_PHY1;
	uint32_t firmware = first ? IXGBE_SW_FW_SYNC_FW_PHY0 : IXGBE_SW_FW_SYNC_FW_PHY1;
	uint64_t deadline = now_ms() + TIMEOUT_BUS;

	for (;;) {
		bool late = now_ms() >= deadline || vfio_patience(vfio) < BUS_INTERVAL_US;

		take_semaphores(vfio);
		bool take = late || !(reg_read(vfio, IXGBE_SW_FW_SYNC) & firmware);

		if (take) {
			reg_set(vfio, IXGBE_SW_FW_SYNC, software);
		}
		release_semaphores(vfio);
		if (take || vfio->failed) {
			return vfio_check(vfio, error);
		}
		vfio_sleep(vfio, BUS_INTERVAL_US);
	}
}

void phy_release(struct vfio_device *vfio)
{
	uint32_t software = is_first(vfio) ? IXGBE_SW_FW_SYNC_SW_PHY0 : IXGBE_SW_FW_SYNC_SW_PHY1;

	take_semaphores(vfio);
	reg_clear(vfio, IXGBE_SW_FW_SYNC, software);
	release_semaphores(vfio);
}

/* 8.2.3.22.11: runs one cycle on the bus. */
static int mdio_cycle(struct vfio_device *vfio, uint32_t operation, uint32_t phy, uint32_t device,
		      uint32_t offset, struct error *error)
{
	reg_write(vfio, IXGBE_MSCA,
		  operation | IXGBE_FIELD(IXGBE_MSCA_NP_ADDR, offset) |
			  IXGBE_FIELD(IXGBE_MSCA_DEV_TYPE, device) |
			  IXGBE_FIELD(IXGBE_MSCA_PHY_ADDR, phy) | IXGBE_MSCA_MDI_COMMAND);
	struct error late;

	if (reg_wait(vfio, IXGBE_MSCA, IXGBE_MSCA_MDI_COMMAND, 0, "MSCA.MDI_COMMAND", &late) == 0) {
		return 0;
	}
	if (vfio_check(vfio, error) == 0) {
		error_set(error, "%s: a cycle on the MDIO bus does not end (MSCA.MDI_COMMAND); %s",
			  vfio->address, REMEDY_BUS);
	}
	return -1;
}

/* Reads a register of the PHY: one cycle for its address, one for its value. */
static int phy_read(struct vfio_device *vfio, uint32_t phy, uint32_t device, uint32_t offset,
		    uint32_t *value, struct error *error)
{
	if (mdio_cycle(vfio, IXGBE_MSCA_OP_CODE_ADDRESS, phy, device, offset, error) != 0 ||
	    mdio_cycle(vfio, IXGBE_MSCA_OP_CODE_READ, phy, device, offset, error) != 0) {
		return -1;
	}
	*value = IXGBE_FIELD_GET(IXGBE_MSRWD_READ_DATA, reg_read(vfio, IXGBE_MSRWD));
	return 0;
}

/* Writes a register of the PHY. */
static int phy_write(struct vfio_device *vfio, uint32_t phy, uint32_t device, uint32_t offset,
		     uint32_t value, struct error *error)
{
	reg_write(vfio, IXGBE_MSRWD, IXGBE_FIELD(IXGBE_MSRWD_WRITE_DATA, value));
	if (mdio_cycle(vfio, IXGBE_MSCA_OP_CODE_ADDRESS, phy, device, offset, error) != 0) {
		return -1;
	}
	return mdio_cycle(vfio, IXGBE_MSCA_OP_CODE_WRITE, phy, device, offset, error);
}

/* Finds the address at which the PHY answers, MDIO_ADDRESSES if none does. Boards differ in it. */
static int find_phy(struct vfio_device *vfio, uint32_t *phy, struct error *error)
{
	for (*phy = 0; *phy < MDIO_ADDRESSES; ++*phy) {
		uint32_t id = 0;

		if (phy_read(vfio, *phy, IXGBE_PHY_ID_HIGH_DEVICE, IXGBE_PHY_ID_HIGH, &id, error) !=
		    0) {
			return -1;
		}
		if (id != 0 && id != MDIO_NO_ANSWER) {
			break;
		}
	}
	return 0;
}

/* Finds the PHY, which does not answer before it has started again. Warns if none answers in time. */
static int wait_for_phy(struct vfio_device *vfio, uint32_t *phy, struct error *error)
{
	uint64_t deadline = now_ms() + TIMEOUT_PHY;
	struct error none;

	/* The wait has its own limit and uses up no patience. */
	for (;;) {
		bool late = now_ms() >= deadline;

		if (find_phy(vfio, phy, error) != 0) {
			return -1;
		}
		if (*phy < MDIO_ADDRESSES) {
			return 0;
		}
		if (late) {
			break;
		}
		sleep_us(PHY_INTERVAL_US);
	}
	error_set(
		&none,
		"%s: no PHY answers on the MDIO bus after %d ms; if there is no link, " REMEDY_BUS,
		vfio->address, TIMEOUT_PHY);
	error_warn(&none);
	return 0;
}

int phy_power_up(struct vfio_device *vfio, struct error *error)
{
	uint32_t phy = 0;
	uint32_t control = 0;

	if (wait_for_phy(vfio, &phy, error) != 0) {
		return -1;
	}
	if (phy == MDIO_ADDRESSES) {
		return 0;
	}
	if (phy_read(vfio, phy, IXGBE_PHY_VENDOR_CONTROL_DEVICE, IXGBE_PHY_VENDOR_CONTROL, &control,
		     error) != 0) {
		return -1;
	}
	if (!(control & IXGBE_PHY_VENDOR_CONTROL_LOW_POWER)) {
		return 0;
	}
	return phy_write(vfio, phy, IXGBE_PHY_VENDOR_CONTROL_DEVICE, IXGBE_PHY_VENDOR_CONTROL,
			 control & ~IXGBE_PHY_VENDOR_CONTROL_LOW_POWER, error);
}
