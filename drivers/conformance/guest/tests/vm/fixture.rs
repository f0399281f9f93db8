//! Machines that several tests share, and the NICs in them.

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

/// What all machines have in common.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    image: Arc<Image>,
    accelerator: Accelerator,
    logs: PathBuf,
}

impl Bench {
    pub(crate) fn new(fetched: &Path, agent: &Path, logs: &Path) -> Result<Self> {
        Ok(Self {
            image: Arc::new(Image::prepare(fetched, agent)?),
            accelerator: Accelerator::choose()?,
            logs: logs.to_owned(),
        })
    }

    pub(crate) fn boot(&self, machine: &Machine) -> Result<Vm> {
        let vm = Vm::boot(machine, &self.image, self.accelerator, &self.logs)?;
        // For files of root as well as of others.
        vm.shell("mkdir -m 0777 /out")?;
        Ok(vm)
    }
}

impl fmt::Display for Bench {
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

/// A machine that is booted for the first of its tests and switched off after the last.
struct Shared<T> {
    bench: Option<Bench>,
    make: fn(&Bench) -> Result<T>,
    made: Mutex<Option<Result<T, String>>>,
}

impl<T> Shared<T> {
    fn run(&self, test: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
        // A test that panicked has left the machine to the others.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let fixture = made.get_or_insert_with(|| {
            let bench = self.bench.as_ref().ok_or("only listed")?;
            (self.make)(bench).map_err(|error| format!("{error:#}"))
        });
        match fixture {
            Ok(fixture) => test(fixture),
            // The first to find it out tells why.
            Err(error) if !error.is_empty() => Err(anyhow!(std::mem::take(error))),
            Err(_) => Err(anyhow!(
                "there is no such machine: see the first of its tests"
            )),
        }
    }
}

/// A test of a machine.
pub(crate) struct Test<T> {
    name: String,
    run: Body<T>,
}

type Body<T> = Box<dyn FnOnce(&mut T) -> Result<()> + Send>;

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

/// The tests of one machine, which `make` boots.
pub(crate) fn on_machine<T: Send + 'static>(
    bench: &Option<Bench>,
    machine: &str,
    make: fn(&Bench) -> Result<T>,
    tests: Vec<Test<T>>,
) -> Vec<Trial> {
    let shared = Arc::new(Shared {
        bench: bench.clone(),
        make,
        made: Mutex::new(None),
    });
    let logs = bench.as_ref().map(|bench| bench.logs.join(machine));
    let trial = |test: Test<T>| {
        let (shared, logs) = (shared.clone(), logs.clone());
        Trial::test(format!("{machine}::{}", test.name), move || {
            let began = Instant::now();
            let result = shared.run(test.run);
            // Where the time goes is asked each time that there is too little of it.
            eprint!("({:.1} s) ", began.elapsed().as_secs_f64());
            result.map_err(|error| {
                let logs = logs.unwrap_or_default();
                Failed::from(format!("{error:?}\nSee {}*.log", logs.display()))
            })
        })
    };
    tests.into_iter().map(trial).collect()
}

/// A NIC with two ports, which serves a machine.
pub(crate) struct Ports {
    // In the order in which they must go.
    _data_plane: RunningDataPlane,
    pub(crate) nic: Nic,
    _directory: TempDir,
    /// Where the ports are in the guest.
    pub(crate) addresses: [String; 2],
}

impl Ports {
    /// A NIC whose ports are in these slots of bus `bus`, and what the machine has to be given.
    pub(crate) fn new(
        bus: u8,
        slots: [u8; 2],
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<(Self, [Device; 2])> {
        let directory = TempDir::with_prefix("vm-nic-")?;
        let nic = Nic::new(change(NicConfig::new(directory.path(), 2)))?;
        let device = |port: usize| Device {
            socket: nic.ports()[port].socket().to_owned(),
            slot: slots[port],
            shared_bus: bus != 0,
        };
        let devices = [device(0), device(1)];
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

    /// What has been counted, when that does not change any more.
    pub(crate) fn settled(&self) -> Result<Vec<PortCounters>> {
        let look = || self.ports().iter().map(Port::stats).collect::<Vec<_>>();
        let mut before = look();
        wait_until("the counters to stand still", || {
            std::thread::sleep(Duration::from_millis(30));
            let now = look();
            let same = now == before;
            before = now;
            same
        })?;
        Ok(before)
    }

    /// Waits until each port has sent so many frames more than `since`.
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

/// Binds a device to a driver, whatever had it before.
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
