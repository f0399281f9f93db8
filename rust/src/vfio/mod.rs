//! Opening a device and sharing memory with it.
//!
//! A device is a PCI function behind the kernel's VFIO (`0000:03:00.0`) or a server's
//! vfio-user socket (`vfio-user:PATH`). Once it is open, nothing outside this module knows
//! which.
//!
//! A container is the set of devices that share one view of memory: what is mapped is mapped
//! for all of them, at the same I/O virtual address (IOVA). Open all devices first, then map.
//!
//! No crate does this part: `vfio_user`'s client waits without bound and takes a refusal for
//! success, `vfio-ioctls` does not say which IOVAs the kernel permits.
#![forbid(unsafe_code)]

mod kernel;
mod user;

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::rc::{Rc, Weak};

use crate::error::{Error, Result};
use crate::registers as regs;
use crate::sys::dma::DmaMapping;
use crate::sys::mmio::{Area, Register};

const USER_PREFIX: &str = "vfio-user:";

const MAX_DEVICES: usize = 8;
const MAX_AREAS: usize = 8;

// Regions of a PCI device, as linux/vfio.h numbers them.
const REGION_BAR0: u32 = 0;
const REGION_CONFIG: u32 = 7;

// Of struct vfio_region_info and its capabilities (linux/vfio.h).
const REGION_INFO_FLAG_MMAP: u32 = 1 << 2;
const REGION_INFO_FLAG_CAPS: u32 = 1 << 3;
const REGION_INFO_CAP_SPARSE_MMAP: u16 = 1;
const REGION_INFO_SIZE: usize = 32;

/// Room for a description and its capabilities.
const MAX_INFO: usize = 4096;

/// Where IOVAs may lie unless the kernel says less: not at 0, so that a forgotten address is
/// a fault, and within 39 bits, the least that a VT-d IOMMU has.
const IOVA_DEFAULT: IovaRange = IovaRange {
    first: 0x20_0000,
    last: 0x7f_ffff_ffff,
};

/// IOVAs that may be mapped, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IovaRange {
    first: u64,
    last: u64,
}

/// Devices that share one view of memory.
pub struct Container {
    /// There once a kernel device is open.
    kernel: RefCell<Option<kernel::KernelContainer>>,
    devices: RefCell<Vec<Rc<VfioDevice>>>,
    /// Ascending, disjoint.
    ranges: RefCell<Vec<IovaRange>>,
    /// Everything below has been handed out.
    next_iova: Cell<u64>,
    /// Maps in force.
    map_count: Cell<usize>,
    /// Some memory is not on 2 MiB pages.
    pub(crate) ordinary_pages: Cell<bool>,
    this: Weak<Self>,
}

