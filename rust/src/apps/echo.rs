//! ixgbe-echo: answers on a device what it receives: MAC echo, or ARP and ICMP echo for an address.
#![forbid(unsafe_code)]

mod echo_packet;
mod port;
mod program;
mod rates;

use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Parser;
use echo_packet::{echo_packet, EchoAddress, EchoAnswer, ECHO_HEADERS};
use ixgbe::driver::device::Device;
use ixgbe::driver::mempool::Packet;
use ixgbe::error::Result;
use ixgbe::vfio::Container;
use port::{turns_per_look, Port, Run};
use program::{json_open, json_write, parse_packets, run_program, CommonOptions};
use serde::Serialize;

/// Answers the frames that a device receives. With --ip, it answers ARP and ping for that address. Without,
/// it returns each frame that is addressed to the device to its sender. Ends on SIGINT or SIGTERM, after N
/// packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(
    name = "ixgbe-echo",
    version,
    max_term_width = 80,
    infer_long_args = true,
    args_override_self = true
)]
struct Options {
    /// The IPv4 address to answer for, such as 10.0.0.2
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<Ipv4Addr>,

    #[command(flatten)]
    common: CommonOptions,

    /// End after N received packets
    #[arg(long, value_name = "N", value_parser = parse_packets)]
    packets: Option<u64>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device: String,
}

/// The results of a run, in packets.
#[derive(Default, Serialize)]
struct Totals {
    rx: u64,
    tx: u64,
    mac: u64,
    arp: u64,
    icmp: u64,
    ignored: u64,
    /// Answers for which the TX ring had no room.
    dropped: u64,
    seconds: f64,
    tsc_cycles: u64,
}

impl Totals {
    fn count(&mut self, answer: EchoAnswer) {
        match answer {
            EchoAnswer::None => self.ignored += 1,
            EchoAnswer::Mac => self.mac += 1,
            EchoAnswer::Arp => self.arp += 1,
            EchoAnswer::Icmp => self.icmp += 1,
        }
    }
}

/// Turns a packet into its answer.
fn answer_packet(packet: &mut Packet<'_>, own: &EchoAddress) -> EchoAnswer {
    let mut headers = [0; ECHO_HEADERS];
    let size = packet.size();
    let headers = &mut headers[..size.min(ECHO_HEADERS)];

    // The range is inside the packet, so both copies succeed.
    let _ = packet.read_at(0, headers);
    let answer = echo_packet(headers, size, own);
    if answer != EchoAnswer::None {
        let _ = packet.write_at(0, headers);
    }
    answer
}

/// Receives a batch of at most `count` packets and answers it. Returns the number of received packets.
fn echo_turn<'p>(
    device: &mut Device<'p>,
    own: &EchoAddress,
    count: usize,
    packets: &mut Vec<Packet<'p>>,
    totals: &mut Totals,
) -> Result<usize> {
    let received = device.rx_batch(0, packets, count)?;

    packets.retain_mut(|packet| {
        let answer = answer_packet(packet, own);
        totals.count(answer);
        answer != EchoAnswer::None
    });
    let sent = device.tx_batch(0, packets)?;
    totals.rx += received as u64;
    totals.tx += sent as u64;
    totals.dropped += packets.len() as u64;
    packets.clear();
    Ok(received)
}

/// Answers until the end of the run. The totals are valid even after an error.
fn echo(device: &mut Device<'_>, options: &Options, totals: &mut Totals) -> anyhow::Result<()> {
    let batch = options.common.batch;
    let own = EchoAddress {
        mac: device.mac_read()?,
        ip: options.ip,
    };
    let mut packets = Vec::with_capacity(batch);
    let turns = turns_per_look(device);
    let mut left = options.packets.unwrap_or(u64::MAX);
    let mut run = Run::start(&options.device, options.common.duration)?;
    let mut ended = false;

    while left > 0 && !ended {
        for _ in 0..turns {
            let count = usize::try_from(left).map_or(batch, |left| left.min(batch));
            if count == 0 {
                break;
            }
            left -= echo_turn(device, &own, count, &mut packets, totals)? as u64;
        }
        ended = run.look(device)?;
    }
    (totals.seconds, totals.tsc_cycles) = run.elapsed();
    Ok(())
}

/// Opens the device, answers, and closes it.
fn echo_until_end(options: &Options) -> anyhow::Result<()> {
    let common = &options.common;
    let json = json_open(common.json.as_deref())?;
    let container = Container::with_connect_timeout(common.connect_timeout_ms());
    let port = Port::open("ixgbe-echo", &container, &options.device, 1, 1, common)?;
    let mut device = port.start()?;
    let mut totals = Totals::default();

    let ran = echo(&mut device, options, &mut totals);
    let stopped = device.stop_queues();
    json_write(json, common.json.as_deref(), &totals)?;
    ran?;
    stopped?;
    Ok(())
}

fn main() -> ExitCode {
    run_program(|_: &Options| Ok(()), echo_until_end)
}
