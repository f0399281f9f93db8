//! A running load generator.

use std::time::{Duration, Instant};

use perfcounters::load::{PortLink, SentLoad};
use perfcounters::Interrupt;
use serde::Serialize;

use super::config::{Config, Tool};
use super::error::PktgenError;
use super::line_protocol::LineProtocol;
use super::protocol::{GeneratorProtocol, PortCounters};
use super::session::{Location, Session};
use super::testpmd::Testpmd;

/// Most corrections of a rate.
const CORRECTIONS: u32 = 4;
/// The relative error below which a rate needs no correction.
const CLOSE: f64 = 0.005;
/// A rate above the wanted rate by this factor is an error, because it would overload the driver.
const TOO_MUCH: f64 = 1.05;
/// Time for a link to come back before a load begins.
const SETTLE: Duration = Duration::from_secs(2);
/// Time between two looks at the links.
const LOOK: Duration = Duration::from_millis(200);
/// Length of the measurement before each correction.
const TRIAL: Duration = Duration::from_millis(1000);

/// The packets that were sent and that returned in a window of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The wanted rate, Mpps, both directions together; `None` for full speed.
    pub asked_mpps: Option<f64>,
    /// The rate that the wires carry, Mpps, both directions together.
    pub line_rate_mpps: f64,
    /// The rate that was sent, Mpps, all ports together.
    pub offered_mpps: f64,
    /// The rate that returned, Mpps, all ports together.
    pub received_mpps: f64,
    /// The share of the sent packets that did not return, 0 to 1. Packets in flight at the ends of
    /// the window can make more packets return than were sent; the share is then 0.
    pub loss_ratio: f64,
    /// Length of the window, seconds.
    pub seconds: f64,
    /// The frames that each port sent.
    pub sent: Vec<u64>,
    /// The frames that each port received.
    pub received: Vec<u64>,
    /// Frame size, bytes without CRC.
    pub frame_size: u32,
    /// Flows of each port.
    pub flows: u32,
}

impl Report {
    /// The rates alone. Without a limit, the wanted rate is the line rate.
    pub fn load(&self) -> SentLoad {
        SentLoad {
            wanted_mpps: self.asked_mpps.unwrap_or(self.line_rate_mpps),
            offered_mpps: self.offered_mpps,
        }
    }
}

/// The start of a window.
#[derive(Debug)]
struct Window {
    asked_mpps: Option<f64>,
    begin: Instant,
    counters: Vec<PortCounters>,
}

/// A running load generator. Dropping it ends the program.
#[derive(Debug)]
pub struct Generator {
    config: Config,
    protocol: Box<dyn GeneratorProtocol>,
    session: Session,
    about: String,
    /// Whether it sends now.
    sending: bool,
    /// Whether a rate limit is set.
    limited: bool,
    window: Option<Window>,
}

impl Generator {
    /// Starts the generator and its ports, at most for a minute. It sends nothing, and needs no link.
    ///
    /// # Errors
    /// [`PktgenError`], for instance without a connection, the program, its ports or memory.
    pub fn launch(config: &Config, interrupt: &Interrupt) -> Result<Self, PktgenError> {
        let place = match &config.ssh {
            None => Location::Here,
            Some(name) => Location::Host(name.clone()),
        };
        let protocol = protocol(config);
        let mut session = Session::start(&place, &protocol.script(config), interrupt)?;
        let about = protocol.ready(&mut session, config)?;
        Ok(Self {
            about: format!("{about} on {}", place.name()),
            config: config.clone(),
            protocol,
            session,
            sending: false,
            limited: false,
            window: None,
        })
    }

    /// Describes the generator and its machine.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The links of its ports at this moment.
    ///
    /// # Errors
    /// [`PktgenError`] if the generator does not answer.
    pub fn links(&mut self) -> Result<Vec<PortLink>, PktgenError> {
        let up = self.protocol.links(&mut self.session, &self.config)?;
        let names = self.config.ports.iter().chain(&self.config.vdevs);
        Ok(names
            .zip(up)
            .map(|(name, up)| PortLink {
                name: name.clone(),
                up,
            })
            .collect())
    }

