//! Checks by their machine code, not by their flags, that the variants are what their names say.
//! Reads the builds of `make build variants`, and checks nothing without them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The instructions of each function of a driver; `None` if the driver is not built.
fn functions(variant: &str, implementation: &str) -> Option<BTreeMap<String, Vec<String>>> {
    disassemble(variant, implementation, "ixgbe-fwd")
}

fn disassemble(
    variant: &str,
    implementation: &str,
    artefact: &str,
) -> Option<BTreeMap<String, Vec<String>>> {
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build");
    let folder: PathBuf = match variant {
        "default" => build.join("bin"),
        variant => build.join("variants").join(variant),
    };
    let artefact = folder.join(implementation).join(artefact);
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
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
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

fn count(functions: &BTreeMap<String, Vec<String>>, what: &str) -> usize {
    let all = functions.values().flatten();
    all.filter(|instruction| instruction.contains(what)).count()
}

/// The functions that handle every packet.
const HOT: [&str; 3] = ["forwarder_turn", "rx_batch", "tx_batch"];

#[test]
fn trapping_ubsan_traps_and_does_not_report() {
    let (Some(trapping), Some(default)) =
        (functions("trapping-ubsan", "c"), functions("default", "c"))
    else {
        return;
    };
    assert_eq!(count(&default, "ud2"), 0);
    assert!(count(&trapping, "ud2") > 0);
    assert_eq!(
        count(&trapping, "ubsan"),
        0,
        "it reports instead of trapping"
    );
}

#[test]
fn fortified_c_has_canaries_and_checked_calls() {
    let (Some(fortified), Some(default)) = (functions("fortified", "c"), functions("default", "c"))
    else {
        return;
    };
    for what in ["__stack_chk_fail", "__snprintf_chk"] {
        assert_eq!(count(&default, what), 0, "{what}");
        assert!(count(&fortified, what) > 0, "{what}");
    }
}

/// bench/README.md says so. If a compiler adds such a check one day, change the README.
#[test]
fn hardening_adds_no_check_to_the_data_path_of_c() {
    for (variant, check) in [("trapping-ubsan", "ud2"), ("fortified", "__stack_chk_fail")] {
        // The program inlines these functions; the library does not.
        let Some(functions) = disassemble(variant, "c", "libforwarder.so") else {
            return;
        };
        let hot: Vec<_> = HOT.iter().filter_map(|name| functions.get(*name)).collect();
        assert!(!hot.is_empty(), "no function of the data path was found");
        for instruction in hot.into_iter().flatten() {
            assert!(!instruction.contains(check), "{variant}: {instruction}");
        }
    }
}

#[test]
fn overflow_checks_are_in_rust() {
    for implementation in ["rust", "rust-unsafe"] {
        let (Some(checked), Some(default)) = (
            functions("overflow-checks", implementation),
            functions("default", implementation),
        ) else {
            return;
        };
        let (checked, default) = (
            count(&checked, "panic_const"),
            count(&default, "panic_const"),
        );
        assert!(checked > default, "{implementation}: {checked}, {default}");
    }
}

#[test]
fn without_lto_less_is_inlined() {
    for implementation in ["c", "rust", "rust-unsafe"] {
        let (Some(without), Some(with)) = (
            functions("no-lto", implementation),
            functions("default", implementation),
        ) else {
            return;
        };
        assert!(
            without.len() > with.len(),
            "{implementation}: {} functions without, {} with",
            without.len(),
            with.len()
        );
    }
}
