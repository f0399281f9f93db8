//! The Rust driver's module of register constants.

use super::{alias_note, bits, by_value, named_values, with_section, HEADER};
use crate::map::{Descriptor, PciRegister, PhyRegister, Range, Register, RegisterMap};
use crate::usage::Selection;

/// What takes and puts fields, by name.
const FUNCTIONS: [(&str, &str); 4] = [
    (
        "field",
        "
/// `value` shifted to the place of the field that `mask` covers. It must fit the field.
pub const fn field(mask: u32, value: u32) -> u32 {
    value << (mask.trailing_zeros() & 31)
}
",
    ),
    (
        "field_get",
        "
/// The value of the field that `mask` covers, in the register's value `register`.
pub const fn field_get(mask: u32, register: u32) -> u32 {
    (register & mask) >> (mask.trailing_zeros() & 31)
}
",
    ),
    (
        "field64",
        "
/// `value` shifted to the place of a descriptor word's field. It must fit the field.
pub const fn field64(mask: u64, value: u64) -> u64 {
    value << (mask.trailing_zeros() & 63)
}
",
    ),
    (
        "field64_get",
        "
/// The value of the field that `mask` covers, in the descriptor word `word`.
pub const fn field64_get(mask: u64, word: u64) -> u64 {
    (word & mask) >> (mask.trailing_zeros() & 63)
}
",
    ),
];

/// `rust/src/driver/registers.rs`: the constants of `selection`, in few lines: a function a line, and
/// named values without comments.
pub fn registers(map: &RegisterMap, selection: &Selection) -> String {
    format!(
        "// {HEADER}
//! The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
//! values of fields, shifted to the place of the field. Each register has its datasheet section.
//! `drivers/ixgbe/REGISTERS.md` has the whole map.
#![forbid(unsafe_code)]
#![allow(non_snake_case)] // the datasheet spells registers in capitals
{}",
        selected(map, selection)
    )
}

/// `rust/src/driver/device_ids.rs`.
pub fn device_ids(map: &RegisterMap) -> String {
    format!(
        "// {HEADER}\n//! The network cards that the driver knows.\n#![forbid(unsafe_code)]\n{}",
        devices(map)
    )
}

/// All constants, for the software NIC.
pub(super) fn constants(map: &RegisterMap) -> String {
    format!(
        "#![allow(dead_code, non_snake_case)] // the map is complete; the datasheet spells registers in capitals
{}",
        selected(map, &Selection::Whole)
    )
}

/// The constants of `selection`, and the functions for fields.
fn selected(map: &RegisterMap, selection: &Selection) -> String {
    let mut out = String::new();
    for (name, function) in FUNCTIONS {
        if selection.has(name) {
            out += function;
        }
    }
    if selection.has("BAR0_SIZE") {
        out += "\n/// Bytes of the register space.\n";
        out += &constant("BAR0_SIZE", 32, &format!("{:#x}", map.bar0_size));
    }
    for group in &map.groups {
        let mut heading = format!("// ---- {} ----\n", group.title);
        if !group.summary.is_empty() && !selection.is_brief() {
            heading += &format!("// {}\n", group.summary);
        }
        let registers = group.registers.iter();
        out += &chapter(&heading, registers.map(|r| one_register(r, selection)));
    }
    out += &chapter(
        "// ---- Descriptors ----\n// Masks of 64 bits, of one of the two quad words of a descriptor.\n",
        map.descriptors.iter().map(|d| one_descriptor(d, selection)),
    );
    out += &chapter(
        "// ---- PCI configuration space ----\n",
        map.pci.iter().map(|r| pci_register(r, selection)),
    );
    out += &chapter(
        "// ---- Copper PHY: device and address of its registers on the MDIO bus ----\n",
        map.phy.iter().map(|r| phy_register(r, selection)),
    );
    out
}

/// A heading and the texts below it that are not empty, each after an empty line.
fn chapter(heading: &str, texts: impl Iterator<Item = String>) -> String {
    let texts = texts.filter(|text| !text.is_empty());
    let below: String = texts.map(|text| format!("\n{text}")).collect();
    match below.as_str() {
        "" => below,
        _ => format!("\n{heading}{below}"),
    }
}

/// The table of network cards.
pub(super) fn devices(map: &RegisterMap) -> String {
    let mut out = "
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
            Self::Intel82599 => \"82599\",
            Self::X540 => \"X540\",
            Self::X550 => \"X550\",
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
"
    .to_owned();
    for device in &map.devices {
        let family = match device.family.as_str() {
            "82599" => "Intel82599",
            family => family,
        };
        out += &format!(
            "    DeviceId {{ id: {:#06x}, name: \"{}\", family: Family::{family}, refused: {:?} }},\n",
            device.id.get_ref(),
            device.name,
            device.refused
        );
    }
    out += "];\n";
    out
}

fn constant(name: &str, width: u32, value: &str) -> String {
    format!("pub const {name}: u{width} = {value};\n")
}

/// A constant of `width` bits with all its digits.
fn mask(name: &str, width: u32, value: u64) -> String {
    let digits = width as usize / 4;
    constant(name, width, &format!("0x{value:0digits$X}"))
}

/// The address of entry `n`, as an expression.
fn address(range: &Range) -> String {
    let (offset, stride) = (range.offset, range.stride);
    match range.first {
        0 => format!("0x{offset:05X} + {stride:#x} * n"),
        first => format!("0x{offset:05X} + {stride:#x} * (n - {first})"),
    }
}

