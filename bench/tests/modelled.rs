//! Runs `triptych model` and `triptych asm --model` on a real driver. Reads the builds of `make build`,
//! and checks nothing without them.

#![allow(clippy::unwrap_used)]
#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether the C driver and the software NIC are built.
fn is_built() -> bool {
    let files = ["build/bin/c/ixgbe-fwd", "build/bin/nic"];
    let built = files.iter().all(|file| sources().join(file).exists());
    if !built {
        eprintln!("the C driver or the NIC is not built: nothing is checked");
    }
    built
}

fn triptych(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(arguments)
        .current_dir(sources())
        // Cargo sets these for this test.
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap()
}

/// What a call printed that succeeded.
fn said(arguments: &[&str]) -> String {
    let output = triptych(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The number behind a label of the table.
fn value(table: &str, label: &str) -> f64 {
    let line = table
        .lines()
        .find(|line| line.trim_start().starts_with(label));
    let line = line.unwrap_or_else(|| panic!("no {label} in\n{table}"));
    line.split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn the_model_prints_the_same_twice() {
    if !is_built() {
        return;
    }
    let arguments = [
        "model",
        "--impl",
        "c",
        "--batch",
        "8",
        "--cpu",
        "skylake-sp",
    ];
    let (first, second) = (said(&arguments), said(&arguments));
    assert_eq!(first, second);
    assert!(first.contains("c/default batch 8, modelled: "), "{first}");
    let [cycles, instructions] = ["cycles ", "instructions"].map(|label| value(&first, label));
    assert!(cycles > instructions / 6.0, "{first}");
    let causes = first.split("cycles by cause\n").nth(1).unwrap();
    let sum: f64 = causes
        .lines()
        .filter_map(|line| line.split_whitespace().last()?.parse::<f64>().ok())
        .sum();
    assert!((sum - cycles).abs() < 0.1, "{sum} for {cycles}:\n{first}");
}

#[test]
fn an_unknown_processor_is_an_error_of_usage() {
    let output = triptych(&["model", "--cpu", "pentium"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("pentium") && errors.contains("haswell"),
        "{errors}"
    );
}

#[test]
fn the_listing_shows_modelled_cycles() {
    if !is_built() {
        return;
    }
    let listing = said(&["asm", "c", "--model", "haswell", "--batch", "8"]);
    assert!(listing.contains("Haswell"), "{listing}");
    assert!(listing.contains("batch 8"), "{listing}");
    assert!(
        listing.contains("loads from"),
        "no stall is named: {listing}"
    );
}
