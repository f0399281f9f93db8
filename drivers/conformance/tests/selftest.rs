//! `triptych selftest` on the software NIC: it passes on a good wire, and names whatever
//! is wrong with a bad one.
//!
//! For the faults, the test is the wire: it takes each frame that a port sends, and decides what
//! arrives at the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{capturing, Program, Running, TestNic, LIMIT};
use nic::{Faults, NicConfig};
use rustix::process::Signal;
use serde_json::Value;

/// Frames in each direction in the tests of faults.
const FRAMES: [&str; 2] = ["--frames", "1500"];
/// The first frame of each direction that a fault may hit. The frames of the cable check come first.
const FAULT_AT: usize = 500;

fn cabled(config: NicConfig) -> NicConfig {
    config.with_cable(0, 1)
}

/// Starts the self-test on this NIC.
fn start(nic: &TestNic, arguments: &[&str]) -> Result<Running> {
    let program = Program::built("bin/triptych")?
        .arg("selftest")
        .args(nic.devices());
    program
        .json(nic.path("report.json"))
        .args(arguments)
        .start()
}

/// The report of a self-test that has ended.
struct Report(Value);

impl Report {
    fn of(running: Running, status: i32) -> Result<Self> {
        let output = running.wait(LIMIT)?;
        Ok(Self(output.expect_exit(status)?.totals_as()?))
    }

    /// The findings of one outcome as `check: text`.
    fn findings(&self, outcome: &str) -> Vec<String> {
        let findings = self.0["findings"].as_array().into_iter().flatten();
        let wanted = findings.filter(|finding| finding["outcome"] == outcome);
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let line = |finding| format!("{}: {}", text(finding, "check"), text(finding, "text"));
        wanted.map(line).collect()
    }

    fn expect_passed(&self, texts: &[&str]) -> Result<()> {
        let passed = self.findings("pass").join("\n");
        for text in texts {
            ensure!(passed.contains(text), "{text:?} did not pass: {}", self.0);
        }
        Ok(())
    }

    /// Expects the failed findings to contain these texts, in this order, and no others.
    fn expect_failed(&self, texts: &[&str]) -> Result<()> {
        let failed = self.findings("fail");
        let mut pairs = failed.iter().zip(texts);
        let match_all = pairs.all(|(failed, text)| failed.contains(text));
        ensure!(
            match_all && failed.len() == texts.len(),
            "not {texts:?}: {failed:#?}"
        );
        Ok(())
    }
}

/// The report of a self-test with these arguments that fails.
fn failed(nic: &TestNic, arguments: &[&str]) -> Result<Report> {
    Report::of(start(nic, arguments)?, 1)
}

#[test]
fn a_good_wire_passes_every_check() -> Result<()> {
    let nic = TestNic::running(cabled)?;
    Report::of(start(&nic, &["--quick"])?, 0)?.expect_passed(&[
        "start: ",
        "link: port 0: 10000 Mbit/s",
        "cable: 64 frames arrived at port 1, 64 at port 0",
        "frames 0 to 1: 5820 of 5820 frames of 60 to 1514 bytes intact",
        "frames 1 to 0: 5820 of 5820 frames",
        "counters: GPTC",
        "stop: ",
        "interrupts 0: 100 MSI-X messages",
        "interrupts 1: 100 MSI-X messages",
    ])?;
    // The frames of the cable check and of the exchange, on the card's side.
    for port in nic.ports() {
        ensure!(port.stats().transmitted == 64 + 5820, "{:?}", port.stats());
    }
    for session in nic.sessions()? {
        let clean = session.dma_faults.is_empty() && session.notes.is_empty();
        ensure!(clean, "{session:?}");
    }
    Ok(())
}

/// What arrives at port 1 when port 0 sends this frame, the `n`th. The last argument is a place for a frame.
type Arrives = fn(usize, Vec<u8>, &mut Option<Vec<u8>>) -> Vec<Vec<u8>>;

/// Runs the self-test while the test carries the frames from port 0 to port 1 as `forth` says, and
/// back unchanged. With `bad_crc`, the frame of the fault has a wrong CRC.
fn with_wire(forth: Arrives, bad_crc: bool, arguments: &[&str]) -> Result<Report> {
    let nic = TestNic::running(capturing)?;
    let [a, b] = [&nic.ports()[0], &nic.ports()[1]];
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut count, mut held) = (0, None);
            while !done.load(Ordering::Relaxed) {
                for frame in a.take_transmitted() {
                    for arriving in forth(count, frame, &mut held) {
                        // A frame that the NIC cannot inject would be missing, which shows.
                        let _ = if bad_crc && count == FAULT_AT {
                            b.inject_with_bad_crc(&arriving)
                        } else {
                            b.inject(&arriving)
                        };
                    }
                    count += 1;
                }
                for frame in b.take_transmitted() {
                    let _ = a.inject(&frame);
                }
                thread::sleep(Duration::from_micros(50));
            }
        });
        let report = failed(&nic, arguments);
        done.store(true, Ordering::Relaxed);
        report
    })
}

fn changed(n: usize, mut frame: Vec<u8>, change: fn(&mut Vec<u8>)) -> Vec<Vec<u8>> {
    if n == FAULT_AT {
        change(&mut frame);
    }
    vec![frame]
}

