//! Each rule of the register map, broken once: the message must name the register and the line.
#![allow(clippy::unwrap_used)]

use ixgbe_registers::check::{Error, Problem, Violation};
use ixgbe_registers::map::RegisterMap;

/// A map with two lines of head, then `registers`: they start in line 3.
fn map_with(registers: &str) -> Result<RegisterMap, Error> {
    RegisterMap::parse(&format!(
        "bar0_size = 0x20000\n[[group]] # a group of its own\n{registers}"
    ))
}

/// A register in one line, as the last lines of `map_with`'s text.
fn register(name: &str, offset: &str, more: &str) -> String {
    format!(
        "[[group.register]]\nname = \"{name}\"\noffset = {offset}\naccess = \"rw\"\nsummary = \"One.\"\n{more}\n"
    )
}

fn violations(registers: &str) -> Vec<Violation> {
    let text = format!("title = \"Group\"\n{registers}");
    match map_with(&text) {
        Err(Error::Invalid(violations)) => violations,
        other => panic!("expected broken rules, found {other:?}"),
    }
}

/// The only violation of one register that begins in line 4, so that its name is in line 5.
fn violation(registers: &str) -> Problem {
    let mut violations = violations(registers);
    assert_eq!(violations.len(), 1, "{violations:?}");
    let violation = violations.remove(0);
    assert!(violation.line >= 5, "{violation}");
    violation.problem
}

#[test]
fn a_sound_map_is_accepted() {
    let text = register(
        "A",
        "0x0",
        "fields = [{ name = \"B\", bits = \"7:4\", summary = \"B.\" }]",
    );
    let map = map_with(&format!("title = \"Group\"\n{text}")).unwrap();
    let register = map.register("A").unwrap();
    assert_eq!(register.address(0), Some(0));
    assert_eq!(register.address(1), None);
    assert_eq!(register.fields.first().unwrap().bits.mask(), 0xF0);
}

#[test]
fn the_message_names_register_line_and_remedy() {
    let text = register("A", "0x10", "") + &register("B", "0x10", "");
    let violations = violations(&text);
    let message = violations.first().unwrap().to_string();
    // The head has two lines, the title is line 3, A is lines 4 to 8 and an empty one.
    assert_eq!(
        message,
        "line 11: B: overlaps A at 0x00010; correct one of them, or declare an alias"
    );
}

#[test]
fn all_violations_are_reported_at_once_in_order() {
    let text = register("A", "0x2", "") + &register("B", "0x20000", "");
    let found: Vec<String> = violations(&text)
        .into_iter()
        .map(|one| one.subject)
        .collect();
    assert_eq!(found, ["A", "B"]);
}

#[test]
fn names_are_unique_and_fit_for_constants() {
    let twice = register("A", "0x0", "") + &register("A", "0x4", "");
    assert!(matches!(violation(&twice), Problem::DuplicateName { name, .. } if name == "A"));
    // Field EXT of CTRL and register CTRL_EXT would be the same constant.
    let field = register(
        "A",
        "0x0",
        "fields = [{ name = \"B\", bits = \"0\", summary = \"B.\" }]",
    );
    let clash = field + &register("A_B", "0x4", "");
    assert!(
        matches!(violation(&clash), Problem::DuplicateName { name, other }
        if name == "A_B" && other == "A.B")
    );
    let lower = register("Abc", "0x0", "");
    assert!(matches!(violation(&lower), Problem::BadName { .. }));
    let digit = register("4A", "0x0", "");
    assert!(matches!(violation(&digit), Problem::BadName { .. }));
}

#[test]
fn registers_do_not_overlap() {
    let array = register("A", "0x100", "stride = 8\ncount = 4") + &register("B", "0x118", "");
    assert!(
        matches!(violation(&array), Problem::Overlap { other, address: 0x118 }
        if other == "A(3)")
    );
    let between = register("A", "0x100", "stride = 8\ncount = 4") + &register("B", "0x11c", "");
    assert!(map_with(&format!("title = \"Group\"\n{between}")).is_ok());
    let continued = register(
        "A",
        "0x0",
        "count = 2\ncontinued = { offset = 0x40, count = 2 }",
    ) + &register("B", "0x44", "");
    assert!(matches!(violation(&continued), Problem::Overlap { other, .. } if other == "A(3)"));
    let alias = register("A", "0x0", "aliases = [{ offset = 0x80 }]") + &register("B", "0x80", "");
    assert!(matches!(violation(&alias), Problem::Overlap { .. }));
    let own = register("A", "0x0", "aliases = [{ offset = 0x0 }]");
    assert!(matches!(violation(&own), Problem::Overlap { .. }));
}

