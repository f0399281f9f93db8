//! Giving the queues of a forwarder to other threads: a lane for each queue pair.
#![forbid(unsafe_code)]

use crate::driver::device::{Device, QueueStats, Stats};
use crate::driver::mempool::Packet;
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::Result;
use crate::rooms::forwarder::{Forwarder, PathParts, Turns};
use crate::rooms::ports::wrong_path;
use crate::rooms::stats::Counters;
use crate::sys::buffers::Lease;
use crate::sys::home::Spare;
use crate::sys::mmio::Register;
use crate::tuned::agent::agent_check;

/// Queue `i` of both devices with their pools, and what a thread needs to forward between them. A lane
/// moves to another thread, and borrows the forwarder. So the devices cannot be stopped before all lanes
/// are back. It belongs to the thread of its first turn.
///
/// ```compile_fail,E0505
/// # use ixgbe::rooms::forwarder::Forwarder;
/// fn stop_too_early(mut forwarder: Forwarder<'_>) {
///     let (_, mut lanes) = forwarder.give_queues().unwrap();
///     forwarder.stop().unwrap();
///     lanes[0].turn().unwrap();
/// }
/// ```
///
/// A lane belongs to one thread at a time:
///
/// ```compile_fail,E0499
/// # use ixgbe::rooms::lane::Lane;
/// fn two_threads(lane: &mut Lane<'_, '_>) {
///     std::thread::scope(|scope| {
///         scope.spawn(|| lane.turn().is_ok());
///         scope.spawn(|| lane.turn().is_ok());
///     });
/// }
/// ```
pub struct Lane<'f, 'p> {
    /// The receive queues of both devices.
    rx: [&'f mut RxQueue<'p>; 2],
    /// The transmit queues of both devices.
    tx: [&'f mut TxQueue<'p>; 2],
    /// RDH of both receive queues.
    heads: &'f [Register; 2],
    turns: &'f mut Turns,
    packets: Spare<Packet<'p>>,
    parts: &'f mut PathParts<'p>,
    queue: u32,
    addresses: [&'f str; 2],
    /// The pools of the receive queues.
    _pools: [Lease<'p>; 2],
}

impl<'f, 'p> Lane<'f, 'p> {
    fn new(
        queue: u32,
        rx: [&'f mut RxQueue<'p>; 2],
        tx: [&'f mut TxQueue<'p>; 2],
        heads: &'f [Register; 2],
        turns: &'f mut Turns,
        parts: &'f mut PathParts<'p>,
        addresses: [&'f str; 2],
    ) -> Self {
        let _pools = [rx[0].pool.lease(), rx[1].pool.lease()];
        let packets = Spare::new(turns.batch);
        Self {
            rx,
            tx,
            heads,
            turns,
            packets,
            parts,
            queue,
            addresses,
            _pools,
        }
    }

    /// One turn, as [`Forwarder::turn`]: a batch from a to b, and one from b to a.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn turn(&mut self) -> Result<usize> {
        let ([rx_a, rx_b], [tx_a, tx_b]) = (&mut self.rx, &mut self.tx);
        let turns = &mut self.turns;
        self.packets.with(|packets| {
            let a_to_b = turns.forward(packets, rx_a, tx_b)?;
            let b_to_a = turns.forward(packets, rx_b, tx_a)?;
            Ok(a_to_b + b_to_a)
        })
    }

    /// The same by the tuned path.
    ///
    /// # Errors
    /// If the forwarder has another path, or a device can no longer be reached.
    pub fn tuned_turn(&mut self) -> Result<usize> {
        let ([rx_a, rx_b], [tx_a, tx_b]) = (&mut self.rx, &mut self.tx);
        let PathParts::Tuned(lane) = &mut self.parts else {
            return Err(wrong_path());
        };
        let a_to_b = self.turns.forward_tuned::<0>(lane, rx_a, tx_b)?;
        let b_to_a = self.turns.forward_tuned::<1>(lane, rx_b, tx_a)?;
        Ok(a_to_b + b_to_a)
    }

    /// The same by the agent.
    ///
    /// # Errors
    /// As for [`Lane::tuned_turn`].
    pub fn agent_turn(&mut self) -> Result<usize> {
        let ([rx_a, rx_b], [tx_a, tx_b]) = (&mut self.rx, &mut self.tx);
        let PathParts::Agents([agent_a, agent_b]) = &mut self.parts else {
            return Err(wrong_path());
        };
        let a_to_b = self.turns.forward_by_agent(agent_a, rx_a, tx_b)?;
        let b_to_a = self.turns.forward_by_agent(agent_b, rx_b, tx_a)?;
        Ok(a_to_b + b_to_a)
    }

    /// The number of the queue.
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// Stops receiving after `packets` more packets.
    pub fn limit(&mut self, packets: u64) {
        self.turns.packets_left = packets;
    }

    /// Checks that the queues are not stalled; a thread calls it about once a second.
    ///
    /// # Errors
    /// If one is, in two calls in a row.
    pub fn check(&mut self) -> Result<()> {
        let queues = self.rx.iter_mut().zip(self.heads);
        for ((rx, head), address) in queues.zip(self.addresses) {
            rx.rx_check_stall(address, self.queue, || Ok(head.load()))?;
            if let PathParts::Agents(_) = self.parts {
                agent_check(rx, address, self.queue)?;
            }
        }
        Ok(())
    }
}

/// The counters of both devices, while their queues are in other threads.
pub struct Monitor<'f> {
    devices: [Counters<'f>; 2],
}

impl Monitor<'_> {
    /// Reads the counters of device 0 (a) or 1 (b), as [`Forwarder::device_stats`].
    ///
    /// # Errors
    /// If the device can no longer be reached.
    ///
    /// # Panics
    /// If `device` is neither.
    pub fn device_stats(&mut self, device: usize) -> Result<Stats> {
        self.devices[device].stats_read()
    }

    /// Reads what device 0 (a) or 1 (b) counted for a queue. Needs more than one queue.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    ///
    /// # Panics
    /// If `device` is neither.
    pub fn queue_stats(&mut self, device: usize, queue: u32) -> Result<QueueStats> {
        self.devices[device].queue_stats_read(queue)
    }
}

/// Queue `i` of two devices: their receive queues, and their transmit queues.
type QueuePairs<'f, 'p> = ([&'f mut RxQueue<'p>; 2], [&'f mut TxQueue<'p>; 2]);

/// Divides two devices: their counters, their addresses, and their queues.
pub(crate) fn split<'f, 'p>(
    a: &'f mut Device<'p>,
    b: &'f mut Device<'p>,
) -> (
    Monitor<'f>,
    [&'f str; 2],
    impl Iterator<Item = QueuePairs<'f, 'p>>,
) {
    let addresses = [a.registers.vfio.address(), b.registers.vfio.address()];
    let devices = [
        Counters {
            registers: &a.registers,
            rx_queues: a.config.rx_queues,
            stats: &mut a.stats,
            queue_stats: &mut a.queue_stats,
        },
        Counters {
            registers: &b.registers,
            rx_queues: b.config.rx_queues,
            stats: &mut b.stats,
            queue_stats: &mut b.queue_stats,
        },
    ];
    let rx = a.rx.iter_mut().zip(&mut b.rx).map(|(a, b)| [a, b]);
    let tx = a.tx.iter_mut().zip(&mut b.tx).map(|(a, b)| [a, b]);
    (Monitor { devices }, addresses, rx.zip(tx))
}

impl<'p> Forwarder<'p> {
    /// Gives the queues away: a lane for each queue pair, which may move to another thread, and the
    /// counters of the devices, which stay.
    ///
    /// # Errors
    /// If a doorbell is not mapped.
    pub fn give_queues(&mut self) -> Result<(Monitor<'_>, Vec<Lane<'_, 'p>>)> {
        self.check_doorbells()?;
        let [a, b] = &mut self.devices;
        let (monitor, addresses, queues) = split(a, b);
        let directions = self.directions.iter_mut();
        let turns = directions.map(|direction| &mut direction.turns);
        let states = (0..).zip(turns.zip(&mut self.parts));
        let lanes = states.zip(queues.zip(&self.heads)).map(
            |((queue, (turns, parts)), ((rx, tx), heads))| {
                Lane::new(queue, rx, tx, heads, turns, parts, addresses)
            },
        );
        Ok((monitor, lanes.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_queues::{pool, registers, Queues, POOL_CAPACITY};

    /// A lane of two devices that have received 8 packets each.
    fn with_lane(test: impl FnOnce(Lane<'_, '_>)) {
        let pools = [pool(POOL_CAPACITY), pool(POOL_CAPACITY)];
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        for i in 0..8 {
            a.device_receives(i, 60, true);
            b.device_receives(i, 60, true);
        }
        let (heads, mut turns) = (registers(), Turns::new(8));
        let (rx, tx) = ([&mut a.rx, &mut b.rx], [&mut a.tx, &mut b.tx]);
        let mut parts = PathParts::Pool;
        test(Lane::new(
            0,
            rx,
            tx,
            &heads,
            &mut turns,
            &mut parts,
            ["a", "b"],
        ));
        // Back in the thread of the devices, all packets come home.
        drop((a, b));
        for pool in &pools {
            assert_eq!(pool.free_count(), pool.capacity());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_lane_works_in_another_thread() {
        with_lane(|mut lane| {
            std::thread::scope(|scope| {
                let received = scope.spawn(move || lane.turn().unwrap());
                assert_eq!(received.join().unwrap(), 16);
            });
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_lane_stays_with_the_thread_of_its_first_turn() {
        with_lane(|mut lane| {
            assert_eq!(lane.turn().unwrap(), 16);
            std::thread::scope(|scope| {
                let lane = &mut lane;
                let error = scope.spawn(move || lane.turn().unwrap_err().to_string());
                let expected = "another thread has the pool of this queue";
                assert_eq!(error.join().unwrap(), expected);
            });
        });
    }
}
