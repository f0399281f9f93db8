//! Starts the processes that the guard watches.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::Pid;

/// A command that becomes the program in `file`, in a process group of its own. Options of the start
/// and the program's arguments follow.
pub fn start_command(file: &Path) -> Command {
    // Below a chroot, the path of this program's file is no path of the namespace.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("triptych")
        .arg("with-card-start")
        .arg("--file")
        .arg(file)
        .process_group(0);
    command
}

/// Starts a command. Returns its process.
pub fn spawn(mut command: Command, input: Stdio) -> std::io::Result<Pid> {
    let child = command.stdin(input).spawn()?;
    Ok(Pid::from_raw(child.id() as i32))
}
