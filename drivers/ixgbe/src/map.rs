//! The register map: the contents of `registers.toml`.
//!
//! Reading has two steps. First serde checks the shape of the TOML, and reports errors with their
//! line. Then [`crate::check`] checks that the map makes sense: no two registers share an address,
//! no field lies outside its register, and so on.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Deserialize;
use toml::Spanned;

/// The whole of `registers.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterMap {
    /// Bytes of the register space: every address is below it.
    pub bar0_size: u32,
    /// The network cards that the drivers know, by PCI device id.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// The PCI configuration registers that the drivers use.
    #[serde(default)]
    pub pci: Vec<PciRegister>,
    /// The registers of the copper PHY that the drivers use.
    #[serde(default)]
    pub phy: Vec<PhyRegister>,
    /// The registers, in chapters.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
    /// The formats of the descriptors in memory.
    #[serde(default, rename = "descriptor")]
    pub descriptors: Vec<Descriptor>,
}

/// A chapter of the register map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Heading in the reference.
    pub title: String,
    /// Text on all registers of the chapter.
    #[serde(default)]
    pub summary: String,
    /// The registers.
    #[serde(default)]
    pub registers: Vec<Register>,
}

/// A register, or an array of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// The datasheet's name.
    pub name: Spanned<String>,
    /// Other names for the same address. Each gets a constant and no fields.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// Address of entry 0, in bytes from the start of the register space.
    pub offset: u32,
    /// Bytes between entries.
    #[serde(default = "register_size")]
    pub stride: u32,
    /// Entries at `offset`; 1 if the register is not an array.
    #[serde(default = "one")]
    pub count: u32,
    /// The second place, of an array whose entries are in two places.
    pub continued: Option<Range>,
    /// Other addresses of the same storage.
    #[serde(default)]
    pub aliases: Vec<Range>,
    /// What reads and writes do. A field may have its own rule.
    pub access: Access,
    /// Value after reset, of every entry.
    #[serde(default)]
    pub reset: u32,
    /// Value of entry 0 after reset, if it differs from the other entries.
    pub reset_first: Option<u32>,
    /// The register whose bits a write to this one sets or clears.
    pub acts_on: Option<String>,
    /// Section of the 82599 datasheet.
    pub section: Option<String>,
    /// Description in one line.
    pub summary: String,
    /// The fields.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// The register that has the same fields.
    pub fields_as: Option<String>,
}

/// Consecutive entries of a register array.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Index of the first entry here. `continued` ignores it and follows the last entry at
    /// `offset`.
    #[serde(default)]
    pub first: u32,
    /// Address of that entry.
    pub offset: u32,
    /// Bytes between entries.
    #[serde(default = "register_size")]
    pub stride: u32,
    /// Number of entries here.
    #[serde(default = "one")]
    pub count: u32,
}

/// Some bits of a register, or of a descriptor's quad word.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name within the register.
    pub name: Spanned<String>,
    /// The quad word of a descriptor, 0 or 1.
    #[serde(default)]
    pub word: u32,
    /// The bits.
    pub bits: Bits,
    /// What reads and writes do to these bits, if it differs from the rest of the register.
    pub access: Option<Access>,
    /// Names of the field's values, unshifted.
    #[serde(default)]
    pub values: BTreeMap<String, u64>,
    /// Description in one line.
    pub summary: String,
}

/// Bits `hi` down to `lo`, written `"hi:lo"`, or `"bit"` for one bit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Bits {
    /// Highest bit.
    pub hi: u32,
    /// Lowest bit.
    pub lo: u32,
}

/// What a read or a write does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Access {
    /// Keeps what is written.
    #[serde(rename = "rw")]
    ReadWrite,
    /// Writes have no effect.
    #[serde(rename = "ro")]
    ReadOnly,
    /// Reads return 0.
    #[serde(rename = "wo")]
    WriteOnly,
    /// A read clears it; writes have no effect.
    #[serde(rename = "rc")]
    ReadClear,
    /// A read returns the old value and sets the bits; a write sets the value.
    #[serde(rename = "rs")]
    ReadSet,
    /// Writing 1 clears a bit.
    #[serde(rename = "w1c")]
    WriteOneClear,
    /// Writing 1 sets a bit.
    #[serde(rename = "w1s")]
    WriteOneSet,
    /// A read clears it, and so does writing 1.
    #[serde(rename = "rc_w1c")]
    ReadClearWriteOneClear,
    /// Writing 1 starts an operation; the bit clears itself when the operation is done.
    #[serde(rename = "sc")]
    SelfClearing,
}

