use super::*;
use crate::machine::host::fixture::{address, Machine, SimulatedKernel, A, B};

fn request(devices: &[&str]) -> Request {
    Request {
        devices: devices.iter().map(|text| address(text)).collect(),
        user: None,
        force: false,
        driver: VFIO_PCI.to_owned(),
    }
}

fn ada() -> Option<Recipient> {
    Some(Recipient {
        name: "ada".to_owned(),
        uid: 54_321,
        gid: 54_321,
    })
}

fn two_free_ports() -> Machine {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(12));
    machine
}

fn run(machine: &Machine, request: &Request) -> Result<Vec<String>, BindError> {
    bind(
        &machine.system(),
        &SimulatedKernel::of(machine),
        request,
        &Interrupt::new(),
    )
}

/// The message of a refusal, after which nothing must have changed.
fn refusal(machine: &Machine, request: &Request) -> String {
    let before = machine.state();
    let kernel = SimulatedKernel::of(machine);
    let error = bind(&machine.system(), &kernel, request, &Interrupt::new()).unwrap_err();
    assert!(matches!(error, BindError::Refused(_)), "{error}");
    assert!(kernel.written.borrow().is_empty());
    assert_eq!(machine.state(), before);
    error.to_string()
}

#[test]
fn ports_are_bound_and_given_to_a_user() {
    let machine = two_free_ports();
    let kernel = SimulatedKernel::of(&machine);
    let mut wanted = request(&[A, "03:00.1", A]);
    wanted.user = ada();
    let said = bind(&machine.system(), &kernel, &wanted, &Interrupt::new()).unwrap();
    assert_eq!(
        said,
        [
            "0000:03:00.0 is bound to vfio-pci (before: ixgbe); /dev/vfio/11 belongs to ada",
            "0000:03:00.1 is bound to vfio-pci (before: ixgbe); /dev/vfio/12 belongs to ada",
        ]
    );
    for port in [A, B] {
        assert_eq!(machine.driver(port).as_deref(), Some("vfio-pci"));
        assert_eq!(machine.driver_override(port), "vfio-pci");
    }
    let given = kernel.given.borrow();
    assert_eq!(
        given.as_slice(),
        [("11".to_owned(), 54_321), ("12".to_owned(), 54_321)]
    );
}

#[test]
fn a_bound_port_is_left_alone() {
    let machine = two_free_ports();
    run(&machine, &request(&[A])).unwrap();
    let before = machine.state();
    let kernel = SimulatedKernel::of(&machine);
    let said = bind(
        &machine.system(),
        &kernel,
        &request(&[A]),
        &Interrupt::new(),
    )
    .unwrap();
    assert!(said[0].contains("already has vfio-pci"), "{said:?}");
    assert!(kernel.written.borrow().is_empty());
    assert_eq!(machine.state(), before);
}

#[test]
fn a_port_without_driver_can_be_bound() {
    let machine = Machine::new();
    machine.nic(A, None, Some(11));
    run(&machine, &request(&[A])).unwrap();
    assert_eq!(machine.driver(A).as_deref(), Some("vfio-pci"));
}

#[test]
fn the_driver_is_loaded_where_it_is_missing() {
    let machine = two_free_ports();
    machine.remove("/sys/bus/pci/drivers/vfio-pci");
    let kernel = SimulatedKernel::of(&machine);
    bind(
        &machine.system(),
        &kernel,
        &request(&[A]),
        &Interrupt::new(),
    )
    .unwrap();
    assert_eq!(kernel.loaded.borrow().as_slice(), ["vfio-pci"]);
}

#[test]
fn a_driver_that_does_not_exist_is_named() {
    let machine = two_free_ports();
    let before = machine.state();
    let mut wanted = request(&[A]);
    wanted.driver = "no-such".to_owned();
    let said = run(&machine, &wanted).unwrap_err().to_string();
    assert!(
        said.contains("no driver no-such") && said.contains("not found"),
        "{said}"
    );
    assert_eq!(machine.state(), before);
}

