//! A hostile device on the tuned path and the agent. The input decides what the device writes into the rings, and how
//! much the driver forwards. A buffer is never lost or doubled, and no length goes beyond one.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)] // for tests

use std::collections::HashSet;

use fuzz_input::Input;

use super::agent::{agent_check, Agent};
use super::batch::MAX_BATCH;
use super::forward::TunedLane;
use crate::driver::descriptor::Descriptor;
use crate::driver::mempool::{Mempool, PACKET_STRIDE_ODD};
use crate::driver::registers::{field64_get, RXD_DD, RXD_EOP, RXD_LENGTH, TXD_DD, TXD_DTALEN};
use crate::test_queues::{Queues, RING_SIZE};
use crate::vfio::Container;

/// Two devices, and what forwards between them.
struct Lab<'p> {
    devices: [Queues<'p>; 2],
    /// The next descriptors of honest devices.
    next: [usize; 2],
}

impl<'p> Lab<'p> {
    fn new(pool: &'p Mempool) -> Self {
        Self {
            devices: [Queues::new(pool), Queues::new(pool)],
            next: [0; 2],
        }
    }

    /// A device writes to its rings.
    fn device_step(&mut self, input: &mut Input<'_>) {
        let device = &mut self.devices[usize::from(input.u8() % 2)];
        let kind = input.u8() % 6;
        let (lower, upper) = (input.u64(), input.u64());
        match kind {
            // Frames, honest but for their length, and DD for packets, whether sent or not.
            0 | 1 => {
                for _ in 0..upper % 80 {
                    let length = if kind == 0 {
                        60 << 32
                    } else {
                        lower & RXD_LENGTH
                    };
                    let index = self.next[kind as usize] % RING_SIZE;
                    let upper = length | RXD_DD | RXD_EOP;
                    device
                        .rx
                        .ring
                        .entry(index)
                        .descriptor
                        .store(Descriptor { lower, upper });
                    self.next[kind as usize] += 1;
                }
            }
            2 => {
                for index in 0..RING_SIZE {
                    let descriptor = device.tx.ring.entry(index).descriptor;
                    let upper = descriptor.load_upper() | TXD_DD;
                    descriptor.store_upper(upper);
                }
            }
            // Any words, in any descriptor or in all.
            _ => {
                let first = usize::from(input.u8()) % RING_SIZE;
                let count = if kind == 3 { 1 } else { RING_SIZE };
                for index in (first..first + count).map(|index| index % RING_SIZE) {
                    let descriptor = Descriptor { lower, upper };
                    match kind {
                        5 => device.tx.ring.entry(index).descriptor.store(descriptor),
                        _ => device.rx.ring.entry(index).descriptor.store(descriptor),
                    }
                }
            }
        }
    }

    /// Checks the lengths of the packets that device `to` is to send from `first` on.
    fn check_sent(&mut self, to: usize, first: usize, sent: usize) {
        for index in (first..first + sent).map(|index| index % RING_SIZE) {
            let descriptor = self.devices[to].tx.ring.entry(index).descriptor;
            let length = field64_get(TXD_DTALEN, descriptor.load_upper());
            assert!((1..=2048).contains(&length), "{length} bytes");
        }
    }
}

/// Plays `input` on the tuned path, or on the agent.
///
/// # Panics
/// If the driver loses or doubles a buffer, or trusts an impossible length.
pub fn hostile_paths(input: &[u8]) {
    let mut input = Input(input);
    let capacity = (6 * RING_SIZE + MAX_BATCH) as u32;
    let pool = Mempool::create_strided(&Container::new(), capacity, PACKET_STRIDE_ODD).unwrap();
    let mut lab = Lab::new(&pool);
    match input.u8() % 2 {
        0 => play_tuned(&mut lab, &mut input),
        _ => play_agents(&mut lab, &mut input),
    }
}

fn play_tuned(lab: &mut Lab<'_>, input: &mut Input<'_>) {
    let [a, b] = &mut lab.devices;
    let mut lane = TunedLane::new([&mut a.rx, &mut b.rx], [&a.tx, &b.tx]).unwrap();
    let all = offsets(&lane);
    assert_eq!(all.len(), 4 * RING_SIZE + MAX_BATCH);
    while !input.0.is_empty() {
        lab.device_step(input);
        let (from, wanted) = (usize::from(input.u8() % 2), usize::from(input.u16()) % 600);
        let [a, b] = &mut lab.devices;
        let first = if from == 0 { b.tx.index } else { a.tx.index };
        let turn = match from {
            0 => lane.forward::<0>(&mut a.rx, &mut b.tx, wanted),
            _ => lane.forward::<1>(&mut b.rx, &mut a.tx, wanted),
        };
        let (received, sent) = turn.unwrap();
        assert!(sent <= received && received <= wanted.min(MAX_BATCH));
        lab.check_sent(1 - from, first, sent);
    }
    assert!(offsets(&lane) == all);
}

/// All places of a lane.
fn offsets(lane: &TunedLane<'_>) -> HashSet<u32> {
    let rings = [
        &lane.rx[0].places,
        &lane.rx[1].places,
        &lane.tx[0].places,
        &lane.tx[1].places,
    ];
    let rings = rings
        .into_iter()
        .flat_map(|places| (0..RING_SIZE).map(|i| places.offset(i)));
    let all = rings.chain(lane.batch.places.offsets().iter().copied());
    all.collect()
}

fn play_agents(lab: &mut Lab<'_>, input: &mut Input<'_>) {
    let mut agents = lab
        .devices
        .each_mut()
        .map(|device| Agent::new(&mut device.rx).unwrap());
    while !input.0.is_empty() {
        lab.device_step(input);
        let (from, wanted) = (usize::from(input.u8() % 2), usize::from(input.u16()) % 600);
        let [a, b] = &mut lab.devices;
        let (rx, tx) = match from {
            0 => (&mut a.rx, &mut b.tx),
            _ => (&mut b.rx, &mut a.tx),
        };
        let first = tx.index;
        let sent = agents[from].agent_forward(rx, tx, wanted).unwrap();
        assert!(sent <= wanted.min(RING_SIZE - 1));
        assert_eq!((rx.index, rx.index), (tx.index, (first + sent) % RING_SIZE));
        // Whether it stands at a frame that it cannot send decides the device.
        let _ = agent_check(rx, "a", 0);
        lab.check_sent(1 - from, first, sent);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_queues::cases;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(3)))]

        #[test]
        fn no_device_breaks_the_rules(
            input in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 60 } else { 600 })
        ) {
            hostile_paths(&input);
        }
    }
}
