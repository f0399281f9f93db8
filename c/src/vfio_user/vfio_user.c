/*
 * A device behind a vfio-user socket: the client side of the protocol (vfio-user 0.1, as
 * libvfio-user and QEMU speak it).
 */
#define _GNU_SOURCE
#include "vfio_user/vfio_user.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define VERSION_MAJOR 0
#define VERSION_MINOR 1
/* The limits of this client. They are the defaults, but a server may insist on them. */
#define VERSION_CAPABILITIES "{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}"

#define ACCESS_HEADER offsetof(struct region_access, data)

_Static_assert(offsetof(struct version, capabilities) == 4, "vfio-user VERSION");
_Static_assert(sizeof(VERSION_CAPABILITIES) <= MAX_CAPABILITIES, "vfio-user VERSION");
_Static_assert(sizeof(struct dma_map) == 32, "vfio-user DMA_MAP");
_Static_assert(sizeof(struct dma_unmap) == 24, "vfio-user DMA_UNMAP");
_Static_assert(sizeof(struct irq_set) == 20, "vfio-user SET_IRQS");
_Static_assert(ACCESS_HEADER == 16, "vfio-user REGION_READ and REGION_WRITE");
_Static_assert(sizeof(struct vfio_region_info) == 32, "vfio-user GET_REGION_INFO");

/* Begins a request, whose payload of `size` bytes the caller fills in. */
static void message_begin(struct message *message, enum message_command command, size_t size)
{
	message->header = (struct message_header){
		.command = (uint16_t)command,
		.size = (uint32_t)(sizeof(message->header) + size),
	};
	message->fd = -1;
	message->free_us = 0;
}

static int negotiate_version(struct vfio_device *device, struct error *error)
{
	struct message message;
	struct version *version = &message.payload.version;

	message_begin(&message, COMMAND_VERSION,
		      offsetof(struct version, capabilities) + sizeof(VERSION_CAPABILITIES));
	*version = (struct version){VERSION_MAJOR, VERSION_MINOR, VERSION_CAPABILITIES};
	if (vfio_user_call(device, &message, offsetof(struct version, capabilities), error) < 0) {
		return -1;
	}
	if (version->major != VERSION_MAJOR) {
		return error_fail(error, "%s: the server speaks vfio-user %u.%u, this driver %d.%d",
				  device->address, version->major, version->minor, VERSION_MAJOR,
				  VERSION_MINOR);
	}
	return 0;
}

static int check_is_pci(struct vfio_device *device, struct error *error)
{
	struct message message;
	struct device_info *info = &message.payload.device;

	message_begin(&message, COMMAND_GET_INFO, sizeof(*info));
	*info = (struct device_info){.argsz = sizeof(*info)};
	if (vfio_user_call(device, &message, sizeof(*info), error) < 0) {
		return -1;
	}
	if (!(info->flags & VFIO_DEVICE_FLAGS_PCI) || info->num_regions <= VFIO_REGION_CONFIG) {
		return error_fail(error, "%s: not a PCI device", device->address);
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
		return error_fail(
			error,
			"%s: the file of BAR0 is not a memfd of ordinary pages with the seal "
			"F_SEAL_SHRINK, so the server could end this driver by a signal; seal it, "
			"or pass no file",
			device->address);
	}
	*size = (uint64_t)file.st_size;
	return 0;
}

static int map_bar0(struct vfio_device *device, struct error *error)
{
	struct message message;
	struct vfio_region_info *info = &message.payload.region;
	uint64_t file_size = 0;

	message_begin(&message, COMMAND_GET_REGION_INFO, sizeof(*info));
	*info = (struct vfio_region_info){.argsz = MAX_PAYLOAD, .index = VFIO_REGION_BAR0};
	int received = vfio_user_call(device, &message, sizeof(*info), error);

	if (received < 0) {
		return -1;
	}
	/* Without a file there is nothing to map: all accesses are messages. */
	if (message.fd < 0) {
		return 0;
	}
	int result = check_file(device, message.fd, &file_size, error);

	if (result == 0) {
		device->bar0_size = info->size;
		result = vfio_map_bar0(device, message.fd, file_size, info, (size_t)received,
				       error);
	}
	(void)close(message.fd);
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

int vfio_user_access(struct vfio_device *device, const struct vfio_access *access,
		     struct error *error)
{
	struct message message;
	struct region_access *request = &message.payload.access;
	size_t written = access->write ? access->size : 0;
	size_t read = access->write ? 0 : ACCESS_HEADER + access->size;

	message_begin(&message, access->write ? COMMAND_REGION_WRITE : COMMAND_REGION_READ,
		      ACCESS_HEADER + written);
	message.free_us = access->free_us;
	request->offset = access->offset;
	request->region = access->region;
	request->count = access->size;
	memcpy(request->data, access->data, written);
	int received = vfio_user_call(device, &message, read, error);

	if (received < 0 || access->write) {
		return received < 0 ? -1 : 0;
	}
	if ((size_t)received != read) {
		return error_fail(error, "%s: the reply to a read of %u bytes has more",
				  device->address, access->size);
	}
	memcpy(access->data, request->data, access->size);
	return 0;
}

int vfio_user_dma_map(struct vfio_device *device, int fd, uint64_t iova, uint64_t size,
		      struct error *error)
{
	struct message message;

	message_begin(&message, COMMAND_DMA_MAP, sizeof(struct dma_map));
	message.fd = fd;
	message.payload.map = (struct dma_map){
		.argsz = sizeof(struct dma_map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.address = iova,
		.size = size,
	};
	return vfio_user_call(device, &message, 0, error) < 0 ? -1 : 0;
}

int vfio_user_dma_unmap(struct vfio_device *device, uint64_t iova, uint64_t size,
			struct error *error)
{
	struct message message;

	message_begin(&message, COMMAND_DMA_UNMAP, sizeof(struct dma_unmap));
	message.payload.unmap = (struct dma_unmap){
		.argsz = sizeof(struct dma_unmap),
		.address = iova,
		.size = size,
	};
	return vfio_user_call(device, &message, 0, error) < 0 ? -1 : 0;
}

/* Sets the eventfd of a vector, or switches all vectors off with -1. */
static int set_irq(struct vfio_device *device, uint32_t vector, int eventfd, struct error *error)
{
	struct message message;

	message_begin(&message, COMMAND_SET_IRQS, sizeof(struct irq_set));
	message.fd = eventfd;
	message.payload.irqs = (struct irq_set){
		.argsz = sizeof(struct irq_set),
		.flags = VFIO_IRQ_SET_ACTION_TRIGGER |
			 (eventfd >= 0 ? VFIO_IRQ_SET_DATA_EVENTFD : VFIO_IRQ_SET_DATA_NONE),
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = vector,
		.count = eventfd >= 0 ? 1 : 0,
	};
	return vfio_user_call(device, &message, 0, error) < 0 ? -1 : 0;
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
