/*
 * The tuned transmit path (datasheet 7.2). driver/tx.h explains the ring protocol, batch.h the exchange.
 *
 * The device reports only every 32nd descriptor (RS), and the driver looks only there. It needs TXDCTL.WTHRESH 0: with
 * a threshold, the device would report all descriptors (7.2.3.4.2). So DD never shows the last 1 to 31 packets; the stop
 * of the queue goes by TDH.
 */
#ifndef IXGBE_TUNED_TX_H
#define IXGBE_TUNED_TX_H

#include "driver/tx.h"
#include "tuned/batch.h"

struct tuned_tx {
	struct tx_queue *queue; /* `clean_index` is a multiple of 32 */
	uint32_t *places; /* descriptor i points to places[i], or did, if its packet was sent */
	uint64_t iova; /* of place 0 */
};

/*
 * Exchanges the packets of the batch for empty places, as many as the ring can take. Returns their number. The others
 * are dropped: they stay in the batch as empty places.
 */
uint32_t tuned_tx_batch(struct tuned_tx *tx, struct tuned_batch *batch);

#endif
