//! The rules for a register map, and the messages about violations.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use thiserror::Error;
use toml::Spanned;

use crate::map::{Bits, Descriptor, Field, PciRegister, Range, Register, RegisterMap, FAMILIES};

/// Longest register summary, in characters. A summary must fit on one line of a comment.
pub const REGISTER_SUMMARY_MAX: usize = 84;
/// Longest field summary, in characters. A summary must fit on one line of a comment.
pub const FIELD_SUMMARY_MAX: usize = 76;

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
    /// The violated rule.
    pub problem: Problem,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.subject, self.problem)
    }
}

/// The rules that a map can violate.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Another constant has this name.
    #[error("{other} already has the name {name}; rename one of them")]
    DuplicateName {
        /// The constant.
        name: String,
        /// What has the name.
        other: String,
    },
    /// A name that a constant cannot have.
    #[error(
        "a constant cannot have the name {name:?}: use capital letters, digits and underscores"
    )]
    BadName {
        /// As written.
        name: String,
    },
    /// Two registers at one address.
    #[error("overlaps {other} at {address:#07x}; correct one of them, or declare an alias")]
    Overlap {
        /// The other register.
        other: String,
        /// The shared address.
        address: u32,
    },
    /// An address that is not a multiple of 4.
    #[error("{what} {value:#x} is not a multiple of 4")]
    Unaligned {
        /// Offset or stride.
        what: &'static str,
        /// As written.
        value: u32,
    },
    /// A range without entries.
    #[error("count must be at least 1")]
    NoEntries,
    /// An array whose entries share one address.
    #[error("stride must be at least 4")]
    NoStride,
    /// An address past the register space.
    #[error("ends at {end:#x}, beyond the register space of {size:#x} bytes")]
    OutsideSpace {
        /// First byte after the register.
        end: u64,
        /// Bytes of the register space.
        size: u32,
    },
    /// An alias for entries that the register does not have.
    #[error("the alias goes up to entry {last}; the register has {entries} entries")]
    AliasBeyond {
        /// Last entry of the alias.
        last: u64,
        /// Entries of the register.
        entries: u32,
    },
    /// A field outside its register.
    #[error("bits {bits} are outside the register's {width} bits")]
    FieldOutside {
        /// The field's bits.
        bits: String,
        /// Bits of the register.
        width: u32,
    },
    /// Two fields with a bit in common.
    #[error("shares bits with field {other}")]
    FieldOverlap {
        /// The other field.
        other: String,
    },
    /// A named value too large for its field.
    #[error("value {value_name} = {value:#x} does not fit")]
    ValueTooLarge {
        /// Name of the value.
        value_name: String,
        /// The value.
        value: u64,
    },
    /// A reset value of more than 32 bits.
    #[error("reset value {value:#x} does not fit into 32 bits")]
    ResetTooLarge {
        /// The value.
        value: u64,
    },
    /// A separate reset value for entry 0 of a register that is not an array.
    #[error("reset_first is for arrays; use reset")]
    ResetFirstAlone,
    /// A reference to a register that does not exist or does not fit.
    #[error("{key} names {target}, {why}")]
    BadReference {
        /// The key in the TOML.
        key: &'static str,
        /// The register it names.
        target: String,
        /// What is wrong with the register.
        why: &'static str,
    },
    /// A summary that is missing, too long, or has forbidden characters.
    #[error("the summary has {length} characters; write 1 to {max}, without double quote, backslash or */")]
    BadSummary {
        /// Characters of the summary.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// A malformed section number.
    #[error("section {section:?} does not have the form 8.2.3.1.1")]
    BadSection {
        /// As written.
        section: String,
    },
    /// A quad word that a descriptor does not have.
    #[error("word {word}: a descriptor has words 0 and 1")]
    BadWord {
        /// As written.
        word: u32,
    },
    /// A PCI register with an impossible size or an unaligned offset.
    #[error("size {size} at offset {offset:#x}: size must be 1, 2 or 4 and divide the offset")]
    BadPciSize {
        /// As written.
        size: u32,
        /// As written.
        offset: u32,
    },
    /// A PHY register that MDIO cannot reach.
    #[error("device {device}, offset {offset:#x}: MDIO has devices 0 to 31 and offsets to 0xffff")]
    BadPhyPlace {
        /// As written.
        device: u32,
        /// As written.
        offset: u32,
    },
    /// Two devices with one id.
    #[error("{other} already has this id")]
    DuplicateDevice {
        /// The other device.
        other: String,
    },
    /// A family that the drivers do not support.
    #[error("unknown family {family:?}; use one of: 82599, X540, X550")]
    UnknownFamily {
        /// As written.
        family: String,
    },
}

