//! The data path in lockstep with the NIC. The test decides every step, so timing plays no part.

use anyhow::{ensure, Context, Result};
use conformance::{capturing, counted_crc, expect, for_each_implementation, saturated, setup};
use conformance::{Implementation, Lockstep};
use nic::registers as r;
use nic::{Faults, FrameSizes, MmioMode, VerifyMode};

for_each_implementation!(
    frames_of_every_size_come_back_with_one_byte_changed,
    frames_to_every_kind_of_address_are_forwarded,
    rings_wrap_many_times_in_every_mmio_mode,
    rings_of_every_size_fill_and_wrap,
    an_invalid_ring_size_is_refused,
    every_batch_size_is_exact,
    a_packet_limit_is_exact,
    an_empty_ring_causes_no_register_access,
    a_full_transmit_ring_drops_and_counts,
    no_buffer_is_lost_when_rings_fill_and_empty,
    one_stalled_direction_does_not_stop_the_other,
    device_statistics_accumulate,
    device_statistics_leave_out_frames_without_a_descriptor,
    a_stalled_queue_is_explained,
    a_forwarder_can_be_opened_and_closed_repeatedly,
    two_forwarders_in_one_process_are_independent,
);

/// Descriptors of a ring.
const RING: u64 = 512;
/// Packets that a transmit ring holds: one descriptor stays free.
const TX_ROOM: u64 = RING - 1;
/// Buffers in each of a forwarder's two pools.
const POOL: u64 = 2048;
/// The index of the byte that the forwarder changes.
const TOUCHED: usize = 1;

/// A generator of pseudo-random bytes, the same in every run.
struct RandomBytes(u64);

impl RandomBytes {
    /// The next number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's MMIX generator. Its high bits are more random than its low bits.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn frame(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// Faults of a device that sends nothing if `on`, and of a correct device otherwise.
fn tx_stalled(on: bool) -> Faults {
    let mut faults = Faults::default();
    faults.stall_tx = on;
    faults
}

/// The frames that the forwarder should send for received ones.
fn touched(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut frames = frames.to_vec();
    for frame in &mut frames {
        frame[TOUCHED] = frame[TOUCHED].wrapping_add(1);
    }
    frames
}

/// Checks that a port has sent exactly these frames in order since the last check.
fn expect_sent(lockstep: &Lockstep, port: usize, expected: &[Vec<u8>]) -> Result<()> {
    let sent = lockstep.port(port).take_transmitted();
    for (nth, (sent, expected)) in sent.iter().zip(expected).enumerate() {
        let lengths = [sent.len(), expected.len()];
        let differs = sent.iter().zip(expected).position(|(a, b)| a != b);
        ensure!(
            lengths[0] == lengths[1] && differs.is_none(),
            "packet {nth} of port {port} has {} bytes of {}, and differs first at {differs:?}",
            lengths[0],
            lengths[1]
        );
    }
    let packets = format!("packets at port {port}");
    expect::exactly("sent", sent.len() as u64, &packets, expected.len() as u64)
}

/// Frames of 60 to 1514 random bytes go both ways, through rings that wrap more than twenty times.
/// The touched byte has all values, including 255, which becomes 0.
fn frames_of_every_size_come_back_with_one_byte_changed(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, capturing)?;
    let mut random = RandomBytes(1);
    let mut wrapped_touches = 0;
    for _ in 0..8 {
        let mut sizes = 60..=1514;
        loop {
            // A random number of frames that fits into the ring.
            let count = 1 + random.below(RING - 1) as usize;
            let lengths: Vec<usize> = sizes.by_ref().take(count).collect();
            if lengths.is_empty() {
                break;
            }
            let frames: [Vec<Vec<u8>>; 2] =
                [0, 1].map(|_| lengths.iter().map(|len| random.frame(*len)).collect());
            for (port, frames) in frames.iter().enumerate() {
                for frame in frames {
                    lockstep.port(port).inject(frame)?;
                    wrapped_touches += u32::from(frame[TOUCHED] == 255);
                }
            }
            lockstep.run_until_idle()?;
            expect_sent(&lockstep, 1, &touched(&frames[0]))?;
            expect_sent(&lockstep, 0, &touched(&frames[1]))?;
        }
    }
    ensure!(wrapped_touches > 10, "{wrapped_touches} frames with 255");
    let counts = lockstep.counts()?;
    expect::forwarded(&counts, 16 * 1455, 16 * 1455, 0)?;
    ensure!(counts.rx / 2 / RING >= 20, "the rings wrapped too seldom");
    lockstep.close_at_rest()
}

