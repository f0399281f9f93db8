//! The order of the card's writes to the driver's memory: which are late, and when they arrive.

use crate::device::card::Device;
use crate::device::late_writes::{LatePacket, LateWriteBack};
use crate::device::queues::Queue;
use crate::device::registers as r;
use crate::device::rx::{write_packet, Dma};

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
            budget: &mut self.budget,
        };
        for LatePacket { queue, iova, bytes } in packets {
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
