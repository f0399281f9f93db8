//! `triptych bind`: takes ports from the kernel's driver so that a process can drive them, and `bind --undo`
//! returns them. As with `driverctl`, a port gets the only driver that may bind to it, loses its present
//! driver, and is probed.

use anyhow::{anyhow, bail, ensure, Context, Result};
use perfcounters::Interrupt;

use super::address::PciAddress;
use super::control::Control;
use super::holders;
use super::nic::{self, join, Nic, KERNEL_DRIVER, VFIO_PCI};
use super::system::{program, System};

/// A request to bind ports.
#[derive(Debug, Clone)]
pub struct Request {
    pub devices: Vec<PciAddress>,
    /// The new owner of the groups' files, by name or number; `None` leaves them to root.
    pub user: Option<String>,
    /// Whether to take ports that are in use.
    pub force: bool,
    /// The driver to bind the ports to.
    pub driver: String,
}

/// A port of a machine, and what changes its driver.
struct Port<'a> {
    system: &'a System,
    control: &'a dyn Control,
    /// As it was before the first change.
    nic: Nic,
}

impl<'a> Port<'a> {
    fn each(system: &'a System, control: &'a dyn Control, nics: Vec<Nic>) -> Vec<Self> {
        let port = |nic| Self {
            system,
            control,
            nic,
        };
        nics.into_iter().map(port).collect()
    }

    fn write(&self, path: &str, value: &str) -> Result<()> {
        let path = self.system.path(path);
        self.control.run(&["tee", &path.to_string_lossy()], value)
    }

    /// Sets the only driver that may bind to it, or none.
    fn allow_only(&self, driver: Option<&str>) -> Result<()> {
        // A line break alone clears it.
        let file = format!("{}/driver_override", self.nic.folder());
        self.write(&file, driver.unwrap_or("\n"))
    }

    /// Takes it from its driver.
    fn release(&self) -> Result<()> {
        let file = format!("{}/driver/unbind", self.nic.folder());
        self.write(&file, &self.nic.address.to_string())
    }

    /// Lets the kernel choose a driver, if it has none.
    fn probe(&self) -> Result<()> {
        self.write("/sys/bus/pci/drivers_probe", &self.nic.address.to_string())
    }

    fn driver(&self) -> Option<String> {
        nic::driver(self.system, self.nic.address)
    }

    /// Its driver in words: `it has ixgbe`, `it has no driver`.
    fn has(&self) -> String {
        format!("it has {}", self.driver().as_deref().unwrap_or("no driver"))
    }

    /// Binds it to a driver that the kernel would not choose for it.
    fn bind(&self, driver: &str) -> Result<String> {
        let address = self.nic.address;
        if self.nic.driver.as_deref() == Some(driver) {
            return Ok(format!("{address} already has {driver}"));
        }
        self.allow_only(Some(driver))?;
        if self.nic.driver.is_some() {
            self.release()?;
        }
        self.probe()?;
        ensure!(
            self.driver().as_deref() == Some(driver),
            "{driver} did not take the port ({}); `sudo dmesg | tail` may say why",
            self.has()
        );
        let before = self.nic.driver.as_ref();
        let before = before.map_or_else(String::new, |before| format!(" (before: {before})"));
        Ok(format!("{address} is bound to {driver}{before}"))
    }

    /// Gives the file of its group to a user. Returns what to say about the file.
    fn give(&self, owner: Option<&(String, String)>) -> Result<String> {
        let group = self.nic.group.as_ref();
        let Some(group) = group.filter(|_| self.driver().as_deref() == Some(VFIO_PCI)) else {
            return Ok(String::new());
        };
        let node = group.node();
        let Some((name, owner)) = owner else {
            return Ok(match self.system.owner(&node) {
                Some(uid) if uid != 0 => String::new(),
                _ => format!("; only root may use {node} (--user NAME gives it to a user)"),
            });
        };
        // udev sets the owner when the file appears, and must not undo the change. Not all machines have it.
        let _ = self.control.run(&["udevadm", "settle", "--timeout=5"], "");
        let path = self.system.path(&node);
        self.control
            .run(&["chown", owner, &path.to_string_lossy()], "")?;
        Ok(format!("; {node} belongs to {name}"))
    }

    /// Restores the driver that it had before.
    fn restore(&self) -> Result<()> {
        let changed = self.driver() != self.nic.driver;
        if changed && self.driver().is_some() {
            self.release()?;
        }
        let only = self.nic.driver_override.as_deref();
        match self.nic.driver.as_deref().filter(|_| changed) {
            None => self.allow_only(only),
            Some(before) => {
                // The kernel would perhaps choose another one.
                self.allow_only(Some(before))?;
                self.probe()?;
                self.allow_only(only)
            }
        }
    }

    /// Returns it to the kernel's driver.
    fn undo(&self) -> Result<String> {
        let Self { nic, system, .. } = self;
        let address = nic.address;
        if let (None, Some(driver)) = (&nic.driver_override, &nic.driver) {
            if !nic.is_bound_to_vfio() {
                return Ok(format!("{address} already has {driver}"));
            }
        }
        require_root(system, &format!("bind --undo {address}"))?;
        // First, so that the wrong driver cannot take the port again.
        self.allow_only(None)?;
        if nic.is_bound_to_vfio() {
            self.release().map_err(|error| {
                anyhow!(
                    "{error}: a process may have the device open ({}). The kernel releases the device when the \
                     process closes it; then run `sudo {} bind --undo {address}` again",
                    holders::of_any_device(system),
                    program()
                )
            })?;
        }
        if !system.exists(&format!("/sys/bus/pci/drivers/{KERNEL_DRIVER}")) {
            // If this fails, no driver takes the port, which is an error below.
            let _ = self.control.run(&["modprobe", KERNEL_DRIVER], "");
        }
        self.probe()?;
        match self.driver() {
            Some(driver) if driver != VFIO_PCI => {
                Ok(format!("{address} is bound to {driver} again"))
            }
            _ => bail!(
                "no driver of the kernel took the port ({}); \
                 `sudo modprobe ixgbe && echo {address} | sudo tee /sys/bus/pci/drivers_probe`",
                self.has()
            ),
        }
    }
}

