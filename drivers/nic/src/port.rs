//! One port, as the program that runs the NIC sees it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use crate::config::{Faults, Module, Traffic};
use crate::device::card::Device;
use crate::device::registers as r;
use crate::device::shared_device::SharedDevice;
use crate::device::shared_memory::memory_of;
use crate::error::{ensure, ConfigError};
use crate::memory::dma::Map;
use crate::memory::dma_fault::{DmaFault, Purpose};
use crate::memory::dma_log::DmaAccess;
use crate::memory::shared::SharedMapping;
use crate::report::{PortCounters, ResetReport, RingViews, SessionReport, Snapshot, WatchedWrite};
use crate::traffic::latency::Latency;

/// Longest frame that a wire carries, in bytes without CRC.
const MAX_INJECTED: usize = 15_868;

/// One port of a [`Nic`](crate::Nic). Clones are the same port.
#[derive(Clone, Debug)]
pub struct Port {
    index: usize,
    socket: PathBuf,
    shared: Arc<SharedDevice>,
}

impl Port {
    pub(crate) fn new(index: usize, socket: PathBuf, shared: Arc<SharedDevice>) -> Self {
        Self {
            index,
            socket,
            shared,
        }
    }

    pub(crate) fn device(&self) -> MutexGuard<'_, Device> {
        self.shared.lock()
    }

    /// Number of the port, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The socket that drivers connect to.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The device's name for drivers: `vfio-user:` and the socket's path.
    pub fn device_name(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }

    /// Whether a driver is connected.
    pub fn connected(&self) -> bool {
        self.shared.lock().connected
    }

    /// Puts a frame of 1 to 15868 bytes, without CRC, on the port's wire. The frame arrives in the
    /// data plane's next round, and the device accepts or drops it like any other.
    pub fn inject(&self, frame: &[u8]) -> Result<(), ConfigError> {
        self.check_injected(frame)?;
        self.shared.lock().injected.push_back(frame.to_vec());
        self.shared.alarm.ring();
        Ok(())
    }

    pub(crate) fn check_injected(&self, frame: &[u8]) -> Result<(), ConfigError> {
        let len = frame.len();
        ensure!((1..=MAX_INJECTED).contains(&len) =>
            "frame of {len} bytes: must be 1 to {MAX_INJECTED} bytes, without the CRC";);
        Ok(())
    }

    /// The frames, without CRC, that the driver has sent since the last call. Empty unless frames
    /// are kept; see [`PortConfig::capture`](crate::PortConfig::capture).
    pub fn take_transmitted(&self) -> Vec<Vec<u8>> {
        let kept = self.shared.lock().captured.as_mut().map(std::mem::take);
        kept.unwrap_or_default()
    }

    /// Changes the traffic that arrives from the data plane's next round on.
    pub fn set_traffic(&self, traffic: Traffic) {
        self.shared.lock().new_traffic = Some(traffic);
        self.shared.alarm.ring();
    }

    /// Changes the faults that the device shows from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.shared.lock().set_faults(faults);
    }

    /// Plugs the wire into the port, or pulls it out. The driver gets an interrupt (EICR.LSC), and
    /// so does the driver at the other end of a cable.
    pub fn set_plugged(&self, plugged: bool) {
        self.shared.lock().set_plugged(plugged);
        self.shared.alarm.ring();
    }

    /// Puts another module into the port's SFP+ cage, or takes the module out.
    pub fn set_module(&self, module: Module) {
        self.shared.lock().set_module(module);
        self.shared.alarm.ring();
    }

    /// The module in the port's SFP+ cage.
    pub fn module(&self) -> Module {
        self.shared.lock().link.module()
    }

    /// The counters, over all sessions.
    pub fn stats(&self) -> PortCounters {
        let mut counters = self.shared.lock().counters();
        counters.outstanding = self.shared.outstanding.load(Ordering::Relaxed);
        counters
    }

    /// The latency of the frames that arrived here, until the peer fetched them for sending. `None`
    /// unless [`NicConfig::latency`](crate::NicConfig::latency) is set. A running data plane waits
    /// about ten microseconds for the copy, and measures that wait too.
    pub fn latency(&self) -> Option<Latency> {
        self.shared.probe().map(|probe| probe.latency().clone())
    }

    /// The registers, to read without side effects.
    pub fn registers(&self) -> Registers<'_> {
        Registers(self)
    }

    /// The device's state at this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.lock().snapshot()
    }

    /// The report on the last session that has ended, with the state in which the driver left the
    /// device.
    pub fn last_session(&self) -> Option<SessionReport> {
        self.shared.lock().last_session.clone()
    }

    /// The last reset, with the state just before, if there was one.
    pub fn last_reset(&self) -> Option<ResetReport> {
        self.shared.lock().last_reset.clone()
    }

    /// First IOVA and size in bytes of each DMA map, in ascending order.
    pub fn dma_maps(&self) -> Vec<(u64, u64)> {
        let device = self.shared.lock();
        device.dma.table.maps().iter().map(Map::range).collect()
    }

    /// The first DMA faults of this session, at most 256. [`Snapshot::dma_faults`] is their number.
    pub fn dma_faults(&self) -> Vec<DmaFault> {
        self.shared.lock().dma.faults.borrow().first.clone()
    }

    /// The driver's mistakes in this session, in words.
    pub fn notes(&self) -> Vec<String> {
        self.shared.lock().diagnostics.notes.clone()
    }

    /// Features that the driver has used in this session and this device does not model, in words.
    pub fn unmodelled(&self) -> Vec<String> {
        self.shared.lock().diagnostics.unmodelled.clone()
    }

    /// The MAC address in the first filter entry.
    pub fn mac_address(&self) -> [u8; 6] {
        self.shared.lock().mac_address()
    }

    // ---- Single acts of a hostile or broken card. Lasting faults are in `Faults`. ----

    /// Makes the card write to the driver's memory at any IOVA. Returns false, and records a DMA
    /// fault, if the maps do not permit the write; then the memory does not change.
    pub fn rogue_write(&self, iova: u64, bytes: &[u8]) -> bool {
        self.device().dma.write((Purpose::Rogue, 0), iova, bytes)
    }

    /// Puts a frame with a wrong CRC on the port's wire. The card counts it in CRCERRS and drops it.
    ///
    /// # Errors
    /// If no wire carries a frame of this length.
    pub fn inject_with_bad_crc(&self, frame: &[u8]) -> Result<(), ConfigError> {
        self.check_injected(frame)?;
        let mut device = self.device();
        if device.settings.rx {
            device.registers.count(r::CRCERRS, 1);
            device.counters.dropped_filtered += 1;
        } else {
            device.counters.dropped_not_running += 1;
        }
        Ok(())
    }

    // ---- What driver and card share ----

    /// Logs the card's accesses to the driver's memory from now on, or logs none. The card is slower meanwhile.
    pub fn log_dma(&self, on: bool) {
        self.device().dma.table.log.switch(on);
    }

    /// The logged accesses since the last call, in their order.
    pub fn take_dma(&self) -> Vec<DmaAccess> {
        self.device().dma.table.log.take()
    }

    /// The memory that this port and its driver share, as JSON: the answer to the command `maps` of the control
    /// socket, for this port.
    pub fn shared_memory(&self) -> serde_json::Value {
        memory_of(self.index, &self.device())
    }

    /// The memory that the driver has mapped for the card at this moment.
    pub fn driver_memory(&self) -> DriverMemory {
        let mut maps = self.device().dma.table.maps().to_vec();
        maps.retain(|map| map.memory.is_some());
        DriverMemory {
            port: self.clone(),
            maps,
        }
    }

    /// Both rings of queue 0 at this moment. This has no side effects.
    pub fn rings(&self) -> RingViews {
        self.device().ring_views()
    }

    /// From now on, keeps the rings as they are just before each driver's write to one of these
    /// registers. In shared mode the card does not see the writes to the queues' registers
    /// ([`MmioMode`](crate::MmioMode)).
    pub fn watch(&self, addresses: &[u32]) {
        self.device().watch.addresses = addresses.to_vec();
    }

    /// The watched writes since the last call, in their order.
    pub fn take_watched(&self) -> Vec<WatchedWrite> {
        std::mem::take(&mut self.device().watch.writes)
    }
}

