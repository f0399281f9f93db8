//! ixgbe-capture: records what a device receives.
#![forbid(unsafe_code)]

mod pcap_writer;
mod port;
mod program;
mod rates;

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use ixgbe::driver::device::Device;
use ixgbe::driver::mempool::Packet;
use pcap_writer::{PcapOptions, PcapWriter};
use port::{run_on_port, PortOptions, Run};
use program::{parse_packets, run_program};
use serde::Serialize;

/// A reader of the file sees the frames within this time.
const FLUSH: Duration = Duration::from_secs(1);

/// Records the frames that a device receives, in the pcap format with nanoseconds. The frames of a batch have
/// one time. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    pcap: PcapOptions,

    #[command(flatten)]
    port: PortOptions,

    /// End after N received packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,
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
    writer: &mut Option<PcapWriter<'_>>,
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
            let snapped = writer.put(size, time, |bytes| packet.read_at(0, bytes))?;
            totals.snapped += u64::from(snapped);
        }
    }
    packets.clear();
    Ok(received)
}

/// Records until the end of the run. The totals are valid even after an error.
fn capture(
    device: &mut Device<'_>,
    writer: &mut Option<PcapWriter<'_>>,
    options: &Options,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let mut packets = Vec::with_capacity(options.port.common.batch);
    let mut run = Run::start(&options.port, device, options.packets)?;
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
    writer: &mut Option<PcapWriter<'_>>,
    options: &Options,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let ran = capture(device, writer, options, totals);
    let stats = device.queue_stats_read(0);
    let flushed = writer.as_mut().map_or(Ok(()), PcapWriter::flush);
    if let Some(writer) = &writer {
        totals.written = writer.frames;
        totals.files = writer.number;
    }
    totals.dropped = stats.as_ref().map_or(0, |stats| stats.rx_dropped);
    ran?;
    stats?;
    flushed
}

/// Opens the files before the device, so that a wrong path fails before the run.
fn run(options: &Options) -> anyhow::Result<()> {
    let mut writer = PcapWriter::open(&options.pcap)?;
    run_on_port(&options.port, 0, |device, _, totals| {
        capture_until_end(device, &mut writer, options, totals)
    })
}

fn main() -> ExitCode {
    run_program(|options: &Options| options.pcap.check(), run)
}
