//! iperf: the server of iperf3, over a driver.

use std::process::ExitCode;

use apps::iperf::Iperf;
use apps::options::{run_program, run_tcp_service, TcpServerOptions};
use clap::Parser;

/// The server of iperf3 for TCP, in both directions: its client is `iperf3 -c ADDRESS`, with -R, --bidir and -P. Ends
/// on SIGINT or SIGTERM, or after S seconds.
#[derive(Debug, Parser)]
#[command(name = "iperf", version, max_term_width = 100)]
struct Options {
    /// TCP port
    #[arg(long, value_name = "PORT", default_value_t = 5201,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    #[command(flatten)]
    server: TcpServerOptions,
}

fn main() -> ExitCode {
    run_program(
        |options: &Options| options.server.common.check(),
        |options| {
            let mut iperf = Iperf::default();
            run_tcp_service(&options.server, options.listen, &mut iperf, Iperf::counts)
        },
    )
}
