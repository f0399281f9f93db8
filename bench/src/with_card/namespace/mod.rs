//! The namespace in which the ports of the card exist: an own `/dev`, `/proc`, and parts of `/sys`. It ends with its
//! last process, and leaves nothing in the file systems of the machine.

mod devices;
mod mounts;
mod sysfs;
mod user;

use std::path::{Path, PathBuf};

use anyhow::Result;
use bridge_config::{Config, Port};

use super::arguments::WithCardArguments;
pub(super) use mounts::{FOLDER, PROC};

/// Bus number of the first port.
const FIRST_BUS: usize = 3;
/// IOMMU group of the first port.
const FIRST_GROUP: u32 = 23;

/// What the bridge must know of the ports with these sockets.
pub(super) fn config(arguments: &WithCardArguments, sockets: Vec<PathBuf>) -> Config {
    let port = |(index, socket)| Port {
        address: format!("0000:{:02x}:00.0", FIRST_BUS + index),
        group: FIRST_GROUP
            + if arguments.same_group {
                0
            } else {
                index as u32
            },
        cdev: format!("vfio{index}"),
        socket,
    };
    Config {
        ports: sockets.into_iter().enumerate().map(port).collect(),
        memlock: arguments.memlock,
        placeholders: Path::new(FOLDER).join("placeholders"),
        address_width: arguments.aw_bits,
    }
}

/// Puts this process into a new mount namespace with an own `/dev`, in which [`FOLDER`] exists, and its children into a
/// new PID namespace.
///
/// # Errors
/// The system permits no namespace; the text says what to change.
pub(super) fn enter() -> Result<()> {
    user::unshare()?;
    mounts::detach()?;
    devices::replace()
}

/// Adds the ports to the namespace, and the `/proc` at [`PROC`] if it is there. This process is not in that one.
///
/// # Errors
/// A file or a mount failed, or a port of the card does not answer.
pub(super) fn add_ports(config: &Config, permission_denied: bool) -> Result<()> {
    devices::add(config, permission_denied)?;
    sysfs::add(config)?;
    let proc = Path::new(PROC);
    if proc.join("1").exists() {
        mounts::bind(proc, Path::new("/proc"))
    } else {
        Ok(())
    }
}
