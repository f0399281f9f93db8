//! Drivers come and go, properly or not, and the device must be ready for the next one.
#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use harness::client::Session;
use harness::codec::{
    command, get32, get64, send, send_message, words, BAR0, CONFIG, FLAG_NO_REPLY,
};
use nic::registers as r;
use nic::{MmioMode, Nic, NicConfig, NicError, ResetCause, SessionEnd, TraceTo};
use support::{
    eventually, frame, signals, Bench, Client, Driver, Memory, Rings, MODES, REGION_IO, REGION_MSIX,
};

const EINVAL: u32 = 22;
const EEXIST: u32 = 17;
const EBUSY: u32 = 16;
const EOPNOTSUPP: u32 = 95;

#[test]
fn a_device_describes_itself() {
    for (mmio, areas) in [
        (MmioMode::Trap, vec![]),
        (MmioMode::Shared, vec![(0x1000, 0x1000), (0x6000, 0x1000)]),
    ] {
        let (_bench, mut client) = Bench::connected(mmio);
        assert_eq!(client.areas, areas);
        let mut ask = |command, payload: &[u32]| {
            let payload = words(payload);
            client.command(command, &payload, &[]).unwrap()
        };
        let info = ask(command::GET_INFO, &[16, 0, 0, 0]);
        assert_eq!(info, words(&[16, 3, 9, 5]));
        let sizes = (0..9).map(|region| {
            let reply = ask(command::REGION_INFO, &[32, 0, region, 0, 0, 0, 0, 0]);
            get64(&reply, 16)
        });
        let expected = [512 << 10, 0, 32, 0, 16 << 10, 0, 0, 4096, 0];
        assert_eq!(Vec::from_iter(sizes), expected);
        let vectors = (0..5).map(|kind| {
            let reply = ask(command::IRQ_INFO, &[16, 0, kind, 0]);
            get32(&reply, 12)
        });
        assert_eq!(Vec::from_iter(vectors), [1, 1, 64, 0, 0]);
        let id = client.region_read(CONFIG, 0, 4).unwrap();
        assert_eq!(id, [0x86, 0x80, 0xfb, 0x10]);
    }
}

#[test]
fn a_reset_takes_until_the_second_read() {
    let (_bench, mut client) = Bench::connected(MmioMode::Trap);
    for _ in 0..3 {
        client.set(r::FCTRL, r::FCTRL_UPE);
        client.set(r::CTRL, r::CTRL_RST);
        assert_ne!(client.get(r::CTRL) & r::CTRL_RST, 0);
        assert_eq!(client.get(r::CTRL) & r::CTRL_RST, 0);
        assert_eq!(client.get(r::FCTRL), 0);
        let falls_and_rises = [
            (r::EEC, r::EEC_ARD),
            (r::RDRXCTL, r::RDRXCTL_DMAIDONE),
            (r::LINKS, r::LINKS_UP),
        ];
        for (register, bit) in falls_and_rises {
            let seen = [(); 3].map(|()| client.get(register) & bit);
            assert_eq!(seen, [0, bit, bit]);
        }
        assert_eq!(client.get(r::LINKS) & r::LINKS_SPEED, r::LINKS_SPEED_10G);
        assert_ne!(client.get(r::EEC) & r::EEC_PRES, 0);
        assert_eq!(
            [r::RAL(0), r::RAH(0)].map(|at| client.get(at)),
            [0x9059_8202, r::RAH_AV]
        );
    }
    // The reset also completes for a driver that does not read CTRL.
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::STATUS);
    assert_eq!(client.get(r::CTRL) & r::CTRL_RST, 0);
}

#[test]
fn a_handshake_disables_the_bus_master() {
    let (_bench, mut client) = Bench::connected(MmioMode::Trap);
    for (control, enabled) in [(0, true), (r::CTRL_MASTER_DISABLE, false), (0, true)] {
        client.set(r::CTRL, control);
        assert_eq!(
            client.get(r::STATUS) & r::STATUS_MASTER_ENABLE != 0,
            enabled
        );
    }
}

