//! The card as a PCI function: what a vfio-user server sees of it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::config::MmioMode;
use crate::device::interrupts::vectors_of;
use crate::device::regions::{region_len, REGION_BAR0, REGION_IO};
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::device::shared::SharedDevice;
use crate::memory::map_request::{MapError, Permissions};
use crate::pci_function::{IrqRequest, MappableArea, PciFunction, Region, SessionEnd};
use crate::report::ResetCause;

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

impl PciFunction for SharedDevice {
    fn begin_session(&self) {
        self.lock().begin_session();
    }

    fn end_session(&self, end: SessionEnd) {
        self.lock().end_session(end);
    }

    fn reset(&self) {
        self.lock().reset(ResetCause::Function);
    }

    fn region(&self, region: u32) -> Region {
        let mut described = Region::of_len(region_len(region));
        match region {
            REGION_BAR0 if self.mmio == MmioMode::Shared => described.mappable = &MAPPABLE,
            REGION_IO => described.max_access = 4,
            _ => {}
        }
        described
    }

    fn region_read(&self, region: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        self.lock().region_read(region, offset, into)
    }

    fn region_write(&self, region: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        self.lock().region_write(region, offset, from)?;
        self.alarm.ring();
        Ok(())
    }

    fn region_file(&self, _region: u32) -> io::Result<OwnedFd> {
        self.lock().registers.memory().file().try_clone()
    }

    fn irq_vectors(&self, kind: u32) -> u32 {
        vectors_of(kind)
    }

    fn set_irqs(&self, kind: u32, request: IrqRequest) -> Result<(), Errno> {
        self.lock().set_irqs(kind, request)
    }

    fn dma_map(
        &self,
        iova: u64,
        size: u64,
        permissions: Permissions,
        file: Option<OwnedFd>,
        offset: u64,
    ) -> Result<(), MapError> {
        let mut device = self.lock();
        let mapped = device.dma.map(iova, size, permissions, file, offset);
        if let Err(error) = &mapped {
            device.note(format!("DMA_MAP refused: {error}"));
        }
        mapped
    }

    fn dma_unmap(&self, iova: u64, size: u64) -> Result<(), MapError> {
        let mut device = self.lock();
        // A queue that was disabled in shared registers still has to write its descriptors back.
        device.observe_queues();
        let unmapped = device.dma.unmap(iova, size);
        if let Err(error) = &unmapped {
            device.note(format!("DMA_UNMAP refused: {error}"));
        }
        unmapped.map(|_count| ())
    }

    fn dma_unmap_all(&self) {
        let mut device = self.lock();
        device.observe_queues();
        device.dma.unmap_all();
    }
}
