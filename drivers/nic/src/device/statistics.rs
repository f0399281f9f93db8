//! The statistics registers. The data path counts a batch of frames in private memory, then adds the
//! sums to the registers.
//!
//! The counters of the queues lie in pages that a driver may map, where a read clears nothing. There a read of
//! QBTC, which drivers read last and which is trapped, clears them. They change only when the driver reads
//! another counter by a message, so that nothing is lost between a read in the pages and that of QBTC.

use crate::config::QUEUES;
use crate::device::filter::Kind;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// Bytes of the CRC that every frame carries on the wire.
pub(crate) const CRC_LEN: u64 = 4;

/// Number of size classes of frames. Sizes include the CRC.
const CLASSES: usize = 6;

#[inline(always)]
fn class(wire_len: u64) -> usize {
    match wire_len {
        0..=64 => 0,
        65..=127 => 1,
        128..=255 => 2,
        256..=511 => 3,
        512..=1023 => 4,
        _ => 5,
    }
}

#[rustfmt::skip]
const RX_CLASSES: [u32; CLASSES] = [r::PRC64, r::PRC127, r::PRC255, r::PRC511, r::PRC1023, r::PRC1522];
#[rustfmt::skip]
const TX_CLASSES: [u32; CLASSES] = [r::PTC64, r::PTC127, r::PTC255, r::PTC511, r::PTC1023, r::PTC1522];

/// The counts of one batch of frames. Bytes include the CRC.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    port: PortCounts,
    queues: QueueCounts,
}

#[derive(Clone, Debug, Default)]
struct PortCounts {
    received: u64,
    received_bytes: u64,
    received_classes: [u64; CLASSES],
    received_broadcast: u64,
    received_multicast: u64,
    seen: u64,
    seen_bytes: u64,
    to_host: u64,
    missed: u64,
    oversize: u64,
    undersize: u64,
    sent: u64,
    sent_bytes: u64,
    sent_classes: [u64; CLASSES],
    sent_broadcast: u64,
    sent_multicast: u64,
}

/// The counts of each queue.
#[derive(Clone, Debug, Default)]
struct QueueCounts {
    received: [u64; QUEUES],
    received_bytes: [u64; QUEUES],
    dropped: [u64; QUEUES],
    sent: [u64; QUEUES],
    sent_bytes: [u64; QUEUES],
}

impl Batch {
    /// Counts frames from the wire, accepted or not.
    pub(crate) fn seen(&mut self, frames: u64, wire_bytes: u64) {
        self.port.seen += frames;
        self.port.seen_bytes += wire_bytes;
    }

    /// Counts frames of one length that passed the filters, delivered or not.
    #[inline(always)]
    pub(crate) fn received(&mut self, frames: u64, wire_len: u64, kind: Kind) {
        self.port.received += frames;
        self.port.received_bytes += frames * wire_len;
        self.port.received_classes[class(wire_len)] += frames;
        match kind {
            Kind::Unicast => {}
            Kind::Multicast => self.port.received_multicast += frames,
            Kind::Broadcast => self.port.received_broadcast += frames,
        }
    }

    /// Counts frames that the driver gets.
    pub(crate) fn delivered(&mut self, queue: usize, frames: u64, wire_bytes: u64) {
        self.queues.received[queue] += frames;
        self.queues.received_bytes[queue] += wire_bytes;
        self.port.to_host += frames;
    }

    /// Counts frames that found no descriptor in their queue.
    pub(crate) fn dropped(&mut self, queue: usize, frames: u64) {
        self.queues.dropped[queue] += frames;
    }

    /// Counts frames that found no room in the packet buffer.
    pub(crate) fn missed(&mut self, frames: u64) {
        self.port.missed += frames;
    }

    pub(crate) fn oversize(&mut self) {
        self.port.oversize += 1;
    }

    pub(crate) fn undersize(&mut self) {
        self.port.undersize += 1;
    }

    /// Counts sent frames of one length and kind.
    pub(crate) fn sent(
        &mut self,
        queue: usize,
        frames: u64,
        wire_len: u64,
        first_byte: u8,
        broadcast: bool,
    ) {
        self.port.sent += frames;
        self.port.sent_bytes += frames * wire_len;
        self.port.sent_classes[class(wire_len)] += frames;
        if first_byte & 1 == 1 {
            self.port.sent_broadcast += frames * u64::from(broadcast);
            self.port.sent_multicast += frames * u64::from(!broadcast);
        }
        self.queues.sent[queue] += frames;
        self.queues.sent_bytes[queue] += frames * wire_len;
    }

