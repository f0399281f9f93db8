//! The functions that the C headers only declare under `TRANSPILE`: the accessors of `c/src/driver/mmio.h` and
//! `c/src/rooms/atomics.h`, and the version.
//!
//! C2Rust 0.22 turns a volatile read into a plain load, and cannot translate fences and the time-stamp counter. The
//! compiler inlines these functions into their callers, because all are in one crate (`codegen-units = 1`).

use core::ffi::{c_char, c_void};
use core::ptr::{null_mut, read_volatile, write_volatile};
#[cfg(miri)]
use core::sync::atomic::compiler_fence;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

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
    unsafe { address.write(value) }
}

// The barriers are those of c/src/driver/mmio.h, which explains the instructions.

/// Completes the loads before it before the loads and stores after it.
#[no_mangle]
pub extern "C" fn dma_read_barrier() {
    #[cfg(miri)]
    compiler_fence(Ordering::Acquire);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: there is no instruction. The compiler must assume that it reads and writes all memory.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}

/// Makes the stores before it visible to the device before the stores after it.
#[no_mangle]
pub extern "C" fn dma_write_barrier() {
    #[cfg(miri)]
    compiler_fence(Ordering::Release);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: there is no instruction. The compiler must assume that it reads and writes all memory.
    unsafe {
        core::arch::asm!("", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
}

/// Asks for the line at an address that the device has written.
#[no_mangle]
pub extern "C" fn dma_prefetch(address: *const c_void) {
    #[cfg(miri)]
    let _ = address;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes no data and faults at no address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: the instruction changes no data and faults at no address.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
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

// The accesses to memory that threads share are those of c/src/rooms/atomics.h.

/// Reads a number, with acquire order.
///
/// # Safety
/// `address` points to a number, and other threads access it only by these functions.
#[no_mangle]
pub unsafe extern "C" fn atomic_load32_acquire(address: *const u32) -> u32 {
    // SAFETY: the caller guarantees it.
    unsafe { AtomicU32::from_ptr(address.cast_mut()) }.load(Ordering::Acquire)
}

/// Writes a number, with release order.
///
/// # Safety
/// As for [`atomic_load32_acquire`].
#[no_mangle]
pub unsafe extern "C" fn atomic_store32_release(address: *mut u32, value: u32) {
    // SAFETY: the caller guarantees it.
    unsafe { AtomicU32::from_ptr(address) }.store(value, Ordering::Release)
}

/// Reads a pointer, in no order with other accesses.
///
/// # Safety
/// `address` points to a pointer, and other threads access it only by these functions.
#[no_mangle]
pub unsafe extern "C" fn atomic_load_pointer(address: *const *mut c_void) -> *mut c_void {
    // SAFETY: the caller guarantees it.
    unsafe { AtomicPtr::from_ptr(address.cast_mut()) }.load(Ordering::Relaxed)
}

/// Reads a pointer and sets it to NULL, with acquire order.
///
/// # Safety
/// As for [`atomic_load_pointer`].
#[no_mangle]
pub unsafe extern "C" fn atomic_take_pointer(address: *mut *mut c_void) -> *mut c_void {
    // SAFETY: the caller guarantees it.
    unsafe { AtomicPtr::from_ptr(address) }.swap(null_mut(), Ordering::Acquire)
}

/// Sets a pointer to `value` if it is `expected`, with release order. Returns whether it was.
///
/// # Safety
/// As for [`atomic_load_pointer`].
#[no_mangle]
pub unsafe extern "C" fn atomic_replace_pointer(
    address: *mut *mut c_void,
    expected: *mut c_void,
    value: *mut c_void,
) -> bool {
    // SAFETY: the caller guarantees it.
    unsafe { AtomicPtr::from_ptr(address) }
        .compare_exchange(expected, value, Ordering::Release, Ordering::Relaxed)
        .is_ok()
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
    fn shared_values_are_loaded_replaced_and_taken() {
        let (mut number, mut first, mut second) = (0, 1u8, 2u8);
        let (first, second) = ((&raw mut first).cast(), (&raw mut second).cast());
        let mut pointer: *mut c_void = null_mut();
        // SAFETY: the addresses are those of local variables, and nothing reads what they point to.
        unsafe {
            atomic_store32_release(&mut number, 7);
            assert_eq!(atomic_load32_acquire(&number), 7);
            assert!(!atomic_replace_pointer(&mut pointer, first, second));
            assert!(atomic_replace_pointer(&mut pointer, null_mut(), first));
            assert_eq!(atomic_load_pointer(&pointer), first);
            assert!(atomic_replace_pointer(&mut pointer, first, second));
            assert_eq!(atomic_take_pointer(&mut pointer), second);
            assert!(atomic_load_pointer(&pointer).is_null());
        }
    }

    #[test]
    fn the_time_stamp_counter_counts() {
        let before = tsc_read();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(tsc_read() > before);
    }
}
