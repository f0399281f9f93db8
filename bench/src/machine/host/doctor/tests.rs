use std::collections::BTreeMap;

use super::*;
use crate::machine::host::fixture::{address, Machine, A, B};
use Severity::{Problem, Warning};

fn examine_some(machine: &Machine, devices: &[&str]) -> Diagnosis {
    let devices: Vec<PciAddress> = devices.iter().map(|text| address(text)).collect();
    examine(&machine.system(), &devices).unwrap()
}

/// Checks the severity of a finding, its text and its fix.
fn expect(diagnosis: &Diagnosis, id: &str, level: Severity, found: &str, fix: &str) {
    let mut findings = diagnosis.findings.iter();
    let text = diagnosis.text();
    let finding = findings.find(|finding| finding.id == id && finding.found.contains(found));
    let finding = finding.unwrap_or_else(|| panic!("{id} does not say {found}:\n{text}"));
    assert_eq!(finding.level, level, "{text}");
    assert!(finding.fix.join("\n").contains(fix), "{fix}:\n{text}");
    assert_ne!(finding.why, "", "{id} is not in checks.toml");
    assert_eq!(diagnosis.ready, level < Problem, "{text}");
}

#[test]
fn a_healthy_machine_has_nothing_to_fix() {
    let diagnosis = examine_some(&Machine::healthy(), &[]);
    let text = diagnosis.text();
    for part in [
        "0000:03:00.0  82599ES SFI/SFP+ (X520), 8086:10fb",
        "driver vfio-pci, IOMMU group 11 (alone), NUMA node 0, PCIe 5.0 GT/s x8",
        "on: 1 unit (dmar0), 2 groups; intel_iommu=on iommu=pt",
        "ports bound to vfio-pci: 2 of 2",
        "isolated CPUs without timer tick: 6,7",
        "the clock is held at 3.3 GHz",
        "\nready for a run: 0 problems, 0 warnings\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let mut findings = diagnosis.findings.iter();
    assert!(findings.all(|finding| finding.fix.is_empty()), "{text}");
}

#[test]
fn without_a_card_the_software_card_works() {
    let machine = Machine::healthy();
    for path in [
        "/sys/bus/pci/devices/0000:03:00.0",
        "/sys/bus/pci/devices/0000:03:00.1",
        "/sys/kernel/iommu_groups",
        "/sys/bus/pci/drivers/vfio-pci",
    ] {
        machine.remove(path);
    }
    let diagnosis = examine_some(&machine, &[]);
    expect(
        &diagnosis,
        "nics",
        Severity::Ok,
        "the software card works",
        "",
    );
    expect(&diagnosis, "iommu", Warning, "off", "");
    expect(&diagnosis, "vfio_modules", Warning, "vfio-pci", "");
    assert!(diagnosis
        .verdict
        .starts_with("ready for a run with the software card"));
    let error = examine(&machine.system(), &[address("09:00.0")]).unwrap_err();
    assert!(error.to_string().contains("0000:09:00.0"), "{error}");
    machine.remove("/");
    assert!(examine_some(&machine, &[]).ready);
}

#[test]
fn only_free_ports_are_proposed() {
    let mut machine = Machine::healthy();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(12));
    let diagnosis = examine_some(&machine, &[]);
    let bind = "sudo triptych bind 0000:03:00.0 0000:03:00.1";
    expect(&diagnosis, "ports", Problem, ": 0 of 2", bind);
    assert!(diagnosis.text().contains("eth0: link at 10000 Mbit/s\n"));
    machine.nic("0000:05:00.0", None, Some(13));
    machine.ip_address("eth0", "192.0.2.7");
    let machine = machine.used_by_ada();
    let diagnosis = examine_some(&machine, &[]);
    let bind = "sudo triptych bind 0000:03:00.1 0000:05:00.0 --user ada";
    expect(&diagnosis, "ports", Problem, ": 0 of 3", bind);
    assert!(diagnosis.text().contains("carries the address 192.0.2.7"));
    // For a named port, the doctor lists its uses and proposes to take it.
    let diagnosis = examine_some(&machine, &[A]);
    let bind = "bind 0000:03:00.0 --user ada --force # if what they carry can be spared";
    expect(&diagnosis, "ports", Problem, ": 0 of 1", bind);
    let uses = "0000:03:00.0 carries the address 192.0.2.7 (eth0)";
    assert!(diagnosis.text().contains(&format!("warning  {uses}")));
}

