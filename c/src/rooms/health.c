/* Checks that driver and device agree on the next RX descriptor. */
#include "rooms/health.h"

/* A check looks this often before it reports an error. */
#define CHECK_LOOKS 100

/*
 * 7.1.9: whether the device has used the next descriptor, by RDH, but not written it back. A
 * write-back may be late by some microseconds.
 */
static bool rx_write_back_missing(const struct rx_queue *queue, uint32_t *head)
{
	*head = reg_read(queue->vfio, IXGBE_RDH(queue->id));
	return *head != queue->index &&
	       !(dma_load64(&queue->ring[queue->index].upper) & IXGBE_RXD_DD);
}

int rx_check_stall(struct rx_queue *queue, struct error *error)
{
	uint32_t head = 0;

	if (!rx_write_back_missing(queue, &head)) {
		queue->suspect = RX_NO_SUSPECT;
		return 0;
	}
	/*
	 * The first time, this is a write-back on its way. Sleeping here would cost packets. An index repeats while
	 * packets flow, but RDH does not stand still then.
	 */
	uint32_t suspect = head << 16 | queue->index;

	if (queue->suspect != suspect) {
		queue->suspect = suspect;
		return 0;
	}
	for (uint32_t i = 0; i < CHECK_LOOKS; i++) {
		if (!rx_write_back_missing(queue, &head)) {
			queue->suspect = RX_NO_SUSPECT;
			return 0;
		}
	}
	return error_fail(
		error,
		"%s: RX queue %u is stalled: the driver expects the next packet in descriptor %u "
		"of %u, but the device is at descriptor %u (RDH) and has not written descriptor "
		"%u back; usually the driver's index or RDT has left the order of the ring, for "
		"example at its end; restart the driver to reset the device",
		queue->vfio->address, queue->id, queue->index, queue->mask + 1, head, queue->index);
}