#[test]
fn an_address_is_refused_unless_forced() {
    let mut machine = two_free_ports();
    machine.ip_address("eth1", "192.0.2.7");
    let said = refusal(&machine, &request(&[A, B]));
    assert!(
        said.contains("0000:03:00.1 carries the address 192.0.2.7 (eth1)"),
        "{said}"
    );
    assert!(said.contains("--force") && !said.contains(A), "{said}");
    let mut forced = request(&[A, B]);
    forced.force = true;
    run(&machine, &forced).unwrap();
    assert_eq!(machine.driver(B).as_deref(), Some("vfio-pci"));
}

#[test]
fn the_default_route_is_refused() {
    let machine = two_free_ports();
    machine.file(
        "/proc/net/route",
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
         eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
         eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
    );
    let said = refusal(&machine, &request(&[A, B]));
    assert!(said.contains("carries the default route (eth0)"), "{said}");
    assert!(!said.contains("eth1"), "{said}");
}

#[test]
fn the_default_route_of_ipv6_is_refused_but_a_rejecting_route_is_not() {
    let machine = two_free_ports();
    let zero = "00000000000000000000000000000000";
    let route = |interface: &str, flags: &str| {
        format!("{zero} 00 {zero} 00 fe80000000000000000000000000000{interface} 00000400 00000001 00000000 {flags} eth{interface}\n")
    };
    machine.file(
        "/proc/net/ipv6_route",
        &(route("0", "00000003") + &route("1", "00200200")),
    );
    let said = refusal(&machine, &request(&[A, B]));
    assert!(said.contains("carries the default route (eth0)"), "{said}");
    assert!(!said.contains("eth1"), "{said}");
}

#[test]
fn members_of_bridges_and_bonds_and_vlan_parents_are_refused() {
    let machine = two_free_ports();
    machine.link("/sys/class/net/eth0/master", "../br0");
    machine.link("/sys/class/net/eth0/upper_br0", "../br0");
    machine.folder("/sys/class/net/br0/bridge");
    machine.link("/sys/class/net/eth1/upper_eth1.7", "../eth1.7");
    let said = refusal(&machine, &request(&[A, B]));
    assert!(said.contains("a place in bridge br0 (eth0)"), "{said}");
    assert!(said.contains("the interface eth1.7 (eth1)"), "{said}");
    machine.remove("/sys/class/net/br0/bridge");
    machine.folder("/sys/class/net/br0/bonding");
    let said = refusal(&machine, &request(&[A]));
    assert!(said.contains("a place in bond br0"), "{said}");
}

#[test]
fn what_a_bond_above_a_port_carries_is_named() {
    let mut machine = two_free_ports();
    machine.link("/sys/class/net/eth0/master", "../bond0");
    machine.link("/sys/class/net/eth0/upper_bond0", "../bond0");
    machine.folder("/sys/class/net/bond0/bonding");
    machine.link("/sys/class/net/bond0/upper_bond0.7", "../bond0.7");
    machine.folder("/sys/class/net/bond0.7");
    machine.ip_address("bond0.7", "192.0.2.7");
    machine.file(
        "/proc/net/tcp",
        "  sl  local_address rem_address   st\n   0: 070200C0:0016 010200C0:D431 01\n",
    );
    let said = refusal(&machine, &request(&[A]));
    assert!(
        said.contains(
            "carries a place in bond bond0 (eth0), the interface bond0.7 through bond0 (eth0), \
             the address 192.0.2.7 through bond0.7 (eth0), an SSH session through bond0.7 (eth0)"
        ),
        "{said}"
    );
}

