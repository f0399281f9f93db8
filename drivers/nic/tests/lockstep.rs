//! Packets through the rings of a test driver. The test steps the data plane, so every count is
//! exact.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::registers::TXD_RS;
use nic::{FrameSizes, MmioMode, Nic, NicConfig, Traffic, VerifyMode};
use proptest::prelude::*;
use support::{data_command, frame, Driver, Rings, BUFFER, IOVA};

struct Bench {
    nic: Nic,
    plane: nic::DataPlane,
    _directory: tempfile::TempDir,
}

fn bench_with(mmio: MmioMode, change: impl FnMut(&mut nic::PortConfig)) -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(mmio)
        .with_each_port(change);
    let nic = Nic::new(config).unwrap();
    let plane = nic.data_plane().unwrap();
    Bench {
        nic,
        plane,
        _directory: directory,
    }
}

fn bench(mmio: MmioMode) -> Bench {
    bench_with(mmio, |port| port.capture = true)
}

impl Bench {
    fn port(&self, index: usize) -> &nic::Port {
        self.nic.port(index).unwrap()
    }

    fn driver(&self, index: usize, rings: Rings) -> Driver {
        Driver::start(self.port(index).socket(), rings)
    }

    fn peek(&self, register: u32) -> u32 {
        self.port(0).registers().peek(register)
    }
}

const MODES: [MmioMode; 2] = [MmioMode::Shared, MmioMode::Trap];

#[test]
fn a_frame_is_received_and_counted() {
    for mmio in MODES {
        let mut bench = bench(mmio);
        let mut driver = bench.driver(0, Rings::default());
        bench.plane.poll();
        bench.port(0).inject(&frame(60, 1)).unwrap();
        bench.port(0).inject(&frame(1514, 2)).unwrap();
        assert_eq!(bench.plane.poll().received, 2);
        assert_eq!(driver.receive(), Some(frame(60, 1)));
        assert_eq!(driver.receive(), Some(frame(1514, 2)));
        assert_eq!(driver.receive(), None);
        assert_eq!(driver.client.get(r::GPRC), 2);
        assert_eq!(driver.client.get(r::GPRC), 0, "the read has cleared it");
        // Bytes include the CRC.
        assert_eq!(driver.client.get(r::GORCL), 64 + 1518);
        assert_eq!(driver.client.get(r::GORCH), 0);
        assert_eq!(bench.peek(r::QPRC(0)), 2);
        assert_eq!(bench.peek(r::BPRC), 2);
        assert_eq!(bench.peek(r::RDH(0)), 2);
    }
}

#[test]
fn a_frame_is_sent_and_counted() {
    for mmio in MODES {
        let mut bench = bench(mmio);
        let mut driver = bench.driver(0, Rings::default());
        let first = driver.transmit(&frame(60, 1));
        let second = driver.transmit(&frame(1000, 2));
        assert!(!driver.tx_done(first));
        assert_eq!(bench.plane.poll().transmitted, 2);
        assert!(driver.tx_done(first) && driver.tx_done(second));
        assert_eq!(
            bench.port(0).take_transmitted(),
            [frame(60, 1), frame(1000, 2)]
        );
        assert_eq!(driver.client.get(r::GPTC), 2);
        assert_eq!(driver.client.get(r::GPTC), 0);
        assert_eq!(driver.client.get(r::GOTCL), 64 + 1004);
        assert_eq!(bench.peek(r::TDH(0)), 2);
        assert_eq!(bench.port(0).stats().transmitted_bytes, 64 + 1004);
    }
}

#[test]
fn every_queue_works() {
    for queue in 0..16 {
        let mut bench = bench(MmioMode::Shared);
        let mut driver = bench.driver(
            0,
            Rings {
                queue,
                ..Rings::default()
            },
        );
        // All hashes select this queue.
        driver.client.set(r::MRQC, r::MRQC_MRQE_RSS);
        for n in 0..32 {
            driver.client.set(r::RETA(n), queue * 0x0101_0101);
        }
        // Each queue has its own counter.
        let place = 8 * (queue % 4);
        driver.client.set(r::RQSMR(queue / 4), queue << place);
        driver.client.set(r::TQSM(queue / 4), queue << place);
        bench.plane.poll();
        bench.port(0).inject(&frame(60, 7)).unwrap();
        driver.transmit(&frame(60, 8));
        bench.plane.poll();
        assert_eq!(driver.receive(), Some(frame(60, 7)));
        assert_eq!(bench.port(0).take_transmitted(), [frame(60, 8)]);
        assert_eq!(
            (bench.peek(r::QPRC(queue)), bench.peek(r::QPTC(queue))),
            (1, 1)
        );
    }
}

#[test]
fn rings_wrap_around() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(
        0,
        Rings {
            rx_len: 8,
            tx_len: 8,
            rx_filled: 7,
            ..Rings::default()
        },
    );
    bench.plane.poll();
    for n in 0..100 {
        bench.port(0).inject(&frame(60, n)).unwrap();
        let slot = driver.transmit(&frame(61, n));
        bench.plane.poll();
        assert_eq!(driver.receive(), Some(frame(60, n)));
        assert!(driver.tx_done(slot));
    }
    let sent = bench.port(0).take_transmitted();
    assert!(sent.iter().zip(0..).all(|(sent, n)| *sent == frame(61, n)));
    assert_eq!(sent.len(), 100);
}

