//! How the traced program starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::ptrace;
use nix::sys::resource::{setrlimit, Resource};
use nix::sys::signal::Signal;

use crate::error::TraceError;
use crate::filter;

/// Size of the stack's limit: it decides where the kernel places the first mapping.
const STACK: u64 = 8 << 20;
/// Bytes of the strings that the kernel places on the stack. Longer ones are not filled up.
const STRINGS: usize = 8 << 10;
/// The variable that fills the strings up.
const FILLER: &str = "TRIPTYCH_FILLER";
/// Bytes of standard error in an error message.
const LAST_WORDS: usize = 400;

/// A program to trace, and the card that it drives.
///
/// The program sees a virtual clock: each look moves it by 1 µs, each sleep by its duration, and it
/// stands still while the program computes.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The command: a program and its arguments. It may be a launcher that starts the driver.
    pub command: Vec<OsString>,
    /// The file of the driver. Tracing begins when a process executes it.
    pub driver: PathBuf,
    /// All environment variables of the command.
    pub environment: BTreeMap<OsString, OsString>,
    /// The folder in which the program runs. It receives the program's standard error, for messages.
    pub folder: PathBuf,
    /// The control socket of a card in turns.
    pub control: PathBuf,
    /// The processor of driver and tracer, which work in turns; `None` for any.
    pub cpu: Option<usize>,
    /// Longest time of each step: to start, to warm up, to record.
    pub limit: Duration,
    /// Ends the trace when it becomes true.
    pub interrupt: Arc<AtomicBool>,
}

impl Launch {
    /// Starts the command, stopped at its first instruction, as a child that this thread traces.
    pub(crate) fn start(&self) -> Result<Child, TraceError> {
        let program = PathBuf::from(self.command.first().cloned().unwrap_or_default());
        let failed = |cause| TraceError::System(format!("start {}", program.display()), cause);
        let mut command = Command::new(&program);
        command
            .args(self.command.iter().skip(1))
            .current_dir(&self.folder)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(self.stderr()).map_err(failed)?)
            .process_group(0);
        if let Some(filler) = self.filler() {
            command.env(FILLER, filler);
        }
        let mut program = filter::program();
        // SAFETY: between fork and exec, both functions make only system calls.
        unsafe { command.pre_exec(move || prepare().and_then(|()| filter::apply(&mut program))) };
        command.spawn().map_err(failed)
    }

    fn stderr(&self) -> PathBuf {
        self.folder.join("traced.stderr")
    }

    /// The end of the program's standard error, for a message.
    pub(crate) fn last_words(&self) -> String {
        let text = std::fs::read(self.stderr()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(LAST_WORDS)..]);
        match text.trim() {
            "" => String::new(),
            text => format!("; it said: {text}"),
        }
    }

    /// Fills the strings on the stack up to a fixed size, so that the addresses on the stack do not
    /// depend on the length of paths.
    fn filler(&self) -> Option<String> {
        let strings = self.command.iter().chain(self.command.first());
        let arguments: usize = strings.map(|string| string.as_bytes().len() + 1).sum();
        let variables = self.environment.iter();
        let variables: usize = variables
            .map(|(name, value)| name.as_bytes().len() + value.as_bytes().len() + 2)
            .sum();
        let used = arguments + variables + FILLER.len() + 2;
        STRINGS.checked_sub(used).map(|rest| "x".repeat(rest))
    }

    /// Whether a process executes the driver's file.
    pub(crate) fn is_driver(&self, executable: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        let wanted = identity(&self.driver);
        wanted.is_some() && identity(executable) == wanted
    }
}

/// Prepares the child: fixed addresses, no time-stamp counter, a parent that it does not outlive, and its
/// tracer.
fn prepare() -> io::Result<()> {
    // SAFETY: both calls take numbers only.
    let done = unsafe {
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) != -1
            // From now on RDTSC raises SIGSEGV, also in other programs, so that the tracer can answer it.
            && libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) == 0
    };
    if !done {
        return Err(io::Error::last_os_error());
    }
    let stack = Resource::RLIMIT_STACK;
    // A lower hard limit makes the first call fail, so the second call keeps it.
    setrlimit(stack, STACK, libc::RLIM_INFINITY).or_else(|_| setrlimit(stack, STACK, STACK))?;
    set_pdeathsig(Signal::SIGKILL)?;
    Ok(ptrace::traceme()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(command: &[&str]) -> Launch {
        Launch {
            command: command.iter().map(OsString::from).collect(),
            driver: "/proc/self/exe".into(),
            environment: BTreeMap::new(),
            folder: "/tmp".into(),
            control: "/tmp/none".into(),
            cpu: None,
            limit: Duration::from_secs(1),
            interrupt: Arc::default(),
        }
    }

    #[test]
    fn long_and_short_commands_have_the_same_size() {
        let size = |command: &[&str]| {
            let filler = launch(command).filler().unwrap();
            let strings: usize = command.iter().map(|word| word.len() + 1).sum();
            strings + command[0].len() + 1 + FILLER.len() + 2 + filler.len()
        };
        assert_eq!(size(&["/a", "b"]), STRINGS);
        assert_eq!(size(&["/a/much/longer/path", "b", "c"]), STRINGS);
        assert_eq!(launch(&["x".repeat(9_000).as_str()]).filler(), None);
    }

    #[test]
    fn a_file_is_recognised_by_its_identity() {
        let launch = launch(&["/a"]);
        let this = std::env::current_exe().unwrap();
        assert!(launch.is_driver(&this));
        assert!(!launch.is_driver(Path::new("/etc/passwd")));
        assert!(!launch.is_driver(Path::new("/nonexistent")));
    }
}
