//! Compares the measured builds: by version, by flags, and with a baseline. What could not be
//! compared is listed with the reason, so that an empty list of regressions says what it means.

use std::collections::{BTreeMap, BTreeSet};

use record::{Implementation, Metric};
use serde::Serialize;

use super::rows::ResultRow;
use crate::build::toolchain::compiler::older;
use crate::interval::Interval;

/// The metrics that decide whether a build is worse.
pub const JUDGED: [Metric; 2] = [Metric::Instructions, Metric::TscCycles];

/// What a change must exceed to count.
///
/// Instructions are counted exactly by the tracer. Two counts of one program by valgrind differ by less
/// than 0.1 a packet, about 0.1 %, so one percent is far from noise. TSC cycles change by alignment
/// alone, so their limit is higher, and their 95 % intervals must not touch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judge {
    /// Share of the instructions, percent.
    pub instructions_percent: f64,
    /// Instructions per packet.
    pub instructions: f64,
    /// Share of the cycles, percent.
    pub cycles_percent: f64,
}

impl Judge {
    /// The usual limits, or the limit in percent that the user named for all metrics.
    pub fn new(threshold: Option<f64>) -> Self {
        Self {
            instructions_percent: threshold.unwrap_or(1.0),
            instructions: 0.2,
            cycles_percent: threshold.unwrap_or(2.0),
        }
    }

    /// Judges a change of a metric.
    pub fn verdict(&self, metric: Metric, before: Interval, after: Interval) -> Verdict {
        let more = after.median - before.median;
        let percent = match metric {
            Metric::TscCycles => self.cycles_percent,
            _ => self.instructions_percent,
        };
        let small = more.abs() <= percent / 100.0 * before.median.abs();
        let apart = match metric {
            Metric::TscCycles => after.low > before.high || after.high < before.low,
            _ => more.abs() > self.instructions,
        };
        match (small, apart, more > 0.0) {
            (true, ..) => Verdict::Unchanged,
            (_, false, _) => Verdict::WithinNoise,
            (_, _, true) => Verdict::Worse,
            (_, _, false) => Verdict::Better,
        }
    }
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// More than the limit, beyond noise.
    Worse,
    /// Less than the limit, beyond noise.
    Better,
    /// Within the limit.
    Unchanged,
    /// Beyond the limit, but not beyond noise.
    #[strum(serialize = "within noise")]
    WithinNoise,
}

/// Why two builds are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Basis {
    /// A compiler beside the next older version of its family, with the same flags.
    Version,
    /// A compiler with other flags, beside itself with the default flags.
    Flags,
    /// A build beside the one that the user named.
    Baseline,
}

/// A metric of two builds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The first build.
    pub before: Interval,
    /// The second build.
    pub after: Interval,
    /// The change of the median, percent of the first.
    pub percent: f64,
    /// What it means.
    pub verdict: Verdict,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The label of the compiler.
    pub compiler: String,
    /// The flags in short.
    pub flags: String,
    /// The name of the build in `samples.csv`.
    pub variant: String,
}

/// Two builds of a driver at a batch size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Why they are compared.
    pub basis: Basis,
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Packets asked for per receive call.
    pub batch: u32,
    /// The older version, the default flags, or the baseline.
    pub from: Side,
    /// The other build.
    pub to: Side,
    /// The changes.
    pub metrics: BTreeMap<Metric, Change>,
}

impl Comparison {
    /// Whether a metric is worse.
    pub fn is_worse(&self) -> bool {
        !self.worse_by().is_empty()
    }

    /// The metrics that are worse.
    pub fn worse_by(&self) -> Vec<String> {
        let worse = self.metrics.iter();
        worse
            .filter(|(_, change)| change.verdict == Verdict::Worse)
            .map(|(metric, _)| metric.label().to_owned())
            .collect()
    }
}

/// Builds that were not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCompared {
    /// The kind of comparison.
    pub basis: Basis,
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Why.
    pub why: String,
    /// What was not compared: flags, compilers, or builds.
    pub what: Vec<String>,
}

