//! A driver of one queue pair.

use std::path::Path;

use nic::registers as r;

use super::client::Client;
use super::memory::Memory;

/// Settings of a queue pair.
#[derive(Clone, Copy)]
pub struct Rings {
    pub queue: u32,
    pub rx_len: usize,
    pub tx_len: usize,
    pub drop_enable: bool,
    pub buffer_kb: u32,
    pub legacy: bool,
    /// The thresholds in TXDCTL.
    pub tx_thresholds: u32,
    /// Write the head back instead of descriptors.
    pub head_write_back: bool,
    /// Number of receive descriptors that the driver hands over at the start.
    pub rx_filled: usize,
}

impl Default for Rings {
    fn default() -> Self {
        Self {
            queue: 0,
            rx_len: 64,
            tx_len: 64,
            drop_enable: true,
            buffer_kb: 2,
            legacy: false,
            tx_thresholds: thresholds(32, 8, 0),
            head_write_back: false,
            rx_filled: 63,
        }
    }
}

impl Rings {
    /// The usual settings, after a change.
    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut rings = Self::default();
        change(&mut rings);
        rings
    }
}

/// The thresholds in TXDCTL.
pub fn thresholds(prefetch: u32, host: u32, write_back: u32) -> u32 {
    r::field(r::TXDCTL_PTHRESH, prefetch)
        | r::field(r::TXDCTL_HTHRESH, host)
        | r::field(r::TXDCTL_WTHRESH, write_back)
}

pub const IOVA: u64 = 0x1_0000_0000;
pub const BUFFER: usize = 2048;

const RX_RING: usize = 0;
pub const TX_RING: usize = 0x1_0000;
const HEAD: usize = 0x2_0000;
pub const RX_BUFFERS: usize = 0x4_0000;

/// A driver of one queue pair. Its memory holds the rings, a word for the head, the receive buffers
/// and the transmit buffers.
pub struct Driver {
    pub client: Client,
    pub memory: Memory,
    pub rings: Rings,
    rx_next: usize,
    rx_tail: usize,
    tx_next: usize,
}

impl Driver {
    /// Connects, starts the device in promiscuous mode with one queue pair, and looks at the link.
    pub fn start(path: &Path, rings: Rings) -> Self {
        let mut driver = Self::start_without_a_look(path, rings);
        super::links(&mut driver.client);
        driver
    }

    /// Does what [`Driver::start`] does, without a look at the link.
    pub fn start_without_a_look(path: &Path, rings: Rings) -> Self {
        let len = RX_BUFFERS + (rings.rx_len + rings.tx_len) * BUFFER;
        let memory = Memory::new(len.next_multiple_of(4096));
        let mut driver = Self {
            client: Client::connect(path),
            memory,
            rings,
            rx_next: 0,
            rx_tail: 0,
            tx_next: 0,
        };
        driver.map();
        driver.client.set_bus_master(true);
        driver
            .client
            .change(r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE | r::FCTRL_BAM, 0);
        driver.start_queue();
        driver.client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
        driver
    }

    pub fn map(&mut self) {
        let len = self.memory.len() as u64;
        self.client
            .dma_map(IOVA, len, 0, 3, Some(&self.memory.file))
            .unwrap();
    }

    pub fn start_queue(&mut self) {
        let (n, rings, client) = (self.rings.queue, self.rings, &mut self.client);
        let high = (IOVA >> 32) as u32;
        client.set(r::RDBAL(n), IOVA as u32 + RX_RING as u32);
        client.set(r::RDBAH(n), high);
        client.set(r::RDLEN(n), rings.rx_len as u32 * 16);
        client.set(r::RDH(n), 0);
        client.set(r::RDT(n), 0);
        let mut buffers = r::field(r::SRRCTL_BSIZEPACKET, rings.buffer_kb);
        if !rings.legacy {
            buffers |= r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER;
        }
        if rings.drop_enable {
            buffers |= r::SRRCTL_DROP_EN;
        }
        client.set(r::SRRCTL(n), buffers);
        client.change(r::RXDCTL(n), r::RXDCTL_ENABLE, 0);
        assert_ne!(client.get(r::RXDCTL(n)) & r::RXDCTL_ENABLE, 0);
        client.set(r::TDBAL(n), IOVA as u32 + TX_RING as u32);
        client.set(r::TDBAH(n), high);
        client.set(r::TDLEN(n), rings.tx_len as u32 * 16);
        client.set(r::TDH(n), 0);
        client.set(r::TDT(n), 0);
        if rings.head_write_back {
            let low = IOVA as u32 + HEAD as u32;
            client.set(r::TDWBAL(n), low | r::TDWBAL_HEAD_WB_EN);
            client.set(r::TDWBAH(n), high);
        }
        client.change(r::DMATXCTL, r::DMATXCTL_TE, 0);
        client.set(r::TXDCTL(n), rings.tx_thresholds | r::TXDCTL_ENABLE);
        (self.rx_next, self.rx_tail, self.tx_next) = (0, 0, 0);
        (0..rings.rx_len).for_each(|slot| self.arm(slot));
        self.give(rings.rx_filled);
    }

    fn rx_buffer(&self, slot: usize) -> usize {
        RX_BUFFERS + slot * BUFFER
    }

    pub fn tx_buffer(&self, slot: usize) -> usize {
        RX_BUFFERS + (self.rings.rx_len + slot) * BUFFER
    }

