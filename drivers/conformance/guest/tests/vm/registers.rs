//! The registers that the kernel's own ixgbe writes, on a card of each family.
//!
//! `oracle` has recorded how they differ from those of our drivers, so that comparison needs no
//! virtual machine. The test here checks that the kernel's driver still writes what is recorded.

use std::time::Duration;

use anyhow::{Context, Result};
use conformance::wait_until;
use nic::{MmioMode, TraceEntry, TraceTo};
use oracle::recorded::{Side, UPDATE};
use oracle::summary::summary;
use oracle::{Family, Recorded};
use strum::IntoEnumIterator;

use crate::fixture::Ports;
use crate::vm::{Device, Vm};

/// The name of the test.
pub(crate) const TEST: &str = "writes_the_registers_that_are_recorded";
/// The environment variable with which the test records the writes instead of comparing them.
const WRITE_ARCHIVE: &str = "TRIPTYCH_WRITE_ARCHIVE";
/// After its link is up, the driver raises an interrupt of its own and handles it within this time.
const HANDLED: Duration = Duration::from_millis(300);
/// Number of families.
const FAMILIES: usize = 3;

/// A NIC that records register accesses: port `n` is of the `n`th family. No frame arrives.
pub(crate) struct TracedPorts(Ports<FAMILIES>);

impl TracedPorts {
    /// The ports, in slots 7 to 9.
    pub(crate) fn new(devices: &mut Vec<Device>) -> Result<Self> {
        let ports = Ports::new(devices, 0, 7, |config| {
            let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
            let mut families = Family::iter();
            config.with_each_port(|port| {
                if let Some(family) = families.next() {
                    port.device_id = family.device_id();
                }
            })
        })?;
        Ok(Self(ports))
    }

    fn take_trace(&self) -> Vec<TraceEntry> {
        self.0.nic.borrow().take_trace()
    }

    /// Runs a script for each port. `$pci` is the port's address, `$net` its interface.
    fn each(&self, vm: &Vm, script: &str) -> Result<()> {
        for pci in &self.0.addresses {
            vm.shell(format!("pci={pci}; net=$(net {pci} 2>/dev/null); {script}"))?;
        }
        Ok(())
    }

    /// Binds the ports, brings them up, and returns the trace until all have a link.
    fn start(&self, vm: &Vm) -> Result<Vec<TraceEntry>> {
        self.take_trace();
        self.each(vm, "echo $pci >/sys/bus/pci/drivers/ixgbe/bind")?;
        // Without IPv6 the kernel sends no frames of its own.
        self.each(
            vm,
            "conf=/proc/sys/net/ipv6/conf/$net/disable_ipv6
             if [ -e $conf ]; then echo 1 >$conf; fi
             ip link set $net up",
        )?;
        self.each(
            vm,
            "await 20 sh -c \"ip link show $net | grep -q LOWER_UP\"",
        )?;
        let mut trace = self.take_trace();
        // Every other second, the driver makes an interrupt. What it writes then belongs to the
        // trace of every run.
        wait_until("an interrupt of the driver's own at each port", || {
            std::thread::sleep(HANDLED);
            trace.extend(self.take_trace());
            let made = |port| {
                let mut writes = trace.iter().filter(|entry| entry.port == port);
                writes.any(|entry| entry.write && entry.register.starts_with("EICS_EX"))
            };
            (0..FAMILIES).all(made)
        })?;
        std::thread::sleep(HANDLED);
        trace.extend(self.take_trace());
        Ok(trace)
    }

    /// Brings the ports down, unbinds them, and returns the trace of that.
    fn stop(&self, vm: &Vm) -> Result<Vec<TraceEntry>> {
        self.each(vm, "ip link set $net down")?;
        self.each(vm, "echo $pci >/sys/bus/pci/drivers/ixgbe/unbind")?;
        Ok(self.take_trace())
    }

    /// If this test fails, the kernel's driver or the software card has changed. `.ci/part
    /// registers-compared archive` then records what is new.
    pub(crate) fn write_what_is_recorded(&self, vm: &Vm) -> Result<()> {
        let (start, stop) = (self.start(vm)?, self.stop(vm)?);
        vm.no_complaint_except(&[])?;
        let summaries = (0..).map(|port| summary(port, &start, &stop));
        let linux: Side = Family::iter().zip(summaries).collect();
        let recorded = Recorded::read()?;
        let kernel = vm.shell("uname -r")?;
        if std::env::var_os(WRITE_ARCHIVE).is_some() {
            let mut now = recorded.with(&linux, &recorded.ours()?);
            now.driver = format!("`ixgbe` of Linux {kernel}");
            return now.write();
        }
        recorded.expect(&linux, &recorded.ours()?).with_context(|| {
            let driver = &recorded.driver;
            format!("{driver} is recorded, and this is {kernel}: run `{UPDATE} archive`")
        })
    }
}
