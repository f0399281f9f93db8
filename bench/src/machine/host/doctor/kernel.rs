//! Checks what the kernel forbids even to root: secure boot and lockdown.

use super::machine::ExaminedMachine;
use crate::machine::host::finding::{Finding, Topic};

/// A variable of the firmware: four bytes of attributes, then 1 if secure boot is on.
const SECURE_BOOT: &str =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

pub(super) fn check(machine: &ExaminedMachine<'_>) -> Vec<Finding> {
    lockdown(machine).into_iter().collect()
}

/// Lockdown forbids what could change the running kernel. VFIO with an IOMMU and counting are not
/// among it (`security/security.c`, `lockdown_reasons`).
fn lockdown(machine: &ExaminedMachine<'_>) -> Option<Finding> {
    let secure_boot =
        machine
            .system
            .read(SECURE_BOOT)
            .map(|bytes| match bytes.ends_with('\u{1}') {
                true => "secure boot is on",
                false => "secure boot is off",
            });
    // `none [integrity] confidentiality`: the brackets mark the level.
    let text = machine.system.read(LOCKDOWN);
    let level = text.as_deref().and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        rest.split_once(']').map(|(level, _)| level)
    });
    let effect = match level {
        None | Some("none") => "",
        Some(_) => {
            "; it forbids unsigned modules, MSR writes and access to BARs through sysfs, but not VFIO \
             and counting"
        }
    };
    let parts: Vec<String> = secure_boot
        .map(ToOwned::to_owned)
        .into_iter()
        .chain(level.map(|level| format!("kernel lockdown: {level}{effect}")))
        .collect();
    (!parts.is_empty()).then(|| {
        Finding::ok(
            Topic::Kernel,
            "lockdown",
            parts.join(", "),
            "lockdown forbids even root what could change the running kernel",
        )
    })
}
