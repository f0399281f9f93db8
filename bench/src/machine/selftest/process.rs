//! Runs a part of the self-test as a process, and collects its findings.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use perfcounters::Interrupt;

use super::finding::Finding;
use super::worker::Task;
use crate::usage::WorkerKind;

/// Pause between two looks at the time and at the user's wish to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Time to stop the ports and end, after the user's wish.
const END: Duration = Duration::from_secs(20);
/// Most bytes of a process's messages that are kept.
const MESSAGES: u64 = 16 * 1024;

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// What went wrong with the process itself.
    pub failure: Option<String>,
    /// What it wrote to standard error.
    pub errors: String,
}

/// Runs a task, and calls `found` for each finding as it comes. `name` is for files.
///
/// # Errors
/// If the process cannot be started. How it ends is a part of the result.
pub fn run(
    task: &Task,
    name: &str,
    folder: &Path,
    interrupt: &Interrupt,
    found: &mut dyn FnMut(Finding),
) -> Result<Ended> {
    let specification = folder.join(format!("{name}.json"));
    fs::write(&specification, serde_json::to_vec(task)?)
        .with_context(|| format!("cannot write {}", specification.display()))?;
    let mut errors = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(folder.join(format!("{name}.stderr")))
        .context("cannot make a file for messages")?;
    let (program, arguments) = WorkerKind::Selftest.command()?;
    let mut child = Command::new(program)
        .args(arguments)
        .arg(&specification)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors.try_clone().context("cannot duplicate a file")?)
        .spawn()
        .context("cannot start a process for a part of the test")?;
    let failure = follow(&mut child, task.limit(), interrupt, found);
    let mut text = Vec::new();
    let read = errors
        .seek(SeekFrom::Start(0))
        .and_then(|_| errors.take(MESSAGES).read_to_end(&mut text));
    let errors = match read {
        Ok(_) => String::from_utf8_lossy(&text).trim().to_owned(),
        Err(error) => format!("the messages cannot be read: {error}"),
    };
    let failure = failure.map(|why| match errors.lines().last() {
        Some(last) => format!("{why}\nits last message: {last}"),
        None => why,
    });
    Ok(Ended { failure, errors })
}

/// Passes the findings of a process on until it ends, and makes sure that it ends.
fn follow(
    child: &mut Child,
    limit: Duration,
    interrupt: &Interrupt,
    found: &mut dyn FnMut(Finding),
) -> Option<String> {
    let (sender, lines) = mpsc::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let lines = stdout
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines());
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut stdin = child.stdin.take();
    let mut deadline = Instant::now() + limit;
    let mut malformed = None;
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(finding) => found(finding),
                Err(error) => malformed = Some(format!("it wrote {line:?}: {error}")),
            },
            Err(RecvTimeoutError::Timeout) => {}
            // The process has closed its standard output.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupt.is_set() && stdin.take().is_some() {
            // Its closed standard input asks the process to stop the ports and end.
            deadline = deadline.min(Instant::now() + END);
        }
        if Instant::now() > deadline {
            break;
        }
    }
    // A process that has closed its output ends at once.
    let ended = wait(child, deadline.min(Instant::now() + END));
    let failure = match ended {
        Some(status) => describe(status),
        None => {
            let _ = child.kill();
            let _ = child.wait();
            Some(
                "the process did not end in time and was killed; the ports may still run"
                    .to_owned(),
            )
        }
    };
    failure.or(malformed)
}

fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK),
            _ => return None,
        }
    }
}

/// Why a process failed; `None` if it did not.
fn describe(status: ExitStatus) -> Option<String> {
    match (status.success(), status.signal()) {
        (true, _) => None,
        (false, Some(signal)) => Some(format!(
            "the process was ended by signal {signal}: it crashed"
        )),
        (false, None) => Some(format!("the process ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn followed(script: &str, interrupt: &Interrupt) -> (Option<String>, usize, Duration) {
        let begin = Instant::now();
        let mut count = 0;
        let limit = Duration::from_millis(500);
        let failure = follow(&mut shell(script), limit, interrupt, &mut |_| count += 1);
        (failure, count, begin.elapsed())
    }

    #[test]
    fn findings_arrive_and_a_crash_is_named() {
        let finding = serde_json::to_string(&Finding::pass("a", "b")).unwrap();
        let script = format!("echo '{finding}'; echo '{finding}'");
        let (failure, count, _) = followed(&script, &Interrupt::new());
        assert_eq!((failure, count), (None, 2));
        let (failure, _, _) = followed("kill -SEGV $$", &Interrupt::new());
        assert!(failure.unwrap().contains("signal 11"));
        let (failure, _, _) = followed("echo nonsense", &Interrupt::new());
        assert!(failure.unwrap().contains("nonsense"));
    }

    #[test]
    fn a_process_that_hangs_is_killed() {
        let (failure, _, time) = followed("exec sleep 60", &Interrupt::new());
        assert!(failure.unwrap().contains("did not end in time"));
        assert!(time < Duration::from_secs(10), "{time:?}");
    }

    #[test]
    fn the_wish_to_stop_closes_its_standard_input() {
        let interrupt = Interrupt::new();
        interrupt.set();
        // `cat` ends when its input ends.
        let (failure, _, time) = followed("cat", &interrupt);
        assert_eq!(failure, None);
        assert!(time < Duration::from_secs(10), "{time:?}");
    }
}
