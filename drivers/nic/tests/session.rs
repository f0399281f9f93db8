//! Drivers come and go, properly or not, and the device must be ready for the next one.
#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{MmioMode, Nic, NicConfig, NicError, ResetCause, SessionEnd, SocketError, Traffic};
use proptest::prelude::*;
use support::{eventually, frame, Client, Driver, Memory, Rings, IOVA};

const EINVAL: u32 = 22;
const EEXIST: u32 = 17;
const EOPNOTSUPP: u32 = 95;

fn nic(mmio: MmioMode) -> (tempfile::TempDir, Nic) {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(mmio)
        .with_each_port(|port| port.capture = true);
    let nic = Nic::new(config).unwrap();
    (directory, nic)
}

fn until_disconnected(nic: &Nic) {
    eventually("the device notices that its driver has left", || {
        !nic.port(0).unwrap().connected()
    });
}

#[test]
fn a_device_describes_itself() {
    for (mmio, areas) in [
        (MmioMode::Trap, vec![]),
        (MmioMode::Shared, vec![(0x1000, 0x1000), (0x6000, 0x1000)]),
    ] {
        let (_directory, nic) = nic(mmio);
        let mut client = Client::connect(nic.port(0).unwrap().socket());
        assert_eq!(client.areas, areas);
        let (info, _) = client
            .command(support::COMMAND_DEVICE_INFO, &[16, 0, 0, 0].repeat(4), &[])
            .unwrap();
        assert_eq!(info, [16_u32, 3, 9, 5].map(u32::to_le_bytes).concat());
        let sizes = (0..9_u32).map(|region| {
            let ask = [32, 0, region, 0, 0, 0, 0, 0]
                .map(u32::to_le_bytes)
                .concat();
            let (reply, _) = client
                .command(support::COMMAND_REGION_INFO, &ask, &[])
                .unwrap();
            u64::from_le_bytes(reply[16..24].try_into().unwrap())
        });
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            [512 << 10, 0, 32, 0, 16 << 10, 0, 0, 4096, 0]
        );
        let counts = (0..5_u32).map(|index| {
            let ask = [16, 0, index, 0].map(u32::to_le_bytes).concat();
            let (reply, _) = client
                .command(support::COMMAND_IRQ_INFO, &ask, &[])
                .unwrap();
            u32::from_le_bytes(reply[12..16].try_into().unwrap())
        });
        assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 64, 0, 0]);
        assert_eq!(
            client.region_read(7, 0, 4).unwrap(),
            [0x86, 0x80, 0xfb, 0x10]
        );
    }
}

#[test]
fn a_reset_takes_until_the_second_read() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
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
            assert_eq!(client.get(register) & bit, 0);
            assert_eq!(client.get(register) & bit, bit);
            assert_eq!(client.get(register) & bit, bit);
        }
        assert_eq!(client.get(r::LINKS) & r::LINKS_SPEED, r::LINKS_SPEED_10G);
        assert_ne!(client.get(r::EEC) & r::EEC_PRES, 0);
        assert_eq!(
            (client.get(r::RAL(0)), client.get(r::RAH(0))),
            (0x9059_8202, r::RAH_AV)
        );
    }
    // The reset also completes for a driver that does not read CTRL.
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::STATUS);
    assert_eq!(client.get(r::CTRL) & r::CTRL_RST, 0);
}

#[test]
fn the_eeprom_is_readable_and_its_checksum_is_right() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    let mut sum = 0_u16;
    for word in 0..0x40 {
        client.set(r::EERD, r::field(r::EERD_ADDR, word) | r::EERD_START);
        let value = client.get(r::EERD);
        assert_eq!(value & (r::EERD_DONE | r::EERD_START), r::EERD_DONE);
        sum = sum.wrapping_add(r::field_get(r::EERD_DATA, value) as u16);
    }
    assert_eq!(sum, 0xbaba);
}

#[test]
fn a_handshake_disables_the_bus_master() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    assert_ne!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
    client.set(r::CTRL, r::CTRL_MASTER_DISABLE);
    assert_eq!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
    client.set(r::CTRL, 0);
    assert_ne!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
}

