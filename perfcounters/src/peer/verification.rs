//! Checks that a peer forwards correctly, before anything is measured.
//!
//! The card leaves at most [`WINDOW`] frames of a port with the program. So no ring is ever full,
//! even if the machine stops card or program for a while. Every frame must come back as the peer
//! changes it, once and in order.

use record::Placement;

use super::run::{PeerSetup, PATIENCE};
use crate::backend::{Cell, MeasureError};
use crate::device::{NicProgram, Traffic};
use crate::interrupt::Interrupt;

/// Most frames of a port that have not come back: a quarter of a ring of the peers. A peer may need twice as
/// many descriptors for sending, because it takes sent frames out late.
const WINDOW: u32 = 128;
/// Frames that must come back.
const FRAMES: u64 = 20_000;
/// Runs a peer natively, and checks every frame that it sends.
///
/// # Errors
/// What is wrong with the frames, or why the peer does not forward.
pub fn verify(
    cell: &Cell,
    nic: &NicProgram,
    placement: &Placement,
    interrupt: &Interrupt,
) -> Result<(), MeasureError> {
    let setup = PeerSetup {
        cell,
        nic,
        traffic: Traffic::Window(WINDOW),
        placement,
        patience: PATIENCE,
        interrupt,
    };
    let mut run = setup.start()?;
    run.wait_for_frames(FRAMES)?;
    let counts = run.stop()?;
    if counts.missing == 0 && counts.ok >= FRAMES {
        return Ok(());
    }
    Err(MeasureError::Other(format!(
        "the program loses frames: {} of {} did not come back, although it never had more than \
         {WINDOW} frames of a port at a time",
        counts.missing,
        counts.ok + counts.missing
    )))
}
