//! What every program that sends must be able to do.

use std::time::Duration;

use super::config::Config;
use super::error::PktgenError;
use super::session::Session;

/// Longest time from the start until a generator can send. DPDK sets up memory and waits for links.
pub(super) const LAUNCH: Duration = Duration::from_secs(60);
/// Longest time for one answer.
pub(super) const ANSWER: Duration = Duration::from_secs(15);

/// What a port has counted since it was set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PortCounters {
    pub(super) sent: u64,
    /// Also those for which it had no room: they have arrived.
    pub(super) received: u64,
    /// Frames a second since the last time that was asked, by its own clock.
    pub(super) sent_per_second: u64,
}

/// A way to speak to a program that sends.
pub(super) trait GeneratorProtocol: std::fmt::Debug {
    /// The shell command that runs it.
    fn script(&self, config: &Config) -> String;
    /// Waits until it can send. Returns how it describes itself.
    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError>;
    /// Limits the rate of each port to a share of the line rate, above 0, up to 1.
    fn set_rate(
        &self,
        session: &mut Session,
        config: &Config,
        share: f64,
    ) -> Result<(), PktgenError>;
    /// Begins to send.
    fn start(&self, session: &mut Session) -> Result<(), PktgenError>;
    /// Stops sending.
    fn stop(&self, session: &mut Session) -> Result<(), PktgenError>;
    /// What each port has counted.
    fn counters(
        &self,
        session: &mut Session,
        config: &Config,
    ) -> Result<Vec<PortCounters>, PktgenError>;
}
