//! The command `nic`: it starts, says when it is ready, ends on request, and reports.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pcap_file::pcap::{PcapPacket, PcapReader, PcapWriter};
use pcap_file::TsResolution;
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
fn a_signal_ends_it_and_it_reports() {
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
fn it_ends_after_the_given_duration() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let (mut child, _output) = start(&["--socket-dir", path, "--duration", "0.1"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_unwritable_report_path_fails_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let start = Instant::now();
    let arguments = ["--socket-dir", path, "--duration", "60", "--json"];
    let status = status_of(&[&arguments[..], &["/nonexistent/report.json"]].concat());
    assert_eq!(status, Some(1));
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_report_is_written_even_if_standard_output_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("report.json");
    let (mut child, output) = start(&[
        "--socket-dir",
        directory.path().to_str().unwrap(),
        "--json",
        json.to_str().unwrap(),
    ]);
    drop(output);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let report = std::fs::read_to_string(&json).unwrap();
    serde_json::from_str::<serde_json::Value>(&report).unwrap();
}

#[test]
fn the_report_is_printed_even_if_the_disk_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, mut output) = start(&[
        "--socket-dir",
        directory.path().to_str().unwrap(),
        "--json",
        "/dev/full",
    ]);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(text.contains("port 1: 0 sessions"), "{text}");
}

#[test]
fn bad_usage_and_run_time_errors_have_different_exit_statuses() {
    assert_eq!(status_of(&[]), Some(2));
    assert_eq!(
        status_of(&["--socket-dir", "x", "--traffic", "much"]),
        Some(2)
    );
    assert_eq!(status_of(&["--socket-dir", "x", "--cable", "0:7"]), Some(2));
    for wires in [
        &["--wire", "tap="][..],
        &["--wire", "pcap=a"],
        &["--wire", "pcap=,"],
        &["--wire", "pcap=a,", "--cable", "0:1"],
        &["--wire", "pcap=,a", "--wire", "pcap=,a"],
        &["--wire", "2:tap=a"],
        &["--wire", "0:tap=a", "--wire", "0:tap=b"],
        &["--wire", "tap=a", "--wire", "tap=a"],
        &["--wire", "tap=a", "--cable", "0:1"],
        &["--wire", "tap=a", "--traffic", "saturate"],
    ] {
        let arguments = [&["--socket-dir", "x"], wires].concat();
        assert_eq!(status_of(&arguments), Some(2), "{wires:?}");
    }
    assert_eq!(
        status_of(&["--socket-dir", "x", "--fault", "other"]),
        Some(2)
    );
    assert_eq!(status_of(&["--socket-dir", "/proc/nowhere"]), Some(1));
}

#[test]
fn recorded_frames_cross_a_driver_into_a_file() {
    for (signal, mmio) in [(Signal::INT, "shared"), (Signal::TERM, "trap")] {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let frames: Vec<_> = (0..300_usize)
            .map(|number| support::frame(60 + number * 7 % 1455, number as u8))
            .collect();
        let mut writer = PcapWriter::new(File::create(path("in")).unwrap()).unwrap();
        for frame in &frames {
            let packet = PcapPacket::new(Duration::ZERO, frame.len() as u32, frame);
            writer.write_packet(&packet).unwrap();
        }
        drop(writer);
        let wire = format!("pcap={},{}", path("in").display(), path("out").display());
        let sockets = path("sockets");
        let json = path("report.json");
        let (mut child, _output) = start(&[
            "--socket-dir",
            sockets.to_str().unwrap(),
            "--mmio",
            mmio,
            "--wire",
            &wire,
            "--json",
            json.to_str().unwrap(),
        ]);
        // The rings are far smaller than the file, and the card drops frames without descriptors.
        let mut driver = Driver::start(&sockets.join("port0.sock"), Rings::default());
        for (number, frame) in frames.iter().enumerate() {
            let mut received = None;
            support::eventually(&format!("frame {number} arrives"), || {
                received = driver.receive();
                received.is_some()
            });
            assert!(received.as_ref() == Some(frame), "frame {number}");
            let slot = driver.transmit(frame);
            support::eventually("a frame leaves", || driver.tx_done(slot));
        }
        driver.stop();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut reader = PcapReader::new(File::open(path("out")).unwrap()).unwrap();
        assert_eq!(reader.header().ts_resolution, TsResolution::NanoSecond);
        let mut recorded = Vec::new();
        while let Some(packet) = reader.next_packet() {
            recorded.push(packet.unwrap().data.into_owned());
        }
        assert!(recorded == frames, "{} frames", recorded.len());
        let report: serde_json::Value = serde_json::from_reader(File::open(json).unwrap()).unwrap();
        let port = &report["ports"][0];
        for (counter, expected) in [
            ("delivered", 300),
            ("transmitted", 300),
            ("left_in_pcap", 0),
            ("dropped_no_descriptor", 0),
        ] {
            assert_eq!(port[counter], expected, "{counter}");
        }
    }
}

