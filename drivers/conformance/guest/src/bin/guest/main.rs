//! The program in the guest: the tests' agent, and both ends of their traffic.

mod agent;
mod traffic;

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "The tests' agent in the guest, and both ends of their traffic")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Start programs that the host requests over a serial port
    Agent {
        /// Serial port
        #[arg(default_value = "/dev/vport0p1")]
        port: PathBuf,
    },
    /// Accept one TCP connection and print the number and SHA-256 of its bytes
    TcpReceive {
        /// Port
        #[arg(long, default_value_t = 5001)]
        port: u16,
    },
    /// Send random bytes over TCP and print their number and SHA-256
    TcpSend {
        /// Address of the receiver
        address: IpAddr,
        /// Number of bytes
        #[arg(long)]
        bytes: u64,
        /// Port
        #[arg(long, default_value_t = 5001)]
        port: u16,
    },
    /// Send back all UDP datagrams until killed
    UdpEcho {
        /// Port
        #[arg(long, default_value_t = 5002)]
        port: u16,
    },
    /// Send a UDP datagram of each length and check that it comes back unaltered
    UdpCheck {
        /// Address of the echo
        address: IpAddr,
        /// Shortest length in bytes
        #[arg(long, default_value_t = 1)]
        from: usize,
        /// Longest length in bytes
        #[arg(long, default_value_t = 3000)]
        to: usize,
        /// Port
        #[arg(long, default_value_t = 5002)]
        port: u16,
    },
}

fn main() -> anyhow::Result<()> {
    // The kernel may start the program without arguments.
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
