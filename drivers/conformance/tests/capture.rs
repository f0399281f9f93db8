//! `ixgbe-capture`: files that other programs read, however a run ends.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, name_space, Implementation, Program, TestNic};
use nic::{MmioMode, Traffic, WireTo};
use pcap_file::pcap::{PcapPacket, PcapReader, PcapWriter};
use pcap_file::TsResolution;
use rustix::process::Signal;
use serde::Deserialize;
use sha2::{Digest, Sha256};

for_each_implementation!(
    what_arrives_is_recorded_frame_by_frame,
    a_snap_length_keeps_the_start_of_a_frame,
    files_rotate_and_the_oldest_go,
    a_row_of_files_replaces_only_files_of_the_user,
    a_pipe_holds_no_run_up,
    a_signal_leaves_whole_records,
    a_full_disk_loses_nothing_already_written,
    a_device_without_room_is_an_error,
    without_a_file_frames_are_counted,
    a_wrong_command_line_is_refused,
);

/// No run here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(30);

const PROGRAM: &str = "ixgbe-capture";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
    rx: u64,
    rx_bytes: u64,
    written: u64,
    snapped: u64,
    dropped: u64,
    files: u32,
    seconds: f64,
    tsc_cycles: u64,
}

/// Frame number `number`: of another length and contents than its neighbours.
fn frame(number: usize) -> Vec<u8> {
    let length = 60 + number * 7 % 1455;
    (0..length).map(|at| (at * 3 + number) as u8).collect()
}

/// A card whose port 0 receives `count` frames from a file.
fn with_frames(folder: &Path, count: usize) -> Result<TestNic> {
    let input = folder.join("in.pcap");
    let mut writer = PcapWriter::new(File::create(&input)?)?;
    for number in 0..count {
        let frame = frame(number);
        let time = Duration::from_micros(number as u64);
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, &frame))?;
    }
    drop(writer);
    let mut wire = Some(WireTo::Pcap {
        input: Some(input),
        output: None,
    });
    TestNic::running(|config| config.with_each_port(|port| port.wire = wire.take()))
}

/// The frames of a file: their bytes, their lengths on the wire, and their times.
fn recorded(path: &Path) -> Result<Vec<(Vec<u8>, u32, Duration)>> {
    let mut reader = PcapReader::new(File::open(path)?)?;
    ensure!(reader.header().ts_resolution == TsResolution::NanoSecond);
    let mut frames = Vec::new();
    // The crate's checked packets cannot be longer on the wire than the snap length, but real ones are.
    while let Some(packet) = reader.next_raw_packet() {
        let packet = packet?;
        let time = Duration::new(packet.ts_sec.into(), packet.ts_frac);
        frames.push((packet.data.into_owned(), packet.orig_len, time));
    }
    Ok(frames)
}

/// Runs a program of Wireshark. Returns what it prints.
fn wireshark(program: &str, arguments: &[&str], file: &Path) -> Result<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .with_context(|| format!("{program}: bench/setup/setup.sh test installs it"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {error}");
    Ok(output.stdout)
}

/// The number of frames of a file, as capinfos counts them.
fn counted_by_others(path: &Path) -> Result<u64> {
    let text = wireshark("capinfos", &["-c", "-M", "-T", "-r"], path)?;
    let text = String::from_utf8(text)?;
    let count = text.split_whitespace().last().context("no count")?;
    Ok(count.parse()?)
}

/// The SHA-256 sum of all frames.
fn sum(frames: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut hash = Sha256::new();
    for frame in frames {
        hash.update(frame);
    }
    format!("{:x}", hash.finalize())
}

/// The same of the frames that tshark reads in a file. It writes them as pcap again.
fn sum_by_others(path: &Path) -> Result<String> {
    let again = wireshark("tshark", &["-F", "nsecpcap", "-w", "-", "-r"], path)?;
    let mut reader = PcapReader::new(&again[..])?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        frames.push(packet?.data.into_owned());
    }
    Ok(sum(frames))
}

fn what_arrives_is_recorded_frame_by_frame(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.pcap");
    let nic = with_frames(folder.path(), 3000)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let program = program.args(["--packets", "3000", "--write"]).arg(&output);
    let run = program.run(LIMIT)?;
    run.expect_success()?;
    expect::left_at_rest(&TestNic::session(&nic.ports()[0])?)?;
    let totals: Totals = run.totals_as()?;
    let bytes: usize = (0..3000).map(|number| frame(number).len()).sum();
    ensure!(
        (totals.rx, totals.written, totals.files) == (3000, 3000, 1)
            && (totals.rx_bytes, totals.snapped, totals.dropped) == (bytes as u64, 0, 0)
            && totals.seconds > 0.0
            && totals.tsc_cycles > 0,
        "{totals:?}"
    );
    let found = recorded(&output)?;
    ensure!(found.len() == 3000, "{} frames", found.len());
    let mut last = Duration::ZERO;
    for (number, (bytes, length, time)) in found.iter().enumerate() {
        let expected = frame(number);
        ensure!(
            *bytes == expected && *length as usize == expected.len(),
            "frame {number}: {bytes:x?}"
        );
        ensure!(
            *time >= last,
            "frame {number} came at {time:?}, after {last:?}"
        );
        last = *time;
    }
    let age = std::time::UNIX_EPOCH.elapsed()?.saturating_sub(last);
    ensure!(age < Duration::from_secs(60), "recorded {age:?} ago");
    expect::exactly("counted", counted_by_others(&output)?, "frames", 3000)?;
    let (theirs, ours) = (sum_by_others(&output)?, sum((0..3000).map(frame)));
    ensure!(
        theirs == ours,
        "tshark reads frames with the sum {theirs}, not {ours}"
    );
    Ok(())
}

