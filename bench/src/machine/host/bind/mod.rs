//! `triptych bind`: takes ports from the kernel's driver so that a process can drive them.

use std::fmt;

use perfcounters::Interrupt;

use super::address::PciAddress;
use super::control::{Control, ControlError};

use super::nic::{self, join, release_command, Member, Nic, NicError, VFIO_PCI};
use super::system::{program, System};

/// A request to bind ports.
#[derive(Debug, Clone)]
pub struct Request {
    /// The ports.
    pub devices: Vec<PciAddress>,
    /// The new owner of the groups' files; `None` leaves them to root.
    pub user: Option<Recipient>,
    /// Whether to take ports that are in use.
    pub force: bool,
    /// The driver to bind the ports to.
    pub driver: String,
}

/// The new owner of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// User name.
    pub name: String,
    /// User number.
    pub uid: u32,
    /// Group number.
    pub gid: u32,
}

impl Recipient {
    /// Finds a user by name or number.
    ///
    /// # Errors
    /// If no user has the name.
    pub fn named(name: &str) -> Result<Self, BindError> {
        use nix::unistd::{Uid, User};
        let number = name.parse().ok();
        let found = match number {
            Some(uid) => User::from_uid(Uid::from_raw(uid)),
            None => User::from_name(name),
        };
        match (found, number) {
            (Ok(Some(user)), _) => Ok(Self {
                name: user.name,
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
            }),
            // A number is valid even if no user has it.
            (_, Some(uid)) => Ok(Self {
                name: name.to_owned(),
                uid,
                gid: uid,
            }),
            _ => Err(BindError::NoSuchUser(name.to_owned())),
        }
    }
}

/// Why a port is not bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindRefusal {
    /// The device is not a port of the ixgbe family.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// The port is in use.
    #[error(
        "{address} carries {}; --force takes the port anyway, and its user loses all of that",
        carries.join(", ")
    )]
    InUse {
        /// The port.
        address: PciAddress,
        /// The uses of the port, in words.
        carries: Vec<String>,
    },
    /// The drivers refuse the card.
    #[error("{address} ({name}) is not supported: {reason}")]
    Unsupported {
        /// The port.
        address: PciAddress,
        /// The name of its model.
        name: &'static str,
        /// Why the drivers refuse it.
        reason: &'static str,
    },
    /// The IOMMU is off.
    #[error(
        "{address} is in no IOMMU group, because the IOMMU is off; `{} doctor {address}` prints the fix",
        program()
    )]
    NoGroup {
        /// The port.
        address: PciAddress,
    },
    /// Other devices of the group have a driver of the kernel.
    #[error(
        "{address} shares IOMMU group {group} with {}, so VFIO would refuse the group; {}",
        join(members, ", "),
        release(*address, members)
    )]
    NotViable {
        /// The port.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// The devices that keep VFIO from handing out the group.
        members: Vec<Member>,
    },
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let driver = self.driver.as_deref().unwrap_or("no driver");
        write!(f, "{} ({}, {driver})", self.address, self.id)
    }
}

/// How to release the other devices of a group.
fn release(address: PciAddress, members: &[Member]) -> String {
    let addresses: Vec<PciAddress> = members.iter().map(|member| member.address).collect();
    match members.iter().all(|member| member.ixgbe_family) {
        true => format!(
            "bind them together: `sudo {} bind {address} {}`",
            program(),
            join(&addresses, " ")
        ),
        false => format!(
            "if nothing needs them, take them from their drivers first: `{}`",
            release_command(&addresses)
        ),
    }
}

/// Why nothing was bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The user is not root.
    #[error("only root may change drivers: `sudo {} {arguments}`", program())]
    NotRoot {
        /// The arguments for root's command.
        arguments: String,
    },
    /// No user has this name.
    #[error("there is no user {0:?}")]
    NoSuchUser(String),
    /// Some of the ports are in use or are no ports.
    #[error("nothing was changed:{}", lines(.0))]
    Refused(Vec<BindRefusal>),
    /// The kernel has no such driver.
    #[error(
        "this kernel has no driver {driver}; nothing was changed{}",
        detail(cause)
    )]
    NoDriver {
        /// Its name.
        driver: String,
        /// Why its module could not be loaded.
        cause: Option<ControlError>,
    },
    /// A port failed after others were bound.
    #[error("{address}: {cause}; {}", undone(left))]
    Failed {
        /// The port.
        address: PciAddress,
        /// What went wrong.
        cause: StepError,
        /// The changes that could not be undone.
        left: Vec<String>,
    },
}

