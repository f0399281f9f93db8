use super::*;
use crate::machine::host::fixture::{address, Machine, A, B};

const CPUS: &str = "/sys/devices/system/cpu";

fn examine_all(machine: &Machine) -> Diagnosis {
    examine(&machine.system(), &[]).unwrap()
}

fn examine_some(machine: &Machine, devices: &[&str]) -> Diagnosis {
    let devices: Vec<PciAddress> = devices.iter().map(|text| address(text)).collect();
    examine(&machine.system(), &devices).unwrap()
}

fn finding<'a>(diagnosis: &'a Diagnosis, id: &str) -> &'a Finding {
    let found = diagnosis.findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}:\n{}", diagnosis.text()))
}

/// Checks the severity of a finding, and that its text contains `text`.
fn expect(diagnosis: &Diagnosis, id: &str, level: Severity, text: &str) {
    let finding = finding(diagnosis, id);
    assert_eq!(finding.level, level, "{}", diagnosis.text());
    assert!(finding.found.contains(text), "{}", finding.found);
    assert!(!finding.why.is_empty());
    assert_eq!(diagnosis.ready, level < Severity::Problem);
}

/// Checks that a finding proposes a command.
fn expect_fix(diagnosis: &Diagnosis, id: &str, command: &str) {
    let finding = finding(diagnosis, id);
    assert!(
        finding.fix.iter().any(|fix| fix == command),
        "{:#?}",
        finding.fix
    );
}

#[test]
fn a_healthy_machine_has_nothing_to_fix() {
    let diagnosis = examine_all(&Machine::healthy());
    assert!(
        diagnosis
            .findings
            .iter()
            .all(|finding| finding.level == Severity::Ok && finding.fix.is_empty()),
        "{}",
        diagnosis.text()
    );
    assert!(diagnosis.ready);
    assert_eq!(diagnosis.verdict, "ready for a run: 0 problems, 0 warnings");
    let text = diagnosis.text();
    for part in [
        "0000:03:00.0  82599ES SFI/SFP+ (X520), 8086:10fb",
        "driver vfio-pci, IOMMU group 11 (alone), NUMA node 0, PCIe 5.0 GT/s x8",
        "on: 1 unit (dmar0), 2 groups; intel_iommu=on iommu=pt",
        "ports bound to vfio-pci: 2 of 2",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_doctor_changes_nothing() {
    fn everything(folder: &std::path::Path) -> Vec<String> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            all.push(format!("{path:?} {:?}", metadata.modified().unwrap()));
            if metadata.is_dir() {
                all.extend(everything(&path));
            }
        }
        all.sort();
        all
    }
    let machine = Machine::healthy();
    let before = everything(&machine.path("/"));
    examine_all(&machine);
    assert_eq!(everything(&machine.path("/")), before);
}

#[test]
fn without_a_card_the_software_card_works() {
    let machine = Machine::healthy();
    for port in [A, B] {
        machine.remove(&format!("/sys/bus/pci/devices/{port}"));
    }
    machine.remove("/sys/kernel/iommu_groups");
    machine.remove("/sys/bus/pci/drivers/vfio-pci");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "nics",
        Severity::Ok,
        "no NIC that the drivers support; the software card works",
    );
    expect(&diagnosis, "iommu", Severity::Warning, "off");
    expect(&diagnosis, "vfio_modules", Severity::Warning, "vfio-pci");
    assert!(diagnosis
        .verdict
        .starts_with("ready for a run with the software card"));
}

#[test]
fn an_empty_root_folder_is_no_problem() {
    let folder = tempfile::tempdir().unwrap();
    let user = crate::machine::host::system::User {
        uid: 1,
        gids: vec![1],
        name: "ada".to_owned(),
    };
    let system = System::below(folder.path(), user, Default::default());
    let diagnosis = examine(&system, &[]).unwrap();
    assert!(diagnosis.ready, "{}", diagnosis.text());
}

#[test]
fn a_named_port_that_does_not_exist_is_an_error() {
    let machine = Machine::healthy();
    let error = examine(&machine.system(), &[address("09:00.0")]).unwrap_err();
    assert!(error.to_string().contains("0000:09:00.0"), "{error}");
}

