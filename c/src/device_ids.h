/* generated from registers.toml by `make registers`; do not edit */
/* The network cards that the driver knows. Only one source file includes this header, for the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include <stdint.h>

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {
	uint16_t id;
	const char *name;
	const char *family; /* 82599, X540 or X550 */
};

#define IXGBE_DEVICE_ID_COUNT 35u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {
	{0x10f7, "82599 backplane KX4", "82599"},
	{0x10f8, "82599 backplane, combined", "82599"},
	{0x10f9, "82599 CX4", "82599"},
	{0x10fb, "82599ES SFI/SFP+ (X520)", "82599"},
	{0x10fc, "82599 XAUI/BX4", "82599"},
	{0x1507, "82599 SFP+, extended module support", "82599"},
	{0x1514, "82599 backplane KX4 mezzanine (X520)", "82599"},
	{0x1517, "82599 backplane KR", "82599"},
	{0x151c, "82599 10GBASE-T", "82599"},
	{0x1529, "82599 SFP+ with FCoE", "82599"},
	{0x152a, "82599 backplane with FCoE", "82599"},
	{0x154a, "X520-4, four SFP+ ports", "82599"},
	{0x154d, "X520 SFP+", "82599"},
	{0x154f, "82599 LS", "82599"},
	{0x1557, "82599EN SFI", "82599"},
	{0x1558, "X520-Q1, QSFP+", "82599"},
	{0x1528, "X540-AT2 10GBASE-T", "X540"},
	{0x1560, "X540-T1 10GBASE-T", "X540"},
	{0x1563, "X550-T 10GBASE-T", "X550"},
	{0x15d1, "X550-T1 10GBASE-T", "X550"},
	{0x15aa, "X552 backplane KX4", "X550"},
	{0x15ab, "X552 backplane KR", "X550"},
	{0x15ac, "X552 SFP+", "X550"},
	{0x15ad, "X552/X557-AT 10GBASE-T", "X550"},
	{0x15ae, "X552 1000BASE-T", "X550"},
	{0x15b0, "X552 XFI", "X550"},
	{0x15c2, "X553 backplane KR", "X550"},
	{0x15c3, "X553 backplane KR, low power", "X550"},
	{0x15c4, "X553 SFP+, native", "X550"},
	{0x15c6, "X553 SGMII", "X550"},
	{0x15c7, "X553 SGMII, low power", "X550"},
	{0x15c8, "X553/X557-AT 10GBASE-T", "X550"},
	{0x15ce, "X553 SFP+", "X550"},
	{0x15e4, "X553 1000BASE-T", "X550"},
	{0x15e5, "X553 1000BASE-T, low power", "X550"},
};

/* clang-format on */

#endif