impl std::fmt::Display for NotCompared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (driver, what, why) = (self.implementation, self.what.join(", "), &self.why);
        match self.basis {
            Basis::Baseline => write!(formatter, "{driver} with the baseline: {what}: {why}"),
            basis => write!(formatter, "{driver} by {basis}: {what}: {why}"),
        }
    }
}

/// The rows to compare with, and whether another run measured them.
#[derive(Debug, Clone)]
pub struct Baseline<'a> {
    /// Its rows.
    pub rows: Vec<&'a ResultRow>,
    /// Whether a stored result has them.
    pub stored: bool,
}

/// All comparisons, and what was not compared.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// The comparisons.
    pub made: Vec<Comparison>,
    /// What was not compared.
    pub missing: Vec<NotCompared>,
}

impl Comparisons {
    /// Compares all rows, which stand in the order of versions.
    pub fn of(judge: Judge, rows: &[ResultRow], baseline: Option<&Baseline<'_>>) -> Self {
        let mut collector = Collector {
            judge,
            made: Vec::new(),
            missing: BTreeMap::new(),
        };
        for row in rows {
            collector.by_version(row, rows);
            collector.by_flags(row, rows);
            if let Some(baseline) = baseline {
                collector.by_baseline(row, baseline);
            }
        }
        let missing = collector.missing.into_iter();
        Self {
            made: collector.made,
            missing: missing
                .map(|((basis, implementation, why), what)| NotCompared {
                    basis,
                    implementation,
                    why,
                    what: what.into_iter().collect(),
                })
                .collect(),
        }
    }

    /// The comparisons of a kind at a batch size.
    pub fn made_by(&self, basis: Basis, batch: u32) -> Vec<&Comparison> {
        let fits = |made: &&Comparison| made.basis == basis && made.batch == batch;
        self.made.iter().filter(fits).collect()
    }

    /// Whether a build is worse than the baseline.
    pub fn worse_than_baseline(&self) -> bool {
        let against = |made: &&Comparison| made.basis == Basis::Baseline;
        self.made.iter().filter(against).any(Comparison::is_worse)
    }
}

struct Collector {
    judge: Judge,
    made: Vec<Comparison>,
    missing: BTreeMap<(Basis, Implementation, String), BTreeSet<String>>,
}

impl Collector {
    fn miss(&mut self, basis: Basis, row: &ResultRow, what: String, why: &str) {
        let key = (basis, row.implementation, why.to_owned());
        self.missing.entry(key).or_default().insert(what);
    }

    fn compare(&mut self, basis: Basis, from: &ResultRow, to: &ResultRow, metrics: &[Metric]) {
        let side = |row: &ResultRow| Side {
            compiler: row.compiler.clone(),
            flags: row.flags.clone(),
            variant: row.variant.clone(),
        };
        let mut changes = BTreeMap::new();
        for metric in metrics {
            let (Some(before), Some(after)) = (from.metrics.get(metric), to.metrics.get(metric))
            else {
                let what = format!("{} of {} {}", metric.label(), to.compiler, to.flags);
                self.miss(basis, to, what, "not measured on both sides");
                continue;
            };
            if before.backend != after.backend {
                let what = format!("{} of {} {}", metric.label(), to.compiler, to.flags);
                let why = format!(
                    "{} counted one side and {} the other",
                    before.backend, after.backend
                );
                self.miss(basis, to, what, &why);
                continue;
            }
            let (before, after) = (before.interval, after.interval);
            let change = Change {
                before,
                after,
                percent: 100.0 * (after.median / before.median - 1.0),
                verdict: self.judge.verdict(*metric, before, after),
            };
            changes.insert(*metric, change);
        }
        if changes.is_empty() {
            return;
        }
        self.made.push(Comparison {
            basis,
            implementation: to.implementation,
            batch: to.batch,
            from: side(from),
            to: side(to),
            metrics: changes,
        });
    }

