//! The generated files: that they are current, that they say what the map says, and that a compiler
//! takes the C headers as they are.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use ixgbe_registers::emit::{c, markdown, nic, rust};
use ixgbe_registers::map::RegisterMap;
use ixgbe_registers::outputs::{self, Output};
use ixgbe_registers::usage::Selection;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn generated() -> [Output; 4] {
    let map = RegisterMap::of_the_82599().unwrap();
    outputs::outputs(&map, &Selection::of_drivers(&root()).unwrap())
}

/// A map with one of each thing, to look at what becomes of it.
fn small() -> RegisterMap {
    RegisterMap::parse(
        r#"
bar0_size = 0x20000
devices = [
    { id = 0x10fb, name = "Card", family = "82599" },
    { id = 0x15ab, name = "Other", family = "X550", refused = "it is other" },
]
pci = [{ name = "PCI_COMMAND", offset = 0x4, size = 2, summary = "Command.", fields = [
    { name = "BUS_MASTER", bits = "2", summary = "DMA." },
] }]
phy = [{ name = "PHY_CONTROL", device = 30, offset = 0x1, summary = "Control.", fields = [
    { name = "OFF", bits = "11", summary = "Off." },
] }]
[[group]]
title = "Only"
registers = [
    { name = "ONE", offset = 0x18, access = "rw", reset = 0x12, section = "8.2.3.1.3", summary = "Single.", fields = [
        { name = "F", bits = "5:4", access = "sc", values = { B = 3, A = 1 }, summary = "Field." },
    ] },
    { name = "TWO", other_names = ["ALSO"], offset = 0x1018, stride = 0x40, count = 64, continued = { offset = 0xD018, stride = 0x40, count = 64 }, aliases = [{ offset = 0x2100, count = 16 }], access = "ro", summary = "Array." },
]
[[descriptor]]
name = "D"
form = "written"
summary = "Descriptor."
fields = [{ name = "LEN", word = 1, bits = "47:32", summary = "Length." }]
"#,
    )
    .unwrap()
}

fn has_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            text.lines().any(|found| found.trim_start() == *line),
            "missing: {line}\n{text}"
        );
    }
}

#[test]
fn the_files_are_current() {
    let outputs = generated();
    let stale = outputs::stale(&root(), &outputs).unwrap();
    assert!(stale.is_empty(), "{stale:?}; run `make registers`");
    for header in outputs {
        let lines = header.text.lines().count();
        assert!(lines <= 640, "{} is too long to read", header.path);
    }
}

