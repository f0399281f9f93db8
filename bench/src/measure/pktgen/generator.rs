//! A running load generator.

use std::time::{Duration, Instant};

use perfcounters::load::{PortLink, SentLoad};
use perfcounters::{Interrupt, MeasureError};
use serde::Serialize;

use super::config::{Config, Tool};
use super::dialect::{Dialect, Exchange};
use super::launch;
use super::session::Session;

/// Longest time from the start until a generator answers. DPDK sets up memory and ports.
const LAUNCH: Duration = Duration::from_secs(60);
/// Longest time for another answer.
const ANSWER: Duration = Duration::from_secs(15);
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

/// The packets that were sent and that returned in a window of time. Rates are of all ports together.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The wanted rate; `None` for full speed.
    pub asked_mpps: Option<f64>,
    /// The rate that the wires carry.
    pub line_rate_mpps: f64,
    pub offered_mpps: f64,
    pub received_mpps: f64,
    /// The share of the sent packets that did not return, 0 to 1. Packets in flight at the ends of
    /// the window can make more packets return than were sent; the share is then 0.
    pub loss_ratio: f64,
    pub seconds: f64,
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    /// Bytes without CRC.
    pub frame_size: u32,
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

/// The packets that each port has sent and received, and when they were counted.
#[derive(Debug)]
struct Reading {
    at: Instant,
    ports: Vec<[u64; 2]>,
}

/// What happened between two readings.
struct Window {
    seconds: f64,
    sent: Vec<u64>,
    received: Vec<u64>,
}

impl Window {
    fn mpps(&self, frames: &[u64]) -> f64 {
        frames.iter().sum::<u64>() as f64 / self.seconds / 1e6
    }
}

impl Reading {
    fn until(&self, later: &Self) -> Window {
        let pairs = self.ports.iter().zip(&later.ports);
        let each = |index: usize| {
            let more = |(a, b): (&[u64; 2], &[u64; 2])| b[index].saturating_sub(a[index]);
            pairs.clone().map(more).collect()
        };
        Window {
            seconds: (later.at - self.at).as_secs_f64(),
            sent: each(0),
            received: each(1),
        }
    }
}

/// A running load generator. Dropping it ends the program.
#[derive(Debug)]
pub struct Generator {
    config: Config,
    dialect: &'static Dialect,
    session: Session,
    about: String,
    /// Whether it sends now.
    sending: bool,
    /// The limit of the rate as a share of the line rate, above 0 and at most 1.
    share: f64,
    /// The wanted rate and the counters at the start of a window.
    started: Option<(Option<f64>, Reading)>,
}

impl Generator {
    /// Starts the generator and its ports, at most for a minute. It sends nothing, and needs no link.
    pub fn launch(config: &Config, interrupt: &Interrupt) -> Result<Self, MeasureError> {
        let place = config.ssh.as_deref().unwrap_or("this machine");
        let dialect = Dialect::of(config.tool);
        let mut session = Session::start(place, launch::command(config), interrupt)?;
        let (tool, ports) = (config.tool, config.port_count());
        let answer = session.ask(LAUNCH, &dialect.ready, ports, &[])?;
        // testpmd answers with its links, which are as many as they must be.
        let found = answer.first().and_then(|word| word.parse().ok());
        if let Some(found) = found.filter(|found: &usize| *found != ports) {
            return Err(MeasureError::Other(format!(
                "{tool} found {found} ports, not {ports}: are they bound to vfio-pci?"
            )));
        }
        let version = match answer.get(1) {
            Some(version) if tool != Tool::Testpmd => format!(" {version}"),
            _ => String::new(),
        };
        let mut generator = Self {
            about: format!("{tool}{version}, {ports} ports on {place}"),
            config: config.clone(),
            dialect,
            session,
            sending: false,
            share: 1.0,
            started: None,
        };
        generator.order(&dialect.size)?;
        Ok(generator)
    }

    /// Describes the generator and its machine.
    pub fn about(&self) -> &str {
        &self.about
    }

    fn order(&mut self, exchange: &Exchange) -> Result<Vec<String>, MeasureError> {
        let config = &self.config;
        let mbit = config.line_rate_gbit * 1000.0 * self.share;
        let values = [
            ("{size}", config.frame_size.to_string()),
            ("{length}", config.testpmd_length().to_string()),
            ("{percent}", format!("{:.6}", self.share * 100.0)),
            // testpmd takes whole Mbit/s.
            ("{mbit}", mbit.round().max(1.0).to_string()),
        ];
        let ports = config.port_count();
        self.session.ask(ANSWER, exchange, ports, &values)
    }

    /// The links of its ports at this moment.
    pub fn links(&mut self) -> Result<Vec<PortLink>, MeasureError> {
        let states = self.order(&self.dialect.links)?;
        let names = self.config.ports.iter().chain(&self.config.vdevs);
        let link = |(name, state): (&String, String)| PortLink {
            name: name.clone(),
            up: state == "up",
        };
        Ok(names.zip(states).map(link).collect())
    }

    /// Waits until all its ports have a link.
    pub fn wait_for_link(&mut self, limit: Duration) -> Result<(), MeasureError> {
        let start = Instant::now();
        loop {
            let links = self.links()?;
            if links.iter().all(|port| port.up) {
                return Ok(());
            }
            if start.elapsed() >= limit {
                let ports: Vec<String> = links.iter().map(ToString::to_string).collect();
                return Err(MeasureError::Link(format!(
                    "no link within {} s: {}. Is the forwarder running at the other end? A port gets a link only \
                     while both sides run. Check cables and SFP+ modules, too",
                    limit.as_secs_f64(),
                    ports.join(", ")
                )));
            }
            self.session.sleep(LOOK)?;
        }
    }

