//! A device behind the kernel's VFIO (Documentation/driver-api/vfio.rst): its IOMMU group is
//! put into a type1v2 container, which is what maps memory for it.
//!
//! No root is needed once the user owns `/dev/vfio/GROUP`.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::process::{getrlimit, getuid, Resource};

use super::{map_bar0, u16_at, u32_at, u64_at, Container, IovaRange, RegionInfo};
use super::{MAX_INFO, REGION_BAR0, REGION_CONFIG};
use crate::error::{Error, Result};
use crate::sys::dma::DmaMapping;
use crate::sys::ioctl;
use crate::sys::mmio::Area;

// Of struct vfio_iommu_type1_info and its capabilities (linux/vfio.h).
const IOMMU_INFO_FLAG_CAPS: u32 = 1 << 1;
const IOMMU_INFO_CAP_IOVA_RANGE: u16 = 1;

/// The container behind `/dev/vfio/vfio`.
pub(super) struct KernelContainer {
    file: File,
    /// Those in use; each is held by its devices.
    groups: RefCell<Vec<Weak<Group>>>,
}

/// An IOMMU group: what VFIO hands out and isolates as one.
struct Group {
    number: u32,
    file: File,
}

/// A device of the kernel's VFIO.
pub(super) struct KernelDevice {
    file: File,
    /// Readable when the kernel wants the device back.
    request: Option<OwnedFd>,
    bar0_offset: u64,
    config_offset: u64,
    _group: Rc<Group>,
}

impl KernelDevice {
    /// Opens the device; also returns what of BAR0 could be mapped.
    pub(super) fn open(container: &Container, address: &str) -> Result<(Self, Vec<Rc<Area>>)> {
        let number = find_group(address)?;
        let mut kernel = container.kernel.borrow_mut();
        let kernel = match &mut *kernel {
            Some(kernel) => kernel,
            none => none.insert(KernelContainer::open(address)?),
        };
        let group = kernel.join_group(address, number)?;
        if let Some(allowed) = kernel.read_iova_ranges(address)? {
            container.narrow_ranges(&allowed);
        }
        let file = ioctl::group_device_fd(group.file.as_fd(), address)
            .map(File::from)
            .map_err(|source| Error::call(address, "VFIO_GROUP_GET_DEVICE_FD", source))?;
        let config = region_info(&file, REGION_CONFIG, address, "configuration space")?;
        let bar0 = region_info(&file, REGION_BAR0, address, "BAR0")?;
        let areas = map_bar0(address, file.as_fd(), &bar0)?;
        let device = Self {
            request: listen_for_request(&file),
            file,
            bar0_offset: bar0.file_offset,
            config_offset: config.file_offset,
            _group: group,
        };
        Ok((device, areas))
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

    /// Fails when the device is to be given back.
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
                "is being unbound or removed; as root, `triptych bind {address}` gives it back \
                 to this driver"
            ),
        ))
    }

    fn file_offset(&self, region: u32, offset: u32) -> u64 {
        let start = match region {
            REGION_CONFIG => self.config_offset,
            _ => self.bar0_offset,
        };
        start + u64::from(offset)
    }
}

/// Has the kernel tell when it wants the device back: whoever unbinds it waits until it is
/// closed. Where the kernel does not do that, they wait until the run is over.
fn listen_for_request(device: &File) -> Option<OwnedFd> {
    let request = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
    ioctl::device_notify_request(device.as_fd(), request.as_fd()).ok()?;
    Some(request)
}

fn access_error(address: &str, what: &str, offset: u32, source: io::Error) -> Box<Error> {
    Error::call_mend(
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

/// The last part of what a link in the device's sysfs folder points to.
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
            "has no IOMMU group: switch the IOMMU (VT-d, AMD-Vi) on in the firmware and boot \
             with intel_iommu=on",
        ));
    };
    let driver = sysfs_link(&folder, "driver");
    if driver.as_deref() != Some("vfio-pci") {
        let driver = driver.as_deref().unwrap_or("no driver");
        return Err(Error::device(
            address,
            format!(
                "bound to {driver}, not to vfio-pci; as root, `triptych bind {address}` gives it \
                 to this driver"
            ),
        ));
    }
    Ok(number)
}

/// The drivers that do not keep a group from being VFIO's (vfio_dev_viable in the kernel).
fn is_harmless(driver: &str) -> bool {
    matches!(driver, "vfio-pci" | "pci-stub" | "pcieport")
}

/// Says which device keeps the group from being VFIO's.
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

