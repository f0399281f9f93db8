//! The card's ports, as the launcher named them.

use std::path::Path;
use std::sync::OnceLock;

use bridge_config::{Config, MAX_PORTS};

use crate::card::requests::Card;
use crate::card::session::Session;

static CONFIG: OnceLock<Config> = OnceLock::new();

static SESSIONS: [Session; MAX_PORTS] = [const { Session::new() }; MAX_PORTS];

/// Sets the configuration. Only the first call counts.
pub(crate) fn configure(config: Config) {
    let _ = CONFIG.set(config);
}

/// The configuration; `None` in a program without the launcher.
pub(crate) fn config() -> Option<&'static Config> {
    CONFIG.get()
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
    pub(crate) fn session(self) -> &'static Session {
        &SESSIONS[self.0 % MAX_PORTS]
    }

    /// The port as the bridge reaches it.
    pub(crate) fn card(self) -> Card<'static> {
        Card {
            name: self.address(),
            session: self.session(),
        }
    }
}

/// All ports.
pub(crate) fn all() -> impl Iterator<Item = Port> {
    (0..config().map_or(0, |config| config.ports.len())).map(Port)
}