#[test]
fn a_driver_that_stops_properly_leaves_the_device_at_rest() {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let (_directory, nic) = nic(mmio);
        Driver::start(nic.port(0).unwrap().socket(), Rings::default()).stop();
        until_disconnected(&nic);
        let session = nic.port(0).unwrap().last_session().unwrap();
        assert_eq!((session.number, session.end), (1, SessionEnd::Disconnected));
        assert!(session.snapshot.quiescent(), "{:?}", session.snapshot);
        assert!(!session.snapshot.master_enable_status);
        assert_eq!(session.snapshot.dma_maps, 0);
        assert_eq!(session.notes, [""; 0]);
    }
}

#[test]
fn a_driver_that_dies_is_reported_and_the_device_reset() {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let (_directory, nic) = nic(mmio);
        let port = nic.port(0).unwrap();
        drop(Driver::start(
            port.socket(),
            Rings {
                queue: 2,
                ..Rings::default()
            },
        ));
        until_disconnected(&nic);
        let left = port.last_session().unwrap().snapshot;
        assert!(left.bus_master && left.rx_enabled && left.tx_enabled && !left.quiescent());
        assert_eq!(
            (left.rx_queues, left.tx_queues, left.dma_maps),
            (vec![2], vec![2], 1)
        );
        assert_eq!(port.last_reset().unwrap().cause, ResetCause::Disconnect);
        let now = port.snapshot();
        assert!(now.quiescent() && now.rx_queues.is_empty() && now.dma_maps == 0);
        assert_eq!(port.registers().peek(r::RDLEN(2)), 0);
    }
}

#[test]
fn drivers_that_vanish_in_full_traffic_leave_the_nic_ready() {
    let directory = tempfile::tempdir().unwrap();
    let config =
        NicConfig::new(directory.path(), 2).with_each_port(|port| port.traffic = Traffic::Saturate);
    let nic = Nic::new(config).unwrap();
    let _running = nic.run_data_plane().unwrap();
    for round in 0..10 {
        let mut a = Driver::start(nic.port(0).unwrap().socket(), Rings::default());
        let mut b = Driver::start(nic.port(1).unwrap().socket(), Rings::default());
        let mut forwarded = 0;
        let deadline = Instant::now() + support::TIMEOUT;
        while forwarded < 500 {
            assert!(
                Instant::now() < deadline,
                "round {round}: {forwarded} forwarded"
            );
            if let Some(mut frame) = a.receive() {
                frame[1] = frame[1].wrapping_add(1);
                let slot = b.transmit(&frame);
                while !b.tx_done(slot) && Instant::now() < deadline {
                    std::hint::spin_loop();
                }
                forwarded += 1;
            }
        }
        // Both drivers vanish in full traffic, at once or one after the other.
        let (first, second) = if round % 2 == 0 { (a, b) } else { (b, a) };
        drop(first);
        std::thread::sleep(Duration::from_millis(round));
        drop(second);
        eventually("both are gone", || {
            nic.ports().iter().all(|port| !port.connected())
        });
        assert!(
            nic.port(0)
                .unwrap()
                .last_session()
                .unwrap()
                .snapshot
                .rx_enabled
        );
    }
    let stats = nic.port(1).unwrap().stats();
    assert_eq!((stats.verify.ok, stats.sessions), (5000, 10));
    assert!(stats.verify.clean(), "{:?}", stats.verify);
    assert!(stats.verify.abandoned > 0);
}

#[test]
fn a_reset_by_message_resets_everything() {
    let (_directory, nic) = nic(MmioMode::Shared);
    let port = nic.port(0).unwrap();
    let mut driver = Driver::start(port.socket(), Rings::default());
    driver.client.reset();
    let last = port.last_reset().unwrap();
    assert_eq!(last.cause, ResetCause::Function);
    assert!(last.snapshot.bus_master && last.snapshot.rx_enabled);
    let now = port.snapshot();
    assert!(now.quiescent() && !now.tx_enabled);
    // Maps belong to the IOMMU, so the reset keeps them.
    assert_eq!(now.dma_maps, 1);
    driver.client.set_bus_master(true);
    driver.client.change(r::FCTRL, r::FCTRL_BAM, 0);
    driver.start_queue();
    driver.client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
    let mut plane = nic.data_plane().unwrap();
    plane.poll();
    port.inject(&frame(60, 1)).unwrap();
    plane.poll();
    assert_eq!(driver.receive(), Some(frame(60, 1)));
}

