//! The report of a forwarder (`ixgbe-fwd --json FILE`), and the rates that it prints.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

/// Totals of one run of a forwarder, both directions together.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
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

    /// Whole seconds to skip and to take.
    pub fn whole_seconds(warm_up: Duration, duration: Duration) -> (usize, usize) {
        (
            warm_up.as_secs_f64().ceil() as usize,
            duration.as_secs_f64().ceil().max(1.0) as usize,
        )
    }

    /// Mean of the printed rates over `take` seconds, after the first `skip`.
    ///
    /// # Errors
    /// If it printed fewer lines, or the forwarder received nothing.
    pub fn from_lines(printed: &str, skip: usize, take: usize) -> Result<Self, ReportError> {
        let lines: Vec<(f64, f64)> = printed.lines().filter_map(parse_rates).collect();
        // Two devices print two lines a second.
        let window = lines.get(2 * skip..2 * (skip + take)).ok_or_else(|| {
            let (printed, wanted) = (lines.len() / 2, skip + take);
            ReportError(format!(
                "printed rates for {printed} seconds, {wanted} are needed"
            ))
        })?;
        let sum = |rate: fn(&(f64, f64)) -> f64| window.iter().map(rate).sum::<f64>();
        let rates = Self {
            rx_mpps: sum(|line| line.0) / take as f64,
            tx_mpps: sum(|line| line.1) / take as f64,
            seconds: take as f64,
        };
        match rates.rx_mpps > 0.0 {
            true => Ok(rates),
            false => Err(ReportError(NO_PACKETS.into())),
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

/// A report that cannot be used, and why.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the forwarder {0}")]
pub struct ReportError(String);

const NO_PACKETS: &str = "received no packets";

impl ForwarderReport {
    /// Reads a report.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = fs::read_to_string(path).map_err(|cause| {
            ReportError(format!("left no report ({}: {cause})", path.display()))
        })?;
        Self::parse(&text)
    }

    /// The same report, if packets were received.
    ///
    /// # Errors
    /// If there were none.
    pub fn with_packets(self) -> Result<Self, ReportError> {
        match self.rx {
            0 => Err(ReportError(NO_PACKETS.into())),
            _ => Ok(self),
        }
    }

    fn parse(text: &str) -> Result<Self, ReportError> {
        let report: Self = serde_json::from_str(text)
            .map_err(|cause| ReportError(format!("wrote a malformed report: {cause}")))?;
        let why = if report.full_batches > report.rx_calls {
            format!(
                "{} full batches in {} receive calls",
                report.full_batches, report.rx_calls
            )
        } else if report.tx.saturating_add(report.dropped) > report.rx {
            format!(
                "{} packets received, but {} sent and {} dropped",
                report.rx, report.tx, report.dropped
            )
        } else if !(report.seconds.is_finite() && report.seconds > 0.0) {
            format!("it ran for {} s", report.seconds)
        } else {
            return Ok(report);
        };
        Err(ReportError(format!(
            "wrote a report that makes no sense: {why}"
        )))
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

    #[test]
    fn a_good_report_is_read() {
        let report = ForwarderReport::parse(GOOD).unwrap();
        assert_eq!((report.rx, report.tsc_cycles), (6400, 1_300_000));
        assert!((report.full_batch_ratio() - 200.0 / 202.0).abs() < 1e-12);
    }

    #[test]
    fn bad_reports_are_refused() {
        for (from, to, why) in [
            (
                r#""full_batches":200"#,
                r#""full_batches":203"#,
                "203 full batches",
            ),
            (r#""dropped":0"#, r#""dropped":1"#, "1 dropped"),
            (r#""seconds":0.5"#, r#""seconds":0"#, "0 s"),
            (r#""rx":6400,"#, "", "missing field `rx`"),
            ("}", "", "malformed"),
        ] {
            let error = ForwarderReport::parse(&GOOD.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_run_may_have_received_nothing_where_that_is_meant() {
        let idle = GOOD.replace("6400", "0");
        let report = ForwarderReport::parse(&idle).unwrap();
        assert_eq!(report.dropped_ratio(), 0.0);
        assert_eq!(report.with_packets().unwrap_err().0, NO_PACKETS);
        assert!(ForwarderReport::parse(GOOD).unwrap().with_packets().is_ok());
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
        assert_eq!(
            Rates::whole_seconds(Duration::from_millis(1500), Duration::from_millis(100)),
            (2, 1)
        );
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
        assert_eq!(error.0, NO_PACKETS);
    }

    #[test]
    fn a_report_that_is_not_there_is_named() {
        let error = ForwarderReport::read(Path::new("/nonexistent/report.json")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/report.json"));
    }
}
