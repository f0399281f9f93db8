//! Registers that the card does not share: each access faults, and the bridge carries it out.

pub(crate) mod bars;
pub(crate) mod context;
pub(crate) mod emulate;
pub(crate) mod fault;
