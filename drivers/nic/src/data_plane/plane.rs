//! The data plane: moves frames between wires and rings, for all ports.
//!
//! [`DataPlane::poll`] does one round in the caller's thread, and [`DataPlane::run`] does rounds
//! until it is stopped. Both use the same code but differ in pace. A round by hand does all work at
//! once, so that a test knows the state afterwards. A running data plane gathers a few descriptors
//! first, because moving cache lines between the two processors limits the rate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::{MmioMode, NicConfig, Placement, Traffic, QUEUES};
use crate::data_plane::burst_report::BurstTask;
use crate::data_plane::pace::{Clock, Pace, Progress};
use crate::data_plane::placing::Placing;
use crate::data_plane::port_plane::PortPlane;
use crate::data_plane::tuning::{
    CABLE_FRAMES, CALM_ROUNDS, CALM_SLEEP_SHARED, CALM_SLEEP_TRAP, IDLE_SLEEP, OUTSTANDING_ROUNDS,
    PAUSES, YIELD_ROUNDS,
};
use crate::data_plane::window::{Decision, Situation};
use crate::device::card::Device;
use crate::device::shared_device::SharedDevice;
use crate::memory::placement::Unplaceable;
use crate::traffic::verify::Verifier;
use crate::wire::Wire;

/// The data plane of a NIC; see [`Nic::data_plane`](crate::Nic::data_plane).
#[derive(Debug)]
pub struct DataPlane {
    pub(super) ports: Vec<PortPlane>,
    /// Whether any port's traffic depends on the time.
    timed: bool,
    /// Whether the NIC generates traffic for any port.
    busy: bool,
    calm_sleep: Duration,
    start: Instant,
    rounds: u32,
    pub(super) placing: Option<Placing>,
    /// The bursts to time before anything else.
    pub(crate) bursts: Option<BurstTask>,
}

impl DataPlane {
    /// A data plane for the ports `members`. `wires` has the other ends of their wires, in the same order.
    pub(crate) fn new(
        config: &NicConfig,
        devices: &[Arc<SharedDevice>],
        members: &[usize],
        wires: Vec<Option<Wire>>,
    ) -> Self {
        // Nothing ends the sleep of a data plane when a frame arrives at an interface.
        let tapped = wires.iter().any(Option::is_some);
        // Here a port is known by its place among the members.
        let place = |port: usize| members.iter().position(|member| *member == port);
        let port = |(index, wire): (&usize, Option<Wire>)| {
            let mut port = PortPlane::new(config, devices, *index, wire);
            port.cable = port.cable.and_then(place);
            if let Some((source, _)) = &mut port.verifier {
                *source = place(*source).unwrap_or(usize::MAX);
            }
            port
        };
        let ports: Vec<_> = members.iter().zip(wires).map(port).collect();
        let mut traffic = ports.iter().map(|port| port.generator.traffic());
        let timed = traffic.clone().any(|traffic| traffic.is_timed());
        let busy = traffic.any(|traffic| traffic != Traffic::Off);
        let calm_sleep = match config.mmio {
            MmioMode::Trap if !tapped => CALM_SLEEP_TRAP,
            MmioMode::Trap | MmioMode::Shared => CALM_SLEEP_SHARED,
        };
        let mut plane = Self {
            ports,
            timed,
            busy,
            calm_sleep,
            start: Instant::now(),
            rounds: 0,
            placing: None,
            bursts: None,
        };
        (0..plane.ports.len()).for_each(|index| plane.set_flushing(index));
        plane
    }

    /// Does one round over all ports, with all work that there is. The round sends every frame that
    /// drivers have handed over, and receives every arrived frame for which there are descriptors.
    pub fn poll(&mut self) -> Progress {
        let clock = self.clock();
        let progress = self.round(clock, Pace::Exact);
        self.place_lines();
        progress
    }

    /// Moves the lines that the last round wrote to where they belong, if there is such a place.
    pub(super) fn place_lines(&mut self) {
        if let Some(placing) = &mut self.placing {
            placing.place(&self.ports);
        }
    }

    /// From now on, [`DataPlane::poll`] leaves the lines that the round's DMA wrote at `placement`: packets, and
    /// write-backs of both rings.
    ///
    /// # Errors
    /// [`Unplaceable`] if this processor has no means.
    pub fn set_placement(&mut self, placement: Placement) -> Result<(), Unplaceable> {
        self.placing = Some(Placing::new(placement, &self.ports)?);
        Ok(())
    }