#[test]
fn a_ring_of_stacked_interfaces_ends() {
    let machine = two_free_ports();
    machine.link("/sys/class/net/eth0/upper_a", "../a");
    machine.link("/sys/class/net/a/upper_eth0", "../eth0");
    let said = refusal(&machine, &request(&[A]));
    assert!(said.contains("the interface a (eth0)"), "{said}");
}

#[test]
fn a_card_that_the_drivers_refuse_is_refused_even_by_force() {
    let machine = two_free_ports();
    // An 82599 with CX4 ports.
    machine.device("0000:05:00.0", ("8086", "10f9"), "020000", Some("ixgbe"));
    machine.in_group("0000:05:00.0", 13);
    let mut wanted = request(&[A, "05:00.0"]);
    wanted.force = true;
    let said = refusal(&machine, &wanted);
    assert!(
        said.contains("0000:05:00.0 (82599 CX4) is not supported: its ports are CX4"),
        "{said}"
    );
}

#[test]
fn a_port_without_an_iommu_is_refused() {
    let machine = Machine::new();
    machine.nic(A, Some("vfio-pci"), Some(0));
    machine.file("/sys/kernel/iommu_groups/0/name", "vfio-noiommu\n");
    let said = refusal(&machine, &request(&[A]));
    assert!(said.contains("no IOMMU group"), "{said}");
}

#[test]
fn virtual_functions_and_other_namespaces_are_refused() {
    let machine = two_free_ports();
    machine.file(&format!("/sys/bus/pci/devices/{A}/sriov_numvfs"), "4\n");
    machine.remove(&format!("/sys/bus/pci/devices/{B}/net"));
    let said = refusal(&machine, &request(&[A, B]));
    assert!(said.contains("4 virtual functions"), "{said}");
    assert!(said.contains("another network namespace"), "{said}");
}

#[test]
fn a_group_that_would_not_be_viable_is_refused() {
    let machine = two_free_ports();
    machine.device("0000:03:00.2", ("1af4", "1042"), "010000", Some("nvme"));
    machine.in_group("0000:03:00.2", 11);
    // Bridges and devices without driver do not matter.
    machine.device("0000:00:01.0", ("8086", "1901"), "060400", Some("pcieport"));
    machine.in_group("0000:00:01.0", 11);
    machine.device("0000:03:00.3", ("1af4", "1042"), "010000", None);
    machine.in_group("0000:03:00.3", 11);
    let said = refusal(&machine, &request(&[A]));
    assert!(
        said.contains(
            "0000:03:00.0 shares IOMMU group 11 with 0000:03:00.2 (1af4:1042, nvme), so VFIO"
        ),
        "{said}"
    );
    assert!(
        said.contains(
            "`echo 0000:03:00.2 | sudo tee /sys/bus/pci/devices/0000:03:00.2/driver/unbind`"
        ),
        "{said}"
    );
    let mut forced = request(&[A]);
    forced.force = true;
    refusal(&machine, &forced);
}

#[test]
fn two_ports_of_a_group_are_bound_together() {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(11));
    let said = refusal(&machine, &request(&[A]));
    assert!(
        said.contains("`sudo triptych bind 0000:03:00.0 0000:03:00.1`"),
        "{said}"
    );
    run(&machine, &request(&[A, B])).unwrap();
}

#[test]
fn without_an_iommu_nothing_is_bound() {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), None);
    let said = refusal(&machine, &request(&[A]));
    assert!(
        said.contains("no IOMMU group") && said.contains("triptych doctor 0000:03:00.0"),
        "{said}"
    );
}

