//! The generated files: that they are current, that they say what the map says, and that their
//! languages' compilers and formatters take them as they are.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use ixgbe_registers::map::RegisterMap;
use ixgbe_registers::outputs::{self, Output};
use ixgbe_registers::usage::{self, Selection};

#[allow(dead_code, missing_docs)]
#[rustfmt::skip]
#[path = "../../../rust/src/driver/registers.rs"]
mod driver;

#[path = "../../../rust/src/driver/device_ids.rs"]
mod driver_ids;

#[allow(missing_docs)]
#[path = "../../nic/src/device/registers.rs"]
mod nic;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn generated() -> (RegisterMap, Vec<Output>) {
    let map = outputs::read_map(&root()).unwrap();
    let outputs = outputs::outputs(&map, &outputs::read_selection(&root()).unwrap());
    (map, outputs)
}

fn text_of<'a>(outputs: &'a [Output], path: &str) -> &'a str {
    &outputs
        .iter()
        .find(|output| output.path == path)
        .unwrap()
        .text
}

/// A map with one of each thing, to look at what becomes of it.
fn small() -> RegisterMap {
    RegisterMap::parse(
        r#"
bar0_size = 0x20000
[[group]]
title = "Only"
[[group.register]]
name = "ONE"
offset = 0x18
access = "rw"
reset = 0x12
section = "8.2.3.1.3"
summary = "Single."
fields = [{ name = "F", bits = "5:4", access = "sc", values = { B = 3, A = 1 }, summary = "Field." }]
[[group.register]]
name = "TWO"
other_names = ["ALSO"]
offset = 0x1018
stride = 0x40
count = 64
continued = { offset = 0xD018, stride = 0x40, count = 64 }
aliases = [{ offset = 0x2100, count = 16 }]
access = "ro"
summary = "Array."
[[descriptor]]
name = "D"
form = "written"
summary = "Descriptor."
fields = [{ name = "LEN", word = 1, bits = "47:32", summary = "Length." }]
[[pci]]
name = "PCI_COMMAND"
offset = 0x4
size = 2
summary = "Command."
fields = [{ name = "BUS_MASTER", bits = "2", summary = "DMA." }]
[[phy]]
name = "PHY_CONTROL"
device = 30
offset = 0x1
summary = "Control."
fields = [{ name = "OFF", bits = "11", summary = "Off." }]
[[device]]
id = 0x10fb
name = "Card"
family = "82599"
[[device]]
id = 0x15ab
name = "Other"
family = "X550"
refused = "it is other"
"#,
    )
    .unwrap()
}

#[test]
fn the_files_are_current() {
    let (_, outputs) = generated();
    let stale = outputs::stale(&root(), &outputs).unwrap();
    assert!(
        stale.is_empty(),
        "stale: {}; run `make registers`",
        stale.join(", ")
    );
}

#[test]
fn generating_twice_gives_the_same_bytes() {
    let (_, first) = generated();
    let (_, second) = generated();
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.text, second.text, "{}", first.path);
    }
}

#[test]
fn stale_and_missing_files_are_found_and_written() {
    let directory = tempfile::tempdir().unwrap();
    let outputs = outputs::outputs(&small(), &Selection::Whole);
    for output in &outputs {
        std::fs::create_dir_all(directory.path().join(output.path).parent().unwrap()).unwrap();
    }
    let all: Vec<&str> = outputs.iter().map(|output| output.path).collect();
    assert_eq!(outputs::stale(directory.path(), &outputs).unwrap(), all);
    assert_eq!(outputs::write(directory.path(), &outputs).unwrap(), all);
    assert!(outputs::stale(directory.path(), &outputs)
        .unwrap()
        .is_empty());
    let header = directory.path().join("c/src/driver/registers.h");
    std::fs::write(&header, "edited by hand").unwrap();
    assert_eq!(
        outputs::stale(directory.path(), &outputs).unwrap(),
        ["c/src/driver/registers.h"]
    );
    assert_eq!(
        outputs::write(directory.path(), &outputs).unwrap(),
        ["c/src/driver/registers.h"]
    );
}

