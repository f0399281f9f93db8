use super::*;
use crate::machine::host::fixture::{address, Machine, SimulatedKernel, A, B};

fn run(
    machine: &Machine,
    kernel: &SimulatedKernel<'_>,
    devices: &[&str],
) -> Result<Vec<String>, UnbindError> {
    let devices: Vec<PciAddress> = devices.iter().map(|text| address(text)).collect();
    let mut said = Vec::new();
    unbind(&machine.system(), kernel, &devices, &mut |line| {
        said.push(line);
    })?;
    Ok(said)
}

#[test]
fn ports_return_to_the_kernels_driver() {
    let machine = Machine::healthy();
    let kernel = SimulatedKernel::of(&machine);
    assert_eq!(
        run(&machine, &kernel, &[A, "03:00.1", B]).unwrap(),
        [
            "0000:03:00.0 is bound to ixgbe again",
            "0000:03:00.1 is bound to ixgbe again"
        ]
    );
    for port in [A, B] {
        assert_eq!(machine.driver(port).as_deref(), Some("ixgbe"));
        assert_eq!(machine.driver_override(port), "");
    }
    assert_eq!(machine.system().entries("/dev/vfio"), ["vfio"]);
}

#[test]
fn a_second_time_changes_nothing() {
    let machine = Machine::healthy();
    run(&machine, &SimulatedKernel::of(&machine), &[A]).unwrap();
    let kernel = SimulatedKernel::of(&machine);
    let said = run(&machine, &kernel, &[A]).unwrap();
    assert_eq!(said, ["0000:03:00.0 already has ixgbe"]);
    assert!(kernel.written.borrow().is_empty());
}

#[test]
fn a_leftover_override_is_cleared() {
    let machine = Machine::new();
    machine.nic(A, None, Some(11));
    machine.file(
        &format!("/sys/bus/pci/devices/{A}/driver_override"),
        "vfio-pci\n",
    );
    run(&machine, &SimulatedKernel::of(&machine), &[A]).unwrap();
    assert_eq!(machine.driver(A).as_deref(), Some("ixgbe"));
    assert_eq!(machine.driver_override(A), "");
}

#[test]
fn the_kernels_driver_is_loaded_where_it_is_missing() {
    let machine = Machine::healthy();
    machine.remove("/sys/bus/pci/drivers/ixgbe");
    let kernel = SimulatedKernel::of(&machine);
    run(&machine, &kernel, &[A]).unwrap();
    assert_eq!(kernel.loaded.borrow().as_slice(), ["ixgbe"]);
}

#[test]
fn a_group_in_use_is_refused_and_the_process_named() {
    let machine = Machine::healthy();
    machine.process(77, "sshd\n", &["/dev/null", "socket:[1]"]);
    machine.process(4711, "ixgbe-fwd\n", &["/dev/null", "/dev/vfio/12"]);
    machine.process(4712, "other\n", &["/dev/vfio/120"]);
    let before = machine.state();
    let kernel = SimulatedKernel::of(&machine);
    let said = run(&machine, &kernel, &[A, B]).unwrap_err().to_string();
    assert!(
        said.contains("0000:03:00.1: IOMMU group 12 is in use by process 4711 (ixgbe-fwd, of "),
        "{said}"
    );
    assert!(said.contains("`kill 4711`"), "{said}");
    assert!(
        said.starts_with("nothing was changed") && !said.contains("other"),
        "{said}"
    );
    assert!(kernel.written.borrow().is_empty());
    assert_eq!(machine.state(), before);
}

#[test]
fn a_blocked_port_does_not_delay_the_others() {
    let machine = Machine::healthy();
    // The process has closed the group's file, but not the device's.
    machine.process(4711, "odd\n", &["anon_inode:[vfio-device]"]);
    let mut kernel = SimulatedKernel::of(&machine);
    kernel.blocked = Some(format!("/sys/bus/pci/devices/{A}/driver/unbind"));
    let said = run(&machine, &kernel, &[A, B]).unwrap_err().to_string();
    assert!(said.contains("perhaps process 4711 (odd"), "{said}");
    assert!(
        said.contains("then run `sudo triptych unbind 0000:03:00.0` again"),
        "{said}"
    );
    // The other port is returned.
    assert_eq!(machine.driver(B).as_deref(), Some("ixgbe"));
}

#[test]
fn a_port_that_no_driver_takes_is_an_error() {
    let machine = Machine::healthy();
    let mut kernel = SimulatedKernel::of(&machine);
    kernel.refuses = Some((A, "ixgbe"));
    let said = run(&machine, &kernel, &[A]).unwrap_err().to_string();
    assert!(
        said.contains("no driver of the kernel took the port"),
        "{said}"
    );
    assert!(said.contains("modprobe ixgbe"), "{said}");
}

#[test]
fn other_devices_are_refused() {
    let machine = Machine::healthy();
    machine.device("0000:06:00.0", ("144d", "a808"), "010802", Some("vfio-pci"));
    let kernel = SimulatedKernel::of(&machine);
    let said = run(&machine, &kernel, &[A, "06:00.0"])
        .unwrap_err()
        .to_string();
    assert!(said.contains("storage controller"), "{said}");
    assert!(kernel.written.borrow().is_empty());
}