fn a_snap_length_keeps_the_start_of_a_frame(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.pcap");
    let nic = with_frames(folder.path(), 500)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let program = program
        .args(["--packets", "500", "--snap", "96", "--write"])
        .arg(&output);
    let run = program.run(LIMIT)?;
    run.expect_success()?;
    let totals: Totals = run.totals_as()?;
    let longer = (0..500).filter(|number| frame(*number).len() > 96).count();
    ensure!(totals.snapped == longer as u64, "{totals:?}, not {longer}");
    for (number, (bytes, length, _)) in recorded(&output)?.iter().enumerate() {
        let expected = frame(number);
        ensure!(
            *bytes == expected[..expected.len().min(96)] && *length as usize == expected.len(),
            "frame {number}: {length} bytes, {bytes:x?}"
        );
    }
    Ok(())
}

fn files_rotate_and_the_oldest_go(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let nic = with_frames(folder.path(), 1000)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let options = [
        "--packets",
        "1000",
        "--rotate-size",
        "65536",
        "--files",
        "3",
        "--write",
    ];
    let run = program
        .args(options)
        .arg(folder.path().join("out.d.pcap"))
        .run(LIMIT)?;
    run.expect_success()?;
    let totals: Totals = run.totals_as()?;
    ensure!(totals.written == 1000 && totals.files > 5, "{totals:?}");
    let mut last = Vec::new();
    for number in 1..=totals.files {
        let path = folder.path().join(format!("out.d-{number:05}.pcap"));
        ensure!(
            path.exists() == (number + 3 > totals.files),
            "{}",
            path.display()
        );
        if path.exists() {
            ensure!(fs::metadata(&path)?.len() <= 65536, "{}", path.display());
            last.extend(recorded(&path)?.into_iter().map(|(bytes, ..)| bytes));
        }
    }
    let first = 1000 - last.len();
    let expected: Vec<_> = (first..1000).map(frame).collect();
    ensure!(
        last == expected,
        "the last files do not have the last frames"
    );
    Ok(())
}

fn a_row_of_files_replaces_only_files_of_the_user(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [first, second, kept] =
        ["out-00001.pcap", "out-00002.pcap", "kept"].map(|name| folder.path().join(name));
    fs::write(&kept, "old")?;
    // Another name of the file: its bytes must stay, too.
    fs::hard_link(&kept, &first)?;
    for plant in [plant_link, plant_pipe] {
        plant(&second)?;
        let nic = with_frames(folder.path(), 1000)?;
        let program = nic.application(implementation, PROGRAM, 0)?;
        let run = program
            .args(["--packets", "1000", "--rotate-size", "65536", "--write"])
            .arg(folder.path().join("out.pcap"))
            .run(LIMIT)?;
        run.expect_exit(1)?
            .expect_stderr(["out-00002.pcap", "File exists"])?;
        let totals: Totals = run.totals_as()?;
        expect::exactly(
            "recorded",
            recorded(&first)?.len() as u64,
            "frames",
            totals.written,
        )?;
        fs::remove_file(&second)?;
    }
    ensure!(fs::read(&kept)? == b"old", "a linked file is overwritten");
    Ok(())
}

fn plant_link(path: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink("kept", path)?)
}

fn plant_pipe(path: &Path) -> Result<()> {
    let made = Command::new("mkfifo").arg(path).status()?;
    ensure!(made.success(), "mkfifo: {made}");
    Ok(())
}

fn a_pipe_holds_no_run_up(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let pipe = folder.path().join("pipe");
    plant_pipe(&pipe)?;
    let run = || {
        let nic = with_frames(folder.path(), 3000)?;
        let program = nic.application(implementation, PROGRAM, 0)?;
        let program = program.args(["--packets", "3000", "--write"]);
        program.arg(&pipe).run(LIMIT)
    };
    run()?
        .expect_exit(1)?
        .expect_stderr(["pipe", "No such device or address"])?;
    let reader = File::options().read(true).write(true).open(&pipe)?;
    run()?
        .expect_exit(1)?
        .expect_stderr(["pipe", "temporarily unavailable"])?;
    drop(reader);
    let mut reader = Command::new("cat")
        .arg(&pipe)
        .stdout(File::create(folder.path().join("out.pcap"))?)
        .spawn()?;
    // The reader opens the pipe together with this writer, so that the program finds it there.
    let writer = File::options().write(true).open(&pipe)?;
    let output = run();
    drop(writer);
    ensure!(reader.wait()?.success());
    output?.expect_success()?;
    let count = recorded(&folder.path().join("out.pcap"))?.len();
    expect::exactly("recorded", count as u64, "frames", 3000)
}

