//! The program `ixgbe-fwd` beside a NIC whose data plane runs at full speed.

use std::io::Read;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Output, TestNic, Totals};
use nic::{FrameSizes, MmioMode, NicConfig, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_million_packets_arrive_once_in_order_and_unaltered,
    frames_of_every_size_are_forwarded_at_full_speed,
    every_batch_size_forwards,
    forwarding_works_with_trapped_registers,
    a_packet_limit_is_exact,
    a_duration_limit_is_kept,
    each_device_has_a_line_with_rates_every_second,
    the_last_line_has_what_the_devices_counted,
    a_closed_output_does_not_end_the_run,
    totals_can_go_to_a_pipe,
    the_next_run_finds_the_device_ready,
);

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

fn at_rate(mpps: f64) -> impl Fn(NicConfig) -> NicConfig {
    move |config| config.with_each_port(|port| port.traffic = Traffic::Rate { mpps })
}

/// Checks exit status, totals, packets and devices of a run that has ended. Stops the data plane.
fn check_run(nic: &mut TestNic, output: &Output, batch: u64) -> Result<Totals> {
    output.expect_success()?;
    let totals = output.totals()?;
    totals.check(batch)?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &totals)?;
    Ok(totals)
}

fn a_million_packets_arrive_once_in_order_and_unaltered(
    implementation: Implementation,
) -> Result<()> {
    // Few enough for a busy machine, and a thousand rounds of each ring.
    const PACKETS: u64 = 1_000_000;
    let mut nic = TestNic::running(saturated)?;
    let program = nic
        .forwarder(implementation)?
        .args(["--packets", &PACKETS.to_string()]);
    let output = program.run(LIMIT)?;
    let totals = check_run(&mut nic, &output, 32)?;
    expect::exactly("received", totals.rx, "packets", PACKETS)?;
    // Packets went both ways.
    for port in nic.ports() {
        let sent = port.stats().transmitted;
        ensure!(
            sent > PACKETS / 10,
            "port {} sent {sent} of {totals:?}",
            port.index()
        );
    }
    Ok(())
}

fn frames_of_every_size_are_forwarded_at_full_speed(implementation: Implementation) -> Result<()> {
    let sizes = FrameSizes::range(60, 1514)?;
    let mut nic = TestNic::running(|config| {
        saturated(config).with_each_port(|port| port.sizes = sizes.clone())
    })?;
    let output = nic
        .forwarder(implementation)?
        .args(["--packets", "500000"])
        .run(LIMIT)?;
    let totals = check_run(&mut nic, &output, 32)?;
    expect::exactly("received", totals.rx, "packets", 500_000)?;
    Ok(())
}

/// The NIC checks every frame that comes back, so a variant forwards what the default forwards.
#[test]
fn the_variants_with_packets_as_slices_forward_frames_of_every_size() -> Result<()> {
    for variant in ["trusted-device", "untrusted-device-copy"] {
        let sizes = FrameSizes::range(60, 1514)?;
        let mut nic = TestNic::running(|config| {
            saturated(config).with_each_port(|port| port.sizes = sizes.clone())
        })?;
        let program = nic.variant(Implementation::Rust, variant)?;
        let output = program.args(["--packets", "200000"]).run(LIMIT)?;
        let totals = check_run(&mut nic, &output, 32).with_context(|| variant.to_owned())?;
        expect::exactly("received", totals.rx, "packets", 200_000)?;
    }
    Ok(())
}

fn every_batch_size_forwards(implementation: Implementation) -> Result<()> {
    for batch in [1, 2, 32, 256, 512] {
        let mut nic = TestNic::running(saturated)?;
        let program = nic
            .forwarder(implementation)?
            .args(["--batch", &batch.to_string()]);
        let output = program.args(["--packets", "200000"]).run(LIMIT)?;
        let totals =
            check_run(&mut nic, &output, batch).with_context(|| format!("batch {batch}"))?;
        expect::exactly("received", totals.rx, "packets", 200_000)?;
    }
    Ok(())
}

fn forwarding_works_with_trapped_registers(implementation: Implementation) -> Result<()> {
    for batch in [1, 32, 512] {
        let mut nic = TestNic::running(|config| saturated(config).with_mmio(MmioMode::Trap))?;
        let program = nic
            .forwarder(implementation)?
            .args(["--batch", &batch.to_string()]);
        let output = program.args(["--packets", "20000"]).run(LIMIT)?;
        let totals =
            check_run(&mut nic, &output, batch).with_context(|| format!("batch {batch}"))?;
        expect::exactly("received", totals.rx, "packets", 20_000)?;
    }
    Ok(())
}

