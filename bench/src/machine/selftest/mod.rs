//! `triptych selftest`: checks two ports of a card, and the machine around them, before anything is
//! measured.
//!
//! The crate `selftest` has the checks of card, cable and processor.

pub(crate) mod arguments;

use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use record::HostFacts;
use selftest::{Finding, Grade};
use serde::Serialize;

use self::arguments::SelftestArguments;
use crate::machine::host::doctor;
use crate::machine::host::finding::Diagnosis;
use crate::machine::host::system::System;
use crate::usage::Outcome;

/// Everything that a maintainer needs.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    command: Vec<String>,
    /// When the test began, UTC.
    started: String,
    seconds: f64,
    /// Whether the user stopped it.
    interrupted: bool,
    /// The two ports, in the order in which the findings number them.
    devices: [String; 2],
    host: HostFacts,
    /// The doctor's view of ports with a PCI address, if it could look.
    doctor: Option<Diagnosis>,
    findings: Vec<Finding>,
}

/// Runs the self-test and prints its findings. The machine is not ready if a check failed.
///
/// # Errors
/// If the ports are no ports, or the report cannot be written.
pub fn run(arguments: &SelftestArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let begin = Instant::now();
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let devices = arguments.devices()?;
    let host = HostFacts::gather();
    let mut findings = Vec::new();
    let mut say = |finding: Finding| {
        println!("{finding}");
        findings.push(finding);
    };
    say(huge_pages(&host));
    let link_timeout = Duration::from_secs(arguments.link_timeout);
    selftest::check(
        &devices,
        link_timeout,
        arguments.frames(),
        interrupt,
        &mut say,
    );
    let addresses = arguments.addresses();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        command: std::env::args().collect(),
        started,
        seconds: begin.elapsed().as_secs_f64(),
        interrupted: interrupt.is_set(),
        devices,
        host,
        doctor: match addresses.as_slice() {
            [] => None,
            addresses => doctor::examine(&System::here(), addresses).ok(),
        },
        findings,
    };
    conclude(arguments, &report)
}

/// The machine's huge pages.
fn huge_pages(host: &HostFacts) -> Finding {
    let pages = &host.huge_pages;
    let (free, total) = (pages.free, pages.total);
    let text = format!("{free} of {total} pages of {} KiB are free", pages.size_kib);
    match free {
        0 => Finding::not_available("huge pages", text + "; `make hugepages` reserves some"),
        _ => Finding::pass("huge pages", text),
    }
    .figure("pages", pages)
}

/// Prints the result, and writes the report.
fn conclude(arguments: &SelftestArguments, report: &Report) -> Result<Outcome> {
    let count = |grade| {
        let findings = report.findings.iter();
        findings.filter(|it| it.outcome == grade).count()
    };
    let [passed, failed, missing] = [Grade::Pass, Grade::Fail, Grade::NotAvailable].map(count);
    let seconds = report.seconds;
    println!("\n{passed} passed, {failed} failed, {missing} not available in {seconds:.1} s");
    if report.interrupted {
        println!("interrupted: the ports are stopped, and the remaining checks were left out");
    }
    let good = failed == 0 && !report.interrupted;
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(report)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    } else if !good {
        println!("`--json FILE` writes a report with all details");
    }
    Ok(if good {
        Outcome::Good
    } else {
        Outcome::NotReady
    })
}
