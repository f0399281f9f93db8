/* The connection to a vfio-user server: connecting, sending requests, receiving replies. */
#define _GNU_SOURCE
#include "clock.h"
#include "vfio_user/vfio_user.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* While no server listens on the socket, the driver looks again after this time. */
#define CONNECT_INTERVAL_US 10000

#define FLAGS_TYPE_MASK 0xfu
#define FLAGS_TYPE_REPLY 0x1u
#define FLAGS_ERROR 0x20u

_Static_assert(sizeof(struct message_header) == 16, "vfio-user header");
_Static_assert(offsetof(struct message, payload) == 16, "vfio-user: a message in one piece");

/* Room for the file descriptor that may come or go with a message. */
union fd_control {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(sizeof(int))];
};

static int connection_error(const struct vfio_device *device, const char *what, int cause,
			    struct error *error)
{
	return error_fail(error, "%s: %s: %s; the vfio-user server went away; start it again",
			  device->address, what, strerror(cause));
}

static int protocol_error(const struct vfio_device *device, const char *what,
			  const struct message *message, struct error *error)
{
	return error_fail(error, "%s: the vfio-user server broke the protocol: %s to command %d",
			  device->address, what, message->header.command);
}

/* Waits until the socket is ready for `events`, or until the deadline. */
static int wait_for_server(const struct vfio_device *device, short events,
			   const struct message *message, struct error *error)
{
	struct pollfd socket = {.fd = device->fd, .events = events};

	for (;;) {
		uint64_t now = now_us();
		uint64_t left = message->deadline_us > now ? message->deadline_us - now : 0;
		int ready = poll(&socket, 1, (int)((left + 999) / 1000));

		if (ready > 0) {
			return 0;
		}
		if (ready == 0) {
			break;
		}
		if (errno != EINTR) {
			return connection_error(device, "poll", errno, error);
		}
	}
	return error_fail(
		error,
		"%s: no answer to vfio-user command %d for %llu ms; is the server stopped or "
		"stuck, or did it answer too slowly before? The driver waits %d ms in all; start "
		"the server again",
		device->address, message->header.command,
		(unsigned long long)(message->deadline_us - message->begun_us) / 1000,
		VFIO_PATIENCE_MS + VFIO_RESERVE_MS);
}

/* Sends the request and its descriptor. So small a message is sent as a whole or not at all. */
static int send_request(const struct vfio_device *device, struct message *message,
			struct error *error)
{
	struct iovec part = {.iov_base = message, .iov_len = message->header.size};
	struct msghdr out = {.msg_iov = &part, .msg_iovlen = 1};
	union fd_control control;

	if (message->fd >= 0) {
		memset(&control, 0, sizeof(control));
		out.msg_control = &control;
		out.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *cmsg = CMSG_FIRSTHDR(&out);

		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &message->fd, sizeof(message->fd));
	}
	while (sendmsg(device->fd, &out, MSG_NOSIGNAL) < 0) {
		if (errno == EAGAIN) {
			if (wait_for_server(device, POLLOUT, message, error) != 0) {
				return -1;
			}
		} else if (errno != EINTR) {
			return connection_error(device, "send", errno, error);
		}
	}
	return 0;
}

/*
 * Takes the descriptors that came with a part of the reply: one, if it belongs there, and closes all
 * others. The kernel has closed those for which `in` has no room. Returns whether none was too many.
 */
static bool take_descriptors(struct msghdr *in, struct message *message)
{
	bool belong = !(in->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(in); cmsg != NULL; cmsg = CMSG_NXTHDR(in, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) {
			continue;
		}
		size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < count; i++) {
			int passed = -1;

			memcpy(&passed, CMSG_DATA(cmsg) + i * sizeof(passed), sizeof(passed));
			if (message->header.command == COMMAND_GET_REGION_INFO && message->fd < 0) {
				message->fd = passed;
			} else {
				(void)close(passed);
				belong = false;
			}
		}
	}
	return belong;
}

/* Receives `size` bytes of the reply. */
static int receive_all(const struct vfio_device *device, void *data, size_t size,
		       struct message *message, struct error *error)
{
	size_t received = 0;

