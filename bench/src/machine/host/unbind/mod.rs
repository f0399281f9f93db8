//! `triptych unbind`: returns ports to the kernel's driver.

use super::address::PciAddress;
use super::bind::{has, lines};
use super::control::{Control, ControlError};
use super::holders::{self, Holder};
use super::nic::{self, join, Nic, NicError, KERNEL_DRIVER};
use super::system::{program, System};

/// Why a port was not returned.
#[derive(Debug, thiserror::Error)]
pub enum UnbindObstacle {
    /// The device is not a port of the ixgbe family.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// A process drives the port.
    #[error(
        "{address}: IOMMU group {group} is in use by {}; run this first: `kill {}`",
        join(holders, ", "),
        join(&pids(holders), " ")
    )]
    InUse {
        /// The port.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// The processes that have the group open.
        holders: Vec<Holder>,
    },
    /// The kernel waits until a process closes the device.
    #[error(
        "{address}: {cause}: a process has the device open{}. The kernel releases the device when \
         the process closes it; then run `sudo {} unbind {address}` again",
        suspects(holders),
        program()
    )]
    Blocked {
        /// The port.
        address: PciAddress,
        /// The write in which the kernel waits.
        cause: ControlError,
        /// The processes that may have the device open.
        holders: Vec<Holder>,
    },
    /// The kernel refused.
    #[error("{address}: {cause}")]
    Control {
        /// The port.
        address: PciAddress,
        /// The kernel's error.
        cause: ControlError,
    },
    /// No driver of the kernel took the port.
    #[error(
        "{address}: no driver of the kernel took the port ({}); \
         `sudo modprobe ixgbe && echo {address} | sudo tee /sys/bus/pci/drivers_probe`",
        has(found)
    )]
    NotTaken {
        /// The port.
        address: PciAddress,
        /// The driver that the port has.
        found: Option<String>,
    },
}

fn pids(holders: &[Holder]) -> Vec<u32> {
    holders.iter().map(|holder| holder.pid).collect()
}

fn suspects(holders: &[Holder]) -> String {
    match holders {
        [] => String::new(),
        some => format!(", perhaps {}", join(some, ", ")),
    }
}

/// Why some ports were not returned.
#[derive(Debug, thiserror::Error)]
pub enum UnbindError {
    /// The user is not root.
    #[error("only root may change drivers: `sudo {} unbind {devices}`", program())]
    NotRoot {
        /// The ports.
        devices: String,
    },
    /// A port was refused before the first change.
    #[error("nothing was changed:{}", lines(.0))]
    Refused(Vec<UnbindObstacle>),
    /// Some ports failed.
    #[error("some ports were not returned:{}", lines(.0))]
    Failed(Vec<UnbindObstacle>),
}

/// Returns ports, and reports one line for each. Leaves ports alone that the kernel's driver has.
///
/// # Errors
/// [`UnbindError`]. If one port fails, the others are still returned.
pub fn unbind(
    system: &System,
    control: &dyn Control,
    devices: &[PciAddress],
    say: &mut dyn FnMut(String),
) -> Result<(), UnbindError> {
    let nics = check(system, devices).map_err(UnbindError::Refused)?;
    let done = |nic: &Nic| {
        nic.driver_override.is_none() && nic.driver.is_some() && !nic.is_bound_to_vfio()
    };
    let root = system.user().is_root() || !system.is_here();
    if !root && !nics.iter().all(done) {
        return Err(UnbindError::NotRoot {
            devices: join(devices, " "),
        });
    }
    let mut obstacles = Vec::new();
    for nic in &nics {
        if done(nic) {
            let driver = nic.driver.as_deref().unwrap_or_default();
            say(format!("{} already has {driver}", nic.address));
            continue;
        }
        match give_back(system, control, nic) {
            Ok(driver) => say(format!("{} is bound to {driver} again", nic.address)),
            Err(obstacle) => obstacles.push(obstacle),
        }
    }
    match obstacles.as_slice() {
        [] => Ok(()),
        _ => Err(UnbindError::Failed(obstacles)),
    }
}

/// The ports, unless one of them is in use.
fn check(system: &System, devices: &[PciAddress]) -> Result<Vec<Nic>, Vec<UnbindObstacle>> {
    let mut nics: Vec<Nic> = Vec::new();
    let mut obstacles = Vec::new();
    for address in devices {
        match Nic::find(system, *address) {
            Ok(nic) if nics.contains(&nic) => {}
            Ok(nic) => nics.push(nic),
            Err(error) => obstacles.push(error.into()),
        }
    }
    for nic in nics.iter().filter(|nic| nic.is_bound_to_vfio()) {
        let Some(group) = &nic.group else { continue };
        let holders = holders::of_group(system, group.number);
        if !holders.is_empty() {
            obstacles.push(UnbindObstacle::InUse {
                address: nic.address,
                group: group.number,
                holders,
            });
        }
    }
    match obstacles.as_slice() {
        [] => Ok(nics),
        _ => Err(obstacles),
    }
}

/// Returns one port. Returns the driver that has the port now.
fn give_back(system: &System, control: &dyn Control, nic: &Nic) -> Result<String, UnbindObstacle> {
    let address = nic.address;
    let name = address.to_string();
    let device = nic.folder();
    let write = |path: &str, value: &str| {
        control.write(&system.path(path), value).map_err(|cause| {
            let blocked = matches!(cause, ControlError::Blocked { .. });
            match blocked {
                true => UnbindObstacle::Blocked {
                    address,
                    cause,
                    holders: holders::of_any_device(system),
                },
                false => UnbindObstacle::Control { address, cause },
            }
        })
    };
    // First, so that the wrong driver cannot take the port again. A line break alone clears it.
    if nic.driver_override.is_some() {
        write(&format!("{device}/driver_override"), "\n")?;
    }
    if nic.is_bound_to_vfio() {
        write(&format!("{device}/driver/unbind"), &name)?;
    }
    if !system.exists(&format!("/sys/bus/pci/drivers/{KERNEL_DRIVER}")) {
        // If this fails, no driver takes the port, which is an error below.
        let _ = control.load_module(KERNEL_DRIVER);
    }
    if nic::driver(system, address).is_none() {
        write("/sys/bus/pci/drivers_probe", &name)?;
    }
    // The kernel removes the group's file with the last device of vfio-pci. If the file stays
    // although no device of the group is bound, its owner must not use it any longer.
    if let Some(group) = &nic.group {
        let node = group.node();
        let others = group.others.iter().any(|member| {
            nic::driver(system, member.address).is_some_and(|driver| driver == nic::VFIO_PCI)
        });
        if !others && system.owner(&node).is_some_and(|owner| owner.uid != 0) {
            control
                .give(&system.path(&node), 0, 0)
                .map_err(|cause| UnbindObstacle::Control { address, cause })?;
        }
    }
    match nic::driver(system, address) {
        Some(driver) if driver != nic::VFIO_PCI => Ok(driver),
        found => Err(UnbindObstacle::NotTaken { address, found }),
    }
}

#[cfg(test)]
mod tests;
