//! The C interface of libports.so (`c/src/apps/stack_port.h`) for the safe Rust driver. With it, applications use all
//! three drivers in the same way. It is not part of the driver.

mod message;
mod stack_port;

pub use stack_port::*;
