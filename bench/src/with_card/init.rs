//! The first process of the PID namespace. When it ends, the kernel ends all processes of the namespace.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::mount::{mount, MsFlags};
use nix::sys::signal::{signal, SigHandler, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag};

use super::namespace::PROC;

/// Time for the processes of the namespace to end.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(1);

/// `cat`, which reads a pipe that nothing is written to. It ends when this process does, even by SIGKILL, because the
/// pipe then has no other end. Dropping it ends all processes of the namespace.
pub(super) struct Init(Child);

impl Init {
    /// Starts it. It must be the first child after this process has entered a PID namespace.
    pub(super) fn start() -> Result<Self> {
        fs::create_dir(PROC).context("cannot make a folder")?;
        let mut command = Command::new("cat");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        // SAFETY: the closure runs in the child between fork and exec, where it may call only async-signal-safe
        // functions. It makes two plain system calls with constants, and allocates no memory.
        unsafe {
            command.pre_exec(|| {
                // The kernel then reaps the orphans that become children of this process.
                signal(Signal::SIGCHLD, SigHandler::SigIgn)?;
                // Only a process of the namespace can mount its /proc. Where a container hides parts of /proc, the
                // kernel refuses. The program then keeps the old one, which knows it by its number outside.
                let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
                let _ = mount(Some(c"proc"), PROC, Some(c"proc"), flags, None::<&str>);
                Ok(())
            });
        }
        let child = command.spawn();
        child
            .map(Self)
            .context("cannot start `cat`, the first process of the namespace")
    }

    /// How many other processes the namespace has; 0 if its /proc could not be mounted.
    pub(super) fn processes(&self) -> usize {
        let entries = fs::read_dir(PROC).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.parse::<u32>().is_ok_and(|pid| pid != 1))
            .count()
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        let _ = self.0.kill();
        // The kernel keeps it until this process has reaped its other children in the namespace.
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok() {
            std::thread::sleep(POLL);
        }
    }
}
