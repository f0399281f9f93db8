//! balancer: a layer-4 load balancer for TCP, over a driver.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use apps::balancer::{Config, Forwarder, Health, Stats};
use apps::options::{run_beside, run_program, CommonOptions};
use clap::Parser;

/// A layer-4 load balancer for TCP: network address translation, consistent hashing as Maglev's, checks of the
/// backends. GET /stats returns what it has done as JSON. Ends on SIGINT or SIGTERM, or after S seconds.
#[derive(Debug, Parser)]
#[command(name = "balancer", version, max_term_width = 100)]
struct Options {
    /// Frontends, backends, checks and the connection table, in TOML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// TCP port of /stats; those of the frontends are in the configuration
    #[arg(long, value_name = "PORT", default_value_t = 8080,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    #[command(flatten)]
    common: CommonOptions,
}

impl Options {
    fn config(&self) -> anyhow::Result<Config> {
        Config::read(&self.config, self.common.ip, self.listen)
    }

    fn check(&self) -> Result<(), String> {
        if self.common.is_kernel() {
            return Err(
                "the balancer changes frames, and needs a driver: --driver c, rust or rust-unsafe"
                    .into(),
            );
        }
        self.common.check()?;
        self.config()
            .map(drop)
            .map_err(|error| format!("{error:#}"))
    }
}

fn main() -> ExitCode {
    run_program(Options::check, |options| {
        let config = options.config()?;
        let ip = options.common.ip.ip;
        let forwarder = Rc::new(RefCell::new(Forwarder::new(&config, ip)));
        let mut stats = Stats::new(&forwarder);
        let mut health = Health::new(&config, ip, &forwarder);
        run_beside(
            &options.common,
            options.listen,
            &mut stats,
            &mut health,
            Stats::counts,
        )
    })
}
