//! A forwarder as a process: `ixgbe-fwd` between two devices, its report and the rates that it prints.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use record::{Waiting, DEFAULT_QUEUES};
use serde::Deserialize;

use crate::backend::{Cell, MeasureError};
use crate::files;
use crate::interrupt::Interrupt;
use crate::load::ForwarderProcess;
use crate::place::Place;
use crate::process::Process;

/// Time that a forwarder may take beyond its duration: it sets devices up and waits for the link.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running forwarder.
pub(crate) struct Running {
    process: Process,
    report: PathBuf,
    printed: PathBuf,
    interrupt: Interrupt,
}

impl Running {
    /// Starts it between two devices, for a duration or until it is stopped. `link_timeout` is the
    /// longest time for the link of each port; `None` for the forwarder's default.
    pub fn start(
        cell: &Cell,
        place: &Place<'_>,
        devices: &[String; 2],
        link_timeout: Option<Duration>,
        duration: Option<Duration>,
    ) -> Result<Self, MeasureError> {
        let report = place.folder().join("report.json");
        let printed = place.folder().join("ixgbe-fwd.stdout");
        let conditions = &cell.conditions;
        let mut command = Command::new(&cell.program);
        command.args(cell.arguments()).arg("--json").arg(&report);
        if conditions.waiting == Waiting::Interrupts {
            command.arg("--interrupts");
        }
        let queues = conditions.queues;
        if queues > DEFAULT_QUEUES {
            command.args(["--queues", &queues.to_string()]);
        }
        for (option, time) in [("--duration", duration), ("--link-timeout", link_timeout)] {
            if let Some(time) = time {
                command.args([option, &time.as_secs_f64().to_string()]);
            }
        }
        command.args(devices);
        // Several threads need a processor each, so the scheduler places them.
        let cpu = place.placement.driver.filter(|_| queues == DEFAULT_QUEUES);
        let stdout = File::create(&printed).map_err(files::unusable(&printed))?;
        let process = Process::start("ixgbe-fwd", command, cpu, place.folder(), stdout.into())?;
        Ok(Self {
            process,
            report,
            printed,
            interrupt: place.interrupt.clone(),
        })
    }

    fn printed(&self) -> String {
        fs::read_to_string(&self.printed).unwrap_or_default()
    }

    /// Waits until it has printed the rates of `skip` and then of `take` whole seconds under load, and
    /// returns the mean of the latter.
    pub fn wait_for_rates(&mut self, skip: usize, take: usize) -> Result<Rates, MeasureError> {
        // The second in which the load began is skipped.
        let skip = Rates::seconds(&self.printed()) + 1 + skip;
        let limit = Duration::from_secs((skip + take) as u64) + PATIENCE;
        let printed = self.printed.clone();
        self.process.wait_until(limit, &self.interrupt, || {
            let text = fs::read_to_string(&printed).unwrap_or_default();
            Rates::seconds(&text) >= skip + take
        })?;
        self.rates(skip, take)
    }

    /// The mean of the rates that it printed in some seconds.
    pub fn rates(&self, skip: usize, take: usize) -> Result<Rates, MeasureError> {
        Rates::from_lines(&self.printed(), skip, take)
    }

    /// Waits until it ends after its duration, and returns its totals.
    pub fn finish(&mut self, duration: Duration) -> Result<ForwarderReport, MeasureError> {
        let limit = duration + PATIENCE;
        self.process.wait(limit, &self.interrupt)?;
        ForwarderReport::read(&self.report)?.with_packets()
    }

    /// Ends it, and returns its totals.
    pub fn stop(self) -> Result<ForwarderReport, MeasureError> {
        self.process.stop(PATIENCE)?;
        ForwarderReport::read(&self.report)?.with_packets()
    }
}

impl ForwarderProcess for Running {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// It prints rates only while its ports have a link.
    fn has_link(&self) -> bool {
        Rates::seconds(&self.printed()) > 0
    }
}

/// Totals of one run of a forwarder, both directions together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct ForwarderReport {
    /// Packets received.
    pub rx: u64,
    /// Packets sent.
    pub tx: u64,
    /// Packets dropped because a send ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
    /// Time from the first receive call to the last, seconds.
    pub seconds: f64,
    /// The same time in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
    /// Processor time that the forwarder used, seconds. Forwarders of other projects do not report it.
    pub cpu_seconds: Option<f64>,
}

/// Throughput, both directions together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Received, million packets per second.
    pub rx_mpps: f64,
    /// Sent, million packets per second.
    pub tx_mpps: f64,
    /// Duration, seconds.
    pub seconds: f64,
}

impl Rates {
    /// Number of seconds for which a forwarder has printed rates: a line per device and second.
    pub fn seconds(printed: &str) -> usize {
        printed.lines().filter_map(parse_rates).count() / 2
    }

