//! The functions that `c/src/tuned/quad.h` only declares under `TRANSPILE`: four descriptors, places or sizes at once.
//! They are those of the header, for AVX2 and in the plain form.

/// The bytes of a descriptor, as in `c/src/driver/descriptor.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Descriptor {
    lower: u64,
    upper: u64,
}

/// `struct quad64`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Quad64 {
    words: [u64; 4],
}

/// `struct quad32`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Quad32 {
    values: [u32; 4],
}

/// Reads four values.
///
/// # Safety
/// They are there.
#[no_mangle]
pub unsafe extern "C" fn quad32_load(values: *const u32) -> Quad32 {
    // SAFETY: the caller guarantees it, and an array of values has their alignment.
    unsafe { values.cast::<Quad32>().read() }
}

/// Writes four values.
///
/// # Safety
/// There is room for them.
#[no_mangle]
pub unsafe extern "C" fn quad32_store(values: *mut u32, quad: Quad32) {
    // SAFETY: the caller guarantees it, and an array of values has their alignment.
    unsafe { values.cast::<Quad32>().write(quad) }
}

#[cfg(all(target_feature = "avx2", not(miri)))]
mod form {
    use core::arch::x86_64::*;
    use core::mem::transmute;

    use super::{Descriptor, Quad32, Quad64};

    /// An instruction of AVX2. The words are in the order 0, 2, 1, 3, as in the header.
    macro_rules! avx2 {
        ($instruction:expr) => {
            // SAFETY: this module is compiled only for processors with AVX2. The instruction touches no memory, and
            // both types of a transmute have the same size, without padding.
            unsafe { transmute($instruction) }
        };
    }

    /// Exchanges the middle two of four.
    const MIDDLE: i32 = 0xd8;

    /// Four times the same word.
    #[no_mangle]
    pub extern "C" fn quad64_splat(word: u64) -> Quad64 {
        avx2!(_mm256_set1_epi64x(word as i64))
    }

    /// Adds words.
    #[no_mangle]
    pub extern "C" fn quad64_add(a: Quad64, b: Quad64) -> Quad64 {
        avx2!(_mm256_add_epi64(transmute(a), transmute(b)))
    }

    /// Shifts words to the left.
    #[no_mangle]
    pub extern "C" fn quad64_shift_left(quad: Quad64, bits: u32) -> Quad64 {
        avx2!(_mm256_sll_epi64(
            transmute(quad),
            _mm_cvtsi32_si128(bits as i32)
        ))
    }

    /// Whether no word has one of the bits.
    #[no_mangle]
    pub extern "C" fn quad64_has_none_of(quad: Quad64, bits: Quad64) -> bool {
        let none: i32 = avx2!(_mm256_testz_si256(transmute(quad), transmute(bits)));
        none != 0
    }

    /// Widens values to words.
    #[no_mangle]
    pub extern "C" fn quad64_widen(quad: Quad32) -> Quad64 {
        avx2!(_mm256_cvtepu32_epi64(_mm_shuffle_epi32::<MIDDLE>(
            transmute(quad)
        )))
    }

    /// The bits 32 to 47 of each word, as words.
    #[no_mangle]
    pub extern "C" fn quad64_wide_bits_32_to_47(quad: Quad64) -> Quad64 {
        // The bytes to take, the lowest first: 4 and 5, or 12 and 13, of each half of the register, and six times 0.
        const FIRST: i64 = 0x8080_8080_8080_0504_u64 as i64;
        const SECOND: i64 = 0x8080_8080_8080_0d0c_u64 as i64;
        avx2!({
            let bytes = _mm256_setr_epi64x(FIRST, SECOND, FIRST, SECOND);
            _mm256_shuffle_epi8(transmute(quad), bytes)
        })
    }