#[test]
fn other_devices_are_refused_and_each_is_named() {
    let machine = two_free_ports();
    machine.device("0000:05:00.0", ("8086", "1572"), "020000", Some("i40e"));
    machine.device("0000:06:00.0", ("144d", "a808"), "010802", Some("nvme"));
    // The device number of an 82599, but another vendor.
    machine.device("0000:07:00.0", ("1234", "10fb"), "020000", None);
    let said = refusal(
        &machine,
        &request(&[A, "05:00.0", "06:00.0", "07:00.0", "08:00.0"]),
    );
    for part in [
        "0000:05:00.0: 8086:1572 is another network card, not a card of the ixgbe family",
        "0000:06:00.0: 144d:a808 is a storage controller",
        "0000:07:00.0: 1234:10fb is another network card",
        "0000:08:00.0: no such PCI device; this machine has these ports: 0000:03:00.0, 0000:03:00.1",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_failure_undoes_everything() {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, None, Some(12));
    machine.file(
        &format!("/sys/bus/pci/devices/{B}/driver_override"),
        "pci-stub\n",
    );
    let before = machine.state();
    let device = format!("/sys/bus/pci/devices/{B}");
    for (refuses, broken) in [
        (Some((B, "vfio-pci")), None),
        (None, Some(format!("{device}/driver_override"))),
        (None, Some("/sys/bus/pci/drivers_probe".to_owned())),
        (
            None,
            Some(format!("/sys/bus/pci/devices/{A}/driver/unbind")),
        ),
    ] {
        let mut kernel = SimulatedKernel::of(&machine);
        kernel.refuses = refuses;
        kernel.broken = broken.clone();
        let mut wanted = request(&[A, B]);
        wanted.user = ada();
        let error = bind(&machine.system(), &kernel, &wanted, &Interrupt::new()).unwrap_err();
        let said = error.to_string();
        // A file that stays broken keeps `bind` from undoing the change.
        let undone = said.contains("all changes were undone");
        let unfinished = said.contains("some changes could not be undone");
        assert!(undone != unfinished, "{said}");
        if !unfinished {
            assert_eq!(machine.state(), before, "{broken:?}: {said}");
        }
        // For the next round.
        let kernel = SimulatedKernel::of(&machine);
        for port in [A, B] {
            if machine.driver(port).as_deref() == Some("vfio-pci") {
                let path = machine.path(&format!("/sys/bus/pci/devices/{port}/driver/unbind"));
                kernel.write(&path, port).unwrap();
            }
        }
        machine.nic(A, Some("ixgbe"), Some(11));
        machine.file(&format!("{device}/driver_override"), "pci-stub\n");
        assert_eq!(machine.state(), before);
    }
}

#[test]
fn a_driver_that_refuses_a_port_is_named_and_files_return_to_their_owner() {
    let machine = two_free_ports();
    let before = machine.state();
    let mut kernel = SimulatedKernel::of(&machine);
    kernel.refuses = Some((B, "vfio-pci"));
    let mut wanted = request(&[A, B]);
    wanted.user = ada();
    let said = bind(&machine.system(), &kernel, &wanted, &Interrupt::new())
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "0000:03:00.1: vfio-pci did not take the port (it has no driver); `sudo dmesg | tail` may \
         say why; all changes were undone"
    );
    assert_eq!(machine.state(), before);
    let given = kernel.given.borrow();
    let before_that = rustix::process::geteuid().as_raw();
    assert_eq!(
        given.as_slice(),
        [("11".to_owned(), 54_321), ("11".to_owned(), before_that)]
    );
}

#[test]
fn an_interrupt_undoes_everything() {
    let machine = two_free_ports();
    let before = machine.state();
    let interrupt = Interrupt::new();
    interrupt.set();
    let kernel = SimulatedKernel::of(&machine);
    let error = bind(&machine.system(), &kernel, &request(&[A, B]), &interrupt).unwrap_err();
    assert!(error.to_string().contains("interrupted"), "{error}");
    assert_eq!(machine.state(), before);
}

#[test]
fn users_are_found_by_name_and_number() {
    assert_eq!(Recipient::named("root").unwrap().uid, 0);
    assert_eq!(Recipient::named("54321").unwrap().uid, 54_321);
    let error = Recipient::named("no such user").unwrap_err();
    assert!(error.to_string().contains("no such user"), "{error}");
}
