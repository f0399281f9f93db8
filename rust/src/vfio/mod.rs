//! Opening a device and sharing memory with it.
//!
//! A device is a PCI function behind the kernel's VFIO (`0000:03:00.0`) or the vfio-user socket
//! of a server (`vfio-user:PATH`). Code outside this module does not know which of the two an
//! open device is.
//!
//! The devices of a container share one view of memory: a mapping holds for all of them, at the
//! same I/O virtual address (IOVA). Open all devices first, then map.
//!
//! No crate fits: the client in `vfio_user` waits without bound and takes a refusal for success;
//! `vfio-ioctls` does not report which IOVAs the kernel permits.
#![forbid(unsafe_code)]

mod bare;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fake;
mod iova;
mod kernel;
pub(crate) mod patience;
pub(crate) mod region;

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

pub use self::bare::BareDevice;
use self::iova::Iovas;
use self::patience::Patience;
use self::region::{REGION_BAR0, REGION_CONFIG};
use crate::driver::registers as regs;
use crate::error::{Error, Result};
use crate::sys::dma::DmaSpace;
use crate::sys::mapping::DmaMapping;
use crate::sys::mmio::{Area, Register};
use crate::vfio_user::socket::ConnectTime;
use crate::vfio_user::UserDevice;

const USER_PREFIX: &str = "vfio-user:";

const MAX_DEVICES: usize = 8;

/// What a doorbell may take without using up patience.
const DOORBELL: Duration = Duration::from_millis(100);

/// Devices that share one view of memory.
pub struct Container {
    /// `None` until a kernel device is open.
    kernel: RefCell<Option<kernel::KernelContainer>>,
    devices: RefCell<Vec<Rc<VfioDevice>>>,
    iovas: Iovas,
    /// The number of mappings.
    map_count: Cell<usize>,
    /// Some of the memory is not on 2 MiB pages.
    pub(crate) ordinary_pages: Cell<bool>,
    /// What is left of the time to wait for vfio-user servers that start.
    connect_time: ConnectTime,
    /// For vfio-user servers.
    patience: Rc<Patience>,
    this: Weak<Self>,
}

impl Container {
    /// A container without devices. [`OpenDevice::open`] does not wait for a server.
    ///
    /// [`OpenDevice::open`]: crate::driver::device::OpenDevice::open
    #[must_use]
    pub fn new() -> Rc<Self> {
        Self::with_connect_timeout(0)
    }

    /// A container without devices. All calls of [`OpenDevice::open`] together wait at most
    /// `connect_timeout_ms` milliseconds for the servers of vfio-user sockets.
    ///
    /// [`OpenDevice::open`]: crate::driver::device::OpenDevice::open
    #[must_use]
    pub fn with_connect_timeout(connect_timeout_ms: u32) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            kernel: RefCell::new(None),
            devices: RefCell::new(Vec::new()),
            iovas: Iovas::new(),
            map_count: Cell::new(0),
            ordinary_pages: Cell::new(false),
            connect_time: ConnectTime::new(connect_timeout_ms),
            patience: Patience::new(),
            this: this.clone(),
        })
    }

    /// Opens the device at `address` and turns on its memory space. The device stays open as long
    /// as the container lives.
    ///
    /// # Errors
    /// If the device cannot be opened, is open in this container already, or memory has been mapped
    /// already.
    pub(crate) fn open(self: &Rc<Self>, address: &str) -> Result<Rc<VfioDevice>> {
        // The kernel opens a device of a group as often as the group's owner asks. With two owners,
        // one could ring the doorbells of the other's rings.
        if self
            .devices
            .borrow()
            .iter()
            .any(|open| open.address == address)
        {
            return Err(Error::device(
                address,
                "the device is open already; a container opens each device once",
            ));
        }
        if self.devices.borrow().len() == MAX_DEVICES {
            return Err(Error::device(
                address,
                format!("a container holds at most {MAX_DEVICES} devices"),
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
                let (device, areas) =
                    UserDevice::open(address, path, &self.connect_time, &self.patience)?;
                (Backend::User(device), areas)
            }
            None => {
                let mut container = self.kernel.borrow_mut();
                let opened = kernel::KernelDevice::open(&mut container, address)?;
                if let Some(permitted) = opened.permitted {
                    self.iovas.narrow(&permitted);
                }
                (Backend::Kernel(opened.device), opened.areas)
            }
        };
        let device = Rc::new(VfioDevice {
            container: self.this.clone(),
            address: address.to_owned(),
            backend,
            areas,
            failed: Cell::new(false),
            claimed: Cell::new(false),
            bus_master: Cell::new(false),
        });

        // 9.3.2 Command register: decode BAR0. The driver turns on bus mastering later.
        let command = device.config_read16(regs::PCI_COMMAND)?;
        device.config_write16(regs::PCI_COMMAND, command | regs::PCI_COMMAND_MEMORY)?;
        self.devices.borrow_mut().push(Rc::clone(&device));
        Ok(device)
    }

    /// Whether some of its memory is on ordinary pages because too few 2 MiB pages were free.
    pub fn on_ordinary_pages(&self) -> bool {
        self.ordinary_pages.get()
    }

    /// Whether this thread has no other container.
    pub(crate) fn is_alone() -> bool {
        Iovas::alone()
    }

    /// Whether `iova` is an address of this container's memory. While both containers live, it is no
    /// address of another container of this thread.
    pub(crate) fn owns_iova(&self, iova: u64) -> bool {
        self.iovas.owns(iova)
    }

    fn dma_unmap_everywhere(&self, iova: u64, size: u64) {
        if let Some(kernel) = self.kernel.borrow().as_ref() {
            kernel.dma_unmap(iova, size);
        }
        for device in self.devices.borrow().iter() {
            // A device that has failed lost its mappings with its connection.
            if let (Backend::User(user), Ok(())) = (&device.backend, device.check()) {
                let _ = user.dma_unmap(iova, size);
            }
        }
    }
}

