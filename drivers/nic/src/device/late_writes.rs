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

use crate::device::card::Device;
use crate::device::queues::Queue;
use crate::device::registers as r;
use crate::device::rx::{write_packet, Dma};

/// The late write-back of a transmit descriptor.
#[derive(Clone, Copy, Debug)]
struct LateWriteBack {
    queue: usize,
    iova: u64,
}

/// The writes that have not arrived.
#[derive(Clone, Debug)]
pub(crate) struct LateWrites {
    packets: Vec<(u32, u64, Vec<u8>)>,
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
            self.packets.push((queue, iova, bytes.to_vec()));
        }
        late
    }

    /// Keeps the write-back of a transmit descriptor for later. Returns false if it is not late.
    pub(crate) fn delay_write_back(&mut self, queue: u32, iova: u64) -> bool {
        let late = self.next_is_late();
        if late {
            let queue = queue as usize;
            self.write_backs.push(LateWriteBack { queue, iova });
        }
        late
    }

    /// Loses all late writes: the card is reset.
    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.write_backs.clear();
    }
}

impl Device {
    /// Lets the late writes arrive. Then looks which queues write with relaxed ordering.
    #[cold]
    pub(crate) fn order_loosely(&mut self) {
        let packets = std::mem::take(&mut self.late.packets);
        let write_backs = std::mem::take(&mut self.late.write_backs);
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.dma_faults,
            late: &mut self.late,
        };
        for (queue, iova, bytes) in packets {
            write_packet(&mut dma, queue, iova, &bytes);
        }
        for write_back in write_backs {
            self.write_back_late(write_back);
        }
        self.choose_ordering();
    }

    /// Writes a descriptor back, and notes if the driver has handed it over again meanwhile.
    fn write_back_late(&mut self, LateWriteBack { queue, iova }: LateWriteBack) {
        let Ok([descriptor, ..]) = self.dma.descriptors(iova, 1) else {
            return;
        };
        descriptor.write_status(r::TXD_DD);
        let tail = self.registers.get(r::TDT(queue as u32));
        if matches!(&self.queues.tx[queue], Queue::On(tx) if tx.owns(iova, tail)) {
            self.note(format!(
                "transmit queue {queue}: the driver reused a descriptor before its write-back arrived; DCA_TXCTRL.DESC_WRO_EN lets a later write-back overtake it"
            ));
        }
    }

    /// Tells every queue whether its writes may arrive late.
    #[cold]
    pub(crate) fn choose_ordering(&mut self) {
        let fault = self.config.faults.relaxed_ordering;
        let set = |address, bit| fault && self.registers.get(address) & bit != 0;
        for (queue, rx) in (0_u32..).zip(&mut self.queues.rx) {
            if let Queue::On(rx) = rx {
                rx.set_relaxed(set(r::DCA_RXCTRL(queue), r::DCA_RXCTRL_DATA_WRO_EN));
            }
        }
        for (queue, tx) in (0_u32..).zip(&mut self.queues.tx) {
            if let Queue::On(tx) = tx {
                tx.set_relaxed(set(r::DCA_TXCTRL(queue), r::DCA_TXCTRL_DESC_WRO_EN));
            }
        }
    }
}
