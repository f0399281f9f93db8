//! The namespace's part of `/sys`: the ports as the kernel shows PCI functions that vfio-pci drives.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bridge_config::{Config, Port};

use super::folder::FOLDER;
use super::mounts;
use crate::with_card::port_identity::{PortIdentity, BARS};

/// Modules that programs look for before they use VFIO.
const MODULES: [&str; 4] = ["vfio", "vfio_pci", "vfio_iommu_type1", "iommufd"];

/// Lines of `resource`: BARs, the ROM, and windows that only bridges have.
const RESOURCES: usize = 13;
/// The first bus address of memory, and the room for each port.
const MEMORY: (u64, u64) = (0xf000_0000, 0x10_0000);
/// The first I/O port, and the room for each port.
const IO: (u64, u64) = (0xe000, 0x20);

// Flags of `resource`, as in Linux's ioport.h.
const FLAG_IO: u64 = 0x100;
const FLAG_MEMORY: u64 = 0x200;
const FLAG_SIZE_ALIGN: u64 = 0x4_0000;
const FLAG_64_BIT: u64 = 0x10_0000;

// Offsets in the configuration space.
const VENDOR: usize = 0x00;
const DEVICE: usize = 0x02;
const REVISION: usize = 0x08;
const CLASS: usize = 0x0b;
const FIRST_BAR: usize = 0x10;
const SUBSYSTEM_VENDOR: usize = 0x2c;
const SUBSYSTEM: usize = 0x2e;

/// Makes the files, and shows them in `/sys`. Other PCI functions of the machine are hidden, so that
/// programs do not touch them.
pub fn add(config: &Config, identities: &[PortIdentity]) -> Result<()> {
    let root = Path::new(FOLDER).join("sys");
    let tree = Tree {
        bus: root.join("bus/pci"),
        groups: root.join("kernel/iommu_groups"),
    };
    tree.make(config, identities)
        .context("cannot make the files of the card in /sys")?;
    mounts::cover(&tree.bus, Path::new("/sys/bus/pci"))?;
    mounts::cover(&tree.groups, Path::new("/sys/kernel/iommu_groups"))?;
    add_modules(Path::new("/sys/module"))
}

/// Adds VFIO's modules to those of the machine.
fn add_modules(folder: &Path) -> Result<()> {
    let missing: Vec<_> = MODULES.map(|name| folder.join(name)).into();
    let missing: Vec<_> = missing
        .into_iter()
        .filter(|module| !module.is_dir())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    mounts::reopen(folder, &[])?;
    for module in missing {
        let parameters = module.join("parameters");
        fs::create_dir_all(&parameters)
            .with_context(|| format!("cannot make {}", module.display()))?;
    }
    Ok(())
}

/// The folders of the card's files.
struct Tree {
    bus: PathBuf,
    groups: PathBuf,
}

impl Tree {
    fn make(&self, config: &Config, identities: &[PortIdentity]) -> std::io::Result<()> {
        let driver = self.bus.join("drivers/vfio-pci");
        fs::create_dir_all(&driver)?;
        for name in ["bind", "unbind", "new_id", "remove_id", "uevent"] {
            fs::write(driver.join(name), "")?;
        }
        symlink("../../../../module/vfio_pci", driver.join("module"))?;
        for (name, text) in [
            ("drivers_probe", ""),
            ("drivers_autoprobe", "1\n"),
            ("rescan", ""),
        ] {
            fs::write(self.bus.join(name), text)?;
        }
        for (index, (port, identity)) in config.ports.iter().zip(identities).enumerate() {
            let folder = self.bus.join("devices").join(&port.address);
            fs::create_dir_all(&folder)?;
            Function {
                folder: &folder,
                port,
                identity,
                index: index as u64,
                address_width: config.address_width,
            }
            .make()?;
            let members = self.groups.join(port.group.to_string()).join("devices");
            fs::create_dir_all(&members)?;
            let device = format!("bus/pci/devices/{}", port.address);
            symlink(format!("../../../../{device}"), members.join(&port.address))?;
            fs::write(members.with_file_name("type"), "DMA\n")?;
            symlink(format!("../../../../{device}"), driver.join(&port.address))?;
        }
        Ok(())
    }
}

/// A PCI function's folder.
struct Function<'a> {
    folder: &'a Path,
    port: &'a Port,
    identity: &'a PortIdentity,
    /// Number of the port.
    index: u64,
    address_width: u8,
}

