/* A program on one port: a device with its pools, and the run on it. */
#define _GNU_SOURCE
#include "apps/port.h"
#include "rooms/start.h"
#include "rooms/stats.h"

/* A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the program. */
#define POOL_PACKETS_PER_DESCRIPTOR 4
#define POOL_MIN_CAPACITY 2048

static int create_pools(struct port *port, struct mempool *pools, uint32_t count,
			uint32_t ring_size, struct error *error)
{
	uint32_t capacity = ring_size * POOL_PACKETS_PER_DESCRIPTOR;

	if (capacity < POOL_MIN_CAPACITY) {
		capacity = POOL_MIN_CAPACITY;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (mempool_create(&pools[i], &port->container, capacity, error) != 0) {
			return -1;
		}
	}
	return 0;
}

static int open_and_start(struct port *port, const struct port_config *config, struct error *error)
{
	const struct device_config device = {
		.rx_queues = config->rx_queues,
		.tx_queues = config->tx_queues,
		.rx_ring_size = config->ring_size,
		.tx_ring_size = config->ring_size,
		.promiscuous = true,
	};
	uint32_t tx_pools = config->tx_pools ? config->tx_queues : 0;

	if (device_open(&port->device, &port->container, config->address, error) != 0) {
		return -1;
	}
	port->opened = true;
	if (create_pools(port, port->pools, config->rx_queues, config->ring_size, error) != 0 ||
	    create_pools(port, port->tx_pools, tx_pools, config->ring_size, error) != 0 ||
	    device_start_queues(&port->device, &device, port->pools, error) != 0) {
		return -1;
	}
	return device_wait_for_link(&port->device, config->link_timeout_ms, error);
}

int port_open(struct port *port, const struct port_config *config, struct error *error)
{
	struct error ignored;

	*port = (struct port){.opened = false};
	vfio_container_init(&port->container);
	port->container.connect_timeout_ms = config->connect_timeout_ms;
	if (open_and_start(port, config, error) != 0) {
		/* The first error is the one to report. */
		(void)port_close(port, &ignored);
		return -1;
	}
	return 0;
}

int port_close(struct port *port, struct error *error)
{
	int result = port->device.running ? device_stop_queues(&port->device, error) : 0;

	if (port->opened) {
		device_release(&port->device);
	}
	for (uint32_t i = 0; i < DEVICE_MAX_QUEUES; i++) {
		mempool_destroy(&port->pools[i]);
		mempool_destroy(&port->tx_pools[i]);
	}
	if (port->opened) {
		device_close(&port->device);
	}
	vfio_container_close(&port->container);
	return result;
}

void packets_free(struct packet **packets, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < count; i++) {
		packet_free(packets[i]);
	}
}

bool run_goes_on(struct run *run, struct port *port, uint32_t *count)
{
	uint32_t batch = run->options->batch;
	bool goes_on = run->left > 0 && run->result == 0;

	if (goes_on && port->turns == 0) {
		port->turns = turns_per_look(device_is_trapped(&port->device));
		goes_on = run_look(run, 0);
	}
	if (!goes_on) {
		run_end(run);
	}
	port->turns--;
	*count = batch < run->left ? batch : (uint32_t)run->left;
	return goes_on;
}

uint32_t port_drop_received(struct port *port, uint32_t batch)
{
	uint32_t received = rx_batch(&port->device.rx[0], port->packets, batch);

	packets_free(port->packets, 0, received);
	return received;
}

static int read_stats(void *owner, uint32_t device, struct device_stats *stats, struct error *error)
{
	struct port *port = owner;

	(void)device;
	return stats_read(&port->device, stats, error);
}

static void work_on(struct run *run, struct port *port, const struct work *work)
{
	struct error error;

	if (port->container.ordinary_pages) {
		warn_of_ordinary_pages(run->program);
	}
	work->do_work(run, port, work->state);
	run_check(run, port_close(port, &error), &error);
	if (run->json != NULL) {
		work->write_totals(run, work->state);
	}
}

int run_on_port(const struct program *program, const struct common_options *options,
		const char *address, uint32_t tx_queues, const struct work *work)
{
	const struct port_config config = {
		.address = address,
		.rx_queues = 1,
		.tx_queues = tx_queues > 0 ? tx_queues : 1,
		.tx_pools = tx_queues > 0,
		.ring_size = options->ring_size,
		.connect_timeout_ms = options->connect_timeout_ms,
		.link_timeout_ms = options->link_timeout_ms,
	};
	struct port port;
	struct run run = {
		.program = program,
		.options = options,
		.device_count = 1,
		.devices = {address},
		.read_stats = read_stats,
		.owner = &port,
	};

	if (run_open(&run) == 0) {
		run.result = port_open(&port, &config, &run.error);
		if (run.result == 0) {
			work_on(&run, &port, work);
		}
	}
	return run_close(&run);
}
