//! `triptych pktgen`: tests a load generator and measures at several rates.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use perfcounters::Interrupt;

use super::config::Config;
use super::generator::Generator;
use crate::usage::{number, Outcome};

/// Arguments of `triptych pktgen`.
#[derive(Debug, Args)]
pub struct PktgenArguments {
    /// The configuration of the load generator; bench/pktgen/ has examples
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The machine to log in to, instead of the one in the file
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    /// Only check that the generator starts, finds its ports and shows their links; send nothing
    #[arg(long, conflicts_with_all = ["rate", "seconds", "json", "link_timeout"])]
    check: bool,
    /// Rates to send, Mpps, all ports together [default: full speed]
    #[arg(long, value_name = "MPPS", value_delimiter = ',', value_parser = rate)]
    rate: Vec<f64>,
    /// Length of the measurement at each rate
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = number::<u16>(1..=3600))]
    seconds: u16,
    /// Longest time for the links; start the forwarder meanwhile
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = number::<u16>(1..=3600))]
    link_timeout: u16,
    /// Also write the reports to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(format!("{text:?} is not a rate in Mpps")),
    }
}

/// Tests the generator, or measures at each rate.
///
/// # Errors
/// The generator fails, or the reports cannot be written.
pub fn run(arguments: &PktgenArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let mut config = Config::read(&arguments.config)?;
    config.ssh = arguments.ssh.clone().or(config.ssh);
    if config.real_flows() < config.flows {
        let (real, wanted) = (config.real_flows(), config.flows);
        eprintln!(
            "warning: testpmd in txonly sends {real} flows per port, not {wanted}; mode = \"flowgen\" sends all"
        );
    }
    let mut generator = Generator::launch(&config, interrupt)?;
    let (most, size) = (config.line_rate_mpps(), config.frame_size);
    println!(
        "{}; a port can send {most:.2} Mpps of {size} bytes",
        generator.about()
    );
    let links = generator.links()?;
    if arguments.check {
        links.iter().for_each(|port| println!("{port}"));
        return Ok(Outcome::Good);
    }
    let seconds = arguments.link_timeout;
    if !links.iter().all(|port| port.up) {
        eprintln!("waiting {seconds} s for links: start the forwarder at the other end now");
    }
    generator.wait_for_link(Duration::from_secs(seconds.into()))?;
    let mut rates: Vec<_> = arguments.rate.iter().copied().map(Some).collect();
    if rates.is_empty() {
        rates.push(None);
    }
    for [a, b, c, d] in [
        ["asked", "offered", "received", "lost"],
        ["Mpps", "Mpps", "Mpps", "%"],
    ] {
        println!("{a:>10} {b:>10} {c:>10} {d:>9}");
    }
    let mut reports = Vec::new();
    for rate in rates {
        generator.start(rate)?;
        generator.sleep(Duration::from_secs(arguments.seconds.into()))?;
        let report = generator.stop()?;
        let asked = rate.map_or_else(|| "all".to_owned(), |rate| format!("{rate:.3}"));
        let (offered, received) = (report.offered_mpps, report.received_mpps);
        let lost = report.loss_ratio * 100.0;
        println!("{asked:>10} {offered:>10.3} {received:>10.3} {lost:>9.4}");
        // Software ports have no line rate.
        let checked = config.vdevs.is_empty() || rate.is_some();
        if let Some(why) = report.load().deviation().filter(|_| checked) {
            eprintln!("warning: {why}");
        }
        reports.push(report);
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&reports)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Outcome::Good)
}
