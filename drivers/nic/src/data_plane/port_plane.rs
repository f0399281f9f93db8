//! One port in a round of the data plane.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Cable, NicConfig, Traffic, QUEUES};
use crate::data_plane::checked_sink::CheckedSink;
use crate::data_plane::pace::{due, gather, Clock, Pace, Progress};
use crate::data_plane::tuning::{CABLE_DESCRIPTORS, CABLE_FRAMES, PUBLISH_ROUNDS};
use crate::data_plane::window::Window;
use crate::device::card::Device;
use crate::device::dma_port::KEPT_FRAME;
use crate::device::registers as r;
use crate::device::shared_device::SharedDevice;
use crate::pcap::Pcap;
use crate::traffic::frame::MAX_FRAME;
use crate::traffic::generator::{Arrivals, Arriving, Generator};
use crate::traffic::latency::nanos;
use crate::traffic::verify::{Meter, Verifier};
use crate::wire::Wire;

/// A port's state in the data plane, which only the polling thread uses.
#[derive(Debug)]
pub(super) struct PortPlane {
    pub(super) shared: Arc<SharedDevice>,
    pub(super) generator: Generator,
    /// Checks the frames that this port sends, and the port that received them.
    pub(super) verifier: Option<(usize, Verifier)>,
    /// The port that received the frames, if latency is measured.
    measured: Option<Arc<SharedDevice>>,
    /// The port at the other end of this port's cable.
    pub(super) cable: Option<usize>,
    /// Whether the other end of the cable sends light.
    pub(super) partner_lit: bool,
    /// Whether this end of the cable sends light.
    pub(super) lit: bool,
    /// Frames that have arrived over the cable.
    pub(super) inbox: VecDeque<Vec<u8>>,
    /// The interface or files at the other end of this port's wire.
    pub(super) wire: Option<Wire>,
    /// Frames to send over the cable, or to the interface or file.
    pub(super) outbox: Vec<Vec<u8>>,
    /// Rounds in which the descriptors of a queue have waited.
    rx_waits: [u8; QUEUES],
    tx_waits: [u8; QUEUES],
    /// The queues that the next round begins with: those that the last one had no time for.
    first_rx: usize,
    first_tx: usize,
    /// Rounds since the registers last showed heads and statistics.
    unpublished: u32,
    /// The queue besides queue 0 whose enable bits were observed last.
    observed: usize,
    /// The device's generations that this port has seen.
    pub(super) generation: u64,
    pub(super) rss_generation: u64,
    scratch: Box<[u8; MAX_FRAME]>,
    /// Number of frames that this port may receive in this round, if its traffic has a window.
    pub(super) allowance: u64,
    pub(super) window: Window,
    /// Most frames that may wait in each receive ring after a round; `None` for no limit.
    pub(super) ready: Option<u32>,
}

impl PortPlane {
    /// The state of port number `index` of a NIC with these devices.
    pub(super) fn new(
        config: &NicConfig,
        devices: &[Arc<SharedDevice>],
        index: usize,
        wire: Option<Wire>,
    ) -> Self {
        let port = &config.ports[index];
        let cable = config.cables.iter().find_map(|Cable { a, b }| match index {
            _ if index == *a => Some(*b),
            _ if index == *b => Some(*a),
            _ => None,
        });
        let wired = cable.is_some() || port.wire.is_some();
        let verifier = port.peer.filter(|_| port.checks_frames() && !wired);
        let verifier = verifier.map(|peer| {
            let flows = config.ports[peer].flows;
            let path = (peer, index);
            (peer, Verifier::new(path, flows, port.verify, port.expected))
        });
        Self {
            shared: devices[index].clone(),
            generator: Generator::new(index, port.traffic, &port.sizes, port.flows),
            verifier,
            measured: port
                .peer
                .map(|peer| devices[peer].clone())
                .filter(|source| source.is_measured()),
            cable,
            partner_lit: true,
            lit: true,
            inbox: VecDeque::new(),
            wire,
            outbox: Vec::new(),
            rx_waits: [0; QUEUES],
            tx_waits: [0; QUEUES],
            first_rx: 0,
            first_tx: 0,
            unpublished: 0,
            observed: 0,
            generation: 0,
            rss_generation: 0,
            scratch: Box::new([0; MAX_FRAME]),
            allowance: 0,
            window: Window::default(),
            ready: None,
        }
    }

