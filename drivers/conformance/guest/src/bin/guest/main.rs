//! The program in the guest: the tests' agent, and both ends of their traffic.
//!
//! Usage: `guest [agent]`, `guest tcp-receive`, `guest tcp-send ADDRESS BYTES`, `guest udp-echo`, `guest udp-check ADDRESS`.

mod agent;
mod traffic;

use anyhow::{bail, Result};

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        // The kernel starts the program without arguments.
        [] | ["agent"] => agent::serve("/dev/vport0p1"),
        ["tcp-receive"] => traffic::tcp_receive(),
        ["tcp-send", address, bytes] => traffic::tcp_send(address.parse()?, bytes.parse()?),
        ["udp-echo"] => traffic::udp_echo(),
        ["udp-check", address] => traffic::udp_check(address.parse()?),
        _ => bail!("unknown arguments: {words:?}"),
    }
}
