//! A simulated machine for tests: its files in a temporary folder, and a kernel that changes them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{bail, ensure, Result};

use super::address::PciAddress;
use super::control::Control;
use super::system::{System, User};

pub const A: &str = "0000:03:00.0";
pub const B: &str = "0000:03:00.1";

pub fn address(text: &str) -> PciAddress {
    text.parse().unwrap()
}

const PORT: &str = "\
numa_node 0
current_link_speed 5.0 GT/s PCIe
max_link_speed 5.0 GT/s PCIe
current_link_width 8
max_link_width 8";

const HEALTHY: &str = "\
/dev/vfio/11 -
/dev/vfio/12 -
/dev/vfio/vfio -
/proc/cmdline quiet intel_iommu=on iommu=pt
/proc/interrupts 24:  0  0  IR-PCI-MSI 1-edge nvme0
/proc/sys/kernel/perf_event_paranoid 2
/proc/sys/kernel/nmi_watchdog 0
/sys/bus/event_source/devices/cpu/type 4
/sys/class/iommu/dmar0/uevent -
/sys/devices/system/cpu/intel_pstate/no_turbo 1
/sys/devices/system/cpu/isolated 6-7
/sys/devices/system/cpu/nohz_full 6-7
/sys/devices/system/cpu/online 0-7
/sys/devices/system/cpu/smt/active 0
/sys/devices/system/node/node0/cpulist 0-7
/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 256
/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages 256
/sys/module/vfio_iommu_type1/refcnt 0";

pub struct Machine {
    folder: tempfile::TempDir,
    user: User,
    addresses: BTreeMap<String, Vec<String>>,
}

