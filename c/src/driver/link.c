/*
 * The link (datasheet 4.6.4): setting it up, and its speed. DEVIATION-... are names of rows in
 * drivers/ASSUMPTIONS.md.
 */
#include "driver/link.h"
#include "clock.h"
#include "rooms/phy.h"

#define LINK_INTERVAL_US 10000

#define MBIT_PER_SECOND_10G 10000
#define MBIT_PER_SECOND_5G 5000
#define MBIT_PER_SECOND_2_5G 2500
#define MBIT_PER_SECOND_1G 1000
#define MBIT_PER_SECOND_100M 100

/*
 * 4.6.4.2: 10 Gbit/s serial over SFI, the mode of SFP+ ports. The driver does not take the lock that
 * it shares with firmware (DEVIATION-MAC-LOCK).
 */
static void init_serial_link(struct vfio_device *vfio)
{
	/* 8.2.3.1.4: an earlier driver may have turned the laser off by pin 3 (TX_DISABLE). */
	reg_clear(vfio, IXGBE_ESDP, IXGBE_ESDP_SDP3);
	reg_write_field(vfio, IXGBE_AUTOC, IXGBE_AUTOC_LMS, IXGBE_AUTOC_LMS_10G_SERIAL);
	/* 8.2.3.22.22: an earlier driver may have disabled the link, too. */
	reg_write_field(vfio, IXGBE_AUTOC2,
			IXGBE_AUTOC2_10G_PMA_PMD_SERIAL | IXGBE_AUTOC2_LINK_DISABLE,
			IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI);
	reg_set(vfio, IXGBE_AUTOC, IXGBE_AUTOC_AN_RESTART);
}

int link_init(struct device *device, struct error *error)
{
	if (device->family == DEVICE_FAMILY_82599) {
		init_serial_link(&device->vfio);
		return vfio_check(&device->vfio, error);
	}
	/* On X540 and X550, firmware brings the link up once the copper PHY has power. */
	return phy_power_up(&device->vfio, error);
}

bool link_comes_up(struct device *device, uint32_t timeout_ms)
{
	uint64_t deadline = now_ms() + timeout_ms;

	/* A link may take many seconds, so this wait has its own limit and uses up no patience. */
	for (;;) {
		bool late = now_ms() >= deadline;
		/* 8.2.3.22.20 */
		bool up = reg_read(&device->vfio, IXGBE_LINKS) & IXGBE_LINKS_UP;

		if (device->vfio.failed) {
			return false;
		}
		if (up || late) {
			return up;
		}
		sleep_us(LINK_INTERVAL_US);
	}
}

int link_speed(struct device *device, uint32_t *speed, struct error *error)
{
	uint32_t links = reg_read(&device->vfio, IXGBE_LINKS);
	/* Other families use this bit for something else. */
	bool nonstandard = device->family == DEVICE_FAMILY_X550 &&
			   links & IXGBE_LINKS_SPEED_NON_STD;

	*speed = 0;
	if (links & IXGBE_LINKS_UP) {
		switch (links & IXGBE_LINKS_SPEED) {
		case IXGBE_LINKS_SPEED_10G:
			*speed = nonstandard ? MBIT_PER_SECOND_2_5G : MBIT_PER_SECOND_10G;
			break;
		case IXGBE_LINKS_SPEED_1G:
			*speed = MBIT_PER_SECOND_1G;
			break;
		case IXGBE_LINKS_SPEED_100M:
			*speed = nonstandard ? MBIT_PER_SECOND_5G : MBIT_PER_SECOND_100M;
			break;
		default:
			break;
		}
	}
	return vfio_check(&device->vfio, error);
}
