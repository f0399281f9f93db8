//! Misuse of the safe driver that compiles. Safe code and an honest card must not change the bytes of
//! a packet that the application holds, send the bytes of another packet, panic, or abort.
//!
//! `rust/tests/compile_fail` has the misuse that does not compile.
#![forbid(unsafe_code)]

use std::rc::Rc;

use anyhow::{ensure, Context, Result};
use conformance::{saturated, TestNic};
use ixgbe::driver::device::{Config, OpenDevice};
use ixgbe::driver::mempool::{Mempool, Packet, MAX_CAPACITY, MAX_SIZE};
use ixgbe::vfio::{BareDevice, Container};
use nic::registers as r;
use nic::{DataPlane, MmioMode};

const CAPACITY: u32 = 1024;
/// What the application writes into the packets that it holds.
const OURS: u8 = 0x5a;

/// A card whose ports receive as many packets as their rings take.
fn card() -> Result<TestNic> {
    TestNic::still(|config| saturated(config.with_mmio(MmioMode::Trap)))
}

/// A card, and what a driver has that has opened port 0.
type Bed = (TestNic, DataPlane, Rc<Container>, OpenDevice, Mempool);

fn bed() -> Result<Bed> {
    let nic = card()?;
    let data_plane = nic.nic().data_plane()?;
    let container = Container::new();
    let open = OpenDevice::open(&container, &nic.devices()[0])?;
    let pool = Mempool::create(&container, CAPACITY)?;
    Ok((nic, data_plane, container, open, pool))
}

/// Takes all free packets of a pool and fills each with `byte`.
fn take_all(pool: &Mempool, byte: u8) -> Vec<Packet<'_>> {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    for packet in &mut packets {
        assert!(packet.set_size(MAX_SIZE), "a packet has {MAX_SIZE} bytes");
        assert!(packet.write_at(0, &[byte; MAX_SIZE]));
    }
    packets
}

fn run(data_plane: &mut DataPlane) {
    for _ in 0..20 {
        data_plane.poll();
    }
}

