//! Checks that `triptych asm` shows the code that is measured. Its own builds have line tables, which
//! must not change the code. Reads the builds of `make build`, and checks nothing without them.

use std::path::Path;
use std::process::Command;

/// The output of `triptych asm`; `None` if the driver is not built.
fn said(implementation: &str) -> Option<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shipped = sources
        .join("build/bin")
        .join(implementation)
        .join("ixgbe-fwd");
    if !shipped.exists() {
        eprintln!("{} is not built: nothing is checked", shipped.display());
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(["asm", implementation])
        .current_dir(&sources)
        // Cargo sets these for this test.
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

fn is_the_measured_code(implementation: &str) {
    let Some(said) = said(implementation) else {
        return;
    };
    if let Some(why) = said.lines().find(|line| line.starts_with("not compared: ")) {
        eprintln!("{implementation}: {why}");
        return;
    }
    let same = said.matches(": the same instructions as in ").count();
    assert!(same > 0, "{implementation}: no function was compared");
    for line in said.lines() {
        assert!(
            !line.contains(": differs from ") && !line.contains(" has no such function"),
            "{implementation}: {line}"
        );
    }
}

#[test]
fn asm_shows_the_code_that_is_measured() {
    // One after another, because they share a build folder.
    for implementation in ["c", "rust", "rust-unsafe"] {
        is_the_measured_code(implementation);
    }
}