    /// Waits until all its ports have a link.
    ///
    /// # Errors
    /// [`PktgenError::NoLink`] if the time is up, or [`PktgenError`].
    pub fn wait_for_link(&mut self, limit: Duration) -> Result<(), PktgenError> {
        let start = Instant::now();
        loop {
            let links = self.links()?;
            if links.iter().all(|port| port.up) {
                return Ok(());
            }
            if start.elapsed() >= limit {
                let ports: Vec<String> = links.iter().map(ToString::to_string).collect();
                return Err(PktgenError::NoLink {
                    seconds: limit.as_secs_f64(),
                    ports: ports.join(", "),
                });
            }
            self.session.sleep(LOOK)?;
        }
    }

    /// Sets the size of the frames, bytes without CRC. Stops a generator that sends.
    ///
    /// # Errors
    /// [`PktgenError`].
    pub fn set_frame_size(&mut self, frame_size: u32) -> Result<(), PktgenError> {
        if frame_size == self.config.frame_size {
            return Ok(());
        }
        if self.sending {
            self.protocol.stop(&mut self.session)?;
            self.sending = false;
        }
        self.protocol
            .set_frame_size(&mut self.session, &self.config, frame_size)?;
        self.config.frame_size = frame_size;
        Ok(())
    }

    /// Sends `rate_mpps`, both directions together, or at full speed. The window starts when this
    /// returns, after the warm-up. A generator that already sends continues at the new rate.
    ///
    /// All ports need a link: without one, testpmd ignores a limit of the rate and later sends at line
    /// rate. The real rate is measured by the counters of the ports and corrected, because programs and
    /// cards count bytes differently. [`Report`] has the real rate.
    ///
    /// # Errors
    /// [`PktgenError`]. The generator may be sending afterwards.
    pub fn start(&mut self, rate_mpps: Option<f64>) -> Result<(), PktgenError> {
        self.window = None;
        let ports = self.config.port_count();
        let most = self.config.line_rate_mpps() * ports as f64;
        let mut share = 1.0;
        if let Some(rate) = rate_mpps {
            // Allow a little more, because printed rates are rounded.
            if !(rate > 0.0 && rate <= most * 1.001) {
                return Err(PktgenError::Rate { rate, most, ports });
            }
            share = (rate / most).min(1.0);
        }
        self.wait_for_link(SETTLE)?;
        let limit = share < 1.0;
        if limit || self.limited {
            self.protocol
                .set_rate(&mut self.session, &self.config, share)?;
            self.limited = limit;
        }
        if !self.sending {
            self.protocol.start(&mut self.session)?;
            self.sending = true;
        }
        self.session
            .sleep(Duration::from_secs_f64(self.config.warm_up_seconds))?;
        if let Some(rate) = rate_mpps.filter(|_| limit) {
            self.correct(rate, share)?;
        }
        let counters = self.counters()?;
        self.window = Some(Window {
            asked_mpps: rate_mpps,
            begin: Instant::now(),
            counters,
        });
        Ok(())
    }

    /// Adjusts the share of the line rate until the real rate is the wanted rate.
    fn correct(&mut self, rate: f64, mut share: f64) -> Result<(), PktgenError> {
        let mut measured = rate;
        for _ in 0..CORRECTIONS {
            let before = self.counters()?;
            let begin = Instant::now();
            self.session.sleep(TRIAL)?;
            let after = self.counters()?;
            let seconds = elapsed(&before, &after, begin);
            measured = sum(&sent(&before, &after)) as f64 / seconds / 1e6;
            if measured <= 0.0 {
                return Err(PktgenError::Refused(format!(
                    "its ports sent nothing within {seconds:.1} s, instead of {rate:.3} Mpps"
                )));
            }
            if (measured / rate - 1.0).abs() < CLOSE {
                return Ok(());
            }
            // Limit each step, so that a short disturbance does not drive the share to an extreme.
            share = (share * (rate / measured).clamp(0.5, 2.0)).min(1.0);
            self.protocol
                .set_rate(&mut self.session, &self.config, share)?;
        }
        // The report shows a rate that is too low.
        not_too_much(measured, rate)
    }

