//! Canaries in a driver's DMA memory: a pattern behind every ring, behind every pool, and in every
//! packet buffer between the metadata and the data and behind the longest frame.
//!
//! They are planted and checked from the NIC's side, past driver, device and IOMMU. What is in front
//! of a ring or pool, and further behind it, is not mapped for the device, so an access there is a
//! DMA fault. On the driver's side, AddressSanitizer watches its heap.

use anyhow::{ensure, Result};
use nic::registers as r;
use nic::{DriverMemory, Port};

/// Neither DD nor EOP nor RS is set in it, so a descriptor of it is one that is not done.
const PATTERN: u8 = 0xc4;
/// Bytes of a packet buffer.
pub const BUFFER: u64 = 2048;
/// Where data begins in a buffer.
pub const DATA: u64 = 64;
/// Where the C driver's metadata ends; the rest of the headroom is reserved.
const METADATA: u64 = 20;
/// IOVA and pool of a packet, which never change.
const FIXED_METADATA: u64 = 16;
/// Behind the longest frame: 1522 bytes, rounded up.
const BEHIND_FRAME: u64 = DATA + 1536;
/// Packet buffers in each pool of the lab's programs.
pub const POOL_CAPACITY: u64 = 512;

/// A stretch that should stay as it is.
#[derive(Debug)]
struct Stretch {
    what: String,
    iova: u64,
    bytes: Vec<u8>,
}

/// All canaries of a run.
#[derive(Debug)]
pub struct Canaries {
    memory: DriverMemory,
    stretches: Vec<Stretch>,
    /// First byte and buffers of each pool.
    pools: Vec<u64>,
}

/// A ring: where, and how many bytes.
#[derive(Clone, Copy, Debug)]
pub struct RingPlace {
    /// First byte.
    pub iova: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Where a port's receive ring and transmit ring are.
pub fn rings(port: &Port) -> [RingPlace; 2] {
    let registers = port.registers();
    let place = |low, high, len| RingPlace {
        iova: u64::from(registers.peek(low)) | u64::from(registers.peek(high)) << 32,
        bytes: u64::from(registers.peek(len)),
    };
    [
        place(r::RDBAL(0), r::RDBAH(0), r::RDLEN(0)),
        place(r::TDBAL(0), r::TDBAH(0), r::TDLEN(0)),
    ]
}

impl Canaries {
    /// Plants them in all that is mapped. Nothing may be under way.
    ///
    /// # Errors
    /// If the memory is not laid out as it should be.
    pub fn plant(ports: &[Port]) -> Result<Self> {
        let memory = ports[0].driver_memory();
        let rings: Vec<_> = ports.iter().flat_map(rings).collect();
        let mut canaries = Self {
            memory,
            stretches: Vec::new(),
            pools: Vec::new(),
        };
        for (iova, size) in canaries.memory.maps() {
            let end = iova + size;
            if let Some(nth) = rings.iter().position(|ring| ring.iova == iova) {
                let kind = ["receive", "transmit"][nth % 2];
                let what = format!("behind the {kind} ring of port {}", nth / 2);
                canaries.fill(what, iova + rings[nth].bytes, end)?;
                continue;
            }
            ensure!(
                size >= POOL_CAPACITY * BUFFER,
                "a map of {size:#x} bytes at {iova:#x} is neither ring nor pool"
            );
            let pool = canaries.pools.len();
            canaries.pools.push(iova);
            for nth in 0..POOL_CAPACITY {
                let at = iova + nth * BUFFER;
                let buffer = format!("of buffer {nth} of pool {pool}");
                canaries.keep(format!("metadata {buffer}"), at, FIXED_METADATA)?;
                canaries.fill(format!("headroom {buffer}"), at + METADATA, at + DATA)?;
                canaries.fill(
                    format!("room behind the data {buffer}"),
                    at + BEHIND_FRAME,
                    at + BUFFER,
                )?;
            }
            canaries.fill(
                format!("behind pool {pool}"),
                iova + POOL_CAPACITY * BUFFER,
                end,
            )?;
        }
        ensure!(
            rings.len() == 4 && canaries.pools.len() == 3,
            "{rings:x?}, {} pools",
            canaries.pools.len()
        );
        Ok(canaries)
    }

    fn fill(&mut self, what: String, iova: u64, end: u64) -> Result<()> {
        let bytes = vec![PATTERN; usize::try_from(end - iova)?];
        ensure!(self.memory.write(iova, &bytes), "{what}: not writable");
        self.stretches.push(Stretch { what, iova, bytes });
        Ok(())
    }

    fn keep(&mut self, what: String, iova: u64, len: u64) -> Result<()> {
        let mut bytes = vec![0; usize::try_from(len)?];
        ensure!(self.memory.read(iova, &mut bytes), "{what}: not readable");
        self.stretches.push(Stretch { what, iova, bytes });
        Ok(())
    }

    /// Takes everything as it is now for what it should be: the device has changed it, which is the
    /// hazard and not yet what comes of it.
    pub fn accept(&mut self) {
        for stretch in &mut self.stretches {
            // It was readable when it was planted, and what is mapped stays.
            let _ = self.memory.read(stretch.iova, &mut stretch.bytes);
        }
    }

    /// First byte of each pool: port 0's, port 1's, and one that no device uses.
    pub fn pools(&self) -> &[u64] {
        &self.pools
    }

    /// What was changed: in words, the first few, and how many stretches in all.
    pub fn damage(&self) -> (Vec<String>, usize) {
        let mut damaged = Vec::new();
        for stretch in &self.stretches {
            let mut now = vec![0; stretch.bytes.len()];
            if self.memory.read(stretch.iova, &mut now) && now != stretch.bytes {
                let changed = now.iter().zip(&stretch.bytes).filter(|(a, b)| a != b);
                damaged.push(format!("{} ({} bytes)", stretch.what, changed.count()));
            }
        }
        let count = damaged.len();
        damaged.truncate(4);
        (damaged, count)
    }
}
