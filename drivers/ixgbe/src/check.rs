//! The rules for a register map, and the messages about violations.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use thiserror::Error;

use crate::map::{Bits, Field, PciRegister, Range, Register, RegisterMap};

/// Longest summary of a register and of a field, in characters: each is one line of a comment.
const SUMMARY_MAX: usize = 84;
const FIELD_SUMMARY_MAX: usize = 76;

/// The map of the 82599, as text.
const REGISTERS: &str = include_str!("../registers.toml");

/// The reason to refuse a map.
#[derive(Debug, Error)]
pub enum Error {
    /// The text is not TOML, or has another shape than [`RegisterMap`].
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// The text is well-formed and breaks rules.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Violation>),
}

/// A violation of a rule, and its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    /// Line in `registers.toml`, counted from 1.
    pub line: usize,
    /// The register, field or device.
    pub subject: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.subject, self.problem)
    }
}

impl RegisterMap {
    /// The map of the 82599.
    ///
    /// # Errors
    /// As for [`RegisterMap::parse`].
    pub fn of_the_82599() -> Result<Self, Error> {
        Self::parse(REGISTERS)
    }

    /// Reads and checks a map.
    ///
    /// # Errors
    /// [`Error::Syntax`] if the text has the wrong shape. Otherwise [`Error::Invalid`] with all
    /// violations of the rules, in the order of the file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut map: RegisterMap = toml::from_str(text)?;
        let mut check = Check::default();
        check.references(&map);
        map.copy_fields();
        check.map(&map);
        if check.violations.is_empty() {
            return Ok(map);
        }
        check.violations.sort_by_key(|(at, ..)| *at);
        let located = check.violations.into_iter();
        let violations = located.map(|(at, subject, problem)| Violation {
            line: text.get(..at).unwrap_or(text).matches('\n').count() + 1,
            subject,
            problem,
        });
        Err(Error::Invalid(violations.collect()))
    }
}

/// A named part of the map: the place of its name in the text, and what messages call it.
#[derive(Clone, Copy)]
struct Subject<'a>(usize, &'a str);

/// Walks through a map and collects violations.
#[derive(Default)]
struct Check {
    /// Place in the text, subject and problem.
    violations: Vec<(usize, String, String)>,
    /// The constants so far, and what has them.
    names: HashMap<String, String>,
    /// The addresses so far, and what is there.
    addresses: HashMap<u32, String>,
}

impl Check {
    fn report(&mut self, Subject(at, name): Subject, problem: String) {
        self.violations.push((at, name.to_owned(), problem));
    }

    /// Checks the references between registers, before fields are copied along them.
    fn references(&mut self, map: &RegisterMap) {
        for register in map.registers() {
            for (key, target) in [
                ("acts_on", &register.acts_on),
                ("fields_as", &register.fields_as),
            ] {
                let Some(target) = target else { continue };
                let why = match map.register(target) {
                    None => "which does not exist",
                    Some(other) if other.name() == register.name() => "which is itself",
                    Some(other) if key == "fields_as" && other.fields_as.is_some() => {
                        "which has no fields of its own"
                    }
                    Some(other) if key == "acts_on" && other.entries() != register.entries() => {
                        "which has another number of entries"
                    }
                    Some(_) => continue,
                };
                self.report(
                    of_register(register),
                    format!("{key} names {target}, {why}"),
                );
            }
        }
    }

    /// Checks all other rules.
    fn map(&mut self, map: &RegisterMap) {
        for name in ["BAR0_SIZE", "FIELD", "FIELD_GET"] {
            self.names
                .insert(name.to_owned(), "the generator".to_owned());
        }
        for register in map.registers() {
            self.register(map, register);
        }
        // The forms of one descriptor share its prefix.
        for descriptor in &map.descriptors {
            let subject = Subject(descriptor.name.span().start, descriptor.name.get_ref());
            self.summary(subject, &descriptor.summary, SUMMARY_MAX);
            self.section(subject, descriptor.section.as_deref());
            self.fields(subject, 2, 64, &descriptor.fields);
        }
        for register in &map.pci {
            self.pci_register(register);
        }
        for register in &map.phy {
            let name = register.name.get_ref();
            let subject = Subject(register.name.span().start, name);
            self.constant(subject, name);
            self.constant(subject, &format!("{name}_DEVICE"));
            self.summary(subject, &register.summary, SUMMARY_MAX);
            let (device, offset) = (register.device, register.offset);
            if device > 31 || offset > 0xffff {
                let problem = format!(
                    "device {device}, offset {offset:#x}: MDIO has devices 0 to 31 and offsets to 0xffff"
                );
                self.report(subject, problem);
            }
            self.fields(subject, 1, 16, &register.fields);
        }
        let mut ids = HashMap::new();
        for device in &map.devices {
            let name = format!("device {:#06x}", device.id.get_ref());
            let subject = Subject(device.id.span().start, &name);
            if let Some(other) = ids.insert(*device.id.get_ref(), &device.name) {
                self.report(subject, format!("{other} already has this id"));
            }
            self.summary(subject, &device.name, FIELD_SUMMARY_MAX);
            if let Some(reason) = &device.refused {
                self.summary(subject, reason, SUMMARY_MAX);
            }
        }
    }

