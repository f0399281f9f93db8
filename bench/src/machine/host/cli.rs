//! The command lines of `triptych doctor` and `bind`, and what the commands print.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use perfcounters::Interrupt;

use super::address::PciAddress;
use super::bind;
use super::control::Here;
use super::doctor;
use super::nic::VFIO_PCI;
use super::system::System;
use crate::usage::Outcome;

/// Arguments of `triptych doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Ports that a run shall use, such as 0000:03:00.0 or 03:00.0 [default: all]
    #[arg(value_name = "DEVICE")]
    devices: Vec<PciAddress>,
    /// Also write the findings to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Use the files of a machine below this folder (for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Arguments of `triptych bind`.
#[derive(Debug, Args)]
pub struct BindArguments {
    /// Ports to take, such as 0000:03:00.0 or 03:00.0; if one fails, none is taken
    #[arg(value_name = "DEVICE", required = true)]
    devices: Vec<PciAddress>,
    /// Return the ports to the kernel's driver
    #[arg(long, conflicts_with_all = ["user", "force", "driver"])]
    undo: bool,
    /// The user who may drive the ports [default: root]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Take ports even if they carry an address, a route or a bridge
    #[arg(long)]
    force: bool,
    /// The driver to bind the ports to
    #[arg(long, value_name = "DRIVER", default_value = VFIO_PCI)]
    driver: String,
    /// Use the files of a machine below this folder (for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Examines the machine and prints the findings.
///
/// # Errors
/// If a named port does not exist, or the findings cannot be written.
pub fn doctor(arguments: &DoctorArguments) -> Result<Outcome> {
    let diagnosis = doctor::examine(&System::at(&arguments.root), &arguments.devices)?;
    print!("{}", diagnosis.text());
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&diagnosis)?;
        fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(if diagnosis.ready {
        Outcome::Good
    } else {
        Outcome::NotReady
    })
}

/// Binds ports, or returns them.
///
/// # Errors
/// What is wrong with the ports, or what the kernel refuses.
pub fn bind(arguments: &BindArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let system = System::at(&arguments.root);
    if arguments.undo {
        let mut say = |line| println!("{line}");
        bind::undo(&system, &Here, &arguments.devices, &mut say)?;
        return Ok(Outcome::Good);
    }
    let request = bind::Request {
        devices: arguments.devices.clone(),
        user: arguments.user.clone(),
        force: arguments.force,
        driver: arguments.driver.clone(),
    };
    for line in bind::bind(&system, &Here, &request, interrupt)? {
        println!("{line}");
    }
    Ok(Outcome::Good)
}
