//! Tests `triptych peers` with a small repository in place of the public ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use triptych::build::peers::record::{Origin, PeersRecord};

/// The flags in the CMakeLists.txt of the small repository.
const CMAKE: &str = "set(CMAKE_C_STANDARD 11)\nadd_compile_options(-O1 -DANSWER=42)\nset(SOURCE_COMMON src/more.c)\n";
const MAIN: &str =
    "#include <stdio.h>\nconst int BATCH_SIZE = 32;\nint answer(void);\nint main(void) {\n    \
                    printf(\"%d %d\\n\", BATCH_SIZE, answer());\n    return 0;\n}\n";

/// A place with a repository `origin`, a folder `bundles`, a `peers.toml` and a build folder.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let source = place.path("origin/src");
        fs::create_dir_all(&source).unwrap();
        fs::create_dir(place.path("bundles")).unwrap();
        fs::write(place.path("origin/CMakeLists.txt"), CMAKE).unwrap();
        fs::write(source.join("main.c"), MAIN).unwrap();
        fs::write(
            source.join("more.c"),
            "int answer(void) { return ANSWER; }\n",
        )
        .unwrap();
        place.git(&["init", "--quiet"]);
        place.commit();
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

    /// Commits all files, and pins the commit in `peers.toml`.
    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "c"]);
        self.git(&[
            "bundle",
            "create",
            "--quiet",
            "../bundles/small.bundle",
            "HEAD",
        ]);
        let tree = self.git(&["rev-parse", "HEAD^{tree}"]);
        self.pin(&tree);
    }

    fn pin(&self, tree: &str) {
        let text = format!(
            r#"
batch = [32, 8]
[[source]]
name = "small"
url = "file://{}"
bundle = "small.bundle"
commit = "{}"
tree = "{tree}"
licence = "MIT"
[[c]]
impl = "ixy"
source = "small"
expect = "touch@1"
ring_size = 512
program = "src/main.c"
include = "src"
constant = "const int BATCH_SIZE = 32;"
own_flags = ["-O1", "-DANSWER=42", "-std=gnu11"]
sources = ["src/more.c"]
"#,
            self.path("origin").display(),
            self.git(&["rev-parse", "HEAD"]),
        );
        fs::write(self.path("peers.toml"), text).unwrap();
    }

    fn peers(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_triptych"))
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
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }

    fn record(&self) -> PeersRecord {
        PeersRecord::read(&self.path("build")).unwrap().unwrap()
    }
}

#[test]
fn programs_are_built_once_for_each_batch_size_and_variant() {
    let place = Place::new();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(0), "{text}");
    let record = place.record();
    assert!(record.skipped.is_empty(), "{record:?}");
    let variants: Vec<_> = record
        .peers
        .iter()
        .map(|peer| peer.variant.as_str())
        .collect();
    assert_eq!(variants, ["default", "own-flags"]);
    let mut times = Vec::new();
    for peer in &record.peers {
        assert_eq!(peer.source.from, Origin::Repository);
        for (build, batch) in peer.builds.iter().zip([32, 8]) {
            let output = Command::new(&build.program).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert_eq!(printed, format!("{batch} 42\n"));
            let change = (batch != 32).then(|| "const int BATCH_SIZE = 8;".to_owned());
            assert_eq!(build.change, change);
            times.push(fs::metadata(&build.program).unwrap().modified().unwrap());
        }
    }
    assert!(record.peers[0].toolchain.contains("-flto"), "{record:?}");
    assert!(
        record.peers[1]
            .toolchain
            .ends_with("-O1 -DANSWER=42 -std=gnu11"),
        "{record:?}"
    );

    // A second run needs neither the repository nor a compiler.
    fs::remove_dir_all(place.path("origin/.git")).unwrap();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(0), "{text}");
    let again = place.record();
    let builds = again.peers.iter().flat_map(|peer| &peer.builds);
    let modified = builds.map(|build| fs::metadata(&build.program).unwrap().modified().unwrap());
    assert_eq!(modified.collect::<Vec<_>>(), times);
    let (status, list) = place.peers(&["--list"]);
    assert_eq!((status, list.as_str()), (Some(0), text.as_str()));
}

#[test]
fn what_cannot_be_had_is_skipped_with_a_reason_and_no_error() {
    let place = Place::new();
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let (status, text) = place.peers(&["--from", empty.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("skipped: ixy (default)") && text.contains("small.bundle"),
        "{text}"
    );
    let record = place.record();
    assert_eq!((record.peers.len(), record.skipped.len()), (0, 2));

    fs::rename(place.path("origin"), place.path("away")).unwrap();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("cannot reach file://"), "{text}");

    let bundles = place.path("bundles");
    let (status, text) = place.peers(&["--from", bundles.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(place.record().peers[0].source.from, Origin::Bundle);
}

#[test]
fn other_files_than_the_pinned_ones_are_a_failure() {
    let place = Place::new();
    place.pin("0123456789012345678901234567890123456789");
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("pins 01234567"), "{text}");
    assert_eq!(place.record().skipped.len(), 2);

    let tree = place.git(&["rev-parse", "HEAD^{tree}"]);
    place.pin(&tree);
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(0), "{text}");
    fs::write(place.path("build/peers/source/small/src/more.c"), "").unwrap();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("src/more.c"), "{text}");
}

#[test]
fn a_build_that_fails_is_a_failure_and_the_compiler_says_why() {
    let place = Place::new();
    fs::write(
        place.path("origin/src/more.c"),
        "int answer(void) { return WRONG; }\n",
    )
    .unwrap();
    place.commit();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("WRONG"), "{text}");

    let cmake = CMAKE.replace("-O1", "-O3");
    fs::write(place.path("origin/CMakeLists.txt"), cmake).unwrap();
    place.commit();
    fs::remove_dir_all(place.path("build/peers/source")).unwrap();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("-O3") && text.contains("peers.toml names"),
        "{text}"
    );
}

#[test]
fn wrong_options_and_files_end_with_2() {
    let place = Place::new();
    for wrong in [
        &["--from", "/nonexistent/bundles"][..],
        &["--list", "--from", "."],
        &["--no-such-thing"],
    ] {
        let (status, text) = place.peers(wrong);
        assert_eq!(status, Some(2), "{wrong:?}: {text}");
    }
    fs::write(place.path("peers.toml"), "batch = [8]\n").unwrap();
    let (status, text) = place.peers(&[]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("peers.toml"), "{text}");
    assert!(!place.path("build").exists());
}

#[test]
fn a_list_before_the_first_build_says_what_to_do() {
    let place = Place::new();
    let (status, text) = place.peers(&["--list"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("make peers"), "{text}");
}
