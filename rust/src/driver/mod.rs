//! The driver: one device, its rings, and the pool of packets. Read it in the order of the datasheet: `reset`,
//! `init`, `link`, `rx`, `tx`.

pub(crate) mod descriptor;
pub mod device;
pub mod device_ids;
mod init;
mod link;
pub mod mempool;
pub(crate) mod register_access;
#[rustfmt::skip]
#[allow(missing_docs, dead_code)]
pub(crate) mod registers;
pub(crate) mod reset;
pub(crate) mod rx;
pub(crate) mod tx;
