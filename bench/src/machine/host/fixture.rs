//! A simulated machine for tests: its files in a temporary folder, and a kernel that changes them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::address::PciAddress;
use super::control::{Control, ControlError};
use super::system::{System, User};

pub const A: &str = "0000:03:00.0";
pub const B: &str = "0000:03:00.1";

pub fn address(text: &str) -> PciAddress {
    text.parse().unwrap()
}

pub struct Machine {
    folder: tempfile::TempDir,
    user: User,
    addresses: BTreeMap<String, Vec<String>>,
}

impl Machine {
    /// A machine with vfio-pci and ixgbe loaded, and no devices.
    pub fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            user: User {
                uid: 0,
                gids: vec![0],
                name: "root".to_owned(),
            },
            addresses: BTreeMap::new(),
        };
        for driver in ["vfio-pci", "ixgbe"] {
            machine.folder(&format!("/sys/bus/pci/drivers/{driver}"));
        }
        machine.folder("/sys/module/vfio_iommu_type1");
        machine.folder("/sys/bus/pci/devices");
        machine
    }

    /// A machine without problems: two bound ports, and everything else as it should be.
    pub fn healthy() -> Self {
        let machine = Self::new();
        machine.nic(A, Some("vfio-pci"), Some(11));
        machine.nic(B, Some("vfio-pci"), Some(12));
        for group in [11, 12] {
            machine.file(&format!("/dev/vfio/{group}"), "");
        }
        machine.file("/dev/vfio/vfio", "");
        machine.file("/etc/os-release", "ID=debian\n");
        machine.folder("/sys/class/iommu/dmar0");
        machine.file("/proc/cmdline", "quiet intel_iommu=on iommu=pt");
        machine.file("/proc/interrupts", " 24:  0  0  IR-PCI-MSI 1-edge nvme0\n");
        machine.huge_pages("/sys/kernel/mm", 256, 256);
        machine.huge_pages("/sys/devices/system/node/node0", 256, 256);
        machine.file("/sys/devices/system/node/node0/cpulist", "0-7\n");
        machine.file("/sys/devices/system/cpu/online", "0-7\n");
        for cpu in 0..8 {
            machine.file(
                &format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
                "performance\n",
            );
            for name in ["scaling_min_freq", "scaling_max_freq"] {
                let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}");
                machine.file(&path, "3300000\n");
            }
        }
        machine.file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
        machine.file("/sys/devices/system/cpu/isolated", "6-7\n");
        machine.file("/sys/devices/system/cpu/nohz_full", "6-7\n");
        machine.file("/sys/devices/system/cpu/smt/active", "0\n");
        machine.file(
            "/sys/kernel/security/lockdown",
            "[none] integrity confidentiality\n",
        );
        machine.folder("/sys/bus/event_source/devices/cpu");
        machine.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
        machine.file("/proc/sys/kernel/nmi_watchdog", "0\n");
        machine
    }

    pub fn system(&self) -> System {
        System::below(
            self.folder.path(),
            self.user.clone(),
            self.addresses.clone(),
        )
    }

    pub fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn folder(&self, path: &str) {
        fs::create_dir_all(self.path(path)).unwrap();
    }

    pub fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(target, path).unwrap();
    }

    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The same machine, used by ada, who is not root.
    pub fn used_by_ada(mut self) -> Self {
        self.user = User {
            uid: 54_321,
            gids: vec![54_321],
            name: "ada".to_owned(),
        };
        self
    }

    pub fn device(&self, address: &str, id: (&str, &str), class: &str, driver: Option<&str>) {
        let folder = format!("/sys/bus/pci/devices/{address}");
        self.file(&format!("{folder}/vendor"), &format!("0x{}\n", id.0));
        self.file(&format!("{folder}/device"), &format!("0x{}\n", id.1));
        self.file(&format!("{folder}/class"), &format!("0x{class}\n"));
        self.file(&format!("{folder}/driver_override"), "(null)\n");
        if let Some(driver) = driver {
            self.link(
                &format!("{folder}/driver"),
                &format!("../../../../bus/pci/drivers/{driver}"),
            );
        }
    }

    pub fn in_group(&self, address: &str, group: u32) {
        self.link(
            &format!("/sys/bus/pci/devices/{address}/iommu_group"),
            &format!("../../../kernel/iommu_groups/{group}"),
        );
        self.link(
            &format!("/sys/kernel/iommu_groups/{group}/devices/{address}"),
            &format!("../../../../bus/pci/devices/{address}"),
        );
    }

    /// A port of an X520.
    pub fn nic(&self, address: &str, driver: Option<&str>, group: Option<u32>) {
        self.device(address, ("8086", "10fb"), "020000", driver);
        let folder = format!("/sys/bus/pci/devices/{address}");
        self.file(&format!("{folder}/numa_node"), "0\n");
        for (name, text) in [
            ("current_link_speed", "5.0 GT/s PCIe\n"),
            ("max_link_speed", "5.0 GT/s PCIe\n"),
            ("current_link_width", "8\n"),
            ("max_link_width", "8\n"),
        ] {
            self.file(&format!("{folder}/{name}"), text);
        }
        if driver == Some("vfio-pci") {
            self.file(&format!("{folder}/driver_override"), "vfio-pci\n");
        }
        if let Some(group) = group {
            self.in_group(address, group);
        }
        if driver == Some("ixgbe") {
            self.interface(address, &format!("eth{}", address.chars().last().unwrap()));
        }
    }

    pub fn interface(&self, address: &str, name: &str) {
        self.folder(&format!("/sys/bus/pci/devices/{address}/net/{name}"));
        let folder = format!("/sys/class/net/{name}");
        self.file(&format!("{folder}/flags"), "0x1003\n");
        self.file(&format!("{folder}/carrier"), "1\n");
        self.file(&format!("{folder}/speed"), "10000\n");
    }

    pub fn ip_address(&mut self, interface: &str, address: &str) {
        let list = self.addresses.entry(interface.to_owned()).or_default();
        list.push(address.to_owned());
    }

    pub fn huge_pages(&self, folder: &str, free: u32, total: u32) {
        let folder = format!("{folder}/hugepages/hugepages-2048kB");
        self.file(&format!("{folder}/free_hugepages"), &free.to_string());
        self.file(&format!("{folder}/nr_hugepages"), &total.to_string());
    }

    /// A process that has files open.
    pub fn process(&self, pid: u32, name: &str, files: &[&str]) {
        self.file(&format!("/proc/{pid}/comm"), name);
        self.folder(&format!("/proc/{pid}/fd"));
        for (fd, file) in files.iter().enumerate() {
            self.link(&format!("/proc/{pid}/fd/{fd}"), file);
        }
    }

    pub fn driver(&self, address: &str) -> Option<String> {
        self.system()
            .link_name(&format!("/sys/bus/pci/devices/{address}/driver"))
    }

    pub fn driver_override(&self, address: &str) -> String {
        let text = self.read(&format!("/sys/bus/pci/devices/{address}/driver_override"));
        text.trim().replace("(null)", "")
    }

    /// Everything that `bind` can change, for comparisons.
    pub fn state(&self) -> Vec<String> {
        let devices = self.system().entries("/sys/bus/pci/devices");
        let mut state: Vec<String> = devices
            .iter()
            .map(|address| {
                format!(
                    "{address} {:?} {:?}",
                    self.driver(address),
                    self.driver_override(address)
                )
            })
            .collect();
        state.extend(self.system().entries("/dev/vfio"));
        state
    }
}