/// The kernel saves the configuration space before a reset and writes it back afterwards. DPDK sets
/// the bus-master bit before it resets, and never again.
#[test]
fn a_configuration_space_that_is_written_back_after_a_reset_works() {
    const CONFIG: u32 = 7;
    let (_directory, nic) = nic(MmioMode::Shared);
    let port = nic.port(0).unwrap();
    let mut driver = Driver::start(port.socket(), Rings::default());
    // BARs, MSI-X, device control: values that differ from those after a reset.
    let changes = [(0x10, 0xf000_0004_u32), (0x70, 0x803f_a011), (0xa8, 0x2810)];
    for (offset, word) in changes {
        let bytes = word.to_le_bytes();
        driver.client.region_write(CONFIG, offset, &bytes).unwrap();
    }
    let saved = driver.client.region_read(CONFIG, 0, 256).unwrap();
    driver.client.reset();
    let reset = driver.client.region_read(CONFIG, 0, 256).unwrap();
    assert_ne!(reset, saved);
    assert!(!port.snapshot().bus_master);
    // The kernel writes words from the last to the first.
    for at in (0..256).step_by(4).rev() {
        let word = &saved[at..at + 4];
        let offset = at as u64;
        driver.client.region_write(CONFIG, offset, word).unwrap();
    }
    let restored = driver.client.region_read(CONFIG, 0, 256).unwrap();
    assert_eq!(restored, saved);
    assert_eq!(port.stats().resets, 1, "writing back starts no reset");
    driver.client.change(r::FCTRL, r::FCTRL_BAM, 0);
    driver.start_queue();
    driver.client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
    let mut plane = nic.data_plane().unwrap();
    plane.poll();
    port.inject(&frame(60, 1)).unwrap();
    plane.poll();
    assert_eq!(driver.receive(), Some(frame(60, 1)));
}

#[test]
fn a_second_client_is_turned_away_and_the_first_stays() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let socket = nic.port(0).unwrap().socket();
    let mut first = Client::connect(socket);
    for _ in 0..3 {
        let mut second = Client::raw(socket);
        let refused = second.command(support::COMMAND_VERSION, &[0, 0, 1, 0], &[]);
        assert_eq!(
            refused.unwrap_err(),
            rustix::io::Errno::BUSY.raw_os_error() as u32
        );
        assert_eq!(first.get(r::RAH(0)), r::RAH_AV);
    }
    // Clients that send no message, or half of one, do not disturb the first.
    let silent: Vec<_> = (0..20).map(|_| Client::raw(socket)).collect();
    let mut mumbling = Client::raw(socket);
    mumbling.send(&[1, 2, 3], &[]);
    assert_eq!(first.get(r::RAH(0)), r::RAH_AV);
    assert!(mumbling.receive(0).is_none(), "it is closed");
    drop(silent);
    drop(first);
    until_disconnected(&nic);
    Client::connect(socket);
}

#[test]
fn the_next_driver_may_connect_before_the_last_has_ended() {
    let (_directory, nic) = nic(MmioMode::Trap);
    for _ in 0..300 {
        let mut client = Client::connect(nic.port(0).unwrap().socket());
        client.set(r::FCTRL, r::FCTRL_UPE);
        drop(client);
        let mut next = Client::connect(nic.port(0).unwrap().socket());
        assert_eq!(next.get(r::FCTRL), 0);
    }
}

