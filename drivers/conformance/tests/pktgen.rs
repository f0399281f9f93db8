//! `ixgbe-pktgen`: what it sends, frame by frame, and how fast.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Program, TestNic};
use nic::{MmioMode, Traffic, WireTo};
use pcap_file::pcap::{PcapPacket, PcapReader, PcapWriter};
use pcap_file::{DataLink, TsResolution};
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

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(30);

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

/// A card that records what its port 0 sends.
fn recorded() -> Result<(TestNic, PathBuf)> {
    let folder = tempfile::tempdir()?.keep();
    let output = folder.join("out.pcap");
    let mut wire = Some(WireTo::Pcap {
        input: None,
        output: Some(output.clone()),
    });
    let nic = TestNic::running(|config| config.with_each_port(|port| port.wire = wire.take()))?;
    Ok((nic, output))
}

/// Runs the generator on port 0 to its end. Returns its totals.
fn run(nic: &TestNic, implementation: Implementation, arguments: &[&str]) -> Result<Totals> {
    let program = nic.application(implementation, PROGRAM, 0)?.args(arguments);
    let output = program.run(LIMIT)?;
    output.expect_success()?;
    let totals: Totals = output.totals_as()?;
    ensure!(totals.seconds > 0.0 && totals.tsc_cycles > 0, "{totals:?}");
    expect::left_at_rest(&TestNic::session(&nic.ports()[0])?)?;
    Ok(totals)
}

/// The frames of a file.
fn frames(path: &Path) -> Result<Vec<Vec<u8>>> {
    let mut reader = PcapReader::new(File::open(path)?)?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        frames.push(packet?.data.into_owned());
    }
    Ok(frames)
}

/// Removes the folder of a recording, which is needed no more.
fn remove(path: &Path) -> Result<()> {
    Ok(fs::remove_dir_all(path.parent().context("no folder")?)?)
}

/// Checks a frame of the generator. Returns its flow and its number.
fn check_frame(frame: &[u8], size: usize, source: [u8; 6]) -> Result<(u16, u64)> {
    ensure!(frame.len() == size, "{} bytes: {frame:x?}", frame.len());
    ensure!(
        frame[6..12] == source && frame[12..14] == [8, 0],
        "{frame:x?}"
    );
    let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let mut sum: u32 = (14..34).step_by(2).map(|at| u32::from(word(at))).sum();
    sum = (sum & 0xffff) + (sum >> 16);
    ensure!(sum == 0xffff, "the header checksum is wrong: {frame:x?}");
    ensure!(
        usize::from(word(16)) == size - 14 && usize::from(word(38)) == size - 34,
        "a length is wrong: {frame:x?}"
    );
    ensure!(
        frame[23] == 17 && word(36) == 9 && word(40) == 0,
        "{frame:x?}"
    );
    ensure!(frame[50..].iter().all(|byte| *byte == 0), "{frame:x?}");
    let number = u64::from_be_bytes(frame[42..50].try_into()?);
    Ok((word(34), number))
}

fn each_frame_has_its_flow_and_its_number(implementation: Implementation) -> Result<()> {
    for (size, flows, packets) in [(60, 1_u16, 3000), (61, 7, 3000), (1514, 300, 1000)] {
        let (mut nic, output) = recorded()?;
        let source = nic.ports()[0].mac_address();
        let (size_text, count) = (size.to_string(), packets.to_string());
        let arguments = [
            "--size",
            &size_text,
            "--flows",
            &flows.to_string(),
            "--packets",
            &count,
        ];
        let totals = run(&nic, implementation, &arguments)?;
        ensure!(
            (totals.tx, totals.tx_bytes) == (packets as u64, (packets * size) as u64),
            "{totals:?}"
        );
        nic.stop_data_plane()?;
        drop(nic);
        let sent = frames(&output)?;
        ensure!(sent.len() == packets, "{} frames", sent.len());
        for (nth, frame) in sent.iter().enumerate() {
            let found = check_frame(frame, size, source)?;
            let expected = (nth as u16 % flows + 1, nth as u64 / u64::from(flows));
            ensure!(
                found == expected,
                "frame {nth}: {found:?}, not {expected:?}"
            );
        }
        remove(&output)?;
    }
    Ok(())
}

fn several_queues_divide_the_flows(implementation: Implementation) -> Result<()> {
    let (mut nic, output) = recorded()?;
    let source = nic.ports()[0].mac_address();
    let arguments = ["--queues", "4", "--flows", "10", "--packets", "8000"];
    let totals = run(&nic, implementation, &arguments)?;
    ensure!(
        totals.tx == 8000
            && totals.queues.len() == 4
            && totals.queues.iter().all(|sent| *sent > 0)
            && totals.queues.iter().sum::<u64>() == 8000,
        "{totals:?}"
    );
    nic.stop_data_plane()?;
    drop(nic);
    // Each flow has all its numbers, in order.
    let mut next = BTreeMap::new();
    for frame in frames(&output)? {
        let (flow, number) = check_frame(&frame, 60, source)?;
        let expected = next.entry(flow).or_insert(0);
        ensure!(number == *expected, "flow {flow}: {number}, not {expected}");
        *expected += 1;
    }
    ensure!(next.len() == 10, "{next:?}");
    // Flow i uses queue i modulo 4.
    for (queue, sent) in totals.queues.iter().enumerate() {
        let flows = next
            .iter()
            .filter(|(flow, _)| (**flow as usize - 1) % 4 == queue);
        let of_queue: u64 = flows.map(|(_, count)| *count).sum();
        ensure!(of_queue == *sent, "queue {queue}: {of_queue}, not {sent}");
    }
    remove(&output)
}