/// Records in full traffic until a signal comes. Returns the totals.
fn until_signal(implementation: Implementation, mmio: MmioMode, output: &Path) -> Result<Totals> {
    let nic = TestNic::running(|config| {
        let config = config.with_mmio(mmio);
        config.with_each_port(|port| port.traffic = Traffic::Rate { mpps: 0.2 })
    })?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let mut running = program.arg("--write").arg(output).start()?;
    conformance::wait_until("frames", || nic.ports()[0].stats().delivered > 2000)?;
    running.signal(Signal::INT)?;
    let run = running.wait(LIMIT)?;
    run.expect_success()?;
    run.totals_as()
}

fn a_signal_leaves_whole_records(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let folder = tempfile::tempdir()?;
        let output = folder.path().join("out.pcap");
        let totals = until_signal(implementation, mmio, &output)?;
        ensure!(totals.rx > 0 && totals.written == totals.rx, "{totals:?}");
        expect::exactly(
            "recorded",
            recorded(&output)?.len() as u64,
            "frames",
            totals.rx,
        )?;
    }
    Ok(())
}

fn a_full_disk_loses_nothing_already_written(implementation: Implementation) -> Result<()> {
    let test = "a_full_disk_loses_nothing_already_written";
    if !name_space::is_inside_for(implementation, test)? {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    // A mount in the folder would keep it from being removed.
    let disk = Path::new("/mnt");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"])
        .arg(disk)
        .output()?;
    ensure!(mounted.status.success(), "mount: {mounted:?}");
    let output = disk.join("out.pcap");
    let nic = with_frames(folder.path(), 3000)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let program = program.args(["--packets", "3000", "--write"]).arg(&output);
    let run = program.run(LIMIT)?;
    run.expect_exit(1)?
        .expect_stderr(["out.pcap", "No space left", "make room"])?;
    expect::left_at_rest(&TestNic::session(&nic.ports()[0])?)?;
    let totals: Totals = run.totals_as()?;
    let found = recorded(&output)?;
    ensure!(
        found.len() > 100 && found.len() as u64 == totals.written,
        "{} frames: {totals:?}",
        found.len()
    );
    for (number, (bytes, ..)) in found.iter().enumerate() {
        ensure!(*bytes == frame(number), "frame {number}");
    }
    Ok(())
}

fn a_device_without_room_is_an_error(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let nic = with_frames(folder.path(), 100)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let run = program
        .args(["--packets", "100", "--write", "/dev/full"])
        .run(LIMIT)?;
    run.expect_exit(1)?
        .expect_stderr(["/dev/full", "0 frames are written"])?;
    let missing = folder.path().join("none").join("out.pcap");
    let program = nic.application(implementation, PROGRAM, 0)?;
    let run = program.arg("--write").arg(missing).run(LIMIT)?;
    run.expect_exit(1)?
        .expect_stderr(["none/out.pcap", "No such file"])?;
    Ok(())
}

fn without_a_file_frames_are_counted(implementation: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let nic = with_frames(folder.path(), 100)?;
    let program = nic.application(implementation, PROGRAM, 0)?;
    let run = program.args(["--packets", "100"]).run(LIMIT)?;
    run.expect_success()?;
    let totals: Totals = run.totals_as()?;
    ensure!(
        (totals.rx, totals.written, totals.files) == (100, 0, 0),
        "{totals:?}"
    );
    Ok(())
}

fn a_wrong_command_line_is_refused(implementation: Implementation) -> Result<()> {
    let device = "vfio-user:/nonexistent";
    for (arguments, message) in [
        (vec!["--snap", "13", device], "--snap must be"),
        (vec!["--snap", "1985", device], "--snap must be"),
        (
            vec!["--write", "x", "--rotate-size", "4095", device],
            "--rotate-size must be",
        ),
        (
            vec!["--rotate-size", "4096", device],
            "--rotate-size needs --write",
        ),
        (
            vec!["--write", "x", "--files", "2", device],
            "--files needs --rotate-size",
        ),
        (vec![], "ixgbe-capture"),
    ] {
        let program = Program::application(implementation, PROGRAM)?;
        let output = program.args(&arguments).run(LIMIT)?;
        output.expect_exit(2)?;
        ensure!(output.stderr.contains(message), "{arguments:?}: {output}");
    }
    Ok(())
}
