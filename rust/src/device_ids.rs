// generated from registers.toml by `make registers`; do not edit
//! The network cards that the driver knows.
#![forbid(unsafe_code)]

// ---- Network cards ----

/// A network card that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// PCI device id; the vendor is Intel.
    pub id: u16,
    /// Name for people.
    pub name: &'static str,
    /// 82599, X540 or X550.
    pub family: &'static str,
}

/// The network cards that the driver knows.
#[rustfmt::skip] // a card a line
pub const DEVICE_IDS: &[DeviceId] = &[
    DeviceId { id: 0x10f7, name: "82599 backplane KX4", family: "82599" },
    DeviceId { id: 0x10f8, name: "82599 backplane, combined", family: "82599" },
    DeviceId { id: 0x10f9, name: "82599 CX4", family: "82599" },
    DeviceId { id: 0x10fb, name: "82599ES SFI/SFP+ (X520)", family: "82599" },
    DeviceId { id: 0x10fc, name: "82599 XAUI/BX4", family: "82599" },
    DeviceId { id: 0x1507, name: "82599 SFP+, extended module support", family: "82599" },
    DeviceId { id: 0x1514, name: "82599 backplane KX4 mezzanine (X520)", family: "82599" },
    DeviceId { id: 0x1517, name: "82599 backplane KR", family: "82599" },
    DeviceId { id: 0x151c, name: "82599 10GBASE-T", family: "82599" },
    DeviceId { id: 0x1529, name: "82599 SFP+ with FCoE", family: "82599" },
    DeviceId { id: 0x152a, name: "82599 backplane with FCoE", family: "82599" },
    DeviceId { id: 0x154a, name: "X520-4, four SFP+ ports", family: "82599" },
    DeviceId { id: 0x154d, name: "X520 SFP+", family: "82599" },
    DeviceId { id: 0x154f, name: "82599 LS", family: "82599" },
    DeviceId { id: 0x1557, name: "82599EN SFI", family: "82599" },
    DeviceId { id: 0x1558, name: "X520-Q1, QSFP+", family: "82599" },
    DeviceId { id: 0x1528, name: "X540-AT2 10GBASE-T", family: "X540" },
    DeviceId { id: 0x1560, name: "X540-T1 10GBASE-T", family: "X540" },
    DeviceId { id: 0x1563, name: "X550-T 10GBASE-T", family: "X550" },
    DeviceId { id: 0x15d1, name: "X550-T1 10GBASE-T", family: "X550" },
    DeviceId { id: 0x15aa, name: "X552 backplane KX4", family: "X550" },
    DeviceId { id: 0x15ab, name: "X552 backplane KR", family: "X550" },
    DeviceId { id: 0x15ac, name: "X552 SFP+", family: "X550" },
    DeviceId { id: 0x15ad, name: "X552/X557-AT 10GBASE-T", family: "X550" },
    DeviceId { id: 0x15ae, name: "X552 1000BASE-T", family: "X550" },
    DeviceId { id: 0x15b0, name: "X552 XFI", family: "X550" },
    DeviceId { id: 0x15c2, name: "X553 backplane KR", family: "X550" },
    DeviceId { id: 0x15c3, name: "X553 backplane KR, low power", family: "X550" },
    DeviceId { id: 0x15c4, name: "X553 SFP+, native", family: "X550" },
    DeviceId { id: 0x15c6, name: "X553 SGMII", family: "X550" },
    DeviceId { id: 0x15c7, name: "X553 SGMII, low power", family: "X550" },
    DeviceId { id: 0x15c8, name: "X553/X557-AT 10GBASE-T", family: "X550" },
    DeviceId { id: 0x15ce, name: "X553 SFP+", family: "X550" },
    DeviceId { id: 0x15e4, name: "X553 1000BASE-T", family: "X550" },
    DeviceId { id: 0x15e5, name: "X553 1000BASE-T, low power", family: "X550" },
];
