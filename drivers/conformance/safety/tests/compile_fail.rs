//! The mistakes that do not compile in safe Rust: each twin without the mistake compiles and runs.

use safety_lab::outcome::{DriverBuild, Outcome};
use safety_lab::{builds, catalogue, compile_fail};

#[test]
fn every_twin_runs_against_the_card_and_every_mistake_is_refused() {
    let externs = builds::externs().unwrap();
    let mut refused = Vec::new();
    for hazard in catalogue::read(&catalogue::path()).unwrap() {
        let recorded = &hazard.outcome[&DriverBuild::Rust];
        let mistake = compile_fail::mistake(&hazard.id).unwrap();
        assert_eq!(
            recorded.allows(Outcome::DoesNotCompile),
            mistake.is_some(),
            "{}: rust/tests/compile_fail and hazards.toml disagree",
            hazard.id
        );
        let Some(mistake) = mistake else { continue };
        let evidence = compile_fail::run(&compile_fail::source(), &mistake, &externs).unwrap();
        assert_eq!(
            evidence.outcome().0,
            Outcome::DoesNotCompile,
            "{}",
            hazard.id
        );
        refused.push(hazard.id);
    }
    assert!(refused.len() >= 5, "{refused:?}");
}

/// Misuse of the driver's interface, which has no twin in C and so no hazard.
#[test]
fn every_twin_of_misuse_runs_against_the_card() {
    let externs = builds::externs().unwrap();
    for misuse in ["raw_memory", "raw_registers"] {
        let evidence = compile_fail::run(&compile_fail::source(), misuse, &externs).unwrap();
        assert_eq!(evidence.outcome().0, Outcome::DoesNotCompile, "{misuse}");
    }
}

#[test]
fn a_mistake_whose_twin_fails_proves_nothing() {
    let externs = builds::externs().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("wrong.rs");
    let cases = [
        ("fn main() { absent() }", "must compile"),
        ("fn main() { std::process::exit(3) }", "exit status: 3"),
        ("fn main() { std::process::abort() }", "signal: 6"),
    ];
    for (twin, expected) in cases {
        let text = format!("#[cfg(mistake)] fn main() {{ absent() }} #[cfg(not(mistake))] {twin}");
        std::fs::write(&source, text).unwrap();
        let error = format!(
            "{:#}",
            compile_fail::run(&source, "mistake", &externs).unwrap_err()
        );
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
