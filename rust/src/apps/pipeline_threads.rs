//! Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ixgbe::rooms::forwarder::Counts;
use ixgbe::rooms::pipeline::{Pipeline, Receiver, Sender, Worker};

use crate::program::TURNS_PER_LOOK;
use crate::threads::{CpuList, Crew, CHECK};

/// A thread lets others run after so many rounds without a packet: there may be more threads than CPUs.
const EMPTY_TURNS: u32 = 64;

/// Time that the TX thread waits for a device that takes no packets, after all others have ended.
const DRAIN: Duration = Duration::from_secs(1);

/// Adds what a thread counted for each queue. The state that a [`Mutex`] guards stays whole if a thread panics
/// in between.
fn add_counts(totals: &Mutex<Vec<Counts>>, counts: &[Counts]) {
    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
    for (total, more) in totals.iter_mut().zip(counts) {
        total.add(more);
    }
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

fn receive_until_end(receiver: &mut Receiver<'_, '_>, packets: u64, crew: &Crew) -> Result<()> {
    let mut checked = Instant::now();
    let mut received = 0;

    receiver.limit(packets);
    while received < packets && !crew.ends() {
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

fn work_until_end(worker: &mut Worker<'_>) -> Result<()> {
    loop {
        // Looks first: what the RX thread put in before it ended is there by now.
        let last = worker.input_ended();
        if round_of(|| Ok(worker.work() as u64))? == 0 && last {
            return Ok(());
        }
    }
}

fn send_until_end(sender: &mut Sender<'_, '_>) -> Result<()> {
    let mut progress = Instant::now();
    loop {
        // Looks first, as in `work_until_end`.
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
    goes_on: impl FnMut() -> Result<bool>,
) -> (Vec<Counts>, Result<()>) {
    let packets = packets.unwrap_or(u64::MAX);
    let Pipeline {
        mut receiver,
        workers,
        mut sender,
    } = pipeline;
    let totals = &Mutex::new(vec![Counts::default(); workers.len()]);
    let all_sent = &AtomicBool::new(false);
    let crew = Crew::default();
    // Each thread drops its part at its end. That ends the threads behind it, also if it could not start.
    let watched = thread::scope(|scope| {
        let crew = &crew;
        crew.start(scope, "receive".to_owned(), cpus.get(0), move || {
            let result = receive_until_end(&mut receiver, packets, crew);
            add_counts(totals, &receiver.counts());
            result
        })?;
        crew.start(scope, "send".to_owned(), cpus.get(1), move || {
            let result = send_until_end(&mut sender);
            add_counts(totals, &sender.counts());
            all_sent.store(true, Ordering::Relaxed);
            result
        })?;
        for (queue, mut worker) in workers.into_iter().enumerate() {
            let cpu = cpus.get(2 + queue);
            crew.start(scope, format!("work {queue}"), cpu, move || {
                work_until_end(&mut worker)
            })?;
        }
        crew.watch(|| all_sent.load(Ordering::Relaxed), goes_on)
    });
    let mut counts = totals.lock().unwrap_or_else(PoisonError::into_inner);
    for counts in counts.iter_mut() {
        counts.dropped = counts.rx - counts.tx;
    }
    (counts.clone(), crew.result(watched))
}