/// Says why a group cannot be opened.
fn explain_not_opened(address: &str, path: String, source: io::Error) -> Box<Error> {
    let mend = match source.raw_os_error() {
        Some(libc_errno::EACCES | libc_errno::EPERM) => {
            let user = getuid().as_raw();
            format!("; as root, `chown {user} {path}` gives it to this user")
        }
        Some(libc_errno::EBUSY) => "; another process drives it".to_owned(),
        _ => "; is the device bound to vfio-pci?".to_owned(),
    };
    Error::call_mend(address, path, source, mend)
}

/// Says why memory cannot be mapped.
fn explain_not_mapped(iova: u64, size: u64, source: io::Error) -> Box<Error> {
    // What is mapped is locked, too.
    let mend = match (source.raw_os_error(), getrlimit(Resource::Memlock).current) {
        (Some(libc_errno::ENOMEM), Some(limit)) => {
            let kib = limit / 1024;
            let shell = std::os::unix::process::parent_id();
            format!(
                "; this process may lock {kib} KiB of memory (ulimit -l): as root, `prlimit \
                 --memlock=unlimited --pid {shell}` raises it for the shell"
            )
        }
        _ => String::new(),
    };
    Box::new(Error::DmaMap {
        size,
        iova,
        cause: source,
        mend,
    })
}

fn region_info(file: &File, index: u32, address: &str, name: &str) -> Result<RegionInfo> {
    let mut info = [0; MAX_INFO];
    ioctl::device_region_info(file.as_fd(), index, &mut info)
        .map_err(|source| Error::call(address, name, source))?;
    RegionInfo::parse(&info).ok_or_else(|| {
        Error::device(
            address,
            format!("truncated or looping description of {name}"),
        )
    })
}

impl KernelContainer {
    fn open(address: &str) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/vfio/vfio")
            .map_err(|source| {
                Error::call_mend(
                    address,
                    "/dev/vfio/vfio",
                    source,
                    "; as root, modprobe vfio-pci",
                )
            })?;
        if !ioctl::container_has_type1v2(file.as_fd()) {
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

    /// Opens the group, or takes it again if another device has, and puts it into the
    /// container.
    fn join_group(&self, address: &str, number: u32) -> Result<Rc<Group>> {
        let mut groups = self.groups.borrow_mut();
        groups.retain(|group| group.strong_count() > 0);
        let known = groups.iter().filter_map(Weak::upgrade);
        if let Some(group) = known.into_iter().find(|group| group.number == number) {
            return Ok(group);
        }
        let path = format!("/dev/vfio/{number}");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|source| explain_not_opened(address, path, source))?;
        if !ioctl::group_is_viable(file.as_fd()) {
            return Err(explain_not_viable(address, number));
        }
        ioctl::group_set_container(file.as_fd(), self.file.as_fd())
            .map_err(|source| Error::call(address, "VFIO_GROUP_SET_CONTAINER", source))?;
        // The first group brings its IOMMU, and the container can then choose how to use it.
        if groups.is_empty() {
            ioctl::container_set_type1v2(self.file.as_fd())
                .map_err(|source| Error::call(address, "VFIO_SET_IOMMU", source))?;
        }
        let group = Rc::new(Group { number, file });
        groups.push(Rc::downgrade(&group));
        Ok(group)
    }

    /// The IOVAs that all of the container's IOMMUs permit. Kernels before 5.4 do not say.
    fn read_iova_ranges(&self, address: &str) -> Result<Option<Vec<IovaRange>>> {
        let mut info = [0; MAX_INFO];
        ioctl::container_iommu_info(self.file.as_fd(), &mut info)
            .map_err(|source| Error::call(address, "VFIO_IOMMU_GET_INFO", source))?;
        Ok(parse_iova_ranges(&info))
    }

    /// Maps memory for all devices of the container.
    pub(super) fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        ioctl::container_map_dma(self.file.as_fd(), mapping)
            .map_err(|source| explain_not_mapped(mapping.iova(), mapping.size(), source))
    }

    /// Takes a mapping back.
    pub(super) fn dma_unmap(&self, iova: u64, size: u64) {
        // It can only fail for a range that was not mapped, and the container's end unmaps all.
        let _ = ioctl::container_unmap_dma(self.file.as_fd(), iova, size);
    }
}

/// What a `struct vfio_iommu_type1_info` says of IOVAs; `None` if nothing.
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

/// The error numbers that have a mend of their own.
mod libc_errno {
    use rustix::io::Errno;

    pub(super) const ENOMEM: i32 = Errno::NOMEM.raw_os_error();
    pub(super) const EACCES: i32 = Errno::ACCESS.raw_os_error();
    pub(super) const EPERM: i32 = Errno::PERM.raw_os_error();
    pub(super) const EBUSY: i32 = Errno::BUSY.raw_os_error();
}
