//! The forwarder and its two ports in virtual time.

use std::collections::VecDeque;

use super::{Card, TurnCosts, PICOSECONDS};

/// The share of the packets that passes before the count begins, so that the rings have settled.
const WARM_UP: u64 = 10;

/// How many frames arrive, both ports together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// As many as the wires carry.
    LineRate,
    /// Millions of packets a second, evenly spaced. More than the wires carry is line rate.
    Mpps(f64),
}

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Clock of the core, hertz.
    pub clock_hz: u64,
    /// The most frames that one receive call takes.
    pub batch: u32,
    /// Descriptors of a receive ring.
    pub ring_size: u32,
    /// Bytes of a frame without CRC.
    pub frame_size: u32,
    /// The load.
    pub load: Load,
    /// Packets to forward, the warm-up among them.
    pub packets: u64,
}

/// A setup that cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// A number that must be positive.
    #[error("{0} must be positive")]
    Zero(&'static str),
    /// The ring is too small for a batch.
    #[error("a batch of {batch} does not fit into a ring of {ring_size} descriptors, of which one stays empty")]
    Ring {
        /// Frames of a batch.
        batch: u32,
        /// Descriptors of the ring.
        ring_size: u32,
    },
}

/// What happened to the packets after the warm-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Forwarded packets per microsecond, both directions together.
    pub mpps: f64,
    /// Share of the receive calls that returned a full batch, 0 to 1.
    pub full_batch_ratio: f64,
    /// Share of the arrived frames that found no descriptor, 0 to 1.
    pub loss_ratio: f64,
    /// Receive calls by the frames that they returned, from 0 to the batch size.
    pub calls_by_frames: Vec<u64>,
    /// Latencies of the forwarded packets in picoseconds, ascending. A latency runs from the start of
    /// a frame on the one wire to its start on the other.
    latencies: Vec<u64>,
}

impl Outcome {
    /// Latency within which `percent` percent of the packets passed, microseconds. `None` if fewer
    /// than ten packets lie beyond it: then chance would decide.
    #[must_use]
    pub fn latency_us(&self, percent: f64) -> Option<f64> {
        let count = self.latencies.len();
        // Rounded before it is rounded up, because 0.999 * 10,000 is not exact in binary.
        let rank = ((count as f64 * percent / 100.0 * 1e6).round() / 1e6).ceil() as usize;
        (rank >= 1 && count >= rank + 10).then(|| self.latencies[rank - 1] as f64 / 1e6)
    }

    /// Packets that the figures are about.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.latencies.len() as u64
    }
}

/// One port: the frames that arrive, those that wait in its receive ring, and its sending wire.
struct Port {
    /// Picoseconds between two arrivals, in millionths, so that small differences of clocks count.
    interval: u128,
    arrivals: u64,
    /// Starts on the wire of the frames in the ring, oldest first.
    waiting: VecDeque<u64>,
    /// When the sending wire is free again.
    wire_free: u64,
    dropped: u64,
}

impl Port {
    fn new(interval: u128) -> Self {
        Self {
            interval,
            arrivals: 0,
            waiting: VecDeque::new(),
            wire_free: 0,
            dropped: 0,
        }
    }

    /// When the next frame starts on the wire.
    fn next_start(&self) -> u64 {
        (u128::from(self.arrivals) * self.interval / 1_000_000) as u64
    }

    /// Puts every frame into the ring that the driver can see at `now`. Frames without a descriptor
    /// are lost.
    fn arrive(&mut self, now: u64, on_the_way: u64, ring_size: u32) {
        loop {
            let start = self.next_start();
            if start + on_the_way > now {
                return;
            }
            self.arrivals += 1;
            // The 82599 leaves one descriptor of a ring empty (datasheet 7.1.9).
            if self.waiting.len() < ring_size as usize - 1 {
                self.waiting.push_back(start);
            } else {
                self.dropped += 1;
            }
        }
    }
}

/// The counters of the calls and the packets, from the end of the warm-up on.
struct Count {
    begin: u64,
    arrived: u64,
    dropped: u64,
    calls_by_frames: Vec<u64>,
    latencies: Vec<u64>,
}

