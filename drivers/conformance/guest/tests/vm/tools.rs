//! `triptych doctor` and `bind` on a machine whose kernel drives the ports.

use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{Implementation, Totals};
use guest::{Output, Vm};
use libtest_mimic::Trial;

use crate::fixture::{machine, on_machine, Environment, Ports, Test};

const LIMIT: Duration = Duration::from_secs(20);
/// The self-test in an emulated processor.
const SELFTEST_LIMIT: Duration = Duration::from_secs(60);
const DRIVER: &str = "basename $(readlink /sys/bus/pci/devices/";

struct ToolsMachine {
    vm: Vm,
    ports: Ports,
}

fn boot(environment: &Environment, name: &str, address_bits: Option<u8>) -> Result<ToolsMachine> {
    let (ports, devices) = Ports::new(0, [3, 4], |config| config.with_cable(0, 1))?;
    let vm = environment.boot(&machine(name, address_bits, &devices))?;
    vm.shell("insmod /lib/modules/ixgbe.ko")?;
    Ok(ToolsMachine { vm, ports })
}

fn tools(environment: &Environment) -> Result<ToolsMachine> {
    boot(environment, "tools", Some(48))
}

fn tools_no_iommu(environment: &Environment) -> Result<ToolsMachine> {
    boot(environment, "tools-no-iommu", None)
}

fn triptych(vm: &Vm, arguments: &[&str]) -> Result<Output> {
    vm.program(["/bin/triptych"])
        .args(arguments.iter().copied())
        .run(LIMIT)
}

fn driver_of(vm: &Vm, address: &str) -> Result<String> {
    vm.shell(&format!("{DRIVER}{address}/driver)"))
}

/// Checks that `triptych doctor` prints these texts and fails.
fn expect_diagnosis(vm: &Vm, texts: &[&str]) -> Result<()> {
    let output = triptych(vm, &["doctor"])?;
    output.expect_exit(1)?;
    for text in texts {
        ensure!(
            output.end.stdout.contains(text),
            "output lacks {text:?}: {output}"
        );
    }
    Ok(())
}

fn doctor_reports_the_kernels_driver_and_missing_huge_pages(
    tools: &mut ToolsMachine,
) -> Result<()> {
    let ToolsMachine { vm, ports } = tools;
    let [a, b] = &ports.addresses;
    expect_diagnosis(vm, &[a, b, "ixgbe", "triptych bind", "hugepages"])
}

fn bind_refuses_a_port_with_an_ip_address(tools: &mut ToolsMachine) -> Result<()> {
    let ToolsMachine { vm, ports } = tools;
    let a = &ports.addresses[0];
    vm.shell(&format!(
        "net=$(ls /sys/bus/pci/devices/{a}/net); ip link set $net up; ip addr add 192.0.2.7/24 dev $net"
    ))?;
    let output = triptych(vm, &["bind", a])?;
    output
        .expect_exit(1)?
        .expect_stderr([a.as_str(), "192.0.2.7", "--force"])?;
    ensure!(driver_of(vm, a)? == "ixgbe", "triptych bound the port");
    triptych(vm, &["bind", "--force", a])?.expect_exit(0)?;
    ensure!(
        driver_of(vm, a)? == "vfio-pci",
        "triptych did not bind the port"
    );
    triptych(vm, &["bind", "--undo", a])?.expect_exit(0)?;
    ensure!(
        driver_of(vm, a)? == "ixgbe",
        "triptych did not give the port back"
    );
    Ok(())
}

