//! Mistakes with packets and devices that do not compile, and the compiler's message for each.
//!
//! `compile_fail/NAME.stderr` holds the whole message of one version of rustc. Other versions change
//! the words and the line numbers, so the test compares only the error codes. For this reason the
//! test does not use trybuild, which compares the text. `TRIPTYCH_BLESS=1` overwrites the files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail")
}

/// The folder with the libraries that this test was linked with.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// The driver's library. Of several, with other settings, the newest.
fn driver() -> PathBuf {
    let written = |path: &PathBuf| -> SystemTime { path.metadata().unwrap().modified().unwrap() };
    libraries()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libixgbe-") && name.ends_with(".rlib")
        })
        .max_by_key(written)
        .expect("no libixgbe-*.rlib beside this test")
}

fn compile(name: &str) -> Output {
    let scratch = tempfile::tempdir().unwrap();
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .current_dir(cases())
        .args(["--edition=2021", "--crate-type=lib", "--emit=metadata"])
        .arg("--out-dir")
        .arg(scratch.path())
        .arg("-L")
        .arg(format!("dependency={}", libraries().display()))
        .arg("--extern")
        .arg(format!("ixgbe={}", driver().display()))
        .arg(format!("{name}.rs"))
        .output()
        .unwrap()
}

/// `E0382` and the like, of the errors in a compiler's message.
fn codes(message: &str) -> BTreeSet<String> {
    message
        .lines()
        .filter_map(|line| line.strip_prefix("error["))
        .filter_map(|rest| rest.split_once(']'))
        .map(|(code, _)| code.to_owned())
        .collect()
}

/// The message without what depends on the machine: notes that point into other crates.
fn portable(message: &str) -> String {
    let (mut kept, mut skipping) = (Vec::new(), false);
    for line in message.lines() {
        let begins = [
            "error",
            "help",
            "note",
            "For more",
            "Some errors",
            "warning",
        ];
        if begins.iter().any(|begin| line.starts_with(begin)) {
            skipping = line.starts_with("note: required") || line.starts_with("note: `");
        }
        let elsewhere = line.contains("--> /") || line.contains("the full name for the type");
        if !skipping && !elsewhere {
            kept.push(line.trim_end());
        }
    }
    kept.join("\n") + "\n"
}

fn must_not_compile(name: &str, code: &str) {
    let output = compile(name);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{name}.rs compiles");
    assert_eq!(
        codes(&message),
        BTreeSet::from([code.to_owned()]),
        "{message}"
    );
    let file = cases().join(format!("{name}.stderr"));
    if std::env::var_os("TRIPTYCH_BLESS").is_some() {
        std::fs::write(&file, portable(&message)).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(codes(&committed), codes(&message), "{}", file.display());
}

#[test]
fn what_is_right_compiles() {
    let output = compile("good");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
}

#[test]
fn a_packet_cannot_be_used_after_it_was_sent() {
    must_not_compile("use_after_send", "E0382");
}

#[test]
fn a_packet_cannot_be_freed_twice() {
    must_not_compile("double_free", "E0382");
}

#[test]
fn a_packet_cannot_outlive_its_pool() {
    must_not_compile("use_after_pool", "E0505");
}

#[test]
fn nothing_is_in_front_of_a_packet() {
    must_not_compile("write_before_start", "E0277");
}

#[test]
fn a_device_belongs_to_one_thread() {
    must_not_compile("two_threads", "E0277");
}

#[test]
fn every_case_has_a_test() {
    let tested = [
        "good",
        "use_after_send",
        "double_free",
        "use_after_pool",
        "write_before_start",
        "two_threads",
    ];
    for entry in cases().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(tested.contains(&name.as_str()), "{name}");
    }
}
