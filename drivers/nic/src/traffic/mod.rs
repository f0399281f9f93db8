//! Generated frames, the checks of frames that come back, and their latency.

pub(crate) mod change;
pub(crate) mod frame;
pub(crate) mod generator;
pub(crate) mod latency;
pub(crate) mod verify;
