//! `triptych with-card` in a build folder with the real card, and a look at what it leaves behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};

/// Time in which the command must end after its program.
pub const BOUND: Duration = Duration::from_secs(10);

/// The programs of `make build`.
pub fn built(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../build/bin")
        .join(name);
    assert!(
        path.exists(),
        "{} is missing: run `make build` first",
        path.display()
    );
    fs::canonicalize(path).unwrap()
}

/// A folder with the card and a bridge. Its name is in the environment of all processes of a test, so
/// that the test finds those that remain.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// With a library that does nothing, for tests of the launcher alone.
    pub fn without_bridge() -> Self {
        let bench = Self::empty();
        let source = bench.path().join("empty.c");
        fs::write(&source, "int triptych_empty;\n").unwrap();
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(bench.path().join("bin/libtriptych_bridge.so"))
            .arg(&source)
            .status()
            .unwrap();
        assert!(status.success());
        bench
    }

    /// With the bridge of `make build`.
    pub fn with_bridge() -> Self {
        let bench = Self::empty();
        let name = "libtriptych_bridge.so";
        std::os::unix::fs::symlink(built(name), bench.path().join("bin").join(name)).unwrap();
        bench
    }

    fn empty() -> Self {
        use std::os::unix::fs::{symlink, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        // Other users run programs here.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        symlink(built("nic"), folder.path().join("bin/nic")).unwrap();
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The command with options before the program.
    pub fn command(&self, options: &[&str], program: &[&str]) -> Command {
        self.prefixed(&[], options, program)
    }

    /// The command as an argument of others, such as `setpriv`.
    pub fn prefixed(&self, prefix: &[&str], options: &[&str], program: &[&str]) -> Command {
        let mut words = prefix.to_vec();
        words.push(env!("CARGO_BIN_EXE_triptych"));
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .arg("with-card")
            .arg("--build-dir")
            .arg(self.path())
            .args(options)
            .arg("--")
            .args(program)
            .env("TMPDIR", self.path().join("tmp"))
            .env("WITH_CARD_TEST", self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a program to its end.
    pub fn run(&self, options: &[&str], program: &[&str]) -> Output {
        self.command(options, program).output().unwrap()
    }

    /// Runs a line of shell.
    pub fn shell(&self, options: &[&str], line: &str) -> Output {
        self.run(options, &["sh", "-c", line])
    }

    /// Starts a line of shell, and waits until it has begun. A `trap` that stands first is set by then.
    pub fn start(&self, line: &str) -> Running<'_> {
        self.start_below(&[], line)
    }

    /// The same, with the command as an argument of others.
    pub fn start_below(&self, prefix: &[&str], line: &str) -> Running<'_> {
        let mark = self.path().join("started");
        let touch = format!("touch {};", mark.display());
        let line = match line.split_once("; ") {
            Some((trap, rest)) if trap.starts_with("trap ") => format!("{trap}; {touch} {rest}"),
            _ => format!("{touch} {line}"),
        };
        let child = self
            .prefixed(prefix, &[], &["sh", "-c", &line])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !mark.exists() {
            assert!(start.elapsed() < BOUND, "the program did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        Running { bench: self, child }
    }

    /// The processes of this test other than the test itself, by the path in their environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("WITH_CARD_TEST={}", self.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
            {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
            }
        }
        found
    }

    /// The process whose command line contains a text.
    pub fn process(&self, text: &str) -> i32 {
        let all = self.processes();
        let found = all.iter().find(|(_, line)| line.contains(text));
        found.unwrap_or_else(|| panic!("no {text} in {all:?}")).0
    }

    /// Checks that no process, mount or file remains.
    pub fn assert_clean(&self) {
        let start = Instant::now();
        while !self.processes().is_empty() && start.elapsed() < BOUND {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.processes(), [], "processes remain");
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains("triptych"), "{mounts}");
        assert!(!Path::new("/dev/.triptych").exists());
        let files: BTreeSet<_> = fs::read_dir(self.path().join("tmp"))
            .unwrap()
            .flatten()
            .map(|e| e.path())
            .collect();
        assert_eq!(files, BTreeSet::new(), "temporary files remain");
    }
}

/// A command that runs.
pub struct Running<'a> {
    bench: &'a Bench,
    child: Child,
}

impl Running<'_> {
    pub fn launcher(&self) -> i32 {
        self.child.id() as i32
    }

    /// Waits for the end of the command, and checks that it comes in time and leaves nothing.
    pub fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if start.elapsed() > BOUND {
                let processes = self.bench.processes();
                let _ = self.child.kill();
                panic!("the command did not end: {processes:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.bench.assert_clean();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), super::text(&output))
    }
}

pub fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Whether this system permits the namespace.
pub fn permitted() -> bool {
    let output = Bench::without_bridge().run(&["-q"], &["true"]);
    let text = super::text(&output);
    if text.contains("user namespace") {
        println!("skipped: {text}");
        return false;
    }
    assert!(output.status.success(), "{text}");
    true
}
