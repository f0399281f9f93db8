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
use port::{run_on_port, PortOptions, Run};
use program::{parse_packets, run_program};
use serde::Serialize;

/// Answers the frames that a device receives. With --ip, it answers ARP and ping for that address. Without,
/// it returns each frame that is addressed to the device to its sender. Ends on SIGINT or SIGTERM, after N
/// packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The IPv4 address to answer for, such as 10.0.0.2
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<Ipv4Addr>,

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
    let own = EchoAddress {
        mac: device.mac_read()?,
        ip: options.ip,
    };
    let mut packets = Vec::with_capacity(options.port.common.batch);
    let mut run = Run::start(&options.port, device, options.packets)?;

    while run.goes_on(device, |device, count| {
        Ok(echo_turn(device, &own, count, &mut packets, totals)?)
    })? {}
    (totals.seconds, totals.tsc_cycles) = run.elapsed();
    Ok(())
}

fn main() -> ExitCode {
    run_program(
        |_: &Options| Ok(()),
        |options| {
            run_on_port(&options.port, 0, |device, _, totals| {
                echo(device, options, totals)
            })
        },
    )
}
