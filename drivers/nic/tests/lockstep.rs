//! Packets through the rings of a test driver. The test steps the data plane, so every count is
//! exact.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::MmioMode::{Shared, Trap};
use nic::{Direction, Purpose, Refusal};
use proptest::prelude::*;
use support::{data_command, frame, thresholds, Bench, Driver, Memory, Rings, IOVA, MODES};

/// Frames of 60 bytes.
fn small(numbers: std::ops::Range<u8>) -> Vec<Vec<u8>> {
    numbers.map(|n| frame(60, n)).collect()
}

#[test]
fn a_frame_is_received_and_counted() {
    for mmio in MODES {
        let mut bench = Bench::new(mmio);
        let mut driver = bench.started(Rings::default());
        let frames = [frame(60, 1), frame(1514, 2)];
        assert_eq!(bench.arrive(&frames).received, 2);
        assert_eq!(driver.receive_all(), frames);
        assert_eq!(driver.client.get(r::GPRC), 2);
        assert_eq!(driver.client.get(r::GPRC), 0, "the read has cleared it");
        // Bytes include the CRC.
        assert_eq!(driver.client.get(r::GORCL), 64 + 1518);
        assert_eq!(driver.client.get(r::GORCH), 0);
        let counts = [r::QPRC(0), r::BPRC, r::RDH(0)].map(|at| bench.peek(at));
        assert_eq!(counts, [2; 3]);
    }
}

#[test]
fn a_frame_is_sent_and_counted() {
    for mmio in MODES {
        let mut bench = Bench::new(mmio);
        let mut driver = bench.driver(0, Rings::default());
        let frames = [frame(60, 1), frame(1000, 2)];
        let [first, second] = [0, 1].map(|n| driver.transmit(&frames[n]));
        assert!(!driver.tx_done(first));
        assert_eq!(bench.poll().transmitted, 2);
        assert!(driver.tx_done(first) && driver.tx_done(second));
        assert_eq!(bench.sent(), frames);
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
        let mut bench = Bench::new(Shared);
        let mut driver = bench.driver(0, Rings::with(|it| it.queue = queue));
        // All hashes select this queue, and each queue has its own counter.
        driver.spread(queue * 0x0101_0101, 0);
        let place = 8 * (queue % 4);
        driver.client.set(r::RQSMR(queue / 4), queue << place);
        driver.client.set(r::TQSM(queue / 4), queue << place);
        bench.poll();
        driver.transmit(&frame(60, 8));
        bench.arrive(&[frame(60, 7)]);
        assert_eq!(driver.receive(), Some(frame(60, 7)));
        assert_eq!(bench.sent(), [frame(60, 8)]);
        let counts = [r::QPRC(queue), r::QPTC(queue)].map(|at| bench.peek(at));
        assert_eq!(counts, [1, 1]);
    }
}

#[test]
fn a_full_ring_takes_one_frame_less_than_its_length_and_drops_the_rest() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.started(Rings::with(|it| (it.rx_len, it.rx_filled) = (8, 7)));
    assert_eq!(bench.arrive(&small(0..10)).received, 7);
    assert_eq!(bench.port(0).stats().dropped_no_descriptor, 3);
    let [head, tail] = [r::RDH(0), r::RDT(0)].map(|at| bench.peek(at));
    assert_eq!(head, tail, "the card owns no descriptor");
    // Good packets count even if they found no descriptor.
    let counts = [r::QPRDC(0), r::GPRC, r::QPRC(0)].map(|at| bench.peek(at));
    assert_eq!(counts, [3, 10, 7]);
    assert_eq!(driver.receive_all(), small(0..7));
}

