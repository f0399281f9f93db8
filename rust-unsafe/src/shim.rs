//! The accessors of `c/src/mmio.h`, by hand.
//!
//! C2Rust 0.22 makes a plain load of a volatile read, and has no translation for fences and for the time-stamp
//! counter. So under `TRANSPILE` the header only declares these functions, and here they are. Being in one
//! crate with their callers (`codegen-units = 1`), they are inlined, as the C compiler does with the header's.

use core::ptr::{read_volatile, write_volatile};
#[cfg(target_arch = "x86_64")]
use core::sync::atomic::compiler_fence;
#[cfg(not(target_arch = "x86_64"))]
use core::sync::atomic::fence;
use core::sync::atomic::Ordering;

/// Reads a register.
///
/// # Safety
/// `address` is that of a mapped register: readable and aligned to 4 bytes.
#[no_mangle]
pub unsafe extern "C" fn mmio_load32(address: *const u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { read_volatile(address) }
}

/// Writes a register.
///
/// # Safety
/// `address` is that of a mapped register: writable and aligned to 4 bytes.
#[no_mangle]
pub unsafe extern "C" fn mmio_store32(address: *mut u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { write_volatile(address, value) }
}

/// Reads half a descriptor.
///
/// # Safety
/// `address` lies in mapped DMA memory: readable and aligned to 8 bytes.
#[no_mangle]
pub unsafe extern "C" fn dma_load64(address: *const u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { read_volatile(address) }
}

/// Writes half a descriptor.
///
/// # Safety
/// `address` lies in mapped DMA memory: writable and aligned to 8 bytes.
#[no_mangle]
pub unsafe extern "C" fn dma_store64(address: *mut u64, value: u64) {
    // SAFETY: the caller's promise.
    unsafe { write_volatile(address, value) }
}

/// Reads before it are done before reads after it. x86 keeps the order of loads, so there the compiler alone is held
/// back.
#[no_mangle]
pub extern "C" fn dma_read_barrier() {
    #[cfg(target_arch = "x86_64")]
    compiler_fence(Ordering::Acquire);
    #[cfg(not(target_arch = "x86_64"))]
    fence(Ordering::Acquire);
}

/// Writes before it are seen by the device before writes after it. x86 keeps the order of stores, so there the
/// compiler alone is held back.
#[no_mangle]
pub extern "C" fn dma_write_barrier() {
    #[cfg(target_arch = "x86_64")]
    compiler_fence(Ordering::Release);
    #[cfg(not(target_arch = "x86_64"))]
    fence(Ordering::SeqCst);
}

/// The time-stamp counter, in cycles of its own clock; 0 where there is none.
#[no_mangle]
pub extern "C" fn tsc_read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded() {
        let mut register = 0u32;
        let mut descriptor = [0u64; 2];
        // SAFETY: all four addresses are those of local variables.
        unsafe {
            mmio_store32(&mut register, 0x8000_0001);
            assert_eq!(mmio_load32(&register), 0x8000_0001);
            dma_store64(&mut descriptor[1], u64::MAX);
            assert_eq!(dma_load64(&descriptor[1]), u64::MAX);
        }
        assert_eq!(descriptor, [0, u64::MAX]);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_time_stamp_counter_counts() {
        let before = tsc_read();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(tsc_read() > before);
    }
}