/// Frames to this port, other ports, groups and all: the device is promiscuous.
fn frames_to_every_kind_of_address_are_forwarded(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, capturing)?;
    let own = lockstep.port(0).mac_address();
    let destinations = [
        own,
        [0x02, 0, 0, 0, 0, 0x99],
        [0; 6],
        [0xff; 6],
        [0x01, 0x00, 0x5e, 0, 0, 1],
        [0x33, 0x33, 0, 0, 0, 1],
    ];
    let mut random = RandomBytes(2);
    let frames = destinations.map(|destination| {
        let mut frame = random.frame(64);
        frame[..6].copy_from_slice(&destination);
        frame
    });
    for frame in &frames {
        lockstep.port(0).inject(frame)?;
    }
    lockstep.run_until_idle()?;
    expect_sent(&lockstep, 1, &touched(&frames))?;
    lockstep.close_at_rest()
}

/// Both rings of both ports are full all the time, with frames of all sizes. The NIC checks them.
fn rings_wrap_many_times_in_every_mmio_mode(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let sizes = FrameSizes::range(60, 1514)?;
        let mut lockstep = Lockstep::open(driver, 64, |config| {
            saturated(config)
                .with_mmio(mmio)
                .with_each_port(|port| port.sizes = sizes.clone())
        })?;
        while lockstep.counts()?.rx < 2 * 25 * RING {
            lockstep.poll();
            lockstep.turn()?;
        }
        let dropped = lockstep.counts()?.dropped;
        expect::exactly("dropped", dropped, "packets", 0).with_context(|| format!("{mmio:?}"))?;
        lockstep.close_at_rest()?;
        for port in lockstep.ports() {
            expect::all_correct(port).with_context(|| format!("{mmio:?}"))?;
            let verify = port.stats().verify;
            ensure!(verify.ok >= 20 * RING, "{mmio:?}: {verify:?}");
        }
    }
    Ok(())
}

/// Each ring fills completely, empties, and wraps.
fn rings_of_every_size_fill_and_wrap(driver: Implementation) -> Result<()> {
    for ring_size in [64, 128, 256, 1024, 2048, 4096] {
        let room = u64::from(ring_size) - 1;
        // The driver reclaims 32 sent packets at a time, so up to 31 may occupy the transmit ring.
        // The batch leaves room for them, even in the smallest ring.
        let batch = (ring_size / 4).min(512);
        let mut lockstep = Lockstep::open_with(driver, setup(batch, ring_size), capturing)?;
        let mut random = RandomBytes(room);
        for lap in 0..3 {
            let frames: Vec<_> = (0..room).map(|_| random.frame(60)).collect();
            for frame in &frames {
                lockstep.port(0).inject(frame)?;
            }
            let about = || format!("ring of {ring_size}, lap {lap}");
            let received = lockstep.poll().received;
            expect::exactly("received", received, "frames", room).with_context(about)?;
            lockstep.run_until_idle()?;
            expect_sent(&lockstep, 1, &touched(&frames)).with_context(about)?;
        }
        let counts = lockstep.counts()?;
        expect::forwarded(&counts, 3 * room, 3 * room, 0)
            .with_context(|| format!("ring of {ring_size}"))?;
        lockstep.close_at_rest()?;
    }
    Ok(())
}

