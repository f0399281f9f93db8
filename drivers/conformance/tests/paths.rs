//! What only the tuned path and the agent do. `make test ONLY=test-paths` also runs the tests of the default path on both.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{
    expect, for_each_implementation, setup, Implementation, Lockstep, PacketPath, Setup, TestNic,
};
use nic::{Faults, NicConfig, ReceiveFault, Traffic, VerifyMode};

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
/// Longest time that a run may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn open(
    implementation: Implementation,
    path: PacketPath,
    batch: u32,
    change: impl FnOnce(NicConfig) -> NicConfig,
) -> Result<Lockstep> {
    let setup = Setup {
        path,
        ..setup(batch, RING as u32)
    };
    Lockstep::open_with(implementation, setup, change)
}

fn capturing(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.capture = true)
}

fn verified(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| {
        port.traffic = Traffic::Saturate;
        port.verify = VerifyMode::Full;
    })
}

/// The packets of a batch that begins at descriptor `first`.
fn full_batch(first: u64, batch: u64) -> u64 {
    match (first + batch) / 4 * 4 {
        end if end > first => end - first,
        _ => batch,
    }
}

/// Packets always wait in each direction. All are forwarded once and in order, whatever the size of a batch.
fn full_batches_end_on_a_multiple_of_four(implementation: Implementation) -> Result<()> {
    for path in PATHS {
        // 480 and not 512: 32 packets are reported at a time, so a ring has room for at least 480. The agent refills an RX
        // ring only when the packets are sent, so it needs room for three batches.
        let largest = if path == PacketPath::Tuned { 480 } else { 160 };
        for batch in [1, 2, 3, 5, 31, 32, 33, largest] {
            let mut lockstep = open(implementation, path, batch, verified)?;
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
            for port in [0, 1] {
                expect::all_correct(lockstep.port(port))
                    .with_context(|| format!("{path:?}, batch {batch}"))?;
            }
        }
    }
    Ok(())
}

/// 7.2.3.4.1: with TXDCTL.WTHRESH 0, the device writes back only descriptors with RS.
fn only_every_32nd_packet_is_reported(implementation: Implementation) -> Result<()> {
    for path in PATHS {
        let mut lockstep = open(implementation, path, 32, verified)?;
        for _ in 0..100 {
            lockstep.poll();
            lockstep.turn()?;
        }
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
fn the_last_packets_are_sent_before_the_stop(implementation: Implementation) -> Result<()> {
    for path in PATHS {
        for frames in [1, 31, 33] {
            let mut lockstep = open(implementation, path, 32, capturing)?;
            for n in 0..frames {
                lockstep.port(0).inject(&[n; 60])?;
            }
            lockstep.poll();
            for _ in 0..8 {
                lockstep.turn()?;
            }
            lockstep.close_at_rest()?;
            let sent = lockstep.port(1).stats().transmitted;
            expect::exactly("sent", sent, "packets", u64::from(frames))
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

fn the_tuned_path_drops_frames_of_impossible_length(implementation: Implementation) -> Result<()> {
    for fault in IMPOSSIBLE {
        let mut lockstep = open(implementation, PacketPath::Tuned, 32, capturing)?;
        falsify(&lockstep, Some(fault));
        for _ in 0..50 {
            lockstep.port(0).inject(&[7; 60])?;
        }
        lockstep.run_until_idle()?;
        expect::exactly("received", lockstep.counts()?.rx, "packets", 0)?;
        falsify(&lockstep, None);
        // The first one ends the frame that had no end.
        for _ in 0..50 {
            lockstep.port(0).inject(&[7; 60])?;
        }
        lockstep.run_until_idle()?;
        let ended = u64::from(fault == ReceiveFault::NoEndOfPacket);
        expect::exactly("received", lockstep.counts()?.rx, "packets", 50 - ended)
            .with_context(|| format!("{fault:?}"))?;
        lockstep.device_stats()?;
        lockstep.close_at_rest()?;
    }
    Ok(())
}

fn the_agent_ends_at_a_frame_that_it_cannot_send(implementation: Implementation) -> Result<()> {
    for fault in IMPOSSIBLE {
        let mut lockstep = open(implementation, PacketPath::Agent, 32, capturing)?;
        for _ in 0..6 {
            lockstep.port(0).inject(&[7; 60])?;
        }
        lockstep.run_until_idle()?;
        lockstep.device_stats()?;
        falsify(&lockstep, Some(fault));
        lockstep.port(0).inject(&[7; 60])?;
        lockstep.run_until_idle()?;
        let message = match lockstep.device_stats() {
            Ok(stats) => anyhow::bail!("{fault:?}: no error: {stats:?}"),
            Err(error) => error.to_string(),
        };
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
fn the_agent_leaves_the_dropping_to_the_device(implementation: Implementation) -> Result<()> {
    let mut lockstep = open(implementation, PacketPath::Agent, 32, verified)?;
    let mut stalled = Faults::default();
    stalled.stall_tx = true;
    for cycle in 0..100 {
        lockstep.port(1).set_faults(stalled);
        for _ in 0..40 {
            lockstep.poll();
            lockstep.turn()?;
        }
        lockstep.port(1).set_faults(Faults::default());
        let before = lockstep.counts()?.rx;
        for _ in 0..40 {
            lockstep.poll();
            lockstep.turn()?;
        }
        let received = lockstep.counts()?.rx - before;
        ensure!(received > 40 * 32, "cycle {cycle}: received {received}");
    }
    let counts = lockstep.counts()?;
    expect::forwarded(&counts, counts.rx, counts.rx, 0)?;
    lockstep.close_at_rest()?;
    let sent: u64 = [0, 1]
        .map(|port| lockstep.port(port).stats().transmitted)
        .iter()
        .sum();
    expect::exactly("the NIC sent", sent, "packets", counts.tx)
}

fn each_queue_has_a_lane_of_its_own(implementation: Implementation) -> Result<()> {
    for path in ["tuned", "agent"] {
        let mut nic =
            TestNic::running(|config| verified(config).with_each_port(|port| port.flows = 64))?;
        let program = nic.forwarder(implementation)?.args(["--path", path]);
        let output = program
            .args(["--queues", "3", "--packets", "30000"])
            .run(LIMIT)?;
        output.expect_success()?;
        nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
        nic.stop_data_plane()?;
        let totals = output.totals()?;
        expect::exactly(path, totals.rx, "packets", 30_000)?;
        expect::nothing_lost(nic.ports(), &totals)?;
    }
    Ok(())
}
