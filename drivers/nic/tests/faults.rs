//! Each fault has its effect while it is on, and none afterwards.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::{Direction, Faults, MmioMode, Nic, NicConfig, Purpose, ReceiveFault, Refusal, Traffic};
use rustix::event::{eventfd, EventfdFlags};
use support::{frame, Driver, Rings, IOVA};

struct Bench {
    nic: Nic,
    plane: nic::DataPlane,
    _directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = NicConfig::new(directory.path(), 2).with_mmio(MmioMode::Trap);
        let nic = Nic::new(config.with_each_port(|port| port.capture = true)).unwrap();
        let plane = nic.data_plane().unwrap();
        Self {
            nic,
            plane,
            _directory: directory,
        }
    }

    fn port(&self) -> &nic::Port {
        self.nic.port(0).unwrap()
    }

    fn driver(&mut self) -> Driver {
        let driver = Driver::start(self.port().socket(), Rings::default());
        self.plane.poll();
        driver
    }

    fn fault(&self, set: impl FnOnce(&mut Faults)) {
        let mut faults = Faults::default();
        set(&mut faults);
        self.port().set_faults(faults);
    }

    fn receive_one(&mut self) {
        self.port().inject(&frame(60, 1)).unwrap();
        self.plane.poll();
    }
}

fn length(descriptor: [u64; 2]) -> u64 {
    r::field64_get(r::RXD_LENGTH, descriptor[1])
}

#[test]
fn receive_descriptors_show_the_false_values() {
    let mut bench = Bench::new();
    let driver = bench.driver();
    bench.fault(|faults| faults.receive = Some(ReceiveFault::Length(4000)));
    bench.receive_one();
    bench.fault(|faults| faults.receive = Some(ReceiveFault::NoEndOfPacket));
    bench.receive_one();
    bench.fault(|_| {});
    bench.receive_one();
    let [long, endless, honest] = [0, 1, 2].map(|slot| driver.rx_descriptor(slot));
    assert_eq!(length(long), 4000);
    assert_eq!(endless[1] & (r::RXD_DD | r::RXD_EOP), r::RXD_DD);
    assert_eq!((length(endless), length(honest)), (60, 60));
    assert_ne!(honest[1] & r::RXD_EOP, 0);
}

/// Small generated frames take a short cut, which must show the fault as well.
#[test]
fn generated_frames_show_the_fault_too() {
    let mut bench = Bench::new();
    let driver = bench.driver();
    bench.fault(|faults| faults.receive = Some(ReceiveFault::Length(0)));
    bench.port().set_traffic(Traffic::Saturate);
    assert!(bench.plane.poll().received > 0);
    assert_ne!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
    assert_eq!(length(driver.rx_descriptor(0)), 0);
}

#[test]
fn frames_go_beyond_an_ignored_tail() {
    let mut bench = Bench::new();
    let driver = bench.driver();
    let rings = Rings::default().rx_len;
    let handed_over = bench.port().registers().peek(r::RDT(0)) as usize;
    assert!(handed_over < rings);
    let flood = |bench: &mut Bench| {
        for _ in 0..rings {
            bench.port().inject(&frame(60, 1)).unwrap();
        }
        bench.plane.poll().received as usize
    };
    assert_eq!(flood(&mut bench), handed_over);
    assert_eq!(driver.rx_descriptor(handed_over)[1] & r::RXD_DD, 0);
    bench.fault(|faults| faults.ignore_tail = true);
    assert_eq!(flood(&mut bench), rings);
    assert_ne!(driver.rx_descriptor(handed_over)[1] & r::RXD_DD, 0);
}

#[test]
fn rogue_dma_goes_through_the_maps() {
    let mut bench = Bench::new();
    let driver = bench.driver();
    assert!(bench.port().rogue_write(IOVA + 8, &[7; 8]));
    assert_eq!(driver.memory.bytes(8, 8), [7; 8]);
    assert!(!bench.port().rogue_write(1 << 46, &[7; 8]));
    let faults = bench.port().dma_faults();
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].iova, faults[0].len), (1 << 46, 8));
    assert_eq!(faults[0].purpose, Purpose::Rogue);
    assert_eq!(faults[0].direction, Direction::Write);
    assert_eq!(faults[0].refusal, Refusal::Unmapped);
    assert_eq!(bench.port().stats().dma_faults, 1);
}

#[test]
fn mapped_memory_stays_readable_after_the_driver_has_left() {
    let mut bench = Bench::new();
    let driver = bench.driver();
    let memory = bench.port().driver_memory();
    let (iova, size) = memory.maps()[0];
    assert_eq!(iova, IOVA);
    assert!(memory.write(iova + size - 4, &[9; 4]));
    assert_eq!(driver.memory.bytes(size as usize - 4, 4), [9; 4]);
    driver.stop();
    support::eventually("the driver has left", || !bench.port().connected());
    assert!(bench.port().driver_memory().maps().is_empty());
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
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    bench.fault(|faults| faults.removed = true);
    assert_eq!(driver.client.get(r::STATUS), u32::MAX);
    driver.client.set(r::CTRL, r::CTRL_RST);
    assert_eq!(driver.client.region_read(7, 0, 4).unwrap(), [0xff; 4]);
    bench.receive_one();
    assert_eq!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
    assert_eq!(bench.port().stats().dropped_not_running, 1);
    // The write had no effect: the device was not reset.
    bench.fault(|_| {});
    bench.receive_one();
    assert_ne!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
}

