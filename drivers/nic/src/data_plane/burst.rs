//! A pace that times the driver: the card prepares a burst of packets out of the driver's sight, leaves their
//! lines where DMA would, makes the burst visible at once, and reads the clock until all is handed over.
//!
//! What the signal costs on its way is the same for every burst. So the cost of a packet is how the time
//! grows with the number of packets. The collector computes it from the report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::config::{Bursts, Traffic};
use crate::data_plane::burst_report::{BurstBlock, BurstTask};
use crate::data_plane::pace::{Clock, Pace};
use crate::data_plane::plane::DataPlane;
use crate::data_plane::port_plane::PortPlane;
use crate::data_plane::tuning::IDLE_SLEEP;
use crate::device::card::Device;
use crate::device::registers as r;
use crate::memory::placement::ticks;

/// Packets of a burst at each port: whole batches, less than a ring holds.
const NUMBERS: [u32; 4] = [32, 64, 128, 192];
/// First descriptors that stay out of sight until all others are written. A driver that reads descriptors by
/// fours and counts their DD bits must not see a later one before the first.
const WITHHELD: usize = 4;
/// Rounds without work after which the driver has sent everything.
const QUIET_ROUNDS: u32 = 3;
/// Rounds without a burst after which the card sleeps between rounds: no driver is there.
const PATIENT_ROUNDS: u32 = 100_000;
/// A driver that sleeps without frames gets many for `AGAIN` after every `PERIOD` of bursts.
const PERIOD: Duration = Duration::from_millis(700);
const AGAIN: Duration = Duration::from_millis(300);
/// Bursts at the start of a block, and after many frames, that are not timed.
const SETTLING: u32 = 32;
/// A block ends after so many times its number of bursts, however many were dropped.
const ATTEMPTS: u32 = 3;
/// Share of the usual time that passes before the card reads a tail, in percent: each reading takes the line
/// away from the driver.
const BLIND: u64 = 75;
/// Readings of the tails after which a burst is dropped: some tens of milliseconds.
const READINGS: u32 = 500_000;
/// A burst that takes so many times as long as usual was interrupted.
const INTERRUPTED: u64 = 4;
/// Most ticks of a random pause before a burst: the driver may be anywhere in its loop.
const PAUSE: u64 = 4000;

/// The usual ticks of a burst of each number of packets; 0 while unknown.
#[derive(Debug, Default)]
struct Usual([u64; NUMBERS.len()]);

impl Usual {
    /// Takes a time over. Returns whether it is usable: not the time of an interrupted burst, and not the
    /// time at which the card first looked.
    fn learn(&mut self, number: usize, ticks: u64, readings: u32) -> bool {
        let usual = &mut self.0[number];
        if readings == 1 {
            *usual = *usual * 7 / 8;
            return false;
        }
        if *usual > 0 && ticks > INTERRUPTED * *usual {
            return false;
        }
        *usual = match *usual {
            0 => ticks,
            usual => (usual * 15 + ticks) / 16,
        };
        true
    }
}

impl DataPlane {
    /// Times all bursts of the task, unless `stop` is set first.
    pub(super) fn run_bursts(&mut self, task: &BurstTask, stop: &AtomicBool) {
        if self.time_all(task, stop).is_some() {
            task.report().done = true;
        }
        self.placing = None;
        self.log_dma(false);
    }

    /// `None` if `stop` was set.
    fn time_all(&mut self, task: &BurstTask, stop: &AtomicBool) -> Option<()> {
        // The same seed gives the same bursts.
        let mut random = Rng::with_seed(task.bursts.seed);
        self.saturate_for(task.bursts.saturate, stop)?;
        let mut saturated = Instant::now();
        for round in 0..task.bursts.rounds {
            for placement in &task.bursts.placements {
                let mut block = BurstBlock {
                    round,
                    placement: *placement,
                    dropped: 0,
                    bursts: Vec::new(),
                };
                self.time_block(&mut block, &task.bursts, &mut random, &mut saturated, stop)?;
                task.report().blocks.push(block);
            }
        }
        Some(())
    }

    fn time_block(
        &mut self,
        block: &mut BurstBlock,
        bursts: &Bursts,
        random: &mut Rng,
        saturated: &mut Instant,
        stop: &AtomicBool,
    ) -> Option<()> {
        let mut usual = Usual::default();
        // The configuration has shown that this processor can place lines there.
        self.set_placement(block.placement).ok()?;
        let (mut settling, mut before) = (SETTLING, None);
        for _ in 0..SETTLING + ATTEMPTS * bursts.bursts {
            if block.bursts.len() >= bursts.bursts as usize {
                break;
            }
            let sleeps = !bursts.saturate.is_zero();
            if sleeps && saturated.elapsed() > PERIOD {
                self.saturate_for(AGAIN, stop)?;
                self.log_dma(true);
                *saturated = Instant::now();
                (settling, before) = (SETTLING, None);
            }
            let number = random.usize(..NUMBERS.len());
            let packets = NUMBERS[number];
            self.settle(packets, stop)?;
            let pause = random.u64(..PAUSE);
            let timed = self.time_burst(packets, pause, usual.0[number] * BLIND / 100);
            let usable = timed.filter(|(ticks, readings)| usual.learn(number, *ticks, *readings));
            match (usable, before) {
                _ if settling > 0 => settling -= 1,
                (Some((ticks, _)), Some(before)) => block.bursts.push((packets, before, ticks)),
                _ => block.dropped += 1,
            }
            before = Some(packets);
        }
        Some(())
    }

