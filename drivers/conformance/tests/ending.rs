//! Runs that a signal ends, and the state in which the next driver finds the device.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, saturated, wait_until};
use conformance::{Implementation, Program, TestNic};
use nic::{MmioMode, SessionEnd};
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

/// The queues are disabled, the bus master is off after the handshake, and no memory is mapped. The
/// exit status is 0, and the totals agree with the NIC's counts.
fn a_signal_during_traffic_leaves_the_devices_at_rest(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for signal in [Signal::INT, Signal::TERM] {
            let mut nic = TestNic::running(|config| saturated(config).with_mmio(mmio))?;
            let mut running = nic.forwarder(driver)?.start()?;
            nic.wait_for_traffic(10_000)?;
            // The device is not at rest before the signal, so the check below proves something.
            for state in nic.ports().iter().map(|port| port.snapshot()) {
                let runs = state.bus_master && state.rx_enabled && state.tx_enabled;
                ensure!(
                    runs && state.dma_maps > 0 && !state.quiescent(),
                    "{state:?}"
                );
            }
            running.signal(signal)?;
            let output = running.wait(LIMIT)?;
            let totals = nic
                .check_run(&output)
                .with_context(|| format!("{signal:?}, {mmio:?}"))?;
            for session in nic.sessions()? {
                ensure!(session.end == SessionEnd::Disconnected, "{session:#?}");
            }
            ensure!(totals.rx >= 20_000, "{totals:?}");
        }
    }
    Ok(())
}

fn a_signal_without_traffic_leaves_the_devices_at_rest(driver: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let mut nic = TestNic::running(|config| config)?;
        let mut running = nic.forwarder(driver)?.start()?;
        wait_until("both devices to receive", || {
            let states = nic.ports().iter().map(|port| port.snapshot());
            states
                .into_iter()
                .all(|state| state.rx_enabled && state.tx_enabled)
        })?;
        // After that the driver waits for the link, checks it twice, and then handles signals.
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal)?;
        let totals = nic.check_run(&running.wait(LIMIT)?)?;
        ensure!(totals.rx == 0 && totals.rx_calls > 0, "{totals:?}");
    }
    Ok(())
}

/// The driver cannot drain its rings and says so. The devices are at rest even then, and the driver
/// writes its totals.
fn a_signal_ends_a_run_that_cannot_send(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        saturated(config).with_each_port(|port| port.faults.stall_tx = true)
    })?;
    let mut running = nic.forwarder(driver)?.start()?;
    wait_until("reception", || {
        let mut ports = nic.ports().iter();
        ports.all(|port| port.stats().delivered > 100_000)
    })?;
    running.signal(Signal::TERM)?;
    let output = running.wait(LIMIT)?;
    output.expect_failure(["TDH", "port0.sock", "not sent"])?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(state.quiescent() && state.dma_maps == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    let totals = output.totals()?;
    ensure!(totals.rx >= 200_000, "{totals:?}");
    expect::exactly("sent", totals.tx, "packets", 2 * 511)
}

fn a_killed_driver_does_not_harm_the_next_one(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let mut running = nic.forwarder(driver)?.start()?;
    nic.wait_for_traffic(10_000)?;
    running.signal(Signal::KILL)?;
    let output = running.wait(LIMIT)?;
    ensure!(output.status.code().is_none(), "not killed: {output}");
    for session in nic.sessions()? {
        // The killed driver could not clean up, and the NIC's report shows that.
        let state = &session.snapshot;
        ensure!(!state.quiescent() && state.dma_faults == 0, "{session:#?}");
    }
    let before = nic.transmitted();
    let program = nic.forwarder(driver)?.args(["--packets", "100000"]);
    let output = program.run_within(LIMIT)?;
    output.expect_success()?;
    nic.expect_rest()?;
    nic.stop_data_plane()?;
    let totals = output.totals()?;
    expect::exactly("received", totals.rx, "packets", 100_000)?;
    expect::exactly(
        "the NIC sent",
        nic.transmitted() - before,
        "packets",
        totals.tx,
    )?;
    for port in nic.ports() {
        let verify = port.stats().verify;
        let wrong = verify.duplicated + verify.reordered + verify.altered + verify.foreign;
        ensure!(wrong == 0, "port {}: {verify:#?}", port.index());
    }
    Ok(())
}

fn a_device_in_use_is_refused_and_its_driver_goes_on(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(saturated)?;
    let first = nic.forwarder(driver)?.start()?;
    nic.wait_for_traffic(10_000)?;
    let second = Program::forwarder(driver)?.args(nic.devices());
    let busy = [&nic.devices()[0], "busy", "another driver"];
    second.run_within(LIMIT)?.expect_failure(busy)?;
    nic.wait_for_traffic(nic.ports()[0].stats().transmitted + 10_000)?;
    let output = first.end_by(Signal::TERM)?;
    nic.check_run(&output).map(drop)
}
