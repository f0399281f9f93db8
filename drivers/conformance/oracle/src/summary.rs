//! What one driver wrote to the registers of one card.

use std::collections::BTreeMap;

use nic::registers::{register, Access, Register, CTRL, CTRL_LNK_RST, CTRL_RST};
use nic::TraceEntry;
use serde::Deserialize;
use strum::{Display, EnumIter};

/// A part of a driver's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// From the first access up to the last reset before packets flow.
    BeforeReset,
    /// From that reset until the link is up.
    SetUp,
    /// From the request to stop until the driver has left.
    Stop,
}

/// A family of cards that the software card models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumIter, Deserialize)]
pub enum Family {
    /// 82599 with an SFP+ cage.
    #[strum(serialize = "82599")]
    #[serde(rename = "82599")]
    I82599,
    /// X540 with 10GBASE-T.
    X540,
    /// X550 with 10GBASE-T.
    X550,
}

impl Family {
    /// The PCI device id of the family's card in these tests.
    pub fn device_id(self) -> u16 {
        match self {
            Self::I82599 => 0x10fb,
            Self::X540 => 0x1528,
            Self::X550 => 0x1563,
        }
    }
}

/// A value that depends on when an interrupt comes.
const BY_INTERRUPTS: &str = "by interrupts";

/// What stands for values that mean nothing outside their run, and the registers with such values.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("an address", "RDBAL RDBAH TDBAL TDBAH"),
    ("a tail", "RDT TDT"),
    ("a random key", "RSSRK"),
    // One step of a conversation with the EEPROM, the PHY, the module or the firmware.
    (
        "commands",
        "EERD EEC I2CCTL MSCA MSRWD SWSM SW_FW_SYNC FLEX_MNG HICR",
    ),
    (BY_INTERRUPTS, "EICS_EX EIMS_EX EITR"),
    ("an index", "RTTDQSEL"),
];

/// Registers that the register map lacks, as Linux's `ixgbe_type.h` names them: name and address.
const UNMAPPED: &[(&str, u32)] = &[("SYSTIMR", 0x08c58)];

/// An entry of a register in a phase. The order is that of the addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The part of the run.
    pub phase: Phase,
    /// Address of the register's entry 0.
    pub address: u32,
    /// The datasheet's name. For an unknown register, its address.
    pub name: String,
    /// The entry, if the register is an array.
    pub entry: Option<u32>,
}

impl Place {
    /// An entry of the register `name`.
    pub fn new(phase: Phase, name: &str, entry: Option<u32>) -> Self {
        let mut unmapped = UNMAPPED.iter();
        let address = register(name)
            .and_then(|register| register.address(0))
            .or_else(|| Some(unmapped.find(|(other, _)| *other == name)?.1))
            .or_else(|| u32::from_str_radix(name.trim_start_matches("0x"), 16).ok());
        Self {
            phase,
            address: address.unwrap_or(u32::MAX),
            name: name.to_owned(),
            entry,
        }
    }
}

/// What a driver wrote to each place: all values, each once, in the order of their last write. If each
/// write sets or clears the bits that are 1, all those bits together. Or what stands for the values.
pub type Summary = BTreeMap<Place, String>;

/// Reduces the trace of a port. `start` is the trace until the link is up, `stop` the trace from the
/// request to stop on.
pub fn summary(port: usize, start: &[TraceEntry], stop: &[TraceEntry]) -> Summary {
    let of_port = |entry: &&TraceEntry| entry.port == port && is_write(entry);
    let [start, stop] = [start, stop].map(|trace| trace.iter().filter(of_port).collect::<Vec<_>>());
    let last_reset = start.iter().rposition(|write| is_reset(write));
    let (before, set_up) = start.split_at(last_reset.map_or(0, |at| at + 1));
    let mut written: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
    for (phase, trace) in [
        (Phase::BeforeReset, before),
        (Phase::SetUp, set_up),
        (Phase::Stop, &stop),
    ] {
        for access in trace {
            let place = place(phase, access);
            let adds_up = register(&place.name).is_some_and(writes_add_up);
            let values = written.entry(place).or_default();
            let before = if adds_up { values.pop() } else { None };
            let value = access.value | before.unwrap_or(0);
            values.retain(|earlier| *earlier != value);
            values.push(value);
        }
    }
    let content = |(place, values): (Place, Vec<u32>)| {
        let mut kinds = NOT_COMPARED.iter();
        let kind = kinds.find(|(_, names)| names.split(' ').any(|name| name == place.name));
        let values = values.iter().map(|value| format!("{value:#010x}"));
        let values = values.collect::<Vec<_>>().join(" ");
        let content = kind.map_or(values, |(kind, _)| (*kind).to_owned());
        // An interrupt may come during the stop, or not.
        let by_chance = place.phase == Phase::Stop && content == BY_INTERRUPTS;
        (!by_chance).then_some((place, content))
    };
    written.into_iter().filter_map(content).collect()
}

