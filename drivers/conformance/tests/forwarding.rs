//! The program `ixgbe-fwd` beside a NIC whose data plane runs at full speed.

use std::io::Read;
use std::process::Stdio;

use anyhow::{ensure, Context, Result};
use conformance::{at_rate, expect, for_each_implementation, saturated, wait_until};
use conformance::{Implementation, Program, TestNic, Totals, LIMIT};
use nic::{FrameSizes, MmioMode, NicConfig, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_million_packets_arrive_once_in_order_and_unaltered,
    every_batch_size_forwards,
    a_packet_limit_is_exact,
    a_duration_limit_is_kept,
    each_device_has_a_line_with_rates_every_second,
    the_last_line_has_what_the_devices_counted,
    a_closed_output_does_not_end_the_run,
    totals_can_go_to_a_pipe,
    the_next_run_finds_the_device_ready,
);

/// Forwards so many packets, and checks the run.
fn forward(
    driver: Implementation,
    packets: u64,
    batch: u64,
    change: impl FnOnce(NicConfig) -> NicConfig,
) -> Result<TestNic> {
    let mut nic = TestNic::running(change)?;
    let [count, size] = [packets, batch].map(|number| number.to_string());
    let totals = nic.forward(driver, &["--packets", &count, "--batch", &size]);
    let totals = totals.with_context(|| format!("{packets} packets, batch {batch}"))?;
    expect::exactly("received", totals.rx, "packets", packets)?;
    Ok(nic)
}

/// Few enough for a busy machine, and a thousand rounds of each ring.
fn a_million_packets_arrive_once_in_order_and_unaltered(driver: Implementation) -> Result<()> {
    let nic = forward(driver, 1_000_000, 32, saturated)?;
    // Packets went both ways.
    for port in nic.ports() {
        let sent = port.stats().transmitted;
        ensure!(sent > 100_000, "port {} sent {sent}", port.index());
    }
    Ok(())
}

/// Frames of 60 to 1514 bytes as fast as the driver takes them.
fn of_every_size(config: NicConfig) -> NicConfig {
    let sizes = FrameSizes::range(60, 1514).unwrap_or_default();
    saturated(config).with_each_port(|port| port.sizes = sizes.clone())
}

fn every_batch_size_forwards(driver: Implementation) -> Result<()> {
    for batch in [1, 2, 32, 256, 512] {
        forward(driver, 200_000, batch, of_every_size)?;
    }
    for batch in [1, 32, 512] {
        let trapped = |config| of_every_size(config).with_mmio(MmioMode::Trap);
        forward(driver, 20_000, batch, trapped).context("trapped registers")?;
    }
    Ok(())
}

/// The NIC checks every frame that comes back, so a variant forwards what the default forwards.
#[test]
fn the_variants_with_packets_as_slices_forward_frames_of_every_size() -> Result<()> {
    for variant in ["trusted-device", "untrusted-device-copy"] {
        let mut nic = TestNic::running(of_every_size)?;
        let program = Program::built(&format!("variants/{variant}/rust/ixgbe-fwd"))?;
        let program = nic.between_ports(program);
        let output = program.args(["--packets", "200000"]).run()?;
        let totals = nic.check_run(&output).context(variant)?;
        expect::exactly("received", totals.rx, "packets", 200_000)?;
    }
    Ok(())
}

/// The limit holds even if it is not a multiple of the batch, or is less than a batch.
fn a_packet_limit_is_exact(driver: Implementation) -> Result<()> {
    for (packets, batch) in [
        (1, 32),
        (31, 32),
        (1_000_003, 32),
        (100_001, 512),
        (77, 1),
        (513, 512),
    ] {
        forward(driver, packets, batch, saturated)?;
    }
    Ok(())
}

fn a_duration_limit_is_kept(driver: Implementation) -> Result<()> {
    for traffic in [Traffic::Saturate, Traffic::Off] {
        let mut nic =
            TestNic::running(|config| config.with_each_port(|port| port.traffic = traffic))?;
        let output = nic.forwarder(driver)?.args(["--duration", "0.5"]).run()?;
        let totals = nic.check_run(&output)?;
        // The harness ends a run that does not end, and a busy machine may extend this one.
        ensure!(totals.seconds >= 0.5, "{totals:?}");
        ensure!((totals.rx > 0) == (traffic == Traffic::Saturate));
    }
    Ok(())
}

/// Parses a line with rates: the device, then RX and TX, each in Mpps and in Gbit/s.
fn parse_rates(line: &str) -> Option<(&str, [[f64; 2]; 2])> {
    let (device, rates) = line.split_once(": RX ")?;
    let (rx, tx) = rates.split_once(", TX ")?;
    // A rate always has two decimals.
    let rate = |text: &str| match text.split_once('.')?.1.len() {
        2 => text.parse().ok(),
        _ => None,
    };
    let pair = |text: &str| -> Option<[f64; 2]> {
        let (mpps, gbits) = text.strip_suffix(" Gbit/s")?.split_once(" Mpps ")?;
        Some([rate(mpps)?, rate(gbits)?])
    };
    Some((device, [pair(rx)?, pair(tx)?]))
}

