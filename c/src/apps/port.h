/* The port of a program that uses one: a device with its pools, and the run on it. */
#ifndef IXGBE_PORT_H
#define IXGBE_PORT_H

#include "apps/program.h"
#include "driver/device.h"

/* A program looks at the clock and the signals once every so many turns. */
#define TURNS_PER_LOOK 1024

/* The same when a turn may take two messages to a server, each 20 ms or more. */
#define TURNS_PER_LOOK_TRAPPED 8

struct port {
	struct vfio_container container;
	struct mempool pools[DEVICE_MAX_QUEUES]; /* pools[i] feeds RX queue i */
	struct device_config config;
	struct device device;
	bool opened;
};

/*
 * Opens and starts the device at `address`, promiscuous, then waits for its link. Prints a warning if the
 * memory is on ordinary pages. The structure must not move while it is open.
 */
int port_open(struct port *port, const struct program *program, const char *address,
	      uint32_t rx_queues, uint32_t tx_queues, const struct common_options *options,
	      struct error *error);

/* Stops the device and frees everything. Returns 0, or -1 if the device could not be stopped in order. */
int port_close(struct port *port, struct error *error);

/* Frees everything. The device must be stopped or unreachable. */
void port_free(struct port *port);

/* The packets of a pool that never runs empty with such options. */
uint32_t port_pool_capacity(const struct common_options *options);

/* How many turns there may be between two looks. */
uint32_t port_turns_per_look(const struct port *port);

/* Frees packets[first] to packets[count - 1]. */
void packets_free(struct packet **packets, uint32_t first, uint32_t count);

/* A run on a port, from its first packet on. */
struct run {
	sigset_t held; /* the signals that end it */
	uint64_t duration; /* nanoseconds, UINT64_MAX: no limit */
	uint64_t start; /* nanoseconds */
	uint64_t start_tsc;
	uint64_t time; /* of the last look, nanoseconds */
	uint64_t printed; /* when the last line was printed, nanoseconds */
	struct device_stats before; /* the device's counters then */
};

void run_start(struct run *run, uint64_t duration);

/*
 * Looks at the clock and the signals, and prints a line every second. Says in `ended` whether the run
 * is over. Returns -1 if the device has failed.
 */
int run_look(struct run *run, struct port *port, bool *ended, struct error *error);

/* The seconds and the TSC cycles from the start until now, for the totals. */
double run_seconds(const struct run *run);
uint64_t run_tsc_cycles(const struct run *run);

#endif
