//! The record of the repository holds for our drivers.

use anyhow::Result;
use oracle::{ours, Recorded};

#[test]
fn our_drivers_write_what_is_recorded_and_every_difference_has_a_reason() -> Result<()> {
    let recorded = Recorded::read()?;
    recorded.check_reasons()?;
    recorded.expect(&recorded.linux()?, &ours::take()?)
}
