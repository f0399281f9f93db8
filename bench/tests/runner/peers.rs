//! Tests `triptych peers` with a small repository in place of the public ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const MAIN: &str = "#include <stdio.h>\nconst int BATCH_SIZE = 32;\nint answer(void);\n\
                    int main(void) { printf(\"%d %d\\n\", BATCH_SIZE, answer()); return 0; }\n";

/// A place with a repository `origin`, a folder `bundles`, a `peers.toml` and a build folder.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(place.path("origin/src")).unwrap();
        fs::create_dir(place.path("bundles")).unwrap();
        fs::write(place.path("origin/src/main.c"), MAIN).unwrap();
        place.git(&["init", "--quiet"]);
        place.commit("int answer(void) { return ANSWER; }\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.path("origin"))
            .args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits a second file, and pins the commit in `peers.toml`.
    fn commit(&self, more: &str) {
        fs::write(self.path("origin/src/more.c"), more).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "c"]);
        let bundle = "bundle create --quiet ../bundles/small.bundle HEAD";
        self.git(&bundle.split(' ').collect::<Vec<_>>());
        self.pin(&self.git(&["rev-parse", "HEAD"]));
    }

    fn pin(&self, commit: &str) {
        let text = format!(
            r#"
batch = [32, 8]
[[source]]
name = "small"
url = "file://{}"
bundle = "small.bundle"
commit = "{commit}"
program = "src/main.c"
constant = "const int BATCH_SIZE = 32;"
include = "src"
own_flags = ["-O1", "-DANSWER=42", "-std=gnu11"]
files = ["src/more.c"]
[[peer]]
impl = "ixy"
expect = {{ default = "touch@1", own-flags = "touch@1" }}
ring_size = 512
recipe.c.source = "small"
"#,
            self.path("origin").display(),
        );
        fs::write(self.path("peers.toml"), text).unwrap();
    }

    /// Runs the command, checks its exit status, and returns what it printed.
    fn peers(&self, arguments: &[&str], status: i32) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_triptych"))
            .arg("peers")
            .arg("--config")
            .arg(self.path("peers.toml"))
            .arg("--build-dir")
            .arg(self.path("build"))
            .args(arguments)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(output.status.code(), Some(status), "{text}");
        text
    }

    fn record(&self) -> Value {
        let text = fs::read_to_string(self.path("build/peers/peers.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn programs_are_built_once_for_each_batch_size_and_variant() {
    let place = Place::new();
    let text = place.peers(&[], 0);
    let record = place.record();
    let builds = |place: &Place| -> Vec<Value> {
        let record = place.record();
        let peers = array(&record["peers"]).iter();
        let builds = peers.flat_map(|peer| array(&peer["builds"]).to_owned());
        builds.collect()
    };
    let program = |build: &Value| PathBuf::from(build["program"].as_str().unwrap());
    let time = |build: &Value| fs::metadata(program(build)).unwrap().modified().unwrap();
    let built = builds(&place);
    let times: Vec<_> = built.iter().map(time).collect();
    let eight = Some("const int BATCH_SIZE = 8;");
    let expected = [("32 42\n", None), ("8 42\n", eight)];
    for (build, (printed, change)) in built.iter().zip(expected.into_iter().cycle()) {
        let output = Command::new(program(build)).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), printed);
        assert_eq!(build["change"].as_str(), change);
    }
    let toolchain = |peer: usize| record["peers"][peer]["toolchain"].as_str().unwrap();
    assert!(toolchain(0).contains("-flto"), "{record}");
    let own = "-O1 -DANSWER=42 -std=gnu11";
    assert!(toolchain(1).ends_with(own), "{record}");
    assert_eq!(record["peers"][0]["source"]["from"], "repository");

    // A second run needs no repository, and compiles nothing.
    fs::remove_dir_all(place.path("origin/.git")).unwrap();
    assert_eq!(place.peers(&[], 0), text);
    assert!(builds(&place).iter().map(time).eq(times));
    assert_eq!(place.peers(&["--list"], 0), text);

    // A missing program is built again.
    fs::remove_file(program(&built[0])).unwrap();
    assert_eq!(place.peers(&[], 0), text);
    assert!(program(&built[0]).exists());
    fs::write(place.path("build/peers/peers.json"), "{").unwrap();
    let text = place.peers(&["--list"], 1);
    assert!(text.contains("run `make peers` again"), "{text}");
}

#[test]
fn what_cannot_be_had_is_skipped_with_a_reason_and_no_error() {
    let place = Place::new();
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let text = place.peers(&["--from", empty.to_str().unwrap()], 0);
    assert!(text.contains("skipped: ixy (default)"), "{text}");
    assert!(text.contains("small.bundle"), "{text}");
    assert_eq!(array(&place.record()["skipped"]).len(), 2);

    fs::rename(place.path("origin"), place.path("away")).unwrap();
    let text = place.peers(&[], 0);
    assert!(text.contains("cannot reach file://"), "{text}");

    place.peers(&["--from", place.path("bundles").to_str().unwrap()], 0);
    assert_eq!(place.record()["peers"][0]["source"]["from"], "bundle");
}

#[test]
fn a_missing_commit_and_a_build_that_fails_are_failures() {
    let place = Place::new();
    let bundles = place.path("bundles");
    place.pin("0123456789012345678901234567890123456789");
    for from in [&[][..], &["--from", bundles.to_str().unwrap()]] {
        let text = place.peers(from, 1);
        assert!(text.contains("commit 01234567"), "{text}");
    }
    assert_eq!(array(&place.record()["skipped"]).len(), 2);
    place.commit("int answer(void) { return WRONG; }\n");
    for text in [place.peers(&[], 1), place.peers(&[], 1)] {
        assert!(text.contains("WRONG"), "{text}");
    }
    fs::write(place.path("bundles/small.bundle"), "no bundle").unwrap();
    fs::remove_dir_all(place.path("build/peers/git")).unwrap();
    let text = place.peers(&["--from", bundles.to_str().unwrap()], 1);
    assert!(text.contains("small.bundle"), "{text}");
}

#[test]
fn wrong_options_and_files_end_with_2() {
    let place = Place::new();
    place.peers(&["--from", "/nonexistent/bundles"], 2);
    place.peers(&["--list", "--from", "."], 2);
    let text = place.peers(&["--list"], 1);
    assert!(text.contains("make peers"), "{text}");
    fs::write(place.path("peers.toml"), "batches = [8]\n").unwrap();
    let text = place.peers(&[], 2);
    assert!(text.contains("peers.toml"), "{text}");
    assert!(!place.path("build").exists());
}
