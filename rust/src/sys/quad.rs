//! Four at once: the words of four descriptors, and the places and sizes of four packets.
//!
//! The tuned path needs these operations. AVX2 and NEON have instructions for them. Other processors, and Miri, take the
//! plain form, which the compiler may turn into instructions of its own choice.

use super::dma::Descriptor;

/// Four places, sizes or indices.
pub type Quad32 = [u32; 4];

#[cfg(all(target_feature = "avx2", not(miri)))]
mod form {
    use std::arch::x86_64::*;

    use super::{Descriptor, Quad32};

    /// Four 64-bit words, in the order 0, 2, 1, 3, because AVX2 interleaves words inside each half of a register: so
    /// two instructions make four descriptors of lower and upper words.
    #[derive(Clone, Copy)]
    pub struct Quad64(__m256i);

    /// Exchanges the middle two of four.
    const MIDDLE: i32 = 0xd8;

    /// An instruction of AVX2.
    macro_rules! avx2 {
        ($instruction:expr) => {
            // SAFETY: this module is compiled only for processors with AVX2. The instruction touches no memory, and
            // both types of a transmute have 16 bytes without padding.
            unsafe { $instruction }
        };
    }

    impl Quad64 {
        #[inline(always)]
        pub fn splat(word: u64) -> Self {
            Self(avx2!(_mm256_set1_epi64x(word as i64)))
        }

        #[inline(always)]
        pub fn add(self, other: Self) -> Self {
            Self(avx2!(_mm256_add_epi64(self.0, other.0)))
        }

        #[inline(always)]
        pub fn shift_left<const BITS: i32>(self) -> Self {
            Self(avx2!(_mm256_slli_epi64::<BITS>(self.0)))
        }

        #[inline(always)]
        pub fn has_none_of(self, bits: Self) -> bool {
            avx2!(_mm256_testz_si256(self.0, bits.0)) != 0
        }

        #[inline(always)]
        pub fn widen(values: Quad32) -> Self {
            avx2!({
                let values: __m128i = std::mem::transmute(values);
                Self(_mm256_cvtepu32_epi64(_mm_shuffle_epi32::<MIDDLE>(values)))
            })
        }

        #[inline(always)]
        pub fn wide_bits_32_to_47(self) -> Self {
            // The bytes to take, the lowest first: 4 and 5, or 12 and 13, of each half of the register, and six times 0.
            const FIRST: i64 = 0x8080_8080_8080_0504_u64 as i64;
            const SECOND: i64 = 0x8080_8080_8080_0d0c_u64 as i64;
            avx2!({
                let bytes = _mm256_setr_epi64x(FIRST, SECOND, FIRST, SECOND);
                Self(_mm256_shuffle_epi8(self.0, bytes))
            })
        }

        #[inline(always)]
        pub fn bits_32_to_47(self) -> Quad32 {
            avx2!({
                let order = _mm256_setr_epi32(1, 5, 3, 7, 1, 5, 3, 7);
                let upper = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(self.0, order));
                std::mem::transmute(_mm_and_si128(upper, _mm_set1_epi32(0xffff)))
            })
        }

        /// # Safety
        /// Four descriptors are there, for volatile reads, and start at a multiple of 64 bytes.
        #[inline(always)]
        pub unsafe fn load_upper(descriptors: *const Descriptor) -> Self {
            let pairs = descriptors.cast::<__m256i>();
            // SAFETY: the caller guarantees it. The processor may divide an access of 32 bytes, but not an aligned
            // word of it.
            unsafe {
                let (first, second) = (pairs.read_volatile(), pairs.add(1).read_volatile());
                Self(_mm256_unpackhi_epi64(first, second))
            }
        }