    /// The bits 32 to 47 of each word, as values.
    #[no_mangle]
    pub extern "C" fn quad64_bits_32_to_47(quad: Quad64) -> Quad32 {
        avx2!({
            let order = _mm256_setr_epi32(1, 5, 3, 7, 1, 5, 3, 7);
            let upper = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(transmute(quad), order));
            _mm_and_si128(upper, _mm_set1_epi32(0xffff))
        })
    }

    /// Reads the upper words of four descriptors.
    ///
    /// # Safety
    /// They are there, and start at a multiple of 64 bytes.
    #[no_mangle]
    pub unsafe extern "C" fn descriptors_load_upper(descriptors: *const Descriptor) -> Quad64 {
        let pairs = descriptors.cast::<__m256i>();
        // SAFETY: the caller guarantees it.
        let (first, second) = unsafe { (pairs.read_volatile(), pairs.add(1).read_volatile()) };
        avx2!(_mm256_unpackhi_epi64(first, second))
    }

    /// Writes four descriptors.
    ///
    /// # Safety
    /// There is room for them.
    #[no_mangle]
    pub unsafe extern "C" fn descriptors_store(
        descriptors: *mut Descriptor,
        lower: Quad64,
        upper: Quad64,
    ) {
        let pairs = descriptors.cast::<__m256i>();
        // SAFETY: the caller guarantees it, and the instructions need no alignment.
        unsafe {
            let (lower, upper) = (transmute::<Quad64, __m256i>(lower), transmute(upper));
            _mm256_storeu_si256(pairs, _mm256_unpacklo_epi64(lower, upper));
            _mm256_storeu_si256(pairs.add(1), _mm256_unpackhi_epi64(lower, upper));
        }
    }
}

#[cfg(any(miri, not(target_feature = "avx2")))]
mod form {
    use super::{Descriptor, Quad32, Quad64};

    /// Four times the same word.
    #[no_mangle]
    pub extern "C" fn quad64_splat(word: u64) -> Quad64 {
        Quad64 { words: [word; 4] }
    }

    /// Adds words.
    #[no_mangle]
    pub extern "C" fn quad64_add(mut a: Quad64, b: Quad64) -> Quad64 {
        for (word, other) in a.words.iter_mut().zip(b.words) {
            *word = word.wrapping_add(other);
        }
        a
    }

    /// Shifts words to the left.
    #[no_mangle]
    pub extern "C" fn quad64_shift_left(quad: Quad64, bits: u32) -> Quad64 {
        Quad64 {
            words: quad.words.map(|word| word << bits),
        }
    }

    /// Whether no word has one of the bits.
    #[no_mangle]
    pub extern "C" fn quad64_has_none_of(quad: Quad64, bits: Quad64) -> bool {
        let pairs = quad.words.iter().zip(bits.words);
        pairs.fold(0, |found, (word, bits)| found | word & bits) == 0
    }

    /// Widens values to words.
    #[no_mangle]
    pub extern "C" fn quad64_widen(quad: Quad32) -> Quad64 {
        Quad64 {
            words: quad.values.map(u64::from),
        }
    }

    /// The bits 32 to 47 of each word, as words.
    #[no_mangle]
    pub extern "C" fn quad64_wide_bits_32_to_47(quad: Quad64) -> Quad64 {
        Quad64 {
            words: quad.words.map(|word| word >> 32 & 0xffff),
        }
    }

    /// The bits 32 to 47 of each word, as values.
    #[no_mangle]
    pub extern "C" fn quad64_bits_32_to_47(quad: Quad64) -> Quad32 {
        Quad32 {
            values: quad.words.map(|word| (word >> 32) as u32 & 0xffff),
        }
    }

    /// Reads the upper words of four descriptors.
    ///
    /// # Safety
    /// They are there.
    #[no_mangle]
    pub unsafe extern "C" fn descriptors_load_upper(descriptors: *const Descriptor) -> Quad64 {
        // SAFETY: the caller guarantees it.
        let load = |index| unsafe { (&raw const (*descriptors.add(index)).upper).read_volatile() };
        Quad64 {
            words: [load(0), load(1), load(2), load(3)],
        }
    }

    /// Writes four descriptors.
    ///
    /// # Safety
    /// There is room for them.
    #[no_mangle]
    pub unsafe extern "C" fn descriptors_store(
        descriptors: *mut Descriptor,
        lower: Quad64,
        upper: Quad64,
    ) {
        for (index, (lower, upper)) in lower.words.into_iter().zip(upper.words).enumerate() {
            // SAFETY: the caller guarantees it.
            unsafe { descriptors.add(index).write(Descriptor { lower, upper }) }
        }
    }
}

pub use form::*;
