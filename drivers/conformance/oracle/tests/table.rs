//! The table in the repository is the one that the archive, the reasons and our drivers yield.

use anyhow::{ensure, Result};
use oracle::files;

/// Fails also if a difference has no reason, or if a reason has no difference.
#[test]
fn the_table_is_current_and_every_difference_has_a_reason() -> Result<()> {
    let table = oracle::current_table()?;
    let committed = files::read(files::TABLE)?;
    let changed = table.lines().find(|line| !committed.contains(line));
    ensure!(
        table == committed,
        "{} is out of date: run `{}`. The first new line: {changed:?}",
        files::TABLE,
        files::WRITE_TABLE
    );
    Ok(())
}
