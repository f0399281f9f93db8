/* The link of an 82599 (datasheet 4.6.4). DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md. */
#include "driver/link.h"

/*
 * The driver does not take the lock that it shares with firmware (DEVIATION-MAC-LOCK), and does not tune the
 * analogue part for the module (DEVIATION-CORECTL).
 */
void link_init(struct vfio_device *vfio)
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
