//! Canaries in a driver's DMA memory: bytes that no correct driver or NIC changes.
//!
//! The lab writes a pattern behind every ring and every pool. In each packet buffer the pattern
//! fills the room between metadata and data, and the room behind the longest frame. The lab writes
//! and reads the pattern in the memory itself, past driver, NIC and IOMMU. The NIC cannot reach
//! other addresses: an access there is a DMA fault. AddressSanitizer watches the driver's heap.

use anyhow::{ensure, Result};
use nic::registers as r;
use nic::{DriverMemory, Port};

/// DD, EOP and RS are clear in this byte, so a descriptor full of it is not done.
const PATTERN: u8 = 0xc4;
/// Bytes of a packet buffer.
pub const BUFFER: u64 = 2048;
/// Offset of the data in a buffer.
pub const DATA: u64 = 64;
/// Bytes of the C driver's metadata; the rest of the headroom is unused.
const METADATA: u64 = 20;
/// Bytes of the metadata that never change: the packet's IOVA and its pool.
const FIXED_METADATA: u64 = 16;
/// Offset behind the longest frame, which has 1522 bytes; rounded up.
const BEHIND_FRAME: u64 = DATA + 1536;
/// Packet buffers in each pool of the lab's programs.
pub const POOL_CAPACITY: u64 = 512;

/// A range of memory, and the bytes that it should contain.
struct Canary {
    place: String,
    iova: u64,
    bytes: Vec<u8>,
}

/// All canaries of a run.
pub struct Canaries {
    memory: DriverMemory,
    canaries: Vec<Canary>,
    /// IOVAs of the pools: port 0's, port 1's, and a spare one that no device uses.
    pub pools: Vec<u64>,
}

/// Where a ring is.
#[derive(Debug)]
pub struct RingMemory {
    /// Address of the first descriptor, for the device.
    pub iova: u64,
    /// Size of the ring.
    pub bytes: u64,
}

/// A port's receive ring and transmit ring.
pub fn rings(port: &Port) -> [RingMemory; 2] {
    let registers = port.registers();
    let ring = |low, high, len| RingMemory {
        iova: u64::from(registers.peek(low)) | u64::from(registers.peek(high)) << 32,
        bytes: u64::from(registers.peek(len)),
    };
    [
        ring(r::RDBAL(0), r::RDBAH(0), r::RDLEN(0)),
        ring(r::TDBAL(0), r::TDBAH(0), r::TDLEN(0)),
    ]
}

impl Canaries {
    /// Plants canaries in all mapped memory. No frame may be in flight.
    pub fn plant(ports: &[Port]) -> Result<Self> {
        let memory = ports[0].driver_memory();
        let rings: Vec<_> = ports.iter().flat_map(rings).collect();
        let mut canaries = Self {
            memory,
            canaries: Vec::new(),
            pools: Vec::new(),
        };
        for (iova, size) in canaries.memory.maps() {
            let end = iova + size;
            if let Some(nth) = rings.iter().position(|ring| ring.iova == iova) {
                let kind = ["receive", "transmit"][nth % 2];
                let place = format!("behind the {kind} ring of port {}", nth / 2);
                canaries.fill(place, iova + rings[nth].bytes, end)?;
                continue;
            }
            ensure!(
                size >= POOL_CAPACITY * BUFFER,
                "a map of {size:#x} bytes at {iova:#x} is neither a ring nor a pool"
            );
            canaries.plant_in_pool(iova, end)?;
        }
        ensure!(
            rings.len() == 4 && canaries.pools.len() == 3,
            "expected 4 rings and 3 pools: {rings:x?}, {} pools",
            canaries.pools.len()
        );
        Ok(canaries)
    }

    fn plant_in_pool(&mut self, iova: u64, end: u64) -> Result<()> {
        let pool = self.pools.len();
        self.pools.push(iova);
        for nth in 0..POOL_CAPACITY {
            let at = iova + nth * BUFFER;
            let place = |part: &str| format!("{part} of buffer {nth} of pool {pool}");
            self.keep(place("metadata"), at, FIXED_METADATA)?;
            self.fill(place("headroom"), at + METADATA, at + DATA)?;
            let behind = place("room behind the data");
            self.fill(behind, at + BEHIND_FRAME, at + BUFFER)?;
        }
        let behind = iova + POOL_CAPACITY * BUFFER;
        self.fill(format!("behind pool {pool}"), behind, end)
    }

    /// Writes the pattern to a range.
    fn fill(&mut self, place: String, iova: u64, end: u64) -> Result<()> {
        let bytes = vec![PATTERN; usize::try_from(end - iova)?];
        ensure!(self.memory.write(iova, &bytes), "{place}: not writable");
        self.canaries.push(Canary { place, iova, bytes });
        Ok(())
    }

    /// Expects a range to keep the bytes that it contains now.
    fn keep(&mut self, place: String, iova: u64, len: u64) -> Result<()> {
        let mut bytes = vec![0; usize::try_from(len)?];
        ensure!(self.memory.read(iova, &mut bytes), "{place}: not readable");
        self.canaries.push(Canary { place, iova, bytes });
        Ok(())
    }

    /// Expects all canaries to keep the bytes that they contain now. The NIC has changed them as
    /// part of a hazard, which is not yet a consequence of the hazard.
    pub fn accept(&mut self) {
        for canary in &mut self.canaries {
            // The memory was readable when the canary was planted, and it is still mapped.
            let _ = self.memory.read(canary.iova, &mut canary.bytes);
        }
    }

    /// The first four changed canaries in words, and how many have changed in all.
    pub fn damage(&self) -> (Vec<String>, usize) {
        let mut damaged = Vec::new();
        for canary in &self.canaries {
            let mut now = vec![0; canary.bytes.len()];
            if self.memory.read(canary.iova, &mut now) && now != canary.bytes {
                let changed = now.iter().zip(&canary.bytes).filter(|(a, b)| a != b);
                damaged.push(format!("{} ({} bytes)", canary.place, changed.count()));
            }
        }
        let count = damaged.len();
        damaged.truncate(4);
        (damaged, count)
    }
}