    /// Offers as many frames as the driver takes, from its first frame on. `None` if `stop` was set.
    fn saturate_for(&mut self, duration: Duration, stop: &AtomicBool) -> Option<()> {
        // Only the path that logs no DMA is fast.
        self.log_dma(false);
        self.set_traffic(Traffic::Saturate);
        let mut end = None;
        while !stop.load(Ordering::Relaxed) {
            let progress = self.round(Clock::At(Duration::ZERO), Pace::Running);
            if progress.transmitted > 0 && end.is_none() {
                end = Some(Instant::now() + duration);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                self.set_traffic(Traffic::Off);
                return Some(());
            }
            if !progress.active {
                std::thread::sleep(IDLE_SLEEP);
            }
        }
        None
    }

    fn set_traffic(&mut self, traffic: Traffic) {
        for port in &mut self.ports {
            port.generator.set_traffic(traffic);
        }
    }

    fn log_dma(&self, on: bool) {
        for port in &self.ports {
            port.shared.lock().dma.table.log.switch(on);
        }
    }

    /// Does rounds until the driver has sent everything, and has room for a burst. `None` if `stop` was set.
    fn settle(&mut self, packets: u32, stop: &AtomicBool) -> Option<()> {
        let (mut quiet, mut rounds) = (0, 0_u32);
        while quiet < QUIET_ROUNDS {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            self.round(Clock::At(Duration::ZERO), Pace::Exact);
            let ready = |port: &PortPlane| is_ready(&port.shared.lock(), packets);
            let all_ready = self.ports.iter().all(ready);
            quiet = if all_ready { quiet + 1 } else { 0 };
            rounds = rounds.saturating_add(1);
            if rounds > PATIENT_ROUNDS {
                std::thread::sleep(IDLE_SLEEP);
            }
        }
        Some(())
    }

    /// Times a burst: its ticks, and how often the card has looked. `None` if the driver did not hand it over.
    fn time_burst(&mut self, packets: u32, pause: u64, blind: u64) -> Option<(u64, u32)> {
        let mut tails = [0; 2];
        for (port, tail) in self.ports.iter_mut().zip(&mut tails) {
            let shared = port.shared.clone();
            *tail = port.prepare_burst(&mut shared.lock(), packets)?;
        }
        self.place_lines();
        let start = self.show_burst(pause);
        while ticks() - start < blind {}
        // The lock is free meanwhile: a driver may also read registers for which it needs an answer.
        let handed_over = |(port, tail): (&PortPlane, u32)| {
            let device = port.shared.lock_unless_wanted();
            device.is_some_and(|device| device.registers.get(r::TDT(0)) == tail)
        };
        for readings in 1..=READINGS {
            let all = self.ports.iter().zip(tails).all(handed_over);
            let now = ticks();
            if all {
                return Some((now - start, readings));
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Makes a prepared burst visible after a pause, and returns the time at which it does so.
    fn show_burst(&self, pause: u64) -> u64 {
        let mut devices: Vec<_> = self.ports.iter().map(|port| port.shared.lock()).collect();
        let withheld: Vec<_> = devices.iter().flat_map(|it| it.withheld()).collect();
        let pausing = ticks();
        while ticks() - pausing < pause {}
        let start = ticks();
        for (descriptor, words) in &withheld {
            descriptor.write(*words);
        }
        drop(withheld);
        devices.iter_mut().for_each(|device| device.withhold(0));
        start
    }
}

/// Whether the driver has handed all frames over, and has room for so many packets.
fn is_ready(device: &Device, packets: u32) -> bool {
    let tail = device.registers.get(r::TDT(0));
    let tx = device.queues.tx.get(0);
    device.settings.rx
        && device.settings.tx
        && device.settings.accepts_generated
        && tx.is_some_and(|tx| tx.ring.available(tail) == 0)
        && device.rx_available(0) >= packets
}

impl PortPlane {
    /// Stores a burst in the driver's memory, whose first descriptors stay out of sight. Returns the tail of
    /// the transmit ring when the driver has handed all over.
    fn prepare_burst(&mut self, device: &mut Device, packets: u32) -> Option<u32> {
        let len = device.queues.tx.get(0)?.ring.len();
        let tail = (device.registers.get(r::TDT(0)) + packets) % len;
        device.withhold(WITHHELD);
        device.dma.allow(Pace::Exact.work());
        self.receive_one_by_one(device, 0, packets);
        Some(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_and_early_bursts_are_not_usable() {
        let mut usual = Usual::default();
        assert!(usual.learn(0, 1000, 5));
        assert!(!usual.learn(0, 4001, 5), "interrupted");
        assert!(usual.learn(0, 1160, 5));
        assert_eq!(usual.0[0], 1010);
        assert!(!usual.learn(0, 900, 1), "the card looked too late");
        assert_eq!(usual.0[0], 883);
        assert!(usual.learn(1, 50_000, 5), "other numbers have other times");
    }
}