    /// Time of one load from a packet that the last [`DataPlane::poll`] received, in ticks of the time-stamp
    /// counter: the mean over all of them, in a chain. It shows that the placement took effect, and undoes it.
    /// `None` if no packet was received, or no placement is set.
    pub fn placed_load_ticks(&mut self) -> Option<f64> {
        self.placing.as_mut()?.load_ticks(&self.ports)
    }

    /// Does one round like [`DataPlane::poll`], at a time of the caller's choice. `now` counts from
    /// any moment and must not go backwards. Traffic at a rate and latency use that time.
    pub fn poll_at(&mut self, now: Duration) -> Progress {
        self.round(Clock::At(now), Pace::Exact)
    }

    /// Does one round at the pace of a running data plane, at a time of the caller's choice.
    #[cfg(feature = "fuzzing")]
    pub fn run_once_at(&mut self, now: Duration) -> Progress {
        self.round(Clock::At(now), Pace::Running)
    }

    /// Does one round like [`DataPlane::poll`], without a clock. `ready` is the most frames that may
    /// wait in each receive ring afterwards; without it, the frames fill the rings.
    pub(crate) fn turn(&mut self, ready: Option<u32>) -> Progress {
        for port in &mut self.ports {
            port.ready = ready;
        }
        self.round(Clock::At(Duration::ZERO), Pace::Exact)
    }

    /// Does rounds until `stop` is set. Sleeps most of the time while no port is in use.
    pub fn run(&mut self, stop: &AtomicBool) {
        if let Some(task) = self.bursts.take() {
            self.run_bursts(&task, stop);
        }
        let Some(alarm) = self.ports.first().map(|port| port.shared.alarm.clone()) else {
            return;
        };
        let mut idle_rounds = 0;
        while !stop.load(Ordering::Relaxed) {
            let clock = self.clock();
            let pace = if self.busy { Pace::Running } else { Pace::Calm };
            let progress = self.round(clock, pace);
            if !progress.is_idle() {
                idle_rounds = 0;
                continue;
            }
            idle_rounds += 1;
            if progress.skipped {
                // The port left out may have work for which the alarm has rung before.
                std::thread::yield_now();
            } else if !progress.active && idle_rounds > QUEUES as u32 {
                alarm.sleep(IDLE_SLEEP);
            } else if pace == Pace::Calm && idle_rounds > CALM_ROUNDS {
                let due = progress.next_due;
                let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
                alarm.sleep(wait.map_or(self.calm_sleep, |wait| wait.min(self.calm_sleep)));
            } else if idle_rounds > YIELD_ROUNDS {
                idle_rounds = 0;
                std::thread::yield_now();
            } else {
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
            }
        }
        for port in &self.ports {
            port.shared.lock().publish();
        }
        self.update_outstanding();
    }

    fn clock(&self) -> Clock {
        if self.timed {
            Clock::Since(self.start)
        } else {
            Clock::At(Duration::ZERO)
        }
    }

    pub(super) fn round(&mut self, clock: Clock, pace: Pace) -> Progress {
        let mut progress = Progress::default();
        let mut abandoned = false;
        for index in 0..self.ports.len() {
            let shared = self.ports[index].shared.clone();
            let mut device = match pace {
                Pace::Exact => shared.lock_after_others(),
                // A driver waits for an answer. The data plane leaves the port out in this round.
                Pace::Running | Pace::Calm => match shared.lock_unless_wanted() {
                    Some(device) => device,
                    None => {
                        progress.skipped = true;
                        continue;
                    }
                },
            };
            // A reset loses the frames that were in the card or driver, but not those to come.
            if self.ports[index].generation != device.generation {
                self.ports[index].generation = device.generation;
                self.abandon_frames(index);
                abandoned = true;
            }
            if let Some(traffic) = device.new_traffic.take() {
                self.ports[index].generator.set_traffic(traffic);
                self.timed |= traffic.is_timed();
                self.busy |= traffic != Traffic::Off;
                self.set_flushing(index);
            }
            self.open_window(index, &device, clock);
            let port = &mut self.ports[index];
            if port.rss_generation != device.rss_generation {
                port.rss_generation = device.rss_generation;
                port.generator.assign_flows(device.settings.rss.as_ref());
            }
            if port.cable.is_some() {
                device.set_partner_lit(port.partner_lit);
                port.lit = device.link.sends_light();
            }
            port.poll(&mut device, clock, pace, &mut progress);
            drop(device);
            self.carry(index);
        }
        if abandoned {
            self.publish_verified();
        }
        // A running data plane may show this number late.
        self.rounds = self.rounds.wrapping_add(1);
        if pace == Pace::Exact || self.rounds % OUTSTANDING_ROUNDS == 0 {
            self.update_outstanding();
        }
        progress
    }