/// The rates agree with the totals, and Gbit/s agrees with Mpps: a frame of 60 bytes takes 84 bytes
/// on the wire, with CRC, preamble and gap. A busy machine may print a line late, so the test waits for the lines.
fn each_device_has_a_line_with_rates_every_second(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(0.1))?;
    let running = nic.forwarder(driver)?.start()?;
    wait_until("four lines", || {
        running
            .so_far()
            .is_ok_and(|[out, _]| out.lines().count() >= 4)
    })?;
    let output = running.end_by(Signal::TERM)?;
    let totals = nic.check_run(&output)?;
    let devices = nic.devices();
    // Millions of packets received and sent, both devices and all seconds added.
    let (mut sums, mut lines) = ([0.0, 0.0], 0);
    for (nth, line) in output.stdout.lines().enumerate() {
        let (device, rates) = parse_rates(line).with_context(|| format!("line {line:?}"))?;
        ensure!(device == devices[nth % 2], "line {nth}: {output}");
        for ([mpps, gbits], sum) in rates.into_iter().zip(&mut sums) {
            // Both rates are rounded to two decimals.
            ensure!((gbits - mpps * 0.672).abs() < 0.01, "line {nth}: {output}");
            *sum += mpps;
        }
        lines += 1;
    }
    ensure!(
        lines % 2 == 0,
        "a second has a line of each device: {output}"
    );
    // A line comes a second after the one before, or later. Rates are rounded to a hundredth.
    let seconds = f64::from(lines / 2);
    ensure!(seconds <= totals.seconds, "{totals:?}: {output}");
    for (printed, packets) in sums.into_iter().zip([totals.rx, totals.tx]) {
        let millions = packets as f64 / 1e6;
        let least = 0.25 * millions / totals.seconds * seconds;
        let rounding = 0.005 * f64::from(lines);
        let range = least - rounding..=millions + rounding;
        ensure!(
            range.contains(&printed),
            "{printed}, not {range:?}: {output}"
        );
    }
    Ok(())
}

/// The NIC offers more than the smallest rings can take, so that all kinds of counts occur.
fn the_last_line_has_what_the_devices_counted(driver: Implementation) -> Result<()> {
    for queues in ["1", "3"] {
        let mut nic = TestNic::running(at_rate(2.0))?;
        let program = Program::forwarder(driver)?.args(nic.devices());
        let output = program
            .args(["--duration", "0.5", "--batch", "1", "--ring-size", "64"])
            .args(["--queues", queues])
            .run()?;
        output.expect_success()?;
        nic.stop_data_plane()?;
        let line = output.stdout.lines().last().unwrap_or_default();
        let counted = parse_totals(line).with_context(|| format!("{queues} queues: {output}"))?;
        let [received, sent, dropped, missed] = counted;
        ensure!(received > 0 && received == sent + dropped, "{output}");
        expect::exactly("sent", sent, "packets", nic.transmitted())?;
        let ports = nic.ports().iter();
        let without_descriptor: u64 = ports.map(|port| port.stats().dropped_no_descriptor).sum();
        // A few more come between the reading and the end.
        let range = 1..=without_descriptor;
        ensure!(range.contains(&missed), "{missed}, not {range:?}: {output}");
    }
    Ok(())
}

/// Parses the line with the totals: received, sent, dropped, missed.
fn parse_totals(line: &str) -> Option<[u64; 4]> {
    let counts = line.strip_prefix("both devices: ")?;
    let names = ["received ", "sent ", "dropped ", "missed "];
    let words: Vec<_> = counts.split(", ").collect();
    let numbers = names.iter().zip(&words);
    let numbers = numbers.map(|(name, word)| word.strip_prefix(name)?.parse().ok());
    let numbers = numbers.collect::<Option<Vec<u64>>>()?;
    numbers
        .try_into()
        .ok()
        .filter(|_| words.len() == names.len())
}

fn a_closed_output_does_not_end_the_run(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(at_rate(0.2))?;
    let program = nic.forwarder(driver)?.args(["--duration", "1.3"]);
    let mut running = program.stdout(Stdio::piped()).start()?;
    drop(running.pipe()?);
    let output = running.wait(LIMIT)?;
    let totals = nic.check_run(&output)?;
    ensure!(totals.seconds >= 1.3, "{totals:?}");
    Ok(())
}

/// Scripts use `--json /dev/stdout`.
fn totals_can_go_to_a_pipe(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(saturated)?;
    let program = Program::forwarder(driver)?.args(nic.devices());
    let program = program.args(["--packets", "1000", "--json", "/dev/stdout"]);
    let mut running = program.stdout(Stdio::piped()).start()?;
    let mut pipe = running.pipe()?;
    running.wait(LIMIT)?.expect_success()?;
    let mut text = String::new();
    pipe.read_to_string(&mut text)?;
    let totals = Totals::parse(&text)?;
    totals.check(32)?;
    expect::exactly("received", totals.rx, "packets", 1000)
}

/// A run follows a run that ended by itself, and another follows a run that SIGINT ended. All use the
/// same sockets, and all packets of all runs are accounted for.
fn the_next_run_finds_the_device_ready(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut sum = Totals::default();
    for run in 0..4 {
        let output = match run {
            2 => {
                let running = nic.forwarder(driver)?.start()?;
                nic.wait_for_traffic(200_000)?;
                running.end_by(Signal::INT)?
            }
            _ => nic.forwarder(driver)?.args(["--packets", "100000"]).run()?,
        };
        output.expect_success()?;
        nic.expect_rest()?;
        let totals = output.totals()?;
        sum.rx += totals.rx;
        sum.tx += totals.tx;
        sum.dropped += totals.dropped;
    }
    nic.stop_data_plane()?;
    expect::nothing_lost_in_sessions(nic.ports(), &sum, 4)
}
