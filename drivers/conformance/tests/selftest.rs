//! `triptych selftest` on the software NIC: it passes on a good wire, and names whatever
//! is wrong with a bad one.
//!
//! For the faults, the test is the wire: it takes each frame that a port sends, and decides what
//! arrives at the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{wait_until, Output, Program, TestNic};
use nic::Faults;
use rustix::process::Signal;
use serde_json::Value;

/// No run here takes so long.
const LIMIT: Duration = Duration::from_secs(60);
/// Frames in each direction in the tests of faults.
const FRAMES: &str = "1500";
/// The first frame of each direction that a fault may hit. The frames of the cable check come first.
const FAULT_AT: usize = 500;

/// The self-test on this NIC.
fn selftest(nic: &TestNic) -> Result<Program> {
    let [a, b] = nic.devices();
    let program = Program::triptych()?.arg("selftest").arg(a).arg(b);
    Ok(program.json(nic.path("report.json")))
}

/// The report, and the findings of one outcome as `check: text`.
fn report(nic: &TestNic, output: &Output) -> Result<Value> {
    let text = std::fs::read_to_string(nic.path("report.json"));
    serde_json::from_str(&text.with_context(|| output.to_string())?).context("the report")
}

fn findings(report: &Value, outcome: &str) -> Vec<String> {
    let findings = report["findings"].as_array().into_iter().flatten();
    let wanted = findings.filter(|finding| finding["outcome"] == outcome);
    let text = |key: &str, finding: &Value| finding[key].as_str().unwrap_or_default().to_owned();
    wanted
        .map(|finding| format!("{}: {}", text("check", finding), text("text", finding)))
        .collect()
}

#[test]
fn a_good_wire_passes_every_check() -> Result<()> {
    let nic = TestNic::running(|config| config.with_cable(0, 1))?;
    let output = selftest(&nic)?.arg("--quick").run(LIMIT)?;
    output.expect_exit(0)?;
    let report = report(&nic, &output)?;
    let passed = findings(&report, "pass").join("\n");
    for check in [
        "start: ",
        "link: port 0: 10000 Mbit/s",
        "cable: 64 frames arrived at port 1, 64 at port 0",
        "frames 0 to 1: 5820 of 5820 frames of 60 to 1514 bytes intact",
        "frames 1 to 0: 5820 of 5820 frames",
        "counters: GPTC",
        "stop: ",
        "interrupts 0: 100 MSI-X messages",
        "interrupts 1: 100 MSI-X messages",
    ] {
        ensure!(passed.contains(check), "{check:?} did not pass: {output}");
    }
    // The frames of the cable check and of the exchange, on the card's side.
    for port in nic.ports() {
        ensure!(port.stats().transmitted == 64 + 5820, "{:?}", port.stats());
    }
    for session in nic.sessions()? {
        ensure!(session.dma_faults.is_empty(), "{:?}", session.dma_faults);
        ensure!(session.notes.is_empty(), "{:?}", session.notes);
    }
    Ok(())
}

/// What arrives at port 1 when port 0 sends this frame, the `n`th.
type Arrives = fn(usize, Vec<u8>) -> Vec<Vec<u8>>;

/// Runs the self-test while the test carries the frames from port 0 to port 1 as `forth` says, and
/// back unchanged. Returns the failed findings.
fn with_wire(nic: &TestNic, forth: Arrives, arguments: &[&str]) -> Result<Vec<String>> {
    let done = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            let mut count = 0;
            while !done.load(Ordering::Relaxed) {
                let [a, b] = [&nic.ports()[0], &nic.ports()[1]];
                for frame in a.take_transmitted() {
                    for arriving in forth(count, frame) {
                        // A frame that the NIC cannot inject would be missing, which shows.
                        let _ = b.inject(&arriving);
                    }
                    count += 1;
                }
                for frame in b.take_transmitted() {
                    let _ = a.inject(&frame);
                }
                thread::sleep(Duration::from_micros(50));
            }
        });
        let output = selftest(nic).and_then(|program| program.args(arguments).run(LIMIT));
        done.store(true, Ordering::Relaxed);
        output
    })?;
    output.expect_exit(1)?;
    Ok(findings(&report(nic, &output)?, "fail"))
}

fn captured() -> Result<TestNic> {
    TestNic::running(|config| config.with_each_port(|port| port.capture = true))
}

