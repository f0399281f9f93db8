//! Facts about the machine, without which a figure means nothing.
//!
//! Each fact is read separately. A fact that the machine does not give is `null` or empty, so that a
//! missing file never prevents a measurement.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::toolchain::tool_version;

/// The machine that a run was measured on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub host: String,
    /// Processor.
    pub cpu: CpuFacts,
    /// Frequency governor of the first CPU: `performance`, `powersave`, …; `null` without cpufreq.
    pub governor: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// The kernel's mitigation of each processor flaw, by flaw.
    pub mitigations: BTreeMap<String, String>,
    /// Huge pages.
    pub huge_pages: HugePages,
    /// IOMMU.
    pub iommu: IommuFacts,
    /// Network cards on the PCI bus.
    pub nics: Vec<NicFacts>,
    /// The processor's own counters.
    pub pmu: PmuFacts,
    /// Versions of the tools that measure, by tool.
    pub tools: BTreeMap<String, String>,
}

/// Processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuFacts {
    /// Name that the processor reports.
    pub model_name: Option<String>,
    /// Maker: its name, or on Arm the implementer's number, such as `0x41`.
    pub vendor: Option<String>,
    /// Family number; on Arm the version of the architecture.
    pub family: Option<u32>,
    /// Model number; on Arm the part number.
    pub model: Option<u32>,
    /// Stepping number; on Arm the revision.
    pub stepping: Option<u32>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Number of CPUs that the kernel uses.
    pub cpus: u32,
    /// Clock of the first CPU at the start of the run, MHz.
    pub clock_mhz: Option<f64>,
    /// Highest clock that the governor allows, MHz; `null` without cpufreq.
    pub max_clock_mhz: Option<f64>,
    /// Name of the counter of fixed frequency: `TSC`, or on Arm `CNTVCT_EL0`. Older records do not say.
    #[serde(default)]
    pub counter: String,
    /// Clock of that counter, MHz, measured over 50 ms.
    pub tsc_mhz: f64,
    /// Whether the kernel runs under a hypervisor.
    pub virtual_machine: bool,
}

/// Huge pages of the default size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HugePages {
    /// Size of a page, KiB.
    pub size_kib: u64,
    /// Number of reserved pages.
    pub total: u64,
    /// Number of reserved pages that are free.
    pub free: u64,
}

/// IOMMU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IommuFacts {
    /// Units that the kernel drives: `dmar0`, `ivhd0`, …; empty without an IOMMU.
    pub units: Vec<String>,
    /// Number of groups that the devices are divided into.
    pub groups: u64,
}

/// A network card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicFacts {
    /// PCI address.
    pub address: String,
    /// Vendor and device number, `8086:10fb`.
    pub id: String,
    /// The kernel driver that is bound to it, if any.
    pub driver: Option<String>,
}

/// The processor's own counters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PmuFacts {
    /// Whether the kernel offers hardware events.
    pub present: bool,
    /// Names of the kernel's event sources for CPUs.
    pub sources: Vec<String>,
}

impl HostFacts {
    /// Reads the facts of this machine. Takes about 50 ms, to measure the clock of the time-stamp
    /// counter.
    pub fn gather() -> Self {
        let uname = rustix::system::uname();
        let mut cpu = CpuFacts::read();
        cpu.tsc_mhz = measure_tsc_mhz(Duration::from_millis(50));
        cpu.max_clock_mhz = cpufreq(0, "scaling_max_freq").and_then(megahertz);
        Self {
            host: uname.nodename().to_string_lossy().into_owned(),
            cpu,
            governor: cpufreq(0, "scaling_governor"),
            kernel: uname.release().to_string_lossy().into_owned(),
            mitigations: entries("/sys/devices/system/cpu/vulnerabilities")
                .iter()
                .map(|path| (file_name(path), read(path)))
                .collect(),
            huge_pages: HugePages::now(),
            iommu: IommuFacts {
                units: entries("/sys/class/iommu")
                    .iter()
                    .map(|path| file_name(path))
                    .collect(),
                groups: entries("/sys/kernel/iommu_groups").len() as u64,
            },
            nics: nics(Path::new("/sys/bus/pci/devices")),
            pmu: pmu(Path::new("/sys/bus/event_source/devices")),
            tools: tool_version("valgrind")
                .into_iter()
                .map(|version| ("valgrind".to_owned(), version))
                .collect(),
        }
    }
}

impl CpuFacts {
    /// The kernel's facts about the first CPU, without the clocks that must be measured.
    pub fn read() -> Self {
        parse_cpuinfo(&read("/proc/cpuinfo"))
    }
}

/// Clock of a CPU at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuClock {
    /// Number of the CPU.
    pub cpu: usize,
    /// Its clock, MHz; `null` if the kernel does not list it.
    pub mhz: Option<f64>,
    /// Its frequency governor; `null` without cpufreq.
    pub governor: Option<String>,
}

