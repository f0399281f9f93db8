//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far a list of steps has come, on standard error.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    title: String,
    done: u64,
    steps: u64,
}

impl Progress {
    /// Nothing to show yet.
    pub fn new() -> Self {
        Self {
            bar: std::io::stderr().is_terminal().then(ProgressBar::hidden),
            title: String::new(),
            done: 0,
            steps: 0,
        }
    }

    /// Work of so many steps begins.
    pub fn begin(&mut self, title: &str, steps: u64) {
        self.finish();
        self.title = title.to_owned();
        self.done = 0;
        self.steps = steps;
        if let Some(bar) = &mut self.bar {
            *bar = ProgressBar::new(steps).with_prefix(title.to_owned());
            bar.enable_steady_tick(Duration::from_millis(100));
            // The template is a constant; were it wrong, the plain bar would do.
            if let Ok(style) = ProgressStyle::with_template(
                "{prefix:9} [{bar:30}] {pos}/{len}  {msg}  ({elapsed} gone, {eta} left)",
            ) {
                bar.set_style(style.progress_chars("=> "));
            }
        }
    }

    /// The next step begins.
    pub fn step(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done);
                bar.set_message(what.to_owned());
            }
            None => eprintln!("{:9} {}/{}  {what}", self.title, self.done + 1, self.steps),
        }
        self.done += 1;
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
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
