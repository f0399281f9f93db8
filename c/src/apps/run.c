/* The run of a program: its clock, its signals, its lines of each second, its totals, and its first error. */
#define _GNU_SOURCE
#include "apps/run.h"
#include "clock.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap. */
#define WIRE_OVERHEAD_BYTES 20

/* The shortest frame with its CRC, which some cards leave out of the bytes received. */
#define MIN_FRAME_BYTES 64

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int run_open(struct run *run)
{
	const char *path = run->options->json;

	if (path != NULL) {
		run->json = fopen(path, "we");
	}
	if (path != NULL && run->json == NULL) {
		run->result = error_fail(&run->error, "%.900s: %s", path, strerror(errno));
	}
	return run->result;
}

void run_start(struct run *run)
{
	(void)sigemptyset(&run->held);
	(void)sigaddset(&run->held, SIGINT);
	(void)sigaddset(&run->held, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &run->held, NULL);
	/* If the reader of the output goes away, the devices must still be stopped. */
	(void)signal(SIGPIPE, SIG_IGN);
	run->left = run->options->packets;
	run->start = now_ns();
	run->time = run->start;
	run->printed = run->start;
	run->cpu_start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run->tsc_start = tsc_read();
}

/* Prints million packets per second, and Gbit/s on the wire, between two readings. */
static void rates_print(const char *device, const struct device_stats *before,
			const struct device_stats *now, double seconds)
{
	double rx = (double)(now->rx_packets - before->rx_packets);
	double tx = (double)(now->tx_packets - before->tx_packets);
	double rx_bytes = (double)(now->rx_bytes - before->rx_bytes);

	if (rx_bytes < rx * MIN_FRAME_BYTES) {
		rx_bytes = rx * MIN_FRAME_BYTES;
	}
	double rx_bits = (rx_bytes + rx * WIRE_OVERHEAD_BYTES) * 8;
	double tx_bits = ((double)(now->tx_bytes - before->tx_bytes) + tx * WIRE_OVERHEAD_BYTES) *
			 8;

	(void)dprintf(STDOUT_FILENO, "%s: RX %.2f Mpps %.2f Gbit/s, TX %.2f Mpps %.2f Gbit/s\n",
		      device, rx / seconds / 1e6, rx_bits / seconds / 1e9, tx / seconds / 1e6,
		      tx_bits / seconds / 1e9);
}

bool run_look(struct run *run, uint64_t nanoseconds)
{
	const struct timespec wait = {.tv_nsec = (long)nanoseconds};
	bool ended = sigtimedwait(&run->held, NULL, &wait) > 0;

	run->time = now_ns();
	if (ended || run->time - run->start >= run->options->duration) {
		return false;
	}
	if (run->time - run->printed < NANOSECONDS) {
		return true;
	}
	for (uint32_t i = 0; i < run->device_count && run->result == 0; i++) {
		struct device_stats now;

		run->result = run->read_stats(run->owner, i, &now, &run->error);
		if (run->result == 0) {
			rates_print(run->devices[i], &run->before[i], &now,
				    (double)(run->time - run->printed) / (double)NANOSECONDS);
			run->before[i] = now;
		}
	}
	run->printed = run->time;
	return run->result == 0;
}

void run_end(struct run *run)
{
	uint64_t cpu_time = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run->cpu_start;

	run->tsc_cycles = tsc_read() - run->tsc_start;
	run->seconds = (double)(now_ns() - run->start) / (double)NANOSECONDS;
	run->cpu_seconds = (double)cpu_time / (double)NANOSECONDS;
}

void run_check(struct run *run, int result, const struct error *error)
{
	if (result != 0 && run->result == 0) {
		run->result = -1;
		run->error = *error;
	}
}

int run_close(struct run *run)
{
	struct error error;

	if (run->json != NULL) {
		bool failed = ferror(run->json) != 0;

		/* A file system may report a full disk only here. */
		if (fclose(run->json) != 0 || failed) {
			error_set(&error, "%.900s: %s", run->options->json, strerror(errno));
			run_check(run, -1, &error);
		}
	}
	return exit_status(run->program, run->result, &run->error);
}