#[test]
fn a_full_ring_takes_one_frame_less_than_its_length_and_drops_the_rest() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(
        0,
        Rings {
            rx_len: 8,
            rx_filled: 7,
            ..Rings::default()
        },
    );
    bench.plane.poll();
    for n in 0..10 {
        bench.port(0).inject(&frame(60, n)).unwrap();
    }
    assert_eq!(bench.plane.poll().received, 7);
    assert_eq!(bench.port(0).stats().dropped_no_descriptor, 3);
    assert_eq!(bench.peek(r::QPRDC(0)), 3);
    assert_eq!(
        bench.peek(r::RDH(0)),
        bench.peek(r::RDT(0)),
        "the card owns no descriptor"
    );
    // Good packets count even if they found no descriptor.
    assert_eq!((bench.peek(r::GPRC), bench.peek(r::QPRC(0))), (10, 7));
    let received = driver.receive_all();
    assert_eq!(received, (0..7).map(|n| frame(60, n)).collect::<Vec<_>>());
}

#[test]
fn without_drop_enable_frames_wait_in_the_packet_buffer() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(
        0,
        Rings {
            rx_len: 8,
            rx_filled: 4,
            drop_enable: false,
            ..Rings::default()
        },
    );
    driver.client.set(r::RXPBSIZE(0), 1 << 10);
    bench.plane.poll();
    for n in 0..40 {
        bench.port(0).inject(&frame(60, n)).unwrap();
    }
    assert_eq!(bench.plane.poll().received, 4);
    // 1 KB holds 17 frames of 60 bytes.
    assert_eq!(bench.peek(r::MPC(0)), 40 - 4 - 17);
    assert_eq!(bench.port(0).stats().dropped_no_buffer, 40 - 4 - 17);
    let mut received = driver.receive_all();
    for _ in 0..10 {
        bench.plane.poll();
        received.extend(driver.receive_all());
    }
    assert_eq!(
        received,
        (0..21).map(|n| frame(60, n)).collect::<Vec<_>>(),
        "the frames come in order"
    );
}

#[test]
fn large_frames_span_descriptors() {
    for legacy in [false, true] {
        let mut bench = bench(MmioMode::Shared);
        let mut driver = bench.driver(
            0,
            Rings {
                buffer_kb: 1,
                legacy,
                ..Rings::default()
            },
        );
        bench.plane.poll();
        bench.port(0).inject(&frame(1500, 3)).unwrap();
        bench.port(0).inject(&frame(1024, 4)).unwrap();
        bench.plane.poll();
        let done = |slot: usize| driver.rx_descriptor(slot)[1] >> (if legacy { 32 } else { 0 }) & 3;
        assert_eq!(
            [done(0), done(1), done(2), done(3)],
            [1, 3, 3, 0],
            "every descriptor has DD, and the last one of a frame EOP"
        );
        assert_eq!(driver.receive(), Some(frame(1500, 3)));
        assert_eq!(driver.receive(), Some(frame(1024, 4)));
    }
}

#[test]
fn a_frame_with_too_few_descriptors_is_dropped_whole() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(
        0,
        Rings {
            buffer_kb: 1,
            rx_filled: 1,
            ..Rings::default()
        },
    );
    bench.plane.poll();
    bench.port(0).inject(&frame(1500, 3)).unwrap();
    bench.port(0).inject(&frame(60, 4)).unwrap();
    bench.plane.poll();
    assert_eq!(driver.receive(), Some(frame(60, 4)));
    assert_eq!(bench.peek(r::QPRDC(0)), 1);
}

#[test]
fn frames_of_wrong_length_are_not_received() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    bench.plane.poll();
    bench.port(0).inject(&frame(59, 1)).unwrap();
    bench.port(0).inject(&frame(1515, 1)).unwrap();
    bench.plane.poll();
    assert_eq!(driver.receive(), None);
    assert_eq!((bench.peek(r::RUC), bench.peek(r::ROC)), (1, 1));
    driver.client.change(r::HLREG0, r::HLREG0_JUMBOEN, 0);
    driver.client.set(r::MAXFRS, 9018 << 16);
    bench.port(0).inject(&frame(9014, 5)).unwrap();
    bench.port(0).inject(&frame(9015, 5)).unwrap();
    bench.plane.poll();
    assert_eq!(driver.receive(), Some(frame(9014, 5)));
    assert_eq!(driver.receive(), None);
    assert_eq!(bench.peek(r::ROC), 2);
}

#[test]
fn the_driver_gets_the_crc_unless_it_is_stripped() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.client.change(r::HLREG0, 0, r::HLREG0_RXCRCSTRP);
    bench.plane.poll();
    bench.port(0).inject(&frame(60, 1)).unwrap();
    bench.plane.poll();
    let received = driver.receive().unwrap();
    assert_eq!((received.len(), &received[..60]), (64, &frame(60, 1)[..]));
    assert_eq!(bench.peek(r::GORCL), 64);
    // The driver sends the frame with its CRC, then with a wrong CRC. The wire drops the second.
    let command = 64 | r::TXD_DTYP_DATA | r::TXD_DEXT | r::TXD_EOP | r::TXD_RS;
    let buffer = driver.tx_buffer(0);
    driver.memory.write(buffer, &received);
    driver.post(IOVA + buffer as u64, command);
    driver.memory.write(
        buffer + BUFFER,
        &[&received[..63], &[!received[63]]].concat(),
    );
    driver.post(IOVA + (buffer + BUFFER) as u64, command);
    driver.ring_doorbell();
    bench.plane.poll();
    assert_eq!(bench.port(0).take_transmitted(), [frame(60, 1)]);
    assert_eq!(bench.peek(r::GOTCL), 128);
}

