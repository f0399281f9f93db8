//! Several queues: RSS divides the flows, and threads share nothing but the limit of a run.

use anyhow::{ensure, Context, Result};
use conformance::{counted_crc, expect, for_each_implementation, saturated, setup, trace};
use conformance::{Implementation, Lockstep, Program, Setup, TestNic, LIMIT};
use nic::registers as r;
use nic::{MmioMode, NicConfig, TraceEntry, TraceTo};
use rustix::process::Signal;

for_each_implementation!(
    every_number_of_queues_forwards_in_order_and_unaltered,
    a_million_packets_over_sixteen_queues_and_four_threads,
    both_directions_of_a_flow_use_one_queue,
    the_card_counts_each_queue_for_itself,
    frames_that_are_not_ip_use_queue_0,
    one_queue_leaves_rss_off,
    a_limit_is_exact_however_the_flows_divide,
    a_signal_ends_all_threads,
    trapped_doorbells_are_refused,
    numbers_and_cpus_that_cannot_be_used_are_refused,
);

const FRAME_SIZE: usize = 60;

/// Forwards `packets` packets with these arguments, and checks that none is lost, altered or reordered.
fn forward(driver: Implementation, arguments: &[&str], packets: u64) -> Result<Vec<u64>> {
    let mut nic = TestNic::running(saturated)?;
    let count = packets.to_string();
    let totals = nic.forward(driver, &[&["--packets", &count], arguments].concat())?;
    expect::exactly("received", totals.rx, "packets", packets)?;
    // The card and the driver count the same packets on each queue. What is left in a ring at the end
    // has been delivered too.
    let most = 512 * 2;
    for (index, queue) in totals.queues.iter().enumerate() {
        let ports = nic.ports().iter().map(|port| port.stats().queues[index]);
        let (delivered, sent) = ports.fold((0, 0), |(delivered, sent), queue| {
            (delivered + queue.delivered, sent + queue.transmitted)
        });
        ensure!(
            (queue.rx..=queue.rx + most).contains(&delivered) && sent == queue.tx,
            "queue {index}: the card delivered {delivered} and sent {sent}: {queue:?}"
        );
    }
    Ok(totals.queues.iter().map(|queue| queue.rx).collect())
}

fn every_number_of_queues_forwards_in_order_and_unaltered(driver: Implementation) -> Result<()> {
    for queues in [2, 3, 4, 8, 16] {
        let number = queues.to_string();
        let received = forward(driver, &["--queues", &number], 300_000)
            .with_context(|| format!("{queues} queues"))?;
        ensure!(
            received.len() == queues && !received.contains(&0),
            "{received:?}"
        );
    }
    Ok(())
}

fn a_million_packets_over_sixteen_queues_and_four_threads(driver: Implementation) -> Result<()> {
    // Two threads share a CPU. On a machine with one CPU, all do.
    let last = usize::from(std::thread::available_parallelism()?.get() > 1);
    let cpus = format!("0,{last},0,{last}");
    let arguments = ["--queues", "16", "--cpus", &cpus];
    let received = forward(driver, &arguments, 1_000_000)?;
    ensure!(
        received.iter().all(|packets| *packets > 10_000),
        "{received:?}"
    );
    Ok(())
}

fn with_queues(
    driver: Implementation,
    queues: u32,
    change: impl FnOnce(NicConfig) -> NicConfig,
) -> Result<Lockstep> {
    let setup = Setup {
        queues,
        ..setup(32, 512)
    };
    Lockstep::open_with(driver, setup, change)
}

/// A UDP frame over IPv4.
fn frame(source: ([u8; 4], u16), destination: ([u8; 4], u16)) -> [u8; FRAME_SIZE] {
    let mut frame = [0; FRAME_SIZE];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14] = 0x45;
    frame[17] = 46;
    frame[22] = 64;
    frame[23] = 17;
    frame[26..30].copy_from_slice(&source.0);
    frame[30..34].copy_from_slice(&destination.0);
    frame[34..36].copy_from_slice(&source.1.to_be_bytes());
    frame[36..38].copy_from_slice(&destination.1.to_be_bytes());
    frame[39] = 26;
    frame
}