#[test]
fn unbound_ports_are_a_problem_and_only_free_ones_are_proposed() {
    let mut machine = Machine::healthy();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(12));
    let diagnosis = examine_all(&machine);
    expect(&diagnosis, "ports", Severity::Problem, ": 0 of 2");
    expect_fix(
        &diagnosis,
        "ports",
        "sudo triptych bind 0000:03:00.0 0000:03:00.1",
    );
    assert!(diagnosis.text().contains("eth0: link at 10000 Mbit/s\n"));
    machine.nic("0000:05:00.0", None, Some(13));
    machine.ip_address("eth0", "192.0.2.7");
    let machine = machine.used_by_ada();
    let diagnosis = examine_all(&machine);
    expect_fix(
        &diagnosis,
        "ports",
        "sudo triptych bind 0000:03:00.1 0000:05:00.0 --user ada",
    );
    assert!(
        diagnosis.text().contains("carries the address 192.0.2.7"),
        "{}",
        diagnosis.text()
    );
    // For a named port, the doctor lists its uses and proposes to take it.
    let diagnosis = examine_some(&machine, &[A]);
    expect(&diagnosis, "ports", Severity::Problem, ": 0 of 1");
    assert_eq!(finding(&diagnosis, "in_use").level, Severity::Warning);
    expect_fix(
        &diagnosis,
        "ports",
        "sudo triptych bind 0000:03:00.0 --user ada --force # if what they carry can be spared",
    );
}

#[test]
fn two_bound_ports_of_four_are_enough() {
    let machine = Machine::healthy();
    machine.nic("0000:05:00.0", Some("ixgbe"), Some(13));
    machine.nic("0000:05:00.1", Some("ixgbe"), Some(14));
    assert!(examine_all(&machine).ready);
    assert!(!examine_some(&machine, &["05:00.0"]).ready);
}

#[test]
fn pcie_links_and_numa_nodes_are_checked() {
    let machine = Machine::healthy();
    machine.file(
        &format!("/sys/bus/pci/devices/{A}/current_link_width"),
        "4\n",
    );
    machine.file(&format!("/sys/bus/pci/devices/{B}/numa_node"), "1\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "pcie",
        Severity::Warning,
        "0000:03:00.0 runs at PCIe 5.0 GT/s x4 (16 Gbit/s), but supports 5.0 GT/s x8",
    );
    expect(&diagnosis, "numa", Severity::Warning, "NUMA nodes 0, 1");
}

#[test]
fn a_port_without_link_is_a_warning() {
    let machine = Machine::healthy();
    machine.nic("0000:05:00.0", Some("ixgbe"), Some(13));
    machine.file("/sys/class/net/eth0/carrier", "0\n");
    machine.file("/sys/class/net/eth0/speed", "-1\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "link",
        Severity::Warning,
        "0000:05:00.0 (eth0) has no link",
    );
}

#[test]
fn each_cause_of_an_iommu_that_is_off_has_its_fix() {
    let machine = Machine::healthy();
    machine.remove("/sys/kernel/iommu_groups");
    machine.remove(&format!("/sys/bus/pci/devices/{A}/iommu_group"));
    machine.file("/proc/cmdline", "quiet");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "iommu",
        Severity::Problem,
        "firmware offers none",
    );
    expect_fix(
        &diagnosis,
        "iommu",
        "sudo systemctl reboot --firmware-setup",
    );
    machine.file("/sys/firmware/acpi/tables/DMAR", "");
    let diagnosis = examine_all(&machine);
    expect(&diagnosis, "iommu", Severity::Problem, "does not use");
    expect_fix(
        &diagnosis,
        "iommu",
        "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&intel_iommu=on /' /etc/default/grub && \
         sudo update-grub && sudo reboot",
    );
    machine.file("/proc/cmdline", "quiet intel_iommu=off");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "iommu",
        Severity::Problem,
        "switched off on the kernel's command line; intel_iommu=off",
    );
    assert!(finding(&diagnosis, "iommu").fix[0].contains("s/intel_iommu=off//"));
    machine.file("/proc/cmdline", "quiet");
    machine.remove("/sys/firmware/acpi/tables/DMAR");
    machine.file("/proc/cpuinfo", "flags : fpu hypervisor sse2\n");
    expect(
        &examine_all(&machine),
        "iommu",
        Severity::Problem,
        "the virtual machine has none",
    );
}

