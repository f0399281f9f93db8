//! The Rust driver's modules of register constants and of device ids.

use super::constants::{chapters, Comment, Constant, Value};
use super::HEADER;
use crate::map::{Range, RegisterMap};
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

/// `rust/src/driver/registers.rs`: the constants of `selection`.
pub fn registers(map: &RegisterMap, selection: &Selection) -> String {
    format!(
        "// {HEADER}
//! The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
//! values of fields, shifted to the place of the field. Each register has its datasheet section.
//! `drivers/ixgbe/registers.toml` has the whole map.
#![forbid(unsafe_code)]
#![allow(non_snake_case)] // the datasheet spells registers in capitals
{}",
        constants(map, selection)
    )
}

/// The constants of `selection`, and the functions for fields.
pub(super) fn constants(map: &RegisterMap, selection: &Selection) -> String {
    let functions = FUNCTIONS.iter().filter(|(name, _)| selection.has(name));
    let mut out: String = functions.map(|(_, function)| *function).collect();
    if selection.has("BAR0_SIZE") {
        let size = map.bar0_size;
        out +=
            &format!("\n/// Bytes of the register space.\npub const BAR0_SIZE: u32 = {size:#x};\n");
    }
    for chapter in chapters(map, selection) {
        out += &format!("\n// ---- {} ----\n", chapter.title);
        for part in chapter.parts {
            out += "\n";
            if part.is_descriptor {
                out += &format!("// {}\n\n", part.about);
            }
            out.extend(part.constants.iter().map(item));
        }
    }
    out
}

/// A constant, or a function in one line.
fn item(constant: &Constant) -> String {
    let name = &constant.name;
    let comment = match &constant.comment {
        Comment::None => String::new(),
        Comment::Always(text) | Comment::InRust(text) => format!("/// {text}\n"),
    };
    let text = match &constant.value {
        Value::Entry(ranges) => {
            let body = match ranges.as_slice() {
                [low, high] => {
                    let first = high.first;
                    format!(
                        "if n < {first} {{ {} }} else {{ {} }}",
                        address(low),
                        address(high)
                    )
                }
                ranges => ranges.iter().map(address).collect(),
            };
            format!("pub const fn {name}(n: u32) -> u32 {{ {body} }}")
        }
        Value::Decimal(value) => format!("pub const {name}: u32 = {value};"),
        Value::Hex(value, width, digits) => {
            format!("pub const {name}: u{width} = 0x{value:0digits$X};")
        }
    };
    format!("{comment}{text}\n")
}

/// The address of entry `n`, as an expression.
fn address(range: &Range) -> String {
    let (offset, stride) = (range.offset, range.stride);
    match range.first {
        0 => format!("0x{offset:05X} + {stride:#x} * n"),
        first => format!("0x{offset:05X} + {stride:#x} * (n - {first})"),
    }
}

/// `rust/src/driver/device_ids.rs`.
pub fn device_ids(map: &RegisterMap) -> String {
    format!(
        "// {HEADER}\n//! The network cards that the driver knows.\n#![forbid(unsafe_code)]\n{}",
        devices(map)
    )
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
        let (id, name) = (device.id.get_ref(), &device.name);
        let (family, refused) = (device.family, &device.refused);
        out += &format!(
            "    DeviceId {{ id: {id:#06x}, name: \"{name}\", family: Family::{family:?}, refused: {refused:?} }},\n"
        );
    }
    out + "];\n"
}
