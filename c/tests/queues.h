/*
 * Queues without a device: rings in the DMA memory of a container without devices, and variables
 * as tail registers. The test plays the device.
 */
#ifndef IXGBE_TEST_QUEUES_H
#define IXGBE_TEST_QUEUES_H

#include "driver/device.h"
#include "test.h"

#define TEST_RING_SIZE 64
#define TEST_POOL_CAPACITY 256

struct queues {
	struct vfio_container container;
	struct mempool pool;
	struct device device;
	uint32_t rdt;
	uint32_t tdt;
};

static inline void queues_create(struct queues *queues, uint32_t pool_capacity)
{
	struct error error;
	const size_t ring_bytes = TEST_RING_SIZE * sizeof(struct descriptor);

	memset(queues, 0, sizeof(*queues));
	vfio_container_init(&queues->container);
	CHECK(mempool_create(&queues->pool, &queues->container, pool_capacity, &error) == 0);

	struct rx_queue *rx = &queues->device.rx[0];
	struct tx_queue *tx = &queues->device.tx[0];

	CHECK(dma_alloc(&queues->container, ring_bytes, &rx->dma, &error) == 0);
	CHECK(dma_alloc(&queues->container, ring_bytes, &tx->dma, &error) == 0);
	rx->ring = rx->dma.memory;
	tx->ring = tx->dma.memory;
	rx->packets = calloc(TEST_RING_SIZE, sizeof(struct packet *));
	tx->packets = calloc(TEST_RING_SIZE, sizeof(struct packet *));
	CHECK(rx->packets != NULL && tx->packets != NULL);
	rx->mask = TEST_RING_SIZE - 1;
	tx->mask = TEST_RING_SIZE - 1;
	rx->pool = &queues->pool;
	rx->vfio = &queues->device.vfio;
	tx->vfio = &queues->device.vfio;
	rx->tail = &queues->rdt;
	tx->tail = &queues->tdt;
	for (uint32_t i = 0; i < TEST_RING_SIZE; i++) {
		rx->packets[i] = packet_alloc(&queues->pool);
		CHECK(rx->packets[i] != NULL);
		rx->ring[i].lower = rx->packets[i]->iova;
	}
	queues->rdt = TEST_RING_SIZE - 1;
}

static inline void queues_destroy(struct queues *queues)
{
	device_release(&queues->device);
	/* Every packet has come back. */
	CHECK_EQUAL(queues->pool.free_count, queues->pool.capacity);
	mempool_destroy(&queues->pool);
	vfio_container_close(&queues->container);
	CHECK_EQUAL(queues->container.map_count, 0);
}

/* Writes back RX descriptor `index`: a frame of `size` bytes, or a part of one. */
static inline void device_receives(struct queues *queues, uint32_t index, uint64_t size, bool last)
{
	queues->device.rx[0].ring[index].upper = size << 32 | IXGBE_RXD_DD |
						 (last ? IXGBE_RXD_EOP : 0);
}

/* Reports TX descriptor `index` as sent. */
static inline void device_sends(struct queues *queues, uint32_t index)
{
	queues->device.tx[0].ring[index].upper |= IXGBE_TXD_DD;
}

#endif
