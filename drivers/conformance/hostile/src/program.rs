//! Runs a program, and watches for everything that it must not do.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::Result;
use harness::Program;

/// Longest run of a program that keeps its promise.
pub const LIMIT: Duration = Duration::from_secs(10);
/// A program that runs this long is killed. That is more than [`LIMIT`], so that a slow end does not
/// look like no end.
const KILL: Duration = Duration::from_secs(20);
/// How often the program's state is read.
const INTERVAL: Duration = Duration::from_millis(5);
/// Most open files of a driver. An honest run has at most 20, sanitizers included.
pub const MAX_OPEN_FILES: usize = 40;
/// What sanitizers and panics write. None of it may appear.
const REPORTS: [&str; 6] = [
    "AddressSanitizer",
    "LeakSanitizer",
    "UndefinedBehaviorSanitizer",
    "runtime error:",
    "panicked at",
    "stack smashing",
];

/// The promises that a run broke.
#[derive(Debug, Default)]
pub struct Broken(pub Vec<String>);

impl Broken {
    /// Notes a promise that does not hold.
    pub fn unless(&mut self, holds: bool, text: impl Into<String>) {
        if !holds {
            self.0.push(text.into());
        }
    }
}

/// The exit status, the signal or the hang, in a word or two.
pub fn outcome(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status.signal())) {
        None => "hangs".to_owned(),
        Some((_, Some(signal))) => format!("signal {signal}"),
        Some((code, _)) => format!("exit {}", code.unwrap_or(-1)),
    }
}

/// How a program has run.
#[derive(Debug)]
pub struct Run {
    /// Exit status; `None` if the program was killed after twenty seconds.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
    /// Most open files at once, among the moments that were looked at.
    pub open_files: usize,
}

impl Run {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// If the program cannot be started or its output cannot be read.
    pub fn of(
        program: &Path,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Self> {
        let start = Instant::now();
        // A report must not look like a failure that the driver has noticed: its status is 1.
        let program = Program::at(program).args(arguments).envs([
            ("ASAN_OPTIONS", "exitcode=99:abort_on_error=0"),
            ("UBSAN_OPTIONS", "exitcode=99:print_stacktrace=1"),
        ]);
        let mut running = program.start()?;
        let id = running.id();
        let mut open_files = 0;
        // Until the program is executed, the child has its parent's files. So counting begins when the
        // child has arguments of its own: the kernel sets them after it has closed those files.
        let parents = arguments_of(std::process::id());
        while !running.ends_within(INTERVAL)? && start.elapsed() < KILL {
            let arguments = arguments_of(id);
            if arguments.is_some() && arguments != parents {
                open_files = open_files.max(open_files_of(id));
            }
        }
        let elapsed = start.elapsed();
        let status = running.end_or_kill()?;
        let [_, stderr] = running.so_far()?;
        Ok(Self {
            status,
            stderr,
            elapsed,
            open_files,
        })
    }

    /// Whether all that is wrong is the time.
    pub fn is_only_late(&self) -> bool {
        self.status.is_none() || (self.elapsed > LIMIT && self.broken_promises(false).0.is_empty())
    }

    /// The promises of every program that the run broke. `timed`: the time limit is one of them.
    pub fn broken_promises(&self, timed: bool) -> Broken {
        let mut broken = Broken::default();
        let in_time = self.status.is_some() && self.elapsed <= LIMIT;
        let time = format!("ran {:.1} s", self.elapsed.as_secs_f64());
        broken.unless(in_time || !timed, time);
        let code = self.status.and_then(|status| status.code());
        let end = format!("ended with {}, not with 0 or 1", outcome(self.status));
        broken.unless(self.status.is_none() || matches!(code, Some(0 | 1)), end);
        let explained = code != Some(1) || self.message().is_some();
        broken.unless(explained, "failed without a message");
        for report in REPORTS
            .iter()
            .filter(|it| self.stderr.contains(**it))
            .take(1)
        {
            broken.unless(false, format!("reported: {report}"));
        }
        let files = self.open_files;
        broken.unless(files <= MAX_OPEN_FILES, format!("had {files} files open"));
        broken
    }

    /// Notes what a run must say and does not: all texts, and if it failed, in its only message.
    pub fn check_texts(&self, texts: &[&str], broken: &mut Broken) {
        for text in texts {
            broken.unless(self.stderr.contains(text), format!("does not say {text:?}"));
        }
        let lines = self.stderr.lines();
        let messages = lines.filter(|line| !line.contains("huge pages")).count();
        let succeeded = self.status.is_none_or(|status| status.success());
        let one = messages == 1 || succeeded;
        broken.unless(one, format!("has {messages} messages, not one"));
    }

    /// What the run says about itself: its message, or the last lines of its output.
    pub fn last_lines(&self) -> String {
        let lines: Vec<_> = self.stderr.lines().collect();
        let last = || lines[lines.len().saturating_sub(3)..].join(" | ");
        self.message().map_or_else(last, str::to_owned)
    }

    /// The last message on standard error that is no warning, without the program's name.
    pub fn message(&self) -> Option<&str> {
        let messages = self.stderr.lines().rev();
        messages
            .filter_map(|line| line.strip_prefix("ixgbe-fwd: "))
            .find(|line| !line.starts_with("warning:"))
    }
}

/// The arguments of a process; `None` while it is between two programs, and after its end.
fn arguments_of(process: u32) -> Option<Vec<u8>> {
    let arguments = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    (!arguments.is_empty()).then_some(arguments)
}

/// Number of files that a process has open; 0 if it has ended.
pub fn open_files_of(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        Run::of(Path::new("/bin/bash"), ["-c", script]).unwrap()
    }