/// `bind` gives the ports to a user, that user drives them, and `bind --undo` gives them back.
fn bind_and_its_undo_are_a_round_trip(tools: &mut ToolsMachine) -> Result<()> {
    let ToolsMachine { vm, ports } = tools;
    let [a, b] = &ports.addresses;
    vm.shell("echo 64 >/proc/sys/vm/nr_hugepages")?;
    triptych(vm, &["bind", "--user", "user", a, b])?.expect_exit(0)?;
    for implementation in Implementation::OURS {
        let program = format!("/drivers/{implementation}/ixgbe-fwd");
        let run = vm.program([
            &program,
            "--duration",
            "0.5",
            "--json",
            "/tmp/totals.json",
            a,
            b,
        ]);
        run.user(1000).run(LIMIT)?.expect_success()?;
        let totals = Totals::parse(&(vm.shell("cat /tmp/totals.json")? + "\n"))?;
        ensure!(totals.rx_calls > 0, "{totals:?}");
    }
    triptych(vm, &["bind", "--undo", a, b])?.expect_exit(0)?;
    for address in [a, b] {
        ensure!(
            driver_of(vm, address)? == "ixgbe",
            "triptych did not give {address} back"
        );
    }
    Ok(())
}

/// The self-test: ports by the kernel's VFIO, interrupts by its interrupt remapping.
fn selftest_passes(tools: &mut ToolsMachine) -> Result<()> {
    let ToolsMachine { vm, ports } = tools;
    let [a, b] = &ports.addresses;
    vm.shell("echo 64 >/proc/sys/vm/nr_hugepages")?;
    triptych(vm, &["bind", a, b])?.expect_exit(0)?;
    let json = "/out/selftest.json";
    let arguments = ["selftest", "--quick", "--json", json, a, b];
    let output = vm
        .program(["/bin/triptych"])
        .args(arguments)
        .run(SELFTEST_LIMIT)?;
    output.expect_exit(0)?;
    for text in [
        "driver memory     on huge pages",
        "interrupts 0      100 MSI-X messages",
        "interrupts 1      100 MSI-X messages",
        " 0 failed",
    ] {
        let found = output.end.stdout.contains(text);
        ensure!(found, "output lacks {text:?}: {output}");
    }
    for port in ports.ports() {
        let state = port.snapshot();
        ensure!(state.quiescent() && state.dma_maps == 0, "{state:#?}");
    }
    triptych(vm, &["bind", "--undo", a, b])?.expect_exit(0)?;
    Ok(())
}

fn doctor_reports_that_the_iommu_is_off(tools: &mut ToolsMachine) -> Result<()> {
    expect_diagnosis(
        &tools.vm,
        &[
            "IOMMU",
            "off: the virtual machine has none",
            "no IOMMU group",
        ],
    )
}

fn bind_refuses_without_an_iommu(tools: &mut ToolsMachine) -> Result<()> {
    let ToolsMachine { vm, ports } = tools;
    let a = &ports.addresses[0];
    let output = triptych(vm, &["bind", a])?;
    output
        .expect_exit(1)?
        .expect_stderr([a.as_str(), "no IOMMU group", "doctor"])?;
    ensure!(driver_of(vm, a)? == "ixgbe", "triptych bound the port");
    Ok(())
}

pub(crate) fn tests(environment: &Option<Environment>) -> Vec<Trial> {
    let with_iommu = vec![
        Test::new(
            "doctor_reports_the_kernels_driver_and_missing_huge_pages",
            doctor_reports_the_kernels_driver_and_missing_huge_pages,
        ),
        Test::new(
            "bind_refuses_a_port_with_an_ip_address",
            bind_refuses_a_port_with_an_ip_address,
        ),
        Test::new(
            "bind_and_its_undo_are_a_round_trip",
            bind_and_its_undo_are_a_round_trip,
        ),
        Test::new("selftest_passes", selftest_passes),
    ];
    let without = vec![
        Test::new(
            "doctor_reports_that_the_iommu_is_off",
            doctor_reports_that_the_iommu_is_off,
        ),
        Test::new(
            "bind_refuses_without_an_iommu",
            bind_refuses_without_an_iommu,
        ),
    ];
    let mut tests = on_machine(environment, "tools", tools, with_iommu);
    tests.extend(on_machine(
        environment,
        "tools-no-iommu",
        tools_no_iommu,
        without,
    ));
    tests
}
