/*
 * A device behind a vfio-user socket: the client side of the protocol (vfio-user 0.1, as
 * libvfio-user and QEMU speak it).
 */
#define _GNU_SOURCE
#include "vfio_user/vfio_user.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MAX_PAYLOAD 4096

#define VERSION_MAJOR 0
#define VERSION_MINOR 1
/* The limits of this client. They are the defaults, but a server may insist on them. */
#define VERSION_CAPABILITIES "{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}"

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
};

_Static_assert(sizeof(struct version) == 4, "vfio-user VERSION");
_Static_assert(sizeof(struct dma_map) == 32, "vfio-user DMA_MAP");
_Static_assert(sizeof(struct dma_unmap) == 24, "vfio-user DMA_UNMAP");
_Static_assert(sizeof(struct irq_set) == 20, "vfio-user SET_IRQS");
_Static_assert(sizeof(struct region_access) == 16, "vfio-user REGION_READ and REGION_WRITE");
_Static_assert(sizeof(struct vfio_device_info) >= 16, "vfio-user GET_INFO is its first 16 bytes");
_Static_assert(sizeof(struct vfio_region_info) == 32, "vfio-user GET_REGION_INFO");

static int short_reply(const struct vfio_device *device, enum message_command command,
		       struct error *error)
{
	error_set(error, "%s: reply to vfio-user command %d is too short", device->address,
		  (int)command);
	return -1;
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
	struct exchange exchange = {
		.command = COMMAND_VERSION,
		.request = &request,
		.request_size = size,
		.fd = -1,
		.reply = reply,
		.reply_size = sizeof(reply),
	};
	int received = vfio_user_call(device, &exchange, error);

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
	struct exchange exchange = {
		.command = COMMAND_GET_INFO,
		.request = &request,
		.request_size = sizeof(request),
		.fd = -1,
		.reply = reply,
		.reply_size = sizeof(reply),
	};
	int received = vfio_user_call(device, &exchange, error);

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

/*
 * TRUST-BAR-FILE: the size of the file of BAR0. It must be ordinary shared memory, sealed against shrinking: an access
 * beyond the end of a file is a signal, and so is one to a huge page that the server has taken back.
 */
static int check_file(const struct vfio_device *device, int fd, uint64_t *size, struct error *error)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs system;
	struct stat file;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstatfs(fd, &system) != 0 ||
	    system.f_type != TMPFS_MAGIC || fstat(fd, &file) != 0) {
		error_set(
			error,
			"%s: the file of BAR0 is not a memfd of ordinary pages with the seal "
			"F_SEAL_SHRINK, so the server could end this driver by a signal; seal it, "
			"or pass no file",
			device->address);
		return -1;
	}
	*size = (uint64_t)file.st_size;
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
	uint64_t file_size = 0;
	struct exchange exchange = {
		.command = COMMAND_GET_REGION_INFO,
		.request = &request,
		.request_size = sizeof(request),
		.fd = -1,
		.reply = reply,
		.reply_size = sizeof(reply),
		.takes_fd = true,
	};
	int received = vfio_user_call(device, &exchange, error);
	int fd = exchange.reply_fd;
	int result = -1;

	if (received >= 0 && (size_t)received < sizeof(info)) {
		(void)short_reply(device, COMMAND_GET_REGION_INFO, error);
	} else if (received >= 0 && fd < 0) {
		/* There is nothing to map: all accesses are messages. */
		result = 0;
	} else if (received >= 0 && check_file(device, fd, &file_size, error) == 0) {
		memcpy(&info, reply, sizeof(info));
		device->bar0_size = info.size;
		result = vfio_map_bar0(device, fd, file_size, reply, (size_t)received, error);
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return result;
}

int vfio_user_open(struct vfio_device *device, const char *path, struct error *error)
{
	if (vfio_user_connect(device, path, error) != 0 || negotiate_version(device, error) != 0 ||
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
	struct exchange exchange = {
		.command = COMMAND_REGION_READ,
		.request = &request,
		.request_size = sizeof(request),
		.fd = -1,
		.reply = reply,
		.reply_size = sizeof(reply),
	};
	int received = vfio_user_call(device, &exchange, error);

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
		    uint32_t size, uint64_t free_us, struct error *error)
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
	struct exchange exchange = {
		.command = COMMAND_REGION_WRITE,
		.request = &request,
		.request_size = sizeof(request.header) + sizeof(request.access) + size,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
		.free_us = free_us,
	};

	return vfio_user_call(device, &exchange, error) < 0 ? -1 : 0;
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
	struct exchange exchange = {
		.command = COMMAND_DMA_MAP,
		.request = &request,
		.request_size = sizeof(request),
		.fd = fd,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	return vfio_user_call(device, &exchange, error) < 0 ? -1 : 0;
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
	struct exchange exchange = {
		.command = COMMAND_DMA_UNMAP,
		.request = &request,
		.request_size = sizeof(request),
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	return vfio_user_call(device, &exchange, error) < 0 ? -1 : 0;
}

/* Sets the eventfd of a vector, or switches all vectors off with -1. */
static int set_irq(struct vfio_device *device, uint32_t vector, int eventfd, struct error *error)
{
	struct {
		struct message_header header;
		struct irq_set set;
	} request = {
		.set =
			{
				.argsz = sizeof(struct irq_set),
				.flags = VFIO_IRQ_SET_ACTION_TRIGGER |
					 (eventfd >= 0 ? VFIO_IRQ_SET_DATA_EVENTFD :
							 VFIO_IRQ_SET_DATA_NONE),
				.index = VFIO_PCI_MSIX_IRQ_INDEX,
				.start = vector,
				.count = eventfd >= 0 ? 1 : 0,
			},
	};
	struct irq_set reply;
	struct exchange exchange = {
		.command = COMMAND_SET_IRQS,
		.request = &request,
		.request_size = sizeof(request),
		.fd = eventfd,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	return vfio_user_call(device, &exchange, error) < 0 ? -1 : 0;
}

int vfio_user_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
			  struct error *error)
{
	if (count == 0) {
		return set_irq(device, 0, -1, error);
	}
	/* A message each, because a server need not take more than one descriptor with a message. */
	for (uint32_t i = 0; i < count; i++) {
		if (set_irq(device, i, eventfds[i], error) != 0) {
			return -1;
		}
	}
	return 0;
}
