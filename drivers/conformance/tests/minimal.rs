//! `ixgbe-forward-minimal`, the driver's first example.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, Program, TestNic};
use nic::{NicConfig, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    it_forwards_both_ways_until_a_signal,
    wrong_arguments_and_devices_are_errors,
);

/// No run here takes so long to end.
const LIMIT: Duration = Duration::from_secs(10);

fn program(implementation: Implementation) -> Result<Program> {
    Program::application(implementation, "ixgbe-forward-minimal")
}

/// It says how many packets it has sent, which the card counts too, and leaves the devices at rest.
fn it_forwards_both_ways_until_a_signal(implementation: Implementation) -> Result<()> {
    let saturated =
        |config: NicConfig| config.with_each_port(|port| port.traffic = Traffic::Saturate);
    for signal in [Signal::INT, Signal::TERM] {
        let nic = TestNic::running(saturated)?;
        let mut running = program(implementation)?.args(nic.devices()).start()?;
        nic.wait_for_traffic(10_000)?;
        running.signal(signal)?;
        let output = running.wait(LIMIT)?;
        output.expect_success()?;
        for session in nic.sessions()? {
            expect::left_at_rest(&session)?;
            expect::well_behaved(&session)?;
        }
        let sent: u64 = nic
            .ports()
            .iter()
            .map(|port| port.stats().transmitted)
            .sum();
        ensure!(
            output.stdout == format!("sent {sent} packets\n"),
            "the card sent {sent}: {output}"
        );
    }
    Ok(())
}

fn wrong_arguments_and_devices_are_errors(implementation: Implementation) -> Result<()> {
    let output = program(implementation)?.arg("one").start()?.wait(LIMIT)?;
    output
        .expect_exit(2)?
        .expect_stderr(["usage: ixgbe-forward-minimal DEVICE DEVICE"])?;
    let nowhere = "vfio-user:/nowhere.sock";
    let output = program(implementation)?
        .args([nowhere, nowhere])
        .start()?
        .wait(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_stderr(["ixgbe-forward-minimal: ", nowhere])
        .context("no socket")?;
    Ok(())
}
