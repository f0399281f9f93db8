//! `ixgbe-replay`: frames of a file, unaltered, in order, and at their time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::recording::{self, expect_frames, frame, RecordingNic};
use conformance::{expect, for_each_implementation, wait_until};
use conformance::{Implementation, Program, TestNic};
use pcap_file::pcap::PcapHeader;
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
    every_kind_of_file_is_read,
    every_file_that_is_wrong_is_refused_before_the_device,
    a_wrong_command_line_is_refused,
);

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

/// The order of bytes of most machines.
fn little_endian() -> PcapHeader {
    PcapHeader {
        endianness: Endianness::Little,
        ..PcapHeader::default()
    }
}

/// Writes a file with `count` frames, `pause` apart.
fn record(path: &Path, count: usize, pause: Duration, header: PcapHeader) -> Result<()> {
    let begin = Duration::from_secs(1_700_000_000);
    let frames = (0..count).map(|number| (begin + pause * number as u32, frame(number)));
    recording::write(path, header, frames)
}

/// The program with a file and port 0.
fn program(nic: &TestNic, driver: Implementation, file: &Path) -> Result<Program> {
    let program = Program::application(driver, "ixgbe-replay")?;
    let program = program.json(nic.path("totals.json")).arg(file);
    Ok(program.arg(nic.ports()[0].device_name()))
}

/// A recording, and a card that records what it sends.
struct Bench(RecordingNic);

impl Bench {
    fn new(count: usize, pause: Duration) -> Result<Self> {
        let bench = Self(RecordingNic::silent()?);
        record(&bench.input(), count, pause, little_endian())?;
        Ok(bench)
    }

    fn input(&self) -> PathBuf {
        self.0.path("in.pcap")
    }

    /// Replays the file. The arguments are words between blanks.
    fn replay(&self, driver: Implementation, arguments: &str) -> Result<Totals> {
        let nic = self.0.nic();
        let program = program(nic, driver, &self.input())?;
        let output = program.args(arguments.split_whitespace()).run()?;
        let totals: Totals = nic.totals_of(&output)?;
        ensure!(totals.rx == 0 && totals.tsc_cycles > 0, "{totals:?}");
        Ok(totals)
    }

    /// Checks that the card has sent the `count` frames of the file `loops` times.
    fn expect_sent(self, count: usize, loops: usize) -> Result<()> {
        let sent = self.0.sent()?;
        expect::exactly("sent", sent.len() as u64, "frames", (count * loops) as u64)?;
        let mut loops = sent.chunks(count);
        loops.try_for_each(|sent| expect_frames(sent, 0, count, usize::MAX))
    }
}

fn all_frames_of_all_loops_are_sent_unaltered_and_in_order(driver: Implementation) -> Result<()> {
    let bench = Bench::new(1000, Duration::from_secs(1))?;
    let totals = bench.replay(driver, "--fast --loops 5")?;
    let bytes: usize = (0..1000).map(|number| frame(number).len()).sum();
    ensure!((totals.tx, totals.tx_bytes, totals.loops) == (5000, 5 * bytes as u64, 5));
    ensure!((totals.late, totals.max_late_seconds) == (0, 0.0));
    bench.expect_sent(1000, 5)
}

fn a_small_ring_and_a_large_batch_lose_nothing(driver: Implementation) -> Result<()> {
    let bench = Bench::new(300, Duration::ZERO)?;
    let totals = bench.replay(driver, "--ring-size 64 --batch 512 --loops 10")?;
    expect::exactly("sent", totals.tx, "packets", 3000)?;
    bench.expect_sent(300, 10)
}

fn frames_are_sent_at_their_time(driver: Implementation) -> Result<()> {
    let bench = Bench::new(101, Duration::from_millis(5))?;
    let totals = bench.replay(driver, "")?;
    // 100 pauses; a machine that is busy adds to them, and takes nothing away.
    ensure!((0.5..5.0).contains(&totals.seconds), "{totals:?}");
    ensure!(totals.late <= 101 && totals.max_late_seconds < 5.0);
    bench.expect_sent(101, 1)
}

