/* Receive side scaling (datasheet 7.1.2.8). */
#include "rooms/rss.h"

/*
 * 7.1.2.8.1: the key has 40 bytes: 6d 5a 6d 5a... Its 16 bits repeat, so the hash stays the same if
 * source and destination change places (Woo and Park, "Scalable TCP Session Monitoring with Symmetric
 * Receive-side Scaling", 2012). Both directions of a flow then use the same queue.
 */
#define RSS_KEY_WORD 0x5a6d5a6d

/* Entries of the redirection table in one register. */
#define RETA_ENTRIES 4

/* Four entries of the redirection table, from entry `first`: the queues in turn. */
static uint32_t reta_entries(uint32_t first, uint32_t queues)
{
	return IXGBE_FIELD(IXGBE_RETA_ENTRY0, first % queues) |
	       IXGBE_FIELD(IXGBE_RETA_ENTRY1, (first + 1) % queues) |
	       IXGBE_FIELD(IXGBE_RETA_ENTRY2, (first + 2) % queues) |
	       IXGBE_FIELD(IXGBE_RETA_ENTRY3, (first + 3) % queues);
}

void rss_init(struct device *device)
{
	uint32_t queues = device->config.rx_queues;

	/* The reset has turned RSS off: all packets go to queue 0. */
	if (queues == 1) {
		return;
	}
	for (uint32_t i = 0; i < IXGBE_RSSRK_COUNT; i++) {
		reg_write(&device->vfio, IXGBE_RSSRK(i), RSS_KEY_WORD);
	}
	for (uint32_t i = 0; i < IXGBE_RETA_COUNT; i++) {
		reg_write(&device->vfio, IXGBE_RETA(i), reta_entries(i * RETA_ENTRIES, queues));
	}
	/* The table of an X550 has 512 entries. RETA holds the first 128. */
	for (uint32_t i = 0; device->family == DEVICE_FAMILY_X550 && i < IXGBE_ERETA_COUNT; i++) {
		reg_write(&device->vfio, IXGBE_ERETA(i), reta_entries(i * RETA_ENTRIES, queues));
	}
	/* 8.2.3.7.5: the hash takes the place of the fragment checksum in descriptors. */
	reg_set(&device->vfio, IXGBE_RXCSUM, IXGBE_RXCSUM_PCSD);
	/* 4.6.11.3.4: without DCB and virtualization, RSS alone chooses the queue. */
	reg_write(&device->vfio, IXGBE_MRQC,
		  IXGBE_MRQC_MRQE_RSS | IXGBE_MRQC_RSS_TCP_IPV4 | IXGBE_MRQC_RSS_IPV4 |
			  IXGBE_MRQC_RSS_IPV6 | IXGBE_MRQC_RSS_TCP_IPV6 | IXGBE_MRQC_RSS_UDP_IPV4 |
			  IXGBE_MRQC_RSS_UDP_IPV6);
}
