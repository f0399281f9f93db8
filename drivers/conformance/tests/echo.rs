//! `ixgbe-echo`: it answers a real `ping`, or returns frames to their sender.

use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::recording::RecordingNic;
use conformance::{expect, for_each_implementation, name_space, saturated};
use conformance::{Implementation, Program, TestNic};
use nic::{MmioMode, Nic, NicConfig};
use rustix::process::Signal;
use serde::Deserialize;

for_each_implementation!(
    it_answers_a_flood_of_real_pings,
    it_returns_frames_for_its_address_to_their_sender,
    a_packet_limit_is_exact,
    a_wrong_command_line_is_refused,
);

const PROGRAM: &str = "ixgbe-echo";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
    rx: u64,
    tx: u64,
    mac: u64,
    arp: u64,
    icmp: u64,
    ignored: u64,
    dropped: u64,
    seconds: f64,
    tsc_cycles: u64,
}

impl Totals {
    /// Checks the rules that hold for every run.
    fn check(&self) -> Result<()> {
        let answered = self.mac + self.arp + self.icmp;
        ensure!(
            self.rx == answered + self.ignored
                && self.tx + self.dropped == answered
                && self.seconds > 0.0
                && self.tsc_cycles > 0,
            "{self:?}"
        );
        Ok(())
    }
}

/// Runs the host's `ping`. Returns its last lines.
fn ping(arguments: &[&str]) -> Result<String> {
    let output = Command::new("ping")
        .args(["-q", "-n"])
        .args(arguments)
        .output()
        .context("cannot run ping (package iputils-ping)")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ping {arguments:?}: {text}{error}");
    Ok(text)
}

/// The answers that ping has received. It waits for the last one only as long as for two others, which is too short on a
/// busy machine. The program's own count says that it answered each request.
fn received(text: &str) -> Result<u64> {
    let count = text
        .split(" received")
        .next()
        .and_then(|text| text.rsplit(' ').next());
    count
        .context("ping has no count")?
        .parse()
        .context("ping's count")
}

fn it_answers_a_flood_of_real_pings(driver: Implementation) -> Result<()> {
    let test = "it_answers_a_flood_of_real_pings";
    if !name_space::is_inside_for(driver, test)? {
        return Ok(());
    }
    for (mmio, count) in [(MmioMode::Shared, "2000"), (MmioMode::Trap, "50")] {
        let mut nic = TestNic::running(|config| name_space::with_taps(config).with_mmio(mmio))?;
        name_space::give_address("t0", "10.9.0.1/24")?;
        let program = nic.application(driver, PROGRAM)?;
        let running = program.args(["--ip", "10.9.0.2"]).start()?;
        nic.wait_until_running([0])?;
        // Without `-w`, ping sends exactly `count` requests, even if the answers are late.
        let floods = ping(&["-f", "-W", "20", "-c", count, "10.9.0.2"])?;
        let sent: u64 = count.parse()?;
        ensure!(received(&floods)? + 1 >= sent, "{mmio:?}: {floods}");
        // Ping checks each byte of an answer.
        let large = ping(&[
            "-i", "0.01", "-W", "20", "-c", "5", "-s", "1472", "10.9.0.2",
        ])?;
        ensure!(received(&large)? + 1 >= 5, "{mmio:?}: {large}");
        // Fragments, and requests to another address, have no answer.
        for unanswered in [["-s", "2000", "10.9.0.2"], ["-s", "56", "10.9.0.3"]] {
            let tried = ping(&[&["-c", "1", "-w", "1"], &unanswered[..]].concat());
            ensure!(tried.is_err(), "{tried:?}");
        }
        let totals: Totals = nic.totals_of(&running.end_by(Signal::INT)?)?;
        totals.check()?;
        ensure!(
            totals.icmp == sent + 5 && totals.mac == 0,
            "{mmio:?}: {totals:?}"
        );
        ensure!(totals.arp > 0 && totals.ignored > 0, "{mmio:?}: {totals:?}");
        nic.stop_data_plane()?;
        ensure!(nic.ports()[0].stats().delivered >= totals.rx, "{totals:?}");
    }
    Ok(())
}

/// Frame number `number` from one address to another: of another length and contents than its neighbours.
fn frame(to: [u8; 6], from: [u8; 6], number: usize) -> Vec<u8> {
    let mut frame = [to, from].concat();
    // An EtherType for experiments (IEEE 802).
    frame.extend([0x88, 0xb5]);
    let length = 60 + number * 7 % 1455;
    frame.extend((frame.len()..length).map(|at| (at + number) as u8));
    frame
}

fn it_returns_frames_for_its_address_to_their_sender(driver: Implementation) -> Result<()> {
    const PEER: [u8; 6] = [2, 0, 0, 0, 0, 9];
    const GROUP: [u8; 6] = [3, 0, 0, 0, 0, 9];
    const FRAMES: usize = 300;
    let folder = tempfile::tempdir()?;
    let own = Nic::new(NicConfig::new(folder.path(), 1))?.ports()[0].mac_address();
    // Those to others, and those from a group, have no answer.
    let pairs = [(own, PEER), (PEER, own), (own, GROUP), ([0xff; 6], PEER)];
    let arriving = (0..4 * FRAMES).map(|nth| {
        let (to, from) = pairs[nth % 4];
        (Duration::ZERO, frame(to, from, nth / 4))
    });
    let card = RecordingNic::of(arriving)?;
    let program = card.nic().application(driver, PROGRAM)?;
    let output = program
        .args(["--packets", &(4 * FRAMES).to_string()])
        .run()?;
    let totals: Totals = card.nic().totals_of(&output)?;
    totals.check()?;
    ensure!((totals.mac, totals.ignored) == (FRAMES as u64, 3 * FRAMES as u64));
    let sent = card.sent()?;
    expect::exactly("sent", sent.len() as u64, "answers", FRAMES as u64)?;
    for (number, answer) in sent.iter().enumerate() {
        ensure!(
            answer.bytes == frame(PEER, own, number),
            "answer {number}: {answer:x?}"
        );
    }
    Ok(())
}

fn a_packet_limit_is_exact(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(saturated)?;
    let program = nic.application(driver, PROGRAM)?;
    let output = program.args(["--packets", "77777"]).run()?;
    let totals: Totals = nic.totals_of(&output)?;
    totals.check()?;
    expect::exactly("received", totals.rx, "packets", 77_777)
}

fn a_wrong_command_line_is_refused(driver: Implementation) -> Result<()> {
    let start = || Program::application(driver, PROGRAM);
    Program::expect_refused(
        || Ok(start()?.arg("vfio-user:/nonexistent")),
        &[
            (&["--ip", "10.0.0"], "--ip"),
            (&["--ip", "::1"], "--ip"),
            (&["--batch", "0"], "--batch must be a number"),
            (&["another device"], PROGRAM),
        ],
    )?;
    Program::expect_refused(start, &[(&[], PROGRAM)])
}
