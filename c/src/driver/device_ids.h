/* generated from registers.toml by `make registers`; do not edit */
/* The network cards that the driver knows. Only one source file includes this header, for the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include "driver/device.h"

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {
	uint16_t id;
	enum device_family family;
	const char *name;
	const char *refused; /* why the driver refuses this card, or NULL */
};

#define IXGBE_DEVICE_ID_COUNT 35u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {
	{0x10f7, DEVICE_FAMILY_82599, "82599 backplane KX4",
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x10f8, DEVICE_FAMILY_82599, "82599 backplane, combined",
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x10f9, DEVICE_FAMILY_82599, "82599 CX4",
	 "its ports are CX4, and the driver sets up SFP+ ports only"},
	{0x10fb, DEVICE_FAMILY_82599, "82599ES SFI/SFP+ (X520)", NULL},
	{0x10fc, DEVICE_FAMILY_82599, "82599 XAUI/BX4",
	 "its ports are XAUI or BX4, and the driver sets up SFP+ ports only"},
	{0x1507, DEVICE_FAMILY_82599, "82599 SFP+, extended module support", NULL},
	{0x1514, DEVICE_FAMILY_82599, "82599 backplane KX4 mezzanine (X520)",
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x1517, DEVICE_FAMILY_82599, "82599 backplane KR",
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x151c, DEVICE_FAMILY_82599, "82599 10GBASE-T",
	 "its ports are 10GBASE-T, and the driver sets up SFP+ ports only"},
	{0x1529, DEVICE_FAMILY_82599, "82599 SFP+ with FCoE", NULL},
	{0x152a, DEVICE_FAMILY_82599, "82599 backplane with FCoE",
	 "its ports go to a backplane, and the driver sets up SFP+ ports only"},
	{0x154a, DEVICE_FAMILY_82599, "X520-4, four SFP+ ports", NULL},
	{0x154d, DEVICE_FAMILY_82599, "X520 SFP+", NULL},
	{0x154f, DEVICE_FAMILY_82599, "82599 LS",
	 "its fiber module is fixed, and the driver sets up SFP+ ports only"},
	{0x1557, DEVICE_FAMILY_82599, "82599EN SFI", NULL},
	{0x1558, DEVICE_FAMILY_82599, "X520-Q1, QSFP+",
	 "its port is QSFP+, and the driver sets up SFP+ ports only"},
	{0x1528, DEVICE_FAMILY_X540, "X540-AT2 10GBASE-T", NULL},
	{0x1560, DEVICE_FAMILY_X540, "X540-T1 10GBASE-T", NULL},
	{0x1563, DEVICE_FAMILY_X550, "X550-T 10GBASE-T", NULL},
	{0x15d1, DEVICE_FAMILY_X550, "X550-T1 10GBASE-T", NULL},
	{0x15aa, DEVICE_FAMILY_X550, "X552 backplane KX4",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ab, DEVICE_FAMILY_X550, "X552 backplane KR",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ac, DEVICE_FAMILY_X550, "X552 SFP+",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ad, DEVICE_FAMILY_X550, "X552/X557-AT 10GBASE-T",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ae, DEVICE_FAMILY_X550, "X552 1000BASE-T",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15b0, DEVICE_FAMILY_X550, "X552 XFI",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c2, DEVICE_FAMILY_X550, "X553 backplane KR",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c3, DEVICE_FAMILY_X550, "X553 backplane KR, low power",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c4, DEVICE_FAMILY_X550, "X553 SFP+, native",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c6, DEVICE_FAMILY_X550, "X553 SGMII",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c7, DEVICE_FAMILY_X550, "X553 SGMII, low power",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15c8, DEVICE_FAMILY_X550, "X553/X557-AT 10GBASE-T",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15ce, DEVICE_FAMILY_X550, "X553 SFP+",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15e4, DEVICE_FAMILY_X550, "X553 1000BASE-T",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
	{0x15e5, DEVICE_FAMILY_X550, "X553 1000BASE-T, low power",
	 "its EEC is at another address, and its PHY needs a set-up that the driver lacks"},
};

/* clang-format on */

#endif
