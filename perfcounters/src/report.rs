//! What a forwarder writes when it ends (`ixgbe-fwd --json FILE`).

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Totals of one run of a forwarder, both directions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForwarderReport {
    /// Packets received.
    pub rx: u64,
    /// Packets sent.
    pub tx: u64,
    /// Packets dropped because a send ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned as many packets as were asked for.
    pub full_batches: u64,
    /// Time from the first receive call to the last, seconds.
    pub seconds: f64,
    /// The same in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
}

/// A report that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It was not written or cannot be read.
    #[error("the forwarder left no report ({}: {source})", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not what a forwarder writes.
    #[error("the forwarder's report is malformed: {source}")]
    Malformed {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It received nothing, where it should have.
    #[error("the forwarder received no packets")]
    NoPackets,
    /// Its figures contradict each other.
    #[error("the forwarder's report makes no sense: {0}")]
    Nonsense(String),
}

impl ForwarderReport {
    /// Reads a report.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = fs::read_to_string(path).map_err(|source| ReportError::Missing {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text)
    }

    /// The same report, if packets were received.
    ///
    /// # Errors
    /// [`ReportError::NoPackets`].
    pub fn with_packets(self) -> Result<Self, ReportError> {
        match self.rx {
            0 => Err(ReportError::NoPackets),
            _ => Ok(self),
        }
    }

    fn parse(text: &str) -> Result<Self, ReportError> {
        let report: Self =
            serde_json::from_str(text).map_err(|source| ReportError::Malformed { source })?;
        let nonsense = |why: String| Err(ReportError::Nonsense(why));
        if report.full_batches > report.rx_calls {
            return nonsense(format!(
                "{} full batches in {} receive calls",
                report.full_batches, report.rx_calls
            ));
        }
        if report.tx.saturating_add(report.dropped) > report.rx {
            return nonsense(format!(
                "{} packets received, but {} sent and {} dropped",
                report.rx, report.tx, report.dropped
            ));
        }
        if !(report.seconds.is_finite() && report.seconds > 0.0) {
            return nonsense(format!("it ran for {} s", report.seconds));
        }
        Ok(report)
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
        assert!(matches!(report.with_packets(), Err(ReportError::NoPackets)));
        assert!(ForwarderReport::parse(GOOD).unwrap().with_packets().is_ok());
    }

    #[test]
    fn a_report_that_is_not_there_is_named() {
        let error = ForwarderReport::read(Path::new("/nonexistent/report.json")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/report.json"));
    }
}
