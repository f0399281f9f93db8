//! The card's counters against each other, and against the frames that the self-test counted.

use std::collections::BTreeMap;

use nic::registers as r;

use super::finding::Finding;
use super::library::{PortStats, Ports};

/// Counters that stay 0 on a good link without overload, with what else they mean.
const ERRORS: [(&str, u32, &str); 11] = [
    (
        "CRCERRS",
        r::CRCERRS,
        "frames with a wrong CRC: cable, module or connector",
    ),
    (
        "ILLERRC",
        r::ILLERRC,
        "illegal symbols: cable, module or connector",
    ),
    (
        "ERRBC",
        r::ERRBC,
        "bytes with errors: cable, module or connector",
    ),
    ("RLEC", r::RLEC, "frames whose length field is wrong"),
    ("RUC", r::RUC, "frames that were too short"),
    ("RFC", r::RFC, "fragments"),
    ("ROC", r::ROC, "frames that were too long"),
    ("RJC", r::RJC, "frames that were too long, with a wrong CRC"),
    (
        "MPC(0)",
        r::MPC(0),
        "frames that the packet buffer had no room for: PCIe or memory is slow",
    ),
    (
        "QPRDC(0)",
        r::QPRDC(0),
        "frames for which the ring had no descriptor: the driver is slow",
    ),
    ("MLFC", r::MLFC, "local faults of the link"),
];

/// Registers for the report, which say in which state the port is. Reading them changes nothing.
const STATE: [(&str, u32); 16] = [
    ("CTRL", r::CTRL),
    ("STATUS", r::STATUS),
    ("CTRL_EXT", r::CTRL_EXT),
    ("ESDP", r::ESDP),
    ("AUTOC", r::AUTOC),
    ("AUTOC2", r::AUTOC2),
    ("LINKS", r::LINKS),
    ("HLREG0", r::HLREG0),
    ("RXCTRL", r::RXCTRL),
    ("DMATXCTL", r::DMATXCTL),
    ("FCTRL", r::FCTRL),
    ("RXDCTL(0)", r::RXDCTL(0)),
    ("SRRCTL(0)", r::SRRCTL(0)),
    ("TXDCTL(0)", r::TXDCTL(0)),
    ("RXPBSIZE(0)", r::RXPBSIZE(0)),
    ("DCA_TXCTRL(0)", r::DCA_TXCTRL(0)),
];

/// DPDK reads QPTC(0) here, the drivers where the datasheet has it.
const QPTC_OF_DPDK: u32 = 0x06030;

/// Bytes of the CRC. QBRC of some cards leaves out the CRC that the card strips.
const CRC_LEN: u64 = 4;

/// Frames and bytes of a port, as the self-test counted them. Bytes include the CRC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Frames that the driver took for sending.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that the driver handed out.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

/// Reads the error counters of both ports, which sets them to 0.
///
/// # Errors
/// The driver's message.
pub fn clear_errors(ports: &mut Ports) -> Result<(), String> {
    (0..2).try_for_each(|port| read_errors(ports, port).map(drop))
}

fn read_errors(ports: &mut Ports, port: u32) -> Result<BTreeMap<&'static str, u32>, String> {
    let read =
        |(name, offset, _): &(&'static str, u32, &str)| Ok((*name, ports.register(port, *offset)?));
    ERRORS.iter().map(read).collect()
}

/// Reads the registers for the report. A register that cannot be read is left out.
pub fn state(ports: &mut Ports) -> Vec<BTreeMap<&'static str, String>> {
    let read = |port| {
        let values = STATE.iter().filter_map(|(name, offset)| {
            let value = ports.register(port, *offset).ok()?;
            Some((*name, format!("{value:#010x}")))
        });
        values.collect()
    };
    (0..2).map(read).collect()
}

/// Compares the counters of both ports with what the self-test counted. Call it once all frames have
/// arrived.
pub fn check(ports: &mut Ports, counted: &[Counted; 2]) -> Finding {
    let mut read = |port: u32| {
        // Before the driver's own look, which clears QPTC.
        let sent = [r::QPTC(0), QPTC_OF_DPDK].map(|offset| ports.register(port, offset));
        Ok((ports.stats(port)?, read_errors(ports, port)?, sent))
    };
    let result: Result<Vec<_>, String> = (0..2).map(&mut read).collect();
    let ports = match result.as_deref() {
        Ok([a, b]) => [a, b],
        Ok(_) => return Finding::fail("counters", "a port has no counters"),
        Err(why) => return Finding::fail("counters", why.clone()),
    };
    let stats = ports.map(|(stats, ..)| *stats);
    let with_crc = [0, 1].map(|port: usize| counts_crc(&stats[port], &counted[port]));
    let mut wrong = differences(&stats, counted);
    for (port, (_, _, sent)) in ports.iter().enumerate() {
        wrong.extend(wrong_address(port, sent, counted[port].sent));
    }
    for (port, (_, errors, _)) in ports.iter().enumerate() {
        for (name, _, meaning) in &ERRORS {
            if let Some(count @ 1..) = errors.get(name) {
                wrong.push(format!("port {port}: {name} is {count}: {meaning}"));
            }
        }
    }
    let finding = match wrong.is_empty() {
        true => Finding::pass(
            "counters",
            format!(
                "GPTC, QPRC, GOTC, QBRC equal the frames and bytes, QBRC {} the CRC; {} error counters are 0",
                if with_crc[0] { "with" } else { "without" },
                ERRORS.len()
            ),
        ),
        false => Finding::fail("counters", wrong.join("\n")),
    };
    let names = |stats: PortStats| {
        BTreeMap::from([
            ("GPTC", stats.tx_packets),
            ("QPRC", stats.rx_packets),
            ("GOTC", stats.tx_bytes),
            ("QBRC", stats.rx_bytes),
        ])
    };
    finding
        .figure("counters", stats.map(names))
        .figure("received_bytes_with_crc", with_crc)
        .figure("errors", ports.map(|(_, errors, _)| errors.clone()))
}

