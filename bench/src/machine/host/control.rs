//! The commands by which `bind` changes a machine.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::wait_at_most;

/// Longest time of a command. The stock `ixgbe` releases a port in about three seconds.
const LIMIT: Duration = Duration::from_secs(20);
/// Root's programs, also after an `su` that kept the user's path.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs commands on a machine. Tests replace it by a simulated kernel.
pub trait Control {
    /// Runs a command with an input.
    fn run(&self, words: &[&str], input: &str) -> Result<()>;
}

/// This machine.
#[derive(Debug)]
pub struct Here;

impl Control for Here {
    /// A write to `unbind` blocks in the kernel while a process has the device open, and not even SIGKILL
    /// ends it. After the limit this process goes on; the command ends when the kernel returns.
    fn run(&self, words: &[&str], input: &str) -> Result<()> {
        let line = words.join(" ");
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            // The child may outlive this process and must not keep this process's output open.
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C must reach only this process, which then undoes its changes.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot run `{line}`"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input ends with a status.
            let _ = stdin.write_all(input.as_bytes());
        }
        match wait_at_most(&mut child, LIMIT)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let mut said = String::new();
                if let Some(stderr) = child.stderr {
                    let _ = stderr.take(2000).read_to_string(&mut said);
                }
                bail!(
                    "`{line}` failed ({status}): {}",
                    said.trim().replace('\n', " ")
                )
            }
            None => {
                // If the child only waits for a lock, it must not write later.
                let _ = child.kill();
                bail!("`{line}` has not finished after {} s", LIMIT.as_secs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_its_input_and_its_failure_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("driver_override");
        let write = |path: &str| Here.run(&["tee", path], "vfio-pci");
        write(file.to_str().unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "vfio-pci");
        let folder = folder.path().to_str().unwrap();
        let error = write(folder).unwrap_err().to_string();
        assert!(error.contains(&format!("`tee {folder}` failed")), "{error}");
        assert!(error.contains("Is a directory"), "{error}");
    }
}