/// Writes a file with one frame.
fn write_template(path: &Path, frame: &[u8], link: DataLink) -> Result<()> {
    let header = pcap_file::pcap::PcapHeader {
        datalink: link,
        ts_resolution: TsResolution::NanoSecond,
        endianness: pcap_file::Endianness::Big,
        ..Default::default()
    };
    let mut writer = PcapWriter::with_header(File::create(path)?, header)?;
    writer.write_packet(&PcapPacket::new(Duration::ZERO, frame.len() as u32, frame))?;
    Ok(())
}

fn a_template_is_sent_unchanged(implementation: Implementation) -> Result<()> {
    let (mut nic, output) = recorded()?;
    let frame: Vec<u8> = (0..1000).map(|at| at as u8).collect();
    let template = nic.path("template.pcap");
    write_template(&template, &frame, DataLink::ETHERNET)?;
    let template = template.to_string_lossy().into_owned();
    let arguments = ["--template", &template, "--queues", "2", "--packets", "500"];
    let totals = run(&nic, implementation, &arguments)?;
    ensure!((totals.tx, totals.tx_bytes) == (500, 500_000), "{totals:?}");
    nic.stop_data_plane()?;
    drop(nic);
    let sent = frames(&output)?;
    ensure!(sent.len() == 500 && sent.iter().all(|sent| *sent == frame));
    remove(&output)
}

fn a_file_that_is_no_template_is_refused(implementation: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let path = nic.path("template.pcap");
    let frame = [7; 100];
    write_template(&path, &frame, DataLink::ETHERNET)?;
    let good = fs::read(&path)?;
    let mut partly = good.clone();
    partly[24 + 8 + 3] = 99;
    let mut long = good.clone();
    long[24 + 8 + 2] = 8;
    long[24 + 12 + 2] = 8;
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
        let program = nic.application(implementation, PROGRAM, 0)?;
        let output = program.arg("--template").arg(&path).run(LIMIT)?;
        output
            .expect_exit(1)?
            .expect_stderr(["template.pcap", reason])?;
    }
    fs::remove_file(&path)?;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let output = program.arg("--template").arg(&path).run(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_stderr(["this is not a file"])?;
    Ok(())
}

/// A batch of 512 makes up for up to 50 ms in which the machine does other things. If it does more, the rate is
/// too low, but never too high.
fn the_rate_is_kept(implementation: Implementation) -> Result<()> {
    let mut rate = 0.0;
    for _ in 0..5 {
        let nic = TestNic::running(|config| config)?;
        let arguments = ["--rate", "10k", "--batch", "512", "--duration", "1"];
        let totals = run(&nic, implementation, &arguments)?;
        rate = totals.tx as f64 / totals.seconds;
        ensure!(rate <= 10_050.0, "{rate:.0} a second: {totals:?}");
        if rate >= 9_500.0 {
            return Ok(());
        }
    }
    bail!("{rate:.0} a second at last, not 10,000")
}

/// The card sends a frame as soon as it can, so nothing but the ring limits the generator.
fn it_saturates_the_card(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| config)?;
    let arguments = ["--packets", "3000000"];
    let totals = run(&nic, implementation, &arguments)?;
    expect::exactly("sent", totals.tx, "packets", 3_000_000)?;
    expect::exactly(
        "sent by the card",
        nic.ports()[0].stats().transmitted,
        "packets",
        3_000_000,
    )?;
    println!("{:.2} Mpps", totals.tx as f64 / totals.seconds / 1e6);
    Ok(())
}

fn received_frames_are_dropped(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        config.with_each_port(|port| port.traffic = Traffic::Rate { mpps: 0.1 })
    })?;
    let totals = run(
        &nic,
        implementation,
        &["--rate", "1000", "--duration", "0.5"],
    )?;
    let stats = nic.ports()[0].stats();
    ensure!(
        totals.rx > 1000 && totals.rx <= stats.delivered,
        "{totals:?}, {stats:?}"
    );
    Ok(())
}

fn a_signal_ends_it(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let nic = TestNic::running(|config| config.with_mmio(mmio))?;
        let mut running = nic.application(implementation, PROGRAM, 0)?.start()?;
        conformance::wait_until("frames", || nic.ports()[0].stats().transmitted > 1000)?;
        running.signal(Signal::TERM)?;
        let output = running.wait(LIMIT)?;
        output.expect_success()?;
        let totals: Totals = output.totals_as()?;
        expect::left_at_rest(&TestNic::session(&nic.ports()[0])?)?;
        ensure!(
            totals.tx == nic.ports()[0].stats().transmitted,
            "{totals:?}"
        );
    }
    Ok(())
}

fn a_wrong_command_line_is_refused(implementation: Implementation) -> Result<()> {
    let device = "vfio-user:/nonexistent";
    for (arguments, message) in [
        (vec!["--rate", "0", device], "--rate must be"),
        (vec!["--rate", "1.5", device], "--rate must be"),
        (vec!["--rate", "1e3", device], "--rate must be"),
        (vec!["--rate", "101M", device], "--rate must be"),
        (vec!["--rate=-1", device], "--rate"),
        (vec!["--size", "59", device], "--size must be"),
        (vec!["--size", "1515", device], "--size must be"),
        (vec!["--flows", "65536", device], "--flows must be"),
        (vec!["--queues", "17", device], "--queues must be"),
        (
            vec!["--queues", "4", "--flows", "3", device],
            "raise --flows",
        ),
        (
            vec!["--template", "x", "--size", "60", device],
            "leave out --size",
        ),
        (vec![], "ixgbe-pktgen"),
    ] {
        let program = Program::application(implementation, PROGRAM)?;
        let output = program.args(&arguments).run(LIMIT)?;
        output.expect_exit(2)?;
        ensure!(output.stderr.contains(message), "{arguments:?}: {output}");
    }
    Ok(())
}
