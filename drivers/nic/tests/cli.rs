//! The command `nic`: it starts, says when it is ready, ends on request, and reports.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use pcap_file::pcap::{PcapPacket, PcapReader, PcapWriter};
use pcap_file::TsResolution;
use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;
use support::{eventually, frame, Driver, Rings};

fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nic"));
    command.args(arguments.split_whitespace());
    command
}

/// Runs the command to its end. Returns its exit status and its errors.
fn run(arguments: &str) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command(arguments).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// A card that is ready, in a folder of its own.
struct Card {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
    folder: tempfile::TempDir,
}

impl Card {
    /// Starts `nic`. In the arguments, `DIR` stands for the folder.
    fn start(arguments: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let arguments = format!("--socket-dir DIR/sockets {arguments}").replace("DIR", path);
        let mut child = command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let output = Some(output);
        Self {
            child,
            output,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn driver(&self, port: usize) -> Driver {
        Driver::start(
            &self.path(&format!("sockets/port{port}.sock")),
            Rings::default(),
        )
    }

    /// Ends the command by a signal. Returns its exit status and the rest of its output.
    fn end(&mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut text = String::new();
        if let Some(output) = &mut self.output {
            output.read_to_string(&mut text).unwrap();
        }
        (self.child.wait().unwrap().code(), text)
    }

    fn report(&self) -> Value {
        let file = File::open(self.path("report.json")).unwrap();
        serde_json::from_reader(file).unwrap()
    }
}

#[test]
fn a_signal_ends_it_and_it_reports() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut card = Card::start("--traffic saturate --json DIR/report.json");
        let mut driver = card.driver(0);
        eventually("a frame arrives", || driver.receive().is_some());
        driver.stop();
        let (status, text) = card.end(signal);
        assert_eq!(status, Some(0));
        let expected = "last driver left the device at rest, 0 DMA maps";
        assert!(text.contains(expected), "{text}");
        let port = &card.report()["ports"][0];
        assert!(port["delivered"].as_u64().unwrap() >= 63);
        assert_eq!(port["last_session"]["snapshot"]["bus_master"], false);
        assert_eq!(card.report()["ports"][1]["last_session"], Value::Null);
        let socket = card.path("sockets/port0.sock");
        assert!(!socket.exists(), "the sockets are removed");
    }
}

#[test]
fn the_report_is_written_even_if_standard_output_is_closed() {
    let mut card = Card::start("--json DIR/report.json");
    drop(card.output.take());
    assert_eq!(card.end(Signal::INT).0, Some(1));
    assert!(card.report().is_object());
}

#[test]
fn the_report_is_printed_even_if_the_disk_is_full() {
    let (status, text) = Card::start("--json /dev/full").end(Signal::INT);
    assert_eq!(status, Some(1));
    assert!(text.contains("port 1: 0 sessions"), "{text}");
}