    fn register(&mut self, map: &RegisterMap, register: &Register) {
        let subject = of_register(register);
        let (name, entries) = (register.name(), register.entries());
        self.constant(subject, name);
        for other in &register.other_names {
            self.constant(subject, other);
        }
        if register.is_array() {
            self.constant(subject, &format!("{name}_COUNT"));
        }
        self.summary(subject, &register.summary, SUMMARY_MAX);
        self.section(subject, register.section.as_deref());
        if register.reset_first.is_some() && !register.is_array() {
            self.report(subject, "reset_first is for arrays; use reset".to_owned());
        }
        for alias in &register.aliases {
            let last = u64::from(alias.first) + u64::from(alias.count).saturating_sub(1);
            if last >= u64::from(entries) {
                let problem = format!(
                    "the alias goes up to entry {last}; the register has {entries} entries"
                );
                self.report(subject, problem);
            }
        }
        for range in register.ranges().iter().chain(&register.aliases) {
            self.range(map, register, *range);
        }
        self.fields(subject, 1, 32, &register.fields);
    }

    fn range(&mut self, map: &RegisterMap, register: &Register, range: Range) {
        let subject = of_register(register);
        for (what, value) in [("offset", range.offset), ("stride", range.stride)] {
            if value % 4 != 0 {
                self.report(subject, format!("{what} {value:#x} is not a multiple of 4"));
            }
        }
        if range.count == 0 {
            return self.report(subject, "count must be at least 1".to_owned());
        }
        if range.count > 1 && range.stride < 4 {
            return self.report(subject, "stride must be at least 4".to_owned());
        }
        let last = u64::from(range.stride) * u64::from(range.count - 1);
        let (end, size) = (u64::from(range.offset) + last + 4, map.bar0_size);
        if end > u64::from(size) {
            let problem = format!("ends at {end:#x}, beyond the register space of {size:#x} bytes");
            return self.report(subject, problem);
        }
        for n in 0..range.count {
            let address = range.offset + range.stride * n;
            let entry = u64::from(range.first) + u64::from(n);
            let here = match register.entries() {
                1 => register.name().to_owned(),
                _ => format!("{}({entry})", register.name()),
            };
            if let Some(other) = self.addresses.insert(address, here) {
                // One report for each pair of ranges is enough.
                let remedy = "correct one of them, or declare an alias";
                return self.report(
                    subject,
                    format!("overlaps {other} at {address:#07x}; {remedy}"),
                );
            }
        }
    }

    /// Checks the fields of a register, or of a descriptor with two words.
    fn fields(&mut self, Subject(_, owner): Subject, words: u32, width: u32, fields: &[Field]) {
        let mut taken: Vec<(u32, u64, &str)> = Vec::new();
        for field in fields {
            let (name, bits, word) = (field.name.get_ref(), field.bits, field.word);
            let subject = format!("{owner}.{name}");
            let subject = Subject(field.name.span().start, &subject);
            let constant = format!("{owner}_{name}");
            self.constant(subject, &constant);
            self.summary(subject, &field.summary, FIELD_SUMMARY_MAX);
            if word >= words {
                self.report(
                    subject,
                    format!("word {word}: a descriptor has words 0 and 1, a register has none"),
                );
            }
            if bits.hi >= width {
                self.report(
                    subject,
                    format!("bits {bits} are outside the register's {width} bits"),
                );
                continue;
            }
            let mut others = taken.iter().filter(|(at, ..)| *at == word);
            if let Some((.., other)) = others.find(|(_, mask, _)| mask & bits.mask() != 0) {
                self.report(subject, format!("shares bits with field {other}"));
            }
            taken.push((word, bits.mask(), name));
            self.values(subject, &constant, bits, &field.values);
        }
    }

    fn values(
        &mut self,
        subject: Subject,
        prefix: &str,
        bits: Bits,
        values: &BTreeMap<String, u64>,
    ) {
        for (name, value) in values {
            self.constant(subject, &format!("{prefix}_{name}"));
            if *value > bits.mask() >> bits.lo {
                self.report(subject, format!("value {name} = {value:#x} does not fit"));
            }
        }
    }

    fn pci_register(&mut self, register: &PciRegister) {
        let name = register.name.get_ref();
        let subject = Subject(register.name.span().start, name);
        self.constant(subject, name);
        self.summary(subject, &register.summary, SUMMARY_MAX);
        let (size, offset) = (register.size, register.offset);
        if !matches!(size, 1 | 2 | 4) || offset % size != 0 || offset > 256 - size {
            let rule = "size must be 1, 2 or 4 and divide the offset";
            return self.report(
                subject,
                format!("size {size} at offset {offset:#x}: {rule}"),
            );
        }
        let whole = Bits {
            hi: 8 * size - 1,
            lo: 0,
        };
        self.values(subject, name, whole, &register.values);
        self.fields(subject, 1, 8 * size, &register.fields);
    }

    fn constant(&mut self, subject: Subject, name: &str) {
        let legal = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(legal) {
            let rule = "use capital letters, digits and underscores";
            self.report(
                subject,
                format!("a constant cannot have the name {name:?}: {rule}"),
            );
        } else if let Some(other) = self.names.insert(name.to_owned(), subject.1.to_owned()) {
            self.report(
                subject,
                format!("{other} already has the name {name}; rename one of them"),
            );
        }
    }

    fn summary(&mut self, subject: Subject, summary: &str, max: usize) {
        let length = summary.chars().count();
        // Quotes and backslashes would need escaping, differently in each generated language.
        let awkward = summary.contains(['"', '\\', '\n']) || summary.contains("*/");
        if length == 0 || length > max || awkward {
            let rule = format!("write 1 to {max}, without double quote, backslash or */");
            self.report(
                subject,
                format!("the summary has {length} characters; {rule}"),
            );
        }
    }

    fn section(&mut self, subject: Subject, section: Option<&str>) {
        let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        let wrong = |section: &&str| !section.contains('.') || !section.split('.').all(number);
        if let Some(section) = section.filter(wrong) {
            let problem = format!("section {section:?} does not have the form 8.2.3.1.1");
            self.report(subject, problem);
        }
    }
}

fn of_register(register: &Register) -> Subject<'_> {
    Subject(register.name.span().start, register.name())
}
