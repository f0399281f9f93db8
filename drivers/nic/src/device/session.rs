//! A driver's session, from connecting to disconnecting, and the reports that outlive it.

use crate::report::{PortCounters, ResetReport, SessionReport};

/// The current session and the last reports.
#[derive(Debug, Default)]
pub(crate) struct Session {
    connected: bool,
    /// The port's counters when the session began.
    start: PortCounters,
    last: Option<SessionReport>,
    last_reset: Option<ResetReport>,
}

impl Session {
    /// A driver has connected. `counters` are the port's, with this session counted.
    pub(crate) fn begin(&mut self, counters: &PortCounters) {
        self.connected = true;
        self.start = counters.clone();
    }

    /// The driver is gone; `report` describes its session.
    pub(crate) fn end(&mut self, report: SessionReport) {
        self.connected = false;
        self.last = Some(report);
    }

    /// Whether a driver is connected.
    pub(crate) fn connected(&self) -> bool {
        self.connected
    }

    /// The port's counters when the session began.
    pub(crate) fn start(&self) -> &PortCounters {
        &self.start
    }

    /// Keeps the report of a reset.
    pub(crate) fn set_last_reset(&mut self, report: ResetReport) {
        self.last_reset = Some(report);
    }

    /// The last finished session; `None` before the first one ends.
    pub(crate) fn last(&self) -> Option<&SessionReport> {
        self.last.as_ref()
    }

    /// The last reset; `None` before the first one.
    pub(crate) fn last_reset(&self) -> Option<&ResetReport> {
        self.last_reset.as_ref()
    }
}
