//! Name spaces of network, mounts and processes: each run makes its own, without root.

use std::env;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use crate::process::Process;

/// Set for a process that is inside.
const INSIDE: &str = "TRIPTYCH_APPS_INSIDE";

/// Whether this machine lets us make name spaces.
///
/// # Errors
/// The reason why not.
pub fn check() -> Result<()> {
    let output = unshare().arg("true").output();
    let output = output.context("cannot run unshare (package util-linux)")?;
    ensure!(
        output.status.success(),
        "no name spaces of its own: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// The command that runs another one in new name spaces. Everything in them ends with it.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    // Root inside needs a name space of users only if we are not root outside.
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    command
}

/// Goes on in name spaces of its own: runs this program again inside, with the same arguments. Returns the exit status
/// of that run, or `None` to the process inside.
///
/// # Errors
/// If there are no name spaces.
fn enter() -> Result<Option<ExitCode>> {
    if env::var_os(INSIDE).is_some() {
        up("lo")?;
        return Ok(None);
    }
    check()?;
    let status = unshare()
        .arg(env::current_exe()?)
        .args(env::args_os().skip(1))
        .env(INSIDE, "1")
        .status()?;
    Ok(Some(ExitCode::from(
        status.code().map_or(1, |code| code as u8),
    )))
}

/// Runs a program in name spaces of its own, and returns its exit status: 1 after an error, which it prints.
pub fn run_inside(program: &str, run: impl FnOnce() -> Result<ExitCode>) -> ExitCode {
    let ran = match enter() {
        Ok(Some(status)) => Ok(status),
        Ok(None) => run(),
        Err(error) => Err(error),
    };
    ran.unwrap_or_else(|error| {
        eprintln!("{program}: {error:#}");
        ExitCode::FAILURE
    })
}

/// The same for a test: runs only the test `name` inside. Returns whether the caller is the one inside.
///
/// # Errors
/// If there are no name spaces, or the test fails inside.
pub fn is_inside(name: &str) -> Result<bool> {
    if env::var_os(INSIDE).is_some_and(|inside| inside == *name) {
        up("lo")?;
        return Ok(true);
    }
    check()?;
    let again = unshare()
        .arg(env::current_exe()?)
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, name)
        .output()?;
    let text = String::from_utf8_lossy(&again.stdout);
    let error = String::from_utf8_lossy(&again.stderr);
    ensure!(
        again.status.success() && text.contains("1 passed"),
        "in the name space:\n{text}{error}"
    );
    Ok(false)
}

/// Runs `ip` with these arguments.
///
/// # Errors
/// If it refuses.
pub fn ip(arguments: &[&str]) -> Result<()> {
    succeeds(Command::new("ip").args(arguments))
}

/// Brings an interface up.
///
/// # Errors
/// If `ip` refuses.
pub fn up(interface: &str) -> Result<()> {
    ip(&["link", "set", interface, "up"])
}

/// Gives an interface an address, such as `10.0.0.1/24`.
///
/// # Errors
/// If `ip` refuses.
pub fn give_address(interface: &str, address: &str) -> Result<()> {
    ip(&["address", "add", address, "dev", interface])
}

fn succeeds(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// A second name space of networks, for servers on the kernel's sockets.
pub struct Inner {
    holder: Process,
}

impl Inner {
    /// Makes a name space.
    ///
    /// # Errors
    /// If `unshare` refuses.
    pub fn new() -> Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sleep", "infinity"]);
        let holder = Process::start(&mut command)?;
        let inner = Self { holder };
        // The name space is there once the holder has become `sleep`.
        let is_sleep = || {
            let name = std::fs::read_to_string(format!("/proc/{}/comm", inner.holder.id()));
            name.is_ok_and(|name| name.trim() == "sleep")
        };
        crate::process::wait_until("a name space", Duration::from_secs(5), is_sleep)?;
        inner.ip(&["link", "set", "lo", "up"])?;
        Ok(inner)
    }

    /// Moves an interface into it, and gives it an address.
    ///
    /// # Errors
    /// If `ip` refuses.
    pub fn adopt(&self, interface: &str, address: &str) -> Result<()> {
        let id = self.holder.id().to_string();
        ip(&["link", "set", interface, "netns", &id])?;
        self.ip(&["address", "add", address, "dev", interface])?;
        self.ip(&["link", "set", interface, "up"])
    }

    /// A command inside.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--net", "--target", &self.holder.id().to_string()])
            .arg(program);
        command
    }

    fn ip(&self, arguments: &[&str]) -> Result<()> {
        succeeds(self.command("ip").args(arguments))
    }
}
