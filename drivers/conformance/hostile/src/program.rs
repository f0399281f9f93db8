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
        let own = arguments_of("self");
        let mut is_own = false;
        while !running.ends_within(INTERVAL)? && start.elapsed() < KILL {
            is_own = is_own
                || arguments_of(&id.to_string()).is_some_and(|now| Some(&now) != own.as_ref());
            if is_own {
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

    /// The exit status, the signal or the hang, in a word or two.
    pub fn outcome(&self) -> String {
        match self.status {
            None => "hangs".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit {code}"),
                (_, Some(signal)) => format!("signal {signal}"),
                _ => status.to_string(),
            },
        }
    }

    /// Whether all that is wrong is the time.
    pub fn is_only_late(&self) -> bool {
        self.status.is_none() || (self.elapsed > LIMIT && self.broken_promises(false).is_empty())
    }

    /// The promises of every program that the run broke. `timed`: the time limit is one of them.
    pub fn broken_promises(&self, timed: bool) -> Vec<String> {
        let mut broken = Vec::new();
        if timed && (self.status.is_none() || self.elapsed > LIMIT) {
            broken.push(format!("ran {:.1} s", self.elapsed.as_secs_f64()));
        }
        let code = self.status.and_then(|status| status.code());
        if self.status.is_some() && !matches!(code, Some(0 | 1)) {
            broken.push(format!("ended with {}, not with 0 or 1", self.outcome()));
        }
        if code == Some(1) && self.message().is_none() {
            broken.push("failed without a message".to_owned());
        }
        if let Some(report) = REPORTS.iter().find(|report| self.stderr.contains(**report)) {
            broken.push(format!("reported: {report}"));
        }
        if self.open_files > MAX_OPEN_FILES {
            broken.push(format!("had {} files open", self.open_files));
        }
        broken
    }

    /// What a run must say and does not: all texts, and if it failed, in its only message.
    pub fn unsaid(&self, texts: &[&str]) -> Vec<String> {
        let missing = texts.iter().filter(|text| !self.stderr.contains(**text));
        let mut unsaid: Vec<_> = missing
            .map(|text| format!("does not say {text:?}"))
            .collect();
        let lines = self.stderr.lines();
        let messages = lines.filter(|line| !line.contains("huge pages")).count();
        if messages != 1 && self.status.is_some_and(|status| !status.success()) {
            unsaid.push(format!("has {messages} messages, not one"));
        }
        unsaid
    }

    /// What the run says about itself: its message, or the last lines of its output.
    pub fn last_lines(&self) -> String {
        self.message().map_or_else(
            || {
                let lines: Vec<_> = self.stderr.lines().collect();
                lines[lines.len().saturating_sub(3)..].join(" | ")
            },
            str::to_owned,
        )
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
fn arguments_of(process: &str) -> Option<Vec<u8>> {
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
        for (script, broken) in [
            ("exit 0", ""),
            ("echo 'ixgbe-fwd: a: refused' >&2; exit 1", ""),
            ("exit 1", "failed without a message"),
            (
                "echo 'ixgbe-fwd: warning: slow' >&2; exit 1",
                "failed without a message",
            ),
            ("kill -SEGV $$", "ended with signal 11, not with 0 or 1"),
            ("exit 2", "ended with exit 2, not with 0 or 1"),
            (
                "echo 'c/src/x.c:1: runtime error: misaligned' >&2",
                "reported: runtime error:",
            ),
            (
                "echo 'thread main panicked at x.rs' >&2; exit 0",
                "reported: panicked at",
            ),
            (
                "for i in {1..60}; do exec {f}</dev/null; done; sleep 1",
                "had 6",
            ),
        ] {
            let text = shell(script).broken_promises(true).join("; ");
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
        assert_eq!(run.broken_promises(true), ["ran 11.0 s"]);
        assert!(!shell("exit 3").is_only_late());
    }

    #[test]
    fn a_failure_has_one_message_with_the_texts() {
        let run = shell("echo 'ixgbe-fwd: port0.sock: refused' >&2; exit 1");
        assert_eq!(run.unsaid(&["port0", "refused"]), [""; 0]);
        assert_eq!(run.unsaid(&["port1"]), ["does not say \"port1\""]);
        let run = shell("echo 'ixgbe-fwd: a' >&2; echo 'ixgbe-fwd: b' >&2; exit 1");
        assert_eq!(run.unsaid(&["a"]), ["has 2 messages, not one"]);
    }
}
