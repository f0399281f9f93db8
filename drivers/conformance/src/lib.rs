//! What every implementation of the driver must do, run against the software 82599.
//!
//! The tests are in `tests/`, one file a subject; what they have in common is here: where the
//! implementations are ([`Implementation`]), how their program is run ([`Program`]), how their
//! library is stepped in lockstep with the NIC ([`Lockstep`]), the NIC with its sockets
//! ([`TestNic`]), and how a trace of register accesses is read ([`trace`]).
//!
//! Errors are [`anyhow::Error`]: nobody but the person who reads a failed test handles them.

pub mod expect;
mod implementation;
mod library;
mod lockstep;
mod process;
mod test_nic;
pub mod trace;

pub use implementation::Implementation;
pub use library::{Counts, DeviceStats, Forwarder, Library};
pub use lockstep::Lockstep;
pub use process::{Output, Program, Running, Totals};
pub use test_nic::{processors, wait_until, TestNic};

/// Makes a test for each implementation of each function named, in the modules `c`, `rust` and
/// `rust_unsafe`, so that the name of a test says whose it is.
///
/// The functions take an [`Implementation`] and return [`anyhow::Result`]`<()>`.
#[macro_export]
macro_rules! for_each_implementation {
    ($($test:ident),+ $(,)?) => {
        $crate::for_each_implementation!(@module c, C, $($test),+);
        $crate::for_each_implementation!(@module rust, Rust, $($test),+);
        $crate::for_each_implementation!(@module rust_unsafe, RustUnsafe, $($test),+);
    };
    (@module $module:ident, $implementation:ident, $($test:ident),+) => {
        mod $module {
            $(
                #[test]
                fn $test() -> anyhow::Result<()> {
                    super::$test($crate::Implementation::$implementation)
                }
            )+
        }
    };
}