/// Expects the failed findings to begin with these texts, in this order, and no others.
fn expect_failed(failed: &[String], expected: &[&str]) -> Result<()> {
    let matches = failed.len() == expected.len()
        && failed
            .iter()
            .zip(expected)
            .all(|(failed, text)| failed.contains(text));
    ensure!(matches, "expected {expected:?}, failed: {failed:#?}");
    Ok(())
}

/// A test of damage to one frame on its way from port 0 to port 1.
fn damaged(forth: Arrives, expected: &[&str]) -> Result<()> {
    let nic = captured()?;
    let failed = with_wire(&nic, forth, &["--frames", FRAMES])?;
    expect_failed(&failed, expected)
}

#[test]
fn a_lost_frame_is_found() -> Result<()> {
    let forth: Arrives = |n, frame| if n == FAULT_AT { vec![] } else { vec![frame] };
    damaged(
        forth,
        &[
            "frames 0 to 1: 1499 of 1500 frames of 60 to 1514 bytes intact",
            "counters: port 0 put 1564 frames on the wire, port 1 took 1563 from it",
        ],
    )
}

#[test]
fn a_duplicated_frame_is_found() -> Result<()> {
    let forth: Arrives = |n, frame| match n {
        FAULT_AT => vec![frame.clone(), frame],
        _ => vec![frame],
    };
    damaged(
        forth,
        &["1 duplicated; first: frame 436", "port 1 took 1565"],
    )
}

#[test]
fn reordered_frames_are_found() -> Result<()> {
    // Each frame waits for the next one, so a frame arrives after its successor.
    static HELD: std::sync::Mutex<Option<Vec<u8>>> = std::sync::Mutex::new(None);
    let forth: Arrives = |n, frame| {
        let mut held = HELD
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match n {
            FAULT_AT => {
                *held = Some(frame);
                vec![]
            }
            _ => [Some(frame), held.take()].into_iter().flatten().collect(),
        }
    };
    damaged(forth, &["1 reordered; first: frame 436"])
}

#[test]
fn a_flipped_bit_is_found_with_its_offset() -> Result<()> {
    let forth: Arrives = |n, mut frame| {
        if n == FAULT_AT {
            frame[50] ^= 0x04;
        }
        vec![frame]
    };
    damaged(forth, &["1 corrupted; first: frame 436"])?;
    let forth: Arrives = |n, mut frame| {
        // The frame's number itself.
        if n == FAULT_AT {
            frame[24] ^= 0x80;
        }
        vec![frame]
    };
    damaged(forth, &["at offset 24"])
}

#[test]
fn a_truncated_frame_is_found() -> Result<()> {
    let forth: Arrives = |n, mut frame| {
        if n == FAULT_AT {
            frame.truncate(frame.len() - 4);
        }
        vec![frame]
    };
    damaged(forth, &["1 truncated; first: frame 436"])
}

#[test]
fn a_padded_frame_is_found() -> Result<()> {
    let forth: Arrives = |n, mut frame| {
        if n == FAULT_AT {
            frame.extend([0; 4]);
        }
        vec![frame]
    };
    damaged(forth, &["1 padded; first: frame 436"])
}

#[test]
fn a_frame_of_another_sender_is_found() -> Result<()> {
    let forth: Arrives = |n, frame| match n {
        FAULT_AT => vec![vec![0x33; 64], frame],
        _ => vec![frame],
    };
    damaged(
        forth,
        &[
            "1 foreign; first: a frame of 64 bytes begins with 3333",
            "port 1 took 1565",
        ],
    )
}

#[test]
fn a_wrong_crc_shows_in_the_error_counters() -> Result<()> {
    let nic = captured()?;
    let done = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            let mut count = 0;
            while !done.load(Ordering::Relaxed) {
                let [a, b] = [&nic.ports()[0], &nic.ports()[1]];
                for frame in a.take_transmitted() {
                    let _ = match count {
                        FAULT_AT => b.inject_with_bad_crc(&frame),
                        _ => b.inject(&frame),
                    };
                    count += 1;
                }
                for frame in b.take_transmitted() {
                    let _ = a.inject(&frame);
                }
                thread::sleep(Duration::from_micros(50));
            }
        });
        let output =
            selftest(&nic).and_then(|program| program.args(["--frames", FRAMES]).run(LIMIT));
        done.store(true, Ordering::Relaxed);
        output
    })?;
    let failed = findings(&report(&nic, &output)?, "fail").join("\n");
    ensure!(failed.contains("1 lost"), "{failed}");
    ensure!(failed.contains("port 1: CRCERRS is 1"), "{failed}");
    Ok(())
}