/// Why a port failed.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The kernel or a tool refused.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The driver refused the device without an error.
    #[error(
        "{wanted} did not take the port ({}); `sudo dmesg | tail` may say why",
        has(found)
    )]
    NotTaken {
        /// The wanted driver.
        wanted: String,
        /// The driver that the port has.
        found: Option<String>,
    },
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
}

/// One line for each item.
pub(super) fn lines<T: fmt::Display>(things: &[T]) -> String {
    let lines: Vec<String> = things.iter().map(|thing| format!("\n  {thing}")).collect();
    lines.concat()
}

fn detail(cause: &Option<ControlError>) -> String {
    cause
        .as_ref()
        .map_or_else(String::new, |cause| format!(" ({cause})"))
}

fn undone(left: &[String]) -> String {
    match left {
        [] => "all changes were undone".to_owned(),
        some => format!("some changes could not be undone:{}", lines(some)),
    }
}

/// The driver in words: `it has ixgbe`, `it has no driver`.
pub(super) fn has(driver: &Option<String>) -> String {
    match driver {
        Some(driver) => format!("it has {driver}"),
        None => "it has no driver".to_owned(),
    }
}

/// Binds all ports or none. Returns one line for each port.
///
/// # Errors
/// [`BindError`]. Earlier changes are undone, except those that the message names.
pub fn bind(
    system: &System,
    control: &dyn Control,
    request: &Request,
    interrupt: &Interrupt,
) -> Result<Vec<String>, BindError> {
    let nics = check(system, request)?;
    if system.is_here() && !system.user().is_root() {
        let mut words = vec!["bind".to_owned()];
        words.extend(nics.iter().map(|nic| nic.address.to_string()));
        words.push(format!("--user {}", system.user().name));
        return Err(BindError::NotRoot {
            arguments: words.join(" "),
        });
    }
    let folder = format!("/sys/bus/pci/drivers/{}", request.driver);
    if !system.exists(&folder) {
        let cause = control.load_module(&request.driver).err();
        if !system.exists(&folder) {
            return Err(BindError::NoDriver {
                driver: request.driver.clone(),
                cause,
            });
        }
    }
    let mut said = Vec::new();
    let mut given = Vec::new();
    for (index, nic) in nics.iter().enumerate() {
        let result = match interrupt.is_set() {
            true => Err(StepError::Interrupted),
            false => take(system, control, nic, request, &mut given),
        };
        match result {
            Ok(text) => said.push(text),
            Err(cause) => {
                let mut left = give_back(control, &given);
                // In reverse order.
                for nic in nics[..=index].iter().rev() {
                    left.extend(restore(system, control, nic));
                }
                return Err(BindError::Failed {
                    address: nic.address,
                    cause,
                    left,
                });
            }
        }
    }
    Ok(said)
}

/// The ports, if all of them may be taken. Checks every port before the first change.
fn check(system: &System, request: &Request) -> Result<Vec<Nic>, BindError> {
    let mut nics: Vec<Nic> = Vec::new();
    let mut refusals = Vec::new();
    for address in &request.devices {
        match Nic::find(system, *address) {
            Ok(nic) if nics.contains(&nic) => {}
            Ok(nic) => nics.push(nic),
            Err(error) => refusals.push(error.into()),
        }
    }
    for nic in &nics {
        if let Some(reason) = nic.refused {
            refusals.push(BindRefusal::Unsupported {
                address: nic.address,
                name: nic.name,
                reason,
            });
            continue;
        }
        let carries = nic.carries();
        if !carries.is_empty() && !request.force {
            refusals.push(BindRefusal::InUse {
                address: nic.address,
                carries,
            });
        }
        let isolated = nic.group.as_ref().filter(|group| !group.no_iommu);
        let Some(group) = isolated else {
            refusals.push(BindRefusal::NoGroup {
                address: nic.address,
            });
            continue;
        };
        let members: Vec<Member> = group
            .in_the_way()
            .into_iter()
            .filter(|member| !request.devices.contains(&member.address))
            .cloned()
            .collect();
        if !members.is_empty() {
            refusals.push(BindRefusal::NotViable {
                address: nic.address,
                group: group.number,
                members,
            });
        }
    }
    match refusals.as_slice() {
        [] => Ok(nics),
        _ => Err(BindError::Refused(refusals)),
    }
}

