//! A device behind the kernel's VFIO (Documentation/driver-api/vfio.rst). A type1v2 container holds
//! its IOMMU group and maps memory for it.
//!
//! The driver needs no root once the user owns `/dev/vfio/GROUP`.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::process::getuid;

use super::region::{map_bar0, u16_at, u32_at, u64_at, RegionInfo};
use super::region::{MAX_INFO, REGION_BAR0, REGION_CONFIG};
use crate::error::{Error, Result};
use crate::sys::ioctl::{self, ContainerFile, DeviceFile, GroupFile};
use crate::sys::mapping::DmaMapping;
use crate::sys::mmio::{Area, BarFile};

// Of struct vfio_iommu_type1_info and its capabilities (linux/vfio.h).
const IOMMU_INFO_FLAG_CAPS: u32 = 1 << 1;
const IOMMU_INFO_CAP_IOVA_RANGE: u16 = 1;

/// IOVAs that may be mapped, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IovaRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// The container behind `/dev/vfio/vfio`.
pub(super) struct KernelContainer {
    file: ContainerFile,
    /// The groups in use. Their devices hold them.
    groups: RefCell<Vec<Weak<Group>>>,
}

/// An IOMMU group: VFIO assigns and isolates its devices together.
struct Group {
    number: u32,
    file: GroupFile,
}

/// A device that has been opened, its mapped areas of BAR0, and the IOVAs that its IOMMU permits.
pub(super) struct Opened {
    pub(super) device: KernelDevice,
    pub(super) areas: Vec<Arc<Area>>,
    pub(super) permitted: Option<Vec<IovaRange>>,
}

/// A device of the kernel's VFIO.
pub(super) struct KernelDevice {
    file: DeviceFile,
    /// Readable when the kernel wants the device back.
    request: Option<OwnedFd>,
    bar0_offset: u64,
    config_offset: u64,
    _group: Rc<Group>,
}

impl KernelDevice {
    /// Opens the device, and the container before its first device.
    pub(super) fn open(container: &mut Option<KernelContainer>, address: &str) -> Result<Opened> {
        let number = find_group(address)?;
        let container = match container {
            Some(container) => container,
            none => none.insert(KernelContainer::open(address)?),
        };
        let group = container.join_group(address, number)?;
        let permitted = container.read_iova_ranges(address)?;
        let file = ioctl::group_device(&group.file, address)
            .map_err(|source| Error::call(address, "VFIO_GROUP_GET_DEVICE_FD", source))?;
        let config = region_info(&file, REGION_CONFIG, address, "configuration space")?;
        let bar0 = region_info(&file, REGION_BAR0, address, "BAR0")?;
        let areas = map_bar0(address, &BarFile::of_device(&file), &bar0)?;
        let device = Self {
            request: listen_for_request(&file),
            file,
            bar0_offset: bar0.file_offset,
            config_offset: config.file_offset,
            _group: group,
        };
        Ok(Opened {
            device,
            areas,
            permitted,
        })
    }

    /// Reads `data.len()` bytes at `offset` of a region.
    pub(super) fn read(
        &self,
        address: &str,
        region: u32,
        offset: u32,
        data: &mut [u8],
    ) -> Result<()> {
        self.file
            .read_exact_at(data, self.file_offset(region, offset))
            .map_err(|source| access_error(address, "read", offset, source))
    }

    /// Writes `data` at `offset` of a region.
    pub(super) fn write(&self, address: &str, region: u32, offset: u32, data: &[u8]) -> Result<()> {
        self.file
            .write_all_at(data, self.file_offset(region, offset))
            .map_err(|source| access_error(address, "write", offset, source))
    }

    /// Fails if the kernel wants the device back.
    pub(super) fn check_request(&self, address: &str) -> Result<()> {
        let Some(request) = &self.request else {
            return Ok(());
        };
        let mut request = [PollFd::new(request, PollFlags::IN)];
        if poll(&mut request, Some(&Timespec::default())) != Ok(1) {
            return Ok(());
        }
        Err(Error::device(
            address,
            format!(
                "the device is being unbound or removed; as root, `triptych bind {address}` gives \
                 it back to this driver"
            ),
        ))
    }

