//! Facts about the machine, without which a figure means nothing.
//!
//! Each fact is read separately. A fact that the machine does not give is `null` or empty, so that a
//! missing file never prevents a measurement.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::counter::{tsc_ordered, COUNTER};
use crate::tools::tool_version;

/// Folder in which the kernel lists its event sources.
pub const EVENT_SOURCES: &str = "/sys/bus/event_source/devices";

/// Models of family 6 whose DDIO lets a card write packets to the L3, and whose L3 has a clock of its own: Xeon
/// E5, E7, D and Scalable, from Sandy Bridge to Granite Rapids (Linux, `intel-family.h`).
const DDIO_MODELS: [u32; 13] = [
    0x2d, 0x3e, 0x3f, 0x4f, 0x55, 0x56, 0x6a, 0x6c, 0x8f, 0xad, 0xae, 0xaf, 0xcf,
];

/// The machine that a run was measured on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The machine's salted id; `null` if the user's state folder cannot be written. Older records do not have it.
    #[serde(default)]
    pub machine_id: Option<String>,
    /// Processor.
    pub cpu: CpuFacts,
    /// Frequency governor of the first CPU: `performance`, `powersave`, …; `null` without cpufreq.
    pub governor: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// The kernel's mitigation of each processor flaw, by flaw.
    pub mitigations: BTreeMap<String, String>,
    /// Clocks of the L3 and the mesh, where they are apart from those of the cores and the kernel drives them.
    #[serde(default)]
    pub uncore: Vec<UncoreClock>,
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
    /// Whether the model has DDIO, which firmware may switch off. Older records do not say.
    #[serde(default)]
    pub ddio: Option<bool>,
}

/// The clock of the L3 and the mesh of a die.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UncoreClock {
    /// The kernel's name of the die: `package_00_die_00`.
    pub die: String,
    /// Lowest clock that is allowed, MHz.
    pub min_mhz: Option<f64>,
    /// Highest clock that is allowed, MHz.
    pub max_mhz: Option<f64>,
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
        cpu.tsc_mhz = measure_tsc_mhz();
        cpu.max_clock_mhz = cpufreq(0, "scaling_max_freq").and_then(megahertz);
        let valgrind = tool_version("valgrind");
        let sources = processor_event_sources(Path::new(EVENT_SOURCES));
        let mitigations = Path::new("/sys/devices/system/cpu/vulnerabilities");
        Self {
            machine_id: crate::private::machine_id(),
            cpu,
            governor: cpufreq(0, "scaling_governor"),
            kernel: uname.release().to_string_lossy().into_owned(),
            mitigations: entries(mitigations)
                .into_iter()
                .map(|name| (name.clone(), read(mitigations.join(name))))
                .collect(),
            uncore: uncore_clocks(Path::new("/sys/devices/system/cpu/intel_uncore_frequency")),
            huge_pages: HugePages::now(),
            iommu: IommuFacts {
                units: entries("/sys/class/iommu"),
                groups: entries("/sys/kernel/iommu_groups").len() as u64,
            },
            nics: nics(Path::new("/sys/bus/pci/devices")),
            pmu: PmuFacts {
                present: !sources.is_empty(),
                sources,
            },
            tools: BTreeMap::from_iter(valgrind.map(|version| ("valgrind".to_owned(), version))),
        }
    }
}

impl HostFacts {
    /// Why figures with a real card here do not compare with the published ones; `None` if they may.
    pub fn unlike_published(&self) -> Option<String> {
        let moves = |clock: &&UncoreClock| clock.min_mhz != clock.max_mhz;
        let clocks = match self.uncore.iter().find(moves) {
            Some(UncoreClock {
                min_mhz: Some(min),
                max_mhz: Some(max),
                ..
            }) => format!(", which is not fixed ({min} to {max} MHz)"),
            _ => String::new(),
        };
        (self.cpu.ddio == Some(true)).then(|| {
            format!(
                "this processor's L3 has a clock of its own{clocks}, and DDIO writes packets to it. The                  published Xeon E3 has neither, as far as known, so cycles and hits of L2 and L3 do not                  compare with the published ones"
            )
        })
    }
}

