//! The namespace in which the ports of the card exist: an own `/dev`, and parts of `/sys`. It ends with
//! its last process, and leaves nothing in the file systems of the machine.

mod devices;
mod folder;
mod mounts;
mod sysfs;
mod user;

use std::path::{Path, PathBuf};

use anyhow::Result;
use bridge_config::{Config, Port};

use super::port_identity::PortIdentity;
pub use folder::FOLDER;

/// Bus number of the first port.
const FIRST_BUS: usize = 3;
/// IOMMU group of the first port.
const FIRST_GROUP: u32 = 23;

/// How the ports appear.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The socket of each port.
    pub sockets: Vec<PathBuf>,
    /// All ports are in one IOMMU group.
    pub same_group: bool,
    /// Bits of an IOVA.
    pub address_width: u8,
    /// Most bytes for DMA.
    pub memlock: Option<u64>,
    /// Groups and devices cannot be opened.
    pub permission_denied: bool,
}

impl Layout {
    /// What the bridge must know.
    pub fn config(&self) -> Config {
        let port = |(index, socket): (usize, &PathBuf)| Port {
            address: format!("0000:{:02x}:00.0", FIRST_BUS + index),
            group: FIRST_GROUP + if self.same_group { 0 } else { index as u32 },
            cdev: format!("vfio{index}"),
            socket: socket.clone(),
        };
        Config {
            ports: self.sockets.iter().enumerate().map(port).collect(),
            memlock: self.memlock,
            placeholders: Path::new(FOLDER).join("placeholders"),
            address_width: self.address_width,
        }
    }
}

/// Puts this process into a new namespace with an own `/dev`, in which [`FOLDER`] exists. Its parts in
/// `/sys` follow with [`add_ports`].
///
/// # Errors
/// The system permits no namespace; the text says what to change.
pub fn enter() -> Result<()> {
    user::unshare()?;
    mounts::detach()?;
    devices::replace()
}

/// Adds the ports to the namespace of this process.
///
/// # Errors
/// A file or a mount failed.
pub fn add_ports(layout: &Layout, config: &Config, identities: &[PortIdentity]) -> Result<()> {
    devices::add(config, layout.permission_denied)?;
    sysfs::add(config, identities)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(same_group: bool) -> Layout {
        Layout {
            sockets: vec!["/a".into(), "/b".into()],
            same_group,
            address_width: 39,
            memlock: None,
            permission_denied: false,
        }
    }

    #[test]
    fn ports_have_consecutive_buses_and_groups() {
        let config = layout(false).config();
        let names = config
            .ports
            .iter()
            .map(|port| (port.address.as_str(), port.group));
        let expected = [("0000:03:00.0", 23), ("0000:04:00.0", 24)];
        assert_eq!(names.collect::<Vec<_>>(), expected);
        assert_eq!(config.ports[1].cdev, "vfio1");
        assert_eq!(config.address_width, 39);
    }

    #[test]
    fn ports_can_share_a_group() {
        let config = layout(true).config();
        assert!(config.ports.iter().all(|port| port.group == 23));
    }
}
