//! The software card's constants, and its table of what a read and a write do. The card's module
//! `registers` has the types, and includes this text.

use super::rust;
use crate::map::{Access, Range, Register, RegisterMap};
use crate::usage::Selection;

/// `registers.rs` in the output folder of crate `nic`.
pub fn registers(map: &RegisterMap) -> String {
    let names: String = map
        .registers()
        .map(|register| format!("    {},\n", register.name()))
        .collect();
    let rows: String = map.registers().map(row).collect();
    format!(
        "{}{}
/// Names a register, or all entries of a register array. The variants have the datasheet's names.
#[allow(non_camel_case_types, clippy::upper_case_acronyms)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum RegisterId {{
{names}}}

/// Every register, in the order of the reference and of [`RegisterId`].
pub static REGISTERS: &[Register] = &[
{rows}];
",
        rust::constants(map, &Selection::Whole),
        rust::devices(map)
    )
}

fn access(access: Access) -> String {
    format!("Access::{access:?}")
}

fn ranges(ranges: &[Range]) -> String {
    let range = |range: &Range| {
        let (first, offset, stride, count) = (range.first, range.offset, range.stride, range.count);
        format!("Range {{ first: {first}, offset: {offset:#x}, stride: {stride:#x}, count: {count} }}, ")
    };
    format!("&[{}]", ranges.iter().map(range).collect::<String>())
}

fn row(register: &Register) -> String {
    let name = register.name();
    let fields = register.fields.iter().map(|field| {
        let (field_name, access) = (
            field.name.get_ref(),
            access(field.access.unwrap_or(register.access)),
        );
        format!("Field {{ name: \"{field_name}\", mask: {name}_{field_name}, access: {access} }}, ")
    });
    let acts_on = register.acts_on.as_ref();
    let acts_on = acts_on.map_or("None".to_owned(), |name| {
        format!("Some(RegisterId::{name})")
    });
    format!(
        "    Register {{ id: RegisterId::{name}, name: \"{name}\", count: {}, ranges: {}, aliases: {}, \
         access: {}, reset: {:#x}, reset_first: {:#x}, acts_on: {acts_on}, fields: &[{}] }},\n",
        register.entries(),
        ranges(&register.ranges()),
        ranges(&register.aliases),
        access(register.access),
        register.reset,
        register.reset_first.unwrap_or(register.reset),
        fields.collect::<String>(),
    )
}
