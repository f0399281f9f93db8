//! ixgbe-replay: sends the frames of a pcap file, at the recorded or at another speed.
#![forbid(unsafe_code)]

mod pcap_file;
mod port;
mod program;
mod rates;
mod token_bucket;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use ixgbe::driver::device::Device;
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::error::Result;
use ixgbe::vfio::Container;
use pcap_file::{pcap_load, Recording};
use port::{pools_create, turns_per_look, Port, Run};
use program::{json_open, json_write, parse_number, parse_packets, run_program, CommonOptions};
use serde::Serialize;
use token_bucket::{parse_rate, TokenBucket};

/// The largest frame without CRC: with a VLAN tag.
const MAX_FRAME: usize = 1518;

const MAX_LOOPS: u64 = 1_000_000_000;

// The factors of --speed.
const MIN_SPEED: f64 = 0.001;
const MAX_SPEED: f64 = 1000.0;

/// A frame that is sent so much after its time is late.
const LATE_NANOSECONDS: u64 = 1_000_000;

/// Sends the frames of a pcap file on a device, with the pauses between them. Checks the whole file first.
/// Drops what the device receives. Ends after the last frame, on SIGINT or SIGTERM, after N packets, or
/// after S seconds.
#[derive(Debug, Parser)]
#[command(
    name = "ixgbe-replay",
    version,
    max_term_width = 80,
    infer_long_args = true,
    args_override_self = true
)]
struct Options {
    /// X times the recorded speed, 0.001 to 1000 [default: 1]
    #[arg(long, value_name = "X", value_parser = parse_speed, conflicts_with_all = ["rate", "fast"])]
    speed: Option<f64>,

    /// Packets a second instead, such as 250000, 10k or 1.5M
    #[arg(long, value_name = "PPS", value_parser = parse_rate, conflicts_with = "fast")]
    rate: Option<u64>,

    /// As fast as the device takes them
    #[arg(long)]
    fast: bool,

    /// Send the file N times, up to 1000000000
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_loops)]
    loops: u64,

    #[command(flatten)]
    common: CommonOptions,

    /// End after N sent packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,

    /// Classic pcap with whole Ethernet frames, up to 2 GiB
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device: String,
}

impl Options {
    /// Whether frames have a time: neither a rate nor the device's speed.
    fn timed(&self) -> bool {
        self.rate.is_none() && !self.fast
    }
}

fn parse_speed(text: &str) -> std::result::Result<f64, String> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then_some(text)
        .filter(|text| text.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
        .and_then(|text| text.parse().ok())
        .filter(|speed| (MIN_SPEED..=MAX_SPEED).contains(speed))
        .ok_or_else(|| "--speed must be a number from 0.001 to 1000".to_owned())
}

fn parse_loops(text: &str) -> std::result::Result<u64, String> {
    parse_number(text, 1, MAX_LOOPS)
        .ok_or_else(|| format!("--loops must be a number from 1 to {MAX_LOOPS}"))
}

/// The results of a run, in packets.
#[derive(Default, Serialize)]
struct Totals {
    tx: u64,
    /// Without CRC.
    tx_bytes: u64,
    rx: u64,
    /// Whole ones.
    loops: u64,
    /// Packets that were sent more than 1 ms after their time.
    late: u64,
    /// The most that one was late.
    max_late_seconds: f64,
    seconds: f64,
    tsc_cycles: u64,
}

/// A place in the frames of all loops.
#[derive(Clone, Copy, Default)]
struct Position {
    /// The frame to send next.
    next: usize,
    /// Loops that are done.
    loops: u64,
}

impl Position {
    fn step(&mut self, recording: &Recording) {
        self.next += 1;
        if self.next == recording.count() {
            self.next = 0;
            self.loops += 1;
        }
    }

    /// When the frame is due, in nanoseconds since the start of the run.
    fn due_time(self, recording: &Recording, speed: f64) -> u64 {
        let loops = self.loops as f64 * loop_time(recording) as f64;
        ((loops + recording.time(self.next) as f64) / speed) as u64
    }
}

/// Nanoseconds from the first frame of a loop to the first one of the next: the last pause is the mean one.
fn loop_time(recording: &Recording) -> u64 {
    let pauses = recording.count() as u64 - 1;
    let last = recording.time(recording.count() - 1);
    last.checked_div(pauses).map_or(0, |mean| last + mean)
}

/// The device, what it sends, and where it is.
struct Replay<'p, 'o> {
    device: Device<'p>,
    pool: &'p Mempool,
    recording: &'o Recording,
    options: &'o Options,
    position: Position,
    packets: Vec<Packet<'p>>,
}

