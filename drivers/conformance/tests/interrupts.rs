//! `ixgbe-fwd --interrupts`: a driver that sleeps while no packets come, and misses none.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use conformance::{at_rate, expect, for_each_implementation, saturated, wait_until};
use conformance::{Implementation, Program, TestNic, Totals};
use nic::MmioMode;
use rustix::process::Signal;

for_each_implementation!(
    a_driver_that_waits_sleeps_and_forwards_each_packet,
    a_driver_that_polls_does_not_sleep,
    a_saturated_driver_forwards_as_without_interrupts,
    a_busy_driver_only_polls,
    interrupts_keep_their_interval,
    a_packet_limit_is_exact,
    a_signal_ends_a_sleeping_driver,
    a_duration_ends_a_sleeping_driver,
    several_queues_are_refused,
);

/// How often a test runs whose result other programs can only make worse. The calmest run counts.
const RUNS: usize = 4;

/// The seconds so far in which a process ran, and in which it waited for a processor.
fn processor_time(id: u32) -> Result<[f64; 2]> {
    let text = fs::read_to_string(format!("/proc/{id}/schedstat"))?;
    let mut fields = text.split_whitespace();
    let mut seconds = || -> Result<f64> {
        let nanoseconds: f64 = fields.next().context("no time")?.parse()?;
        Ok(nanoseconds / 1e9)
    };
    Ok([seconds()?, seconds()?])
}

/// Runs a driver with these arguments until it has forwarded for a second, then ends it by a signal.
/// Returns its totals, and the shares of the time in which it ran, and in which it ran or could not because
/// other programs did.
fn share_of_processor(
    driver: Implementation,
    mmio: MmioMode,
    arguments: &[&str],
) -> Result<(Totals, [f64; 2])> {
    let mut nic = TestNic::running(|config| at_rate(0.002)(config.with_mmio(mmio)))?;
    let running = nic.forwarder(driver)?.args(arguments).start()?;
    nic.wait_for_traffic(100)?;
    let (begun, before) = (Instant::now(), processor_time(running.id())?);
    let sent = nic.ports()[0].stats().transmitted;
    nic.wait_for_traffic(sent + 2_000)?;
    let after = processor_time(running.id())?;
    let wall = begun.elapsed().as_secs_f64();
    let ran = (after[0] - before[0]) / wall;
    let shares = [ran, ran + (after[1] - before[1]) / wall];
    let output = running.end_by(Signal::INT)?;
    Ok((nic.check_run(&output)?, shares))
}

fn a_driver_that_waits_sleeps_and_forwards_each_packet(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let (totals, [share, _]) = share_of_processor(driver, mmio, &["--interrupts"])?;
        ensure!(
            share < 0.5,
            "{mmio:?}: {share:.2} of a processor: {totals:?}"
        );
        let woken = totals.interrupts > Some(100) && totals.sleeps > Some(100);
        ensure!(woken && totals.dropped == 0, "{mmio:?}: {totals:?}");
    }
    Ok(())
}

fn a_driver_that_polls_does_not_sleep(driver: Implementation) -> Result<()> {
    let (totals, [_, share]) = share_of_processor(driver, MmioMode::Shared, &[])?;
    ensure!((totals.interrupts, totals.sleeps) == (None, None));
    ensure!(share > 0.8, "awake for {share:.2} of the time: {totals:?}");
    Ok(())
}

fn a_saturated_driver_forwards_as_without_interrupts(driver: Implementation) -> Result<()> {
    let rate = |more: &[&str]| -> Result<f64> {
        let mut nic = TestNic::running(saturated)?;
        let totals = nic.forward(driver, &[&["--packets", "1000000"], more].concat())?;
        expect::exactly("received", totals.rx, "packets", 1_000_000)?;
        Ok(totals.rx as f64 / totals.seconds)
    };
    let mut seen = Vec::new();
    for _ in 0..RUNS {
        let (polled, waited) = (rate(&[])?, rate(&["--interrupts"])?);
        if waited > polled / 10.0 {
            return Ok(());
        }
        seen.push([polled, waited]);
    }
    bail!("packets a second, without and with interrupts: {seen:.0?}")
}

/// A driver that slept whenever it could slept 6,000 times here. It may sleep until the first period is
/// over, and while the card has no processor.
fn a_busy_driver_only_polls(driver: Implementation) -> Result<()> {
    let mut seen = Vec::new();
    for _ in 0..RUNS {
        let nic = TestNic::running(at_rate(1.0))?;
        let program = nic.forwarder(driver)?.arg("--interrupts");
        let output = program.args(["--duration", "1"]).run()?;
        output.expect_success()?;
        let totals = output.totals()?;
        ensure!(totals.rx > 0 && totals.sleeps.is_some(), "{totals:?}");
        if totals.sleeps < Some(2000) {
            return Ok(());
        }
        seen.push(totals);
    }
    bail!("it slept too often in each run: {seen:?}")
}

/// EITR: a packet every 10 us asks for far more interrupts than one a millisecond.
fn interrupts_keep_their_interval(driver: Implementation) -> Result<()> {
    let interval = ["--interrupts", "--interrupt-interval", "1000"];
    let arguments = [&interval[..], &["--duration", "1"]].concat();
    let totals = TestNic::running(at_rate(0.1))?.forward(driver, &arguments)?;
    let most = (2.0 * 1000.0 * totals.seconds) as u64 + 2;
    let taken = totals.interrupts.unwrap_or_default();
    ensure!(totals.rx > 0 && (1..=most).contains(&taken), "{totals:?}");
    Ok(())
}

fn a_packet_limit_is_exact(driver: Implementation) -> Result<()> {
    let arguments = ["--interrupts", "--packets", "777"];
    let totals = TestNic::running(at_rate(0.01))?.forward(driver, &arguments)?;
    expect::exactly("received", totals.rx, "packets", 777)
}

/// A driver without traffic sleeps nearly all the time.
fn a_signal_ends_a_sleeping_driver(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut nic = TestNic::running(|config| config.with_mmio(mmio))?;
            let running = nic.forwarder(driver)?.arg("--interrupts").start()?;
            wait_until("the vectors to be armed", || {
                let mut ports = nic.ports().iter();
                ports.all(|port| port.snapshot().interrupts_enabled != 0)
            })?;
            let begun = Instant::now();
            let output = running.end_by(signal)?;
            let took = begun.elapsed();
            let totals = nic.check_run(&output)?;
            // The stop of both devices takes 0.2 s of pauses.
            ensure!(
                took < Duration::from_secs(1),
                "{signal:?}, {mmio:?}: {took:?}"
            );
            ensure!(totals.sleeps > Some(0), "{totals:?}");
        }
    }
    Ok(())
}

fn a_duration_ends_a_sleeping_driver(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(|config| config)?;
    let program = nic.forwarder(driver)?.arg("--interrupts");
    let output = program.args(["--duration", "2"]).run()?;
    let totals = nic.check_run(&output)?;
    ensure!((2.0..3.0).contains(&totals.seconds), "{totals:?}");
    // The lines of each second come although no packet does.
    ensure!(output.stdout.lines().count() >= 2, "{output}");
    Ok(())
}

fn several_queues_are_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let message = "--interrupts needs one queue";
    Program::expect_refused(
        || Ok(nic.forwarder(driver)?.arg("--interrupts")),
        &[(&["--queues", "2"], message), (&["--cpus", "0"], message)],
    )
}