    /// Bytes sent so far, including the CRC.
    #[inline(always)]
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.port.sent_bytes
    }

    /// Adds the counts to the registers and counts from 0 again, but keeps those of the queues.
    /// `without_crc` leaves the CRC out of GORC if the card strips it.
    pub(crate) fn move_to(&mut self, registers: &RegisterFile, without_crc: bool) {
        let PortCounts {
            seen,
            to_host,
            sent,
            ..
        } = self.port;
        if seen + to_host + sent == 0 {
            return;
        }
        let it = std::mem::take(&mut self.port);
        let count = |(address, more): (u32, u64)| {
            if more > 0 {
                registers.count(address, more);
            }
        };
        if seen + to_host > 0 {
            let bytes = it.received_bytes - it.received * stripped(registers, without_crc);
            registers.count_wide(r::TORL, r::TORH, it.seen_bytes);
            registers.count_wide(r::GORCL, r::GORCH, bytes);
            let counts = [
                (r::TPR, seen),
                (r::GPRC, it.received),
                (r::BPRC, it.received_broadcast),
                (r::MPRC, it.received_multicast),
                (r::RXDGPC, to_host),
                (r::MPC(0), it.missed),
                (r::ROC, it.oversize),
                (r::RUC, it.undersize),
            ];
            counts.into_iter().for_each(count);
            RX_CLASSES
                .into_iter()
                .zip(it.received_classes)
                .for_each(count);
        }
        if sent > 0 {
            registers.count_wide(r::GOTCL, r::GOTCH, it.sent_bytes);
            let counts = [
                (r::TPT, sent),
                (r::GPTC, sent),
                (r::BPTC, it.sent_broadcast),
                (r::MPTC, it.sent_multicast),
                (r::TXDGPC, sent),
            ];
            counts.into_iter().for_each(count);
            TX_CLASSES.into_iter().zip(it.sent_classes).for_each(count);
        }
    }

    /// Adds the counts of the queues to the registers, and counts from 0 again.
    pub(crate) fn move_queues_to(&mut self, registers: &RegisterFile, without_crc: bool) {
        let queues = std::mem::take(&mut self.queues);
        let stripped = stripped(registers, without_crc);
        for queue in 0..QUEUES {
            let received = queues.received[queue];
            let n = counter_of(registers, r::RQSMR, queue);
            registers.count(r::QPRDC(n), queues.dropped[queue]);
            registers.count(r::QPRC(n), received);
            let bytes = queues.received_bytes[queue] - received * stripped;
            registers.count_wide(r::QBRC_L(n), r::QBRC_H(n), bytes);
            let n = counter_of(registers, r::TQSM, queue);
            registers.count(r::QPTC(n), queues.sent[queue]);
            registers.count_wide(r::QBTC_L(n), r::QBTC_H(n), queues.sent_bytes[queue]);
        }
    }
}

/// Bytes of a received frame that GORC and QBRC do not count.
fn stripped(registers: &RegisterFile, without_crc: bool) -> u64 {
    let strips = registers.get(r::HLREG0) & r::HLREG0_RXCRCSTRP != 0;
    u64::from(without_crc && strips) * CRC_LEN
}

/// The counter of a queue, 0 to 15. Every queue has counter 0 unless the driver chooses another.
fn counter_of(registers: &RegisterFile, map: fn(u32) -> u32, queue: usize) -> u32 {
    registers.get(map(queue as u32 / 4)) >> (8 * (queue % 4)) & 0xf
}

/// Clears those statistics of a queue that lie in shared pages, where reading clears nothing. Drivers
/// that add them up (DPDK, Linux) read QBTC next, which is trapped: what the pages show has been read.
pub(crate) fn forget_read_counts(registers: &RegisterFile, queue: u32) {
    let counts = [r::QPRC, r::QPRDC, r::QPTC, r::QBRC_L, r::QBRC_H];
    for count in counts {
        registers.set(count(queue), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    #[test]
    fn a_batch_ends_up_in_the_registers() {
        let registers = RegisterFile::new(0, family_of(0x10fb).unwrap()).unwrap();
        registers.set(r::RQSMR(0), 0x0302_0100);
        registers.set(r::TQSM(1), 0x0706_0504);
        let mut batch = Batch::default();
        batch.seen(4, 4 * 64);
        batch.received(3, 64, Kind::Unicast);
        batch.received(1, 1518, Kind::Broadcast);
        batch.delivered(2, 3, 192);
        batch.dropped(1, 1);
        batch.sent(5, 1, 64, 0, false);
        batch.sent(5, 1, 128, 0xff, true);
        let mut again = batch.clone();
        for batch in [&mut batch, &mut again] {
            batch.move_to(&registers, false);
            assert_eq!(registers.get(r::QPRC(2)), 0, "the queues come later");
        }
        for mut batch in [batch, again] {
            batch.move_queues_to(&registers, false);
            batch.move_queues_to(&registers, false);
        }
        let read = |address| registers.read(address);
        assert_eq!((read(r::GPRC), read(r::GORCL)), (8, 2 * (3 * 64 + 1518)));
        assert_eq!((read(r::PRC64), read(r::PRC1522), read(r::BPRC)), (6, 2, 2));
        assert_eq!(
            (read(r::QPRC(2)), read(r::QBRC_L(2)), read(r::QPRDC(1))),
            (6, 384, 2)
        );
        assert_eq!((read(r::GPTC), read(r::GOTCL), read(r::BPTC)), (4, 384, 2));
        assert_eq!(
            (read(r::PTC64), read(r::PTC255), read(r::QPTC(5))),
            (2, 2, 4)
        );
        assert_eq!(read(r::GPRC), 0);
    }

    #[test]
    fn a_card_may_leave_the_stripped_crc_out() {
        let registers = RegisterFile::new(0, family_of(0x10fb).unwrap()).unwrap();
        for (strip, bytes) in [(r::HLREG0_RXCRCSTRP, 60), (0, 64)] {
            registers.change(r::HLREG0, strip, r::HLREG0_RXCRCSTRP & !strip);
            let mut batch = Batch::default();
            batch.seen(1, 64);
            batch.received(1, 64, Kind::Unicast);
            batch.delivered(0, 1, 64);
            batch.move_to(&registers, true);
            batch.move_queues_to(&registers, true);
            let read = [r::GORCL, r::QBRC_L(0), r::TORL].map(|address| registers.read(address));
            assert_eq!(read, [bytes, bytes, 64]);
        }
    }
}
