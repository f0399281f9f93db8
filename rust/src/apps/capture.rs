//! ixgbe-capture: records what a device receives.
#![forbid(unsafe_code)]

mod pcap_writer;
mod port;
mod program;
mod rates;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use ixgbe::driver::device::Device;
use ixgbe::driver::mempool::{Packet, MAX_SIZE};
use ixgbe::vfio::Container;
use pcap_writer::PcapWriter;
use port::{turns_per_look, Port, Run};
use program::{json_open, json_write, parse_number, parse_packets, run_program, CommonOptions};
use serde::Serialize;

/// The smallest file of a row: its header and a record with a whole frame fit.
const MIN_ROTATE_SIZE: u64 = 4096;

/// A reader of the file sees the frames within this time.
const FLUSH: Duration = Duration::from_secs(1);

/// Records the frames that a device receives, in the pcap format with nanoseconds. The frames of a batch have
/// one time. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(
    name = "ixgbe-capture",
    version,
    max_term_width = 80,
    infer_long_args = true,
    args_override_self = true
)]
struct Options {
    /// Record to FILE; without it, frames are only counted
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Record at most so many bytes of a frame, 14 to 1984
    #[arg(long, value_name = "BYTES", default_value_t = MAX_SIZE, value_parser = parse_snap)]
    snap: usize,

    /// Begin another file before one has more bytes than this, from 4096 on; the files are FILE-00001,
    /// FILE-00002, with the ending of FILE
    #[arg(long, value_name = "BYTES", value_parser = parse_rotate_size)]
    rotate_size: Option<u64>,

    /// Keep the newest N files only; needs --rotate-size
    #[arg(long, value_name = "N", value_parser = parse_files)]
    files: Option<u32>,

    #[command(flatten)]
    common: CommonOptions,

    /// End after N received packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device: String,
}

impl Options {
    /// Says what is wrong with options that parse.
    fn check(&self) -> Result<(), String> {
        if self.rotate_size.is_some() && self.write.is_none() {
            return Err("--rotate-size needs --write FILE".to_owned());
        }
        if self.files.is_some() && self.rotate_size.is_none() {
            return Err("--files needs --rotate-size BYTES".to_owned());
        }
        Ok(())
    }
}

fn parse_snap(text: &str) -> Result<usize, String> {
    parse_number(text, 14, MAX_SIZE as u64)
        .map(|snap| snap as usize)
        .ok_or_else(|| format!("--snap must be a number of bytes from 14 to {MAX_SIZE}"))
}

fn parse_rotate_size(text: &str) -> Result<u64, String> {
    parse_number(text, MIN_ROTATE_SIZE, u32::MAX.into()).ok_or_else(|| {
        format!(
            "--rotate-size must be a number of bytes from {MIN_ROTATE_SIZE} to {}",
            u32::MAX
        )
    })
}

fn parse_files(text: &str) -> Result<u32, String> {
    parse_number(text, 1, 99999)
        .map(|files| files as u32)
        .ok_or_else(|| "--files must be a number from 1 to 99999".to_owned())
}

/// The results of a run, in packets.
#[derive(Default, Serialize)]
struct Totals {
    rx: u64,
    /// Without CRC.
    rx_bytes: u64,
    written: u64,
    /// Frames that are recorded in part.
    snapped: u64,
    /// By the card, because the RX ring was full.
    dropped: u64,
    files: u32,
    seconds: f64,
    tsc_cycles: u64,
}

/// Since 1970.
fn wall_time() -> Duration {
    // A clock before 1970 is wrong, and counts as 1970.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Records a batch of at most `count` packets. Returns their number.
fn capture_turn<'p>(
    device: &mut Device<'p>,
    writer: &mut Option<PcapWriter>,
    count: usize,
    packets: &mut Vec<Packet<'p>>,
    totals: &mut Totals,
) -> anyhow::Result<usize> {
    let received = device.rx_batch(0, packets, count)?;
    let mut result = Ok(());

    totals.rx += received as u64;
    totals.rx_bytes += packets
        .iter()
        .map(|packet| packet.size() as u64)
        .sum::<u64>();
    if let (Some(writer), true) = (writer, received > 0) {
        let time = wall_time();
        for packet in packets.iter() {
            let size = packet.size();
            totals.snapped += u64::from(size > writer.snap());
            result = writer.put(size, time, |bytes| packet.read_at(0, bytes));
            if result.is_err() {
                break;
            }
        }
    }
    packets.clear();
    result.map(|()| received)
}

/// Records until the end of the run. The totals are valid even after an error.
fn capture(
    device: &mut Device<'_>,
    writer: &mut Option<PcapWriter>,
    options: &Options,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let batch = options.common.batch;
    let mut packets = Vec::with_capacity(batch);
    let turns = turns_per_look(device);
    let mut left = options.packets.unwrap_or(u64::MAX);
    let mut run = Run::start(&options.device, options.common.duration)?;
    let mut flushed = Instant::now();
    let mut ended = false;

    while left > 0 && !ended {
        for _ in 0..turns {
            let count = usize::try_from(left).map_or(batch, |left| left.min(batch));
            if count == 0 {
                break;
            }
            left -= capture_turn(device, writer, count, &mut packets, totals)? as u64;
        }
        ended = run.look(device)?;
        if let (Some(writer), true) = (&mut *writer, flushed.elapsed() >= FLUSH) {
            writer.flush()?;
            flushed = Instant::now();
        }
    }
    (totals.seconds, totals.tsc_cycles) = run.elapsed();
    Ok(())
}

/// Opens the device, records, and closes it.
fn capture_until_end(options: &Options) -> anyhow::Result<()> {
    let common = &options.common;
    // Opens the files first, so that a wrong path fails before the run.
    let json = json_open(common.json.as_deref())?;
    let mut writer = options
        .write
        .as_ref()
        .map(|path| PcapWriter::open(path, options.snap, options.rotate_size, options.files))
        .transpose()?;
    let container = Container::with_connect_timeout(common.connect_timeout_ms());
    let port = Port::open("ixgbe-capture", &container, &options.device, 1, 1, common)?;
    let mut device = port.start()?;
    let mut totals = Totals::default();

    let ran = capture(&mut device, &mut writer, options, &mut totals);
    let stats = device.queue_stats_read(0);
    let stopped = device.stop_queues();
    let flushed = writer.as_mut().map_or(Ok(()), PcapWriter::flush);
    if let Some(writer) = &writer {
        totals.written = writer.frames();
        totals.files = writer.files();
    }
    totals.dropped = stats.as_ref().map_or(0, |stats| stats.rx_dropped);
    json_write(json, common.json.as_deref(), &totals)?;
    ran?;
    stats?;
    stopped?;
    flushed
}

fn main() -> ExitCode {
    run_program(Options::check, capture_until_end)
}
