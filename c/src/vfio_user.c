/*
 * A device behind a vfio-user socket: the client side of the protocol (vfio-user 0.1, as
 * libvfio-user and QEMU speak it).
 *
 * Every request waits at most TIMEOUT_SECONDS for its reply.
 */
#include "clock.h"
#include "vfio.h"
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 5

/* While no server listens on the socket, the driver looks again after this time. */
#define CONNECT_INTERVAL_US 10000

#define MAX_PAYLOAD 4096

enum message_command {
	COMMAND_VERSION = 1,
	COMMAND_DMA_MAP = 2,
	COMMAND_DMA_UNMAP = 3,
	COMMAND_GET_INFO = 4,
	COMMAND_GET_REGION_INFO = 5,
	COMMAND_REGION_READ = 9,
	COMMAND_REGION_WRITE = 10,
};

#define FLAGS_TYPE_MASK 0xfu
#define FLAGS_TYPE_REPLY 0x1u
#define FLAGS_ERROR 0x20u

#define VERSION_MAJOR 0
#define VERSION_MINOR 1
/* The limits of this client. They are the defaults, but a server may insist on them. */
#define VERSION_CAPABILITIES "{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}"

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

struct region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

_Static_assert(sizeof(struct message_header) == 16, "vfio-user header");
_Static_assert(sizeof(struct version) == 4, "vfio-user VERSION");
_Static_assert(sizeof(struct dma_map) == 32, "vfio-user DMA_MAP");
_Static_assert(sizeof(struct dma_unmap) == 24, "vfio-user DMA_UNMAP");
_Static_assert(sizeof(struct region_access) == 16, "vfio-user REGION_READ and REGION_WRITE");
_Static_assert(sizeof(struct vfio_device_info) >= 16, "vfio-user GET_INFO is its first 16 bytes");
_Static_assert(sizeof(struct vfio_region_info) == 32, "vfio-user GET_REGION_INFO");

/* Room for the file descriptor that may come or go with a message. */
union fd_control {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(sizeof(int))];
};

static int connection_error(const struct vfio_device *device, const char *what, int cause,
			    struct error *error)
{
	if (cause == EAGAIN || cause == EWOULDBLOCK) {
		error_set(error,
			  "%s: %s: no answer for %d s; is the vfio-user server stopped or stuck?",
			  device->address, what, TIMEOUT_SECONDS);
	} else {
		error_set(error, "%s: %s: %s; the vfio-user server went away; start it again",
			  device->address, what, strerror(cause));
	}
	return -1;
}

/* Sends all of `size` bytes, and `fd` (unless -1) with their first part. */
static int send_all(const struct vfio_device *device, const void *data, size_t size, int fd,
		    struct error *error)
{
	size_t sent = 0;

	while (sent < size) {
		struct iovec part = {
			.iov_base = (uint8_t *)data + sent,
			.iov_len = size - sent,
		};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
		union fd_control control;

		if (fd >= 0 && sent == 0) {
			memset(&control, 0, sizeof(control));
			message.msg_control = &control;
			message.msg_controllen = sizeof(control.bytes);
			struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

			cmsg->cmsg_level = SOL_SOCKET;
			cmsg->cmsg_type = SCM_RIGHTS;
			cmsg->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
		}
		ssize_t done = sendmsg(device->fd, &message, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return connection_error(device, "send", errno, error);
		}
		sent += (size_t)done;
	}
	return 0;
}

/* Receives all of `size` bytes. A file descriptor in the message goes to `fd`, or is closed. */
static int receive_all(const struct vfio_device *device, void *data, size_t size, int *fd,
		       struct error *error)
{
	size_t received = 0;