#[test]
fn a_driver_that_stops_properly_leaves_the_device_at_rest() {
    for mmio in MODES {
        let bench = Bench::new(mmio);
        bench.driver(0, Rings::default()).stop();
        bench.until_free();
        let session = bench.port(0).last_session().unwrap();
        assert_eq!((session.number, session.end), (1, SessionEnd::Disconnected));
        assert!(session.snapshot.quiescent(), "{:?}", session.snapshot);
        assert!(!session.snapshot.master_enable_status);
        assert_eq!(session.snapshot.dma_maps, 0);
        assert_eq!(session.notes, [""; 0]);
    }
}

#[test]
fn a_driver_that_dies_is_reported_and_the_device_reset() {
    for mmio in MODES {
        let bench = Bench::new(mmio);
        let port = bench.port(0);
        drop(bench.driver(0, Rings::with(|it| it.queue = 2)));
        bench.until_free();
        let left = port.last_session().unwrap().snapshot;
        assert!(left.bus_master && left.rx_enabled && left.tx_enabled && !left.quiescent());
        assert_eq!((left.rx_queues, left.tx_queues), (vec![2], vec![2]));
        assert_eq!(left.dma_maps, 1);
        assert_eq!(port.last_reset().unwrap().cause, ResetCause::Disconnect);
        let now = port.snapshot();
        assert!(now.quiescent() && now.rx_queues.is_empty() && now.dma_maps == 0);
        assert_eq!(bench.peek(r::RDLEN(2)), 0);
    }
}

/// Starts the queues again after a reset, and checks that a frame arrives.
fn start_again(bench: &mut Bench, driver: &mut Driver) {
    driver.client.change(r::FCTRL, r::FCTRL_BAM, 0);
    driver.start_queue();
    driver.client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
    bench.poll();
    bench.arrive(&[frame(60, 1)]);
    assert_eq!(driver.receive(), Some(frame(60, 1)));
}