impl Function<'_> {
    fn make(&self) -> std::io::Result<()> {
        let write = |name: &str, text: &str| fs::write(self.folder.join(name), format!("{text}\n"));
        let id = |offset| self.identity.u16_at(offset);
        let class = self.identity.u32_at(REVISION) >> 8;
        let revision = self
            .identity
            .config
            .get(REVISION)
            .copied()
            .unwrap_or_default();
        for (name, value) in [
            ("vendor", id(VENDOR)),
            ("device", id(DEVICE)),
            ("subsystem_vendor", id(SUBSYSTEM_VENDOR)),
            ("subsystem_device", id(SUBSYSTEM)),
        ] {
            write(name, &format!("0x{value:04x}"))?;
        }
        write("class", &format!("0x{class:06x}"))?;
        write("revision", &format!("0x{revision:02x}"))?;
        for (name, text) in [
            ("irq", "11"),
            ("numa_node", "0"),
            ("enable", "1"),
            ("broken_parity_status", "0"),
            ("d3cold_allowed", "1"),
            ("dma_mask_bits", "64"),
            ("consistent_dma_mask_bits", "64"),
            ("msi_bus", "1"),
            ("ari_enabled", "0"),
            ("power_state", "D0"),
            ("reset_method", "flr"),
            ("driver_override", "vfio-pci"),
            ("max_link_speed", "5.0 GT/s PCIe"),
            ("max_link_width", "8"),
            ("current_link_speed", "5.0 GT/s PCIe"),
            ("current_link_width", "8"),
        ] {
            write(name, text)?;
        }
        let cpus = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or("0\n".to_owned());
        write("local_cpulist", cpus.trim())?;
        for name in ["remove", "rescan", "reset"] {
            fs::write(self.folder.join(name), "")?;
        }
        self.make_names(class)?;
        self.make_resources()?;
        self.make_links()
    }

    /// The texts by which udev and DPDK name the function.
    fn make_names(&self, class: u32) -> std::io::Result<()> {
        let id = |offset| self.identity.u16_at(offset);
        let (vendor, device) = (id(VENDOR), id(DEVICE));
        let (sub_vendor, sub_device) = (id(SUBSYSTEM_VENDOR), id(SUBSYSTEM));
        let alias = format!(
            "pci:v{vendor:08X}d{device:08X}sv{sub_vendor:08X}sd{sub_device:08X}bc{:02X}sc{:02X}i{:02X}",
            self.identity.config.get(CLASS).copied().unwrap_or_default(),
            class >> 8 & 0xff,
            class & 0xff,
        );
        fs::write(self.folder.join("modalias"), format!("{alias}\n"))?;
        let event = format!(
            "DRIVER=vfio-pci\nPCI_CLASS={class:X}\nPCI_ID={vendor:04X}:{device:04X}\n\
             PCI_SUBSYS_ID={sub_vendor:04X}:{sub_device:04X}\nPCI_SLOT_NAME={}\nMODALIAS={alias}\n",
            self.port.address
        );
        fs::write(self.folder.join("uevent"), event)
    }

    /// `resource`, a file for each BAR, and `config` with the BARs' addresses.
    fn make_resources(&self) -> std::io::Result<()> {
        let mut config = self.identity.config.clone();
        let mut lines = vec![(0, 0, 0); RESOURCES];
        let mut memory = MEMORY.0 + self.index * MEMORY.1;
        let mut bar = 0;
        while bar < BARS {
            let size = self.identity.bars[bar];
            let low = self.identity.u32_at(FIRST_BAR + 4 * bar);
            let (is_io, is_64_bit) = (low & 1 != 0, low & 7 == 4);
            if size > 0 {
                let kind = u64::from(low & if is_io { 0x3 } else { 0xf });
                let (start, flags) = if is_io {
                    (IO.0 + self.index * IO.1, FLAG_IO | FLAG_SIZE_ALIGN)
                } else {
                    let wide = if is_64_bit { FLAG_64_BIT } else { 0 };
                    let start = memory.next_multiple_of(size);
                    memory = start + size;
                    (start, FLAG_MEMORY | FLAG_SIZE_ALIGN | wide)
                };
                lines[bar] = (start, start + size - 1, flags | kind);
                let at = FIRST_BAR + 4 * bar;
                if let Some(bytes) = config.get_mut(at..at + 4) {
                    bytes.copy_from_slice(&((start | kind) as u32).to_le_bytes());
                }
                // Programs reach the registers by VFIO. These bytes are what a removed card shows.
                let mut file = fs::File::create(self.folder.join(format!("resource{bar}")))?;
                file.write_all(&vec![0xff; usize::try_from(size).unwrap_or(0)])?;
            }
            bar += if is_64_bit { 2 } else { 1 };
        }
        let text: String = lines
            .iter()
            .map(|(start, end, flags)| format!("0x{start:016x} 0x{end:016x} 0x{flags:016x}\n"))
            .collect();
        fs::write(self.folder.join("resource"), text)?;
        fs::write(self.folder.join("config"), config)
    }

    fn make_links(&self) -> std::io::Result<()> {
        let up = "../../../..";
        for (name, target) in [
            ("driver", format!("{up}/bus/pci/drivers/vfio-pci")),
            ("subsystem", format!("{up}/bus/pci")),
            (
                "iommu_group",
                format!("{up}/kernel/iommu_groups/{}", self.port.group),
            ),
        ] {
            symlink(target, self.folder.join(name))?;
        }
        let cdev = self.folder.join("vfio-dev").join(&self.port.cdev);
        fs::create_dir_all(&cdev)?;
        fs::write(cdev.join("dev"), format!("511:{}\n", self.index))?;
        // DPDK reads the width of addresses from bits 16 to 21 of Intel's capability register.
        let iommu = self.folder.join("iommu/intel-iommu");
        fs::create_dir_all(&iommu)?;
        let width = u64::from(self.address_width).saturating_sub(1) & 0x3f;
        fs::write(iommu.join("cap"), format!("{:x}\n", width << 16))?;
        fs::write(iommu.join("version"), "1:0\n")
    }
}

#[cfg(test)]
mod tests;
