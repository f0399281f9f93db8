//! Checks by their machine code, not by their flags, that the variants are what their names say.
//! Reads the builds of `make build variants`, and checks nothing without them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use triptych::build::builds::variants::build_folder;

type Functions = BTreeMap<String, Vec<String>>;

/// The instructions of each function of a driver; `None` if the driver is not built.
fn functions(variant: &str, implementation: &str, artefact: &str) -> Option<Functions> {
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build");
    let implementation = implementation.parse().unwrap();
    let artefact = build_folder(&build, implementation, variant).join(artefact);
    if !artefact.exists() {
        eprintln!("{} is not built: nothing is checked", artefact.display());
        return None;
    }
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--demangle"])
        .arg(&artefact)
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", artefact.display());
    let mut functions = Functions::new();
    let mut name = String::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        if let Some((_, rest)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
            name = rest.trim_end_matches(">:").to_owned();
        } else if let Some((_, instruction)) = line.split_once(":\t") {
            let instructions = functions.entry(name.clone()).or_default();
            instructions.push(instruction.to_owned());
        }
    }
    Some(functions)
}

fn count(functions: &Functions, what: &str) -> usize {
    let all = functions.values().flatten();
    all.filter(|instruction| instruction.contains(what)).count()
}

/// The functions that handle every packet.
const HOT: [&str; 3] = ["forwarder_turn", "rx_batch", "tx_batch"];

/// The checks are not on the data path: bench/README.md says so. If a compiler adds such a check one day, change the
/// README.
#[test]
fn hardened_c_has_its_checks_off_the_data_path() {
    for (variant, check, absent) in [
        // It traps and does not report.
        ("trapping-ubsan", "ud2", "ubsan"),
        ("fortified", "__stack_chk_fail", "ud2"),
        ("fortified", "__snprintf_chk", "ud2"),
    ] {
        let of = |variant| functions(variant, "c", "ixgbe-fwd");
        // The program inlines the functions of the data path; the library does not.
        let library = functions(variant, "c", "libforwarder.so");
        let (Some(hardened), Some(default), Some(library)) = (of(variant), of("default"), library)
        else {
            return;
        };
        assert_eq!(count(&default, check), 0, "{check}");
        assert!(count(&hardened, check) > 0, "{variant}: {check}");
        assert_eq!(count(&hardened, absent), 0, "{variant}: {absent}");
        let hot: Vec<_> = HOT.iter().filter_map(|name| library.get(*name)).collect();
        assert!(!hot.is_empty(), "no function of the data path was found");
        for instruction in hot.into_iter().flatten() {
            assert!(!instruction.contains(check), "{variant}: {instruction}");
        }
    }
}

#[test]
fn overflow_checks_are_in_rust_and_less_is_inlined_without_lto() {
    let panics = |functions: &Functions| count(functions, "panic_const");
    for implementation in ["c", "rust", "rust-unsafe"] {
        let of = |variant| functions(variant, implementation, "ixgbe-fwd");
        let (Some(default), Some(without)) = (of("default"), of("no-lto")) else {
            return;
        };
        assert!(without.len() > default.len(), "{implementation}");
        if implementation != "c" {
            let Some(checked) = of("overflow-checks") else {
                return;
            };
            assert!(panics(&checked) > panics(&default), "{implementation}");
        }
    }
}
