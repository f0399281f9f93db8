//! The software NIC with two ports, for one test.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use nic::{DataPlane, Nic, NicConfig, Port, RunningDataPlane, SessionReport};
use tempfile::TempDir;

use crate::lockstep::settle;
use crate::{Implementation, Program};

/// How long [`wait_until`] waits.
const LIMIT: Duration = Duration::from_secs(10);
/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(1);

/// Waits until something is so.
///
/// # Errors
/// If it is not so after ten seconds; `what` says what was waited for.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        ensure!(Instant::now() < deadline, "waited {LIMIT:?} for {what}");
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}

/// Keeps two processors for a test: a data plane and a driver, both of which poll all the time.
/// Others that want them wait. Only for threads of one process: Cargo runs the files with tests
/// one after the other.
pub fn processors() -> MutexGuard<'static, ()> {
    static PROCESSORS: Mutex<()> = Mutex::new(());
    // A test that failed has let go of them all the same.
    PROCESSORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A NIC with two ports, which are each other's peers, and a folder for files of the test.
#[derive(Debug)]
pub struct TestNic {
    // In the order in which they must go.
    data_plane: Option<RunningDataPlane>,
    nic: Nic,
    directory: TempDir,
    _processors: Option<MutexGuard<'static, ()>>,
}

impl TestNic {
    /// A NIC whose data plane runs in a thread of its own. `change` makes it other than
    /// [`NicConfig::new`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn running(change: impl FnOnce(NicConfig) -> NicConfig) -> Result<Self> {
        let processors = processors();
        let mut test_nic = Self::still(change)?;
        test_nic.data_plane = Some(test_nic.nic.run_data_plane()?);
        test_nic._processors = Some(processors);
        Ok(test_nic)
    }

    /// A NIC that answers drivers, but whose data plane does nothing unless it is stepped.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn still(change: impl FnOnce(NicConfig) -> NicConfig) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let nic = Nic::new(change(NicConfig::new(directory.path(), 2)))?;
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

    /// The names of its devices, as drivers want them.
    pub fn devices(&self) -> [String; 2] {
        [0, 1].map(|port| self.ports()[port].device_name())
    }

    /// A path in the folder of the test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// An implementation's forwarder between the two ports, with its totals in a file. Other
    /// arguments can be added.
    ///
    /// # Errors
    /// If it has not been built.
    pub fn forwarder(&self, implementation: Implementation) -> Result<Program> {
        let [device_a, device_b] = self.devices();
        let program = Program::forwarder(implementation)?;
        Ok(program
            .json(self.path("totals.json"))
            .arg(device_a)
            .arg(device_b))
    }

    /// Waits until frames have come to both ports' driver, `packets` each since the NIC exists.
    ///
    /// # Errors
    /// If they do not come.
    pub fn wait_for_traffic(&self, packets: u64) -> Result<()> {
        wait_until("traffic", || {
            self.ports()
                .iter()
                .all(|port| port.stats().transmitted >= packets)
        })
    }

    /// Waits until the drivers are gone, and tells how they left the devices: port 0, port 1.
    ///
    /// # Errors
    /// If they do not go, or there never were any.
    pub fn sessions(&self) -> Result<Vec<SessionReport>> {
        wait_until("the drivers to disconnect", || {
            self.ports().iter().all(|port| !port.connected())
        })?;
        let last = |port: &Port| {
            port.last_session()
                .with_context(|| format!("port {} had no driver", port.index()))
        };
        self.ports().iter().map(last).collect()
    }

    /// Stops the data plane's thread. What the NIC counts is final then, if the drivers are gone.
    ///
    /// # Errors
    /// If it does not run.
    pub fn stop_data_plane(&mut self) -> Result<DataPlane> {
        let Some(running) = self.data_plane.take() else {
            bail!("the data plane does not run")
        };
        let mut data_plane = running.stop().context("the data plane panicked")?;
        settle(&mut data_plane);
        Ok(data_plane)
    }

    /// Disconnects drivers and removes the sockets, as if the NIC were pulled out.
    pub fn stop(&mut self) {
        self.nic.stop();
    }
}
