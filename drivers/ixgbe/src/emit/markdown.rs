//! The reference for readers, in Markdown.

use std::collections::BTreeMap;

use super::{bits, by_value};
use crate::map::{Descriptor, Field, Group, Range, Register, RegisterMap};

/// `build/docs/registers.md`.
pub fn reference(map: &RegisterMap) -> String {
    let chapters: Vec<String> = map
        .groups
        .iter()
        .map(|group| format!("[{}](#{})", group.title, anchor(&group.title)))
        .collect();
    let mut out = format!(
        "# Registers of the Intel 82599

Offsets count bytes from the start of the register space ({} KiB, BAR 0). Every register has 32 bits,
and software reads and writes it as a whole. Sections are those of the 82599 datasheet (Intel 331520).

Access codes:

| code | a read | a write |
| --- | --- | --- |
| rw | returns the value | sets it |
| ro | returns the value | has no effect |
| wo | returns 0 | has the effect described |
| rc | returns the value and clears it | has no effect |
| rs | returns the value and sets the bit | sets the value |
| w1c | returns the value | clears the bits that are written as 1 |
| w1s | returns the value | sets the bits that are written as 1 |
| rc_w1c | returns the value and clears it | clears the bits that are written as 1 |
| sc | returns 1 while the operation runs | 1 starts the operation, and hardware clears the bit at its end |

A field has the access code of its register, unless it has its own.

Chapters: {}, [Descriptors](#descriptors), [PCI configuration space](#pci-configuration-space),
[Network cards](#network-cards).
",
        map.bar0_size / 1024,
        chapters.join(",\n")
    );
    for group in &map.groups {
        out += &one_group(group);
    }
    out += "\n## Descriptors\n\n16 bytes in memory: two little-endian quad words.\n";
    for descriptor in &map.descriptors {
        out += &one_descriptor(descriptor);
    }
    out += "\n## PCI configuration space\n\n";
    out += "| register | offset | bytes | meaning |\n| --- | --- | --- | --- |\n";
    for register in &map.pci {
        let (name, offset, size) = (register.name.get_ref(), register.offset, register.size);
        let meaning =
            register.summary.clone() + &values(&register.values) + &in_line(&register.fields);
        out += &format!("| {name} | {offset:#04x} | {size} | {meaning} |\n");
    }
    out += "\n## Copper PHY\n\nOn the MDIO bus of the X540 and X550.\n\n";
    out += "| register | device | offset | meaning |\n| --- | --- | --- | --- |\n";
    for register in &map.phy {
        let (name, device, offset) = (register.name.get_ref(), register.device, register.offset);
        let meaning = register.summary.clone() + &in_line(&register.fields);
        out += &format!("| {name} | {device} | {offset:#06x} | {meaning} |\n");
    }
    out += "\n## Network cards\n\n| device id | name | family | refused, because |\n";
    out += "| --- | --- | --- | --- |\n";
    for device in &map.devices {
        let (id, name, family) = (device.id.get_ref(), &device.name, device.family.name());
        let refused = device.refused.as_deref().unwrap_or_default();
        out += &format!("| {id:#06x} | {name} | {family} | {refused} |\n");
    }
    out
}

fn one_group(group: &Group) -> String {
    let mut out = format!("\n## {}\n\n", group.title);
    if !group.summary.is_empty() {
        out += &format!("{}\n\n", group.summary);
    }
    out += "| register | offset | access | reset | section | meaning |\n";
    out += "| --- | --- | --- | --- | --- | --- |\n";
    for register in &group.registers {
        out += &row(register);
    }
    for register in &group.registers {
        if register.fields.is_empty() {
            continue;
        }
        out += &format!("\n### {}\n\n", register.name());
        match &register.fields_as {
            Some(other) => out += &format!("Bits as in [{other}](#{}).\n", anchor(other)),
            None => out += &fields(&register.fields),
        }
    }
    out
}

fn one_descriptor(descriptor: &Descriptor) -> String {
    let (name, form) = (descriptor.name.get_ref(), &descriptor.form);
    let mut out = format!("\n### {name}, {form}\n\n{}", descriptor.summary);
    if let Some(section) = &descriptor.section {
        out += &format!(" Section {section}.");
    }
    out += "\n\n| field | word | bits | meaning |\n| --- | --- | --- | --- |\n";
    for field in &descriptor.fields {
        let (name, word, values) = (field.name.get_ref(), field.word, values(&field.values));
        out += &format!(
            "| {name} | {word} | {} | {}{values} |\n",
            field.bits, field.summary
        );
    }
    out
}

/// The fields as sentences.
fn in_line(fields: &[Field]) -> String {
    let field = |field: &Field| {
        format!(
            " {}, {}: {}",
            bits(field.bits),
            field.name.get_ref(),
            field.summary
        )
    };
    fields.iter().map(field).collect()
}

/// The anchor of a heading, as Markdown renderers form it.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

fn place(range: &Range, array: bool) -> String {
    let Range {
        first,
        offset,
        stride,
        count,
    } = range;
    let last = first + count - 1;
    match (array, count, first) {
        (false, _, _) => format!("0x{offset:05X}"),
        (true, 1, _) => format!("0x{offset:05X}, n = {last}"),
        (true, _, 0) => format!("0x{offset:05X} + {stride:#x} n, n = 0...{last}"),
        (true, _, _) => {
            format!("0x{offset:05X} + {stride:#x} (n - {first}), n = {first}...{last}")
        }
    }
}

fn row(register: &Register) -> String {
    let array = register.is_array();
    let mut places: Vec<String> = register
        .ranges()
        .iter()
        .map(|range| place(range, array))
        .collect();
    for alias in &register.aliases {
        places.push(format!("alias {}", place(alias, array)));
    }
    let mut names = register.name().to_owned();
    if array {
        names += "(n)";
    }
    for other in &register.other_names {
        names += &format!(", {other}");
    }
    let mut reset = format!("0x{:X}", register.reset);
    if let Some(first) = register.reset_first {
        reset = format!("0x{first:X} for n = 0, else {reset}");
    }
    let mut meaning = register.summary.clone();
    if let Some(other) = &register.acts_on {
        meaning += &format!(" Acts on {other}.");
    }
    let (access, section) = (register.access.code(), register.section.as_deref());
    format!(
        "| {names} | {} | {access} | {reset} | {} | {meaning} |\n",
        places.join("; "),
        section.unwrap_or("")
    )
}

fn fields(fields: &[Field]) -> String {
    let mut out = "| field | bits | access | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for field in fields {
        let access = field.access.map_or("", |access| access.code());
        let (name, values) = (field.name.get_ref(), values(&field.values));
        out += &format!(
            "| {name} | {} | {access} | {}{values} |\n",
            field.bits, field.summary
        );
    }
    out
}

/// The named values, as a sentence.
fn values(named: &BTreeMap<String, u64>) -> String {
    let texts: Vec<String> = by_value(named)
        .into_iter()
        .map(|(name, value)| format!("{value:#x} {name}"))
        .collect();
    match texts.as_slice() {
        [] => String::new(),
        texts => format!(" Values: {}.", texts.join(", ")),
    }
}