#[test]
fn short_frames_are_padded_on_request() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.transmit(&frame(20, 1));
    bench.plane.poll();
    let mut padded = frame(20, 1);
    padded.resize(60, 0);
    assert_eq!(bench.port(0).take_transmitted(), [padded]);
    driver.client.change(r::HLREG0, 0, r::HLREG0_TXPADEN);
    driver.transmit(&frame(20, 1));
    bench.plane.poll();
    assert_eq!(bench.port(0).take_transmitted(), [frame(20, 1)]);
}

#[test]
fn several_descriptors_can_hold_one_frame() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    let whole = frame(300, 9);
    let buffer = driver.tx_buffer(0);
    driver.memory.write(buffer, &whole);
    let piece = |from: usize, len: usize| (IOVA + (buffer + from) as u64, data_command(len, 300));
    for (address, command) in [piece(0, 14), piece(14, 200)] {
        driver.post(address, command);
    }
    driver.ring_doorbell();
    bench.plane.poll();
    assert!(
        bench.port(0).take_transmitted().is_empty(),
        "the end of the frame is missing"
    );
    let (address, command) = piece(214, 86);
    driver.post(address, command | r::TXD_EOP | r::TXD_RS);
    driver.transmit(&frame(60, 1));
    bench.plane.poll();
    assert_eq!(bench.port(0).take_transmitted(), [whole, frame(60, 1)]);
    assert_eq!(
        (driver.tx_done(0), driver.tx_done(1), driver.tx_done(2)),
        (false, false, true),
        "only the last one has RS"
    );
    assert_eq!(bench.peek(r::GPTC), 2);
}

/// Reading a shared page clears nothing. A driver that adds the values up would count frames again. Frames arrive
/// between all reads.
#[test]
fn queue_statistics_in_shared_pages_count_each_frame_once() {
    for mode in MODES {
        let mut bench = bench(mode);
        let mut driver = bench.driver(0, Rings::default());
        let (mut received, mut bytes, mut frames) = (0, 0, 0);
        for _ in 0..10 {
            // The order in which drivers read them; the first one stands for all that are not of a queue.
            let registers = [r::CRCERRS, r::QPRC(0), r::QBRC_L(0), r::QBTC_L(0)];
            let counts = registers.map(|register| {
                bench.nic.ports()[0].inject(&frame(60, 0)).unwrap();
                frames += 1;
                bench.plane.poll();
                driver.client.get(register)
            });
            received += counts[1];
            bytes += counts[2];
        }
        driver.client.get(r::CRCERRS);
        received += driver.client.get(r::QPRC(0));
        bytes += driver.client.get(r::QBRC_L(0));
        assert_eq!((received, bytes), (frames, frames * 64), "{mode:?}");
    }
}

#[test]
fn descriptors_with_rs_are_written_back() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    for n in 0..8 {
        driver.post_frame(&frame(60, n), if n % 4 == 3 { r::TXD_RS } else { 0 });
    }
    driver.ring_doorbell();
    bench.plane.poll();
    let done: Vec<_> = (0..8).map(|slot| driver.tx_done(slot)).collect();
    assert_eq!(done, [false, false, false, true, false, false, false, true]);
}

#[test]
fn with_a_write_back_threshold_descriptors_are_written_back_together() {
    let mut bench = bench(MmioMode::Trap);
    let thresholds = 36 | 8 << 8 | 4 << 16;
    let mut driver = bench.driver(
        0,
        Rings {
            tx_len: 16,
            tx_thresholds: thresholds,
            ..Rings::default()
        },
    );
    let done = |driver: &Driver| (0..16).filter(|slot| driver.tx_done(*slot)).count();
    for n in 0..3 {
        driver.post_frame(&frame(60, n), r::TXD_RS);
    }
    driver.ring_doorbell();
    bench.plane.poll();
    assert_eq!(done(&driver), 0, "three wait for the fourth");
    driver.post_frame(&frame(60, 3), 0);
    driver.post_frame(&frame(60, 4), 0);
    driver.ring_doorbell();
    bench.plane.poll();
    assert_eq!(
        done(&driver),
        4,
        "the card writes four together, with RS or without"
    );
    driver.client.set(
        r::TXDCTL(0),
        thresholds | r::TXDCTL_ENABLE | r::TXDCTL_SWFLSH,
    );
    assert_eq!(done(&driver), 5, "SWFLSH writes the fifth back");
    assert_eq!(driver.client.get(r::TXDCTL(0)) & r::TXDCTL_SWFLSH, 0);
    for n in 5..40 {
        driver.post_frame(&frame(60, n), 0);
        driver.ring_doorbell();
        bench.plane.poll();
    }
    assert_eq!(bench.port(0).stats().transmitted, 40);
}