#[test]
fn interrupts_must_be_remapped() {
    let machine = Machine::healthy();
    machine.file("/proc/interrupts", " 24: 0 PCI-MSI 1-edge nvme0\n");
    expect(
        &examine_all(&machine),
        "interrupt_remapping",
        Severity::Problem,
        "not remapped",
    );
    machine.file("/proc/cmdline", "intel_iommu=on intremap=off");
    let diagnosis = examine_all(&machine);
    assert!(finding(&diagnosis, "interrupt_remapping").fix[0].contains("intremap=off"));
    machine.file(
        "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
        "Y\n",
    );
    expect(
        &examine_all(&machine),
        "interrupt_remapping",
        Severity::Warning,
        "is set to allow that",
    );
}

#[test]
fn a_group_that_is_not_viable_is_a_problem() {
    let machine = Machine::healthy();
    machine.device("0000:03:00.2", ("144d", "a808"), "010802", Some("nvme"));
    machine.in_group("0000:03:00.2", 11);
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "group_viable",
        Severity::Problem,
        "IOMMU group 11 of 0000:03:00.0 is not viable: it also holds 0000:03:00.2 (144d:a808, nvme)",
    );
    expect_fix(
        &diagnosis,
        "group_viable",
        "echo 0000:03:00.2 | sudo tee /sys/bus/pci/devices/0000:03:00.2/driver/unbind",
    );
    assert!(diagnosis
        .text()
        .contains("IOMMU group 11 with 0000:03:00.2 (nvme)"));
}

#[test]
fn ports_of_one_group_are_bound_together() {
    let machine = Machine::new();
    machine.nic(A, Some("vfio-pci"), Some(11));
    machine.nic(B, Some("ixgbe"), Some(11));
    let diagnosis = examine_some(&machine, &[A]);
    expect_fix(
        &diagnosis,
        "group_viable",
        "sudo triptych bind 0000:03:00.1",
    );
}

#[test]
fn modules_and_files_of_vfio_are_checked() {
    let machine = Machine::healthy();
    machine.remove("/sys/module/vfio_iommu_type1");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "vfio_modules",
        Severity::Problem,
        "not loaded: vfio_iommu_type1",
    );
    expect_fix(
        &diagnosis,
        "vfio_modules",
        "sudo modprobe -a vfio_iommu_type1",
    );

    let machine = Machine::healthy();
    machine.remove("/dev/vfio/11");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "group_access",
        Severity::Problem,
        "/dev/vfio/11 of 0000:03:00.0 is missing",
    );
}

#[test]
fn a_user_without_access_gets_the_command_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::healthy().used_by_ada();
    machine.file(
        "/proc/self/limits",
        "Max locked memory  unlimited unlimited bytes\n",
    );
    for (file, mode) in [("vfio", 0o666), ("11", 0o600), ("12", 0o666)] {
        let path = machine.path(&format!("/dev/vfio/{file}"));
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "group_access",
        Severity::Problem,
        "ada may not use /dev/vfio/11 of 0000:03:00.0, which belongs to",
    );
    expect_fix(
        &diagnosis,
        "group_access",
        "sudo triptych bind 0000:03:00.0 --user ada",
    );
    let path = machine.path("/dev/vfio/vfio");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
    expect(
        &examine_all(&machine),
        "vfio_container",
        Severity::Problem,
        "ada may not use /dev/vfio/vfio",
    );
}

#[test]
fn a_group_in_use_is_a_problem() {
    let machine = Machine::healthy();
    machine.process(4711, "testpmd\n", &["/dev/vfio/11"]);
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "group_in_use",
        Severity::Problem,
        "process 4711 (testpmd",
    );
    expect_fix(&diagnosis, "group_in_use", "kill 4711");
}

#[test]
fn huge_pages_are_counted_on_the_cards_node() {
    let machine = Machine::healthy();
    machine.huge_pages("/sys/kernel/mm", 3, 256);
    let diagnosis = examine_all(&machine);
    expect(&diagnosis, "huge_pages", Severity::Warning, "3 of 256 free");
    expect_fix(&diagnosis, "huge_pages", "make hugepages");
    // All on the wrong node.
    machine.huge_pages("/sys/kernel/mm", 256, 256);
    machine.huge_pages("/sys/devices/system/node/node0", 0, 0);
    machine.huge_pages("/sys/devices/system/node/node1", 256, 256);
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "huge_pages",
        Severity::Warning,
        "node 0: 0 of 0 free, node 1: 256 of 256 free; fewer than 64 on the card's node 0",
    );
    expect_fix(
        &diagnosis,
        "huge_pages",
        "echo 256 | sudo tee \
         /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
    );
}

