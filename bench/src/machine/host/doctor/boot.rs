//! The commands that change the kernel's command line, by distribution and boot loader.

use crate::machine::host::system::System;

const GRUB_DEFAULTS: &str = "/etc/default/grub";
const KERNEL_CMDLINE: &str = "/etc/kernel/cmdline";

/// What sets the kernel's command line on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boot {
    /// Fedora CoreOS and other systems that rpm-ostree assembles.
    Ostree,
    /// The RHEL family, whose boot entries `grubby` changes.
    Grubby,
    /// Pop!_OS.
    Kernelstub,
    /// Proxmox on ZFS, which copies kernels to its boot partitions.
    Proxmox,
    /// GRUB, with the command that writes its configuration.
    Grub(&'static str),
    /// systemd-boot and unified kernel images.
    KernelInstall,
    /// NixOS, whose configuration is one file.
    NixOs,
    /// Another system.
    Unknown,
}

/// The value of a key in `/etc/os-release`, without quotes.
fn os_release(system: &System, key: &str) -> String {
    let text = ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(|path| system.read(path))
        .unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .map(|value| value.trim_matches(['"', '\'']).to_owned())
        .unwrap_or_default()
}

impl Boot {
    fn of(system: &System) -> Self {
        let like = os_release(system, "ID_LIKE");
        let id = os_release(system, "ID");
        // The distribution itself comes first, then those that it derives from.
        let names: Vec<&str> = std::iter::once(id.as_str())
            .chain(like.split_whitespace())
            .collect();
        let is = |known: &[&str]| names.iter().any(|name| known.contains(name));
        let grub = system.exists(GRUB_DEFAULTS);
        match () {
            () if system.exists("/run/ostree-booted") => Self::Ostree,
            () if is(&["nixos"]) => Self::NixOs,
            () if is(&["pop"]) => Self::Kernelstub,
            () if system.exists("/etc/kernel/proxmox-boot-uuids") => Self::Proxmox,
            () if is(&["rhel", "fedora", "centos", "amzn"]) => Self::Grubby,
            () if !grub && system.exists(KERNEL_CMDLINE) => Self::KernelInstall,
            () if is(&["debian", "ubuntu"]) => Self::Grub("update-grub"),
            () if is(&["suse", "opensuse", "sles"]) => {
                Self::Grub("grub2-mkconfig -o /boot/grub2/grub.cfg")
            }
            () if grub && is(&["arch", "gentoo"]) => {
                Self::Grub("grub-mkconfig -o /boot/grub/grub.cfg")
            }
            () => Self::Unknown,
        }
    }
}

/// The command that adds options, such as `intel_iommu=on`, to the kernel's command line.
pub(super) fn add_options(system: &System, options: &str) -> String {
    let one_by_one = |flag: &str| {
        let flags: Vec<String> = options
            .split_whitespace()
            .map(|option| format!("{flag}{option}"))
            .collect();
        flags.join(" ")
    };
    let change = match Boot::of(system) {
        Boot::Ostree => format!("sudo rpm-ostree kargs {}", one_by_one("--append=")),
        Boot::Grubby => format!("sudo grubby --update-kernel=ALL --args=\"{options}\""),
        Boot::Kernelstub => format!("sudo kernelstub --add-options \"{options}\""),
        Boot::Proxmox => format!(
            "sudo sed -i '1s/$/ {options}/' {KERNEL_CMDLINE} && sudo proxmox-boot-tool refresh"
        ),
        Boot::Grub(write) => format!(
            "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{options} /' {GRUB_DEFAULTS} && sudo {write}"
        ),
        Boot::KernelInstall => {
            format!("sudo sed -i '1s/$/ {options}/' {KERNEL_CMDLINE} && {REINSTALL}")
        }
        Boot::NixOs => {
            let list = one_by_one("\"").replace(' ', "\" ") + "\"";
            return format!(
                "sudo nixos-rebuild boot && sudo reboot \
                 # after adding boot.kernelParams = [ {list} ]; to configuration.nix"
            );
        }
        Boot::Unknown => {
            return format!(
            "sudo reboot # after adding {options} to the kernel's command line in the boot loader"
        )
        }
    };
    format!("{change} && sudo reboot")
}