    /// Compares with the next older version of the family.
    fn by_version(&mut self, row: &ResultRow, rows: &[ResultRow]) {
        let peer = |other: &&ResultRow| {
            other.implementation == row.implementation
                && other.batch == row.batch
                && other.family == row.family
                && other.flags == row.flags
        };
        let same = |other: &ResultRow| other.version == row.version;
        let peers: Vec<_> = rows.iter().filter(peer).collect();
        let next = peers
            .iter()
            .rfind(|other| older(&other.version, &row.version));
        if let Some(old) = next {
            self.compare(Basis::Version, old, row, &JUDGED);
        } else if peers.iter().all(|other| same(other)) {
            let family = row.family;
            let why = match peers.len() {
                1 => format!("only one version of {family}"),
                _ => format!(
                    "only one version of {family}, {}; name one of its builds with --baseline",
                    row.version
                ),
            };
            self.miss(Basis::Version, row, row.flags.clone(), &why);
        }
    }

    /// Compares with the default flags, or with the first flags of the list.
    fn by_flags(&mut self, row: &ResultRow, rows: &[ResultRow]) {
        let peer = |other: &&ResultRow| {
            other.implementation == row.implementation
                && other.batch == row.batch
                && (&other.path, &other.sha256) == (&row.path, &row.sha256)
        };
        let peers: Vec<_> = rows.iter().filter(peer).collect();
        let base = peers
            .iter()
            .find(|other| other.default_flags)
            .or(peers.first());
        match base {
            Some(base) if base.flags != row.flags => {
                self.compare(Basis::Flags, base, row, &JUDGED);
            }
            _ if peers.len() == 1 => {
                let what = row.compiler.clone();
                self.miss(Basis::Flags, row, what, &format!("only {}", row.flags));
            }
            _ => {}
        }
    }

    /// Compares with the build of the baseline that has the same flags. The baseline's own builds
    /// with other flags are compared with its default flags.
    fn by_baseline(&mut self, row: &ResultRow, baseline: &Baseline<'_>) {
        let peer = |other: &&ResultRow| {
            other.implementation == row.implementation && other.batch == row.batch
        };
        let equal = |other: &&ResultRow| peer(other) && other.flags == row.flags;
        let all = || baseline.rows.iter().copied();
        let peers: Vec<_> = all().filter(equal).collect();
        let default = || all().find(|other| peer(other) && other.default_flags);
        let is_row = |other: &ResultRow| !baseline.stored && other.variant == row.variant;
        let found = match baseline.stored {
            true => stored_peer(row, &peers),
            false => peers.first().copied(),
        };
        let from = match found {
            Some(from) if is_row(from) => default(),
            found => found,
        };
        let Some(from) = from else {
            let build = format!("{} {} at batch {}", row.compiler, row.flags, row.batch);
            return self.miss(
                Basis::Baseline,
                row,
                build,
                "the baseline has no such build",
            );
        };
        if is_row(from) {
            return;
        }
        if !baseline.stored {
            return self.compare(Basis::Baseline, from, row, &JUDGED);
        }
        self.compare(Basis::Baseline, from, row, &[Metric::Instructions]);
        let why = "another run measured the baseline, so its TSC cycles are not comparable";
        let cycles = Metric::TscCycles.label().to_owned();
        self.miss(Basis::Baseline, row, cycles, why);
    }
}

