//! `triptych with-card` in a build folder with the real card, and a look at what it leaves behind.

use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};

/// Time in which the command must end after its program.
const BOUND: Duration = Duration::from_secs(10);
const TRIPTYCH: &str = env!("CARGO_BIN_EXE_triptych");

/// The programs of `make build`.
pub fn built(name: &str) -> PathBuf {
    let bin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/bin");
    let path = bin.join(name);
    fs::canonicalize(&path).unwrap_or_else(|_| panic!("run `make build` first: no {path:?}"))
}

/// Whether this system permits the namespace.
pub fn permitted() -> bool {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| super::text(&Bench::make().run(&["-q"], &["true"])));
    assert!(text.is_empty() || text.contains("user namespace"), "{text}");
    text.is_empty()
}

/// Waits for something, and fails if it takes too long.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < BOUND, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with the card and the bridge. Its name is in the environment of all processes of a test, so
/// that the test finds those that remain.
pub struct Bench(tempfile::TempDir);

impl Bench {
    /// `None` if this system permits no namespace.
    pub fn new() -> Option<Self> {
        permitted().then(Self::make)
    }

    fn make() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::create_dir(bench.path().join("bin")).unwrap();
        fs::create_dir(bench.path().join("tmp")).unwrap();
        // Other users run programs here.
        for folder in ["", "tmp"] {
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(bench.path().join(folder), mode).unwrap();
        }
        for name in ["nic", "libtriptych_bridge.so"] {
            symlink(built(name), bench.path().join("bin").join(name)).unwrap();
        }
        bench
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The command with options before the program, as an argument of others, such as `setpriv`.
    pub fn command(&self, prefix: &[&str], options: &[&str], program: &[&str]) -> Command {
        let mut words = prefix.to_vec();
        words.push(TRIPTYCH);
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(["with-card", "--build-dir"])
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
        self.command(&[], options, program).output().unwrap()
    }

    /// Runs a line of shell quietly, below others. Returns the status and the output.
    pub fn shell(&self, prefix: &[&str], options: &[&str], line: &str) -> (Option<i32>, String) {
        let options = [&["-q"], options].concat();
        let mut command = self.command(prefix, &options, &["sh", "-c", line]);
        let output = command.output().unwrap();
        (output.status.code(), super::text(&output))
    }

    /// Starts a line of shell, and waits until it has begun. A `trap` that stands first is set by then.
    pub fn start(&self, prefix: &[&str], line: &str) -> Running<'_> {
        let mark = self.path().join("started");
        let touch = format!("touch {};", mark.display());
        let line = match line.split_once("; ") {
            Some((trap, rest)) if trap.starts_with("trap ") => format!("{trap}; {touch} {rest}"),
            _ => format!("{touch} {line}"),
        };
        let child = self
            .command(prefix, &[], &["sh", "-c", &line])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until("the program starts", || mark.exists());
        fs::remove_file(mark).unwrap();
        Running { bench: self, child }
    }

    /// The processes of this test other than the test itself, by the path in their environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("WITH_CARD_TEST={}\0", self.path().display());
        let read = |pid, name| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let names = fs::read_dir("/proc").unwrap().flatten();
        let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| text(read(*pid, "environ")).contains(&mark))
            .map(|pid| (pid, text(read(pid, "cmdline")).replace('\0', " ")))
            .map(|(pid, line)| (pid, line.replace(TRIPTYCH, "triptych")))
            .collect()
    }

    /// Checks that no process, mount or file remains.
    pub fn assert_clean(&self) {
        wait_until("all processes end", || self.processes().is_empty());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains("triptych"), "{mounts}");
        assert!(!Path::new("/dev/.triptych").exists());
        let files = fs::read_dir(self.path().join("tmp")).unwrap();
        assert_eq!(files.count(), 0, "temporary files remain");
    }
}

/// A command that runs.
pub struct Running<'a> {
    bench: &'a Bench,
    child: Child,
}

impl Running<'_> {
    /// Sends a signal to the process whose command line begins with a text.
    pub fn signal(&self, process: &str, signal: Signal) {
        let all = self.bench.processes();
        let pid = match all.iter().find(|(_, line)| line.starts_with(process)) {
            Some((pid, _)) => Pid::from_raw(*pid).unwrap(),
            None => panic!("no {process} in {all:?}"),
        };
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the command, and checks that it comes in time and leaves nothing.
    pub fn end(mut self) -> (Option<i32>, String) {
        let child = &mut self.child;
        wait_until("the end", || child.try_wait().unwrap().is_some());
        self.bench.assert_clean();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), super::text(&output))
    }
}