#[test]
fn the_program_checks_without_writing() {
    let program = env!("CARGO_BIN_EXE_generate-registers");
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join(outputs::SOURCE);
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::copy(root().join(outputs::SOURCE), &source).unwrap();
    std::fs::create_dir_all(directory.path().join("c/src")).unwrap();
    std::fs::create_dir_all(directory.path().join("rust/src")).unwrap();
    let run = |arguments: &[&str]| {
        let root = directory.path().to_str().unwrap();
        Command::new(program)
            .args(["--root", root])
            .args(arguments)
            .output()
            .unwrap()
    };
    let check = run(&["--check"]);
    assert_eq!(check.status.code(), Some(1));
    let message = String::from_utf8(check.stderr).unwrap();
    assert!(
        message.contains("c/src/driver/registers.h") && message.contains("`make registers`"),
        "{message}"
    );
    assert!(!directory.path().join("c/src/driver/registers.h").exists());
    assert_eq!(run(&["--no-such-option"]).status.code(), Some(2));
    std::fs::write(&source, "bar0_size = 1\ngroup = 3\n").unwrap();
    let broken = run(&[]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(String::from_utf8(broken.stderr).unwrap().contains("line 2"));
}

#[test]
fn the_c_header_has_contents() {
    let text = ixgbe_registers::emit::c::registers(&small(), &Selection::Whole);
    for line in [
        "#define IXGBE_ONE 0x00018u",
        "/* ONE, rw: Single. Datasheet 8.2.3.1.3. */",
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
    ] {
        assert!(text.lines().any(|found| found == line), "missing: {line}\n{text}");
    }
    assert!(
        text.starts_with("/* generated from registers.toml by `make registers`; do not edit */\n")
    );
    // In order of the value, not of the name.
    assert!(text.find("ONE_F_A").unwrap() < text.find("ONE_F_B").unwrap());
}

#[test]
fn the_device_table_has_contents() {
    let text = ixgbe_registers::emit::c::device_ids(&small());
    assert!(
        text.contains("\t{0x10fb, DEVICE_FAMILY_82599, \"Card\", NULL},\n"),
        "{text}"
    );
    assert!(
        text.contains("\t{0x15ab, DEVICE_FAMILY_X550, \"Other\",\n\t \"it is other\"},\n"),
        "{text}"
    );
    assert!(
        text.contains("#define IXGBE_DEVICE_ID_COUNT 2u\n"),
        "{text}"
    );
}

#[test]
fn the_rust_module_has_contents() {
    let text = ixgbe_registers::emit::rust::registers(&small(), &Selection::Whole);
    let ids = ixgbe_registers::emit::rust::device_ids(&small());
    for id in [
        "    DeviceId { id: 0x10fb, name: \"Card\", family: Family::Intel82599, refused: None },\n",
        "    DeviceId { id: 0x15ab, name: \"Other\", family: Family::X550, refused: Some(\"it is other\") },\n",
    ] {
        assert!(ids.contains(id), "{ids}");
    }
    for part in [
        "pub const ONE: u32 = 0x00018;\n",
        "/// Bits 5:4, sc: Field.\npub const ONE_F: u32 = 0x00000030;\n",
        "/// Value of [`ONE_F`].\npub const ONE_F_A: u32 = 0x00000010;\n",
        "pub const fn TWO(n: u32) -> u32 {\n    if n < 64 {\n        0x01018 + 0x40 * n\n    } else {\n        0x0D018 + 0x40 * (n - 64)\n    }\n}\n",
        "pub const TWO_COUNT: u32 = 128;\n",
        "pub const D_LEN: u64 = 0x0000FFFF00000000;\n",
        "pub const PCI_COMMAND_BUS_MASTER: u16 = 0x0004;\n",
        "pub const PHY_CONTROL_DEVICE: u32 = 30;\n",
        "pub const PHY_CONTROL: u32 = 0x0001;\n",
        "pub const PHY_CONTROL_OFF: u32 = 0x00000800;\n",
    ] {
        assert!(text.contains(part), "missing: {part}\n{text}");
    }
}

#[test]
fn the_reference_has_contents() {
    let text = ixgbe_registers::emit::markdown::reference(&small());
    for line in [
        "| ONE | 0x00018 | rw | 0x12 | 8.2.3.1.3 | Single. |",
        "| TWO(n), ALSO | 0x01018 + 0x40 n, n = 0...63; 0x0D018 + 0x40 (n - 64), n = 64...127; alias 0x02100 + 0x4 n, n = 0...15 | ro | 0x0 |  | Array. |",
        "| F | 5:4 | sc | Field. Values: 0x1 A, 0x3 B. |",
        "| LEN | 1 | 47:32 | Length. |",
        "| PHY_CONTROL | 30 | 0x0001 | Control. Bit 11, OFF: Off. |",
        "| 0x10fb | Card | 82599 |  |",
        "| 0x15ab | Other | X550 | it is other |",
    ] {
        assert!(text.lines().any(|found| found == line), "missing: {line}\n{text}");
    }
}

/// The names of a driver's header, without the language's prefix.
fn constants_of<'t>(text: &'t str, prefixes: &[&str]) -> Vec<&'t str> {
    let name = |line: &'t str| {
        let rest = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix));
        rest.and_then(|rest| rest.split(['(', ' ', ':', '<']).next())
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn the_drivers_headers_hold_what_the_drivers_use() {
    let (_, outputs) = generated();
    let header = text_of(&outputs, "c/src/driver/registers.h");
    let module = text_of(&outputs, "rust/src/driver/registers.rs");
    let used_by_c = usage::used_by_c(&root()).unwrap();
    let used_by_rust = usage::used_by_rust(&root()).unwrap();
    // The mask of a field is there for its values too.
    let has = |used: &BTreeSet<String>, name: &str| {
        let value_of_name = format!("{name}_");
        used.contains(name) || used.iter().any(|used| used.starts_with(&value_of_name))
    };
    for name in constants_of(header, &["#define IXGBE_"]) {
        let used = has(&used_by_c, name) || name == "REGISTERS_H";
        assert!(used, "{name}: in registers.h, not used in c/src");
    }
    for name in constants_of(module, &["pub const fn ", "pub const "]) {
        let used = has(&used_by_rust, name);
        assert!(used, "{name}: in registers.rs, not used in rust/src");
    }
    for text in [header, module] {
        assert!(text.lines().count() <= 640, "a driver's header is too long");
    }
}

