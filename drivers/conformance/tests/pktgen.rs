//! `ixgbe-pktgen`: what it sends, frame by frame, and how fast.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use conformance::recording::{self, RecordingNic};
use conformance::{at_rate, expect, for_each_implementation, wait_until};
use conformance::{Implementation, Program, TestNic};
use nic::MmioMode;
use pcap_file::pcap::PcapHeader;
use pcap_file::{DataLink, Endianness, TsResolution};
use rustix::fs::{FileType, Mode};
use rustix::process::Signal;
use serde::Deserialize;

for_each_implementation!(
    each_frame_has_its_flow_and_its_number,
    several_queues_divide_the_flows,
    a_template_is_sent_unchanged,
    a_file_that_is_no_template_is_refused,
    the_rate_is_kept,
    it_saturates_the_card,
    received_frames_are_dropped,
    a_signal_ends_it,
    a_wrong_command_line_is_refused,
);

const PROGRAM: &str = "ixgbe-pktgen";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
    tx: u64,
    tx_bytes: u64,
    rx: u64,
    seconds: f64,
    tsc_cycles: u64,
    #[serde(default)]
    queues: Vec<u64>,
}

/// Runs the generator on port 0 to its end. The arguments are words between blanks.
fn run(nic: &TestNic, driver: Implementation, arguments: &str) -> Result<Totals> {
    let program = nic.application(driver, PROGRAM)?;
    let output = program.args(arguments.split(' ')).run()?;
    let totals: Totals = nic.totals_of(&output)?;
    ensure!(totals.seconds > 0.0 && totals.tsc_cycles > 0, "{totals:?}");
    Ok(totals)
}

/// Checks a frame of the generator. Returns its flow and its number.
fn check_frame(frame: &[u8], size: usize, source: [u8; 6]) -> Result<(u16, u64)> {
    let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let mut sum: u32 = (14..34).step_by(2).map(|at| u32::from(word(at))).sum();
    sum = (sum & 0xffff) + (sum >> 16);
    for (holds, what) in [
        (frame.len() == size, "its size"),
        (
            frame[6..12] == source && word(12) == 0x0800,
            "its Ethernet header",
        ),
        (sum == 0xffff, "the header checksum"),
        (usize::from(word(16)) == size - 14, "the IP length"),
        (usize::from(word(38)) == size - 34, "the UDP length"),
        (
            frame[23] == 17 && word(36) == 9 && word(40) == 0,
            "its UDP header",
        ),
        (frame[50..].iter().all(|byte| *byte == 0), "its payload"),
    ] {
        ensure!(holds, "{what} is wrong: {frame:x?}");
    }
    let number = u64::from_be_bytes(frame[42..50].try_into()?);
    Ok((word(34), number))
}

fn each_frame_has_its_flow_and_its_number(driver: Implementation) -> Result<()> {
    for (size, flows, packets) in [(60, 1_u16, 3000), (61, 7, 3000), (1514, 300, 1000)] {
        let card = RecordingNic::silent()?;
        let source = card.nic().ports()[0].mac_address();
        let arguments = format!("--size {size} --flows {flows} --packets {packets}");
        let totals = run(card.nic(), driver, &arguments)?;
        ensure!((totals.tx, totals.tx_bytes) == (packets, packets * size as u64));
        let sent = card.sent()?;
        expect::exactly("sent", sent.len() as u64, "frames", packets)?;
        for (nth, frame) in sent.iter().enumerate() {
            let found = check_frame(&frame.bytes, size, source)?;
            let expected = (nth as u16 % flows + 1, nth as u64 / u64::from(flows));
            ensure!(
                found == expected,
                "frame {nth}: {found:?}, not {expected:?}"
            );
        }
    }
    Ok(())
}

fn several_queues_divide_the_flows(driver: Implementation) -> Result<()> {
    let card = RecordingNic::silent()?;
    let source = card.nic().ports()[0].mac_address();
    let totals = run(card.nic(), driver, "--queues 4 --flows 10 --packets 8000")?;
    ensure!(totals.tx == 8000 && totals.queues.len() == 4, "{totals:?}");
    // Each flow has all its numbers, in order.
    let mut next = BTreeMap::new();
    for frame in card.sent()? {
        let (flow, number) = check_frame(&frame.bytes, 60, source)?;
        let expected = next.entry(flow).or_insert(0);
        ensure!(number == *expected, "flow {flow}: {number}, not {expected}");
        *expected += 1;
    }
    ensure!(next.len() == 10, "{next:?}");
    // Flow i uses queue i modulo 4.
    let mut queues = [0; 4];
    for (flow, count) in next {
        queues[(usize::from(flow) - 1) % 4] += count;
    }
    ensure!(totals.queues == queues, "{queues:?}: {totals:?}");
    ensure!(queues.iter().sum::<u64>() == 8000 && !queues.contains(&0));
    Ok(())
}

/// Writes a file with one frame.
fn write_template(path: &Path, frame: &[u8], datalink: DataLink) -> Result<()> {
    let header = PcapHeader {
        datalink,
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Big,
        ..PcapHeader::default()
    };
    recording::write(path, header, [(Duration::ZERO, frame)])
}

