//! The software card's module: the constants, one `RegisterId` a register, and the table of what a
//! read and a write do.

use super::{rust, with_section, HEADER};
use crate::map::{Access, Field, Range, Register, RegisterMap};

/// Types and look-ups of the table, as Rust.
const TYPES: &str = include_str!("nic_types.rs.in");

/// `drivers/nic/src/device/registers.rs`.
pub fn registers(map: &RegisterMap) -> String {
    let mut out = format!(
        "// {HEADER}
//! The 82599's registers: offsets, masks of fields and named values of fields, and [`REGISTERS`],
//! the table of what a read and a write do.

"
    );
    out += &rust::constants(map);
    out += &rust::devices(map);
    out += TYPES;
    out += &register_ids(map);
    out += "
/// Every register, in the order of the reference and of [`RegisterId`].
#[rustfmt::skip] // a register in two lines, a field a line
pub static REGISTERS: &[Register] = &[
";
    for register in map.registers() {
        out += &one_register(register);
    }
    out += "];\n";
    out
}

/// The enum with one variant a register, under the datasheet's names.
fn register_ids(map: &RegisterMap) -> String {
    let mut out = "
/// Names a register, or all entries of a register array. The variants have the datasheet's names.
#[allow(non_camel_case_types, clippy::upper_case_acronyms)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum RegisterId {
"
    .to_owned();
    for register in map.registers() {
        let text = with_section(&register.summary, register.section.as_ref());
        out += &format!("    /// {text}\n    {},\n", register.name());
    }
    out += "}\n";
    out
}

fn access(access: Access) -> &'static str {
    match access {
        Access::ReadWrite => "Access::ReadWrite",
        Access::ReadOnly => "Access::ReadOnly",
        Access::WriteOnly => "Access::WriteOnly",
        Access::ReadClear => "Access::ReadClear",
        Access::ReadSet => "Access::ReadSet",
        Access::WriteOneClear => "Access::WriteOneClear",
        Access::WriteOneSet => "Access::WriteOneSet",
        Access::ReadClearWriteOneClear => "Access::ReadClearWriteOneClear",
        Access::SelfClearing => "Access::SelfClearing",
    }
}

fn optional(text: Option<String>) -> String {
    text.map_or("None".to_owned(), |text| format!("Some({text})"))
}

fn ranges(ranges: &[Range]) -> String {
    let texts: Vec<String> = ranges
        .iter()
        .map(|range| {
            format!(
                "Range {{ first: {}, offset: 0x{:05X}, stride: {:#x}, count: {} }}",
                range.first, range.offset, range.stride, range.count
            )
        })
        .collect();
    format!("&[{}]", texts.join(", "))
}

fn one_field(register: &Register, field: &Field) -> String {
    let name = field.name.get_ref();
    format!(
        "        Field {{ name: \"{name}\", mask: {}_{name}, access: {}, summary: \"{}\" }},\n",
        register.name(),
        access(field.access.unwrap_or(register.access)),
        field.summary
    )
}

fn one_register(register: &Register) -> String {
    let fields: String = register
        .fields
        .iter()
        .map(|field| one_field(register, field))
        .collect();
    let fields = match fields.as_str() {
        "" => "&[]".to_owned(),
        lines => format!("&[\n{lines}    ]"),
    };
    let name = register.name();
    format!(
        "    Register {{ id: RegisterId::{name}, name: \"{name}\", offset: 0x{:05X}, stride: {:#x}, count: {}, ranges: {}, aliases: {},
        access: {}, reset: 0x{:08X}, reset_first: 0x{:08X}, acts_on: {}, section: {}, summary: \"{}\", fields: {fields} }},
",
        register.offset,
        register.stride,
        register.entries(),
        ranges(&register.ranges()),
        ranges(&register.aliases),
        access(register.access),
        register.reset,
        register.reset_first.unwrap_or(register.reset),
        optional(register.acts_on.as_ref().map(|name| format!("RegisterId::{name}"))),
        optional(register.section.as_ref().map(|section| format!("\"{section}\""))),
        register.summary,
    )
}
