//! The map as constants, which each language spells in its own way.

use std::collections::BTreeMap;

use super::{bits, by_value};
use crate::map::{Bits, Descriptor, Field, PciRegister, PhyRegister, Range, Register, RegisterMap};
use crate::usage::Selection;

/// The constants below one heading.
pub struct Chapter {
    pub title: String,
    pub parts: Vec<Part>,
}

/// The constants of one register or descriptor.
#[derive(Default)]
pub struct Part {
    /// What the register is, in a line.
    pub about: String,
    /// Whether the name of the part is no constant itself.
    pub is_descriptor: bool,
    pub constants: Vec<Constant>,
}

/// A constant, or a function of an array's index.
pub struct Constant {
    pub name: String,
    pub comment: Comment,
    pub value: Value,
}

/// What stands before a constant.
pub enum Comment {
    None,
    Always(String),
    /// Only in Rust. C has it in [`Part::about`], or does without.
    InRust(String),
}

/// The value of a constant.
pub enum Value {
    /// The address of an array's entry.
    Entry(Vec<Range>),
    Decimal(u32),
    /// With the number of bits of its type, and of digits.
    Hex(u64, u32, usize),
}

/// The constants of `selection`, without empty parts and chapters. A value needs its field's mask.
pub fn chapters(map: &RegisterMap, selection: &Selection) -> Vec<Chapter> {
    let chapter = |title: &str, parts: Vec<Part>| {
        let parts = parts.into_iter().filter(|part| !part.constants.is_empty());
        Chapter {
            title: title.to_owned(),
            parts: parts.collect(),
        }
    };
    let of = Selected(selection);
    let mut chapters = Vec::new();
    for group in &map.groups {
        let parts = group.registers.iter().map(|one| of.register(one));
        chapters.push(chapter(&group.title, parts.collect()));
    }
    chapters.push(chapter(
        "Descriptors: masks of 64 bits, of one of the two quad words",
        map.descriptors
            .iter()
            .map(|one| of.descriptor(one))
            .collect(),
    ));
    chapters.push(chapter(
        "PCI configuration space",
        map.pci.iter().map(|one| of.pci_register(one)).collect(),
    ));
    chapters.push(chapter(
        "Copper PHY: device and address of its registers on the MDIO bus",
        map.phy.iter().map(|one| of.phy_register(one)).collect(),
    ));
    chapters.retain(|chapter| !chapter.parts.is_empty());
    chapters
}

/// Makes the parts of what is selected.
struct Selected<'a>(&'a Selection);

impl Selected<'_> {
    fn add(&self, part: &mut Part, name: String, comment: Comment, value: Value) {
        if self.0.has(&name) {
            part.constants.push(Constant {
                name,
                comment,
                value,
            });
        }
    }

    fn register(&self, register: &Register) -> Part {
        let (name, access) = (register.name(), register.access.code());
        let summary = with_section(&register.summary, register.section.as_deref());
        let mut part = Part {
            about: format!("{name}, {access}: {summary}"),
            ..Part::default()
        };
        let entries = register.entries();
        for spelling in register.names() {
            let (range, value) = if register.is_array() {
                (format!(", n < {entries}"), Value::Entry(register.ranges()))
            } else {
                (String::new(), Value::Hex(register.offset.into(), 32, 5))
            };
            let comment = Comment::InRust(format!("{spelling}, {access}{range}: {summary}"));
            self.add(&mut part, spelling.to_owned(), comment, value);
        }
        if register.is_array() {
            let comment = Comment::InRust(format!("Entries of [`{name}`]."));
            self.add(
                &mut part,
                format!("{name}_COUNT"),
                comment,
                Value::Decimal(entries),
            );
        }
        for field in &register.fields {
            let access = field
                .access
                .map_or(String::new(), |access| format!(", {}", access.code()));
            let comment = format!("{}{access}: {}", bits(field.bits), field.summary);
            self.field(&mut part, name, field, 32, comment);
        }
        part
    }

    fn descriptor(&self, descriptor: &Descriptor) -> Part {
        let name = descriptor.name.get_ref();
        let summary = with_section(&descriptor.summary, descriptor.section.as_deref());
        let mut part = Part {
            about: format!("{name}, {}: {summary}", descriptor.form),
            is_descriptor: true,
            ..Part::default()
        };
        for field in &descriptor.fields {
            let place = bits(field.bits).to_lowercase();
            let comment = format!("Word {}, {place}: {}", field.word, field.summary);
            self.field(&mut part, name, field, 64, comment);
        }
        part
    }

    fn pci_register(&self, register: &PciRegister) -> Part {
        let (name, size) = (register.name.get_ref(), register.size);
        let summary = &register.summary;
        let mut part = Part {
            about: format!("{summary} ({size} bytes)"),
            ..Part::default()
        };
        let comment = format!("{} ({size} bytes).", summary.trim_end_matches('.'));
        let offset = Value::Hex(register.offset.into(), 32, 2);
        self.add(&mut part, name.clone(), Comment::InRust(comment), offset);
        self.values(&mut part, name, &register.values, 0, 8 * size);
        for field in &register.fields {
            let comment = format!("{}: {}", bits(field.bits), field.summary);
            self.field(&mut part, name, field, 8 * size, comment);
        }
        part
    }

    fn phy_register(&self, register: &PhyRegister) -> Part {
        let (name, summary) = (register.name.get_ref(), &register.summary);
        let mut part = Part {
            about: summary.clone(),
            ..Part::default()
        };
        let comment = format!("The device in the PHY that has [`{name}`].");
        let device = Value::Decimal(register.device);
        self.add(
            &mut part,
            format!("{name}_DEVICE"),
            Comment::InRust(comment),
            device,
        );
        let offset = Value::Hex(register.offset.into(), 32, 4);
        self.add(
            &mut part,
            name.clone(),
            Comment::InRust(summary.clone()),
            offset,
        );
        for field in &register.fields {
            let comment = format!("{}: {}", bits(field.bits), field.summary);
            self.field(&mut part, name, field, 32, comment);
        }
        part
    }

    /// Adds the mask of a field and its named values.
    fn field(&self, part: &mut Part, owner: &str, field: &Field, width: u32, comment: String) {
        let name = format!("{owner}_{}", field.name.get_ref());
        let Bits { lo, .. } = field.bits;
        let mask = part.constants.len();
        self.values(part, &name, &field.values, lo, width);
        if part.constants.len() > mask || self.0.has(&name) {
            let constant = Constant {
                name,
                comment: Comment::Always(comment),
                value: number(field.bits.mask(), width),
            };
            part.constants.insert(mask, constant);
        }
    }

    /// Adds named values, shifted to bit `lo`, in order of the value.
    fn values(
        &self,
        part: &mut Part,
        owner: &str,
        values: &BTreeMap<String, u64>,
        lo: u32,
        width: u32,
    ) {
        for (name, value) in by_value(values) {
            let value = number(value << lo, width);
            self.add(part, format!("{owner}_{name}"), Comment::None, value);
        }
    }
}

/// A constant of `width` bits with all its digits.
fn number(value: u64, width: u32) -> Value {
    Value::Hex(value, width, width as usize / 4)
}

/// `text` with the datasheet's section appended.
fn with_section(text: &str, section: Option<&str>) -> String {
    section.map_or(text.to_owned(), |section| {
        format!("{text} Datasheet {section}.")
    })
}
