/*
 * Packets in threads that do not have their pool: taking them out of a TX ring, and sending them home.
 */
#ifndef IXGBE_REMOTE_H
#define IXGBE_REMOTE_H

#include "driver/tx.h"

/*
 * Takes `count` sent packets out of the ring instead of freeing them. Returns `count`, or 0 if the device has
 * sent fewer.
 */
uint32_t tx_take(struct tx_queue *queue, struct packet **packets, uint32_t count);

/*
 * Returns packets to their pools, in any thread. There they are free only after mempool_take_returned. Any
 * number of threads may return packets at once: each adds a whole list by one atomic write.
 */
void packets_return(struct packet *const *packets, uint32_t count);

/* Frees the packets that other threads have returned. For the pool's thread. */
void mempool_take_returned(struct mempool *pool);

#endif
