//! The three drivers through the kernel's VFIO.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, Implementation, Totals};
use guest::{Output, Run, Vm};
use libtest_mimic::Trial;
use nic::{FrameSizes, MmioMode, PortCounters, Traffic, TraceTo};
use rustix::process::Signal;

use crate::fixture::{bind, machine, on_machine, Bench, Ports, Test};

/// Longer than any run here takes to end.
const LIMIT: Duration = Duration::from_secs(20);

/// Ports in an IOMMU group each, in slots 3 and 4, and again with trapped registers and a trace in
/// slots 5 and 6.
struct Groups {
    vm: Vm,
    fast: Ports,
    traced: Ports,
}

fn groups(bench: &Bench) -> Result<Groups> {
    let (fast, devices) = Ports::new(0, [3, 4], |config| {
        config.with_each_port(|port| port.sizes = FrameSizes::range(60, 1514).unwrap_or_default())
    })?;
    let (traced, more) = Ports::new(0, [5, 6], |config| {
        config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory)
    })?;
    let vm = bench.boot(&machine("two-groups", Some(48), &[devices, more].concat()))?;
    vm.shell("echo 64 >/proc/sys/vm/nr_hugepages; chmod 0666 /dev/vfio/vfio")?;
    for address in fast.addresses.iter().chain(&traced.addresses) {
        bind(&vm, address, "vfio-pci")?;
    }
    Ok(Groups { vm, fast, traced })
}

/// An implementation's forwarder between two ports.
fn forwarder<'vm>(vm: &'vm Vm, implementation: Implementation, ports: &Ports) -> Run<'vm> {
    vm.program([&format!("/drivers/{implementation}/ixgbe-fwd"), "--json", "/tmp/totals.json"])
        .args(ports.addresses.clone())
}

fn totals(vm: &Vm) -> Result<Totals> {
    let text = vm.shell("cat /tmp/totals.json; rm /tmp/totals.json")?;
    Totals::parse(&(text + "\n"))
}

/// Runs with traffic until `frames` have been forwarded each way, and checks what is always so.
fn forwards(vm: &Vm, ports: &Ports, run: Run<'_>, frames: u64) -> Result<Output> {
    let before = ports.settled()?;
    ports.set_traffic(&Traffic::Saturate);
    let job = run.start()?;
    let flowed = ports.wait_for_traffic(&before, frames);
    if let Err(error) = flowed {
        job.signal(Signal::INT)?;
        let output = job.wait(LIMIT)?;
        return Err(error.context(output.to_string()));
    }
    job.signal(Signal::INT)?;
    let output = job.wait(LIMIT)?;
    ports.set_traffic(&Traffic::Off);
    output.expect_exit(0)?;
    at_rest(ports).with_context(|| output.to_string())?;
    let totals = totals(vm)?;
    totals.check(32)?;
    expect::nothing_lost_since(&before, &ports.settled()?, &totals)?;
    Ok(output)
}

/// Nothing enabled, nothing mapped, no fault.
fn at_rest(ports: &Ports) -> Result<()> {
    for port in ports.ports() {
        let state = port.snapshot();
        ensure!(state.quiescent(), "port {} is not at rest: {state:#?}", port.index());
        ensure!(state.dma_maps == 0, "port {}: still mapped: {:x?}", port.index(), port.dma_maps());
        ensure!(state.dma_faults == 0, "port {}: {:#?}", port.index(), port.dma_faults());
    }
    Ok(())
}

fn forwards_as_root(groups: &mut Groups, implementation: Implementation) -> Result<()> {
    let Groups { vm, fast, .. } = groups;
    forwards(vm, fast, forwarder(vm, implementation, fast), 20_000)?.expect_success()?;
    Ok(())
}

pub(crate) fn tests(bench: &Option<Bench>) -> Vec<Trial> {
    type OfGroups = fn(&mut Groups, Implementation) -> Result<()>;
    let of_groups: [(&str, OfGroups); 1] = [("forwards_as_root", forwards_as_root)];
    let mut tests = Vec::new();
    for (name, test) in of_groups {
        for implementation in Implementation::ALL {
            let name = format!("{implementation}::{name}");
            tests.push(Test::new(name, move |groups| test(groups, implementation)));
        }
    }
    on_machine(bench, "two-groups", groups, tests)
}
