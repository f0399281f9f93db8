//! A bounded run: the C driver by `triptych with-card`, ixy if it is built, and programs that go wrong.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use foreign::cases::{Case, CASES};
use foreign::outcome::Outcome;
use foreign::subject::{self, Subject};
use nic::Expected;

/// The folder `build` of the project.
fn build() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build")
}

/// `triptych`, if this machine can run programs with the card.
fn triptych() -> Option<PathBuf> {
    let bin = std::fs::canonicalize(build().join("bin")).ok()?;
    let triptych = bin.join("triptych");
    let has_bridge = bin.join("libtriptych_bridge.so").is_file();
    if !has_bridge || !triptych.is_file() {
        eprintln!("skipped: make build has not built the bridge");
        return None;
    }
    let help = std::process::Command::new(&triptych)
        .args(["with-card", "--", "true"])
        .output()
        .ok()?;
    if !help.status.success() {
        let reason = String::from_utf8_lossy(&help.stderr);
        eprintln!("skipped: triptych with-card does not run here: {reason}");
        return None;
    }
    Some(triptych)
}

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).unwrap()
}

fn outcome(triptych: &Path, name: &str, subject: &Subject) -> Outcome {
    case(name).run(triptych, subject).unwrap()
}

#[test]
fn the_c_driver_and_ixy_forward() {
    let Some(triptych) = triptych() else { return };
    let mut subjects = subject::own(&build().join("bin"));
    if let Ok((peers, _)) = subject::peers(&build().join("peers/peers.json")) {
        subjects.extend(peers);
    }
    subjects.retain(|subject| matches!(&subject.name[..], "c" | "ixy"));
    assert!(
        !subjects.is_empty(),
        "make build has not built the C driver"
    );
    for subject in &subjects {
        for name in ["forwards", "rx-length-zero"] {
            let outcome = outcome(&triptych, name, subject);
            assert_eq!(outcome, Outcome::Pass, "{name}: {}", subject.name);
        }
    }
}

#[test]
fn a_driver_that_is_expected_to_do_otherwise_sends_wrong_frames() {
    let Some(triptych) = triptych() else { return };
    let mut subjects = subject::own(&build().join("bin"));
    subjects.retain(|subject| subject.name == "c");
    let mut subject = subjects.remove(0);
    subject.expect = Expected::Unchanged;
    let outcome = outcome(&triptych, "forwards", &subject);
    assert!(matches!(outcome, Outcome::WrongFrames(_)), "{outcome}");
}

#[test]
fn programs_that_end_or_crash_are_seen() {
    let Some(triptych) = triptych() else { return };
    let of = |words: &str| {
        let subject = subject::of_words(words, Expected::Unchanged).unwrap();
        outcome(&triptych, "forwards", &subject)
    };
    assert!(matches!(of("/bin/false"), Outcome::Ends(1, _)));
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("crash.sh");
    std::fs::write(&script, "echo last words; kill -SEGV $$\n").unwrap();
    let crash = of(&format!("/bin/sh {}", script.display()));
    assert!(matches!(crash, Outcome::Crashes(139, _)), "{crash}");
}
