//! `ixgbe-forward-minimal`, the driver's first example.

use anyhow::{ensure, Result};
use conformance::{for_each_implementation, saturated, Implementation, Program, TestNic};
use rustix::process::Signal;

for_each_implementation!(
    it_forwards_both_ways_until_a_signal,
    wrong_arguments_and_devices_are_errors,
);

fn program(driver: Implementation) -> Result<Program> {
    Program::application(driver, "ixgbe-forward-minimal")
}

/// It says how many packets it has sent, which the card counts too, and leaves the devices at rest.
fn it_forwards_both_ways_until_a_signal(driver: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let nic = TestNic::running(saturated)?;
        let running = program(driver)?.args(nic.devices()).start()?;
        nic.wait_for_traffic(10_000)?;
        let output = running.end_by(signal)?;
        nic.expect_rest()?;
        let sent = nic.transmitted();
        ensure!(
            output.stdout == format!("sent {sent} packets\n"),
            "{sent}: {output}"
        );
    }
    Ok(())
}

fn wrong_arguments_and_devices_are_errors(driver: Implementation) -> Result<()> {
    let usage = "usage: ixgbe-forward-minimal DEVICE DEVICE";
    Program::expect_refused(|| program(driver), &[(&["one"], usage)])?;
    let nowhere = "vfio-user:/nowhere.sock";
    let output = program(driver)?.args([nowhere, nowhere]).run()?;
    output.expect_failure(["ixgbe-forward-minimal: ", nowhere])?;
    Ok(())
}