impl CpuFacts {
    /// The kernel's facts about the first CPU, without the clocks that must be measured.
    pub fn read() -> Self {
        Self::parse(&read("/proc/cpuinfo"))
    }

    /// Parses the first processor of a `/proc/cpuinfo`, and counts the processors.
    fn parse(text: &str) -> Self {
        // Arm's kernels have other names for vendor, family, model and stepping.
        let either = |name: &str, on_arm: &str| field(text, name).or_else(|| field(text, on_arm));
        let number = |name: &str, on_arm: &str| {
            let value = either(name, on_arm)?;
            match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            }
        };
        let flags = field(text, "flags").unwrap_or_default();
        let vendor = either("vendor_id", "CPU implementer");
        let (family, model) = (
            number("cpu family", "CPU architecture"),
            number("model", "CPU part"),
        );
        let intel = vendor == Some("GenuineIntel") && family == Some(6);
        Self {
            model_name: field(text, "model name").map(str::to_owned),
            vendor: vendor.map(str::to_owned),
            family,
            model,
            stepping: number("stepping", "CPU revision"),
            microcode: field(text, "microcode").map(str::to_owned),
            cpus: fields(text).filter(|(key, _)| *key == "processor").count() as u32,
            clock_mhz: clock_in_cpuinfo(text, 0),
            counter: COUNTER.to_owned(),
            virtual_machine: flags.split_whitespace().any(|flag| flag == "hypervisor"),
            ddio: model.map(|model| intel && DDIO_MODELS.contains(&model)),
            ..Self::default()
        }
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

impl HugePages {
    /// The huge pages now.
    pub fn now() -> Self {
        Self::parse(&read("/proc/meminfo"))
    }

