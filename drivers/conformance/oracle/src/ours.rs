//! The summaries of our three drivers.

use anyhow::{ensure, Context, Result};
use conformance::{Implementation, Lockstep};
use nic::{MmioMode, TraceTo};
use strum::IntoEnumIterator;

use crate::recorded::Side;
use crate::summary::{summary, Family, Summary};

/// The summary that all three drivers share, for each family.
///
/// # Errors
/// If a driver fails, or if one driver writes something else than another.
pub fn take() -> Result<Side> {
    let mut side = Side::new();
    for family in Family::iter() {
        for implementation in Implementation::OURS {
            let written = of(implementation, family)
                .with_context(|| format!("{implementation} on an {family}"))?;
            ensure!(!written.is_empty(), "{implementation} writes no register");
            let first = side.entry(family).or_insert_with(|| written.clone());
            ensure!(
                *first == written,
                "{implementation} writes other values on an {family} than another driver: \
                 the conformance test register_trace shows the first difference"
            );
        }
    }
    Ok(side)
}

/// Starts and stops a driver on a card with trapped registers.
fn of(implementation: Implementation, family: Family) -> Result<Summary> {
    let mut lockstep = Lockstep::open(implementation, 32, |config| {
        let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
        config.with_each_port(|port| port.device_id = family.device_id())
    })?;
    let start = lockstep.take_trace();
    lockstep.close()?;
    let stop = lockstep.take_trace();
    Ok(summary(0, &start, &stop))
}
