//! The filters that decide which frames the port accepts: MAC addresses, hash tables, promiscuous
//! modes and VLANs. The 82599's filters for flows and virtual machines are not modelled.

use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// The kind of an accepted frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unicast,
    Multicast,
    Broadcast,
}

/// The filter, decoded from the registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    unicast_promiscuous: bool,
    multicast_promiscuous: bool,
    broadcast: bool,
    exact: Vec<[u8; 6]>,
    multicast_table: Option<Box<[u32; 128]>>,
    unicast_table: Option<Box<[u32; 128]>>,
    /// The lowest of the 12 address bits that index the tables. Bit 0 is that of the fifth byte.
    table_shift: u32,
    /// EtherType of VLAN tags.
    vlan_type: u16,
    vlans: Vlans,
}

/// The VLAN filter. It accepts every frame without a tag.
#[derive(Clone, Debug, Default)]
struct Vlans {
    /// One bit for each VLAN; `None` if the filter accepts all.
    table: Option<Box<[u32; 128]>>,
    /// The value that the tag's CFI bit must have, if any.
    cfi: Option<bool>,
}

impl Vlans {
    fn from_registers(registers: &RegisterFile) -> Self {
        let control = registers.get(r::VLNCTRL);
        let cfi = control & r::VLNCTRL_CFI != 0;
        Self {
            table: (control & r::VLNCTRL_VFE != 0).then(|| table(registers, r::VFTA)),
            cfi: (control & r::VLNCTRL_CFIEN != 0).then_some(cfi),
        }
    }

    fn accept(&self, tag: u16) -> bool {
        let (vlan, cfi) = (u32::from(tag & 0xfff), tag >> 12 & 1 == 1);
        let known = |table: &[u32; 128]| table[(vlan >> 5) as usize] >> (vlan & 31) & 1 == 1;
        self.table.as_deref().is_none_or(known) && self.cfi.is_none_or(|wanted| wanted == cfi)
    }
}

impl Filter {
    pub(crate) fn from_registers(registers: &RegisterFile) -> Self {
        let control = registers.get(r::FCTRL);
        let multicast_control = registers.get(r::MCSTCTRL);
        let exact = (0..r::RAL_COUNT)
            .filter(|n| registers.get(r::RAH(*n)) & r::RAH_AV != 0)
            .map(|n| address_of(registers.get(r::RAL(n)), registers.get(r::RAH(n))))
            .collect();
        let filters = multicast_control & r::MCSTCTRL_MFE != 0;
        let multicast_table = filters.then(|| table(registers, r::MTA));
        let unicast_table = Some(table(registers, r::PFUTA)).filter(|table| **table != [0; 128]);
        Self {
            unicast_promiscuous: control & r::FCTRL_UPE != 0,
            multicast_promiscuous: control & r::FCTRL_MPE != 0,
            broadcast: control & r::FCTRL_BAM != 0,
            exact,
            multicast_table,
            unicast_table,
            table_shift: [4, 3, 2, 0][(multicast_control & r::MCSTCTRL_MO) as usize],
            vlan_type: r::field_get(r::VLNCTRL_VET, registers.get(r::VLNCTRL)) as u16,
            vlans: Vlans::from_registers(registers),
        }
    }

    /// EtherType of VLAN tags.
    pub(crate) fn vlan_type(&self) -> u16 {
        self.vlan_type
    }

    /// Whether the filter accepts a frame with this VLAN tag, or without one.
    pub(crate) fn accepts_tag(&self, tag: Option<u16>) -> bool {
        tag.is_none_or(|tag| self.vlans.accept(tag))
    }

    /// The kind of a frame to this address, if the filter accepts it.
    pub(crate) fn accepts(&self, destination: [u8; 6]) -> Option<Kind> {
        let (unicast, multicast) = (&self.unicast_table, &self.multicast_table);
        let (kind, promiscuous, table) = if destination == [0xff; 6] {
            (Kind::Broadcast, self.broadcast, multicast)
        } else if destination[0] & 1 == 1 {
            (Kind::Multicast, self.multicast_promiscuous, multicast)
        } else {
            (Kind::Unicast, self.unicast_promiscuous, unicast)
        };
        let table = table.as_deref();
        let hit = || table.is_some_and(|table| self.hashed(table, destination));
        (promiscuous || self.exact.contains(&destination) || hit()).then_some(kind)
    }

