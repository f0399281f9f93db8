/* The pipeline: packets that travel between threads. pipeline.h explains who owns them. */
#include "rooms/pipeline.h"
#include "rooms/lane.h"
#include "rooms/packet_ring.h"
#include "rooms/remote.h"
#include <assert.h>
#include <stdlib.h>

/* Sent packets come home so many at a time: one look at DD and one atomic access for all. */
#define TAKE_BATCH 32

/* One direction of a queue. What a thread writes lies apart from what another one writes. */
struct stream {
	struct rx_queue *rx;
	struct tx_queue *tx;
	struct packet_ring to_worker;
	struct packet_ring to_sender;
	/* Of the RX thread. */
	uint64_t received;
	uint64_t rx_calls;
	uint64_t full_batches;
	uint8_t apart_rx[CACHE_LINES_APART];
	/* Of the TX thread. */
	uint64_t sent;
	uint8_t apart_tx[CACHE_LINES_APART];
};

struct pipeline {
	struct forwarder *forwarder;
	uint32_t queues;
	uint32_t batch;
	uint64_t packets_left; /* of the RX thread */
	uint8_t apart[CACHE_LINES_APART];
	struct stream streams[FORWARDER_MAX_QUEUES][2];
};

struct pipeline *pipeline_create(struct forwarder *forwarder, char *error, size_t error_size)
{
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
	struct error reason;

	if (pipeline == NULL) {
		(void)snprintf(error, error_size, "out of memory for the pipeline");
		return NULL;
	}
	pipeline->forwarder = forwarder;
	pipeline->queues = forwarder_queues(forwarder);
	pipeline->batch = forwarder_lane(forwarder, 0)->direction.batch;
	pipeline->packets_left = UINT64_MAX;
	for (uint32_t i = 0; i < 2 * pipeline->queues; i++) {
		struct stream *stream = &pipeline->streams[i / 2][i % 2];
		const struct lane *lane = forwarder_lane(forwarder, i / 2);

		stream->rx = lane->rx[i % 2];
		stream->tx = lane->tx[1 - i % 2];
		/* Room for all packets of the pool, so that no ring is ever full. */
		uint32_t capacity = stream->rx->pool->capacity;

		if (packet_ring_create(&stream->to_worker, capacity, &reason) != 0 ||
		    packet_ring_create(&stream->to_sender, capacity, &reason) != 0) {
			(void)error_copy(-1, &reason, error, error_size);
			pipeline_destroy(pipeline);
			return NULL;
		}
	}
	return pipeline;
}

void pipeline_limit(struct pipeline *pipeline, uint64_t packets)
{
	pipeline->packets_left = packets;
}

static inline uint32_t stream_receive(struct pipeline *pipeline, struct stream *stream)
{
	struct packet *packets[FORWARDER_MAX_BATCH];
	uint32_t wanted = pipeline->batch;

	if (pipeline->packets_left < wanted) {
		wanted = (uint32_t)pipeline->packets_left;
	}
	mempool_take_returned(stream->rx->pool);
	uint32_t received = rx_batch(stream->rx, packets, wanted);

	stream->rx_calls++;
	if (received == 0) {
		return 0;
	}
	/* The ring takes them all: it has room for the whole pool. */
	(void)packet_ring_put(&stream->to_worker, packets, received);
	pipeline->packets_left -= received;
	stream->received += received;
	stream->full_batches += received == wanted;
	return received;
}

static inline uint32_t stream_work(struct stream *stream, uint32_t batch)
{
	struct packet *packets[FORWARDER_MAX_BATCH];
	uint32_t count = packet_ring_take(&stream->to_worker, packets, batch);

	for (uint32_t i = 0; i < count; i++) {
		packets[i]->data[TOUCHED_BYTE]++;
	}
	(void)packet_ring_put(&stream->to_sender, packets, count);
	return count;
}

static inline uint32_t stream_send(struct stream *stream, uint32_t batch)
{
	struct packet *packets[FORWARDER_MAX_BATCH];
	struct packet *sent[TAKE_BATCH];
	struct tx_queue *tx = stream->tx;

	while (tx_take(tx, sent, TAKE_BATCH) > 0) {
		packets_return(sent, TAKE_BATCH);
	}
	/* What the device's ring cannot take waits in this one. */
	uint32_t space = tx_space(tx);
	uint32_t count = packet_ring_take(&stream->to_sender, packets,
					  batch < space ? batch : space);

	(void)tx_put(tx, packets, count);
	stream->sent += count;
	return count;
}

/* Both directions of a queue. */
static struct stream *streams_of(struct pipeline *pipeline, uint32_t queue)
{
	assert(queue < pipeline->queues);
	return pipeline->streams[queue];
}

uint32_t pipeline_receive(struct pipeline *pipeline, uint32_t queue)
{
	struct stream *streams = streams_of(pipeline, queue);

	return stream_receive(pipeline, &streams[0]) + stream_receive(pipeline, &streams[1]);
}

uint32_t pipeline_work(struct pipeline *pipeline, uint32_t queue)
{
	struct stream *streams = streams_of(pipeline, queue);

	return stream_work(&streams[0], pipeline->batch) +
	       stream_work(&streams[1], pipeline->batch);
}

uint32_t pipeline_send(struct pipeline *pipeline, uint32_t queue)
{
	struct stream *streams = streams_of(pipeline, queue);

	return stream_send(&streams[0], pipeline->batch) +
	       stream_send(&streams[1], pipeline->batch);
}

bool pipeline_send_waits(struct pipeline *pipeline, uint32_t queue)
{
	const struct stream *streams = streams_of(pipeline, queue);

	return packet_ring_waits(&streams[0].to_sender) || packet_ring_waits(&streams[1].to_sender);
}

/* Returns the packets in a ring to their pool. */
static void ring_empty(struct packet_ring *ring)
{
	struct packet *packets[FORWARDER_MAX_BATCH];

	for (;;) {
		uint32_t count = packet_ring_take(ring, packets, FORWARDER_MAX_BATCH);

		if (count == 0) {
			return;
		}
		packets_return(packets, count);
	}
}

static void stream_destroy(struct stream *stream)
{
	if (stream->to_sender.slots != NULL) {
		ring_empty(&stream->to_worker);
		ring_empty(&stream->to_sender);
		mempool_take_returned(stream->rx->pool);
	}
	packet_ring_destroy(&stream->to_worker);
	packet_ring_destroy(&stream->to_sender);
}

void pipeline_destroy(struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < 2 * pipeline->queues; i++) {
		struct stream *stream = &pipeline->streams[i / 2][i % 2];
		struct lane *lane = forwarder_lane(pipeline->forwarder, i / 2);
		struct forwarder_counts *counts = &lane->direction.counts;

		stream_destroy(stream);
		counts->rx += stream->received;
		counts->tx += stream->sent;
		counts->dropped += stream->received - stream->sent;
		counts->rx_calls += stream->rx_calls;
		counts->full_batches += stream->full_batches;
	}
	free(pipeline);
}
