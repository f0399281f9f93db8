/*
 * Access to memory that several threads share.
 *
 * A store with release order shows all earlier accesses of its thread to the thread that loads the value
 * with acquire order. C2Rust 0.22 cannot translate atomic accesses. So under TRANSPILE this header only
 * declares the functions, and rust-unsafe/src/shim.rs defines them.
 */
#ifndef IXGBE_ATOMICS_H
#define IXGBE_ATOMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TRANSPILE

uint32_t atomic_load32_acquire(const uint32_t *address);
void atomic_store32_release(uint32_t *address, uint32_t value);
void *atomic_load_pointer(void *const *address);
void *atomic_take_pointer(void **address);
bool atomic_replace_pointer(void **address, void *expected, void *value);

#else

static inline uint32_t atomic_load32_acquire(const uint32_t *address)
{
	return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it does not see that the builtin writes. */
static inline void atomic_store32_release(uint32_t *address, uint32_t value)
{
	__atomic_store_n(address, value, __ATOMIC_RELEASE);
}

/* Reads a pointer, in no order with other accesses. */
static inline void *atomic_load_pointer(void *const *address)
{
	return __atomic_load_n(address, __ATOMIC_RELAXED);
}

/* Reads a pointer and sets it to NULL, with acquire order. */
static inline void *atomic_take_pointer(void **address)
{
	return __atomic_exchange_n(address, NULL, __ATOMIC_ACQUIRE);
}

/* Sets a pointer to `value` if it is `expected`, with release order. Returns whether it was. */
static inline bool atomic_replace_pointer(void **address, void *expected, void *value)
{
	return __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

#endif /* TRANSPILE */

#endif
