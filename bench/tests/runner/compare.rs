//! Tests `triptych compare` from the command line to the JSON file. Stub compilers copy stand-ins for the
//! driver, of which one needs twice the instructions of the other.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{copying_compiler, text, works_here, Build};
use serde_json::Value;
use tempfile::TempDir;

/// A comparison at a small number of packets. The stand-ins have no card that works in turns, so valgrind
/// counts.
const CONFIG: &str =
    "batch = [32]\nbackends = [\"valgrind\", \"lockstep\"]\nvalgrind = { packets = 20_480 }\n\
                      lockstep = { processes = 1, rounds = 3 }\n\
                      [[block]]\ntoolchains = [\"gcc\"]\n";

struct Fixture {
    build: Build,
    plain: String,
    patched: String,
}

impl Fixture {
    fn new() -> Self {
        let build = Build::new();
        std::fs::write(build.path().join("compilers.toml"), CONFIG).unwrap();
        let [plain, patched] =
            [("plain", "WORK=10"), ("patched", "WORK=20")].map(|(name, define)| {
                build.driver(name, &[define]);
                copying_compiler(&build.path().join(name))
            });
        Self {
            build,
            plain,
            patched,
        }
    }

    fn compare(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_triptych"))
            .args(["compare", "--impl", "c", "--config"])
            .arg(self.build.path().join("compilers.toml"))
            .arg("--build-dir")
            .arg(self.build.path())
            .arg("--results")
            .arg(self.build.path().join("results"))
            .args(arguments)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .env("TMPDIR", self.build.path())
            .env_remove("MAKEFLAGS")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn result(&self) -> Value {
        let file = self.build.path().join("results/latest/compilers.json");
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }
}

#[test]
fn a_patched_compiler_is_compared_with_the_unpatched_one() {
    if !works_here("valgrind") {
        eprintln!("valgrind is not installed: nothing is checked");
        return;
    }
    let fixture = Fixture::new();
    let both = format!("before={},after={}", fixture.plain, fixture.patched);
    let copy = fixture.build.path().join("copy.json");
    let copy = copy.to_str().unwrap();
    let output = fixture.compare(&["--toolchain", &both, "--baseline", "before", "--json", copy]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("Worse with the new build: 1 of 1."), "{said}");
    // The cycles may be worse, too.
    let worse = said
        .lines()
        .find(|line| line.contains("worse by "))
        .unwrap();
    assert!(worse.contains("instructions"), "{said}");
    assert!(worse.ends_with("; this gives the exit status 3"), "{said}");
    assert!(said.contains("only one version of gcc, 12.2.0"), "{said}");
    let result = fixture.result();
    let copied: Value = serde_json::from_str(&std::fs::read_to_string(copy).unwrap()).unwrap();
    assert_eq!(copied, result);
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{said}");
    let instructions = |row: &Value| row["metrics"]["instructions"]["median"].as_f64().unwrap();
    let [before, after] = [&rows[0], &rows[1]].map(instructions);
    assert!(after > 1.5 * before, "{said}");
    assert_eq!(rows[1]["compiler"], "after");
    assert_ne!(rows[0]["sha256"], rows[1]["sha256"]);
    assert_eq!(rows[1]["metrics"]["instructions"]["backend"], "valgrind");
    assert!(rows[1]["command"].as_str().unwrap().contains("-O2"));
    assert!(result["toolchains"][0]["parts"][0]["sha256"].is_string());

    // The other direction is better, and so is a limit that the change does not exceed.
    let output = fixture.compare(&["--toolchain", &both, "--baseline", "after"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let stored = fixture.build.path().join("results/latest");
    let stored = stored.to_str().unwrap();

    // Last month's result: its TSC cycles are not comparable.
    let patched = format!("before={}", fixture.patched);
    let output = fixture.compare(&["--toolchain", &patched, "--baseline", stored]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("TSC cycles are not comparable"), "{said}");
    let limit = ["--baseline", copy, "--threshold", "1000"];
    let output = fixture.compare(&[&["--toolchain", &patched][..], &limit].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn a_missing_compiler_is_an_error_only_if_all_are_needed() {
    let fixture = Fixture::new();
    let both = format!("before={},gcc-99", fixture.plain);
    for (options, status) in [(&[][..], 0), (&["--strict"], 1)] {
        let output = fixture.compare(&[&["--list", "--toolchain", &both], options].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("skipped: gcc-99"), "{said}");
    }
    let output = fixture.compare(&["--strict", "--toolchain", &both]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(!fixture.build.path().join("results").exists());
}

#[test]
fn a_wrong_baseline_is_an_error_of_usage() {
    let fixture = Fixture::new();
    let other = fixture.build.path().join("other.json");
    std::fs::write(&other, "[]").unwrap();
    for (baseline, why) in [
        (other.to_str().unwrap(), "is not a result"),
        ("/nonexistent.json", "cannot read"),
        ("gcc-7000", "not installed"),
    ] {
        let plain = fixture.plain.as_str();
        let output = fixture.compare(&["--toolchain", plain, "--baseline", baseline]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
    let output = fixture.compare(&["--toolchain", &fixture.plain, "--threshold", "few"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A repository whose Makefile copies a stand-in, which the driver's source names.
struct Commits {
    fixture: Fixture,
    sources: TempDir,
}

impl Commits {
    fn new() -> Self {
        let commits = Self {
            fixture: Fixture::new(),
            sources: tempfile::tempdir().unwrap(),
        };
        commits.git(&["init", "--quiet"]);
        let copies = "into-c:\n\tmkdir -p $(INTO)/c && cp $(shell cat c/src/which)/* $(INTO)/c/\n";
        commits.commit("Makefile", copies);
        commits
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(&self.sources)
            .args(["-c", "user.name=a", "-c", "user.email=b"]);
        assert!(git.args(arguments).status().unwrap().success());
    }

    fn commit(&self, file: &str, text: &str) {
        let path = self.sources.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", file, "--allow-empty"]);
    }

    /// Changes the driver to a stand-in.
    fn driver(&self, name: &str) {
        let folder = self.fixture.build.path().join(name);
        self.commit("c/src/which", folder.to_str().unwrap());
    }

    fn compare(&self, more: &[&str]) -> (Option<i32>, String) {
        let build = self.fixture.build.path();
        let toolchain = &self.fixture.plain;
        let arguments = [
            "compare",
            "--impl=c",
            "--machine=box",
            "--toolchain",
            toolchain,
        ];
        let mut triptych = self
            .fixture
            .build
            .triptych(&[&arguments[..], more].concat());
        triptych.arg("--config").arg(build.join("compilers.toml"));
        let output = triptych.current_dir(&self.sources).output().unwrap();
        (output.status.code(), text(&output))
    }
}

#[test]
fn the_commit_that_made_a_driver_dearer_is_found_and_no_other() {
    if !works_here("valgrind") {
        return;
    }
    let commits = Commits::new();
    commits.driver("plain");
    commits.git(&["tag", "first"]);
    for text in ["one", "two", "three"] {
        commits.commit("README.md", text);
        commits.commit("c/src/README.md", text);
    }
    let (code, said) = commits.compare(&["--commits", "first..HEAD"]);
    assert_eq!(code, Some(0), "{said}");
    // The program stays the same, so it is counted once.
    assert_eq!(said.matches("valgrind  1/1").count(), 1, "{said}");
    assert!(
        said.contains("4 commits in results/box/history: 0 cells"),
        "{said}"
    );

    commits.driver("patched");
    for text in ["four", "five", "six"] {
        commits.commit("c/src/README.md", text);
    }
    // The first and the last are measured, and then one half of the rest.
    let (code, said) = commits.compare(&["--commits", "first..HEAD", "--every", "100"]);
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(said.matches("dearer: ").count(), 1, "{said}");
    assert!(said.contains(" c/src/which (after "), "{said}");
    assert!(said.contains("1 cells became dearer"), "{said}");
    let runs = commits.sources.path().join("results/box/history");
    for run in std::fs::read_dir(runs).unwrap() {
        let run = run.unwrap().path();
        let revision = record::read_run(&run)
            .unwrap()
            .git
            .unwrap()
            .revision
            .unwrap();
        let cell = std::fs::read_dir(run.join("cells"))
            .unwrap()
            .next()
            .unwrap();
        let cell = std::fs::read_to_string(cell.unwrap().path()).unwrap();
        assert!(cell.contains(&revision), "{cell}");
    }
    let (code, said) = commits.compare(&["--commits", "first"]);
    assert!(code == Some(2) && said.contains("write A..B"), "{said}");
}
