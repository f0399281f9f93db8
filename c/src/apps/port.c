/* The port of a program that uses one: a device with its pools, and the run on it. */
#define _GNU_SOURCE
#include "apps/port.h"
#include "apps/rates.h"
#include "clock.h"
#include "rooms/start.h"
#include "rooms/stats.h"

/* A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the program. */
#define POOL_PACKETS_PER_DESCRIPTOR 4
#define POOL_MIN_CAPACITY 2048

void port_free(struct port *port)
{
	if (port->opened) {
		device_release(&port->device);
	}
	for (uint32_t i = 0; i < port->config.rx_queues; i++) {
		mempool_destroy(&port->pools[i]);
	}
	if (port->opened) {
		device_close(&port->device);
	}
	vfio_container_close(&port->container);
	port->opened = false;
}

uint32_t port_pool_capacity(const struct common_options *options)
{
	uint32_t capacity = options->ring_size * POOL_PACKETS_PER_DESCRIPTOR;

	return capacity < POOL_MIN_CAPACITY ? POOL_MIN_CAPACITY : capacity;
}

static int open_and_start(struct port *port, const char *address,
			  const struct common_options *options, struct error *error)
{
	if (device_open(&port->device, &port->container, address, error) != 0) {
		return -1;
	}
	port->opened = true;
	for (uint32_t i = 0; i < port->config.rx_queues; i++) {
		if (mempool_create(&port->pools[i], &port->container, port_pool_capacity(options),
				   error) != 0) {
			return -1;
		}
	}
	if (device_start_queues(&port->device, &port->config, port->pools, error) != 0) {
		return -1;
	}
	return device_wait_for_link(&port->device, options->link_timeout_ms, error);
}

int port_open(struct port *port, const struct program *program, const char *address,
	      uint32_t rx_queues, uint32_t tx_queues, const struct common_options *options,
	      struct error *error)
{
	struct error ignored;

	*port = (struct port){
		.config =
			{
				.rx_queues = rx_queues,
				.tx_queues = tx_queues,
				.rx_ring_size = options->ring_size,
				.tx_ring_size = options->ring_size,
				.promiscuous = true,
			},
	};
	vfio_container_init(&port->container);
	port->container.connect_timeout_ms = options->connect_timeout_ms;
	if (open_and_start(port, address, options, error) != 0) {
		if (port->device.running) {
			/* The first error is the one to report. */
			(void)device_stop_queues(&port->device, &ignored);
		}
		port_free(port);
		return -1;
	}
	if (port->container.ordinary_pages) {
		say("%s: warning: too few huge pages of 2 MiB are free, using ordinary pages, "
		    "which are slower; `make hugepages` reserves some\n",
		    program->name);
	}
	return 0;
}

int port_close(struct port *port, struct error *error)
{
	int result = device_stop_queues(&port->device, error);

	port_free(port);
	return result;
}

uint32_t port_turns_per_look(const struct port *port)
{
	return device_is_trapped(&port->device) ? TURNS_PER_LOOK_TRAPPED : TURNS_PER_LOOK;
}

void packets_free(struct packet **packets, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < count; i++) {
		packet_free(packets[i]);
	}
}

void run_start(struct run *run, uint64_t duration)
{
	*run = (struct run){.duration = duration};
	hold_signals(&run->held);
	run->start_tsc = tsc_read();
	run->start = now_ns();
	run->time = run->start;
	run->printed = run->start;
}

int run_look(struct run *run, struct port *port, bool *ended, struct error *error)
{
	struct device_stats now;

	run->time = now_ns();
	*ended = run->time - run->start >= run->duration || signal_comes(&run->held, 0);
	if (*ended || run->time - run->printed < NANOSECONDS) {
		return 0;
	}
	if (stats_read(&port->device, &now, error) != 0) {
		return -1;
	}
	rates_print(port->device.vfio.address, &run->before, &now,
		    (double)(run->time - run->printed) / (double)NANOSECONDS);
	run->before = now;
	run->printed = run->time;
	return 0;
}

double run_seconds(const struct run *run)
{
	return (double)(now_ns() - run->start) / (double)NANOSECONDS;
}

uint64_t run_tsc_cycles(const struct run *run)
{
	return tsc_read() - run->start_tsc;
}
