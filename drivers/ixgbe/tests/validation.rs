//! Each rule of the register map, broken once: the message must name the line, the register and the
//! rule.
#![allow(clippy::unwrap_used)]

use ixgbe_registers::check::Error;
use ixgbe_registers::map::RegisterMap;

/// A map with the register A and its keys `more`, in line 2, and then the registers and fields of
/// `others`, a line each.
fn map_with(more: &str, others: &str) -> Result<RegisterMap, Error> {
    let row = |keys: &str| format!("{{ {keys}, access = \"rw\", summary = \"One.\" }}");
    let others: String = others
        .split(';')
        .filter(|keys| !keys.is_empty())
        .map(|keys| row(keys) + ",\n")
        .collect();
    RegisterMap::parse(&format!(
        "bar0_size = 0x20000\ngroup = [{{ title = \"Only\", registers = [{},\n{others}] }}]",
        row(&format!("name = \"A\", {more}"))
    ))
}

fn message(map: Result<RegisterMap, Error>) -> String {
    match map {
        Err(error) => error.to_string(),
        Ok(_) => "accepted".to_owned(),
    }
}

/// The keys of A, the other registers, and the message.
#[rustfmt::skip] // a rule a line
const REGISTERS: &[(&str, &str, &str)] = &[
    ("offset = 0x0, fields = [{ name = \"B\", bits = \"7:4\", summary = \"B.\" }]", "", "accepted"),
    // Names are unique and fit for constants: field EXT of CTRL is the same constant as register CTRL_EXT.
    ("offset = 0x0", "name = \"A\", offset = 0x4", "line 3: A: A already has the name A; rename one of them"),
    ("offset = 0x0, fields = [{ name = \"B\", bits = \"0\", summary = \"B.\" }]", "name = \"A_B\", offset = 0x4",
        "line 3: A_B: A.B already has the name A_B; rename one of them"),
    ("offset = 0x0", "name = \"Abc\", offset = 0x4", "line 3: Abc: a constant cannot have the name \"Abc\""),
    ("offset = 0x0", "name = \"4A\", offset = 0x4", "line 3: 4A: a constant cannot have the name \"4A\""),
    // Registers, entries and aliases do not overlap.
    ("offset = 0x10", "name = \"B\", offset = 0x10", "line 3: B: overlaps A at 0x00010; correct one of them, or declare an alias"),
    ("offset = 0x100, stride = 8, count = 4", "name = \"B\", offset = 0x118", "B: overlaps A(3) at 0x00118"),
    ("offset = 0x100, stride = 8, count = 4", "name = \"B\", offset = 0x11c", "accepted"),
    ("offset = 0x0, count = 2, continued = { offset = 0x40, count = 2 }", "name = \"B\", offset = 0x44", "overlaps A(3)"),
    ("offset = 0x0, aliases = [{ offset = 0x80 }]", "name = \"B\", offset = 0x80", "overlaps A at 0x00080"),
    ("offset = 0x0, aliases = [{ offset = 0x0 }]", "", "overlaps A at 0x00000"),
    // Addresses are aligned and inside the space.
    ("offset = 0x2", "", "line 2: A: offset 0x2 is not a multiple of 4"),
    ("offset = 0x0, stride = 6, count = 2", "", "stride 0x6 is not a multiple of 4"),
    ("offset = 0x1fff8, count = 3", "", "ends at 0x20004, beyond the register space of 0x20000 bytes"),
    ("offset = 0xfffffffc, count = 0xffffffff", "", "beyond the register space"),
    // Arrays have entries and a stride.
    ("offset = 0x0, count = 0", "", "count must be at least 1"),
    ("offset = 0x0, stride = 0, count = 2", "", "stride must be at least 4"),
    ("offset = 0x0, count = 2, aliases = [{ offset = 0x40, first = 1, count = 2 }]", "", "goes up to entry 2; the register has 2 entries"),
    ("offset = 0x0, count = 2, aliases = [{ offset = 0x40, first = 0xffffffff }]", "", "the alias goes up to entry 4294967295"),
    // Fields and their values fit and do not overlap.
    ("offset = 0x0, fields = [{ name = \"F\", bits = \"32\", summary = \"F.\" }]", "", "A.F: bits 32 are outside the register's 32 bits"),
    ("offset = 0x0, fields = [{ name = \"F\", bits = \"7:4\", summary = \"F.\" }, { name = \"G\", bits = \"4\", summary = \"G.\" }]", "",
        "A.G: shares bits with field F"),
    ("offset = 0x0, fields = [{ name = \"F\", bits = \"1:0\", values = { X = 4 }, summary = \"F.\" }]", "", "A.F: value X = 0x4 does not fit"),
    ("offset = 0x0, fields = [{ name = \"F\", word = 1, bits = \"0\", summary = \"F.\" }]", "", "A.F: word 1"),
    ("offset = 0x0, reset = 0x1_0000_0000", "", "line 2"),
    ("offset = 0x0, reset_first = 1", "", "reset_first is for arrays"),
    // References lead somewhere.
    ("offset = 0x0, acts_on = \"B\"", "", "acts_on names B, which does not exist"),
    ("offset = 0x0, fields_as = \"A\"", "", "fields_as names A, which is itself"),
    ("offset = 0x0, count = 2, acts_on = \"B\"", "name = \"B\", offset = 0x40", "which has another number of entries"),
    ("offset = 0x0, fields_as = \"B\"", "name = \"B\", offset = 0x4, fields_as = \"C\";name = \"C\", offset = 0x8", "A: fields_as names B, which has no fields of its own"),
    ("offset = 0x0, section = \"8.2.x\"", "", "section \"8.2.x\" does not have the form 8.2.3.1.1"),
    // The shape of the text.
    ("offset = \"zero\"", "", "line 2"),
    ("offset = 0x0, colour = 1", "", "colour"),
    ("offset = 0x0, fields = [{ name = \"F\", bits = \"1:4\", summary = \"F.\" }]", "", "hi:lo"),
];

