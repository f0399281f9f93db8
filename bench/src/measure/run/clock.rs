//! The clock of the driver's core during a run: fixed if the matrix says so, measured, and recorded.

use std::path::Path;

use anyhow::{bail, Result};
use perfcounters::Observer;
use record::CoreClock;

use super::config::Config;
use super::recorder::Recorder;
use crate::machine::clocks::core_clock::{measure, same};
use crate::machine::clocks::holder::HeldClock;
use crate::machine::clocks::is_changed;

/// The matrices of a configuration: one for each clock.
pub(super) fn one_run_each(config: &Config) -> Vec<Config> {
    if config.clocks_ghz.is_empty() {
        return vec![config.clone()];
    }
    let at = |clock: &f64| Config {
        clocks_ghz: vec![*clock],
        ..config.clone()
    };
    config.clocks_ghz.iter().map(at).collect()
}

pub(super) struct RunClock {
    held: Option<HeldClock>,
    fixed: Option<f64>,
    /// Whether the fixed clock can be measured: a test's machine has none.
    real: bool,
    cpu: Option<usize>,
    before: Option<f64>,
}

impl RunClock {
    /// Fixes the clock of the matrix, and measures the core of the driver. `root` is `/` except in tests.
    pub(super) fn fix(config: &Config, root: &Path, cpu: Option<usize>) -> Result<Self> {
        let fixed = config.clocks_ghz.first().copied();
        let held = fixed.map(|ghz| HeldClock::hold(ghz, root)).transpose()?;
        if held.is_none() && is_changed(root) {
            eprintln!(
                "warning: a run that was killed left the clocks fixed; `sudo triptych clocks restore` \
                 ends that"
            );
        }
        let before = cpu.and_then(measure);
        let clock = Self {
            held,
            fixed,
            real: root == Path::new("/"),
            cpu,
            before,
        };
        if let Some(why) = clock.deviation(before) {
            bail!(
                "{why}; the firmware or another program sets the clock: look for a power limit and for \
                 tuned, or measure with --keep-clock"
            );
        }
        Ok(clock)
    }

    /// Why a measured clock is not the fixed one; `None` if it is.
    fn deviation(&self, measured: Option<f64>) -> Option<String> {
        let (fixed, measured) = self.fixed.zip(measured)?;
        (self.real && !same(measured, fixed)).then(|| {
            format!(
                "the clock was fixed at {fixed} GHz, but CPU {} runs at {measured:.2} GHz",
                self.cpu.unwrap_or_default()
            )
        })
    }

    pub(super) fn record(&self) -> CoreClock {
        CoreClock {
            fixed_ghz: self.fixed,
            measured_ghz: self.before.into_iter().collect(),
        }
    }

    /// Measures the clock again after the last measurement, and compares it with the fixed clock. If the
    /// processor counted core cycles, their clock is compared, too.
    pub(super) fn finish(&self, recorder: &mut Recorder) {
        let after = self.cpu.and_then(measure);
        let record = &mut recorder.folder.record;
        let clocks = record.core_clock.get_or_insert_with(Default::default);
        clocks.measured_ghz.extend(after);
        let perf = record.settings.get("perf");
        let clock = perf.and_then(|settings| settings.get("core_clock"));
        let counted = clock.and_then(|clock| clock["core_mhz"]["median"].as_f64());
        for measured in [after, counted.map(|mhz| mhz / 1000.0)] {
            if let Some(why) = self.deviation(measured) {
                recorder.warning(&why);
            }
        }
    }

    pub(super) fn release(self) -> Result<()> {
        self.held.map_or(Ok(()), HeldClock::release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_not_the_fixed_one_is_noticed() {
        let mut clock = RunClock {
            held: None,
            fixed: Some(1.6),
            real: true,
            cpu: Some(3),
            before: None,
        };
        assert_eq!(clock.deviation(Some(1.62)), None);
        assert_eq!(clock.deviation(None), None);
        let why = clock.deviation(Some(2.9)).unwrap();
        assert!(why.contains("CPU 3 runs at 2.90 GHz"), "{why}");
        clock.fixed = None;
        assert_eq!(clock.deviation(Some(2.9)), None);
    }
}
