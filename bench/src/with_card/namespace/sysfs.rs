//! The namespace's part of `/sys`: the ports as the kernel shows PCI functions that vfio-pci drives.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};
use bridge_config::{Config, Port};
use ixgbe::vfio::BareDevice;

use super::mounts::{self, FOLDER};

/// Modules that programs look for before they use VFIO.
const MODULES: [&str; 4] = ["vfio", "vfio_pci", "vfio_iommu_type1", "iommufd"];

/// BARs of the card: number, bytes, address at the first port, distance to that of the next port, and the flags that Linux
/// shows for 64-bit memory and for I/O ports.
const BARS: [(usize, u64, u64, u64, u64); 3] = [
    (0, 512 << 10, 0xf000_0000, 1 << 20, 0x14_0204),
    (2, 32, 0xe000, 32, 0x4_0101),
    (4, 16 << 10, 0xf008_0000, 1 << 20, 0x14_0204),
];
/// Lines of `resource`: BARs, the ROM, and windows that only bridges have.
const RESOURCES: usize = 13;

// Offsets in the configuration space.
const VENDOR: usize = 0x00;
const DEVICE: usize = 0x02;
const REVISION: usize = 0x08;
const FIRST_BAR: usize = 0x10;
const SUBSYSTEM_VENDOR: usize = 0x2c;
const SUBSYSTEM: usize = 0x2e;
/// Bytes of the space without extended capabilities.
const CONFIG_BYTES: u32 = 256;

/// Files of the bus, of the driver and of each function, as Linux has them.
const BUS: [(&str, &str); 8] = [
    ("drivers_probe", ""),
    ("drivers_autoprobe", "1\n"),
    ("rescan", ""),
    ("drivers/vfio-pci/bind", ""),
    ("drivers/vfio-pci/unbind", ""),
    ("drivers/vfio-pci/new_id", ""),
    ("drivers/vfio-pci/remove_id", ""),
    ("drivers/vfio-pci/uevent", ""),
];
const FUNCTION: [(&str, &str); 16] = [
    ("irq", "11\n"),
    ("numa_node", "0\n"),
    ("enable", "1\n"),
    ("dma_mask_bits", "64\n"),
    ("consistent_dma_mask_bits", "64\n"),
    ("power_state", "D0\n"),
    ("reset_method", "flr\n"),
    ("driver_override", "vfio-pci\n"),
    ("max_link_speed", "5.0 GT/s PCIe\n"),
    ("max_link_width", "8\n"),
    ("current_link_speed", "5.0 GT/s PCIe\n"),
    ("current_link_width", "8\n"),
    ("iommu/intel-iommu/version", "1:0\n"),
    ("remove", ""),
    ("rescan", ""),
    ("reset", ""),
];