#[test]
fn two_bound_ports_of_four_are_enough() {
    let machine = Machine::healthy();
    machine.nic("0000:05:00.0", Some("ixgbe"), Some(13));
    // A card that the drivers refuse.
    machine.device("0000:05:00.1", ("8086", "15ac"), Some("ixgbe"));
    let diagnosis = examine_some(&machine, &[]);
    expect(&diagnosis, "ports", Severity::Ok, ": 2 of 3", "");
    let refused = "0000:05:00.1 (X552 SFP+) is not supported: its EEC";
    expect(&diagnosis, "refused", Warning, refused, "lspci");
    assert!(!examine_some(&machine, &["05:00.0"]).ready);
    let diagnosis = examine_some(&machine, &[A, "05:00.1"]);
    expect(&diagnosis, "refused", Problem, refused, "lspci");
}

#[test]
fn ports_of_one_group_are_bound_together() {
    let machine = Machine::new();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(11));
    let diagnosis = examine_some(&machine, &[A]);
    let bind = "sudo triptych bind 0000:03:00.0 0000:03:00.1";
    let found = "IOMMU group 11 of 0000:03:00.0 is not viable: it also holds 0000:03:00.1";
    expect(&diagnosis, "group_viable", Problem, found, bind);
    let with = "IOMMU group 11 with 0000:03:00.1 (8086:10fb, ixgbe)";
    assert!(diagnosis.text().contains(with));
}

#[test]
fn a_group_in_use_or_without_access_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::healthy();
    machine.process(4711, "testpmd\n", &["/dev/vfio/11"]);
    let diagnosis = examine_some(&machine, &[]);
    expect(
        &diagnosis,
        "group_in_use",
        Problem,
        "process 4711 (testpmd",
        "kill 4711",
    );
    let machine = Machine::healthy().used_by_ada();
    let allow = |file: &str, mode| {
        let path = machine.path(&format!("/dev/vfio/{file}"));
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        examine_some(&machine, &[])
    };
    allow("vfio", 0o666);
    allow("12", 0o666);
    let found = "ada may not use /dev/vfio/11 of 0000:03:00.0, which belongs to";
    let bind = "sudo triptych bind 0000:03:00.0 --user ada";
    expect(&allow("11", 0o600), "group_access", Problem, found, bind);
    allow("11", 0o666);
    let found = "ada may not use /dev/vfio/vfio";
    expect(
        &allow("vfio", 0o600),
        "vfio_container",
        Problem,
        found,
        "chmod",
    );
    allow("vfio", 0o666);
    for (bytes, level, found) in [
        ("8388608", Problem, "ada may lock 8192 KiB; a run may lock"),
        ("67108864", Warning, "65536 KiB"),
        ("134217728", Severity::Ok, "131072 KiB"),
        ("unlimited", Severity::Ok, "without limit"),
    ] {
        let text = format!("Limit  Soft Limit\nMax locked memory   {bytes}  unlimited  bytes\n");
        machine.file("/proc/self/limits", &text);
        expect(&examine_some(&machine, &[]), "memlock", level, found, "");
    }
}

#[test]
fn each_fault_has_its_finding_and_its_fix() {
    type Row = (BTreeMap<String, String>, String, Severity, String, String);
    type Rows = BTreeMap<String, Vec<Row>>;
    let rows: Rows = toml::from_str(include_str!("faults.toml")).unwrap();
    for (files, id, level, found, fix) in &rows["faults"] {
        let machine = Machine::healthy();
        for (path, text) in files {
            match text.as_str() {
                "-" => machine.remove(path),
                text => machine.file(path, text),
            }
        }
        expect(&examine_some(&machine, &[]), id, *level, found, fix);
    }
}

#[test]
fn huge_pages_are_counted_on_the_cards_node_and_links_are_checked() {
    let machine = Machine::healthy();
    machine.folder("/sys/devices/system/node/node1");
    machine.nic("0000:05:00.0", Some("ixgbe"), Some(13));
    machine.file("/sys/class/net/eth0/carrier", "0\n");
    let diagnosis = examine_some(&machine, &[]);
    let found = "huge pages of 2 MiB on node 0: 0 of 0 free; a run may take 64";
    let fix = "echo 256 | sudo tee /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
    expect(&diagnosis, "huge_pages", Warning, found, fix);
    expect(
        &diagnosis,
        "link",
        Warning,
        "(eth0) has no link",
        "ethtool -m eth0",
    );
}