/// Sends frames of 60 bytes in batches with these thresholds, and returns the numbers of writes and
/// of descriptors that the card wrote back.
fn write_backs(thresholds: u32, batches: &[u64], tx_len: usize) -> (u64, u64) {
    let mut bench = bench(MmioMode::Shared);
    let rings = Rings {
        tx_len,
        tx_thresholds: thresholds,
        ..Rings::default()
    };
    let mut driver = bench.driver(0, rings);
    for batch in batches {
        for n in 0..*batch {
            driver.post_frame(&frame(60, n as u8), r::TXD_RS);
        }
        driver.ring_doorbell();
        bench.plane.poll();
    }
    let stats = bench.port(0).stats();
    assert_eq!(stats.transmitted, batches.iter().sum::<u64>());
    (stats.tx_write_backs, stats.tx_descriptors_written_back)
}

#[test]
fn a_group_of_descriptors_is_one_write() {
    assert_eq!(write_backs(32 | 8 << 8, &[32; 10], 512), (320, 320));
    let four = 36 | 8 << 8 | 4 << 16;
    assert_eq!(write_backs(four, &[32; 10], 512), (80, 320));
    assert_eq!(write_backs(four, &[3; 8], 512), (6, 24));
    assert_eq!(write_backs(four, &[3; 3], 512), (2, 8), "one waits");
    // Groups of three: the group of the descriptors 6, 7 and 0 lies at both ends of eight.
    let three = 36 | 8 << 8 | 3 << 16;
    assert_eq!(write_backs(three, &[6, 6], 8), (5, 12));
    assert_eq!(write_backs(three, &[7, 5], 8), (5, 12));
}

#[test]
fn a_flush_is_seen_in_shared_pages_and_is_one_write() {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut bench = bench(mmio);
        let thresholds = 36 | 8 << 8 | 4 << 16;
        let rings = Rings {
            tx_thresholds: thresholds,
            ..Rings::default()
        };
        let mut driver = bench.driver(0, rings);
        for n in 0..7 {
            driver.post_frame(&frame(60, n), r::TXD_RS);
        }
        driver.ring_doorbell();
        bench.plane.poll();
        let control = thresholds | r::TXDCTL_ENABLE;
        driver.client.set(r::TXDCTL(0), control | r::TXDCTL_SWFLSH);
        bench.plane.poll();
        assert!(driver.tx_done(6));
        assert_eq!(driver.client.get(r::TXDCTL(0)), control, "SWFLSH clears");
        let stats = bench.port(0).stats();
        let counts = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        assert_eq!(counts, (2, 7));
    }
}

#[test]
fn a_queue_that_stops_without_a_flush_keeps_its_descriptors() {
    let mut bench = bench(MmioMode::Trap);
    let rings = Rings {
        tx_thresholds: 36 | 8 << 8 | 4 << 16,
        ..Rings::default()
    };
    let mut driver = bench.driver(0, rings);
    for n in 0..6 {
        driver.post_frame(&frame(60, n), r::TXD_RS);
    }
    driver.ring_doorbell();
    bench.plane.poll();
    driver.client.change(r::TXDCTL(0), 0, r::TXDCTL_ENABLE);
    bench.plane.poll();
    assert!(driver.tx_done(3) && !driver.tx_done(4) && !driver.tx_done(5));
}

#[test]
fn impossible_write_back_thresholds_are_noted() {
    for (thresholds, head_write_back, noted) in [
        (36 | 8 << 8 | 4 << 16, false, None),
        (37 | 8 << 8 | 4 << 16, false, Some("exceed the 40")),
        (32 | 8 << 8, true, None),
        (32 | 8 << 8 | 1 << 16, true, Some("needs WTHRESH 0")),
    ] {
        let mut bench = bench(MmioMode::Shared);
        let rings = Rings {
            tx_thresholds: thresholds,
            head_write_back,
            ..Rings::default()
        };
        let _driver = bench.driver(0, rings);
        bench.plane.poll();
        let notes = bench.port(0).notes();
        assert_eq!(notes.len(), usize::from(noted.is_some()), "{notes:?}");
        assert!(notes.iter().all(|note| note.contains(noted.unwrap())));
    }
}

#[test]
fn the_head_can_be_written_back_instead() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(
        0,
        Rings {
            head_write_back: true,
            tx_len: 8,
            ..Rings::default()
        },
    );
    driver.post_frame(&frame(60, 0), 0);
    driver.post_frame(&frame(60, 1), r::TXD_RS);
    driver.post_frame(&frame(60, 2), 0);
    driver.ring_doorbell();
    bench.plane.poll();
    assert_eq!(
        driver.written_head(),
        2,
        "the head after the descriptor with RS"
    );
    assert_eq!(bench.peek(r::TDH(0)), 3);
    for n in 3..9 {
        driver.post_frame(&frame(60, n), r::TXD_RS);
    }
    driver.ring_doorbell();
    bench.plane.poll();
    assert_eq!(driver.written_head(), 1, "the head has wrapped around");
    assert!((0..8).all(|slot| !driver.tx_done(slot)));
}

