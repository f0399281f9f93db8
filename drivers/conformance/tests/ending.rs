//! How a run ends that does not end by itself: signals, and what the next driver finds.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, TestNic, Totals};
use nic::{MmioMode, NicConfig, SessionEnd, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_signal_in_mid_traffic_leaves_the_devices_at_rest,
    a_signal_without_traffic_does_the_same,
    a_signal_while_nothing_can_be_sent_still_ends_the_run,
    a_driver_that_is_killed_is_no_harm_to_the_next,
    a_device_in_use_is_refused_and_its_user_not_disturbed,
);

/// Longer than any run here takes to end.
const LIMIT: Duration = Duration::from_secs(10);

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// Queues disabled, bus master off after the handshake, nothing mapped; exit 0, and totals that add
/// up to what the NIC has seen.
fn a_signal_in_mid_traffic_leaves_the_devices_at_rest(
    implementation: Implementation,
) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for signal in [Signal::INT, Signal::TERM] {
            let case = format!("{signal:?}, {mmio:?}");
            let mut nic = TestNic::running(|config| saturated(config).with_mmio(mmio))?;
            let mut running = nic.forwarder(implementation)?.start()?;
            nic.wait_for_traffic(10_000)?;
            // The report below is worth something only if it would show a device that is not.
            for port in nic.ports() {
                let state = port.snapshot();
                ensure!(
                    state.bus_master && state.rx_enabled && state.tx_enabled,
                    "{state:?}"
                );
                ensure!(state.dma_maps > 0 && !state.quiescent(), "{state:?}");
            }
            running.signal(signal)?;
            let output = running.wait(LIMIT)?;
            output.expect_success().with_context(|| case.clone())?;
            for session in nic.sessions()? {
                expect::left_at_rest(&session).with_context(|| case.clone())?;
                ensure!(
                    session.end == SessionEnd::Disconnected,
                    "{case}: {session:#?}"
                );
            }
            nic.stop_data_plane()?;
            let totals = output.totals()?;
            totals.check(32)?;
            ensure!(totals.rx >= 20_000, "{case}: {totals:?}");
            expect::nothing_lost(nic.ports(), &totals).with_context(|| case.clone())?;
        }
    }
    Ok(())
}

fn a_signal_without_traffic_does_the_same(implementation: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let nic = TestNic::running(|config| config)?;
        let mut running = nic.forwarder(implementation)?.start()?;
        wait_until_forwarding(&nic)?;
        running.signal(signal)?;
        let output = running.wait(LIMIT)?;
        output.expect_success()?;
        nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
        let totals = output.totals()?;
        totals.check(32)?;
        ensure!(totals.rx == 0 && totals.rx_calls > 0, "{totals:?}");
    }
    Ok(())
}

/// Waits until a driver without traffic has got to where signals end the run: a packet that it
/// forwards is the sign.
fn wait_until_forwarding(nic: &TestNic) -> Result<()> {
    conformance::wait_until("both devices to receive", || {
        nic.ports()
            .iter()
            .all(|port| port.snapshot().rx_enabled && port.snapshot().tx_enabled)
    })?;
    // The link is waited for after that, for two looks, and then the signals are held back.
    std::thread::sleep(Duration::from_millis(300));
    Ok(())
}

/// The rings cannot be drained: that is said, but the devices are at rest all the same, and the
/// totals are there.
fn a_signal_while_nothing_can_be_sent_still_ends_the_run(
    implementation: Implementation,
) -> Result<()> {
    let nic = TestNic::running(|config| {
        saturated(config).with_each_port(|port| port.faults.stall_tx = true)
    })?;
    let mut running = nic.forwarder(implementation)?.start()?;
    conformance::wait_until("reception", || {
        nic.ports()
            .iter()
            .all(|port| port.stats().delivered > 100_000)
    })?;
    running.signal(Signal::TERM)?;
    let output = running.wait(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_says(["TDH", "port0.sock", "not sent"])?;
    for session in nic.sessions()? {
        ensure!(session.snapshot.quiescent(), "{session:#?}");
        ensure!(session.snapshot.dma_maps == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    let totals = output.totals()?;
    totals.check(32)?;
    ensure!(totals.rx >= 200_000, "{totals:?}");
    ensure!(totals.tx == 2 * 511, "{totals:?}");
    Ok(())
}

fn a_driver_that_is_killed_is_no_harm_to_the_next(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut running = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(10_000)?;
    running.signal(Signal::KILL)?;
    let output = running.wait(LIMIT)?;
    ensure!(output.status.code().is_none(), "{output}");
    for session in nic.sessions()? {
        // It could not clean up, and the NIC has not hidden that.
        ensure!(!session.snapshot.quiescent(), "{session:#?}");
        ensure!(session.snapshot.dma_faults == 0, "{session:#?}");
    }
    let before = nic
        .ports()
        .iter()
        .map(|port| port.stats().transmitted)
        .sum::<u64>();

    let output = nic
        .forwarder(implementation)?
        .args(["--packets", "100000"])
        .run(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    let totals = output.totals()?;
    ensure!(totals.rx == 100_000, "{totals:?}");
    let after = nic
        .ports()
        .iter()
        .map(|port| port.stats().transmitted)
        .sum::<u64>();
    ensure!(
        after - before == totals.tx,
        "{} sent of {totals:?}",
        after - before
    );
    for port in nic.ports() {
        let verify = port.stats().verify;
        let wrong = verify.duplicated + verify.reordered + verify.altered + verify.foreign;
        ensure!(wrong == 0, "port {}: {verify:#?}", port.index());
    }
    Ok(())
}

fn a_device_in_use_is_refused_and_its_user_not_disturbed(
    implementation: Implementation,
) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut first = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(10_000)?;

    let [device_a, device_b] = nic.devices();
    let second = conformance::Program::forwarder(implementation)?.args([&device_a, &device_b]);
    let output = second.run(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_says([device_a.as_str(), "busy", "another driver"])?;

    nic.wait_for_traffic(nic.ports()[0].stats().transmitted + 10_000)?;
    first.signal(Signal::TERM)?;
    let output = first.wait(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    let totals: Totals = output.totals()?;
    expect::nothing_lost(nic.ports(), &totals)
}
