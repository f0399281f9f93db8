//! The card's ports, as the launcher named them.

use std::path::Path;
use std::sync::OnceLock;

use bridge_config::{default_address_width, Config, MAX_PORTS};

use crate::card::connection::Connection;

static CONFIG: OnceLock<Config> = OnceLock::new();

static CONNECTIONS: [Connection; MAX_PORTS] = [const { Connection::new() }; MAX_PORTS];

/// Sets the configuration. Only the first call counts.
pub(crate) fn configure(config: Config) {
    let _ = CONFIG.set(config);
}

/// The configuration; `None` in a program without the launcher.
pub(crate) fn config() -> Option<&'static Config> {
    CONFIG.get()
}

/// Bits of an IOVA.
pub(crate) fn address_width() -> u8 {
    config().map_or_else(default_address_width, |config| config.address_width)
}

/// A port's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port(pub(crate) usize);

impl Port {
    fn settings(self) -> Option<&'static bridge_config::Port> {
        config()?.ports.get(self.0)
    }

    /// The port's PCI address.
    pub(crate) fn address(self) -> &'static str {
        self.settings().map_or("?", |port| &port.address)
    }

    /// The number of the port's group.
    pub(crate) fn group(self) -> u32 {
        self.settings().map_or(0, |port| port.group)
    }

    /// The path of the port's socket.
    pub(crate) fn socket(self) -> &'static Path {
        self.settings().map_or(Path::new(""), |port| &port.socket)
    }

    /// The name of the port's character device.
    pub(crate) fn cdev(self) -> &'static str {
        self.settings().map_or("?", |port| &port.cdev)
    }

    /// The connection to the port.
    pub(crate) fn connection(self) -> &'static Connection {
        &CONNECTIONS[self.0 % MAX_PORTS]
    }
}

/// All ports.
pub(crate) fn all() -> impl Iterator<Item = Port> {
    (0..config().map_or(0, |config| config.ports.len())).map(Port)
}
