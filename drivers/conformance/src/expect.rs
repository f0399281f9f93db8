//! What must be so after a run, whatever the run was.

use anyhow::{ensure, Result};
use nic::{Port, SessionReport};

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
    let stats: Vec<_> = ports.iter().map(Port::stats).collect();
    let sum = |of: fn(&nic::PortCounters) -> u64| stats.iter().map(of).sum::<u64>();
    let Totals {
        rx, tx, dropped, ..
    } = *totals;
    ensure!(rx == tx + dropped, "rx is not tx + dropped: {totals:?}");
    ensure!(
        sum(|port| port.transmitted) == tx,
        "not as many sent as said: {totals:?} {stats:#?}"
    );
    ensure!(
        sum(|port| port.verify.ok) == tx,
        "not all sent are as they should: {stats:#?}"
    );
    for port in &stats {
        let verify = &port.verify;
        ensure!(verify.duplicated == 0, "duplicated: {port:#?}");
        ensure!(verify.reordered == 0, "reordered: {port:#?}");
        ensure!(verify.altered == 0, "altered: {port:#?}");
        ensure!(verify.foreign == 0, "foreign: {port:#?}");
    }
    let missing = sum(|port| port.verify.missing);
    ensure!(
        missing <= dropped,
        "{missing} missing of which {dropped} dropped: {stats:#?}"
    );
    let left = sum(|port| port.outstanding) + sum(|port| port.verify.abandoned);
    let delivered = sum(|port| port.delivered_generated);
    ensure!(
        delivered == tx + missing + left,
        "{delivered} received are not {tx} sent, {missing} missing and {left} left: {stats:#?}"
    );
    // What was received but not forwarded was in the rings, and no more than they hold.
    let unread = delivered - rx;
    let rings = ports.len() as u64 * 512 * sessions;
    ensure!(
        unread <= rings,
        "{unread} packets unread in rings that hold {rings}: {stats:#?}"
    );
    Ok(())
}
