//! Receive side scaling (datasheet 7.1.2.8): the card divides flows among the RX queues.
#![forbid(unsafe_code)]

use crate::driver::device::Device;
use crate::driver::device_ids::Family;
use crate::driver::registers::{self as regs, field};
use crate::error::Result;

/// 7.1.2.8.1: the key has 40 bytes: 6d 5a 6d 5a... Its 16 bits repeat, so the hash stays the same if
/// source and destination change places (Woo and Park, "Scalable TCP Session Monitoring with Symmetric
/// Receive-side Scaling", 2012). Both directions of a flow then use the same queue.
const RSS_KEY_WORD: u32 = 0x5a6d_5a6d;

/// Entries of the redirection table in one register.
const RETA_ENTRIES: u32 = 4;

/// Four entries of the redirection table, from entry `first`: the queues in turn.
fn reta_entries(first: u32, queues: u32) -> u32 {
    field(regs::RETA_ENTRY0, first % queues)
        | field(regs::RETA_ENTRY1, (first + 1) % queues)
        | field(regs::RETA_ENTRY2, (first + 2) % queues)
        | field(regs::RETA_ENTRY3, (first + 3) % queues)
}

impl Device<'_> {
    /// Lets the card choose the RX queue of a packet by a hash of its addresses and ports. All packets
    /// of a flow, in both directions, use one queue. Packets that are not IP use queue 0. With one RX
    /// queue, RSS stays off.
    pub(crate) fn rss_init(&self) -> Result<()> {
        let queues = self.config.rx_queues;

        // The reset has turned RSS off: all packets go to queue 0.
        if queues == 1 {
            return Ok(());
        }
        for i in 0..regs::RSSRK_COUNT {
            self.registers.write(regs::RSSRK(i), RSS_KEY_WORD)?;
        }
        for i in 0..regs::RETA_COUNT {
            let entries = reta_entries(i * RETA_ENTRIES, queues);
            self.registers.write(regs::RETA(i), entries)?;
        }
        // The table of an X550 has 512 entries. RETA holds the first 128.
        if self.family == Family::X550 {
            for i in 0..regs::ERETA_COUNT {
                let entries = reta_entries(i * RETA_ENTRIES, queues);
                self.registers.write(regs::ERETA(i), entries)?;
            }
        }
        // 8.2.3.7.5: the hash takes the place of the fragment checksum in descriptors.
        self.registers.set(regs::RXCSUM, regs::RXCSUM_PCSD)?;
        // 4.6.11.3.4: without DCB and virtualization, RSS alone chooses the queue.
        self.registers.write(
            regs::MRQC,
            regs::MRQC_MRQE_RSS
                | regs::MRQC_RSS_TCP_IPV4
                | regs::MRQC_RSS_IPV4
                | regs::MRQC_RSS_IPV6
                | regs::MRQC_RSS_TCP_IPV6
                | regs::MRQC_RSS_UDP_IPV4
                | regs::MRQC_RSS_UDP_IPV6,
        )
    }
}
