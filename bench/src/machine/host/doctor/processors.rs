//! Checks the processors: clock, isolation and simultaneous multithreading.

use super::machine::{add_option, ExaminedMachine};
use crate::machine::host::finding::Finding;
use crate::machine::host::nic::join;
use crate::machine::host::system::{parse_list, program};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = clock(machine).into_iter().collect();
    findings.push(isolation(machine));
    findings.extend(smt(machine));
    findings
}

/// The CPUs of a list in a file. An unused `nohz_full` reads "(null)".
fn list(machine: &ExaminedMachine<'_>, path: &str) -> Vec<u32> {
    parse_list(&machine.system.read(path).unwrap_or_default())
}

/// Whether the clock is held, without turbo. The published runs held it at 1.6 GHz, then at 3.3 GHz.
fn clock(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let system = machine.system;
    let cpus = list(machine, &format!("{CPUS}/online"));
    let frequencies = |name: &str| -> Vec<i64> {
        let path = |cpu| format!("{CPUS}/cpu{cpu}/cpufreq/{name}");
        cpus.iter()
            .filter_map(|cpu| system.number(&path(cpu)))
            .collect()
    };
    let from = frequencies("scaling_min_freq").into_iter().min()?;
    let to = frequencies("scaling_max_freq").into_iter().max()?;
    let switch = |path: &str| system.number(&format!("{CPUS}/{path}"));
    let turbo = switch("intel_pstate/no_turbo") == Some(0) || switch("cpufreq/boost") == Some(1);
    let found = if from == to {
        format!("the clock is held at {} GHz", gigahertz(to))
    } else {
        format!(
            "the clock may vary from {} to {} GHz",
            gigahertz(from),
            gigahertz(to)
        )
    };
    if from == to && !turbo {
        return Some(Finding::ok("clock", found));
    }
    let base = frequencies("base_frequency").into_iter().min();
    let hold = gigahertz(base.or_else(|| named_clock(machine)).unwrap_or(to));
    let turbo = if turbo { ", and turbo is on" } else { "" };
    let program = program();
    Some(
        Finding::warning("clock", format!("{found}{turbo}")).fix(format!(
            "sudo {program} clocks set {hold} # or 1.6; `sudo {program} clocks restore` undoes it"
        )),
    )
}

/// The clock without turbo in a name such as `Xeon(R) CPU E3-1230 V2 @ 3.30GHz`, kHz.
fn named_clock(machine: &ExaminedMachine<'_>) -> Option<i64> {
    let text = machine.system.read("/proc/cpuinfo")?;
    let name = text.lines().find(|line| line.starts_with("model name"))?;
    let (_, clock) = name.rsplit_once("@ ")?;
    let gigahertz: f64 = clock.strip_suffix("GHz")?.parse().ok()?;
    let plausible = (0.1..10.0).contains(&gigahertz);
    plausible.then_some((gigahertz * 1e6).round() as i64)
}

/// A clock in GHz, with two decimals at most.
fn gigahertz(khz: i64) -> f64 {
    (khz as f64 / 1e4).round() / 100.0
}

fn isolation(machine: &ExaminedMachine<'_>) -> Finding {
    let isolated = list(machine, &format!("{CPUS}/isolated"));
    let tickless = list(machine, &format!("{CPUS}/nohz_full"));
    let of_node = |node| format!("/sys/devices/system/node/node{node}/cpulist");
    let nodes: Vec<String> = machine.nodes().into_iter().map(of_node).collect();
    let lists = nodes.iter().filter_map(|file| machine.system.read(file));
    let mut beside = lists.collect::<Vec<_>>().join(",");
    if beside.is_empty() {
        let online = machine.system.read(&format!("{CPUS}/online"));
        beside = online.unwrap_or_default();
    }
    let cpus = parse_list(&beside);
    let both = |cpu: &u32| isolated.contains(cpu) && tickless.contains(cpu);
    let usable: Vec<u32> = cpus.iter().copied().filter(both).collect();
    if !usable.is_empty() {
        let found = format!("isolated CPUs without timer tick: {}", join(&usable, ","));
        return Finding::ok("isolation", found);
    }
    let found = format!("of the card's CPUs {beside}, none is isolated and without timer tick");
    let finding = Finding::warning("isolation", found);
    match cpus.as_slice() {
        // The highest CPUs, because the kernel does its own work on the lowest.
        [_, .., first, last] => {
            let cpus = format!("{first},{last}");
            let options = format!("isolcpus={cpus} nohz_full={cpus} rcu_nocbs={cpus}");
            finding.fix(add_option(&options))
        }
        // Too few CPUs to isolate any.
        _ => finding,
    }
}

fn smt(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    Some(
        match machine.system.number(&format!("{CPUS}/smt/active"))? {
            0 => Finding::ok("smt", "no simultaneous multithreading"),
            _ => Finding::warning("smt", "simultaneous multithreading is on")
                .fix(format!("echo off | sudo tee {CPUS}/smt/control")),
        },
    )
}