#[test]
fn frames_move_only_while_every_switch_is_on() {
    type Switch = fn(&mut Driver, bool);
    let off: [(&str, Switch); 5] = [
        ("bus master", |driver, on| driver.client.set_bus_master(on)),
        ("master disable", |driver, on| {
            driver
                .client
                .set(r::CTRL, if on { 0 } else { r::CTRL_MASTER_DISABLE })
        }),
        ("enables", |driver, on| {
            driver.client.set(r::RXCTRL, u32::from(on));
            driver.client.set(r::DMATXCTL, u32::from(on));
        }),
        ("receive path and transmit", |driver, on| {
            driver
                .client
                .set(r::SECRXCTRL, if on { 0 } else { r::SECRXCTRL_RX_DIS });
            driver.client.set(r::DMATXCTL, u32::from(on));
            let ready = driver.client.get(r::SECRXSTAT) & r::SECRXSTAT_SECRX_RDY != 0;
            assert_eq!(ready, !on);
        }),
        ("queues", |driver, on| {
            if on {
                driver.start_queue();
            } else {
                driver.client.set(r::RXDCTL(0), 0);
                driver.client.set(r::TXDCTL(0), 0);
            }
        }),
    ];
    for (what, switch) in off {
        for mmio in MODES {
            let mut bench = bench(mmio);
            let mut driver = bench.driver(0, Rings::default());
            bench.plane.poll();
            switch(&mut driver, false);
            driver.transmit(&frame(60, 1));
            bench.port(0).inject(&frame(60, 1)).unwrap();
            let progress = bench.plane.poll();
            assert_eq!((progress.received, progress.transmitted), (0, 0), "{what}");
            assert_eq!(driver.receive(), None);
            switch(&mut driver, true);
            bench.plane.poll();
            driver.transmit(&frame(60, 2));
            bench.port(0).inject(&frame(60, 3)).unwrap();
            bench.plane.poll();
            assert_eq!(driver.receive(), Some(frame(60, 3)), "{what}");
            assert_eq!(
                bench.port(0).take_transmitted().last(),
                Some(&frame(60, 2)),
                "{what}"
            );
        }
    }
}

#[test]
fn addresses_are_filtered() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.client.set(r::FCTRL, 0);
    bench.plane.poll();
    let own = bench.port(0).mac_address();
    let to = |address: [u8; 6]| {
        let mut frame = frame(60, 1);
        frame[..6].copy_from_slice(&address);
        frame
    };
    let mut other = own;
    other[5] ^= 1;
    for address in [own, other, [0xff; 6], [1, 0, 0x5e, 0, 0, 1]] {
        bench.port(0).inject(&to(address)).unwrap();
    }
    bench.plane.poll();
    assert_eq!(driver.receive_all(), [to(own)]);
    assert_eq!(bench.port(0).stats().dropped_filtered, 3);
    // The port gets a second address.
    let [a, b, c, d, e, f] = other.map(u32::from);
    driver.client.set(r::RAL(7), a | b << 8 | c << 16 | d << 24);
    driver.client.set(r::RAH(7), e | f << 8 | r::RAH_AV);
    bench.port(0).inject(&to(other)).unwrap();
    bench.plane.poll();
    assert_eq!(driver.receive_all(), [to(other)]);
}

#[test]
fn saturation_fills_every_descriptor_and_forwarded_frames_are_verified() {
    for sizes in ["60", "61", "60-1514", "60,1514"] {
        let mut bench = bench_with(MmioMode::Shared, |port| {
            port.traffic = Traffic::Saturate;
            port.sizes = sizes.parse::<FrameSizes>().unwrap();
        });
        let mut a = bench.driver(0, Rings::default());
        let mut b = bench.driver(1, Rings::default());
        for _ in 0..50 {
            bench.plane.poll();
            let received = [a.receive_all(), b.receive_all()];
            assert_eq!([received[0].len(), received[1].len()], [63, 63]);
            for (frames, other) in received.into_iter().zip([&mut b, &mut a]) {
                for mut frame in frames {
                    frame[1] = frame[1].wrapping_add(1);
                    other.transmit(&frame);
                }
            }
        }
        bench.plane.poll();
        for port in bench.nic.ports() {
            let stats = port.stats();
            assert_eq!(stats.verify.ok, 50 * 63, "{sizes}");
            assert!(stats.verify.clean(), "{sizes}: {:?}", stats.verify);
            assert_eq!(
                (stats.delivered, stats.outstanding, stats.dma_faults),
                (51 * 63, 63, 0)
            );
        }
    }
}

#[test]
fn the_verifier_finds_lost_repeated_swapped_and_altered_frames() {
    type Spoil = fn(&mut Vec<Vec<u8>>);
    let spoil: [(&str, Spoil, [u64; 4]); 4] = [
        ("lost", |frames| drop(frames.remove(10)), [1, 0, 0, 0]),
        (
            "duplicated",
            |frames| frames.insert(11, frames[10].clone()),
            [0, 1, 0, 0],
        ),
        ("reordered", |frames| frames.swap(10, 11), [0, 0, 1, 0]),
        ("altered", |frames| frames[10][33] ^= 1, [0, 0, 0, 1]),
    ];
    for (what, spoil, expected) in spoil {
        let mut bench = bench_with(MmioMode::Shared, |port| port.traffic = Traffic::Saturate);
        let mut a = bench.driver(0, Rings::default());
        let mut b = bench.driver(
            1,
            Rings {
                tx_len: 128,
                ..Rings::default()
            },
        );
        bench.plane.poll();
        let mut frames = a.receive_all();
        spoil(&mut frames);
        for mut frame in frames {
            frame[1] = frame[1].wrapping_add(1);
            b.transmit(&frame);
        }
        bench.plane.poll();
        let verify = bench.port(1).stats().verify;
        let found = [
            verify.missing,
            verify.duplicated,
            verify.reordered,
            verify.altered,
        ];
        assert_eq!(found, expected, "{what}: {verify:?}");
    }
}

