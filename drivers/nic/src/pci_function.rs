//! What the card and the vfio-user server know in common of a PCI function: its regions, its interrupts, and the end of
//! a session.

use std::ops::Range;
use std::os::fd::OwnedFd;

use serde::Serialize;

/// Number of regions that VFIO defines for a PCI function: six BARs, the expansion ROM, the
/// configuration space and VGA.
pub(crate) const REGIONS: u32 = 9;
/// Region of the configuration space.
pub(crate) const REGION_CONFIG: u32 = 7;

/// Number of interrupt kinds that VFIO defines for a PCI function: the following three, errors and
/// requests.
pub(crate) const IRQ_KINDS: u32 = 5;
/// The interrupt line.
pub(crate) const IRQ_INTX: u32 = 0;
/// Message-signalled interrupts.
pub(crate) const IRQ_MSI: u32 = 1;
/// Message-signalled interrupts by table.
pub(crate) const IRQ_MSIX: u32 = 2;

/// A client's request about the interrupts of one kind.
#[derive(Debug)]
pub(crate) enum IrqRequest {
    /// Signal nothing for now.
    Mask,
    /// Signal again.
    Unmask,
    /// Forget all eventfds.
    Disable,
    /// Signal these vectors now.
    Trigger(Range<usize>),
    /// Signal these vectors through these eventfds. A vector beyond the last eventfd loses its own.
    Connect {
        vectors: Range<usize>,
        eventfds: Vec<OwnedFd>,
    },
}

/// How a driver's session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// The driver closed the connection, or died.
    Disconnected,
    /// The driver broke the protocol, and the server closed the connection.
    ProtocolError(String),
    /// The NIC was stopped.
    Stopped,
}
