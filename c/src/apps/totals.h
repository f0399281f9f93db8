/* The totals of a run of ixgbe-fwd, and the line of JSON that has them. */
#ifndef IXGBE_TOTALS_H
#define IXGBE_TOTALS_H

#include "../forwarder.h"

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

/* Writes the totals to `fd` and closes it. Returns 0, or -1 with errno. */
int totals_write(int fd, const struct totals *totals);

#endif
