//! Synchronization of the NIC's threads: a fair lock, wake-ups, and the table of mappings.

pub(crate) mod alarm;
pub(crate) mod mappings;
pub(crate) mod sync;
pub(crate) mod turns;