#[test]
fn ports_that_are_not_cabled_together_are_named() -> Result<()> {
    let forth: Arrives = |_, _| vec![];
    // Frames of port 1 arrive at port 0, none the other way.
    let failed = with_wire(&captured()?, forth, &["--quick"])?;
    expect_failed(
        &failed,
        &["frames of port 1 arrive at port 0, but none come back"],
    )?;
    // No wire at all.
    let nic = TestNic::running(|config| config)?;
    let output = selftest(&nic)?.arg("--quick").run(LIMIT)?;
    output.expect_exit(1)?;
    let failed = findings(&report(&nic, &output)?, "fail");
    expect_failed(&failed, &["the ports are not cabled together"])
}

#[test]
fn a_switch_in_between_is_named() -> Result<()> {
    let forth: Arrives = |n, frame| match n {
        // The bridge group address, and a sender.
        3 => {
            let mut hello = vec![0; 60];
            hello[..14].copy_from_slice(b"\x01\x80\xc2\0\0\x0e\x02\0\0\0\0\x07\x88\xcc");
            vec![hello, frame]
        }
        _ => vec![frame],
    };
    let failed = with_wire(&captured()?, forth, &["--quick"])?;
    expect_failed(
        &failed,
        &[
            "port 1 receives frames from 02:00:00:00:00:07 (EtherType 0x88cc)",
            "port 1 took 5885",
        ],
    )
}

#[test]
fn a_missing_link_fails_after_several_attempts() -> Result<()> {
    let nic = TestNic::running(|config| config.with_cable(0, 1))?;
    let mut faults = Faults::default();
    faults.add("no-link")?;
    nic.ports()[1].set_faults(faults);
    let program = selftest(&nic)?;
    let output = program
        .args(["--quick", "--link-timeout", "3"])
        .run(LIMIT)?;
    output.expect_exit(1)?;
    let failed = findings(&report(&nic, &output)?, "fail");
    expect_failed(&failed, &["port 1: no link after 3.0 s and 2 attempts"])
}

#[test]
fn a_card_that_does_not_reset_fails_at_the_start() -> Result<()> {
    let nic = TestNic::running(|config| config.with_cable(0, 1))?;
    let mut faults = Faults::default();
    faults.add("never-finish-reset")?;
    nic.ports()[0].set_faults(faults);
    let output = selftest(&nic)?.arg("--quick").run(LIMIT)?;
    output.expect_exit(1)?;
    let failed = findings(&report(&nic, &output)?, "fail");
    expect_failed(&failed, &["start: port 0: "])
}

/// Starts a self-test that would take hours, and waits until its frames flow.
fn endless(nic: &TestNic) -> Result<conformance::Running> {
    let program = selftest(nic)?;
    let running = program.args(["--frames", "1000000000"]).start()?;
    nic.wait_for_traffic(1000)?;
    Ok(running)
}

#[test]
fn sigint_stops_the_ports_and_keeps_the_findings() -> Result<()> {
    let nic = TestNic::running(|config| config.with_cable(0, 1))?;
    let mut running = endless(&nic)?;
    running.signal(Signal::INT)?;
    let output = running.wait(Duration::from_secs(15))?;
    output.expect_exit(1)?;
    let report = report(&nic, &output)?;
    ensure!(report["interrupted"] == true, "{output}");
    ensure!(
        findings(&report, "pass")
            .join("\n")
            .contains("stop: both ports stopped"),
        "{output}"
    );
    nic.sessions()?;
    for port in nic.ports() {
        ensure!(port.snapshot().quiescent(), "{:?}", port.snapshot());
    }
    Ok(())
}

#[test]
fn a_killed_self_test_leaves_no_process_behind() -> Result<()> {
    let nic = TestNic::running(|config| config.with_cable(0, 1))?;
    let mut running = endless(&nic)?;
    running.signal(Signal::KILL)?;
    wait_until("the ports to be free", || {
        nic.ports().iter().all(|port| !port.connected())
    })?;
    for port in nic.ports() {
        ensure!(port.snapshot().quiescent(), "{:?}", port.snapshot());
    }
    Ok(())
}
