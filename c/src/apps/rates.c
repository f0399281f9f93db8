/* The lines of each second: what a device received and sent. */
#define _GNU_SOURCE
#include "apps/rates.h"
#include <stdio.h>
#include <unistd.h>

/* The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap. */
#define WIRE_OVERHEAD_BYTES 20

void rates_print(const char *device, const struct device_stats *before,
		 const struct device_stats *now, double seconds)
{
	double rx = (double)(now->rx_packets - before->rx_packets);
	double tx = (double)(now->tx_packets - before->tx_packets);
	double rx_bits = ((double)(now->rx_bytes - before->rx_bytes) + rx * WIRE_OVERHEAD_BYTES) *
			 8;
	double tx_bits = ((double)(now->tx_bytes - before->tx_bytes) + tx * WIRE_OVERHEAD_BYTES) *
			 8;

	(void)dprintf(STDOUT_FILENO, "%s: RX %.2f Mpps %.2f Gbit/s, TX %.2f Mpps %.2f Gbit/s\n",
		      device, rx / seconds / 1e6, rx_bits / seconds / 1e9, tx / seconds / 1e6,
		      tx_bits / seconds / 1e9);
}