/// A kernel that binds and unbinds drivers as `bind` and `unbind` expect.
pub struct SimulatedKernel<'a> {
    machine: &'a Machine,
    /// A device and a driver that silently refuses it.
    pub refuses: Option<(&'static str, &'static str)>,
    /// A file to which every write fails.
    pub broken: Option<String>,
    /// A file to which a write blocks.
    pub blocked: Option<String>,
    /// All writes, with their files.
    pub written: RefCell<Vec<String>>,
    pub given: RefCell<Vec<(String, u32)>>,
    pub loaded: RefCell<Vec<String>>,
}

impl<'a> SimulatedKernel<'a> {
    pub fn of(machine: &'a Machine) -> Self {
        Self {
            machine,
            refuses: None,
            broken: None,
            blocked: None,
            written: RefCell::default(),
            given: RefCell::default(),
            loaded: RefCell::default(),
        }
    }

    fn bind(&self, address: &str, driver: &str) {
        if self.refuses == Some((address, driver)) {
            return;
        }
        self.machine.link(
            &format!("/sys/bus/pci/devices/{address}/driver"),
            &format!("../../../../bus/pci/drivers/{driver}"),
        );
        if let Some(node) = self.node(address).filter(|_| driver == "vfio-pci") {
            self.machine.file(&node, "");
        }
    }

