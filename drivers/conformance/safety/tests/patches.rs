//! Each driver mistake is a patch for each driver, and each patch applies to the current sources.

use safety_lab::builds::{copy_and_patch, patch_file};
use safety_lab::catalogue;
use safety_lab::outcome::DriverBuild;
use safety_lab::paths::lab;
use safety_lab::scenario::scenario;

#[test]
fn every_patch_applies() {
    for hazard in catalogue::read(&catalogue::path()).unwrap() {
        let patched = scenario(&hazard.id).unwrap().patched;
        for driver in [DriverBuild::C, DriverBuild::Rust, DriverBuild::RustUnsafe] {
            let patch = patch_file(&hazard.id, driver);
            assert_eq!(patch.is_file(), patched, "{}", patch.display());
            if patched {
                let work = tempfile::tempdir().unwrap();
                copy_and_patch(driver, work.path(), &patch).unwrap();
            }
        }
    }
}

#[test]
fn a_patch_for_other_sources_is_refused() {
    let work = tempfile::tempdir().unwrap();
    let patch = work.path().join("wrong.patch");
    let text = "--- a/c/src/driver/tx.c\n+++ b/c/src/driver/tx.c\n@@ -1,1 +1,1 @@\n-no such line\n+another\n";
    std::fs::write(&patch, text).unwrap();
    let error = copy_and_patch(DriverBuild::C, work.path(), &patch).unwrap_err();
    assert!(error.to_string().contains("does not apply"), "{error}");
}

#[test]
fn every_patch_has_a_hazard() {
    let hazards = catalogue::read(&catalogue::path()).unwrap();
    for entry in lab().join("patches").read_dir().unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let known = hazards.iter().any(|hazard| hazard.id == name);
        assert!(known && scenario(&name).unwrap().patched, "patches/{name}");
    }
}