#[test]
fn a_bad_pcap_file_ends_it() {
    let directory = tempfile::tempdir().unwrap();
    let sockets = directory.path().join("sockets");
    for wire in ["pcap=/nowhere,", "pcap=/dev/null,", "pcap=,/dev/full"] {
        let arguments = ["--socket-dir", sockets.to_str().unwrap(), "--wire", wire];
        assert_eq!(status_of(&arguments), Some(1), "{wire}");
    }
}

#[test]
fn the_version_is_that_of_the_workspace() {
    let output = Command::new(env!("CARGO_BIN_EXE_nic"))
        .arg("--version")
        .output()
        .unwrap();
    let expected = format!("nic {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn a_socket_that_cannot_be_made_has_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("x".repeat(200));
    let output = Command::new(env!("CARGO_BIN_EXE_nic"))
        .args(["--duration", "0", "--socket-dir"])
        .arg(&deep)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("choose another directory"), "{text}");
}

#[test]
fn an_unknown_fault_lists_the_valid_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_nic"))
        .args(["--socket-dir", "x", "--fault", "other"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    for name in nic::Faults::names() {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn latency_needs_a_rate_and_frames_that_are_checked() {
    let with = |arguments: &[&str]| {
        let all = [&["--socket-dir", "x", "--duration", "0"], arguments].concat();
        status_of(&all)
    };
    assert_eq!(with(&["--latency"]), Some(2));
    assert_eq!(with(&["--latency", "--traffic", "saturate"]), Some(2));
    let rate = ["--latency", "--traffic", "rate=1"];
    assert_eq!(
        with(&[&rate[..], &["--verify", "off"]].concat()),
        Some(2),
        "frames that are not checked"
    );
    assert_eq!(with(&[&rate[..], &["--cable", "0:1"]].concat()), Some(2));
    assert_eq!(with(&["--latency-after", "1"]), Some(2));
}

#[test]
fn the_report_has_the_latency_of_each_port_and_of_all_ports() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("report.json");
    let (mut child, mut output) = start(&[
        "--socket-dir",
        directory.path().to_str().unwrap(),
        "--traffic",
        "rate=0.01",
        "--latency",
        "--latency-after",
        "0.005",
        "--json",
        json.to_str().unwrap(),
    ]);
    let open = |port: usize| {
        let path = directory.path().join(format!("port{port}.sock"));
        Driver::start(&path, Rings::default())
    };
    let (mut a, mut b) = (open(0), open(1));
    let mut forwarded = 0;
    support::eventually("frames arrive", || {
        while let Some(mut frame) = a.receive() {
            frame[1] = frame[1].wrapping_add(1);
            b.transmit(&frame);
            forwarded += 1;
        }
        forwarded > 200
    });
    let sent = u64::try_from(forwarded).unwrap();
    a.stop();
    b.stop();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(text.contains("all ports: latency in us: min "), "{text}");
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let (all, port) = (&report["latency"], &report["ports"][0]["latency"]);
    let count = port["count"].as_u64().unwrap();
    // The first 5 ms, which have 50 frames, are left out.
    assert!(count > 20 && count + 45 < sent, "{count} of {sent}");
    assert_eq!(all["count"], port["count"]);
    assert_eq!(report["ports"][1]["latency"]["count"], 0);
    let figure = |name: &str| all[name].as_f64().unwrap();
    assert!(figure("min_us") > 0.0 && figure("min_us") <= figure("p50_us"));
    assert!(figure("p50_us") <= figure("max_us"));
    assert!(figure("mean_us") <= figure("max_us"));
    assert_eq!(all.get("p99_99_us"), None, "too few frames");
    // The lag covers lost frames too, so it may exceed every latency.
    let lag = |name: &str| all["lag"][name].as_f64().unwrap();
    assert!(all["lag"]["count"].as_u64().unwrap() >= count);
    assert!(lag("min_us") >= 0.0 && lag("min_us") <= lag("max_us"));
}

#[test]
fn link_options_and_left_behind_states_are_checked() {
    let refused = |arguments: &[&str]| {
        let arguments = [
            &["--socket-dir", "/nonexistent/x", "--duration", "0"],
            arguments,
        ]
        .concat();
        status_of(&arguments) == Some(2)
    };
    assert!(refused(&["--left-behind", "laser-on"]));
    assert!(
        refused(&["--left-behind", "laser-off"]),
        "a DAC has no laser"
    );
    assert!(
        refused(&["--left-behind", "phy-off"]),
        "an 82599 has no PHY"
    );
    assert!(refused(&["--left-behind", "rate-limited=5"]));
    assert!(refused(&["--link-speed", "2.5g"]), "an 82599");
    assert!(refused(&["--link-speed", "40g"]));
    assert!(refused(&["--device-id", "1528", "--link-attempts", "2"]));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let (mut child, _output) = start(&[
        "--socket-dir",
        path,
        "--duration",
        "0.1",
        "--module",
        "sr",
        "--left-behind",
        "laser-off,link-disabled,rate-limited=100",
        "--link-attempts",
        "2",
        "--link-delay",
        "0.5",
    ]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
