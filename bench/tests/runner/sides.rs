//! Checks `triptych asm --diff` with GCC. Checks nothing without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `triptych` in the top folder, with builds in a folder of this test.
fn triptych(build: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
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

fn has_gcc() -> bool {
    let found = Command::new("gcc").arg("--version").output().is_ok();
    if !found {
        eprintln!("there is no gcc: nothing is checked");
    }
    found && cfg!(target_arch = "x86_64")
}

fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_side_does_not_differ_from_itself_and_flags_make_a_difference() {
    if !has_gcc() {
        return;
    }
    let build = tempfile::tempdir().unwrap();
    let same = json(&triptych(
        build.path(),
        &["asm", "--diff", "c@gcc", "c@gcc", "--json"],
    ));
    assert_eq!(same["lines"]["differ"], 0);
    assert_eq!(same["lines"]["names"], 0);
    assert!(
        same["lines"]["same"].as_u64().unwrap() > 50,
        "{}",
        same["lines"]
    );
    let other = json(&triptych(
        build.path(),
        &[
            "asm",
            "--diff",
            "c",
            "c@-fno-inline",
            "--function",
            "rx_batch",
            "--json",
        ],
    ));
    assert!(other["lines"]["differ"].as_u64().unwrap() > 0);
    assert!(other["a"]["label"].as_str().unwrap().starts_with("c, gcc "));
    let text = String::from_utf8(
        triptych(
            build.path(),
            &["asm", "--diff", "c", "c@-fno-inline", "--unified"],
        )
        .stdout,
    )
    .unwrap();
    assert!(text.contains("lines differ: "), "{text}");
    assert!(text.contains("; c/src/driver/rx.c:"), "no source: {text}");
    assert!(!text.contains('\u{1b}'), "colours without a terminal");
}

#[test]
fn a_mistake_in_a_side_ends_with_2() {
    let build = tempfile::tempdir().unwrap();
    for (arguments, why) in [
        (&["asm", "--diff", "d@gcc", "c"][..], "not a driver"),
        (&["asm", "--diff", "-O2", "-O3"], "names no driver"),
        (
            &["asm", "--diff", "c", "c@commit:no-such-commit"],
            "no-such-commit",
        ),
        (
            &["asm", "--diff", "c", "program:no-such-program"],
            "no-such-program",
        ),
    ] {
        let output = triptych(build.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("building "), "{said}");
    }
}
