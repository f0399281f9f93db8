//! Machines that several tests share, and their NICs.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{anyhow, ensure, Result};
use conformance::wait_until;
use libtest_mimic::{Failed, Trial};
use nic::{Faults, Nic, NicConfig, Port, PortCounters, RunningDataPlane, Traffic};
use tempfile::TempDir;

use crate::environment::{Environment, Prepared};
use crate::vm::Device;

/// A test of a machine: its name, and what it does.
pub(crate) type Test<T> = (String, Box<dyn Fn(&T) -> Result<()> + Send>);

/// Makes a test from a name and a function.
pub(crate) fn test<T>(
    name: impl Into<String>,
    run: impl Fn(&T) -> Result<()> + Send + 'static,
) -> Test<T> {
    (name.into(), Box::new(run))
}

/// Pairs each test function with its name.
macro_rules! named {
    ($($test:ident),+ $(,)?) => {
        [$((stringify!($test), $test as _)),+]
    };
}
pub(crate) use named;

/// The tests of one machine. It boots for the first of them and ends after the last.
pub(crate) fn on_machine<T: Send + 'static>(
    environment: &Prepared,
    name: &'static str,
    boot: impl Fn(&Environment, &str) -> Result<T> + Send + Sync + 'static,
    tests: impl IntoIterator<Item = Test<T>>,
) -> Vec<Trial> {
    let shared = Arc::new((boot, Mutex::new(None)));
    let trial = |(test, run): Test<T>| {
        let (shared, environment) = (shared.clone(), environment.clone());
        Trial::test(format!("{name}::{test}"), move || {
            let began = Instant::now();
            let environment = environment.ok_or("the tests are only listed")?;
            let (boot, booted) = &*shared;
            // The other tests use the machine even after one has panicked.
            let mut booted = booted.lock().unwrap_or_else(PoisonError::into_inner);
            let machine = booted.get_or_insert_with(|| boot(&environment, name));
            let result = match machine {
                Ok(machine) => run(machine),
                Err(error) => Err(anyhow!("{error:#}")),
            };
            // The time of each test shows where the time of a run goes.
            eprint!("({:.1} s) ", began.elapsed().as_secs_f64());
            let log = environment.log(name);
            result.map_err(|error| Failed::from(format!("{error:?}\nSee {}", log.display())))
        })
    };
    tests.into_iter().map(trial).collect()
}

/// A NIC with `N` ports in a machine.
pub(crate) struct Ports<const N: usize = 2> {
    // Dropped in this order.
    _data_plane: RunningDataPlane,
    pub(crate) nic: RefCell<Nic>,
    _directory: TempDir,
    pub(crate) ports: Vec<Port>,
    /// The ports' PCI addresses in the guest.
    pub(crate) addresses: [String; N],
}

impl<const N: usize> Ports<N> {
    /// A NIC with ports in the slots from `slot` of a bus. Adds them to the devices of a machine.
    pub(crate) fn new(
        devices: &mut Vec<Device>,
        bus: u8,
        slot: u8,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        let directory = TempDir::with_prefix("vm-nic-")?;
        let nic = Nic::new(change(NicConfig::new(directory.path(), N)))?;
        let slots = slot..;
        devices.extend(
            nic.ports()
                .iter()
                .zip(slots.clone())
                .map(|(port, slot)| Device {
                    socket: port.socket().to_owned(),
                    bus,
                    slot,
                }),
        );
        let mut addresses = slots.map(|slot| format!("0000:{bus:02x}:{slot:02x}.0"));
        Ok(Self {
            _data_plane: nic.run_data_plane()?,
            ports: nic.ports().to_vec(),
            nic: RefCell::new(nic),
            _directory: directory,
            addresses: std::array::from_fn(|_| addresses.next().unwrap_or_default()),
        })
    }

    pub(crate) fn set_traffic(&self, traffic: Traffic) {
        self.ports.iter().for_each(|port| port.set_traffic(traffic));
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.ports.iter().for_each(|port| port.set_faults(faults));
    }

    /// Waits until the ports' counters stop changing, and returns them.
    pub(crate) fn settled(&self) -> Result<Vec<PortCounters>> {
        let read = || self.ports.iter().map(Port::stats).collect::<Vec<_>>();
        let mut before = read();
        wait_until("the counters to stop", || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            let now = read();
            std::mem::replace(&mut before, now.clone()) == now
        })?;
        Ok(before)
    }

    /// Waits until each port has sent so many frames since these counters.
    pub(crate) fn wait_for_traffic(&self, since: &[PortCounters], frames: u64) -> Result<()> {
        wait_until("traffic", || {
            let mut ports = self.ports.iter().zip(since);
            ports.all(|(port, since)| port.stats().transmitted >= since.transmitted + frames)
        })
    }

    /// Waits until all ports receive and send.
    pub(crate) fn wait_until_enabled(&self) -> Result<()> {
        wait_until("the ports to be enabled", || {
            let mut states = self.ports.iter().map(Port::snapshot);
            states.all(|port| port.rx_enabled && port.tx_enabled)
        })
    }

    /// Checks that nothing is enabled, no memory is mapped and no DMA fault occurred.
    pub(crate) fn at_rest(&self) -> Result<()> {
        for port in &self.ports {
            let (index, state) = (port.index(), port.snapshot());
            ensure!(state.quiescent(), "port {index} is not at rest: {state:#?}");
            let maps = port.dma_maps();
            ensure!(
                maps.is_empty(),
                "port {index}: memory is still mapped: {maps:x?}"
            );
            let faults = port.dma_faults();
            ensure!(state.dma_faults == 0, "port {index}: {faults:#?}");
        }
        Ok(())
    }
}
