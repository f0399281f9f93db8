//! The operations that every load generator supports.

use std::time::Duration;

use super::config::Config;
use super::error::PktgenError;
use super::session::Session;

/// Longest time from the start until a generator can send. DPDK sets up memory and waits for links.
pub(super) const LAUNCH: Duration = Duration::from_secs(60);
/// Longest time for one answer.
pub(super) const ANSWER: Duration = Duration::from_secs(15);

/// The counters of a port since its set-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PortCounters {
    pub(super) sent: u64,
    /// Includes packets that arrived but found no free descriptor.
    pub(super) received: u64,
    /// Frames per second since the last query, by the generator's clock.
    pub(super) sent_per_second: u64,
}

/// The commands and answers of one kind of load generator.
pub(super) trait GeneratorProtocol: std::fmt::Debug {
    /// The shell command that runs the generator.
    fn script(&self, config: &Config) -> String;
    /// Waits until the generator can send. Returns its description.
    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError>;
    /// Limits the rate of each port to a share of the line rate, above 0 and at most 1.
    fn set_rate(
        &self,
        session: &mut Session,
        config: &Config,
        share: f64,
    ) -> Result<(), PktgenError>;
    /// Starts to send.
    fn start(&self, session: &mut Session) -> Result<(), PktgenError>;
    /// Stops sending.
    fn stop(&self, session: &mut Session) -> Result<(), PktgenError>;
    /// The counters of each port.
    fn counters(
        &self,
        session: &mut Session,
        config: &Config,
    ) -> Result<Vec<PortCounters>, PktgenError>;
}
