//! What only the tuned path and the agent do. `make test ONLY=test-paths` also runs the tests of the default path on both.

use anyhow::{ensure, Context, Result};
use conformance::{capturing, expect, for_each_implementation, saturated, setup};
use conformance::{Implementation, Lockstep, PacketPath, Setup, TestNic};
use nic::{Faults, NicConfig, ReceiveFault, VerifyMode};

for_each_implementation!(
    full_batches_end_on_a_multiple_of_four,
    only_every_32nd_packet_is_reported,
    the_last_packets_are_sent_before_the_stop,
    the_tuned_path_drops_frames_of_impossible_length,
    the_agent_ends_at_a_frame_that_it_cannot_send,
    the_agent_leaves_the_dropping_to_the_device,
    each_queue_has_a_lane_of_its_own,
);

const PATHS: [PacketPath; 2] = [PacketPath::Tuned, PacketPath::Agent];
/// Descriptors of a ring.
const RING: u64 = 512;

fn open(
    driver: Implementation,
    path: PacketPath,
    batch: u32,
    change: impl FnOnce(NicConfig) -> NicConfig,
) -> Result<Lockstep> {
    let setup = Setup {
        path,
        ..setup(batch, RING as u32)
    };
    Lockstep::open_with(driver, setup, change)
}

fn verified(config: NicConfig) -> NicConfig {
    saturated(config).with_each_port(|port| port.verify = VerifyMode::Full)
}

/// The packets of a batch that begins at descriptor `first`.
fn full_batch(first: u64, batch: u64) -> u64 {
    match (first + batch) / 4 * 4 {
        end if end > first => end - first,
        _ => batch,
    }
}

/// Packets always wait in each direction. All are forwarded once and in order, whatever the size of a batch.
fn full_batches_end_on_a_multiple_of_four(driver: Implementation) -> Result<()> {
    for path in PATHS {
        // 480 and not 512: 32 packets are reported at a time, so a ring has room for at least 480. The agent refills an RX
        // ring only when the packets are sent, so it needs room for three batches.
        let largest = if path == PacketPath::Tuned { 480 } else { 160 };
        for batch in [1, 2, 3, 5, 31, 32, 33, largest] {
            let mut lockstep = open(driver, path, batch, verified)?;
            let (mut first, mut turns) = (0, 0);
            while lockstep.counts()?.rx < 4 * RING {
                lockstep.poll();
                let received = u64::from(lockstep.turn()?);
                let wanted = full_batch(first, u64::from(batch));
                ensure!(
                    received == 2 * wanted,
                    "{path:?}, batch {batch}, turn {turns}: received {received}, expected {wanted} each way"
                );
                first = (first + received / 2) % RING;
                turns += 1;
            }
            lockstep.close_at_rest()?;
            let mut ports = lockstep.ports().iter();
            let correct = ports.try_for_each(expect::all_correct);
            correct.with_context(|| format!("{path:?}, batch {batch}"))?;
        }
    }
    Ok(())
}

/// 7.2.3.4.1: with TXDCTL.WTHRESH 0, the device writes back only descriptors with RS.
fn only_every_32nd_packet_is_reported(driver: Implementation) -> Result<()> {
    for path in PATHS {
        let mut lockstep = open(driver, path, 32, verified)?;
        lockstep.run(100)?;
        lockstep.poll();
        lockstep.poll();
        for port in [0, 1] {
            let stats = lockstep.port(port).stats();
            ensure!(
                stats.transmitted == 3200 && stats.tx_descriptors_written_back == 100,
                "{path:?}: {stats:#?}"
            );
        }
        lockstep.close_at_rest()?;
    }
    Ok(())
}

/// DD never shows the last 1 to 31 packets, so the stop goes by TDH.
fn the_last_packets_are_sent_before_the_stop(driver: Implementation) -> Result<()> {
    for path in PATHS {
        for frames in [1, 31, 33] {
            let mut lockstep = open(driver, path, 32, capturing)?;
            lockstep.inject(0, frames)?;
            lockstep.poll();
            for _ in 0..8 {
                lockstep.turn()?;
            }
            lockstep.close_at_rest()?;
            let sent = lockstep.port(1).stats().transmitted;
            expect::exactly("sent", sent, "packets", frames as u64)
                .with_context(|| format!("{path:?}"))?;
        }
    }
    Ok(())
}

