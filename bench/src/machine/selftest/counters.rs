//! The card's counters against each other, and against the frames that the self-test counted.

use std::collections::BTreeMap;

use ixgbe::driver::device::Stats;
use ixgbe::error::Result;
use nic::registers as r;

use super::finding::Finding;
use super::ports::{named, Counted, Opened, Ports, CRC_LEN};

/// Counters that stay 0 on a good link without overload.
const ERRORS: [(&str, u32); 11] = named! {
    CRCERRS, ILLERRC, ERRBC, RLEC, RUC, RFC, ROC, RJC, MPC(0), QPRDC(0), MLFC
};

/// What one of these counters means if it is not 0.
fn meaning(counter: &str) -> &'static str {
    match counter {
        "CRCERRS" => "frames with a wrong CRC: cable, module or connector",
        "ILLERRC" => "illegal symbols: cable, module or connector",
        "ERRBC" => "bytes with errors: cable, module or connector",
        "RLEC" => "frames whose length field is wrong",
        "RUC" => "frames that were too short",
        "RFC" => "fragments",
        "ROC" => "frames that were too long",
        "RJC" => "frames that were too long, with a wrong CRC",
        "MPC(0)" => "frames that the packet buffer had no room for: PCIe or memory is slow",
        "QPRDC(0)" => "frames for which the ring had no descriptor: the driver is slow",
        _ => "local faults of the link",
    }
}

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
    errors: BTreeMap<&'static str, u32>,
    /// QPTC(0), and what DPDK takes for it.
    sent: [u32; 2],
}

/// Reads the error counters of both ports, which sets them to 0.
pub(super) fn clear_errors(opened: &Opened) -> Result<()> {
    (0..2).try_for_each(|port| read_errors(opened, port).map(drop))
}

fn read_errors(opened: &Opened, port: usize) -> Result<BTreeMap<&'static str, u32>> {
    let read = |(name, offset)| Ok((name, opened.register(port, offset)?));
    ERRORS.into_iter().map(read).collect()
}

/// Reads the registers for the report. A register that cannot be read is left out.
pub(super) fn state(opened: &Opened) -> [BTreeMap<&'static str, String>; 2] {
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
pub(super) fn check(ports: &mut Ports<'_>) -> Finding {
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

fn judge(ports: &[Read; 2], counted: &[Counted; 2]) -> Finding {
    let mut wrong = Vec::new();
    for (port, (read, counted)) in ports.iter().zip(counted).enumerate() {
        wrong.extend(differences(port, &read.stats, counted));
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
        let ([ours, of_dpdk], sent) = (read.sent, counted.sent);
        if u64::from(ours) != sent {
            wrong.push(format!(
                "port {port}: QPTC(0) is {ours} and at DPDK's address {QPTC_OF_DPDK:#07x} {of_dpdk}, the \
                 driver counts {sent} frames sent"
            ));
        }
        let errors = read.errors.iter().filter(|(_, count)| **count > 0);
        wrong.extend(
            errors
                .map(|(name, count)| format!("port {port}: {name} is {count}: {}", meaning(name))),
        );
    }
    let with_crc = [0, 1].map(|port| counts_crc(&ports[port].stats, &counted[port]));
    let right = format!(
        "GPTC, QPRC, GOTC, QBRC equal the frames and bytes, QBRC {} the CRC; {} error counters are 0",
        if with_crc[0] { "with" } else { "without" },
        ERRORS.len()
    );
    let names = |read: &Read| {
        BTreeMap::from([
            ("GPTC", read.stats.tx_packets),
            ("QPRC", read.stats.rx_packets),
            ("GOTC", read.stats.tx_bytes),
            ("QBRC", read.stats.rx_bytes),
        ])
    };
    Finding::unless(&wrong, "counters", right)
        .figure("counters", ports.each_ref().map(names))
        .figure("received_bytes_with_crc", with_crc)
        .figure("errors", ports.each_ref().map(|read| &read.errors))
}

/// Whether QBRC counts the CRC of frames, of which the card strips it. Both are right.
fn counts_crc(stats: &Stats, counted: &Counted) -> bool {
    stats.rx_bytes != counted.received_bytes - CRC_LEN * counted.received
}

/// The counters of a port that differ from what was counted.
fn differences(port: usize, stats: &Stats, counted: &Counted) -> Vec<String> {
    let received_bytes = match counts_crc(stats, counted) {
        true => counted.received_bytes,
        false => stats.rx_bytes,
    };
    let rows = [
        ("GPTC", "frames sent", stats.tx_packets, counted.sent),
        ("GOTC", "bytes sent", stats.tx_bytes, counted.sent_bytes),
        (
            "QPRC",
            "frames received",
            stats.rx_packets,
            counted.received,
        ),
        ("QBRC", "bytes received", stats.rx_bytes, received_bytes),
    ];
    let differ = rows
        .into_iter()
        .filter(|(_, _, card, driver)| card != driver);
    let text = |(name, what, card, driver)| {
        format!("port {port}: {name} is {card}, the driver counts {driver} {what}")
    };
    differ.map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::selftest::finding::Grade;

    #[test]
    fn a_difference_says_where_the_frames_went() {
        type Change = fn(&mut [Read; 2]);
        let cases: [(Change, &str); 7] = [
            (|_| (), "GPTC, QPRC, GOTC, QBRC equal"),
            // Some cards count bytes without the CRC.
            (|ports| ports[0].stats.rx_bytes = 600, "QBRC without"),
            (
                |ports| ports[0].stats.rx_bytes = 596,
                "port 0: QBRC is 596, the driver counts 640",
            ),
            (
                |ports| ports[0].stats.tx_bytes = 644,
                "port 0: GOTC is 644, the driver counts 640",
            ),
            (
                |ports| ports[1].stats.rx_packets = 9,
                "port 1: QPRC is 9, the driver counts 10 frames received\n\
                 port 0 put 10 frames on the wire, port 1 took 9 from it",
            ),
            (
                |ports| ports[1].sent = [0, 10],
                "is 0 and at DPDK's address 0x06030 10, the driver",
            ),
            (
                |ports| ports[1].errors = [("RFC", 3)].into(),
                "port 1: RFC is 3: fragments",
            ),
        ];
        for (change, says) in cases {
            let (packets, bytes) = (10, 640);
            let read = || Read {
                stats: Stats {
                    rx_packets: packets,
                    rx_bytes: bytes,
                    tx_packets: packets,
                    tx_bytes: bytes,
                },
                errors: BTreeMap::new(),
                sent: [10, 0],
            };
            let counted = Counted {
                sent: packets,
                sent_bytes: bytes,
                received: packets,
                received_bytes: bytes,
            };
            let mut ports = [read(), read()];
            change(&mut ports);
            let found = judge(&ports, &[counted; 2]);
            assert!(found.text.contains(says), "{found}");
            assert_eq!(
                found.outcome == Grade::Fail,
                found.text.starts_with("port"),
                "{found}"
            );
        }
    }
}
