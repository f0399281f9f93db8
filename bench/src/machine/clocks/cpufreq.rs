//! The kernel's clock settings, in `/sys/devices/system/cpu`. `cpupower frequency-set` writes the same
//! files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::core_clock::same;

const CPU: &str = "sys/devices/system/cpu";

/// Why the clock cannot be fixed.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// The kernel offers no clock settings.
    #[error(
        "this machine has no clock settings ({} has no policies): a virtual machine has none; on a \
         real one, load the driver `acpi-cpufreq` or `intel_pstate` and allow clock settings in the \
         firmware, or measure with --keep-clock at the clock that the machine has",
        .0.display()
    )]
    Absent(PathBuf),
    /// The processor does not reach the clock.
    #[error(
        "{ghz} GHz is outside of this processor's {low} to {high} GHz (without turbo): name other \
         clocks with --clock, or measure with --keep-clock"
    )]
    Range {
        /// The wanted clock, GHz.
        ghz: f64,
        /// The lowest clock, GHz.
        low: f64,
        /// The highest clock, GHz.
        high: f64,
    },
    /// The kernel took another value.
    #[error(
        "the kernel set {name} to {low} to {high} GHz instead of {ghz} GHz: name a clock of \
         scaling_available_frequencies, or end the program that sets clocks (tuned, tlp, \
         power-profiles-daemon)"
    )]
    Other {
        /// The policy.
        name: String,
        /// The wanted clock, GHz.
        ghz: f64,
        /// The lower limit that the kernel has, GHz.
        low: f64,
        /// The upper limit that the kernel has, GHz.
        high: f64,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {cause}{}", path.display(), advice(cause))]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The note of the earlier settings is malformed.
    #[error("{} is malformed: {why}; remove it after you have set the clocks by hand", path.display())]
    Note {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        why: String,
    },
    /// Another process has fixed the clock.
    #[error("another triptych holds the clocks: wait for it, or end it (it holds {})", .0.display())]
    Held(PathBuf),
}

fn advice(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => "; only root may do that: use sudo",
        _ => "",
    }
}

impl ClockError {
    pub(super) fn file(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::File {
            action,
            path: path.to_owned(),
            cause,
        }
    }
}

/// A switch of the kernel that forbids turbo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurboSwitch {
    /// `intel_pstate/no_turbo`: 1 forbids turbo.
    NoTurbo,
    /// `cpufreq/boost`: 0 forbids turbo.
    Boost,
}

impl TurboSwitch {
    fn file(self) -> &'static str {
        match self {
            Self::NoTurbo => "intel_pstate/no_turbo",
            Self::Boost => "cpufreq/boost",
        }
    }

    fn off(self) -> &'static str {
        match self {
            Self::NoTurbo => "1",
            Self::Boost => "0",
        }
    }
}

/// The limits of one policy, which is a group of CPUs with one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The number of the policy.
    pub policy: u32,
    /// Lower limit, kHz.
    pub min_khz: u64,
    /// Upper limit, kHz.
    pub max_khz: u64,
}

/// All clock settings that a run changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The switch of turbo with its value; `None` if the kernel has no switch.
    pub turbo: Option<(TurboSwitch, String)>,
    /// The limits of each policy.
    pub policies: Vec<Limits>,
}

/// A write to a file, as a plan shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// The value.
    pub value: String,
}

/// The clock settings of a machine.
#[derive(Debug, Clone)]
pub struct Cpufreq {
    folder: PathBuf,
}

impl Cpufreq {
    /// The machine whose files are below `root`, which is `/` except in tests.
    pub fn below(root: &Path) -> Self {
        Self {
            folder: root.join(CPU),
        }
    }

    /// The present settings.
    ///
    /// # Errors
    /// [`ClockError::Absent`] or [`ClockError::File`].
    pub fn read(&self) -> Result<Settings, ClockError> {
        let policies = self.folder.join("cpufreq");
        let mut numbers: Vec<u32> = fs::read_dir(&policies)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_prefix("policy")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        if numbers.is_empty() {
            return Err(ClockError::Absent(policies));
        }
        let limits = |policy| {
            Ok(Limits {
                policy,
                min_khz: self.khz(policy, "scaling_min_freq")?,
                max_khz: self.khz(policy, "scaling_max_freq")?,
            })
        };
        Ok(Settings {
            turbo: [TurboSwitch::NoTurbo, TurboSwitch::Boost]
                .into_iter()
                .find_map(|switch| Some((switch, self.text(Path::new(switch.file())).ok()?))),
            policies: numbers
                .into_iter()
                .map(limits)
                .collect::<Result<_, ClockError>>()?,
        })
    }

