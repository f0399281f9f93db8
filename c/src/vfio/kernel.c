/*
 * A device behind the kernel's VFIO (Documentation/driver-api/vfio.rst). A type1v2 container holds
 * its IOMMU group and maps memory for it.
 *
 * The driver needs no root once the user owns /dev/vfio/GROUP.
 */
#include "vfio/vfio.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_SIZE 256
#define MAX_INFO 4096

/* "0000:03:00.0": domain, bus, device, function. */
static bool is_pci_address(const char *address)
{
	static const char form[] = "xxxx:xx:xx.d";
	size_t i = 0;

	for (; form[i] != '\0' && address[i] != '\0'; i++) {
		char c = address[i];
		bool digit = c >= '0' && c <= '9';
		bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

		if ((form[i] == 'x' && !hex) || (form[i] == 'd' && !digit) ||
		    (form[i] != 'x' && form[i] != 'd' && c != form[i])) {
			return false;
		}
	}
	return form[i] == '\0' && address[i] == '\0';
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
		error_set(error,
			  "%s: not a device; give a PCI address such as 0000:03:00.0 or "
			  "vfio-user:PATH",
			  device->address);
		return -1;
	}
	(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", device->address);
	if (access(path, F_OK) != 0) {
		error_set(error, "%s: no such PCI device; `lspci -D` lists them", device->address);
		return -1;
	}
	if (sysfs_link(device->address, "iommu_group", group) != 0) {
		error_set(
			error,
			"%s: the device has no IOMMU group; switch the IOMMU (VT-d, AMD-Vi) on in "
			"the firmware and boot with intel_iommu=on",
			device->address);
		return -1;
	}
	if (sysfs_link(device->address, "driver", driver) != 0 || strcmp(driver, "vfio-pci") != 0) {
		error_set(error,
			  "%s: the device is bound to %s, not to vfio-pci; as root, `triptych bind "
			  "%s` gives it to this driver",
			  device->address, driver[0] != '\0' ? driver : "no driver",
			  device->address);
		return -1;
	}
	/* Without an IOMMU, the device could write anywhere in memory. */
	(void)snprintf(path, sizeof(path), "/dev/vfio/noiommu-%s", group);
	if (access(path, F_OK) == 0) {
		error_set(
			error,
			"%s: VFIO has this device in no-IOMMU mode, in which a wrong address "
			"overwrites any memory, so this driver refuses it; switch the IOMMU (VT-d, "
			"AMD-Vi) on in the firmware and boot with intel_iommu=on",
			device->address);
		return -1;
	}
	return (int)strtol(group, NULL, 10);
}

/* Whether VFIO can use a group that has a device with this driver (vfio_dev_viable in the kernel). */
static bool is_harmless(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "pci-stub") == 0 ||
	       strcmp(driver, "pcieport") == 0;
}

/* Explains which device keeps VFIO from using the group. */
static void explain_not_viable(const char *address, int number, struct error *error)
{
	char path[PATH_SIZE];
	char driver[PATH_SIZE] = "";
	char other[PATH_SIZE] = "";

	(void)snprintf(path, sizeof(path), "/sys/kernel/iommu_groups/%d/devices", number);
	DIR *devices = opendir(path);

	for (struct dirent *entry = devices != NULL ? readdir(devices) : NULL;
	     entry != NULL && other[0] == '\0'; entry = readdir(devices)) {
		if (sysfs_link(entry->d_name, "driver", driver) == 0 && !is_harmless(driver)) {
			(void)snprintf(other, sizeof(other), "%s", entry->d_name);
		}
	}
	if (devices != NULL) {
		(void)closedir(devices);
	}
	if (other[0] == '\0') {
		error_set(error,
			  "%s: IOMMU group %d is not viable: bind every device listed in %s to "
			  "vfio-pci",
			  address, number, path);
		return;
	}
	error_set(error,
		  "%s: IOMMU group %d is not viable: %s is bound to %s; as root, `triptych bind "
		  "%s` takes it from there",
		  address, number, other, driver, other);
}

/* Explains why a group cannot be opened, after `open` has failed. */
static void explain_not_opened(const char *address, const char *path, struct error *error)
{
	int cause = errno;

	if (cause == EACCES || cause == EPERM) {
		error_set(error, "%s: %s: %s; as root, `chown %u %s` gives it to this user",
			  address, path, strerror(cause), (unsigned int)getuid(), path);
		return;
	}
	error_set(error, "%s: %s: %s; %s", address, path, strerror(cause),
		  cause == EBUSY ? "another process drives it" :
				   "is the device bound to vfio-pci?");
}

