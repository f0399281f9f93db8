//! `triptych selftest`: checks two ports of a card, and the machine around them, before anything is
//! measured.
//!
//! Each driver starts the ports, checks link and cable, and exchanges frames of every size
//! ([`worker`]). Then come the interrupts of the ports, and the processor's events. Each part runs in
//! a process of its own: if a driver crashes, that is a finding, and the test goes on.

pub mod arguments;
mod cable;
mod counters;
mod events;
mod exchange;
pub mod finding;
mod frame;
mod interrupts;
mod library;
mod link;
mod process;
mod report;
pub mod worker;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;
use record::{HostFacts, Implementation};

use self::arguments::SelftestArguments;
use self::finding::{Finding, Tally};
use self::process::Ended;
use self::report::{Report, Table};
use self::worker::Task;
use crate::build::builds::variants::build_folder;
use crate::machine::host::doctor;
use crate::machine::host::system::System;
use crate::usage::{Outcome, UsageError};

/// The variant of the drivers that is tested.
const VARIANT: &str = "default";

/// Runs the self-test and prints its findings. Returns whether nothing failed.
///
/// # Errors
/// If the ports are no ports, a driver is not built, or the report cannot be written.
pub fn run(arguments: &SelftestArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let begin = Instant::now();
    let started = SystemTime::now();
    let devices = arguments.devices()?;
    let tasks = tasks(arguments, &devices)?;
    let host = HostFacts::gather();
    let mut table = Table::default();
    let mut findings = Vec::new();
    let mut messages = BTreeMap::new();
    let mut say = |finding: Finding| {
        table.print(&finding);
        findings.push(finding);
    };
    say(huge_pages(&host));
    let folder = TemporaryFolder::create()?;
    for (driver, task) in &tasks {
        if interrupt.is_set() {
            break;
        }
        let name = driver.map_or_else(|| name_of(task).to_owned(), |driver| driver.to_string());
        let mut from_task = |finding: Finding| {
            say(Finding {
                driver: *driver,
                ..finding
            });
        };
        let Ended { failure, errors } =
            process::run(task, &name, folder.path(), interrupt, &mut from_task)?;
        if let Some(why) = failure {
            from_task(Finding::fail("process", why));
        }
        if !errors.is_empty() {
            messages.insert(name, errors);
        }
    }
    let tally = Tally::of(&findings);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        command: std::env::args().collect(),
        started: humantime::format_rfc3339_seconds(started).to_string(),
        seconds: begin.elapsed().as_secs_f64(),
        interrupted: interrupt.is_set(),
        devices,
        host,
        doctor: examine(arguments),
        tally,
        findings,
        messages,
    };
    conclude(arguments, &report)?;
    Ok(match tally.failed == 0 && !report.interrupted {
        true => Outcome::Good,
        false => Outcome::NotReady,
    })
}

/// The parts of the test, with the driver that each is about.
fn tasks(
    arguments: &SelftestArguments,
    devices: &[String; 2],
) -> Result<Vec<(Option<Implementation>, Task)>> {
    let run = RandomState::new().build_hasher().finish() as u32;
    let mut tasks = vec![(None, Task::Events)];
    for driver in arguments.drivers() {
        let folder = build_folder(&arguments.build_dir, driver, VARIANT);
        let library = folder.join("libports.so");
        if !library.is_file() {
            let path = library.display();
            let why =
                format!("{path} does not exist; run `make build`, or name another --build-dir");
            return Err(UsageError(why).into());
        }
        let task = Task::Driver {
            library: std::path::absolute(&library).context("cannot find the current folder")?,
            devices: devices.clone(),
            frames: arguments.frames(),
            link_timeout: Duration::from_secs(arguments.link_timeout),
            run,
        };
        tasks.push((Some(driver), task));
    }
    tasks.push((
        None,
        Task::Interrupts {
            devices: devices.clone(),
        },
    ));
    Ok(tasks)
}

fn name_of(task: &Task) -> &'static str {
    match task {
        Task::Driver { .. } => "driver",
        Task::Interrupts { .. } => "interrupts",
        Task::Events => "events",
    }
}

/// The machine's huge pages.
fn huge_pages(host: &HostFacts) -> Finding {
    let pages = &host.huge_pages;
    let text = format!(
        "{} of {} pages of {} KiB are free",
        pages.free, pages.total, pages.size_kib
    );
    match pages.free {
        0 => Finding::not_available(
            "huge pages",
            format!("{text}; `make hugepages` reserves some"),
        ),
        _ => Finding::pass("huge pages", text),
    }
    .figure("pages", pages)
}

/// The doctor's view of the ports. It is only for the report, so an error leaves it out.
fn examine(arguments: &SelftestArguments) -> Option<crate::machine::host::finding::Diagnosis> {
    let addresses = arguments.addresses();
    if addresses.is_empty() {
        return None;
    }
    doctor::examine(&System::here(), &addresses).ok()
}

/// Prints the result, and writes the report.
fn conclude(arguments: &SelftestArguments, report: &Report) -> Result<()> {
    println!("\n{} in {:.1} s", report.tally, report.seconds);
    if report.interrupted {
        println!("interrupted: the ports are stopped, and the remaining checks were left out");
    }
    if let Some(path) = &arguments.json {
        report.write(path)?;
    } else if report.tally.failed > 0 {
        println!("`--json FILE` writes a report with all details");
    }
    Ok(())
}
