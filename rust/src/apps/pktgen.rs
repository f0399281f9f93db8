//! ixgbe-pktgen: sends packets at a rate, or as fast as the device takes them.
#![forbid(unsafe_code)]

mod flow_packet;
mod pcap_file;
mod port;
mod program;
mod rates;
mod token_bucket;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::anyhow;
use clap::Parser;
use flow_packet::{
    flow_packet_fill, flow_packet_port, MAX_FLOWS, MAX_SIZE, MIN_SIZE, SEQUENCE, UDP_SOURCE_PORT,
};
use ixgbe::driver::device::{Device, MAX_QUEUES};
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::error::Result;
use ixgbe::vfio::Container;
use pcap_file::pcap_read_first;
use port::{pools_create, turns_per_look, Port, Run};
use program::{json_open, json_write, parse_number, parse_packets, run_program, CommonOptions};
use serde::Serialize;
use token_bucket::{parse_rate, TokenBucket};

/// Sends packets on a device: UDP in IPv4. The first 8 bytes of the payload are the packet's number in its
/// flow. Drops what the device receives. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(
    name = "ixgbe-pktgen",
    version,
    max_term_width = 80,
    infer_long_args = true,
    args_override_self = true
)]
struct Options {
    /// Packets a second, such as 250000, 10k or 1.5M [default: as many as the device takes]; a batch is the
    /// largest burst
    #[arg(long, value_name = "PPS", value_parser = parse_rate)]
    rate: Option<u64>,

    /// Bytes of a frame without CRC, 60 to 1514 [default: 60]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    size: Option<usize>,

    /// Flows, 1 to 65535, in turn; each has a UDP source port [default: one for each queue]
    #[arg(long, value_name = "N", value_parser = parse_flows)]
    flows: Option<u32>,

    /// Send the first frame of this pcap file instead, unchanged
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// TX queues, 1 to 16, in turn; flow i uses queue i modulo N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_queues)]
    queues: u32,

    #[command(flatten)]
    common: CommonOptions,

    /// End after N sent packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device: String,
}

impl Options {
    /// Says what is wrong with options that parse.
    fn check(&self) -> std::result::Result<(), String> {
        if self.template.is_some() && (self.size.is_some() || self.flows.is_some()) {
            let message =
                "--template sends the recorded frame unchanged; leave out --size and --flows";
            return Err(message.to_owned());
        }
        if self.template.is_none() && self.flows() < self.queues {
            let message =
                "each queue needs a flow, because a flow uses one queue: raise --flows to the \
                           number of --queues";
            return Err(message.to_owned());
        }
        Ok(())
    }

    fn flows(&self) -> u32 {
        self.flows.unwrap_or(self.queues)
    }
}

fn parse_size(text: &str) -> std::result::Result<usize, String> {
    parse_number(text, MIN_SIZE as u64, MAX_SIZE as u64)
        .map(|size| size as usize)
        .ok_or_else(|| format!("--size must be a number of bytes from {MIN_SIZE} to {MAX_SIZE}"))
}

fn parse_flows(text: &str) -> std::result::Result<u32, String> {
    parse_number(text, 1, MAX_FLOWS.into())
        .map(|flows| flows as u32)
        .ok_or_else(|| format!("--flows must be a number from 1 to {MAX_FLOWS}"))
}

fn parse_queues(text: &str) -> std::result::Result<u32, String> {
    parse_number(text, 1, MAX_QUEUES.into())
        .map(|queues| queues as u32)
        .ok_or_else(|| format!("--queues must be a number from 1 to {MAX_QUEUES}"))
}

/// The results of a run, in packets.
#[derive(Default, Serialize)]
struct Totals {
    tx: u64,
    /// Without CRC.
    tx_bytes: u64,
    rx: u64,
    seconds: f64,
    tsc_cycles: u64,
    /// Sent on each TX queue. Only if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queues: Vec<u64>,
}

/// The generator and what it sends.
struct Generator<'p> {
    device: Device<'p>,
    /// `pools[i]` feeds TX queue i, and nothing else.
    pools: &'p [Mempool],
    /// `None` if the frame has neither flow nor sequence number.
    flows: Option<u32>,
    /// Packets on each TX queue.
    sent: Vec<u64>,
    packets: Vec<Packet<'p>>,
}

/// Writes the frame to all buffers of a pool. The pool feeds only one TX queue, and the device does not write
/// to what it sends. So a buffer keeps its frame, and needs new numbers only.
fn prefill(pool: &Mempool, frame: &[u8]) -> anyhow::Result<()> {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    for packet in &mut packets {
        if !packet.set_size(frame.len()) || !packet.write_at(0, frame) {
            return Err(anyhow!("a frame of {} bytes does not fit", frame.len()));
        }
    }
    Ok(())
}

