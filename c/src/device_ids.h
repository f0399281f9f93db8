/* generated from registers.toml by `make registers`; do not edit */
/* The network cards that the driver knows. Only one source file includes this header, for the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include "device.h"

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {
	uint16_t id;
	const char *name;
	enum device_family family;
	const char *refused; /* why the driver refuses this card, or NULL */
};

#define IXGBE_DEVICE_ID_COUNT 35u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {
	{0x10f7, "82599 backplane KX4", DEVICE_FAMILY_82599,
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x10f8, "82599 backplane, combined", DEVICE_FAMILY_82599,
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x10f9, "82599 CX4", DEVICE_FAMILY_82599,
	 "its ports are CX4, and the driver sets up SFP+ ports only"},
	{0x10fb, "82599ES SFI/SFP+ (X520)", DEVICE_FAMILY_82599, NULL},
	{0x10fc, "82599 XAUI/BX4", DEVICE_FAMILY_82599,
	 "its ports are XAUI or BX4, and the driver sets up SFP+ ports only"},
	{0x1507, "82599 SFP+, extended module support", DEVICE_FAMILY_82599, NULL},
	{0x1514, "82599 backplane KX4 mezzanine (X520)", DEVICE_FAMILY_82599,
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x1517, "82599 backplane KR", DEVICE_FAMILY_82599,
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x151c, "82599 10GBASE-T", DEVICE_FAMILY_82599,
	 "its ports are 10GBASE-T, and the driver sets up SFP+ ports only"},
	{0x1529, "82599 SFP+ with FCoE", DEVICE_FAMILY_82599, NULL},
	{0x152a, "82599 backplane with FCoE", DEVICE_FAMILY_82599,
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x154a, "X520-4, four SFP+ ports", DEVICE_FAMILY_82599, NULL},
	{0x154d, "X520 SFP+", DEVICE_FAMILY_82599, NULL},
	{0x154f, "82599 LS", DEVICE_FAMILY_82599,
	 "its fiber module is fixed, and the driver sets up SFP+ ports only"},
	{0x1557, "82599EN SFI", DEVICE_FAMILY_82599, NULL},
	{0x1558, "X520-Q1, QSFP+", DEVICE_FAMILY_82599,
	 "its port is QSFP+, and the driver sets up SFP+ ports only"},
	{0x1528, "X540-AT2 10GBASE-T", DEVICE_FAMILY_X540, NULL},
	{0x1560, "X540-T1 10GBASE-T", DEVICE_FAMILY_X540, NULL},
	{0x1563, "X550-T 10GBASE-T", DEVICE_FAMILY_X550, NULL},
	{0x15d1, "X550-T1 10GBASE-T", DEVICE_FAMILY_X550, NULL},
	{0x15aa, "X552 backplane KX4", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ab, "X552 backplane KR", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ac, "X552 SFP+", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ad, "X552/X557-AT 10GBASE-T", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ae, "X552 1000BASE-T", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15b0, "X552 XFI", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c2, "X553 backplane KR", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c3, "X553 backplane KR, low power", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c4, "X553 SFP+, native", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c6, "X553 SGMII", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c7, "X553 SGMII, low power", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c8, "X553/X557-AT 10GBASE-T", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ce, "X553 SFP+", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15e4, "X553 1000BASE-T", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15e5, "X553 1000BASE-T, low power", DEVICE_FAMILY_X550,
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
};

/* clang-format on */

#endif