#[test]
fn heads_appear_beyond_the_ring() {
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    bench.receive_one();
    assert_eq!(driver.client.get(r::RDH(0)), 1);
    bench.fault(|faults| faults.head_beyond_ring = true);
    bench.plane.poll();
    assert!(driver.client.get(r::RDH(0)) as usize > Rings::default().rx_len);
    assert!(driver.client.get(r::TDH(0)) as usize > Rings::default().tx_len);
    // Only the shown value is false.
    bench.receive_one();
    assert_ne!(driver.rx_descriptor(1)[1] & r::RXD_DD, 0);
}

#[test]
fn a_storm_signals_masked_vectors() {
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    let signal = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    driver.client.set_irq(0, &signal);
    bench.plane.poll();
    let mut count = [0; 8];
    assert!(rustix::io::read(&signal, &mut count).is_err());
    bench.fault(|faults| faults.interrupt_storm = true);
    for _ in 0..3 {
        bench.plane.poll();
    }
    assert_eq!(rustix::io::read(&signal, &mut count), Ok(8));
    assert_eq!(u64::from_ne_bytes(count), 3);
    assert_eq!(bench.port().stats().interrupts_forced, 3);
}

#[test]
fn a_link_that_goes_down_comes_up_again() {
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    let up = |driver: &mut Driver| {
        // The first read after a change does not show the link yet.
        driver.client.get(r::LINKS);
        driver.client.get(r::LINKS) & r::LINKS_UP != 0
    };
    assert!(up(&mut driver));
    bench.fault(|faults| faults.no_link = true);
    assert!(!up(&mut driver));
    bench.receive_one();
    assert_eq!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
    bench.fault(|_| {});
    assert!(up(&mut driver));
    bench.receive_one();
    assert_ne!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
}

#[test]
fn a_damaged_frame_is_counted_and_dropped() {
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    bench.port().inject_with_bad_crc(&frame(60, 1)).unwrap();
    assert!(bench.port().inject_with_bad_crc(&[]).is_err());
    bench.plane.poll();
    assert_eq!(driver.client.get(r::CRCERRS), 1);
    assert_eq!(driver.client.get(r::CRCERRS), 0);
    assert_eq!(driver.rx_descriptor(0)[1] & r::RXD_DD, 0);
    assert_eq!(bench.port().stats().dropped_filtered, 1);
}

/// Sends 32 frames. Returns how many of the 32 descriptors show DD after the card's first round.
fn done_at_once(bench: &mut Bench, driver: &mut Driver) -> usize {
    let slots: Vec<usize> = (0..32)
        .map(|n| driver.post_frame(&frame(60, n), r::TXD_RS))
        .collect();
    driver.ring_doorbell();
    bench.plane.poll();
    let done = slots.iter().filter(|slot| driver.tx_done(**slot)).count();
    bench.plane.poll();
    assert!(slots.iter().all(|slot| driver.tx_done(*slot)));
    done
}

#[test]
fn relaxed_ordering_lets_write_backs_overtake_each_other() {
    for thresholds in [32 | 8 << 8, 36 | 8 << 8 | 4 << 16] {
        let mut bench = Bench::new();
        let rings = Rings {
            tx_thresholds: thresholds,
            ..Rings::default()
        };
        let mut driver = Driver::start(bench.port().socket(), rings);
        bench.fault(|faults| faults.relaxed_ordering = true);
        let done = done_at_once(&mut bench, &mut driver);
        assert!((1..31).contains(&done), "{done}");
        driver
            .client
            .change(r::DCA_TXCTRL(0), 0, r::DCA_TXCTRL_DESC_WRO_EN);
        assert_eq!(done_at_once(&mut bench, &mut driver), 32);
        assert!(bench.port().notes().is_empty());
    }
}

#[test]
fn a_descriptor_reused_before_its_write_back_is_destroyed_and_noted() {
    let mut bench = Bench::new();
    let mut driver = bench.driver();
    bench.fault(|faults| faults.relaxed_ordering = true);
    // The driver fills the ring, and takes the last DD as proof for all others.
    for round in 0..2 {
        for n in 0..63 {
            driver.post_frame(&frame(60, n), r::TXD_RS);
        }
        driver.ring_doorbell();
        if round == 0 {
            bench.plane.poll();
        }
    }
    bench.plane.poll();
    bench.plane.poll();
    let notes = bench.port().notes();
    assert!(
        notes.len() == 1 && notes[0].contains("reused a descriptor"),
        "{notes:?}"
    );
    assert!(bench.port().take_transmitted().len() < 126);
}

#[test]
fn relaxed_ordering_lets_descriptors_overtake_their_packets() {
    for relaxed in [true, false] {
        let mut bench = Bench::new();
        let mut driver = bench.driver();
        if !relaxed {
            let bits = r::DCA_RXCTRL_DATA_WRO_EN;
            driver.client.change(r::DCA_RXCTRL(0), 0, bits);
        }
        bench.fault(|faults| faults.relaxed_ordering = true);
        let sent: Vec<_> = (0..32).map(|n| frame(60, n)).collect();
        for frame in &sent {
            bench.port().inject(frame).unwrap();
        }
        bench.plane.poll();
        assert_eq!(driver.receive_all() != sent, relaxed);
    }
}
