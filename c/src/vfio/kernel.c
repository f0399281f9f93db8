/*
 * A device behind the kernel's VFIO (Documentation/driver-api/vfio.rst). A type1v2 container holds
 * its IOMMU group and maps memory for it.
 *
 * The driver needs no root once the user owns /dev/vfio/GROUP.
 */
#include "vfio/vfio.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_SIZE 256
#define MAX_INFO 4096

#define IOMMU_REMEDY "switch the IOMMU on in the firmware and boot with intel_iommu=on"

/* "0000:03:00.0": domain, bus, device, function. */
static bool is_pci_address(const char *address)
{
	return strlen(address) == 12 && strspn(address, "0123456789abcdefABCDEF:.") == 12 &&
	       address[4] == ':' && address[7] == ':' && address[10] == '.';
}

/* The last component of the target of a link in a device's sysfs folder, or -1. */
static int sysfs_link(const char *address, const char *name, char target[PATH_SIZE])
{
	char path[2 * PATH_SIZE];
	char link[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, name);
	ssize_t length = readlink(path, link, sizeof(link) - 1);

	if (length < 0) {
		return -1;
	}
	link[length] = '\0';
	const char *slash = strrchr(link, '/');

	(void)snprintf(target, PATH_SIZE, "%s", slash != NULL ? slash + 1 : link);
	return 0;
}

