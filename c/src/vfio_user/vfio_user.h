/*
 * Messages to a vfio-user server and their replies. Only the files vfio_user*.c include this header.
 *
 * A request waits for its reply as long as the patience for the device lasts (vfio/patience.c), counted
 * from its first byte to the last byte of the reply. After a reply that is late, wrong or incomplete, the
 * device has failed: nothing is sent to its server any more.
 */
#ifndef IXGBE_VFIO_USER_H
#define IXGBE_VFIO_USER_H

#include "vfio/vfio.h"

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

/*
 * A request and its reply. The request begins with room for the header. The payload of the reply, of at
 * most `reply_size` bytes, goes to `reply`.
 */
struct exchange {
	enum message_command command;
	void *request;
	size_t request_size;
	int fd; /* goes with the request, unless -1 */
	void *reply;
	size_t reply_size;
	bool takes_fd; /* a descriptor may come with the reply */
	int reply_fd; /* the one that came, or -1 */
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
 * Sends a request and receives its reply, within the patience for the device. Returns the size of the
 * reply's payload, or -1. Without a reply, the device has failed: a later one could not be trusted. It
 * has not failed if the server refused the request. socket.c
 */
int vfio_user_call(struct vfio_device *device, struct exchange *exchange, struct error *error);

#endif
