//! The operations by which `bind` and `unbind` change a machine.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time for the kernel to change a driver. The stock `ixgbe` takes about three seconds.
const WRITE: Duration = Duration::from_secs(20);
/// Longest time to load a module and its dependencies.
const MODULE: Duration = Duration::from_secs(30);
/// Longest time for udev to set up files.
const SETTLE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// Why a change failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The kernel refused the write.
    #[error("cannot write {value:?} to {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The value that was to be written.
        value: String,
        /// What the system said.
        cause: String,
    },
    /// The kernel did not finish the write in time.
    #[error(
        "the kernel has not finished writing {value:?} to {} after {} s",
        path.display(),
        WRITE.as_secs()
    )]
    Blocked {
        /// The file.
        path: PathBuf,
        /// The written value.
        value: String,
    },
    /// A module could not be loaded.
    #[error("cannot load the kernel module {name}: {cause}")]
    Module {
        /// The module.
        name: String,
        /// What modprobe said.
        cause: String,
    },
    /// A file's owner could not be changed.
    #[error("cannot give {} to user {uid}: {cause}", path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// User number.
        uid: u32,
        /// What the system said.
        cause: io::Error,
    },
}

/// Changes a machine. Tests replace it by a simulated kernel.
pub trait Control {
    /// Writes to a file of sysfs.
    ///
    /// # Errors
    /// [`ControlError::Write`], [`ControlError::Blocked`].
    fn write(&self, path: &Path, value: &str) -> Result<(), ControlError>;

    /// Loads a kernel module if it is not loaded.
    ///
    /// # Errors
    /// [`ControlError::Module`].
    fn load_module(&self, name: &str) -> Result<(), ControlError>;

    /// Changes the owner and the group of a file, after udev has set it up.
    ///
    /// # Errors
    /// [`ControlError::Owner`].
    fn give(&self, path: &Path, uid: u32, gid: u32) -> Result<(), ControlError>;
}

/// The kernel of this machine.
///
/// A write to `unbind` blocks in the kernel while a process has the device open, and not even
/// SIGKILL ends it. A separate process therefore makes each write, with [`write_here`]. If the
/// write blocks, `triptych` ends without that process, which ends when the kernel returns.
#[derive(Debug)]
pub struct Kernel {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Kernel {
    /// The command `program arguments... PATH VALUE` makes each write.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments }
    }
}

/// Writes to a file of sysfs. The process that [`Kernel`] starts calls this.
///
/// # Errors
/// The system's error.
pub fn write_here(path: &Path, value: &str) -> io::Result<()> {
    // One call of write, because sysfs takes each call as a separate command.
    OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(value.as_bytes())
}

impl Control for Kernel {
    fn write(&self, path: &Path, value: &str) -> Result<(), ControlError> {
        let failed = |cause: String| ControlError::Write {
            path: path.to_owned(),
            value: value.trim_end().to_owned(),
            cause,
        };
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(path)
            .arg(value)
            .stdin(Stdio::null())
            // The child may outlive this process and must not keep this process's output open.
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C must reach only this process, which then undoes its changes.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(format!("{}: {error}", self.program.display())))?;
        match wait(&mut child, WRITE) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(failed(said(&mut child, status))),
            Ok(None) => {
                // If the child only waits for a lock, it must not write later.
                let _ = child.kill();
                Err(ControlError::Blocked {
                    path: path.to_owned(),
                    value: value.trim_end().to_owned(),
                })
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn load_module(&self, name: &str) -> Result<(), ControlError> {
        let failed = |cause: String| ControlError::Module {
            name: name.to_owned(),
            cause,
        };
        let mut child = tool("modprobe")
            .args(["--", name])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("modprobe: {error}")))?;
        match wait(&mut child, MODULE) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(failed(said(&mut child, status))),
            Ok(None) => {
                let _ = child.kill();
                Err(failed(format!("not finished after {} s", MODULE.as_secs())))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn give(&self, path: &Path, uid: u32, gid: u32) -> Result<(), ControlError> {
        // udev sets the owner when the file appears. Wait, so that udev does not undo the change.
        let limit = format!("--timeout={}", SETTLE.as_secs());
        if let Ok(mut child) = tool("udevadm").args(["settle", &limit]).spawn() {
            if !matches!(wait(&mut child, SETTLE * 2), Ok(Some(_))) {
                let _ = child.kill();
            }
        }
        give(path, uid, gid, SETTLE)
    }
}

/// Changes a file's owner as soon as the file exists, or fails after the limit.
fn give(path: &Path, uid: u32, gid: u32, limit: Duration) -> Result<(), ControlError> {
    let start = Instant::now();
    while !path.exists() && start.elapsed() < limit {
        thread::sleep(POLL);
    }
    std::os::unix::fs::chown(path, Some(uid), Some(gid)).map_err(|cause| ControlError::Owner {
        path: path.to_owned(),
        uid,
        cause,
    })
}

/// A system tool, which may be in a folder that only root's PATH has.
fn tool(name: &str) -> Command {
    let place = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists());
    let mut command = Command::new(place.unwrap_or_else(|| name.into()));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Waits until a child ends, or until the limit: then `None`.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => thread::sleep(POLL),
            result => return Ok(result),
        }
    }
}

/// The standard error of an ended child, or its exit status if it wrote nothing.
fn said(child: &mut Child, status: ExitStatus) -> String {
    let mut text = String::new();
    if let Some(stderr) = &mut child.stderr {
        // The beginning is enough for a message. Without any, the exit status follows.
        let _ = stderr.take(2000).read_to_string(&mut text);
    }
    match text.trim() {
        "" => status.to_string(),
        text => text.lines().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose writes are done by a shell script.
    fn shell(script: &str) -> Kernel {
        Kernel::new(
            "/bin/sh".into(),
            vec!["-c".to_owned(), script.to_owned(), "sh".to_owned()],
        )
    }

    #[test]
    fn a_write_reaches_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("driver_override");
        std::fs::write(&file, "").unwrap();
        write_here(&file, "vfio-pci").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "vfio-pci");
        shell("printf %s \"$2\" >\"$1\"").write(&file, "x").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
        // A missing file is not created, as in sysfs.
        assert!(write_here(&folder.path().join("nowhere"), "x").is_err());
    }

    #[test]
    fn a_refused_write_reports_its_cause() {
        let error = shell("echo No such device >&2; exit 1")
            .write(Path::new("/sys/x"), "0000:03:00.0\n")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "cannot write \"0000:03:00.0\" to /sys/x: No such device"
        );
    }

    #[test]
    fn a_wait_ends_at_its_limit() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let start = Instant::now();
        assert!(wait(&mut child, Duration::from_millis(30))
            .unwrap()
            .is_none());
        assert!(start.elapsed() < Duration::from_secs(10));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_file_that_does_not_appear_is_an_error() {
        let error = give(
            Path::new("/nonexistent/vfio/7"),
            0,
            0,
            Duration::from_millis(20),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains("/nonexistent/vfio/7"), "{error}");
    }
}
