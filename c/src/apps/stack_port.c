/* A port for a network stack on the other side of a library's boundary. */
#include "apps/stack_port.h"
#include "driver/device.h"
#include "rooms/interrupts.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <stdlib.h>
#include <string.h>

/* A pool never runs empty: it covers an RX ring, a TX ring, and as many packets with the stack. */
#define POOL_PACKETS_PER_DESCRIPTOR 4
#define POOL_MIN_CAPACITY 2048

/* Time between two interrupts of a queue, in microseconds: none, because an answer is urgent. */
#define INTERRUPT_INTERVAL_US 0

struct stack_port {
	struct vfio_container container;
	struct mempool pools[DEVICE_MAX_QUEUES]; /* pools[i] feeds RX queue i */
	struct device device;
	bool opened;
	uint32_t queues;
	struct interrupts_waits waits;
	struct packet *packets[STACK_PORT_MAX_BATCH];
};

static int report(const struct error *reason, char *error, size_t error_size)
{
	(void)snprintf(error, error_size, "%s", reason->text);
	return -1;
}

/* Frees everything. The device must be stopped or unreachable. */
static void destroy(struct stack_port *port)
{
	if (port->opened) {
		device_release(&port->device);
	}
	for (uint32_t i = 0; i < port->queues; i++) {
		mempool_destroy(&port->pools[i]);
	}
	if (port->opened) {
		device_close(&port->device);
	}
	vfio_container_close(&port->container);
	free(port);
}

static int open_and_start(struct stack_port *port, const struct stack_port_config *config,
			  struct error *error)
{
	struct device_config device = {
		.rx_queues = config->queues,
		.tx_queues = config->queues,
		.rx_ring_size = config->ring_size,
		.tx_ring_size = config->ring_size,
		.promiscuous = true,
	};
	uint32_t capacity = config->ring_size * POOL_PACKETS_PER_DESCRIPTOR;

	if (capacity < POOL_MIN_CAPACITY) {
		capacity = POOL_MIN_CAPACITY;
	}
	if (device_open(&port->device, &port->container, config->device, error) != 0) {
		return -1;
	}
	port->opened = true;
	for (uint32_t i = 0; i < port->queues; i++) {
		if (mempool_create(&port->pools[i], &port->container, capacity, error) != 0) {
			return -1;
		}
	}
	if (device_start_queues(&port->device, &device, port->pools, error) != 0 ||
	    device_wait_for_link(&port->device, config->link_timeout_ms, error) != 0) {
		return -1;
	}
	return config->interrupts == 0 ?
		       0 :
		       interrupts_start(&port->device, INTERRUPT_INTERVAL_US, error);
}

struct stack_port *stack_port_open(const struct stack_port_config *config, char *error,
				   size_t error_size)
{
	struct stack_port *port = calloc(1, sizeof(*port));
	struct error reason;
	struct error ignored;

	if (port == NULL) {
		(void)snprintf(error, error_size, "out of memory for the port");
		return NULL;
	}
	if (config->queues < 1 || config->queues > DEVICE_MAX_QUEUES) {
		(void)snprintf(error, error_size, "a port has 1 to %d queues, not %u",
			       DEVICE_MAX_QUEUES, config->queues);
		free(port);
		return NULL;
	}
	port->queues = config->queues;
	vfio_container_init(&port->container);
	port->container.connect_timeout_ms = config->connect_timeout_ms;
	if (open_and_start(port, config, &reason) != 0) {
		(void)report(&reason, error, error_size);
		if (port->device.running) {
			/* The first error is the one to report. */
			(void)device_stop_queues(&port->device, &ignored);
		}
		destroy(port);
		return NULL;
	}
	return port;
}

int stack_port_mac(struct stack_port *port, uint8_t mac[6], char *error, size_t error_size)
{
	struct error reason;

	if (mac_read(&port->device, mac, &reason) != 0) {
		return report(&reason, error, error_size);
	}
	return 0;
}

uint32_t stack_port_receive(struct stack_port *port, uint32_t queue, struct stack_packet *packets,
			    uint32_t count)
{
	uint32_t wanted = count < STACK_PORT_MAX_BATCH ? count : STACK_PORT_MAX_BATCH;
	uint32_t received = rx_batch(&port->device.rx[queue], port->packets, wanted);

	for (uint32_t i = 0; i < received; i++) {
		struct packet *packet = port->packets[i];

		packets[i] = (struct stack_packet){
			.data = packet->data,
			.size = packet->size,
			.owner = packet,
		};
	}
	return received;
}

void stack_port_free(struct stack_port *port, const struct stack_packet *packets, uint32_t count)
{
	(void)port;
	for (uint32_t i = 0; i < count; i++) {
		packet_free(packets[i].owner);
	}
}

bool stack_port_alloc(struct stack_port *port, struct stack_packet *packet)
{
	struct packet *taken = packet_alloc(&port->pools[0]);

	if (taken == NULL) {
		return false;
	}
	*packet = (struct stack_packet){
		.data = taken->data,
		.size = PACKET_MAX_SIZE,
		.owner = taken,
	};
	return true;
}

uint32_t stack_port_send(struct stack_port *port, uint32_t queue,
			 const struct stack_packet *packets, uint32_t count)
{
	uint32_t offered = count < STACK_PORT_MAX_BATCH ? count : STACK_PORT_MAX_BATCH;

	for (uint32_t i = 0; i < offered; i++) {
		struct packet *packet = packets[i].owner;

		packet->size = packets[i].size;
		port->packets[i] = packet;
	}
	return tx_batch(&port->device.tx[queue], port->packets, offered);
}

int stack_port_wait(struct stack_port *port, uint32_t timeout_ms, char *error, size_t error_size)
{
	struct error reason;

	if (interrupts_wait(&port->device, 1, timeout_ms, &port->waits, &reason) != 0) {
		return report(&reason, error, error_size);
	}
	return 0;
}

int stack_port_stats(struct stack_port *port, struct stack_port_stats *stats, char *error,
		     size_t error_size)
{
	struct device_stats read;
	struct error reason;

	if (stats_read(&port->device, &read, &reason) != 0) {
		return report(&reason, error, error_size);
	}
	*stats = (struct stack_port_stats){
		.rx_packets = read.rx_packets,
		.rx_bytes = read.rx_bytes,
		.tx_packets = read.tx_packets,
		.tx_bytes = read.tx_bytes,
		.interrupts = port->waits.interrupts,
		.sleeps = port->waits.sleeps,
		.ordinary_pages = port->container.ordinary_pages,
	};
	return 0;
}

int stack_port_close(struct stack_port *port, char *error, size_t error_size)
{
	struct error reason;
	int result = 0;

	if (port->device.running && device_stop_queues(&port->device, &reason) != 0) {
		result = report(&reason, error, error_size);
	}
	destroy(port);
	return result;
}
