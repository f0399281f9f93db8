//! Tests `triptych asm`: that it shows the code that is measured, though its own builds have line tables, and that
//! it finds how two builds differ. Checks nothing without the builds of `make build`, or without GCC.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `triptych asm` in the top folder.
fn asm(arguments: &[&str], build: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .arg("asm")
        .args(arguments)
        .arg("--build-dir")
        .arg(build)
        .current_dir(top())
        // Cargo sets these for this test.
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn asm_shows_the_code_that_is_measured() {
    // One after another, because they share a build folder.
    for implementation in ["c", "rust", "rust-unsafe"] {
        let shipped = format!("build/bin/{implementation}/ixgbe-fwd");
        if !top().join(&shipped).exists() {
            eprintln!("{shipped} is not built: nothing is checked");
            continue;
        }
        let said = said(&asm(&[implementation], Path::new("build")));
        if let Some(why) = said.lines().find(|line| line.starts_with("not compared: ")) {
            eprintln!("{implementation}: {why}");
            continue;
        }
        assert!(said.contains(": the same instructions as in "), "{said}");
        for wrong in [": differs from ", " has no such function"] {
            assert!(!said.contains(wrong), "{said}");
        }
    }
}

#[test]
fn a_side_does_not_differ_from_itself_and_flags_make_a_difference() {
    if Command::new("gcc").arg("--version").output().is_err() || cfg!(not(target_arch = "x86_64")) {
        eprintln!("there is no gcc for x86-64: nothing is checked");
        return;
    }
    let build = tempfile::tempdir().unwrap();
    let json = |sides: &[&str]| -> serde_json::Value {
        let arguments = [&["--diff"], sides, &["--json"]].concat();
        serde_json::from_str(&said(&asm(&arguments, build.path()))).unwrap()
    };
    let lines = &json(&["c@gcc", "c@gcc"])["lines"];
    let numbers = ["differ", "names", "same"].map(|name| lines[name].as_u64().unwrap());
    assert!(numbers[..2] == [0, 0] && numbers[2] > 50, "{lines}");
    let other = json(&["c", "c@-fno-inline", "--function", "rx_batch"]);
    assert!(other["lines"]["differ"].as_u64().unwrap() > 0);
    assert!(other["a"]["label"].as_str().unwrap().starts_with("c, gcc "));
    let unified = ["--diff", "c", "c@-fno-inline", "--unified"];
    let text = said(&asm(&unified, build.path()));
    assert!(text.contains("lines differ: "), "{text}");
    assert!(text.contains("; c/src/driver/rx.c:"), "no source: {text}");
    assert!(!text.contains('\u{1b}'), "colours without a terminal");
    let one = ["c", "--function", "rx_batch", "--json"];
    let one: serde_json::Value = serde_json::from_str(&said(&asm(&one, build.path()))).unwrap();
    assert_eq!(one["counts"], other["a"]["counts"]);
    assert_eq!(one["functions"], other["a"]["functions"]);
}

#[test]
fn a_mistake_in_a_side_ends_with_2() {
    let build = tempfile::tempdir().unwrap();
    for (sides, why) in [
        (["d@gcc", "c"], "not a driver"),
        (["-O2", "-O3"], "names no driver"),
        (["c", "c@commit:no-such-commit"], "no-such-commit"),
        (["c", "program:no-such-program"], "no-such-program"),
    ] {
        let output = asm(&["--diff", sides[0], sides[1]], build.path());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("building "), "{said}");
    }
}