#[test]
fn addresses_are_aligned_and_inside_the_space() {
    let offset = register("A", "0x2", "");
    assert!(matches!(
        violation(&offset),
        Problem::Unaligned {
            what: "offset",
            value: 2
        }
    ));
    let stride = register("A", "0x0", "stride = 6\ncount = 2");
    assert!(matches!(
        violation(&stride),
        Problem::Unaligned {
            what: "stride",
            value: 6
        }
    ));
    let beyond = register("A", "0x1fff8", "count = 3");
    assert!(matches!(
        violation(&beyond),
        Problem::OutsideSpace { end: 0x20004, .. }
    ));
    let huge = register("A", "0xfffffffc", "count = 0xffffffff");
    assert!(matches!(violation(&huge), Problem::OutsideSpace { .. }));
}

#[test]
fn arrays_have_entries_and_a_stride() {
    let far = register(
        "A",
        "0x0",
        "count = 2\naliases = [{ offset = 0x40, first = 0xffffffff }]",
    );
    assert!(matches!(violation(&far), Problem::AliasBeyond { .. }));
    let none = register("A", "0x0", "count = 0");
    assert!(matches!(violation(&none), Problem::NoEntries));
    let heap = register("A", "0x0", "stride = 0\ncount = 2");
    assert!(matches!(violation(&heap), Problem::NoStride));
    let alias = register(
        "A",
        "0x0",
        "count = 2\naliases = [{ offset = 0x40, first = 1, count = 2 }]",
    );
    assert!(matches!(
        violation(&alias),
        Problem::AliasBeyond {
            last: 2,
            entries: 2
        }
    ));
}

#[test]
fn fields_fit_and_do_not_overlap() {
    let field = |fields: &str| violation(&register("A", "0x0", &format!("fields = [{fields}]")));
    let outside = field("{ name = \"F\", bits = \"32\", summary = \"F.\" }");
    assert!(matches!(outside, Problem::FieldOutside { width: 32, .. }));
    let overlap = field(
        "{ name = \"F\", bits = \"7:4\", summary = \"F.\" }, { name = \"G\", bits = \"4\", summary = \"G.\" }",
    );
    assert!(matches!(overlap, Problem::FieldOverlap { other } if other == "F"));
    let value = field("{ name = \"F\", bits = \"1:0\", values = { X = 4 }, summary = \"F.\" }");
    assert!(matches!(value, Problem::ValueTooLarge { value: 4, .. }));
}

#[test]
fn reset_values_fit() {
    let large = register("A", "0x0", "reset = 0x1_0000_0000");
    assert!(matches!(violation(&large), Problem::ResetTooLarge { .. }));
    let first = register("A", "0x0", "count = 2\nreset_first = 0x1_0000_0000");
    assert!(matches!(violation(&first), Problem::ResetTooLarge { .. }));
    let alone = register("A", "0x0", "reset_first = 1");
    assert!(matches!(violation(&alone), Problem::ResetFirstAlone));
}

#[test]
fn references_lead_somewhere() {
    for key in ["acts_on", "fields_as"] {
        let nowhere = register("A", "0x0", &format!("{key} = \"B\""));
        assert!(
            matches!(violation(&nowhere), Problem::BadReference { key: found, .. } if found == key)
        );
        let itself = register("A", "0x0", &format!("{key} = \"A\""));
        assert!(matches!(violation(&itself), Problem::BadReference { .. }));
    }
    let shorter = register("A", "0x0", "count = 2\nacts_on = \"B\"") + &register("B", "0x40", "");
    assert!(matches!(violation(&shorter), Problem::BadReference { .. }));
    let chain = register("A", "0x0", "fields_as = \"B\"")
        + &register("B", "0x4", "fields_as = \"C\"")
        + &register("C", "0x8", "");
    assert!(matches!(violation(&chain), Problem::BadReference { .. }));
}

