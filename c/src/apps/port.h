/* A program on one port: a device with its pools, and the run on it. */
#ifndef IXGBE_PORT_H
#define IXGBE_PORT_H

#include "apps/run.h"

/* What a port is opened with. */
struct port_config {
	const char *address;
	uint32_t rx_queues;
	uint32_t tx_queues;
	bool tx_pools; /* each TX queue has a pool of its own */
	uint32_t ring_size;
	uint32_t connect_timeout_ms;
	uint32_t link_timeout_ms;
};

/* An open port. No pool ever runs empty. */
struct port {
	struct vfio_container container;
	struct mempool pools[DEVICE_MAX_QUEUES]; /* pools[i] feeds RX queue i */
	struct mempool
		tx_pools[DEVICE_MAX_QUEUES]; /* tx_pools[i] feeds TX queue i, and nothing else */
	struct device device;
	bool opened;
	uint32_t turns; /* until the next look at the clock */
	struct packet *packets[FORWARDER_MAX_BATCH]; /* for a batch */
};

/*
 * Opens and starts a device, promiscuous, then waits for its link. The structure must not move while it is
 * open.
 */
int port_open(struct port *port, const struct port_config *config, struct error *error);

/* Stops the device and frees everything. Returns 0, or -1 if the device could not be stopped in order. */
int port_close(struct port *port, struct error *error);

/* Frees packets[first] to packets[count - 1]. */
void packets_free(struct packet **packets, uint32_t first, uint32_t count);

/* What a program does in a run on a port, with a state of its own, and how it writes the totals. */
struct work {
	void (*do_work)(struct run *run, struct port *port, void *state);
	void (*write_totals)(const struct run *run, const void *state);
	void *state;
};

/*
 * Opens the device at `address`, works on it, closes it, and writes the totals. With `tx_queues`, each of so
 * many TX queues has a pool of its own. Without, there is one for what the program receives. Prints the
 * first error only. Returns the exit status.
 */
int run_on_port(const struct program *program, const struct common_options *options,
		const char *address, uint32_t tx_queues, const struct work *work);

/*
 * Whether a started run goes on, with a turn of at most `count` packets. It looks at the clock and the
 * signals now and then. At the end it stops the clock.
 */
bool run_goes_on(struct run *run, struct port *port, uint32_t *count);

/* Takes what the device has received, so that a loop in the cable does not fill the ring. */
uint32_t port_drop_received(struct port *port, uint32_t batch);

#endif
