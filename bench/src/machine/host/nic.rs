//! Ports of network cards of the ixgbe family: their addresses, drivers, groups and links.

use std::fmt;

use anyhow::{bail, ensure, Result};
use ixgbe::driver::device_ids::{DeviceId, DEVICE_IDS};
use serde::Serialize;

use super::address::PciAddress;
use super::interface::Interface;
use super::system::{program, System};

/// The driver that gives devices to processes.
pub const VFIO_PCI: &str = "vfio-pci";
/// The kernel's driver of this family.
pub const KERNEL_DRIVER: &str = "ixgbe";

const DEVICES: &str = "/sys/bus/pci/devices";

/// A port of a card of the ixgbe family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nic {
    pub address: PciAddress,
    /// Vendor and device number, such as `8086:10fb`.
    pub id: String,
    pub name: &'static str,
    /// Why Triptych's drivers refuse it, if they do.
    pub refused: Option<&'static str>,
    pub driver: Option<String>,
    /// The only driver that may bind to it, if one is set.
    pub driver_override: Option<String>,
    /// Its IOMMU group; `None` if the IOMMU is off.
    pub group: Option<Group>,
    pub numa_node: Option<u32>,
    pub pcie: Option<Pcie>,
    pub interfaces: Vec<Interface>,
    pub virtual_functions: u32,
}

/// An IOMMU group: devices that the IOMMU can isolate only together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its number. VFIO's file is `/dev/vfio/NUMBER`.
    pub number: u32,
    pub others: Vec<Member>,
    /// Whether VFIO made the group without an IOMMU, for `enable_unsafe_noiommu_mode`.
    pub no_iommu: bool,
}

/// Another device of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    pub address: PciAddress,
    pub id: String,
    pub driver: Option<String>,
    /// Whether it is a port that Triptych's drivers support.
    pub ixgbe_family: bool,
}

/// A PCI Express link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// Its speed and lanes, such as `5.0 GT/s x8`.
    pub now: String,
    /// What the card supports.
    pub best: String,
}

