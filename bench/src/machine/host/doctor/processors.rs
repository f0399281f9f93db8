//! Checks the processors: clock, isolation and simultaneous multithreading.

use super::boot::add_options;
use super::machine::{plural, ExaminedMachine};
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::nic::join;
use crate::machine::host::system::{format_list, parse_list, program};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings = vec![governor(machine)];
    findings.extend(clock(machine));
    findings.extend(turbo(machine));
    findings.push(isolation(machine));
    findings.extend(smt(machine));
    findings
}

fn online(machine: &ExaminedMachine<'_>) -> Vec<u32> {
    let text = machine.system.read(&format!("{CPUS}/online"));
    parse_list(&text.unwrap_or_default())
}

fn governor(machine: &ExaminedMachine<'_>) -> Finding {
    let why = "a varying clock makes cycles and packets per second vary";
    let finding = |found: String| Finding::ok(Topic::Processors, "governor", found, why);
    let mut governors: Vec<(String, Vec<u32>)> = Vec::new();
    for cpu in online(machine) {
        let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
        if let Some(name) = machine.system.read(&path) {
            match governors.iter_mut().find(|(known, _)| *known == name) {
                Some((_, cpus)) => cpus.push(cpu),
                None => governors.push((name, vec![cpu])),
            }
        }
    }
    match governors.as_slice() {
        [] => finding("the kernel does not scale the clock".to_owned()),
        [(name, _)] if name == "performance" => {
            finding("frequency governor: performance".to_owned())
        }
        some => {
            let texts: Vec<String> = some
                .iter()
                .map(|(name, cpus)| format!("{name} (CPU {})", format_list(cpus)))
                .collect();
            finding(format!("frequency governor: {}", texts.join(", ")))
                .with_severity(Severity::Warning)
                .fix(format!(
                    "echo performance | sudo tee {CPUS}/cpu*/cpufreq/scaling_governor"
                ))
        }
    }
}

/// Whether the clock is held. The published runs held it at 1.6 GHz, then at 3.3 GHz.
fn clock(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let system = machine.system;
    let frequency = |cpu: u32, name: &str| {
        let khz = system.number(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"))?;
        u32::try_from(khz).ok()
    };
    let cpus = online(machine);
    let lowest = |name: &str| cpus.iter().filter_map(|cpu| frequency(*cpu, name)).min();
    let highest = |name: &str| cpus.iter().filter_map(|cpu| frequency(*cpu, name)).max();
    let (from, to) = (lowest("scaling_min_freq")?, highest("scaling_max_freq")?);
    let why =
        "the published runs held the clock at 1.6 and at 3.3 GHz: a packet's cycles depend on it, \
               because memory does not slow down with the core";
    let finding = |found| Finding::ok(Topic::Processors, "clock", found, why);
    if from == to {
        return Some(finding(format!("the clock is held at {}", gigahertz(to))));
    }
    let hold = lowest("base_frequency")
        .or_else(|| named_clock(machine))
        .unwrap_or(to);
    Some(
        finding(format!(
            "the clock may vary from {} to {}",
            gigahertz(from),
            gigahertz(to)
        ))
        .with_severity(Severity::Warning)
        .fix(format!(
            "sudo {0} clocks set {1} # or 1.6; `sudo {0} clocks restore` undoes it",
            program(),
            gigahertz(hold).trim_end_matches(" GHz")
        )),
    )
}

/// The clock without turbo in a name such as `Xeon(R) CPU E3-1230 V2 @ 3.30GHz`, kHz.
fn named_clock(machine: &ExaminedMachine<'_>) -> Option<u32> {
    let text = machine.system.read("/proc/cpuinfo")?;
    let name = text.lines().find(|line| line.starts_with("model name"))?;
    let (_, clock) = name.rsplit_once("@ ")?;
    let gigahertz: f64 = clock.strip_suffix("GHz")?.parse().ok()?;
    (0.1..10.0)
        .contains(&gigahertz)
        .then_some((gigahertz * 1e6).round() as u32)
}

/// A clock of so many kHz, such as `3.3 GHz`.
fn gigahertz(khz: u32) -> String {
    // Two decimals at most, without trailing zeros.
    let hundredths = (f64::from(khz) / 1e4).round() / 100.0;
    format!("{hundredths} GHz")
}

fn turbo(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let system = machine.system;
    let no_turbo = format!("{CPUS}/intel_pstate/no_turbo");
    let boost = format!("{CPUS}/cpufreq/boost");
    let (on, command) = match (system.number(&no_turbo), system.number(&boost)) {
        (Some(off), _) => (off == 0, format!("echo 1 | sudo tee {no_turbo}")),
        (None, Some(on)) => (on != 0, format!("echo 0 | sudo tee {boost}")),
        (None, None) => return None,
    };
    let why = "turbo depends on temperature and on the other cores, so runs differ; the published runs had \
               it off";
    let finding = |found| Finding::ok(Topic::Processors, "turbo", found, why);
    Some(match on {
        true => finding("turbo is on")
            .with_severity(Severity::Warning)
            .fix(command),
        false => finding("turbo is off"),
    })
}

/// The CPUs of each NUMA node.
fn nodes(machine: &ExaminedMachine<'_>) -> Vec<(u32, Vec<u32>)> {
    let folder = "/sys/devices/system/node";
    let mut nodes: Vec<(u32, Vec<u32>)> = machine
        .system
        .entries(folder)
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            let cpus = machine.system.read(&format!("{folder}/{name}/cpulist"))?;
            Some((number, parse_list(&cpus)))
        })
        .collect();
    nodes.sort_unstable();
    nodes
}

