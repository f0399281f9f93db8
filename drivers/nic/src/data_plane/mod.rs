//! The thread that moves frames between the wire and the drivers' rings.

pub(crate) mod rounds;