/// Forwards `setup.packets` packets between two ports, each on the other's wire.
///
/// # Errors
/// If the setup cannot be simulated.
pub fn simulate(costs: &TurnCosts, card: &Card, setup: &Setup) -> Result<Outcome, SetupError> {
    check(setup)?;
    let frame_time = card.frame_time(setup.frame_size);
    let on_the_way = frame_time + card.receive_time();
    let turn_time: Vec<u64> = (0..=setup.batch)
        .map(|frames| (costs.cycles(frames) * PICOSECONDS as f64 / setup.clock_hz as f64) as u64)
        .map(|time| time.max(1))
        .collect();
    let mut ports = intervals(card, setup).map(Port::new);
    let mut count = Count {
        begin: 0,
        arrived: 0,
        dropped: 0,
        calls_by_frames: vec![0; setup.batch as usize + 1],
        latencies: Vec::new(),
    };
    let warm_up = setup.packets / WARM_UP;
    let (mut now, mut forwarded) = (0_u64, 0_u64);
    let mut counting = false;
    while forwarded < setup.packets {
        if !counting && forwarded >= warm_up {
            counting = true;
            count.begin = now;
            count.arrived = ports.iter().map(|port| port.arrivals).sum();
            count.dropped = ports.iter().map(|port| port.dropped).sum();
        }
        let idle = idle_rounds(&ports, now, on_the_way, turn_time[0]);
        now += idle * turn_time[0] * ports.len() as u64;
        if counting {
            count.calls_by_frames[0] += idle * ports.len() as u64;
        }
        for index in 0..ports.len() {
            let port = &mut ports[index];
            port.arrive(now, on_the_way, setup.ring_size);
            let frames = port.waiting.len().min(setup.batch as usize);
            let starts: Vec<u64> = port.waiting.drain(..frames).collect();
            now += turn_time[frames];
            let wire = &mut ports[1 - index].wire_free;
            for start in starts {
                let sent = (*wire).max(now + card.send_time());
                *wire = sent + frame_time;
                if counting {
                    count.latencies.push(sent - start);
                }
            }
            forwarded += frames as u64;
            if counting {
                count.calls_by_frames[frames] += 1;
            }
        }
    }
    Ok(outcome(count, &ports, now))
}

/// How many rounds over both ports find nothing from `now` on. They are skipped at once, because a
/// driver polls hundreds of times between two frames of a low load.
fn idle_rounds(ports: &[Port; 2], now: u64, on_the_way: u64, empty_turn: u64) -> u64 {
    if ports.iter().any(|port| !port.waiting.is_empty()) {
        return 0;
    }
    let next = ports.iter().map(Port::next_start).min().unwrap_or(now) + on_the_way;
    // A frame may become visible between the two turns of a round, so the last round is not skipped.
    (next.saturating_sub(now) / (empty_turn * ports.len() as u64)).saturating_sub(1)
}

fn check(setup: &Setup) -> Result<(), SetupError> {
    for (value, name) in [
        (setup.clock_hz, "the clock"),
        (u64::from(setup.batch), "the batch size"),
        (u64::from(setup.frame_size), "the frame size"),
        (setup.packets, "the number of packets"),
    ] {
        if value == 0 {
            return Err(SetupError::Zero(name));
        }
    }
    if matches!(setup.load, Load::Mpps(rate) if !(rate.is_finite() && rate > 0.0)) {
        return Err(SetupError::Zero("the load"));
    }
    if setup.batch >= setup.ring_size {
        return Err(SetupError::Ring {
            batch: setup.batch,
            ring_size: setup.ring_size,
        });
    }
    Ok(())
}

/// Time between two frames of each port, in millionths of a picosecond. The second port's clock is
/// slower by the card's skew.
fn intervals(card: &Card, setup: &Setup) -> [u128; 2] {
    let wire = u128::from(card.frame_time(setup.frame_size)) * 1_000_000;
    let interval = match setup.load {
        Load::LineRate => wire,
        Load::Mpps(rate) => ((2.0 / rate * 1e12) as u128).max(wire),
    };
    [
        interval,
        interval + interval * u128::from(card.skew_ppm.value) / 1_000_000,
    ]
}