/// The limit holds even if it is not a multiple of the batch, or is less than a batch.
fn a_packet_limit_is_exact(implementation: Implementation) -> Result<()> {
    for (batch, packets) in [
        (32, 1),
        (32, 31),
        (32, 1_000_003),
        (512, 100_001),
        (1, 77),
        (512, 513),
    ] {
        let mut nic = TestNic::running(saturated)?;
        let program = nic
            .forwarder(implementation)?
            .args(["--batch", &batch.to_string()]);
        let output = program
            .args(["--packets", &packets.to_string()])
            .run(LIMIT)?;
        let totals = check_run(&mut nic, &output, batch)?;
        ensure!(
            totals.rx == packets,
            "limit {packets}, batch {batch}: {totals:?}"
        );
    }
    Ok(())
}

fn a_duration_limit_is_kept(implementation: Implementation) -> Result<()> {
    for (traffic, text) in [(Traffic::Saturate, "0.5"), (Traffic::Off, "0.5")] {
        let mut nic =
            TestNic::running(|config| config.with_each_port(|port| port.traffic = traffic))?;
        let output = nic
            .forwarder(implementation)?
            .args(["--duration", text])
            .run(LIMIT)?;
        let totals = check_run(&mut nic, &output, 32)?;
        let Totals { seconds, .. } = totals;
        ensure!(
            // A busy machine may extend the duration.
            (0.5..1.5).contains(&seconds),
            "{traffic:?}: limit {text} s: {totals:?}"
        );
        // Opening and closing do not count, and take well below a second each.
        ensure!(
            output.elapsed < Duration::from_millis(2500),
            "{traffic:?}: {output}"
        );
        ensure!(
            (totals.rx > 0) == (traffic == Traffic::Saturate),
            "{traffic:?}: {totals:?}"
        );
    }
    Ok(())
}

/// Parses a line with rates: the device, then RX and TX, each in Mpps and in Gbit/s.
fn parse_rates(line: &str) -> Option<(&str, [f64; 4])> {
    let (device, rates) = line.split_once(": RX ")?;
    let (rx, tx) = rates.split_once(", TX ")?;
    let pair = |text: &str| -> Option<[f64; 2]> {
        let (mpps, gbits) = text.strip_suffix(" Gbit/s")?.split_once(" Mpps ")?;
        for number in [mpps, gbits] {
            // A rate always has two decimals.
            if number.split_once('.')?.1.len() != 2 {
                return None;
            }
        }
        Some([mpps.parse().ok()?, gbits.parse().ok()?])
    };
    let ([rx_mpps, rx_gbits], [tx_mpps, tx_gbits]) = (pair(rx)?, pair(tx)?);
    Some((device, [rx_mpps, rx_gbits, tx_mpps, tx_gbits]))
}

/// The rates agree with the totals, and Gbit/s agrees with Mpps: a frame of 60 bytes takes 84 bytes
/// on the wire, with CRC, preamble and gap. A busy machine may print a line late, so the test waits for the lines.
fn each_device_has_a_line_with_rates_every_second(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(0.1))?;
    let mut running = nic.forwarder(implementation)?.start()?;
    conformance::wait_until("four lines", || {
        let printed = running.stdout_so_far().unwrap_or_default();
        printed.lines().count() >= 4
    })?;
    running.signal(Signal::TERM)?;
    let output = running.wait(LIMIT)?;
    let totals = check_run(&mut nic, &output, 32)?;
    let devices = nic.devices();
    // Millions of packets, both devices and all seconds added.
    let (mut rx, mut tx, mut lines) = (0.0, 0.0, 0);
    for (nth, line) in output.stdout.lines().enumerate() {
        let (device, rates) = parse_rates(line).with_context(|| format!("line {line:?}"))?;
        ensure!(
            device == devices[nth % 2],
            "line {nth} is not about {}",
            devices[nth % 2]
        );
        let [rx_mpps, rx_gbits, tx_mpps, tx_gbits] = rates;
        for (mpps, gbits) in [(rx_mpps, rx_gbits), (tx_mpps, tx_gbits)] {
            // Both rates are rounded to two decimals.
            ensure!(
                (gbits - mpps * 84.0 * 8.0 / 1000.0).abs() < 0.01,
                "line {nth}: {output}"
            );
        }
        rx += rx_mpps;
        tx += tx_mpps;
        lines += 1;
    }
    ensure!(
        lines % 2 == 0,
        "a second has a line of each device: {output}"
    );
    // A line comes a second after the one before, or later. Rates are rounded to a hundredth.
    ensure!(
        f64::from(lines / 2) <= totals.seconds,
        "{totals:?}: {output}"
    );
    for (printed, packets) in [(rx, totals.rx), (tx, totals.tx)] {
        let millions = packets as f64 / 1e6;
        let least = 0.25 * millions / totals.seconds * f64::from(lines / 2);
        let rounding = 0.005 * f64::from(lines);
        ensure!(
            (least - rounding..=millions + rounding).contains(&printed),
            "{printed} of {millions} million: {totals:?}: {output}"
        );
    }
    Ok(())
}