fn a_template_is_sent_unchanged(driver: Implementation) -> Result<()> {
    let card = RecordingNic::silent()?;
    let frame: Vec<u8> = (0..1000).map(|at| at as u8).collect();
    let template = card.path("template.pcap");
    write_template(&template, &frame, DataLink::ETHERNET)?;
    let arguments = format!("--queues 2 --packets 500 --template {}", template.display());
    let totals = run(card.nic(), driver, &arguments)?;
    ensure!((totals.tx, totals.tx_bytes) == (500, 500_000), "{totals:?}");
    let sent = card.sent()?;
    ensure!(sent.len() == 500 && sent.iter().all(|sent| sent.bytes == frame));
    Ok(())
}

fn a_file_that_is_no_template_is_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let path = nic.path("template.pcap");
    let refused = |reason: &str| -> Result<()> {
        let program = nic.application(driver, PROGRAM)?;
        let output = program.arg("--template").arg(&path).run()?;
        output.expect_failure(["template.pcap", reason]).map(drop)
    };
    let frame = [7; 100];
    write_template(&path, &frame, DataLink::ETHERNET)?;
    let good = fs::read(&path)?;
    let mut partly = good.clone();
    partly[24 + 8 + 3] = 99;
    let mut long = good.clone();
    (long[24 + 8 + 2], long[24 + 12 + 2]) = (8, 8);
    write_template(&path, &frame, DataLink::RAW)?;
    let raw = fs::read(&path)?;
    for (bytes, reason) in [
        (&b""[..], "cut short"),
        (&good[..20], "cut short"),
        (&good[..24], "cut short"),
        (&good[..60], "cut short"),
        (&[0; 64], "not a pcap file"),
        (&[0x0a, 0x0d, 0x0d, 0x0a].repeat(8), "pcapng"),
        (&raw, "the link type is 101"),
        (&partly, "99 of them are recorded"),
        (&long, "a frame has 14 to 1514"),
    ] {
        fs::write(&path, bytes)?;
        refused(reason)?;
    }
    fs::remove_file(&path)?;
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, mode, 0)?;
    refused("this is not a file")
}

/// A batch of 512 makes up for up to 50 ms in which the machine does other things. If it does more, the rate is
/// too low, but never too high.
fn the_rate_is_kept(driver: Implementation) -> Result<()> {
    let mut rate = 0.0;
    for _ in 0..5 {
        let nic = TestNic::running(|config| config)?;
        let totals = run(&nic, driver, "--rate 10k --batch 512 --duration 1")?;
        rate = totals.tx as f64 / totals.seconds;
        ensure!(rate <= 10_050.0, "{rate:.0} a second: {totals:?}");
        if rate >= 9_500.0 {
            return Ok(());
        }
    }
    bail!("{rate:.0} a second at last, not 10,000")
}

/// The card sends a frame as soon as it can, so nothing but the ring limits the generator.
fn it_saturates_the_card(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| config)?;
    let totals = run(&nic, driver, "--packets 3000000")?;
    expect::exactly("sent", totals.tx, "packets", 3_000_000)?;
    expect::exactly("sent by the card", nic.transmitted(), "packets", 3_000_000)?;
    println!("{:.2} Mpps", totals.tx as f64 / totals.seconds / 1e6);
    Ok(())
}

fn received_frames_are_dropped(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(at_rate(0.1))?;
    let totals = run(&nic, driver, "--rate 1000 --duration 0.5")?;
    let most = nic.ports()[0].stats().delivered;
    ensure!((1001..=most).contains(&totals.rx), "{most}: {totals:?}");
    Ok(())
}

fn a_signal_ends_it(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let nic = TestNic::running(|config| config.with_mmio(mmio))?;
        let running = nic.application(driver, PROGRAM)?.start()?;
        wait_until("frames", || nic.transmitted() > 1000)?;
        let output = running.end_by(Signal::TERM)?;
        let totals: Totals = nic.totals_of(&output)?;
        ensure!(totals.tx == nic.transmitted(), "{totals:?}");
    }
    Ok(())
}

fn a_wrong_command_line_is_refused(driver: Implementation) -> Result<()> {
    let start = || Ok(Program::application(driver, PROGRAM)?.arg("vfio-user:/nonexistent"));
    Program::expect_refused(
        start,
        &[
            (&["--rate", "0"], "--rate must be"),
            (&["--rate", "1.5"], "--rate must be"),
            (&["--rate", "1e3"], "--rate must be"),
            (&["--rate", "101M"], "--rate must be"),
            (&["--rate=-1"], "--rate"),
            (&["--size", "59"], "--size must be"),
            (&["--size", "1515"], "--size must be"),
            (&["--flows", "65536"], "--flows must be"),
            (&["--queues", "17"], "--queues must be"),
            (&["--queues", "4", "--flows", "3"], "raise --flows"),
            (&["--template", "x", "--size", "60"], "leave out --size"),
        ],
    )?;
    Program::expect_refused(|| Program::application(driver, PROGRAM), &[(&[], PROGRAM)])
}
