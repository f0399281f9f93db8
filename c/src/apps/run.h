/* The run of a program: its clock, its signals, its lines of each second, its totals, and its first error. */
#ifndef IXGBE_RUN_H
#define IXGBE_RUN_H

#include "apps/program.h"
#include "driver/device.h"
#include <signal.h>

struct run {
	const struct program *program;
	const struct common_options *options;
	int result; /* -1 after an error; then `error` has the reason */
	struct error error;
	FILE *json; /* for the totals; NULL: none */

	/* The devices, and how to read what one has counted. */
	uint32_t device_count;
	const char *devices[2];
	int (*read_stats)(void *owner, uint32_t device, struct device_stats *stats,
			  struct error *error);
	void *owner;

	uint64_t left; /* packets that may still come; the program subtracts what it takes */
	sigset_t held; /* the signals that end the run */
	uint64_t start; /* nanoseconds */
	uint64_t cpu_start;
	uint64_t tsc_start;
	uint64_t time; /* of the last look, nanoseconds */
	uint64_t printed; /* when the last lines were printed, nanoseconds */
	struct device_stats before[2]; /* what the devices had counted then */

	/* From the start to the end, for the totals. */
	double seconds;
	double cpu_seconds; /* that this process used of them, all threads together */
	uint64_t tsc_cycles;
};

/* Opens the file for the totals, so that a wrong path fails before the run. Returns `result`. */
int run_open(struct run *run);

/* Blocks the signals that end the run, so that the program can stop its devices first, and starts the clock. */
void run_start(struct run *run);

/*
 * Looks at the clock, and for `nanoseconds` at the signals. Prints what the devices received and sent once
 * a second. Returns whether the run goes on.
 */
bool run_look(struct run *run, uint64_t nanoseconds);

/* Reads the clock at the end. */
void run_end(struct run *run);

/* Ends the run with `error`, if `result` is not 0 and no error came before. */
void run_check(struct run *run, int result, const struct error *error);

/* Closes the file for the totals, and prints the error. Returns the exit status. */
int run_close(struct run *run);

/* Nanoseconds since some moment in the past. */
uint64_t now_ns(void);

#endif
