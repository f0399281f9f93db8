//! Checks that a peer forwards correctly, before anything is measured.
//!
//! The card offers so few frames that no ring is ever full. Every frame must then come back as the
//! peer changes it, once and in order.

use std::path::Path;

use record::Placement;

use super::run::{Patience, PeerSetup};
use crate::backend::{Cell, MeasureError};
use crate::device::{NicProgram, Traffic};
use crate::interrupt::Interrupt;

/// The offered load, both ports together: a hundredth of what the slowest peer forwards.
const OFFERED_MPPS: f64 = 0.1;
/// Frames that must come back.
const FRAMES: u64 = 20_000;
/// Attempts. A busy machine may stop the card for so long that a ring runs full.
const ATTEMPTS: u32 = 3;

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
        traffic: Traffic::Offered(OFFERED_MPPS),
        placement,
        tool: &|_: &Path| Vec::new(),
        patience: Patience::default(),
        interrupt,
    };
    let mut lost = 0;
    for _ in 0..ATTEMPTS {
        let mut run = setup.start()?;
        run.wait_for_frames(FRAMES)?;
        let counts = run.stop()?;
        lost = counts.missing;
        if lost == 0 && counts.ok >= FRAMES {
            return Ok(());
        }
    }
    Err(MeasureError::Other(format!(
        "the program loses frames: {lost} of more than {FRAMES} did not come back, although the card \
         offered only {OFFERED_MPPS} Mpps ({ATTEMPTS} attempts)"
    )))
}
