//! `ixgbe-fwd --interrupts`: a driver that sleeps while no packets come, and misses none.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Output, TestNic, Totals};
use nic::{MmioMode, NicConfig, Traffic};
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

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

/// How long a driver runs before its processor time is read.
const MEASURED: &str = "2";

fn at_rate(mmio: MmioMode, mpps: f64) -> impl Fn(NicConfig) -> NicConfig {
    move |config| {
        let config = config.with_mmio(mmio);
        config.with_each_port(|port| port.traffic = Traffic::Rate { mpps })
    }
}

/// Checks exit status, totals, packets and devices of a run that has ended. Stops the data plane.
fn check_run(nic: &mut TestNic, output: &Output) -> Result<Totals> {
    output.expect_success()?;
    let totals = output.totals()?;
    totals.check(32)?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &totals)?;
    Ok(totals)
}

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
    implementation: Implementation,
    mmio: MmioMode,
    arguments: &[&str],
) -> Result<(Totals, [f64; 2])> {
    let mut nic = TestNic::running(at_rate(mmio, 0.002))?;
    let program = nic.forwarder(implementation)?.args(arguments);
    let mut running = program.start()?;
    nic.wait_for_traffic(100)?;
    let (begun, before) = (Instant::now(), processor_time(running.id())?);
    let sent = nic.ports()[0].stats().transmitted;
    nic.wait_for_traffic(sent + 2_000)?;
    let after = processor_time(running.id())?;
    let wall = begun.elapsed().as_secs_f64();
    let ran = (after[0] - before[0]) / wall;
    let shares = [ran, ran + (after[1] - before[1]) / wall];
    running.signal(Signal::INT)?;
    let output = running.wait(LIMIT)?;
    Ok((check_run(&mut nic, &output)?, shares))
}

fn a_driver_that_waits_sleeps_and_forwards_each_packet(
    implementation: Implementation,
) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let (totals, [share, _]) = share_of_processor(implementation, mmio, &["--interrupts"])?;
        let (interrupts, sleeps) = (totals.interrupts, totals.sleeps);
        ensure!(
            share < 0.5 && totals.dropped == 0,
            "{mmio:?}: {share:.2} of a processor: {totals:?}"
        );
        ensure!(
            interrupts.is_some_and(|count| count > 100) && sleeps.is_some_and(|count| count > 100),
            "{mmio:?}: {totals:?}"
        );
    }
    Ok(())
}

fn a_driver_that_polls_does_not_sleep(implementation: Implementation) -> Result<()> {
    let (totals, [_, share]) = share_of_processor(implementation, MmioMode::Shared, &[])?;
    ensure!(
        totals.interrupts.is_none() && totals.sleeps.is_none(),
        "{totals:?}"
    );
    ensure!(share > 0.8, "awake for {share:.2} of the time: {totals:?}");
    Ok(())
}

fn a_saturated_driver_forwards_as_without_interrupts(implementation: Implementation) -> Result<()> {
    let rate = |arguments: &[&str]| -> Result<f64> {
        let mut nic = TestNic::running(|config| {
            config.with_each_port(|port| port.traffic = Traffic::Saturate)
        })?;
        let program = nic.forwarder(implementation)?.args(arguments);
        let output = program.args(["--packets", "1000000"]).run(LIMIT)?;
        let totals = check_run(&mut nic, &output)?;
        expect::exactly("received", totals.rx, "packets", 1_000_000)?;
        Ok(totals.rx as f64 / totals.seconds)
    };
    // Other programs may keep the machine busy during one of two runs, so the calmest pair counts.
    const PAIRS: usize = 4;
    let mut seen = Vec::new();
    for _ in 0..PAIRS {
        let (polled, waited) = (rate(&[])?, rate(&["--interrupts"])?);
        if waited > polled / 10.0 {
            return Ok(());
        }
        seen.push([polled, waited]);
    }
    bail!("packets a second, without and with interrupts: {seen:.0?}")
}

/// A driver that slept whenever it could slept 6,000 times here. It may sleep until the first period is
/// over, and while the card has no processor. Other programs so only add sleeps, and the calmest run counts.
fn a_busy_driver_only_polls(implementation: Implementation) -> Result<()> {
    const RUNS: usize = 4;
    let mut seen = Vec::new();
    for _ in 0..RUNS {
        let nic = TestNic::running(at_rate(MmioMode::Shared, 1.0))?;
        let program = nic.forwarder(implementation)?.arg("--interrupts");
        let output = program.args(["--duration", "1"]).run(LIMIT)?;
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
fn interrupts_keep_their_interval(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(MmioMode::Shared, 0.1))?;
    let program = nic.forwarder(implementation)?.arg("--interrupts");
    let arguments = ["--interrupt-interval", "1000", "--duration", "1"];
    let output = program.args(arguments).run(LIMIT)?;
    let totals = check_run(&mut nic, &output)?;
    let most = (2.0 * 1000.0 * totals.seconds) as u64 + 2;
    ensure!(
        totals.rx > 0
            && totals
                .interrupts
                .is_some_and(|count| (1..=most).contains(&count)),
        "at most {most} interrupts were expected: {totals:?}"
    );
    Ok(())
}

fn a_packet_limit_is_exact(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(MmioMode::Shared, 0.01))?;
    let program = nic.forwarder(implementation)?.arg("--interrupts");
    let output = program.args(["--packets", "777"]).run(LIMIT)?;
    let totals = check_run(&mut nic, &output)?;
    expect::exactly("received", totals.rx, "packets", 777)
}

/// A driver without traffic sleeps nearly all the time.
fn a_signal_ends_a_sleeping_driver(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut nic = TestNic::running(|config| config.with_mmio(mmio))?;
            let mut running = nic.forwarder(implementation)?.arg("--interrupts").start()?;
            conformance::wait_until("the vectors to be armed", || {
                let mut ports = nic.ports().iter();
                ports.all(|port| port.snapshot().interrupts_enabled != 0)
            })?;
            let begun = Instant::now();
            running.signal(signal)?;
            let output = running.wait(LIMIT)?;
            let took = begun.elapsed();
            let totals = check_run(&mut nic, &output)?;
            // The stop of both devices takes 0.2 s of pauses.
            ensure!(
                took < Duration::from_secs(1) && totals.sleeps.is_some_and(|count| count > 0),
                "{signal:?}, {mmio:?}: ended after {took:?}: {totals:?}"
            );
        }
    }
    Ok(())
}

fn a_duration_ends_a_sleeping_driver(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(|config| config)?;
    let program = nic.forwarder(implementation)?.arg("--interrupts");
    let output = program.args(["--duration", MEASURED]).run(LIMIT)?;
    let totals = check_run(&mut nic, &output)?;
    ensure!((2.0..3.0).contains(&totals.seconds), "{totals:?}");
    // The lines of each second come although no packet does.
    ensure!(output.stdout.lines().count() >= 2, "{output}");
    Ok(())
}

fn several_queues_are_refused(implementation: Implementation) -> Result<()> {
    for arguments in [["--queues", "2"], ["--cpus", "0"]] {
        let nic = TestNic::still(|config| config)?;
        let program = nic.forwarder(implementation)?.arg("--interrupts");
        let output = program.args(arguments).run(LIMIT)?;
        output
            .expect_exit(2)?
            .expect_stderr(["--interrupts needs one queue"])?;
    }
    Ok(())
}