/// A driver that takes its memory away in full traffic loses its own maps, and no other port
/// notices.
#[test]
fn a_driver_that_takes_its_memory_away_loses_its_maps() {
    for running in [false, true] {
        for huge in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let config = NicConfig::new(directory.path(), 2)
                .with_each_port(|port| port.traffic = Traffic::Saturate);
            let nic = Nic::new(config).unwrap();
            let [port, other] = nic.ports() else {
                panic!("two ports")
            };
            let mut driver = Driver::start(port.socket(), Rings::default());
            let mut neighbour = Driver::start(other.socket(), Rings::default());
            if huge {
                // This machine has no huge pages to take away.
                let Some(memory) = Memory::huge(2 << 20) else {
                    continue;
                };
                driver
                    .client
                    .dma_map(0x2_0000_0000, 2 << 20, 0, 3, Some(&memory.file))
                    .unwrap();
                driver.memory.write_u64(0, 0x2_0000_0000);
                rustix::fs::ftruncate(&memory.file, 0).unwrap();
            } else {
                rustix::fs::ftruncate(&driver.memory.file, 4096).unwrap();
            }
            let lost = |port: &nic::Port| {
                let notes = port.notes();
                notes.iter().any(|note| note.contains("made shorter"))
            };
            let mut plane = if running {
                let running = nic.run_data_plane().unwrap();
                eventually("the loss is noticed", || lost(port));
                eventually("the neighbour receives", || neighbour.receive().is_some());
                running.stop().unwrap()
            } else {
                let mut plane = nic.data_plane().unwrap();
                plane.poll();
                assert!(lost(port), "{:?}", port.notes());
                plane.poll();
                assert!(neighbour.receive().is_some());
                plane
            };
            assert!(!lost(other));
            if !huge {
                driver.client.set(r::TDT(0), 5);
                plane.poll();
                let faults = port.dma_faults();
                assert_eq!(faults.last().unwrap().refusal, nic::Refusal::NoMemory);
            }
            drop(driver);
            eventually("it is gone", || !port.connected());
            // The port serves the next driver as before.
            let mut next = Driver::start(port.socket(), Rings::default());
            plane.poll();
            plane.poll();
            assert!(next.receive().is_some());
        }
    }
}

#[test]
fn only_memory_can_be_mapped() {
    let (directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-memory");
    let file = std::fs::File::create_new(&path)
        .or_else(|_| std::fs::File::options().read(true).write(true).open(&path))
        .unwrap();
    file.set_len(4096).unwrap();
    let system = rustix::fs::fstatfs(&file).unwrap().f_type;
    let refused = client.dma_map(0, 4096, 0, 1, Some(&file.into()));
    // On tmpfs, files of the target directory are memory.
    assert_eq!(refused.is_err(), system != 0x0102_1994);
    std::fs::remove_file(&path).unwrap();
    drop(directory);
}

#[test]
fn maps_are_checked() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    let memory = Memory::new(1 << 20);
    let file = Some(&memory.file);
    client.dma_map(0x10_0000, 0x10_0000, 0, 3, file).unwrap();
    assert_eq!(
        client.dma_map(0x18_0000, 0x10_0000, 0, 3, file),
        Err(EEXIST)
    );
    assert_eq!(client.dma_map(0x40_0800, 0x1000, 0, 3, file), Err(EINVAL));
    assert_eq!(
        client.dma_map(0x40_0000, 0x20_0000, 0, 3, file),
        Err(EINVAL)
    );
    assert_eq!(client.dma_map(0x40_0000, 0x1000, 0, 0, file), Err(EINVAL));
    assert_eq!(client.dma_unmap(0x10_0000, 0x8_0000), Err(EINVAL));
    client.dma_map(0x40_0000, 0x1000, 0, 1, None).unwrap();
    assert_eq!(nic.port(0).unwrap().snapshot().dma_maps, 2);
    client.dma_unmap(0, 1 << 40).unwrap();
    client.dma_unmap(0, 1 << 40).unwrap();
    assert_eq!(nic.port(0).unwrap().snapshot().dma_maps, 0);
}

#[test]
fn bad_commands_are_refused_and_the_session_goes_on() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    // The server must not read any of these payloads as the next message.
    for command in [0, 6, 11, 12, 14, 99, u16::MAX] {
        assert_eq!(
            client.command(command, &[0xff; 100], &[]).err(),
            Some(EOPNOTSUPP),
            "command {command}"
        );
    }
    for command in [2, 3, 5, 7, 8, 9, 10] {
        assert_eq!(
            client.command(command, &[1, 2, 3], &[]).err(),
            Some(EINVAL),
            "command {command}"
        );
    }
    assert_eq!(client.region_read(0, 0, u32::MAX), Err(EINVAL));
    assert_eq!(client.region_read(0, u64::MAX - 1, 4), Err(EINVAL));
    assert_eq!(client.region_read(9, 0, 4), Err(EINVAL));
    assert_eq!(client.region_read(1, 0, 4), Err(EINVAL));
    assert_eq!(client.region_write(7, 4094, &[0; 4]), Err(EINVAL));
    assert_eq!(
        client
            .command(support::COMMAND_VERSION, &[0, 0, 0, 0], &[])
            .err(),
        Some(EINVAL)
    );
    assert_eq!(client.get(r::RAH(0)), r::RAH_AV);
}