/// Command lines that are wrong, with a part of the message.
const WRONG: &[(&str, &str)] = &[
    ("--ports 0", "must be 1 to 16"),
    ("--ports 17", "must be 1 to 16"),
    ("--mmio other", "shared, trap"),
    (
        "--traffic much",
        "off, saturate, window=FRAMES or rate=MPPS",
    ),
    ("--traffic rate=-1", "at most 1000 Mpps"),
    ("--traffic rate=nan", "at most 1000 Mpps"),
    ("--traffic window=0", "1 to 65536 frames"),
    ("--traffic window=65537", "1 to 65536 frames"),
    ("--traffic window=", "window=FRAMES"),
    ("--traffic window=8 --ports 1", "use two ports"),
    ("--traffic window=8 --verify off", "use two ports"),
    ("--traffic window=8 --cable 0:1", "use two ports"),
    ("--size 59", "60 to 1514 bytes"),
    ("--size 1515", "60 to 1514 bytes"),
    ("--size 100-60", "at least one"),
    ("--size x", "MIN-MAX"),
    ("--flows 0", "1 to 60000"),
    ("--verify some", "full, sequence, off"),
    ("--expect touch@", "touch@N"),
    ("--expect touch@-1", "touch@N"),
    ("--expect touch@60", "0 to 59"),
    ("--expect macswap", "touch@N"),
    ("--cable 0", "two port numbers"),
    ("--cable 0:7", "numbered 0 to 1"),
    ("--ports 3 --cable 0:1 --cable 1:2", "has a cable already"),
    ("--wire pcap=a", "one comma"),
    ("--wire pcap=,", "at least one file"),
    ("--wire pcap=a,b,c", "one comma"),
    ("--wire tap=", "1 to 15 letters"),
    ("--wire tap=a/b", "1 to 15 letters"),
    ("--wire tap=0123456789abcdef", "1 to 15 letters"),
    ("--wire tap=..", "1 to 15 letters"),
    ("--wire x:tap=a", "tap=NAME"),
    ("--wire 2:tap=a", "numbered 0 to 1"),
    ("--wire 0:tap=a --wire 0:tap=b", "a wire already"),
    ("--wire tap=a --wire tap=b --wire tap=c", "numbered 0 to 1"),
    ("--wire tap=a --wire tap=a", "has this interface"),
    ("--wire tap=a --cable 0:1", "remove one of the two"),
    ("--wire pcap=a, --cable 0:1", "remove one of the two"),
    ("--wire tap=a --traffic saturate", "choose traffic off"),
    ("--wire pcap=,a --wire pcap=,a", "the file OUT too"),
    ("--wire pcap=a,b --wire pcap=c,a", "the file OUT too"),
    ("--module lr", "dac, sr, none"),
    ("--module sr --device-id 1528", "no SFP+ cage"),
    ("--link-speed 40g", "100m, 1g, 2.5g, 5g, 10g"),
    ("--link-speed 2.5g", "no links of 2500 Mbit/s"),
    (
        "--device-id 1563 --link-attempts 2",
        "does not depend on resets",
    ),
    ("--device-id 1572", "82599"),
    ("--device-id x", "hexadecimal"),
    ("--left-behind laser-on", "rate-limited=MBIT"),
    ("--left-behind laser-off", "only the optical module"),
    ("--left-behind phy-off", "no copper PHY"),
    ("--left-behind link-disabled --device-id 1563", "no AUTOC2"),
    ("--left-behind rate-limited=9", "10 to 10000 Mbit/s"),
    ("--left-behind rate-limited=x", "10 to 10000 Mbit/s"),
    ("--fault other", "interrupt-storm"),
    ("--hardware other", "datasheet or differs"),
    ("--hardware none.toml", "cannot read"),
    ("--hardware DIR/two.toml", "must have one table"),
    ("--hardware DIR/typo.toml", "slow-counters"),
    ("--latency", "add --traffic rate=MPPS"),
    ("--latency --traffic saturate", "use rate=MPPS"),
    (
        "--latency --traffic rate=1 --verify off",
        "verify full or sequence",
    ),
    ("--latency --traffic rate=1 --cable 0:1", "remove the cable"),
    ("--latency-after 1", "--latency"),
    ("--duration x", "number of seconds"),
    ("--turns", "--control"),
    ("--control c --turns --traffic rate=1", "has no clock"),
    ("--burst rounds=0", "rounds=N"),
    ("--burst bursts=100001", "rounds=N"),
    ("--burst seed=x", "rounds=N"),
    ("--burst saturate=-1", "rounds=N"),
    ("--burst n=3", "rounds=N"),
    ("--burst default --ports 1", "choose --ports 2"),
    ("--burst default --mmio trap", "choose --mmio shared"),
    ("--burst default --traffic saturate", "choose --traffic off"),
    ("--burst default --cable 0:1", "remove cables and wires"),
    ("--burst default --placement l4", "warm, l3, memory"),
    ("--data-plane-cpus 0,1", "2 processors"),
];

#[test]
fn wrong_settings_are_refused_with_the_valid_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("two.toml"), "[a]\n[b]").unwrap();
    std::fs::write(folder.path().join("typo.toml"), "[mine]\nslow = true").unwrap();
    for (arguments, expected) in WRONG {
        let arguments = arguments.replace("DIR", path);
        let (status, text) = run(&format!("--socket-dir {path}/nowhere {arguments}"));
        assert_eq!(status, Some(2), "{arguments}: {text}");
        assert!(text.contains(expected), "{arguments}: {text}");
    }
    assert_eq!(run("").0, Some(2), "the folder is missing");
}

