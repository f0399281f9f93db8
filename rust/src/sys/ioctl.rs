//! The kernel's VFIO calls (linux/vfio.h).
//!
//! Each function passes the kernel a structure of the expected size, or the size of its room
//! (`argsz`). So the kernel does not write beyond it. Each file has a type of its own, and only this
//! module opens such files. So every call reaches a file of VFIO, which gives it this meaning.

use std::ffi::{c_ulong, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::fs::FileExt;

use super::mapping::DmaMapping;

// _IO(';', 100 + n)
const VFIO_GET_API_VERSION: c_ulong = 0x3b64;
const VFIO_CHECK_EXTENSION: c_ulong = 0x3b65;
const VFIO_SET_IOMMU: c_ulong = 0x3b66;
const VFIO_GROUP_GET_STATUS: c_ulong = 0x3b67;
const VFIO_GROUP_SET_CONTAINER: c_ulong = 0x3b68;
const VFIO_GROUP_GET_DEVICE_FD: c_ulong = 0x3b6a;
const VFIO_DEVICE_GET_REGION_INFO: c_ulong = 0x3b6c;
const VFIO_DEVICE_SET_IRQS: c_ulong = 0x3b6e;
const VFIO_IOMMU_GET_INFO: c_ulong = 0x3b70;
const VFIO_IOMMU_MAP_DMA: c_ulong = 0x3b71;
const VFIO_IOMMU_UNMAP_DMA: c_ulong = 0x3b72;

const VFIO_API_VERSION: i32 = 0;
const VFIO_TYPE1V2_IOMMU: c_ulong = 3;
const VFIO_GROUP_FLAGS_VIABLE: u32 = 1 << 0;
const VFIO_IRQ_SET_DATA_NONE: u32 = 1 << 0;
const VFIO_IRQ_SET_DATA_EVENTFD: u32 = 1 << 2;
const VFIO_IRQ_SET_ACTION_TRIGGER: u32 = 1 << 5;
/// The vectors that one call can set.
const MAX_VECTORS: usize = 16;
/// Of `struct vfio_irq_set`, without its data.
const IRQ_SET_SIZE: usize = 20;
const VFIO_DMA_MAP_FLAG_READ: u32 = 1 << 0;
const VFIO_DMA_MAP_FLAG_WRITE: u32 = 1 << 1;

#[repr(C)]
struct GroupStatus {
    argsz: u32,
    flags: u32,
}

#[repr(C)]
struct DmaMap {
    argsz: u32,
    flags: u32,
    vaddr: u64,
    iova: u64,
    size: u64,
}

#[repr(C)]
struct DmaUnmap {
    argsz: u32,
    flags: u32,
    iova: u64,
    size: u64,
}

/// With file descriptors as its data, of which `count` are used.
#[repr(C)]
struct IrqSet {
    argsz: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    fds: [i32; MAX_VECTORS],
}

const _: () = assert!(size_of::<GroupStatus>() == 8);
const _: () = assert!(size_of::<DmaMap>() == 32);
const _: () = assert!(size_of::<DmaUnmap>() == 24);
const _: () = assert!(size_of::<IrqSet>() == IRQ_SET_SIZE + MAX_VECTORS * size_of::<i32>());

/// The open `/dev/vfio/vfio`.
pub struct ContainerFile(File);

/// The open `/dev/vfio/NUMBER` of an IOMMU group.
pub struct GroupFile(File);

/// An open device of a group.
pub struct DeviceFile(File);

fn open(path: &str) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

impl ContainerFile {
    /// The path of the file.
    pub const PATH: &str = "/dev/vfio/vfio";

    /// Opens a container without groups.
    pub fn open() -> io::Result<Self> {
        open(Self::PATH).map(Self)
    }
}

impl GroupFile {
    /// The path of the file of group `number`.
    pub fn path(number: u32) -> String {
        format!("/dev/vfio/{number}")
    }

    /// Opens group `number`. The kernel lets one file be open at a time.
    pub fn open(number: u32) -> io::Result<Self> {
        open(&Self::path(number)).map(Self)
    }
}

impl DeviceFile {
    /// Reads `data.len()` bytes at `offset`.
    pub fn read_exact_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(data, offset)
    }

    /// Writes `data` at `offset`.
    pub fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }
}

/// For mapping regions.
impl AsFd for DeviceFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A call whose argument is a number.
fn ioctl_number(
    ContainerFile(fd): &ContainerFile,
    request: c_ulong,
    argument: c_ulong,
) -> io::Result<i32> {
    // SAFETY: the calls below that use this function access no memory of this process.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) })
}

/// Whether the container has this version of VFIO and supports type1v2.
pub fn container_has_type1v2(container: &ContainerFile) -> bool {
    let version = ioctl_number(container, VFIO_GET_API_VERSION, 0);
    let type1v2 = ioctl_number(container, VFIO_CHECK_EXTENSION, VFIO_TYPE1V2_IOMMU);
    matches!((version, type1v2), (Ok(VFIO_API_VERSION), Ok(1)))
}

/// Sets the type of a container to type1v2. The container must have a group.
pub fn container_set_type1v2(container: &ContainerFile) -> io::Result<()> {
    ioctl_number(container, VFIO_SET_IOMMU, VFIO_TYPE1V2_IOMMU).map(drop)
}