/* The number of the device's IOMMU group, or -1. */
static int find_group(const struct vfio_device *device, struct error *error)
{
	char path[2 * PATH_SIZE];
	char driver[PATH_SIZE] = "";
	char group[PATH_SIZE] = "";

	if (!is_pci_address(device->address)) {
		return error_fail(error,
				  "%s: not a device; give a PCI address such as 0000:03:00.0 or "
				  "vfio-user:PATH",
				  device->address);
	}
	(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", device->address);
	if (access(path, F_OK) != 0) {
		return error_fail(error, "%s: no such PCI device; `lspci -D` lists them",
				  device->address);
	}
	if (sysfs_link(device->address, "iommu_group", group) != 0) {
		return error_fail(error, "%s: the device has no IOMMU group; " IOMMU_REMEDY,
				  device->address);
	}
	if (sysfs_link(device->address, "driver", driver) != 0 || strcmp(driver, "vfio-pci") != 0) {
		return error_fail(
			error,
			"%s: the device is bound to %s, not to vfio-pci; as root, `triptych bind "
			"%s` gives it to this driver",
			device->address, driver[0] != '\0' ? driver : "no driver", device->address);
	}
	/* Without an IOMMU, the device could write anywhere in memory. */
	(void)snprintf(path, sizeof(path), "/dev/vfio/noiommu-%s", group);
	if (access(path, F_OK) == 0) {
		return error_fail(error,
				  "%s: VFIO has this device in no-IOMMU mode, which this driver "
				  "refuses; " IOMMU_REMEDY,
				  device->address);
	}
	return (int)strtol(group, NULL, 10);
}

/* Opens the container when the first group needs it. */
static int open_container(struct vfio_container *container, const char *address,
			  struct error *error)
{
	if (container->fd >= 0) {
		return 0;
	}
	container->fd = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (container->fd < 0) {
		return error_fail(error, "%s: /dev/vfio/vfio: %s; as root, modprobe vfio-pci",
				  address, strerror(errno));
	}
	return 0;
}

/* Narrows the container's ranges to the IOVAs that all of its IOMMUs permit. */
static int read_iova_ranges(struct vfio_container *container, const char *address,
			    struct error *error)
{
	union {
		struct vfio_iommu_type1_info info;
		uint8_t bytes[MAX_INFO];
	} reply;
	struct vfio_iommu_type1_info_cap_iova_range capability;
	struct vfio_iova_range allowed;
	struct iova_range narrowed[VFIO_MAX_RANGES];
	uint32_t narrowed_count = 0;

	memset(&reply, 0, sizeof(reply));
	reply.info.argsz = sizeof(reply);
	if (ioctl(container->fd, VFIO_IOMMU_GET_INFO, &reply) != 0) {
		return error_fail(error, "%s: VFIO_IOMMU_GET_INFO: %s", address, strerror(errno));
	}
	size_t at = reply.info.flags & VFIO_IOMMU_INFO_CAPS ? reply.info.cap_offset : 0;

	/* Kernels before 5.4 do not report ranges. The 39 bits of the default are permitted. */
	if (vfio_info_find(&reply, sizeof(reply), sizeof(reply.info),
			   VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, &at) != 0 ||
	    at == 0 || vfio_info_read(&reply, sizeof(reply), at, &capability, sizeof(capability))) {
		return 0;
	}
	at += sizeof(capability);
	for (; capability.nr_iovas > 0; capability.nr_iovas--) {
		if (vfio_info_read(&reply, sizeof(reply), at, &allowed, sizeof(allowed)) != 0) {
			break;
		}
		at += sizeof(allowed);
		for (uint32_t i = 0; i < container->range_count; i++) {
			struct iova_range both = container->ranges[i];

			both.first = both.first > allowed.start ? both.first : allowed.start;
			both.last = both.last < allowed.end ? both.last : allowed.end;
			if (both.first <= both.last && narrowed_count < VFIO_MAX_RANGES) {
				narrowed[narrowed_count] = both;
				narrowed_count++;
			}
		}
	}
	memcpy(container->ranges, narrowed, sizeof(narrowed));
	container->range_count = narrowed_count;
	return 0;
}

/* Opens the group, unless another device has opened it, and puts it into the container. */
static int join_group(struct vfio_device *device, int number, struct error *error)
{
	struct vfio_container *container = device->container;
	struct vfio_group_status status = {.argsz = sizeof(status)};
	char path[PATH_SIZE];

	int free_entry = -1;
	bool first = true;

	for (int i = 0; i < VFIO_MAX_DEVICES; i++) {
		struct vfio_group *group = &container->groups[i];

		if (group->users == 0) {
			free_entry = i;
		} else if (group->number == number) {
			device->group = i;
			group->users++;
			return 0;
		} else {
			first = false;
		}
	}
	/* vfio_open has refused more devices. */
	assert(free_entry >= 0);
	(void)snprintf(path, sizeof(path), "/dev/vfio/%d", number);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		int cause = errno;

		error_set(error, "%s: %s: %s; as root, `chown %u %s` gives it to this user",
			  device->address, path, strerror(cause), (unsigned int)getuid(), path);
		if (cause == EBUSY) {
			error_set(error, "%s: %s: %s; another process drives it", device->address,
				  path, strerror(cause));
		}
		return -1;
	}
	if (ioctl(fd, VFIO_GROUP_GET_STATUS, &status) != 0 ||
	    !(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
		error_set(error,
			  "%s: IOMMU group %d is not viable: another driver has a device in it; "
			  "`triptych doctor %s` names it",
			  device->address, number, device->address);
		(void)close(fd);
		return -1;
	}
	/* The container can choose the type of its IOMMU only after it has its first group. */
	if (ioctl(fd, VFIO_GROUP_SET_CONTAINER, &container->fd) != 0 ||
	    (first && ioctl(container->fd, VFIO_SET_IOMMU, (unsigned long)VFIO_TYPE1v2_IOMMU))) {
		error_set(error,
			  "%s: VFIO_GROUP_SET_CONTAINER or VFIO_SET_IOMMU: %s; as root, modprobe "
			  "vfio_iommu_type1",
			  device->address, strerror(errno));
		(void)close(fd);
		return -1;
	}
	container->groups[free_entry] = (struct vfio_group){number, fd, 1};
	device->group = free_entry;
	return 0;
}

/* A region and its capabilities. */
union region_info {
	struct vfio_region_info info;
	uint8_t bytes[MAX_INFO];
};

static int read_region(const struct vfio_device *device, uint32_t index, union region_info *reply,
		       struct error *error)
{
	memset(reply, 0, sizeof(*reply));
	reply->info.argsz = sizeof(*reply);
	reply->info.index = index;
	if (ioctl(device->fd, VFIO_DEVICE_GET_REGION_INFO, reply) != 0) {
		return error_fail(error, "%s: region %u: %s", device->address, index,
				  strerror(errno));
	}
	return 0;
}

static int map_regions(struct vfio_device *device, struct error *error)
{
	union region_info reply;

	if (read_region(device, VFIO_REGION_CONFIG, &reply, error) != 0) {
		return -1;
	}
	device->config_file_offset = reply.info.offset;
	if (read_region(device, VFIO_REGION_BAR0, &reply, error) != 0) {
		return -1;
	}
	device->bar0_size = reply.info.size;
	device->bar0_file_offset = reply.info.offset;
	/* The kernel keeps the file as it is, and does not say how long it is. */
	return vfio_map_bar0(device, device->fd, UINT64_MAX, &reply, sizeof(reply), error);
}

/* Makes the kernel signal eventfds, or switches the interrupts of this kind off with a count of 0. */
static int set_irqs(const struct vfio_device *device, uint32_t index, const int *eventfds,
		    uint32_t count)
{
	union {
		struct vfio_irq_set set;
		uint8_t bytes[sizeof(struct vfio_irq_set) + VFIO_MAX_VECTORS * sizeof(int32_t)];
	} request;

	memset(&request, 0, sizeof(request));
	request.set.argsz = (uint32_t)(sizeof(request.set) + count * sizeof(int32_t));
	request.set.flags = VFIO_IRQ_SET_ACTION_TRIGGER |
			    (count > 0 ? VFIO_IRQ_SET_DATA_EVENTFD : VFIO_IRQ_SET_DATA_NONE);
	request.set.index = index;
	request.set.count = count;
	if (count > 0) {
		memcpy(request.bytes + sizeof(request.set), eventfds, count * sizeof(int32_t));
	}
	return ioctl(device->fd, VFIO_DEVICE_SET_IRQS, &request);
}

/*
 * Asks the kernel to signal when it wants the device back, because an unbind waits until the device
 * is closed. Without that signal, an unbind waits until the run is over.
 */
static void listen_for_request(struct vfio_device *device)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd >= 0 && set_irqs(device, VFIO_PCI_REQ_IRQ_INDEX, &fd, 1) != 0) {
		(void)close(fd);
		fd = -1;
	}
	device->request_fd = fd;
}

