//! The operations that every load generator supports.

use std::time::Duration;

use super::config::Config;
use super::error::PktgenError;
use super::session::Session;

/// Longest time from the start until a generator answers. DPDK sets up memory and ports.
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
    /// Waits until the generator has started its ports; a link is not needed. Returns its description.
    fn ready(&self, session: &mut Session, config: &Config) -> Result<String, PktgenError>;
    /// Whether each port has a link.
    fn links(&self, session: &mut Session, config: &Config) -> Result<Vec<bool>, PktgenError>;
    /// Sets the size of the frames, bytes without CRC. The generator does not send now.
    fn set_frame_size(
        &self,
        session: &mut Session,
        config: &Config,
        frame_size: u32,
    ) -> Result<(), PktgenError>;
    /// Limits the rate of each port to a share of the line rate, above 0 and at most 1. The ports have
    /// a link.
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
