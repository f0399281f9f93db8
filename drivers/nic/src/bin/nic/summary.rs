//! The report at the end of a run, as JSON and as text.

use std::io::{self, Write};

use nic::{
    BurstReport, Latency, LatencySummary, Nic, Port, PortCounters, QueueCounters, SessionReport,
    TimesSummary,
};
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
    latency: Option<LatencySummary>,
}

/// The report on a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Length of the run.
    seconds: f64,
    ports: Vec<PortReport>,
    /// Latency of the frames that arrived at any port.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<LatencySummary>,
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
            latency: port.latency().map(|latency| latency.summary()),
        });
        let latency = Latency::merged(nic.ports().iter().filter_map(Port::latency));
        Self {
            seconds,
            ports: ports.collect(),
            latency: latency.map(|latency| latency.summary()),
            bursts: nic.bursts(),
        }
    }

    /// Prints the report as text.
    pub fn print(&self, output: &mut impl Write) -> io::Result<()> {
        for port in &self.ports {
            port.print(output)?;
        }
        if let Some(BurstReport { blocks, .. }) = &self.bursts {
            let timed: usize = blocks.iter().map(|block| block.bursts.len()).sum();
            let dropped: u32 = blocks.iter().map(|block| block.dropped).sum();
            let count = blocks.len();
            writeln!(
                output,
                "bursts: {timed} timed in {count} blocks, {dropped} dropped"
            )?;
        }
        match &self.latency {
            Some(latency) => print_latency(output, "all ports", latency),
            None => Ok(()),
        }
    }
}

impl PortReport {
    /// Prints the counters of each queue, if RSS used several.
    fn print_queues(&self, output: &mut impl Write) -> io::Result<()> {
        let is_used = |(_, queue): &(_, &QueueCounters)| queue.delivered + queue.transmitted > 0;
        let used: Vec<_> = (0..).zip(&self.counters.queues).filter(is_used).collect();
        if used.len() < 2 {
            return Ok(());
        }
        for (number, queue) in used {
            writeln!(
                output,
                "port {}: queue {number}: received {}; transmitted {}",
                self.port, queue.delivered, queue.transmitted
            )?;
        }
        Ok(())
    }

    fn print(&self, output: &mut impl Write) -> io::Result<()> {
        let (port, counters, verify) = (self.port, &self.counters, &self.counters.verify);
        writeln!(
            output,
            "port {port}: received {} of {} generated (no descriptor {}, no buffer {}, filtered {}, not running {}); transmitted {}",
            counters.delivered,
            counters.generated,
            counters.dropped_no_descriptor,
            counters.dropped_no_buffer,
            counters.dropped_filtered,
            counters.dropped_not_running,
            counters.transmitted,
        )?;
        writeln!(
            output,
            "port {port}: verified {} ok, {} missing, {} duplicated, {} reordered, {} altered, {} foreign; {} outstanding, {} abandoned, {} from another queue",
            verify.ok,
            verify.missing,
            verify.duplicated,
            verify.reordered,
            verify.altered,
            verify.foreign,
            counters.outstanding,
            verify.abandoned,
            verify.other_queue,
        )?;
        self.print_queues(output)?;
        writeln!(
            output,
            "port {port}: {} sessions, {} resets, {} DMA faults",
            counters.sessions, counters.resets, counters.dma_faults
        )?;
        if let Some(session) = &self.last_session {
            let state = if session.snapshot.quiescent() {
                "at rest"
            } else {
                "NOT at rest"
            };
            writeln!(
                output,
                "port {port}: last driver left the device {state}, {} DMA maps",
                session.snapshot.dma_maps
            )?;
            for note in &session.notes {
                writeln!(output, "port {port}: note: {note}")?;
            }
            for text in &session.unmodelled {
                writeln!(output, "port {port}: not modelled: {text}")?;
            }
        }
        match &self.latency {
            Some(latency) => print_latency(output, &format!("port {port}"), latency),
            None => Ok(()),
        }
    }
}

/// Prints the latency of one port, or of all.
fn print_latency(output: &mut impl Write, ports: &str, latency: &LatencySummary) -> io::Result<()> {
    writeln!(
        output,
        "{ports}: {} offered, {} lost, {} timed",
        latency.offered, latency.lost, latency.times.count
    )?;
    if latency.times.count > 0 {
        let (times, lag) = (figures(&latency.times), figures(&latency.lag));
        writeln!(output, "{ports}: latency in us: {times}")?;
        writeln!(output, "{ports}: share of the NIC in us: {lag}")?;
    }
    Ok(())
}

/// The known figures, separated by commas.
fn figures(times: &TimesSummary) -> String {
    let figures = [
        ("min", times.min_us),
        ("50 %", times.p50_us),
        ("90 %", times.p90_us),
        ("99 %", times.p99_us),
        ("99.9 %", times.p99_9_us),
        ("99.99 %", times.p99_99_us),
        ("99.999 %", times.p99_999_us),
        ("99.9999 %", times.p99_9999_us),
        ("max", times.max_us),
    ];
    let known = figures
        .iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.3}")));
    known.collect::<Vec<_>>().join(", ")
}
