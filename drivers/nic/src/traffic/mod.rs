//! What arrives on the wire, and what is checked and timed of that which comes back.

pub(crate) mod frame;
pub(crate) mod generator;
pub(crate) mod latency;
pub(crate) mod verify;