/// The queues on which port 0 receives a frame.
fn queues_of(lockstep: &mut Lockstep, frame: &[u8]) -> Result<Vec<u32>> {
    let counts = |lockstep: &mut Lockstep| -> Result<Vec<u64>> {
        let forwarder = lockstep.forwarder()?;
        let queues = 0..forwarder.queues();
        queues
            .map(|queue| Ok(forwarder.queue_counts(queue)?.rx))
            .collect()
    };
    let before = counts(lockstep)?;
    lockstep.port(0).inject(frame)?;
    lockstep.run_until_idle()?;
    let after = counts(lockstep)?;
    let grown = (0..).zip(before.iter().zip(&after));
    let grown = grown.filter(|(_, (before, after))| after > before);
    Ok(grown.map(|(queue, _)| queue).collect())
}

fn both_directions_of_a_flow_use_one_queue(driver: Implementation) -> Result<()> {
    let mut lockstep = with_queues(driver, 8, |config| config)?;
    let mut used = [false; 8];
    for flow in 0..64_u16 {
        let one = ([10, 0, 0, flow as u8], 1_000 + flow * 7);
        let other = ([192, 168, flow as u8, 9], 53 + flow);
        let there = queues_of(&mut lockstep, &frame(one, other))?;
        let back = queues_of(&mut lockstep, &frame(other, one))?;
        ensure!(
            there.len() == 1 && there == back,
            "flow {flow}: there {there:?}, back {back:?}"
        );
        used[there[0] as usize] = true;
    }
    ensure!(used.iter().all(|used| *used), "64 flows used {used:?}");
    lockstep.close()
}

fn the_card_counts_each_queue_for_itself(driver: Implementation) -> Result<()> {
    let mut lockstep = with_queues(driver, 4, |config| config)?;
    let mut expected = [0_u64; 4];
    for flow in 0..40_u16 {
        let queues = queues_of(
            &mut lockstep,
            &frame(([10, 0, 0, 1], 1_000 + flow), ([10, 0, 0, 2], 2_000)),
        )?;
        expected[queues[0] as usize] += 1;
    }
    let forwarder = lockstep.forwarder()?;
    for (queue, packets) in (0..).zip(expected) {
        // Twice, because the registers are cleared by reading.
        for _ in 0..2 {
            let received = forwarder.queue_stats(0, queue)?;
            let sent = forwarder.queue_stats(1, queue)?;
            let bytes = packets * (FRAME_SIZE as u64 + 4);
            let without = packets * (FRAME_SIZE as u64 + counted_crc()?);
            ensure!(
                (received.rx_packets, received.rx_bytes, received.tx_packets)
                    == (packets, without, 0)
                    && (sent.tx_packets, sent.tx_bytes, sent.rx_packets) == (packets, bytes, 0),
                "queue {queue} of {expected:?}: {received:?}, {sent:?}"
            );
        }
    }
    lockstep.close()
}

fn frames_that_are_not_ip_use_queue_0(driver: Implementation) -> Result<()> {
    let mut lockstep = with_queues(driver, 16, |config| config)?;
    let mut arp = [0; FRAME_SIZE];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    let queues = queues_of(&mut lockstep, &arp)?;
    ensure!(queues == [0], "{queues:?}");
    lockstep.close()
}

/// The register accesses while a forwarder with `queues` queues opens its devices.
fn set_up(driver: Implementation, queues: u32, device_id: u16) -> Result<Vec<TraceEntry>> {
    let mut lockstep = with_queues(driver, queues, |config| {
        let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
        config.with_each_port(|port| port.device_id = device_id)
    })?;
    let accesses = trace::without_polling(lockstep.take_trace());
    lockstep.close()?;
    Ok(accesses)
}

fn one_queue_leaves_rss_off(driver: Implementation) -> Result<()> {
    let accesses = set_up(driver, 1, nic::DEFAULT_DEVICE_ID)?;
    let rss = [r::MRQC, r::RQSMR(0)];
    let touched = accesses.iter().find(|access| rss.contains(&access.address));
    ensure!(touched.is_none(), "{touched:?}");
    Ok(())
}

