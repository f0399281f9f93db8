//! The report at the end of a run, as JSON and as text.

use nic::{BurstReport, Latency, Nic, Port, PortCounters, QueueCounters, SessionReport, Times};
use serde::Serialize;

/// The report on one port.
#[derive(Debug, Serialize)]
pub struct PortReport {
    port: usize,
    #[serde(flatten)]
    counters: PortCounters,
    last_session: Option<SessionReport>,
    /// Latency of the frames that arrived at this port.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
}

/// The report on a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Length of the run.
    seconds: f64,
    ports: Vec<PortReport>,
    /// Latency of the frames that arrived at any port.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
    /// The timed bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<BurstReport>,
}

impl Report {
    /// Collects the report on a run of so many seconds.
    pub fn of(nic: &Nic, seconds: f64) -> Self {
        let ports = nic.ports().iter().map(|port| PortReport {
            port: port.index(),
            counters: port.stats(),
            last_session: port.last_session(),
            latency: port.latency(),
        });
        let latency = Latency::merged(nic.ports().iter().filter_map(Port::latency));
        Self {
            seconds,
            ports: ports.collect(),
            latency,
            bursts: nic.bursts(),
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut lines: Vec<_> = self.ports.iter().flat_map(PortReport::lines).collect();
        if let Some(BurstReport { blocks, .. }) = &self.bursts {
            let timed: usize = blocks.iter().map(|block| block.bursts.len()).sum();
            let dropped: u32 = blocks.iter().map(|block| block.dropped).sum();
            let count = blocks.len();
            lines.push(format!(
                "bursts: {timed} timed in {count} blocks, {dropped} dropped"
            ));
        }
        let latency = self.latency.iter().flat_map(latency_lines);
        lines.extend(latency.map(|line| format!("all ports: {line}")));
        lines.join("\n") + "\n"
    }
}

impl PortReport {
    fn lines(&self) -> Vec<String> {
        let (counters, verify) = (&self.counters, &self.counters.verify);
        let mut lines = vec![
            format!(
                "received {} of {} generated (no descriptor {}, no buffer {}, filtered {}, not running {}); transmitted {}",
                counters.delivered,
                counters.generated,
                counters.dropped_no_descriptor,
                counters.dropped_no_buffer,
                counters.dropped_filtered,
                counters.dropped_not_running,
                counters.transmitted,
            ),
            format!(
                "verified {} ok, {} missing, {} duplicated, {} reordered, {} altered, {} foreign; {} outstanding, {} abandoned, {} from another queue",
                verify.ok,
                verify.missing,
                verify.duplicated,
                verify.reordered,
                verify.altered,
                verify.foreign,
                counters.outstanding,
                verify.abandoned,
                verify.other_queue,
            ),
        ];
        let is_used = |(_, queue): &(_, &QueueCounters)| queue.delivered + queue.transmitted > 0;
        let used: Vec<_> = (0..).zip(&counters.queues).filter(is_used).collect();
        // RSS used several queues.
        if used.len() > 1 {
            lines.extend(used.iter().map(|(number, queue)| {
                let (received, transmitted) = (queue.delivered, queue.transmitted);
                format!("queue {number}: received {received}; transmitted {transmitted}")
            }));
        }
        lines.push(format!(
            "{} sessions, {} resets, {} DMA faults",
            counters.sessions, counters.resets, counters.dma_faults
        ));
        if let Some(session) = &self.last_session {
            let not = if session.snapshot.quiescent() {
                ""
            } else {
                "NOT "
            };
            let maps = session.snapshot.dma_maps;
            lines.push(format!(
                "last driver left the device {not}at rest, {maps} DMA maps"
            ));
            let (notes, unmodelled) = (session.notes.iter(), session.unmodelled.iter());
            lines.extend(notes.map(|note| format!("note: {note}")));
            lines.extend(unmodelled.map(|text| format!("not modelled: {text}")));
        }
        lines.extend(self.latency.iter().flat_map(latency_lines));
        let of_port = |line| format!("port {}: {line}", self.port);
        lines.into_iter().map(of_port).collect()
    }
}

/// The latency of one port, or of all.
fn latency_lines(latency: &Latency) -> Vec<String> {
    let (offered, lost, count) = (latency.offered, latency.lost, latency.times.count());
    let mut lines = vec![format!("{offered} offered, {lost} lost, {count} timed")];
    if count > 0 {
        let (times, lag) = (figures(&latency.times), figures(&latency.lag));
        lines.push(format!("latency in us: {times}"));
        lines.push(format!("share of the NIC in us: {lag}"));
    }
    lines
}

/// The known figures, separated by commas.
fn figures(times: &Times) -> String {
    let known = times.figures().filter(|(_, name, _)| *name != "mean");
    let known: Vec<_> = known
        .map(|(_, name, micros)| format!("{name} {micros:.3}"))
        .collect();
    known.join(", ")
}