impl Replay<'_, '_> {
    fn speed(&self) -> f64 {
        self.options.speed.unwrap_or(1.0)
    }

    /// Takes a packet and copies the frame at a position to it. Returns false if no packet is free.
    fn fill_packet(&mut self, position: Position) -> bool {
        let frame = self.recording.frame(position.next);
        let Some(mut packet) = self.pool.alloc() else {
            return false;
        };
        // Every buffer has room for the largest frame.
        let filled = packet.set_size(frame.len()) && packet.write_at(0, frame);
        self.packets.push(packet);
        filled
    }

    /// Sends up to `count` frames that are due at `now`, in nanoseconds since the start. Without a speed, all
    /// are. Returns the number of sent packets.
    fn send_due(&mut self, count: usize, now: u64, totals: &mut Totals) -> Result<usize> {
        let (recording, speed) = (self.recording, self.speed());
        let timed = self.options.timed();
        let mut position = self.position;

        while self.packets.len() < count && position.loops < self.options.loops {
            let waits = timed && position.due_time(recording, speed) > now;
            if waits || !self.fill_packet(position) {
                break;
            }
            position.step(recording);
        }
        let sent = self.device.tx_batch(0, &mut self.packets)?;
        self.packets.clear();
        // Counts those that were sent. The next one is the first that was not.
        for _ in 0..sent {
            if timed {
                let late = now - self.position.due_time(recording, speed);
                totals.late += u64::from(late > LATE_NANOSECONDS);
                totals.max_late_seconds = totals.max_late_seconds.max(late as f64 / 1e9);
            }
            totals.tx_bytes += recording.frame(self.position.next).len() as u64;
            self.position.step(recording);
        }
        Ok(sent)
    }

    /// Takes what the device has received, so that a loop in the cable does not fill the ring.
    fn drop_received(&mut self, batch: usize) -> Result<usize> {
        let received = self.device.rx_batch(0, &mut self.packets, batch)?;
        self.packets.clear();
        Ok(received)
    }

    /// Sends until the end of the run. The totals are valid even after an error.
    fn send_all(&mut self, totals: &mut Totals) -> anyhow::Result<()> {
        let options = self.options;
        let batch = options.common.batch;
        let turns = turns_per_look(&self.device);
        let mut left = options.packets.unwrap_or(u64::MAX);
        let mut ended = false;
        let mut run = Run::start(&options.device, options.common.duration)?;
        let start = Instant::now();
        let mut bucket = options.rate.map(|rate| TokenBucket::new(rate, batch, 0));

        while left > 0 && !ended && self.position.loops < options.loops {
            for _ in 0..turns {
                let mut count = usize::try_from(left).map_or(batch, |left| left.min(batch));
                if left == 0 || self.position.loops >= options.loops {
                    break;
                }
                let now = start.elapsed().as_nanos() as u64;
                if let Some(bucket) = &mut bucket {
                    count = bucket.take(now, count);
                }
                let sent = self.send_due(count, now, totals)?;
                if let Some(bucket) = &mut bucket {
                    bucket.give_back(count - sent);
                }
                left -= sent as u64;
                totals.tx += sent as u64;
                totals.rx += self.drop_received(batch)? as u64;
            }
            ended = run.look(&mut self.device)?;
        }
        totals.loops = self.position.loops;
        (totals.seconds, totals.tsc_cycles) = run.elapsed();
        Ok(())
    }
}

/// Opens the device, sends, and closes it.
fn replay_until_end(options: &Options) -> anyhow::Result<()> {
    let common = &options.common;
    // Reads the file first, so that a wrong one fails before the device is opened.
    let recording = pcap_load(&options.file, MAX_FRAME)?;
    let json = json_open(common.json.as_deref())?;
    let container = Container::with_connect_timeout(common.connect_timeout_ms());
    let port = Port::open("ixgbe-replay", &container, &options.device, 1, 1, common)?;
    let pools = pools_create(&container, 1, common)?;
    let device = port.start()?;
    let mut totals = Totals::default();
    let mut replay = Replay {
        device,
        pool: &pools[0],
        recording: &recording,
        options,
        position: Position::default(),
        packets: Vec::with_capacity(common.batch),
    };

    let ran = replay.send_all(&mut totals);
    let stopped = replay.device.stop_queues();
    json_write(json, common.json.as_deref(), &totals)?;
    ran?;
    stopped?;
    Ok(())
}

fn main() -> ExitCode {
    run_program(|_| Ok(()), replay_until_end)
}
