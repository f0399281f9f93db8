//! A device and the lock around it: the PCI function that a vfio-user server sees.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::{MeasureLatency, MmioMode};
use crate::device::card::Device;
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
