//! Chooses the CPUs to measure on, and checks whether they are free.
//!
//! Driver and NIC model get a CPU each, on the same NUMA node but on different cores: two threads of
//! a core share its execution units, so each would slow the other down. With a real card, CPU and
//! memory are on the card's node.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use record::Placement;

use crate::process;

/// A CPU with a larger load than this, 0 to 1, is not free.
const BUSY: f64 = 0.05;
/// Time over which the load of the CPUs is measured.
const WATCH: Duration = Duration::from_millis(200);

/// The CPUs that this process may use, as the kernel describes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<Cpu>,
    nodes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cpu {
    number: usize,
    node: Option<u32>,
    /// CPUs of the same core, including this one.
    siblings: Vec<usize>,
}

impl Topology {
    /// This machine.
    pub fn here() -> Self {
        Self::read(Path::new("/sys"), &process::allowed_cpus())
    }

    /// The machine whose `/sys` is at `sys`.
    fn read(sys: &Path, allowed: &[usize]) -> Self {
        let system = sys.join("devices/system");
        let cpu = |number: &usize| {
            let folder = system.join(format!("cpu/cpu{number}"));
            let siblings = fs::read_to_string(folder.join("topology/thread_siblings_list"));
            Cpu {
                number: *number,
                node: nodes_in(&folder).first().copied(),
                siblings: parse_cpu_list(&siblings.unwrap_or_default()),
            }
        };
        Self {
            cpus: allowed.iter().map(cpu).collect(),
            nodes: nodes_in(&system.join("node")).len(),
        }
    }

    /// Chooses a CPU for the driver and one for the NIC model, on `node` if it has CPUs. The last CPUs
    /// come first, because the system does its own work on the first ones.
    pub fn choose(&self, node: Option<u32>) -> Placement {
        let on = |node: Option<u32>| -> Vec<&Cpu> {
            self.cpus.iter().filter(|cpu| cpu.node == node).collect()
        };
        let last = self.cpus.last().and_then(|cpu| cpu.node);
        let mut candidates = match node {
            Some(_) if !on(node).is_empty() => on(node),
            _ => on(last),
        };
        if candidates.len() < 2 {
            candidates = self.cpus.iter().collect();
        }
        let Some((driver, others)) = candidates.split_last() else {
            return Placement::default();
        };
        let apart = others
            .iter()
            .rev()
            .find(|cpu| !driver.siblings.contains(&cpu.number));
        let Some(nic) = apart.or(others.last()) else {
            return Placement::default();
        };
        Placement {
            driver: Some(driver.number),
            nic: Some(nic.number),
            node: driver.node.filter(|_| self.nodes > 1),
            shared_core: apart.is_none(),
        }
    }
}

/// The doubts about a placement: threads of one core, or CPUs with other work. Takes 0.2 s.
pub fn doubts(placement: &Placement) -> Vec<String> {
    let mut doubts = Vec::new();
    let both = placement.driver.zip(placement.nic);
    if let (true, Some((driver, nic))) = (placement.shared_core, both) {
        doubts.push(format!(
            "driver and NIC run on CPUs {driver} and {nic}, which are threads of one core, \
             because there are no others: each slows the other down"
        ));
    }
    let cpus = placement.cpus();
    for (cpu, load) in cpus.iter().zip(loads(&cpus, WATCH)) {
        if load > BUSY {
            doubts.push(format!(
                "CPU {cpu} is not free: before the measurement it was busy for {:.0} % of the \
                 time; end what runs there, or reserve the CPU with isolcpus",
                100.0 * load
            ));
        }
    }
    doubts
}

/// NUMA node of a PCI device; `None` where the kernel does not say.
pub fn node_of_device(address: &str) -> Option<u32> {
    let path = Path::new("/sys/bus/pci/devices")
        .join(address)
        .join("numa_node");
    // The kernel writes -1 for an unknown node.
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The numbers of the entries `nodeN` of a folder.
fn nodes_in(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("node")?.parse().ok()
    };
    entries.filter_map(number).collect()
}

/// Parses `0-3,8,10-11`.
pub(crate) fn parse_cpu_list(text: &str) -> Vec<usize> {
    let parse = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(parse).flatten().collect()
}

