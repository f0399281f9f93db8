//! All processes that descend from one, also those that have put themselves into the background. The
//! ancestor must be a subreaper: orphans then become its children.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

/// Pause between two looks at the processes.
const POLL: Duration = Duration::from_millis(10);

/// The living descendants of `ancestor`, without those in `except` and their descendants.
pub fn descendants(ancestor: Pid, except: &[Pid]) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<Pid>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent_if_alive(pid) {
            children.entry(parent).or_default().push(Pid::from_raw(pid));
        }
    }
    let mut found = Vec::new();
    let mut waiting = vec![ancestor];
    while let Some(parent) = waiting.pop() {
        for child in children.remove(&parent.as_raw()).into_iter().flatten() {
            if !except.contains(&child) {
                found.push(child);
                waiting.push(child);
            }
        }
    }
    found
}

/// The parent of a process; `None` if the process has ended.
fn parent_if_alive(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.next()?.parse().ok(),
    }
}

/// Ends the descendants of `ancestor`, which is this process: by SIGTERM, and after `grace` by SIGKILL,
/// repeatedly for at most `limit`. Returns how many there were. Reaps children, except those in `except`.
pub fn end(ancestor: Pid, except: &[Pid], grace: Duration, limit: Duration) -> usize {
    let start = Instant::now();
    let mut seen = Vec::new();
    loop {
        let left = descendants(ancestor, except);
        let waited = start.elapsed();
        if left.is_empty() || waited > grace + limit {
            return seen.len();
        }
        for pid in left {
            let first = !seen.contains(&pid);
            if first {
                seen.push(pid);
            }
            if waited >= grace {
                let _ = kill(pid, Signal::SIGKILL);
            } else if first {
                let _ = kill(pid, Signal::SIGTERM);
                // A stopped process handles SIGTERM only when it continues.
                let _ = kill(pid, Signal::SIGCONT);
            }
            if !except.contains(&pid) {
                let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            }
        }
        std::thread::sleep(POLL);
    }
}

/// The next change of a child's state; `None` if there is none now.
pub fn next_change() -> Option<WaitStatus> {
    let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
    match waitpid(None, Some(flags)) {
        Ok(WaitStatus::StillAlive) | Err(_) => None,
        Ok(status) => Some(status),
    }
}
