//! `ixgbe-replay`: frames of a file, unaltered, in order, and at their time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Program, TestNic};
use nic::WireTo;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::{Endianness, TsResolution};
use rustix::process::Signal;
use serde::Deserialize;

for_each_implementation!(
    all_frames_of_all_loops_are_sent_unaltered_and_in_order,
    a_small_ring_and_a_large_batch_lose_nothing,
    frames_are_sent_at_their_time,
    a_speed_and_a_rate_change_the_time,
    a_clock_that_goes_back_does_not_hold_the_run,
    a_signal_ends_a_long_pause,
    a_limit_of_packets_is_exact,
    every_file_that_is_wrong_is_refused_before_the_device,
    a_wrong_command_line_is_refused,
);

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(30);

const PROGRAM: &str = "ixgbe-replay";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
    tx: u64,
    tx_bytes: u64,
    rx: u64,
    loops: u64,
    late: u64,
    max_late_seconds: f64,
    seconds: f64,
    tsc_cycles: u64,
}

/// Frame number `number`: of another length and contents than its neighbours.
fn frame(number: usize) -> Vec<u8> {
    let length = 60 + number * 7 % 1455;
    (0..length).map(|at| (at * 3 + number) as u8).collect()
}

/// The order of bytes of most machines.
fn little_endian() -> PcapHeader {
    PcapHeader {
        endianness: Endianness::Little,
        ..PcapHeader::default()
    }
}

/// Writes a file with `count` frames, `pause` apart.
fn record(path: &Path, count: usize, pause: Duration, header: PcapHeader) -> Result<()> {
    let mut writer = PcapWriter::with_header(File::create(path)?, header)?;
    for number in 0..count {
        let frame = frame(number);
        let time = Duration::from_secs(1_700_000_000) + pause * number as u32;
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, &frame))?;
    }
    Ok(())
}

/// The program with a file and port 0.
fn program(nic: &TestNic, implementation: Implementation, file: &Path) -> Result<Program> {
    let program = Program::application(implementation, PROGRAM)?;
    let device = nic.ports()[0].device_name();
    Ok(program.json(nic.path("totals.json")).arg(file).arg(device))
}

/// A folder with a recording, and a card that records what it sends.
struct Bench {
    folder: tempfile::TempDir,
    nic: TestNic,
}

impl Bench {
    fn new(count: usize, pause: Duration) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        record(
            &folder.path().join("in.pcap"),
            count,
            pause,
            little_endian(),
        )?;
        let mut wire = Some(WireTo::Pcap {
            input: None,
            output: Some(folder.path().join("out.pcap")),
        });
        let nic = TestNic::running(|config| config.with_each_port(|port| port.wire = wire.take()))?;
        Ok(Self { folder, nic })
    }

    fn input(&self) -> PathBuf {
        self.folder.path().join("in.pcap")
    }

    /// Replays the file with these arguments.
    fn replay(&self, implementation: Implementation, arguments: &[&str]) -> Result<Totals> {
        let program = program(&self.nic, implementation, &self.input())?;
        let output = program.args(arguments).run(LIMIT)?;
        output.expect_success()?;
        expect::left_at_rest(&TestNic::session(&self.nic.ports()[0])?)?;
        let totals: Totals = output.totals_as()?;
        ensure!(totals.rx == 0 && totals.tsc_cycles > 0, "{totals:?}");
        Ok(totals)
    }

    /// The frames that the card has sent.
    fn sent(self) -> Result<Vec<Vec<u8>>> {
        let Self { folder, mut nic } = self;
        nic.stop_data_plane()?;
        drop(nic);
        let mut reader = PcapReader::new(File::open(folder.path().join("out.pcap"))?)?;
        let mut frames = Vec::new();
        while let Some(packet) = reader.next_packet() {
            frames.push(packet?.data.into_owned());
        }
        Ok(frames)
    }
}