fn an_invalid_ring_size_is_refused(driver: Implementation) -> Result<()> {
    for ring_size in [0, 1, 32, 63, 500, 513, 8192, 1 << 30, u32::MAX] {
        let opened = Lockstep::open_with(driver, setup(32, ring_size), capturing);
        let error = opened
            .err()
            .with_context(|| format!("a ring of {ring_size}"))?;
        let message = format!("{error:#}");
        ensure!(message.contains("power of two"), "{ring_size}: {message}");
    }
    Ok(())
}

/// 511 packets wait in each direction. Each call returns a full batch while it can, and the counts
/// are exact.
fn every_batch_size_is_exact(driver: Implementation) -> Result<()> {
    for batch in [1, 2, 3, 31, 32, 33, 256, 511, 512] {
        let mut lockstep = Lockstep::open(driver, batch, capturing)?;
        let batch = u64::from(batch);
        let mut random = RandomBytes(batch);
        // The device owns one descriptor less than the ring has.
        let waiting = RING - 1;
        for port in [0, 1] {
            for _ in 0..waiting {
                lockstep.port(port).inject(&random.frame(60))?;
            }
        }
        lockstep.poll();
        let mut turns = 0;
        loop {
            let received = u64::from(lockstep.turn()?);
            let left = waiting.saturating_sub(turns * batch);
            turns += 1;
            expect::exactly("received", received, "packets", 2 * left.min(batch))
                .with_context(|| format!("batch {batch}, turn {turns}"))?;
            // Empties the transmit rings, which must not limit this test.
            lockstep.poll();
            if received == 0 {
                break;
            }
        }
        let counts = lockstep.counts()?;
        let exact = || -> Result<()> {
            expect::forwarded(&counts, 2 * waiting, 2 * waiting, 0)?;
            expect::exactly("counted", counts.rx_calls, "receive calls", 2 * turns)?;
            let full = 2 * (waiting / batch);
            expect::exactly("counted", counts.full_batches, "full batches", full)
        };
        exact().with_context(|| format!("batch {batch}"))?;
        for port in [0, 1] {
            let sent = lockstep.port(port).take_transmitted().len() as u64;
            ensure!(sent == waiting, "batch {batch}: port {port} sent {sent}");
        }
        lockstep.close_at_rest()?;
    }
    Ok(())
}

fn a_packet_limit_is_exact(driver: Implementation) -> Result<()> {
    for limit in [1, 31, 32, 33, 1000] {
        let mut lockstep = Lockstep::open(driver, 32, saturated)?;
        lockstep.forwarder()?.limit(limit)?;
        lockstep.run(200)?;
        let counts = lockstep.counts()?;
        expect::forwarded(&counts, limit, limit, 0).with_context(|| format!("limit {limit}"))?;
        lockstep.close_at_rest()?;
        expect::exactly("the NIC sent", lockstep.transmitted(), "packets", limit)?;
    }
    Ok(())
}

fn an_empty_ring_causes_no_register_access(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, |config| {
        capturing(config)
            .with_mmio(MmioMode::Trap)
            .with_trace(nic::TraceTo::Memory)
    })?;
    lockstep.take_trace();
    lockstep.run(100)?;
    let counts = lockstep.counts()?;
    expect::forwarded(&counts, 0, 0, 0)?;
    expect::exactly("counted", counts.rx_calls, "receive calls", 200)?;
    expect::exactly("counted", counts.full_batches, "full batches", 0)?;
    let trace = lockstep.take_trace();
    ensure!(trace.is_empty(), "the driver accessed registers: {trace:?}");
    lockstep.close_at_rest()
}