#[test]
fn the_memlock_limit_is_checked() {
    let machine = Machine::healthy().used_by_ada();
    for (file, mode) in [("vfio", 0o666), ("11", 0o666), ("12", 0o666)] {
        use std::os::unix::fs::PermissionsExt;
        let path = machine.path(&format!("/dev/vfio/{file}"));
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let limits = |bytes: &str| {
        let text = format!(
            "Limit      Soft Limit  Hard Limit  Units\nMax locked memory     {bytes}   unlimited  bytes\n"
        );
        machine.file("/proc/self/limits", &text);
        examine_all(&machine)
    };
    expect(
        &limits("8388608"),
        "memlock",
        Severity::Problem,
        "ada may lock 8192 KiB; a run may lock 131072 KiB",
    );
    expect(
        &limits("67108864"),
        "memlock",
        Severity::Warning,
        "65536 KiB",
    );
    expect(&limits("134217728"), "memlock", Severity::Ok, "131072 KiB");
    expect(
        &limits("unlimited"),
        "memlock",
        Severity::Ok,
        "without limit",
    );
    expect_fix(
        &limits("65536"),
        "memlock",
        "sudo prlimit --pid $$ --memlock=unlimited # this shell",
    );
}

#[test]
fn varying_clocks_are_warnings() {
    let machine = Machine::healthy();
    for cpu in [1, 2] {
        machine.file(
            &format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"),
            "powersave\n",
        );
    }
    machine.file(&format!("{CPUS}/intel_pstate/no_turbo"), "0\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "governor",
        Severity::Warning,
        "performance (CPU 0,3-7), powersave (CPU 1-2)",
    );
    expect(&diagnosis, "turbo", Severity::Warning, "on");
    expect_fix(
        &diagnosis,
        "turbo",
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
    );
    // AMD and other clock drivers.
    machine.remove(&format!("{CPUS}/intel_pstate"));
    machine.file(&format!("{CPUS}/cpufreq/boost"), "1\n");
    expect_fix(
        &examine_all(&machine),
        "turbo",
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
    );
}

#[test]
fn isolated_cpus_are_counted_on_the_cards_node() {
    let machine = Machine::healthy();
    machine.file(&format!("{CPUS}/nohz_full"), "(null)\n");
    expect(
        &examine_all(&machine),
        "isolation",
        Severity::Warning,
        "isolated CPUs 6-7 still get the kernel's timer tick",
    );
    machine.file(&format!("{CPUS}/isolated"), "\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "isolation",
        Severity::Warning,
        "no isolated CPUs",
    );
    assert!(finding(&diagnosis, "isolation").fix[0]
        .contains("&isolcpus=6-7 nohz_full=6-7 rcu_nocbs=6-7 /'"));
    // On the wrong node.
    machine.file(&format!("{CPUS}/isolated"), "6-7\n");
    machine.file("/sys/devices/system/node/node0/cpulist", "0-3\n");
    machine.file("/sys/devices/system/node/node1/cpulist", "4-7\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "isolation",
        Severity::Warning,
        "isolated CPUs 6-7 are not on the card's node 0 (node 0: CPU 0-3; node 1: CPU 4-7)",
    );
    assert!(finding(&diagnosis, "isolation").fix[0].contains("isolcpus=2-3"));
}

#[test]
fn multithreading_is_a_warning() {
    let machine = Machine::healthy();
    machine.file(&format!("{CPUS}/smt/active"), "1\n");
    let diagnosis = examine_all(&machine);
    expect(&diagnosis, "smt", Severity::Warning, "multithreading is on");
    expect_fix(
        &diagnosis,
        "smt",
        "echo off | sudo tee /sys/devices/system/cpu/smt/control",
    );
}

#[test]
fn hardware_counters_are_checked() {
    let machine = Machine::healthy();
    machine.file("/proc/sys/kernel/nmi_watchdog", "1\n");
    machine.file("/proc/sys/kernel/perf_event_paranoid", "3\n");
    let diagnosis = examine_all(&machine);
    expect(&diagnosis, "nmi_watchdog", Severity::Warning, "is on");
    expect(&diagnosis, "perf_event_paranoid", Severity::Ok, "root may");
    let machine = machine.used_by_ada();
    let diagnosis = examine_all(&machine);
    let finding = finding(&diagnosis, "perf_event_paranoid");
    assert_eq!(finding.level, Severity::Warning);
    assert_eq!(finding.fix, ["sudo sysctl kernel.perf_event_paranoid=2"]);
    machine.remove("/sys/bus/event_source/devices/cpu");
    let diagnosis = examine_all(&machine);
    assert!(diagnosis
        .findings
        .iter()
        .any(|finding| finding.id == "pmu" && finding.level == Severity::Warning));
}

#[test]
fn the_findings_are_there_for_programs_too() {
    let value = serde_json::to_value(examine_all(&Machine::healthy())).unwrap();
    assert_eq!(value["ready"], true);
    assert_eq!(value["nics"][0]["address"], A);
    assert_eq!(value["nics"][0]["group"]["number"], 11);
    assert_eq!(value["findings"][0]["id"], "ports");
    assert_eq!(value["findings"][0]["level"], "ok");
}

#[test]
fn memory_that_the_firmware_keeps_is_a_problem() {
    let machine = Machine::healthy();
    machine.file(
        "/sys/kernel/iommu_groups/11/reserved_regions",
        "0x00000000bdf83000 0x00000000bdf84fff direct\n\
         0x00000000fee00000 0x00000000feefffff msi\n",
    );
    machine.file("/sys/class/dmi/id/sys_vendor", "HP\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "rmrr",
        Severity::Problem,
        "the firmware keeps 0xbdf83000-0xbdf84fff mapped for 0000:03:00.0 (RMRR of IOMMU group 11)",
    );
    let fix = finding(&diagnosis, "rmrr").fix.join("\n");
    assert!(
        fix.contains("RMRDS_SlotN") && fix.contains("conrep"),
        "{fix}"
    );
    machine.file("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    let diagnosis = examine_all(&machine);
    assert!(finding(&diagnosis, "rmrr").fix[0].contains("iDRAC"));
    // Graphics and USB may give up their memory.
    machine.file(
        "/sys/kernel/iommu_groups/11/reserved_regions",
        "0x00000000bdf83000 0x00000000bdf84fff direct-relaxable\n",
    );
    assert!(examine_all(&machine).ready);
}

#[test]
fn the_kernels_refusal_of_a_port_with_reserved_memory_is_recognised() {
    for message in [
        "Device is ineligible for IOMMU domain attach due to platform RMRR requirement.  Contact \
         your platform vendor.",
        "Firmware has requested this device have a 1:1 IOMMU mapping, rejecting configuring the \
         device without a 1:1 mapping. Contact your platform vendor.",
    ] {
        let machine = Machine::healthy();
        let log = format!("4,812,99;vfio-pci 0000:03:00.1: {message}\n");
        machine.file("/dev/kmsg", &log);
        let diagnosis = examine_all(&machine);
        expect(
            &diagnosis,
            "rmrr",
            Severity::Problem,
            "the kernel refused 0000:03:00.1 to VFIO",
        );
        assert!(finding(&diagnosis, "rmrr").fix[0].contains("--firmware-setup"));
    }
}

#[test]
fn no_iommu_mode_is_refused() {
    let machine = Machine::healthy();
    let parameter = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
    machine.file(parameter, "Y\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "no_iommu",
        Severity::Warning,
        "may give out devices without an IOMMU",
    );
    expect_fix(
        &diagnosis,
        "no_iommu",
        "echo N | sudo tee /sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
    );
    // Without an IOMMU, VFIO makes groups of its own.
    for group in [11, 12] {
        let name = format!("/sys/kernel/iommu_groups/{group}/name");
        machine.file(&name, "vfio-noiommu\n");
        machine.file(&format!("/dev/vfio/noiommu-{group}"), "");
    }
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "no_iommu",
        Severity::Problem,
        "VFIO gives out 0000:03:00.0, 0000:03:00.1 without an IOMMU",
    );
    assert!(finding(&diagnosis, "iommu").found.starts_with("off"));
    machine.file(parameter, "N\n");
    machine.remove("/sys/kernel/iommu_groups/11/name");
    machine.remove("/sys/kernel/iommu_groups/12/name");
    assert!(examine_all(&machine).ready);
}

#[test]
fn secure_boot_and_lockdown_are_reported() {
    let machine = Machine::healthy();
    machine.file(
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "\u{6}\0\0\0\u{1}",
    );
    machine.file(
        "/sys/kernel/security/lockdown",
        "none [integrity] confidentiality\n",
    );
    expect(
        &examine_all(&machine),
        "lockdown",
        Severity::Ok,
        "secure boot is on, kernel lockdown: integrity; it forbids unsigned modules",
    );
    machine.file(
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "\u{6}\0\0\0\0",
    );
    machine.remove("/sys/kernel/security/lockdown");
    let diagnosis = examine_all(&machine);
    assert_eq!(finding(&diagnosis, "lockdown").found, "secure boot is off");
}

#[test]
fn huge_pages_of_1_gib_only_are_a_warning() {
    let machine = Machine::healthy();
    machine.huge_pages("/sys/kernel/mm", 0, 0);
    machine.huge_pages("/sys/devices/system/node/node0", 0, 0);
    let gigantic = "/sys/kernel/mm/hugepages/hugepages-1048576kB";
    machine.file(&format!("{gigantic}/nr_hugepages"), "16\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "huge_pages",
        Severity::Warning,
        "only huge pages of 1 GiB are reserved (16); the drivers use those of 2 MiB",
    );
    assert!(finding(&diagnosis, "huge_pages").fix[0].starts_with("make hugepages"));
}

#[test]
fn hyper_threading_halves_the_counters_of_some_processors() {
    let machine = Machine::healthy();
    machine.file(&format!("{CPUS}/smt/active"), "1\n");
    let processor = |model: u32| {
        let text = format!(
            "processor : 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: {model}\n\
             model name\t: Some Xeon\n"
        );
        machine.file("/proc/cpuinfo", &text);
        examine_all(&machine)
    };
    for model in [62, 63] {
        expect(
            &processor(model),
            "shared_counters",
            Severity::Warning,
            "only half of this processor's counters",
        );
    }
    let unaffected = |diagnosis: &Diagnosis| {
        let mut ids = diagnosis.findings.iter().map(|finding| finding.id);
        !ids.any(|id| id == "shared_counters")
    };
    assert!(unaffected(&processor(79)), "Broadwell");
    machine.file(&format!("{CPUS}/smt/active"), "0\n");
    assert!(unaffected(&processor(63)));
}

#[test]
fn a_clock_that_may_vary_is_a_warning() {
    let machine = Machine::healthy();
    let held = examine_all(&machine);
    expect(&held, "clock", Severity::Ok, "the clock is held at 3.3 GHz");
    machine.file(&format!("{CPUS}/cpu3/cpufreq/scaling_min_freq"), "800000\n");
    machine.file(
        &format!("{CPUS}/cpu5/cpufreq/scaling_max_freq"),
        "3900000\n",
    );
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "clock",
        Severity::Warning,
        "the clock may vary from 0.8 GHz to 3.9 GHz",
    );
    // Older processors name their clock without turbo only here.
    machine.file(
        "/proc/cpuinfo",
        "model name : Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz\n",
    );
    expect_fix(
        &examine_all(&machine),
        "clock",
        "sudo triptych clocks set 3.3 # or 1.6; `sudo triptych clocks restore` undoes it",
    );
    machine.file("/proc/cpuinfo", "");
    machine.file(&format!("{CPUS}/cpu0/cpufreq/base_frequency"), "3300000\n");
    expect_fix(
        &examine_all(&machine),
        "clock",
        "sudo triptych clocks set 3.3 # or 1.6; `sudo triptych clocks restore` undoes it",
    );
}

