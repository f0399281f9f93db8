//! What one driver wrote to the registers of one card.

use std::collections::BTreeMap;
use std::fmt;

use nic::registers::{register, Access, Register, CTRL, CTRL_LNK_RST, CTRL_RST};
use nic::TraceEntry;
use strum::{Display, EnumIter, EnumString};

/// A part of a driver's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumIter, EnumString)]
pub enum Phase {
    /// From the first access up to the last reset before packets flow.
    #[strum(serialize = "before-reset")]
    BeforeReset,
    /// From that reset until the link is up.
    #[strum(serialize = "set-up")]
    SetUp,
    /// From the request to stop until the driver has left.
    #[strum(serialize = "stop")]
    Stop,
}

/// A family of cards that the software card models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumIter, EnumString)]
pub enum Family {
    /// 82599 with an SFP+ cage.
    #[strum(serialize = "82599")]
    I82599,
    /// X540 with 10GBASE-T.
    X540,
    /// X550 with 10GBASE-T.
    X550,
}

impl Family {
    /// The PCI device id of the family's card in these tests.
    #[must_use]
    pub fn device_id(self) -> u16 {
        match self {
            Self::I82599 => 0x10fb,
            Self::X540 => 0x1528,
            Self::X550 => 0x1563,
        }
    }
}

/// Why the value of a register means nothing outside its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString)]
pub enum Kind {
    /// An address of the driver's memory.
    #[strum(serialize = "an address")]
    Address,
    /// A ring's head or tail.
    #[strum(serialize = "a tail")]
    Tail,
    /// A key that the driver chooses at random.
    #[strum(serialize = "a random key")]
    RandomKey,
    /// One step of a conversation with the EEPROM, the PHY, the module or the firmware.
    #[strum(serialize = "commands")]
    Commands,
    /// A value that depends on when an interrupt comes.
    #[strum(serialize = "by interrupts")]
    Interrupts,
    /// The index of an entry that the next access concerns.
    #[strum(serialize = "an index")]
    Index,
}

/// The registers whose values are not compared.
const KINDS: &[(&[&str], Kind)] = &[
    (&["RDBAL", "RDBAH", "TDBAL", "TDBAH"], Kind::Address),
    (&["RDT", "TDT"], Kind::Tail),
    (&["RSSRK"], Kind::RandomKey),
    (
        &[
            "EERD",
            "EEC",
            "I2CCTL",
            "MSCA",
            "MSRWD",
            "SWSM",
            "SW_FW_SYNC",
            "FLEX_MNG",
            "HICR",
        ],
        Kind::Commands,
    ),
    (&["EICS_EX", "EIMS_EX", "EITR"], Kind::Interrupts),
    (&["RTTDQSEL"], Kind::Index),
];

/// Registers that the register map lacks, as Linux's `ixgbe_type.h` names them: name and address.
const UNMAPPED: &[(&str, u32)] = &[("SYSTIMR", 0x08c58)];

/// What an entry of a register has in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// The last value. If each write sets or clears the bits that are 1, all those bits together.
    Value(u32),
    /// A value that means nothing outside its run.
    Opaque(Kind),
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value:#010x}"),
            Self::Opaque(kind) => kind.fmt(f),
        }
    }
}

/// What a driver wrote to an entry of a register.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// What the entry has in the end.
    pub last: Content,
    /// The other values that the driver wrote before, each once, in the order of their last write.
    pub earlier: Vec<u32>,
}

impl Written {
    /// Another write. `adds_up` says that a write sets or clears only the bits that are 1.
    fn update(&mut self, content: Content, adds_up: bool) {
        let (Content::Value(before), Content::Value(value)) = (self.last, content) else {
            return;
        };
        if adds_up {
            self.last = Content::Value(before | value);
            return;
        }
        if before != value && !self.earlier.contains(&before) {
            self.earlier.push(before);
        }
        self.earlier.retain(|earlier| *earlier != value);
        self.last = content;
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for value in &self.earlier {
            write!(f, "{value:#010x} ")?;
        }
        self.last.fmt(f)
    }
}

