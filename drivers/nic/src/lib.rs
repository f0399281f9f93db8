//! A software Intel 82599: a PCI network card in a process, which unmodified drivers use.
//!
//! Each port is a [vfio-user](https://www.qemu.org/docs/master/interop/vfio-user.html) device on a
//! UNIX socket. A driver maps its memory into the device, writes registers and fills rings. The
//! device resets, filters, receives, sends and counts as the datasheet says. The NIC also generates
//! the frames that arrive ([`Traffic`]), and checks the frames that come back ([`VerifyMode`]).
//!
//! ```no_run
//! use nic::{Nic, NicConfig, Traffic};
//!
//! # fn main() -> Result<(), nic::NicError> {
//! let config = NicConfig::new("/tmp/nic", 2).with_each_port(|port| port.traffic = Traffic::Saturate);
//! let nic = Nic::new(config)?;
//! let running = nic.run_data_plane()?;
//! // ... a driver opens vfio-user:/tmp/nic/port0.sock and port1.sock, forwards, and leaves ...
//! drop(running);
//! assert!(nic.ports().iter().all(|port| port.stats().verify.clean()));
//! # Ok(())
//! # }
//! ```
//!
//! In lockstep, the caller takes the data plane ([`Nic::data_plane`]) and does one round after the other
//! ([`DataPlane::poll`]), in the same thread as the driver.
//!
//! The crate's README lists the modelled parts of the 82599, and those that are not modelled.

mod config;
mod control;
/// The thread that moves frames between the wires and the drivers' rings.
mod data_plane {
    pub(crate) mod burst;
    pub(crate) mod burst_report;
    mod checked_sink;
    mod pace;
    mod placing;
    pub(crate) mod plane;
    mod port_plane;
    mod tuning;
    mod window;

    pub use pace::Progress;
}
mod device;
mod error;
mod eventfd;
/// The driver's memory as the card reaches it: DMA maps, and what happens when memory disappears.
mod memory {
    pub(crate) mod bus_error;
    pub(crate) mod dma;
    pub(crate) mod dma_fault;
    pub(crate) mod dma_log;
    mod file_mappings;
    pub(crate) mod map_request;
    pub(crate) mod placement;
    pub(crate) mod shared;
    mod translation_cache;
}
mod nic;
mod pcap;
mod pci_function;
mod port;
mod report;
mod socket;
mod socket_folder;
#[cfg(feature = "fuzzing")]
pub mod stepped;
mod tap;
/// Synchronization of the NIC's threads: a fair lock, wake-ups, and the table of mappings.
mod threads {
    pub(crate) mod alarm;
    pub(crate) mod mappings;
    pub(crate) mod turns;

    /// The standard library's synchronization. `tests/models.rs` compiles the other files a second time, with loom's
    /// types in place of these.
    pub(crate) mod sync {
        pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
        pub(crate) use std::sync::{Mutex, MutexGuard};
        pub(crate) use std::thread::{current, park_timeout, yield_now, Thread};
    }
}
/// Generated frames, the checks of frames that come back, and their latency.
mod traffic {
    pub(crate) mod change;
    pub(crate) mod frame;
    pub(crate) mod generator;
    pub(crate) mod latency;
    pub(crate) mod verify;
}
/// A vfio-user server: it listens on a UNIX socket and serves one PCI function to one client at a
/// time.
mod vfio_user {
    pub(crate) mod protocol;
    pub(crate) mod server;
    pub(crate) mod session;
}
mod wire;

pub use config::*;
pub use control::ControlSocket;
pub use data_plane::burst_report::{BurstBlock, BurstReport, TimedBurst};
pub use data_plane::{plane::DataPlane, Progress};
pub use device::registers;
pub use device::trace::TraceEntry;
pub use error::{ConfigError, NicError};
pub use memory::dma_fault::{Direction, DmaFault, Purpose, Refusal};
pub use memory::dma_log::DmaAccess;
pub use memory::map_request::Permissions;
pub use memory::placement::Unplaceable;
pub use nic::{Nic, RunningDataPlane};
pub use pci_function::SessionEnd;
pub use port::{DriverMemory, Port, Registers};
pub use report::*;
pub use traffic::latency::{Latency, Times};
pub use traffic::verify::VerifyCounts;