/// Whether this is a write, and not to the configuration space.
fn is_write(access: &TraceEntry) -> bool {
    access.write && !access.register.starts_with("PCI(")
}

fn is_reset(access: &TraceEntry) -> bool {
    access.address == CTRL && access.value & (CTRL_RST | CTRL_LNK_RST) != 0
}

/// The register and the entry of an access.
fn place(phase: Phase, access: &TraceEntry) -> Place {
    let text = access.register.as_str();
    if let Some((name, entry)) = text.trim_end_matches(')').split_once('(') {
        return Place::new(phase, name, entry.parse().ok());
    }
    let unmapped = UNMAPPED.iter().find(|(_, at)| *at == access.address);
    Place::new(phase, unmapped.map_or(text, |(name, _)| name), None)
}

/// Whether a write sets or clears only the bits that are 1.
fn writes_add_up(register: &Register) -> bool {
    matches!(register.access, Access::WriteOneSet | Access::WriteOneClear)
        || register.acts_on.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_to(port: usize, register: &str, address: u32, value: u32) -> TraceEntry {
        TraceEntry {
            port,
            write: true,
            register: register.to_owned(),
            address,
            value,
            size: 4,
        }
    }

    /// What port 0 has after these writes.
    fn found(start: &[TraceEntry], phase: Phase, name: &str, entry: Option<u32>) -> Option<String> {
        let stop = [write_to(0, "HLREG0", 0x4240, 5)];
        summary(0, start, &stop).remove(&Place::new(phase, name, entry))
    }

    #[test]
    fn the_last_reset_divides_the_start() {
        let start = [
            write_to(0, "HLREG0", 0x4240, 1),
            write_to(0, "CTRL", CTRL, CTRL_RST),
            write_to(0, "HLREG0", 0x4240, 2),
            write_to(1, "CTRL", CTRL, CTRL_RST),
            write_to(1, "HLREG0", 0x4240, 4),
        ];
        for (phase, value) in [(Phase::BeforeReset, 1), (Phase::SetUp, 2), (Phase::Stop, 5)] {
            let written = found(&start, phase, "HLREG0", None);
            assert_eq!(written, Some(format!("{value:#010x}")), "{phase}");
        }
        assert_eq!(found(&start, Phase::SetUp, "CTRL", None), None);
    }

    #[test]
    fn a_register_has_what_its_writes_leave() {
        let mut read = write_to(0, "GPIE", 0x898, 1);
        read.write = false;
        let mut start = vec![read, write_to(0, "PCI(0x004)", 4, 6)];
        for value in [2, 3, 2, 4, 3, 1] {
            start.push(write_to(0, "HLREG0", 0x4240, value));
        }
        for value in [1, 2] {
            start.push(write_to(0, "EIMC", 0x888, value));
        }
        start.push(write_to(0, "RDBAL(3)", 0x10c0, 0x1234_5680));
        start.push(write_to(0, "0x08c58", 0x08c58, 0));
        start.push(write_to(0, "0x0fffc", 0x0fffc, 9));
        for (name, entry, written) in [
            (
                "HLREG0",
                None,
                Some("0x00000002 0x00000004 0x00000003 0x00000001"),
            ),
            ("EIMC", None, Some("0x00000003")),
            ("RDBAL", Some(3), Some("an address")),
            ("SYSTIMR", None, Some("0x00000000")),
            ("0x0fffc", None, Some("0x00000009")),
            ("GPIE", None, None),
            ("PCI", Some(4), None),
        ] {
            let found = found(&start, Phase::SetUp, name, entry);
            assert_eq!(found.as_deref(), written, "{name}");
        }
    }

    /// The map would name the unmapped registers itself, and the comparison must not name them twice.
    #[test]
    fn the_names_are_those_of_the_map() {
        for (name, address) in UNMAPPED {
            assert!(register(name).is_none(), "{name}");
            assert!(nic::registers::locate(*address).is_none(), "{name}");
        }
        for name in NOT_COMPARED.iter().flat_map(|(_, names)| names.split(' ')) {
            assert!(register(name).is_some(), "{name}");
        }
    }
}
