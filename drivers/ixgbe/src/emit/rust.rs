//! The Rust module of register constants.

use super::{alias_note, bits, by_value, named_values, with_section, HEADER};
use crate::map::{Descriptor, PciRegister, Range, Register, RegisterMap};

const PREAMBLE: &str = "\
#![allow(dead_code, non_snake_case)] // a register map is whole, and a register is spelt in capitals

/// `value` shifted to the place of the field that `mask` covers. It must fit the field.
pub const fn field(mask: u32, value: u32) -> u32 {
    value << (mask.trailing_zeros() & 31)
}

/// The value of the field that `mask` covers, in the register's value `register`.
pub const fn field_get(mask: u32, register: u32) -> u32 {
    (register & mask) >> (mask.trailing_zeros() & 31)
}

/// [`field`] for a descriptor's quad word.
pub const fn field64(mask: u64, value: u64) -> u64 {
    value << (mask.trailing_zeros() & 63)
}

/// [`field_get`] for a descriptor's quad word.
pub const fn field64_get(mask: u64, word: u64) -> u64 {
    (word & mask) >> (mask.trailing_zeros() & 63)
}
";

/// `rust/src/registers.rs`.
pub fn registers(map: &RegisterMap) -> String {
    let mut out = format!(
        "// {HEADER}
//! The 82599's registers, as offsets from the start of its register space; their fields, as masks;
//! and named values of fields, already shifted to their place.

"
    );
    out += &constants(map);
    out += &devices(map);
    out
}

/// The constants, which the driver's and the software NIC's module share.
pub(super) fn constants(map: &RegisterMap) -> String {
    let mut out = PREAMBLE.to_owned();
    out += "\n/// Bytes of the register space.\n";
    out += &constant("BAR0_SIZE", 32, &format!("{:#x}", map.bar0_size));
    for group in &map.groups {
        out += &format!("\n// ---- {} ----\n", group.title);
        if !group.summary.is_empty() {
            out += &format!("// {}\n", group.summary);
        }
        for register in &group.registers {
            out += "\n";
            out += &one_register(register);
        }
    }
    out += "\n// ---- Descriptors ----\n";
    out += "// Masks of 64 bits, of one of the two quad words of a descriptor.\n";
    for descriptor in &map.descriptors {
        out += "\n";
        out += &one_descriptor(descriptor);
    }
    out += "\n// ---- PCI configuration space ----\n";
    for register in &map.pci {
        out += "\n";
        out += &pci_register(register);
    }
    out
}

/// The table of network cards.
pub(super) fn devices(map: &RegisterMap) -> String {
    let mut out = "
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
"
    .to_owned();
    for device in &map.devices {
        out += &format!(
            "    DeviceId {{ id: {:#06x}, name: \"{}\", family: \"{}\" }},\n",
            device.id.get_ref(),
            device.name,
            device.family
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

/// The function that tells an array's addresses.
fn address_function(name: &str, register: &Register) -> String {
    let entries = register.entries();
    let body = match register.ranges().as_slice() {
        [low, high] => format!(
            "    if n < {} {{
        {}
    }} else {{
        {}
    }}
",
            high.first,
            address(low),
            address(high)
        ),
        ranges => ranges
            .iter()
            .map(|range| format!("    {}\n", address(range)))
            .collect(),
    };
    format!("/// `n` is below {entries}.\npub const fn {name}(n: u32) -> u32 {{\n{body}}}\n")
}

fn one_register(register: &Register) -> String {
    let name = register.name();
    let summary = with_section(&register.summary, register.section.as_ref());
    let mut out = String::new();
    for spelling in std::iter::once(name).chain(register.other_names.iter().map(String::as_str)) {
        out += &format!("/// {spelling}, {}: {summary}\n", register.access.code());
        if let Some(note) = alias_note(register) {
            out += &format!("/// {note}\n");
        }
        out += &if register.is_array() {
            address_function(spelling, register)
        } else {
            constant(spelling, 32, &format!("0x{:05X}", register.offset))
        };
    }
    if register.is_array() {
        out += &format!("/// Entries of [`{name}`].\n");
        let entries = register.entries().to_string();
        out += &constant(&format!("{name}_COUNT"), 32, &entries);
    }
    for field in &register.fields {
        let access = field
            .access
            .map_or(String::new(), |access| format!(", {}", access.code()));
        out += &format!("/// {}{access}: {}\n", bits(field.bits), field.summary);
        let prefix = format!("{name}_{}", field.name.get_ref());
        out += &mask(&prefix, 32, field.bits.mask());
        for (value_name, value) in named_values(&prefix, field.bits, &field.values) {
            out += &format!("/// Value of [`{prefix}`].\n");
            out += &mask(&value_name, 32, value);
        }
    }
    out
}

fn one_descriptor(descriptor: &Descriptor) -> String {
    let name = descriptor.name.get_ref();
    let summary = with_section(&descriptor.summary, descriptor.section.as_ref());
    let mut out = format!("// {name}, {}: {summary}\n\n", descriptor.form);
    for field in &descriptor.fields {
        let place = bits(field.bits).to_lowercase();
        out += &format!("/// Word {}, {place}: {}\n", field.word, field.summary);
        let prefix = format!("{name}_{}", field.name.get_ref());
        out += &mask(&prefix, 64, field.bits.mask());
        for (value_name, value) in named_values(&prefix, field.bits, &field.values) {
            out += &format!("/// Value of [`{prefix}`].\n");
            out += &mask(&value_name, 64, value);
        }
    }
    out
}

fn pci_register(register: &PciRegister) -> String {
    let name = register.name.get_ref();
    let width = 8 * register.size;
    let summary = register.summary.trim_end_matches('.');
    let mut out = format!("/// {summary} ({} bytes).\n", register.size);
    out += &constant(name, 32, &format!("{:#04x}", register.offset));
    for (value_name, value) in by_value(&register.values) {
        out += &format!("/// Value of [`{name}`].\n");
        out += &mask(&format!("{name}_{value_name}"), width, value);
    }
    for field in &register.fields {
        out += &format!("/// {}: {}\n", bits(field.bits), field.summary);
        let prefix = format!("{name}_{}", field.name.get_ref());
        out += &mask(&prefix, width, field.bits.mask());
    }
    out
}