/// The function that returns the address of an array's entry.
fn address_function(name: &str, register: &Register, selection: &Selection) -> String {
    let ranges = register.ranges();
    let places: Vec<String> = ranges.iter().map(address).collect();
    let signature = format!("pub const fn {name}(n: u32) -> u32");
    let entries = register.entries();
    match (places.as_slice(), selection.is_brief()) {
        ([low, high], true) => {
            let first = ranges[1].first;
            format!("{signature} {{ if n < {first} {{ {low} }} else {{ {high} }} }}\n")
        }
        (places, true) => format!("{signature} {{ {} }}\n", places.join("")),
        ([low, high], false) => format!(
            "/// `n` is below {entries}.\n{signature} {{
    if n < {} {{
        {low}
    }} else {{
        {high}
    }}
}}
",
            ranges[1].first
        ),
        (places, false) => format!(
            "/// `n` is below {entries}.\n{signature} {{\n    {}\n}}\n",
            places.join("")
        ),
    }
}

fn one_register(register: &Register, selection: &Selection) -> String {
    let name = register.name();
    let summary = with_section(&register.summary, register.section.as_ref());
    let mut out = String::new();
    let others = register.other_names.iter().map(String::as_str);
    for spelling in std::iter::once(name)
        .chain(others)
        .filter(|name| selection.has(name))
    {
        let entries = match (register.is_array(), selection.is_brief()) {
            (true, true) => format!(", n < {}", register.entries()),
            _ => String::new(),
        };
        let access = register.access.code();
        out += &format!("/// {spelling}, {access}{entries}: {summary}\n");
        if let Some(note) = alias_note(register).filter(|_| !selection.is_brief()) {
            out += &format!("/// {note}\n");
        }
        out += &if register.is_array() {
            address_function(spelling, register, selection)
        } else {
            constant(spelling, 32, &format!("0x{:05X}", register.offset))
        };
    }
    let count = format!("{name}_COUNT");
    if register.is_array() && selection.has(&count) {
        out += &format!("/// Entries of [`{name}`].\n");
        out += &constant(&count, 32, &register.entries().to_string());
    }
    for field in &register.fields {
        let prefix = format!("{name}_{}", field.name.get_ref());
        let values = named_values(&prefix, field.bits, &field.values);
        if !selection.has_field(&prefix, &values) {
            continue;
        }
        let access = field
            .access
            .map_or(String::new(), |access| format!(", {}", access.code()));
        out += &format!("/// {}{access}: {}\n", bits(field.bits), field.summary);
        out += &mask(&prefix, 32, field.bits.mask());
        out += &value_constants(&prefix, 32, selection.values(values), selection);
    }
    out
}

/// The named values of the field whose mask is the constant `field`.
fn value_constants(
    field: &str,
    width: u32,
    values: Vec<(String, u64)>,
    selection: &Selection,
) -> String {
    let mut out = String::new();
    for (name, value) in values {
        if !selection.is_brief() {
            out += &format!("/// Value of [`{field}`].\n");
        }
        out += &mask(&name, width, value);
    }
    out
}

fn one_descriptor(descriptor: &Descriptor, selection: &Selection) -> String {
    let name = descriptor.name.get_ref();
    let mut out = String::new();
    for field in &descriptor.fields {
        let prefix = format!("{name}_{}", field.name.get_ref());
        let values = named_values(&prefix, field.bits, &field.values);
        if !selection.has_field(&prefix, &values) {
            continue;
        }
        let place = bits(field.bits).to_lowercase();
        out += &format!("/// Word {}, {place}: {}\n", field.word, field.summary);
        out += &mask(&prefix, 64, field.bits.mask());
        out += &value_constants(&prefix, 64, selection.values(values), selection);
    }
    if out.is_empty() {
        return out;
    }
    let summary = with_section(&descriptor.summary, descriptor.section.as_ref());
    format!("// {name}, {}: {summary}\n\n", descriptor.form) + &out
}

fn pci_register(register: &PciRegister, selection: &Selection) -> String {
    let name = register.name.get_ref();
    let width = 8 * register.size;
    let summary = register.summary.trim_end_matches('.');
    let mut out = String::new();
    if selection.has(name) {
        out += &format!("/// {summary} ({} bytes).\n", register.size);
        out += &constant(name, 32, &format!("{:#04x}", register.offset));
    }
    for (value_name, value) in by_value(&register.values) {
        let constant = format!("{name}_{value_name}");
        if selection.has(&constant) {
            out += &value_constants(name, width, vec![(constant, value)], selection);
        }
    }
    for field in &register.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        if selection.has(&constant) {
            out += &format!("/// {}: {}\n", bits(field.bits), field.summary);
            out += &mask(&constant, width, field.bits.mask());
        }
    }
    out
}

fn phy_register(register: &PhyRegister, selection: &Selection) -> String {
    let name = register.name.get_ref();
    let mut out = String::new();
    let device = format!("{name}_DEVICE");
    if selection.has(&device) {
        out += &format!("/// The device in the PHY that has [`{name}`].\n");
        out += &constant(&device, 32, &register.device.to_string());
    }
    if selection.has(name) {
        out += &format!("/// {}\n", register.summary);
        out += &constant(name, 32, &format!("{:#06x}", register.offset));
    }
    for field in &register.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        if selection.has(&constant) {
            out += &format!("/// {}: {}\n", bits(field.bits), field.summary);
            out += &mask(&constant, 32, field.bits.mask());
        }
    }
    out
}
