//! Driver mistakes are patches: each applies to the sources as they are, and changes them.

use safety_lab::builds::{copy_and_patch, patch_file};
use safety_lab::lab;
use safety_lab::outcome::Subject;
use safety_lab::scenario::SCENARIOS;

#[test]
fn every_patch_applies() {
    for (hazard, scenario) in SCENARIOS {
        for subject in [Subject::C, Subject::Rust, Subject::RustUnsafe] {
            let patch = patch_file(hazard, subject);
            assert_eq!(patch.is_file(), scenario.patched, "{}", patch.display());
            if scenario.patched {
                let work = tempfile::tempdir().unwrap();
                copy_and_patch(subject, work.path(), &patch).unwrap();
            }
        }
    }
}

#[test]
fn a_patch_that_does_not_belong_to_the_sources_is_refused() {
    let work = tempfile::tempdir().unwrap();
    let patch = work.path().join("wrong.patch");
    let text = "--- a/c/src/tx.c\n+++ b/c/src/tx.c\n@@ -1,1 +1,1 @@\n-no such line\n+another\n";
    std::fs::write(&patch, text).unwrap();
    let error = copy_and_patch(Subject::C, work.path(), &patch).unwrap_err();
    assert!(error.to_string().contains("does not apply"), "{error}");
}

#[test]
fn no_patch_is_without_its_hazard() {
    for entry in lab().join("patches").read_dir().unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let patched = SCENARIOS
            .iter()
            .any(|(hazard, scenario)| *hazard == name && scenario.patched);
        assert!(patched, "patches/{name}");
    }
}