    /// Signals `eventfds[i]` at each message of MSI-X vector i, or switches MSI-X off if there are none.
    pub(super) fn signal_msix(&self, address: &str, eventfds: &[BorrowedFd<'_>]) -> Result<()> {
        ioctl::device_signal_interrupts(&self.file, ioctl::Interrupt::MsiX, eventfds).map_err(
            |source| {
                let count = eventfds.len();
                let call = format!("VFIO_DEVICE_SET_IRQS for {count} vectors of MSI-X");
                Error::call(address, call, source)
            },
        )
    }

    fn file_offset(&self, region: u32, offset: u32) -> u64 {
        let start = match region {
            REGION_CONFIG => self.config_offset,
            _ => self.bar0_offset,
        };
        start + u64::from(offset)
    }
}

/// Asks the kernel to signal when it wants the device back, because an unbind waits until the device
/// is closed. Without that signal, an unbind waits until the run is over.
fn listen_for_request(device: &DeviceFile) -> Option<OwnedFd> {
    let request = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
    let interrupt = ioctl::Interrupt::Request;
    ioctl::device_signal_interrupts(device, interrupt, &[request.as_fd()]).ok()?;
    Some(request)
}

fn access_error(address: &str, what: &str, offset: u32, source: io::Error) -> Box<Error> {
    Error::call_with_remedy(
        address,
        format!("{what} at {offset:#x}"),
        source,
        "; was the device removed or unbound?",
    )
}

/// "0000:03:00.0": domain, bus, device, function.
fn is_pci_address(address: &str) -> bool {
    let form = "xxxx:xx:xx.d";
    address.len() == form.len()
        && form
            .chars()
            .zip(address.chars())
            .all(|(form, c)| match form {
                'x' => c.is_ascii_hexdigit(),
                'd' => c.is_ascii_digit(),
                _ => c == form,
            })
}

/// The last component of the target of a link in the device's sysfs folder.
fn sysfs_link(folder: &Path, name: &str) -> Option<String> {
    let target = fs::read_link(folder.join(name)).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// The number of the device's IOMMU group.
fn find_group(address: &str) -> Result<u32> {
    if !is_pci_address(address) {
        return Err(Error::device(
            address,
            "not a device; give a PCI address such as 0000:03:00.0 or vfio-user:PATH",
        ));
    }
    let folder = PathBuf::from("/sys/bus/pci/devices").join(address);
    if !folder.exists() {
        return Err(Error::device(
            address,
            "no such PCI device; `lspci -D` lists them",
        ));
    }
    let number = sysfs_link(&folder, "iommu_group").and_then(|group| group.parse().ok());
    let Some(number) = number else {
        return Err(Error::device(
            address,
            "the device has no IOMMU group; switch the IOMMU (VT-d, AMD-Vi) on in the firmware and \
             boot with intel_iommu=on",
        ));
    };
    let driver = sysfs_link(&folder, "driver");
    if driver.as_deref() != Some("vfio-pci") {
        let driver = driver.as_deref().unwrap_or("no driver");
        return Err(Error::device(
            address,
            format!(
                "the device is bound to {driver}, not to vfio-pci; as root, `triptych bind {address}` gives it \
                 to this driver"
            ),
        ));
    }
    // Without an IOMMU, the device could write anywhere in memory.
    if Path::new(&format!("/dev/vfio/noiommu-{number}")).exists() {
        return Err(Error::device(
            address,
            "VFIO has this device in no-IOMMU mode, in which a wrong address overwrites any memory, \
             so this driver refuses it; switch the IOMMU (VT-d, AMD-Vi) on in the firmware and boot \
             with intel_iommu=on",
        ));
    }
    Ok(number)
}

/// Whether VFIO can use a group that has a device with this driver (vfio_dev_viable in the kernel).
fn is_harmless(driver: &str) -> bool {
    matches!(driver, "vfio-pci" | "pci-stub" | "pcieport")
}

/// Explains which device keeps VFIO from using the group.
fn explain_not_viable(address: &str, number: u32) -> Box<Error> {
    let path = format!("/sys/kernel/iommu_groups/{number}/devices");
    let devices = fs::read_dir(&path).into_iter().flatten().flatten();
    let other = devices.into_iter().find_map(|device| {
        let driver = sysfs_link(&device.path(), "driver")?;
        let address = device.file_name().into_string().ok()?;
        (!is_harmless(&driver)).then_some((address, driver))
    });
    let why = match other {
        None => format!("bind every device listed in {path} to vfio-pci"),
        Some((other, driver)) => format!(
            "{other} is bound to {driver}; as root, `triptych bind {other}` takes it from there"
        ),
    };
    Error::device(
        address,
        format!("IOMMU group {number} is not viable: {why}"),
    )
}

/// Explains why a group cannot be opened.
fn explain_not_opened(address: &str, path: String, source: io::Error) -> Box<Error> {
    let remedy = match source.raw_os_error() {
        Some(libc_errno::EACCES | libc_errno::EPERM) => {
            let user = getuid().as_raw();
            format!("; as root, `chown {user} {path}` gives it to this user")
        }
        Some(libc_errno::EBUSY) => "; another process drives it".to_owned(),
        _ => "; is the device bound to vfio-pci?".to_owned(),
    };
    Error::call_with_remedy(address, path, source, remedy)
}

/// Explains why memory cannot be mapped.
fn explain_not_mapped(iova: u64, size: u64, source: io::Error) -> Box<Error> {
    // The kernel locks mapped memory.
    let remedy = match source.raw_os_error() {
        Some(libc_errno::ENOMEM) => {
            "; raise the limit of locked memory (ulimit -l), as `triptych doctor` describes"
        }
        _ => "",
    };
    Box::new(Error::DmaMap {
        size,
        iova,
        cause: source,
        remedy: remedy.to_owned(),
    })
}

fn region_info(file: &DeviceFile, index: u32, address: &str, name: &str) -> Result<RegionInfo> {
    let mut info = [0; MAX_INFO];
    ioctl::device_region_info(file, index, &mut info)
        .map_err(|source| Error::call(address, name, source))?;
    RegionInfo::parse(&info).ok_or_else(|| {
        Error::device(
            address,
            format!("the description of {name} is truncated or looping"),
        )
    })
}

impl KernelContainer {
    fn open(address: &str) -> Result<Self> {
        let file = ContainerFile::open().map_err(|source| {
            Error::call_with_remedy(
                address,
                ContainerFile::PATH,
                source,
                "; as root, modprobe vfio-pci",
            )
        })?;
        if !ioctl::container_has_type1v2(&file) {
            return Err(Error::device(
                address,
                "this kernel's VFIO has no type1v2 IOMMU; as root, modprobe vfio_iommu_type1",
            ));
        }
        Ok(Self {
            file,
            groups: RefCell::new(Vec::new()),
        })
    }

    /// Opens the group, unless another device has opened it, and puts it into the container.
    fn join_group(&self, address: &str, number: u32) -> Result<Rc<Group>> {
        let mut groups = self.groups.borrow_mut();
        groups.retain(|group| group.strong_count() > 0);
        let known = groups.iter().filter_map(Weak::upgrade);
        if let Some(group) = known.into_iter().find(|group| group.number == number) {
            return Ok(group);
        }
        let file = GroupFile::open(number)
            .map_err(|source| explain_not_opened(address, GroupFile::path(number), source))?;
        if !ioctl::group_is_viable(&file) {
            return Err(explain_not_viable(address, number));
        }
        ioctl::group_set_container(&file, &self.file)
            .map_err(|source| Error::call(address, "VFIO_GROUP_SET_CONTAINER", source))?;
        // The container can choose the type of its IOMMU only after it has its first group.
        if groups.is_empty() {
            ioctl::container_set_type1v2(&self.file)
                .map_err(|source| Error::call(address, "VFIO_SET_IOMMU", source))?;
        }
        let group = Rc::new(Group { number, file });
        groups.push(Rc::downgrade(&group));
        Ok(group)
    }

    /// The IOVAs that all IOMMUs of the container permit. Kernels before 5.4 do not report them.
    fn read_iova_ranges(&self, address: &str) -> Result<Option<Vec<IovaRange>>> {
        let mut info = [0; MAX_INFO];
        ioctl::container_iommu_info(&self.file, &mut info)
            .map_err(|source| Error::call(address, "VFIO_IOMMU_GET_INFO", source))?;
        Ok(parse_iova_ranges(&info))
    }

    /// Maps memory for all devices of the container.
    pub(super) fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        ioctl::container_map_dma(&self.file, mapping)
            .map_err(|source| explain_not_mapped(mapping.iova(), mapping.size(), source))
    }

    /// Removes a mapping.
    pub(super) fn dma_unmap(&self, iova: u64, size: u64) {
        // It fails only for a range that is not mapped. Closing the container unmaps the rest.
        let _ = ioctl::container_unmap_dma(&self.file, iova, size);
    }
}

/// The IOVA ranges in a `struct vfio_iommu_type1_info`, or `None` if it has none.
fn parse_iova_ranges(info: &[u8]) -> Option<Vec<IovaRange>> {
    if u32_at(info, 4)? & IOMMU_INFO_FLAG_CAPS == 0 {
        return None;
    }
    let mut next = u32_at(info, 16)? as usize;
    while next != 0 {
        if u16_at(info, next)? == IOMMU_INFO_CAP_IOVA_RANGE {
            let count = u32_at(info, next + 8)? as usize;
            return (0..count)
                .map(|i| {
                    let at = next + 16 + i * 16;
                    let first = u64_at(info, at)?;
                    let last = u64_at(info, at + 8)?;
                    Some(IovaRange { first, last })
                })
                .collect();
        }
        let after = u32_at(info, next + 4)? as usize;
        if after <= next {
            return None;
        }
        next = after;
    }
    None
}

/// The error numbers that have their own remedy.
mod libc_errno {
    use rustix::io::Errno;

    pub(super) const ENOMEM: i32 = Errno::NOMEM.raw_os_error();
    pub(super) const EACCES: i32 = Errno::ACCESS.raw_os_error();
    pub(super) const EPERM: i32 = Errno::PERM.raw_os_error();
    pub(super) const EBUSY: i32 = Errno::BUSY.raw_os_error();
}
