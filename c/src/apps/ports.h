/*
 * Two ports, used frame by frame: the interface of libports.so. With it, `triptych selftest` sends
 * frames of any size and content through the driver, and looks at what arrives.
 *
 * Ports are numbered 0 and 1. Every function that may fail returns -1, with the reason in `error` (at
 * most `error_size` bytes with the NUL).
 */
#ifndef IXGBE_APPS_PORTS_H
#define IXGBE_APPS_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORTS_API __attribute__((visibility("default")))

/* The most frames of one call. */
#define PORTS_MAX_BATCH 256

struct ports;

/* A frame in the caller's memory, without CRC. */
struct ports_frame {
	uint8_t *data;
	uint32_t size; /* bytes at `data`; ports_receive sets it to the length of the frame */
};

/* The counters of a port since its last start. Bytes include the CRC. */
struct ports_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
};

/*
 * Opens both devices, without starting them. Waits at most 5 seconds for the server of each
 * vfio-user socket. Returns NULL on failure.
 */
PORTS_API struct ports *ports_open(const char *device_a, const char *device_b, char *error,
				   size_t error_size);

/* Resets and starts a port, whatever state it is in. Does not wait for the link. */
PORTS_API int ports_start(struct ports *ports, uint32_t port, char *error, size_t error_size);

/* Reads the speed of the link in Mbit/s, 0 if the link is down. */
PORTS_API int ports_link_speed(struct ports *ports, uint32_t port, uint32_t *speed, char *error,
			       size_t error_size);

/*
 * Sends up to `count` frames. Returns the number of frames that the TX ring took. The caller may
 * change the frames afterwards. A frame has at most 1984 bytes; a longer one ends the batch.
 */
PORTS_API uint32_t ports_send(struct ports *ports, uint32_t port, const struct ports_frame *frames,
			      uint32_t count);

/*
 * Receives up to `count` frames. `size` of each frame is the room at `data`, then the length of the
 * received frame. What does not fit into the room is left out. Returns the number of frames.
 */
PORTS_API uint32_t ports_receive(struct ports *ports, uint32_t port, struct ports_frame *frames,
				 uint32_t count);

/* Reads the counters of a port. Also fails if the port is dead or stalled. */
PORTS_API int ports_stats(struct ports *ports, uint32_t port, struct ports_stats *stats,
			  char *error, size_t error_size);

/* Reads the 4-byte register at `offset` of BAR0. Reading clears some registers. */
PORTS_API int ports_register(struct ports *ports, uint32_t port, uint32_t offset, uint32_t *value,
			     char *error, size_t error_size);

/* Whether some of the memory is on ordinary pages because too few 2 MiB pages were free. */
PORTS_API bool ports_on_ordinary_pages(const struct ports *ports);

/* Sends what is in the TX rings, stops both ports and frees everything. */
PORTS_API int ports_close(struct ports *ports, char *error, size_t error_size);

#endif
