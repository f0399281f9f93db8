//! Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue.
#![forbid(unsafe_code)]

use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use ixgbe::rooms::forwarder::Counts;
use ixgbe::rooms::pipeline::{Pipeline, Receiver, Sender, Worker};

use crate::threads::{pin, CpuList};

/// A thread looks at what it shares with the others once every so many turns.
const TURNS_PER_LOOK: u32 = 1024;

/// A thread lets others run after so many rounds without a packet: there may be more threads than CPUs.
const EMPTY_TURNS: u32 = 64;

/// Time between two checks for a stalled queue.
const CHECK: Duration = Duration::from_secs(1);

/// Time that the TX thread waits for a device that takes no packets, after all others have ended.
const DRAIN: Duration = Duration::from_secs(1);

/// What the threads share. They look at it between rounds, not for each packet.
#[derive(Default)]
struct Shared {
    /// The RX thread has to end.
    end: bool,
    /// The TX thread has ended.
    sent: bool,
    /// The error of the first thread that failed.
    failed: Option<anyhow::Error>,
    /// Of each queue, from the RX and the TX thread.
    counts: Vec<Counts>,
}

/// The state that a [`Mutex`] guards stays whole if a thread panics in between.
fn with<R>(shared: &Mutex<Shared>, work: impl FnOnce(&mut Shared) -> R) -> R {
    work(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Notes how a thread ended, and what it counted.
fn note(shared: &Mutex<Shared>, result: Result<()>, counts: &[Counts]) {
    with(shared, |shared| {
        if let Err(error) = result {
            shared.failed.get_or_insert(error);
        }
        let most = shared.counts.len().max(counts.len());
        shared.counts.resize(most, Counts::default());
        for (total, more) in shared.counts.iter_mut().zip(counts) {
            total.add(more);
        }
    });
}

/// Does up to [`TURNS_PER_LOOK`] turns, fewer if there is nothing to do. Returns the number of packets.
fn round_of(mut turn: impl FnMut() -> Result<u64>) -> Result<u64> {
    let (mut total, mut empty) = (0, 0);

    for _ in 0..TURNS_PER_LOOK {
        let count = turn()?;
        total += count;
        empty = if count > 0 { 0 } else { empty + 1 };
        if empty == EMPTY_TURNS {
            thread::yield_now();
            break;
        }
    }
    Ok(total)
}

fn receive_until_end(
    receiver: &mut Receiver<'_, '_>,
    packets: u64,
    shared: &Mutex<Shared>,
) -> Result<()> {
    let mut checked = Instant::now();
    let mut received = 0;

    receiver.limit(packets);
    while received < packets && !with(shared, |shared| shared.end || shared.failed.is_some()) {
        received += round_of(|| {
            let mut count = 0;
            for queue in 0..receiver.queues() {
                count += receiver.receive(queue)? as u64;
            }
            Ok(count)
        })?;
        if checked.elapsed() >= CHECK {
            receiver.check()?;
            checked = Instant::now();
        }
    }
    Ok(())
}

/// The RX thread. Its end, which drops the receiver, ends the workers.
fn receive_packets(
    mut receiver: Receiver<'_, '_>,
    cpu: Option<usize>,
    packets: u64,
    shared: &Mutex<Shared>,
) {
    let result = pin(cpu).and_then(|()| receive_until_end(&mut receiver, packets, shared));
    note(shared, result, &receiver.counts());
}

/// A worker. Its end, which drops the worker, ends the TX thread.
fn work_packets(mut worker: Worker<'_>, cpu: Option<usize>, shared: &Mutex<Shared>) {
    let result = pin(cpu).and_then(|()| {
        loop {
            // Looks first: what the RX thread put in before it ended is there by now.
            let last = worker.input_ended();
            if round_of(|| Ok(worker.work() as u64))? == 0 && last {
                return Ok(());
            }
        }
    });
    note(shared, result, &[]);
}

fn send_until_end(sender: &mut Sender<'_, '_>) -> Result<()> {
    let mut progress = Instant::now();
    loop {
        // Looks first, as in `work_packets`.
        let last = sender.input_ended();
        let sent = round_of(|| {
            let mut count = 0;
            for queue in 0..sender.queues() {
                count += sender.send(queue)? as u64;
            }
            Ok(count)
        })?;
        if sent > 0 || !last {
            progress = Instant::now();
        } else if !sender.waits() || progress.elapsed() >= DRAIN {
            return Ok(());
        }
    }
}

/// The TX thread.
fn send_packets(mut sender: Sender<'_, '_>, cpu: Option<usize>, shared: &Mutex<Shared>) {
    let result = pin(cpu).and_then(|()| send_until_end(&mut sender));
    note(shared, result, &sender.counts());
    with(shared, |shared| shared.sent = true);
}

/// Starts a thread. If that fails, its part is dropped, which ends the threads behind it.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    shared: &Mutex<Shared>,
    run: impl FnOnce() + Send + 'scope,
) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    if let Err(error) = thread.spawn_scoped(scope, run) {
        with(shared, |shared| shared.end = true);
        bail!("cannot start the thread '{name}': {error}");
    }
    Ok(())
}

/// Forwards with a pipeline. Its threads take the CPUs of the list in turn: the RX thread, the TX thread,
/// the workers. They forward until they have received `packets` packets, or until `goes_on` says no or
/// fails; it runs in the calling thread again and again, and may sleep. The RX thread ends first, so that
/// the others forward what it received. Returns the counts of each queue. Packets that were not sent count
/// as dropped.
///
/// # Errors
/// Those of `goes_on`, or else of the first thread that failed.
pub fn forward_in_pipeline(
    pipeline: Pipeline<'_, '_>,
    cpus: &CpuList,
    packets: Option<u64>,
    mut goes_on: impl FnMut() -> Result<bool>,
) -> (Vec<Counts>, Result<()>) {
    let shared = &Mutex::new(Shared::default());
    let packets = packets.unwrap_or(u64::MAX);
    let Pipeline {
        receiver,
        workers,
        sender,
    } = pipeline;
    let watched = thread::scope(|scope| {
        let cpu = cpus.get(0);
        start(scope, "receive", shared, move || {
            receive_packets(receiver, cpu, packets, shared);
        })?;
        let cpu = cpus.get(1);
        start(scope, "send", shared, move || {
            send_packets(sender, cpu, shared)
        })?;
        for (queue, worker) in workers.into_iter().enumerate() {
            let cpu = cpus.get(2 + queue);
            start(scope, &format!("work {queue}"), shared, move || {
                work_packets(worker, cpu, shared);
            })?;
        }
        let mut watched = Ok(true);
        while matches!(watched, Ok(true))
            && !with(shared, |shared| shared.sent || shared.failed.is_some())
        {
            watched = goes_on();
        }
        with(shared, |shared| shared.end = true);
        watched.map(|_| ())
    });
    with(shared, |shared| {
        for counts in &mut shared.counts {
            counts.dropped = counts.rx - counts.tx;
        }
        let failed = shared.failed.take();
        let counts = std::mem::take(&mut shared.counts);
        (counts, watched.and(failed.map_or(Ok(()), Err)))
    })
}