#[test]
fn a_selection_leaves_the_rest_out() {
    let names = ["ONE_F_B", "TWO", "PCI_COMMAND", "field"];
    let selection = Selection::Used(names.map(str::to_owned).into());
    let header = ixgbe_registers::emit::c::registers(&small(), &selection);
    // A value needs its mask.
    let found = constants_of(&header, &["#define IXGBE_"]);
    let kept = ["ONE_F", "ONE_F_B", "TWO", "PCI_COMMAND"];
    assert_eq!(found[3..], kept, "{header}");
    let module = ixgbe_registers::emit::rust::registers(&small(), &selection);
    let found = constants_of(&module, &["pub const fn ", "pub const "]);
    let kept = ["field", "ONE_F", "ONE_F_B", "TWO", "PCI_COMMAND"];
    assert_eq!(found, kept, "{module}");
}

#[test]
fn every_register_is_in_the_table_and_the_reference() {
    let (map, outputs) = generated();
    let reference = text_of(&outputs, "drivers/ixgbe/REGISTERS.md");
    assert_eq!(nic::REGISTERS.len(), map.registers().count());
    for (register, row) in map.registers().zip(nic::REGISTERS) {
        let name = register.name();
        assert!(
            reference.contains(&format!("\n| {name}")),
            "{name} in the reference"
        );
        assert_eq!(row.name, name);
        assert_eq!(row.count, register.entries(), "{name}");
        for n in 0..register.entries() {
            assert_eq!(row.address(n), register.address(n), "{name}({n})");
        }
        assert_eq!(row.address(register.entries()), None, "{name}");
    }
}

#[test]
fn the_driver_and_the_software_nic_have_the_same_constants() {
    assert_eq!(driver::RDT(0), nic::RDT(0));
    assert_eq!(driver::RDT(64), 0x0D018);
    assert_eq!(driver::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER, 0x0200_0000);
    assert_eq!(driver::AUTOC_LMS_10G_SERIAL, 0x0000_6000);
    assert_eq!(driver::TXD_DTYP_DATA, 0x3 << 20);
    assert_eq!(driver_ids::DEVICE_IDS.len(), nic::DEVICE_IDS.len());
    for (ours, theirs) in driver_ids::DEVICE_IDS.iter().zip(nic::DEVICE_IDS) {
        assert_eq!(ours.id, theirs.id);
        assert_eq!(ours.family.name(), theirs.family.name());
    }
    let (_, outputs) = generated();
    let driver = text_of(&outputs, "rust/src/driver/registers.rs");
    let nic = text_of(&outputs, "drivers/nic/src/device/registers.rs");
    for line in driver
        .lines()
        .filter(|line| line.starts_with("pub const") && line.ends_with(';'))
    {
        assert!(nic.contains(line), "missing in the software NIC: {line}");
    }
}

#[test]
fn fields_are_put_and_taken() {
    for field in [driver::field, nic::field] {
        assert_eq!(field(nic::AUTOC_LMS, 3), nic::AUTOC_LMS_10G_SERIAL);
        assert_eq!(field(0xFFFF_FFFF, 0x1234_5678), 0x1234_5678);
    }
    assert_eq!(nic::field_get(nic::MAXFRS_MFS, 0x05EE_0000), 1518);
    assert_eq!(nic::field_get(0, 7), 0);
    assert_eq!(driver::field64(driver::TXD_PAYLEN, 60), 60 << 46);
    assert_eq!(driver::field64_get(driver::RXD_LENGTH, 60 << 32 | 3), 60);
}