#[test]
fn commands_that_want_no_reply_get_none() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    let mut payload = u64::from(r::FCTRL).to_le_bytes().to_vec();
    payload.extend([0, 4, r::FCTRL_UPE].map(u32::to_le_bytes).concat());
    let message = client.message(support::COMMAND_REGION_WRITE, 1 << 4, &payload);
    client.send(&message, &[]);
    let message = client.message(99, 1 << 4, &payload);
    client.send(&message, &[]);
    assert_eq!(client.get(r::FCTRL), r::FCTRL_UPE);
}

#[test]
fn the_io_bar_and_partial_reads_reach_registers() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    client.region_write(2, 0, &r::RAL(0).to_le_bytes()).unwrap();
    assert_eq!(
        client.region_read(2, 0, 4).unwrap(),
        r::RAL(0).to_le_bytes()
    );
    assert_eq!(
        client.region_read(2, 4, 4).unwrap(),
        [0x02, 0x82, 0x59, 0x90]
    );
    assert_eq!(
        client.region_read(0, u64::from(r::RAL(0)) + 1, 2).unwrap(),
        [0x82, 0x59]
    );
    assert_eq!(
        client.region_read(0, u64::from(r::RAL(0)), 8).unwrap()[4..],
        [0, 0, 0, 0x80]
    );
    client.region_write(0, u64::from(r::RAL(0)), &[1]).unwrap();
    assert_eq!(
        client.get(r::RAL(0)),
        0x9059_8202,
        "partial writes are ignored"
    );
    client.region_write(4, 0x10, &[1, 2, 3, 4]).unwrap();
    assert_eq!(client.region_read(4, 0x10, 4).unwrap(), [1, 2, 3, 4]);
    assert_eq!(client.region_read(0, 0x3_0000, 4).unwrap(), [0; 4]);
}

#[test]
fn mistakes_of_drivers_are_noted() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    client.set(r::EIMC, 0xffff_ffff);
    client.set(r::DTXMXSZRQ, 0xfff);
    client.set(r::RXCTRL, r::RXCTRL_RXEN);
    client.set(r::FCTRL, r::FCTRL_UPE);
    client.set(r::RDT(4), 7);
    client.set(r::STATUS, 7);
    client.set(r::RXDCTL(1), r::RXDCTL_ENABLE);
    let notes = nic.port(0).unwrap().notes();
    let expected = [
        "EIMC",
        "DTXMXSZRQ",
        "FCTRL",
        "RDT(4)",
        "STATUS",
        "receive queue 1",
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
    assert!(
        notes
            .iter()
            .zip(expected)
            .all(|(note, part)| note.contains(part)),
        "{notes:#?}"
    );
    // The notes are of this driver only.
    drop(client);
    until_disconnected(&nic);
    assert_eq!(nic.port(0).unwrap().last_session().unwrap().notes, notes);
    Client::connect(nic.port(0).unwrap().socket());
    assert!(nic.port(0).unwrap().notes().is_empty());
}

#[test]
fn invalid_bytes_end_the_session_but_not_the_server() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let port = nic.port(0).unwrap();
    let mut nonsense: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", vec![]),
        ("half a header", vec![1; 7]),
        ("zeros", vec![0; 16]),
        ("ones", vec![0xff; 64]),
        ("text", b"GET / HTTP/1.1\r\nHost: nic\r\n\r\n".to_vec()),
    ];
    let header = |command: u16, size: u32, flags: u32| {
        [
            [1, command].map(u16::to_le_bytes).concat(),
            [size, flags, 0].map(u32::to_le_bytes).concat(),
        ]
        .concat()
    };
    nonsense.push(("too small", header(1, 15, 0)));
    nonsense.push(("too large", header(1, u32::MAX, 0)));
    nonsense.push(("a reply", header(1, 16, 1)));
    nonsense.push(("no version", header(4, 16, 0)));
    nonsense.push(("version without its fields", header(1, 16, 0)));
    nonsense.push((
        "another major version",
        [header(1, 20, 0), vec![1, 0, 0, 0]].concat(),
    ));
    for (what, bytes) in nonsense {
        let mut client = Client::raw(port.socket());
        client.send(&bytes, &[]);
        drop(client);
        let mut next = None;
        eventually(what, || {
            next = Client::try_connect(port.socket());
            next.is_some()
        });
        assert_eq!(next.unwrap().get(r::RAH(0)), r::RAH_AV, "{what}");
        until_disconnected(&nic);
    }
    // Send the same in the middle of a session.
    let mut client = Client::connect(port.socket());
    client.send(&header(9, 7, 0), &[]);
    until_disconnected(&nic);
    let end = port.last_session().unwrap().end;
    assert!(matches!(end, SessionEnd::ProtocolError(_)), "{end:?}");
}

