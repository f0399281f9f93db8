//! The scenarios of the hostile client.

mod connections;
mod interrupts;
mod maps;
mod messages;
mod registers;
mod rings;

use crate::client::attack::Row;

/// All rows.
pub fn all() -> Vec<Row> {
    let mut rows = messages::rows();
    for table in [
        connections::ROWS,
        interrupts::ROWS,
        maps::ROWS,
        registers::ROWS,
        rings::ROWS,
    ] {
        rows.extend_from_slice(table);
    }
    rows
}
