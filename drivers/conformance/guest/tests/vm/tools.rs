//! `triptych doctor`, `bind` and `unbind` on a machine with ports, whose kernel has its own driver for
//! them.

use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{Implementation, Totals};
use guest::{Output, Vm};
use libtest_mimic::Trial;

use crate::fixture::{machine, on_machine, Bench, Ports, Test};

const LIMIT: Duration = Duration::from_secs(20);
const DRIVER: &str = "basename $(readlink /sys/bus/pci/devices/";

struct Tools {
    vm: Vm,
    ports: Ports,
}

fn boot(bench: &Bench, name: &str, address_bits: Option<u8>) -> Result<Tools> {
    let (ports, devices) = Ports::new(0, [3, 4], |config| config.with_cable(0, 1))?;
    let vm = bench.boot(&machine(name, address_bits, &devices))?;
    vm.shell("insmod /lib/modules/ixgbe.ko")?;
    Ok(Tools { vm, ports })
}

fn tools(bench: &Bench) -> Result<Tools> {
    boot(bench, "tools", Some(48))
}

fn tools_no_iommu(bench: &Bench) -> Result<Tools> {
    boot(bench, "tools-no-iommu", None)
}

fn triptych(vm: &Vm, arguments: &[&str]) -> Result<Output> {
    vm.program(["/bin/triptych"])
        .args(arguments.iter().copied())
        .run(LIMIT)
}

fn driver_of(vm: &Vm, address: &str) -> Result<String> {
    vm.shell(&format!("{DRIVER}{address}/driver)"))
}

/// The findings, and that they keep a run from going.
fn diagnosis(vm: &Vm, texts: &[&str]) -> Result<()> {
    let output = triptych(vm, &["doctor"])?;
    output.expect_exit(1)?;
    for text in texts {
        ensure!(
            output.end.stdout.contains(text),
            "does not say {text:?}: {output}"
        );
    }
    Ok(())
}

fn doctor_finds_the_kernels_driver_and_no_huge_pages(tools: &mut Tools) -> Result<()> {
    let Tools { vm, ports } = tools;
    let [a, b] = &ports.addresses;
    diagnosis(vm, &[a, b, "ixgbe", "triptych bind", "hugepages"])
}

fn bind_refuses_a_port_with_an_address(tools: &mut Tools) -> Result<()> {
    let Tools { vm, ports } = tools;
    let a = &ports.addresses[0];
    vm.shell(&format!(
        "net=$(ls /sys/bus/pci/devices/{a}/net); ip link set $net up; ip addr add 192.0.2.7/24 dev $net"
    ))?;
    let output = triptych(vm, &["bind", a])?;
    output
        .expect_exit(1)?
        .expect_stderr([a.as_str(), "192.0.2.7", "--force"])?;
    ensure!(driver_of(vm, a)? == "ixgbe", "it was taken");
    triptych(vm, &["bind", "--force", a])?.expect_exit(0)?;
    ensure!(driver_of(vm, a)? == "vfio-pci", "it was not taken");
    triptych(vm, &["unbind", a])?.expect_exit(0)?;
    ensure!(driver_of(vm, a)? == "ixgbe", "it was not given back");
    Ok(())
}

/// Bound for a user, driven by that user, and given back.
fn bind_and_unbind_are_a_round_trip(tools: &mut Tools) -> Result<()> {
    let Tools { vm, ports } = tools;
    let [a, b] = &ports.addresses;
    vm.shell("echo 64 >/proc/sys/vm/nr_hugepages")?;
    triptych(vm, &["bind", "--user", "user", a, b])?.expect_exit(0)?;
    for implementation in Implementation::ALL {
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
    triptych(vm, &["unbind", a, b])?.expect_exit(0)?;
    for address in [a, b] {
        ensure!(
            driver_of(vm, address)? == "ixgbe",
            "{address} was not given back"
        );
    }
    Ok(())
}

fn doctor_finds_that_the_iommu_is_off(tools: &mut Tools) -> Result<()> {
    diagnosis(
        &tools.vm,
        &[
            "IOMMU",
            "off: the virtual machine has none",
            "no IOMMU group",
        ],
    )
}

fn bind_refuses_without_an_iommu(tools: &mut Tools) -> Result<()> {
    let Tools { vm, ports } = tools;
    let a = &ports.addresses[0];
    let output = triptych(vm, &["bind", a])?;
    output
        .expect_exit(1)?
        .expect_stderr([a.as_str(), "no IOMMU group", "doctor"])?;
    ensure!(driver_of(vm, a)? == "ixgbe", "it was taken");
    Ok(())
}

pub(crate) fn tests(bench: &Option<Bench>) -> Vec<Trial> {
    let with_iommu = vec![
        Test::new(
            "doctor_finds_the_kernels_driver_and_no_huge_pages",
            doctor_finds_the_kernels_driver_and_no_huge_pages,
        ),
        Test::new(
            "bind_refuses_a_port_with_an_address",
            bind_refuses_a_port_with_an_address,
        ),
        Test::new(
            "bind_and_unbind_are_a_round_trip",
            bind_and_unbind_are_a_round_trip,
        ),
    ];
    let without = vec![
        Test::new(
            "doctor_finds_that_the_iommu_is_off",
            doctor_finds_that_the_iommu_is_off,
        ),
        Test::new(
            "bind_refuses_without_an_iommu",
            bind_refuses_without_an_iommu,
        ),
    ];
    let mut tests = on_machine(bench, "tools", tools, with_iommu);
    tests.extend(on_machine(bench, "tools-no-iommu", tools_no_iommu, without));
    tests
}