	while (received < size) {
		struct iovec part = {
			.iov_base = (uint8_t *)data + received,
			.iov_len = size - received,
		};
		union fd_control control;
		struct msghdr message = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control.bytes),
		};
		ssize_t done = recvmsg(device->fd, &message, MSG_CMSG_CLOEXEC);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return connection_error(device, "receive", errno, error);
		}
		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

		if (cmsg != NULL && cmsg->cmsg_level == SOL_SOCKET &&
		    cmsg->cmsg_type == SCM_RIGHTS && cmsg->cmsg_len >= CMSG_LEN(sizeof(int))) {
			int passed = -1;

			memcpy(&passed, CMSG_DATA(cmsg), sizeof(passed));
			if (fd != NULL && *fd < 0) {
				*fd = passed;
			} else {
				(void)close(passed);
			}
		}
		if (done == 0) {
			return connection_error(device, "receive", ECONNRESET, error);
		}
		received += (size_t)done;
	}
	return 0;
}

/*
 * Sends a request, with `fd` (unless -1), and receives its reply. The request has `request_size`
 * bytes, and begins with room for the header. The payload of the reply, of at most `reply_size`
 * bytes, goes to `reply`. Returns its size, or -1.
 */
static int call(struct vfio_device *device, enum message_command command, void *request,
		size_t request_size, int fd, void *reply, size_t reply_size, int *reply_fd,
		struct error *error)
{
	struct message_header header = {
		.id = device->next_message,
		.command = (uint16_t)command,
		.size = (uint32_t)request_size,
	};

	device->next_message++;
	memcpy(request, &header, sizeof(header));
	if (send_all(device, request, request_size, fd, error) != 0) {
		return -1;
	}

	struct message_header answer;

	if (receive_all(device, &answer, sizeof(answer), reply_fd, error) != 0) {
		return -1;
	}
	if (answer.id != header.id || answer.command != header.command ||
	    (answer.flags & FLAGS_TYPE_MASK) != FLAGS_TYPE_REPLY || answer.size < sizeof(answer)) {
		error_set(error,
			  "%s: the vfio-user server broke the protocol: "
			  "reply %u does not answer message %u",
			  device->address, answer.command, header.id);
		return -1;
	}
	size_t size = answer.size - sizeof(answer);

	if (size > reply_size) {
		error_set(error, "%s: reply to vfio-user command %d is too large: %zu bytes",
			  device->address, (int)command, size);
		return -1;
	}
	if (receive_all(device, reply, size, reply_fd, error) != 0) {
		return -1;
	}
	if (answer.flags & FLAGS_ERROR && command == COMMAND_VERSION && answer.error == EBUSY) {
		error_set(error,
			  "%s: the device is busy: another driver uses it; end that driver first",
			  device->address);
		return -1;
	}
	if (answer.flags & FLAGS_ERROR) {
		error_set(error, "%s: the vfio-user server refused command %d: %s", device->address,
			  (int)command, strerror((int)answer.error));
		return -1;
	}
	return (int)size;
}

static int short_reply(const struct vfio_device *device, enum message_command command,
		       struct error *error)
{
	error_set(error, "%s: reply to vfio-user command %d is too short", device->address,
		  (int)command);
	return -1;
}

/* Whether a connection failed because no server listens: it has not started, or it has ended. */
static bool no_server(int cause)
{
	return cause == ENOENT || cause == ECONNREFUSED;
}

/* Connects, as soon as a server listens. Returns 0, or -1 with errno. */
static int connect_in_time(int fd, const struct sockaddr_un *address, uint32_t timeout_ms)
{
	uint64_t deadline = now_ms() + timeout_ms;

	for (;;) {
		/* The clock comes first, so that a slow call does not cost the last attempt. */
		bool late = now_ms() >= deadline;

		if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
			return 0;
		}
		if (!no_server(errno) || late) {
			return -1;
		}
		sleep_us(CONNECT_INTERVAL_US);
	}
}

static int connect_error(const struct vfio_device *device, const char *path, int cause,
			 struct error *error)
{
	/* The folder of the socket is `length` characters of `folder`: at least "/" or ".". */
	const char *slash = strrchr(path, '/');
	const char *folder = slash != NULL ? path : ".";
	int length = slash != NULL && slash != path ? (int)(slash - path) : 1;