/// Changes what the device says of each received frame.
fn falsify(lockstep: &Lockstep, fault: Option<ReceiveFault>) {
    let mut faults = Faults::default();
    faults.receive = fault;
    lockstep.port(0).set_faults(faults);
}

const IMPOSSIBLE: [ReceiveFault; 4] = [
    ReceiveFault::Length(0),
    ReceiveFault::Length(2049),
    ReceiveFault::Length(u16::MAX),
    ReceiveFault::NoEndOfPacket,
];

fn the_tuned_path_drops_frames_of_impossible_length(driver: Implementation) -> Result<()> {
    for fault in IMPOSSIBLE {
        let mut lockstep = open(driver, PacketPath::Tuned, 32, capturing)?;
        falsify(&lockstep, Some(fault));
        lockstep.inject(0, 50)?;
        lockstep.run_until_idle()?;
        expect::exactly("received", lockstep.counts()?.rx, "packets", 0)?;
        falsify(&lockstep, None);
        // The first one ends the frame that had no end.
        lockstep.inject(0, 50)?;
        lockstep.run_until_idle()?;
        let ended = u64::from(fault == ReceiveFault::NoEndOfPacket);
        expect::exactly("received", lockstep.counts()?.rx, "packets", 50 - ended)
            .with_context(|| format!("{fault:?}"))?;
        lockstep.device_stats()?;
        lockstep.close_at_rest()?;
    }
    Ok(())
}

fn the_agent_ends_at_a_frame_that_it_cannot_send(driver: Implementation) -> Result<()> {
    for fault in IMPOSSIBLE {
        let mut lockstep = open(driver, PacketPath::Agent, 32, capturing)?;
        lockstep.inject(0, 6)?;
        lockstep.run_until_idle()?;
        lockstep.device_stats()?;
        falsify(&lockstep, Some(fault));
        lockstep.inject(0, 1)?;
        lockstep.run_until_idle()?;
        let error = lockstep.device_stats().err().context("no error")?;
        let message = error.to_string();
        for part in [
            "descriptor 6 of RX queue 0",
            "cannot drop it",
            "--path tuned",
        ] {
            ensure!(message.contains(part), "{fault:?}: {message}");
        }
        expect::exactly("received", lockstep.counts()?.rx, "packets", 6)?;
        lockstep.close_at_rest()?;
    }
    Ok(())
}

/// While TX is stalled, the agent takes what the rings hold. Then it goes on, and no frame is sent twice.
fn the_agent_leaves_the_dropping_to_the_device(driver: Implementation) -> Result<()> {
    let mut lockstep = open(driver, PacketPath::Agent, 32, verified)?;
    let mut stalled = Faults::default();
    stalled.stall_tx = true;
    for cycle in 0..100 {
        lockstep.port(1).set_faults(stalled);
        lockstep.run(40)?;
        lockstep.port(1).set_faults(Faults::default());
        let before = lockstep.counts()?.rx;
        lockstep.run(40)?;
        let received = lockstep.counts()?.rx - before;
        ensure!(received > 40 * 32, "cycle {cycle}: received {received}");
    }
    let counts = lockstep.counts()?;
    expect::forwarded(&counts, counts.rx, counts.rx, 0)?;
    lockstep.close_at_rest()?;
    expect::exactly("the NIC sent", lockstep.transmitted(), "packets", counts.tx)
}

fn each_queue_has_a_lane_of_its_own(driver: Implementation) -> Result<()> {
    for path in ["tuned", "agent"] {
        let mut nic =
            TestNic::running(|config| verified(config).with_each_port(|port| port.flows = 64))?;
        let several = ["--queues", "3", "--packets", "30000"];
        let totals = nic.forward(driver, &[&["--path", path], &several[..]].concat())?;
        expect::exactly(path, totals.rx, "packets", 30_000)?;
    }
    Ok(())
}
