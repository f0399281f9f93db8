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
use pcap_file::{pcap_load, Recording};
use port::{run_on_port, PortOptions, Run};
use program::{parse_decimal, parse_number, parse_packets, run_program};
use serde::Serialize;
use token_bucket::{parse_rate, TokenBucket};

/// The largest frame without CRC: with a VLAN tag.
const MAX_FRAME: usize = 1518;

// The factors of --speed.
const MIN_SPEED: f64 = 0.001;
const MAX_SPEED: f64 = 1000.0;

/// A frame that is sent so much after its time is late.
const LATE_NANOSECONDS: u64 = 1_000_000;

/// Sends the frames of a pcap file on a device, with the pauses between them. Checks the whole file first.
/// Drops what the device receives. Ends after the last frame, on SIGINT or SIGTERM, after N packets, or
/// after S seconds.
#[derive(Debug, Parser)]
#[command(version)]
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

    /// Classic pcap with whole Ethernet frames, up to 2 GiB
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    port: PortOptions,

    /// End after N sent packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,
}

impl Options {
    /// Whether frames have a time: neither a rate nor the device's speed.
    fn timed(&self) -> bool {
        self.rate.is_none() && !self.fast
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    parse_decimal(text)
        .filter(|speed| (MIN_SPEED..=MAX_SPEED).contains(speed))
        .ok_or_else(|| "--speed must be a number from 0.001 to 1000".to_owned())
}

fn parse_loops(text: &str) -> Result<u64, String> {
    parse_number(text, 1..=1_000_000_000, "--loops must be a number")
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

/// What is sent, and where it is.
struct Replay<'p, 'o> {
    pool: &'p Mempool,
    recording: &'o Recording,
    options: &'o Options,
    position: Position,
    packets: Vec<Packet<'p>>,
}

impl<'p> Replay<'p, '_> {
    /// When the frame at a position is due, in nanoseconds since the start.
    fn due_time(&self, position: Position) -> u64 {
        position.due_time(self.recording, self.options.speed.unwrap_or(1.0))
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
    fn send_due(
        &mut self,
        device: &mut Device<'p>,
        count: usize,
        now: u64,
        totals: &mut Totals,
    ) -> ixgbe::error::Result<usize> {
        let timed = self.options.timed();
        let mut position = self.position;

        while self.packets.len() < count {
            let waits = timed && self.due_time(position) > now;
            if waits || !self.fill_packet(position) {
                break;
            }
            position.step(self.recording);
        }
        let sent = device.tx_batch(0, &mut self.packets)?;
        self.packets.clear();
        // Counts those that were sent. The next one is the first that was not.
        for _ in 0..sent {
            if timed {
                let late = now - self.due_time(self.position);
                totals.late += u64::from(late > LATE_NANOSECONDS);
                totals.max_late_seconds = totals.max_late_seconds.max(late as f64 / 1e9);
            }
            totals.tx_bytes += self.recording.frame(self.position.next).len() as u64;
            self.position.step(self.recording);
        }
        Ok(sent)
    }

    /// Sends until the end of the run. The totals are valid even after an error.
    fn send_all(&mut self, device: &mut Device<'p>, totals: &mut Totals) -> anyhow::Result<()> {
        let options = self.options;
        let batch = options.port.common.batch;
        let all = options.loops * self.recording.count() as u64;
        let packets = options.packets.unwrap_or(u64::MAX).min(all);
        let mut run = Run::start(&options.port, device, Some(packets))?;
        let start = Instant::now();
        let mut bucket = options.rate.map(|rate| TokenBucket::new(rate, batch, 0));

        while run.goes_on(device, |device, mut count| {
            let now = start.elapsed().as_nanos() as u64;
            if let Some(bucket) = &mut bucket {
                count = bucket.take(now, count);
            }
            let sent = self.send_due(device, count, now, totals)?;
            if let Some(bucket) = &mut bucket {
                bucket.give_back(count - sent);
            }
            totals.tx += sent as u64;
            // What the device has received is dropped, so that a loop in the cable does not fill the ring.
            totals.rx += device.rx_batch(0, &mut self.packets, batch)? as u64;
            self.packets.clear();
            Ok(sent)
        })? {}
        totals.loops = self.position.loops;
        (totals.seconds, totals.tsc_cycles) = run.elapsed();
        Ok(())
    }
}

/// Reads the file before the device is opened, so that a wrong one fails first.
fn run(options: &Options) -> anyhow::Result<()> {
    let recording = pcap_load(&options.file, MAX_FRAME)?;
    run_on_port(&options.port, 1, |device, pools, totals| {
        let mut replay = Replay {
            pool: &pools[0],
            recording: &recording,
            options,
            position: Position::default(),
            packets: Vec::with_capacity(options.port.common.batch),
        };
        replay.send_all(device, totals)
    })
}

fn main() -> ExitCode {
    run_program(|_| Ok(()), run)
}