fn check_sent(sent: &[Vec<u8>], count: usize, loops: usize) -> Result<()> {
    expect::exactly("sent", sent.len() as u64, "frames", (count * loops) as u64)?;
    for (number, bytes) in sent.iter().enumerate() {
        ensure!(
            *bytes == frame(number % count),
            "frame {number}: {bytes:x?}"
        );
    }
    Ok(())
}

fn all_frames_of_all_loops_are_sent_unaltered_and_in_order(
    implementation: Implementation,
) -> Result<()> {
    let bench = Bench::new(1000, Duration::from_secs(1))?;
    let totals = bench.replay(implementation, &["--fast", "--loops", "5"])?;
    let bytes: usize = (0..1000).map(|number| frame(number).len()).sum();
    ensure!(
        (totals.tx, totals.tx_bytes, totals.loops) == (5000, 5 * bytes as u64, 5)
            && (totals.late, totals.max_late_seconds) == (0, 0.0),
        "{totals:?}"
    );
    check_sent(&bench.sent()?, 1000, 5)
}

fn a_small_ring_and_a_large_batch_lose_nothing(implementation: Implementation) -> Result<()> {
    let bench = Bench::new(300, Duration::ZERO)?;
    let small = ["--ring-size", "64", "--batch", "512", "--loops", "10"];
    let totals = bench.replay(implementation, &small)?;
    expect::exactly("sent", totals.tx, "packets", 3000)?;
    check_sent(&bench.sent()?, 300, 10)
}

fn frames_are_sent_at_their_time(implementation: Implementation) -> Result<()> {
    let bench = Bench::new(101, Duration::from_millis(5))?;
    let totals = bench.replay(implementation, &[])?;
    // 100 pauses; a machine that is busy adds to them, and takes nothing away.
    ensure!((0.5..5.0).contains(&totals.seconds), "{totals:?}");
    ensure!(
        totals.late <= 101 && totals.max_late_seconds < 5.0,
        "{totals:?}"
    );
    check_sent(&bench.sent()?, 101, 1)
}

fn a_speed_and_a_rate_change_the_time(implementation: Implementation) -> Result<()> {
    for (arguments, least) in [
        // 0.505 s for a loop, as its last pause is the mean one.
        (["--speed", "2", "--loops", "2"], 0.5),
        (["--speed", "0.5", "--loops", "1"], 1.0),
        (["--rate", "500", "--loops", "3"], 0.5),
    ] {
        let bench = Bench::new(101, Duration::from_millis(5))?;
        let totals = bench.replay(implementation, &arguments)?;
        // The first batch of a rate may come at once.
        let range = least * 0.9..least + 4.0;
        ensure!(range.contains(&totals.seconds), "{arguments:?}: {totals:?}");
    }
    Ok(())
}

fn a_clock_that_goes_back_does_not_hold_the_run(implementation: Implementation) -> Result<()> {
    let bench = Bench::new(2, Duration::ZERO)?;
    let mut writer = PcapWriter::new(File::create(bench.input())?)?;
    for (number, seconds) in [1_700_000_000, 1_600_000_000, 0].into_iter().enumerate() {
        let frame = frame(number);
        let time = Duration::from_secs(seconds);
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, &frame))?;
    }
    drop(writer);
    let totals = bench.replay(implementation, &[])?;
    ensure!(totals.tx == 3 && totals.seconds < 5.0, "{totals:?}");
    Ok(())
}

fn a_signal_ends_a_long_pause(implementation: Implementation) -> Result<()> {
    let bench = Bench::new(2, Duration::from_secs(3600))?;
    let mut running = program(&bench.nic, implementation, &bench.input())?.start()?;
    // Afterwards the program holds the signals back, as it has sent the first frame.
    bench.nic.wait_until_sent(0, 1)?;
    running.signal(Signal::INT)?;
    let output = running.wait(LIMIT)?;
    output.expect_success()?;
    let totals: Totals = output.totals_as()?;
    ensure!(totals.tx == 1 && totals.loops == 0, "{totals:?}");
    Ok(())
}