/* Opens the container when the first group needs it. */
static int open_container(struct vfio_container *container, const char *address,
			  struct error *error)
{
	if (container->fd >= 0) {
		return 0;
	}
	int fd = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		error_set(error, "%s: /dev/vfio/vfio: %s; as root, modprobe vfio-pci", address,
			  strerror(errno));
		return -1;
	}
	if (ioctl(fd, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
	    ioctl(fd, VFIO_CHECK_EXTENSION, (unsigned long)VFIO_TYPE1v2_IOMMU) != 1) {
		error_set(error,
			  "%s: this kernel's VFIO has no type1v2 IOMMU; as root, modprobe "
			  "vfio_iommu_type1",
			  address);
		(void)close(fd);
		return -1;
	}
	container->fd = fd;
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
	struct iova_range narrowed[VFIO_MAX_RANGES];
	uint32_t narrowed_count = 0;

	memset(&reply, 0, sizeof(reply));
	reply.info.argsz = sizeof(reply);
	if (ioctl(container->fd, VFIO_IOMMU_GET_INFO, &reply) != 0) {
		error_set(error, "%s: VFIO_IOMMU_GET_INFO: %s", address, strerror(errno));
		return -1;
	}
	size_t next = reply.info.flags & VFIO_IOMMU_INFO_CAPS ? reply.info.cap_offset : 0;

	while (next != 0 &&
	       next + sizeof(struct vfio_iommu_type1_info_cap_iova_range) <= sizeof(reply)) {
		struct vfio_iommu_type1_info_cap_iova_range capability;

		memcpy(&capability, reply.bytes + next, sizeof(capability));
		if (capability.header.id != VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE) {
			next = capability.header.next;
			continue;
		}
		for (uint32_t i = 0; i < capability.nr_iovas; i++) {
			struct vfio_iova_range allowed;
			size_t at = next + sizeof(capability) + i * sizeof(allowed);

			if (at + sizeof(allowed) > sizeof(reply)) {
				break;
			}
			memcpy(&allowed, reply.bytes + at, sizeof(allowed));
			for (uint32_t j = 0; j < container->range_count; j++) {
				struct iova_range both = container->ranges[j];

				both.first = both.first > allowed.start ? both.first :
									  allowed.start;
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
	/* Kernels before 5.4 do not report ranges. The 39 bits of the default are permitted. */
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
	if (free_entry < 0) {
		error_set(error, "%s: a container holds at most %d IOMMU groups", device->address,
			  VFIO_MAX_DEVICES);
		return -1;
	}
	(void)snprintf(path, sizeof(path), "/dev/vfio/%d", number);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		explain_not_opened(device->address, path, error);
		return -1;
	}
	if (ioctl(fd, VFIO_GROUP_GET_STATUS, &status) != 0 ||
	    !(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
		explain_not_viable(device->address, number, error);
		(void)close(fd);
		return -1;
	}
	if (ioctl(fd, VFIO_GROUP_SET_CONTAINER, &container->fd) != 0) {
		error_set(error, "%s: VFIO_GROUP_SET_CONTAINER: %s", device->address,
			  strerror(errno));
		(void)close(fd);
		return -1;
	}
	/* The container can choose the type of its IOMMU only after it has its first group. */
	if (first && ioctl(container->fd, VFIO_SET_IOMMU, (unsigned long)VFIO_TYPE1v2_IOMMU) != 0) {
		error_set(error, "%s: VFIO_SET_IOMMU: %s", device->address, strerror(errno));
		(void)close(fd);
		return -1;
	}
	struct vfio_group *group = &container->groups[free_entry];

	group->number = number;
	group->fd = fd;
	group->users = 1;
	device->group = free_entry;
	return 0;
}

static int map_regions(struct vfio_device *device, struct error *error)
{
	union {
		struct vfio_region_info info;
		uint8_t bytes[MAX_INFO];
	} reply;

	memset(&reply, 0, sizeof(reply));
	reply.info.argsz = sizeof(reply);
	reply.info.index = VFIO_PCI_CONFIG_REGION_INDEX;
	if (ioctl(device->fd, VFIO_DEVICE_GET_REGION_INFO, &reply) != 0) {
		error_set(error, "%s: configuration space: %s", device->address, strerror(errno));
		return -1;
	}
	device->config_file_offset = reply.info.offset;

	memset(&reply, 0, sizeof(reply));
	reply.info.argsz = sizeof(reply);
	reply.info.index = VFIO_PCI_BAR0_REGION_INDEX;
	if (ioctl(device->fd, VFIO_DEVICE_GET_REGION_INFO, &reply) != 0) {
		error_set(error, "%s: BAR0: %s", device->address, strerror(errno));
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

	if (fd < 0) {
		return;
	}
	if (set_irqs(device, VFIO_PCI_REQ_IRQ_INDEX, &fd, 1) != 0) {
		(void)close(fd);
		return;
	}
	device->request_fd = fd;
}

int vfio_kernel_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
			    struct error *error)
{
	if (count > VFIO_MAX_VECTORS ||
	    set_irqs(device, VFIO_PCI_MSIX_IRQ_INDEX, eventfds, count) != 0) {
		error_set(error, "%s: VFIO_DEVICE_SET_IRQS for %u vectors of MSI-X: %s",
			  device->address, count, strerror(errno));
		return -1;
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
	error_set(error,
		  "%s: the device is being unbound or removed; as root, `triptych bind %s` gives "
		  "it back to this driver",
		  device->address, device->address);
	return -1;
}

int vfio_kernel_open(struct vfio_device *device, struct error *error)
{
	struct vfio_container *container = device->container;

	device->group = -1;
	int number = find_group(device, error);

	if (number < 0 || open_container(container, device->address, error) != 0) {
		return -1;
	}
	if (join_group(device, number, error) != 0 ||
	    read_iova_ranges(container, device->address, error) != 0) {
		vfio_kernel_close(device);
		return -1;
	}
	device->fd = ioctl(container->groups[device->group].fd, VFIO_GROUP_GET_DEVICE_FD,
			   device->address);
	if (device->fd < 0) {
		error_set(error, "%s: VFIO_GROUP_GET_DEVICE_FD: %s", device->address,
			  strerror(errno));
		vfio_kernel_close(device);
		return -1;
	}
	if (map_regions(device, error) != 0) {
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

static uint64_t file_offset(const struct vfio_device *device, uint32_t region, uint64_t offset)
{
	return offset + (region == VFIO_REGION_CONFIG ? device->config_file_offset :
							device->bar0_file_offset);
}

static int access_error(const struct vfio_device *device, const char *what, uint64_t offset,
			ssize_t done, struct error *error)
{
	error_set(error, "%s: %s at 0x%llx: %s; was the device removed or unbound?",
		  device->address, what, (unsigned long long)offset,
		  done < 0 ? strerror(errno) : "short access");
	return -1;
}

int vfio_kernel_read(struct vfio_device *device, uint32_t region, uint64_t offset, void *data,
		     uint32_t size, struct error *error)
{
	ssize_t done = pread(device->fd, data, size, (off_t)file_offset(device, region, offset));

	return done == (ssize_t)size ? 0 : access_error(device, "read", offset, done, error);
}

int vfio_kernel_write(struct vfio_device *device, uint32_t region, uint64_t offset,
		      const void *data, uint32_t size, struct error *error)
{
	ssize_t done = pwrite(device->fd, data, size, (off_t)file_offset(device, region, offset));

	return done == (ssize_t)size ? 0 : access_error(device, "write", offset, done, error);
}

/* Explains why memory cannot be mapped, after the kernel has refused. */
static void explain_not_mapped(uint64_t iova, uint64_t size, struct error *error)
{
	int cause = errno;
	char remedy[PATH_SIZE] = "";
	struct rlimit limit;

	/* The kernel locks mapped memory. */
	if (cause == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY) {
		(void)snprintf(remedy, sizeof(remedy),
			       "; this process may lock %llu KiB of memory (ulimit -l): as root, "
			       "`prlimit --memlock=unlimited --pid %d` raises it for the shell",
			       (unsigned long long)limit.rlim_cur / 1024, (int)getppid());
	}
	error_set(error, "VFIO_IOMMU_MAP_DMA of %llu bytes at 0x%llx: %s%s",
		  (unsigned long long)size, (unsigned long long)iova, strerror(cause), remedy);
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
		explain_not_mapped(iova, size, error);
		return -1;
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
