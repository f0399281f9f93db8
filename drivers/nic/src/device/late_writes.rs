//! The fault `relaxed-ordering`: writes to the driver's memory that arrive late.
//!
//! A write on PCI Express with the attribute "relaxed ordering" may overtake the writes before it
//! (PCI Express Base Specification, 2.4.1). The driver sees the earlier writes late. The card sets
//! the attribute where DCA_TXCTRL and DCA_RXCTRL say so:
//!
//! - DCA_TXCTRL.DESC_WRO_EN: a descriptor that the card wrote back can show DD before the descriptors
//!   in front of it. A driver that takes one DD as proof for them reuses them too early. Their
//!   write-backs then destroy the new descriptors.
//! - DCA_RXCTRL.DATA_WRO_EN: a descriptor can show DD before its packet is there. The specification
//!   forbids that, because the descriptor is written without the attribute. Some root complexes do
//!   it nevertheless, as the quirks of Linux's PCI code list.
//!
//! A late write arrives at the start of the next round. The choice of late writes is random, and the
//! same in every run.

/// The late bytes of a packet.
#[derive(Clone, Debug)]
pub(crate) struct LatePacket {
    pub(crate) queue: u32,
    pub(crate) iova: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The late write-back of a transmit descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateWriteBack {
    pub(crate) queue: u32,
    pub(crate) iova: u64,
}

/// The writes that have not arrived.
#[derive(Clone, Debug)]
pub(crate) struct LateWrites {
    packets: Vec<LatePacket>,
    write_backs: Vec<LateWriteBack>,
    random: u64,
}

impl Default for LateWrites {
    fn default() -> Self {
        Self {
            packets: Vec::new(),
            write_backs: Vec::new(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl LateWrites {
    /// Whether the next write is late: every second one, at random.
    fn next_is_late(&mut self) -> bool {
        // Marsaglia's xorshift64.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 63 == 1
    }

    /// Keeps the bytes of a packet for later. Returns false if they are not late.
    pub(crate) fn delay_packet(&mut self, queue: u32, iova: u64, bytes: &[u8]) -> bool {
        let late = self.next_is_late();
        if late {
            let bytes = bytes.to_vec();
            self.packets.push(LatePacket { queue, iova, bytes });
        }
        late
    }

    /// Keeps the write-back of a transmit descriptor for later. Returns false if it is not late.
    pub(crate) fn delay_write_back(&mut self, queue: u32, iova: u64) -> bool {
        let late = self.next_is_late();
        if late {
            self.write_backs.push(LateWriteBack { queue, iova });
        }
        late
    }

    /// Takes all late writes: they arrive now, or a reset of the card loses them.
    pub(crate) fn take(&mut self) -> (Vec<LatePacket>, Vec<LateWriteBack>) {
        let packets = std::mem::take(&mut self.packets);
        (packets, std::mem::take(&mut self.write_backs))
    }
}
