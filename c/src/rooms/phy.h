/* The copper PHY of the X540 and X550 (datasheet 3.7, 8.2.3.22.11), on the MDIO bus. */
#ifndef IXGBE_PHY_H
#define IXGBE_PHY_H

#include "driver/register_access.h"

/* Takes the PHY and its bus from firmware, for the reset too. After a time-out, by force. */
int phy_take(struct vfio_device *vfio, struct error *error);

void phy_release(struct vfio_device *vfio);

/*
 * Powers the PHY up: an earlier driver may have powered it down. The driver has the PHY. If no PHY answers,
 * only warns: then the link decides.
 */
int phy_power_up(struct vfio_device *vfio, struct error *error);

#endif