#[test]
fn registers_obey_the_rules() {
    for (more, others, expected) in REGISTERS {
        let message = message(map_with(more, others));
        let violations = message
            .lines()
            .filter(|line| line.starts_with("line "))
            .count();
        assert!(
            message.contains(expected) && violations <= 1,
            "{more}\n{others}\n{message}"
        );
    }
}

#[test]
fn all_violations_are_reported_at_once_in_order() {
    let message = message(map_with("offset = 0x2", "name = \"B\", offset = 0x20000"));
    let subjects: Vec<&str> = message
        .lines()
        .filter_map(|line| line.split(": ").nth(1))
        .collect();
    assert_eq!(subjects, ["A", "B"]);
}

#[test]
fn summaries_fit_in_a_comment_of_each_language() {
    for (summary, length) in [
        ("x".repeat(85), 85),
        (String::new(), 0),
        ("\\\"One\\\"".to_owned(), 5),
        ("*/".to_owned(), 2),
    ] {
        let text = format!("bar0_size = 4\n[[group]]\ntitle = \"G\"\nregisters = [{{ name = \"A\", offset = 0, access = \"rw\", summary = \"{summary}\" }}]");
        let expected = format!("line 4: A: the summary has {length} characters; write 1 to 84");
        assert!(message(RegisterMap::parse(&text)).starts_with(&expected));
    }
}

#[test]
fn other_parts_obey_their_rules() {
    let device =
        |id: u32, family: &str| format!("{{ id = {id}, name = \"Card\", family = \"{family}\" }},");
    let descriptor = |fields: &str| {
        format!("descriptor = [{{ name = \"D\", form = \"any\", summary = \"D.\", fields = [{fields}] }}]")
    };
    let field = |name: &str, word: u32, bits: &str| {
        format!("{{ name = \"{name}\", word = {word}, bits = \"{bits}\", summary = \"F.\" }},")
    };
    let pci = |offset: u32, size: u32| {
        format!(
            "pci = [{{ name = \"PCI_A\", offset = {offset}, size = {size}, summary = \"A.\" }}]"
        )
    };
    let phy = |device: u32, offset: u32| {
        format!("phy = [{{ name = \"PHY_A\", device = {device}, offset = {offset}, summary = \"A.\" }}]")
    };
    for (text, expected) in [
        (descriptor(&field("F", 2, "0")), "D.F: word 2"),
        (descriptor(&field("F", 1, "64")), "D.F: bits 64 are outside"),
        (
            descriptor(&(field("F", 1, "3:0") + &field("G", 1, "3"))),
            "D.G: shares bits with field F",
        ),
        (
            descriptor(&(field("F", 0, "3:0") + &field("G", 1, "3"))),
            "accepted",
        ),
        (pci(2, 4), "PCI_A: size 4 at offset 0x2"),
        (pci(0, 3), "PCI_A: size 3"),
        (pci(0xffff_fffc, 4), "PCI_A: size 4 at offset 0xfffffffc"),
        (phy(32, 0), "PHY_A: device 32"),
        (phy(1, 0x10000), "PHY_A: device 1, offset 0x10000"),
        (
            format!(
                "devices = [{}{}]",
                device(0x10fb, "82599"),
                device(0x10fb, "X540")
            ),
            "device 0x10fb: Card already has this id",
        ),
        (format!("devices = [{}]", device(0x10fb, "82598")), "82598"),
    ] {
        let message = message(RegisterMap::parse(&format!("bar0_size = 4\n{text}")));
        assert!(message.contains(expected), "{text}\n{message}");
    }
}