/// On each family: X550 has a larger table than the others.
#[test]
fn all_implementations_set_up_rss_alike() -> Result<()> {
    for device_id in [0x10fb, 0x1528, 0x1563] {
        for queues in [2, 5, 16] {
            let c = set_up(Implementation::C, queues, device_id)?;
            let entries = |address: u32| -> Vec<u32> {
                let at = |access: &&TraceEntry| access.write && access.address == address;
                c.iter().filter(at).map(|access| access.value).collect()
            };
            let first = entries(r::RETA(0));
            let expected: u32 = (0..4).map(|entry| (entry % queues) << (8 * entry)).sum();
            ensure!(
                first == [expected, expected],
                "the first entries of {queues} queues are {first:x?}"
            );
            let large = !entries(r::ERETA(95)).is_empty();
            ensure!(large == (device_id == 0x1563), "{device_id:x}");
            for other in [Implementation::Rust, Implementation::RustUnsafe] {
                let accesses = set_up(other, queues, device_id)?;
                trace::expect_same(("c", &c), (&other.to_string(), &accesses))
                    .with_context(|| format!("{queues} queues of {device_id:x}"))?;
            }
        }
    }
    Ok(())
}

/// All frames of a run with one flow reach one queue, so its thread must get the whole limit.
fn a_limit_is_exact_however_the_flows_divide(driver: Implementation) -> Result<()> {
    for (flows, packets) in [(1, 100_001), (3, 65_537), (1024, 7)] {
        let mut nic =
            TestNic::running(|config| saturated(config).with_each_port(|port| port.flows = flows))?;
        let arguments = ["--queues", "4", "--packets", &packets.to_string()];
        let totals = nic.forward(driver, &arguments);
        let totals = totals.with_context(|| format!("{flows} flows"))?;
        expect::exactly("received", totals.rx, "packets", packets)?;
    }
    Ok(())
}

fn a_signal_ends_all_threads(driver: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let mut nic = TestNic::running(saturated)?;
        let running = nic.forwarder(driver)?.args(["--queues", "4"]).start()?;
        nic.wait_for_traffic(10_000)?;
        let output = running.end_by(signal)?;
        nic.check_run(&output)?;
    }
    Ok(())
}

fn trapped_doorbells_are_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| config.with_mmio(MmioMode::Trap))?;
    let output = nic.forwarder(driver)?.args(["--queues", "2"]).run()?;
    output
        .expect_failure(["--mmio shared", "doorbell"])
        .map(drop)
}

fn numbers_and_cpus_that_cannot_be_used_are_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    for queues in ["0", "17", "two", "99999999999"] {
        let start = || nic.forwarder(driver);
        Program::expect_refused(start, &[(&["--queues", queues], "--queues")])?;
    }
    let list = "a list of CPUs looks like";
    for (cpus, reason) in [
        ("1023", "which may use"),
        ("0-", list),
        ("0,", list),
        ("1-0", list),
        ("x", list),
        ("0,0,0", "more CPUs than there are queues"),
    ] {
        let start = || Ok(nic.forwarder(driver)?.args(["--queues", "2"]));
        let option = ["--cpus", cpus];
        Program::expect_refused(start, &[(&option, "--cpus"), (&option, reason)])?;
    }
    Ok(())
}

/// Two drivers at a time, each with a data plane of its own.
#[test]
fn two_data_planes_serve_a_driver_each() -> Result<()> {
    let last = usize::from(std::thread::available_parallelism()?.get() > 1);
    let mut nic = TestNic::running(|config| {
        let mut config = saturated(NicConfig::new(config.socket_dir, 4));
        config.data_plane_cpus = vec![0, last];
        config
    })?;
    let mut running = Vec::new();
    for (driver, first) in [(Implementation::C, 0), (Implementation::Rust, 2)] {
        let [a, b] = [first, first + 1].map(|port| nic.ports()[port].device_name());
        let program = Program::application(driver, "ixgbe-fwd")?;
        let program = program.json(nic.path(&format!("totals-{first}.json")));
        let program = program.args(["--queues", "2", "--packets", "200000", &a, &b]);
        running.push((first, program.start()?));
    }
    let mut totals = Vec::new();
    for (first, running) in running {
        let output = running.wait(LIMIT)?;
        totals.push((first, output.expect_success()?.totals()?));
    }
    nic.expect_rest()?;
    nic.stop_data_plane()?;
    for (first, totals) in totals {
        expect::exactly("received", totals.rx, "packets", 200_000)?;
        expect::nothing_lost(&nic.ports()[first..first + 2], &totals)?;
    }
    Ok(())
}

#[test]
fn more_data_planes_than_groups_of_ports_are_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::nic(folder.path())?;
    let output = program.args(["--data-plane-cpus", "0,0"]).run()?;
    output
        .expect_exit(2)?
        .expect_stderr(["2 processors", "1 groups", "raise --ports"])?;
    Ok(())
}
