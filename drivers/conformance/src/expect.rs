//! Checks that hold after every run.

use anyhow::{ensure, Result};
use forwarder_library::Counts;
use nic::{Port, PortCounters, SessionReport};

use harness::Totals;

/// Checks that the driver left the device at rest: no queue and no path is enabled, and the bus
/// master is off after the handshake. No memory is mapped, and no packet waits to be sent. Also
/// checks [`well_behaved`].
pub fn left_at_rest(session: &SessionReport) -> Result<()> {
    let state = &session.snapshot;
    ensure!(state.quiescent(), "the device is not at rest: {session:#?}");
    ensure!(!state.tx_enabled, "DMATXCTL.TE is still set: {session:#?}");
    ensure!(
        !state.master_enable_status,
        "no master-disable handshake: {session:#?}"
    );
    ensure!(
        state.tx_pending == 0,
        "packets wait to be sent: {session:#?}"
    );
    ensure!(state.dma_maps == 0, "memory is still mapped: {session:#?}");
    ensure!(
        state.interrupts_enabled == 0,
        "interrupts are enabled: {session:#?}"
    );
    well_behaved(session)
}

/// Checks that the NIC noted no mistake of the driver and refused no access to memory.
pub fn well_behaved(session: &SessionReport) -> Result<()> {
    ensure!(
        session.notes.is_empty(),
        "the NIC noted mistakes: {:#?}",
        session.notes
    );
    ensure!(
        session.snapshot.dma_faults == 0,
        "the IOMMU refused accesses of the NIC: {:#?}",
        session.dma_faults
    );
    Ok(())
}

/// Checks a number that a test knows exactly. `what` completes the sentence: `received 4 packets,
/// expected 10` of `received` and `packets`.
pub fn exactly(verb: &str, seen: u64, what: &str, expected: u64) -> Result<()> {
    ensure!(
        seen == expected,
        "{verb} {seen} {what}, expected {expected}"
    );
    Ok(())
}

/// Checks what a forwarder received, sent and dropped.
pub fn forwarded(counts: &Counts, rx: u64, tx: u64, dropped: u64) -> Result<()> {
    exactly("received", counts.rx, "packets", rx)?;
    exactly("sent", counts.tx, "packets", tx)?;
    exactly("dropped", counts.dropped, "packets", dropped)
}

/// Checks that a forwarder has sent or dropped each packet that it received.
pub fn all_accounted_for(counts: &Counts) -> Result<()> {
    let Counts {
        rx, tx, dropped, ..
    } = *counts;
    ensure!(
        rx == tx + dropped,
        "received {rx} packets, but sent {tx} and dropped {dropped}"
    );
    Ok(())
}

/// Checks that a port of the NIC received only correct packets: once, in order and unaltered.
pub fn all_correct(port: &Port) -> Result<()> {
    let verify = port.stats().verify;
    let kinds = [
        ("missing", verify.missing),
        ("duplicated", verify.duplicated),
        ("reordered", verify.reordered),
        ("altered", verify.altered),
        ("foreign", verify.foreign),
    ];
    let wrong: Vec<_> = kinds
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    ensure!(
        wrong.is_empty() && verify.clean(),
        "port {} received wrong packets: {} beside {} correct ones",
        port.index(),
        wrong.join(", "),
        verify.ok
    );
    Ok(())
}

/// Checks that the NIC received every packet that the forwarder counts as sent: once, in order, and
/// unaltered except for the touched byte. All others were dropped and counted, or were still in the
/// receive rings at the end. The drivers must have ended and the data plane must be stopped.
pub fn nothing_lost(ports: &[Port], totals: &Totals) -> Result<()> {
    nothing_lost_in_sessions(ports, totals, 1)
}

/// The same for several runs in a row. `totals` is the sum of their totals.
pub fn nothing_lost_in_sessions(ports: &[Port], totals: &Totals, sessions: u64) -> Result<()> {
    let now: Vec<_> = ports.iter().map(Port::stats).collect();
    let start = vec![PortCounters::default(); now.len()];
    nothing_lost_between(&start, &now, totals, sessions, |port| {
        port.outstanding + port.verify.abandoned
    })
}

/// The same for one run between two readings of the ports' counters. The run reset the ports at its
/// end, so the NIC counts frames left in the rings as abandoned.
pub fn nothing_lost_since(
    before: &[PortCounters],
    now: &[PortCounters],
    totals: &Totals,
) -> Result<()> {
    nothing_lost_between(before, now, totals, 1, |port| port.verify.abandoned)
}

fn nothing_lost_between(
    before: &[PortCounters],
    now: &[PortCounters],
    totals: &Totals,
    sessions: u64,
    left: fn(&PortCounters) -> u64,
) -> Result<()> {
    let sum = |of: fn(&PortCounters) -> u64| {
        let of_all = |ports: &[PortCounters]| ports.iter().map(of).sum::<u64>();
        of_all(now) - of_all(before)
    };
    let Totals {
        rx, tx, dropped, ..
    } = *totals;
    ensure!(
        rx == tx + dropped,
        "received {rx} packets, but sent {tx} and dropped {dropped}"
    );
    // `triptych verdict` shows the sentence, and leaves out what follows the semicolon.
    let counters = format!("; the counters are {now:?}, and were {before:?}");
    let sent = sum(|port| port.transmitted);
    ensure!(
        sent == tx,
        "the driver counts {tx} packets as sent, but the NIC sent {sent}{counters}"
    );
    for (kind, wrong) in [
        ("duplicated", sum(|port| port.verify.duplicated)),
        ("reordered", sum(|port| port.verify.reordered)),
        ("altered", sum(|port| port.verify.altered)),
        ("foreign", sum(|port| port.verify.foreign)),
        ("wrongly queued", sum(|port| port.verify.other_queue)),
    ] {
        ensure!(
            wrong == 0,
            "the NIC received {wrong} {kind} packets, expected none{counters}"
        );
    }
    let correct = sum(|port| port.verify.ok);
    ensure!(
        correct == tx,
        "the NIC received {correct} correct packets, expected {tx}{counters}"
    );
    let missing = sum(|port| port.verify.missing);
    ensure!(
        missing <= dropped,
        "{missing} packets are missing, but only {dropped} were dropped{counters}"
    );
    let left = sum(left);
    let delivered = sum(|port| port.delivered_generated);
    ensure!(
        delivered == tx + missing + left,
        "{delivered} packets received, but {tx} sent, {missing} missing and {left} left{counters}"
    );
    // The rings held the packets that were received and not forwarded.
    let unread = delivered - rx;
    let queues = totals.queues.len().max(1) as u64;
    let rings = now.len() as u64 * queues * 512 * sessions;
    ensure!(
        unread <= rings,
        "{unread} packets were not read, but the rings hold {rings}{counters}"
    );
    Ok(())
}
