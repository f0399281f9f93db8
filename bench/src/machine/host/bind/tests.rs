use super::*;
use crate::machine::host::fixture::{address, Machine, SimulatedKernel, A, B};

fn addresses(devices: &[&str]) -> Vec<PciAddress> {
    devices.iter().map(|text| address(text)).collect()
}

fn request(devices: &[&str], force: bool) -> Request {
    Request {
        devices: addresses(devices),
        user: None,
        force,
        driver: VFIO_PCI.to_owned(),
    }
}

fn two_free_ports() -> Machine {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(12));
    machine
}

fn try_bind(kernel: &SimulatedKernel<'_>, request: &Request) -> Result<Vec<String>> {
    let interrupt = Interrupt::new();
    if kernel.interrupted {
        interrupt.set();
    }
    bind(&kernel.machine.system(), kernel, request, &interrupt)
}

fn try_undo(kernel: &SimulatedKernel<'_>, devices: &[&str]) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let mut say = |line| said.push(line);
    undo(
        &kernel.machine.system(),
        kernel,
        &addresses(devices),
        &mut say,
    )?;
    Ok(said)
}

/// Checks that a request is refused with these words, and that nothing changes.
fn expect_refusal(machine: &Machine, request: &Request, parts: &[&str]) {
    let kernel = SimulatedKernel::of(machine);
    let said = try_bind(&kernel, request).unwrap_err().to_string();
    assert!(said.starts_with("nothing was changed"), "{said}");
    for part in parts {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    assert!(kernel.commands.borrow().is_empty());
}

#[test]
fn ports_are_bound_given_to_a_user_and_returned() {
    let machine = two_free_ports();
    machine.remove("/sys/bus/pci/drivers/vfio-pci");
    let before = machine.state();
    let kernel = SimulatedKernel::of(&machine);
    let mut wanted = request(&[A, "03:00.1", A], false);
    wanted.user = Some("root".to_owned());
    let said = try_bind(&kernel, &wanted).unwrap().join("\n");
    assert_eq!(
        said,
        "0000:03:00.0 is bound to vfio-pci (before: ixgbe); /dev/vfio/11 belongs to root\n\
         0000:03:00.1 is bound to vfio-pci (before: ixgbe); /dev/vfio/12 belongs to root"
    );
    assert_eq!(
        kernel.commands.borrow()[..6].join("\n"),
        "modprobe vfio-pci\n\
         tee /sys/bus/pci/devices/0000:03:00.0/driver_override vfio-pci\n\
         tee /sys/bus/pci/devices/0000:03:00.0/driver/unbind 0000:03:00.0\n\
         tee /sys/bus/pci/drivers_probe 0000:03:00.0\n\
         udevadm settle --timeout=5\n\
         chown 0:0 /dev/vfio/11"
    );
    let again = SimulatedKernel::of(&machine);
    let said = try_bind(&again, &request(&[A], false)).unwrap().concat();
    assert!(
        said.starts_with("0000:03:00.0 already has vfio-pci; only root may use"),
        "{said}"
    );
    assert!(again.commands.borrow().is_empty());

    machine.remove("/sys/bus/pci/drivers/ixgbe");
    let said = try_undo(&kernel, &[A, B]).unwrap();
    assert_eq!(said[1], "0000:03:00.1 is bound to ixgbe again");
    assert_eq!(machine.state(), before);
    assert!(kernel
        .commands
        .borrow()
        .contains(&"modprobe ixgbe".to_owned()));
    assert_eq!(
        try_undo(&again, &[A]).unwrap(),
        ["0000:03:00.0 already has ixgbe"]
    );
    assert!(again.commands.borrow().is_empty());
    // A leftover override is cleared.
    machine.nic(A, None, Some(11));
    machine.file(
        &format!("/sys/bus/pci/devices/{A}/driver_override"),
        "vfio-pci\n",
    );
    try_undo(&again, &[A]).unwrap();
    assert_eq!(machine.state(), before);
}

#[test]
fn a_port_in_use_is_refused_unless_forced() {
    let mut machine = two_free_ports();
    machine.link("/sys/class/net/eth0/master", "../bond0");
    machine.link("/sys/class/net/eth0/upper_bond0", "../bond0");
    machine.folder("/sys/class/net/bond0/bonding");
    machine.link("/sys/class/net/bond0/upper_bond0.7", "../bond0.7");
    // A ring of stacked interfaces ends.
    machine.link("/sys/class/net/bond0.7/upper_eth0", "../eth0");
    machine.ip_address("bond0.7", "192.0.2.7");
    machine.ip_address("eth1", "2001:db8::1");
    machine.nic("0000:05:00.0", Some("ixgbe"), Some(13));
    machine.remove("/sys/bus/pci/devices/0000:05:00.0/net");
    machine.file("/sys/bus/pci/devices/0000:05:00.0/sriov_numvfs", "4\n");
    machine.file(
        "/proc/net/tcp",
        " sl  local\n 0: 070200C0:0016 010200C0:D431 01\n",
    );
    let zero = "00000000000000000000000000000000";
    // A route that rejects does not matter.
    let routes = format!(
        "{zero} 00 {zero} 00 {zero} 00000400 00000001 00000000 00000003 eth1\n\
         {zero} 00 {zero} 00 {zero} 00000400 00000001 00000000 00200200 eth0\n"
    );
    machine.file("/proc/net/ipv6_route", &routes);
    machine.file(
        "/proc/net/route",
        "Iface Destination Gateway Flags RefCnt Use Metric Mask\n\
         bond0 00000000 010200C0 0003 0 0 0 00000000\n\
         eth0 000200C0 00000000 0001 0 0 0 00FFFFFF\n",
    );
    let parts = [
        "0000:03:00.0 carries a place in bond bond0 (eth0), the default route through bond0 (eth0), \
         the interface bond0.7 through bond0 (eth0), the address 192.0.2.7 through bond0.7 (eth0), \
         an SSH session through bond0.7 (eth0)",
        "0000:03:00.1 carries the address 2001:db8::1 (eth1), the default route (eth1); --force",
        "0000:05:00.0 carries 4 virtual functions, an interface in another network namespace",
    ];
    expect_refusal(&machine, &request(&[A, B, "05:00.0"], false), &parts);
    try_bind(&SimulatedKernel::of(&machine), &request(&[A, B], true)).unwrap();
    assert_eq!(machine.driver(B).as_deref(), Some("vfio-pci"));
}

#[test]
fn what_cannot_be_driven_is_refused_even_by_force() {
    let machine = two_free_ports();
    for (device, vendor, number, driver, group) in [
        ("0000:05:00.0", "8086", "10f9", "ixgbe", 13),
        ("0000:05:00.1", "8086", "1572", "i40e", 14),
        ("0000:07:00.0", "1234", "10fb", "other", 15),
        ("0000:08:00.0", "8086", "10fb", "vfio-pci", 0),
        ("0000:08:00.1", "8086", "10fb", "ixgbe", 16),
        ("0000:08:00.2", "8086", "10fb", "ixgbe", 17),
        ("0000:08:00.3", "8086", "10fb", "ixgbe", 17),
        // Bridges do not matter in a group.
        ("0000:09:00.0", "144d", "a808", "nvme", 16),
        ("0000:09:00.1", "8086", "1901", "pcieport", 16),
    ] {
        machine.device(device, (vendor, number), Some(driver));
        machine.in_group(device, group);
    }
    machine.file("/sys/kernel/iommu_groups/0/name", "vfio-noiommu\n");
    machine.nic("0000:06:00.0", None, None);
    let devices = [
        "05:00.0", "05:00.1", "06:00.0", "07:00.0", "08:00.0", "08:00.1", "08:00.2", "0a:00.0",
    ];
    let parts = [
        "0000:05:00.0 (82599 CX4) is not supported: its ports",
        "0000:05:00.1: 8086:1572 is not a card of the ixgbe family",
        "0000:06:00.0 is in no IOMMU group, because the IOMMU is off; `triptych doctor",
        "0000:07:00.0: 1234:10fb is not a card of the ixgbe family",
        "0000:08:00.0 is in no IOMMU group",
        "IOMMU group 16 of 0000:08:00.1 is not viable: it also holds 0000:09:00.0 (144d:a808, nvme), so",
        "`echo 0000:09:00.0 | sudo tee /sys/bus/pci/devices/0000:09:00.0/driver/unbind`",
        "`sudo triptych bind 0000:08:00.2 0000:08:00.3`",
        "0000:0a:00.0: no such PCI device; this machine has these ports: 0000:03:00.0,",
    ];
    expect_refusal(&machine, &request(&devices, true), &parts);
    let together = request(&["08:00.2", "08:00.3"], true);
    try_bind(&SimulatedKernel::of(&machine), &together).unwrap();
}

#[test]
fn after_a_failure_or_an_interrupt_nothing_has_changed() {
    let undone = "all changes were undone";
    for (what, at, cause) in [
        (
            "refuse",
            VFIO_PCI,
            "did not take the port (it has no driver)",
        ),
        ("interrupt", "", "interrupted; all changes were"),
        ("break", "/dev/vfio/12", "/dev/vfio/12: No such device; all"),
        (
            "driver",
            "no-such",
            "no driver no-such; nothing was changed",
        ),
        ("user", "no such", "there is no user \"no such\""),
    ] {
        let machine = two_free_ports();
        let before = machine.state();
        let mut kernel = SimulatedKernel::of(&machine);
        let mut wanted = request(&[A, B], false);
        wanted.user = (what == "break").then(|| "root".to_owned());
        match what {
            "refuse" => kernel.refuses = Some((B, at)),
            "interrupt" => kernel.interrupted = true,
            "break" => kernel.broken = at.to_owned(),
            "driver" => wanted.driver = at.to_owned(),
            _ => wanted.user = Some(at.to_owned()),
        }
        let said = try_bind(&kernel, &wanted).unwrap_err().to_string();
        assert!(said.contains(cause), "{said}");
        assert_eq!(machine.state(), before, "{said}");
        assert_eq!(said.contains(undone), said.contains("0000"), "{said}");
    }
    let machine = two_free_ports();
    let mut kernel = SimulatedKernel::of(&machine);
    kernel.broken = format!("/sys/bus/pci/devices/{B}/driver_override");
    let said = try_bind(&kernel, &request(&[A, B], false))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("No such device; some changes could not be undone:\n  "),
        "{said}"
    );
}