    /// Whether the table has the bit that the last two address bytes select.
    fn hashed(&self, table: &[u32; 128], destination: [u8; 6]) -> bool {
        let bits = u32::from(u16::from_le_bytes([destination[4], destination[5]]));
        let index = bits >> self.table_shift & 0xfff;
        table[(index >> 5) as usize] >> (index & 31) & 1 == 1
    }
}

/// A table of bits in 128 registers.
fn table(registers: &RegisterFile, at: fn(u32) -> u32) -> Box<[u32; 128]> {
    Box::new(std::array::from_fn(|n| registers.get(at(n as u32))))
}

/// A MAC address from its registers RAL and RAH.
pub(crate) fn address_of(low: u32, high: u32) -> [u8; 6] {
    let [a, b, c, d] = low.to_le_bytes();
    let [e, f, ..] = high.to_le_bytes();
    [a, b, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    const OWN: [u8; 6] = [0x02, 0x82, 0x59, 0x90, 0, 0];
    const OTHER: [u8; 6] = [0x02, 0x82, 0x59, 0x90, 0, 9];
    const GROUP: [u8; 6] = [0x01, 0, 0x5e, 0, 0, 0xfb];
    const NEXT_GROUP: [u8; 6] = [0x01, 0, 0x5e, 0, 0, 0xfa];

    fn registers() -> RegisterFile {
        let registers = RegisterFile::new(0, family_of(0x10fb).unwrap()).unwrap();
        registers.set(r::RAL(0), 0x9059_8202);
        registers.set(r::RAH(0), r::RAH_AV);
        registers
    }

    #[test]
    fn registers_choose_the_addresses() {
        use Kind::{Broadcast, Multicast, Unicast};
        let own = (OWN, Unicast);
        // Bits 47:36 of the multicast address: 0xfb00 >> 4 = 0xfb0.
        let hash = (r::MTA(0xfb0 >> 5), 1 << (0xfb0 & 31));
        for (settings, accepted) in [
            (&[][..], vec![own]),
            (&[(r::RAH(0), 0)], vec![]),
            (&[(r::FCTRL, r::FCTRL_UPE)], vec![own, (OTHER, Unicast)]),
            (
                &[(r::FCTRL, r::FCTRL_MPE)],
                vec![own, (GROUP, Multicast), (NEXT_GROUP, Multicast)],
            ),
            (
                &[(r::FCTRL, r::FCTRL_BAM)],
                vec![own, ([0xff; 6], Broadcast)],
            ),
            (&[hash], vec![own]),
            (
                &[hash, (r::MCSTCTRL, r::MCSTCTRL_MFE)],
                vec![own, (GROUP, Multicast)],
            ),
        ] {
            let registers = registers();
            for (register, value) in settings {
                registers.set(*register, *value);
            }
            let filter = Filter::from_registers(&registers);
            let addresses = [OWN, OTHER, GROUP, NEXT_GROUP, [0xff; 6]].into_iter();
            let found = addresses.filter_map(|it| Some((it, filter.accepts(it)?)));
            assert_eq!(Vec::from_iter(found), accepted, "{settings:x?}");
        }
    }

    #[test]
    fn the_vlan_table_accepts_its_vlans() {
        let registers = registers();
        let accepts = |tag| Filter::from_registers(&registers).accepts_tag(tag);
        assert!(accepts(Some(5)), "without VFE all tags pass");
        registers.change(r::VLNCTRL, r::VLNCTRL_VFE, 0);
        registers.set(r::VFTA(4095 >> 5), 1 << 31);
        assert!(!accepts(Some(5)));
        assert!(accepts(Some(0xefff)), "the priority does not matter");
        assert!(accepts(None), "a frame without a tag passes");
        registers.change(r::VLNCTRL, r::VLNCTRL_CFIEN, 0);
        assert!(accepts(Some(4095)) && !accepts(Some(0x1fff)));
    }
}