#[test]
fn virtual_functions_are_a_warning() {
    let machine = Machine::healthy();
    machine.file(&format!("/sys/bus/pci/devices/{A}/sriov_numvfs"), "2\n");
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "sriov",
        Severity::Warning,
        "0000:03:00.0 has 2 virtual functions",
    );
    expect_fix(
        &diagnosis,
        "sriov",
        "echo 0 | sudo tee /sys/bus/pci/devices/0000:03:00.0/sriov_numvfs",
    );
}

/// The findings about settings that bind a port.
fn rebinding(diagnosis: &Diagnosis) -> Vec<(Severity, &str)> {
    let findings = diagnosis.findings.iter();
    findings
        .filter(|finding| finding.id == "rebinding")
        .map(|finding| (finding.level, finding.found.as_str()))
        .collect()
}

#[test]
fn settings_that_bind_a_port_are_found() {
    for (path, text, level, found) in [
        (
            "/etc/driverctl.d/0000:03:00.1",
            "uio_pci_generic\n",
            Severity::Warning,
            "driverctl binds 0000:03:00.1 to uio_pci_generic at each boot",
        ),
        (
            "/etc/driverctl.d/0000:03:00.1",
            "vfio-pci\n",
            Severity::Ok,
            "driverctl binds 0000:03:00.1 to vfio-pci at each boot",
        ),
        (
            "/etc/modprobe.d/vfio.conf",
            "# options vfio-pci ids=8086:10fb\noptions vfio-pci ids=10de:1b80,8086:10FB\n",
            Severity::Ok,
            "/etc/modprobe.d/vfio.conf:2 binds 0000:03:00.0 to vfio-pci",
        ),
        (
            "/etc/udev/rules.d/99-card.rules",
            "ACTION==\"add\", ATTR{vendor}==\"0x8086\", ATTR{device}==\"0x10fb\", \
             ATTR{driver_override}=\"igb_uio\"\n",
            Severity::Warning,
            "/etc/udev/rules.d/99-card.rules:1 binds 0000:03:00.0 to a driver",
        ),
        (
            "/etc/systemd/system/dpdk.service",
            "[Service]\nExecStart=/usr/bin/dpdk-devbind.py -b igb_uio 03:00.1\n",
            Severity::Warning,
            "/etc/systemd/system/dpdk.service:2 binds 0000:03:00.1 to a driver",
        ),
        (
            "/proc/cmdline",
            "intel_iommu=on pci-stub.ids=8086:10fb",
            Severity::Warning,
            "the kernel's command line binds all 8086:10fb to pci-stub (pci-stub.ids=8086:10fb)",
        ),
        (
            "/sys/bus/pci/devices/0000:03:00.0/driver_override",
            "ixgbe\n",
            Severity::Warning,
            "0000:03:00.0 may be bound to ixgbe only (driver_override)",
        ),
    ] {
        let machine = Machine::healthy();
        machine.file(path, text);
        let diagnosis = examine_all(&machine);
        assert_eq!(rebinding(&diagnosis), [(level, found)]);
        assert!(diagnosis.ready);
        let fix = &finding(&diagnosis, "rebinding").fix;
        assert_eq!(fix.is_empty(), level == Severity::Ok, "{fix:?}");
    }
}

