//! Compares the measured builds: by version, by flags, and with a baseline. What could not be
//! compared is listed with the reason, so that an empty list of regressions says what it means.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use record::{Implementation, Metric};
use serde::Serialize;

use super::rows::BuildRow;
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
    pub instructions_percent: f64,
    pub instructions: f64,
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

    pub fn judge(&self, metric: Metric, before: Interval, after: Interval) -> Judgement {
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
            (true, ..) => Judgement::Unchanged,
            (_, false, _) => Judgement::WithinNoise,
            (_, _, true) => Judgement::Worse,
            (_, _, false) => Judgement::Better,
        }
    }
}

/// Whether a change exceeds the limit and the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum Judgement {
    Worse,
    Better,
    Unchanged,
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

#[derive(Debug, Clone, Copy, Serialize)]
pub struct MetricChange {
    pub before: Interval,
    pub after: Interval,
    pub percent: f64,
    pub verdict: Judgement,
}

/// One of two builds.
#[derive(Debug, Clone, Serialize)]
pub struct BuildName {
    pub compiler: String,
    pub flags: String,
    pub variant: String,
}

impl BuildName {
    fn of(row: &BuildRow) -> Self {
        Self {
            compiler: row.compiler.clone(),
            flags: row.flags.clone(),
            variant: row.variant.clone(),
        }
    }
}

impl Display for BuildName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.compiler, self.flags)
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub basis: Basis,
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    pub batch: u32,
    /// The older version, the default flags, or the baseline.
    pub from: BuildName,
    pub to: BuildName,
    pub metrics: BTreeMap<Metric, MetricChange>,
}

impl Compared {
    pub fn worse_by(&self) -> Vec<&'static str> {
        let worse = |(_, found): &(&Metric, &MetricChange)| found.verdict == Judgement::Worse;
        let metrics = self.metrics.iter().filter(worse);
        metrics.map(|(metric, _)| metric.label()).collect()
    }
}

/// Builds that were not compared.
#[derive(Debug, Clone, Serialize)]
pub struct NotCompared {
    pub basis: Basis,
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    pub why: String,
    pub what: Vec<String>,
}

impl Display for NotCompared {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (driver, what, why) = (self.implementation, self.what.join(", "), &self.why);
        match self.basis {
            Basis::Baseline => write!(formatter, "{driver} with the baseline: {what}: {why}"),
            basis => write!(formatter, "{driver} by {basis}: {what}: {why}"),
        }
    }
}

/// What is compared with what, and what a change needs to count.
#[derive(Debug)]
pub struct Comparisons<'a> {
    pub judge: Judge,
    /// In the order of versions.
    pub rows: &'a [BuildRow],
    /// The rows of the baseline, and whether another run measured them.
    pub baseline: Option<(Vec<&'a BuildRow>, bool)>,
}

/// What is not compared, and why.
type Miss = (String, String);

impl<'a> Comparisons<'a> {
    pub fn find(&self) -> (Vec<Compared>, Vec<NotCompared>) {
        let mut made = Vec::new();
        let mut missing: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for row in self.rows {
            for basis in [Basis::Version, Basis::Flags, Basis::Baseline] {
                let mut misses = Vec::new();
                match self.base(basis, row) {
                    Ok(Some(base)) => made.extend(self.compare(basis, base, row, &mut misses)),
                    Ok(None) => {}
                    Err(miss) => misses.push(miss),
                }
                for (what, why) in misses {
                    let key = (basis, row.implementation, why);
                    missing.entry(key).or_default().insert(what);
                }
            }
        }
        let missing = missing.into_iter();
        let missing = missing.map(|((basis, implementation, why), what)| NotCompared {
            basis,
            implementation,
            why,
            what: what.into_iter().collect(),
        });
        (made, missing.collect())
    }