/// A port's registers. Reading them here has no side effects, unlike a driver's read.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a>(&'a Port);

impl Registers<'_> {
    /// The value that a driver would read at this byte offset of the register space; 0 where there
    /// is no register.
    pub fn peek(&self, offset: u32) -> u32 {
        let mut device = self.0.shared.lock();
        device.publish_all();
        device.registers.peek(offset)
    }
}

/// Memory that a driver has mapped for its card. Access to it bypasses the card and its IOMMU, so a test
/// can inspect the memory and plant canaries in it. The memory lives as long as this object, even if the
/// driver goes away.
#[derive(Clone, Debug)]
pub struct DriverMemory {
    port: Port,
    maps: Vec<Map>,
}

impl DriverMemory {
    /// IOVA and size in bytes of each map, ascending.
    pub fn maps(&self) -> Vec<(u64, u64)> {
        self.maps.iter().map(Map::range).collect()
    }

    /// The memory of the map that holds all `len` bytes from `iova` on, and their offset there.
    fn find(&self, iova: u64, len: usize) -> Option<(&SharedMapping, u64)> {
        self.maps.iter().find_map(|map| {
            let inside = iova.checked_sub(map.iova)?;
            let end = inside.checked_add(len as u64)?;
            let (memory, offset) = map.memory.as_ref()?;
            (end <= map.size).then_some((&**memory, offset + inside))
        })
    }

    /// Copies bytes out. Returns false, and copies nothing, if one map does not hold them all.
    #[must_use]
    pub fn read(&self, iova: u64, into: &mut [u8]) -> bool {
        // The lock keeps the card away: two threads must not work on one mapping at the same time.
        let _device = self.port.device();
        self.find(iova, into.len())
            .is_some_and(|(memory, offset)| memory.read(offset, into))
    }

    /// Copies bytes in. Returns false, and changes nothing, if one map does not hold them all.
    #[must_use]
    pub fn write(&self, iova: u64, from: &[u8]) -> bool {
        let _device = self.port.device();
        self.find(iova, from.len())
            .is_some_and(|(memory, offset)| memory.write(offset, from))
    }
}
