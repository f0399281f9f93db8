//! The card's counters against each other, and against the frames that the self-test counted.

use std::collections::BTreeMap;

use ixgbe::driver::device::Stats;
use ixgbe::error::Result;
use nic::registers as r;

use crate::finding::Finding;
use crate::ports::{named, Opened, Ports, CRC_LEN};

/// Counters that stay 0 on a good link without overload.
const ERRORS: [(&str, u32); 11] = named! {
    CRCERRS, ILLERRC, ERRBC, RLEC, RUC, RFC, ROC, RJC, MPC(0), QPRDC(0), MLFC
};

/// What each of these counters means if it is not 0.
const MEANINGS: [&str; ERRORS.len()] = [
    "frames with a wrong CRC: cable, module or connector",
    "illegal symbols: cable, module or connector",
    "bytes with errors: cable, module or connector",
    "frames whose length field is wrong",
    "frames that were too short",
    "fragments",
    "frames that were too long",
    "frames that were too long, with a wrong CRC",
    "frames that the packet buffer had no room for: PCIe or memory is slow",
    "frames for which the ring had no descriptor: the driver is slow",
    "local faults of the link",
];

/// Registers for the report, which say in which state the port is. Reading them changes nothing.
const STATE: [(&str, u32); 16] = named! {
    CTRL, STATUS, CTRL_EXT, ESDP, AUTOC, AUTOC2, LINKS, HLREG0, RXCTRL, DMATXCTL, FCTRL,
    RXDCTL(0), SRRCTL(0), TXDCTL(0), RXPBSIZE(0), DCA_TXCTRL(0)
};

/// DPDK reads QPTC(0) here, the drivers where the datasheet has it.
const QPTC_OF_DPDK: u32 = 0x06030;

/// What one port counted.
struct Read {
    stats: Stats,
    errors: [u32; ERRORS.len()],
    /// QPTC(0), and what DPDK takes for it.
    sent: [u32; 2],
}

/// Reads the error counters of both ports, which sets them to 0.
pub(crate) fn clear_errors(opened: &Opened) -> Result<()> {
    (0..2).try_for_each(|port| read_errors(opened, port).map(drop))
}

fn read_errors(opened: &Opened, port: usize) -> Result<[u32; ERRORS.len()]> {
    let mut counts = [0; ERRORS.len()];
    for (count, (_, offset)) in counts.iter_mut().zip(ERRORS) {
        *count = opened.register(port, offset)?;
    }
    Ok(counts)
}

/// Reads the registers for the report. A register that cannot be read is left out.
pub(crate) fn state(opened: &Opened) -> [BTreeMap<&'static str, String>; 2] {
    [0, 1].map(|port| {
        let values = STATE.iter().filter_map(|(name, offset)| {
            let value = opened.register(port, *offset).ok()?;
            Some((*name, format!("{value:#010x}")))
        });
        values.collect()
    })
}

/// Compares the counters of both ports with what was sent and received. Call it once all frames have
/// arrived.
pub(crate) fn check(ports: &mut Ports<'_>) -> Finding {
    let counted = ports.counted;
    let mut read = |port: usize| -> Result<Read> {
        // Before the driver's own look, which clears QPTC.
        let sent = |offset| ports.opened.register(port, offset);
        Ok(Read {
            sent: [sent(r::QPTC(0))?, sent(QPTC_OF_DPDK)?],
            stats: ports.stats(port)?,
            errors: read_errors(ports.opened, port)?,
        })
    };
    match (read(0), read(1)) {
        (Ok(a), Ok(b)) => judge(&[a, b], &counted),
        (Err(why), _) | (_, Err(why)) => Finding::fail("counters", why),
    }
}