#[test]
fn a_reset_by_message_resets_everything() {
    let mut bench = Bench::new(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    driver.client.reset();
    let last = bench.port(0).last_reset().unwrap();
    assert_eq!(last.cause, ResetCause::Function);
    assert!(last.snapshot.bus_master && last.snapshot.rx_enabled);
    let now = bench.port(0).snapshot();
    assert!(now.quiescent() && !now.tx_enabled);
    // Maps belong to the IOMMU, so the reset keeps them.
    assert_eq!(now.dma_maps, 1);
    driver.client.set_bus_master(true);
    start_again(&mut bench, &mut driver);
}

/// The kernel saves the configuration space before a reset and writes it back afterwards. DPDK sets
/// the bus-master bit before it resets, and never again.
#[test]
fn a_configuration_space_that_is_written_back_after_a_reset_works() {
    let mut bench = Bench::new(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    let client = &mut driver.client;
    // BARs, MSI-X, device control: values that differ from those after a reset.
    for (offset, word) in [(0x10, 0xf000_0004_u32), (0x70, 0x803f_a011), (0xa8, 0x2810)] {
        client
            .region_write(CONFIG, offset, &word.to_le_bytes())
            .unwrap();
    }
    let saved = client.region_read(CONFIG, 0, 256).unwrap();
    client.reset();
    assert_ne!(client.region_read(CONFIG, 0, 256).unwrap(), saved);
    assert!(!bench.port(0).snapshot().bus_master);
    // The kernel writes words from the last to the first.
    for at in (0..256).step_by(4).rev() {
        client
            .region_write(CONFIG, at as u64, &saved[at..at + 4])
            .unwrap();
    }
    assert_eq!(client.region_read(CONFIG, 0, 256).unwrap(), saved);
    assert_eq!(
        bench.port(0).stats().resets,
        1,
        "writing back starts no reset"
    );
    start_again(&mut bench, &mut driver);
}

#[test]
fn a_second_client_is_turned_away_and_the_first_stays() {
    let bench = Bench::new(MmioMode::Trap);
    let port = bench.port(0);
    let socket = port.socket();
    let mut first = Client::connect(socket);
    for _ in 0..3 {
        let mut second = Session::connect(socket).unwrap();
        let refused = second.call(command::VERSION, &[0, 0, 1, 0], &[]);
        assert_eq!(refused.unwrap(), Err(EBUSY));
        assert_eq!(first.get(r::RAH(0)), r::RAH_AV);
    }
    drop(first);
    bench.until_free();
    Client::connect(socket);
}

#[test]
fn the_next_driver_may_connect_before_the_last_has_ended() {
    let bench = Bench::new(MmioMode::Trap);
    for _ in 0..300 {
        let mut client = bench.client(0);
        assert_eq!(client.get(r::FCTRL), 0);
        client.set(r::FCTRL, r::FCTRL_UPE);
    }
}

/// A driver that takes its memory away loses its own maps, and no other port notices.
#[test]
fn a_driver_that_takes_its_memory_away_loses_its_maps() {
    const HUGE: u64 = 0x2_0000_0000;
    for huge in [false, true] {
        let mut bench = Bench::saturated(MmioMode::Shared);
        let (port, other) = (bench.port(0), bench.port(1));
        let [mut driver, mut neighbour] = [0, 1].map(|port| bench.driver(port, Rings::default()));
        if huge {
            // Without huge pages, this machine has none to take away.
            let Some(memory) = Memory::huge(2 << 20) else {
                continue;
            };
            let client = &mut driver.client;
            client
                .dma_map(HUGE, 2 << 20, 0, 3, Some(&memory.file))
                .unwrap();
            driver.memory.write_u64(0, HUGE);
            rustix::fs::ftruncate(&memory.file, 0).unwrap();
        } else {
            rustix::fs::ftruncate(&driver.memory.file, 4096).unwrap();
        }
        bench.settle();
        let lost = |port: &nic::Port| port.notes().concat().contains("made shorter");
        assert!(lost(&port) && !lost(&other), "{:?}", port.notes());
        assert!(neighbour.receive().is_some());
        if !huge {
            driver.client.set(r::TDT(0), 5);
            bench.poll();
            let faults = port.dma_faults();
            assert_eq!(faults.last().unwrap().refusal, nic::Refusal::NoMemory);
        }
        drop(driver);
        eventually("it is gone", || !port.connected());
        // The port serves the next driver as before.
        let mut next = bench.started(Rings::default());
        bench.poll();
        assert!(next.receive().is_some());
    }
}

#[test]
fn only_memory_can_be_mapped() {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    let (_bench, mut client) = Bench::connected(MmioMode::Trap);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = tempfile::tempfile_in(folder.path()).unwrap();
    file.set_len(4096).unwrap();
    let system = rustix::fs::fstatfs(&file).unwrap().f_type as u64;
    let refused = client.dma_map(0, 4096, 0, 1, Some(&file.into()));
    // On tmpfs, files of the target directory are memory.
    assert_eq!(refused.is_err(), system != TMPFS_MAGIC);
}

#[test]
fn maps_are_checked() {
    let (bench, mut client) = Bench::connected(MmioMode::Trap);
    let memory = Memory::new(1 << 20);
    let mut map = |iova, size, flags| client.dma_map(iova, size, 0, flags, Some(&memory.file));
    assert_eq!(map(0x10_0000, 0x10_0000, 3), Ok(()));
    assert_eq!(map(0x18_0000, 0x10_0000, 3), Err(EEXIST));
    assert_eq!(map(0x40_0800, 0x1000, 3), Err(EINVAL));
    assert_eq!(map(0x40_0000, 0x20_0000, 3), Err(EINVAL));
    assert_eq!(map(0x40_0000, 0x1000, 0), Err(EINVAL));
    assert_eq!(client.dma_unmap(0x10_0000, 0x8_0000), Err(EINVAL));
    client.dma_map(0x40_0000, 0x1000, 0, 1, None).unwrap();
    for left in [2, 0, 0] {
        assert_eq!(bench.port(0).snapshot().dma_maps, left);
        client.dma_unmap(0, 1 << 40).unwrap();
    }
}

#[test]
fn bad_commands_are_refused_and_the_session_goes_on() {
    let (bench, mut client) = Bench::connected(MmioMode::Trap);
    let mut refused = |command, payload: &[u8]| client.command(command, payload, &[]).err();
    // The server must not read any of these payloads as the next message.
    for command in [0, 6, 11, 12, 14, 99, u16::MAX] {
        assert_eq!(
            refused(command, &[0xff; 100]),
            Some(EOPNOTSUPP),
            "command {command}"
        );
    }
    for command in [2, 3, 5, 7, 8, 9, 10] {
        assert_eq!(
            refused(command, &[1, 2, 3]),
            Some(EINVAL),
            "command {command}"
        );
    }
    assert_eq!(refused(command::VERSION, &[0, 0, 0, 0]), Some(EINVAL));
    for (region, offset, count) in [
        (BAR0, 0, u32::MAX),
        (BAR0, u64::MAX - 1, 4),
        (9, 0, 4),
        (1, 0, 4),
    ] {
        assert_eq!(client.region_read(region, offset, count), Err(EINVAL));
    }
    assert_eq!(client.region_write(CONFIG, 4094, &[0; 4]), Err(EINVAL));
    assert_eq!(client.get(r::RAH(0)), r::RAH_AV);
    // What cannot be a message ends the session.
    let mut message = client.session.request(command::REGION_READ, &[]);
    message.header.size = 7;
    send_message(&client.session.stream, &message).unwrap();
    bench.until_free();
    let end = bench.port(0).last_session().unwrap().end;
    assert!(matches!(end, SessionEnd::ProtocolError(_)), "{end:?}");
}

#[test]
fn commands_that_want_no_reply_get_none() {
    let (_bench, mut client) = Bench::connected(MmioMode::Trap);
    // The offset has two words.
    let payload = words(&[r::FCTRL, 0, BAR0, 4, r::FCTRL_UPE]);
    for command in [command::REGION_WRITE, 99] {
        let mut message = client.session.request(command, &payload);
        message.header.flags = FLAG_NO_REPLY;
        send_message(&client.session.stream, &message).unwrap();
    }
    assert_eq!(client.get(r::FCTRL), r::FCTRL_UPE);
}

#[test]
fn the_io_bar_and_partial_reads_reach_registers() {
    let (_bench, mut client) = Bench::connected(MmioMode::Trap);
    let ral = r::RAL(0).to_le_bytes();
    client.region_write(REGION_IO, 0, &ral).unwrap();
    client
        .region_write(REGION_MSIX, 0x10, &[1, 2, 3, 4])
        .unwrap();
    client.region_write(BAR0, r::RAL(0).into(), &[1]).unwrap();
    let address = u64::from(r::RAL(0));
    for (region, offset, expected) in [
        (REGION_IO, 0, &ral[..]),
        (REGION_IO, 4, &[0x02, 0x82, 0x59, 0x90]),
        (BAR0, address + 1, &[0x82, 0x59]),
        // Partial writes are ignored.
        (BAR0, address, &[0x02, 0x82, 0x59, 0x90, 0, 0, 0, 0x80]),
        (REGION_MSIX, 0x10, &[1, 2, 3, 4]),
        (BAR0, 0x3_0000, &[0; 4]),
    ] {
        let read = client.region_read(region, offset, expected.len() as u32);
        assert_eq!(read.unwrap(), expected, "{region} {offset:#x}");
    }
}

#[test]
fn mistakes_of_drivers_are_noted() {
    let bench = Bench::new(MmioMode::Trap);
    let port = bench.port(0);
    let mut client = bench.client(0);
    for (register, value) in [
        (r::EIMC, u32::MAX),
        (r::DTXMXSZRQ, 0xfff),
        (r::RXCTRL, r::RXCTRL_RXEN),
        (r::FCTRL, r::FCTRL_UPE),
        (r::RDT(4), 7),
        (r::STATUS, 7),
        (r::RXDCTL(1), r::RXDCTL_ENABLE),
    ] {
        client.set(register, value);
    }
    let notes = port.notes();
    let expected = [
        "EIMC",
        "DTXMXSZRQ",
        "FCTRL",
        "RDT(4)",
        "STATUS",
        "receive queue 1",
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
    let mut pairs = notes.iter().zip(expected);
    assert!(pairs.all(|(note, part)| note.contains(part)), "{notes:#?}");
    // The notes are of this driver only.
    drop(client);
    bench.until_free();
    assert_eq!(port.last_session().unwrap().notes, notes);
    bench.client(0);
    assert!(port.notes().is_empty());
}

#[test]
fn interrupts_reach_the_driver() {
    const VECTOR: u32 = 3;
    let mut bench = Bench::new(MmioMode::Shared);
    let mut driver = bench.driver(0, Rings::default());
    let fd = driver
        .client
        .interrupt(VECTOR, r::IVAR_RX_EVEN_VALID | VECTOR);
    driver.client.set(r::EIAC, 1 << VECTOR);
    bench.poll();
    assert_eq!(signals(&fd), 0);
    bench.arrive(&[frame(60, 1)]);
    assert_eq!(signals(&fd), 1);
    driver.client.set(r::EIMC, 1 << VECTOR);
    bench.arrive(&[frame(60, 1)]);
    assert_eq!(signals(&fd), 0);
    assert_eq!(driver.client.get(r::EICR), 1 << VECTOR);
    driver.client.set(r::EICS, 1 << VECTOR);
    driver.client.set(r::EIMS, 1 << VECTOR);
    assert_eq!(signals(&fd), 1);
}

#[test]
fn a_trace_shows_every_access_in_trap_mode() {
    let bench = Bench::of(|config| config.with_trace(TraceTo::Memory));
    let mut client = bench.client(0);
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::CTRL);
    client.set(r::RDT(3), 511);
    // The second address of SRRCTL.
    client.get(0x2100 + 4 * 2);
    client.set_bus_master(true);
    client.get(0x0fff8);
    let lines: Vec<_> = bench
        .nic
        .take_trace()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "0 W CTRL 0x04000000",
        "0 R CTRL 0x04000000",
        "0 W RDT(3) 0x000001ff",
        "0 R SRRCTL(2) 0x00000402",
        "0 W PCI(0x004) 0x0006",
        "0 R 0x0fff8 0x00000000",
    ];
    assert_eq!(lines, expected);
    assert!(bench.nic.take_trace().is_empty());
}

#[test]
fn a_trace_file_is_complete() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let trace = TraceTo::File(file.path().to_owned());
    let bench = Bench::of(|config| config.with_trace(trace));
    let mut client = bench.client(0);
    for _ in 0..1000 {
        client.get(r::STATUS);
    }
    drop(bench);
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert_eq!(text.lines().count(), 1000);
}