/// A register or an array of registers. The order is that of the addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    address: u32,
    /// The datasheet's name. For an unknown register, its address.
    pub name: String,
}

impl Name {
    /// The register of this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let unmapped = UNMAPPED.iter().find(|(other, _)| *other == name);
        let address = register(name)
            .and_then(|register| register.address(0))
            .or(unmapped.map(|(_, address)| *address))
            .or_else(|| u32::from_str_radix(name.trim_start_matches("0x"), 16).ok());
        Self {
            address: address.unwrap_or(u32::MAX),
            name: name.to_owned(),
        }
    }

    /// The register's place in the register map.
    #[must_use]
    pub fn register(&self) -> Option<&'static Register> {
        register(&self.name)
    }
}

/// What a driver wrote to a register: by entry, or under `None` if it is not an array.
pub type Writes = BTreeMap<Option<u32>, Written>;

/// What a driver wrote, by phase and register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary(pub BTreeMap<Phase, BTreeMap<Name, Writes>>);

impl Summary {
    /// Reduces the trace of a port. `start` is the trace until the link is up, `stop` the trace from
    /// the request to stop on.
    #[must_use]
    pub fn of_trace(port: usize, start: &[TraceEntry], stop: &[TraceEntry]) -> Self {
        let last_reset = start
            .iter()
            .rposition(|entry| entry.port == port && is_reset(entry))
            .map_or(0, |at| at + 1);
        let (before, set_up) = start.split_at(last_reset);
        let mut summary = Self::default();
        for (phase, trace) in [
            (Phase::BeforeReset, before),
            (Phase::SetUp, set_up),
            (Phase::Stop, stop),
        ] {
            for entry in trace.iter().filter(|entry| entry.port == port) {
                summary.add(phase, entry);
            }
        }
        summary
    }

    fn add(&mut self, phase: Phase, access: &TraceEntry) {
        if !access.write || is_config(access) {
            return;
        }
        let (name, entry) = place(access);
        let content = match kind_of(&name) {
            // An interrupt may come during the stop, or not.
            Some(Kind::Interrupts) if phase == Phase::Stop => return,
            Some(kind) => Content::Opaque(kind),
            None => Content::Value(access.value),
        };
        let bits_add_up = register(&name).is_some_and(writes_add_up);
        let writes = self.0.entry(phase).or_default();
        writes
            .entry(Name::of(&name))
            .or_default()
            .entry(entry)
            .and_modify(|written| written.update(content, bits_add_up))
            .or_insert(Written {
                last: content,
                earlier: Vec::new(),
            });
    }
}

/// Whether this is an access to the configuration space.
fn is_config(access: &TraceEntry) -> bool {
    access.register.starts_with("PCI(")
}

fn is_reset(access: &TraceEntry) -> bool {
    access.write
        && !is_config(access)
        && access.address == CTRL
        && access.value & (CTRL_RST | CTRL_LNK_RST) != 0
}

/// The register and the entry of an access.
fn place(access: &TraceEntry) -> (String, Option<u32>) {
    let text = access.register.as_str();
    if let Some((name, entry)) = text.trim_end_matches(')').split_once('(') {
        return (name.to_owned(), entry.parse().ok());
    }
    let unmapped = UNMAPPED.iter().find(|(_, at)| *at == access.address);
    (unmapped.map_or(text, |(name, _)| *name).to_owned(), None)
}

