/*
 * Access to memory that the device also sees: registers and descriptors.
 *
 * Every such access in this driver goes through these functions. C2Rust 0.22 loses the `volatile`
 * of a read and cannot translate fences. So under TRANSPILE this header only declares the
 * functions, and rust-unsafe/src/shim.rs defines them.
 */
#ifndef IXGBE_MMIO_H
#define IXGBE_MMIO_H

#include <stdint.h>

#ifdef TRANSPILE

uint32_t mmio_load32(const volatile uint32_t *address);
void mmio_store32(volatile uint32_t *address, uint32_t value);
uint64_t dma_load64(const volatile uint64_t *address);
void dma_store64(volatile uint64_t *address, uint64_t value);
void dma_read_barrier(void);
void dma_write_barrier(void);
uint64_t tsc_read(void);

#else

/* Read and write a mapped register. */
static inline uint32_t mmio_load32(const volatile uint32_t *address)
{
	return *address;
}

static inline void mmio_store32(volatile uint32_t *address, uint32_t value)
{
	*address = value;
}

/* Read and write half a descriptor. An aligned 64-bit access is one access. */
static inline uint64_t dma_load64(const volatile uint64_t *address)
{
	return *address;
}

static inline void dma_store64(volatile uint64_t *address, uint64_t value)
{
	*address = value;
}

/*
 * Completes the reads before it before the reads after it. x86 keeps the order of loads, so there
 * it only restrains the compiler.
 */
static inline void dma_read_barrier(void)
{
#if defined(__x86_64__)
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/*
 * Makes the writes before it visible to the device before the writes after it. x86 keeps the order
 * of stores, even to uncached memory, so there it only restrains the compiler.
 */
static inline void dma_write_barrier(void)
{
#if defined(__x86_64__)
	__atomic_signal_fence(__ATOMIC_RELEASE);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* The time-stamp counter, or 0 on a processor without one. */
static inline uint64_t tsc_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

#endif /* TRANSPILE */

#endif
