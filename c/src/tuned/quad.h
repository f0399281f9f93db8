/*
 * Four at once: the words of four descriptors, and the places and sizes of four packets.
 *
 * The tuned path needs these eleven operations. AVX2 and NEON have instructions for them. Other processors take the
 * plain form, which the compiler may turn into instructions of its own choice. C2Rust cannot translate vectors. So
 * under TRANSPILE this header only declares the functions, and rust-unsafe/src/shim.rs defines them.
 */
#ifndef IXGBE_TUNED_QUAD_H
#define IXGBE_TUNED_QUAD_H

#include "driver/descriptor.h"
#include "driver/mmio.h"

#define QUAD 4U

#ifdef TRANSPILE

struct quad64 {
	uint64_t words[QUAD];
};

struct quad32 {
	uint32_t values[QUAD];
};

struct quad32 quad32_load(const uint32_t *values);
void quad32_store(uint32_t *values, struct quad32 quad);
struct quad64 quad64_splat(uint64_t word);
struct quad64 quad64_add(struct quad64 a, struct quad64 b);
struct quad64 quad64_shift_left(struct quad64 quad, uint32_t bits);
bool quad64_has_none_of(struct quad64 quad, struct quad64 bits);
struct quad64 quad64_widen(struct quad32 quad);
struct quad32 quad64_bits_32_to_47(struct quad64 quad);
struct quad64 quad64_wide_bits_32_to_47(struct quad64 quad);
struct quad64 descriptors_load_upper(const struct descriptor *descriptors);
void descriptors_store(struct descriptor *descriptors, struct quad64 lower, struct quad64 upper);

#elif defined(__AVX2__)

#include <immintrin.h>

/*
 * The words are in the order 0, 2, 1, 3, because AVX2 interleaves words inside each half of a register: so two
 * instructions make four descriptors of lower and upper words.
 */
struct quad64 {
	__m256i words;
};

struct quad32 {
	__m128i values;
};

/* Exchanges the middle two of four. */
#define QUAD_MIDDLE 0xd8

static inline struct quad32 quad32_load(const uint32_t *values)
{
	return (struct quad32){_mm_loadu_si128((const __m128i *)values)};
}

static inline void quad32_store(uint32_t *values, struct quad32 quad)
{
	_mm_storeu_si128((__m128i *)values, quad.values);
}

static inline struct quad64 quad64_splat(uint64_t word)
{
	return (struct quad64){_mm256_set1_epi64x((long long)word)};
}

static inline struct quad64 quad64_add(struct quad64 a, struct quad64 b)
{
	return (struct quad64){_mm256_add_epi64(a.words, b.words)};
}

static inline struct quad64 quad64_shift_left(struct quad64 quad, uint32_t bits)
{
	return (struct quad64){_mm256_slli_epi64(quad.words, (int)bits)};
}

static inline bool quad64_has_none_of(struct quad64 quad, struct quad64 bits)
{
	return _mm256_testz_si256(quad.words, bits.words);
}

static inline struct quad64 quad64_widen(struct quad32 quad)
{
	return (struct quad64){_mm256_cvtepu32_epi64(_mm_shuffle_epi32(quad.values, QUAD_MIDDLE))};
}

static inline struct quad64 quad64_wide_bits_32_to_47(struct quad64 quad)
{
	/* The bytes to take, the lowest first: 4 and 5, or 12 and 13, of each half of the register, and six times 0. */
	const long long first = (long long)0x8080808080800504;
	const long long second = (long long)0x8080808080800d0c;
	const __m256i bytes = _mm256_setr_epi64x(first, second, first, second);

	return (struct quad64){_mm256_shuffle_epi8(quad.words, bytes)};
}

static inline struct quad32 quad64_bits_32_to_47(struct quad64 quad)
{
	const __m256i order = _mm256_setr_epi32(1, 5, 3, 7, 1, 5, 3, 7);
	__m128i upper = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(quad.words, order));

	return (struct quad32){_mm_and_si128(upper, _mm_set1_epi32(0xffff))};
}

/* The processor may divide an access of 32 bytes, but not an aligned word of it. */
static inline struct quad64 descriptors_load_upper(const struct descriptor *descriptors)
{
	const volatile __m256i_u *pairs = (const volatile __m256i_u *)descriptors;
	__m256i first = pairs[0];
	__m256i second = pairs[1];

	return (struct quad64){_mm256_unpackhi_epi64(first, second)};
}

static inline void descriptors_store(struct descriptor *descriptors, struct quad64 lower,
				     struct quad64 upper)
{
	__m256i *pairs = (__m256i *)descriptors;

	_mm256_storeu_si256(&pairs[0], _mm256_unpacklo_epi64(lower.words, upper.words));
	_mm256_storeu_si256(&pairs[1], _mm256_unpackhi_epi64(lower.words, upper.words));
}

#elif defined(__ARM_NEON)

#include <arm_neon.h>

struct quad64 {
	uint64x2_t words[2];
};

struct quad32 {
	uint32x4_t values;
};

static inline struct quad32 quad32_load(const uint32_t *values)
{
	return (struct quad32){vld1q_u32(values)};
}

static inline void quad32_store(uint32_t *values, struct quad32 quad)
{
	vst1q_u32(values, quad.values);
}

static inline struct quad64 quad64_splat(uint64_t word)
{
	return (struct quad64){{vdupq_n_u64(word), vdupq_n_u64(word)}};
}

