//! The functions that the C headers only declare under `TRANSPILE`: the accessors of `c/src/mmio.h`, and the version.
//!
//! C2Rust 0.22 turns a volatile read into a plain load, and cannot translate fences and the time-stamp counter. The
//! compiler inlines these functions into their callers, because all are in one crate (`codegen-units = 1`).

use core::ffi::c_char;
use core::ptr::{read_volatile, write_volatile};
#[cfg(target_arch = "x86_64")]
use core::sync::atomic::{compiler_fence, Ordering};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the barriers are known only for x86-64 and AArch64");

/// Reads a register, before all later accesses.
///
/// # Safety
/// `address` points to a mapped register: readable and aligned to 4 bytes.
#[no_mangle]
pub unsafe extern "C" fn mmio_load32(address: *const u32) -> u32 {
    // SAFETY: the caller guarantees it.
    let value = unsafe { read_volatile(address) };
    if cfg!(target_arch = "aarch64") {
        dma_read_barrier();
    }
    value
}

/// Writes a register, after all earlier writes.
///
/// # Safety
/// `address` points to a mapped register: writable and aligned to 4 bytes.
#[no_mangle]
pub unsafe extern "C" fn mmio_store32(address: *mut u32, value: u32) {
    if cfg!(target_arch = "aarch64") {
        dma_write_barrier();
    }
    // SAFETY: the caller guarantees it.
    unsafe { write_volatile(address, value) }
}

/// Writes a register without a barrier.
///
/// # Safety
/// As for [`mmio_store32`].
#[no_mangle]
pub unsafe extern "C" fn mmio_store32_relaxed(address: *mut u32, value: u32) {
    // SAFETY: the caller guarantees it.
    unsafe { write_volatile(address, value) }
}

/// Reads half a descriptor.
///
/// # Safety
/// `address` points into mapped DMA memory: readable and aligned to 8 bytes.
#[no_mangle]
pub unsafe extern "C" fn dma_load64(address: *const u64) -> u64 {
    // SAFETY: the caller guarantees it.
    unsafe { read_volatile(address) }
}

/// Writes half a descriptor.
///
/// # Safety
/// `address` points into mapped DMA memory: writable and aligned to 8 bytes.
#[no_mangle]
pub unsafe extern "C" fn dma_store64(address: *mut u64, value: u64) {
    // SAFETY: the caller guarantees it.
    unsafe { write_volatile(address, value) }
}

// The barriers are those of c/src/mmio.h, which explains the instructions.

/// Completes the loads before it before the loads and stores after it.
#[no_mangle]
pub extern "C" fn dma_read_barrier() {
    #[cfg(target_arch = "x86_64")]
    compiler_fence(Ordering::Acquire);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}

/// Makes the stores before it visible to the device before the stores after it.
#[no_mangle]
pub extern "C" fn dma_write_barrier() {
    #[cfg(target_arch = "x86_64")]
    compiler_fence(Ordering::Release);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
}

/// A counter of fixed frequency: the time-stamp counter of x86-64, the virtual count of AArch64's generic timer.
#[no_mangle]
pub extern "C" fn tsc_read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count;
        // SAFETY: the instructions change only `count`, and Linux lets every program read the timer.
        unsafe {
            core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags));
        }
        count
    }
}

/// The version of the project, with a NUL at the end.
#[no_mangle]
pub extern "C" fn project_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_values_are_loaded() {
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
    fn the_time_stamp_counter_counts() {
        let before = tsc_read();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(tsc_read() > before);
    }
}