/// `1 problem`, `2 problems`.
pub fn plural(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// Joins the texts of several items, with `between` between them.
pub fn join<T: ToString>(things: &[T], between: &str) -> String {
    let texts: Vec<String> = things.iter().map(T::to_string).collect();
    texts.join(between)
}

impl Nic {
    /// All ports of the family, sorted by address.
    pub fn all(system: &System) -> Vec<Self> {
        let names = system.entries(DEVICES);
        let addresses = names.iter().filter_map(|name| name.parse().ok());
        addresses
            .filter_map(|address| Self::read(system, address))
            .collect()
    }

    /// The port at an address.
    ///
    /// # Errors
    /// If no device has the address, or the device is not a port of the family.
    pub fn find(system: &System, address: PciAddress) -> Result<Self> {
        if let Some(nic) = Self::read(system, address) {
            return Ok(nic);
        }
        let ports: Vec<PciAddress> = Self::all(system).iter().map(|nic| nic.address).collect();
        let present = match ports.as_slice() {
            [] => "this machine has no port of the family".to_owned(),
            some => format!("this machine has these ports: {}", join(some, ", ")),
        };
        ensure!(
            system.exists(&folder(address)),
            "{address}: no such PCI device; {present}"
        );
        bail!(
            "{address}: {} is not a card of the ixgbe family (82599, X520, X540, X550); {present}",
            id(system, address)
        )
    }

    /// The ports at some addresses, each once, and what is wrong with the other addresses.
    pub fn find_each(system: &System, addresses: &[PciAddress]) -> (Vec<Self>, Vec<String>) {
        let mut nics: Vec<Self> = Vec::new();
        let mut errors = Vec::new();
        for address in addresses {
            match Self::find(system, *address) {
                Ok(nic) if nics.contains(&nic) => {}
                Ok(nic) => nics.push(nic),
                Err(error) => errors.push(error.to_string()),
            }
        }
        (nics, errors)
    }

    fn read(system: &System, address: PciAddress) -> Option<Self> {
        let device = known(system, address)?;
        let folder = folder(address);
        let only = system.read(&format!("{folder}/driver_override"));
        let number = |name: &str| system.number(&format!("{folder}/{name}"))?.try_into().ok();
        let interfaces = system.entries(&format!("{folder}/net"));
        let interfaces = interfaces.iter().map(|name| Interface::read(system, name));
        Some(Self {
            address,
            id: id(system, address),
            name: device.name,
            refused: device.refused,
            driver: driver(system, address),
            driver_override: only.filter(|text| !text.is_empty() && text != "(null)"),
            group: Group::of(system, address),
            // -1 if the firmware does not report the node, as on machines with one node.
            numa_node: number("numa_node"),
            pcie: Pcie::read(system, &folder),
            interfaces: interfaces.collect(),
            virtual_functions: number("sriov_numvfs").unwrap_or(0),
        })
    }

    /// Whether a VFIO driver is bound to it.
    pub fn is_bound_to_vfio(&self) -> bool {
        self.driver.as_deref().is_some_and(is_vfio)
    }

    /// Its folder in sysfs.
    pub fn folder(&self) -> String {
        folder(self.address)
    }

    /// Its uses in words, all of which end when the kernel's driver releases it.
    pub fn carries(&self) -> Vec<String> {
        let mut all = Vec::new();
        for Interface { name, carries, .. } in &self.interfaces {
            all.extend(carries.iter().map(|what| format!("{what} ({name})")));
        }
        if self.virtual_functions > 0 {
            all.push(plural(self.virtual_functions as usize, "virtual function"));
        }
        if self.driver.as_deref() == Some(KERNEL_DRIVER) && self.interfaces.is_empty() {
            // sysfs shows only the interfaces of this process's network namespace.
            all.push("an interface in another network namespace".to_owned());
        }
        all
    }
}

impl Group {
    fn of(system: &System, address: PciAddress) -> Option<Self> {
        let name = system.link_name(&format!("{}/iommu_group", folder(address)))?;
        let member = |address| Member {
            address,
            id: id(system, address),
            driver: driver(system, address),
            ixgbe_family: known(system, address).is_some_and(|card| card.refused.is_none()),
        };
        let devices = system.entries(&format!("/sys/kernel/iommu_groups/{name}/devices"));
        let devices = devices.iter().filter_map(|device| device.parse().ok());
        Some(Self {
            number: name.parse().ok()?,
            others: devices
                .filter(|other| *other != address)
                .map(member)
                .collect(),
            no_iommu: is_no_iommu(system, &name),
        })
    }

    /// VFIO's file for the group.
    pub fn node(&self) -> String {
        if self.no_iommu {
            format!("/dev/vfio/noiommu-{}", self.number)
        } else {
            format!("/dev/vfio/{}", self.number)
        }
    }

    /// What keeps VFIO from handing out the group of a port although some devices are bound to it, and the
    /// command for it: devices with a kernel driver that uses DMA.
    pub fn obstacle(&self, port: PciAddress, bound: &[PciAddress]) -> Option<(String, String)> {
        let uses_dma =
            |driver: &str| !is_vfio(driver) && !matches!(driver, "pcieport" | "pci-stub");
        let mut members: Vec<&Member> = self.others.iter().collect();
        members.retain(|member| {
            !bound.contains(&member.address) && member.driver.as_deref().is_some_and(uses_dma)
        });
        if members.is_empty() {
            return None;
        }
        let all = join(&members, ", ");
        let found = format!(
            "IOMMU group {} of {port} is not viable: it also holds {all}",
            self.number
        );
        let fix = if members.iter().all(|member| member.ixgbe_family) {
            let others: Vec<_> = members.iter().map(|member| member.address).collect();
            format!("sudo {} bind {port} {}", program(), join(&others, " "))
        } else {
            // A group is viable when its other devices have no driver.
            let release = |Member { address, .. }: &&Member| {
                format!("echo {address} | sudo tee {DEVICES}/{address}/driver/unbind")
            };
            members.iter().map(release).collect::<Vec<_>>().join(" && ")
        };
        Some((found, fix))
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let driver = self.driver.as_deref().unwrap_or("no driver");
        write!(f, "{} ({}, {driver})", self.address, self.id)
    }
}

/// Whether VFIO made an IOMMU group although no IOMMU isolates it.
pub fn is_no_iommu(system: &System, group: &str) -> bool {
    let name = system.read(&format!("/sys/kernel/iommu_groups/{group}/name"));
    name.as_deref() == Some("vfio-noiommu")
}

fn is_vfio(driver: &str) -> bool {
    driver == VFIO_PCI || driver.ends_with("-vfio-pci") || driver.ends_with("_vfio_pci")
}

impl Pcie {
    fn read(system: &System, folder: &str) -> Option<Self> {
        let link = |which: &str| {
            let speed = system.read(&format!("{folder}/{which}_link_speed"))?;
            let width = system.read(&format!("{folder}/{which}_link_width"))?;
            // A virtual device may have no link.
            let exists = speed.contains("GT/s") && width != "0";
            exists.then(|| format!("{} x{width}", speed.trim_end_matches(" PCIe")))
        };
        let (now, best) = (link("current")?, link("max")?);
        Some(Self { now, best })
    }
}

fn folder(address: PciAddress) -> String {
    format!("{DEVICES}/{address}")
}

/// Vendor and device number, such as `8086:10fb`.
fn id(system: &System, address: PciAddress) -> String {
    let number = |name: &str| {
        system
            .hex(&format!("{}/{name}", folder(address)))
            .unwrap_or(0)
    };
    format!("{:04x}:{:04x}", number("vendor"), number("device"))
}

/// The driver that is bound to a device.
pub fn driver(system: &System, address: PciAddress) -> Option<String> {
    system.link_name(&format!("{}/driver", folder(address)))
}

/// The entry of a device in the list of the family.
fn known(system: &System, address: PciAddress) -> Option<&'static DeviceId> {
    let id = id(system, address);
    DEVICE_IDS
        .iter()
        .find(|known| id == format!("8086:{:04x}", known.id))
}
