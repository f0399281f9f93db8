//! Mistakes with packets and devices that do not compile.
//!
//! Each program in `compile_fail/` has its mistake with `--cfg mistake` only, and names the compiler's error.
//! Without that, it compiles. So the mistake alone stops the compiler. The safety lab also runs the program
//! without its mistake against the software card. Two programs compile with `--cfg harmless`, too: it leaves
//! out the line that makes a later line a mistake.
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

/// Compiles a program with these cfgs. Returns the compiler's messages if it refuses.
fn compile(program: &Path, cfgs: &[&str]) -> Result<(), String> {
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
        .arg(program)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn each_mistake_alone_is_refused_with_the_named_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let mut refused = 0;
    for entry in folder.read_dir().unwrap() {
        let program = entry.unwrap().path();
        let source = fs::read_to_string(&program).unwrap();
        let Some(named) = source
            .lines()
            .find_map(|line| line.strip_prefix("//! error"))
        else {
            assert!(program.ends_with("setup.rs"), "{}", program.display());
            continue;
        };
        let program = program.as_path();
        compile(program, &[]).unwrap();
        let message = compile(program, &["mistake"]).unwrap_err();
        let mut lines = message.lines();
        let first = lines.find_map(|line| line.strip_prefix("error"));
        assert_eq!(first, Some(named), "{message}");
        if source.contains("#[cfg(not(harmless))]") {
            compile(program, &["mistake", "harmless"]).unwrap();
        }
        refused += 1;
    }
    assert!(refused >= 9, "{refused}");
}
