/*
 * A port for a network stack on the other side of a library's boundary: part of the interface of
 * libports.so. The applications in bench/apps use a driver through it.
 *
 * Packets are lent without a copy. The stack gets the packet's own bytes in the pool, and gives the packet
 * back: it frees a received one, and sends one that it has filled.
 *
 * A port and its packets belong to one thread. Every function that may fail returns -1, with the reason in
 * `error` (at most `error_size` bytes with the NUL).
 */
#ifndef IXGBE_APPS_STACK_PORT_H
#define IXGBE_APPS_STACK_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_PORT_API __attribute__((visibility("default")))

/* The most packets of one call. */
#define STACK_PORT_MAX_BATCH 256

struct stack_port;

struct stack_port_config {
	const char *device; /* 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket) */
	uint32_t queues; /* queue pairs, 1 to 16; RSS divides the flows among them */
	uint32_t ring_size; /* descriptors of every ring: a power of two, 64 to 4096 */
	uint32_t connect_timeout_ms; /* the longest wait for the server of a socket */
	uint32_t link_timeout_ms; /* the longest wait for the link */
	uint32_t interrupts; /* 1: stack_port_wait may sleep; 0: the port is only polled */
};

/* A packet that the stack has. */
struct stack_packet {
	uint8_t *data;
	uint32_t size; /* bytes at `data`, without CRC */
	uint32_t slot; /* for the library */
	void *owner; /* for the library */
};

/* Totals since the port was opened. Bytes include the CRC. */
struct stack_port_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t interrupts;
	uint64_t sleeps;
	uint64_t ordinary_pages; /* 1 if some memory is on ordinary pages */
};

/* Opens and starts a device, and waits for its link. Returns NULL on failure. */
STACK_PORT_API struct stack_port *stack_port_open(const struct stack_port_config *config,
						  char *error, size_t error_size);

/* The address that the port receives frames for. */
STACK_PORT_API int stack_port_mac(struct stack_port *port, uint8_t mac[6], char *error,
				  size_t error_size);

/* Receives up to `count` packets of a queue. Returns their number. The stack frees them. */
STACK_PORT_API uint32_t stack_port_receive(struct stack_port *port, uint32_t queue,
					   struct stack_packet *packets, uint32_t count);

/* Frees packets that the stack has. */
STACK_PORT_API void stack_port_free(struct stack_port *port, const struct stack_packet *packets,
				    uint32_t count);

/*
 * Takes a packet to fill, for any queue. `size` is the room at `data`. The stack sets `size` to the length
 * of the frame before it sends the packet. Returns false if the pool is empty.
 */
STACK_PORT_API bool stack_port_alloc(struct stack_port *port, struct stack_packet *packet);

/*
 * Sends up to `count` packets. Returns the number that the TX ring took. The stack keeps the others. The
 * size of each is 1 to the room that stack_port_alloc returned.
 */
STACK_PORT_API uint32_t stack_port_send(struct stack_port *port, uint32_t queue,
					const struct stack_packet *packets, uint32_t count);

/*
 * Sleeps until a packet arrives, for at most `timeout_ms` milliseconds and at most 0.1 s. Returns at once
 * if a packet waits already. The port must have interrupts. A signal may end the sleep.
 */
STACK_PORT_API int stack_port_wait(struct stack_port *port, uint32_t timeout_ms, char *error,
				   size_t error_size);

/* Reads the totals. Also fails if the device is dead or stalled, so a stack calls it about once a second. */
STACK_PORT_API int stack_port_stats(struct stack_port *port, struct stack_port_stats *stats,
				    char *error, size_t error_size);

/* Sends what is in the TX rings, stops the device and frees everything, also after an error. */
STACK_PORT_API int stack_port_close(struct stack_port *port, char *error, size_t error_size);

#endif
