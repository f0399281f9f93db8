//! The bridge as a vfio-user client: one connection to each port of the card.

pub(crate) mod connection;
pub(crate) mod requests;
pub(crate) mod stream;
