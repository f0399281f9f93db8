//! The bridge as a vfio-user client: one connection to each port of the card.

pub(crate) mod requests;
pub(crate) mod session;
pub(crate) mod stream;