    /// Mean of the printed rates over `take` seconds, after the first `skip`.
    pub fn from_lines(printed: &str, skip: usize, take: usize) -> Result<Self, MeasureError> {
        let lines: Vec<(f64, f64)> = printed.lines().filter_map(parse_rates).collect();
        // Two devices print two lines a second.
        let window = lines.get(2 * skip..2 * (skip + take)).ok_or_else(|| {
            let (printed, wanted) = (lines.len() / 2, skip + take);
            format!("the forwarder printed rates for {printed} seconds, {wanted} are needed")
        })?;
        let sum = |rate: fn(&(f64, f64)) -> f64| window.iter().map(rate).sum::<f64>();
        let rates = Self {
            rx_mpps: sum(|line| line.0) / take as f64,
            tx_mpps: sum(|line| line.1) / take as f64,
            seconds: take as f64,
        };
        match rates.rx_mpps > 0.0 {
            true => Ok(rates),
            false => Err(NO_PACKETS.to_owned().into()),
        }
    }
}

/// Reads RX and TX Mpps of `DEVICE: RX 7.78 Mpps 5.23 Gbit/s, TX 7.77 Mpps 5.22 Gbit/s`.
fn parse_rates(line: &str) -> Option<(f64, f64)> {
    let (_, rates) = line.rsplit_once(": RX ")?;
    let (rx, tx) = rates.split_once(", TX ")?;
    let mpps = |text: &str| text.split_once(" Mpps")?.0.parse().ok();
    Some((mpps(rx)?, mpps(tx)?))
}

const NO_PACKETS: &str = "the forwarder received no packets";

impl ForwarderReport {
    /// Reads a report.
    pub fn read(path: &Path) -> Result<Self, MeasureError> {
        files::read_json::<Self>(path)?.check()
    }

    fn check(self) -> Result<Self, MeasureError> {
        let possible = self.full_batches <= self.rx_calls
            && self.tx.saturating_add(self.dropped) <= self.rx
            && self.seconds.is_finite()
            && self.seconds > 0.0;
        match possible {
            true => Ok(self),
            false => Err(format!("the forwarder's report makes no sense: {self:?}").into()),
        }
    }

    /// The same report, if packets were received.
    pub fn with_packets(self) -> Result<Self, MeasureError> {
        match self.rx {
            0 => Err(NO_PACKETS.to_owned().into()),
            _ => Ok(self),
        }
    }

    /// Rates over the whole run.
    pub fn rates(&self) -> Rates {
        Rates {
            rx_mpps: self.rx as f64 / self.seconds / 1e6,
            tx_mpps: self.tx as f64 / self.seconds / 1e6,
            seconds: self.seconds,
        }
    }

    /// Share of receive calls that returned a full batch, 0 to 1.
    pub fn full_batch_ratio(&self) -> f64 {
        self.full_batches as f64 / self.rx_calls.max(1) as f64
    }

    /// Share of received packets that were dropped instead of sent, 0 to 1.
    pub fn dropped_ratio(&self) -> f64 {
        self.dropped as f64 / self.rx.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"rx":6400,"tx":6400,"dropped":0,"rx_calls":202,"full_batches":200,"seconds":0.5,"tsc_cycles":1300000}"#;

    fn parsed(text: &str) -> Result<ForwarderReport, MeasureError> {
        serde_json::from_str::<ForwarderReport>(text)
            .unwrap()
            .check()
    }

    #[test]
    fn reports_are_read_and_impossible_ones_are_refused() {
        let ratio = parsed(GOOD).unwrap().full_batch_ratio();
        assert!((ratio - 200.0 / 202.0).abs() < 1e-12);
        for (from, to) in [
            (r#""full_batches":200"#, r#""full_batches":203"#),
            (r#""dropped":0"#, r#""dropped":1"#),
            (r#""seconds":0.5"#, r#""seconds":0"#),
        ] {
            let error = parsed(&GOOD.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains("makes no sense"), "{error}");
        }
        // An idle run has no packets, and some callers accept that.
        let idle = parsed(&GOOD.replace("6400", "0")).unwrap();
        assert_eq!(idle.dropped_ratio(), 0.0);
        let error = idle.with_packets().unwrap_err();
        assert_eq!(error.to_string(), NO_PACKETS);
    }

    #[test]
    fn rates_after_a_warm_up_are_those_of_the_lines() {
        let second = |rx: f64| {
            format!(
                "0000:03:00.0: RX {rx:.2} Mpps 0.67 Gbit/s, TX 0.50 Mpps 0.34 Gbit/s\n\
                 vfio-user:/x: RX: y: RX 1.00 Mpps 0.67 Gbit/s, TX 0.25 Mpps 0.17 Gbit/s\n"
            )
        };
        let printed = format!("hello\n{}{}{}", second(50.0), second(2.0), second(4.0));
        assert_eq!(Rates::seconds(&printed), 3);
        let rates = Rates::from_lines(&printed, 1, 2).unwrap();
        assert_eq!(
            (rates.rx_mpps, rates.tx_mpps, rates.seconds),
            (4.0, 0.75, 2.0)
        );
        let error = Rates::from_lines(&printed, 1, 3).unwrap_err();
        assert!(
            error.to_string().contains("for 3 seconds, 4 are"),
            "{error}"
        );
        let silent = second(0.0).replace("RX 1.00", "RX 0.00");
        let error = Rates::from_lines(&silent, 0, 1).unwrap_err();
        assert_eq!(error.to_string(), NO_PACKETS);
    }
}
