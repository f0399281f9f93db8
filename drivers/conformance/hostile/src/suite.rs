//! Runs scenarios side by side, and prints the table of their outcomes.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;

/// What came out of one run.
#[derive(Debug)]
pub struct Verdict {
    /// Exit status, signal or hang, in a word or two.
    pub outcome: String,
    /// How long the run took.
    pub elapsed: Duration,
    /// The promises that the run broke; none if it passed.
    pub broken: Vec<String>,
    /// What the program said.
    pub detail: String,
    /// All that is wrong is the time, so a second run alone decides.
    pub late: bool,
}

/// One run of the suite: a row with one victim.
pub struct Case<'a> {
    /// The scenario's name.
    pub row: &'a str,
    /// The driver or the card.
    pub victim: String,
    /// Runs the scenario.
    pub run: Box<dyn Fn() -> Result<Verdict> + Sync + Send + 'a>,
}

/// Numbers of a suite's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Runs that kept all promises.
    pub passed: usize,
    /// Runs that broke one, or could not run.
    pub failed: usize,
}

/// Runs all cases, `jobs` side by side, and prints a line for each. A run that only took too long
/// runs a second time alone, because other runs and other programs took its processor.
///
/// # Errors
/// If the table cannot be written.
pub fn run(cases: &[Case<'_>], jobs: usize, out: &mut impl Write) -> Result<Totals> {
    let (start, next) = (Instant::now(), AtomicUsize::new(0));
    let (mut totals, mut again) = (Totals::default(), Vec::new());
    let mut report = |case: &Case<'_>, verdict| {
        let (line, passed) = line(case, verdict);
        let count = if passed {
            &mut totals.passed
        } else {
            &mut totals.failed
        };
        *count += 1;
        writeln!(out, "{line}")
    };
    std::thread::scope(|scope| {
        let (done, ended) = mpsc::channel();
        for _ in 0..jobs.max(1) {
            let (done, next) = (done.clone(), &next);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The table cannot be written any more if there is no receiver.
                    let _ = done.send((case, (case.run)()));
                }
            });
        }
        drop(done);
        ended.iter().try_for_each(|(case, verdict)| match verdict {
            Ok(verdict) if verdict.late => {
                again.push(case);
                Ok(())
            }
            verdict => report(case, verdict),
        })
    })?;
    again
        .into_iter()
        .try_for_each(|case| report(case, (case.run)()))?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(out, "{} runs in {seconds:.0} s", cases.len())?;
    Ok(totals)
}

/// The line of a run in the table, and whether the run passed.
fn line(case: &Case<'_>, verdict: Result<Verdict>) -> (String, bool) {
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(error) => Verdict {
            outcome: "not run".to_owned(),
            elapsed: Duration::ZERO,
            broken: vec![format!("{error:#}")],
            detail: String::new(),
            late: false,
        },
    };
    let passed = verdict.broken.is_empty();
    let (result, rest) = if passed {
        ("ok    ", format!("  {:.110}", verdict.detail))
    } else {
        let broken = verdict.broken.join("; ");
        (
            "FAILED",
            format!("\n       {broken}\n       {}", verdict.detail),
        )
    };
    let (row, victim, outcome) = (case.row, &case.victim, &verdict.outcome);
    let seconds = verdict.elapsed.as_secs_f64();
    (
        format!("{result} {row:<62} {victim:<11} {outcome:<9} {seconds:5.1} s{rest}"),
        passed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    fn verdict(broken: &[&str], late: bool) -> Verdict {
        Verdict {
            outcome: "exit 0".to_owned(),
            elapsed: Duration::ZERO,
            broken: broken.iter().map(|text| (*text).to_owned()).collect(),
            detail: String::new(),
            late,
        }
    }

    fn case<'a>(run: impl Fn() -> Result<Verdict> + Sync + Send + 'a) -> Case<'a> {
        Case {
            row: "a row",
            victim: "c".to_owned(),
            run: Box::new(run),
        }
    }

    #[test]
    fn broken_promises_and_scenarios_that_could_not_run_are_failures() {
        let cases = [
            case(|| Ok(verdict(&[], false))),
            case(|| Ok(verdict(&["had 60 files open"], false))),
            case(|| Err(anyhow::anyhow!("no such program"))),
        ];
        let mut out = Vec::new();
        let totals = run(&cases, 2, &mut out).unwrap();
        assert_eq!((totals.passed, totals.failed), (1, 2));
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.contains("had 60 files open") && out.contains("no such program"),
            "{out}"
        );
    }

    #[test]
    fn a_late_run_is_repeated_alone_and_the_second_time_counts() {
        let runs = AtomicU32::new(0);
        let late_once = || {
            let first = runs.fetch_add(1, Ordering::Relaxed) == 0;
            Ok(verdict(if first { &["ran 11.0 s"] } else { &[] }, first))
        };
        let always = || Ok(verdict(&["ran 11.0 s"], true));
        let totals = run(&[case(late_once), case(always)], 2, &mut Vec::new()).unwrap();
        assert_eq!((totals.passed, totals.failed), (1, 1));
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }
}
