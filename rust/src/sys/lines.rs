//! Copies between device-visible and private memory, by whole cache lines.

use std::ptr::NonNull;

/// The widest type that one instruction loads or stores.
#[cfg(target_arch = "x86_64")]
type Word = std::arch::x86_64::__m256i;
#[cfg(not(target_arch = "x86_64"))]
type Word = u64;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

const WORDS: usize = size_of::<Line>() / size_of::<Word>();

impl Line {
    /// Allocates zeroed lines.
    pub(super) fn zeroed(count: usize) -> Box<[Self]> {
        vec![Self([0; 64]); count].into_boxed_slice()
    }

    /// Copies the lines that hold the first `size` bytes. The accesses are volatile, so either side
    /// may be memory that the device writes.
    ///
    /// # Safety
    /// Both sides are valid for those lines, do not overlap, and no reference covers them.
    #[inline]
    pub(super) unsafe fn copy(from: NonNull<Self>, to: NonNull<Self>, size: usize) {
        // SAFETY: the caller guarantees it. Every buffer has a first line, even for a size of 0.
        unsafe { Self::copy_line(from, to, 0) };
        if size > size_of::<Self>() {
            // SAFETY: the caller guarantees it.
            unsafe { Self::copy_others(from, to, size) }
        }
    }

    /// Copies all lines but the first. A call of its own, because the smallest frame has one line.
    ///
    /// # Safety
    /// As for [`Line::copy`].
    #[inline(never)]
    unsafe fn copy_others(from: NonNull<Self>, to: NonNull<Self>, size: usize) {
        for line in 1..size.div_ceil(size_of::<Self>()) {
            // SAFETY: the caller guarantees it.
            unsafe { Self::copy_line(from, to, line) }
        }
    }

    /// # Safety
    /// As for [`Line::copy`], for this line.
    #[inline]
    unsafe fn copy_line(from: NonNull<Self>, to: NonNull<Self>, line: usize) {
        // SAFETY: the caller guarantees it. A line is aligned for its words, which may have any bits.
        unsafe {
            let (from, to) = (from.add(line).cast::<Word>(), to.add(line).cast::<Word>());
            for word in 0..WORDS {
                to.add(word).write_volatile(from.add(word).read_volatile());
            }
        }
    }
}