/// A frame on its way from port 0 to port 1 is damaged.
#[test]
fn a_damaged_frame_is_found_with_its_number_and_offset() -> Result<()> {
    let damages: [(Arrives, &[&str]); 8] = [
        (
            |n, frame, _| if n == FAULT_AT { vec![] } else { vec![frame] },
            &[
                "frames 0 to 1: 1499 of 1500 frames of 60 to 1514 bytes intact",
                "counters: port 0 put 1564 frames on the wire, port 1 took 1563 from it",
            ],
        ),
        (
            |n, frame, _| vec![frame; if n == FAULT_AT { 2 } else { 1 }],
            &["1 duplicated; first: frame 436", "port 1 took 1565"],
        ),
        (
            // The frame waits for the next one.
            |n, frame, held| match n {
                FAULT_AT => held.replace(frame).into_iter().collect(),
                _ => [Some(frame), held.take()].into_iter().flatten().collect(),
            },
            &["1 reordered; first: frame 436"],
        ),
        (
            |n, frame, _| changed(n, frame, |frame| frame[50] ^= 0x04),
            &["1 corrupted; first: frame 436"],
        ),
        (
            // The frame's number itself.
            |n, frame, _| changed(n, frame, |frame| frame[24] ^= 0x80),
            &["at offset 24"],
        ),
        (
            |n, frame, _| changed(n, frame, |frame| frame.truncate(frame.len() - 4)),
            &["1 truncated; first: frame 436"],
        ),
        (
            |n, frame, _| changed(n, frame, |frame| frame.extend([0; 4])),
            &["1 padded; first: frame 436"],
        ),
        (
            |n, frame, _| match n {
                FAULT_AT => vec![vec![0x33; 64], frame],
                _ => vec![frame],
            },
            &[
                "1 foreign; first: a frame of 64 bytes begins with 3333",
                "port 1 took 1565",
            ],
        ),
    ];
    for (forth, expected) in damages {
        with_wire(forth, false, &FRAMES)?.expect_failed(expected)?;
    }
    Ok(())
}

#[test]
fn a_wrong_crc_shows_in_the_error_counters() -> Result<()> {
    let report = with_wire(|_, frame, _| vec![frame], true, &FRAMES)?;
    let failed = report.findings("fail").join("\n");
    let found = failed.contains("1 lost") && failed.contains("port 1: CRCERRS is 1");
    ensure!(found, "{failed}");
    Ok(())
}

#[test]
fn ports_that_are_not_cabled_together_are_named() -> Result<()> {
    // Frames of port 1 arrive at port 0, none the other way.
    let report = with_wire(|_, _, _| vec![], false, &["--quick"])?;
    report.expect_failed(&["frames of port 1 arrive at port 0, but none come back"])?;
    // No wire at all.
    let nic = TestNic::running(|config| config)?;
    failed(&nic, &["--quick"])?.expect_failed(&["the ports are not cabled together"])
}

#[test]
fn a_switch_in_between_is_named() -> Result<()> {
    let forth: Arrives = |n, frame, _| match n {
        // The bridge group address, and a sender.
        3 => {
            let mut hello = vec![0; 60];
            hello[..14].copy_from_slice(b"\x01\x80\xc2\0\0\x0e\x02\0\0\0\0\x07\x88\xcc");
            vec![hello, frame]
        }
        _ => vec![frame],
    };
    with_wire(forth, false, &["--quick"])?.expect_failed(&[
        "port 1 receives frames from 02:00:00:00:00:07 (EtherType 0x88cc)",
        "port 1 took 5885",
    ])
}

#[test]
fn a_missing_link_and_a_card_that_does_not_reset_fail() -> Result<()> {
    for (port, fault, message) in [
        (1, "no-link", "port 1: no link after 3.0 s and 2 attempts"),
        (0, "never-finish-reset", "start: port 0: "),
    ] {
        let nic = TestNic::running(cabled)?;
        let mut faults = Faults::default();
        faults.add(fault)?;
        nic.ports()[port].set_faults(faults);
        failed(&nic, &["--quick", "--link-timeout", "3"])?.expect_failed(&[message])?;
    }
    Ok(())
}

/// A self-test that would take hours gets a signal when its frames flow. The ports must be at rest then.
fn stopped_by(nic: &TestNic, signal: Signal) -> Result<Running> {
    let mut running = start(nic, &["--frames", "1000000000"])?;
    nic.wait_for_traffic(1000)?;
    running.signal(signal)?;
    nic.sessions()?;
    for port in nic.ports() {
        ensure!(port.snapshot().quiescent(), "{:?}", port.snapshot());
    }
    Ok(running)
}

#[test]
fn sigint_stops_the_ports_and_keeps_the_findings() -> Result<()> {
    let nic = TestNic::running(cabled)?;
    let report = Report::of(stopped_by(&nic, Signal::INT)?, 1)?;
    ensure!(report.0["interrupted"] == true, "{}", report.0);
    report.expect_passed(&["stop: both ports stopped"])
}

#[test]
fn a_killed_self_test_leaves_no_process_behind() -> Result<()> {
    let nic = TestNic::running(cabled)?;
    stopped_by(&nic, Signal::KILL)?;
    Ok(())
}
