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
void mmio_store32_relaxed(volatile uint32_t *address, uint32_t value);
uint64_t dma_load64(const volatile uint64_t *address);
void dma_store64(uint64_t *address, uint64_t value);
void dma_read_barrier(void);
void dma_write_barrier(void);
void dma_prefetch(const void *address);

#else

/* Read and write half a descriptor. An aligned 64-bit access is one access. */
static inline uint64_t dma_load64(const volatile uint64_t *address)
{
	return *address;
}

static inline void dma_store64(uint64_t *address, uint64_t value)
{
	*address = value;
}

/*
 * The two barriers order this processor's accesses as the other side sees them: a card's DMA, or the
 * thread of a software card. x86-64 keeps the order of loads and the order of stores, even to uncached
 * memory. So there the barriers only restrain the compiler.
 *
 * AArch64 keeps neither order. "osh", outer shareable, reaches other processors and coherent devices.
 * The "ish" of a C11 fence need not reach a device. "ld" and "st" say which earlier accesses wait.
 */
#if defined(__x86_64__)
#define DMA_READ_BARRIER ""
#define DMA_WRITE_BARRIER ""
#elif defined(__aarch64__)
#define DMA_READ_BARRIER "dmb oshld"
#define DMA_WRITE_BARRIER "dmb oshst"
#else
#error "the barriers are known only for x86-64 and AArch64"
#endif

/*
 * Completes the loads before it, for example of DD, before the loads and stores after it, for example
 * of the packet that DD announces.
 */
static inline void dma_read_barrier(void)
{
	__asm__ volatile(DMA_READ_BARRIER ::: "memory");
}

/*
 * Makes the stores before it, for example of descriptors, visible to the device before the stores after
 * it, for example of the tail.
 */
static inline void dma_write_barrier(void)
{
	__asm__ volatile(DMA_WRITE_BARRIER ::: "memory");
}

/*
 * Asks for the line at an address that the device has written. Without DDIO the line is in memory, and the
 * caller needs it soon. It is only a hint: it changes no data, and any address is allowed.
 */
static inline void dma_prefetch(const void *address)
{
	__builtin_prefetch(address);
}

/*
 * Read and write a mapped register, in order with all other accesses. A card's registers are device
 * memory, which keeps its order. The software card's are ordinary memory, which does not on AArch64:
 * a read completes before later accesses, and a write waits for earlier ones.
 */
static inline uint32_t mmio_load32(const volatile uint32_t *address)
{
	uint32_t value = *address;

	dma_read_barrier();
	return value;
}

static inline void mmio_store32(volatile uint32_t *address, uint32_t value)
{
	dma_write_barrier();
	*address = value;
}

/* Writes a mapped register without a barrier: the caller adds one, for a whole batch. */
static inline void mmio_store32_relaxed(volatile uint32_t *address, uint32_t value)
{
	*address = value;
}

#endif /* TRANSPILE */

#endif
