//! `triptych selftest`: checks two ports of a card, and the machine around them, before anything is
//! measured.
//!
//! The safe Rust driver starts the ports, checks link and cable, and exchanges frames of every size. Then come
//! the interrupts of the ports, and the processor's events. It tests the card, the cable and the machine; the
//! tests of the drivers are elsewhere.

pub(crate) mod arguments;
mod cable;
mod counters;
mod events;
mod exchange;
mod finding;
mod frame;
mod interrupts;
mod link;
mod ports;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use record::HostFacts;
use serde::Serialize;

use self::arguments::SelftestArguments;
use self::finding::{Finding, Grade};
use self::ports::{Opened, Ports};
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
    drive(arguments, &devices, interrupt, &mut say);
    if !interrupt.is_set() {
        interrupts::check(&devices, interrupt, &mut say);
    }
    // The last check, because it ties this thread to a CPU.
    if !interrupt.is_set() {
        events::check().into_iter().for_each(&mut say);
    }
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

/// Opens the ports, tests them, and stops them.
fn drive(
    arguments: &SelftestArguments,
    devices: &[String; 2],
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    let opened = match Opened::open(devices) {
        Ok(opened) => opened,
        Err(why) => return say(Finding::fail("open", why)),
    };
    let ordinary = "too few huge pages are free, so it lies on ordinary pages, which costs speed; \
                    `make hugepages` reserves some";
    say(match opened.on_ordinary_pages() {
        false => Finding::pass("driver memory", "on huge pages"),
        true => Finding::not_available("driver memory", ordinary),
    });
    let mut ports = Ports::new(&opened);
    exercise(arguments, &mut ports, interrupt, say);
    say(match ports.stop() {
        Ok(()) => Finding::pass("stop", "both ports stopped, with empty rings"),
        Err(why) => Finding::fail("stop", why),
    });
}

/// Everything between opening and stopping the ports. It ends at the first check without which the next
/// ones make no sense.
fn exercise(
    arguments: &SelftestArguments,
    ports: &mut Ports<'_>,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    let link_timeout = Duration::from_secs(arguments.link_timeout);
    if !link::bring_up(ports, link_timeout, interrupt, say) || interrupt.is_set() {
        return;
    }
    // The counters have seen the link come up, which is not free of errors.
    if let Err(why) = counters::clear_errors(ports.opened) {
        return say(Finding::fail("counters", why));
    }
    let run = RandomState::new().build_hasher().finish() as u32;
    let (finding, cabled) = cable::check(ports, run, interrupt);
    say(finding.figure("registers", counters::state(ports.opened)));
    if !cabled || interrupt.is_set() {
        return;
    }
    exchange::check(ports, run, arguments.frames(), interrupt, say);
    let finding = counters::check(ports);
    say(finding.figure("registers", counters::state(ports.opened)));
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
