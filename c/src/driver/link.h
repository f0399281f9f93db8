/* The link of an 82599 (datasheet 4.6.4). */
#ifndef IXGBE_LINK_H
#define IXGBE_LINK_H

#include "driver/register_access.h"

/* 4.6.4.2 Link initialization: 10 Gbit/s serial, as on SFP+ ports. It does not wait until the link is up. */
void link_init(struct vfio_device *vfio);

#endif
