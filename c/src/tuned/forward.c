/* A lane of the tuned path: creating and destroying it. */
#include "tuned/forward.h"
#include <stdlib.h>

/* Takes empty buffers out of the pool for good. Returns whether there were so many. */
static bool take_places(struct mempool *pool, uint32_t *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct packet *packet = packet_alloc(pool);

		if (packet == NULL) {
			return false;
		}
		places[i] = (uint32_t)(packet->iova - pool->dma.iova);
	}
	return true;
}

/* The places of an RX ring are those of the buffers that the device has already. */
static bool init_rx(struct tuned_rx *rx, struct rx_queue *queue)
{
	*rx = (struct tuned_rx){.queue = queue, .iova = queue->pool->dma.iova};
	rx->places = calloc(queue->mask + 1, sizeof(uint32_t));
	for (uint32_t i = 0; rx->places != NULL && i <= queue->mask; i++) {
		rx->places[i] = (uint32_t)(queue->packets[i]->iova - rx->iova);
	}
	return rx->places != NULL;
}

static bool init_tx(struct tuned_tx *tx, struct tx_queue *queue, struct mempool *pool)
{
	*tx = (struct tuned_tx){.queue = queue, .iova = pool->dma.iova};
	tx->places = calloc(queue->mask + 1, sizeof(uint32_t));
	return tx->places != NULL && take_places(pool, tx->places, queue->mask + 1);
}

struct tuned_lane *tuned_lane_create(struct rx_queue *const rx[2], struct tx_queue *const tx[2])
{
	struct mempool *pool = rx[0]->pool;
	struct tuned_lane *lane = calloc(1, sizeof(*lane));

	if (lane == NULL) {
		return NULL;
	}
	lane->memory = pool->dma.memory;
	if (rx[1]->pool != pool || !init_rx(&lane->rx[0], rx[0]) || !init_rx(&lane->rx[1], rx[1]) ||
	    !init_tx(&lane->tx[0], tx[0], pool) || !init_tx(&lane->tx[1], tx[1], pool) ||
	    !take_places(pool, lane->batch.places, TUNED_MAX_BATCH)) {
		tuned_lane_destroy(lane);
		return NULL;
	}
	return lane;
}

void tuned_lane_destroy(struct tuned_lane *lane)
{
	if (lane != NULL) {
		free(lane->rx[0].places);
		free(lane->rx[1].places);
		free(lane->tx[0].places);
		free(lane->tx[1].places);
		free(lane);
	}
}
