//! The scenarios of the hostile server.

mod memory;
mod regions;
mod registers;
mod replies;

use crate::server::lie::Row;

/// All rows.
pub fn all() -> Vec<Row> {
    let mut rows = replies::rows();
    rows.extend_from_slice(regions::ROWS);
    rows.extend_from_slice(registers::ROWS);
    rows.extend_from_slice(memory::ROWS);
    rows
}