	while (received < size) {
		struct iovec part = {
			.iov_base = (uint8_t *)data + received,
			.iov_len = size - received,
		};
		union fd_control control;
		struct msghdr in = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control.bytes),
		};

		if (wait_for_server(device, POLLIN, message, error) != 0) {
			return -1;
		}
		ssize_t done = recvmsg(device->fd, &in, MSG_CMSG_CLOEXEC);

		if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
			continue;
		}
		if (done < 0) {
			return connection_error(device, "receive", errno, error);
		}
		if (!take_descriptors(&in, message)) {
			return protocol_error(device,
					      "file descriptors that do not belong to the reply",
					      message, error);
		}
		if (done == 0) {
			return connection_error(device, "receive", ECONNRESET, error);
		}
		received += (size_t)done;
	}
	return 0;
}

/* Sends the request and receives its reply. Returns the size of the reply's payload, or -1. */
static int exchange_messages(struct vfio_device *device, struct message *message, size_t least,
			     struct message_header *answer, struct error *error)
{
	message->header.id = device->next_message;
	device->next_message++;
	int sent = send_request(device, message, error);

	message->fd = -1;
	if (sent != 0 || receive_all(device, answer, sizeof(*answer), message, error) != 0) {
		return -1;
	}
	if (answer->id != message->header.id || answer->command != message->header.command ||
	    (answer->flags & FLAGS_TYPE_MASK) != FLAGS_TYPE_REPLY) {
		return protocol_error(device, "a reply that does not belong", message, error);
	}
	size_t size = answer->size - sizeof(*answer);

	/* A refusal needs no payload. */
	if (answer->size < sizeof(*answer) || size > sizeof(message->payload) ||
	    (size < least && !(answer->flags & FLAGS_ERROR))) {
		return protocol_error(device, "a reply of a wrong size", message, error);
	}
	if (receive_all(device, &message->payload, size, message, error) != 0) {
		return -1;
	}
	return (int)size;
}

int vfio_user_call(struct vfio_device *device, struct message *message, size_t least,
		   struct error *error)
{
	struct message_header answer = {0};

	message->begun_us = now_us();
	message->deadline_us = message->begun_us + vfio_patience(device) + message->free_us;
	int size = exchange_messages(device, message, least, &answer, error);
	uint64_t waited = now_us() - message->begun_us;

	vfio_patience_use(device, waited > message->free_us ? waited - message->free_us : 0);
	if (size >= 0 && !(answer.flags & FLAGS_ERROR)) {
		return size;
	}
	if (size < 0) {
		device->failed = true;
		if (error != &device->failure) {
			device->failure = *error;
		}
	} else if (message->header.command == COMMAND_VERSION && answer.error == EBUSY) {
		error_set(error,
			  "%s: the device is busy: another driver uses it; end that driver first",
			  device->address);
	} else {
		error_set(error, "%s: the vfio-user server refused command %d: %s", device->address,
			  message->header.command, strerror((int)answer.error));
	}
	if (message->fd >= 0) {
		(void)close(message->fd);
	}
	return -1;
}

/* Whether a connection failed because no server listens: it has not started, or it has ended. */
static bool no_server(int cause)
{
	return cause == ENOENT || cause == ECONNREFUSED;
}

/*
 * Connects, as soon as a server listens and its queue has room. All sockets of a container share the
 * time for that. Returns 0, or -1 with errno.
 */
static int connect_in_time(struct vfio_container *container, int fd,
			   const struct sockaddr_un *address)
{
	if (container->connect_by_ms == 0) {
		container->connect_by_ms = now_ms() + container->connect_timeout_ms;
	}
	for (;;) {
		/* The clock comes first, so that a slow call does not cost the last attempt. */
		bool late = now_ms() >= container->connect_by_ms;
		int result = connect(fd, (const struct sockaddr *)address, sizeof(*address));

		if (result == 0 || !(no_server(errno) || errno == EAGAIN) || late) {
			return result;
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

	if (!no_server(cause)) {
		return error_fail(error,
				  "%s: connect: %s; is the software NIC stuck, or of another user?",
				  device->address, strerror(cause));
	}
	return error_fail(
		error,
		"%s: connect: %s after %u ms; no software NIC listens on this socket; start one "
		"with `build/bin/nic --socket-dir %.*s`",
		device->address, strerror(cause), device->container->connect_timeout_ms, length,
		folder);
}

int vfio_user_connect(struct vfio_device *device, const char *path, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
		return error_fail(error, "%s: a socket path has 1 to %zu characters",
				  device->address, sizeof(address.sun_path) - 1);
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	device->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (device->fd < 0) {
		return error_fail(error, "%s: socket: %s", device->address, strerror(errno));
	}
	if (connect_in_time(device->container, device->fd, &address) != 0) {
		return connect_error(device, path, errno, error);
	}
	return 0;
}