fn a_limit_of_packets_is_exact(implementation: Implementation) -> Result<()> {
    let bench = Bench::new(100, Duration::ZERO)?;
    let totals = bench.replay(implementation, &["--packets", "257", "--loops", "1000"])?;
    ensure!((totals.tx, totals.loops) == (257, 2), "{totals:?}");
    Ok(())
}

/// A file that is wrong in one way, by a change of a good one.
fn spoil(path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
    let mut bytes = fs::read(path)?;
    change(&mut bytes);
    fs::write(path, bytes).context("a file")
}

fn every_file_that_is_wrong_is_refused_before_the_device(
    implementation: Implementation,
) -> Result<()> {
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, &str); 8] = [
        (|bytes| bytes.truncate(bytes.len() - 1), "cut short"),
        (|bytes| bytes.truncate(24), "cut short, or has no frame"),
        (|bytes| bytes.truncate(10), "cut short"),
        (|bytes| bytes.clear(), "cut short"),
        (|bytes| bytes[0] ^= 1, "not a pcap file"),
        (|bytes| bytes[20] = 113, "link type is 113"),
        // The first record begins at 24: its lengths are at 32 and 36.
        (|bytes| bytes[36] += 1, "record whole frames"),
        (
            |bytes| (bytes[33], bytes[37]) = (0xff, 0xff),
            "a frame has 14 to 1518",
        ),
    ];
    for (change, reason) in changes {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("bad.pcap");
        record(&path, 3, Duration::ZERO, little_endian())?;
        spoil(&path, change)?;
        let nic = TestNic::running(|config| config)?;
        let output = program(&nic, implementation, &path)?.run(LIMIT)?;
        output.expect_exit(1)?;
        ensure!(
            output.stderr.contains(reason) && output.stderr.contains("bad.pcap"),
            "{reason}: {output}"
        );
        ensure!(
            TestNic::session(&nic.ports()[0]).is_err(),
            "the device was opened"
        );
    }
    Ok(())
}

/// Both byte orders, and both units of time.
#[test]
fn every_kind_of_file_is_read() -> Result<()> {
    for endianness in [Endianness::Big, Endianness::Little] {
        for ts_resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let header = PcapHeader {
                endianness,
                ts_resolution,
                ..PcapHeader::default()
            };
            for implementation in [
                Implementation::C,
                Implementation::Rust,
                Implementation::RustUnsafe,
            ] {
                let bench = Bench::new(1, Duration::ZERO)?;
                record(&bench.input(), 3, Duration::from_millis(50), header)?;
                let totals = bench.replay(implementation, &[])?;
                ensure!(
                    totals.tx == 3 && (0.1..5.0).contains(&totals.seconds),
                    "{implementation}, {header:?}: {totals:?}"
                );
            }
        }
    }
    Ok(())
}

fn a_wrong_command_line_is_refused(implementation: Implementation) -> Result<()> {
    for (arguments, reason) in [
        (&["--speed", "0"][..], "--speed must be"),
        (&["--speed", "1e3"], "--speed must be"),
        (&["--speed=-1"], "--speed"),
        (&["--rate", "0.5"], "--rate must be"),
        (&["--loops", "0"], "--loops must be"),
        (&["--speed", "2", "--fast"], "--fast"),
        (&["--rate", "2", "--fast"], "--fast"),
        (&["one", "two"], "--help"),
    ] {
        let nic = TestNic::running(|config| config)?;
        let program = program(&nic, implementation, Path::new("file"))?;
        let output = program.args(arguments).run(LIMIT)?;
        output.expect_exit(2)?;
        let text = output.stderr.to_lowercase();
        ensure!(text.contains(reason), "{arguments:?}: {output}");
    }
    Ok(())
}
