/*
 * Packets by exchange: no buffer is ever taken from a pool or given back.
 *
 * A packet is a place: the offset of its data in the memory of a lane. Every container always holds the same number of
 * places: each ring one for each descriptor, and a batch as many as it has room for. tuned_rx_batch swaps empty places of
 * the batch for full ones of the ring. tuned_tx_batch swaps full ones for those whose packets were sent. What the TX ring
 * does not take stays in the batch, as an empty place: dropping costs nothing.
 */
#ifndef IXGBE_TUNED_BATCH_H
#define IXGBE_TUNED_BATCH_H

#include "driver/mempool.h"

#define TUNED_MAX_BATCH 512

struct tuned_batch {
	uint32_t places[TUNED_MAX_BATCH]; /* the first `count` are packets, the others are empty */
	uint32_t sizes[TUNED_MAX_BATCH]; /* bytes of each packet, without CRC */
	uint32_t count;
	uint8_t apart[CACHE_LINES_APART]; /* the next batch may belong to another thread */
};

#endif