/// Describes a container's IOMMU: a `struct vfio_iommu_type1_info` and its capabilities.
pub fn container_iommu_info(container: &ContainerFile, info: &mut [u8; 4096]) -> io::Result<()> {
    info[..4].copy_from_slice(&(4096u32).to_ne_bytes());
    let file = container.0.as_raw_fd();
    // SAFETY: the kernel writes at most `argsz` bytes, which is the size of `info`.
    check(unsafe { libc::ioctl(file, VFIO_IOMMU_GET_INFO, info.as_mut_ptr()) }).map(drop)
}

/// Maps memory for all devices of a container.
pub fn container_map_dma(container: &ContainerFile, mapping: &DmaMapping<'_>) -> io::Result<()> {
    let map = DmaMap {
        argsz: size_of::<DmaMap>() as u32,
        flags: VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        vaddr: mapping.address(),
        iova: mapping.iova(),
        size: mapping.size(),
    };
    let file = container.0.as_raw_fd();
    // SAFETY: the kernel reads `map`. From now on the devices may write to this memory. DmaMapping
    // guarantees that it is DMA memory, in which no Rust object lives. The kernel pins its pages, so
    // this stays true even if the memory is unmapped here first.
    check(unsafe { libc::ioctl(file, VFIO_IOMMU_MAP_DMA, &raw const map) }).map(drop)
}

/// Removes a mapping.
pub fn container_unmap_dma(container: &ContainerFile, iova: u64, size: u64) -> io::Result<()> {
    let mut unmap = DmaUnmap {
        argsz: size_of::<DmaUnmap>() as u32,
        flags: 0,
        iova,
        size,
    };
    let file = container.0.as_raw_fd();
    // SAFETY: the kernel reads and writes `unmap`.
    check(unsafe { libc::ioctl(file, VFIO_IOMMU_UNMAP_DMA, &raw mut unmap) }).map(drop)
}

/// Whether VFIO can use all devices of a group.
pub fn group_is_viable(group: &GroupFile) -> bool {
    let mut status = GroupStatus {
        argsz: size_of::<GroupStatus>() as u32,
        flags: 0,
    };
    let file = group.0.as_raw_fd();
    // SAFETY: the kernel reads and writes `status`.
    let result = check(unsafe { libc::ioctl(file, VFIO_GROUP_GET_STATUS, &raw mut status) });
    result.is_ok() && status.flags & VFIO_GROUP_FLAGS_VIABLE != 0
}

/// Puts a group into a container.
pub fn group_set_container(group: &GroupFile, container: &ContainerFile) -> io::Result<()> {
    let container = container.0.as_raw_fd();
    let file = group.0.as_raw_fd();
    // SAFETY: the kernel reads the number of the file descriptor.
    check(unsafe { libc::ioctl(file, VFIO_GROUP_SET_CONTAINER, &raw const container) }).map(drop)
}

/// Opens a group's device by its PCI address.
pub fn group_device(group: &GroupFile, address: &str) -> io::Result<DeviceFile> {
    let address = CString::new(address)?;
    let file = group.0.as_raw_fd();
    // SAFETY: the kernel reads the string up to its NUL.
    let fd = check(unsafe { libc::ioctl(file, VFIO_GROUP_GET_DEVICE_FD, address.as_ptr()) })?;
    // SAFETY: the kernel has just created this file descriptor for the caller.
    Ok(DeviceFile(unsafe { File::from_raw_fd(fd) }))
}

/// Describes a device's region: a `struct vfio_region_info` and its capabilities.
pub fn device_region_info(
    device: &DeviceFile,
    index: u32,
    info: &mut [u8; 4096],
) -> io::Result<()> {
    info[..4].copy_from_slice(&(4096u32).to_ne_bytes());
    info[8..12].copy_from_slice(&index.to_ne_bytes());
    let file = device.0.as_raw_fd();
    // SAFETY: the kernel writes at most `argsz` bytes, which is the size of `info`.
    check(unsafe { libc::ioctl(file, VFIO_DEVICE_GET_REGION_INFO, info.as_mut_ptr()) }).map(drop)
}

/// The kinds of interrupts of a PCI device, as linux/vfio.h numbers them.
#[derive(Clone, Copy)]
pub enum Interrupt {
    /// VFIO_PCI_MSIX_IRQ_INDEX.
    MsiX = 2,
    /// VFIO_PCI_REQ_IRQ_INDEX: the kernel wants the device back.
    Request = 4,
}

/// Makes the kernel signal `eventfds[i]` at each interrupt of vector i, or switches the interrupts of this
/// kind off if there are none.
pub fn device_signal_interrupts(
    device: &DeviceFile,
    interrupt: Interrupt,
    eventfds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut fds = [-1; MAX_VECTORS];
    if eventfds.len() > fds.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (fd, eventfd) in fds.iter_mut().zip(eventfds) {
        *fd = eventfd.as_raw_fd();
    }
    let data = match eventfds.is_empty() {
        true => VFIO_IRQ_SET_DATA_NONE,
        false => VFIO_IRQ_SET_DATA_EVENTFD,
    };
    let set = IrqSet {
        argsz: (IRQ_SET_SIZE + size_of_val(eventfds)) as u32,
        flags: data | VFIO_IRQ_SET_ACTION_TRIGGER,
        index: interrupt as u32,
        start: 0,
        count: eventfds.len() as u32,
        fds,
    };
    let file = device.0.as_raw_fd();
    // SAFETY: the kernel reads at most `set`, and keeps its own references to the eventfds.
    check(unsafe { libc::ioctl(file, VFIO_DEVICE_SET_IRQS, &raw const set) }).map(drop)
}
