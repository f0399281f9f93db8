//! node: a node of ECHONET Lite, over a driver.

use std::process::ExitCode;

use apps::node::{Node, PORT};
use apps::options::{run_program, run_udp_service, CommonOptions};
use clap::Parser;

/// A node of the kind that ECHONET Lite is: a controller discovers it by multicast (224.0.23.0) and reads its
/// properties by UDP. It has a node profile object and a temperature sensor. Ends on SIGINT or SIGTERM, or after S
/// seconds.
#[derive(Debug, Parser)]
#[command(name = "node", version, max_term_width = 100)]
struct Options {
    /// UDP port of the node and of its controllers
    #[arg(long, value_name = "PORT", default_value_t = PORT,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    /// What tells this node from others, 0 to 255
    #[arg(long, value_name = "N", default_value_t = 1)]
    number: u8,

    #[command(flatten)]
    common: CommonOptions,
}

fn main() -> ExitCode {
    run_program(
        |options: &Options| options.common.check(),
        |options| {
            let mut node = Node::new([options.number; 13]);
            run_udp_service(&options.common, options.listen, &mut node, Node::counts)
        },
    )
}