#[test]
fn the_program_writes_stale_files_unless_it_checks() {
    let folder = tempfile::tempdir().unwrap();
    for sources in ["c/src/driver", "rust/src/driver"] {
        std::fs::create_dir_all(folder.path().join(sources)).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_generate-registers"));
        let output = program
            .arg("--root")
            .arg(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    };
    let header = folder.path().join("c/src/driver/registers.h");
    let (status, message) = run(&["--check"]);
    assert_eq!(status, 1);
    assert!(
        message.contains("c/src/driver/registers.h") && message.contains("`make registers`"),
        "{message}"
    );
    assert!(!header.exists());
    assert_eq!(run(&[]).1.lines().count(), 4, "all files are written");
    assert_eq!(run(&["--check"]), (0, String::new()));
    std::fs::write(&header, "edited by hand").unwrap();
    assert_eq!(run(&[]), (0, "wrote c/src/driver/registers.h\n".to_owned()));
    assert_eq!(run(&["--no-such-option"]).0, 2);
    let page = folder.path().join("docs/registers.md");
    assert_eq!(run(&["--page", page.to_str().unwrap()]), (0, String::new()));
    assert!(std::fs::read_to_string(page)
        .unwrap()
        .contains("\n| CTRL | 0x00000; alias 0x00004 | rw |"));
}

#[test]
fn the_c_headers_have_contents() {
    let text = c::registers(&small(), &Selection::Whole);
    has_lines(&text, &[
        "/* generated from registers.toml by `make registers`; do not edit */",
        "/* ONE, rw: Single. Datasheet 8.2.3.1.3. */",
        "#define IXGBE_ONE 0x00018u",
        "/* Bits 5:4, sc: Field. */",
        "#define IXGBE_ONE_F 0x00000030u",
        "#define IXGBE_ONE_F_A 0x00000010u",
        "#define IXGBE_ONE_F_B 0x00000030u",
        "#define IXGBE_TWO(n) ((n) < 64u ? 0x01018u + 0x40u * (n) : 0x0D018u + 0x40u * ((n) - 64u))",
        "#define IXGBE_ALSO(n) ((n) < 64u ? 0x01018u + 0x40u * (n) : 0x0D018u + 0x40u * ((n) - 64u))",
        "#define IXGBE_TWO_COUNT 128u",
        "#define IXGBE_D_LEN UINT64_C(0x0000FFFF00000000)",
        "#define IXGBE_PCI_COMMAND 0x04u",
        "#define IXGBE_PCI_COMMAND_BUS_MASTER 0x0004u",
        "#define IXGBE_PHY_CONTROL_DEVICE 30u",
        "#define IXGBE_PHY_CONTROL 0x0001u",
        "#define IXGBE_PHY_CONTROL_OFF 0x00000800u",
    ]);
    // In order of the value, not of the name.
    assert!(text.find("ONE_F_A").unwrap() < text.find("ONE_F_B").unwrap());
    has_lines(
        &c::device_ids(&small()),
        &[
            "{0x10fb, DEVICE_FAMILY_82599, \"Card\", NULL},",
            "{0x15ab, DEVICE_FAMILY_X550, \"Other\",",
            "\"it is other\"},",
            "#define IXGBE_DEVICE_ID_COUNT 2u",
        ],
    );
}

#[test]
fn the_rust_modules_have_contents() {
    has_lines(&rust::registers(&small(), &Selection::Whole), &[
        "/// ONE, rw: Single. Datasheet 8.2.3.1.3.",
        "pub const ONE: u32 = 0x00018;",
        "/// Bits 5:4, sc: Field.",
        "pub const ONE_F: u32 = 0x00000030;",
        "pub const ONE_F_A: u32 = 0x00000010;",
        "/// ALSO, ro, n < 128: Array.",
        "pub const fn TWO(n: u32) -> u32 { if n < 64 { 0x01018 + 0x40 * n } else { 0x0D018 + 0x40 * (n - 64) } }",
        "pub const TWO_COUNT: u32 = 128;",
        "// D, written: Descriptor.",
        "pub const D_LEN: u64 = 0x0000FFFF00000000;",
        "pub const PCI_COMMAND_BUS_MASTER: u16 = 0x0004;",
        "pub const PHY_CONTROL_DEVICE: u32 = 30;",
        "pub const PHY_CONTROL: u32 = 0x0001;",
        "pub const PHY_CONTROL_OFF: u32 = 0x00000800;",
    ]);
    has_lines(&rust::device_ids(&small()), &[
        "DeviceId { id: 0x10fb, name: \"Card\", family: Family::Intel82599, refused: None },",
        "DeviceId { id: 0x15ab, name: \"Other\", family: Family::X550, refused: Some(\"it is other\") },",
    ]);
    let table = nic::registers(&small());
    for part in [
        "pub enum RegisterId {\n    ONE,\n    TWO,\n}",
        "reset: 0x12, reset_first: 0x12, acts_on: None, fields: &[Field { name: \"F\", mask: ONE_F, access: Access::SelfClearing }, ]",
    ] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn the_reference_has_contents() {
    has_lines(&markdown::reference(&small()), &[
        "| ONE | 0x00018 | rw | 0x12 | 8.2.3.1.3 | Single. |",
        "| TWO(n), ALSO | 0x01018 + 0x40 n, n = 0...63; 0x0D018 + 0x40 (n - 64), n = 64...127; alias 0x02100 + 0x4 n, n = 0...15 | ro | 0x0 |  | Array. |",
        "| F | 5:4 | sc | Field. Values: 0x1 A, 0x3 B. |",
        "| LEN | 1 | 47:32 | Length. |",
        "| PHY_CONTROL | 30 | 0x0001 | Control. Bit 11, OFF: Off. |",
        "| 0x10fb | Card | 82599 |  |",
        "| 0x15ab | Other | X550 | it is other |",
    ]);
}

#[test]
fn a_selection_leaves_the_rest_out_but_for_the_masks_of_values() {
    let names_after = |text: &str, signs: &[&str]| -> Vec<String> {
        let name = |line: &str| {
            let rest = signs.iter().find_map(|sign| line.strip_prefix(sign))?;
            rest.split(['(', ' ', ':']).next().map(str::to_owned)
        };
        text.lines().filter_map(name).collect()
    };
    let used = ["ONE_F_B", "TWO", "PCI_COMMAND", "field"];
    let selection = Selection::Used(used.map(str::to_owned).into());
    let header = c::registers(&small(), &selection);
    let kept = [
        "REGISTERS_H",
        "FIELD",
        "FIELD_GET",
        "ONE_F",
        "ONE_F_B",
        "TWO",
        "PCI_COMMAND",
    ];
    assert_eq!(names_after(&header, &["#define IXGBE_"]), kept);
    let module = rust::registers(&small(), &selection);
    let kept = ["field", "ONE_F", "ONE_F_B", "TWO", "PCI_COMMAND"];
    assert_eq!(names_after(&module, &["pub const fn ", "pub const "]), kept);
}

#[test]
fn the_headers_are_plain_c11_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("headers.c");
    std::fs::write(
        &source,
        "#include \"driver/registers.h\"
#include \"driver/device_ids.h\"
#include \"driver/registers.h\"
_Static_assert(IXGBE_RDT(0) == 0x01018 && IXGBE_RDT(64u) == 0x0D018, \"two ranges\");
_Static_assert(IXGBE_FIELD(IXGBE_AUTOC_LMS, 3u) == IXGBE_AUTOC_LMS_10G_SERIAL, \"put\");
_Static_assert(IXGBE_FIELD_GET(IXGBE_AUTOC_LMS, 0x6000u) == 3, \"taken\");
_Static_assert(IXGBE_FIELD(IXGBE_TXD_PAYLEN, 60u) == UINT64_C(60) << 46, \"put, 64 bits\");
_Static_assert(IXGBE_FIELD_GET(IXGBE_RXD_LENGTH, UINT64_C(60) << 32) == 60, \"taken, 64 bits\");
int unused_headers_are_fine;
",
    )
    .unwrap();
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Werror",
        "-fsyntax-only",
        "-I",
    ]);
    let result = compiler
        .arg(root().join("c/src"))
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
}
