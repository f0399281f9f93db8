//! Which events the collector chooses here, and what it says about the others.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use perfcounters::perf::kernel::{Kernel, Refusal};
use record::{HostFacts, Metric};

use crate::environment::{count_one, detect, Environment, LOOP};

/// The argument with which `pmu-checks` only prints what this user may count.
pub const DETECT: &str = "detect";

/// The kernel's setting that says which users may count.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// A user without privileges.
const USER: u32 = 1000;

/// The facts about the host: its processor, its PMU and the clock of its time-stamp counter.
pub fn described(environment: &Environment) -> Result<()> {
    let host = HostFacts::gather();
    let machine = &environment.machine;
    let identity = (host.cpu.vendor.as_deref(), host.cpu.model);
    let (vendor, model) = machine.identity;
    ensure!(identity == (Some(vendor), Some(model)));
    ensure!(host.pmu.sources == [environment.pmu.name.as_str()]);
    ensure!(!environment.pmu.hybrid);
    let ratio = host.cpu.tsc_mhz / machine.timer_mhz;
    ensure!((0.99..1.01).contains(&ratio), "{} MHz", host.cpu.tsc_mhz);
    Ok(())
}

/// Cycles and instructions are counted. All others are absent with a reason.
pub fn chosen(environment: &Environment) -> Result<()> {
    let set = detect()?;
    let events = set.events.iter().filter(|event| event.metric.is_some());
    let chosen = events.map(|event| (event.metric, event.name.as_str()));
    ensure!(chosen.eq([
        (Some(Metric::CoreCycles), "CPU_CYCLES"),
        (Some(Metric::Instructions), "INST_RETIRED"),
    ]));
    ensure!(set.facts["pmu"] == environment.pmu.name.as_str());
    ensure!(set.warnings.is_empty(), "{:?}", set.warnings);
    let missing = "the processor's PMU does not implement it";
    for (metric, reason) in [
        (Metric::Branches, format!("BR_RETIRED: {missing}")),
        (Metric::Loads, format!("LD_RETIRED: {missing}")),
        (Metric::L1Hits, "the architecture has no event".to_owned()),
    ] {
        let why = set.absent.get(&metric).map_or("", |why| why.as_str());
        ensure!(why.starts_with(&reason), "{metric}: {why:?}");
    }
    Ok(())
}

/// The kernel accepts the code of every architectural event. One that the processor lacks counts 0,
/// which would pass for a figure.
pub fn not_implemented(environment: &Environment) -> Result<()> {
    const BR_RETIRED: u64 = 0x21;
    let mut event = environment.events(BR_RETIRED, 1).remove(0);
    Kernel.try_event(&event).context("the kernel refuses it")?;
    ensure!(count_one(&event, || LOOP.run(1000))?.counts == [0]);
    ensure!(!environment.pmu.events.contains(&"br_retired".to_owned()));
    // The kernel's generic event of the same name is refused.
    (event.kind, event.config) = (0, 4);
    let refusal = Kernel.try_event(&event);
    ensure!(matches!(refusal, Err(Refusal::Unsupported(_))));
    Ok(())
}

/// Runs the choice of events as a user without privileges, under a level of the kernel's setting.
fn detect_as_user(level: &str) -> Result<(bool, String)> {
    let before = fs::read_to_string(PARANOID)?;
    fs::write(PARANOID, level)?;
    let output = Command::new("/proc/self/exe")
        .arg(DETECT)
        .uid(USER)
        .output();
    fs::write(PARANOID, before)?;
    let output = output?;
    Ok((output.status.success(), String::from_utf8(output.stdout)?))
}

/// A user who may not count learns the setting that permits it. With that setting the user may.
pub fn forbidden(_: &Environment) -> Result<()> {
    let (counts, text) = detect_as_user("3")?;
    ensure!(!counts, "a level of 3 permits {text}");
    ensure!(text.contains("perf_event_paranoid is 3"), "{text}");
    let remedy = "sysctl kernel.perf_event_paranoid=2";
    ensure!(text.contains(remedy), "{text}");
    let (counts, text) = detect_as_user("2")?;
    ensure!(counts && text.lines().count() == 2, "{text}");
    Ok(())
}
