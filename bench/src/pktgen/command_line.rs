//! The command that starts a load generator, for a plan that people read.

use super::config::{Config, Tool};
use super::dpdk_pktgen::DpdkPktgen;
use super::protocol::GeneratorProtocol;
use super::session::{command_line, Location};
use super::testpmd::Testpmd;

/// The command that starts the generator, as a shell would take it.
pub fn of(config: &Config) -> String {
    let script = match config.tool {
        Tool::Testpmd => Testpmd.script(config),
        Tool::Pktgen => DpdkPktgen.script(config),
    };
    match &config.ssh {
        None => script,
        Some(name) => command_line(&Location::Host(name.clone()), &script),
    }
}