#[test]
fn version_data_may_be_anything() {
    let (_directory, nic) = nic(MmioMode::Trap);
    for data in [
        &b""[..],
        b"\0",
        b"no json, no NUL",
        b"{\"capabilities\":7}\0",
        &[0xff; 3000],
    ] {
        let mut client = Client::raw(nic.port(0).unwrap().socket());
        let payload = [&[0, 0, 1, 0], data].concat();
        assert!(client
            .command(support::COMMAND_VERSION, &payload, &[])
            .is_ok());
        drop(client);
        until_disconnected(&nic);
    }
}

#[test]
fn too_many_descriptors_are_closed_again() {
    let (_directory, nic) = nic(MmioMode::Trap);
    let memory = rustix::fs::memfd_create("one of many", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let open_files = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        let links = all.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        links
            .filter(|link| link.to_string_lossy().contains("one of many"))
            .count()
    };
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    let borrowed = [std::os::fd::AsFd::as_fd(&memory); 50];
    assert_eq!(
        client
            .command(support::COMMAND_DMA_MAP, &[0; 32], &borrowed)
            .err(),
        Some(EINVAL)
    );
    assert_eq!(client.command(99, &[], &borrowed).err(), Some(EOPNOTSUPP));
    let borrowed = [std::os::fd::AsFd::as_fd(&memory); 100];
    assert!(
        client.try_command(99, &[], &borrowed).is_none(),
        "more than the server announced"
    );
    assert_eq!(open_files(), 1);
}

#[test]
fn interrupts_reach_the_driver() {
    use rustix::event::{eventfd, EventfdFlags};
    let (_directory, nic) = nic(MmioMode::Shared);
    let port = nic.port(0).unwrap();
    let mut driver = Driver::start(port.socket(), Rings::default());
    let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    driver.client.set_irq(3, &fd);
    driver.client.set(r::GPIE, r::GPIE_MSIX_MODE);
    driver.client.set(r::IVAR(0), 0x83);
    driver.client.set(r::EIAC, 1 << 3);
    driver.client.set(r::EIMS, 1 << 3);
    let mut plane = nic.data_plane().unwrap();
    plane.poll();
    let signals = || {
        let mut bytes = [0; 8];
        rustix::io::read(&fd, &mut bytes).map_or(0, |_| u64::from_ne_bytes(bytes))
    };
    assert_eq!(signals(), 0);
    port.inject(&frame(60, 1)).unwrap();
    plane.poll();
    assert_eq!(signals(), 1);
    driver.client.set(r::EIMC, 1 << 3);
    port.inject(&frame(60, 1)).unwrap();
    plane.poll();
    assert_eq!(signals(), 0);
    assert_eq!(driver.client.get(r::EICR), 1 << 3);
    driver.client.set(r::EICS, 1 << 3);
    driver.client.set(r::EIMS, 1 << 3);
    assert_eq!(signals(), 1);
}

#[test]
fn a_trace_shows_every_access_in_trap_mode() {
    let directory = tempfile::tempdir().unwrap();
    let trace = nic::TraceTo::Memory;
    let nic = Nic::new(
        NicConfig::new(directory.path(), 1)
            .with_mmio(MmioMode::Trap)
            .with_trace(trace),
    )
    .unwrap();
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::CTRL);
    client.set(r::RDT(3), 511);
    client.region_read(0, 0x2100 + 4 * 2, 4).unwrap();
    client.set_bus_master(true);
    client.get(0x0fff8);
    let lines: Vec<_> = nic.take_trace().iter().map(ToString::to_string).collect();
    let expected = [
        "0 W CTRL 0x04000000",
        "0 R CTRL 0x04000000",
        "0 W RDT(3) 0x000001ff",
        "0 R SRRCTL(2) 0x00000402",
        "0 W PCI(0x004) 0x0006",
        "0 R 0x0fff8 0x00000000",
    ];
    assert_eq!(lines, expected);
    assert!(nic.take_trace().is_empty());
}

