//! Checks the ports and the load generator of a real card before a run, so that the run does not fail
//! after hours.

use std::os::unix::fs::FileTypeExt;

use perfcounters::Interrupt;

use super::config::Config;
use super::generator::Pktgen;
use crate::machine::host::address::PciAddress;
use crate::machine::host::nic::{Nic, VFIO_PCI};
use crate::machine::host::system::{program, System};
use crate::usage::UsageError;

/// What the address of a software card's port begins with; the path of its socket follows.
pub(super) const VFIO_USER: &str = "vfio-user:";

/// Checks that both ports exist and can be driven, and that the generator answers.
pub(super) fn check(
    config: &Config,
    system: &System,
    interrupt: &Interrupt,
) -> Result<(), UsageError> {
    if let Some(problem) = problems(config, system).into_iter().next() {
        return Err(UsageError(problem));
    }
    Pktgen::new(config, interrupt)?.map_or(Ok(()), |generator| generator.check())
}

/// What is wrong with the ports.
pub(super) fn problems(config: &Config, system: &System) -> Vec<String> {
    let ports = config.devices.iter().flatten();
    ports.filter_map(|port| problem(port, system)).collect()
}

fn problem(port: &str, system: &System) -> Option<String> {
    if let Some(socket) = port.strip_prefix(VFIO_USER) {
        let file = std::fs::metadata(socket);
        let there = file.is_ok_and(|file| file.file_type().is_socket());
        return (!there).then(|| {
            format!(
                "{port}: there is no such socket; start the software card with `build/bin/nic \
                 --socket-dir DIR --traffic saturate`"
            )
        });
    }
    let address: PciAddress = match port.parse() {
        Ok(address) => address,
        Err(error) => return Some(format!("{error}")),
    };
    match Nic::find(system, address) {
        Err(error) => Some(error.to_string()),
        Ok(nic) if nic.is_bound_to_vfio() => None,
        Ok(nic) => Some(format!(
            "{address} is bound to {}, not to {VFIO_PCI}: take it with `sudo {} bind {address}`",
            nic.driver.as_deref().unwrap_or("no driver"),
            program(),
        )),
    }
}