    /// The row that a row is compared with: the next older version of its compiler's family, the same compiler with
    /// the default flags or the first flags of the list, or the baseline. `None` if the row is itself a base.
    fn base(&self, basis: Basis, row: &BuildRow) -> Result<Option<&'a BuildRow>, Miss> {
        let like = |other: &&BuildRow| {
            other.implementation == row.implementation && other.batch == row.batch
        };
        let all = self.rows.iter().filter(like);
        let (base, what, why) = match (basis, &self.baseline) {
            (Basis::Version, _) => {
                let same =
                    |other: &&BuildRow| (other.family, &other.flags) == (row.family, &row.flags);
                let peers: Vec<_> = all.filter(same).collect();
                let is_older = |other: &&&BuildRow| older(&other.version, &row.version);
                let base = peers.iter().rfind(is_older).copied();
                if base.is_none() && peers.iter().any(|other| other.version != row.version) {
                    return Ok(None);
                }
                let mut why = format!("only one version of {}", row.family);
                if peers.len() > 1 {
                    why += &format!(", {}; name one of its builds with --baseline", row.version);
                }
                (base, row.flags.clone(), why)
            }
            (Basis::Flags, _) => {
                let same =
                    |other: &&BuildRow| (&other.path, &other.sha256) == (&row.path, &row.sha256);
                let peers: Vec<_> = all.filter(same).collect();
                let default = peers.iter().find(|other| other.default_flags);
                let base = default.or(peers.first()).copied();
                let base = base.filter(|base| base.flags != row.flags);
                if base.is_none() && peers.len() > 1 {
                    return Ok(None);
                }
                (base, row.compiler.clone(), format!("only {}", row.flags))
            }
            (Basis::Baseline, None) => return Ok(None),
            (Basis::Baseline, Some((rows, stored))) => {
                let all = || rows.iter().copied().filter(like);
                let peers: Vec<_> = all().filter(|other| other.flags == row.flags).collect();
                let is_row = |other: &&BuildRow| !stored && other.variant == row.variant;
                let first = peers.first().copied();
                let mut base = if *stored {
                    stored_peer(row, &peers)
                } else {
                    first
                };
                // The baseline's own builds with other flags are compared with its default flags.
                if base.as_ref().is_some_and(is_row) {
                    base = all().find(|other| other.default_flags);
                }
                if base.as_ref().is_some_and(is_row) {
                    return Ok(None);
                }
                let what = format!("{} at batch {}", BuildName::of(row), row.batch);
                (base, what, "the baseline has no such build".to_owned())
            }
        };
        base.map(Some).ok_or((what, why))
    }

    /// Compares two rows; `None` if no metric can be compared.
    fn compare(
        &self,
        basis: Basis,
        from: &BuildRow,
        to: &BuildRow,
        misses: &mut Vec<Miss>,
    ) -> Option<Compared> {
        let stored = self.baseline.as_ref().is_some_and(|(_, stored)| *stored);
        let mut metrics = BTreeMap::new();
        for metric in JUDGED {
            let label = metric.label();
            if metric == Metric::TscCycles && basis == Basis::Baseline && stored {
                let why = "another run measured the baseline, so its TSC cycles are not comparable";
                misses.push((label.to_owned(), why.to_owned()));
                continue;
            }
            let measured = from.metrics.get(&metric).zip(to.metrics.get(&metric));
            let why = match measured {
                Some((before, after)) if before.backend == after.backend => {
                    let (before, after) = (before.interval, after.interval);
                    let percent = 100.0 * (after.median / before.median - 1.0);
                    let verdict = self.judge.judge(metric, before, after);
                    let change = MetricChange {
                        before,
                        after,
                        percent,
                        verdict,
                    };
                    metrics.insert(metric, change);
                    continue;
                }
                Some((before, after)) => {
                    let (before, after) = (before.backend, after.backend);
                    format!("{before} counted one side and {after} the other")
                }
                None => "not measured on both sides".to_owned(),
            };
            misses.push((format!("{label} of {}", BuildName::of(to)), why));
        }
        (!metrics.is_empty()).then(|| Compared {
            basis,
            implementation: to.implementation,
            batch: to.batch,
            from: BuildName::of(from),
            to: BuildName::of(to),
            metrics,
        })
    }
}