/// Writes flow and sequence number of packet `nth` of a queue. Flow i uses queue i modulo the queues, so that
/// its packets stay in order. The flows of a queue take turns, and each has its own sequence.
fn number_packet(packet: &mut Packet<'_>, flows: u32, queues: u32, queue: u32, nth: u64) {
    let own = u64::from((flows - queue).div_ceil(queues));
    let flow = queue + queues * (nth % own) as u32;

    // Every frame with numbers has room for them.
    let _ = packet.write_at(UDP_SOURCE_PORT, &flow_packet_port(flow));
    let _ = packet.write_at(SEQUENCE, &(nth / own).to_be_bytes());
}

impl<'p> Generator<'p> {
    /// Sends at most `count` packets on a queue. Returns the number of sent packets.
    fn send_batch(&mut self, queue: usize, count: usize) -> Result<usize> {
        let Self { device, pools, .. } = self;
        let queues = self.sent.len() as u32;

        for nth in (self.sent[queue]..).take(count) {
            let Some(mut packet) = pools[queue].alloc() else {
                break;
            };
            if let Some(flows) = self.flows {
                number_packet(&mut packet, flows, queues, queue as u32, nth);
            }
            self.packets.push(packet);
        }
        let sent = device.tx_batch(queue, &mut self.packets)?;
        self.packets.clear();
        self.sent[queue] += sent as u64;
        Ok(sent)
    }

    /// Takes what the device has received, so that a loop in the cable does not fill the ring.
    fn drop_received(&mut self, batch: usize) -> Result<usize> {
        let received = self.device.rx_batch(0, &mut self.packets, batch)?;
        self.packets.clear();
        Ok(received)
    }

    /// Sends until the end of the run. The totals are valid even after an error.
    fn generate(
        &mut self,
        options: &Options,
        frame_size: usize,
        totals: &mut Totals,
    ) -> anyhow::Result<()> {
        let batch = options.common.batch;
        let turns = turns_per_look(&self.device);
        let mut left = options.packets.unwrap_or(u64::MAX);
        let mut queue = 0;
        let mut ended = false;
        let mut run = Run::start(&options.device, options.common.duration)?;
        let start = Instant::now();
        let mut bucket = options.rate.map(|rate| TokenBucket::new(rate, batch, 0));

        while left > 0 && !ended {
            for _ in 0..turns {
                let mut count = usize::try_from(left).map_or(batch, |left| left.min(batch));
                if left == 0 {
                    break;
                }
                if let Some(bucket) = &mut bucket {
                    count = bucket.take(start.elapsed().as_nanos() as u64, count);
                }
                let sent = self.send_batch(queue, count)?;
                if let Some(bucket) = &mut bucket {
                    bucket.give_back(count - sent);
                }
                left -= sent as u64;
                totals.tx += sent as u64;
                totals.tx_bytes += (sent * frame_size) as u64;
                totals.rx += self.drop_received(batch)? as u64;
                queue = (queue + 1) % self.sent.len();
            }
            ended = run.look(&mut self.device)?;
        }
        (totals.seconds, totals.tsc_cycles) = run.elapsed();
        Ok(())
    }
}

/// Opens the device, sends, and closes it.
fn generate_until_end(options: &Options) -> anyhow::Result<()> {
    let common = &options.common;
    // Reads the file first, so that a wrong one fails before the device is opened.
    let template = options
        .template
        .as_ref()
        .map(|path| pcap_read_first(path, MAX_SIZE))
        .transpose()?;
    let json = json_open(common.json.as_deref())?;
    let container = Container::with_connect_timeout(common.connect_timeout_ms());
    let port = Port::open(
        "ixgbe-pktgen",
        &container,
        &options.device,
        1,
        options.queues,
        common,
    )?;
    let pools = pools_create(&container, options.queues, common)?;
    let device = port.start()?;
    let flows = template.is_none().then(|| options.flows());
    let frame = match template {
        Some(frame) => frame,
        None => flow_packet_fill(options.size.unwrap_or(MIN_SIZE), device.mac_read()?),
    };
    pools.iter().try_for_each(|pool| prefill(pool, &frame))?;
    let mut totals = Totals::default();
    let mut generator = Generator {
        device,
        pools: &pools,
        flows,
        sent: vec![0; options.queues as usize],
        packets: Vec::with_capacity(common.batch),
    };

    let ran = generator.generate(options, frame.len(), &mut totals);
    let stopped = generator.device.stop_queues();
    if options.queues > 1 {
        totals.queues = generator.sent.clone();
    }
    json_write(json, common.json.as_deref(), &totals)?;
    ran?;
    stopped?;
    Ok(())
}

fn main() -> ExitCode {
    run_program(Options::check, generate_until_end)
}
