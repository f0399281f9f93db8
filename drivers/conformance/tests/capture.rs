//! `ixgbe-capture`: files that other programs read, however a run ends.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::recording::{expect_frames, frame, frames, read, RecordingNic};
use conformance::{at_rate, expect, for_each_implementation, name_space, wait_until};
use conformance::{Implementation, Output, Program, TestNic};
use nic::MmioMode;
use pcap_file::pcap::PcapReader;
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

const PROGRAM: &str = "ixgbe-capture";
/// No snap length.
const WHOLE: usize = usize::MAX;

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

/// Captures `count` frames that port 0 receives from a file. The arguments are words between blanks, and end with
/// the option to which `file` belongs.
fn capture(driver: Implementation, count: usize, arguments: &str, file: &Path) -> Result<Captured> {
    let card = RecordingNic::of(frames(count))?;
    let port = &card.nic().ports()[0];
    let program = card.nic().application(driver, PROGRAM)?;
    let program = program.args(["--packets", &count.to_string()]);
    let output = program.args(arguments.split(' ')).arg(file).run()?;
    wait_until("the driver to disconnect", || !port.connected())?;
    port.last_session()
        .iter()
        .try_for_each(expect::left_at_rest)?;
    Ok(Captured {
        _card: card,
        output,
    })
}

/// A run that has ended. Its totals are in the card's folder.
struct Captured {
    _card: RecordingNic,
    output: Output,
}

impl Captured {
    fn expect_success(&self) -> Result<Totals> {
        self.output.expect_success()?;
        self.output.totals_as()
    }

    fn expect_failure(&self, texts: &[&str]) -> Result<()> {
        self.output.expect_failure(texts).map(drop)
    }
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

/// The SHA-256 sum of all frames that tshark reads in a file. It writes them as pcap again.
fn sum_by_others(path: &Path) -> Result<Sha256> {
    let again = wireshark("tshark", &["-F", "nsecpcap", "-w", "-", "-r"], path)?;
    let mut reader = PcapReader::new(&again[..])?;
    let mut sum = Sha256::new();
    while let Some(packet) = reader.next_packet() {
        sum.update(packet?.data);
    }
    Ok(sum)
}

fn what_arrives_is_recorded_frame_by_frame(driver: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.pcap");
    let totals = capture(driver, 3000, "--write", &output)?.expect_success()?;
    let bytes: usize = frames(3000).map(|(_, frame)| frame.len()).sum();
    ensure!((totals.rx, totals.written, totals.files) == (3000, 3000, 1));
    ensure!((totals.rx_bytes, totals.snapped, totals.dropped) == (bytes as u64, 0, 0));
    ensure!(totals.seconds > 0.0 && totals.tsc_cycles > 0, "{totals:?}");
    let resolution = PcapReader::new(File::open(&output)?)?
        .header()
        .ts_resolution;
    ensure!(resolution == TsResolution::NanoSecond);
    let found = read(&output)?;
    expect_frames(&found, 0, 3000, WHOLE)?;
    ensure!(found.is_sorted_by_key(|frame| frame.time), "out of order");
    let last = found.last().context("no frame")?.time;
    let age = std::time::UNIX_EPOCH.elapsed()?.saturating_sub(last);
    ensure!(age < Duration::from_secs(60), "recorded {age:?} ago");
    expect::exactly("counted", counted_by_others(&output)?, "frames", 3000)?;
    let ours = (0..3000)
        .map(frame)
        .fold(Sha256::new(), Sha256::chain_update);
    ensure!(sum_by_others(&output)?.finalize() == ours.finalize());
    Ok(())
}

fn a_snap_length_keeps_the_start_of_a_frame(driver: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.pcap");
    let totals = capture(driver, 500, "--snap 96 --write", &output)?.expect_success()?;
    let longer = frames(500).filter(|(_, frame)| frame.len() > 96).count();
    ensure!(totals.snapped == longer as u64, "{totals:?}, not {longer}");
    expect_frames(&read(&output)?, 0, 500, 96)
}

fn files_rotate_and_the_oldest_go(driver: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let options = "--rotate-size 65536 --files 3 --write";
    let totals = capture(driver, 1000, options, &path("out.d.pcap"))?.expect_success()?;
    ensure!(totals.written == 1000 && totals.files > 5, "{totals:?}");
    let mut last = Vec::new();
    for number in 1..=totals.files {
        let path = path(&format!("out.d-{number:05}.pcap"));
        let kept = number + 3 > totals.files;
        ensure!(path.exists() == kept, "{}", path.display());
        if kept {
            ensure!(fs::metadata(&path)?.len() <= 65536, "{}", path.display());
            last.extend(read(&path)?);
        }
    }
    expect_frames(&last, 1000 - last.len(), last.len(), WHOLE)
}

fn a_row_of_files_replaces_only_files_of_the_user(driver: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let [first, second] = [path("out-00001.pcap"), path("out-00002.pcap")];
    fs::write(path("kept"), "old")?;
    // Another name of the file: its bytes must stay, too.
    fs::hard_link(path("kept"), &first)?;
    for plant in [plant_link, plant_pipe] {
        plant(&second)?;
        let run = capture(
            driver,
            1000,
            "--rotate-size 65536 --write",
            &path("out.pcap"),
        )?;
        run.expect_failure(&["out-00002.pcap", "File exists"])?;
        let totals: Totals = run.output.totals_as()?;
        let recorded = read(&first)?.len() as u64;
        expect::exactly("recorded", recorded, "frames", totals.written)?;
        fs::remove_file(&second)?;
    }
    ensure!(
        fs::read(path("kept"))? == b"old",
        "a linked file is overwritten"
    );
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

fn a_pipe_holds_no_run_up(driver: Implementation) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [pipe, out] = ["pipe", "out.pcap"].map(|name| folder.path().join(name));
    plant_pipe(&pipe)?;
    let run = || capture(driver, 3000, "--write", &pipe);
    run()?.expect_failure(&["pipe", "No such device or address"])?;
    let reader = File::options().read(true).write(true).open(&pipe)?;
    run()?.expect_failure(&["pipe", "temporarily unavailable"])?;
    drop(reader);
    let mut cat = Command::new("cat");
    let mut reader = cat.arg(&pipe).stdout(File::create(&out)?).spawn()?;
    // The reader opens the pipe together with this writer, so that the program finds it there.
    let writer = File::options().write(true).open(&pipe)?;
    let output = run();
    drop(writer);
    ensure!(reader.wait()?.success());
    output?.expect_success()?;
    expect_frames(&read(&out)?, 0, 3000, WHOLE)
}

fn a_signal_leaves_whole_records(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let nic = TestNic::running(|config| at_rate(0.2)(config.with_mmio(mmio)))?;
        let output = nic.path("out.pcap");
        let program = nic.application(driver, PROGRAM)?;
        let running = program.arg("--write").arg(&output).start()?;
        wait_until("frames", || nic.ports()[0].stats().delivered > 2000)?;
        let totals: Totals = nic.totals_of(&running.end_by(Signal::INT)?)?;
        ensure!(totals.rx > 0 && totals.written == totals.rx, "{totals:?}");
        let recorded = read(&output)?.len() as u64;
        expect::exactly("recorded", recorded, "frames", totals.rx)?;
    }
    Ok(())
}

