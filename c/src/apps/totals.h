/* The totals of a run of ixgbe-fwd, and the lines that show them: one to read, and one of JSON. */
#ifndef IXGBE_TOTALS_H
#define IXGBE_TOTALS_H

#include "rooms/forwarder.h"

/* The results of a run. */
struct totals {
	struct forwarder_counts counts;
	double seconds;
	double cpu_seconds; /* that this process used of them, all threads together */
	uint64_t tsc_cycles;
	uint32_t queues;
	struct forwarder_counts queue_counts[FORWARDER_MAX_QUEUES];
	bool interrupts; /* the run had them, and so `waits` */
	struct forwarder_waits waits;
};

/* Prints the packets of both devices; `missed` are those for which a device had no descriptor. */
void totals_print(const struct totals *totals, uint64_t missed);

/* Writes the totals to `fd` and closes it. Returns 0, or -1 with errno. */
int totals_write(int fd, const struct totals *totals);

#endif