static inline struct quad64 quad64_add(struct quad64 a, struct quad64 b)
{
	return (struct quad64){
		{vaddq_u64(a.words[0], b.words[0]), vaddq_u64(a.words[1], b.words[1])}};
}

static inline struct quad64 quad64_shift_left(struct quad64 quad, uint32_t bits)
{
	const int64x2_t left = vdupq_n_s64(bits);

	return (struct quad64){{vshlq_u64(quad.words[0], left), vshlq_u64(quad.words[1], left)}};
}

static inline bool quad64_has_none_of(struct quad64 quad, struct quad64 bits)
{
	uint64x2_t found = vorrq_u64(vandq_u64(quad.words[0], bits.words[0]),
				     vandq_u64(quad.words[1], bits.words[1]));

	return vmaxvq_u32(vreinterpretq_u32_u64(found)) == 0;
}

static inline struct quad64 quad64_widen(struct quad32 quad)
{
	return (struct quad64){{vmovl_u32(vget_low_u32(quad.values)), vmovl_high_u32(quad.values)}};
}

static inline struct quad64 quad64_wide_bits_32_to_47(struct quad64 quad)
{
	const uint64x2_t bits = vdupq_n_u64(0xffff);

	return (struct quad64){{vandq_u64(vshrq_n_u64(quad.words[0], 32), bits),
				vandq_u64(vshrq_n_u64(quad.words[1], 32), bits)}};
}

static inline struct quad32 quad64_bits_32_to_47(struct quad64 quad)
{
	uint32x4_t upper = vuzp2q_u32(vreinterpretq_u32_u64(quad.words[0]),
				      vreinterpretq_u32_u64(quad.words[1]));

	return (struct quad32){vandq_u32(upper, vdupq_n_u32(0xffff))};
}

/* The processor may divide an access of 16 bytes, but not an aligned word of it. */
static inline struct quad64 descriptors_load_upper(const struct descriptor *descriptors)
{
	const volatile uint64x2_t *words = (const volatile uint64x2_t *)descriptors;
	uint64x2_t first = words[0];
	uint64x2_t second = words[1];
	uint64x2_t third = words[2];
	uint64x2_t fourth = words[3];

	return (struct quad64){{vzip2q_u64(first, second), vzip2q_u64(third, fourth)}};
}

static inline void descriptors_store(struct descriptor *descriptors, struct quad64 lower,
				     struct quad64 upper)
{
	for (uint32_t i = 0; i < 2; i++) {
		vst1q_u64((uint64_t *)(descriptors + 2 * i),
			  vzip1q_u64(lower.words[i], upper.words[i]));
		vst1q_u64((uint64_t *)(descriptors + 2 * i + 1),
			  vzip2q_u64(lower.words[i], upper.words[i]));
	}
}

#else

struct quad64 {
	uint64_t words[QUAD];
};

struct quad32 {
	uint32_t values[QUAD];
};

static inline struct quad32 quad32_load(const uint32_t *values)
{
	return (struct quad32){{values[0], values[1], values[2], values[3]}};
}

static inline void quad32_store(uint32_t *values, struct quad32 quad)
{
	for (uint32_t i = 0; i < QUAD; i++) {
		values[i] = quad.values[i];
	}
}

static inline struct quad64 quad64_splat(uint64_t word)
{
	return (struct quad64){{word, word, word, word}};
}

static inline struct quad64 quad64_add(struct quad64 a, struct quad64 b)
{
	for (uint32_t i = 0; i < QUAD; i++) {
		a.words[i] += b.words[i];
	}
	return a;
}

static inline struct quad64 quad64_shift_left(struct quad64 quad, uint32_t bits)
{
	for (uint32_t i = 0; i < QUAD; i++) {
		quad.words[i] <<= bits;
	}
	return quad;
}

static inline bool quad64_has_none_of(struct quad64 quad, struct quad64 bits)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < QUAD; i++) {
		found |= quad.words[i] & bits.words[i];
	}
	return found == 0;
}

static inline struct quad64 quad64_widen(struct quad32 quad)
{
	return (struct quad64){{quad.values[0], quad.values[1], quad.values[2], quad.values[3]}};
}

static inline struct quad64 quad64_wide_bits_32_to_47(struct quad64 quad)
{
	for (uint32_t i = 0; i < QUAD; i++) {
		quad.words[i] = quad.words[i] >> 32 & 0xffff;
	}
	return quad;
}

static inline struct quad32 quad64_bits_32_to_47(struct quad64 quad)
{
	struct quad32 bits;

	for (uint32_t i = 0; i < QUAD; i++) {
		bits.values[i] = (uint32_t)(quad.words[i] >> 32) & 0xffff;
	}
	return bits;
}

static inline struct quad64 descriptors_load_upper(const struct descriptor *descriptors)
{
	struct quad64 upper;

	for (uint32_t i = 0; i < QUAD; i++) {
		upper.words[i] = dma_load64(&descriptors[i].upper);
	}
	return upper;
}

static inline void descriptors_store(struct descriptor *descriptors, struct quad64 lower,
				     struct quad64 upper)
{
	for (uint32_t i = 0; i < QUAD; i++) {
		dma_store64(&descriptors[i].lower, lower.words[i]);
		dma_store64(&descriptors[i].upper, upper.words[i]);
	}
}

#endif

#endif
