//! What must be so after a run, whatever the run was.

use anyhow::{ensure, Result};
use nic::{Port, PortCounters, SessionReport};

use crate::Totals;

/// The device is at rest: no queue and no path is enabled, the bus master is off after the
/// handshake, no memory is mapped for it, nothing waits to be sent. And the driver has done
/// nothing on the way that the NIC took exception to.
///
/// # Errors
/// What is not so.
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
        "packets were left unsent: {session:#?}"
    );
    ensure!(state.dma_maps == 0, "memory is still mapped: {session:#?}");
    ensure!(
        state.interrupts_enabled == 0,
        "interrupts are enabled: {session:#?}"
    );
    well_behaved(session)
}

/// The driver has done nothing that the NIC took exception to, and no access to memory was refused.
///
/// # Errors
/// What it has done.
pub fn well_behaved(session: &SessionReport) -> Result<()> {
    ensure!(
        session.notes.is_empty(),
        "the NIC objects to {:#?}",
        session.notes
    );
    ensure!(
        session.snapshot.dma_faults == 0,
        "DMA faults: {:#?}",
        session.dma_faults
    );
    Ok(())
}

/// All that the forwarder says it sent was sent, each frame once, in order, unaltered but for its
/// touch; what did not come back is what the forwarder says it dropped, or was still in the
/// receive rings at the end. To be called when the drivers are gone and the data plane is stopped.
///
/// # Errors
/// What is not so.
pub fn nothing_lost(ports: &[Port], totals: &Totals) -> Result<()> {
    nothing_lost_in_sessions(ports, totals, 1)
}

/// The same for so many runs, one after the other; `totals` are all of theirs together.
///
/// # Errors
/// What is not so.
pub fn nothing_lost_in_sessions(ports: &[Port], totals: &Totals, sessions: u64) -> Result<()> {
    let now: Vec<_> = ports.iter().map(Port::stats).collect();
    let never = vec![PortCounters::default(); now.len()];
    nothing_lost_between(&never, &now, totals, sessions, |port| {
        port.outstanding + port.verify.abandoned
    })
}

/// The same for one run between two looks at the ports' counters, at the end of which the ports were
/// reset: what was left is abandoned.
///
/// # Errors
/// What is not so.
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
    ensure!(rx == tx + dropped, "rx is not tx + dropped: {totals:?}");
    ensure!(
        sum(|port| port.transmitted) == tx,
        "not as many sent as said: {totals:?} {now:#?}, before {before:#?}"
    );
    ensure!(
        sum(|port| port.verify.ok) == tx,
        "not all sent are as they should: {now:#?}, before {before:#?}"
    );
    for (what, wrong) in [
        ("duplicated", sum(|port| port.verify.duplicated)),
        ("reordered", sum(|port| port.verify.reordered)),
        ("altered", sum(|port| port.verify.altered)),
        ("foreign", sum(|port| port.verify.foreign)),
    ] {
        ensure!(wrong == 0, "{wrong} {what}: {now:#?}, before {before:#?}");
    }
    let missing = sum(|port| port.verify.missing);
    ensure!(
        missing <= dropped,
        "{missing} missing of which {dropped} dropped: {now:#?}"
    );
    let left = sum(left);
    let delivered = sum(|port| port.delivered_generated);
    ensure!(
        delivered == tx + missing + left,
        "{delivered} received are not {tx} sent, {missing} missing and {left} left: {now:#?}, before {before:#?}"
    );
    // What was received but not forwarded was in the rings, and no more than they hold.
    let unread = delivered - rx;
    let rings = now.len() as u64 * 512 * sessions;
    ensure!(
        unread <= rings,
        "{unread} packets unread in rings that hold {rings}: {now:#?}"
    );
    Ok(())
}
