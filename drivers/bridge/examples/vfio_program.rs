//! A VFIO program for the bridge's tests. `vfio_program CASE` runs one case against two ports, and
//! panics if an answer is not the kernel's.

#[cfg(target_arch = "x86_64")]
#[path = "vfio_program/cases.rs"]
mod cases;

fn main() {
    #[cfg(target_arch = "x86_64")]
    cases::run();
}