fn kind_of(name: &str) -> Option<Kind> {
    let row = KINDS.iter().find(|(names, _)| names.contains(&name));
    row.map(|(_, kind)| *kind)
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

    fn content(summary: &Summary, phase: Phase, name: &str, entry: Option<u32>) -> Option<Content> {
        let writes = summary.0.get(&phase)?.get(&Name::of(name))?;
        Some(writes.get(&entry)?.last)
    }

    #[test]
    fn the_last_reset_divides_the_start() {
        let start = [
            write_to(0, "HLREG0", 0x4240, 1),
            write_to(0, "CTRL", CTRL, CTRL_RST),
            write_to(0, "HLREG0", 0x4240, 2),
            write_to(0, "HLREG0", 0x4240, 3),
            write_to(1, "CTRL", CTRL, CTRL_RST),
            write_to(1, "HLREG0", 0x4240, 4),
        ];
        let stop = [write_to(0, "HLREG0", 0x4240, 5)];
        let summary = Summary::of_trace(0, &start, &stop);
        for (phase, value) in [(Phase::BeforeReset, 1), (Phase::SetUp, 3), (Phase::Stop, 5)] {
            let found = content(&summary, phase, "HLREG0", None);
            assert_eq!(found, Some(Content::Value(value)), "{phase}");
        }
        assert_eq!(content(&summary, Phase::SetUp, "CTRL", None), None);
    }

    #[test]
    fn reads_and_the_configuration_space_are_left_out() {
        let mut read = write_to(0, "HLREG0", 0x4240, 1);
        read.write = false;
        let start = [read, write_to(0, "PCI(0x004)", 4, 6)];
        assert_eq!(Summary::of_trace(0, &start, &[]), Summary::default());
    }

    #[test]
    fn earlier_values_are_kept_once() {
        let start = [2, 3, 2, 4, 3, 1].map(|value| write_to(0, "HLREG0", 0x4240, value));
        let summary = Summary::of_trace(0, &start, &[]);
        let written = &summary.0[&Phase::SetUp][&Name::of("HLREG0")][&None];
        assert_eq!(written.last, Content::Value(1));
        assert_eq!(written.earlier, [2, 4, 3]);
        assert_eq!(
            written.to_string(),
            "0x00000002 0x00000004 0x00000003 0x00000001"
        );
    }

    #[test]
    fn bits_that_writes_set_or_clear_add_up() {
        let start = [
            write_to(0, "EIMC", r_address("EIMC"), 1),
            write_to(0, "EIMC", r_address("EIMC"), 2),
        ];
        let summary = Summary::of_trace(0, &start, &[]);
        let found = content(&summary, Phase::SetUp, "EIMC", None);
        assert_eq!(found, Some(Content::Value(3)));
    }

    #[test]
    fn values_without_a_meaning_are_not_kept() {
        let start = [write_to(0, "RDBAL(3)", 0x10c0, 0x1234_5680)];
        let summary = Summary::of_trace(0, &start, &[]);
        let found = content(&summary, Phase::SetUp, "RDBAL", Some(3));
        assert_eq!(found, Some(Content::Opaque(Kind::Address)));
    }

    #[test]
    fn a_register_outside_the_map_has_the_name_that_linux_gives_it() {
        let start = [
            write_to(0, "0x08c58", 0x08c58, 0),
            write_to(0, "0x0fffc", 0x0fffc, 9),
        ];
        let summary = Summary::of_trace(0, &start, &[]);
        let found = |name, entry| content(&summary, Phase::SetUp, name, entry);
        assert_eq!(found("SYSTIMR", None), Some(Content::Value(0)));
        assert_eq!(found("0x0fffc", None), Some(Content::Value(9)));
    }

    /// The map would name these registers itself, and the table must not name them twice.
    #[test]
    fn the_names_of_unmapped_registers_are_not_in_the_map() {
        for (name, address) in UNMAPPED {
            assert!(register(name).is_none(), "{name}");
            assert!(nic::registers::locate(*address).is_none(), "{name}");
        }
        for (names, _) in KINDS {
            for name in *names {
                assert!(register(name).is_some(), "{name}");
            }
        }
    }

    fn r_address(name: &str) -> u32 {
        register(name)
            .and_then(|register| register.address(0))
            .unwrap_or(0)
    }
}