#[test]
fn settings_that_fit_together_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::write(
        folder.path().join("mine.toml"),
        "[mine]\nslow-counters = true",
    )
    .unwrap();
    for arguments in [
        "--traffic window=8 --size 60-62 --expect touch@48",
        "--traffic rate=1.5 --size 60,1514 --latency --latency-after 1",
        "--expect mac --verify sequence --cable 0:1 --cpu 0",
        "--ports 4 --data-plane-cpus 0,0",
        "--module sr --left-behind laser-off,link-disabled,rate-limited=100 --link-attempts 2 --link-delay 0.5",
        "--device-id 1563 --left-behind phy-off --link-speed 2.5g",
        "--hardware DIR/mine.toml --fault stall --fault no-link",
        "--wire 1:pcap=,DIR/a:b --wire pcap=,DIR/c --mmio trap --trace DIR/trace",
        "--burst rounds=2,bursts=10,seed=7,saturate=0.5 --placement warm,memory",
    ] {
        let arguments = arguments.replace("DIR", path);
        let (status, text) = run(&format!("--socket-dir {path}/sockets --duration 0.01 {arguments}"));
        assert_eq!(status, Some(0), "{arguments}: {text}");
    }
}

#[test]
fn what_fails_at_run_time_has_another_status_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let long = "x".repeat(200);
    for (arguments, expected) in [
        ("--socket-dir /proc/nowhere", "choose a directory"),
        (
            &*format!("--socket-dir {path}/{long} --duration 0"),
            "choose another directory",
        ),
        (
            "--socket-dir DIR --duration 60 --json /nonexistent/report.json",
            "writing",
        ),
        ("--socket-dir DIR --wire pcap=/nowhere,", "pcap /nowhere"),
        ("--socket-dir DIR --wire pcap=/dev/null,", "pcap /dev/null"),
        ("--socket-dir DIR --wire pcap=,/dev/full", "pcap /dev/full"),
    ] {
        let start = Instant::now();
        let (status, text) = run(&arguments.replace("DIR", path));
        assert_eq!(status, Some(1), "{arguments}: {text}");
        assert!(text.contains(expected), "{arguments}: {text}");
        assert!(start.elapsed() < Duration::from_secs(30), "before the run");
    }
}

#[test]
fn recorded_frames_cross_a_driver_into_a_file() {
    for (signal, mmio) in [(Signal::INT, "shared"), (Signal::TERM, "trap")] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let frames: Vec<_> = (0..300_usize)
            .map(|number| frame(60 + number * 7 % 1455, number as u8))
            .collect();
        let mut writer = PcapWriter::new(File::create(path("in")).unwrap()).unwrap();
        for frame in &frames {
            let packet = PcapPacket::new(Duration::ZERO, frame.len() as u32, frame);
            writer.write_packet(&packet).unwrap();
        }
        drop(writer);
        let wire = format!("pcap={},{}", path("in").display(), path("out").display());
        let mut card = Card::start(&format!(
            "--mmio {mmio} --wire {wire} --json DIR/report.json"
        ));
        // The rings are far smaller than the file, and the card drops frames without descriptors.
        let mut driver = card.driver(0);
        for (number, frame) in frames.iter().enumerate() {
            let mut received = None;
            eventually(&format!("frame {number} arrives"), || {
                received = driver.receive();
                received.is_some()
            });
            assert!(received.as_ref() == Some(frame), "frame {number}");
            let slot = driver.transmit(frame);
            eventually("a frame leaves", || driver.tx_done(slot));
        }
        driver.stop();
        assert_eq!(card.end(signal).0, Some(0));
        let mut reader = PcapReader::new(File::open(path("out")).unwrap()).unwrap();
        assert_eq!(reader.header().ts_resolution, TsResolution::NanoSecond);
        let mut recorded = Vec::new();
        while let Some(packet) = reader.next_packet() {
            recorded.push(packet.unwrap().data.into_owned());
        }
        assert!(recorded == frames, "{} frames", recorded.len());
        let port = &card.report()["ports"][0];
        let counters = [
            "delivered",
            "transmitted",
            "left_in_pcap",
            "dropped_no_descriptor",
        ];
        assert_eq!(
            counters.map(|counter| port[counter].as_u64()),
            [300, 300, 0, 0].map(Some)
        );
    }
}

#[test]
fn the_version_is_that_of_the_workspace() {
    let output = command("--version").output().unwrap();
    let expected = format!("nic {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn the_report_has_the_latency_of_each_port_and_of_all_ports() {
    let mut card =
        Card::start("--traffic rate=0.01 --latency --latency-after 0.005 --json DIR/report.json");
    let (mut a, mut b) = (card.driver(0), card.driver(1));
    let mut sent = 0;
    eventually("frames arrive", || {
        while let Some(frame) = a.receive() {
            b.transmit(&support::touched(&frame));
            sent += 1;
        }
        sent > 200
    });
    a.stop();
    b.stop();
    let (status, text) = card.end(Signal::INT);
    assert_eq!(status, Some(0));
    assert!(text.contains("all ports: latency in us: min "), "{text}");
    let report = card.report();
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