#[test]
fn the_table_finds_registers_by_address() {
    let name_and_entry = |address| nic::locate(address).map(|(register, n)| (register.name, n));
    assert_eq!(name_and_entry(0x00000), Some(("CTRL", 0)));
    assert_eq!(name_and_entry(0x00004), Some(("CTRL", 0)));
    assert_eq!(name_and_entry(0x01018), Some(("RDT", 0)));
    assert_eq!(name_and_entry(0x0DFD8), Some(("RDT", 127)));
    assert_eq!(name_and_entry(0x02100), Some(("SRRCTL", 0)));
    assert_eq!(name_and_entry(0x0213C), Some(("SRRCTL", 15)));
    assert_eq!(name_and_entry(0x05404), Some(("RAH", 0)));
    assert_eq!(name_and_entry(0x06030), Some(("QPTC", 0)));
    assert_eq!(name_and_entry(0x12300), Some(("EITR", 24)));
    // Nothing there; not aligned; beyond the space.
    assert_eq!(name_and_entry(0x0101C), None);
    assert_eq!(name_and_entry(0x01019), None);
    assert_eq!(name_and_entry(0x20000), None);
}

#[test]
fn every_address_of_the_table_leads_back_to_its_entry() {
    for register in nic::REGISTERS {
        for range in register.ranges.iter().chain(register.aliases) {
            for n in 0..range.count {
                let address = range.offset + range.stride * n;
                let (found, entry) = nic::locate(address).unwrap();
                assert_eq!((found.name, entry), (register.name, range.first + n));
            }
        }
    }
}

#[test]
fn the_table_tells_access_and_reset() {
    use nic::Access;
    let ctrl = nic::register("CTRL").unwrap();
    assert_eq!(
        ctrl.bits_with(Access::SelfClearing),
        nic::CTRL_RST | nic::CTRL_LNK_RST
    );
    assert_eq!(
        ctrl.bits_with(Access::ReadWrite),
        !(nic::CTRL_RST | nic::CTRL_LNK_RST)
    );
    let rdrxctl = nic::register("RDRXCTL").unwrap();
    assert_eq!(rdrxctl.bits_with(Access::ReadOnly), nic::RDRXCTL_DMAIDONE);
    assert_eq!(
        rdrxctl.field("DMAIDONE").unwrap().mask,
        nic::RDRXCTL_DMAIDONE
    );
    assert_eq!(
        nic::register("EICR").unwrap().access,
        Access::ReadClearWriteOneClear
    );
    assert_eq!(nic::register("EIMS").unwrap().access, Access::WriteOneSet);
    let eimc = nic::register("EIMC").unwrap();
    assert_eq!(
        (eimc.access, eimc.acts_on),
        (Access::WriteOneClear, Some(nic::RegisterId::EIMS))
    );
    assert_eq!(
        nic::register("SWSM").unwrap().bits_with(Access::ReadSet),
        nic::SWSM_SMBI
    );
    let threshold = nic::register("TXPBTHRESH").unwrap();
    assert_eq!((threshold.reset_of(0), threshold.reset_of(1)), (0x96, 0));
    let filter = nic::register("RAH").unwrap();
    assert_eq!((filter.reset_of(0), filter.reset_of(1)), (nic::RAH_AV, 0));
    assert_eq!(nic::register("NO_SUCH"), None);
}

/// Runs a tool over a file, or says why not.
fn accepted_by(tool: &mut Command) -> Option<()> {
    match tool.output() {
        Ok(result) => {
            let message = String::from_utf8_lossy(&result.stderr).into_owned()
                + &String::from_utf8_lossy(&result.stdout);
            assert!(result.status.success(), "{tool:?}: {message}");
            Some(())
        }
        Err(error) => {
            eprintln!("skipped: {tool:?}: {error}");
            None
        }
    }
}

#[test]
fn rustfmt_would_change_nothing() {
    for path in [
        "rust/src/driver/device_ids.rs",
        "drivers/nic/src/device/registers.rs",
    ] {
        let mut rustfmt = Command::new("rustfmt");
        accepted_by(
            rustfmt
                .args(["--check", "--edition", "2021"])
                .arg(root().join(path)),
        );
    }
}

#[test]
fn the_headers_are_plain_c11_without_warnings() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("headers.c");
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
    ]);
    compiler
        .arg("-fsyntax-only")
        .arg("-I")
        .arg(root().join("c/src"))
        .arg(&source);
    accepted_by(&mut compiler);
}
