//! The few things by which `bind` and `unbind` change a machine.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the kernel may take to change a driver. The stock `ixgbe` takes about three seconds.
const WRITE: Duration = Duration::from_secs(20);
/// How long a module may take to load, with what it depends on.
const MODULE: Duration = Duration::from_secs(30);
/// How long udev may take to set up files.
const SETTLE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The kernel refused what was written.
    #[error("cannot write {value:?} to {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What was to be written.
        value: String,
        /// What the system said.
        cause: String,
    },
    /// The kernel still has not done what was asked of it.
    #[error(
        "the kernel has not finished writing {value:?} to {} after {} s",
        path.display(),
        WRITE.as_secs()
    )]
    Blocked {
        /// The file.
        path: PathBuf,
        /// What was written.
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
    /// A file could not be given to somebody.
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

/// Changes a machine; tests put a pretended kernel in its place.
pub trait Control {
    /// Writes to a file of sysfs.
    ///
    /// # Errors
    /// [`ControlError::Write`], [`ControlError::Blocked`].
    fn write(&self, path: &Path, value: &str) -> Result<(), ControlError>;

    /// Loads a kernel module, if it is not there.
    ///
    /// # Errors
    /// [`ControlError::Module`].
    fn load_module(&self, name: &str) -> Result<(), ControlError>;

    /// Gives a file to a user and group, after udev is done with it.
    ///
    /// # Errors
    /// [`ControlError::Owner`].
    fn give(&self, path: &Path, uid: u32, gid: u32) -> Result<(), ControlError>;
}

/// The kernel of this machine.
///
/// A write to `unbind` blocks in the kernel as long as a process has the device open, and then
/// not even SIGKILL ends it. So each write is done by a process of its own, [`write_here`], which
/// can be left behind: nothing waits for it, and it ends when the kernel is done.
#[derive(Debug)]
pub struct Kernel {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Kernel {
    /// Writes are done by `program arguments... PATH VALUE`.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments }
    }
}

/// What the process does that [`Kernel`] starts.
///
/// # Errors
/// What the system said.
pub fn write_here(path: &Path, value: &str) -> io::Result<()> {
    // One call of write, because a file of sysfs takes each as a command of its own.
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
            // It may outlive us, and must not keep a reader of our own output waiting.
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C is for us, who put back what was changed.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(format!("{}: {error}", self.program.display())))?;
        match wait(&mut child, WRITE) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(failed(said(&mut child, status))),
            Ok(None) => {
                // If it only waits for a lock, this spares the machine a late surprise.
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
                Err(failed(format!("not done after {} s", MODULE.as_secs())))
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn give(&self, path: &Path, uid: u32, gid: u32) -> Result<(), ControlError> {
        // udev, where there is one, sets the owner when the file appears, and must not come late.
        let limit = format!("--timeout={}", SETTLE.as_secs());
        if let Ok(mut child) = tool("udevadm").args(["settle", &limit]).spawn() {
            if !matches!(wait(&mut child, SETTLE * 2), Ok(Some(_))) {
                let _ = child.kill();
            }
        }
        give(path, uid, gid, SETTLE)
    }
}

/// Gives a file away as soon as it is there, or fails after the limit.
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

/// A tool of the system's, which may be where only root looks.
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

/// Waits until a child ends, or the limit.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => thread::sleep(POLL),
            result => return Ok(result),
        }
    }
}

/// What a child that has ended wrote to its standard error.
fn said(child: &mut Child, status: ExitStatus) -> String {
    let mut text = String::new();
    if let Some(stderr) = &mut child.stderr {
        // Not more than anybody would read; what cannot be read is not said.
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

    /// What [`write_here`] does, as far as a shell can.
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
        // It is never made: sysfs has the file or has not.
        assert!(write_here(&folder.path().join("nowhere"), "x").is_err());
    }

    #[test]
    fn a_refusal_is_told_with_its_cause() {
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
    fn a_wait_ends() {
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
