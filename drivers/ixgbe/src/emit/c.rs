//! The C header of register constants, and the C table of device ids.

use super::{alias_note, bits, by_value, named_values, with_section, HEADER};
use crate::map::{Descriptor, PciRegister, Range, Register, RegisterMap};

const PREAMBLE: &str = "\
/*
 * The 82599's registers, as offsets from the start of its register space; their fields, as masks;
 * and named values of fields, already shifted to their place.
 */
#ifndef IXGBE_REGISTERS_H
#define IXGBE_REGISTERS_H

#include <stdint.h>

/* clang-format off */

/* `value` shifted to the place of the field that `mask` covers. It must fit the field. */
#define IXGBE_FIELD(mask, value) ((value) * ((mask) & (~(mask) + 1u)))
/* The value of the field that `mask` covers, in the register's value `reg`. */
#define IXGBE_FIELD_GET(mask, reg) (((reg) & (mask)) / ((mask) & (~(mask) + 1u)))

";

/// `c/src/registers.h`.
pub fn registers(map: &RegisterMap) -> String {
    let mut out = comment(HEADER) + PREAMBLE;
    out += &comment("Bytes of the register space.");
    out += &define("BAR0_SIZE", &format!("{:#x}u", map.bar0_size));
    for group in &map.groups {
        out += "\n";
        out += &comment(&format!("---- {} ----", group.title));
        if !group.summary.is_empty() {
            out += &comment(&group.summary);
        }
        for register in &group.registers {
            out += "\n";
            out += &one_register(register);
        }
    }
    out += "\n/* ---- Descriptors ---- */\n";
    out += "/* Masks of 64 bits, of one of the two quad words of a descriptor. */\n";
    for descriptor in &map.descriptors {
        out += "\n";
        out += &one_descriptor(descriptor);
    }
    out += "\n/* ---- PCI configuration space ---- */\n";
    for register in &map.pci {
        out += "\n";
        out += &pci_register(register);
    }
    out += "\n/* clang-format on */\n\n#endif\n";
    out
}

fn comment(text: &str) -> String {
    format!("/* {text} */\n")
}

fn define(name: &str, value: &str) -> String {
    format!("#define IXGBE_{name} {value}\n")
}

fn hex32(value: u64) -> String {
    format!("0x{value:08X}u")
}

fn hex64(value: u64) -> String {
    format!("UINT64_C(0x{value:016X})")
}

/// The address of entry `n`, as an expression.
fn address(range: &Range) -> String {
    let (offset, stride) = (range.offset, range.stride);
    match range.first {
        0 => format!("0x{offset:05X}u + {stride:#x}u * (n)"),
        first => format!("0x{offset:05X}u + {stride:#x}u * ((n) - {first}u)"),
    }
}

fn one_register(register: &Register) -> String {
    let name = register.name();
    let summary = with_section(&register.summary, register.section.as_ref());
    let mut out = comment(&format!("{name}, {}: {summary}", register.access.code()));
    if let Some(note) = alias_note(register) {
        out += &comment(&note);
    }
    for name in std::iter::once(name).chain(register.other_names.iter().map(String::as_str)) {
        out += &match (register.is_array(), register.ranges().as_slice()) {
            (false, _) => define(name, &format!("0x{:05X}u", register.offset)),
            (true, [low, high]) => {
                let (first, low, high) = (high.first, address(low), address(high));
                let value = format!("((n) < {first}u ? {low} : {high})");
                define(&format!("{name}(n)"), &value)
            }
            (true, ranges) => {
                let places: Vec<String> = ranges.iter().map(address).collect();
                define(&format!("{name}(n)"), &format!("({})", places.join("")))
            }
        };
    }
    if register.is_array() {
        let count = format!("{}u", register.entries());
        out += &define(&format!("{name}_COUNT"), &count);
    }
    for field in &register.fields {
        let access = field
            .access
            .map_or(String::new(), |access| format!(", {}", access.code()));
        out += &comment(&format!("{}{access}: {}", bits(field.bits), field.summary));
        let constant = format!("{name}_{}", field.name.get_ref());
        out += &define(&constant, &hex32(field.bits.mask()));
        for (value_name, value) in named_values(&constant, field.bits, &field.values) {
            out += &define(&value_name, &hex32(value));
        }
    }
    out
}

fn one_descriptor(descriptor: &Descriptor) -> String {
    let name = descriptor.name.get_ref();
    let summary = with_section(&descriptor.summary, descriptor.section.as_ref());
    let mut out = comment(&format!("{name}, {}: {summary}", descriptor.form));
    for field in &descriptor.fields {
        let place = bits(field.bits).to_lowercase();
        out += &comment(&format!("Word {}, {place}: {}", field.word, field.summary));
        let constant = format!("{name}_{}", field.name.get_ref());
        out += &define(&constant, &hex64(field.bits.mask()));
        for (value_name, value) in named_values(&constant, field.bits, &field.values) {
            out += &define(&value_name, &hex64(value));
        }
    }
    out
}

fn pci_register(register: &PciRegister) -> String {
    let name = register.name.get_ref();
    let mut out = comment(&format!("{} ({} bytes)", register.summary, register.size));
    out += &define(name, &format!("{:#04x}u", register.offset));
    for (value_name, value) in by_value(&register.values) {
        out += &define(&format!("{name}_{value_name}"), &format!("{value:#06x}u"));
    }
    for field in &register.fields {
        out += &comment(&format!("{}: {}", bits(field.bits), field.summary));
        let constant = format!("{name}_{}", field.name.get_ref());
        out += &define(&constant, &format!("{:#06x}u", field.bits.mask()));
    }
    out
}

/// `c/src/device_ids.h`.
pub fn device_ids(map: &RegisterMap) -> String {
    let mut out = format!(
        "/* {HEADER} */
/* The network cards that the driver knows. For one source file to include: it holds the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include <stdint.h>

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {{
\tuint16_t id;
\tconst char *name;
\tconst char *family; /* 82599, X540 or X550 */
}};

#define IXGBE_DEVICE_ID_COUNT {}u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {{
",
        map.devices.len()
    );
    for device in &map.devices {
        let id = device.id.get_ref();
        out += &format!(
            "\t{{{id:#06x}, \"{}\", \"{}\"}},\n",
            device.name, device.family
        );
    }
    out += "};\n\n/* clang-format on */\n\n#endif\n";
    out
}
