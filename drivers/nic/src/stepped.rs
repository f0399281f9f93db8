//! A NIC without sockets and threads, for the crate `hostile-fuzz`: the caller passes the connection,
//! and each call does one step in the caller's thread. The same steps always have the same effect.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{eventfd, EventfdFlags, PollFlags};

use crate::config::NicConfig;
use crate::data_plane::plane::DataPlane;
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::device::shared_device::SharedDevice;
use crate::nic;
use crate::pci_function::SessionEnd;
use crate::port::Port;
use crate::socket::wait;
use crate::vfio_user::protocol::{Connection, ConnectionError};
use crate::vfio_user::session::Session;

/// Longest wait for the rest of a message. In one thread, the rest never comes.
const PEER_TIMEOUT: Duration = Duration::from_millis(1);

/// A NIC that the caller steps. Clients connect to port 0.
#[derive(Debug)]
pub struct SteppedNic {
    /// The data plane of all ports.
    pub plane: DataPlane,
    /// Port 0.
    pub port: Port,
    function: Arc<SharedDevice>,
    /// Never written to: only servers with threads have to be stopped.
    stop: OwnedFd,
    client: Option<UnixStream>,
}

impl SteppedNic {
    /// Makes the devices and the data plane.
    pub fn new(config: &NicConfig) -> io::Result<Self> {
        let devices = nic::devices(config, None)?;
        let ports: Vec<_> = (0..devices.len()).collect();
        let wires = devices.iter().map(|_| None).collect();
        Ok(Self {
            plane: DataPlane::new(config, &devices, &ports, wires),
            port: Port::new(0, PathBuf::new(), devices[0].clone()),
            function: devices[0].clone(),
            stop: eventfd(0, EventfdFlags::CLOEXEC)?,
            client: None,
        })
    }

    /// Takes a client that has sent its first message. Returns false, and disconnects the client, if
    /// they do not agree on a version.
    pub fn connect(&mut self, client: UnixStream) -> bool {
        self.disconnect();
        self.client = Some(client);
        self.step(|session, connection| session.agree_on_version(connection));
        self.client.is_some()
    }

    /// Answers a message, if one has begun to arrive. Disconnects a client that breaks the protocol.
    /// Returns false if there is no message.
    pub fn answer(&mut self) -> bool {
        let Some(client) = &self.client else {
            return false;
        };
        let ready = wait(&[(client.as_fd(), PollFlags::IN)], Some(Duration::ZERO));
        if !ready.is_ok_and(|ready| ready == [true]) {
            return false;
        }
        self.step(|session, connection| session.answer_one(connection));
        true
    }

    fn step(
        &mut self,
        act: impl FnOnce(&Session<'_>, &Connection<'_>) -> Result<(), ConnectionError>,
    ) {
        let Some(client) = self.client.take() else {
            return;
        };
        let session = Session::new(&self.function);
        let connection = Connection::new(&client, self.stop.as_fd(), PEER_TIMEOUT);
        match act(&session, &connection) {
            Ok(()) => self.client = Some(client),
            Err(_) => self.function.lock().end_session(SessionEnd::Disconnected),
        }
    }

    /// Ends the client's session, if there is one.
    pub fn disconnect(&mut self) {
        if self.client.take().is_some() {
            self.function.lock().end_session(SessionEnd::Disconnected);
        }
    }

    /// Whether a client is connected.
    pub fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Stores a value to a register page that the driver may map, without a message.
    pub fn store_shared(&self, page: usize, offset: u32, value: u32) {
        let address = SHARED_PAGES[page % SHARED_PAGES.len()] + offset % PAGE;
        let device = self.function.lock();
        let word = device.registers.memory().word(address);
        word.store(value, Ordering::Relaxed);
    }
}
