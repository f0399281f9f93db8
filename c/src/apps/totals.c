/* The line of JSON with the totals of a run. */
#define _GNU_SOURCE
#include "apps/totals.h"
#include "apps/program.h"
#include <inttypes.h>

/* Writes the counts without braces. Returns what dprintf returns. */
static int write_counts(int fd, const struct forwarder_counts *counts)
{
	return dprintf(fd,
		       "\"rx\":%" PRIu64 ",\"tx\":%" PRIu64 ",\"dropped\":%" PRIu64
		       ",\"rx_calls\":%" PRIu64 ",\"full_batches\":%" PRIu64,
		       counts->rx, counts->tx, counts->dropped, counts->rx_calls,
		       counts->full_batches);
}

/* Writes the counts of each queue, if there are several. Returns -1 with errno on failure. */
static int write_queues(int fd, const struct totals *totals)
{
	int written = totals->queues > 1 ? dprintf(fd, ",\"queues\":[") : 0;

	for (uint32_t i = 0; i < totals->queues && totals->queues > 1 && written >= 0; i++) {
		written = dprintf(fd, "%s{\"queue\":%u,", i > 0 ? "," : "", i);
		if (written >= 0) {
			written = write_counts(fd, &totals->queue_counts[i]);
		}
		if (written >= 0) {
			written = dprintf(fd, "}%s", i + 1 == totals->queues ? "]" : "");
		}
	}
	return written;
}

void totals_print(const struct totals *totals, uint64_t missed)
{
	(void)dprintf(STDOUT_FILENO,
		      "both devices: received %" PRIu64 ", sent %" PRIu64 ", dropped %" PRIu64
		      ", missed %" PRIu64 "\n",
		      totals->counts.rx, totals->counts.tx, totals->counts.dropped, missed);
}

int totals_write(int fd, const struct totals *totals)
{
	int written = dprintf(fd, "{");

	if (written >= 0) {
		written = write_counts(fd, &totals->counts);
	}
	if (written >= 0) {
		written = dprintf(fd,
				  ",\"seconds\":%.9f,\"cpu_seconds\":%.9f,\"tsc_cycles\":%" PRIu64,
				  totals->seconds, totals->cpu_seconds, totals->tsc_cycles);
	}
	if (written >= 0 && totals->interrupts) {
		written = dprintf(fd, ",\"interrupts\":%" PRIu64 ",\"sleeps\":%" PRIu64,
				  totals->waits.interrupts, totals->waits.sleeps);
	}
	if (written >= 0) {
		written = write_queues(fd, totals);
	}
	if (written >= 0) {
		written = dprintf(fd, "}\n");
	}
	return json_close(fd, written);
}