    /// Parses a `/proc/meminfo`.
    fn parse(text: &str) -> Self {
        let number = |name: &str| {
            let value = field(text, name)?.split_whitespace().next()?;
            value.parse().ok()
        };
        Self {
            size_kib: number("Hugepagesize").unwrap_or(0),
            total: number("HugePages_Total").unwrap_or(0),
            free: number("HugePages_Free").unwrap_or(0),
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

/// The contents of a file without the line's end; empty if it cannot be read.
fn read(path: impl AsRef<Path>) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}

/// The names in a folder, sorted; none if it cannot be read.
pub fn entries(folder: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
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

/// The clocks in a folder of the kernel's driver `intel-uncore-frequency`.
fn uncore_clocks(folder: &Path) -> Vec<UncoreClock> {
    let clock = |die: String| {
        let read = |file| megahertz(read(folder.join(&die).join(file)));
        UncoreClock {
            min_mhz: read("min_freq_khz"),
            max_mhz: read("max_freq_khz"),
            die,
        }
    };
    entries(folder).into_iter().map(clock).collect()
}

/// PCI devices of the class "Ethernet controller".
fn nics(devices: &Path) -> Vec<NicFacts> {
    let nic = |address: String| {
        let device = devices.join(&address);
        let id = |file: &str| read(device.join(file)).trim_start_matches("0x").to_owned();
        let driver = fs::read_link(device.join("driver")).ok();
        id("class").starts_with("0200").then(|| NicFacts {
            address,
            id: format!("{}:{}", id("vendor"), id("device")),
            driver: driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        })
    };
    entries(devices).into_iter().filter_map(nic).collect()
}

/// The kernel's event sources in a folder that count the events of processors, by their names. On x86-64
/// the kernel lists `cpu`, or `cpu_core` and `cpu_atom`. On Arm it lists one source per kind of core, such
/// as `armv8_pmuv3_0`, `armv8_cortex_a72` or `apple_icestorm_pmu`.
pub fn processor_event_sources(folder: &Path) -> Vec<String> {
    let counts = |name: &String| {
        ["cpu", "cpu_core", "cpu_atom"].contains(&name.as_str())
            || ["armv8_", "armv9_", "apple_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    entries(folder).into_iter().filter(counts).collect()
}

/// Clock of the time-stamp counter, compared with the system's clock.
fn measure_tsc_mhz() -> f64 {
    let (start, first) = (Instant::now(), tsc_ordered());
    while start.elapsed() < Duration::from_millis(50) {
        std::hint::spin_loop();
    }
    let (elapsed, last) = (start.elapsed(), tsc_ordered());
    last.wrapping_sub(first) as f64 / elapsed.as_secs_f64() / 1e6
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
    fn processors_and_memory_are_described_as_far_as_they_are_known() {
        let text =
            "HugePages_Total:     512\nHugePages_Free:      500\nHugepagesize:       2048 kB\n";
        let pages = HugePages::parse(text);
        assert_eq!((pages.size_kib, pages.total, pages.free), (2048, 512, 500));
        assert_eq!(HugePages::parse("nothing"), HugePages::default());
        let cpu = CpuFacts::parse(CPUINFO);
        assert!(cpu
            .model_name
            .is_some_and(|name| name.contains("E3-1230 V2 @")));
        assert_eq!(cpu.microcode.as_deref(), Some("0x21"));
        assert!(cpu.virtual_machine);
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n\
            CPU part\t: 0xd08\nCPU revision\t: 3\n";
        let odd = "Hardware: something else\ncpu family\t: many\n";
        for (text, vendor, numbers, cpus) in [
            (CPUINFO, Some("GenuineIntel"), [6, 58, 9].map(Some), 2),
            (arm, Some("0x41"), [8, 0xd08, 3].map(Some), 1),
            (odd, None, [None; 3], 0),
        ] {
            let cpu = CpuFacts::parse(text);
            assert_eq!(cpu.vendor.as_deref(), vendor);
            assert_eq!([cpu.family, cpu.model, cpu.stepping], numbers);
            assert_eq!(cpu.cpus, cpus);
        }
        for (cpu, clock) in [(0, Some(1600.0)), (1, Some(3300.0)), (2, None)] {
            assert_eq!(clock_in_cpuinfo(CPUINFO, cpu), clock);
        }
    }

    #[test]
    fn a_processor_with_ddio_does_not_compare() {
        let folder = tempfile::tempdir().unwrap();
        let die = folder.path().join("package_00_die_00");
        fs::create_dir(&die).unwrap();
        for (file, text) in [("min_freq_khz", "1200000"), ("max_freq_khz", "2400000")] {
            fs::write(die.join(file), text).unwrap();
        }
        let host = |model: &str| HostFacts {
            cpu: CpuFacts::parse(&CPUINFO.replace(": 58", model)),
            uncore: uncore_clocks(folder.path()),
            ..HostFacts::default()
        };
        assert_eq!(host(": 58").unlike_published(), None);
        let why = host(": 62").unlike_published().unwrap();
        assert!(why.contains("1200 to 2400 MHz"), "{why}");
    }

    #[test]
    fn network_cards_are_found_by_class() {
        let devices = tempfile::tempdir().unwrap();
        for (address, class) in [("0000:03:00.0", "0x020000"), ("0000:00:1f.2", "0x010601")] {
            let device = devices.path().join(address);
            fs::create_dir(&device).unwrap();
            for (file, text) in [("class", class), ("vendor", "0x8086"), ("device", "0x10fb")] {
                fs::write(device.join(file), format!("{text}\n")).unwrap();
            }
            std::os::unix::fs::symlink("/x/drivers/vfio-pci", device.join("driver")).unwrap();
        }
        let found = NicFacts {
            address: "0000:03:00.0".into(),
            id: "8086:10fb".into(),
            driver: Some("vfio-pci".into()),
        };
        assert_eq!(nics(devices.path()), [found]);
    }

    #[test]
    fn this_machine_answers() {
        let host = HostFacts::gather();
        assert!(!host.kernel.is_empty());
        assert!(host.cpu.tsc_mhz > 100.0, "{}", host.cpu.tsc_mhz);
    }
}