fn outcome(mut count: Count, ports: &[Port; 2], now: u64) -> Outcome {
    count.latencies.sort_unstable();
    let calls: u64 = count.calls_by_frames.iter().sum();
    let full = count.calls_by_frames.last().copied().unwrap_or(0);
    let arrived = ports.iter().map(|port| port.arrivals).sum::<u64>() - count.arrived;
    let dropped = ports.iter().map(|port| port.dropped).sum::<u64>() - count.dropped;
    Outcome {
        mpps: count.latencies.len() as f64 / ((now - count.begin).max(1) as f64 / 1e6),
        full_batch_ratio: full as f64 / calls.max(1) as f64,
        loss_ratio: dropped as f64 / arrived.max(1) as f64,
        calls_by_frames: count.calls_by_frames,
        latencies: count.latencies,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Turn;
    use super::*;
    use proptest::prelude::*;

    const LINE_RATE: f64 = 2.0 / 0.0672;

    /// A driver whose turns cost `empty` cycles, and each frame `per_frame` more.
    fn linear(empty: f64, per_frame: f64) -> TurnCosts {
        let turn = |frames: u32| Turn {
            frames,
            cycles: empty + per_frame * f64::from(frames),
        };
        TurnCosts::new([turn(0), turn(256)]).unwrap()
    }

    fn setup(batch: u32, load: Load) -> Setup {
        Setup {
            clock_hz: 1_600_000_000,
            batch,
            ring_size: 512,
            frame_size: 60,
            load,
            packets: 200_000,
        }
    }

    fn run(costs: &TurnCosts, setup: &Setup) -> Outcome {
        simulate(costs, &Card::intel_82599().unwrap(), setup).unwrap()
    }

    #[test]
    fn a_slow_driver_is_limited_by_its_cycles() {
        let outcome = run(&linear(64.0, 98.0), &setup(32, Load::LineRate));
        // 32 frames cost 64 + 32 * 98 = 3,200 cycles: 100 a frame, 16 Mpps at 1.6 GHz.
        assert!((outcome.mpps - 16.0).abs() < 0.01, "{}", outcome.mpps);
        assert_eq!(outcome.full_batch_ratio, 1.0);
        assert!((outcome.loss_ratio - (1.0 - 16.0 / LINE_RATE)).abs() < 0.01);
    }

    #[test]
    fn a_fast_driver_is_limited_by_the_wire() {
        let outcome = run(&linear(20.0, 20.0), &setup(32, Load::LineRate));
        assert!((outcome.mpps - LINE_RATE).abs() < 0.05, "{}", outcome.mpps);
        assert_eq!(outcome.loss_ratio, 0.0);
        assert!(outcome.full_batch_ratio < 0.01);
    }

    #[test]
    fn without_load_the_latency_is_the_cards_and_a_turn() {
        let card = Card::intel_82599().unwrap();
        let outcome = run(&linear(16.0, 160.0), &setup(32, Load::Mpps(0.1)));
        let fixed = (card.frame_time(60) + card.receive_time() + card.send_time()) as f64 / 1e6;
        // A turn of one frame takes 176 cycles, 0.11 us. The frame waits up to two empty turns.
        let median = outcome.latency_us(50.0).unwrap();
        assert!(median > fixed + 0.11 && median < fixed + 0.14, "{median}");
    }

    #[test]
    fn an_overloaded_ring_is_full_and_frames_wait_for_all_of_it() {
        let outcome = run(&linear(64.0, 198.0), &setup(32, Load::LineRate));
        // The 511 frames before it leave at 4 Mpps, which takes 127.75 us. Its own turn takes 4 us.
        let median = outcome.latency_us(50.0).unwrap();
        let fixed = Card::intel_82599().unwrap();
        let fixed = (fixed.receive_time() + fixed.send_time()) as f64 / 1e6;
        assert!((median - 127.75 - 4.0 - fixed).abs() < 0.3, "{median}");
    }

    #[test]
    fn two_simulations_are_equal() {
        let (costs, setup) = (linear(33.3, 77.7), setup(32, Load::Mpps(10.0)));
        assert_eq!(run(&costs, &setup), run(&costs, &setup));
    }

    #[test]
    fn rare_percentiles_need_packets_beyond_them() {
        let mut few = setup(32, Load::Mpps(1.0));
        few.packets = 1000;
        let outcome = run(&linear(16.0, 100.0), &few);
        assert!(outcome.latency_us(90.0).is_some());
        assert_eq!(outcome.latency_us(99.0), None);
    }

    #[test]
    fn impossible_setups_are_refused() {
        let card = Card::intel_82599().unwrap();
        let possible = setup(32, Load::LineRate);
        let cases = [
            (
                Setup {
                    clock_hz: 0,
                    ..possible.clone()
                },
                "clock",
            ),
            (
                Setup {
                    batch: 0,
                    ..possible.clone()
                },
                "batch size",
            ),
            (
                Setup {
                    packets: 0,
                    ..possible.clone()
                },
                "packets",
            ),
            (
                Setup {
                    ring_size: 32,
                    ..possible.clone()
                },
                "ring of 32",
            ),
            (
                Setup {
                    load: Load::Mpps(f64::NAN),
                    ..possible
                },
                "load",
            ),
        ];
        for (setup, text) in cases {
            let error = simulate(&linear(1.0, 1.0), &card, &setup)
                .unwrap_err()
                .to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_dearer_driver_never_forwards_more(
            empty in 5.0..200.0_f64, frame in 10.0..400.0_f64, more in 1.05..2.0_f64,
            batch in prop::sample::select(vec![1_u32, 8, 32, 256])
        ) {
            let mut setup = setup(batch, Load::LineRate);
            setup.packets = 20_000;
            let cheap = run(&linear(empty, frame), &setup);
            let dear = run(&linear(empty * more, frame * more), &setup);
            prop_assert!(dear.mpps <= cheap.mpps * 1.02, "{} {}", dear.mpps, cheap.mpps);
            prop_assert!(cheap.mpps <= LINE_RATE * 1.02);
            let calls: u64 = cheap.calls_by_frames.iter().zip(0_u64..).map(|(n, frames)| n * frames).sum();
            prop_assert_eq!(calls, cheap.packets());
        }
    }
}