/// The device sends nothing, so the ring fills. The driver then drops and counts every packet, and
/// reuses its buffer. When the device sends again, forwarding resumes and no accepted packet is lost.
fn a_full_transmit_ring_drops_and_counts(driver: Implementation) -> Result<()> {
    // 480 and not 512: the driver reclaims 32 packets at a time, so a ring has room for at least 480.
    for batch in [1, 32, 480] {
        let mut lockstep = Lockstep::open(driver, batch, |config| {
            saturated(config).with_each_port(|port| port.faults.stall_tx = true)
        })?;
        // A driver that loses a buffer with every drop, or with every hundredth, empties its pool.
        let enough = 100 * POOL;
        while lockstep.counts()?.rx < enough {
            lockstep.poll();
            ensure!(lockstep.turn()? > 0, "reception stopped");
        }
        let counts = lockstep.counts()?;
        expect::exactly("sent", counts.tx, "packets", 2 * TX_ROOM)
            .with_context(|| format!("batch {batch}"))?;
        expect::all_accounted_for(&counts).with_context(|| format!("batch {batch}"))?;

        lockstep.set_faults(Faults::default());
        let dropped = counts.dropped;
        let resumed = counts.tx;
        while lockstep.counts()?.tx < resumed + 40 * RING {
            // Twice, because the write-backs may come a round late.
            lockstep.poll();
            lockstep.poll();
            lockstep.turn()?;
        }
        let counts = lockstep.counts()?;
        // An empty ring drops nothing.
        expect::exactly("dropped", counts.dropped, "packets", dropped)?;
        let closed = lockstep.close_without_loss();
        closed.with_context(|| format!("batch {batch}"))?;
    }
    Ok(())
}

/// Transmit rings fill and empty repeatedly with the largest batch, so that the largest number of
/// buffers is in use. If a cycle lost a buffer, reception would stop.
fn no_buffer_is_lost_when_rings_fill_and_empty(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 512, saturated)?;
    for cycle in 0..2 * POOL {
        let stalled = tx_stalled(cycle % 2 == 0);
        lockstep.set_faults(stalled);
        for _ in 0..3 {
            lockstep.poll();
            ensure!(lockstep.turn()? > 0, "reception stopped in cycle {cycle}");
        }
    }
    let counts = lockstep.counts()?;
    ensure!(counts.dropped > POOL, "the rings were never full");
    expect::all_accounted_for(&counts)?;
    lockstep.set_faults(Faults::default());
    lockstep.poll();
    lockstep.close_at_rest()?;
    expect::exactly("the NIC sent", lockstep.transmitted(), "packets", counts.tx)
}

fn one_stalled_direction_does_not_stop_the_other(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, saturated)?;
    let stalled = tx_stalled(true);
    lockstep.port(1).set_faults(stalled);
    lockstep.run(10_000)?;
    let counts = lockstep.counts()?;
    expect::forwarded(&counts, 640_000, 320_000 + TX_ROOM, 320_000 - TX_ROOM)?;
    lockstep.port(1).set_faults(Faults::default());
    lockstep.poll();
    lockstep.close_at_rest()
}

/// A device's counters are cleared when read, but the forwarder's statistics accumulate.
fn device_statistics_accumulate(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, capturing)?;
    let mut random = RandomBytes(3);
    let (mut packets, mut bytes) = (0, 0);
    let mut received = 0;
    for len in [60, 1514, 100] {
        for _ in 0..7 {
            lockstep.port(0).inject(&random.frame(len))?;
            packets += 1;
            bytes += len as u64 + 4;
            received += len as u64 + counted_crc()?;
        }
        lockstep.run_until_idle()?;
        let [a, b] = lockstep.device_stats()?;
        expect::exactly("statistics say received", a.rx_packets, "packets", packets)?;
        expect::exactly("statistics say received", a.rx_bytes, "bytes", received)?;
        expect::exactly("statistics say sent", b.tx_packets, "packets", packets)?;
        expect::exactly("statistics say sent", b.tx_bytes, "bytes", bytes)?;
        ensure!((a.tx_packets, b.rx_packets) == (0, 0), "{a:?} {b:?}");
    }
    lockstep.close_at_rest()
}

