//! A library that answers the kernel's VFIO interface inside a program, from vfio-user sockets.
//!
//! `triptych with-card` loads it into a program with LD_PRELOAD. See the README for how it works.
//! On other machines than x86-64 the library is empty, and the launcher says that no program has loaded it.
#![cfg(target_arch = "x86_64")]
// The functions that programs call are not part of the unit tests.
#![cfg_attr(test, allow(dead_code))]

mod allocator;
mod card;
mod dma;
#[cfg(not(test))]
mod entry;
mod iommufd;
mod lock;
mod mmio;
mod objects;
mod ports;
mod requests;
mod say;
mod state;
mod sys;
mod user_memory;
mod valgrind;
mod vfio;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: allocator::Own = allocator::Own::new();