    /// No longer expects the frames that a reset port had received: the driver has lost them.
    fn abandon_frames(&mut self, reset: usize) {
        if let Some(mut probe) = self.ports[reset].shared.probe() {
            probe.restart();
        }
        let next = self.ports[reset].generator.next_sequences();
        let verifiers = self.ports.iter_mut().filter_map(|it| it.verifier.as_mut());
        for (_, verifier) in verifiers.filter(|(source, _)| *source == reset) {
            verifier.abandon(&next);
        }
    }

    /// Shows the verifiers' counts. A port that had its turn before the reset of its peer shows old ones.
    fn publish_verified(&self) {
        for port in &self.ports {
            if let Some((_, verifier)) = &port.verifier {
                port.shared.lock().counters.verify = verifier.counts();
            }
        }
    }

    /// Counts the frames of each port's peer that have not come back to the port.
    fn update_outstanding(&self) {
        for port in &self.ports {
            let Some((source, verifier)) = &port.verifier else {
                continue;
            };
            if let Some(source) = self.ports.get(*source) {
                let outstanding = verifier.outstanding(&source.generator.next_sequences());
                port.shared
                    .outstanding
                    .store(outstanding, Ordering::Relaxed);
            }
        }
    }

    /// Decides how many frames a port's window still allows.
    fn open_window(&mut self, index: usize, device: &Device, clock: Clock) {
        let generator = &self.ports[index].generator;
        let Traffic::Window { frames } = generator.traffic() else {
            return;
        };
        let next = generator.next_sequences();
        self.ports[index].allowance = 0;
        let Some(verifier) = self.verifier_of(index) else {
            return;
        };
        let situation = Situation {
            frames,
            outstanding: verifier.outstanding(&next),
            begun: verifier.has_begun(),
            has_room: device.has_room(),
            now: clock.now(),
        };
        let port = &mut self.ports[index];
        match port.window.decide(situation) {
            Decision::Allow(allowance) => port.allowance = allowance,
            Decision::Abandon => {
                if let Some(verifier) = self.verifier_of(index) {
                    verifier.abandon(&next);
                }
            }
        }
    }

    /// The verifier of the frames that a port receives.
    fn verifier_of(&mut self, source: usize) -> Option<&mut Verifier> {
        let mut ports = self.ports.iter_mut();
        ports.find_map(|port| match &mut port.verifier {
            Some((of, verifier)) if *of == source => Some(verifier),
            _ => None,
        })
    }

    /// Lets the driver drop frames before its start, if its frames come in a window.
    fn set_flushing(&mut self, index: usize) {
        let traffic = self.ports[index].generator.traffic();
        let window = matches!(traffic, Traffic::Window { .. });
        if let Some(verifier) = self.verifier_of(index) {
            verifier.set_may_flush(window);
        }
    }

    /// Moves the frames that a port has sent to the other end of its wire.
    fn carry(&mut self, index: usize) {
        let port = &mut self.ports[index];
        let (lit, cable) = (port.lit, port.cable);
        if cable.is_none() && port.outbox.is_empty() {
            return;
        }
        let mut frames = std::mem::take(&mut port.outbox);
        if let Some(wire) = &mut port.wire {
            wire.send(frames.drain(..));
        }
        if let Some(other) = cable.and_then(|other| self.ports.get_mut(other)) {
            other.partner_lit = lit;
            let room = CABLE_FRAMES.saturating_sub(other.inbox.len());
            let arriving = if lit { room } else { 0 };
            other.inbox.extend(frames.drain(..).take(arriving));
        }
        // The next frames use the same memory.
        frames.clear();
        self.ports[index].outbox = frames;
    }
}