/// At twice what the driver takes, the card counts half of the frames in GPRC only.
fn device_statistics_leave_out_frames_without_a_descriptor(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut lockstep = Lockstep::open(driver, 32, |config| capturing(config.with_mmio(mmio)))?;
        lockstep.inject(0, 2 * TX_ROOM as usize)?;
        lockstep.poll();
        let good = lockstep.port(0).registers().peek(r::GPRC);
        let received = lockstep.run_until_idle()?;
        let [stats, _] = lockstep.device_stats()?;
        let bytes = (60 + counted_crc()?) * received;
        ensure!((u64::from(good), received) == (2 * TX_ROOM, TX_ROOM));
        ensure!(
            (stats.rx_packets, stats.rx_bytes) == (received, bytes),
            "{stats:?}"
        );
        lockstep.close_at_rest()?;
    }
    Ok(())
}

/// The message has the head, the descriptor that the driver expects, the size of the ring, and a cause.
fn a_stalled_queue_is_explained(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open_with(driver, setup(32, 128), |config| config)?;
    lockstep.inject(0, 3)?;
    lockstep.run_until_idle()?;
    let mut beyond = Faults::default();
    beyond.head_beyond_ring = true;
    lockstep.port(0).set_faults(beyond);
    lockstep.poll();
    // The first look takes it for a write-back on its way.
    lockstep.device_stats()?;
    let error = lockstep.device_stats().err().context("no error")?;
    let message = error.to_string();
    let device = lockstep.port(0).device_name();
    let expected = format!(
        "{device}: RX queue 0 is stalled: the driver expects the next packet in \
         descriptor 3 of 128, but the device is at descriptor 8195 (RDH) and has not written \
         descriptor 3 back; usually the driver's index or RDT has left the order of the ring, for \
         example at its end; restart the driver to reset the device"
    );
    ensure!(message == expected, "{message}\ninstead of\n{expected}");
    lockstep.port(0).set_faults(Faults::default());
    lockstep.poll();
    lockstep.close_at_rest()
}

/// Each forwarder starts clean after the previous one in the same process. A leak of files or memory
/// shows here.
fn a_forwarder_can_be_opened_and_closed_repeatedly(driver: Implementation) -> Result<()> {
    let before = open_files()?;
    for _ in 0..10 {
        let mut lockstep = Lockstep::open(driver, 32, capturing)?;
        let frame = vec![7; 60];
        lockstep.port(1).inject(&frame)?;
        lockstep.run_until_idle()?;
        expect_sent(&lockstep, 0, &touched(&[frame]))?;
        lockstep.close_at_rest()?;
    }
    let leaked = open_files()?.saturating_sub(before);
    // Other tests of this process also have open files.
    ensure!(leaked < 100, "{leaked} files are still open");
    Ok(())
}

/// The number of files that the process has open.
fn open_files() -> Result<usize> {
    Ok(std::fs::read_dir("/proc/self/fd")?.count())
}

fn two_forwarders_in_one_process_are_independent(driver: Implementation) -> Result<()> {
    let with_sequence =
        |config| saturated(config).with_each_port(|port| port.verify = VerifyMode::Full);
    let mut one = Lockstep::open(driver, 32, with_sequence)?;
    let mut other = Lockstep::open(driver, 8, with_sequence)?;
    for _ in 0..1000 {
        for lockstep in [&mut one, &mut other] {
            lockstep.poll();
            lockstep.turn()?;
        }
    }
    for (lockstep, packets) in [(&mut one, 64_000), (&mut other, 16_000)] {
        expect::exactly("received", lockstep.counts()?.rx, "packets", packets)?;
        lockstep.close_at_rest()?;
        for port in lockstep.ports() {
            expect::all_correct(port)?;
            ensure!(port.stats().verify.ok > 0, "port {}", port.index());
        }
    }
    Ok(())
}
