//! The program that runs in the guest: the agent of the tests, and the two ends of their traffic.

mod agent;
mod traffic;

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "What the tests run in the guest")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Starts programs for the host, which asks for them over this serial port.
    Agent {
        /// The port.
        #[arg(default_value = "/dev/vport0p1")]
        port: PathBuf,
    },
    /// Waits for one TCP connection, and prints how many bytes came over it and their SHA-256.
    TcpReceive {
        /// Port.
        #[arg(long, default_value_t = 5001)]
        port: u16,
    },
    /// Sends random bytes over TCP, and prints their number and SHA-256.
    TcpSend {
        /// To where.
        address: IpAddr,
        /// How many.
        #[arg(long)]
        bytes: u64,
        /// Port.
        #[arg(long, default_value_t = 5001)]
        port: u16,
    },
    /// Sends back all UDP datagrams, until it is ended.
    UdpEcho {
        /// Port.
        #[arg(long, default_value_t = 5002)]
        port: u16,
    },
    /// Sends UDP datagrams of each of these lengths, and checks that each comes back as it was.
    UdpCheck {
        /// To where.
        address: IpAddr,
        /// Shortest, bytes.
        #[arg(long, default_value_t = 1)]
        from: usize,
        /// Longest, bytes.
        #[arg(long, default_value_t = 3000)]
        to: usize,
        /// Port.
        #[arg(long, default_value_t = 5002)]
        port: u16,
    },
}

fn main() -> anyhow::Result<()> {
    // As the kernel starts it, there may be no arguments at all.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.len() < 2 {
        arguments.push("agent".into());
    }
    match Arguments::parse_from(arguments).command {
        Action::Agent { port } => agent::serve(&port),
        Action::TcpReceive { port } => traffic::tcp_receive(port),
        Action::TcpSend {
            address,
            bytes,
            port,
        } => traffic::tcp_send((address, port).into(), bytes),
        Action::UdpEcho { port } => traffic::udp_echo(port),
        Action::UdpCheck {
            address,
            from,
            to,
            port,
        } => traffic::udp_check((address, port).into(), from..=to),
    }
}
