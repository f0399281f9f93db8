//! The C driver's header of register constants, and its table of device ids.

use super::{bits, by_value, named_values, with_section, HEADER};
use crate::map::{Descriptor, PciRegister, PhyRegister, Range, Register, RegisterMap};
use crate::usage::Selection;

const PREAMBLE: &str = "\
/*
 * The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
 * values of fields, shifted to the place of the field. Each register has its datasheet section.
 * drivers/ixgbe/REGISTERS.md has the whole map.
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

/// `c/src/driver/registers.h`: the constants of `selection`.
pub fn registers(map: &RegisterMap, selection: &Selection) -> String {
    let mut out = comment(HEADER) + PREAMBLE;
    for group in &map.groups {
        let registers = group.registers.iter();
        let texts = registers.map(|register| one_register(register, selection));
        out += &chapter(&group.title, texts);
    }
    out += &chapter(
        "Descriptors: masks of 64 bits, of one of the two quad words",
        map.descriptors.iter().map(|d| one_descriptor(d, selection)),
    );
    out += &chapter(
        "PCI configuration space",
        map.pci
            .iter()
            .map(|register| pci_register(register, selection)),
    );
    out += &chapter(
        "Copper PHY: device and address of its registers on the MDIO bus",
        map.phy
            .iter()
            .map(|register| phy_register(register, selection)),
    );
    out += "\n/* clang-format on */\n\n#endif\n";
    out
}

/// A heading and the texts below it that are not empty, each after an empty line.
fn chapter(title: &str, texts: impl Iterator<Item = String>) -> String {
    let texts = texts.filter(|text| !text.is_empty());
    let below: String = texts.map(|text| format!("\n{text}")).collect();
    match below.as_str() {
        "" => below,
        _ => format!("\n/* ---- {title} ---- */\n{below}"),
    }
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

fn one_register(register: &Register, selection: &Selection) -> String {
    let name = register.name();
    let mut out = String::new();
    let others = register.other_names.iter().map(String::as_str);
    for name in std::iter::once(name)
        .chain(others)
        .filter(|name| selection.has(name))
    {
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
    let count = format!("{name}_COUNT");
    if register.is_array() && selection.has(&count) {
        out += &define(&count, &format!("{}u", register.entries()));
    }
    for field in &register.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        let values = named_values(&constant, field.bits, &field.values);
        if !selection.has_field(&constant, &values) {
            continue;
        }
        let access = field
            .access
            .map_or(String::new(), |access| format!(", {}", access.code()));
        out += &comment(&format!("{}{access}: {}", bits(field.bits), field.summary));
        out += &define(&constant, &hex32(field.bits.mask()));
        for (value_name, value) in selection.values(values) {
            out += &define(&value_name, &hex32(value));
        }
    }
    if out.is_empty() {
        return out;
    }
    let summary = with_section(&register.summary, register.section.as_ref());
    comment(&format!("{name}, {}: {summary}", register.access.code())) + &out
}

fn one_descriptor(descriptor: &Descriptor, selection: &Selection) -> String {
    let name = descriptor.name.get_ref();
    let mut out = String::new();
    for field in &descriptor.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        let values = named_values(&constant, field.bits, &field.values);
        if !selection.has_field(&constant, &values) {
            continue;
        }
        let place = bits(field.bits).to_lowercase();
        out += &comment(&format!("Word {}, {place}: {}", field.word, field.summary));
        out += &define(&constant, &hex64(field.bits.mask()));
        for (value_name, value) in selection.values(values) {
            out += &define(&value_name, &hex64(value));
        }
    }
    if out.is_empty() {
        return out;
    }
    let summary = with_section(&descriptor.summary, descriptor.section.as_ref());
    comment(&format!("{name}, {}: {summary}", descriptor.form)) + &out
}

fn pci_register(register: &PciRegister, selection: &Selection) -> String {
    let name = register.name.get_ref();
    let mut out = String::new();
    if selection.has(name) {
        out += &define(name, &format!("{:#04x}u", register.offset));
    }
    for (value_name, value) in by_value(&register.values) {
        let constant = format!("{name}_{value_name}");
        if selection.has(&constant) {
            out += &define(&constant, &format!("{value:#06x}u"));
        }
    }
    for field in &register.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        if selection.has(&constant) {
            out += &comment(&format!("{}: {}", bits(field.bits), field.summary));
            out += &define(&constant, &format!("{:#06x}u", field.bits.mask()));
        }
    }
    if out.is_empty() {
        return out;
    }
    comment(&format!("{} ({} bytes)", register.summary, register.size)) + &out
}

fn phy_register(register: &PhyRegister, selection: &Selection) -> String {
    let name = register.name.get_ref();
    let mut out = String::new();
    let device = format!("{name}_DEVICE");
    if selection.has(&device) {
        out += &define(&device, &format!("{}u", register.device));
    }
    if selection.has(name) {
        out += &define(name, &format!("{:#06x}u", register.offset));
    }
    for field in &register.fields {
        let constant = format!("{name}_{}", field.name.get_ref());
        if selection.has(&constant) {
            out += &comment(&format!("{}: {}", bits(field.bits), field.summary));
            out += &define(&constant, &hex32(field.bits.mask()));
        }
    }
    if out.is_empty() {
        return out;
    }
    comment(&register.summary) + &out
}

/// `c/src/driver/device_ids.h`.
pub fn device_ids(map: &RegisterMap) -> String {
    let mut out = format!(
        "/* {HEADER} */
/* The network cards that the driver knows. Only one source file includes this header, for the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include \"driver/device.h\"

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {{
\tuint16_t id;
\tenum device_family family;
\tconst char *name;
\tconst char *refused; /* why the driver refuses this card, or NULL */
}};

#define IXGBE_DEVICE_ID_COUNT {}u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {{
",
        map.devices.len()
    );
    for device in &map.devices {
        let id = device.id.get_ref();
        let refused = match &device.refused {
            Some(reason) => format!("\n\t \"{reason}\""),
            None => " NULL".to_owned(),
        };
        out += &format!(
            "\t{{{id:#06x}, DEVICE_FAMILY_{}, \"{}\",{refused}}},\n",
            device.family, device.name
        );
    }
    out += "};\n\n/* clang-format on */\n\n#endif\n";
    out
}