/// The row of a stored result that a row continues: that of the same label, or of the same version,
/// or of the only compiler of the family.
fn stored_peer<'a>(row: &BuildRow, peers: &[&'a BuildRow]) -> Option<&'a BuildRow> {
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
    use record::BackendName;

    use super::super::rows::Measured;
    use super::*;
    use crate::build::toolchain::compiler::Family;

    fn interval(values: &[f64]) -> Interval {
        Interval::of(&[values.to_vec()]).unwrap()
    }

    fn measured(value: f64, backend: BackendName) -> Measured {
        Measured {
            interval: interval(&[value; 5]),
            repeats: 5,
            unit: "x".to_owned(),
            backend,
            rounds: BTreeMap::new(),
        }
    }

    /// A row of the C driver. Builds with the flags `-O2` are the default ones.
    fn row(compiler: &str, version: &str, flags: &str, instructions: f64) -> BuildRow {
        let instructions = measured(instructions, BackendName::Valgrind);
        let cycles = measured(20.0, BackendName::Lockstep);
        BuildRow {
            implementation: Implementation::C,
            batch: 32,
            compiler: compiler.to_owned(),
            family: match compiler {
                "clang" => Family::Clang,
                _ => Family::Gcc,
            },
            version: version.to_owned(),
            path: format!("/opt/{compiler}"),
            sha256: compiler.to_owned(),
            flags: flags.to_owned(),
            default_flags: flags == "-O2",
            variant: format!("{compiler}{flags}"),
            command: String::new(),
            metrics: BTreeMap::from([
                (Metric::Instructions, instructions),
                (Metric::TscCycles, cycles),
            ]),
            llvm: None,
        }
    }

    /// All comparisons with their metrics, then what was not compared. A baseline is its rows, and whether another run
    /// measured them.
    fn lines(rows: &[BuildRow], baseline: Option<(&[BuildRow], bool)>) -> Vec<String> {
        let comparisons = Comparisons {
            judge: Judge::new(None),
            rows,
            baseline: baseline.map(|(rows, stored)| (rows.iter().collect(), stored)),
        };
        let (made, missing) = comparisons.find();
        let mut lines = Vec::new();
        for Compared {
            basis,
            from,
            to,
            metrics,
            ..
        } in made
        {
            let mut line = format!("{basis}: {} {}:", from.variant, to.variant);
            for (metric, change) in metrics {
                line += &format!(" {metric:?} {}", change.verdict);
            }
            lines.push(line);
        }
        lines.extend(missing.iter().map(ToString::to_string));
        lines
    }

    #[test]
    fn builds_are_compared_by_version_and_by_flags() {
        let rows = [
            row("gcc-9", "9.5.0", "-O2", 70.0),
            row("gcc-11", "11.4.0", "-O2", 80.0),
            row("gcc-12", "12.2.0", "-O2", 80.1),
            row("clang", "19.1.7", "-O2", 90.0),
            row("clang", "19.1.7", "-Os", 80.0),
        ];
        assert_eq!(
            lines(&rows, None),
            [
                "version: gcc-9-O2 gcc-11-O2: TscCycles unchanged Instructions worse",
                "version: gcc-11-O2 gcc-12-O2: TscCycles unchanged Instructions unchanged",
                "flags: clang-O2 clang-Os: TscCycles unchanged Instructions better",
                "c by version: -O2, -Os: only one version of clang",
                "c by flags: gcc-11, gcc-12, gcc-9: only -O2",
            ]
        );
    }

    #[test]
    fn builds_of_the_baseline_are_compared_with_its_default_flags() {
        let rows = [
            row("after", "12.2.0", "-O2", 103.5),
            row("after", "12.2.0", "-Os", 60.0),
        ];
        let own = &lines(&rows, Some((&rows, false)))[1];
        assert!(own.starts_with("baseline: after-O2 after-Os: "), "{own}");
    }

    /// The same version with other contents, one that the stored result lacks, one that another backend counted, and
    /// one without cycles.
    #[test]
    fn of_a_stored_result_only_equal_counts_are_compared() {
        let mut stored = [
            row("gcc-11", "11.4.0", "-O2", 80.0),
            row("gcc-12", "12.2.0", "-O2", 70.0),
        ];
        let traced = measured(70.0, BackendName::Trace);
        stored[0].metrics.insert(Metric::Instructions, traced);
        let mut rows = [
            row("gcc-11", "11.4.0", "-O2", 75.0),
            row("patched", "12.2.0", "-O2", 75.0),
            row("trunk", "13.0.0", "-O2", 75.0),
        ];
        rows[1].metrics.remove(&Metric::TscCycles);
        let cycles = Metric::TscCycles.label();
        let instructions = Metric::Instructions.label();
        assert_eq!(
            lines(&rows, Some((&stored, true))),
            [
                "version: gcc-11-O2 patched-O2: Instructions unchanged".to_owned(),
                "baseline: gcc-12-O2 patched-O2: Instructions worse".to_owned(),
                "version: patched-O2 trunk-O2: Instructions unchanged".to_owned(),
                format!("c by version: {cycles} of patched -O2, {cycles} of trunk -O2: not measured on both sides"),
                "c by flags: gcc-11, patched, trunk: only -O2".to_owned(),
                format!("c with the baseline: {cycles}: another run measured the baseline, so its TSC cycles are not comparable"),
                "c with the baseline: trunk -O2 at batch 32: the baseline has no such build".to_owned(),
                format!("c with the baseline: {instructions} of gcc-11 -O2: trace counted one side and valgrind the other"),
            ]
        );
    }

    #[test]
    fn cycles_are_worse_only_if_the_intervals_do_not_touch() {
        let before = interval(&[10.0, 10.5, 11.0, 12.0]);
        let noisy = interval(&[11.0, 12.0, 13.0, 14.0]);
        let clear = interval(&[14.0, 14.5, 15.0]);
        let judge = |threshold, before, after| {
            Judge::new(threshold).judge(Metric::TscCycles, before, after)
        };
        assert_eq!(judge(None, before, noisy), Judgement::WithinNoise);
        assert_eq!(judge(None, before, clear), Judgement::Worse);
        assert_eq!(judge(Some(50.0), before, clear), Judgement::Unchanged);
        assert_eq!(judge(None, clear, before), Judgement::Better);
    }
}
