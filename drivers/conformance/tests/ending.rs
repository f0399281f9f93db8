//! Runs that a signal ends, and the state in which the next driver finds the device.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, TestNic, Totals};
use nic::{MmioMode, NicConfig, SessionEnd, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_signal_during_traffic_leaves_the_devices_at_rest,
    a_signal_without_traffic_leaves_the_devices_at_rest,
    a_signal_ends_a_run_that_cannot_send,
    a_killed_driver_does_not_harm_the_next_one,
    a_device_in_use_is_refused_and_its_driver_goes_on,
);

/// No run here takes so long to end.
const LIMIT: Duration = Duration::from_secs(10);

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// The queues are disabled, the bus master is off after the handshake, and no memory is mapped. The
/// exit status is 0, and the totals agree with the NIC's counts.
fn a_signal_during_traffic_leaves_the_devices_at_rest(
    implementation: Implementation,
) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for signal in [Signal::INT, Signal::TERM] {
            let case = format!("{signal:?}, {mmio:?}");
            let mut nic = TestNic::running(|config| saturated(config).with_mmio(mmio))?;
            let mut running = nic.forwarder(implementation)?.start()?;
            nic.wait_for_traffic(10_000)?;
            // The device is not at rest before the signal, so the check below proves something.
            for port in nic.ports() {
                let state = port.snapshot();
                ensure!(
                    state.bus_master && state.rx_enabled && state.tx_enabled,
                    "the device does not run before the signal: {state:?}"
                );
                ensure!(
                    state.dma_maps > 0 && !state.quiescent(),
                    "the device is at rest before the signal: {state:?}"
                );
            }
            running.signal(signal)?;
            let output = running.wait(LIMIT)?;
            output.expect_success().with_context(|| case.clone())?;
            for session in nic.sessions()? {
                expect::left_at_rest(&session).with_context(|| case.clone())?;
                ensure!(
                    session.end == SessionEnd::Disconnected,
                    "{case}: the driver did not disconnect: {session:#?}"
                );
            }
            nic.stop_data_plane()?;
            let totals = output.totals()?;
            totals.check(32)?;
            ensure!(
                totals.rx >= 20_000,
                "{case}: received {} packets, expected at least 20000",
                totals.rx
            );
            expect::nothing_lost(nic.ports(), &totals).with_context(|| case.clone())?;
        }
    }
    Ok(())
}

fn a_signal_without_traffic_leaves_the_devices_at_rest(
    implementation: Implementation,
) -> Result<()> {
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
        expect::exactly("received", totals.rx, "packets", 0)?;
        ensure!(totals.rx_calls > 0, "the driver made no receive call");
    }
    Ok(())
}

/// Waits until a driver without traffic handles signals.
fn wait_until_forwarding(nic: &TestNic) -> Result<()> {
    conformance::wait_until("both devices to receive", || {
        nic.ports()
            .iter()
            .all(|port| port.snapshot().rx_enabled && port.snapshot().tx_enabled)
    })?;
    // After that the driver waits for the link, checks it twice, and then handles signals.
    std::thread::sleep(Duration::from_millis(300));
    Ok(())
}

/// The driver cannot drain its rings and says so. The devices are at rest even then, and the driver
/// writes its totals.
fn a_signal_ends_a_run_that_cannot_send(implementation: Implementation) -> Result<()> {
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
        .expect_stderr(["TDH", "port0.sock", "not sent"])?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(state.quiescent(), "the device is not at rest: {session:#?}");
        ensure!(state.dma_maps == 0, "memory is still mapped: {session:#?}");
        expect::well_behaved(&session)?;
    }
    let totals = output.totals()?;
    totals.check(32)?;
    ensure!(
        totals.rx >= 200_000,
        "received {} packets, expected at least 200000",
        totals.rx
    );
    expect::exactly("sent", totals.tx, "packets", 2 * 511)?;
    Ok(())
}

fn a_killed_driver_does_not_harm_the_next_one(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut running = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(10_000)?;
    running.signal(Signal::KILL)?;
    let output = running.wait(LIMIT)?;
    ensure!(
        output.status.code().is_none(),
        "SIGKILL did not end the driver: {output}"
    );
    for session in nic.sessions()? {
        // The killed driver could not clean up, and the NIC's report shows that.
        let state = &session.snapshot;
        ensure!(
            !state.quiescent(),
            "a killed driver cleaned up: {session:#?}"
        );
        expect::exactly("the IOMMU refused", state.dma_faults, "accesses", 0)?;
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
    expect::exactly("received", totals.rx, "packets", 100_000)?;
    let after = nic
        .ports()
        .iter()
        .map(|port| port.stats().transmitted)
        .sum::<u64>();
    ensure!(
        after - before == totals.tx,
        "the driver counts {} packets as sent, but the NIC sent {}",
        totals.tx,
        after - before
    );
    for port in nic.ports() {
        let verify = port.stats().verify;
        let wrong = verify.duplicated + verify.reordered + verify.altered + verify.foreign;
        ensure!(
            wrong == 0,
            "port {} received {wrong} wrong packets: {verify:#?}",
            port.index()
        );
    }
    Ok(())
}

fn a_device_in_use_is_refused_and_its_driver_goes_on(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut first = nic.forwarder(implementation)?.start()?;
    nic.wait_for_traffic(10_000)?;

    let [device_a, device_b] = nic.devices();
    let second = conformance::Program::forwarder(implementation)?.args([&device_a, &device_b]);
    let output = second.run(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_stderr([device_a.as_str(), "busy", "another driver"])?;

    nic.wait_for_traffic(nic.ports()[0].stats().transmitted + 10_000)?;
    first.signal(Signal::TERM)?;
    let output = first.wait(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    let totals: Totals = output.totals()?;
    expect::nothing_lost(nic.ports(), &totals)
}
