//! A bounded run: the C driver by `triptych with-card`, ixy if it is built, and programs that go wrong.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use conformance::{build_folder, Program};
use foreign::cases::CASES;
use foreign::outcome::Outcome;
use foreign::subject::{self, Subject};
use nic::Expected;

/// `triptych`, if this machine can run programs with the card.
fn triptych() -> Option<PathBuf> {
    let bin = std::fs::canonicalize(build_folder().join("bin")).ok()?;
    let triptych = bin.join("triptych");
    if !bin.join("libtriptych_bridge.so").is_file() || !triptych.is_file() {
        eprintln!("skipped: make build has not built the bridge");
        return None;
    }
    let tried = Program::at(&triptych).args(["with-card", "--", "true"]);
    let tried = tried.run().ok()?;
    if !tried.status.success() {
        eprintln!("skipped: triptych with-card does not run here: {tried}");
        return None;
    }
    Some(triptych)
}

fn outcome(triptych: &Path, name: &str, subject: &Subject) -> Outcome {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    case.run(triptych, subject).unwrap().0
}

#[test]
fn the_c_driver_and_ixy_forward() {
    let Some(triptych) = triptych() else { return };
    let mut subjects = subject::own(&build_folder().join("bin"));
    if let Ok((peers, _)) = subject::peers(&build_folder().join("peers/peers.json")) {
        subjects.extend(peers);
    }
    subjects.retain(|subject| matches!(&subject.name[..], "c" | "ixy"));
    assert_eq!(subjects[0].name, "c", "make build has not built it");
    for subject in &subjects {
        for name in ["forwards", "rx-length-zero"] {
            let outcome = outcome(&triptych, name, subject);
            assert_eq!(outcome, Outcome::Pass, "{name}: {}", subject.name);
        }
    }
    // The same over the card's sockets, without the bridge.
    let words =
        subjects[0].program.display().to_string() + " vfio-user:{socket0} vfio-user:{socket1}";
    let direct = subject::of_words(&words, Expected::default()).unwrap();
    assert_eq!(outcome(&triptych, "forwards", &direct), Outcome::Pass);
    // A driver that is expected to do otherwise sends wrong frames.
    subjects[0].expect = Expected::Unchanged;
    let outcome = outcome(&triptych, "forwards", &subjects[0]);
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
    let expected = Outcome::Crashes(139, "last words".to_owned());
    assert_eq!(crash, expected);
}
