//! Ports of network cards of the ixgbe family: their addresses, drivers, groups and links.

use ixgbe::driver::device_ids::DEVICE_IDS;
use serde::Serialize;

use super::address::PciAddress;
use super::interface::Interface;
use super::system::System;

/// The driver that gives devices to processes.
pub const VFIO_PCI: &str = "vfio-pci";
/// The kernel's driver of this family.
pub const KERNEL_DRIVER: &str = "ixgbe";

const INTEL: u32 = 0x8086;
const DEVICES: &str = "/sys/bus/pci/devices";

/// A port of a card of the ixgbe family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nic {
    /// Its PCI address.
    pub address: PciAddress,
    /// Vendor and device number, such as `8086:10fb`.
    pub id: String,
    /// The name of its model.
    pub name: &'static str,
    /// 82599, X540 or X550.
    pub family: &'static str,
    /// Why Triptych's drivers refuse it, if they do.
    pub refused: Option<&'static str>,
    /// The driver that is bound to it.
    pub driver: Option<String>,
    /// The only driver that may bind to it, if one is set.
    pub driver_override: Option<String>,
    /// Its IOMMU group; `None` if the IOMMU is off.
    pub group: Option<Group>,
    /// The NUMA node that it is connected to.
    pub numa_node: Option<u32>,
    /// Its PCI Express link.
    pub pcie: Option<Pcie>,
    /// Its network interfaces.
    pub interfaces: Vec<Interface>,
    /// The number of its virtual functions.
    pub virtual_functions: u32,
}

/// An IOMMU group: devices that the IOMMU can isolate only together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its number. VFIO's file is `/dev/vfio/NUMBER`.
    pub number: u32,
    /// The other devices of the group.
    pub others: Vec<Member>,
    /// Whether VFIO made the group without an IOMMU, for `enable_unsafe_noiommu_mode`.
    pub no_iommu: bool,
}

/// Another device of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its PCI address.
    pub address: PciAddress,
    /// Vendor and device number.
    pub id: String,
    /// The driver that is bound to it.
    pub driver: Option<String>,
    /// Whether it is a port that Triptych's drivers support.
    pub ixgbe_family: bool,
}

/// A PCI Express link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// Its speed, such as `5.0 GT/s`.
    pub speed: String,
    /// Its lanes.
    pub width: u32,
    /// The highest speed that the card supports.
    pub max_speed: String,
    /// The number of lanes that the card supports.
    pub max_width: u32,
}

/// Why a device is not a port of the family.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NicError {
    /// No device has the address.
    #[error("{address}: no such PCI device; {}", there(present))]
    Absent {
        /// The address.
        address: PciAddress,
        /// The ports of this machine.
        present: Vec<PciAddress>,
    },
    /// The device is of another kind.
    #[error(
        "{address}: {id} is {what}, not a card of the ixgbe family (82599, X520, X540, X550); {}",
        there(present)
    )]
    Other {
        /// The address.
        address: PciAddress,
        /// Vendor and device number.
        id: String,
        /// Its kind.
        what: &'static str,
        /// The ports of this machine.
        present: Vec<PciAddress>,
    },
}

fn there(present: &[PciAddress]) -> String {
    match present {
        [] => "this machine has no port of the family".to_owned(),
        some => format!("this machine has these ports: {}", join(some, ", ")),
    }
}

/// Joins the texts of several items, with `between` between them.
pub fn join<T: ToString>(things: &[T], between: &str) -> String {
    let texts: Vec<String> = things.iter().map(T::to_string).collect();
    texts.join(between)
}

impl Nic {
    /// All ports of the family, sorted by address.
    pub fn all(system: &System) -> Vec<Self> {
        addresses(system)
            .into_iter()
            .filter_map(|address| Self::read(system, address))
            .collect()
    }

    /// The port at an address.
    ///
    /// # Errors
    /// If no device has the address, or the device is not a port of the family.
    pub fn find(system: &System, address: PciAddress) -> Result<Self, NicError> {
        if let Some(nic) = Self::read(system, address) {
            return Ok(nic);
        }
        let present = addresses(system)
            .into_iter()
            .filter(|other| known(system, *other).is_some())
            .collect();
        let folder = folder(address);
        if !system.exists(&folder) {
            return Err(NicError::Absent { address, present });
        }
        let class = system.hex(&format!("{folder}/class")).unwrap_or(0);
        let what = match (class >> 16, class >> 8) {
            (_, 0x0200) if is_virtual_function(system, address) => {
                "a virtual function of a network card"
            }
            (_, 0x0200) => "another network card",
            (0x02, _) => "another network device",
            (0x01, _) => "a storage controller",
            (0x03, _) => "a graphics card",
            (0x06, _) => "a bridge",
            _ => "something else",
        };
        Err(NicError::Other {
            address,
            id: id(system, address),
            what,
            present,
        })
    }

