/* A lane: the queues that a thread needs to forward, what the forwarder and the pipeline share. */
#ifndef IXGBE_LANE_H
#define IXGBE_LANE_H

#include "driver/rx.h"
#include "driver/tx.h"
#include "rooms/forwarder.h"
#include "tuned/agent.h"
#include "tuned/forward.h"

/* The state that both directions of a lane share. */
struct direction {
	uint32_t batch;
	struct forwarder_counts counts;
	uint64_t packets_left;
	struct packet *packets[FORWARDER_MAX_BATCH];
};

/*
 * Queue `i` of both devices. Its packets are of the pools of these queues, so no packet leaves its lane.
 * What rx[0] receives, tx[1] sends, and the other way round.
 */
struct lane {
	struct rx_queue *rx[2]; /* of each device */
	struct tx_queue *tx[2];
	struct direction direction;
	struct tuned_lane *tuned; /* with FORWARDER_PATH_TUNED, or NULL */
	struct agent agents[2]; /* with FORWARDER_PATH_AGENT: agents[i] receives from rx[i] */
	uint8_t apart[CACHE_LINES_APART]; /* the next lane may belong to another thread */
};

/* The lane of a queue. forwarder.c, as the functions below */
struct lane *forwarder_lane(struct forwarder *forwarder, uint32_t queue);

/* The queue pairs of each device. */
uint32_t forwarder_queues(const struct forwarder *forwarder);

#endif
