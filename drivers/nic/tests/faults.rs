//! Each fault has its effect while it is on, and none afterwards.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::{Direction, Faults, MmioMode, Purpose, ReceiveFault, Refusal, Traffic};
use rustix::event::{eventfd, EventfdFlags};
use support::{frame, link_is_up, signals, thresholds, Bench, Driver, Rings, IOVA};

fn bench() -> (Bench, Driver) {
    let mut bench = Bench::new(MmioMode::Trap);
    let driver = bench.started(Rings::default());
    (bench, driver)
}

/// Switches one fault on, or none, and all others off.
fn fault(bench: &Bench, set: impl FnOnce(&mut Faults)) {
    let mut faults = Faults::default();
    set(&mut faults);
    bench.port(0).set_faults(faults);
}

/// Lets a frame arrive. Returns whether the card has written the descriptor in that slot back.
fn arrives(bench: &mut Bench, driver: &Driver, slot: usize) -> bool {
    bench.arrive(&[frame(60, 1)]);
    driver.rx_descriptor(slot)[1] & r::RXD_DD != 0
}

fn length(descriptor: [u64; 2]) -> u64 {
    r::field64_get(r::RXD_LENGTH, descriptor[1])
}

#[test]
fn receive_descriptors_show_the_false_values() {
    let (mut bench, driver) = bench();
    for receive in [
        Some(ReceiveFault::Length(4000)),
        Some(ReceiveFault::NoEndOfPacket),
        None,
    ] {
        fault(&bench, |faults| faults.receive = receive);
        bench.arrive(&[frame(60, 1)]);
    }
    let shown = [0, 1, 2].map(|slot| driver.rx_descriptor(slot));
    assert_eq!(shown.map(length), [4000, 60, 60]);
    let last = r::RXD_DD | r::RXD_EOP;
    let flags = shown.map(|descriptor| descriptor[1] & last);
    assert_eq!(flags, [last, r::RXD_DD, last]);
}

/// Small generated frames take a short cut, which must show the fault as well.
#[test]
fn generated_frames_show_the_fault_too() {
    let (mut bench, driver) = bench();
    fault(&bench, |faults| {
        faults.receive = Some(ReceiveFault::Length(0))
    });
    bench.port(0).set_traffic(Traffic::Saturate);
    assert!(bench.poll().received > 0);
    assert_ne!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
    assert_eq!(length(driver.rx_descriptor(0)), 0);
}

#[test]
fn frames_go_beyond_an_ignored_tail() {
    let (mut bench, driver) = bench();
    let rings = Rings::default().rx_len;
    let handed_over = bench.peek(r::RDT(0)) as usize;
    assert!(handed_over < rings);
    for (ignore_tail, received) in [(false, handed_over), (true, rings)] {
        fault(&bench, |faults| faults.ignore_tail = ignore_tail);
        let flood = bench.arrive(&vec![frame(60, 1); rings]);
        assert_eq!(flood.received as usize, received);
        let done = driver.rx_descriptor(handed_over)[1] & r::RXD_DD != 0;
        assert_eq!(done, ignore_tail);
    }
}

#[test]
fn rogue_dma_goes_through_the_maps() {
    const OUTSIDE: u64 = 1 << 46;
    let (bench, driver) = bench();
    let port = bench.port(0);
    assert!(port.rogue_write(IOVA + 8, &[7; 8]));
    assert_eq!(driver.memory.bytes(8, 8), [7; 8]);
    assert!(!port.rogue_write(OUTSIDE, &[7; 8]));
    let [fault] = &port.dma_faults()[..] else {
        panic!("{:?}", port.dma_faults())
    };
    assert_eq!((fault.iova, fault.len), (OUTSIDE, 8));
    assert_eq!(fault.purpose, Purpose::Rogue);
    assert_eq!(
        (fault.direction, fault.refusal),
        (Direction::Write, Refusal::Unmapped)
    );
    assert_eq!(port.stats().dma_faults, 1);
}

#[test]
fn mapped_memory_stays_readable_after_the_driver_has_left() {
    let (bench, driver) = bench();
    let memory = bench.port(0).driver_memory();
    let (iova, size) = memory.maps()[0];
    assert_eq!(iova, IOVA);
    assert!(memory.write(iova + size - 4, &[9; 4]));
    assert_eq!(driver.memory.bytes(size as usize - 4, 4), [9; 4]);
    driver.stop();
    bench.until_free();
    assert!(bench.port(0).driver_memory().maps().is_empty());
    let mut bytes = [0; 4];
    assert!(memory.read(iova + size - 4, &mut bytes));
    assert_eq!(bytes, [9; 4]);
    // The map does not hold the whole range, so no byte is copied.
    assert!(!memory.read(iova + size - 2, &mut bytes));
    assert!(!memory.write(iova - 2, &bytes));
    assert!(!memory.read(u64::MAX, &mut bytes));
}

#[test]
fn a_removed_device_reads_all_ones_and_does_nothing() {
    let (mut bench, mut driver) = bench();
    fault(&bench, |faults| faults.removed = true);
    assert_eq!(driver.client.get(r::STATUS), u32::MAX);
    driver.client.set(r::CTRL, r::CTRL_RST);
    let id = driver.client.region_read(harness::codec::CONFIG, 0, 4);
    assert_eq!(id.unwrap(), [0xff; 4]);
    assert!(!arrives(&mut bench, &driver, 0));
    assert_eq!(bench.port(0).stats().dropped_not_running, 1);
    // The write had no effect: the device was not reset.
    fault(&bench, |_| {});
    assert!(arrives(&mut bench, &driver, 0));
}