fn a_full_disk_loses_nothing_already_written(driver: Implementation) -> Result<()> {
    let test = "a_full_disk_loses_nothing_already_written";
    if !name_space::is_inside_for(driver, test)? {
        return Ok(());
    }
    // A mount in a folder of the test would keep it from being removed.
    let disk = Path::new("/mnt");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"]);
    ensure!(mount.arg(disk).status()?.success(), "mount");
    let output = disk.join("out.pcap");
    let run = capture(driver, 3000, "--write", &output)?;
    run.expect_failure(&["out.pcap", "No space left", "make room"])?;
    let totals: Totals = run.output.totals_as()?;
    ensure!(totals.written > 100, "{totals:?}");
    expect_frames(&read(&output)?, 0, totals.written as usize, WHOLE)
}

fn a_device_without_room_is_an_error(driver: Implementation) -> Result<()> {
    for (file, texts) in [
        ("/dev/full", ["/dev/full", "0 frames are written"]),
        ("/none/out.pcap", ["none/out.pcap", "No such file"]),
    ] {
        capture(driver, 100, "--write", Path::new(file))?.expect_failure(&texts)?;
    }
    Ok(())
}

fn without_a_file_frames_are_counted(driver: Implementation) -> Result<()> {
    let card = RecordingNic::of(frames(100))?;
    let program = card.nic().application(driver, PROGRAM)?;
    let output = program.args(["--packets", "100"]).run()?;
    let totals: Totals = card.nic().totals_of(&output)?;
    ensure!((totals.rx, totals.written, totals.files) == (100, 0, 0));
    Ok(())
}

fn a_wrong_command_line_is_refused(driver: Implementation) -> Result<()> {
    let start = || Program::application(driver, PROGRAM);
    Program::expect_refused(
        || Ok(start()?.arg("vfio-user:/nonexistent")),
        &[
            (&["--snap", "13"], "--snap must be"),
            (&["--snap", "1985"], "--snap must be"),
            (
                &["--write", "x", "--rotate-size", "4095"],
                "--rotate-size must be",
            ),
            (&["--rotate-size", "4096"], "--rotate-size needs --write"),
            (
                &["--write", "x", "--files", "2"],
                "--files needs --rotate-size",
            ),
        ],
    )?;
    Program::expect_refused(start, &[(&[], PROGRAM)])
}
