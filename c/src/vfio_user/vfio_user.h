/*
 * Messages to a vfio-user server and their replies. Only the files of this folder include this header.
 *
 * A request waits for its reply as long as the patience for the device lasts (vfio/patience.c), counted
 * from its first byte to the last byte of the reply. After a reply that is late, wrong or incomplete, the
 * device has failed: nothing is sent to its server any more.
 */
#ifndef IXGBE_VFIO_USER_H
#define IXGBE_VFIO_USER_H

#include "vfio/vfio.h"
#include <linux/vfio.h>

#define MAX_PAYLOAD 4096
#define MAX_CAPABILITIES 72

enum message_command {
	COMMAND_VERSION = 1,
	COMMAND_DMA_MAP = 2,
	COMMAND_DMA_UNMAP = 3,
	COMMAND_GET_INFO = 4,
	COMMAND_GET_REGION_INFO = 5,
	COMMAND_SET_IRQS = 8,
	COMMAND_REGION_READ = 9,
	COMMAND_REGION_WRITE = 10,
};

struct message_header {
	uint16_t id;
	uint16_t command;
	uint32_t size; /* bytes, with this header */
	uint32_t flags;
	uint32_t error; /* errno, if FLAGS_ERROR */
};

struct version {
	uint16_t major;
	uint16_t minor;
	char capabilities[MAX_CAPABILITIES];
};

struct device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};

struct dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

struct dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

struct irq_set {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
};

struct region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[8]; /* `count` bytes: the largest access is to a register */
};

/* What follows the header. The reply takes the place of the request. */
union payload {
	struct version version;
	struct device_info device;
	struct vfio_region_info region;
	struct dma_map map;
	struct dma_unmap unmap;
	struct irq_set irqs;
	struct region_access access;
	uint8_t bytes[MAX_PAYLOAD];
};

struct message {
	struct message_header header; /* of the request */
	union payload payload;
	int fd; /* goes with the request, then the one that came with the reply; or -1 */
	uint64_t free_us; /* of the wait, what uses up no patience */
	uint64_t begun_us; /* by the clock */
	uint64_t deadline_us;
};

/*
 * Connects to the server at `path`. While none listens, it waits as long as the container's
 * connect_timeout_ms permits. socket.c
 */
int vfio_user_connect(struct vfio_device *device, const char *path, struct error *error);

/*
 * Sends a request and receives its reply, whose payload has at least `least` bytes. Returns the size of
 * that payload, or -1. Without such a reply, the device has failed: a later one could not be trusted. It
 * has not failed if the server refused the request. socket.c
 */
int vfio_user_call(struct vfio_device *device, struct message *message, size_t least,
		   struct error *error);

#endif
