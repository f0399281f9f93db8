//! A build folder of stand-ins, and commands that run the program on it.

#![allow(dead_code, missing_docs, unused_imports, clippy::unwrap_used)]

#[path = "../../../../perfcounters/tests/common/mod.rs"]
pub mod common;
mod compilers;
pub mod with_card;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{fixture, forwarder, library};
pub use compilers::{copying_compiler, script, stub_compiler};
use perfcounters::process::{allowed_cpus, find_program};

/// A build folder in which every driver is a stand-in.
pub struct Build {
    folder: tempfile::TempDir,
}

impl Build {
    pub fn new() -> Self {
        let build = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for place in [
            "bin/c",
            "bin/rust",
            "bin/rust-unsafe",
            "variants/overflow-checks/rust",
        ] {
            build.driver(place, &[]);
        }
        fs::write(
            build.path().join("bin/c/toolchain.txt"),
            "gcc (Debian 12.2.0-14) 12.2.0 -O2\n",
        )
        .unwrap();
        fs::copy(fixture("fake_nic.py"), build.path().join("bin/nic")).unwrap();
        build
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn driver(&self, place: &str, defines: &[&str]) {
        let folder = self.path().join(place);
        fs::create_dir_all(&folder).unwrap();
        forwarder(&folder.join("ixgbe-fwd"), defines);
        library(&folder.join("libforwarder.so"), defines);
    }

    pub fn triptych(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
        command
            .args(arguments)
            .arg("--build-dir")
            .arg(self.path())
            .current_dir(self.path())
            // A killed process leaves its temporary folder here, and this folder is removed.
            .env("TMPDIR", self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.triptych(arguments).output().unwrap()
    }
}

pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

pub fn works_here(backend: &str) -> bool {
    match backend {
        "valgrind" => find_program("valgrind").is_some(),
        _ => allowed_cpus().len() > 1,
    }
}

/// Waits until something is so, at most half a minute.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the first sample of an unfinished run, and returns the run.
pub fn first_sample(results: &Path) -> String {
    let mut id = String::new();
    wait_until("nothing was measured", || {
        id = record::unfinished_runs(results).pop().unwrap_or_default();
        let samples = fs::read_to_string(results.join(&id).join(record::SAMPLES_FILE));
        samples.is_ok_and(|text| text.lines().count() > 1)
    });
    id
}