    /// Ends the window and stops sending.
    ///
    /// # Errors
    /// [`PktgenError`], also if it sent much more than it should have.
    pub fn stop(&mut self) -> Result<Report, PktgenError> {
        let window = self.window.take().ok_or(PktgenError::NotStarted)?;
        let after = self.counters()?;
        let seconds = elapsed(&window.counters, &after, window.begin);
        self.protocol.stop(&mut self.session)?;
        self.sending = false;
        let sent = sent(&window.counters, &after);
        let received: Vec<u64> = window
            .counters
            .iter()
            .zip(&after)
            .map(|(before, after)| after.received.saturating_sub(before.received))
            .collect();
        let (all_sent, all_received) = (sum(&sent) as f64, sum(&received) as f64);
        if let Some(rate) = window.asked_mpps {
            not_too_much(all_sent / seconds / 1e6, rate)?;
        }
        Ok(Report {
            asked_mpps: window.asked_mpps,
            line_rate_mpps: self.config.line_rate_mpps() * self.config.port_count() as f64,
            offered_mpps: all_sent / seconds / 1e6,
            received_mpps: all_received / seconds / 1e6,
            loss_ratio: match all_sent > 0.0 {
                true => (1.0 - all_received / all_sent).max(0.0),
                false => 0.0,
            },
            seconds,
            sent,
            received,
            frame_size: self.config.frame_size,
            flows: self.config.real_flows(),
        })
    }

    /// Waits while it sends.
    ///
    /// # Errors
    /// [`PktgenError::Interrupted`].
    pub fn sleep(&self, time: Duration) -> Result<(), PktgenError> {
        self.session.sleep(time)
    }

    fn counters(&mut self) -> Result<Vec<PortCounters>, PktgenError> {
        self.protocol.counters(&mut self.session, &self.config)
    }
}

/// The commands of a kind of generator.
pub(super) fn protocol(config: &Config) -> Box<dyn GeneratorProtocol> {
    match config.tool {
        Tool::Testpmd => Box::new(Testpmd),
        Tool::Pktgen | Tool::Moongen | Tool::Command => Box::new(LineProtocol),
    }
}

fn not_too_much(measured: f64, rate: f64) -> Result<(), PktgenError> {
    match measured > rate * TOO_MUCH {
        true => Err(PktgenError::Refused(format!(
            "it sends {measured:.3} Mpps instead of {rate:.3} Mpps"
        ))),
        false => Ok(()),
    }
}

fn sent(before: &[PortCounters], after: &[PortCounters]) -> Vec<u64> {
    before
        .iter()
        .zip(after)
        .map(|(before, after)| after.sent.saturating_sub(before.sent))
        .collect()
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

/// The time between two readings of the counters, seconds. It comes from the generator's clock if
/// its rate gives it, because answers take time over a network.
fn elapsed(before: &[PortCounters], after: &[PortCounters], begin: Instant) -> f64 {
    let here = begin.elapsed().as_secs_f64();
    let rate: u64 = after.iter().map(|port| port.sent_per_second).sum();
    let there = sum(&sent(before, after)) as f64 / rate as f64;
    match there.is_finite() && (there - here).abs() < 0.2 * here + 0.5 {
        true => there,
        false => here,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(sent: u64, received: u64, sent_per_second: u64) -> PortCounters {
        PortCounters {
            sent,
            received,
            sent_per_second,
        }
    }

    #[test]
    fn the_generators_clock_is_used_if_plausible() {
        let begin = Instant::now() - Duration::from_secs(2);
        let before = [port(0, 0, 0), port(100, 0, 0)];
        let after = [port(2_100, 0, 1_000), port(2_200, 0, 1_000)];
        assert!((elapsed(&before, &after, begin) - 2.1).abs() < 1e-9);
        // Nothing was sent, or the generator's clock is implausible.
        let silent = [port(0, 0, 0), port(100, 0, 0)];
        assert!((elapsed(&before, &silent, begin) - 2.0).abs() < 0.1);
        let odd = [port(2_100, 0, 1), port(2_200, 0, 1)];
        assert!((elapsed(&before, &odd, begin) - 2.0).abs() < 0.1);
    }
}
