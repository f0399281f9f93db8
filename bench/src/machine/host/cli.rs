//! The command lines of `triptych doctor`, `bind` and `unbind`, and what the commands print.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use perfcounters::Interrupt;

use super::address::PciAddress;
use super::bind::{self, Recipient};
use super::control::{self, Kernel};
use super::doctor;
use super::nic::VFIO_PCI;
use super::system::{System, User};
use super::unbind;
use crate::usage::Outcome;

/// The name of the hidden command that writes to a file of sysfs.
pub const WRITER: &str = "sysfs-write";

/// The machine to examine or change.
#[derive(Debug, Args)]
pub struct Machine {
    /// Read the files of a machine below this folder (for tests)
    #[arg(long, value_name = "DIR", hide = true)]
    root: Option<PathBuf>,
}

impl Machine {
    fn system(&self) -> System {
        match &self.root {
            None => System::here(),
            Some(root) => System::below(root, User::current(), BTreeMap::new()),
        }
    }
}

/// Arguments of `triptych doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Ports that a run shall use, such as 0000:03:00.0 or 03:00.0 [default: all]
    #[arg(value_name = "DEVICE")]
    devices: Vec<PciAddress>,
    /// Also write the findings to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    machine: Machine,
}

/// Arguments of `triptych bind`.
#[derive(Debug, Args)]
pub struct BindArguments {
    /// Ports to take, such as 0000:03:00.0 or 03:00.0; if one fails, none is taken
    #[arg(value_name = "DEVICE", required = true)]
    devices: Vec<PciAddress>,
    /// The user who may drive the ports [default: root]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Take ports even if they carry an address, a route or a bridge
    #[arg(long)]
    force: bool,
    /// The driver to bind the ports to
    #[arg(long, value_name = "DRIVER", default_value = VFIO_PCI, value_parser = driver_name)]
    driver: String,
    #[command(flatten)]
    machine: Machine,
}

/// Arguments of `triptych unbind`.
#[derive(Debug, Args)]
pub struct UnbindArguments {
    /// Ports to return, such as 0000:03:00.0 or 03:00.0
    #[arg(value_name = "DEVICE", required = true)]
    devices: Vec<PciAddress>,
    #[command(flatten)]
    machine: Machine,
}

/// Arguments of the hidden writer.
#[derive(Debug, Args)]
pub struct WriteArguments {
    path: PathBuf,
    value: String,
}

fn driver_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("not the name of a driver".to_owned()),
    }
}

/// Examines the machine and prints the findings. Returns whether a run is possible.
///
/// # Errors
/// If a named port does not exist, or the findings cannot be written.
pub fn doctor(arguments: &DoctorArguments) -> Result<Outcome> {
    let diagnosis = doctor::examine(&arguments.machine.system(), &arguments.devices)?;
    print!("{}", diagnosis.text());
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&diagnosis)?;
        fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(match diagnosis.ready {
        true => Outcome::Good,
        false => Outcome::NotReady,
    })
}

/// Binds ports.
///
/// # Errors
/// [`bind::BindError`].
pub fn bind(arguments: &BindArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let user = arguments.user.as_deref().map(Recipient::named);
    let request = bind::Request {
        devices: arguments.devices.clone(),
        user: user.transpose()?,
        force: arguments.force,
        driver: arguments.driver.clone(),
    };
    let system = arguments.machine.system();
    for line in bind::bind(&system, &kernel()?, &request, interrupt)? {
        println!("{line}");
    }
    Ok(Outcome::Good)
}

/// Returns ports to the kernel's driver.
///
/// # Errors
/// [`unbind::UnbindError`].
pub fn unbind(arguments: &UnbindArguments) -> Result<Outcome> {
    let system = arguments.machine.system();
    let mut say = |line| println!("{line}");
    unbind::unbind(&system, &kernel()?, &arguments.devices, &mut say)?;
    Ok(Outcome::Good)
}

/// Writes to a file of sysfs. [`Kernel`] runs this as a process.
///
/// # Errors
/// The system's message without the file name, which the parent process adds.
pub fn write(arguments: &WriteArguments) -> Result<Outcome> {
    control::write_here(&arguments.path, &arguments.value)?;
    Ok(Outcome::Good)
}

fn kernel() -> Result<Kernel> {
    let program: PathBuf =
        std::env::current_exe().context("cannot find this program's own file")?;
    Ok(Kernel::new(
        Path::new(&program).to_owned(),
        vec![WRITER.to_owned()],
    ))
}
