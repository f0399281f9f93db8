//! Tests of what every driver must do, run against the software 82599.
//!
//! The tests are in `tests/`, one file for each subject. This library has their common parts:
//!
//! - [`TestNic`]: the NIC with its sockets;
//! - [`Program`]: a process with a time limit;
//! - [`Lockstep`]: a forwarder's library that takes turns with the NIC;
//! - [`expect`]: checks that hold after every run;
//! - [`recording`]: frames in files;
//! - [`trace`]: the comparison of traces of register accesses.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed test handles them. A function that checks returns an
//! error if the check fails; a function that waits returns one if the time is over.

pub mod expect;
mod lockstep;
pub mod name_space;
pub mod recording;
mod test_nic;
pub mod trace;

pub use forwarder_library::{Counts, DeviceStats, Forwarder, Library, PacketPath, Setup};
pub use harness::{build_folder, forwarder_program, wait_until};
pub use harness::{Output, Program, Running, Totals, LIMIT};
pub use lockstep::{forwarder_library, setup, Lockstep};
pub use record::Implementation;
pub use test_nic::{at_rate, capturing, counted_crc, processors, saturated, TestNic};

/// Makes a test for each implementation from each named function, in the modules `c`, `rust` and
/// `rust_unsafe`. So a test's name begins with its driver.
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
