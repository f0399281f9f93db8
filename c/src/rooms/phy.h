/* The copper PHY of the X540 and X550 (datasheet 3.7, 8.2.3.22.11), on the MDIO bus. */
#ifndef IXGBE_PHY_H
#define IXGBE_PHY_H

#include "driver/register_access.h"

/*
 * Powers the PHY up: an earlier driver may have powered it down. Fails if firmware keeps the bus, or
 * if no PHY answers.
 */
int phy_power_up(struct vfio_device *vfio, struct error *error);

#endif