impl Container {
    /// A container without devices.
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            kernel: RefCell::new(None),
            devices: RefCell::new(Vec::new()),
            ranges: RefCell::new(vec![IOVA_DEFAULT]),
            next_iova: Cell::new(0),
            map_count: Cell::new(0),
            ordinary_pages: Cell::new(false),
            this: this.clone(),
        })
    }

    /// Opens the device at `address` and turns on its memory space. It stays open as long as
    /// the container lives.
    ///
    /// # Errors
    /// If it cannot be opened, or memory has been mapped already.
    pub fn open(self: &Rc<Self>, address: &str) -> Result<Rc<VfioDevice>> {
        if self.devices.borrow().len() == MAX_DEVICES {
            return Err(Error::device(
                address,
                format!("a container holds {MAX_DEVICES} devices at the most"),
            ));
        }
        if self.map_count.get() > 0 {
            return Err(Error::device(
                address,
                "open all devices before mapping memory for them",
            ));
        }
        let (backend, areas) = match address.strip_prefix(USER_PREFIX) {
            Some(path) => {
                let (socket, areas) = user::Socket::open(address, path)?;
                (Backend::User(socket), areas)
            }
            None => {
                let (device, areas) = kernel::KernelDevice::open(self, address)?;
                (Backend::Kernel(device), areas)
            }
        };
        let device = Rc::new(VfioDevice {
            container: self.this.clone(),
            address: address.to_owned(),
            backend,
            areas,
            failed: Cell::new(false),
            claimed: Cell::new(false),
        });

        // 9.3.2 Command register: decode BAR0. Bus mastering is the driver's to turn on.
        let command = device.config_read16(regs::PCI_COMMAND)?;
        device.config_write16(regs::PCI_COMMAND, command | regs::PCI_COMMAND_MEMORY)?;
        self.devices.borrow_mut().push(Rc::clone(&device));
        Ok(device)
    }

    /// Hands out `size` bytes of permitted IOVAs, aligned to a power of two. They are not
    /// reused: a container lives as long as its memory.
    pub(crate) fn iova_alloc(&self, size: u64, alignment: u64) -> Result<u64> {
        for range in self.ranges.borrow().iter() {
            let start = range.first.max(self.next_iova.get());
            let Some(start) = start.checked_next_multiple_of(alignment) else {
                break;
            };
            if start <= range.last && size - 1 <= range.last - start {
                self.next_iova.set(start + size);
                return Ok(start);
            }
        }
        Err(Box::new(Error::NoIova { size }))
    }

    /// Maps memory for all devices.
    pub(crate) fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        if let Some(kernel) = self.kernel.borrow().as_ref() {
            kernel.dma_map(mapping)?;
        }
        for device in self.devices.borrow().iter() {
            if let Backend::User(socket) = &device.backend {
                if let Err(error) = socket.dma_map(mapping) {
                    self.dma_unmap_everywhere(mapping.iova(), mapping.size());
                    return Err(error);
                }
            }
        }
        self.map_count.set(self.map_count.get() + 1);
        Ok(())
    }

    /// Takes a mapping back from all devices.
    pub(crate) fn dma_unmap(&self, iova: u64, size: u64) {
        self.dma_unmap_everywhere(iova, size);
        self.map_count.set(self.map_count.get().saturating_sub(1));
    }

    fn dma_unmap_everywhere(&self, iova: u64, size: u64) {
        if let Some(kernel) = self.kernel.borrow().as_ref() {
            kernel.dma_unmap(iova, size);
        }
        for device in self.devices.borrow().iter() {
            // A device that has failed has lost its maps with its connection.
            if let (Backend::User(socket), false) = (&device.backend, device.failed.get()) {
                let _ = socket.dma_unmap(iova, size);
            }
        }
    }

    /// Narrows the ranges to what is also in `allowed`.
    fn narrow_ranges(&self, allowed: &[IovaRange]) {
        let narrowed = allowed
            .iter()
            .flat_map(|a| {
                self.ranges
                    .borrow()
                    .iter()
                    .map(|b| IovaRange {
                        first: a.first.max(b.first),
                        last: a.last.min(b.last),
                    })
                    .collect::<Vec<_>>()
            })
            .filter(|both| both.first <= both.last)
            .collect();
        self.ranges.replace(narrowed);
    }
}

enum Backend {
    Kernel(kernel::KernelDevice),
    User(user::Socket),
}

/// An open device.
pub struct VfioDevice {
    container: Weak<Container>,
    address: String,
    backend: Backend,
    areas: Vec<Rc<Area>>,
    /// An access failed, so later ones fail at once.
    failed: Cell<bool>,
    /// Someone has put queues into its registers.
    claimed: Cell<bool>,
}

impl VfioDevice {
    /// As the user wrote it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Claims the device's queues. False if they are claimed already: two owners would hand the
    /// device each other's buffers.
    pub(crate) fn claim(&self) -> bool {
        !self.claimed.replace(true)
    }

    /// Ends a claim.
    pub(crate) fn release(&self) {
        self.claimed.set(false);
    }

    /// The container it was opened in.
    ///
    /// # Errors
    /// If that is gone already.
    pub fn container(&self) -> Result<Rc<Container>> {
        self.container
            .upgrade()
            .ok_or_else(|| Error::device(&self.address, "its container is closed"))
    }

    /// The register at `offset` if its page is mapped: else it is reached by
    /// [`VfioDevice::read32`] and [`VfioDevice::write32`].
    pub fn register(&self, offset: u32) -> Option<Register> {
        self.areas.iter().find_map(|area| area.register(offset))
    }

    /// Reads a 4-byte register of BAR0.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn read32(&self, offset: u32) -> Result<u32> {
        if let Some(register) = self.register(offset) {
            return Ok(register.load());
        }
        let mut value = [0; 4];
        self.region_read(REGION_BAR0, offset, &mut value)?;
        Ok(u32::from_le_bytes(value))
    }

    /// Writes a 4-byte register of BAR0.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn write32(&self, offset: u32, value: u32) -> Result<()> {
        if let Some(register) = self.register(offset) {
            register.store(value);
            return Ok(());
        }
        self.region_write(REGION_BAR0, offset, &value.to_le_bytes())
    }

    /// Reads 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn config_read16(&self, offset: u32) -> Result<u16> {
        let mut value = [0; 2];
        self.region_read(REGION_CONFIG, offset, &mut value)?;
        Ok(u16::from_le_bytes(value))
    }

    /// Writes 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn config_write16(&self, offset: u32, value: u16) -> Result<()> {
        self.region_write(REGION_CONFIG, offset, &value.to_le_bytes())
    }

    /// Fails when the device is to be given back: it is being unbound or removed.
    ///
    /// # Errors
    /// That it is.
    pub fn check_request(&self) -> Result<()> {
        match &self.backend {
            Backend::Kernel(device) => device.check_request(&self.address),
            // A vfio-user server that ends closes the connection, and accesses fail.
            Backend::User(_) => Ok(()),
        }
    }

    fn region_read(&self, region: u32, offset: u32, data: &mut [u8]) -> Result<()> {
        self.access(|backend, address| match backend {
            Backend::Kernel(device) => device.read(address, region, offset, data),
            Backend::User(socket) => socket.read(region, offset, data),
        })
    }

    fn region_write(&self, region: u32, offset: u32, data: &[u8]) -> Result<()> {
        self.access(|backend, address| match backend {
            Backend::Kernel(device) => device.write(address, region, offset, data),
            Backend::User(socket) => socket.write(region, offset, data),
        })
    }

    fn access(&self, what: impl FnOnce(&Backend, &str) -> Result<()>) -> Result<()> {
        if self.failed.get() {
            return Err(Error::device(&self.address, "the device has failed"));
        }
        let result = what(&self.backend, &self.address);
        self.failed.set(result.is_err());
        result
    }
}