	if (no_server(cause)) {
		error_set(error,
			  "%s: connect: %s after %u ms; no software NIC listens on this socket; "
			  "start one with `build/bin/nic --socket-dir %.*s`",
			  device->address, strerror(cause), device->container->connect_timeout_ms,
			  length, folder);
	} else if (cause == EACCES) {
		error_set(error,
			  "%s: connect: %s; the socket belongs to another user; start a software "
			  "NIC with a folder of your own",
			  device->address, strerror(cause));
	} else {
		error_set(error, "%s: connect: %s; is the software NIC stuck?", device->address,
			  strerror(cause));
	}
	return -1;
}

static int connect_socket(struct vfio_device *device, const char *path, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};

	if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
		error_set(error, "%s: a socket path has 1 to %zu characters", device->address,
			  sizeof(address.sun_path) - 1);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	device->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (device->fd < 0) {
		error_set(error, "%s: socket: %s", device->address, strerror(errno));
		return -1;
	}
	/* Also bounds connect, which waits when the server's queue is full. */
	if (setsockopt(device->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) != 0 ||
	    setsockopt(device->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0) {
		error_set(error, "%s: socket time-out: %s", device->address, strerror(errno));
		return -1;
	}
	if (connect_in_time(device->fd, &address, device->container->connect_timeout_ms) != 0) {
		return connect_error(device, path, errno, error);
	}
	return 0;
}

static int negotiate_version(struct vfio_device *device, struct error *error)
{
	struct {
		struct message_header header;
		struct version version;
		char capabilities[sizeof(VERSION_CAPABILITIES)];
	} request = {
		.version = {.major = VERSION_MAJOR, .minor = VERSION_MINOR},
		.capabilities = VERSION_CAPABILITIES,
	};
	uint8_t reply[MAX_PAYLOAD];
	struct version version;
	size_t size = sizeof(request.header) + sizeof(request.version) +
		      sizeof(request.capabilities);
	int received = call(device, COMMAND_VERSION, &request, size, -1, reply, sizeof(reply), NULL,
			    error);

	if (received < 0) {
		return -1;
	}
	if ((size_t)received < sizeof(version)) {
		return short_reply(device, COMMAND_VERSION, error);
	}
	memcpy(&version, reply, sizeof(version));
	if (version.major != VERSION_MAJOR) {
		error_set(error, "%s: the server speaks vfio-user %u.%u, this driver %d.%d",
			  device->address, version.major, version.minor, VERSION_MAJOR,
			  VERSION_MINOR);
		return -1;
	}
	return 0;
}

static int check_is_pci(struct vfio_device *device, struct error *error)
{
	struct {
		struct message_header header;
		uint32_t argsz;
		uint32_t flags;
		uint32_t num_regions;
		uint32_t num_irqs;
	} request = {.argsz = 16};
	uint32_t reply[MAX_PAYLOAD / sizeof(uint32_t)];
	int received = call(device, COMMAND_GET_INFO, &request, sizeof(request), -1, reply,
			    sizeof(reply), NULL, error);

	if (received < 0) {
		return -1;
	}
	if (received < 16) {
		return short_reply(device, COMMAND_GET_INFO, error);
	}
	if (!(reply[1] & VFIO_DEVICE_FLAGS_PCI) || reply[2] <= VFIO_REGION_CONFIG) {
		error_set(error, "%s: not a PCI device", device->address);
		return -1;
	}
	return 0;
}

