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
use pcap_writer::PcapWriter;
use port::{run_on_port, Run};
use program::{parse_number, parse_packets, run_program, CommonOptions};
use serde::Serialize;

/// The smallest file of a row: its header and a record with a whole frame fit.
const MIN_ROTATE_SIZE: u64 = 4096;

/// A reader of the file sees the frames within this time.
const FLUSH: Duration = Duration::from_secs(1);

/// Records the frames that a device receives, in the pcap format with nanoseconds. The frames of a batch have
/// one time. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(version)]
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
    let must = "--snap must be a number of bytes";
    parse_number(text, 14..=MAX_SIZE as u64, must)
}

fn parse_rotate_size(text: &str) -> Result<u64, String> {
    let must = "--rotate-size must be a number of bytes";
    parse_number(text, MIN_ROTATE_SIZE..=u32::MAX.into(), must)
}

fn parse_files(text: &str) -> Result<u32, String> {
    parse_number(text, 1..=99999, "--files must be a number")
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
    let sizes = packets.iter().map(|packet| packet.size() as u64);
    totals.rx += received as u64;
    totals.rx_bytes += sizes.sum::<u64>();
    if let (Some(writer), true) = (writer, received > 0) {
        let time = wall_time();
        for packet in packets.iter() {
            let size = packet.size();
            totals.snapped += u64::from(size > writer.snap());
            writer.put(size, time, |bytes| packet.read_at(0, bytes))?;
        }
    }
    packets.clear();
    Ok(received)
}

/// Records until the end of the run. The totals are valid even after an error.
fn capture(
    device: &mut Device<'_>,
    writer: &mut Option<PcapWriter>,
    options: &Options,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let mut packets = Vec::with_capacity(options.common.batch);
    let mut run = Run::start(&options.device, device, options.packets, &options.common)?;
    let mut flushed = Instant::now();

    while run.goes_on(device, |device, count| {
        capture_turn(device, writer, count, &mut packets, totals)
    })? {
        if let (Some(writer), true) = (&mut *writer, flushed.elapsed() >= FLUSH) {
            writer.flush()?;
            flushed = Instant::now();
        }
    }
    (totals.seconds, totals.tsc_cycles) = run.elapsed();
    Ok(())
}

/// Records, and completes the totals.
fn capture_until_end(
    device: &mut Device<'_>,
    writer: &mut Option<PcapWriter>,
    options: &Options,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let ran = capture(device, writer, options, totals);
    let stats = device.queue_stats_read(0);
    let flushed = writer.as_mut().map_or(Ok(()), PcapWriter::flush);
    if let Some(writer) = &writer {
        totals.written = writer.frames();
        totals.files = writer.files();
    }
    totals.dropped = stats.as_ref().map_or(0, |stats| stats.rx_dropped);
    ran?;
    stats?;
    flushed
}

/// Opens the files before the device, so that a wrong path fails before the run.
fn run(options: &Options) -> anyhow::Result<()> {
    let open = |path| PcapWriter::open(path, options.snap, options.rotate_size, options.files);
    let mut writer = options.write.as_deref().map(open).transpose()?;
    run_on_port(&options.device, 0, &options.common, |device, _, totals| {
        capture_until_end(device, &mut writer, options, totals)
    })
}

fn main() -> ExitCode {
    run_program(Options::check, run)
}
