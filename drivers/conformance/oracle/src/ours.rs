//! The summaries of our three drivers.

use std::collections::BTreeMap;

use anyhow::{ensure, Context, Result};
use conformance::{Implementation, Lockstep};
use nic::{MmioMode, TraceTo};
use strum::IntoEnumIterator;

use crate::summary::{Family, Summary};

/// Packets of a batch. No packet arrives.
const BATCH: u32 = 32;

/// The summary that all three drivers share, for each family.
///
/// # Errors
/// If a driver fails, or if one driver writes something else than another.
pub fn of_all_families() -> Result<BTreeMap<Family, Summary>> {
    let of_family = |family| -> Result<_> { Ok((family, of_family(family)?)) };
    Family::iter().map(of_family).collect()
}

fn of_family(family: Family) -> Result<Summary> {
    let mut first: Option<(Implementation, Summary)> = None;
    for implementation in Implementation::OURS {
        let summary = of(implementation, family)
            .with_context(|| format!("{implementation} on an {family}"))?;
        ensure!(!summary.0.is_empty(), "{implementation} writes no register");
        match &first {
            None => first = Some((implementation, summary)),
            Some((other, theirs)) => ensure!(
                *theirs == summary,
                "{implementation} and {other} write different values on an {family}: \
                 the conformance test register_trace shows the first difference"
            ),
        }
    }
    let (_, summary) = first.context("there is no implementation")?;
    Ok(summary)
}

/// Starts and stops a driver on a card with trapped registers.
fn of(implementation: Implementation, family: Family) -> Result<Summary> {
    let mut lockstep = Lockstep::open(implementation, BATCH, |config| {
        let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
        config.with_each_port(|port| port.device_id = family.device_id())
    })?;
    let start = lockstep.take_trace();
    lockstep.close()?;
    let stop = lockstep.take_trace();
    Ok(Summary::of_trace(0, &start, &stop))
}