#[test]
fn a_port_is_not_returned_while_a_process_drives_it() {
    let machine = Machine::healthy();
    machine.process(77, "sshd\n", &["/dev/null", "socket:[1]"]);
    machine.process(4711, "ixgbe-fwd\n", &["/dev/null", "/dev/vfio/12"]);
    machine.process(4712, "other\n", &["/dev/vfio/120"]);
    let kernel = SimulatedKernel::of(&machine);
    let said = try_undo(&kernel, &[A, B]).unwrap_err().to_string();
    assert!(
        said.starts_with("nothing was changed") && !said.contains("other"),
        "{said}"
    );
    let part = "0000:03:00.1: IOMMU group 12 is in use by process 4711 (ixgbe-fwd, of ";
    assert!(
        said.contains(part) && said.contains("`kill 4711`"),
        "{said}"
    );
    assert!(kernel.commands.borrow().is_empty());
}

#[test]
fn a_port_that_fails_does_not_delay_the_others() {
    let unbind = format!("/sys/bus/pci/devices/{A}/driver/unbind");
    for (refuses, broken, part) in [
        // The process has closed the group's file, but not the device's.
        (None, unbind.as_str(), "open (process 4711 (odd"),
        (Some((A, "ixgbe")), "", "no driver of the kernel took"),
    ] {
        let machine = Machine::healthy();
        machine.process(4711, "odd\n", &["anon_inode:[vfio-device]"]);
        let mut kernel = SimulatedKernel::of(&machine);
        (kernel.refuses, kernel.broken) = (refuses, broken.to_owned());
        let said = try_undo(&kernel, &[A, B]).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
        assert_eq!(machine.driver(B).as_deref(), Some("ixgbe"));
    }
}
