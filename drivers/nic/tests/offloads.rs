//! Checksums, VLAN tags and segmentation, through the rings of a test driver. The test steps the data
//! plane. It makes packets and checksums with its own code, not with the card's.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use nic::registers as r;
use nic::MmioMode;
use support::{data_command, signals, Bench, Driver, Rings, IOVA, MODES};

fn bench() -> Bench {
    Bench::new(MmioMode::Trap)
}

/// The sum of the Internet checksum, in a simple implementation.
fn ones_complement(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

const MAC: usize = 14;
const IP: usize = 20;
const TCP: usize = 20;
const HEADERS: usize = MAC + IP + TCP;

/// A packet with TCP over IPv4 and right checksums.
fn tcp(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![
        0x02, 0x82, 0x59, 0x90, 0, 0, 0x02, 0, 0, 0, 0, 9, 0x08, 0x00,
    ];
    frame.extend([0x45, 0]);
    frame.extend(((IP + TCP + payload.len()) as u16).to_be_bytes());
    frame.extend([
        0x00, 0x10, 0x40, 0x00, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    frame.extend([0x12, 0x34, 0x00, 0x50, 0, 0, 0, 100, 0, 0, 0, 0]);
    frame.extend([0x50, 0x19, 0x10, 0x00, 0, 0, 0, 0]);
    frame.extend(payload);
    let checksum = !ones_complement(&frame[MAC..MAC + IP]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    let checksum = !ones_complement(&with_pseudo_header(&frame));
    frame[50..52].copy_from_slice(&checksum.to_be_bytes());
    frame
}

fn with_pseudo_header(frame: &[u8]) -> Vec<u8> {
    let segment = &frame[MAC + IP..];
    let mut bytes = frame[26..34].to_vec();
    bytes.extend([0, 6]);
    bytes.extend((segment.len() as u16).to_be_bytes());
    bytes.extend(segment);
    bytes
}

/// Whether both checksums are right.
fn is_right(frame: &[u8]) -> bool {
    ones_complement(&frame[MAC..MAC + IP]) == 0xffff
        && ones_complement(&with_pseudo_header(frame)) == 0xffff
}

fn with_tag(frame: &[u8], tag: u16) -> Vec<u8> {
    let [a, b] = tag.to_be_bytes();
    [&frame[..12], &[0x81, 0x00, a, b], &frame[12..]].concat()
}

const CHECKS: u64 = r::RXD_IPCS | r::RXD_L4I | r::RXD_IPE | r::RXD_L4E;

#[test]
fn the_card_reports_received_checksums() {
    let good = tcp(&[7; 101]);
    let mut bad_ip = good.clone();
    bad_ip[22] ^= 1;
    let mut bad_tcp = good.clone();
    bad_tcp[90] ^= 0x10;
    let cases = [
        (&good, r::RXD_IPCS | r::RXD_L4I),
        (&bad_ip, r::RXD_IPCS | r::RXD_L4I | r::RXD_IPE),
        (&bad_tcp, r::RXD_IPCS | r::RXD_L4I | r::RXD_L4E),
    ];
    for legacy in [false, true] {
        let mut bench = bench();
        let driver = bench.started(Rings::with(|it| it.legacy = legacy));
        for (slot, (frame, expected)) in cases.into_iter().enumerate() {
            bench.arrive(std::slice::from_ref(frame));
            let [first, second] = driver.rx_descriptor(slot);
            if legacy {
                let status = second >> 32 & 0xff | (second >> 40 & 0xff) << 24;
                assert_eq!(status & CHECKS, expected);
            } else {
                assert_eq!(second & CHECKS, expected);
                assert_eq!(r::field64_get(r::RXD_PACKET_TYPE, first), 0x11, "TCP, IPv4");
            }
        }
    }
}

#[test]
fn the_last_descriptor_of_a_frame_reports_its_checksums() {
    let mut bench = bench();
    let driver = bench.started(Rings::with(|it| it.buffer_kb = 1));
    bench.arrive(&[tcp(&[1; 1400])]);
    assert_eq!(driver.rx_descriptor(0)[1] & CHECKS, 0);
    assert_eq!(
        driver.rx_descriptor(1)[1] & (CHECKS | r::RXD_EOP),
        r::RXD_EOP | r::RXD_IPCS | r::RXD_L4I
    );
}

#[test]
fn vlan_tags_are_filtered_and_stripped() {
    for mmio in MODES {
        let mut bench = Bench::new(mmio);
        let mut driver = bench.started(Rings::default());
        let plain = tcp(&[3; 20]);
        let tagged = with_tag(&plain, 0x6005);
        bench.arrive(std::slice::from_ref(&tagged));
        assert_ne!(driver.rx_descriptor(0)[1] & r::RXD_VP, 0);
        assert_eq!(
            driver.receive(),
            Some(tagged.clone()),
            "the frame keeps its tag"
        );
        driver.client.change(r::RXDCTL(0), r::RXDCTL_VME, 0);
        bench.arrive(std::slice::from_ref(&tagged));
        let status = driver.rx_descriptor(1)[1];
        assert_eq!(r::field64_get(r::RXD_VLAN, status), 0x6005);
        assert_eq!(status & CHECKS, r::RXD_IPCS | r::RXD_L4I);
        assert_eq!(
            driver.receive(),
            Some(plain.clone()),
            "the frame has lost its tag"
        );
        driver.client.change(r::VLNCTRL, r::VLNCTRL_VFE, 0);
        bench.arrive(&[tagged.clone(), plain.clone()]);
        assert_eq!(
            driver.receive_all(),
            [&plain[..]],
            "the filter drops VLAN 5"
        );
        driver.client.set(r::VFTA(0), 1 << 5);
        bench.arrive(&[tagged]);
        assert_eq!(driver.receive(), Some(plain));
    }
}

#[test]
fn a_vlan_tag_does_not_count_as_frame_length() {
    let mut bench = bench();
    let mut driver = bench.started(Rings::default());
    let longest = with_tag(&tcp(&[3; 1514 - HEADERS]), 5);
    bench.arrive(&[longest.clone(), tcp(&[3; 1515 - HEADERS])]);
    assert_eq!(driver.receive_all(), [longest]);
    assert_eq!(bench.peek(r::ROC), 1);
}

#[test]
fn tagged_packets_have_the_hash_of_untagged_ones() {
    let mut bench = bench();
    let mut driver = bench.driver(0, Rings::default());
    driver.spread(0, r::MRQC_RSS_TCP_IPV4);
    bench.poll();
    let plain = tcp(&[3; 20]);
    bench.arrive(&[plain.clone(), with_tag(&plain, 9)]);
    let [plain, tagged] = [0, 1].map(|slot| driver.rx_descriptor(slot)[0]);
    assert_ne!(r::field64_get(r::RXD_RSS_HASH, plain), 0);
    assert_eq!(plain, tagged);
}

fn context(index: u64, tag: u16, mss: u64) -> [u64; 2] {
    let first = r::field64(r::TXD_CONTEXT_MACLEN, MAC as u64)
        | r::field64(r::TXD_CONTEXT_IPLEN, IP as u64)
        | r::field64(r::TXD_CONTEXT_VLAN, tag.into());
    let second = r::TXD_DEXT
        | r::TXD_DTYP_CONTEXT
        | r::TXD_CONTEXT_IPV4
        | r::TXD_CONTEXT_L4T_TCP
        | r::field64(r::TXD_IDX, index)
        | r::field64(r::TXD_CONTEXT_L4LEN, TCP as u64)
        | r::field64(r::TXD_CONTEXT_MSS, mss);
    [first, second]
}

/// A frame as a driver hands it over: without IP checksum, and with the pseudo header's sum in place
/// of the TCP checksum. The sum includes the length only if `with_length`.
fn unfinished(frame: &[u8], with_length: bool) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let mut pseudo = with_pseudo_header(&frame)[..12].to_vec();
    if !with_length {
        pseudo[10..12].fill(0);
    }
    frame[24..26].fill(0);
    frame[50..52].copy_from_slice(&ones_complement(&pseudo).to_be_bytes());
    frame
}

const CHECKSUMS: u64 = r::TXD_POPTS_IXSM | r::TXD_POPTS_TXSM;

#[test]
fn the_context_that_a_frame_names_controls_its_checksums() {
    let mut bench = bench();
    let mut driver = bench.driver(0, Rings::default());
    for (index, tag) in [(0, 0x0111), (1, 0x0222)] {
        let [address, command] = context(index, tag, 0);
        driver.post(address, command);
    }
    // A frame of 60 bytes takes the fast path unless it requests an offload.
    let right = tcp(&[9; 60 - HEADERS]);
    for index in [1, 0] {
        let flags = CHECKSUMS | r::TXD_VLE | r::field64(r::TXD_IDX, index) | r::TXD_RS;
        driver.post_frame(&unfinished(&right, true), flags);
    }
    driver.post_frame(&right, r::TXD_RS);
    driver.ring_doorbell();
    bench.poll();
    assert_eq!(
        bench.sent(),
        [with_tag(&right, 0x0222), with_tag(&right, 0x0111), right]
    );
    assert_eq!(bench.peek(r::GPTC), 3);
    assert_eq!(bench.peek(r::GOTCL), 68 + 68 + 64);
}

/// Posts a packet for segmentation: the headers in one descriptor, the payload in several.
fn post_for_segmentation(driver: &mut Driver, packet: &[u8], pieces: usize) {
    let whole = unfinished(packet, false);
    let buffer = driver.tx_buffer(0);
    driver.memory.write(buffer, &whole);
    let paylen = whole.len() - HEADERS;
    let flags = r::TXD_TSE | CHECKSUMS;
    let at = IOVA + buffer as u64;
    driver.post(at, data_command(HEADERS, paylen) | flags);
    let piece = paylen.div_ceil(pieces);
    for from in (0..paylen).step_by(piece) {
        let len = piece.min(paylen - from);
        let end = if from + len == paylen {
            r::TXD_EOP | r::TXD_RS
        } else {
            0
        };
        let command = data_command(len, paylen) | flags | end;
        driver.post(at + (HEADERS + from) as u64, command);
    }
    driver.ring_doorbell();
}

#[test]
fn a_large_packet_is_cut_into_segments() {
    let mut bench = bench();
    let mut driver = bench.driver(0, Rings::default());
    let payload: Vec<u8> = (0..50_000_u32).map(|n| (n % 251) as u8).collect();
    let [address, command] = context(0, 0, 1448);
    driver.post(address, command);
    post_for_segmentation(&mut driver, &tcp(&payload), 7);
    bench.poll();
    let sent = bench.sent();
    assert_eq!(sent.len(), 50_000_usize.div_ceil(1448));
    let mut together: Vec<u8> = Vec::new();
    for (nth, frame) in sent.iter().enumerate() {
        assert!(is_right(frame), "segment {nth}");
        assert_eq!(
            frame[18..20],
            (0x10 + nth as u16).to_be_bytes(),
            "IP number"
        );
        let sequence = u32::from_be_bytes(frame[38..42].try_into().unwrap());
        assert_eq!(sequence as usize, 100 + together.len());
        // Only the last segment has FIN and PSH.
        let last = nth + 1 == sent.len();
        assert_eq!(frame[47], if last { 0x19 } else { 0x10 });
        together.extend(&frame[HEADERS..]);
    }
    assert_eq!(together, payload);
    assert!(driver.tx_done(8), "the last descriptor is written back");
    assert_eq!(bench.peek(r::GPTC), sent.len() as u32);
}

#[test]
fn segments_of_jumbo_size_arrive_at_the_other_end_of_a_cable() {
    let mut bench = Bench::of(|config| config.with_cable(0, 1));
    let [mut sender, mut receiver] = [0, 1].map(|port| bench.driver(port, Rings::default()));
    receiver.client.allow_jumbo();
    bench.poll();
    let payload: Vec<u8> = (0..60_000_u32).map(|n| (n % 253) as u8).collect();
    let [address, command] = context(0, 0, 8948);
    sender.post(address, command);
    post_for_segmentation(&mut sender, &tcp(&payload), 4);
    bench.poll();
    bench.poll();
    let received = receiver.receive_all();
    assert!(received.iter().all(|frame| is_right(frame)));
    let payloads = received.iter().map(|frame| &frame[HEADERS..]);
    assert_eq!(Vec::from_iter(payloads).concat(), payload);
    assert_eq!(received.len(), 60_000_usize.div_ceil(8948));
}

#[test]
fn a_frame_with_senseless_offloads_is_noted_and_not_sent() {
    let mut bench = bench();
    let mut driver = bench.driver(0, Rings::default());
    let [address, command] = context(0, 0, 0);
    driver.post(address, command);
    post_for_segmentation(&mut driver, &tcp(&[1; 5000]), 2);
    let right = tcp(&[2; 30]);
    driver.transmit(&right);
    bench.poll();
    assert_eq!(bench.sent(), [right]);
    let notes = bench.port(0).notes();
    assert!(
        notes.iter().any(|note| note.contains("MSS below 8")),
        "{notes:?}"
    );
    assert!(
        driver.tx_done(3),
        "the card finishes the descriptors all the same"
    );
}

/// With a threshold of 8, fewer descriptors are written back when the vector's throttle ends.
#[test]
fn the_throttle_ends_the_wait_for_a_write_back() {
    const VECTOR: u32 = 1;
    let mut bench = bench();
    let mut driver = bench.driver(
        0,
        Rings::with(|it| it.tx_thresholds = support::thresholds(32, 1, 8)),
    );
    let cause = r::field(r::IVAR_TX_EVEN, VECTOR) | r::IVAR_TX_EVEN_VALID;
    let fd = driver.client.interrupt(VECTOR, cause);
    driver.client.set(r::EIAC, 1 << VECTOR);
    driver.client.set(r::EIMS_EX(0), 1 << VECTOR);
    let enabled = driver.client.get(r::EIMS);
    assert_eq!(enabled, 1 << VECTOR, "both registers have the bit");
    // 511 units of 2 us.
    let interval = r::field(r::EITR_ITR_INTERVAL, 511);
    driver.client.set(r::EITR(VECTOR), interval);
    let mut looked_early = false;
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(2));
        let first = driver.transmit(&tcp(&[1; 20]));
        let start = Instant::now();
        bench.poll();
        assert!(driver.tx_done(first), "the throttle has ended");
        assert_eq!(signals(&fd), 1);
        let second = driver.transmit(&tcp(&[2; 20]));
        bench.poll();
        let outcome = (driver.tx_done(second), signals(&fd));
        // On a busy machine the time may be over.
        if start.elapsed() < Duration::from_micros(1022) {
            assert_eq!(outcome, (false, 0), "the throttle has not ended");
            std::thread::sleep(Duration::from_millis(2));
            bench.poll();
            assert_eq!((driver.tx_done(second), signals(&fd)), (true, 1));
            looked_early = true;
        }
    }
    assert!(looked_early, "this machine is too slow for this test");
}