    fn unbind(&self, address: &str) {
        let was = self.machine.driver(address);
        fs::remove_file(
            self.machine
                .path(&format!("/sys/bus/pci/devices/{address}/driver")),
        )
        .unwrap();
        // The kernel removes the file with the last device of the group.
        let node = self
            .node(address)
            .filter(|_| was.as_deref() == Some("vfio-pci"));
        if let Some(node) = node {
            let group = node.rsplit('/').next().unwrap();
            let members = self
                .machine
                .system()
                .entries(&format!("/sys/kernel/iommu_groups/{group}/devices"));
            let held = members
                .iter()
                .any(|member| self.machine.driver(member).as_deref() == Some("vfio-pci"));
            if !held {
                fs::remove_file(self.machine.path(&node)).unwrap();
            }
        }
    }

    fn node(&self, address: &str) -> Option<String> {
        let link = format!("/sys/bus/pci/devices/{address}/iommu_group");
        Some(format!(
            "/dev/vfio/{}",
            self.machine.system().link_name(&link)?
        ))
    }
}

impl Control for SimulatedKernel<'_> {
    fn write(&self, path: &Path, value: &str) -> Result<(), ControlError> {
        let name = format!(
            "/{}",
            path.strip_prefix(self.machine.folder.path())
                .unwrap()
                .display()
        );
        self.written.borrow_mut().push(format!("{name} {value}"));
        let error = |cause: &str| ControlError::Write {
            path: path.to_owned(),
            value: value.to_owned(),
            cause: cause.to_owned(),
        };
        if self.broken.as_ref() == Some(&name) {
            return Err(error("Input/output error (os error 5)"));
        }
        if self.blocked.as_ref() == Some(&name) {
            return Err(ControlError::Blocked {
                path: path.to_owned(),
                value: value.to_owned(),
            });
        }
        let parts: Vec<&str> = name
            .trim_start_matches("/sys/bus/pci/")
            .split('/')
            .collect();
        match parts.as_slice() {
            ["devices", _, "driver_override"] => fs::write(path, value.trim()).unwrap(),
            ["devices", address, "driver", "unbind"] => {
                assert_eq!(*address, value, "the kernel says ENODEV");
                if self.machine.driver(address).is_none() {
                    return Err(error("No such file or directory (os error 2)"));
                }
                self.unbind(value);
            }
            ["drivers_probe"] if self.machine.driver(value).is_some() => {}
            ["drivers_probe"] => match self.machine.driver_override(value).as_str() {
                "" => self.bind(value, "ixgbe"),
                driver => self.bind(value, driver),
            },
            ["drivers", driver, "bind"] => {
                let only = self.machine.driver_override(value);
                assert!(only.is_empty() || only == *driver, "the kernel says ENODEV");
                self.bind(value, driver);
            }
            _ => return Err(error("No such file or directory (os error 2)")),
        }
        Ok(())
    }

    fn load_module(&self, name: &str) -> Result<(), ControlError> {
        self.loaded.borrow_mut().push(name.to_owned());
        match name {
            "vfio-pci" | "ixgbe" => {
                self.machine.folder(&format!("/sys/bus/pci/drivers/{name}"));
                Ok(())
            }
            _ => Err(ControlError::Module {
                name: name.to_owned(),
                cause: "not found".to_owned(),
            }),
        }
    }

    fn give(&self, path: &Path, uid: u32, _gid: u32) -> Result<(), ControlError> {
        assert!(path.exists(), "{} is not there", path.display());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        self.given.borrow_mut().push((name, uid));
        Ok(())
    }
}