    /// The lowest and the highest clock of all CPUs now, GHz. Without turbo, the highest clock can be
    /// lower.
    ///
    /// # Errors
    /// Those of [`Cpufreq::read`].
    pub fn range(&self, settings: &Settings) -> Result<(f64, f64), ClockError> {
        let (mut low, mut high) = (0, u64::MAX);
        for limits in &settings.policies {
            low = low.max(self.khz(limits.policy, "cpuinfo_min_freq")?);
            high = high.min(self.khz(limits.policy, "cpuinfo_max_freq")?);
        }
        Ok((ghz(low), ghz(high)))
    }

    /// The writes that fix all CPUs at a clock without turbo.
    pub fn plan(&self, settings: &Settings, wanted_ghz: f64) -> Vec<Change> {
        let khz = (wanted_ghz * 1e6).round() as u64;
        let wanted = Settings {
            turbo: settings
                .turbo
                .as_ref()
                .map(|(switch, _)| (*switch, switch.off().to_owned())),
            policies: settings
                .policies
                .iter()
                .map(|limits| Limits {
                    policy: limits.policy,
                    min_khz: khz,
                    max_khz: khz,
                })
                .collect(),
        };
        self.changes(settings, &wanted)
    }

    /// Fixes all CPUs at a clock without turbo. After an error, the settings may be half changed:
    /// restore them.
    ///
    /// # Errors
    /// Every [`ClockError`] but those of the note.
    pub fn fix(&self, wanted_ghz: f64) -> Result<(), ClockError> {
        let before = self.read()?;
        // Turbo goes off first, because it may change the range.
        let (turbo, limits): (Vec<_>, Vec<_>) = self
            .plan(&before, wanted_ghz)
            .into_iter()
            .partition(|change| !change.path.to_string_lossy().contains("policy"));
        apply(&turbo)?;
        let (low, high) = self.range(&before)?;
        let khz = 1e-6;
        if wanted_ghz < low - khz || wanted_ghz > high + khz {
            return Err(ClockError::Range {
                ghz: wanted_ghz,
                low,
                high,
            });
        }
        apply(&limits)?;
        for limits in self.read()?.policies {
            let (low, high) = (ghz(limits.min_khz), ghz(limits.max_khz));
            if !same(low, wanted_ghz) || !same(high, wanted_ghz) {
                return Err(ClockError::Other {
                    name: format!("policy{}", limits.policy),
                    ghz: wanted_ghz,
                    low,
                    high,
                });
            }
        }
        Ok(())
    }

    /// Restores earlier settings. The policies of CPUs that have gone offline are left out.
    ///
    /// # Errors
    /// [`ClockError::File`].
    pub fn restore(&self, earlier: &Settings) -> Result<(), ClockError> {
        let now = self.read()?;
        let mut earlier = earlier.clone();
        earlier.policies.retain(|limits| {
            now.policies
                .iter()
                .any(|other| other.policy == limits.policy)
        });
        apply(&self.changes(&now, &earlier))
    }

    /// The writes that lead from one setting to another, in an order that every kernel accepts: the
    /// lower limit is never above the upper one.
    fn changes(&self, now: &Settings, wanted: &Settings) -> Vec<Change> {
        let mut changes = Vec::new();
        if let (Some((_, is)), Some((switch, value))) = (&now.turbo, &wanted.turbo) {
            if is != value {
                changes.push(Change {
                    path: self.folder.join(switch.file()),
                    value: value.clone(),
                });
            }
        }
        for limits in &wanted.policies {
            let change = |name: &str, khz: u64| Change {
                path: self.policy(limits.policy).join(name),
                value: khz.to_string(),
            };
            let lower = change("scaling_min_freq", limits.min_khz);
            let upper = change("scaling_max_freq", limits.max_khz);
            let is = now
                .policies
                .iter()
                .find(|other| other.policy == limits.policy);
            match is {
                Some(is) if is.max_khz < limits.min_khz => changes.extend([upper, lower]),
                _ => changes.extend([lower, upper]),
            }
        }
        changes
    }

    fn policy(&self, number: u32) -> PathBuf {
        self.folder.join(format!("cpufreq/policy{number}"))
    }

