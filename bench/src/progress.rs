//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The estimate is corrected by the measured pace only after this much of the work.
const LEAST_WORK_FOR_PACE: Duration = Duration::from_secs(3);

/// Shows on standard error how many steps are done, and how long the rest will take.
///
/// Work consists of parts, one after another. Each part has steps that take about the same time.
/// The caller estimates the time of each part. The time of the finished steps corrects the estimate.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    title: String,
    /// Steps of this part that have started.
    begun: u64,
    steps: u64,
    /// The estimated time of a step of this part.
    step: Duration,
    all: Duration,
    /// The estimated time of the work that is done.
    done: Duration,
    start: Instant,
}

impl Progress {
    /// Progress of work that is estimated to take `estimate` in all.
    pub fn new(estimate: Duration) -> Self {
        Self {
            bar: std::io::stderr().is_terminal().then(ProgressBar::hidden),
            title: String::new(),
            begun: 0,
            steps: 0,
            step: Duration::ZERO,
            all: estimate,
            done: Duration::ZERO,
            start: Instant::now(),
        }
    }

    /// The estimated time of the rest, if the work done so far took `elapsed`.
    fn left(&self, elapsed: Duration) -> Duration {
        let left = self.all.saturating_sub(self.done);
        if self.done >= LEAST_WORK_FOR_PACE {
            left.mul_f64(elapsed.as_secs_f64() / self.done.as_secs_f64())
        } else {
            left
        }
    }

    /// Starts a part of `steps` steps, which are estimated to take `estimate` together.
    pub fn begin(&mut self, title: &str, steps: u64, estimate: Duration) {
        self.finish();
        self.title = title.to_owned();
        self.begun = 0;
        self.steps = steps;
        self.step = estimate.div_f64(steps.max(1) as f64);
        if let (Some(bar), true) = (&mut self.bar, steps > 0) {
            *bar = ProgressBar::new(thousandths(self.all));
            bar.enable_steady_tick(Duration::from_millis(100));
            // The template is constant. Without it, the default bar would do.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent}% {msg}")
            {
                bar.set_style(style.progress_chars("=> "));
            }
        }
    }

    pub fn step(&mut self, what: &str) {
        if self.begun > 0 {
            self.done += self.step;
        }
        self.begun += 1;
        // A backend may repeat a step, for example a process in which the CPUs moved.
        self.steps = self.steps.max(self.begun);
        let elapsed = self.start.elapsed();
        let left = rounded(self.left(elapsed));
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("{:9} {}/{}", self.title, self.begun, self.steps));
                bar.set_position(thousandths(self.done));
                bar.set_message(format!(
                    "{what}  ({} elapsed, {left} left)",
                    rounded(elapsed)
                ));
            }
            None => eprintln!(
                "{:9} {}/{}  {what}  ({left} left)",
                self.title, self.begun, self.steps
            ),
        }
    }

    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Ends the part, and removes the bar.
    pub fn finish(&mut self) {
        if self.begun > 0 {
            // A part ends even if some of its steps were not needed.
            self.done += self.step
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

/// A rounded time, such as `40 s`, `12 min` or `3 h 20 min`.
pub fn rounded(time: Duration) -> String {
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
    fn times_are_rounded() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (99.0, "99 s"),
            (100.0, "2 min"),
            (3600.0, "60 min"),
            (7201.0, "2 h 0 min"),
        ] {
            assert_eq!(rounded(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn the_parts_add_up_to_the_whole_and_correct_the_estimate() {
        let seconds = Duration::from_secs;
        let mut progress = Progress::new(seconds(30));
        assert_eq!(progress.left(seconds(50)), seconds(30));
        progress.begin("first", 10, seconds(10));
        for step in 0..10 {
            progress.step(&step.to_string());
        }
        progress.begin("second", 4, seconds(20));
        assert_eq!(progress.done, seconds(10));
        progress.step("x");
        progress.step("y");
        assert_eq!(progress.done, seconds(15));
        assert_eq!(progress.left(seconds(30)), seconds(30));
        progress.finish();
        assert_eq!(progress.done, seconds(30));
        // A repeated step makes the part longer.
        progress.begin("third", 1, seconds(1));
        progress.step("x");
        progress.step("x");
        assert_eq!((progress.begun, progress.steps), (2, 2));
        progress.finish();
        assert_eq!(progress.left(seconds(40)), seconds(0));
    }
}
