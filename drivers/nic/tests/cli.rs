//! The command: starts, says that it is ready, ends when told, and reports.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use rustix::process::{kill_process, Pid, Signal};
use support::{Driver, Rings};

fn start(arguments: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nic"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, output)
}

fn status_of(arguments: &[&str]) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nic"));
    command
        .args(arguments)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap()
        .code()
}

#[test]
fn it_ends_on_a_signal_and_reports() {
    for signal in [Signal::INT, Signal::TERM] {
        let directory = tempfile::tempdir().unwrap();
        let sockets = directory.path().join("sockets");
        let json = directory.path().join("report.json");
        let (mut child, mut output) = start(&[
            "--socket-dir",
            sockets.to_str().unwrap(),
            "--traffic",
            "saturate",
            "--json",
            json.to_str().unwrap(),
        ]);
        let mut driver = Driver::start(&sockets.join("port0.sock"), Rings::default());
        support::eventually("a frame arrives", || driver.receive().is_some());
        driver.stop();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert!(
            text.contains("last driver left the device at rest, 0 DMA maps"),
            "{text}"
        );
        let report: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
        let port = &report["ports"][0];
        assert!(port["delivered"].as_u64().unwrap() >= 63);
        assert_eq!(port["last_session"]["snapshot"]["bus_master"], false);
        assert_eq!(report["ports"][1]["last_session"], serde_json::Value::Null);
        assert!(
            !sockets.join("port0.sock").exists(),
            "the sockets are removed"
        );
    }
}

#[test]
fn it_ends_after_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let (mut child, _output) = start(&["--socket-dir", path, "--duration", "0.1"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn bad_usage_and_bad_luck_differ() {
    assert_eq!(status_of(&[]), Some(2));
    assert_eq!(
        status_of(&["--socket-dir", "x", "--traffic", "much"]),
        Some(2)
    );
    assert_eq!(status_of(&["--socket-dir", "x", "--cable", "0:7"]), Some(2));
    assert_eq!(
        status_of(&["--socket-dir", "x", "--fault", "other"]),
        Some(2)
    );
    assert_eq!(status_of(&["--socket-dir", "/proc/nowhere"]), Some(1));
}
