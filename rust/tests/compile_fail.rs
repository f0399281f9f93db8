//! Mistakes with packets and devices that do not compile.
//!
//! `compile_fail/mistakes.rs` has each mistake with a `--cfg` of its own only, and names the compiler's error.
//! Without any, it compiles. So the mistake alone stops the compiler. The safety lab also runs the program
//! without mistakes against the software card.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The driver's library beside this test. Of several, with other settings, the newest.
fn driver() -> PathBuf {
    let written = |path: &PathBuf| -> SystemTime { path.metadata().unwrap().modified().unwrap() };
    let program = std::env::current_exe().unwrap();
    fs::read_dir(program.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libixgbe-") && name.ends_with(".rlib")
        })
        .max_by_key(written)
        .expect("no libixgbe-*.rlib beside this test")
}

/// Compiles the program with these cfgs. Returns the compiler's messages if it refuses.
fn compile(cfgs: &[&str]) -> Result<(), String> {
    let scratch = tempfile::tempdir().unwrap();
    let driver = driver();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2021", "--crate-type=bin", "--emit=metadata"])
        .args(cfgs.iter().map(|cfg| format!("--cfg={cfg}")))
        .arg("--out-dir")
        .arg(scratch.path())
        .arg(format!(
            "-Ldependency={}",
            driver.parent().unwrap().display()
        ))
        .arg(format!("--extern=ixgbe={}", driver.display()))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail/mistakes.rs"))
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn each_mistake_alone_is_refused_with_the_named_error() {
    let source = include_str!("compile_fail/mistakes.rs");
    compile(&[]).unwrap();
    let mut functions = 0;
    for function in source.split("/// error").skip(1) {
        let (error, function) = function.split_once("\nfn ").unwrap();
        let end = function
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap();
        let message = compile(&[&function[..end]]).unwrap_err();
        let mut lines = message.lines();
        let first = lines.find_map(|line| line.strip_prefix("error"));
        assert_eq!(first, Some(error), "{message}");
        functions += 1;
    }
    assert_eq!(functions, 9);
}

#[test]
fn a_line_is_a_mistake_because_of_the_line_before() {
    for mistake in ["use_after_send", "double_free"] {
        compile(&[mistake, "harmless"]).unwrap();
    }
}