/// One form of a descriptor: 16 bytes in memory, two little-endian quad words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// Prefix of the constants. The forms of one descriptor share it.
    pub name: Spanned<String>,
    /// Which form it is, in words.
    pub form: String,
    /// Section of the 82599 datasheet.
    pub section: Option<String>,
    /// Description in one line.
    pub summary: String,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A register of the PCI configuration space.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PciRegister {
    /// Name, with the prefix `PCI_`.
    pub name: Spanned<String>,
    /// Offset in the configuration space, in bytes.
    pub offset: u32,
    /// Size in bytes: 1, 2 or 4.
    pub size: u32,
    /// Description in one line.
    pub summary: String,
    /// Names of whole values.
    #[serde(default)]
    pub values: BTreeMap<String, u64>,
    /// The fields.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// A register of the copper PHY of the X540 and X550. Drivers reach it over MDIO.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhyRegister {
    /// Name, with the prefix `PHY_`.
    pub name: Spanned<String>,
    /// Number of the device in the PHY, 0 to 31.
    pub device: u32,
    /// Address in the device, 0 to 65535.
    pub offset: u32,
    /// Description in one line.
    pub summary: String,
    /// The fields.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// A network card.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// PCI device id; the vendor is Intel.
    pub id: Spanned<u16>,
    /// Name in messages.
    pub name: String,
    /// The family, which decides what the drivers do.
    pub family: Family,
    /// Why the drivers refuse this card: the end of a sentence that begins with "because".
    pub refused: Option<String>,
}

/// A family of network cards that the drivers support.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Family {
    /// The 82599, with SFP+ ports.
    #[serde(rename = "82599")]
    Intel82599,
    /// The X540, with copper ports.
    X540,
    /// The X550, with copper ports.
    X550,
}

fn one() -> u32 {
    1
}

fn register_size() -> u32 {
    4
}

impl TryFrom<String> for Bits {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "bits {text:?}: write \"hi:lo\" or the number of one bit, such as \"15:13\" or \"26\""
            )
        };
        let (hi, lo) = text.split_once(':').unwrap_or((&text, &text));
        let hi = hi.parse().map_err(|_| wrong())?;
        let lo = lo.parse().map_err(|_| wrong())?;
        if hi < lo {
            return Err(wrong());
        }
        Ok(Bits { hi, lo })
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hi == self.lo {
            write!(f, "{}", self.hi)
        } else {
            write!(f, "{}:{}", self.hi, self.lo)
        }
    }
}

impl Bits {
    /// Number of bits.
    pub fn width(self) -> u32 {
        self.hi - self.lo + 1
    }

    /// The bits as a mask. `hi` must be below 64, as it is in a checked map.
    pub fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width())) << self.lo
    }
}

impl Access {
    /// As written in the TOML.
    pub fn code(self) -> &'static str {
        match self {
            Access::ReadWrite => "rw",
            Access::ReadOnly => "ro",
            Access::WriteOnly => "wo",
            Access::ReadClear => "rc",
            Access::ReadSet => "rs",
            Access::WriteOneClear => "w1c",
            Access::WriteOneSet => "w1s",
            Access::ReadClearWriteOneClear => "rc_w1c",
            Access::SelfClearing => "sc",
        }
    }
}

impl Family {
    /// As written in the TOML.
    pub fn name(self) -> &'static str {
        match self {
            Family::Intel82599 => "82599",
            Family::X540 => "X540",
            Family::X550 => "X550",
        }
    }
}

impl Register {
    /// The name, without its place in the file.
    pub fn name(&self) -> &str {
        self.name.get_ref()
    }

    /// The datasheet's name, then the other names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.other_names.iter().map(String::as_str);
        std::iter::once(self.name()).chain(others)
    }

    /// Number of entries.
    pub fn entries(&self) -> u32 {
        let more = self.continued.map_or(0, |range| range.count);
        self.count.saturating_add(more)
    }

    /// Whether the register is an array.
    pub fn is_array(&self) -> bool {
        self.entries() > 1
    }

    /// The places of the entries, in order of their index, without aliases.
    pub fn ranges(&self) -> Vec<Range> {
        let mut ranges = vec![Range {
            first: 0,
            offset: self.offset,
            stride: self.stride,
            count: self.count,
        }];
        if let Some(continued) = self.continued {
            ranges.push(Range {
                first: self.count,
                ..continued
            });
        }
        ranges
    }

    /// Address of entry `n`, or `None` if the register has no such entry.
    pub fn address(&self, n: u32) -> Option<u32> {
        self.ranges()
            .into_iter()
            .find(|range| (range.first..range.first + range.count).contains(&n))
            .map(|range| range.offset + range.stride * (n - range.first))
    }
}

impl RegisterMap {
    /// All registers, in the order of the file.
    pub fn registers(&self) -> impl Iterator<Item = &Register> {
        self.groups.iter().flat_map(|group| &group.registers)
    }

    /// The register of that name.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers().find(|register| register.name() == name)
    }

    /// Copies fields to the registers with `fields_as`.
    pub(crate) fn copy_fields(&mut self) {
        let of_each: HashMap<String, Vec<Field>> = self
            .registers()
            .map(|register| (register.name().to_owned(), register.fields.clone()))
            .collect();
        for group in &mut self.groups {
            for register in &mut group.registers {
                let source = register.fields_as.as_ref();
                let fields = source
                    .and_then(|name| of_each.get(name))
                    .into_iter()
                    .flatten();
                // The access rules are not copied: they are the rules of the other register.
                register.fields.extend(fields.map(|field| Field {
                    access: None,
                    ..field.clone()
                }));
            }
        }
    }
}