#[test]
fn only_stale_sockets_are_replaced_and_only_the_own_one_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("port0.sock");
    let start = || Nic::new(NicConfig::new(directory.path(), 1));
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let first = start().unwrap();
    Client::connect(&path);
    let refused = start().unwrap_err().to_string();
    assert!(refused.contains("another server"), "{refused}");
    Client::connect(&path);
    drop(first);
    assert!(!path.exists());
    std::fs::write(&path, "precious").unwrap();
    let refused = start().unwrap_err().to_string();
    assert!(refused.contains("not a socket"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
    let replaced = start().unwrap();
    std::fs::remove_file(&path).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    drop(replaced);
    assert!(path.exists());
}

#[test]
fn no_client_delays_stopping() {
    let mut bench = Bench::new(MmioMode::Shared);
    let _running = bench.nic.run_data_plane().unwrap();
    let _silent = UnixStream::connect(bench.port(0).socket()).unwrap();
    let half = UnixStream::connect(bench.port(0).socket()).unwrap();
    send(&half, &[1, 2, 3], &[]).unwrap();
    let _connected = bench.driver(1, Rings::default());
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    bench.nic.stop();
    let time = start.elapsed();
    assert!(time < Duration::from_millis(500), "{time:?}");
    let end = bench.port(1).last_session().unwrap().end;
    assert_eq!(end, SessionEnd::Stopped);
}

#[test]
fn the_data_plane_can_be_taken_once() {
    let nic = &Bench::new(MmioMode::Shared).nic;
    let running = nic.run_data_plane().unwrap();
    assert!(matches!(nic.data_plane(), Err(NicError::DataPlaneTaken)));
    assert!(matches!(
        nic.run_data_plane(),
        Err(NicError::DataPlaneTaken)
    ));
    assert!(running.stop().unwrap().poll().is_idle());
}