impl DmaSpace for Container {
    type Error = Box<Error>;

    fn iova_alloc(&self, size: u64, alignment: u64) -> Result<u64> {
        self.iovas.alloc(size, alignment)
    }

    fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        if let Some(kernel) = self.kernel.borrow().as_ref() {
            kernel.dma_map(mapping)?;
        }
        for device in self.devices.borrow().iter() {
            if let Backend::User(user) = &device.backend {
                if let Err(error) = device.check().and_then(|()| user.dma_map(mapping)) {
                    self.dma_unmap_everywhere(mapping.iova(), mapping.size());
                    return Err(error);
                }
            }
        }
        self.map_count.set(self.map_count.get() + 1);
        Ok(())
    }

    fn dma_unmap(&self, iova: u64, size: u64) {
        self.dma_unmap_everywhere(iova, size);
        self.iovas.release(iova);
        self.map_count.set(self.map_count.get().saturating_sub(1));
    }

    fn note_ordinary_pages(&self) {
        self.ordinary_pages.set(true);
    }
}

enum Backend {
    Kernel(kernel::KernelDevice),
    User(UserDevice),
    /// Prepared answers in place of a device, for tests.
    #[cfg(any(test, feature = "fuzzing"))]
    Fake(Rc<fake::Answers>),
}

/// An open device.
pub(crate) struct VfioDevice {
    container: Weak<Container>,
    address: String,
    backend: Backend,
    areas: Vec<Arc<Area>>,
    /// An access failed. Later accesses fail at once.
    failed: Cell<bool>,
    /// A [`crate::driver::device::Device`] uses its queues.
    claimed: Cell<bool>,
    /// The driver turned bus mastering on, and has not turned it off since.
    bus_master: Cell<bool>,
}

impl VfioDevice {
    /// As the user wrote it.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Claims the queues of the device. Returns false if they are claimed already: with two
    /// owners, one could hand the device the buffers of the other.
    pub(crate) fn claim(&self) -> bool {
        !self.claimed.replace(true)
    }

    /// Ends a claim.
    pub(crate) fn release(&self) {
        self.claimed.set(false);
    }

    /// Notes that the driver turns bus mastering on, or has turned it off.
    pub(crate) fn set_bus_master(&self, on: bool) {
        self.bus_master.set(on);
    }

    /// Whether the device may still access memory, because the driver could not turn bus mastering off.
    pub(crate) fn is_bus_master(&self) -> bool {
        self.bus_master.get()
    }

    /// The container of the device.
    ///
    /// # Errors
    /// If the container is closed.
    pub(crate) fn container(&self) -> Result<Rc<Container>> {
        self.container
            .upgrade()
            .ok_or_else(|| Error::device(&self.address, "its container is closed"))
    }

    /// The register at `offset`, or `None` if its page is not mapped. Then
    /// [`VfioDevice::read32`] and [`VfioDevice::write32`] reach it.
    pub(crate) fn register(&self, offset: u32) -> Option<Register> {
        self.areas.iter().find_map(|area| area.register(offset))
    }

    /// Reads a 4-byte register of BAR0.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub(crate) fn read32(&self, offset: u32) -> Result<u32> {
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
    pub(crate) fn write32(&self, offset: u32, value: u32) -> Result<()> {
        if let Some(register) = self.register(offset) {
            register.store(value);
            return Ok(());
        }
        self.region_write(REGION_BAR0, offset, &value.to_le_bytes(), Duration::ZERO)
    }

    /// Writes a tail register that is not mapped. Unlike [`VfioDevice::write32`], it uses up patience
    /// only for what it takes beyond [`DOORBELL`]: while a driver forwards, it waits for doorbells
    /// most of the time.
    pub(crate) fn ring(&self, offset: u32, value: u32) -> Result<()> {
        self.region_write(REGION_BAR0, offset, &value.to_le_bytes(), DOORBELL)
    }

    /// What is left of the patience for the device. The kernel's VFIO and the tests need none.
    pub(crate) fn patience(&self) -> Duration {
        match &self.backend {
            Backend::User(device) => device.patience().left(),
            _ => Duration::MAX,
        }
    }

