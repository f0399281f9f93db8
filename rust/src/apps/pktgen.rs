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

use clap::Parser;
use flow_packet::{
    flow_packet_fill, flow_packet_port, MAX_FLOWS, MAX_SIZE, MIN_SIZE, SEQUENCE, UDP_SOURCE_PORT,
};
use ixgbe::driver::device::{Device, MAX_QUEUES};
use ixgbe::driver::mempool::{Mempool, Packet};
use pcap_file::pcap_read_first;
use port::{run_on_port, PortOptions, Run};
use program::{parse_number, parse_packets, run_program};
use serde::Serialize;
use token_bucket::{parse_rate, TokenBucket};

/// Sends packets on a device: UDP in IPv4. The first 8 bytes of the payload are the packet's number in its
/// flow. Drops what the device receives. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(version)]
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
    port: PortOptions,

    /// End after N sent packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,
}

impl Options {
    /// Says what is wrong with options that parse.
    fn check(&self) -> Result<(), String> {
        if self.template.is_some() && (self.size.is_some() || self.flows.is_some()) {
            let message =
                "--template sends the recorded frame unchanged; leave out --size and --flows";
            return Err(message.to_owned());
        }
        if self.template.is_none() && self.flows() < self.queues {
            let message = "each queue needs a flow, because a flow uses one queue: raise --flows \
                           to the number of --queues";
            return Err(message.to_owned());
        }
        Ok(())
    }

    fn flows(&self) -> u32 {
        self.flows.unwrap_or(self.queues)
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let range = MIN_SIZE as u64..=MAX_SIZE as u64;
    parse_number(text, range, "--size must be a number of bytes")
}

fn parse_flows(text: &str) -> Result<u32, String> {
    parse_number(text, 1..=MAX_FLOWS.into(), "--flows must be a number")
}

fn parse_queues(text: &str) -> Result<u32, String> {
    parse_number(text, 1..=MAX_QUEUES.into(), "--queues must be a number")
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

/// What the generator sends.
struct Generator<'p> {
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
fn prefill(pool: &Mempool, frame: &[u8]) {
    let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    for packet in &mut packets {
        // Every buffer has room for the largest frame.
        let _ = packet.set_size(frame.len()) && packet.write_at(0, frame);
    }
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
    fn send_batch(
        &mut self,
        device: &mut Device<'p>,
        queue: usize,
        count: usize,
    ) -> ixgbe::error::Result<usize> {
        let queues = self.sent.len() as u32;

        for nth in (self.sent[queue]..).take(count) {
            let Some(mut packet) = self.pools[queue].alloc() else {
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

    /// Sends until the end of the run. The totals are valid even after an error.
    fn generate(
        &mut self,
        device: &mut Device<'p>,
        options: &Options,
        frame_size: usize,
        totals: &mut Totals,
    ) -> anyhow::Result<()> {
        let batch = options.port.common.batch;
        let mut queue = 0;
        let mut run = Run::start(&options.port, device, options.packets)?;
        let start = Instant::now();
        let mut bucket = options.rate.map(|rate| TokenBucket::new(rate, batch, 0));

        while run.goes_on(device, |device, mut count| {
            if let Some(bucket) = &mut bucket {
                count = bucket.take(start.elapsed().as_nanos() as u64, count);
            }
            let sent = self.send_batch(device, queue, count)?;
            if let Some(bucket) = &mut bucket {
                bucket.give_back(count - sent);
            }
            totals.tx += sent as u64;
            totals.tx_bytes += (sent * frame_size) as u64;
            // What the device has received is dropped, so that a loop in the cable does not fill the ring.
            totals.rx += device.rx_batch(0, &mut self.packets, batch)? as u64;
            self.packets.clear();
            queue = (queue + 1) % self.sent.len();
            Ok(sent)
        })? {}
        (totals.seconds, totals.tsc_cycles) = run.elapsed();
        Ok(())
    }
}

/// Prepares the packets and sends them until the end of the run.
fn generate_until_end<'p>(
    device: &mut Device<'p>,
    pools: &'p [Mempool],
    options: &Options,
    template: Option<Vec<u8>>,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let flows = template.is_none().then(|| options.flows());
    let frame = match template {
        Some(frame) => frame,
        None => flow_packet_fill(options.size.unwrap_or(MIN_SIZE), device.mac_read()?),
    };
    pools.iter().for_each(|pool| prefill(pool, &frame));
    let mut generator = Generator {
        pools,
        flows,
        sent: vec![0; pools.len()],
        packets: Vec::with_capacity(options.port.common.batch),
    };

    let ran = generator.generate(device, options, frame.len(), totals);
    if pools.len() > 1 {
        totals.queues = generator.sent;
    }
    ran
}

/// Reads the file before the device is opened, so that a wrong one fails first.
fn run(options: &Options) -> anyhow::Result<()> {
    let read = |path| pcap_read_first(path, MAX_SIZE);
    let template = options.template.as_deref().map(read).transpose()?;
    let queues = options.queues;
    run_on_port(&options.port, queues, |device, pools, totals| {
        generate_until_end(device, pools, options, template, totals)
    })
}

fn main() -> ExitCode {
    run_program(Options::check, run)
}