#[test]
fn without_drop_enable_frames_wait_in_the_packet_buffer() {
    let mut bench = Bench::new(Shared);
    let rings = Rings::with(|it| (it.rx_len, it.rx_filled, it.drop_enable) = (8, 4, false));
    let mut driver = bench.driver(0, rings);
    driver
        .client
        .set(r::RXPBSIZE(0), r::field(r::RXPBSIZE_SIZE, 1));
    bench.poll();
    assert_eq!(bench.arrive(&small(0..40)).received, 4);
    // 1 KB holds 17 frames of 60 bytes.
    assert_eq!(bench.peek(r::MPC(0)), 40 - 4 - 17);
    assert_eq!(bench.port(0).stats().dropped_no_buffer, 40 - 4 - 17);
    let mut received = driver.receive_all();
    for _ in 0..10 {
        bench.poll();
        received.extend(driver.receive_all());
    }
    assert_eq!(received, small(0..21), "the frames come in order");
}

#[test]
fn large_frames_span_descriptors() {
    for legacy in [false, true] {
        let mut bench = Bench::new(Shared);
        let mut driver = bench.started(Rings::with(|it| (it.buffer_kb, it.legacy) = (1, legacy)));
        let frames = [frame(1500, 3), frame(1024, 4)];
        bench.arrive(&frames);
        let place = if legacy { 32 } else { 0 };
        let done = [0, 1, 2, 3].map(|slot| driver.rx_descriptor(slot)[1] >> place & 3);
        let last = r::RXD_DD | r::RXD_EOP;
        assert_eq!(done, [r::RXD_DD, last, last, 0], "EOP ends a frame");
        assert_eq!(driver.receive_all(), frames);
    }
}

#[test]
fn a_frame_with_too_few_descriptors_is_dropped_whole() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.started(Rings::with(|it| (it.buffer_kb, it.rx_filled) = (1, 1)));
    bench.arrive(&[frame(1500, 3), frame(60, 4)]);
    assert_eq!(driver.receive(), Some(frame(60, 4)));
    assert_eq!(bench.peek(r::QPRDC(0)), 1);
}

#[test]
fn frames_of_wrong_length_are_not_received() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.started(Rings::default());
    bench.arrive(&[frame(59, 1), frame(1515, 1)]);
    assert_eq!(driver.receive(), None);
    assert_eq!([r::RUC, r::ROC].map(|at| bench.peek(at)), [1, 1]);
    driver.client.allow_jumbo();
    bench.arrive(&[frame(9014, 5), frame(9015, 5)]);
    assert_eq!(driver.receive_all(), [frame(9014, 5)]);
    assert_eq!(bench.peek(r::ROC), 2);
}

#[test]
fn the_driver_gets_the_crc_unless_it_is_stripped() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.client.change(r::HLREG0, 0, r::HLREG0_RXCRCSTRP);
    bench.poll();
    bench.arrive(&[frame(60, 1)]);
    let mut with_crc = driver.receive().unwrap();
    assert_eq!((with_crc.len(), &with_crc[..60]), (64, &frame(60, 1)[..]));
    assert_eq!(bench.peek(r::GORCL), 64);
    // The driver sends the frame with its CRC, then with a wrong CRC. The wire drops the second.
    let command = 64 | r::TXD_DTYP_DATA | r::TXD_DEXT | r::TXD_EOP | r::TXD_RS;
    for place in [driver.tx_buffer(0), driver.tx_buffer(1)] {
        driver.memory.write(place, &with_crc);
        driver.post(IOVA + place as u64, command);
        with_crc[63] ^= 0xff;
    }
    driver.ring_doorbell();
    bench.poll();
    assert_eq!(bench.sent(), [frame(60, 1)]);
    assert_eq!(bench.peek(r::GOTCL), 128);
}

#[test]
fn short_frames_are_padded_on_request() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.transmit(&frame(20, 1));
    bench.poll();
    let mut padded = frame(20, 1);
    padded.resize(60, 0);
    assert_eq!(bench.sent(), [padded]);
    driver.client.change(r::HLREG0, 0, r::HLREG0_TXPADEN);
    driver.transmit(&frame(20, 1));
    bench.poll();
    assert_eq!(bench.sent(), [frame(20, 1)]);
}

