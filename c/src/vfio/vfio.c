/* Opening a device and sharing memory with it, for both kinds of device. */
#include "vfio/vfio.h"
#include "driver/mmio.h"
#include "driver/registers.h"
#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define USER_PREFIX "vfio-user:"

/*
 * The IOVAs to use unless the kernel permits fewer. They do not include 0, so that a forgotten
 * address is a fault. They have 39 bits, the fewest of any VT-d IOMMU.
 */
#define IOVA_FIRST 0x200000ull
#define IOVA_LAST 0x7fffffffffull

void vfio_container_init(struct vfio_container *container)
{
	memset(container, 0, sizeof(*container));
	vfio_patience_init(container);
	container->fd = -1;
	container->range_count = 1;
	container->ranges[0].first = IOVA_FIRST;
	container->ranges[0].last = IOVA_LAST;
}

void vfio_container_close(struct vfio_container *container)
{
	while (container->device_count > 0) {
		vfio_close(container->devices[container->device_count - 1]);
	}
	if (container->fd >= 0) {
		(void)close(container->fd);
		container->fd = -1;
	}
}

static void unmap_areas(struct vfio_device *device)
{
	for (uint32_t i = 0; i < device->area_count; i++) {
		(void)munmap((void *)device->areas[i].memory, device->areas[i].size);
	}
	device->area_count = 0;
}

int vfio_open(struct vfio_container *container, const char *address, struct vfio_device *device,
	      struct error *error)
{
	memset(device, 0, sizeof(*device));
	device->container = container;
	device->fd = -1;
	device->request_fd = -1;
	device->reserve_us = VFIO_RESERVE_MS * 1000ull;
	if (strlen(address) >= sizeof(device->address)) {
		return error_fail(error, "the device address is longer than %d characters: %s",
				  VFIO_ADDRESS_SIZE - 1, address);
	}
	(void)snprintf(device->address, sizeof(device->address), "%s", address);
	assert(container->device_count < VFIO_MAX_DEVICES);
	/* All devices are opened before memory is mapped for them. */
	assert(container->map_count == 0);
	size_t prefix = strlen(USER_PREFIX);
	bool user = strncmp(address, USER_PREFIX, prefix) == 0;

	device->kind = user ? VFIO_KIND_USER : VFIO_KIND_KERNEL;
	if ((user ? vfio_user_open(device, address + prefix, error) :
		    vfio_kernel_open(device, error)) != 0) {
		unmap_areas(device);
		return -1;
	}
	container->devices[container->device_count] = device;
	container->device_count++;

	/* 9.3.2 Command register: decode BAR0. The driver turns on bus mastering later. */
	uint16_t command = vfio_config_read16(device, IXGBE_PCI_COMMAND);
	vfio_config_write16(device, IXGBE_PCI_COMMAND, command | IXGBE_PCI_COMMAND_MEMORY);
	if (vfio_check(device, error) != 0) {
		vfio_close(device);
		return -1;
	}
	return 0;
}

void vfio_close(struct vfio_device *device)
{
	struct vfio_container *container = device->container;
	uint32_t left = 0;

	for (uint32_t i = 0; i < container->device_count; i++) {
		if (container->devices[i] != device) {
			container->devices[left] = container->devices[i];
			left++;
		}
	}
	container->device_count = left;
	unmap_areas(device);
	if (device->kind == VFIO_KIND_USER) {
		vfio_user_close(device);
	} else {
		vfio_kernel_close(device);
	}
}

volatile uint32_t *vfio_register(const struct vfio_device *device, uint32_t offset)
{
	for (uint32_t i = 0; i < device->area_count; i++) {
		const struct vfio_area *area = &device->areas[i];

		/* The whole register lies inside: an area is at least a page. */
		if (offset % sizeof(uint32_t) == 0 && offset >= area->offset &&
		    offset - area->offset <= area->size - sizeof(uint32_t)) {
			return (volatile uint32_t *)(area->memory + (offset - area->offset));
		}
	}
	return NULL;
}

/* Marks the device as failed if the access fails. Then a read returns all ones. */
static void region_access(struct vfio_device *device, const struct vfio_access *access)
{
	if (!device->failed) {
		int result = device->kind == VFIO_KIND_USER ?
				     vfio_user_access(device, access, &device->failure) :
				     vfio_kernel_access(device, access, &device->failure);

		device->failed = result != 0;
	}
	if (device->failed && !access->write) {
		memset(access->data, 0xff, access->size);
	}
}

