//! Checks `triptych asm --diff` with GCC. Checks nothing without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use perfcounters::process::find_program;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `triptych asm --diff` in the top folder, with builds in a folder of this test.
fn diff(build: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(["asm", "--diff"])
        .args(arguments)
        .arg("--build-dir")
        .arg(build)
        .current_dir(top())
        .output()
        .unwrap()
}

/// All with one build folder, so that a driver is built once.
#[test]
fn a_side_does_not_differ_from_itself_and_flags_make_a_difference() {
    if find_program("gcc").is_none() || cfg!(not(target_arch = "x86_64")) {
        eprintln!("there is no gcc for x86-64: nothing is checked");
        return;
    }
    let build = tempfile::tempdir().unwrap();
    let text = |arguments: &[&str]| {
        let output = diff(build.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json = |arguments| serde_json::from_str::<serde_json::Value>(&text(arguments)).unwrap();
    let same = json(&["c@gcc", "c@gcc", "--json"]);
    let lines = &same["lines"];
    assert_eq!(lines["differ"], 0);
    assert_eq!(lines["names"], 0);
    assert!(lines["same"].as_u64().unwrap() > 50, "{lines}");
    let other = json(&["c", "c@-fno-inline", "--function", "rx_batch", "--json"]);
    assert!(other["lines"]["differ"].as_u64().unwrap() > 0);
    assert!(other["a"]["label"].as_str().unwrap().starts_with("c, gcc "));
    let text = text(&["c", "c@-fno-inline", "--unified"]);
    assert!(text.contains("lines differ: "), "{text}");
    assert!(text.contains("; c/src/driver/rx.c:"), "no source: {text}");
    assert!(!text.contains('\u{1b}'), "colours without a terminal");
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
        let output = diff(build.path(), &sides);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("building "), "{said}");
    }
}