fn judge(ports: &[Read; 2], counted: &[Stats; 2]) -> Finding {
    let mut wrong = Vec::new();
    for (port, (read, counted)) in ports.iter().zip(counted).enumerate() {
        let mut expected = *counted;
        if !counts_crc(&read.stats, counted) {
            expected.rx_bytes = read.stats.rx_bytes;
        }
        let card = by_name(&read.stats);
        for ((name, what, card), (_, _, driver)) in card.into_iter().zip(by_name(&expected)) {
            if card != driver {
                wrong.push(format!(
                    "port {port}: {name} is {card}, the driver counts {driver} {what}"
                ));
            }
        }
    }
    for (from, to) in [(0, 1), (1, 0)] {
        let (sent, arrived) = (ports[from].stats.tx_packets, ports[to].stats.rx_packets);
        if sent != arrived {
            wrong.push(format!(
                "port {from} put {sent} frames on the wire, port {to} took {arrived} from it"
            ));
        }
    }
    for (port, (read, counted)) in ports.iter().zip(counted).enumerate() {
        let ([ours, of_dpdk], sent) = (read.sent, counted.tx_packets);
        if u64::from(ours) != sent {
            wrong.push(format!(
                "port {port}: QPTC(0) is {ours} and at DPDK's address {QPTC_OF_DPDK:#07x} {of_dpdk}, the \
                 driver counts {sent} frames sent"
            ));
        }
        for ((count, (name, _)), meaning) in read.errors.iter().zip(ERRORS).zip(MEANINGS) {
            if *count > 0 {
                wrong.push(format!("port {port}: {name} is {count}: {meaning}"));
            }
        }
    }
    let with_crc = [0, 1].map(|port| counts_crc(&ports[port].stats, &counted[port]));
    let right = format!(
        "GPTC, QPRC, GOTC, QBRC equal the frames and bytes, QBRC {} the CRC; {} error counters are 0",
        if with_crc[0] { "with" } else { "without" },
        ERRORS.len()
    );
    let errors = |read: &Read| -> BTreeMap<_, _> {
        let names = ERRORS.iter().map(|(name, _)| *name);
        names.zip(read.errors).collect()
    };
    let counters =
        |read: &Read| BTreeMap::from(by_name(&read.stats).map(|(name, _, count)| (name, count)));
    Finding::unless(&wrong, "counters", right)
        .figure("counters", ports.each_ref().map(counters))
        .figure("received_bytes_with_crc", with_crc)
        .figure("errors", ports.each_ref().map(errors))
}

/// The counters with the card's names, and what they count.
fn by_name(stats: &Stats) -> [(&'static str, &'static str, u64); 4] {
    [
        ("GPTC", "frames sent", stats.tx_packets),
        ("GOTC", "bytes sent", stats.tx_bytes),
        ("QPRC", "frames received", stats.rx_packets),
        ("QBRC", "bytes received", stats.rx_bytes),
    ]
}

/// Whether QBRC counts the CRC of frames, of which the card strips it. Both are right.
fn counts_crc(stats: &Stats, counted: &Stats) -> bool {
    stats.rx_bytes != counted.rx_bytes - CRC_LEN * counted.rx_packets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Grade;

    #[test]
    fn a_difference_says_where_the_frames_went() {
        let counted = Stats {
            rx_packets: 10,
            rx_bytes: 640,
            tx_packets: 10,
            tx_bytes: 640,
        };
        type Change = fn(&mut [Read; 2]);
        let cases: [(Change, &str); 7] = [
            (|_| (), "GPTC, QPRC, GOTC, QBRC equal"),
            // Some cards count bytes without the CRC.
            (|it| it[0].stats.rx_bytes = 600, "QBRC without"),
            (
                |it| it[0].stats.rx_bytes = 596,
                "QBRC is 596, the driver counts 640",
            ),
            (
                |it| it[0].stats.tx_bytes = 644,
                "GOTC is 644, the driver counts 640",
            ),
            (
                |it| it[1].stats.rx_packets = 9,
                "port 1: QPRC is 9, the driver counts 10 frames received\n\
                 port 0 put 10 frames on the wire, port 1 took 9 from it",
            ),
            (
                |it| it[1].sent = [0, 10],
                "is 0 and at DPDK's address 0x06030 10, the",
            ),
            (|it| it[1].errors[5] = 3, "port 1: RFC is 3: fragments"),
        ];
        for (change, says) in cases {
            let read = || Read {
                stats: counted,
                errors: [0; ERRORS.len()],
                sent: [10, 0],
            };
            let mut ports = [read(), read()];
            change(&mut ports);
            let found = judge(&ports, &[counted; 2]);
            assert!(found.text.contains(says), "{found}");
            let failed = found.outcome == Grade::Fail;
            assert_eq!(failed, found.text.starts_with("port"), "{found}");
        }
    }
}
