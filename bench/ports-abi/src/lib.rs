//! The C interface of libports.so (`c/src/apps/ports.h` and `stack_port.h`) for the safe Rust driver. With it,
//! tests and applications use all three drivers in the same way. It is not part of the driver.

mod message;
mod stack_port;
mod two_ports;

pub use stack_port::*;
pub use two_ports::*;