    /// Sleeps between two looks at the device, which uses up patience for it.
    pub(crate) fn pause(&self, time: std::time::Duration) {
        let asleep = std::time::Instant::now();
        crate::clock::sleep(time);
        self.patience_use(asleep.elapsed());
    }

    /// Uses up patience for a device that the driver has waited for.
    pub(crate) fn patience_use(&self, waited: Duration) {
        if let Backend::User(device) = &self.backend {
            device.patience().use_up(waited);
        }
    }

    /// Reads 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub(crate) fn config_read16(&self, offset: u32) -> Result<u16> {
        let mut value = [0; 2];
        self.region_read(REGION_CONFIG, offset, &mut value)?;
        Ok(u16::from_le_bytes(value))
    }

    /// Writes 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub(crate) fn config_write16(&self, offset: u32, value: u16) -> Result<()> {
        self.region_write(REGION_CONFIG, offset, &value.to_le_bytes(), Duration::ZERO)
    }

    /// Checks that the kernel does not want the device back.
    ///
    /// # Errors
    /// If the device is being unbound or removed.
    pub(crate) fn check_request(&self) -> Result<()> {
        match &self.backend {
            Backend::Kernel(device) => device.check_request(&self.address),
            // When a vfio-user server ends, it closes the connection, and accesses fail.
            Backend::User(_) => Ok(()),
            #[cfg(any(test, feature = "fuzzing"))]
            Backend::Fake(_) => Ok(()),
        }
    }

    /// Signals `eventfds[i]` at each message of MSI-X vector i, or switches MSI-X off if there are none.
    ///
    /// # Errors
    /// If the device can no longer be reached, or has no MSI-X.
    pub(crate) fn signal_msix(&self, eventfds: &[BorrowedFd<'_>]) -> Result<()> {
        self.check()?;
        match &self.backend {
            Backend::Kernel(device) => device.signal_msix(&self.address, eventfds),
            Backend::User(device) => device.signal_msix(eventfds),
            #[cfg(any(test, feature = "fuzzing"))]
            Backend::Fake(_) => Err(Error::device(&self.address, "it has no MSI-X")),
        }
    }

    fn region_read(&self, region: u32, offset: u32, data: &mut [u8]) -> Result<()> {
        self.access(|backend, address| match backend {
            Backend::Kernel(device) => device.read(address, region, offset, data),
            Backend::User(device) => device.read(region, offset, data),
            #[cfg(any(test, feature = "fuzzing"))]
            Backend::Fake(answers) => answers.read(address, data),
        })
    }

    /// `free` of a wait for the reply does not use up patience.
    fn region_write(&self, region: u32, offset: u32, data: &[u8], free: Duration) -> Result<()> {
        self.access(|backend, address| match backend {
            Backend::Kernel(device) => device.write(address, region, offset, data),
            Backend::User(device) => device.write(region, offset, data, free),
            #[cfg(any(test, feature = "fuzzing"))]
            Backend::Fake(answers) => answers.write(address),
        })
    }

    /// Fails if an access has failed before.
    pub(crate) fn check(&self) -> Result<()> {
        let broken = matches!(&self.backend, Backend::User(device) if device.is_broken());
        if self.failed.get() || broken {
            return Err(Error::device(&self.address, "the device has failed"));
        }
        Ok(())
    }

    fn access(&self, what: impl FnOnce(&Backend, &str) -> Result<()>) -> Result<()> {
        self.check()?;
        let result = what(&self.backend, &self.address);
        self.failed.set(result.is_err());
        result
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl VfioDevice {
    /// A device in `container` that gives these answers. All of its registers are trapped.
    pub(crate) fn fake(container: &Rc<Container>, answers: &Rc<fake::Answers>) -> Rc<Self> {
        Rc::new(Self {
            container: Rc::downgrade(container),
            address: "fake".to_owned(),
            backend: Backend::Fake(Rc::clone(answers)),
            areas: Vec::new(),
            failed: Cell::new(false),
            claimed: Cell::new(true),
            bus_master: Cell::new(false),
        })
    }

    /// Forgets an earlier failure.
    pub(crate) fn revive(&self) {
        self.failed.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_error(address: &str) -> String {
        match Container::new().open(address) {
            Ok(_) => panic!("{address} was opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_open_error_names_the_address() {
        let missing = open_error("vfio-user:/nonexistent/socket");
        assert!(missing.contains("/nonexistent/socket") && missing.contains("No such file"));
        assert!(open_error("vfio-user:").contains("socket path"));
        let long = format!("vfio-user:{}", "x".repeat(108));
        assert!(open_error(&long).contains("socket path"));
        assert!(open_error("eth0").contains("eth0: not a device; give a PCI address"));
        assert!(open_error("0000:0g:00.0").contains("PCI address"));
        assert!(open_error("ffff:ff:1f.7").contains("no such PCI device"));
    }
}