static int map_bar0(struct vfio_device *device, struct error *error)
{
	struct {
		struct message_header header;
		struct vfio_region_info info;
	} request = {.info = {.argsz = MAX_PAYLOAD, .index = VFIO_REGION_BAR0}};
	uint8_t reply[MAX_PAYLOAD];
	struct vfio_region_info info;
	int fd = -1;
	int received = call(device, COMMAND_GET_REGION_INFO, &request, sizeof(request), -1, reply,
			    sizeof(reply), &fd, error);
	int result = -1;

	if (received >= 0 && (size_t)received < sizeof(info)) {
		(void)short_reply(device, COMMAND_GET_REGION_INFO, error);
	} else if (received >= 0) {
		memcpy(&info, reply, sizeof(info));
		device->bar0_size = info.size;
		/* Without a file descriptor there is nothing to map: all accesses are messages. */
		result = fd < 0 ? 0 : vfio_map_bar0(device, fd, reply, (size_t)received, error);
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return result;
}

int vfio_user_open(struct vfio_device *device, const char *path, struct error *error)
{
	if (connect_socket(device, path, error) != 0 || negotiate_version(device, error) != 0 ||
	    check_is_pci(device, error) != 0 || map_bar0(device, error) != 0) {
		vfio_user_close(device);
		return -1;
	}
	return 0;
}

void vfio_user_close(struct vfio_device *device)
{
	if (device->fd >= 0) {
		(void)close(device->fd);
		device->fd = -1;
	}
}

/* The largest access is to a register. */
#define MAX_ACCESS 8

int vfio_user_read(struct vfio_device *device, uint32_t region, uint64_t offset, void *data,
		   uint32_t size, struct error *error)
{
	struct {
		struct message_header header;
		struct region_access access;
	} request = {.access = {.offset = offset, .region = region, .count = size}};
	uint8_t reply[sizeof(struct region_access) + MAX_ACCESS];
	int received = call(device, COMMAND_REGION_READ, &request, sizeof(request), -1, reply,
			    sizeof(reply), NULL, error);

	if (received < 0) {
		return -1;
	}
	if ((size_t)received != sizeof(struct region_access) + size) {
		return short_reply(device, COMMAND_REGION_READ, error);
	}
	memcpy(data, reply + sizeof(struct region_access), size);
	return 0;
}

int vfio_user_write(struct vfio_device *device, uint32_t region, uint64_t offset, const void *data,
		    uint32_t size, struct error *error)
{
	struct {
		struct message_header header;
		struct region_access access;
		uint8_t data[MAX_ACCESS];
	} request = {.access = {.offset = offset, .region = region, .count = size}};
	struct region_access reply;

	if (size > MAX_ACCESS) {
		error_set(error, "%s: register access of %u bytes", device->address, size);
		return -1;
	}
	memcpy(request.data, data, size);
	int received = call(device, COMMAND_REGION_WRITE, &request,
			    sizeof(request.header) + sizeof(request.access) + size, -1, &reply,
			    sizeof(reply), NULL, error);

	return received < 0 ? -1 : 0;
}

int vfio_user_dma_map(struct vfio_device *device, int fd, uint64_t iova, uint64_t size,
		      struct error *error)
{
	struct {
		struct message_header header;
		struct dma_map map;
	} request = {
		.map =
			{
				.argsz = sizeof(struct dma_map),
				.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
				.address = iova,
				.size = size,
			},
	};
	struct dma_map reply;
	int received = call(device, COMMAND_DMA_MAP, &request, sizeof(request), fd, &reply,
			    sizeof(reply), NULL, error);

	return received < 0 ? -1 : 0;
}

int vfio_user_dma_unmap(struct vfio_device *device, uint64_t iova, uint64_t size,
			struct error *error)
{
	struct {
		struct message_header header;
		struct dma_unmap unmap;
	} request = {
		.unmap = {.argsz = sizeof(struct dma_unmap), .address = iova, .size = size},
	};
	struct dma_unmap reply;
	int received = call(device, COMMAND_DMA_UNMAP, &request, sizeof(request), -1, &reply,
			    sizeof(reply), NULL, error);

	return received < 0 ? -1 : 0;
}
