//! `triptych unbind`: gives ports back to the kernel's driver.

use super::address::PciAddress;
use super::bind::{has, lines};
use super::control::{Control, ControlError};
use super::holders::{self, Holder};
use super::nic::{self, join, Nic, NicError, KERNEL_DRIVER};
use super::system::{program, System};

/// Why a port was not given back.
#[derive(Debug, thiserror::Error)]
pub enum Obstacle {
    /// Not a port of the family.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// Somebody drives it.
    #[error(
        "{address}: IOMMU group {group} is in use by {}; end it first: `kill {}`",
        join(holders, ", "),
        join(&pids(holders), " ")
    )]
    InUse {
        /// The port.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// Who has it open.
        holders: Vec<Holder>,
    },
    /// The kernel waits for somebody to close it.
    #[error(
        "{address}: {cause}: somebody has the device open{}. The kernel gives it back as soon as \
         it is closed; then run `sudo {} unbind {address}` again",
        suspects(holders),
        program()
    )]
    Blocked {
        /// The port.
        address: PciAddress,
        /// What the kernel is waiting in.
        cause: ControlError,
        /// Who may have it open.
        holders: Vec<Holder>,
    },
    /// The kernel refused.
    #[error("{address}: {cause}")]
    Control {
        /// The port.
        address: PciAddress,
        /// What went wrong.
        cause: ControlError,
    },
    /// No driver took it.
    #[error(
        "{address}: no driver of the kernel took it ({}); \
         `sudo modprobe ixgbe && echo {address} | sudo tee /sys/bus/pci/drivers_probe`",
        has(found)
    )]
    NotTaken {
        /// The port.
        address: PciAddress,
        /// The driver that it has.
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

/// Why not all ports were given back.
#[derive(Debug, thiserror::Error)]
pub enum UnbindError {
    /// Only root may.
    #[error("only root may change drivers: `sudo {} unbind {devices}`", program())]
    NotRoot {
        /// The ports.
        devices: String,
    },
    /// Before anything was done.
    #[error("nothing was changed:{}", lines(.0))]
    Refused(Vec<Obstacle>),
    /// Some of them.
    #[error("not every port was given back:{}", lines(.0))]
    Failed(Vec<Obstacle>),
}

/// Gives ports back, and says of each what was done. Does nothing to those that the kernel's
/// driver has.
///
/// # Errors
/// [`UnbindError`]. A port that fails does not keep the others from being given back.
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
            say(format!("{} has {driver} already", nic.address));
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

/// The ports, if none of them is in use.
fn check(system: &System, devices: &[PciAddress]) -> Result<Vec<Nic>, Vec<Obstacle>> {
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
            obstacles.push(Obstacle::InUse {
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

/// Gives one port back; returns the driver that has it now.
fn give_back(system: &System, control: &dyn Control, nic: &Nic) -> Result<String, Obstacle> {
    let address = nic.address;
    let name = address.to_string();
    let device = nic.folder();
    let write = |path: &str, value: &str| {
        control.write(&system.path(path), value).map_err(|cause| {
            let blocked = matches!(cause, ControlError::Blocked { .. });
            match blocked {
                true => Obstacle::Blocked {
                    address,
                    cause,
                    holders: holders::of_any_device(system),
                },
                false => Obstacle::Control { address, cause },
            }
        })
    };
    // First, so that the wrong driver cannot take it again. A line break alone empties it.
    if nic.driver_override.is_some() {
        write(&format!("{device}/driver_override"), "\n")?;
    }
    if nic.is_bound_to_vfio() {
        write(&format!("{device}/driver/unbind"), &name)?;
    }
    if !system.exists(&format!("/sys/bus/pci/drivers/{KERNEL_DRIVER}")) {
        // Without it no driver takes the port, which is told below.
        let _ = control.load_module(KERNEL_DRIVER);
    }
    if nic::driver(system, address).is_none() {
        write("/sys/bus/pci/drivers_probe", &name)?;
    }
    // The file goes when the last device of its group does. If it stays without one, whom it
    // belonged to has no business there any more.
    if let Some(group) = &nic.group {
        let node = group.node();
        let others = group.others.iter().any(|member| {
            nic::driver(system, member.address).is_some_and(|driver| driver == nic::VFIO_PCI)
        });
        if !others && system.owner(&node).is_some_and(|owner| owner.uid != 0) {
            control
                .give(&system.path(&node), 0, 0)
                .map_err(|cause| Obstacle::Control { address, cause })?;
        }
    }
    match nic::driver(system, address) {
        Some(driver) if driver != nic::VFIO_PCI => Ok(driver),
        found => Err(Obstacle::NotTaken { address, found }),
    }
}

#[cfg(test)]
mod tests;
