/*
 * The pipeline: packets that travel between threads. The RX thread receives with all queues. Each queue
 * has a worker, which changes its packets. The TX thread sends with all queues.
 *
 * A packet goes from thread to thread through packet rings, and its owner is the thread that has it. The
 * pools stay with the RX thread. The TX thread takes sent packets out of its rings and returns them to
 * their pools (packets_return). No ring can be full: each has room for all packets of its pool. If the
 * later threads or the other device are slow, the pool runs empty, and the first device drops packets.
 */
#ifndef IXGBE_PIPELINE_H
#define IXGBE_PIPELINE_H

#include "rooms/forwarder.h"

struct pipeline;

/*
 * Makes a pipeline of all queues of a forwarder, which must outlive it and must not forward meanwhile.
 * All doorbells must be mapped (forwarder_is_trapped). Returns NULL with the reason.
 */
struct pipeline *pipeline_create(struct forwarder *forwarder, char *error, size_t error_size);

/*
 * The parts of each thread. A turn works on a batch in each direction of a queue, and returns the number
 * of packets. Turns of the same part belong to one thread.
 */

/* Receives, and gives the packets to the queue's worker. */
uint32_t pipeline_receive(struct pipeline *pipeline, uint32_t queue);

/* Changes a byte of each packet, and gives the packets to the TX thread. */
uint32_t pipeline_work(struct pipeline *pipeline, uint32_t queue);

/* Returns sent packets to their pools, and sends what the rings of the devices can take. */
uint32_t pipeline_send(struct pipeline *pipeline, uint32_t queue);

/* Whether packets of the queue wait to be sent. For the TX thread. */
bool pipeline_send_waits(struct pipeline *pipeline, uint32_t queue);

/* Stops receiving after `packets` more packets. For the RX thread. */
void pipeline_limit(struct pipeline *pipeline, uint64_t packets);

/*
 * Ends the pipeline, after its threads. It takes all packets home that are in no ring of a device, and
 * adds its counts to those of the forwarder. Packets that were not sent count as dropped.
 */
void pipeline_destroy(struct pipeline *pipeline);

#endif