fn isolation(machine: &ExaminedMachine<'_>) -> Finding {
    let system = machine.system;
    let why = "on an isolated CPU nothing interrupts the driver, so no packet waits";
    let finding = |found: String| Finding::ok(Topic::Processors, "isolation", found, why);
    let list = |name: &str| {
        let text = system.read(&format!("{CPUS}/{name}")).unwrap_or_default();
        // An unused nohz_full reads "(null)".
        parse_list(&text)
    };
    let isolated = list("isolated");
    let tickless = list("nohz_full");
    let nodes = nodes(machine);
    let cards = machine.nodes();
    let beside: Vec<u32> = match (cards.as_slice(), nodes.as_slice()) {
        ([], _) | (_, []) => online(machine),
        (cards, nodes) => nodes
            .iter()
            .filter(|(node, _)| cards.contains(node))
            .flat_map(|(_, cpus)| cpus.clone())
            .collect(),
    };
    let layout: Vec<String> = nodes
        .iter()
        .map(|(node, cpus)| format!("node {node}: CPU {}", format_list(cpus)))
        .collect();
    let layout = match layout.as_slice() {
        [] | [_] => plural(online(machine).len(), "CPU"),
        several => several.join("; "),
    };
    // The highest CPUs, because the kernel does its own work on the lowest.
    let candidates: Vec<u32> = beside.iter().rev().take(2).rev().copied().collect();
    let usable: Vec<u32> = isolated
        .iter()
        .copied()
        .filter(|cpu| beside.contains(cpu))
        .collect();
    let fix = |finding: Finding| match (candidates.as_slice(), beside.len()) {
        (cpus, 3..) => {
            let cpus = format_list(cpus);
            let options = format!("isolcpus={cpus} nohz_full={cpus} rcu_nocbs={cpus}");
            finding.fix(add_options(system, &options))
        }
        // Too few CPUs to isolate any.
        _ => finding,
    };
    if isolated.is_empty() {
        return fix(
            finding(format!("no isolated CPUs ({layout})")).with_severity(Severity::Warning)
        );
    }
    let isolated = format_list(&isolated);
    if usable.is_empty() {
        return fix(finding(format!(
            "isolated CPUs {isolated} are not on the card's node {} ({layout})",
            join(&cards, ", ")
        ))
        .with_severity(Severity::Warning));
    }
    if !usable.iter().all(|cpu| tickless.contains(cpu)) {
        let cpus = format_list(&usable);
        return finding(format!(
            "isolated CPUs {isolated} still get the kernel's timer tick ({layout})"
        ))
        .with_severity(Severity::Warning)
        .fix(add_options(
            system,
            &format!("nohz_full={cpus} rcu_nocbs={cpus}"),
        ));
    }
    finding(format!(
        "isolated CPUs {isolated}, without timer tick ({layout})"
    ))
}

fn smt(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let active = machine.system.number(&format!("{CPUS}/smt/active"))?;
    let why = "a second thread on the driver's core competes for execution units and cache; the published \
               runs had hyper-threading off";
    let finding = |found| Finding::ok(Topic::Processors, "smt", found, why);
    Some(match active {
        0 => finding("no simultaneous multithreading"),
        _ => finding("simultaneous multithreading is on")
            .with_severity(Severity::Warning)
            .fix(format!("echo off | sudo tee {CPUS}/smt/control")),
    })
}