/// Whether QBRC counts the CRC of frames, of which the card strips it. Both are right.
fn counts_crc(stats: &PortStats, counted: &Counted) -> bool {
    stats.rx_bytes != counted.received_bytes - CRC_LEN * counted.received
}

/// What is wrong if QPTC(0) does not count, and whether it does at DPDK's address.
fn wrong_address(port: usize, sent: &[Result<u32, String>; 2], counted: u64) -> Option<String> {
    let [ours, of_dpdk] = sent.each_ref().map(|value| match value {
        Ok(value) => value.to_string(),
        Err(why) => why.clone(),
    });
    (ours != counted.to_string()).then(|| {
        format!(
            "port {port}: QPTC(0) is {ours} and at DPDK's address {QPTC_OF_DPDK:#07x} {of_dpdk}, the driver \
             counts {counted} frames sent"
        )
    })
}

/// The counters that differ from what was counted, in words that say where frames went.
fn differences(stats: &[PortStats; 2], counted: &[Counted; 2]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (port, (stats, counted)) in stats.iter().zip(counted).enumerate() {
        let rows = [
            ("GPTC", "frames sent", stats.tx_packets, counted.sent),
            ("GOTC", "bytes sent", stats.tx_bytes, counted.sent_bytes),
            (
                "QPRC",
                "frames received",
                stats.rx_packets,
                counted.received,
            ),
            (
                "QBRC",
                "bytes received",
                stats.rx_bytes,
                counted.received_bytes
                    - if counts_crc(stats, counted) {
                        0
                    } else {
                        CRC_LEN * counted.received
                    },
            ),
        ];
        let differ = rows
            .into_iter()
            .filter(|(_, _, card, driver)| card != driver);
        wrong.extend(differ.map(|(name, what, card, driver)| {
            format!("port {port}: {name} is {card}, the driver counts {driver} {what}")
        }));
    }
    for (from, to) in [(0, 1), (1, 0)] {
        let (sent, arrived) = (stats[from].tx_packets, stats[to].rx_packets);
        if sent != arrived {
            wrong.push(format!(
                "port {from} put {sent} frames on the wire, port {to} took {arrived} from it"
            ));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal() -> ([PortStats; 2], [Counted; 2]) {
        let stats = PortStats {
            rx_packets: 10,
            rx_bytes: 640,
            tx_packets: 10,
            tx_bytes: 640,
        };
        let counted = Counted {
            sent: 10,
            sent_bytes: 640,
            received: 10,
            received_bytes: 640,
        };
        ([stats; 2], [counted; 2])
    }

    #[test]
    fn a_counter_at_another_address_is_named() {
        assert_eq!(wrong_address(0, &[Ok(10), Ok(0)], 10), None);
        let wrong = wrong_address(1, &[Ok(0), Ok(10)], 10).unwrap();
        assert!(
            wrong.contains("QPTC(0) is 0 and at DPDK's address 0x06030 10"),
            "{wrong}"
        );
    }

    #[test]
    fn equal_counters_are_not_mentioned() {
        let (stats, counted) = equal();
        assert!(differences(&stats, &counted).is_empty());
    }

    #[test]
    fn a_difference_says_where_the_frames_went() {
        let (mut stats, counted) = equal();
        stats[1].rx_packets = 9;
        assert_eq!(
            differences(&stats, &counted),
            [
                "port 1: QPRC is 9, the driver counts 10 frames received",
                "port 0 put 10 frames on the wire, port 1 took 9 from it"
            ]
        );
        let (mut stats, counted) = equal();
        stats[0].rx_bytes = 640 - 40;
        assert!(counts_crc(&stats[1], &counted[1]) && !counts_crc(&stats[0], &counted[0]));
        assert!(differences(&stats, &counted).is_empty());
        stats[0].rx_bytes -= 4;
        assert_eq!(
            differences(&stats, &counted),
            ["port 0: QBRC is 596, the driver counts 640 bytes received"]
        );
        let (mut stats, counted) = equal();
        stats[0].tx_bytes += 4;
        assert_eq!(
            differences(&stats, &counted),
            ["port 0: GOTC is 644, the driver counts 640 bytes sent"]
        );
    }
}