impl CpuClock {
    /// The clock of a CPU now.
    pub fn now(cpu: usize) -> Self {
        let clock = cpufreq(cpu, "scaling_cur_freq").and_then(megahertz);
        Self {
            cpu,
            mhz: clock.or_else(|| clock_in_cpuinfo(&read("/proc/cpuinfo"), cpu)),
            governor: cpufreq(cpu, "scaling_governor"),
        }
    }
}

/// A file of the kernel's driver for the clock of a CPU.
fn cpufreq(cpu: usize, file: &str) -> Option<String> {
    let text = read(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}"));
    (!text.is_empty()).then_some(text)
}

fn megahertz(kilohertz: String) -> Option<f64> {
    Some(kilohertz.parse::<f64>().ok()? / 1000.0)
}

/// The keys and values of a file such as `/proc/cpuinfo`.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
}

/// The first value of a key.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    fields(text)
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// The clock of a CPU in a `/proc/cpuinfo`, MHz.
fn clock_in_cpuinfo(text: &str, cpu: usize) -> Option<f64> {
    fields(text)
        .skip_while(|(key, value)| *key != "processor" || value.parse() != Ok(cpu))
        .find(|(key, _)| *key == "cpu MHz")
        .and_then(|(_, value)| value.parse().ok())
}

impl HugePages {
    /// The huge pages now.
    pub fn now() -> Self {
        parse_meminfo(&read("/proc/meminfo"))
    }
}

/// The contents of a file without the line's end; empty if it cannot be read.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// The entries of a folder, sorted; empty if it cannot be read.
fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Parses the first processor of a `/proc/cpuinfo`, and counts the processors.
fn parse_cpuinfo(text: &str) -> CpuFacts {
    let text_of = |name: &str| field(text, name).map(str::to_owned);
    let number = |name: &str| {
        let value = field(text, name)?;
        match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    };
    // Arm's kernels have other names for vendor, family, model and stepping.
    CpuFacts {
        model_name: text_of("model name"),
        vendor: text_of("vendor_id").or_else(|| text_of("CPU implementer")),
        family: number("cpu family").or_else(|| number("CPU architecture")),
        model: number("model").or_else(|| number("CPU part")),
        stepping: number("stepping").or_else(|| number("CPU revision")),
        microcode: text_of("microcode"),
        cpus: fields(text).filter(|(key, _)| *key == "processor").count() as u32,
        clock_mhz: clock_in_cpuinfo(text, 0),
        max_clock_mhz: None,
        counter: COUNTER.to_owned(),
        tsc_mhz: 0.0,
        virtual_machine: field(text, "flags")
            .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
    }
}

/// Parses the huge pages of a `/proc/meminfo`.
fn parse_meminfo(text: &str) -> HugePages {
    let number = |name: &str| {
        field(text, name)
            .and_then(|value| value.split_whitespace().next()?.parse().ok())
            .unwrap_or(0)
    };
    HugePages {
        size_kib: number("Hugepagesize"),
        total: number("HugePages_Total"),
        free: number("HugePages_Free"),
    }
}

/// PCI devices of the class "Ethernet controller".
fn nics(devices: &Path) -> Vec<NicFacts> {
    entries(devices)
        .into_iter()
        .filter(|device| read(device.join("class")).starts_with("0x0200"))
        .map(|device| {
            let id = |file: &str| read(device.join(file)).trim_start_matches("0x").to_owned();
            NicFacts {
                address: file_name(&device),
                id: format!("{}:{}", id("vendor"), id("device")),
                driver: fs::read_link(device.join("driver"))
                    .ok()
                    .map(|path| file_name(&path)),
            }
        })
        .collect()
}

/// Whether an event source of the kernel counts the events of processors, by its name. On x86-64 the
/// kernel lists `cpu`, or `cpu_core` and `cpu_atom`. On Arm it lists one source per kind of core, such
/// as `armv8_pmuv3_0`, `armv8_cortex_a72` or `apple_icestorm_pmu`.
pub fn counts_processor_events(source: &str) -> bool {
    ["cpu", "cpu_core", "cpu_atom"].contains(&source)
        || ["armv8_", "armv9_", "apple_"]
            .iter()
            .any(|prefix| source.starts_with(prefix))
}

/// The kernel's event sources for processors.
fn pmu(sources: &Path) -> PmuFacts {
    let sources: Vec<_> = entries(sources)
        .iter()
        .map(|path| file_name(path))
        .filter(|name| counts_processor_events(name))
        .collect();
    PmuFacts {
        present: !sources.is_empty(),
        sources,
    }
}