/// The NIC offers more than the smallest rings can take, so that all kinds of counts occur.
fn the_last_line_has_what_the_devices_counted(implementation: Implementation) -> Result<()> {
    for queues in ["1", "3"] {
        let mut nic = TestNic::running(at_rate(2.0))?;
        let output = conformance::Program::forwarder(implementation)?
            .args(["--duration", "0.5", "--batch", "1", "--ring-size", "64"])
            .args(["--queues", queues])
            .args(nic.devices())
            .run(LIMIT)?;
        output.expect_success()?;
        nic.stop_data_plane()?;
        let line = output.stdout.lines().last().unwrap_or_default();
        let counted = parse_totals(line).with_context(|| format!("{queues} queues: {output}"))?;
        let [received, sent, dropped, missed] = counted;
        let ports: Vec<_> = nic.ports().iter().map(|port| port.stats()).collect();
        let transmitted = ports.iter().map(|port| port.transmitted).sum();
        let without_descriptor = ports.iter().map(|port| port.dropped_no_descriptor).sum();
        ensure!(received > 0 && received == sent + dropped, "{output}");
        expect::exactly("sent", sent, "packets", transmitted)?;
        ensure!(missed > 0, "the NIC was not too fast: {output}");
        // A few more come between the reading and the end.
        ensure!(
            missed <= without_descriptor,
            "{without_descriptor}: {output}"
        );
    }
    Ok(())
}

/// Parses the line with the totals: received, sent, dropped, missed.
fn parse_totals(line: &str) -> Option<[u64; 4]> {
    let counts = line.strip_prefix("both devices: ")?;
    let mut words = counts.split(", ");
    let numbers = ["received ", "sent ", "dropped ", "missed "]
        .map(|name| words.next()?.strip_prefix(name)?.parse().ok());
    let [received, sent, dropped, missed] = numbers;
    let all = [received?, sent?, dropped?, missed?];
    words.next().is_none().then_some(all)
}

fn a_closed_output_does_not_end_the_run(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(0.2))?;
    let program = nic.forwarder(implementation)?.args(["--duration", "1.3"]);
    let mut running = program.piped().start()?;
    drop(running.pipe()?);
    let output = running.wait(LIMIT)?;
    let totals = check_run(&mut nic, &output, 32)?;
    ensure!(
        totals.seconds >= 1.3,
        "forwarded for {} s, expected at least 1.3 s",
        totals.seconds
    );
    Ok(())
}

/// Scripts use `--json /dev/stdout`.
fn totals_can_go_to_a_pipe(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(saturated)?;
    let mut running = conformance::Program::forwarder(implementation)?
        .args(["--packets", "1000", "--json", "/dev/stdout"])
        .args(nic.devices())
        .piped()
        .start()?;
    let mut pipe = running.pipe()?;
    running.wait(LIMIT)?.expect_success()?;
    let mut text = String::new();
    pipe.read_to_string(&mut text)?;
    let totals = Totals::parse(&text)?;
    totals.check(32)?;
    expect::exactly("received", totals.rx, "packets", 1000)?;
    Ok(())
}

/// A run follows a run that ended by itself, and another follows a run that SIGINT ended. All use the
/// same sockets, and all packets of all runs are accounted for.
fn the_next_run_finds_the_device_ready(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut sum = Totals::default();
    let mut add = |totals: Totals| {
        sum.rx += totals.rx;
        sum.tx += totals.tx;
        sum.dropped += totals.dropped;
    };
    let counted = |nic: &TestNic| -> Result<Totals> {
        let output = nic
            .forwarder(implementation)?
            .args(["--packets", "100000"])
            .run(LIMIT)?;
        output.expect_success()?;
        nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
        output.totals()
    };
    add(counted(&nic)?);
    add(counted(&nic)?);

    let mut running = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(200_000)?;
    running.signal(Signal::INT)?;
    let output = running.wait(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?;
    add(output.totals()?);
    add(counted(&nic)?);
    nic.stop_data_plane()?;
    expect::nothing_lost_in_sessions(nic.ports(), &sum, 4)
}