#[test]
fn a_trace_file_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let config = NicConfig::new(directory.path(), 1).with_trace(nic::TraceTo::File(path.clone()));
    let nic = Nic::new(config).unwrap();
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    for _ in 0..1000 {
        client.get(r::STATUS);
    }
    drop(nic);
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 1000);
}

#[test]
fn only_stale_sockets_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("port0.sock");
    let config = || NicConfig::new(directory.path(), 1);
    // A stale socket is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let first = Nic::new(config()).unwrap();
    Client::connect(&path);
    // A live socket is not replaced.
    assert!(matches!(
        Nic::new(config()),
        Err(NicError::Socket(SocketError::InUse { .. }))
    ));
    Client::connect(&path);
    drop(first);
    assert!(!path.exists());
    // A file that is not a socket is not replaced.
    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(
        Nic::new(config()),
        Err(NicError::Socket(SocketError::NotASocket { .. }))
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_socket_that_was_replaced_is_not_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("port0.sock");
    let nic = Nic::new(NicConfig::new(directory.path(), 1)).unwrap();
    std::fs::remove_file(&path).unwrap();
    let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    drop(nic);
    assert!(path.exists());
}

#[test]
fn no_client_delays_stopping() {
    let directory = tempfile::tempdir().unwrap();
    let mut nic = Nic::new(NicConfig::new(directory.path(), 3)).unwrap();
    let _running = nic.run_data_plane().unwrap();
    let path = |port: usize| nic.port(port).unwrap().socket().to_owned();
    let silent = UnixStream::connect(path(0)).unwrap();
    let mut half = Client::connect(&path(1));
    half.send(&[1, 2, 3], &[]);
    let _connected = Driver::start(&path(2), Rings::default());
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    nic.stop();
    assert!(
        start.elapsed() < Duration::from_millis(500),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        nic.port(2).unwrap().last_session().unwrap().end,
        SessionEnd::Stopped
    );
    drop(silent);
}

#[test]
fn the_data_plane_can_be_taken_once() {
    let (_directory, nic) = nic(MmioMode::Shared);
    let running = nic.run_data_plane().unwrap();
    assert!(matches!(nic.data_plane(), Err(NicError::DataPlaneTaken)));
    assert!(matches!(
        nic.run_data_plane(),
        Err(NicError::DataPlaneTaken)
    ));
    assert!(running.stop().unwrap().poll().is_idle());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any messages of one client, the server answers the next client.
    #[test]
    fn random_messages_do_not_kill_the_server(
        messages in prop::collection::vec((0..16_u16, 0..80_usize, any::<u64>(), any::<bool>()), 1..20)
    ) {
        let (_directory, nic) = nic(MmioMode::Shared);
        let path = nic.port(0).unwrap().socket();
        let mut client = Client::connect(path);
        client.dma_map(IOVA, 4096, 0, 3, Some(&Memory::new(4096).file)).unwrap();
        for (command, len, seed, reply) in messages {
            let payload: Vec<u8> = (0..len as u64).map(|n| (seed.rotate_left(n as u32 * 7) >> (n % 13)) as u8).collect();
            // Make small numbers in the fields more likely.
            let payload: Vec<u8> = payload.chunks(4).enumerate().flat_map(|(n, word)| {
                word.iter().enumerate().map(move |(at, byte)| if at > 0 && seed >> n & 1 == 1 { 0 } else { *byte })
            }).collect();
            let message = client.message(command, if reply { 0 } else { 1 << 4 }, &payload);
            client.send(&message, &[]);
            if reply && client.receive(command).is_none() {
                break;
            }
        }
        drop(client);
        until_disconnected(&nic);
        let mut next = Client::connect(path);
        prop_assert_eq!(next.get(r::RAH(0)), r::RAH_AV);
    }
}