#[test]
fn several_descriptors_can_hold_one_frame() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, Rings::default());
    let whole = frame(300, 9);
    let buffer = driver.tx_buffer(0);
    driver.memory.write(buffer, &whole);
    let piece = |from: usize, len: usize| (IOVA + (buffer + from) as u64, data_command(len, 300));
    for (address, command) in [piece(0, 14), piece(14, 200)] {
        driver.post(address, command);
    }
    driver.ring_doorbell();
    bench.poll();
    assert!(bench.sent().is_empty(), "the end of the frame is missing");
    let (address, command) = piece(214, 86);
    driver.post(address, command | r::TXD_EOP | r::TXD_RS);
    driver.transmit(&frame(60, 1));
    bench.poll();
    assert_eq!(bench.sent(), [whole, frame(60, 1)]);
    let done = [0, 1, 2].map(|slot| driver.tx_done(slot));
    assert_eq!(done, [false, false, true], "only the last one has RS");
    assert_eq!(bench.peek(r::GPTC), 2);
}

/// Reading a shared page clears nothing. A driver that adds the values up would count frames again. Frames arrive
/// between all reads.
#[test]
fn queue_statistics_in_shared_pages_count_each_frame_once() {
    for mode in MODES {
        let mut bench = Bench::new(mode);
        let mut driver = bench.driver(0, Rings::default());
        let (mut received, mut bytes, mut frames) = (0, 0, 0);
        for _ in 0..10 {
            // The order in which drivers read them; the first one stands for all that are not of a queue.
            let registers = [r::CRCERRS, r::QPRC(0), r::QBRC_L(0), r::QBTC_L(0)];
            let counts = registers.map(|register| {
                frames += 1;
                bench.arrive(&[frame(60, 0)]);
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
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, Rings::default());
    for first in [0, 4] {
        driver.transmit_small(first..first + 3, 0);
        driver.transmit_small(first + 3..first + 4, r::TXD_RS);
    }
    bench.poll();
    let done = (0..8).filter(|slot| driver.tx_done(*slot));
    assert_eq!(Vec::from_iter(done), [3, 7]);
}

/// Sends frames of 60 bytes in batches with these thresholds, and returns the numbers of writes and
/// of descriptors that the card wrote back.
fn write_backs(rings: Rings, batches: &[u8]) -> (u64, u64) {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, rings);
    for batch in batches {
        driver.transmit_small(0..*batch, r::TXD_RS);
        bench.poll();
    }
    let stats = bench.port(0).stats();
    let sent: u64 = batches.iter().map(|batch| u64::from(*batch)).sum();
    assert_eq!(stats.transmitted, sent);
    (stats.tx_write_backs, stats.tx_descriptors_written_back)
}

#[test]
fn a_group_of_descriptors_is_one_write() {
    let rings = |tx_len, write_back| {
        let thresholds = thresholds(36, 8, write_back);
        Rings::with(|it| (it.tx_len, it.tx_thresholds) = (tx_len, thresholds))
    };
    assert_eq!(write_backs(rings(512, 0), &[32; 10]), (320, 320));
    let four = rings(512, 4);
    assert_eq!(write_backs(four, &[32; 10]), (80, 320));
    assert_eq!(write_backs(four, &[3; 8]), (6, 24));
    assert_eq!(write_backs(four, &[3; 3]), (2, 8), "one waits");
    // Groups of three: the group of the descriptors 6, 7 and 0 lies at both ends of eight.
    let three = rings(8, 3);
    assert_eq!(write_backs(three, &[6, 6]), (5, 12));
    assert_eq!(write_backs(three, &[7, 5]), (5, 12));
}

#[test]
fn a_flush_writes_the_rest_of_a_group_back_at_once() {
    for mmio in MODES {
        let mut bench = Bench::new(mmio);
        let mut driver = bench.driver(0, Rings::with(|it| it.tx_thresholds = thresholds(36, 8, 4)));
        driver.transmit_small(0..3, r::TXD_RS);
        bench.poll();
        assert!(!driver.tx_done(0), "three wait for the fourth");
        driver.transmit_small(3..7, 0);
        bench.poll();
        let done = [3, 4].map(|slot| driver.tx_done(slot));
        assert_eq!(done, [true, false], "four together, with RS or without");
        let control = thresholds(36, 8, 4) | r::TXDCTL_ENABLE;
        driver.client.set(r::TXDCTL(0), control | r::TXDCTL_SWFLSH);
        bench.poll();
        assert!(driver.tx_done(6));
        assert_eq!(driver.client.get(r::TXDCTL(0)), control, "SWFLSH clears");
        let stats = bench.port(0).stats();
        let counts = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        assert_eq!(counts, (2, 7));
    }
}

#[test]
fn a_queue_that_stops_without_a_flush_keeps_its_descriptors() {
    let mut bench = Bench::new(Trap);
    let mut driver = bench.driver(0, Rings::with(|it| it.tx_thresholds = thresholds(36, 8, 4)));
    driver.transmit_small(0..6, r::TXD_RS);
    bench.poll();
    driver.client.change(r::TXDCTL(0), 0, r::TXDCTL_ENABLE);
    bench.poll();
    let done = [3, 4, 5].map(|slot| driver.tx_done(slot));
    assert_eq!(done, [true, false, false]);
}

#[test]
fn impossible_write_back_thresholds_are_noted() {
    for (prefetch, write_back, head, noted) in [
        (36, 4, false, ""),
        (37, 4, false, "exceed the 40"),
        (32, 0, true, ""),
        (32, 1, true, "needs WTHRESH 0"),
    ] {
        let thresholds = thresholds(prefetch, 8, write_back);
        let rings = Rings::with(|it| (it.tx_thresholds, it.head_write_back) = (thresholds, head));
        let mut bench = Bench::new(Shared);
        let _driver = bench.started(rings);
        let notes = bench.port(0).notes();
        assert_eq!(notes.len(), usize::from(!noted.is_empty()), "{notes:?}");
        assert!(notes.concat().contains(noted), "{notes:?}");
    }
}

#[test]
fn the_head_can_be_written_back_instead() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(
        0,
        Rings::with(|it| (it.head_write_back, it.tx_len) = (true, 8)),
    );
    driver.transmit_small(0..1, 0);
    driver.transmit_small(1..2, r::TXD_RS);
    driver.transmit_small(2..3, 0);
    bench.poll();
    assert_eq!(
        driver.written_head(),
        2,
        "the head after the descriptor with RS"
    );
    assert_eq!(bench.peek(r::TDH(0)), 3);
    driver.transmit_small(3..9, r::TXD_RS);
    bench.poll();
    assert_eq!(driver.written_head(), 1, "the head has wrapped around");
    assert!((0..8).all(|slot| !driver.tx_done(slot)));
}

#[test]
fn frames_move_only_while_every_switch_is_on() {
    type Switch = fn(&mut Driver, bool);
    let off: [(&str, Switch); 5] = [
        ("bus master", |driver, on| driver.client.set_bus_master(on)),
        ("master disable", |driver, on| {
            let control = if on { 0 } else { r::CTRL_MASTER_DISABLE };
            driver.client.set(r::CTRL, control);
        }),
        ("enables", |driver, on| {
            driver.client.set(r::RXCTRL, u32::from(on));
            driver.client.set(r::DMATXCTL, u32::from(on));
        }),
        ("receive path and transmit", |driver, on| {
            let path = if on { 0 } else { r::SECRXCTRL_RX_DIS };
            driver.client.set(r::SECRXCTRL, path);
            driver.client.set(r::DMATXCTL, u32::from(on));
            let ready = driver.client.get(r::SECRXSTAT) & r::SECRXSTAT_SECRX_RDY != 0;
            assert_eq!(ready, !on);
        }),
        ("queues", |driver, on| {
            if on {
                return driver.start_queue();
            }
            driver.client.set(r::RXDCTL(0), 0);
            driver.client.set(r::TXDCTL(0), 0);
        }),
    ];
    for ((what, switch), mmio) in off.iter().flat_map(|row| MODES.map(|mmio| (row, mmio))) {
        let mut bench = Bench::new(mmio);
        let mut driver = bench.started(Rings::default());
        switch(&mut driver, false);
        driver.transmit(&frame(60, 1));
        assert!(bench.arrive(&[frame(60, 1)]).is_idle(), "{what}");
        assert_eq!(driver.receive(), None);
        switch(&mut driver, true);
        bench.poll();
        driver.transmit(&frame(60, 2));
        bench.arrive(&[frame(60, 3)]);
        assert_eq!(driver.receive(), Some(frame(60, 3)), "{what}");
        assert_eq!(bench.sent().last(), Some(&frame(60, 2)), "{what}");
    }
}

#[test]
fn addresses_are_filtered() {
    let mut bench = Bench::new(Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.client.set(r::FCTRL, 0);
    bench.poll();
    let own = bench.port(0).mac_address();
    let to = |address: [u8; 6]| [&address, &frame(60, 1)[6..]].concat();
    let mut other = own;
    other[5] ^= 1;
    let multicast = [1, 0, 0x5e, 0, 0, 1];
    bench.arrive(&[own, other, [0xff; 6], multicast].map(to));
    assert_eq!(driver.receive_all(), [to(own)]);
    assert_eq!(bench.port(0).stats().dropped_filtered, 3);
    // The port gets a second address.
    let [a, b, c, d, e, f] = other;
    driver
        .client
        .set(r::RAL(7), u32::from_le_bytes([a, b, c, d]));
    driver
        .client
        .set(r::RAH(7), u32::from_le_bytes([e, f, 0, 0]) | r::RAH_AV);
    bench.arrive(&[to(other)]);
    assert_eq!(driver.receive_all(), [to(other)]);
}

#[test]
fn dma_outside_the_maps_changes_nothing_and_is_recorded() {
    const OUTSIDE: [u64; 2] = [0xdead_0000, 0xbeef_0000];
    let mut bench = Bench::new(Shared);
    let mut driver = bench.started(Rings::default());
    // The card does not send a packet outside the maps, and finishes its descriptor.
    let command = data_command(60, 60) | r::TXD_EOP | r::TXD_RS;
    let slot = driver.post(OUTSIDE[0], command);
    driver.ring_doorbell();
    bench.poll();
    assert!(driver.tx_done(slot));
    assert!(bench.sent().is_empty());
    // A frame for a buffer outside the maps is lost.
    driver.memory.write_u64(0, OUTSIDE[1]);
    bench.arrive(&[frame(60, 1)]);
    let faults = bench.port(0).dma_faults();
    let seen = faults.iter().map(|it| (it.iova, it.purpose, it.direction));
    let expected = [
        (OUTSIDE[0], Purpose::TxPacket, Direction::Read),
        (OUTSIDE[1], Purpose::RxPacket, Direction::Write),
    ];
    assert_eq!(Vec::from_iter(seen), expected);
    // A ring outside the maps causes one fault, and its queue halts.
    let len = driver.memory.len() as u64;
    driver.client.dma_unmap(IOVA, len).unwrap();
    driver.transmit(&frame(60, 1));
    bench.inject(&frame(60, 1));
    for _ in 0..10 {
        bench.poll();
    }
    assert_eq!(bench.port(0).stats().dma_faults, 4);
    assert_eq!(bench.port(0).snapshot().dma_faults, 4);
}

#[test]
fn the_card_does_not_write_to_read_only_memory() {
    const READ_ONLY: u64 = 0x7000_0000;
    let mut bench = Bench::saturated(Shared);
    let mut driver = bench.driver(0, Rings::default());
    let pool = Memory::new(4096);
    let client = &mut driver.client;
    client
        .dma_map(READ_ONLY, 4096, 0, 1, Some(&pool.file))
        .unwrap();
    driver.memory.write_u64(0, READ_ONLY);
    bench.poll();
    assert_eq!(pool.bytes(0, 4096), vec![0; 4096]);
    assert_eq!(bench.port(0).dma_faults()[0].refusal, Refusal::Permission);
}

/// The rings as they are just before the driver writes a watched register, and as they are now.
#[test]
fn the_rings_can_be_seen_before_a_doorbell() {
    let mut bench = Bench::new(Trap);
    let port = bench.port(0);
    port.watch(&[r::TDT(0)]);
    let mut driver = bench.started(Rings::default());
    port.take_watched();
    driver.post_frame(&frame(60, 1), 0);
    let handed_over = port.rings();
    driver.ring_doorbell();
    let writes = port.take_watched();
    assert_eq!(writes.len(), 1);
    assert_eq!((writes[0].address, writes[0].value), (r::TDT(0), 1));
    assert_eq!(writes[0].rings, handed_over);
    assert_eq!(handed_over.transmit.tail, 0);
    assert_eq!(handed_over.transmit.descriptors[0], driver.tx_descriptor(0));
    let now = port.rings().transmit;
    assert_eq!((now.head, now.tail), (0, 1));
    // To look is no access of the card.
    port.log_dma(true);
    port.rings();
    assert_eq!(port.take_dma(), []);
    bench.poll();
    assert!(!port.take_dma().is_empty());
    assert_eq!(port.rings().transmit.head, 1);
    assert!(port.take_watched().is_empty());
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

fn numbered(n: u32) -> Vec<u8> {
    let mut frame = frame(60 + n as usize % 5, 0);
    frame[20..24].copy_from_slice(&n.to_le_bytes());
    frame
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
        let mut bench = Bench::new(Shared);
        let len = 1 << log_len;
        let group = if head_write_back { 0 } else { threshold };
        let rings = Rings {
            rx_len: len,
            tx_len: len,
            rx_filled: len - 1,
            drop_enable,
            head_write_back,
            tx_thresholds: thresholds(32, 8, group),
            ..Rings::default()
        };
        let mut driver = bench.started(rings);
        let (mut injected, mut posted, mut sent) = (0, 0, Vec::new());
        let mut received = Vec::new();
        // At the end, the remaining frames arrive.
        let end = (0..200).flat_map(|_| [Step::Poll, Step::Receive(len)]);
        for step in steps.into_iter().chain(end) {
            match step {
                Step::Inject(count) => {
                    (injected..injected + count as u32).for_each(|n| bench.inject(&numbered(n)));
                    injected += count as u32;
                }
                Step::Poll => {
                    bench.poll();
                    sent.extend(bench.sent());
                }
                Step::Receive(count) => received.extend((0..count).map_while(|_| driver.receive())),
                Step::Transmit(count) => {
                    // A descriptor is free once the card has written it back.
                    let done = sent.len() - sent.len() % group.max(1) as usize;
                    let pending = posted as usize - done;
                    for _ in 0..count.min(len - 1 - pending) {
                        driver.post_frame(&numbered(posted), r::TXD_RS);
                        posted += 1;
                    }
                    driver.ring_doorbell();
                }
            }
        }
        prop_assert_eq!(sent.len(), posted as usize);
        prop_assert!(sent.iter().zip(0..).all(|(frame, n)| *frame == numbered(n)));
        let number = |frame: &Vec<u8>| u32::from_le_bytes(frame[20..24].try_into().unwrap());
        let numbers: Vec<u32> = received.iter().map(number).collect();
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
