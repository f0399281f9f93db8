// generated from registers.toml by `make registers`; do not edit
//! The network cards that the driver knows.
#![forbid(unsafe_code)]

// ---- Network cards ----

/// A family of network cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The 82599, with SFP+ ports.
    Intel82599,
    /// The X540, with copper ports.
    X540,
    /// The X550, with copper ports.
    X550,
}

impl Family {
    /// The family's name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intel82599 => "82599",
            Self::X540 => "X540",
            Self::X550 => "X550",
        }
    }
}

/// A network card that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// PCI device id; the vendor is Intel.
    pub id: u16,
    /// Name for people.
    pub name: &'static str,
    /// 82599, X540 or X550.
    pub family: Family,
    /// Why the driver refuses this card, if it does.
    pub refused: Option<&'static str>,
}

/// The network cards that the driver knows.
#[rustfmt::skip] // a card a line
pub const DEVICE_IDS: &[DeviceId] = &[
    DeviceId { id: 0x10f7, name: "82599 backplane KX4", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10f8, name: "82599 backplane, combined", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10f9, name: "82599 CX4", family: Family::Intel82599, refused: Some("its ports are CX4, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10fb, name: "82599ES SFI/SFP+ (X520)", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x10fc, name: "82599 XAUI/BX4", family: Family::Intel82599, refused: Some("its ports are XAUI or BX4, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1507, name: "82599 SFP+, extended module support", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x1514, name: "82599 backplane KX4 mezzanine (X520)", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1517, name: "82599 backplane KR", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x151c, name: "82599 10GBASE-T", family: Family::Intel82599, refused: Some("its ports are 10GBASE-T, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1529, name: "82599 SFP+ with FCoE", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x152a, name: "82599 backplane with FCoE", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x154a, name: "X520-4, four SFP+ ports", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x154d, name: "X520 SFP+", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x154f, name: "82599 LS", family: Family::Intel82599, refused: Some("its fiber module is fixed, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1557, name: "82599EN SFI", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x1558, name: "X520-Q1, QSFP+", family: Family::Intel82599, refused: Some("its port is QSFP+, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1528, name: "X540-AT2 10GBASE-T", family: Family::X540, refused: None },
    DeviceId { id: 0x1560, name: "X540-T1 10GBASE-T", family: Family::X540, refused: None },
    DeviceId { id: 0x1563, name: "X550-T 10GBASE-T", family: Family::X550, refused: None },
    DeviceId { id: 0x15d1, name: "X550-T1 10GBASE-T", family: Family::X550, refused: None },
    DeviceId { id: 0x15aa, name: "X552 backplane KX4", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ab, name: "X552 backplane KR", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ac, name: "X552 SFP+", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ad, name: "X552/X557-AT 10GBASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ae, name: "X552 1000BASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15b0, name: "X552 XFI", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c2, name: "X553 backplane KR", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c3, name: "X553 backplane KR, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c4, name: "X553 SFP+, native", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c6, name: "X553 SGMII", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c7, name: "X553 SGMII, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c8, name: "X553/X557-AT 10GBASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ce, name: "X553 SFP+", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15e4, name: "X553 1000BASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15e5, name: "X553 1000BASE-T, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
];