#[test]
fn summaries_and_sections_have_their_form() {
    let long = register("A", "0x0", "").replace("One.", &"x".repeat(85));
    assert!(matches!(
        violation(&long),
        Problem::BadSummary {
            length: 85,
            max: 84
        }
    ));
    let none = register("A", "0x0", "").replace("One.", "");
    assert!(matches!(
        violation(&none),
        Problem::BadSummary { length: 0, .. }
    ));
    let quote = register("A", "0x0", "").replace("One.", "\\\"One\\\"");
    assert!(matches!(violation(&quote), Problem::BadSummary { .. }));
    let ends_comment = register("A", "0x0", "").replace("One.", "*/");
    assert!(matches!(
        violation(&ends_comment),
        Problem::BadSummary { .. }
    ));
    let section = register("A", "0x0", "section = \"8.2.x\"");
    assert!(matches!(violation(&section), Problem::BadSection { .. }));
}

#[test]
fn descriptors_have_two_words_of_64_bits() {
    let descriptor = |fields: &str| {
        violation(&format!(
            "[[descriptor]]\nname = \"D\"\nform = \"any\"\nsummary = \"D.\"\nfields = [{fields}]"
        ))
    };
    let word = descriptor("{ name = \"F\", word = 2, bits = \"0\", summary = \"F.\" }");
    assert!(matches!(word, Problem::BadWord { word: 2 }));
    let outside = descriptor("{ name = \"F\", word = 1, bits = \"64\", summary = \"F.\" }");
    assert!(matches!(outside, Problem::FieldOutside { width: 64, .. }));
    let overlap = descriptor(
        "{ name = \"F\", word = 1, bits = \"3:0\", summary = \"F.\" }, { name = \"G\", word = 1, bits = \"3\", summary = \"G.\" }",
    );
    assert!(matches!(overlap, Problem::FieldOverlap { .. }));
}

#[test]
fn phy_registers_are_within_reach_of_mdio() {
    for place in ["device = 32\noffset = 0x0", "device = 1\noffset = 0x10000"] {
        let phy = format!("[[phy]]\nname = \"PHY_A\"\n{place}\nsummary = \"A.\"");
        assert!(
            matches!(violation(&phy), Problem::BadPhyPlace { .. }),
            "{place}"
        );
    }
}

#[test]
fn pci_registers_are_naturally_aligned() {
    let pci = "[[pci]]\nname = \"PCI_A\"\noffset = 0x2\nsize = 4\nsummary = \"A.\"";
    assert!(matches!(
        violation(pci),
        Problem::BadPciSize { size: 4, offset: 2 }
    ));
    let size = "[[pci]]\nname = \"PCI_A\"\noffset = 0x0\nsize = 3\nsummary = \"A.\"";
    assert!(matches!(
        violation(size),
        Problem::BadPciSize { size: 3, .. }
    ));
    let beyond = "[[pci]]\nname = \"PCI_A\"\noffset = 0xfffffffc\nsize = 4\nsummary = \"A.\"";
    assert!(matches!(violation(beyond), Problem::BadPciSize { .. }));
}

#[test]
fn devices_are_known_and_unique() {
    let device = |id: &str, family: &str| {
        format!("[[device]]\nid = {id}\nname = \"Card\"\nfamily = \"{family}\"\n")
    };
    let twice = device("0x10fb", "82599") + &device("0x10fb", "X540");
    assert!(matches!(violation(&twice), Problem::DuplicateDevice { .. }));
    let unknown = device("0x10fb", "82598");
    assert!(matches!(violation(&unknown), Problem::UnknownFamily { .. }));
}

#[test]
fn malformed_toml_is_refused_with_its_line() {
    for (text, hint) in [
        ("[[group.register]]\nname = \"A\"\noffset = \"zero\"\n", "line 6"),
        ("[[group.register]]\nname = \"A\"\ncolour = 1\n", "colour"),
        ("[[group.register]]\nname = \"A\"\noffset = 0\naccess = \"rx\"\n", "rx"),
        ("[[group.register]]\nname = \"A\"\noffset = 0\nfields = [{ name = \"F\", bits = \"1:4\" }]\n", "hi:lo"),
    ] {
        match map_with(&format!("title = \"Group\"\n{text}")) {
            Err(Error::Syntax(error)) => {
                let message = error.to_string();
                assert!(message.contains(hint), "{message}");
            }
            other => panic!("expected a syntax error, found {other:?}"),
        }
    }
}