/// The command that removes an option from the kernel's command line.
pub(super) fn remove_option(system: &System, option: &str) -> String {
    let change = match Boot::of(system) {
        Boot::Ostree => format!("sudo rpm-ostree kargs --delete={option}"),
        Boot::Grubby => format!("sudo grubby --update-kernel=ALL --remove-args=\"{option}\""),
        Boot::Kernelstub => format!("sudo kernelstub --delete-options \"{option}\""),
        Boot::Proxmox => format!(
            "sudo sed -i 's/{option}//' {KERNEL_CMDLINE} && sudo proxmox-boot-tool refresh"
        ),
        Boot::Grub(write) => format!("sudo sed -i 's/{option}//' {GRUB_DEFAULTS} && sudo {write}"),
        Boot::KernelInstall => {
            format!("sudo sed -i 's/{option}//' {KERNEL_CMDLINE} && {REINSTALL}")
        }
        Boot::NixOs => {
            return format!(
                "sudo nixos-rebuild boot && sudo reboot \
                 # after removing {option} from boot.kernelParams in configuration.nix"
            )
        }
        Boot::Unknown => {
            return format!(
                "sudo reboot # after removing {option} from the kernel's command line in the boot loader"
            )
        }
    };
    format!("{change} && sudo reboot")
}

/// Writes the boot entry of the running kernel with the new command line.
const REINSTALL: &str =
    "sudo kernel-install add \"$(uname -r)\" \"/lib/modules/$(uname -r)/vmlinuz\"";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::host::fixture::Machine;

    /// A machine of a distribution.
    fn machine(release: &str, files: &[&str]) -> Machine {
        let machine = Machine::new();
        machine.file("/etc/os-release", release);
        for file in files {
            machine.file(file, "");
        }
        machine
    }

    #[test]
    fn each_distribution_has_its_command() {
        let grub = &["/etc/default/grub"][..];
        let cmdline = &["/etc/kernel/cmdline"][..];
        for (release, files, add, remove) in [
            (
                "ID=debian\n",
                grub,
                "sudo update-grub && sudo reboot",
                "sudo update-grub",
            ),
            (
                "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
                grub,
                "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&a=1 b=2 /' /etc/default/grub",
                "sudo sed -i 's/a=1//' /etc/default/grub",
            ),
            (
                "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
                grub,
                "sudo grubby --update-kernel=ALL --args=\"a=1 b=2\" && sudo reboot",
                "sudo grubby --update-kernel=ALL --remove-args=\"a=1\" && sudo reboot",
            ),
            ("ID=fedora\n", cmdline, "sudo grubby", "sudo grubby"),
            (
                "ID=fedora\n",
                &["/run/ostree-booted"],
                "sudo rpm-ostree kargs --append=a=1 --append=b=2 && sudo reboot",
                "sudo rpm-ostree kargs --delete=a=1 && sudo reboot",
            ),
            (
                "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n",
                grub,
                "sudo grub2-mkconfig -o /boot/grub2/grub.cfg && sudo reboot",
                "sudo grub2-mkconfig -o /boot/grub2/grub.cfg",
            ),
            (
                "ID=arch\n",
                grub,
                "sudo grub-mkconfig -o",
                "sudo grub-mkconfig -o",
            ),
            (
                "ID=pop\nID_LIKE=\"ubuntu debian\"\n",
                &[],
                "sudo kernelstub --add-options \"a=1 b=2\" && sudo reboot",
                "sudo kernelstub --delete-options \"a=1\" && sudo reboot",
            ),
            (
                "ID=debian\n",
                &["/etc/kernel/proxmox-boot-uuids", "/etc/default/grub"],
                "sudo proxmox-boot-tool refresh && sudo reboot",
                "sudo proxmox-boot-tool refresh",
            ),
            (
                "ID=arch\n",
                cmdline,
                "sudo sed -i '1s/$/ a=1 b=2/' /etc/kernel/cmdline && sudo kernel-install add",
                "sudo sed -i 's/a=1//' /etc/kernel/cmdline && sudo kernel-install add",
            ),
            (
                "ID=nixos\n",
                &[],
                "boot.kernelParams = [ \"a=1\" \"b=2\" ];",
                "removing a=1 from boot.kernelParams",
            ),
            (
                "ID=void\n",
                &[],
                "after adding a=1 b=2 to the kernel's command line",
                "after removing a=1 from the kernel's command line",
            ),
        ] {
            let machine = machine(release, files);
            let system = machine.system();
            let command = add_options(&system, "a=1 b=2");
            assert!(command.contains(add), "{release}: {command}");
            let command = remove_option(&system, "a=1");
            assert!(command.contains(remove), "{release}: {command}");
            assert!(command.contains("sudo reboot"), "{release}: {command}");
        }
    }

    #[test]
    fn without_os_release_the_advice_is_general() {
        let command = add_options(&Machine::new().system(), "x");
        assert!(command.contains("in the boot loader"), "{command}");
    }
}
