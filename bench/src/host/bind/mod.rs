//! `triptych bind`: takes ports from the kernel's driver, for a process to drive.

use std::fmt;

use perfcounters::Interrupt;

use super::address::PciAddress;
use super::control::{Control, ControlError};
use super::doctor;
use super::nic::{self, join, Member, Nic, NicError, VFIO_PCI};
use super::system::{program, System};

/// What to bind, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// The ports.
    pub devices: Vec<PciAddress>,
    /// Who gets the groups' files; `None` leaves them to root.
    pub user: Option<Recipient>,
    /// Whether to take ports that carry something.
    pub force: bool,
    /// The driver to bind them to.
    pub driver: String,
}

/// Who gets a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Name.
    pub name: String,
    /// User number.
    pub uid: u32,
    /// Group number.
    pub gid: u32,
}

impl Recipient {
    /// The user of that name or number.
    ///
    /// # Errors
    /// If there is no such user.
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
            // A number needs no entry in a list.
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
pub enum Refusal {
    /// Not a port of the family.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// Something would be lost.
    #[error(
        "{address} carries {}; with --force it is taken all the same, and that is gone",
        carries.join(", ")
    )]
    InUse {
        /// The port.
        address: PciAddress,
        /// What it is used for.
        carries: Vec<String>,
    },
    /// The IOMMU is off.
    #[error(
        "{address} is in no IOMMU group: the IOMMU is off; `{} doctor {address}` says what mends that",
        program()
    )]
    NoGroup {
        /// The port.
        address: PciAddress,
    },
    /// VFIO would hand the group out only with its other devices.
    #[error(
        "{address} shares IOMMU group {group} with {}, which VFIO would not hand out; {}",
        join(members, ", "),
        release(*address, members)
    )]
    NotViable {
        /// The port.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// The devices that are in the way.
        members: Vec<Member>,
    },
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let driver = self.driver.as_deref().unwrap_or("no driver");
        write!(f, "{} ({}, {driver})", self.address, self.id)
    }
}

/// How to get the other devices of a group out of the way.
fn release(address: PciAddress, members: &[Member]) -> String {
    let addresses: Vec<String> = members
        .iter()
        .map(|member| member.address.to_string())
        .collect();
    match members.iter().all(|member| member.ixgbe_family) {
        true => format!(
            "bind them together: `sudo {} bind {address} {}`",
            program(),
            addresses.join(" ")
        ),
        false => format!(
            "take them from their drivers first, if they can be spared: `{}`",
            doctor::release(&addresses)
        ),
    }
}

/// Why nothing was bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Only root may.
    #[error("only root may change drivers: `sudo {} {arguments}`", program())]
    NotRoot {
        /// What root is to do.
        arguments: String,
    },
    /// There is no such user.
    #[error("there is no user {0:?}")]
    NoSuchUser(String),
    /// Ports that must not be taken, or are none.
    #[error("nothing was changed:{}", lines(.0))]
    Refused(Vec<Refusal>),
    /// The driver is not there.
    #[error(
        "this kernel has no driver {driver}; nothing was changed{}",
        detail(cause)
    )]
    NoDriver {
        /// Its name.
        driver: String,
        /// Why it could not be loaded.
        cause: Option<ControlError>,
    },
    /// It failed half-way.
    #[error("{address}: {cause}; {}", undone(left))]
    Failed {
        /// The port.
        address: PciAddress,
        /// What went wrong.
        cause: Cause,
        /// What could not be undone.
        left: Vec<String>,
    },
}

/// What can go wrong on the way.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The kernel, or a tool.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The driver refused the device, without a word.
    #[error(
        "{wanted} did not take it ({}); `sudo dmesg | tail` may say why",
        has(found)
    )]
    NotTaken {
        /// The driver.
        wanted: String,
        /// The driver that it has.
        found: Option<String>,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A line for each.
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
        [] => "everything is as it was before".to_owned(),
        some => format!("and it could not be undone:{}", lines(some)),
    }
}

/// `it has ixgbe`, `it has no driver`.
pub(super) fn has(driver: &Option<String>) -> String {
    match driver {
        Some(driver) => format!("it has {driver}"),
        None => "it has no driver".to_owned(),
    }
}

/// Binds all ports or none. Returns what was done, a line each.
///
/// # Errors
/// [`BindError`]; whatever was changed before has been undone, as far as its message does not say
/// otherwise.
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
            true => Err(Cause::Interrupted),
            false => take(system, control, nic, request, &mut given),
        };
        match result {
            Ok(text) => said.push(text),
            Err(cause) => {
                let mut left = give_back(control, &given);
                // The last one first.
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

/// The ports, if all of them may be taken. Looks at everything before anything is changed.
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
        let carries = nic.carries();
        if !carries.is_empty() && !request.force {
            refusals.push(Refusal::InUse {
                address: nic.address,
                carries,
            });
        }
        let Some(group) = &nic.group else {
            refusals.push(Refusal::NoGroup {
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
            refusals.push(Refusal::NotViable {
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

/// A file that was given to somebody, and whose it was.
struct Given {
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
    given: &mut Vec<Given>,
) -> Result<String, Cause> {
    let driver = &request.driver;
    let mut text = match nic.driver.as_ref() == Some(driver) {
        true => format!("{} has {driver} already", nic.address),
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
                given.push(Given {
                    path,
                    uid: before.uid,
                    gid: before.gid,
                });
            }
            text += &format!("; {node} belongs to {}", user.name);
        }
        None if system.owner(&node).is_none_or(|owner| owner.uid == 0) => {
            text += &format!("; only root may use {node} (--user NAME gives it away)");
        }
        None => {}
    }
    Ok(text)
}

/// Binds a port to a driver that would not take it by itself.
fn change_driver(
    system: &System,
    control: &dyn Control,
    nic: &Nic,
    driver: &str,
) -> Result<(), Cause> {
    let device = nic.folder();
    let address = nic.address.to_string();
    control.write(&system.path(&format!("{device}/driver_override")), driver)?;
    if nic.driver.is_some() {
        control.write(&system.path(&format!("{device}/driver/unbind")), &address)?;
    }
    control.write(&system.path("/sys/bus/pci/drivers_probe"), &address)?;
    match nic::driver(system, nic.address) {
        Some(found) if found == driver => Ok(()),
        found => Err(Cause::NotTaken {
            wanted: driver.to_owned(),
            found,
        }),
    }
}

/// Gives files back to whom they belonged. Returns what failed.
fn give_back(control: &dyn Control, given: &[Given]) -> Vec<String> {
    given
        .iter()
        .rev()
        .filter(|file| file.path.exists())
        .filter_map(|file| control.give(&file.path, file.uid, file.gid).err())
        .map(|error| error.to_string())
        .collect()
}

/// Makes a port's driver what it was, from wherever it is now. Returns what failed.
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
    // A line break alone empties it.
    let previous = before.driver_override.as_deref().unwrap_or("\n");
    write(&format!("{device}/driver_override"), previous);
    if let Some(driver) = before.driver.as_ref().filter(|_| now != before.driver) {
        write(&format!("/sys/bus/pci/drivers/{driver}/bind"), &address);
    }
    failed
}

#[cfg(test)]
mod tests;