/// `N` bytes at `offset` of a description, if they are all there.
fn bytes<const N: usize>(info: &[u8], offset: usize) -> Option<[u8; N]> {
    info.get(offset..)?.first_chunk().copied()
}

fn u16_at(info: &[u8], offset: usize) -> Option<u16> {
    bytes(info, offset).map(u16::from_le_bytes)
}

fn u32_at(info: &[u8], offset: usize) -> Option<u32> {
    bytes(info, offset).map(u32::from_le_bytes)
}

fn u64_at(info: &[u8], offset: usize) -> Option<u64> {
    bytes(info, offset).map(u64::from_le_bytes)
}

/// What a `struct vfio_region_info` says, with the capabilities behind it.
#[derive(Debug, PartialEq, Eq)]
struct RegionInfo {
    size: u64,
    file_offset: u64,
    /// Offset and size of what may be mapped.
    areas: Vec<(u64, u64)>,
}

impl RegionInfo {
    /// `None` if it is truncated, or its capabilities loop.
    fn parse(info: &[u8]) -> Option<Self> {
        let flags = u32_at(info, 4)?;
        let size = u64_at(info, 16)?;
        let mut parsed = Self {
            size,
            file_offset: u64_at(info, 24)?,
            areas: Vec::new(),
        };
        if flags & REGION_INFO_FLAG_MMAP == 0 {
            return Some(parsed);
        }
        let mut next = match flags & REGION_INFO_FLAG_CAPS {
            0 => 0,
            _ => u32_at(info, 12)? as usize,
        };
        while next != 0 {
            let id = u16_at(info, next)?;
            let after = u32_at(info, next + 4)? as usize;
            if id == REGION_INFO_CAP_SPARSE_MMAP {
                for i in 0..u32_at(info, next + 8)? as usize {
                    let at = next + 16 + i * 16;
                    parsed
                        .areas
                        .push((u64_at(info, at)?, u64_at(info, at + 8)?));
                }
                return Some(parsed);
            }
            // Capabilities are listed in ascending order; anything else could loop.
            if after != 0 && after <= next {
                return None;
            }
            next = after;
        }
        parsed.areas.push((0, size));
        Some(parsed)
    }
}