    #[test]
    fn each_promise_can_be_broken_and_is_kept_by_honest_programs() {
        const SILENT: &str = "failed without a message";
        for (script, broken) in [
            ("exit 0", ""),
            ("echo 'ixgbe-fwd: a: refused' >&2; exit 1", ""),
            ("exit 1", SILENT),
            ("echo 'ixgbe-fwd: warning: slow' >&2; exit 1", SILENT),
            ("kill -SEGV $$", "ended with signal 11, not with 0 or 1"),
            ("exit 2", "ended with exit 2, not with 0 or 1"),
            ("echo 'x.c:1: runtime error: y' >&2", "reported: runtime"),
            ("echo 'main panicked at x.rs' >&2", "reported: panicked at"),
            (
                "for i in {1..60}; do exec {f}</dev/null; done; sleep 1",
                "had 6",
            ),
        ] {
            let text = shell(script).broken_promises(true).0.join("; ");
            assert!(
                text.starts_with(broken) && broken.is_empty() == text.is_empty(),
                "{script}: {text}"
            );
        }
    }

    #[test]
    fn a_run_beyond_the_limit_is_only_late() {
        let run = Run {
            elapsed: LIMIT + Duration::from_secs(1),
            ..shell("exit 0")
        };
        assert!(run.is_only_late());
        assert_eq!(run.broken_promises(true).0, ["ran 11.0 s"]);
        assert!(!shell("exit 3").is_only_late());
    }

    #[test]
    fn a_failure_has_one_message_with_the_texts() {
        let unsaid = |script, texts: &[&str]| {
            let mut broken = Broken::default();
            shell(script).check_texts(texts, &mut broken);
            broken.0
        };
        let refused = "echo 'ixgbe-fwd: port0.sock: refused' >&2; exit 1";
        assert_eq!(unsaid(refused, &["port0", "refused"]), [""; 0]);
        assert_eq!(unsaid(refused, &["port1"]), ["does not say \"port1\""]);
        let twice = "echo 'ixgbe-fwd: a' >&2; echo 'ixgbe-fwd: b' >&2; exit 1";
        assert_eq!(unsaid(twice, &["a"]), ["has 2 messages, not one"]);
    }
}
