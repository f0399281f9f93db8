//! A software NIC with two ports, for one test.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{bail, Context, Result};
use nic::{DataPlane, Hardware, Nic, NicConfig, Port, RunningDataPlane, SessionReport, Traffic};
use record::Implementation;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::expect;
use harness::Totals;
use harness::{wait_until, Output, Program};

/// Frames arrive at each port as fast as it can take them.
pub fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// So many million frames a second arrive at each port.
pub fn at_rate(mpps: f64) -> impl Fn(NicConfig) -> NicConfig {
    move |config| config.with_each_port(|port| port.traffic = Traffic::Rate { mpps })
}

/// The test gets the frames that the ports send.
pub fn capturing(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.capture = true)
}

/// Reserves two processors for a test: data plane and driver both poll all the time. Other tests
/// wait. The lock covers one process, because Cargo runs the test files one after the other.
pub fn processors() -> MutexGuard<'static, ()> {
    static PROCESSORS: Mutex<()> = Mutex::new(());
    // A failed test has also released them.
    PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hardware profile of the cards, by name: `TRIPTYCH_HARDWARE=differs` runs the suite on cards that differ
/// from the model.
fn hardware() -> Result<Hardware> {
    match std::env::var("TRIPTYCH_HARDWARE") {
        Ok(name) => name.parse().context("TRIPTYCH_HARDWARE"),
        Err(_) => Ok(Hardware::default()),
    }
}

/// Bytes of the CRC that the cards count of each received frame, although they strip it.
pub fn counted_crc() -> Result<u64> {
    Ok(if hardware()?.bytes_without_crc { 0 } else { 4 })
}

/// A NIC with two ports, which are each other's peers, and a folder for the test's files.
#[derive(Debug)]
pub struct TestNic {
    // Dropped in this order.
    data_plane: Option<RunningDataPlane>,
    nic: Nic,
    directory: TempDir,
    _processors: Option<MutexGuard<'static, ()>>,
}

impl TestNic {
    /// A NIC whose data plane runs in a thread of its own. `change` changes the default
    /// configuration.
    pub fn running(change: impl FnOnce(NicConfig) -> NicConfig) -> Result<Self> {
        let processors = processors();
        let mut test_nic = Self::still(change)?;
        test_nic.data_plane = Some(test_nic.nic.run_data_plane()?);
        test_nic._processors = Some(processors);
        Ok(test_nic)
    }

    /// A NIC that answers drivers, but whose data plane runs only when the test steps it.
    pub fn still(change: impl FnOnce(NicConfig) -> NicConfig) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let hardware = hardware()?;
        let config =
            NicConfig::new(directory.path(), 2).with_each_port(|port| port.hardware = hardware);
        let nic = Nic::new(change(config))?;
        Ok(Self {
            data_plane: None,
            nic,
            directory,
            _processors: None,
        })
    }

    /// The NIC itself.
    pub fn nic(&self) -> &Nic {
        &self.nic
    }

    /// Its ports.
    pub fn ports(&self) -> &[Port] {
        self.nic.ports()
    }

    /// The names of its devices, in the form that drivers accept.
    pub fn devices(&self) -> [String; 2] {
        [0, 1].map(|port| self.ports()[port].device_name())
    }

    /// A path in the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// An implementation's forwarder between the two ports, which writes its totals to a file. The
    /// caller can add arguments.
    pub fn forwarder(&self, implementation: Implementation) -> Result<Program> {
        Ok(self.between_ports(Program::forwarder(implementation)?))
    }

    /// The same for a program with the options of a forwarder.
    pub fn between_ports(&self, program: Program) -> Program {
        program.json(self.path("totals.json")).args(self.devices())
    }

    /// Runs an implementation's forwarder with these arguments to its end, and checks the run as [`TestNic::check_run`].
    pub fn forward(
        &mut self,
        implementation: Implementation,
        arguments: &[&str],
    ) -> Result<Totals> {
        let output = self.forwarder(implementation)?.args(arguments).run()?;
        self.check_run(&output)
    }

    /// Checks exit status, totals, packets and devices of a forwarder that has ended. Stops the data plane.
    pub fn check_run(&mut self, output: &Output) -> Result<Totals> {
        output.expect_success()?;
        let totals = output.totals()?;
        self.expect_rest()?;
        self.stop_data_plane()?;
        expect::nothing_lost(self.ports(), &totals)?;
        Ok(totals)
    }

    /// Waits until the drivers have disconnected, and checks that they left the devices at rest.
    pub fn expect_rest(&self) -> Result<()> {
        self.sessions()?.iter().try_for_each(expect::left_at_rest)
    }

    /// Another program of an implementation, such as `ixgbe-echo`, on one port. It writes its totals to a
    /// file. The caller can add arguments.
    pub fn application(&self, implementation: Implementation, name: &str) -> Result<Program> {
        let program = Program::application(implementation, name)?;
        let totals = self.path("totals.json");
        Ok(program.json(totals).arg(self.ports()[0].device_name()))
    }

    /// Checks that a program on port 0 has succeeded and left its port at rest. Returns its totals.
    pub fn totals_of<T: DeserializeOwned>(&self, output: &Output) -> Result<T> {
        output.expect_success()?;
        expect::left_at_rest(&Self::session(&self.ports()[0])?)?;
        output.totals_as()
    }

    /// Waits until these ports receive and send, and have a link.
    pub fn wait_until_running(&self, ports: impl IntoIterator<Item = usize> + Clone) -> Result<()> {
        wait_until("the devices to run", || {
            ports.clone().into_iter().all(|port| {
                let state = self.ports()[port].snapshot();
                state.rx_enabled && state.tx_enabled && state.link_up
            })
        })
    }

    /// Waits until each port has sent `packets` packets since the NIC was started.
    pub fn wait_for_traffic(&self, packets: u64) -> Result<()> {
        wait_until("traffic", || {
            self.ports()
                .iter()
                .all(|port| port.stats().transmitted >= packets)
        })
    }

    /// Packets that all ports have sent.
    pub fn transmitted(&self) -> u64 {
        self.ports()
            .iter()
            .map(|port| port.stats().transmitted)
            .sum()
    }

    /// Waits until the drivers have disconnected, and returns the reports of port 0 and port 1.
    pub fn sessions(&self) -> Result<Vec<SessionReport>> {
        self.ports().iter().map(Self::session).collect()
    }

    /// Waits until the driver of a port has disconnected, and returns its report.
    pub fn session(port: &Port) -> Result<SessionReport> {
        wait_until("the driver to disconnect", || !port.connected())?;
        port.last_session()
            .with_context(|| format!("port {} had no driver", port.index()))
    }

    /// Stops the data plane's thread. The NIC's counts are then final, if the drivers have ended.
    pub fn stop_data_plane(&mut self) -> Result<DataPlane> {
        let Some(running) = self.data_plane.take() else {
            bail!("the data plane's thread does not run")
        };
        let mut data_plane = running.stop().context("the data plane panicked")?;
        settle(&mut data_plane);
        Ok(data_plane)
    }

    /// Disconnects drivers and removes the sockets, as if the NIC were unplugged.
    pub fn stop(&mut self) {
        self.nic.stop();
    }
}

/// Lets the data plane notice that drivers have ended, and count the frames lost with them.
pub(crate) fn settle(data_plane: &mut DataPlane) {
    // In the first round, a port may learn of the end only after it has published its counts.
    data_plane.poll();
    data_plane.poll();
}