#[test]
fn heads_appear_beyond_the_ring() {
    let (mut bench, mut driver) = bench();
    arrives(&mut bench, &driver, 0);
    assert_eq!(driver.client.get(r::RDH(0)), 1);
    fault(&bench, |faults| faults.head_beyond_ring = true);
    bench.poll();
    assert!(driver.client.get(r::RDH(0)) as usize > Rings::default().rx_len);
    assert!(driver.client.get(r::TDH(0)) as usize > Rings::default().tx_len);
    // Only the shown value is false.
    assert!(arrives(&mut bench, &driver, 1));
}

#[test]
fn a_storm_signals_masked_vectors() {
    let (mut bench, mut driver) = bench();
    let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    driver.client.set_irq(0, &fd);
    bench.poll();
    assert_eq!(signals(&fd), 0);
    fault(&bench, |faults| faults.interrupt_storm = true);
    bench.settle();
    assert_eq!(signals(&fd), 3);
    assert_eq!(bench.port(0).stats().interrupts_forced, 3);
}

#[test]
fn a_link_that_goes_down_comes_up_again() {
    let (mut bench, mut driver) = bench();
    for no_link in [false, true, false] {
        fault(&bench, |faults| faults.no_link = no_link);
        assert_eq!(link_is_up(&mut driver.client), !no_link);
        assert_eq!(bench.arrive(&[frame(60, 1)]).is_idle(), no_link);
    }
}

#[test]
fn a_stalled_card_sends_nothing_and_one_that_never_ends_its_reset_shows_it() {
    let (mut bench, mut driver) = bench();
    fault(&bench, |faults| faults.stall_tx = true);
    driver.transmit(&frame(60, 1));
    assert_eq!(bench.poll().transmitted, 0);
    assert_eq!(bench.port(0).snapshot().tx_pending, 1);
    fault(&bench, |faults| faults.never_finish_reset = true);
    driver.client.set(r::CTRL, r::CTRL_RST);
    for _ in 0..10 {
        assert_ne!(driver.client.get(r::CTRL) & r::CTRL_RST, 0);
    }
}

#[test]
fn a_damaged_frame_is_counted_and_dropped() {
    let (mut bench, mut driver) = bench();
    let port = bench.port(0);
    port.inject_with_bad_crc(&frame(60, 1)).unwrap();
    assert!(port.inject_with_bad_crc(&[]).is_err());
    assert!(bench.poll().is_idle());
    assert_eq!(driver.client.get(r::CRCERRS), 1);
    assert_eq!(driver.client.get(r::CRCERRS), 0);
    assert_eq!(port.stats().dropped_filtered, 1);
}

/// Sends 32 frames. Returns how many of the 32 descriptors show DD after the card's first round.
fn done_at_once(bench: &mut Bench, driver: &mut Driver, first: usize) -> usize {
    let done = |driver: &Driver| {
        (first..first + 32)
            .filter(|slot| driver.tx_done(*slot))
            .count()
    };
    driver.transmit_small(0..32, r::TXD_RS);
    bench.poll();
    let at_once = done(driver);
    bench.poll();
    assert_eq!(done(driver), 32);
    at_once
}

#[test]
fn relaxed_ordering_lets_write_backs_overtake_each_other() {
    for group in [0, 4] {
        let mut bench = Bench::new(MmioMode::Trap);
        let mut driver = bench.driver(
            0,
            Rings::with(|it| it.tx_thresholds = thresholds(32, 8, group)),
        );
        fault(&bench, |faults| faults.relaxed_ordering = true);
        let done = done_at_once(&mut bench, &mut driver, 0);
        assert!((1..31).contains(&done), "{done}");
        let relaxed = r::DCA_TXCTRL_DESC_WRO_EN;
        driver.client.change(r::DCA_TXCTRL(0), 0, relaxed);
        assert_eq!(done_at_once(&mut bench, &mut driver, 32), 32);
        assert!(bench.port(0).notes().is_empty());
    }
}

#[test]
fn a_descriptor_reused_before_its_write_back_is_destroyed_and_noted() {
    let (mut bench, mut driver) = bench();
    fault(&bench, |faults| faults.relaxed_ordering = true);
    // The driver fills the ring, and takes the last DD as proof for all others.
    driver.transmit_small(0..63, r::TXD_RS);
    bench.poll();
    driver.transmit_small(0..63, r::TXD_RS);
    bench.settle();
    let notes = bench.port(0).notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("reused a descriptor"), "{notes:?}");
    assert!(bench.sent().len() < 126);
}

#[test]
fn relaxed_ordering_lets_descriptors_overtake_their_packets() {
    for relaxed in [true, false] {
        let (mut bench, mut driver) = bench();
        if !relaxed {
            let bits = r::DCA_RXCTRL_DATA_WRO_EN;
            driver.client.change(r::DCA_RXCTRL(0), 0, bits);
        }
        fault(&bench, |faults| faults.relaxed_ordering = true);
        let sent: Vec<_> = (0..32).map(|n| frame(60, n)).collect();
        bench.arrive(&sent);
        assert_eq!(driver.receive_all() != sent, relaxed);
    }
}
