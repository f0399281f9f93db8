//! The pipeline: packets travel between threads, and come home to their pools.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Program, TestNic};
use nic::{MmioMode, NicConfig, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    every_number_of_workers_forwards_in_order_and_unaltered,
    a_limit_is_exact,
    a_small_ring_and_a_large_batch_lose_nothing,
    a_signal_ends_all_threads,
    a_card_that_stands_still_does_not_hold_the_threads,
    trapped_doorbells_are_refused,
    wrong_options_are_refused,
);

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// Forwards `packets` packets with these arguments, and checks that the program loses, alters and reorders
/// none. Returns the packets of each queue.
fn forward(implementation: Implementation, arguments: &[&str], packets: u64) -> Result<Vec<u64>> {
    let mut nic = TestNic::running(saturated)?;
    let count = packets.to_string();
    let program = nic.forwarder(implementation)?.args(["--pipeline"]);
    let output = program
        .args(arguments)
        .args(["--packets", &count])
        .run(LIMIT)?;
    output.expect_success()?;
    let totals = output.totals()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &totals)?;
    expect::exactly("received", totals.rx, "packets", packets)?;
    expect::exactly("sent", totals.tx, "packets", packets)?;
    Ok(totals.queues.iter().map(|queue| queue.rx).collect())
}

fn every_number_of_workers_forwards_in_order_and_unaltered(
    implementation: Implementation,
) -> Result<()> {
    for queues in [1, 2, 5, 16] {
        let number = queues.to_string();
        let received = forward(implementation, &["--queues", &number], 100_000)
            .with_context(|| format!("{queues} workers"))?;
        // The totals of one queue are those of the run.
        let listed = if queues > 1 { queues } else { 0 };
        ensure!(
            received.len() == listed && received.iter().all(|packets| *packets > 0),
            "the packets of {queues} workers: {received:?}"
        );
    }
    // All threads on one CPU.
    forward(
        implementation,
        &["--queues", "2", "--cpus", "0,0,0,0"],
        50_000,
    )?;
    Ok(())
}

fn a_limit_is_exact(implementation: Implementation) -> Result<()> {
    for packets in [1, 7, 65_537] {
        forward(implementation, &["--queues", "3"], packets)?;
    }
    Ok(())
}

/// More packets of the pool are under way than the ring of a device holds.
fn a_small_ring_and_a_large_batch_lose_nothing(implementation: Implementation) -> Result<()> {
    let small = ["--ring-size", "64", "--batch", "512"];
    forward(implementation, &small, 100_000)?;
    forward(implementation, &["--batch", "1"], 50_000)?;
    Ok(())
}

fn a_signal_ends_all_threads(implementation: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let mut nic = TestNic::running(saturated)?;
        let program = nic.forwarder(implementation)?;
        let mut running = program.args(["--pipeline", "--queues", "3"]).start()?;
        nic.wait_for_traffic(10_000)?;
        running.signal(signal)?;
        let output = running.wait(LIMIT)?;
        output.expect_success()?;
        nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
        nic.stop_data_plane()?;
        let totals = output.totals()?;
        expect::nothing_lost(nic.ports(), &totals)?;
        // The last threads have sent what the first one received.
        expect::exactly("sent", totals.tx, "packets", totals.rx)?;
    }
    Ok(())
}

/// The card takes no packets any more, so those in the rings cannot be sent. The program ends all the same,
/// and says how many it dropped.
fn a_card_that_stands_still_does_not_hold_the_threads(
    implementation: Implementation,
) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let program = nic.forwarder(implementation)?;
    let mut running = program.args(["--pipeline", "--queues", "2"]).start()?;
    nic.wait_for_traffic(100_000)?;
    nic.stop_data_plane()?;
    running.signal(Signal::INT)?;
    let output = running.wait(LIMIT)?;
    let totals = output.totals()?;
    ensure!(totals.rx == totals.tx + totals.dropped, "{output}");
    Ok(())
}

fn trapped_doorbells_are_refused(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| config.with_mmio(MmioMode::Trap))?;
    let program = nic.forwarder(implementation)?;
    let output = program.args(["--pipeline"]).run(LIMIT)?;
    output.expect_exit(1)?;
    ensure!(
        output.stderr.contains("--mmio shared") && output.stderr.contains("doorbell"),
        "{output}"
    );
    Ok(())
}

fn wrong_options_are_refused(implementation: Implementation) -> Result<()> {
    for (arguments, reason) in [
        (
            &["--cpus", "0,0,0,0"][..],
            "more CPUs than there are threads",
        ),
        (
            &["--interrupts"],
            "leave out --queues, --cpus and --pipeline",
        ),
    ] {
        let nic = TestNic::running(|config| config)?;
        let program = nic.forwarder(implementation)?.args(["--pipeline"]);
        let output = program.args(arguments).run(LIMIT)?;
        output.expect_exit(2)?;
        // A long message may be broken into lines.
        let words: Vec<_> = output.stderr.split_whitespace().collect();
        ensure!(words.join(" ").contains(reason), "{arguments:?}: {output}");
    }
    Ok(())
}

/// ThreadSanitizer reports each pair of accesses from two threads that nothing orders.
#[test]
fn the_threads_of_c_and_of_the_transpiled_driver_have_no_data_race() -> Result<()> {
    for implementation in [Implementation::C, Implementation::RustUnsafe] {
        for ending in [["--packets", "200000"], ["--duration", "1.2"]] {
            let mut nic = TestNic::running(saturated)?;
            let [device_a, device_b] = nic.devices();
            let output = Program::under_thread_sanitizer(implementation)?
                .args(["--pipeline", "--queues", "3", &device_a, &device_b])
                .args(ending)
                .run(LIMIT)?;
            output.expect_success()?;
            ensure!(!output.stderr.contains("ThreadSanitizer"), "{output}");
            nic.stop_data_plane()?;
        }
    }
    Ok(())
}