#[test]
fn rss_spreads_flows_and_each_queue_keeps_its_order() {
    let mut bench = bench_with(MmioMode::Shared, |port| port.traffic = Traffic::Saturate);
    let mut a = bench.driver(
        0,
        Rings {
            queue: 3,
            ..Rings::default()
        },
    );
    let mut b = bench.driver(1, Rings::default());
    a.client
        .set(r::MRQC, r::MRQC_MRQE_RSS | r::MRQC_RSS_UDP_IPV4);
    for n in 0..10 {
        a.client.set(r::RSSRK(n), 0x1234_5678_u32.rotate_left(n));
    }
    for n in 0..32 {
        a.client.set(r::RETA(n), 0x0503_0503);
    }
    bench.plane.poll();
    let frames = a.receive_all();
    assert_eq!(frames.len(), 63, "half the flows go to queue 3 and fill it");
    let ports: std::collections::BTreeSet<_> =
        frames.iter().map(|frame| [frame[34], frame[35]]).collect();
    assert!(ports.len() > 30);
    for mut frame in frames {
        frame[1] = frame[1].wrapping_add(1);
        b.transmit(&frame);
    }
    bench.plane.poll();
    let verify = bench.port(1).stats().verify;
    assert_eq!(verify.ok, 63);
    assert!(verify.clean());
}

#[test]
fn traffic_arrives_at_its_rate_and_is_dropped_without_descriptors() {
    let mut bench = bench_with(MmioMode::Shared, |port| {
        port.traffic = Traffic::Rate { mpps: 1.0 };
        port.verify = VerifyMode::Off;
    });
    let mut driver = bench.driver(0, Rings::default());
    let micros = |n| std::time::Duration::from_micros(n);
    bench.plane.poll_at(micros(1000));
    bench.plane.poll_at(micros(1040));
    assert_eq!(driver.receive_all().len(), 40);
    bench.plane.poll_at(micros(1140));
    let stats = bench.port(0).stats();
    assert_eq!(
        (
            stats.generated,
            stats.delivered,
            stats.dropped_no_descriptor
        ),
        (140, 103, 37)
    );
    assert_eq!(bench.peek(r::QPRDC(0)), 37);
}

#[test]
fn a_window_holds_frames_back_until_others_have_returned() {
    let mut bench = bench_with(MmioMode::Shared, |port| {
        port.traffic = Traffic::Window { frames: 10 };
    });
    let mut a = bench.driver(0, Rings::default());
    let mut b = bench.driver(1, Rings::default());
    bench.plane.poll();
    bench.plane.poll();
    let frames = a.receive_all();
    assert_eq!(frames.len(), 10, "the ring has room, the window has not");
    let send = |b: &mut Driver, frame: &[u8]| {
        let mut frame = frame.to_vec();
        frame[1] = frame[1].wrapping_add(1);
        b.transmit(&frame);
    };
    for frame in &frames[..3] {
        send(&mut b, frame);
    }
    bench.plane.poll();
    bench.plane.poll();
    assert_eq!(a.receive_all().len(), 3, "as many as have returned");
    // The driver drops the fourth to the ninth frame. The tenth shows that they do not return.
    send(&mut b, &frames[9]);
    bench.plane.poll();
    bench.plane.poll();
    assert_eq!(a.receive_all().len(), 7);
    let verify = bench.port(1).stats().verify;
    assert_eq!((verify.ok, verify.missing), (4, 6));
}

#[test]
fn a_driver_may_flush_its_rings_before_it_forwards_in_a_window() {
    let mut bench = bench_with(MmioMode::Shared, |port| {
        port.traffic = Traffic::Window { frames: 10 };
    });
    let millis = std::time::Duration::from_millis;
    let mut a = bench.driver(0, Rings::default());
    let mut b = bench.driver(1, Rings::default());
    bench.plane.poll_at(millis(1));
    assert_eq!(a.receive_all().len(), 10, "the driver drops these");
    bench.plane.poll_at(millis(2));
    bench.plane.poll_at(millis(50));
    assert_eq!(a.receive_all().len(), 1, "they may still come back");
    bench.plane.poll_at(millis(200));
    bench.plane.poll_at(millis(201));
    let frames = a.receive_all();
    assert_eq!(frames.len(), 10, "new frames for those that were dropped");
    // It drops six more, and begins.
    for frame in &frames[6..8] {
        let mut frame = frame.clone();
        frame[1] = frame[1].wrapping_add(1);
        b.transmit(&frame);
    }
    bench.plane.poll_at(millis(202));
    let verify = bench.port(1).stats().verify;
    assert_eq!((verify.ok, verify.missing, verify.abandoned), (2, 0, 17));
    // From now on, a frame that it drops is missing.
    let mut last = frames[9].clone();
    last[1] = last[1].wrapping_add(1);
    b.transmit(&last);
    bench.plane.poll_at(millis(203));
    let verify = bench.port(1).stats().verify;
    assert_eq!((verify.ok, verify.missing, verify.abandoned), (3, 1, 17));
}