        /// # Safety
        /// Four descriptors are there, for writes.
        #[inline(always)]
        pub unsafe fn store(lower: Self, upper: Self, descriptors: *mut Descriptor) {
            let pairs = descriptors.cast::<__m256i>();
            // SAFETY: the caller guarantees it, and the instructions need no alignment.
            unsafe {
                _mm256_storeu_si256(pairs, _mm256_unpacklo_epi64(lower.0, upper.0));
                _mm256_storeu_si256(pairs.add(1), _mm256_unpackhi_epi64(lower.0, upper.0));
            }
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod form {
    use std::arch::aarch64::*;

    use super::{Descriptor, Quad32};

    /// Four 64-bit words.
    #[derive(Clone, Copy)]
    pub struct Quad64(uint64x2_t, uint64x2_t);

    /// An instruction of NEON, which every AArch64 processor has.
    macro_rules! neon {
        ($instruction:expr) => {
            // SAFETY: all processors have it. The instruction touches no memory, and both types of a transmute have 16
            // bytes without padding.
            unsafe { $instruction }
        };
    }

    impl Quad64 {
        #[inline(always)]
        pub fn splat(word: u64) -> Self {
            let two = neon!(vdupq_n_u64(word));
            Self(two, two)
        }

        #[inline(always)]
        pub fn add(self, other: Self) -> Self {
            neon!(Self(vaddq_u64(self.0, other.0), vaddq_u64(self.1, other.1)))
        }

        #[inline(always)]
        pub fn shift_left<const BITS: i32>(self) -> Self {
            neon!(Self(
                vshlq_n_u64::<BITS>(self.0),
                vshlq_n_u64::<BITS>(self.1)
            ))
        }

        #[inline(always)]
        pub fn has_none_of(self, bits: Self) -> bool {
            neon!({
                let found = vorrq_u64(vandq_u64(self.0, bits.0), vandq_u64(self.1, bits.1));
                vmaxvq_u32(vreinterpretq_u32_u64(found)) == 0
            })
        }

        #[inline(always)]
        pub fn widen(values: Quad32) -> Self {
            neon!({
                let values: uint32x4_t = std::mem::transmute(values);
                Self(vmovl_u32(vget_low_u32(values)), vmovl_high_u32(values))
            })
        }

        #[inline(always)]
        pub fn wide_bits_32_to_47(self) -> Self {
            neon!({
                let bits = vdupq_n_u64(0xffff);
                Self(
                    vandq_u64(vshrq_n_u64::<32>(self.0), bits),
                    vandq_u64(vshrq_n_u64::<32>(self.1), bits),
                )
            })
        }

        #[inline(always)]
        pub fn bits_32_to_47(self) -> Quad32 {
            neon!({
                let words = (vreinterpretq_u32_u64(self.0), vreinterpretq_u32_u64(self.1));
                std::mem::transmute(vandq_u32(vuzp2q_u32(words.0, words.1), vdupq_n_u32(0xffff)))
            })
        }

        /// # Safety
        /// Four descriptors are there, for volatile reads.
        #[inline(always)]
        pub unsafe fn load_upper(descriptors: *const Descriptor) -> Self {
            let words = descriptors.cast::<uint64x2_t>();
            // SAFETY: the caller guarantees it. The processor may divide an access of 16 bytes, but not an aligned
            // word of it.
            unsafe {
                let load = |index| words.add(index).read_volatile();
                Self(vzip2q_u64(load(0), load(1)), vzip2q_u64(load(2), load(3)))
            }
        }

        /// # Safety
        /// Four descriptors are there, for writes.
        #[inline(always)]
        pub unsafe fn store(lower: Self, upper: Self, descriptors: *mut Descriptor) {
            let words = descriptors.cast::<uint64x2_t>();
            // SAFETY: the caller guarantees it.
            unsafe {
                words.write(vzip1q_u64(lower.0, upper.0));
                words.add(1).write(vzip2q_u64(lower.0, upper.0));
                words.add(2).write(vzip1q_u64(lower.1, upper.1));
                words.add(3).write(vzip2q_u64(lower.1, upper.1));
            }
        }
    }
}

#[cfg(any(miri, not(any(target_feature = "avx2", target_arch = "aarch64"))))]
mod form {
    use super::{Descriptor, Quad32};

    /// Four 64-bit words.
    #[derive(Clone, Copy)]
    pub struct Quad64([u64; 4]);

    impl Quad64 {
        #[inline(always)]
        pub fn splat(word: u64) -> Self {
            Self([word; 4])
        }

        #[inline(always)]
        pub fn add(mut self, other: Self) -> Self {
            for (word, other) in self.0.iter_mut().zip(other.0) {
                *word = word.wrapping_add(other);
            }
            self
        }

        #[inline(always)]
        pub fn shift_left<const BITS: i32>(self) -> Self {
            Self(self.0.map(|word| word << BITS))
        }

        #[inline(always)]
        pub fn has_none_of(self, bits: Self) -> bool {
            let pairs = self.0.iter().zip(bits.0);
            pairs.fold(0, |found, (word, bits)| found | word & bits) == 0
        }

        #[inline(always)]
        pub fn widen(values: Quad32) -> Self {
            Self(values.map(u64::from))
        }

        #[inline(always)]
        pub fn wide_bits_32_to_47(self) -> Self {
            Self(self.0.map(|word| word >> 32 & 0xffff))
        }

        #[inline(always)]
        pub fn bits_32_to_47(self) -> Quad32 {
            self.0.map(|word| (word >> 32) as u32 & 0xffff)
        }

        /// # Safety
        /// Four descriptors are there, for volatile reads.
        #[inline(always)]
        pub unsafe fn load_upper(descriptors: *const Descriptor) -> Self {
            // SAFETY: the caller guarantees it.
            let load =
                |index| unsafe { (&raw const (*descriptors.add(index)).upper).read_volatile() };
            Self([load(0), load(1), load(2), load(3)])
        }

        /// # Safety
        /// Four descriptors are there, for writes.
        #[inline(always)]
        pub unsafe fn store(lower: Self, upper: Self, descriptors: *mut Descriptor) {
            for (index, (lower, upper)) in lower.0.into_iter().zip(upper.0).enumerate() {
                // SAFETY: the caller guarantees it.
                unsafe { descriptors.add(index).write(Descriptor { lower, upper }) }
            }
        }
    }
}

pub use form::Quad64;
