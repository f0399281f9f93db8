/* A port for a network stack on the other side of a library's boundary. */
#include "apps/stack_port.h"
#include "apps/port.h"
#include "rooms/interrupts.h"
#include "rooms/stats.h"
#include <stdlib.h>

/* Time between two interrupts of a queue, in microseconds: none, because an answer is urgent. */
#define INTERRUPT_INTERVAL_US 0

struct stack_port {
	struct port port;
	struct interrupts_waits waits;
	struct packet *packets[STACK_PORT_MAX_BATCH];
};

static int open_port(struct stack_port *port, const struct stack_port_config *config,
		     struct error *error)
{
	const struct port_config opened = {
		.address = config->device,
		.rx_queues = config->queues,
		.tx_queues = config->queues,
		.ring_size = config->ring_size,
		.connect_timeout_ms = config->connect_timeout_ms,
		.link_timeout_ms = config->link_timeout_ms,
	};
	struct error ignored;

	if (config->queues < 1 || config->queues > DEVICE_MAX_QUEUES) {
		return error_fail(error, "a port has 1 to %d queues, not %u", DEVICE_MAX_QUEUES,
				  config->queues);
	}
	if (port_open(&port->port, &opened, error) != 0) {
		return -1;
	}
	if (config->interrupts != 0 &&
	    interrupts_start(&port->port.device, INTERRUPT_INTERVAL_US, error) != 0) {
		(void)port_close(&port->port, &ignored);
		return -1;
	}
	return 0;
}

struct stack_port *stack_port_open(const struct stack_port_config *config, char *error,
				   size_t error_size)
{
	struct stack_port *port = calloc(1, sizeof(*port));
	struct error reason;

	if (port == NULL) {
		(void)snprintf(error, error_size, "out of memory for the port");
		return NULL;
	}
	if (error_copy(open_port(port, config, &reason), &reason, error, error_size) != 0) {
		free(port);
		return NULL;
	}
	return port;
}

int stack_port_mac(struct stack_port *port, uint8_t mac[6], char *error, size_t error_size)
{
	struct error reason;
	int result = mac_read(&port->port.device, mac, &reason);

	return error_copy(result, &reason, error, error_size);
}

uint32_t stack_port_receive(struct stack_port *port, uint32_t queue, struct stack_packet *packets,
			    uint32_t count)
{
	uint32_t wanted = count < STACK_PORT_MAX_BATCH ? count : STACK_PORT_MAX_BATCH;
	uint32_t received = rx_batch(&port->port.device.rx[queue], port->packets, wanted);

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
	struct packet *taken = packet_alloc(&port->port.pools[0]);

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
	return tx_batch(&port->port.device.tx[queue], port->packets, offered);
}

int stack_port_wait(struct stack_port *port, uint32_t timeout_ms, char *error, size_t error_size)
{
	struct error reason;
	int result = interrupts_wait(&port->port.device, 1, timeout_ms, &port->waits, &reason);

	return error_copy(result, &reason, error, error_size);
}

int stack_port_stats(struct stack_port *port, struct stack_port_stats *stats, char *error,
		     size_t error_size)
{
	struct device_stats read = {0};
	struct error reason;
	int result = stats_read(&port->port.device, &read, &reason);

	*stats = (struct stack_port_stats){
		.rx_packets = read.rx_packets,
		.rx_bytes = read.rx_bytes,
		.tx_packets = read.tx_packets,
		.tx_bytes = read.tx_bytes,
		.interrupts = port->waits.interrupts,
		.sleeps = port->waits.sleeps,
		.ordinary_pages = port->port.container.ordinary_pages,
	};
	return error_copy(result, &reason, error, error_size);
}

int stack_port_close(struct stack_port *port, char *error, size_t error_size)
{
	struct error reason;
	int result = port_close(&port->port, &reason);

	free(port);
	return error_copy(result, &reason, error, error_size);
}
