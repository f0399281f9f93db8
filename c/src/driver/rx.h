/*
 * The receive path (datasheet 7.1).
 *
 * The ring protocol. Driver and device share a ring of descriptors. Two indices divide the ring:
 * the head, RDH, which the device moves, and the tail, RDT, which the driver moves.
 *
 * - The device owns the descriptors from RDH up to RDT, without RDT itself. Each of them points
 *   to an empty buffer. The device fills the buffer and moves RDH. Then it writes the length and
 *   the status over the descriptor; the DD bit (descriptor done) gives the descriptor back.
 * - The driver owns the other descriptors. It polls DD at `index`, takes the packet, points the
 *   descriptor to an empty buffer, and hands the descriptor over by moving RDT.
 *
 * The owner of a descriptor owns its buffer. The other side must not touch the buffer then
 * (TRUST-RING-PROTOCOL).
 *
 * RDT stays one behind `index`, because RDH == RDT means that the device owns no descriptor.
 * If the driver handed over all descriptors, the device would take the full ring for an empty one.
 *
 * TRUST-... and DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
 */
#ifndef IXGBE_RX_H
#define IXGBE_RX_H

#include "driver/descriptor.h"
#include "driver/mempool.h"
#include "driver/register_access.h"

struct rx_queue {
	struct descriptor *ring;
	struct packet **packets; /* descriptor i points to the buffer of packets[i] */
	struct mempool *pool; /* the source of empty buffers */
	volatile uint32_t *tail; /* RDT, or NULL if it is not mapped */
	uint32_t tail_offset; /* of RDT in BAR0 */
	uint32_t mask; /* ring size - 1 */
	uint32_t index; /* the descriptor that the device writes back next */
	bool discarding; /* in the middle of a frame that spans descriptors */
	uint32_t id;
	struct vfio_device *vfio;
	struct dma_memory dma;
	uint64_t pool_empty; /* calls that stopped early because the pool was empty */
	uint64_t discarded; /* frames that did not fit into one buffer */
	uint32_t suspect; /* RDH and index at which the last check missed a write-back, or none */
	uint8_t apart[CACHE_LINES_APART]; /* the next queue may belong to another thread */
};

#define RX_NO_SUSPECT UINT32_MAX

/*
 * Takes up to `count` received packets into `packets`, and gives the device an empty buffer for
 * each. Returns the number of packets.
 */
uint32_t rx_batch(struct rx_queue *queue, struct packet **packets, uint32_t count);

/* Lets frames in, or keeps them out (4.6.7). */
int enable_rx(struct vfio_device *vfio, bool on, struct error *error);

#endif
