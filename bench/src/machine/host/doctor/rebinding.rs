//! Checks for settings that bind a port to a driver at boot, or whenever udev sees it.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Severity, Topic};
use crate::machine::host::nic::{Nic, VFIO_PCI};

/// Folders with settings, and the ending of the files that count.
const FOLDERS: [(&str, &str); 8] = [
    ("/etc/modprobe.d", ".conf"),
    ("/run/modprobe.d", ".conf"),
    ("/usr/lib/modprobe.d", ".conf"),
    ("/etc/udev/rules.d", ".rules"),
    ("/run/udev/rules.d", ".rules"),
    ("/usr/lib/udev/rules.d", ".rules"),
    ("/etc/systemd/system", ".service"),
    ("/run/systemd/system", ".service"),
];

/// A line that sets a driver has one of these.
const SETS_A_DRIVER: [&str; 8] = [
    "driver_override",
    "/bind",
    "/unbind",
    "driverctl",
    "devbind",
    "ids=",
    "vfio",
    "uio",
];

const WHY: &str = "at the next boot, or when the device appears again, the port gets this driver, \
                   whatever `bind` and `unbind` have set";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for nic in machine.nics {
        findings.extend(driver_override(nic));
        findings.extend(driverctl(machine, nic));
    }
    findings.extend(files(machine));
    findings.extend(command_line(machine));
    findings
}

fn finding(found: String, harmless: bool, fix: String) -> Finding {
    let finding = Finding::ok(Topic::Nics, "rebinding", found, WHY);
    match harmless {
        true => finding,
        false => finding.with_severity(Severity::Warning).fix(fix),
    }
}

/// `triptych bind` sets an override to `vfio-pci`; another one is somebody else's.
fn driver_override(nic: &Nic) -> Option<Finding> {
    let name = nic.driver_override.as_deref()?;
    (name != VFIO_PCI).then(|| {
        finding(
            format!(
                "{} may be bound to {name} only (driver_override)",
                nic.address
            ),
            false,
            format!("echo | sudo tee {}/driver_override", nic.folder()),
        )
    })
}

/// `driverctl` keeps a file for each device that it binds at boot.
fn driverctl(machine: &ExaminedMachine<'_>, nic: &Nic) -> Option<Finding> {
    let name = machine
        .system
        .read(&format!("/etc/driverctl.d/{}", nic.address))?;
    Some(finding(
        format!("driverctl binds {} to {name} at each boot", nic.address),
        name == VFIO_PCI,
        format!("sudo driverctl unset-override {}", nic.address),
    ))
}

/// The ports that a line of a setting names, by address or by vendor and device number.
fn named<'a>(nics: &'a [Nic], line: &str) -> Vec<&'a Nic> {
    let line = line.to_ascii_lowercase();
    nics.iter()
        .filter(|nic| {
            let address = nic.address.to_string();
            let short = address.strip_prefix("0000:").unwrap_or(&address);
            let (vendor, device) = nic.id.split_once(':').unwrap_or_default();
            line.contains(short)
                || line.contains(&nic.id)
                || line.contains(&format!("0x{vendor}")) && line.contains(&format!("0x{device}"))
        })
        .collect()
}

fn files(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, ending) in FOLDERS {
        for name in machine.system.entries(folder) {
            if !name.ends_with(ending) {
                continue;
            }
            let path = format!("{folder}/{name}");
            let text = machine.system.read(&path).unwrap_or_default();
            let mut continues = false;
            for (index, line) in text.lines().enumerate() {
                let number = index + 1;
                let fix = match line.ends_with('\\') || continues {
                    _ if ending == ".service" => format!("sudo systemctl disable {name}"),
                    // A part of a setting must not be disabled alone.
                    true => format!("sudo editor {path} # line {number}"),
                    false => format!("sudo sed -i '{number}s/^/# /' {path}"),
                };
                continues = line.ends_with('\\');
                findings.extend(setting(machine, &path, number, line.trim(), fix));
            }
        }
    }
    findings
}

/// What a line of a settings file does to the ports. `fix` disables the line.
fn setting(
    machine: &ExaminedMachine<'_>,
    path: &str,
    number: usize,
    line: &str,
    fix: String,
) -> Option<Finding> {
    if line.starts_with(['#', ';']) {
        return None;
    }
    let mut words = line.split_whitespace();
    let vfio = |module: &str| module == VFIO_PCI || module == "vfio_pci";
    // A blacklist does not matter, because `bind` loads the module by its name.
    if words.next() == Some("install") && words.next().is_some_and(vfio) {
        return Some(
            Finding::ok(
                Topic::Nics,
                "module_loading",
                format!("{path}:{number} runs a command instead of loading {VFIO_PCI}"),
                "unless that command loads the module, `bind` finds no driver",
            )
            .with_severity(Severity::Warning)
            .fix(fix),
        );
    }
    let nics = named(machine.nics, line);
    let first = nics.first()?;
    SETS_A_DRIVER
        .iter()
        .any(|part| line.contains(part))
        .then(|| {
            let harmless = line.contains(VFIO_PCI) || line.contains("vfio_pci");
            let driver = if harmless { VFIO_PCI } else { "a driver" };
            let found = format!("{path}:{number} binds {} to {driver}", first.address);
            finding(found, harmless, fix)
        })
}

/// `vfio-pci.ids=` and `pci-stub.ids=` on the kernel's command line.
fn command_line(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    let text = machine.system.read("/proc/cmdline").unwrap_or_default();
    text.split_whitespace()
        .filter_map(|option| {
            let (driver, _) = option.split_once(".ids=")?;
            let first = *named(machine.nics, option).first()?;
            let found = format!(
                "the kernel's command line binds all {} to {driver} ({option})",
                first.id
            );
            Some(finding(
                found,
                driver == VFIO_PCI || driver == "vfio_pci",
                super::boot::remove_option(machine.system, option),
            ))
        })
        .collect()
}