    /// Does this port's share of a round.
    pub(super) fn poll(
        &mut self,
        device: &mut Device,
        clock: Clock,
        pace: Pace,
        progress: &mut Progress,
    ) {
        match pace {
            Pace::Exact => device.observe_queues(),
            Pace::Running | Pace::Calm => {
                // Every round observes queue 0, which all drivers use, and one of the others.
                device.observe_queue(0);
                self.observed = (self.observed + 1) % QUEUES;
                device.observe_queue(self.observed);
            }
        }
        if device.config.faults.relaxed_ordering {
            device.order_loosely();
        }
        if device.config.hardware.late_write_backs {
            device.settle_write_backs();
        }
        device.observe_training();
        let delivered = device.counters.delivered;
        let transmitted = device.counters.transmitted;
        device.dma.allow(pace.work());
        if let Some(Wire::Tap(tap)) = &mut self.wire {
            // No more than a cable holds. The others wait in the interface, which drops them in the end.
            if self.inbox.len() < CABLE_FRAMES {
                tap.receive(&mut self.inbox);
            }
            device.counters.refused_by_tap = tap.refused;
        }
        self.receive(device, clock, pace);
        if let Some(Wire::Pcap(pcap)) = &self.wire {
            device.counters.left_in_pcap = pcap.left();
        }
        device.dma.allow(pace.work());
        self.send(device, clock, pace);
        device.withdraw_lost_memory();
        device.interrupts.poll(&device.registers);
        if device.config.faults.interrupt_storm {
            device.storm();
        }
        if device.interrupts.set_up() {
            let written_back = device.write_back_overdue();
            let signalled = device.interrupts.next_due(&device.registers);
            let dues = [progress.next_due, written_back, signalled];
            progress.next_due = dues.into_iter().flatten().min();
        }
        let received = device.counters.delivered - delivered;
        let sent = device.counters.transmitted - transmitted;
        progress.received += received;
        progress.transmitted += sent;
        progress.active |= device.settings.rx || device.settings.tx;
        if let Some((_, verifier)) = &self.verifier {
            device.counters.verify = verifier.counts();
        }
        self.unpublished = if received + sent > 0 {
            self.unpublished + 1
        } else {
            PUBLISH_ROUNDS
        };
        if pace != Pace::Running || self.unpublished >= PUBLISH_ROUNDS {
            self.unpublished = 0;
            device.publish();
        }
    }

    fn receive(&mut self, device: &mut Device, clock: Clock, pace: Pace) {
        let now = clock.now();
        // Who steps the data plane by hand decides when frames arrive.
        let sends = pace == Pace::Exact || device.link.far_end_sends();
        let arriving = match pace {
            _ if !device.settings.rx || !sends => Arriving::Discarded,
            Pace::Exact => Arriving::AtOnce,
            Pace::Running | Pace::Calm => Arriving::AtLineRate,
        };
        let arrivals = self.generator.newly_arrived(now, arriving);
        if !device.settings.rx {
            let lost = device.injected.len() + self.inbox.len();
            let generated = if sends { arrivals.count } else { 0 };
            device.counters.dropped_not_running += lost as u64 + generated;
            device.counters.generated += generated;
            device.injected.clear();
            self.inbox.clear();
            return;
        }
        device.accept_waiting();
        while !device.dma.is_spent() {
            let waiting = device.injected.pop_front();
            let Some(frame) = waiting.or_else(|| self.inbox.pop_front()) else {
                break;
            };
            device.accept(&frame);
        }
        if let (Some(Wire::Pcap(pcap)), true) = (&mut self.wire, sends) {
            receive_recorded(device, pcap);
        }
        match self.generator.traffic() {
            _ if !sends => {}
            Traffic::Off => {}
            Traffic::Rate { .. } if arrivals.count == 0 => {}
            Traffic::Rate { .. } => self.receive_arrived(device, arrivals, now),
            Traffic::Saturate => self.receive_saturating(device, pace, u64::MAX),
            Traffic::Window { .. } => self.receive_saturating(device, pace, self.allowance),
        }
    }

    /// Receives frames at a fixed rate, whether or not there are descriptors for them.
    fn receive_arrived(&mut self, device: &mut Device, arrivals: Arrivals, now: Duration) {
        let mut probe = self.shared.probe();
        if let Some(probe) = &mut probe {
            for nth in 0..arrivals.count {
                probe.arrived(arrivals.due(nth), nanos(now));
            }
        }
        // Receive all frames in one go if they are alike, or else none.
        let first = self.generator.next_sequence(0);
        let (received, dropped) = match self.generator.small_frames(0) {
            Some(mut frames) => device.accept_small_or_drop(&mut frames, arrivals.count),
            None => (0, 0),
        };
        let together = received + dropped;
        if let Some(probe) = &mut probe {
            for nth in 0..received {
                probe.given(0, first + nth, arrivals.due(nth));
            }
            for nth in received..together {
                probe.dropped(arrivals.due(nth));
            }
        }
        for nth in together..arrivals.count {
            let queue = self.generator.queue_of(arrivals.before + nth);
            device.counters.generated += 1;
            let (len, _) = self.generator.build(queue, &mut self.scratch);
            let sequence = self.generator.next_sequence(queue);
            let accepted = device.accept(&self.scratch[..len]);
            if accepted {
                self.generator.accept(queue);
                device.counters.delivered_generated += 1;
            }
            match &mut probe {
                Some(probe) if accepted => probe.given(queue, sequence, arrivals.due(nth)),
                Some(probe) => probe.dropped(arrivals.due(nth)),
                None => {}
            }
        }
    }

