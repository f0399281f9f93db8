//! balancer: a load balancer for TCP, over a driver.

use std::path::PathBuf;
use std::process::ExitCode;

use apps::balancer::{Balancer, Config};
use apps::options::{run_application, run_program, Ports, TcpServerOptions};
use clap::Parser;

/// A load balancer for TCP: it ends the connections of clients, opens its own to the backends in turn, and checks the
/// backends. GET /stats returns what it has done as JSON. Ends on SIGINT or SIGTERM, or after S seconds.
#[derive(Debug, Parser)]
#[command(name = "balancer", version, max_term_width = 100)]
struct Options {
    /// Frontends, backends and checks, in TOML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// TCP port of /stats; those of the frontends are in the configuration
    #[arg(long, value_name = "PORT", default_value_t = 8080,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    #[command(flatten)]
    server: TcpServerOptions,
}

impl Options {
    fn config(&self) -> anyhow::Result<Config> {
        Config::read(&self.config, self.server.common.ip, self.listen)
    }

    fn check(&self) -> Result<(), String> {
        self.server.common.check()?;
        self.config()
            .map(drop)
            .map_err(|error| format!("{error:#}"))
    }
}

fn main() -> ExitCode {
    run_program(Options::check, |options| {
        let config = options.config()?;
        let frontends = config.frontends.iter().map(|frontend| frontend.port);
        let limits = options.server.limits();
        let ports = Ports {
            listen: frontends.chain([options.listen]).collect(),
            // One for each client, and the checks.
            to_servers: limits.connections + config.backends.len(),
            connection_bytes: Balancer::CONNECTION_BYTES,
        };
        let mut balancer = Balancer::new(config, limits);
        run_application(&options.server, ports, &mut balancer, Balancer::counts)
    })
}