/// Makes the files, and shows them in `/sys`. Other PCI functions of the machine are hidden, so that programs do not
/// touch them.
pub(super) fn add(config: &Config) -> Result<()> {
    let root = Path::new(FOLDER).join("sys");
    make(&root, config).context("cannot make the files of the card in /sys")?;
    for folder in ["bus/pci", "kernel/iommu_groups"] {
        mounts::cover(&root.join(folder), &Path::new("/sys").join(folder))?;
    }
    let modules = MODULES.map(|name| Path::new("/sys/module").join(name));
    let missing: Vec<_> = modules.iter().filter(|module| !module.is_dir()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    // VFIO's modules appear beside those of the machine.
    mounts::reopen(Path::new("/sys/module"), &[])?;
    for module in missing {
        fs::create_dir_all(module.join("parameters"))
            .with_context(|| format!("cannot make {}", module.display()))?;
    }
    Ok(())
}

fn write(folder: &Path, files: &[(&str, &str)]) -> std::io::Result<()> {
    files
        .iter()
        .try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

/// The configuration space of a port.
struct Space(Vec<u8>);

impl Space {
    /// Asks the port behind a socket. The connection ends before this returns.
    fn ask(socket: &Path) -> Result<Self> {
        let device = BareDevice::open(&format!("vfio-user:{}", socket.display()))?;
        let mut bytes = Vec::new();
        for at in (0..CONFIG_BYTES).step_by(2) {
            bytes.extend(device.config_read16(at)?.to_le_bytes());
        }
        Ok(Self(bytes))
    }

    fn u16_at(&self, offset: usize) -> u16 {
        u16::from_le_bytes([self.0[offset], self.0[offset + 1]])
    }

    fn u32_at(&self, offset: usize) -> u32 {
        u32::from(self.u16_at(offset)) | u32::from(self.u16_at(offset + 2)) << 16
    }
}

/// Makes the files of the bus and of the groups.
fn make(root: &Path, config: &Config) -> Result<()> {
    let bus = root.join("bus/pci");
    let driver = bus.join("drivers/vfio-pci");
    fs::create_dir_all(&driver)?;
    write(&bus, &BUS)?;
    symlink("../../../../module/vfio_pci", driver.join("module"))?;
    for (index, port) in (0..).zip(&config.ports) {
        let space = Space::ask(&port.socket)?;
        let folder = bus.join("devices").join(&port.address);
        let iommu = folder.join("iommu/intel-iommu");
        fs::create_dir_all(&iommu)?;
        write(&folder, &FUNCTION)?;
        // DPDK reads the width of addresses from bits 16 to 21 of Intel's capability register.
        let width = u64::from(config.address_width).saturating_sub(1) & 0x3f;
        fs::write(iommu.join("cap"), format!("{:x}\n", width << 16))?;
        make_names(&folder, port, &space)?;
        make_resources(&folder, index, &space)?;
        let cdev = folder.join("vfio-dev").join(&port.cdev);
        fs::create_dir_all(&cdev)?;
        fs::write(cdev.join("dev"), format!("511:{index}\n"))?;

        let group = format!("kernel/iommu_groups/{}", port.group);
        let members = root.join(&group).join("devices");
        fs::create_dir_all(&members)?;
        fs::write(members.with_file_name("type"), "DMA\n")?;
        let device = format!("bus/pci/devices/{}", port.address);
        for (target, link) in [
            (device.as_str(), members.join(&port.address)),
            (&device, driver.join(&port.address)),
            ("bus/pci/drivers/vfio-pci", folder.join("driver")),
            ("bus/pci", folder.join("subsystem")),
            (&group, folder.join("iommu_group")),
        ] {
            symlink(Path::new("../../../..").join(target), link)?;
        }
    }
    Ok(())
}

/// The numbers and texts by which lspci, udev and DPDK know the function.
fn make_names(folder: &Path, port: &Port, space: &Space) -> std::io::Result<()> {
    let [vendor, device, sub_vendor, sub_device] =
        [VENDOR, DEVICE, SUBSYSTEM_VENDOR, SUBSYSTEM].map(|offset| space.u16_at(offset));
    let class = space.u32_at(REVISION) >> 8;
    let alias = format!(
        "pci:v{vendor:08X}d{device:08X}sv{sub_vendor:08X}sd{sub_device:08X}bc{:02X}sc{:02X}i{:02X}",
        class >> 16,
        class >> 8 & 0xff,
        class & 0xff,
    );
    let cpus = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or("0\n".to_owned());
    for (name, text) in [
        ("vendor", format!("0x{vendor:04x}\n")),
        ("device", format!("0x{device:04x}\n")),
        ("subsystem_vendor", format!("0x{sub_vendor:04x}\n")),
        ("subsystem_device", format!("0x{sub_device:04x}\n")),
        ("class", format!("0x{class:06x}\n")),
        ("revision", format!("0x{:02x}\n", space.u16_at(REVISION) & 0xff)),
        ("local_cpulist", cpus),
        ("modalias", format!("{alias}\n")),
        (
            "uevent",
            format!(
                "DRIVER=vfio-pci\nPCI_CLASS={class:X}\nPCI_ID={vendor:04X}:{device:04X}\n\
                 PCI_SUBSYS_ID={sub_vendor:04X}:{sub_device:04X}\nPCI_SLOT_NAME={}\nMODALIAS={alias}\n",
                port.address
            ),
        ),
    ] {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// `resource`, a file for each BAR, and `config` with the BARs' addresses.
fn make_resources(folder: &Path, index: u64, space: &Space) -> std::io::Result<()> {
    let mut config = space.0.clone();
    let mut lines = vec![(0, 0, 0); RESOURCES];
    for (bar, size, first, distance, flags) in BARS {
        let start = first + index * distance;
        lines[bar] = (start, start + size - 1, flags);
        let at = FIRST_BAR + 4 * bar;
        // The register has the lowest flags, too.
        config[at..at + 4].copy_from_slice(&((start | flags & 0xf) as u32).to_le_bytes());
        // Programs reach the registers by VFIO. These bytes are what a removed card shows.
        let removed = vec![0xff; size as usize];
        fs::write(folder.join(format!("resource{bar}")), removed)?;
    }
    let line = |(start, end, flags): &(u64, u64, u64)| {
        format!("0x{start:016x} 0x{end:016x} 0x{flags:016x}\n")
    };
    let text: String = lines.iter().map(line).collect();
    fs::write(folder.join("resource"), text)?;
    fs::write(folder.join("config"), config)
}