/// Clock of the time-stamp counter, compared with the system's clock.
fn measure_tsc_mhz(window: Duration) -> f64 {
    let (start, first) = (Instant::now(), tsc());
    while start.elapsed() < window {
        std::hint::spin_loop();
    }
    let (elapsed, last) = (start.elapsed(), tsc());
    last.wrapping_sub(first) as f64 / elapsed.as_secs_f64() / 1e6
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the time-stamp counter is known only for x86-64 and AArch64");

/// Name of the counter that [`tsc`] reads.
const COUNTER: &str = if cfg!(target_arch = "aarch64") {
    "CNTVCT_EL0"
} else {
    "TSC"
};

/// Reads the time-stamp counter, roughly: the processor may reorder it.
#[cfg(target_arch = "x86_64")]
fn tsc() -> u64 {
    // SAFETY: RDTSC reads a counter; every x86-64 processor has it and Linux does not forbid it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the virtual count of the generic timer, which is AArch64's time-stamp counter.
#[cfg(target_arch = "aarch64")]
fn tsc() -> u64 {
    let now;
    // SAFETY: the instruction only reads a counter, which Linux lets every program read.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) now, options(nomem, nostack)) };
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str =
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 58\n\
        model name\t: Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz\nstepping\t: 9\nmicrocode\t: 0x21\n\
        cpu MHz\t\t: 1600.000\nflags\t\t: fpu hypervisor sse2\n\n\
        processor\t: 1\nvendor_id\t: GenuineIntel\ncpu MHz\t\t: 3300.000\n";

    #[test]
    fn the_first_cpu_is_described() {
        let cpu = parse_cpuinfo(CPUINFO);
        assert_eq!(
            cpu.model_name.as_deref(),
            Some("Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz")
        );
        assert_eq!(
            (cpu.family, cpu.model, cpu.stepping),
            (Some(6), Some(58), Some(9))
        );
        assert_eq!(cpu.microcode.as_deref(), Some("0x21"));
        assert_eq!(cpu.clock_mhz, Some(1600.0));
        assert_eq!(cpu.cpus, 2);
        assert!(cpu.virtual_machine);
    }

    #[test]
    fn each_cpu_has_its_clock() {
        assert_eq!(clock_in_cpuinfo(CPUINFO, 0), Some(1600.0));
        assert_eq!(clock_in_cpuinfo(CPUINFO, 1), Some(3300.0));
        assert_eq!(clock_in_cpuinfo(CPUINFO, 2), None);
    }

    #[test]
    fn an_arm_cpu_is_described_by_its_part_number() {
        let text = "processor\t: 0\nBogoMIPS\t: 125.00\nFeatures\t: fp asimd\n\
            CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n\
            CPU part\t: 0xd08\nCPU revision\t: 3\n";
        let cpu = parse_cpuinfo(text);
        assert_eq!(cpu.vendor.as_deref(), Some("0x41"));
        assert_eq!(
            (cpu.family, cpu.model, cpu.stepping, cpu.cpus),
            (Some(8), Some(0xd08), Some(3), 1)
        );
    }

    #[test]
    fn an_unknown_cpuinfo_leaves_gaps() {
        let cpu = parse_cpuinfo("Hardware: something else\ncpu family\t: many\n");
        assert_eq!((cpu.vendor, cpu.family, cpu.cpus), (None, None, 0));
    }

    #[test]
    fn huge_pages_are_counted() {
        let text = "MemTotal: 16 kB\nHugePages_Total:     512\nHugePages_Free:      500\nHugepagesize:       2048 kB\n";
        assert_eq!(
            parse_meminfo(text),
            HugePages {
                size_kib: 2048,
                total: 512,
                free: 500
            }
        );
        assert_eq!(parse_meminfo("nothing"), HugePages::default());
    }

    #[test]
    fn network_cards_are_found_by_class() {
        let devices = tempfile::tempdir().unwrap();
        for (address, class) in [("0000:03:00.0", "0x020000"), ("0000:00:1f.2", "0x010601")] {
            let device = devices.path().join(address);
            fs::create_dir(&device).unwrap();
            fs::write(device.join("class"), format!("{class}\n")).unwrap();
            fs::write(device.join("vendor"), "0x8086\n").unwrap();
            fs::write(device.join("device"), "0x10fb\n").unwrap();
            std::os::unix::fs::symlink("/x/drivers/vfio-pci", device.join("driver")).unwrap();
        }
        assert_eq!(
            nics(devices.path()),
            [NicFacts {
                address: "0000:03:00.0".into(),
                id: "8086:10fb".into(),
                driver: Some("vfio-pci".into())
            }]
        );
    }

    #[test]
    fn event_sources_of_processors_are_known_by_name() {
        let sources = tempfile::tempdir().unwrap();
        for name in ["software", "msr"] {
            fs::create_dir(sources.path().join(name)).unwrap();
        }
        assert!(!pmu(sources.path()).present);
        for name in ["cpu", "armv8_pmuv3_0"] {
            fs::create_dir(sources.path().join(name)).unwrap();
        }
        assert_eq!(pmu(sources.path()).sources, ["armv8_pmuv3_0", "cpu"]);
    }

    #[test]
    fn this_machine_answers() {
        let host = HostFacts::gather();
        assert!(!host.kernel.is_empty());
        assert!(host.cpu.tsc_mhz > 100.0, "{}", host.cpu.tsc_mhz);
    }
}