/// Binds all ports or none. Returns one line for each port.
///
/// # Errors
/// What is wrong with the ports. Earlier changes are undone, except those that the message names.
pub fn bind(
    system: &System,
    control: &dyn Control,
    request: &Request,
    interrupt: &Interrupt,
) -> Result<Vec<String>> {
    let (nics, mut refusals) = Nic::find_each(system, &request.devices);
    refusals.extend(nics.iter().flat_map(|nic| refuse(nic, request)));
    if_none("nothing was changed", refusals)?;
    let devices = join(&request.devices, " ");
    require_root(
        system,
        &format!("bind {devices} --user {}", system.user().name),
    )?;
    let owner = match &request.user {
        Some(name) => Some((name.clone(), owner(name)?)),
        None => None,
    };
    let driver = &request.driver;
    if !system.exists(&format!("/sys/bus/pci/drivers/{driver}")) {
        let loaded = control.run(&["modprobe", driver], "");
        let unknown = || format!("this kernel has no driver {driver}; nothing was changed");
        loaded.with_context(unknown)?;
    }
    let ports = Port::each(system, control, nics);
    let mut said = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let bound = if interrupt.is_set() {
            Err(anyhow!("interrupted"))
        } else {
            port.bind(driver)
        };
        let given = bound.and_then(|line| Ok(line + &port.give(owner.as_ref())?));
        match given {
            Ok(line) => said.push(line),
            Err(cause) => {
                let changed = ports[..=index].iter().rev();
                let left = changed.filter_map(|port| Some(port.restore().err()?.to_string()));
                let what = format!("{}: {cause}", port.nic.address);
                if_none(
                    &format!("{what}; some changes could not be undone"),
                    left.collect(),
                )?;
                bail!("{what}; all changes were undone");
            }
        }
    }
    Ok(said)
}

/// Returns ports, and reports one line for each. Leaves ports alone that the kernel's driver has.
///
/// # Errors
/// What is wrong. If one port fails, the others are still returned.
pub fn undo(
    system: &System,
    control: &dyn Control,
    devices: &[PciAddress],
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let (nics, mut obstacles) = Nic::find_each(system, devices);
    for nic in nics.iter().filter(|nic| nic.is_bound_to_vfio()) {
        let Some(group) = &nic.group else { continue };
        if let Some((holders, kill)) = holders::of_group(system, group.number) {
            obstacles.push(format!(
                "{}: IOMMU group {} is in use by {holders}; run this first: `{kill}`",
                nic.address, group.number
            ));
        }
    }
    if_none("nothing was changed", obstacles)?;
    let mut failed = Vec::new();
    for port in Port::each(system, control, nics) {
        match port.undo() {
            Ok(line) => say(line),
            Err(error) => failed.push(format!("{}: {error}", port.nic.address)),
        }
    }
    if_none("some ports were not returned", failed)
}

/// Fails with one line for each problem, if there are any.
fn if_none(what: &str, problems: Vec<String>) -> Result<()> {
    ensure!(problems.is_empty(), "{what}:\n  {}", problems.join("\n  "));
    Ok(())
}

fn require_root(system: &System, arguments: &str) -> Result<()> {
    let root = system.user().is_root() || !system.is_here();
    ensure!(
        root,
        "only root may change drivers: `sudo {} {arguments}`",
        program()
    );
    Ok(())
}

/// A user and the user's group, by numbers.
fn owner(name: &str) -> Result<String> {
    use nix::unistd::{Uid, User};
    let found = match name.parse() {
        Ok(uid) => User::from_uid(Uid::from_raw(uid)),
        Err(_) => User::from_name(name),
    };
    match found {
        Ok(Some(user)) => Ok(format!("{}:{}", user.uid, user.gid)),
        _ => bail!("there is no user {name:?}"),
    }
}

/// Why a port may not be taken.
fn refuse(nic: &Nic, request: &Request) -> Vec<String> {
    let address = nic.address;
    if let Some(reason) = nic.refused {
        return vec![format!(
            "{address} ({}) is not supported: {reason}",
            nic.name
        )];
    }
    let mut refusals = Vec::new();
    let carries = nic.carries();
    if !carries.is_empty() && !request.force {
        refusals.push(format!(
            "{address} carries {}; --force takes the port anyway, and its user loses all of that",
            carries.join(", ")
        ));
    }
    let Some(group) = nic.group.as_ref().filter(|group| !group.no_iommu) else {
        refusals.push(format!(
            "{address} is in no IOMMU group, because the IOMMU is off; `{} doctor {address}` prints the fix",
            program()
        ));
        return refusals;
    };
    let obstacle = group.obstacle(address, &request.devices);
    refusals.extend(obstacle.map(|(found, fix)| {
        format!("{found}, so VFIO would refuse the group; if nothing needs them: `{fix}`")
    }));
    refusals
}

#[cfg(test)]
mod tests;