    /// Sets the size of the frames, bytes without CRC. Stops a generator that sends.
    pub fn set_frame_size(&mut self, frame_size: u32) -> Result<(), MeasureError> {
        if frame_size == self.config.frame_size {
            return Ok(());
        }
        self.end()?;
        self.config.frame_size = frame_size;
        self.order(&self.dialect.size).map(drop)
    }

    /// Sends `rate_mpps`, both directions together, or at full speed. The window starts when this
    /// returns, after the warm-up. A generator that already sends continues at the new rate. After an
    /// error it may be sending.
    ///
    /// All ports need a link: without one, testpmd ignores a limit of the rate and later sends at line
    /// rate. The real rate is measured by the counters of the ports and corrected, because programs and
    /// cards count bytes differently. [`Report`] has the real rate.
    pub fn start(&mut self, rate_mpps: Option<f64>) -> Result<(), MeasureError> {
        self.started = None;
        let (ports, most) = (self.config.port_count(), self.line_rate_mpps());
        let rate = rate_mpps.unwrap_or(most);
        // Allow a little more, because printed rates are rounded.
        if !(rate > 0.0 && rate <= most * 1.001) {
            return Err(MeasureError::Other(format!(
                "{rate} Mpps is out of range: {ports} ports can send up to {most:.2} Mpps"
            )));
        }
        self.wait_for_link(SETTLE)?;
        let share = (rate / most).min(1.0);
        if share < 1.0 || self.share < 1.0 {
            self.set_rate(share)?;
        }
        if !self.sending {
            self.order(&self.dialect.start)?;
            self.sending = true;
        }
        let warm_up = Duration::from_secs_f64(self.config.warm_up_seconds);
        self.session.sleep(warm_up)?;
        if share < 1.0 {
            self.correct(rate)?;
        }
        self.started = Some((rate_mpps, self.counters()?));
        Ok(())
    }

    /// The rate of all ports at line rate.
    fn line_rate_mpps(&self) -> f64 {
        self.config.line_rate_mpps() * self.config.port_count() as f64
    }

    fn set_rate(&mut self, share: f64) -> Result<(), MeasureError> {
        self.share = share;
        self.order(&self.dialect.rate).map(drop).map_err(|error| match error {
            // testpmd keeps the old limit, or none: it would send at line rate.
            MeasureError::Other(why) => MeasureError::Other(format!(
                "{why}. Does a port have no link, is line_rate_gbit above the link's speed, or is this a card whose ports \
                 cannot limit their rate? dpdk-pktgen limits it by itself"
            )),
            other => other,
        })
    }

    /// Adjusts the share of the line rate until the real rate is the wanted rate.
    fn correct(&mut self, rate: f64) -> Result<(), MeasureError> {
        let mut measured = rate;
        for _ in 0..CORRECTIONS {
            let before = self.counters()?;
            self.session.sleep(TRIAL)?;
            let window = before.until(&self.counters()?);
            measured = window.mpps(&window.sent);
            if measured <= 0.0 {
                return Err(MeasureError::Other(format!(
                    "the load generator sent nothing within {:.1} s, instead of {rate:.3} Mpps",
                    window.seconds
                )));
            }
            if (measured / rate - 1.0).abs() < CLOSE {
                return Ok(());
            }
            // Limit each step, so that a short disturbance does not drive the share to an extreme.
            let step = (rate / measured).clamp(0.5, 2.0);
            self.set_rate((self.share * step).min(1.0))?;
        }
        // The report shows a rate that is too low.
        not_too_much(measured, rate)
    }

    /// Ends the window and stops sending. It is an error if it sent much more than it should have.
    pub fn stop(&mut self) -> Result<Report, MeasureError> {
        let started = self.started.take();
        let (asked_mpps, before) =
            started.ok_or_else(|| "the load generator was not started".to_owned())?;
        let window = before.until(&self.counters()?);
        self.end()?;
        let offered_mpps = window.mpps(&window.sent);
        let received_mpps = window.mpps(&window.received);
        if let Some(rate) = asked_mpps {
            not_too_much(offered_mpps, rate)?;
        }
        let returned = if offered_mpps > 0.0 {
            received_mpps / offered_mpps
        } else {
            1.0
        };
        Ok(Report {
            asked_mpps,
            line_rate_mpps: self.line_rate_mpps(),
            offered_mpps,
            received_mpps,
            loss_ratio: (1.0 - returned).max(0.0),
            seconds: window.seconds,
            sent: window.sent,
            received: window.received,
            frame_size: self.config.frame_size,
            flows: self.config.real_flows(),
        })
    }

    fn end(&mut self) -> Result<(), MeasureError> {
        if self.sending {
            self.order(&self.dialect.stop)?;
            self.sending = false;
        }
        Ok(())
    }

    /// Waits while it sends.
    pub fn sleep(&self, time: Duration) -> Result<(), MeasureError> {
        self.session.sleep(time)
    }

    fn counters(&mut self) -> Result<Reading, MeasureError> {
        let exchange = &self.dialect.counters;
        let words = self.order(exchange)?;
        let at = Instant::now();
        let numbers: Result<Vec<u64>, _> = words.iter().map(|word| word.parse()).collect();
        let numbers = numbers.map_err(|_| {
            let words = words.join(" ");
            format!("the load generator sent wrong counters: {words}")
        })?;
        let ports = numbers.chunks_exact(exchange.words_per_port);
        let ports = ports.map(self.dialect.count).collect();
        Ok(Reading { at, ports })
    }
}

fn not_too_much(measured: f64, rate: f64) -> Result<(), MeasureError> {
    if measured > rate * TOO_MUCH {
        return Err(MeasureError::Other(format!(
            "the load generator sends {measured:.3} Mpps instead of {rate:.3} Mpps"
        )));
    }
    Ok(())
}