fn a_speed_and_a_rate_change_the_time(driver: Implementation) -> Result<()> {
    for (arguments, least) in [
        // 0.505 s for a loop, as its last pause is the mean one.
        ("--speed 2 --loops 2", 0.5),
        ("--speed 0.5 --loops 1", 1.0),
        ("--rate 500 --loops 3", 0.5),
    ] {
        let bench = Bench::new(101, Duration::from_millis(5))?;
        let totals = bench.replay(driver, arguments)?;
        // The first batch of a rate may come at once.
        let range = least * 0.9..least + 4.0;
        ensure!(range.contains(&totals.seconds), "{arguments}: {totals:?}");
    }
    Ok(())
}

fn a_clock_that_goes_back_does_not_hold_the_run(driver: Implementation) -> Result<()> {
    let bench = Bench::new(0, Duration::ZERO)?;
    let times = [1_700_000_000, 1_600_000_000, 0].map(Duration::from_secs);
    let frames = times.into_iter().zip((0..).map(frame));
    recording::write(&bench.input(), little_endian(), frames)?;
    let totals = bench.replay(driver, "")?;
    ensure!(totals.tx == 3 && totals.seconds < 5.0, "{totals:?}");
    Ok(())
}

fn a_signal_ends_a_long_pause(driver: Implementation) -> Result<()> {
    let bench = Bench::new(2, Duration::from_secs(3600))?;
    let nic = bench.0.nic();
    let running = program(nic, driver, &bench.input())?.start()?;
    // Afterwards the program holds the signals back, as it has sent the first frame.
    wait_until("the first frame", || nic.transmitted() > 0)?;
    let totals: Totals = nic.totals_of(&running.end_by(Signal::INT)?)?;
    ensure!(totals.tx == 1 && totals.loops == 0, "{totals:?}");
    Ok(())
}

fn a_limit_of_packets_is_exact(driver: Implementation) -> Result<()> {
    let bench = Bench::new(100, Duration::ZERO)?;
    let totals = bench.replay(driver, "--packets 257 --loops 1000")?;
    ensure!((totals.tx, totals.loops) == (257, 2), "{totals:?}");
    Ok(())
}

/// Both byte orders, and both units of time.
fn every_kind_of_file_is_read(driver: Implementation) -> Result<()> {
    for endianness in [Endianness::Big, Endianness::Little] {
        for ts_resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let header = PcapHeader {
                endianness,
                ts_resolution,
                ..PcapHeader::default()
            };
            let bench = Bench::new(0, Duration::ZERO)?;
            record(&bench.input(), 3, Duration::from_millis(50), header)?;
            let totals = bench.replay(driver, "")?;
            let in_time = (0.1..5.0).contains(&totals.seconds);
            ensure!(totals.tx == 3 && in_time, "{header:?}: {totals:?}");
        }
    }
    Ok(())
}

fn every_file_that_is_wrong_is_refused_before_the_device(driver: Implementation) -> Result<()> {
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
    let nic = TestNic::still(|config| config)?;
    let path = nic.path("bad.pcap");
    for (change, reason) in changes {
        record(&path, 3, Duration::ZERO, little_endian())?;
        let mut bytes = fs::read(&path)?;
        change(&mut bytes);
        fs::write(&path, bytes)?;
        let output = program(&nic, driver, &path)?.run()?;
        output.expect_failure([reason, "bad.pcap"])?;
        let session = TestNic::session(&nic.ports()[0]);
        ensure!(session.is_err(), "the device was opened");
    }
    Ok(())
}

fn a_wrong_command_line_is_refused(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    Program::expect_refused(
        || program(&nic, driver, Path::new("file")),
        &[
            (&["--speed", "0"], "--speed must be"),
            (&["--speed", "1e3"], "--speed must be"),
            (&["--speed=-1"], "--speed"),
            (&["--rate", "0.5"], "--rate must be"),
            (&["--loops", "0"], "--loops must be"),
            (&["--speed", "2", "--fast"], "--fast"),
            (&["--rate", "2", "--fast"], "--fast"),
            (&["one", "two"], "--help"),
        ],
    )
}
