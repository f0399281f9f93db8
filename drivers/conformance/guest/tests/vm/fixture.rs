//! Machines that several tests share, and their NICs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use conformance::wait_until;
use guest::{Accelerator, Device, Image, Iommu, Machine, Vm};
use libtest_mimic::{Failed, Trial};
use nic::{Faults, Nic, NicConfig, Port, PortCounters, RunningDataPlane, Traffic};
use tempfile::TempDir;

/// The image, accelerator and log folder of all machines.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    image: Arc<Image>,
    accelerator: Accelerator,
    logs: PathBuf,
}

impl Environment {
    pub(crate) fn new(fetched: &Path, agent: &Path, logs: &Path) -> Result<Self> {
        Ok(Self {
            image: Arc::new(Image::prepare(fetched, agent)?),
            accelerator: Accelerator::choose()?,
            logs: logs.to_owned(),
        })
    }

    pub(crate) fn boot(&self, machine: &Machine) -> Result<Vm> {
        let vm = Vm::boot(machine, &self.image, self.accelerator, &self.logs)?;
        // Root and other users write files here.
        vm.shell("mkdir -m 0777 /out")?;
        Ok(vm)
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = |package: &str| {
            let line = self
                .image
                .versions
                .lines()
                .find(|line| line.starts_with(package));
            line.unwrap_or(package).to_owned()
        };
        let (qemu, kernel) = (version("qemu-system-x86 "), version("linux-image-"));
        write!(
            f,
            "{qemu}, {kernel}, {:?}; logs in {}",
            self.accelerator,
            self.logs.display()
        )
    }
}

/// A machine that boots for the first of its tests and ends after the last.
struct SharedMachine<T> {
    environment: Option<Environment>,
    boot: fn(&Environment) -> Result<T>,
    booted: Mutex<Option<Result<T, String>>>,
}

impl<T> SharedMachine<T> {
    fn run(&self, test: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
        // The other tests use the machine even after one has panicked.
        let mut booted = self.booted.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = booted.get_or_insert_with(|| {
            let environment = self
                .environment
                .as_ref()
                .ok_or("the tests are only listed")?;
            (self.boot)(environment).map_err(|error| format!("{error:#}"))
        });
        match machine {
            Ok(machine) => test(machine),
            // Only the first test reports why the machine did not boot.
            Err(error) if !error.is_empty() => Err(anyhow!(std::mem::take(error))),
            Err(_) => Err(anyhow!("the machine did not boot: see its first test")),
        }
    }
}

/// A test of a machine.
pub(crate) struct Test<T> {
    name: String,
    run: TestFunction<T>,
}

type TestFunction<T> = Box<dyn FnOnce(&mut T) -> Result<()> + Send>;

impl<T> Test<T> {
    pub(crate) fn new(
        name: impl Into<String>,
        run: impl FnOnce(&mut T) -> Result<()> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
        }
    }
}

/// The tests of one machine, which `boot` boots.
pub(crate) fn on_machine<T: Send + 'static>(
    environment: &Option<Environment>,
    machine: &str,
    boot: fn(&Environment) -> Result<T>,
    tests: Vec<Test<T>>,
) -> Vec<Trial> {
    let shared = Arc::new(SharedMachine {
        environment: environment.clone(),
        boot,
        booted: Mutex::new(None),
    });
    let logs = environment
        .as_ref()
        .map(|environment| environment.logs.join(machine));
    let trial = |test: Test<T>| {
        let (shared, logs) = (shared.clone(), logs.clone());
        Trial::test(format!("{machine}::{}", test.name), move || {
            let began = Instant::now();
            let result = shared.run(test.run);
            // The time of each test shows where the time of a run goes.
            eprint!("({:.1} s) ", began.elapsed().as_secs_f64());
            result.map_err(|error| {
                let logs = logs.unwrap_or_default();
                Failed::from(format!("{error:?}\nSee {}*.log", logs.display()))
            })
        })
    };
    tests.into_iter().map(trial).collect()
}

/// A NIC with `N` ports in a machine.
pub(crate) struct Ports<const N: usize = 2> {
    // Dropped in this order.
    _data_plane: RunningDataPlane,
    pub(crate) nic: Nic,
    _directory: TempDir,
    /// The ports' PCI addresses in the guest.
    pub(crate) addresses: [String; N],
}

impl<const N: usize> Ports<N> {
    /// A NIC with ports in these slots of bus `bus`, and the devices for the machine.
    pub(crate) fn new(
        bus: u8,
        slots: [u8; N],
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<(Self, [Device; N])> {
        let directory = TempDir::with_prefix("vm-nic-")?;
        let nic = Nic::new(change(NicConfig::new(directory.path(), N)))?;
        let device = |port: usize| Device {
            socket: nic.ports()[port].socket().to_owned(),
            slot: slots[port],
            shared_bus: bus != 0,
        };
        let devices = std::array::from_fn(device);
        let ports = Self {
            _data_plane: nic.run_data_plane()?,
            nic,
            _directory: directory,
            addresses: slots.map(|slot| format!("0000:{bus:02x}:{slot:02x}.0")),
        };
        Ok((ports, devices))
    }

    pub(crate) fn ports(&self) -> &[Port] {
        self.nic.ports()
    }

    pub(crate) fn set_traffic(&self, traffic: &Traffic) {
        for port in self.ports() {
            port.set_traffic(*traffic);
        }
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        for port in self.ports() {
            port.set_faults(faults);
        }
    }

    /// Waits until the ports' counters stop changing, and returns them.
    pub(crate) fn settled(&self) -> Result<Vec<PortCounters>> {
        let read = || self.ports().iter().map(Port::stats).collect::<Vec<_>>();
        let mut before = read();
        wait_until("the counters to stop", || {
            std::thread::sleep(Duration::from_millis(30));
            let now = read();
            let same = now == before;
            before = now;
            same
        })?;
        Ok(before)
    }

    /// Waits until each port has sent `frames` frames since the counters `since`.
    pub(crate) fn wait_for_traffic(&self, since: &[PortCounters], frames: u64) -> Result<()> {
        wait_until("traffic", || {
            self.ports()
                .iter()
                .zip(since)
                .all(|(port, since)| port.stats().transmitted >= since.transmitted + frames)
        })
    }

    /// Waits until both ports receive and send.
    pub(crate) fn wait_until_enabled(&self) -> Result<()> {
        wait_until("both ports to be enabled", || {
            self.ports()
                .iter()
                .map(Port::snapshot)
                .all(|port| port.rx_enabled && port.tx_enabled)
        })
    }
}

/// Binds a device to a driver and unbinds its previous one.
pub(crate) fn bind(vm: &Vm, address: &str, driver: &str) -> Result<()> {
    let device = format!("/sys/bus/pci/devices/{address}");
    vm.shell(&format!(
        "echo {driver} >{device}/driver_override
         if [ -e {device}/driver ]; then echo {address} >{device}/driver/unbind; fi
         echo {address} >/sys/bus/pci/drivers_probe
         [ \"$(basename $(readlink {device}/driver))\" = {driver} ]"
    ))
    .map(drop)
    .with_context(|| format!("binding {address} to {driver}"))
}

/// A machine, with or without an IOMMU.
pub(crate) fn machine(name: &str, address_bits: Option<u8>, devices: &[Device]) -> Machine {
    Machine {
        name: name.to_owned(),
        iommu: address_bits.map(|address_bits| Iommu { address_bits }),
        devices: devices.to_vec(),
    }
}