/// Load of each CPU, 0 to 1, measured over `window`.
fn loads(cpus: &[usize], window: Duration) -> Vec<f64> {
    let read = || fs::read_to_string("/proc/stat").unwrap_or_default();
    let before = read();
    thread::sleep(window);
    let after = read();
    cpus.iter()
        .map(|cpu| {
            let (busy, total) = busy_ticks(&after, *cpu);
            let (busy_before, total_before) = busy_ticks(&before, *cpu);
            let total = total.saturating_sub(total_before).max(1);
            busy.saturating_sub(busy_before) as f64 / total as f64
        })
        .collect()
}

/// Busy clock ticks and all clock ticks of a CPU, from `/proc/stat`.
fn busy_ticks(stat: &str, cpu: usize) -> (u64, u64) {
    let name = format!("cpu{cpu}");
    let ticks: Vec<u64> = stat
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next() == Some(&name)).then_some(words))
        .into_iter()
        .flatten()
        // User, nice, system, idle, iowait, irq, softirq, steal; user includes guests.
        .take(8)
        .filter_map(|word| word.parse().ok())
        .collect();
    let total: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    (total - idle, total)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A machine with two nodes, each with two cores of two threads, numbered as Linux does.
    fn two_nodes() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let system = sys.path().join("devices/system");
        for cpu in 0..8 {
            let folder = system.join(format!("cpu/cpu{cpu}"));
            let node = format!("node{}", cpu % 4 / 2);
            fs::create_dir_all(folder.join(&node)).unwrap();
            fs::create_dir_all(system.join("node").join(node)).unwrap();
            fs::create_dir(folder.join("topology")).unwrap();
            let siblings = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
            fs::write(folder.join("topology/thread_siblings_list"), siblings).unwrap();
        }
        sys
    }

    #[test]
    fn the_cpus_are_on_the_devices_node_and_not_on_one_core() {
        let sys = two_nodes();
        let topology = Topology::read(sys.path(), &[0, 1, 2, 3, 4, 5, 6, 7]);
        let placement = |driver, nic, node, shared_core| Placement {
            driver: Some(driver),
            nic: Some(nic),
            node: Some(node),
            shared_core,
        };
        assert_eq!(topology.choose(Some(0)), placement(5, 4, 0, false));
        assert_eq!(topology.choose(None), placement(7, 6, 1, false));
        // Without such a node, another one is chosen.
        assert_eq!(topology.choose(Some(9)), placement(7, 6, 1, false));
        // A thread of the driver's core is only chosen if there is no other core.
        let topology = Topology::read(sys.path(), &[2, 3, 7]);
        assert_eq!(topology.choose(Some(1)), placement(7, 2, 1, false));
        let topology = Topology::read(sys.path(), &[3, 7]);
        assert_eq!(topology.choose(Some(1)), placement(7, 3, 1, true));
        assert!(doubts(&topology.choose(None))[0].contains("one core"));
    }

    #[test]
    fn a_machine_without_topology_or_with_one_cpu() {
        let nothing = Path::new("/nonexistent");
        let placement = Topology::read(nothing, &[0, 1]).choose(Some(0));
        assert_eq!((placement.driver, placement.nic), (Some(1), Some(0)));
        assert_eq!((placement.node, placement.shared_core), (None, false));
        assert_eq!(
            Topology::read(nothing, &[3]).choose(None),
            Placement::default()
        );
        assert_eq!(Topology::default().choose(None), Placement::default());
    }

    #[test]
    fn a_busy_cpu_is_noticed() {
        let Some(cpu) = process::allowed_cpus().last().copied() else {
            return;
        };
        let work = "end=$(($(date +%s) + 30)); while [ $(date +%s) -lt $end ]; do :; done";
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", work]);
        let _busy =
            process::Process::start("busy", command, Some(cpu), folder.path(), Stdio::null())
                .unwrap();
        thread::sleep(Duration::from_millis(100));
        let load = loads(&[cpu], Duration::from_millis(500))[0];
        assert!(load > 0.5, "{load}");
    }
}