uint32_t vfio_read32(struct vfio_device *device, uint32_t offset)
{
	volatile uint32_t *address = vfio_register(device, offset);
	uint32_t value = 0;

	if (address != NULL) {
		return mmio_load32(address);
	}
	const struct vfio_access access = {VFIO_REGION_BAR0, offset, &value,
					   sizeof(value),    false,  0};

	region_access(device, &access);
	return value;
}

void vfio_write32(struct vfio_device *device, uint32_t offset, uint32_t value)
{
	volatile uint32_t *address = vfio_register(device, offset);

	if (address != NULL) {
		mmio_store32(address, value);
		return;
	}
	const struct vfio_access access = {VFIO_REGION_BAR0, offset, &value,
					   sizeof(value),    true,   0};

	region_access(device, &access);
}

void vfio_ring(struct vfio_device *device, uint32_t offset, uint32_t value)
{
	const struct vfio_access access = {VFIO_REGION_BAR0, offset, &value,
					   sizeof(value),    true,   VFIO_DOORBELL_MS * 1000ULL};

	region_access(device, &access);
}

uint16_t vfio_config_read16(struct vfio_device *device, uint32_t offset)
{
	uint16_t value = 0;

	const struct vfio_access access = {VFIO_REGION_CONFIG, offset, &value,
					   sizeof(value),      false,  0};

	region_access(device, &access);
	return value;
}

void vfio_config_write16(struct vfio_device *device, uint32_t offset, uint16_t value)
{
	const struct vfio_access access = {VFIO_REGION_CONFIG, offset, &value,
					   sizeof(value),      true,   0};

	region_access(device, &access);
}

int vfio_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
		     struct error *error)
{
	if (vfio_check(device, error) != 0) {
		return -1;
	}
	return device->kind == VFIO_KIND_USER ?
		       vfio_user_signal_msix(device, eventfds, count, error) :
		       vfio_kernel_signal_msix(device, eventfds, count, error);
}

int vfio_check(const struct vfio_device *device, struct error *error)
{
	if (!device->failed) {
		return 0;
	}
	*error = device->failure;
	return -1;
}

int vfio_check_request(const struct vfio_device *device, struct error *error)
{
	/* When a vfio-user server ends, it closes the connection, and accesses fail. */
	return device->kind == VFIO_KIND_KERNEL ? vfio_kernel_check_request(device, error) : 0;
}

int vfio_iova_alloc(struct vfio_container *container, uint64_t size, uint64_t alignment,
		    uint64_t *iova, struct error *error)
{
	for (uint32_t i = 0; i < container->range_count; i++) {
		const struct iova_range *range = &container->ranges[i];
		uint64_t start = range->first > container->next_iova ? range->first :
								       container->next_iova;

		if (start > UINT64_MAX - (alignment - 1)) {
			break;
		}
		start = (start + alignment - 1) & ~(alignment - 1);
		if (start <= range->last && size - 1 <= range->last - start) {
			*iova = start;
			container->next_iova = start + size;
			return 0;
		}
	}
	return error_fail(error,
			  "no %llu bytes of I/O address space left in what the IOMMU permits; "
			  "use fewer or smaller pools and rings",
			  (unsigned long long)size);
}

int vfio_dma_map(struct vfio_container *container, int fd, void *memory, uint64_t iova,
		 uint64_t size, struct error *error)
{
	if (container->fd >= 0 && vfio_kernel_dma_map(container, memory, iova, size, error) != 0) {
		return -1;
	}
	int result = 0;

	container->map_count++;
	for (uint32_t i = 0; i < container->device_count && result == 0; i++) {
		struct vfio_device *device = container->devices[i];

		if (device->kind == VFIO_KIND_USER) {
			result = vfio_check(device, error) != 0 ?
					 -1 :
					 vfio_user_dma_map(device, fd, iova, size, error);
		}
	}
	if (result == 0) {
		result = vfio_memory_keep(fd, memory, size, error);
	}
	if (result != 0) {
		vfio_dma_unmap(container, iova, size);
	}
	return result;
}

void vfio_dma_unmap(struct vfio_container *container, uint64_t iova, uint64_t size)
{
	if (container->fd >= 0) {
		vfio_kernel_dma_unmap(container, iova, size);
	}
	for (uint32_t i = 0; i < container->device_count; i++) {
		struct vfio_device *device = container->devices[i];
		struct error ignored;

		/* A device that has failed lost its mappings with its connection. */
		if (device->kind == VFIO_KIND_USER && !device->failed) {
			(void)vfio_user_dma_unmap(device, iova, size, &ignored);
		}
	}
	container->map_count--;
}