    fn text(&self, path: &Path) -> Result<String, ClockError> {
        let path = self.folder.join(path);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(cause) => Err(ClockError::file("read", &path, cause)),
        }
    }

    fn khz(&self, policy: u32, name: &str) -> Result<u64, ClockError> {
        let path = self.policy(policy).join(name);
        self.text(&path)?.parse().map_err(|_| {
            let cause = io::Error::new(io::ErrorKind::InvalidData, "not a number of kHz");
            ClockError::file("use", &path, cause)
        })
    }
}

fn ghz(khz: u64) -> f64 {
    khz as f64 / 1e6
}

fn apply(changes: &[Change]) -> Result<(), ClockError> {
    for change in changes {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&change.path)
            // One call of write, because sysfs takes each call as a separate command.
            .and_then(|mut file| file.write_all(change.value.as_bytes()))
            .map_err(|cause| ClockError::file("write", &change.path, cause))?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A machine of two CPUs from 0.8 to 3.7 GHz, with turbo. Returns its root.
    pub fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join(CPU);
        for policy in [0, 1] {
            let folder = cpu.join(format!("cpufreq/policy{policy}"));
            fs::create_dir_all(&folder).unwrap();
            for (name, value) in [
                ("cpuinfo_min_freq", "800000\n"),
                ("cpuinfo_max_freq", "3700000\n"),
                ("scaling_min_freq", "800000\n"),
                ("scaling_max_freq", "3700000\n"),
            ] {
                fs::write(folder.join(name), value).unwrap();
            }
        }
        fs::create_dir_all(cpu.join("intel_pstate")).unwrap();
        fs::write(cpu.join("intel_pstate/no_turbo"), "0\n").unwrap();
        fs::create_dir_all(root.path().join("run")).unwrap();
        root
    }

    fn limits(settings: &Settings) -> Vec<(u64, u64)> {
        let policies = settings.policies.iter();
        policies.map(|it| (it.min_khz, it.max_khz)).collect()
    }

    #[test]
    fn a_clock_is_fixed_on_all_cpus_and_restored() {
        let root = machine();
        let cpufreq = Cpufreq::below(root.path());
        let before = cpufreq.read().unwrap();
        for ghz in [1.6, 3.3, 0.8] {
            cpufreq.fix(ghz).unwrap();
            let fixed = cpufreq.read().unwrap();
            let khz = (ghz * 1e6) as u64;
            assert_eq!(limits(&fixed), [(khz, khz), (khz, khz)]);
            assert_eq!(fixed.turbo, Some((TurboSwitch::NoTurbo, "1".into())));
        }
        cpufreq.restore(&before).unwrap();
        assert_eq!(cpufreq.read().unwrap(), before);
    }

    #[test]
    fn the_lower_limit_is_never_above_the_upper_one() {
        let root = machine();
        let cpufreq = Cpufreq::below(root.path());
        for (from, to) in [(0.8, 3.3), (3.3, 0.8), (1.6, 1.6)] {
            cpufreq.fix(from).unwrap();
            let now = cpufreq.read().unwrap();
            let mut limits = (now.policies[0].min_khz, now.policies[0].max_khz);
            for change in cpufreq.plan(&now, to) {
                let value = change.value.parse().unwrap();
                match change.path.to_string_lossy() {
                    path if path.ends_with("policy0/scaling_min_freq") => limits.0 = value,
                    path if path.ends_with("policy0/scaling_max_freq") => limits.1 = value,
                    _ => {}
                }
                assert!(limits.0 <= limits.1, "{from} to {to}: {limits:?}");
            }
        }
    }

    #[test]
    fn a_clock_outside_of_the_range_is_refused_with_the_range() {
        let root = machine();
        let cpufreq = Cpufreq::below(root.path());
        for wrong in [0.4, 4.2] {
            let error = cpufreq.fix(wrong).unwrap_err().to_string();
            assert!(
                error.contains("0.8 to 3.7 GHz") && error.contains("--keep-clock"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_machine_without_settings_is_named_with_the_way_out() {
        let root = tempfile::tempdir().unwrap();
        let error = Cpufreq::below(root.path())
            .fix(1.6)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("virtual machine") && error.contains("--keep-clock"),
            "{error}"
        );
    }

    #[test]
    fn a_cpu_that_went_offline_is_left_out() {
        let root = machine();
        let cpufreq = Cpufreq::below(root.path());
        let before = cpufreq.read().unwrap();
        cpufreq.fix(1.6).unwrap();
        fs::remove_dir_all(root.path().join(CPU).join("cpufreq/policy1")).unwrap();
        cpufreq.restore(&before).unwrap();
        assert_eq!(limits(&cpufreq.read().unwrap()), [(800_000, 3_700_000)]);
    }
}