int vfio_kernel_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
			    struct error *error)
{
	if (count > VFIO_MAX_VECTORS ||
	    set_irqs(device, VFIO_PCI_MSIX_IRQ_INDEX, eventfds, count) != 0) {
		return error_fail(error, "%s: VFIO_DEVICE_SET_IRQS for %u vectors of MSI-X: %s",
				  device->address, count, strerror(errno));
	}
	return 0;
}

int vfio_kernel_check_request(const struct vfio_device *device, struct error *error)
{
	struct pollfd request = {.fd = device->request_fd, .events = POLLIN};

	/* A negative descriptor is never ready. */
	if (poll(&request, 1, 0) != 1) {
		return 0;
	}
	return error_fail(
		error,
		"%s: the device is being unbound or removed; as root, `triptych bind %s` gives "
		"it back to this driver",
		device->address, device->address);
}

/* Opens the device of the group that it has joined. */
static int open_device(struct vfio_device *device, struct error *error)
{
	struct vfio_container *container = device->container;

	if (read_iova_ranges(container, device->address, error) != 0) {
		return -1;
	}
	device->fd = ioctl(container->groups[device->group].fd, VFIO_GROUP_GET_DEVICE_FD,
			   device->address);
	if (device->fd < 0) {
		return error_fail(error, "%s: VFIO_GROUP_GET_DEVICE_FD: %s", device->address,
				  strerror(errno));
	}
	return map_regions(device, error);
}

int vfio_kernel_open(struct vfio_device *device, struct error *error)
{
	device->group = -1;
	int number = find_group(device, error);

	if (number < 0 || open_container(device->container, device->address, error) != 0) {
		return -1;
	}
	if (join_group(device, number, error) != 0 || open_device(device, error) != 0) {
		vfio_kernel_close(device);
		return -1;
	}
	listen_for_request(device);
	return 0;
}

void vfio_kernel_close(struct vfio_device *device)
{
	struct vfio_container *container = device->container;

	if (device->fd >= 0) {
		(void)close(device->fd);
		device->fd = -1;
	}
	if (device->request_fd >= 0) {
		(void)close(device->request_fd);
		device->request_fd = -1;
	}
	if (device->group < 0) {
		return;
	}
	struct vfio_group *group = &container->groups[device->group];

	group->users--;
	if (group->users == 0) {
		(void)close(group->fd);
	}
	device->group = -1;
}

int vfio_kernel_access(struct vfio_device *device, const struct vfio_access *access,
		       struct error *error)
{
	off_t offset = (off_t)(access->offset + (access->region == VFIO_REGION_CONFIG ?
							 device->config_file_offset :
							 device->bar0_file_offset));
	ssize_t done = access->write ? pwrite(device->fd, access->data, access->size, offset) :
				       pread(device->fd, access->data, access->size, offset);

	if (done == (ssize_t)access->size) {
		return 0;
	}
	return error_fail(error, "%s: %s at 0x%x: %s; was the device removed or unbound?",
			  device->address, access->write ? "write" : "read", access->offset,
			  done < 0 ? strerror(errno) : "short access");
}

int vfio_kernel_dma_map(struct vfio_container *container, void *memory, uint64_t iova,
			uint64_t size, struct error *error)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uint64_t)(uintptr_t)memory,
		.iova = iova,
		.size = size,
	};

	if (ioctl(container->fd, VFIO_IOMMU_MAP_DMA, &map) != 0) {
		/* The kernel locks mapped memory. */
		return error_fail(
			error, "VFIO_IOMMU_MAP_DMA of %llu bytes at 0x%llx: %s%s",
			(unsigned long long)size, (unsigned long long)iova, strerror(errno),
			errno == ENOMEM ? "; raise the limit of locked memory (ulimit -l), "
					  "as `triptych doctor` describes" :
					  "");
	}
	return 0;
}

void vfio_kernel_dma_unmap(struct vfio_container *container, uint64_t iova, uint64_t size)
{
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = iova,
		.size = size,
	};

	/* It fails only for a range that is not mapped. Closing the container unmaps the rest. */
	(void)ioctl(container->fd, VFIO_IOMMU_UNMAP_DMA, &unmap);
}