#[test]
fn a_setting_that_binds_a_port_is_disabled_where_it_stands() {
    let udev =
        "ATTR{vendor}==\"0x8086\", ATTR{device}==\"0x10fb\", ATTR{driver_override}=\"igb_uio\"";
    for (path, text, fix) in [
        (
            "/etc/udev/rules.d/99-card.rules",
            format!("# for DPDK\n{udev}\n"),
            "sudo sed -i '2s/^/# /' /etc/udev/rules.d/99-card.rules",
        ),
        (
            "/etc/udev/rules.d/99-card.rules",
            format!("ACTION==\"add\", \\\n{udev}\n"),
            "sudo editor /etc/udev/rules.d/99-card.rules # line 2",
        ),
        (
            "/etc/systemd/system/dpdk.service",
            "ExecStart=driverctl set-override 0000:03:00.0 igb_uio\n".to_owned(),
            "sudo systemctl disable dpdk.service",
        ),
    ] {
        let machine = Machine::healthy();
        machine.file(path, &text);
        expect_fix(&examine_all(&machine), "rebinding", fix);
    }
}

#[test]
fn settings_of_other_devices_and_names_of_interfaces_are_ignored() {
    let machine = Machine::healthy();
    for (path, text) in [
        (
            "/etc/modprobe.d/gpu.conf",
            "options vfio-pci ids=10de:1b80\n",
        ),
        (
            "/etc/udev/rules.d/70-names.rules",
            "KERNELS==\"0000:03:00.0\", NAME=\"left\"\n",
        ),
        // It keeps the module from loading on its own, but `modprobe` still loads it by name.
        ("/etc/modprobe.d/no-vfio.conf", "blacklist vfio-pci\n"),
        ("/etc/modprobe.d/notes.txt", "install vfio-pci /bin/false\n"),
        ("/etc/driverctl.d/0000:05:00.0", "pci-stub\n"),
    ] {
        machine.file(path, text);
    }
    assert_eq!(rebinding(&examine_all(&machine)), []);
}
#[test]
fn a_machine_with_everything_wrong_gets_a_command_for_each_finding() {
    let mut machine = Machine::healthy();
    machine.nic(A, Some("ixgbe"), Some(11));
    machine.link("/sys/class/net/eth0/master", "../bond0");
    machine.folder("/sys/class/net/bond0/bonding");
    machine.ip_address("bond0", "192.0.2.7");
    for (path, text) in [
        (
            "/etc/os-release",
            "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
        ),
        (
            "/sys/kernel/iommu_groups/12/reserved_regions",
            "0x00000000bdf83000 0x00000000bdf84fff direct\n",
        ),
        ("/sys/class/dmi/id/sys_vendor", "HP\n"),
        (
            "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
            "Y\n",
        ),
        (
            "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
            "16\n",
        ),
        (
            "/proc/cpuinfo",
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 62\n",
        ),
        ("/sys/devices/system/cpu/smt/active", "1\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ("/sys/devices/system/cpu/isolated", "\n"),
        (
            "/sys/devices/system/cpu/cpu3/cpufreq/scaling_min_freq",
            "1200000\n",
        ),
        (
            "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
            "powersave\n",
        ),
        ("/sys/bus/pci/devices/0000:03:00.0/sriov_numvfs", "2\n"),
        (
            "/sys/bus/pci/devices/0000:03:00.0/current_link_width",
            "4\n",
        ),
        ("/etc/driverctl.d/0000:03:00.1", "uio_pci_generic\n"),
        ("/etc/modprobe.d/x.conf", "install vfio-pci /bin/false\n"),
        ("/proc/interrupts", " 24: 0 PCI-MSI 1-edge nvme0\n"),
        ("/proc/sys/kernel/nmi_watchdog", "1\n"),
    ] {
        machine.file(path, text);
    }
    machine.huge_pages("/sys/kernel/mm", 0, 0);
    let diagnosis = examine_all(&machine);
    let bad: Vec<&Finding> = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.level > Severity::Ok)
        .collect();
    let ids: Vec<&str> = bad.iter().map(|finding| finding.id).collect();
    assert_eq!(
        ids,
        [
            "ports",
            "sriov",
            "pcie",
            "rebinding",
            "module_loading",
            "interrupt_remapping",
            "no_iommu",
            "rmrr",
            "huge_pages",
            "governor",
            "clock",
            "turbo",
            "isolation",
            "smt",
            "nmi_watchdog",
            "shared_counters",
        ],
        "{}",
        diagnosis.text()
    );
    assert!(bad.iter().all(|finding| !finding.fix.is_empty()));
    assert_eq!(
        diagnosis.verdict,
        "not ready for a run with a card: 3 problems, 13 warnings"
    );
    assert!(diagnosis.text().contains("sudo grubby --update-kernel=ALL"));
}

#[test]
fn a_card_that_the_drivers_refuse_is_named_with_the_reason() {
    let machine = Machine::healthy();
    machine.device("0000:05:00.0", ("8086", "15ac"), "020000", Some("ixgbe"));
    machine.in_group("0000:05:00.0", 13);
    let diagnosis = examine_all(&machine);
    expect(
        &diagnosis,
        "refused",
        Severity::Warning,
        "0000:05:00.0 (X552 SFP+) is not supported: its EEC",
    );
    expect(&diagnosis, "ports", Severity::Ok, ": 2 of 2");
    let diagnosis = examine_some(&machine, &[A, "05:00.0"]);
    expect(&diagnosis, "refused", Severity::Problem, "X552 SFP+");
    // Alone, it is no card for a run.
    for port in [A, B] {
        machine.remove(&format!("/sys/bus/pci/devices/{port}"));
    }
    let diagnosis = examine_all(&machine);
    assert!(diagnosis.ready);
    assert!(diagnosis.verdict.contains("with the software card"));
}