#[test]
fn a_driver_that_starts_late_gets_one_window_of_frames() {
    let mut bench = bench_with(MmioMode::Shared, |port| {
        port.traffic = Traffic::Window { frames: 40 };
    });
    let mut driver = bench.driver(0, Rings::default());
    for millis in 0..500 {
        bench
            .plane
            .poll_at(std::time::Duration::from_millis(millis));
    }
    // A second window would overflow a ring for sending when the driver begins. A quarter of one is
    // for drivers that sleep until a frame arrives.
    assert_eq!(driver.receive_all().len(), 50);
}

#[test]
fn a_cable_connects_two_ports() {
    let directory = tempfile::tempdir().unwrap();
    let nic = Nic::new(NicConfig::new(directory.path(), 2).with_cable(0, 1)).unwrap();
    let mut plane = nic.data_plane().unwrap();
    let mut a = Driver::start(nic.port(0).unwrap().socket(), Rings::default());
    let mut b = Driver::start(nic.port(1).unwrap().socket(), Rings::default());
    plane.poll();
    a.transmit(&frame(60, 1));
    a.transmit(&frame(1200, 2));
    b.transmit(&frame(70, 3));
    plane.poll();
    plane.poll();
    assert_eq!(b.receive_all(), [frame(60, 1), frame(1200, 2)]);
    assert_eq!(a.receive_all(), [frame(70, 3)]);
}

