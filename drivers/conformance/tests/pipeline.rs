//! The pipeline: packets travel between threads, and come home to their pools.

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, saturated};
use conformance::{Implementation, Program, TestNic, LIMIT};
use nic::MmioMode;
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

/// Forwards `packets` packets, and checks that the program loses, alters and reorders none. The arguments are words
/// between blanks. Returns the packets of each queue.
fn forward(driver: Implementation, arguments: &str, packets: u64) -> Result<Vec<u64>> {
    let mut nic = TestNic::running(saturated)?;
    let count = packets.to_string();
    let mut words = vec!["--pipeline", "--packets", &count];
    words.extend(arguments.split(' '));
    let totals = nic.forward(driver, &words).context(arguments.to_owned())?;
    expect::exactly("received", totals.rx, "packets", packets)?;
    expect::exactly("sent", totals.tx, "packets", packets)?;
    Ok(totals.queues.iter().map(|queue| queue.rx).collect())
}

fn every_number_of_workers_forwards_in_order_and_unaltered(driver: Implementation) -> Result<()> {
    for queues in [1, 2, 5, 16] {
        let received = forward(driver, &format!("--queues {queues}"), 100_000)?;
        // The totals of one queue are those of the run.
        let listed = if queues > 1 { queues } else { 0 };
        ensure!(received.len() == listed && !received.contains(&0));
    }
    // All threads on one CPU.
    forward(driver, "--queues 2 --cpus 0,0,0,0", 50_000).map(drop)
}

fn a_limit_is_exact(driver: Implementation) -> Result<()> {
    for packets in [1, 7, 65_537] {
        forward(driver, "--queues 3", packets)?;
    }
    Ok(())
}

/// More packets of the pool are under way than the ring of a device holds.
fn a_small_ring_and_a_large_batch_lose_nothing(driver: Implementation) -> Result<()> {
    forward(driver, "--ring-size 64 --batch 512", 100_000)?;
    forward(driver, "--batch 1", 50_000).map(drop)
}

fn a_signal_ends_all_threads(driver: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let mut nic = TestNic::running(saturated)?;
        let program = nic.forwarder(driver)?;
        let running = program.args(["--pipeline", "--queues", "3"]).start()?;
        nic.wait_for_traffic(10_000)?;
        let output = running.end_by(signal)?;
        let totals = nic.check_run(&output)?;
        // The last threads have sent what the first one received.
        expect::exactly("sent", totals.tx, "packets", totals.rx)?;
    }
    Ok(())
}

/// The card takes no packets any more, so those in the rings cannot be sent. The program ends all the same,
/// and says how many it dropped.
fn a_card_that_stands_still_does_not_hold_the_threads(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let program = nic.forwarder(driver)?;
    let mut running = program.args(["--pipeline", "--queues", "2"]).start()?;
    nic.wait_for_traffic(100_000)?;
    nic.stop_data_plane()?;
    running.signal(Signal::INT)?;
    running.wait(LIMIT)?.totals().map(drop)
}

fn trapped_doorbells_are_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| config.with_mmio(MmioMode::Trap))?;
    let output = nic.forwarder(driver)?.arg("--pipeline").run()?;
    output
        .expect_failure(["--mmio shared", "doorbell"])
        .map(drop)
}

fn wrong_options_are_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    Program::expect_refused(
        || Ok(nic.forwarder(driver)?.arg("--pipeline")),
        &[
            (&["--cpus", "0,0,0,0"], "more CPUs than there are threads"),
            (
                &["--interrupts"],
                "leave out --queues, --cpus and --pipeline",
            ),
        ],
    )
}

/// ThreadSanitizer reports each pair of accesses from two threads that nothing orders.
#[test]
fn the_threads_of_c_and_of_the_transpiled_driver_have_no_data_race() -> Result<()> {
    for driver in [Implementation::C, Implementation::RustUnsafe] {
        for kind in [&["--pipeline", "--queues", "3"][..], &["--queues", "4"]] {
            for ending in [["--packets", "200000"], ["--duration", "1.2"]] {
                let nic = TestNic::running(saturated)?;
                let program = Program::built(&format!("thread/{driver}/ixgbe-fwd"))?.args(kind);
                let output = program.args(nic.devices()).args(ending).run()?;
                output.expect_success()?;
                ensure!(!output.stderr.contains("ThreadSanitizer"), "{output}");
            }
        }
    }
    Ok(())
}