    /// Receives a frame for every available descriptor, but at most `allowance` frames.
    fn receive_saturating(&mut self, device: &mut Device, pace: Pace, allowance: u64) {
        if !device.settings.accepts_generated || !device.packet_buffer.is_empty() {
            return;
        }
        let before = device.counters.delivered_generated;
        for queue in device.queues.rx.on_from(self.first_rx) {
            let allowance = allowance.saturating_sub(device.counters.delivered_generated - before);
            if device.dma.is_spent() || allowance == 0 {
                self.first_rx = queue;
                return;
            }
            let Some(rx) = device.queues.rx.get(queue) else {
                continue;
            };
            if !self.generator.feeds(queue) {
                continue;
            }
            let mut available = device.rx_available(queue);
            if let Some(ready) = self.ready {
                // The driver owns the others: they hold frames that it has not taken.
                let waiting = (rx.ring.len() - 1).saturating_sub(available);
                available = available.min(ready.saturating_sub(waiting));
            }
            let gather = gather(rx.ring.len());
            let Some(count) = due(available, gather, pace, &mut self.rx_waits[queue]) else {
                continue;
            };
            let count = u32::try_from(allowance).map_or(count, |allowance| count.min(allowance));
            let takes_small = device.takes_small(queue);
            match self.generator.small_frames(queue) {
                Some(mut frames) if takes_small => {
                    device.accept_small(queue, &mut frames, count);
                }
                _ => self.receive_one_by_one(device, queue, count),
            }
        }
    }

    /// Receives generated frames of any length, one by one, until descriptors run out.
    pub(super) fn receive_one_by_one(&mut self, device: &mut Device, queue: usize, count: u32) {
        for _ in 0..count {
            if device.dma.is_spent() {
                return;
            }
            let (len, hash) = self.generator.build(queue, &mut self.scratch);
            if !device.accept_generated(queue, &self.scratch[..len], hash) {
                return;
            }
            self.generator.accept(queue);
        }
    }

    fn send(&mut self, device: &mut Device, clock: Clock, pace: Pace) {
        if !device.settings.tx {
            return;
        }
        for queue in device.queues.tx.on_from(self.first_tx) {
            if device.dma.is_spent() {
                self.first_tx = queue;
                return;
            }
            let Some(tx) = device.queues.tx.get(queue) else {
                continue;
            };
            let tail = device.registers.get(r::TDT(queue as u32));
            let available = tx.ring.available(tail);
            // The latency would include the time to gather descriptors.
            let gather = match self.measured {
                None if !tx.is_within_segments() => gather(tx.ring.len()),
                _ => 0,
            };
            let Some(mut count) = due(available, gather, pace, &mut self.tx_waits[queue]) else {
                continue;
            };
            let wired = self.cable.is_some() || self.wire.is_some();
            if wired && pace != Pace::Exact {
                count = count.min(CABLE_DESCRIPTORS);
            }
            let mut probe = self.measured.as_ref().and_then(|source| source.probe());
            let meter = probe.as_mut().map(|probe| Meter {
                probe,
                now: Duration::ZERO,
            });
            let verifier = self.verifier.as_mut().map(|(_, verifier)| {
                verifier.set_queue(queue);
                verifier
            });
            let outbox = wired.then_some(&mut self.outbox);
            let mut captured = device.captured.take();
            let mut sink = CheckedSink {
                verifier,
                meter,
                clock,
                keep: captured.is_some() || outbox.is_some(),
                captured: captured.as_mut(),
                outbox,
                frames: 0,
            };
            device.send(queue, &mut sink, count);
            let frames = sink.frames;
            if sink.keep {
                device.dma.spend(frames as usize * KEPT_FRAME);
            }
            device.counters.transmitted += frames;
            device.counters.queues[queue].transmitted += frames;
            device.captured = captured;
        }
    }
}

/// Receives recorded frames until descriptors run out. The others wait in the file.
fn receive_recorded(device: &mut Device, pcap: &mut Pcap) {
    while !device.dma.is_spent() {
        match pcap.next() {
            Some(frame) if device.has_descriptors_for(frame) => device.accept(frame),
            _ => return,
        };
        pcap.advance();
    }
}
