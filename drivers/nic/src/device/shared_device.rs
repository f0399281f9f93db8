//! A device and the lock around it: the PCI function that a vfio-user server sees.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::config::{MeasureLatency, MmioMode};
use crate::device::card::Device;
use crate::device::regions::{region_len, REGION_BAR0, REGION_IO};
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::memory::map_request::{MapError, Permissions};
use crate::pci_function::{IrqRequest, MappableArea, Region, SessionEnd};
use crate::report::ResetCause;
use crate::threads::alarm::Alarm;
use crate::threads::turns::Turns;
use crate::traffic::latency::Probe;

/// A device that control thread, data plane and callers use in turns.
#[derive(Debug)]
pub(crate) struct SharedDevice {
    device: Turns<Device>,
    /// How drivers reach the registers.
    pub(crate) mmio: MmioMode,
    /// Wakes the data plane when the device may be in use. All ports share one alarm.
    pub(crate) alarm: Arc<Alarm>,
    /// As in [`PortCounters`](crate::PortCounters).
    pub(crate) outstanding: AtomicU64,
    /// Measures the frames that arrive here, if latency is measured.
    probe: Option<Mutex<Probe>>,
}

impl SharedDevice {
    pub(crate) fn new(
        mut device: Device,
        mmio: MmioMode,
        alarm: Arc<Alarm>,
        latency: Option<MeasureLatency>,
    ) -> Self {
        device.shared_pages = mmio == MmioMode::Shared;
        Self {
            device: Turns::new(device),
            mmio,
            alarm,
            outstanding: AtomicU64::new(0),
            probe: latency.map(|measure| Mutex::new(Probe::new(measure.after))),
        }
    }

    /// Whether latency is measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.probe.is_some()
    }

    /// Measures the frames that arrive here, if latency is measured.
    pub(crate) fn probe(&self) -> Option<MutexGuard<'_, Probe>> {
        let probe = self.probe.as_ref()?;
        Some(probe.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the device. The data plane lets the caller go first.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Device> {
        self.device.lock()
    }

    /// Locks the device unless another thread has it or waits for it: for a running data plane.
    pub(crate) fn lock_unless_wanted(&self) -> Option<MutexGuard<'_, Device>> {
        self.device.lock_unless_wanted()
    }

    /// Locks the device after the threads that wait for it: for a data plane that is stepped,
    /// perhaps in a loop.
    pub(crate) fn lock_after_others(&self) -> MutexGuard<'_, Device> {
        self.device.lock_after_others()
    }
}

/// The pages of BAR0 that drivers may map in shared mode.
const MAPPABLE: [MappableArea; SHARED_PAGES.len()] = {
    let mut areas = [MappableArea { offset: 0, len: 0 }; SHARED_PAGES.len()];
    let mut nth = 0;
    while nth < areas.len() {
        areas[nth] = MappableArea {
            offset: SHARED_PAGES[nth] as u64,
            len: PAGE as u64,
        };
        nth += 1;
    }
    areas
};

/// All methods take `&self`, because other threads use the card while it is served.
impl SharedDevice {
    /// A client has connected and agreed on the version. Its reply is not sent yet.
    pub(crate) fn begin_session(&self) {
        self.lock().begin_session();
    }

    /// The client is gone. Withdraws all DMA maps and eventfds, and resets the card. Does nothing if no session has
    /// begun.
    pub(crate) fn end_session(&self, end: SessionEnd) {
        self.lock().end_session(end);
    }

    /// A function-level reset.
    pub(crate) fn reset(&self) {
        self.lock().reset(ResetCause::Function);
    }

    /// Describes a region.
    pub(crate) fn region(&self, region: u32) -> Region {
        let mut described = Region::of_len(region_len(region));
        match region {
            REGION_BAR0 if self.mmio == MmioMode::Shared => described.mappable = &MAPPABLE,
            REGION_IO => described.max_access = 4,
            _ => {}
        }
        described
    }

    /// Reads a range of a region. `EINVAL` if the range is not inside the region.
    pub(crate) fn region_read(
        &self,
        region: u32,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Errno> {
        self.lock().region_read(region, offset, into)
    }

    /// Writes a range of a region. `EINVAL` if the range is not inside the region.
    pub(crate) fn region_write(&self, region: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        self.lock().region_write(region, offset, from)?;
        self.alarm.ring();
        Ok(())
    }

    /// The file behind the mappable areas.
    pub(crate) fn region_file(&self) -> io::Result<OwnedFd> {
        self.lock().registers.memory().file().try_clone()
    }

    /// Sets interrupts of a kind up. The server has checked that the vectors exist.
    pub(crate) fn set_irqs(&self, kind: u32, request: IrqRequest) -> Result<(), Errno> {
        self.lock().set_irqs(kind, request)
    }

    /// Lets the card reach `size` bytes of `file` from `offset` on, as IOVAs from `iova` on. Without a file, the IOVAs
    /// are taken but have no memory.
    pub(crate) fn dma_map(
        &self,
        iova: u64,
        size: u64,
        permissions: Permissions,
        file: Option<OwnedFd>,
        offset: u64,
    ) -> Result<(), MapError> {
        let mut device = self.lock();
        let mapped = device.dma.table.map(iova, size, permissions, file, offset);
        if let Err(error) = &mapped {
            device.note(format!("DMA_MAP refused: {error}"));
        }
        mapped
    }

    /// Withdraws every map inside the range.
    pub(crate) fn dma_unmap(&self, iova: u64, size: u64) -> Result<(), MapError> {
        let mut device = self.lock();
        // A queue that was disabled in shared registers still has to write its descriptors back.
        device.observe_queues();
        let unmapped = device.dma.table.unmap(iova, size);
        if let Err(error) = &unmapped {
            device.note(format!("DMA_UNMAP refused: {error}"));
        }
        unmapped.map(|_count| ())
    }

    /// Withdraws all maps.
    pub(crate) fn dma_unmap_all(&self) {
        let mut device = self.lock();
        device.observe_queues();
        device.dma.table.unmap_all();
    }
}