/// A file that got a new owner, and its previous owner.
struct ChangedOwner {
    path: std::path::PathBuf,
    uid: u32,
    gid: u32,
}

/// Binds one port.
fn take(
    system: &System,
    control: &dyn Control,
    nic: &Nic,
    request: &Request,
    given: &mut Vec<ChangedOwner>,
) -> Result<String, StepError> {
    let driver = &request.driver;
    let mut text = match nic.driver.as_ref() == Some(driver) {
        true => format!("{} already has {driver}", nic.address),
        false => {
            change_driver(system, control, nic, driver)?;
            let before = match &nic.driver {
                Some(before) => format!(" (before: {before})"),
                None => String::new(),
            };
            format!("{} is bound to {driver}{before}", nic.address)
        }
    };
    let Some(group) = nic.group.as_ref().filter(|_| driver == VFIO_PCI) else {
        return Ok(text);
    };
    let node = group.node();
    match &request.user {
        Some(user) => {
            let path = system.path(&node);
            let before = system.owner(&node);
            control.give(&path, user.uid, user.gid)?;
            if let Some(before) = before {
                given.push(ChangedOwner {
                    path,
                    uid: before.uid,
                    gid: before.gid,
                });
            }
            text += &format!("; {node} belongs to {}", user.name);
        }
        None if system.owner(&node).is_none_or(|owner| owner.uid == 0) => {
            text += &format!("; only root may use {node} (--user NAME gives it to a user)");
        }
        None => {}
    }
    Ok(text)
}

/// Binds a port to a driver that the kernel would not choose for it.
fn change_driver(
    system: &System,
    control: &dyn Control,
    nic: &Nic,
    driver: &str,
) -> Result<(), StepError> {
    let device = nic.folder();
    let address = nic.address.to_string();
    control.write(&system.path(&format!("{device}/driver_override")), driver)?;
    if nic.driver.is_some() {
        control.write(&system.path(&format!("{device}/driver/unbind")), &address)?;
    }
    control.write(&system.path("/sys/bus/pci/drivers_probe"), &address)?;
    match nic::driver(system, nic.address) {
        Some(found) if found == driver => Ok(()),
        found => Err(StepError::NotTaken {
            wanted: driver.to_owned(),
            found,
        }),
    }
}

/// Returns files to their previous owners. Returns the errors.
fn give_back(control: &dyn Control, given: &[ChangedOwner]) -> Vec<String> {
    given
        .iter()
        .rev()
        .filter(|file| file.path.exists())
        .filter_map(|file| control.give(&file.path, file.uid, file.gid).err())
        .map(|error| error.to_string())
        .collect()
}

/// Restores the driver that a port had before. Returns the errors.
fn restore(system: &System, control: &dyn Control, before: &Nic) -> Vec<String> {
    let device = before.folder();
    let address = before.address.to_string();
    let now = nic::driver(system, before.address);
    let mut failed = Vec::new();
    let mut write = |path: &str, value: &str| {
        if let Err(error) = control.write(&system.path(path), value) {
            failed.push(error.to_string());
        }
    };
    if now != before.driver && now.is_some() {
        write(&format!("{device}/driver/unbind"), &address);
    }
    // A line break alone clears the override.
    let previous = before.driver_override.as_deref().unwrap_or("\n");
    write(&format!("{device}/driver_override"), previous);
    if let Some(driver) = before.driver.as_ref().filter(|_| now != before.driver) {
        write(&format!("/sys/bus/pci/drivers/{driver}/bind"), &address);
    }
    failed
}

#[cfg(test)]
mod tests;