/// Checks that the device changes no byte of the packets.
fn expect_unchanged(data_plane: &mut DataPlane, packets: &[Packet<'_>], byte: u8) -> Result<()> {
    run(data_plane);
    let changed = |packet: &&Packet<'_>| packet.to_vec().iter().any(|&now| now != byte);
    let changed = packets.iter().filter(changed).count();
    ensure!(changed == 0, "{changed} of {} packets", packets.len());
    Ok(())
}

fn expect_error<T>(result: ixgbe::error::Result<T>, words: &str) -> Result<()> {
    let error = result.err().context("no error")?.to_string();
    ensure!(error.contains(words), "{error}");
    Ok(())
}

#[test]
fn a_device_refuses_the_pool_of_another_container() -> Result<()> {
    let nic = card()?;
    let mut data_plane = nic.nic().data_plane()?;
    let (ours, other) = (Container::new(), Container::new());
    let open = OpenDevice::open(&ours, &nic.devices()[0])?;
    let pool = Mempool::create(&ours, CAPACITY)?;
    let foreign = Mempool::create(&other, CAPACITY)?;
    let mut held = take_all(&pool, OURS);
    for queues in [1, 16] {
        let config = Config {
            rx_queues: queues,
            rx_ring_size: 64,
            ..Config::default()
        };
        let started = open.start(&config, &foreign);
        expect_unchanged(&mut data_plane, &held, OURS)?;
        expect_error(started, "the pool belongs to another container")?;
        ensure!(foreign.free_count() == foreign.capacity(), "packets left");
    }
    // The refusal leaves the device as it was.
    held.clear();
    open.start(&Config::default(), &pool)?.stop()?;
    Ok(())
}

#[test]
fn a_device_refuses_packets_of_another_container() -> Result<()> {
    let nic = card()?;
    let mut data_plane = nic.nic().data_plane()?;
    let (ours, other) = (Container::new(), Container::new());
    let open = OpenDevice::open(&ours, &nic.devices()[0])?;
    let pools = [
        Mempool::create(&ours, CAPACITY)?,
        Mempool::create(&ours, CAPACITY)?,
    ];
    let foreign = Mempool::create(&other, CAPACITY)?;
    let mut device = open.start(&Config::default(), &pools[0])?;
    for place in [0, 3] {
        let mut packets = take_all(&pools[1], OURS);
        packets.truncate(8);
        packets.insert(place, foreign.alloc().context("an empty pool")?);
        let sent = device.tx_batch(0, &mut packets);
        run(&mut data_plane);
        let words = format!("packet {place} of the batch belongs to the pool of another container");
        expect_error(sent, &words)?;
        ensure!(packets.len() == 9, "{} packets are left", packets.len());
        ensure!(nic.transmitted() == 0, "packets were sent");
    }
    // Any pool of the device's container will do.
    let mut packets = take_all(&pools[1], OURS);
    packets.truncate(8);
    ensure!(device.tx_batch(0, &mut packets)? == 8, "8 packets fit");
    run(&mut data_plane);
    ensure!(nic.transmitted() == 8, "8 packets are sent");
    device.stop()?;
    Ok(())
}

#[test]
fn one_container_opens_a_device_once_and_another_finds_it_busy() -> Result<()> {
    let nic = card()?;
    let container = Container::new();
    let address = &nic.devices()[0];
    let _open = OpenDevice::open(&container, address)?;
    expect_error(OpenDevice::open(&container, address), "open already")?;
    expect_error(OpenDevice::open(&Container::new(), address), "is busy")?;
    expect_error(BareDevice::open(address), "is busy")?;
    Ok(())
}

#[test]
fn a_started_device_does_not_start_again() -> Result<()> {
    let nic = card()?;
    let mut data_plane = nic.nic().data_plane()?;
    let container = Container::new();
    let open = OpenDevice::open(&container, &nic.devices()[0])?;
    let pool = Mempool::create(&container, 2 * CAPACITY)?;
    let mut first = open.start(&Config::default(), &pool)?;
    expect_error(open.start(&Config::default(), &pool), "started already")?;
    // A stopped device still has its rings.
    first.stop()?;
    expect_error(open.start(&Config::default(), &pool), "started already")?;
    drop(first);
    let mut second = open.start(&Config::default(), &pool)?;
    run(&mut data_plane);
    let mut packets = Vec::new();
    ensure!(second.rx_batch(0, &mut packets, 32)? == 32, "no packets");
    // The third device gets other packets than those that are still held.
    for packet in &mut packets {
        let ours = vec![OURS; packet.size()];
        ensure!(packet.write_at(0, &ours), "the packet holds its own size");
    }
    second.stop()?;
    drop(second);
    let mut third = open.start(&Config::default(), &pool)?;
    expect_unchanged(&mut data_plane, &packets, OURS)?;
    third.stop()?;
    Ok(())
}

#[test]
fn a_forgotten_device_writes_to_no_packet_of_the_application() -> Result<()> {
    let (_nic, mut data_plane, container, open, pool) = bed()?;
    std::mem::forget(open.start(&Config::default(), &pool)?);
    // The packets in the forgotten ring stay there.
    let held = take_all(&pool, OURS);
    ensure!(held.len() == 512, "{} packets are free", held.len());
    expect_unchanged(&mut data_plane, &held, OURS)?;
    drop(held);
    expect_error(open.start(&Config::default(), &pool), "started already")?;
    // The pool's memory goes, while the device still has the addresses of its packets.
    drop(pool);
    let later = Mempool::create(&container, CAPACITY)?;
    let held = take_all(&later, OURS);
    expect_unchanged(&mut data_plane, &held, OURS)
}

#[test]
fn a_device_keeps_its_container() -> Result<()> {
    let (_nic, mut data_plane, container, open, pool) = bed()?;
    drop(container);
    let mut device = open.start(&Config::default(), &pool)?;
    run(&mut data_plane);
    ensure!(device.rx_batch(0, &mut Vec::new(), 32)? == 32, "no packets");
    device.stop()?;
    drop(device);
    drop(pool);
    let elsewhere = Mempool::create(&Container::new(), CAPACITY)?;
    let started = open.start(&Config::default(), &elsewhere);
    expect_error(started, "its container is closed")
}

/// Aims receive queue 0 at the IOVAs that a driver uses first.
fn aim(device: &BareDevice) -> Result<()> {
    let command = device.config_read16(0x04)?;
    device.config_write16(0x04, command | 1 << 2)?;
    let writes = [
        (r::RDBAL(0), 0x20_0000),
        (r::RDBAH(0), 0),
        (r::RDLEN(0), 1024),
        (r::RDH(0), 0),
        (r::FCTRL, r::FCTRL_MPE | r::FCTRL_UPE | r::FCTRL_BAM),
        (r::RXDCTL(0), r::RXDCTL_ENABLE),
        (r::RDT(0), 63),
        (r::RXCTRL, r::RXCTRL_RXEN),
    ];
    for (offset, value) in writes {
        device.write32(offset, value)?;
    }
    Ok(())
}

#[test]
fn a_device_without_memory_reaches_no_packet() -> Result<()> {
    let (nic, mut data_plane, container, open, pool) = bed()?;
    let held = take_all(&pool, OURS);
    let bare = BareDevice::open(&nic.devices()[1])?;
    aim(&bare)?;
    expect_unchanged(&mut data_plane, &held, OURS)?;
    let faults = nic.ports()[1].stats().dma_faults;
    ensure!(faults > 0, "the device tried no access");
    // What it wrote to the registers is gone when a driver opens the device.
    drop(held);
    drop((pool, open, container, bare));
    conformance::wait_until("the device to be free", || !nic.ports()[1].connected())?;
    let container = Container::new();
    let _open = OpenDevice::open(&container, &nic.devices()[1])?;
    let pool = Mempool::create(&container, CAPACITY)?;
    let held = take_all(&pool, OURS);
    expect_unchanged(&mut data_plane, &held, OURS)
}

#[test]
fn a_wrong_offset_of_a_register_leaves_the_device_usable() -> Result<()> {
    let (_nic, _data_plane, _container, open, pool) = bed()?;
    let mut device = open.start(&Config::default(), &pool)?;
    for offset in [1, 2, 0x1_fffe, 0x2_0000, u32::MAX - 3, u32::MAX] {
        expect_error(open.register_read(offset), "the offset of a register")?;
    }
    open.register_read(r::STATUS)?;
    device.stop()?;
    Ok(())
}

#[test]
fn a_capacity_out_of_range_is_refused() -> Result<()> {
    for capacity in [0, MAX_CAPACITY + 1, u32::MAX] {
        let pool = Mempool::create(&Container::new(), capacity);
        expect_error(pool, "a pool has 1 to 1048576 packets")?;
    }
    Ok(())
}

#[test]
fn no_configuration_panics() -> Result<()> {
    let (_nic, _data_plane, _container, open, pool) = bed()?;
    let good = Config::default();
    let places: [fn(&mut Config) -> &mut u32; 4] = [
        |config| &mut config.rx_queues,
        |config| &mut config.tx_queues,
        |config| &mut config.rx_ring_size,
        |config| &mut config.tx_ring_size,
    ];
    for number in [0, 17, 1 << 31, u32::MAX] {
        for place in places {
            let mut config = good;
            *place(&mut config) = number;
            ensure!(open.start(&config, &pool).is_err(), "{config:?} started");
        }
    }
    // The largest configuration needs more packets than the pool has.
    let large = Config {
        rx_queues: 16,
        rx_ring_size: 4096,
        ..good
    };
    expect_error(open.start(&large, &pool), "too few packets")?;
    ensure!(pool.free_count() == pool.capacity(), "packets are lost");
    open.start(&good, &pool)?.stop()?;
    Ok(())
}

#[test]
fn no_count_panics_or_exhausts_the_memory() -> Result<()> {
    let (_nic, mut data_plane, _container, open, pool) = bed()?;
    let mut device = open.start(&Config::default(), &pool)?;
    run(&mut data_plane);
    let mut received = 0;
    for count in [1 << 40, usize::MAX, isize::MAX as usize] {
        received += device.rx_batch(0, &mut Vec::new(), count)?;
    }
    ensure!(received > 0, "no packets");
    for queue in [1, usize::MAX] {
        let received = device.rx_batch(queue, &mut Vec::new(), 1);
        expect_error(received, &format!("no queue {queue}"))?;
        let sent = device.tx_batch(queue, &mut Vec::new());
        expect_error(sent, &format!("no queue {queue}"))?;
        ensure!(device.rx_losses(queue).is_none(), "losses of no queue");
    }
    // More packets than the ring takes stay with the caller.
    let mut packets = take_all(&pool, OURS);
    let all = packets.len();
    let sent = device.tx_batch(0, &mut packets)?;
    ensure!(sent + packets.len() == all, "{sent} of {all} were sent");
    run(&mut data_plane);
    device.stop()?;
    Ok(())
}
