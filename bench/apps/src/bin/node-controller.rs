//! node-controller: discovers a node of ECHONET Lite, and reads its properties, over and over.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use apps::node::controller::control;
use apps::options::{json_open, json_write, run_program};
use apps::run::Run;
use clap::Parser;

/// Discovers a node of ECHONET Lite by multicast, and reads the 12 mandatory properties of its profile, N times. It
/// uses the kernel's sockets, and prints what it saw as JSON. Ends with 1 if an answer was lost or wrong.
#[derive(Debug, Parser)]
#[command(name = "node-controller", version, max_term_width = 100)]
struct Options {
    /// Own IPv4 address, which chooses the interface
    #[arg(long, value_name = "ADDRESS", default_value = "10.0.0.1")]
    ip: Ipv4Addr,

    /// Rounds of a discovery and 12 reads
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rounds: u64,

    /// Write what it saw to FILE too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    run_program(
        |_: &Options| Ok(()),
        |options| {
            let json = json_open(options.json.as_deref())?;
            let run = Run::start(None)?;
            let report = control(options.ip, options.rounds, &run)?;
            println!("{}", serde_json::to_string(&report)?);
            json_write(json, options.json.as_deref(), &report)?;
            ensure!(
                report.lost == 0 && report.wrong == 0,
                "{} answers were lost and {} were wrong",
                report.lost,
                report.wrong
            );
            Ok(())
        },
    )
}