    fn read(system: &System, address: PciAddress) -> Option<Self> {
        let device = known(system, address)?;
        let folder = folder(address);
        let file = |name: &str| format!("{folder}/{name}");
        Some(Self {
            address,
            id: id(system, address),
            name: device.name,
            family: device.family.name(),
            refused: device.refused,
            driver: driver(system, address),
            driver_override: system
                .read(&file("driver_override"))
                .filter(|text| !text.is_empty() && text != "(null)"),
            group: Group::of(system, address),
            // -1 if the firmware does not report the node, as on machines with one node.
            numa_node: system
                .number(&file("numa_node"))
                .and_then(|node| u32::try_from(node).ok()),
            pcie: Pcie::read(system, &folder),
            interfaces: system
                .entries(&file("net"))
                .iter()
                .map(|name| Interface::read(system, name))
                .collect(),
            virtual_functions: system
                .number(&file("sriov_numvfs"))
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(0),
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
        let mut all: Vec<String> = self
            .interfaces
            .iter()
            .flat_map(|interface| {
                interface
                    .carries
                    .iter()
                    .map(|what| format!("{what} ({})", interface.name))
            })
            .collect();
        if self.virtual_functions > 0 {
            let plural = if self.virtual_functions == 1 { "" } else { "s" };
            all.push(format!(
                "{} virtual function{plural}",
                self.virtual_functions
            ));
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
        let number = system
            .link_name(&format!("{}/iommu_group", folder(address)))?
            .parse()
            .ok()?;
        let others = system
            .entries(&format!("/sys/kernel/iommu_groups/{number}/devices"))
            .iter()
            .filter_map(|name| name.parse().ok())
            .filter(|other| *other != address)
            .map(|other| Member {
                address: other,
                id: id(system, other),
                driver: driver(system, other),
                ixgbe_family: known(system, other).is_some_and(|card| card.refused.is_none()),
            })
            .collect();
        Some(Self {
            number,
            others,
            no_iommu: is_no_iommu(system, &number.to_string()),
        })
    }

    /// VFIO's file for the group.
    pub fn node(&self) -> String {
        match self.no_iommu {
            true => format!("/dev/vfio/noiommu-{}", self.number),
            false => format!("/dev/vfio/{}", self.number),
        }
    }

    /// The devices that keep VFIO from handing out the group: those with a kernel driver that uses
    /// DMA.
    pub fn in_the_way(&self) -> Vec<&Member> {
        self.others
            .iter()
            .filter(|member| {
                member
                    .driver
                    .as_deref()
                    .is_some_and(|driver| !is_vfio(driver) && !is_harmless(driver))
            })
            .collect()
    }
}

/// Whether VFIO made an IOMMU group although no IOMMU isolates it.
pub fn is_no_iommu(system: &System, group: &str) -> bool {
    let name = system.read(&format!("/sys/kernel/iommu_groups/{group}/name"));
    name.as_deref() == Some("vfio-noiommu")
}

/// The shell command that takes devices from their drivers. A group is viable when its other
/// devices have no driver.
pub fn release_command(addresses: &[PciAddress]) -> String {
    let commands: Vec<String> = addresses
        .iter()
        .map(|address| {
            format!("echo {address} | sudo tee /sys/bus/pci/devices/{address}/driver/unbind")
        })
        .collect();
    commands.join(" && ")
}

/// Whether VFIO allows this driver in a group that it hands out.
fn is_harmless(driver: &str) -> bool {
    matches!(driver, "pcieport" | "pci-stub")
}

fn is_vfio(driver: &str) -> bool {
    driver == VFIO_PCI || driver.ends_with("-vfio-pci") || driver.ends_with("_vfio_pci")
}

impl Pcie {
    fn read(system: &System, folder: &str) -> Option<Self> {
        let speed = |name: &str| {
            let text = system.read(&format!("{folder}/{name}"))?;
            Some(text.trim_end_matches(" PCIe").to_owned())
        };
        let width = |name: &str| system.number(&format!("{folder}/{name}"))?.try_into().ok();
        let pcie = Self {
            speed: speed("current_link_speed")?,
            width: width("current_link_width")?,
            max_speed: speed("max_link_speed")?,
            max_width: width("max_link_width")?,
        };
        // A virtual device may have no link: its speed is "Unknown" and its width 0 of 255.
        (giga(&pcie.speed) > 0.0 && pcie.width > 0).then_some(pcie)
    }

    /// What the link carries in each direction, Gbit/s, without the encoding of its lanes.
    pub fn gigabits(&self) -> f64 {
        let lane = giga(&self.speed);
        // PCIe 1 and 2 send 8 bits as 10, later ones 128 bits as 130.
        let share = if lane <= 5.0 {
            8.0 / 10.0
        } else {
            128.0 / 130.0
        };
        f64::from(self.width) * lane * share
    }

    /// Whether the link is slower than the card supports.
    pub fn is_reduced(&self) -> bool {
        self.width < self.max_width || giga(&self.speed) < giga(&self.max_speed)
    }
}

/// The number in a speed such as `5.0 GT/s`.
fn giga(speed: &str) -> f64 {
    let number = speed.split_whitespace().next();
    number.and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

fn folder(address: PciAddress) -> String {
    format!("{DEVICES}/{address}")
}

fn addresses(system: &System) -> Vec<PciAddress> {
    let names = system.entries(DEVICES);
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn id(system: &System, address: PciAddress) -> String {
    let number = |name: &str| {
        let value = system.hex(&format!("{}/{name}", folder(address)));
        value.unwrap_or(0)
    };
    format!("{:04x}:{:04x}", number("vendor"), number("device"))
}

/// The driver that is bound to a device.
pub fn driver(system: &System, address: PciAddress) -> Option<String> {
    system.link_name(&format!("{}/driver", folder(address)))
}

fn is_virtual_function(system: &System, address: PciAddress) -> bool {
    system
        .link_name(&format!("{}/physfn", folder(address)))
        .is_some()
}

/// The entry of a device in the list of the family.
fn known(
    system: &System,
    address: PciAddress,
) -> Option<&'static ixgbe::driver::device_ids::DeviceId> {
    let folder = folder(address);
    if system.hex(&format!("{folder}/vendor"))? != INTEL {
        return None;
    }
    let device = system.hex(&format!("{folder}/device"))?;
    DEVICE_IDS
        .iter()
        .find(|known| u32::from(known.id) == device)
}