/// The row of a stored result that a row continues: that of the same label, or of the same version,
/// or of the only compiler of the family.
fn stored_peer<'a>(row: &ResultRow, peers: &[&'a ResultRow]) -> Option<&'a ResultRow> {
    let label = peers.iter().find(|other| other.compiler == row.compiler);
    let version = || peers.iter().find(|other| other.name() == row.name());
    let family = || {
        let mut of_family = peers.iter().filter(|other| other.family == row.family);
        of_family.next().filter(|_| of_family.next().is_none())
    };
    label.or_else(version).or_else(family).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use record::BackendName;
    use Implementation::C;

    use super::super::rows::Measured;
    use super::*;
    use crate::build::toolchain::compiler::Family;

    /// The interval of the values of one process.
    fn interval(values: &[f64]) -> Interval {
        Interval::of(&[values.to_vec()]).unwrap()
    }

    fn measured(values: &[f64], backend: BackendName) -> Measured {
        Measured {
            interval: interval(values),
            repeats: values.len(),
            unit: "x".to_owned(),
            backend,
        }
    }

    /// A row of the C driver. Builds with the flags `-O2` are the default ones.
    fn row(
        compiler: &str,
        family: Family,
        version: &str,
        flags: &str,
        instructions: f64,
    ) -> ResultRow {
        let metrics = [
            (
                Metric::Instructions,
                measured(&[instructions], BackendName::Valgrind),
            ),
            (
                Metric::TscCycles,
                measured(&[20.0; 5], BackendName::Lockstep),
            ),
        ];
        ResultRow {
            implementation: C,
            batch: 32,
            compiler: compiler.to_owned(),
            family,
            version: version.to_owned(),
            path: format!("/opt/{compiler}"),
            sha256: compiler.to_owned(),
            flags: flags.to_owned(),
            default_flags: flags == "-O2",
            variant: format!("{compiler}{flags}"),
            command: String::new(),
            metrics: metrics.into(),
        }
    }

    fn gcc(version: &str, instructions: f64) -> ResultRow {
        row(version, Family::Gcc, version, "-O2", instructions)
    }

    fn instructions(made: &Comparison) -> (&str, &str, Verdict) {
        let verdict = made.metrics[&Metric::Instructions].verdict;
        (&made.from.compiler, &made.to.compiler, verdict)
    }

    #[test]
    fn each_version_is_compared_with_the_next_older_one() {
        let rows = [
            gcc("9.5.0", 70.0),
            gcc("11.4.0", 80.0),
            gcc("12.2.0", 80.1),
            row("clang", Family::Clang, "19.1.7", "-O2", 90.0),
        ];
        let found = Comparisons::of(Judge::new(None), &rows, None);
        let made = found.made_by(Basis::Version, 32);
        assert_eq!(
            made.into_iter().map(instructions).collect::<Vec<_>>(),
            [
                ("9.5.0", "11.4.0", Verdict::Worse),
                ("11.4.0", "12.2.0", Verdict::Unchanged)
            ]
        );
        let missing: Vec<_> = found.missing.iter().map(ToString::to_string).collect();
        assert_eq!(
            missing,
            [
                "c by version: -O2: only one version of clang",
                "c by flags: 11.4.0, 12.2.0, 9.5.0, clang: only -O2"
            ]
        );
        assert!(!found.worse_than_baseline());
    }

    #[test]
    fn equal_versions_need_a_baseline() {
        let rows = [
            row("before", Family::Gcc, "12.2.0", "-O2", 70.0),
            row("after", Family::Gcc, "12.2.0", "-O2", 103.5),
        ];
        let found = Comparisons::of(Judge::new(None), &rows, None);
        assert!(found.made.is_empty());
        let why = &found.missing[0].why;
        assert!(why.contains("only one version of gcc, 12.2.0") && why.contains("--baseline"));
        let baseline = Baseline {
            rows: vec![&rows[0]],
            stored: false,
        };
        let found = Comparisons::of(Judge::new(None), &rows, Some(&baseline));
        assert_eq!(
            instructions(&found.made[0]),
            ("before", "after", Verdict::Worse)
        );
        assert_eq!(found.made.len(), 1);
        assert!(found.worse_than_baseline());
        let decided = found.made[0].worse_by();
        assert!(decided.contains(&Metric::Instructions.label().to_owned()));
        assert!(!decided.contains(&Metric::TscCycles.label().to_owned()));
        let found = Comparisons::of(Judge::new(Some(50.0)), &rows, Some(&baseline));
        assert!(!found.worse_than_baseline());
    }

    #[test]
    fn flags_are_compared_with_the_default_flags_and_with_a_baseline() {
        let rows = [
            row("gcc", Family::Gcc, "12.2.0", "-O2", 70.0),
            row("gcc", Family::Gcc, "12.2.0", "-Os", 90.0),
        ];
        let baseline = Baseline {
            rows: rows.iter().collect(),
            stored: false,
        };
        let found = Comparisons::of(Judge::new(None), &rows, Some(&baseline));
        for basis in [Basis::Flags, Basis::Baseline] {
            let made = found.made_by(basis, 32);
            assert_eq!(made.len(), 1, "{basis}");
            assert_eq!(
                (made[0].from.flags.as_str(), made[0].to.flags.as_str()),
                ("-O2", "-Os")
            );
        }
        assert!(found.worse_than_baseline());
    }

    #[test]
    fn of_a_stored_result_no_tsc_cycles_are_compared() {
        let stored = [gcc("11.4.0", 80.0), gcc("12.2.0", 70.0)];
        let baseline = Baseline {
            rows: stored.iter().collect(),
            stored: true,
        };
        // The same version with other contents, and a version that the stored result lacks.
        let rows = [
            row("patched", Family::Gcc, "12.2.0", "-O2", 75.0),
            row("trunk", Family::Gcc, "13.0.0", "-O2", 75.0),
        ];
        let found = Comparisons::of(Judge::new(None), &rows, Some(&baseline));
        let made = found.made_by(Basis::Baseline, 32);
        assert_eq!(made.len(), 1);
        assert_eq!(instructions(made[0]), ("12.2.0", "patched", Verdict::Worse));
        assert!(!made[0].metrics.contains_key(&Metric::TscCycles));
        let why: Vec<_> = found.missing.iter().map(|missing| &missing.why).collect();
        assert!(
            why.iter().any(|why| why.contains("no such build")),
            "{why:?}"
        );
    }

    #[test]
    fn values_of_other_backends_are_not_compared() {
        let mut stored = [gcc("12.2.0", 70.0)];
        let counted = stored[0].metrics.get_mut(&Metric::Instructions).unwrap();
        counted.backend = BackendName::Trace;
        let baseline = Baseline {
            rows: stored.iter().collect(),
            stored: true,
        };
        let rows = [gcc("12.2.0", 75.0)];
        let found = Comparisons::of(Judge::new(None), &rows, Some(&baseline));
        assert!(found.made.is_empty(), "{:?}", found.made);
        let missing: Vec<_> = found.missing.iter().map(ToString::to_string).collect();
        let why = "trace counted one side and valgrind";
        assert!(missing.iter().any(|one| one.contains(why)), "{missing:?}");
    }

    #[test]
    fn a_metric_that_was_not_measured_is_named() {
        let mut rows = [gcc("11.4.0", 80.0), gcc("12.2.0", 80.0)];
        rows[1].metrics.remove(&Metric::TscCycles);
        let found = Comparisons::of(Judge::new(None), &rows, None);
        let named = found.missing.iter().any(|missing| {
            missing.why == "not measured on both sides" && missing.what[0].contains("12.2.0")
        });
        assert!(named, "{:?}", found.missing);
    }

    #[test]
    fn cycles_are_worse_only_if_the_intervals_do_not_touch() {
        let judge = Judge::new(None);
        let before = interval(&[10.0, 10.5, 11.0, 12.0]);
        let noisy = interval(&[11.0, 12.0, 13.0, 14.0]);
        let clear = interval(&[14.0, 14.5, 15.0]);
        let verdict = |before, after| judge.verdict(Metric::TscCycles, before, after);
        assert_eq!(verdict(before, noisy), Verdict::WithinNoise);
        assert_eq!(verdict(before, clear), Verdict::Worse);
        assert_eq!(verdict(clear, before), Verdict::Better);
    }

    proptest! {
        /// Equal or smaller values are never worse, and exchanged sides exchange worse and better.
        #[test]
        fn verdicts_are_symmetric(
            values in proptest::collection::vec(1.0..1000.0f64, 1..50),
            factor in 0.1..1.0f64,
        ) {
            let judge = Judge::new(Some(0.0));
            let before = interval(&values);
            let smaller: Vec<_> = values.iter().map(|value| value * factor).collect();
            let after = interval(&smaller);
            for metric in JUDGED {
                let (down, up) = (judge.verdict(metric, before, after), judge.verdict(metric, after, before));
                prop_assert_ne!(down, Verdict::Worse);
                prop_assert_ne!(up, Verdict::Better);
                prop_assert_eq!(down == Verdict::Better, up == Verdict::Worse);
            }
        }
    }
}
