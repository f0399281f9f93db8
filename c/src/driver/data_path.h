/*
 * How all three drivers compile the data path: a turn of the forwarder is one function, which contains rx_batch and
 * tx_batch once for each direction.
 *
 * So no call costs instructions. And a prefetcher of the processor learns the distance between packets for each
 * instruction. In a function that both directions share, the packets of two pools alternate, and at batch 1 every
 * packet is a miss.
 */
#ifndef IXGBE_DATA_PATH_H
#define IXGBE_DATA_PATH_H

/* The function contains all that it calls. transpile.sh instead makes all its callers contain the function. */
#define DATA_PATH __attribute__((flatten))

/* Comes before a loop: the compiler does so many steps between two jumps. C2Rust cannot translate the pragma. */
#ifdef TRANSPILE
#define UNROLLED(times)
#else
#define UNROLLED_PRAGMA(text) _Pragma(#text)
#define UNROLLED(times) UNROLLED_PRAGMA(GCC unroll times)
#endif

#endif
