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

/* Room for the file descriptor that may come or go with a message. */
union fd_control {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(sizeof(int))];
};

static int connection_error(const struct vfio_device *device, const char *what, int cause,
			    struct error *error)
{
	error_set(error, "%s: %s: %s; the vfio-user server went away; start it again",
		  device->address, what, strerror(cause));
	return -1;
}

/* Waits until the socket is ready for `events`, or until the deadline. */
static int wait_for_server(const struct vfio_device *device, short events,
			   const struct exchange *exchange, struct error *error)
{
	struct pollfd socket = {.fd = device->fd, .events = events};

	for (;;) {
		uint64_t now = now_us();
		uint64_t left = exchange->deadline_us > now ? exchange->deadline_us - now : 0;
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
	error_set(error,
		  "%s: no answer to vfio-user command %d for %llu ms; is the server stopped or "
		  "stuck, or did it answer too slowly before? The driver waits %d ms in all; start "
		  "the server again",
		  device->address, (int)exchange->command,
		  (unsigned long long)(exchange->deadline_us - exchange->begun_us) / 1000,
		  VFIO_PATIENCE_MS + VFIO_RESERVE_MS);
	return -1;
}

/* Sends the request, and its descriptor with the first part. */
static int send_request(const struct vfio_device *device, const struct exchange *exchange,
			struct error *error)
{
	size_t sent = 0;

	while (sent < exchange->request_size) {
		struct iovec part = {
			.iov_base = (uint8_t *)exchange->request + sent,
			.iov_len = exchange->request_size - sent,
		};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
		union fd_control control;

		if (exchange->fd >= 0 && sent == 0) {
			memset(&control, 0, sizeof(control));
			message.msg_control = &control;
			message.msg_controllen = sizeof(control.bytes);
			struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

			cmsg->cmsg_level = SOL_SOCKET;
			cmsg->cmsg_type = SCM_RIGHTS;
			cmsg->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(cmsg), &exchange->fd, sizeof(exchange->fd));
		}
		ssize_t done = sendmsg(device->fd, &message, MSG_NOSIGNAL);

		if (done >= 0) {
			sent += (size_t)done;
		} else if (errno == EAGAIN) {
			if (wait_for_server(device, POLLOUT, exchange, error) != 0) {
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
 * others. The kernel has closed those for which `message` has no room. Returns whether none was too
 * many.
 */
static bool take_descriptors(struct msghdr *message, struct exchange *exchange)
{
	bool belong = !(message->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(message); cmsg != NULL;
	     cmsg = CMSG_NXTHDR(message, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) {
			continue;
		}
		size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < count; i++) {
			int passed = -1;

			memcpy(&passed, CMSG_DATA(cmsg) + i * sizeof(passed), sizeof(passed));
			if (exchange->takes_fd && exchange->reply_fd < 0) {
				exchange->reply_fd = passed;
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
		       struct exchange *exchange, struct error *error)
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

		if (wait_for_server(device, POLLIN, exchange, error) != 0) {
			return -1;
		}
		ssize_t done = recvmsg(device->fd, &message, MSG_CMSG_CLOEXEC);

		if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
			continue;
		}
		if (done < 0) {
			return connection_error(device, "receive", errno, error);
		}
		if (!take_descriptors(&message, exchange)) {
			error_set(error,
				  "%s: the vfio-user server broke the protocol: the reply to "
				  "command %d has file descriptors that do not belong to it",
				  device->address, (int)exchange->command);
			return -1;
		}
		if (done == 0) {
			return connection_error(device, "receive", ECONNRESET, error);
		}
		received += (size_t)done;
	}
	return 0;
}

/* Sends the request and receives its reply. Returns the size of the reply's payload, or -1. */
static int exchange_messages(struct vfio_device *device, struct exchange *exchange,
			     struct message_header *answer, struct error *error)
{
	struct message_header header = {
		.id = device->next_message,
		.command = (uint16_t)exchange->command,
		.size = (uint32_t)exchange->request_size,
	};

	device->next_message++;
	memcpy(exchange->request, &header, sizeof(header));
	if (send_request(device, exchange, error) != 0 ||
	    receive_all(device, answer, sizeof(*answer), exchange, error) != 0) {
		return -1;
	}
	if (answer->id != header.id || answer->command != header.command ||
	    (answer->flags & FLAGS_TYPE_MASK) != FLAGS_TYPE_REPLY ||
	    answer->size < sizeof(*answer)) {
		error_set(error,
			  "%s: the vfio-user server broke the protocol: "
			  "reply %u does not answer message %u",
			  device->address, answer->command, header.id);
		return -1;
	}
	size_t size = answer->size - sizeof(*answer);

	if (size > exchange->reply_size) {
		error_set(error, "%s: reply to vfio-user command %d is too large: %zu bytes",
			  device->address, (int)exchange->command, size);
		return -1;
	}
	if (receive_all(device, exchange->reply, size, exchange, error) != 0) {
		return -1;
	}
	return (int)size;
}

int vfio_user_call(struct vfio_device *device, struct exchange *exchange, struct error *error)
{
	struct message_header answer = {0};

	exchange->reply_fd = -1;
	exchange->begun_us = now_us();
	exchange->deadline_us = exchange->begun_us + vfio_patience(device) + exchange->free_us;
	int size = exchange_messages(device, exchange, &answer, error);
	uint64_t waited = now_us() - exchange->begun_us;

	vfio_patience_use(device, waited > exchange->free_us ? waited - exchange->free_us : 0);
	if (size < 0) {
		device->failed = true;
		if (error != &device->failure) {
			device->failure = *error;
		}
		return -1;
	}
	if (!(answer.flags & FLAGS_ERROR)) {
		return size;
	}
	if (exchange->command == COMMAND_VERSION && answer.error == EBUSY) {
		error_set(error,
			  "%s: the device is busy: another driver uses it; end that driver first",
			  device->address);
	} else {
		error_set(error, "%s: the vfio-user server refused command %d: %s", device->address,
			  (int)exchange->command, strerror((int)answer.error));
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
	uint64_t begun = now_ms();
	uint64_t timeout = container->connect_timeout_ms;
	uint64_t left = timeout > container->connect_waited_ms ?
				timeout - container->connect_waited_ms :
				0;
	int result = -1;

	for (;;) {
		/* The clock comes first, so that a slow call does not cost the last attempt. */
		bool late = now_ms() - begun >= left;

		result = connect(fd, (const struct sockaddr *)address, sizeof(*address));
		if (result == 0 || !(no_server(errno) || errno == EAGAIN) || late) {
			break;
		}
		sleep_us(CONNECT_INTERVAL_US);
	}
	container->connect_waited_ms += now_ms() - begun;
	return result;
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

int vfio_user_connect(struct vfio_device *device, const char *path, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
		error_set(error, "%s: a socket path has 1 to %zu characters", device->address,
			  sizeof(address.sun_path) - 1);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	device->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (device->fd < 0) {
		error_set(error, "%s: socket: %s", device->address, strerror(errno));
		return -1;
	}
	if (connect_in_time(device->container, device->fd, &address) != 0) {
		return connect_error(device, path, errno, error);
	}
	return 0;
}