/// Maps the areas of BAR0 that `info` allows, from `fd`.
fn map_bar0(address: &str, fd: BorrowedFd<'_>, info: &RegionInfo) -> Result<Vec<Rc<Area>>> {
    if info.areas.len() > MAX_AREAS {
        return Err(Error::device(
            address,
            format!("more than {MAX_AREAS} mappable areas in BAR0"),
        ));
    }
    let mut areas = Vec::with_capacity(info.areas.len());
    for &(offset, size) in &info.areas {
        let end = offset.checked_add(size);
        if size == 0 || end.is_none_or(|end| end > info.size) {
            return Err(Error::device(address, "a mappable area lies outside BAR0"));
        }
        let area = usize::try_from(size)
            .map_err(|_| std::io::ErrorKind::InvalidInput.into())
            .and_then(|size| Area::map(fd, info.file_offset.wrapping_add(offset), offset, size))
            .map_err(|source| {
                Error::call(address, format!("mmap of BAR0 at {offset:#x}"), source)
            })?;
        areas.push(Rc::new(area));
    }
    Ok(areas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn container_with(ranges: &[(u64, u64)]) -> Rc<Container> {
        let container = Container::new();
        let ranges = ranges
            .iter()
            .map(|&(first, last)| IovaRange { first, last });
        container.ranges.replace(ranges.collect());
        container
    }

    fn open_error(address: &str) -> String {
        match Container::new().open(address) {
            Ok(_) => panic!("{address} was opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn iovas_are_aligned_apart_and_within_the_ranges() {
        let container = container_with(&[(MIB, 6 * MIB - 1), (16 * MIB, 20 * MIB - 1)]);
        assert_eq!(container.iova_alloc(4096, 2 * MIB).unwrap(), 2 * MIB);
        // Does not fit before 6 MiB any more, so it is the second range's.
        let second = container.iova_alloc(2 * MIB + 4096, 2 * MIB).unwrap();
        assert_eq!(second, 16 * MIB);
        let error = container.iova_alloc(4 * MIB, 2 * MIB).unwrap_err();
        assert!(error.to_string().contains("I/O address space"));
    }

    #[test]
    fn iovas_end_with_the_address_space() {
        let container = container_with(&[(u64::MAX - 4095, u64::MAX)]);
        assert!(container.iova_alloc(8192, 4096).is_err());
        let container = container_with(&[(u64::MAX - 100, u64::MAX)]);
        assert!(container.iova_alloc(4096, 4096).is_err());
    }

    #[test]
    fn ranges_are_narrowed_to_what_all_permit() {
        let container = container_with(&[(0x1000, 0x7fff)]);
        let range = |first, last| IovaRange { first, last };
        container.narrow_ranges(&[
            range(0, 0x1fff),
            range(0x3000, 0x3fff),
            range(0x9000, 0x9fff),
        ]);
        let expected = vec![range(0x1000, 0x1fff), range(0x3000, 0x3fff)];
        assert_eq!(*container.ranges.borrow(), expected);
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        let missing = open_error("vfio-user:/nonexistent/socket");
        assert!(missing.contains("/nonexistent/socket") && missing.contains("No such file"));
        assert!(open_error("vfio-user:").contains("socket path"));
        let long = format!("vfio-user:{}", "x".repeat(108));
        assert!(open_error(&long).contains("socket path"));
        assert!(open_error("eth0").contains("eth0: not a device; give a PCI address"));
        assert!(open_error("0000:0g:00.0").contains("PCI address"));
        assert!(open_error("ffff:ff:1f.7").contains("no such PCI device"));
    }

    /// A description with one capability, of two areas.
    fn description() -> Vec<u8> {
        let mut info = Vec::new();
        for word in [32, REGION_INFO_FLAG_MMAP | REGION_INFO_FLAG_CAPS, 0, 32] {
            info.extend(u32::to_le_bytes(word));
        }
        info.extend(u64::to_le_bytes(0x20000));
        info.extend(u64::to_le_bytes(0));
        info.extend(REGION_INFO_CAP_SPARSE_MMAP.to_le_bytes());
        info.extend(u16::to_le_bytes(1));
        for word in [0, 2, 0] {
            info.extend(u32::to_le_bytes(word));
        }
        for number in [0x1000, 0x1000, 0x6000, 0x2000] {
            info.extend(u64::to_le_bytes(number));
        }
        info
    }

    #[test]
    fn the_areas_described_are_found() {
        let parsed = RegionInfo::parse(&description()).unwrap();
        assert_eq!(parsed.areas, vec![(0x1000, 0x1000), (0x6000, 0x2000)]);
        let mut whole = description();
        whole[4] = REGION_INFO_FLAG_MMAP as u8;
        let parsed = RegionInfo::parse(&whole).unwrap();
        assert_eq!(parsed.areas, vec![(0, 0x20000)]);
        whole[4] = 0;
        assert_eq!(RegionInfo::parse(&whole).unwrap().areas, vec![]);
    }

    #[test]
    fn a_wrong_description_is_refused() {
        let good = description();
        for size in 0..good.len() {
            assert_eq!(RegionInfo::parse(&good[..size]), None);
        }
        let mut looping = good.clone();
        looping[32] = 77;
        looping[36] = 32;
        assert_eq!(RegionInfo::parse(&looping), None);
        let mut endless = good;
        endless[40..44].copy_from_slice(&[0xff; 4]);
        assert_eq!(RegionInfo::parse(&endless), None);
    }

    proptest! {
        #[test]
        fn no_description_panics(info in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RegionInfo::parse(&info);
        }

        #[test]
        fn iovas_never_overlap(sizes in prop::collection::vec(1u64..5 * MIB, 1..40)) {
            let container = container_with(&[(MIB, 50 * MIB), (70 * MIB, 200 * MIB)]);
            let mut end = 0;
            for size in sizes {
                let Ok(start) = container.iova_alloc(size, 2 * MIB) else { continue };
                prop_assert!(start >= end && start % (2 * MIB) == 0);
                end = start + size;
                prop_assert!(end - 1 <= 50 * MIB || (start >= 70 * MIB && end - 1 <= 200 * MIB));
            }
        }
    }
}
