//! Giving the queues of a forwarder to other threads: a lane for each queue pair.
#![forbid(unsafe_code)]

use std::iter;

use crate::driver::device::{Device, QueueStats, Stats};
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::rooms::forwarder::{Direction, Forwarder};
use crate::rooms::stats::Counters;
use crate::sys::lane::LaneQueues;

/// Queue `i` of both devices with their pools, and what a thread needs to forward between them. A lane
/// moves to another thread, and borrows the forwarder. So the devices cannot be stopped before all lanes
/// are back.
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
    queues: LaneQueues<'f, 'p, Direction<'p>>,
    queue: u32,
    addresses: [&'f str; 2],
}

impl Lane<'_, '_> {
    /// One turn, as [`Forwarder::turn`]: a batch from a to b, and one from b to a.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn turn(&mut self) -> Result<usize> {
        let LaneQueues { rx, tx, state, .. } = &mut self.queues;
        let ([rx_a, rx_b], [tx_a, tx_b]) = (rx, tx);
        let a_to_b = state.forward(rx_a, tx_b)?;
        let b_to_a = state.forward(rx_b, tx_a)?;
        Ok(a_to_b + b_to_a)
    }

    /// The number of the queue.
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// Stops receiving after `packets` more packets.
    pub fn limit(&mut self, packets: u64) {
        self.queues.state.packets_left = packets;
    }

    /// Checks that the queues are not stalled; a thread calls it about once a second.
    ///
    /// # Errors
    /// If one is, in two calls in a row.
    pub fn check(&mut self) -> Result<()> {
        let LaneQueues { rx, heads, .. } = &mut self.queues;
        for ((rx, head), address) in rx.iter_mut().zip(heads.iter()).zip(self.addresses) {
            rx.rx_check_stall(address, self.queue, || Ok(head.load()))?;
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
    pub fn device_stats(&mut self, device: usize) -> Result<Stats> {
        self.devices[device & 1].stats_read()
    }

    /// Reads what device 0 (a) or 1 (b) counted for a queue. Needs more than one queue.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    pub fn queue_stats(&mut self, device: usize, queue: u32) -> Result<QueueStats> {
        self.devices[device & 1].queue_stats_read(queue)
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
            stats: &mut a.stats,
            queue_stats: &mut a.queue_stats,
        },
        Counters {
            registers: &b.registers,
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
    /// If a doorbell is not mapped, or a packet of the queues' pools is in use elsewhere.
    pub fn give_queues(&mut self) -> Result<(Monitor<'_>, Vec<Lane<'_, 'p>>)> {
        self.check_doorbells()?;
        let [a, b] = &mut self.devices;
        let (monitor, addresses, queues) = split(a, b);
        let states = iter::once(&mut self.direction).chain(&mut self.others);
        let lane = |(queue, (state, ((rx, tx), heads)))| {
            let queues = LaneQueues::new(rx, tx, heads, state);
            let queues = queues.ok_or_else(|| {
                Error::device(
                    addresses[0],
                    "a packet of the queues' pools is in use elsewhere",
                )
            })?;
            Ok(Lane {
                queues,
                queue,
                addresses,
            })
        };
        let queues = queues.zip(&self.heads);
        let lanes: Result<Vec<_>> = (0..).zip(states.zip(queues)).map(lane).collect();
        Ok((monitor, lanes?))
    }
}