    fn arm(&self, slot: usize) {
        self.memory
            .write_u64(RX_RING + slot * 16, IOVA + self.rx_buffer(slot) as u64);
        self.memory.write_u64(RX_RING + slot * 16 + 8, 0);
    }

    /// Hands over more receive descriptors.
    pub fn give(&mut self, count: usize) {
        self.rx_tail = (self.rx_tail + count) % self.rings.rx_len;
        self.client
            .set(r::RDT(self.rings.queue), self.rx_tail as u32);
    }

    /// The words of the receive descriptor in a slot.
    pub fn rx_descriptor(&self, slot: usize) -> [u64; 2] {
        [0, 8].map(|word| self.memory.read_u64(RX_RING + slot * 16 + word))
    }

    /// The words of the transmit descriptor in a slot.
    pub fn tx_descriptor(&self, slot: usize) -> [u64; 2] {
        [0, 8].map(|word| self.memory.read_u64(TX_RING + slot * 16 + word))
    }

    /// The head that the device has written to memory.
    pub fn written_head(&self) -> u32 {
        self.memory.read_u32(HEAD)
    }

    /// Whether the transmit descriptor in a slot is done.
    pub fn tx_done(&self, slot: usize) -> bool {
        self.tx_descriptor(slot)[1] & r::TXD_DD != 0
    }

    /// Takes a received frame of any number of descriptors out of the ring, and hands the
    /// descriptors over again.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let mut frame = Vec::new();
        loop {
            let slot = self.rx_next;
            let [_, status] = self.rx_descriptor(slot);
            // A legacy descriptor has length and status at other places.
            let (flags, len) = match self.rings.legacy.then_some(status) {
                Some(legacy) => (legacy >> 32, legacy & 0xffff),
                None => (status, r::field64_get(r::RXD_LENGTH, status)),
            };
            let len = len as usize;
            if flags & r::RXD_DD == 0 {
                assert!(frame.is_empty(), "half a frame");
                return None;
            }
            frame.extend(self.memory.bytes(self.rx_buffer(slot), len));
            self.arm(slot);
            self.rx_next = (slot + 1) % self.rings.rx_len;
            self.give(1);
            if flags & r::RXD_EOP != 0 {
                return Some(frame);
            }
        }
    }

    pub fn receive_all(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.receive()).collect()
    }

    /// Puts a transmit descriptor into the ring.
    pub fn post(&mut self, address: u64, command: u64) -> usize {
        let slot = self.tx_next;
        self.memory.write_u64(TX_RING + slot * 16, address);
        self.memory.write_u64(TX_RING + slot * 16 + 8, command);
        self.tx_next = (slot + 1) % self.rings.tx_len;
        slot
    }

    /// Hands the posted descriptors over to the device.
    pub fn ring_doorbell(&mut self) {
        self.client
            .set(r::TDT(self.rings.queue), self.tx_next as u32);
    }

    /// Posts frames of 60 bytes with these flags, and hands them over.
    pub fn transmit_small(&mut self, numbers: std::ops::Range<u8>, flags: u64) {
        for n in numbers {
            self.post_frame(&super::frame(60, n), flags);
        }
        self.ring_doorbell();
    }

    /// Forwards frames that another driver has received.
    pub fn forward(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            self.transmit(&super::touched(frame));
        }
    }

    /// Lets RSS give flows to queues; the four queues of `table` come in turn.
    pub fn spread(&mut self, table: u32, hashed: u32) {
        let client = &mut self.client;
        client.set(r::MRQC, r::MRQC_MRQE_RSS | hashed);
        (0..10).for_each(|n| client.set(r::RSSRK(n), (n + 1).wrapping_mul(0x9e37_79b9)));
        (0..32).for_each(|n| client.set(r::RETA(n), table));
    }

    /// Sends a frame in one descriptor, and returns the slot.
    pub fn transmit(&mut self, frame: &[u8]) -> usize {
        let slot = self.post_frame(frame, r::TXD_RS);
        self.ring_doorbell();
        slot
    }

    pub fn post_frame(&mut self, frame: &[u8], flags: u64) -> usize {
        let buffer = self.tx_buffer(self.tx_next);
        self.memory.write(buffer, frame);
        self.post(
            IOVA + buffer as u64,
            data_command(frame.len(), frame.len()) | r::TXD_EOP | flags,
        )
    }

    /// Brings the device to rest, as drivers should.
    pub fn stop(mut self) {
        let n = self.rings.queue;
        self.client.change(r::RXCTRL, 0, r::RXCTRL_RXEN);
        self.client.change(r::RXDCTL(n), 0, r::RXDCTL_ENABLE);
        self.client.change(r::TXDCTL(n), 0, r::TXDCTL_ENABLE);
        self.client.set(r::DMATXCTL, 0);
        self.client.change(r::CTRL, r::CTRL_MASTER_DISABLE, 0);
        assert_eq!(self.client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
        self.client.set_bus_master(false);
        let len = self.memory.len() as u64;
        self.client.dma_unmap(IOVA, len).unwrap();
    }
}

/// The second word of an advanced data descriptor, without EOP and RS.
pub fn data_command(len: usize, payload: usize) -> u64 {
    len as u64
        | r::TXD_DTYP_DATA
        | r::TXD_DEXT
        | r::TXD_IFCS
        | r::field64(r::TXD_PAYLEN, payload as u64)
}
