//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Before this much was done, the pace is not known.
const FIRST_IMPRESSION: Duration = Duration::from_secs(3);

/// Shows how far a list of steps has come, on standard error, and how long the rest will take.
///
/// The work is one or several parts, one after the other, each of so many steps that take about the
/// same time. How long they take is estimated beforehand; the estimate is corrected by how long
/// those took that are done.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    title: String,
    /// Steps of this part that have begun, and all of them.
    begun: u64,
    steps: u64,
    /// About how long a step of this part takes.
    step: Duration,
    work: TimeEstimate,
}

/// TimeEstimate, measured by how long it was estimated to take.
#[derive(Debug)]
struct TimeEstimate {
    all: Duration,
    done: Duration,
    start: Instant,
}

impl TimeEstimate {
    /// About how long the rest takes, if what is done took `elapsed`.
    fn left(&self, elapsed: Duration) -> Duration {
        let left = self.all.saturating_sub(self.done);
        match self.done >= FIRST_IMPRESSION {
            true => left.mul_f64(elapsed.as_secs_f64() / self.done.as_secs_f64()),
            false => left,
        }
    }
}

impl Progress {
    /// Nothing to show yet; all parts together are estimated to take so long.
    pub fn new(estimate: Duration) -> Self {
        Self {
            bar: std::io::stderr().is_terminal().then(ProgressBar::hidden),
            title: String::new(),
            begun: 0,
            steps: 0,
            step: Duration::ZERO,
            work: TimeEstimate {
                all: estimate,
                done: Duration::ZERO,
                start: Instant::now(),
            },
        }
    }

    /// A part of so many steps begins, which together are estimated to take so long.
    pub fn begin(&mut self, title: &str, steps: u64, estimate: Duration) {
        self.end_part();
        self.title = title.to_owned();
        self.begun = 0;
        self.steps = steps;
        self.step = estimate.div_f64(steps.max(1) as f64);
        if let (Some(bar), true) = (&mut self.bar, steps > 0) {
            *bar = ProgressBar::new(thousandths(self.work.all));
            bar.enable_steady_tick(Duration::from_millis(100));
            // The template is a constant; were it wrong, the plain bar would do.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent}% {msg}")
            {
                bar.set_style(style.progress_chars("=> "));
            }
        }
    }

    /// The next step begins.
    pub fn step(&mut self, what: &str) {
        if self.begun > 0 {
            self.work.done += self.step;
        }
        self.begun += 1;
        let elapsed = self.work.start.elapsed();
        let left = rough(self.work.left(elapsed));
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("{:9} {}/{}", self.title, self.begun, self.steps));
                bar.set_position(thousandths(self.work.done));
                bar.set_message(format!("{what}  ({} gone, {left} left)", rough(elapsed)));
            }
            None => eprintln!(
                "{:9} {}/{}  {what}  ({left} left)",
                self.title, self.begun, self.steps
            ),
        }
    }

    /// Says something without breaking the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Takes the bar away.
    pub fn finish(&mut self) {
        self.end_part();
    }

    fn end_part(&mut self) {
        if self.begun > 0 {
            // A part whose steps were not all needed is over all the same.
            self.work.done += self.step
                * u32::try_from(self.steps - (self.begun - 1).min(self.steps)).unwrap_or(1);
            self.begun = 0;
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn thousandths(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A time as people say it: `40 s`, `12 min`, `3 h 20 min`.
pub fn rough(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds + 30) / 60 {
        _ if seconds < 100 => format!("{seconds} s"),
        minutes if minutes < 100 => format!("{minutes} min"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rough() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (99.0, "99 s"),
            (100.0, "2 min"),
            (3600.0, "60 min"),
            (7201.0, "2 h 0 min"),
        ] {
            assert_eq!(rough(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn the_estimate_is_corrected_by_what_is_done() {
        let seconds = Duration::from_secs;
        let mut work = TimeEstimate {
            all: seconds(100),
            done: seconds(1),
            start: Instant::now(),
        };
        assert_eq!(work.left(seconds(50)), seconds(99));
        work.done = seconds(20);
        assert_eq!(work.left(seconds(40)), seconds(160));
        work.done = seconds(101);
        assert_eq!(work.left(seconds(40)), seconds(0));
    }

    #[test]
    fn all_parts_together_are_the_whole() {
        let seconds = Duration::from_secs;
        let mut progress = Progress::new(seconds(30));
        progress.begin("first", 10, seconds(10));
        for step in 0..10 {
            progress.step(&step.to_string());
        }
        progress.begin("second", 4, seconds(20));
        assert_eq!(progress.work.done, seconds(10));
        progress.step("x");
        progress.step("y");
        assert_eq!(progress.work.done, seconds(15));
        progress.finish();
        assert_eq!(progress.work.done, seconds(30));
    }
}