impl RegisterMap {
    /// Reads and checks a map.
    ///
    /// # Errors
    /// [`Error::Syntax`] if the text has the wrong shape. Otherwise [`Error::Invalid`] with all
    /// violations of the rules.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut map: RegisterMap = toml::from_str(text)?;
        let mut check = Check::new(text);
        check.references(&map);
        map.copy_fields();
        check.map(&map);
        check.verdict()?;
        Ok(map)
    }
}

/// Walks through a map and collects violations.
pub(crate) struct Check<'a> {
    text: &'a str,
    violations: Vec<Violation>,
    /// The constants so far, and what has them.
    names: HashMap<String, String>,
    /// The addresses so far, and what is there.
    addresses: HashMap<u32, String>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Check {
            text,
            violations: Vec::new(),
            names: HashMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// Returns all violations, in the order of the file, as an error.
    pub(crate) fn verdict(mut self) -> Result<(), Error> {
        if self.violations.is_empty() {
            return Ok(());
        }
        self.violations.sort_by_key(|violation| violation.line);
        Err(Error::Invalid(self.violations))
    }

    fn report<T>(&mut self, place: &Spanned<T>, subject: &str, problem: Problem) {
        let before = self.text.get(..place.span().start).unwrap_or(self.text);
        self.violations.push(Violation {
            line: before.matches('\n').count() + 1,
            subject: subject.to_owned(),
            problem,
        });
    }

    /// Checks the references between registers, before fields are copied along them.
    pub(crate) fn references(&mut self, map: &RegisterMap) {
        for register in map.registers() {
            let targets = [
                ("acts_on", register.acts_on.as_ref()),
                ("fields_as", register.fields_as.as_ref()),
            ];
            for (key, target) in targets {
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
                let problem = Problem::BadReference {
                    key,
                    target: target.clone(),
                    why,
                };
                self.report(&register.name, register.name(), problem);
            }
        }
    }

    /// Checks all other rules.
    pub(crate) fn map(&mut self, map: &RegisterMap) {
        for name in ["BAR0_SIZE", "FIELD", "FIELD_GET"] {
            self.names
                .insert(name.to_owned(), "the generator".to_owned());
        }
        for register in map.registers() {
            self.register(map, register);
        }
        // The forms of one descriptor share its prefix.
        for descriptor in &map.descriptors {
            self.descriptor(descriptor);
        }
        for register in &map.pci {
            self.pci_register(register);
        }
        for register in &map.phy {
            let name = register.name.get_ref();
            self.constant(&register.name, name, name);
            self.constant(&register.name, &format!("{name}_DEVICE"), name);
            self.summary(
                &register.name,
                name,
                &register.summary,
                REGISTER_SUMMARY_MAX,
            );
            let (device, offset) = (register.device, register.offset);
            if device > 31 || offset > 0xffff {
                self.report(
                    &register.name,
                    name,
                    Problem::BadPhyPlace { device, offset },
                );
            }
            self.fields(name, 16, &register.fields);
        }
        let mut ids = HashMap::new();
        for device in &map.devices {
            let subject = format!("device {:#06x}", device.id.get_ref());
            if let Some(other) = ids.insert(*device.id.get_ref(), device.name.clone()) {
                self.report(&device.id, &subject, Problem::DuplicateDevice { other });
            }
            if !FAMILIES.contains(&device.family.as_str()) {
                let family = device.family.clone();
                self.report(&device.id, &subject, Problem::UnknownFamily { family });
            }
            self.summary(&device.id, &subject, &device.name, FIELD_SUMMARY_MAX);
            if let Some(reason) = &device.refused {
                self.summary(&device.id, &subject, reason, REGISTER_SUMMARY_MAX);
            }
        }
    }

    fn register(&mut self, map: &RegisterMap, register: &Register) {
        let name = register.name().to_owned();
        self.constant(&register.name, &name, &name);
        for other in &register.other_names {
            self.constant(&register.name, other, &name);
        }
        if register.is_array() {
            self.constant(&register.name, &format!("{name}_COUNT"), &name);
        }
        self.summary(
            &register.name,
            &name,
            &register.summary,
            REGISTER_SUMMARY_MAX,
        );
        self.section(&register.name, &name, register.section.as_ref());
        for value in [Some(register.reset), register.reset_first]
            .into_iter()
            .flatten()
        {
            if value > u64::from(u32::MAX) {
                self.report(&register.name, &name, Problem::ResetTooLarge { value });
            }
        }
        if register.reset_first.is_some() && !register.is_array() {
            self.report(&register.name, &name, Problem::ResetFirstAlone);
        }
        for alias in &register.aliases {
            let last = u64::from(alias.first) + u64::from(alias.count).saturating_sub(1);
            let entries = register.entries();
            if last >= u64::from(entries) {
                self.report(
                    &register.name,
                    &name,
                    Problem::AliasBeyond { last, entries },
                );
            }
        }
        for range in register.ranges().iter().chain(&register.aliases) {
            self.range(map, register, *range);
        }
        self.fields(&name, 32, &register.fields);
    }

    fn range(&mut self, map: &RegisterMap, register: &Register, range: Range) {
        let name = register.name();
        for (what, value) in [("offset", range.offset), ("stride", range.stride)] {
            if value % 4 != 0 {
                self.report(&register.name, name, Problem::Unaligned { what, value });
            }
        }
        if range.count == 0 {
            self.report(&register.name, name, Problem::NoEntries);
            return;
        }
        if range.count > 1 && range.stride < 4 {
            self.report(&register.name, name, Problem::NoStride);
            return;
        }
        let last = u64::from(range.stride) * u64::from(range.count - 1);
        let end = u64::from(range.offset) + last + 4;
        if end > u64::from(map.bar0_size) {
            let size = map.bar0_size;
            self.report(&register.name, name, Problem::OutsideSpace { end, size });
            return;
        }
        for n in 0..range.count {
            let address = range.offset + range.stride * n;
            let here = if register.is_array() {
                format!("{name}({})", u64::from(range.first) + u64::from(n))
            } else {
                name.to_owned()
            };
            if let Some(other) = self.addresses.insert(address, here) {
                self.report(&register.name, name, Problem::Overlap { other, address });
                // One report for each pair of ranges is enough.
                return;
            }
        }
    }

    fn fields(&mut self, register: &str, width: u32, fields: &[Field]) {
        let mut taken: Vec<(u64, &str)> = Vec::new();
        for field in fields {
            let name = field.name.get_ref();
            let subject = format!("{register}.{name}");
            self.constant(&field.name, &format!("{register}_{name}"), &subject);
            self.summary(&field.name, &subject, &field.summary, FIELD_SUMMARY_MAX);
            if field.bits.hi >= width {
                let bits = field.bits.to_string();
                self.report(&field.name, &subject, Problem::FieldOutside { bits, width });
                continue;
            }
            let mask = field.bits.mask();
            if let Some((_, other)) = taken.iter().find(|(other, _)| other & mask != 0) {
                let other = (*other).to_owned();
                self.report(&field.name, &subject, Problem::FieldOverlap { other });
            }
            taken.push((mask, name));
            self.values(
                &field.name,
                &subject,
                &format!("{register}_{name}"),
                field.bits,
                &field.values,
            );
        }
    }

    fn values<T>(
        &mut self,
        place: &Spanned<T>,
        subject: &str,
        prefix: &str,
        bits: Bits,
        values: &BTreeMap<String, u64>,
    ) {
        for (value_name, &value) in values {
            self.constant(place, &format!("{prefix}_{value_name}"), subject);
            if value > bits.mask() >> bits.lo {
                let value_name = value_name.clone();
                self.report(place, subject, Problem::ValueTooLarge { value_name, value });
            }
        }
    }

    fn descriptor(&mut self, descriptor: &Descriptor) {
        let name = descriptor.name.get_ref();
        self.summary(
            &descriptor.name,
            name,
            &descriptor.summary,
            REGISTER_SUMMARY_MAX,
        );
        self.section(&descriptor.name, name, descriptor.section.as_ref());
        let mut taken: Vec<(u32, u64, &str)> = Vec::new();
        for field in &descriptor.fields {
            let field_name = field.name.get_ref();
            let subject = format!("{name}.{field_name}");
            let prefix = format!("{name}_{field_name}");
            self.constant(&field.name, &prefix, &subject);
            self.summary(&field.name, &subject, &field.summary, FIELD_SUMMARY_MAX);
            if field.word > 1 {
                self.report(&field.name, &subject, Problem::BadWord { word: field.word });
            }
            if field.bits.hi >= 64 {
                let bits = field.bits.to_string();
                self.report(
                    &field.name,
                    &subject,
                    Problem::FieldOutside { bits, width: 64 },
                );
                continue;
            }
            let mask = field.bits.mask();
            let clash = taken
                .iter()
                .find(|(word, other, _)| *word == field.word && other & mask != 0);
            if let Some((_, _, other)) = clash {
                let other = (*other).to_owned();
                self.report(&field.name, &subject, Problem::FieldOverlap { other });
            }
            taken.push((field.word, mask, field_name));
            self.values(&field.name, &subject, &prefix, field.bits, &field.values);
        }
    }

    fn pci_register(&mut self, register: &PciRegister) {
        let name = register.name.get_ref();
        self.constant(&register.name, name, name);
        self.summary(
            &register.name,
            name,
            &register.summary,
            REGISTER_SUMMARY_MAX,
        );
        let (size, offset) = (register.size, register.offset);
        if !matches!(size, 1 | 2 | 4) || offset % size != 0 || offset > 256 - size {
            self.report(&register.name, name, Problem::BadPciSize { size, offset });
            return;
        }
        let bits = Bits {
            hi: 8 * size - 1,
            lo: 0,
        };
        self.values(&register.name, name, name, bits, &register.values);
        self.fields(name, 8 * size, &register.fields);
    }

    fn constant<T>(&mut self, place: &Spanned<T>, name: &str, subject: &str) {
        let legal = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(legal) {
            let name = name.to_owned();
            self.report(place, subject, Problem::BadName { name });
        } else if let Some(other) = self.names.insert(name.to_owned(), subject.to_owned()) {
            let name = name.to_owned();
            self.report(place, subject, Problem::DuplicateName { name, other });
        }
    }

    fn summary<T>(&mut self, place: &Spanned<T>, subject: &str, summary: &str, max: usize) {
        let length = summary.chars().count();
        // Quotes and backslashes would need escaping, differently in each generated language.
        let awkward = summary.contains(['"', '\\', '\n']) || summary.contains("*/");
        if length == 0 || length > max || awkward {
            self.report(place, subject, Problem::BadSummary { length, max });
        }
    }

    fn section<T>(&mut self, place: &Spanned<T>, subject: &str, section: Option<&String>) {
        let Some(section) = section else { return };
        let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        if !section.contains('.') || !section.split('.').all(number) {
            let section = section.clone();
            self.report(place, subject, Problem::BadSection { section });
        }
    }
}