#[test]
fn dma_outside_the_maps_changes_nothing_and_is_recorded() {
    let mut bench = bench(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    bench.plane.poll();
    // The card does not send a packet outside the maps, and finishes its descriptor.
    let slot = driver.post(0xdead_0000, data_command(60, 60) | r::TXD_EOP | r::TXD_RS);
    driver.ring_doorbell();
    bench.plane.poll();
    assert!(driver.tx_done(slot));
    assert!(bench.port(0).take_transmitted().is_empty());
    // A frame for a buffer outside the maps is lost.
    driver.memory.write_u64(0, 0xbeef_0000);
    bench.port(0).inject(&frame(60, 1)).unwrap();
    bench.plane.poll();
    let faults = bench.port(0).dma_faults();
    assert_eq!(faults.len(), 2);
    assert_eq!(
        (faults[0].iova, faults[0].purpose, faults[0].direction),
        (0xdead_0000, nic::Purpose::TxPacket, nic::Direction::Read)
    );
    assert_eq!(
        (faults[1].iova, faults[1].purpose, faults[1].direction),
        (0xbeef_0000, nic::Purpose::RxPacket, nic::Direction::Write)
    );
    // A ring outside the maps causes one fault, and its queue halts.
    driver
        .client
        .dma_unmap(IOVA, driver.memory.len() as u64)
        .unwrap();
    driver.transmit(&frame(60, 1));
    bench.port(0).inject(&frame(60, 1)).unwrap();
    for _ in 0..10 {
        bench.plane.poll();
    }
    assert_eq!(bench.port(0).stats().dma_faults, 4);
    assert_eq!(bench.port(0).snapshot().dma_faults, 4);
}

#[test]
fn the_card_does_not_write_to_read_only_memory() {
    let mut bench = bench_with(MmioMode::Shared, |port| port.traffic = Traffic::Saturate);
    let mut driver = bench.driver(0, Rings::default());
    let pool = support::Memory::new(4096);
    driver
        .client
        .dma_map(0x7000_0000, 4096, 0, 1, Some(&pool.file))
        .unwrap();
    driver.memory.write_u64(0, 0x7000_0000);
    bench.plane.poll();
    assert_eq!(pool.bytes(0, 4096), vec![0; 4096]);
    assert_eq!(
        bench.port(0).dma_faults()[0].refusal,
        nic::Refusal::Permission
    );
    driver.receive();
}

#[test]
fn faults_have_their_effects() {
    let mut bench = bench(MmioMode::Trap);
    let mut driver = bench.driver(0, Rings::default());
    let mut faults = nic::Faults::default();
    faults.stall_tx = true;
    bench.port(0).set_faults(faults);
    driver.transmit(&frame(60, 1));
    assert_eq!(bench.plane.poll().transmitted, 0);
    assert_eq!(bench.port(0).snapshot().tx_pending, 1);
    faults = nic::Faults::default();
    faults.never_finish_reset = true;
    faults.no_link = true;
    bench.port(0).set_faults(faults);
    driver.client.set(r::CTRL, r::CTRL_RST);
    for _ in 0..10 {
        assert_ne!(driver.client.get(r::CTRL) & r::CTRL_RST, 0);
        assert_eq!(driver.client.get(r::LINKS) & r::LINKS_UP, 0);
    }
}

/// A step of a random sequence.
#[derive(Clone, Copy, Debug)]
enum Step {
    Inject(usize),
    Poll,
    Receive(usize),
    Transmit(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1..12_usize).prop_map(Step::Inject),
        Just(Step::Poll),
        (1..20_usize).prop_map(Step::Receive),
        (1..8_usize).prop_map(Step::Transmit),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// In every sequence of steps, the card invents, repeats, reorders and alters no frame, and
    /// accounts for every one.
    #[test]
    fn frames_are_conserved(
        steps in steps(),
        log_len in 3..6_u32,
        drop_enable: bool,
        head_write_back: bool,
        threshold in 0..4_u32,
    ) {
        let mut bench = bench(MmioMode::Shared);
        let len = 1 << log_len;
        let rings = Rings {
            rx_len: len,
            tx_len: len,
            rx_filled: len - 1,
            drop_enable,
            head_write_back,
            tx_thresholds: 32 | 8 << 8 | if head_write_back { 0 } else { threshold << 16 },
            ..Rings::default()
        };
        let mut driver = bench.driver(0, rings);
        bench.plane.poll();
        let numbered = |n: u32| {
            let mut frame = frame(60 + n as usize % 5, 0);
            frame[20..24].copy_from_slice(&n.to_le_bytes());
            frame
        };
        let (mut injected, mut posted, mut sent) = (0, 0, Vec::new());
        let mut received = Vec::new();
        // At the end, the remaining frames arrive.
        let end = (0..200).flat_map(|_| [Step::Poll, Step::Receive(len)]);
        for step in steps.into_iter().chain(end) {
            match step {
                Step::Inject(count) => {
                    for n in injected..injected + count as u32 {
                        bench.port(0).inject(&numbered(n)).unwrap();
                    }
                    injected += count as u32;
                }
                Step::Poll => {
                    bench.plane.poll();
                    sent.extend(bench.port(0).take_transmitted());
                }
                Step::Receive(count) => {
                    received.extend((0..count).map_while(|_| driver.receive()));
                }
                Step::Transmit(count) => {
                    // A descriptor is free once the card has written it back.
                    let accumulated = if head_write_back { 1 } else { threshold.max(1) as usize };
                    let done = sent.len() - sent.len() % accumulated;
                    let pending = posted as usize - done;
                    for _ in 0..count.min(len - 1 - pending) {
                        driver.post_frame(&numbered(posted), TXD_RS);
                        posted += 1;
                    }
                    driver.ring_doorbell();
                }
            }
        }
        prop_assert_eq!(sent.len(), posted as usize);
        prop_assert!(sent.iter().zip(0..).all(|(frame, n)| *frame == numbered(n)));
        let numbers: Vec<u32> = received
            .iter()
            .map(|frame| u32::from_le_bytes(frame[20..24].try_into().unwrap()))
            .collect();
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{:?}", numbers);
        prop_assert!(received.iter().zip(&numbers).all(|(frame, n)| *frame == numbered(*n)));
        let stats = bench.port(0).stats();
        let lost = stats.dropped_no_descriptor + stats.dropped_no_buffer;
        prop_assert_eq!(stats.delivered + lost, u64::from(injected));
        prop_assert!(drop_enable || lost == 0, "the packet buffer holds all frames");
        prop_assert_eq!(stats.dma_faults, 0);
        prop_assert_eq!(u64::from(bench.peek(r::QPRC(0))), stats.delivered);
        prop_assert_eq!(bench.peek(r::GPTC), posted);
    }
}

/// The rings as they are just before the driver writes a watched register, and as they are now.
#[test]
fn the_rings_can_be_seen_before_a_doorbell() {
    let mut bench = bench(MmioMode::Trap);
    bench.port(0).watch(&[r::TDT(0)]);
    let mut driver = bench.driver(0, Rings::default());
    bench.plane.poll();
    bench.port(0).take_watched();
    driver.post_frame(&frame(60, 1), 0);
    let handed_over = bench.port(0).rings();
    driver.ring_doorbell();
    let writes = bench.port(0).take_watched();
    assert_eq!(writes.len(), 1);
    assert_eq!((writes[0].address, writes[0].value), (r::TDT(0), 1));
    assert_eq!(writes[0].rings, handed_over);
    assert_eq!(handed_over.transmit.tail, 0);
    assert_eq!(handed_over.transmit.descriptors[0], driver.tx_descriptor(0));
    let now = bench.port(0).rings();
    assert_eq!((now.transmit.head, now.transmit.tail), (0, 1));
    bench.plane.poll();
    assert_eq!(bench.port(0).rings().transmit.head, 1);
    assert!(bench.port(0).take_watched().is_empty());
}

/// A port has had its turn when the round finds that its peer was reset. Both counts belong to one moment.
#[test]
fn frames_that_a_reset_loses_are_outstanding_or_abandoned_after_each_round() {
    let mut bench = bench_with(MmioMode::Shared, |port| port.traffic = Traffic::Saturate);
    let _a = bench.driver(0, Rings::default());
    let mut b = bench.driver(1, Rings::default());
    bench.plane.poll();
    let counts = |bench: &Bench| {
        let generated = bench.port(1).stats().generated;
        let stats = bench.port(0).stats();
        (generated, stats.outstanding, stats.verify.abandoned)
    };
    let (generated, outstanding, abandoned) = counts(&bench);
    assert!(generated > 0);
    assert_eq!((outstanding, abandoned), (generated, 0));
    b.client.reset();
    bench.plane.poll();
    assert_eq!(counts(&bench), (generated, 0, generated));
}