impl Machine {
    /// A machine with vfio-pci and ixgbe loaded, and no devices.
    pub fn new() -> Self {
        let (uid, name) = (0, "root".to_owned());
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            user: User { uid, name },
            addresses: BTreeMap::new(),
        };
        for folder in [
            "bus/pci/drivers/vfio-pci",
            "bus/pci/drivers/ixgbe",
            "bus/pci/devices",
        ] {
            machine.folder(&format!("/sys/{folder}"));
        }
        machine
    }

    /// A machine without problems: two bound ports, and everything else as it should be.
    pub fn healthy() -> Self {
        let machine = Self::new();
        machine.nic(A, Some("vfio-pci"), Some(11));
        machine.nic(B, Some("vfio-pci"), Some(12));
        machine.files_in("", HEALTHY);
        for cpu in 0..8 {
            let limits = "scaling_min_freq 3300000\nscaling_max_freq 3300000";
            machine.files_in(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq"), limits);
        }
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

    /// Writes several files: lines of a name and a text.
    pub fn files_in(&self, folder: &str, files: &str) {
        for line in files.lines() {
            let (name, text) = line.split_once(' ').unwrap();
            self.file(&format!("{folder}/{name}"), &format!("{text}\n"));
        }
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
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
    }

    /// The same machine, used by ada, who is not root.
    pub fn used_by_ada(mut self) -> Self {
        let (uid, name) = (54_321, "ada".to_owned());
        self.user = User { uid, name };
        self
    }

    pub fn device(&self, address: &str, (vendor, device): (&str, &str), driver: Option<&str>) {
        let folder = format!("/sys/bus/pci/devices/{address}");
        let files = format!("vendor 0x{vendor}\ndevice 0x{device}\ndriver_override (null)");
        self.files_in(&folder, &files);
        if let Some(driver) = driver {
            self.link(
                &format!("{folder}/driver"),
                &format!("../../drivers/{driver}"),
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
        self.device(address, ("8086", "10fb"), driver);
        let folder = format!("/sys/bus/pci/devices/{address}");
        self.files_in(&folder, PORT);
        if let Some(group) = group {
            self.in_group(address, group);
        }
        match driver {
            Some("vfio-pci") => self.file(&format!("{folder}/driver_override"), "vfio-pci\n"),
            Some("ixgbe") => {
                let name = format!("eth{}", address.chars().last().unwrap());
                self.folder(&format!("{folder}/net/{name}"));
                let interface = "flags 0x1003\ncarrier 1\nspeed 10000";
                self.files_in(&format!("/sys/class/net/{name}"), interface);
            }
            _ => {}
        }
    }

    pub fn ip_address(&mut self, interface: &str, address: &str) {
        let list = self.addresses.entry(interface.to_owned()).or_default();
        list.push(address.to_owned());
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
        let link = format!("/sys/bus/pci/devices/{address}/driver");
        self.system().link_name(&link)
    }

    pub fn driver_override(&self, address: &str) -> String {
        let file = format!("/sys/bus/pci/devices/{address}/driver_override");
        self.system().read(&file).unwrap().replace("(null)", "")
    }

    /// Everything that `bind` can change, for comparisons.
    pub fn state(&self) -> Vec<String> {
        let mut state = self.system().entries("/sys/bus/pci/devices");
        for device in &mut state {
            let (driver, only) = (self.driver(device), self.driver_override(device));
            *device = format!("{device} {driver:?} {only}");
        }
        state.extend(self.system().entries("/dev/vfio"));
        state
    }
}

/// A kernel that binds and unbinds drivers as `bind` expects.
pub struct SimulatedKernel<'a> {
    pub machine: &'a Machine,
    /// Whether the user has pressed Ctrl-C.
    pub interrupted: bool,
    /// A device and a driver that silently refuses it.
    pub refuses: Option<(&'static str, &'static str)>,
    /// A file with which every command fails.
    pub broken: String,
    /// All commands, less the root folder.
    pub commands: RefCell<Vec<String>>,
}

impl<'a> SimulatedKernel<'a> {
    pub fn of(machine: &'a Machine) -> Self {
        Self {
            machine,
            refuses: None,
            broken: String::new(),
            interrupted: false,
            commands: RefCell::default(),
        }
    }

    fn bind(&self, address: &str, driver: &str) {
        if self.refuses == Some((address, driver)) {
            return;
        }
        let link = format!("/sys/bus/pci/devices/{address}/driver");
        self.machine.link(&link, &format!("../../drivers/{driver}"));
        if driver == "vfio-pci" {
            self.machine.file(&self.node(address), "");
        }
    }

    fn unbind(&self, address: &str) {
        let link = format!("/sys/bus/pci/devices/{address}/driver");
        fs::remove_file(self.machine.path(&link)).unwrap();
        // The kernel removes the file with the last device of the group. All groups here have one.
        let _ = fs::remove_file(self.machine.path(&self.node(address)));
    }

    fn node(&self, address: &str) -> String {
        let link = format!("/sys/bus/pci/devices/{address}/iommu_group");
        let group = self.machine.system().link_name(&link).unwrap();
        format!("/dev/vfio/{group}")
    }

    fn write(&self, path: &str, value: &str) {
        let path_in_bus = path.trim_start_matches("/sys/bus/pci/");
        match path_in_bus.split('/').collect::<Vec<_>>().as_slice() {
            ["devices", _, "driver_override"] => self.machine.file(path, value.trim()),
            ["devices", address, "driver", "unbind"] => {
                assert_eq!(*address, value, "the kernel says ENODEV");
                self.unbind(value);
            }
            ["drivers_probe"] if self.machine.driver(value).is_some() => {}
            ["drivers_probe"] => match self.machine.driver_override(value).as_str() {
                "" => self.bind(value, "ixgbe"),
                driver => self.bind(value, driver),
            },
            _ => panic!("{path}"),
        }
    }
}

impl Control for SimulatedKernel<'_> {
    fn run(&self, words: &[&str], input: &str) -> Result<()> {
        let line = format!("{} {}", words.join(" "), input.trim());
        let root = self.machine.folder.path().to_str().unwrap();
        let line = line.replace(root, "").trim().to_owned();
        self.commands.borrow_mut().push(line);
        let path = words.last().and_then(|path| path.strip_prefix(root));
        let path = path.unwrap_or("nothing");
        ensure!(self.broken != path, "{path}: No such device");
        match words {
            ["tee", _] => self.write(path, input),
            ["modprobe", name @ ("vfio-pci" | "ixgbe")] => {
                self.machine.folder(&format!("/sys/bus/pci/drivers/{name}"));
            }
            ["modprobe", name] => bail!("{name} not found"),
            ["chown", _, path] => assert!(Path::new(path).exists(), "{path}"),
            ["udevadm", ..] => bail!("not here"),
            _ => panic!("{words:?}"),
        }
        Ok(())
    }
}
