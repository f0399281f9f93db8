/* Regions of a device: their description (linux/vfio.h), and mapping BAR0. */
#include "vfio.h"
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>

int vfio_map_area(struct vfio_device *device, int fd, uint64_t bar0_file_offset, uint64_t offset,
		  uint64_t size, struct error *error)
{
	if (device->area_count == VFIO_MAX_AREAS) {
		error_set(error, "%s: BAR0 has more than %d mappable areas", device->address,
			  VFIO_MAX_AREAS);
		return -1;
	}
	if (size == 0 || size > device->bar0_size || offset > device->bar0_size - size) {
		error_set(error, "%s: a mappable area lies outside BAR0", device->address);
		return -1;
	}
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)(bar0_file_offset + offset));

	if (memory == MAP_FAILED) {
		error_set(error, "%s: mmap of BAR0 at 0x%llx: %s", device->address,
			  (unsigned long long)offset, strerror(errno));
		return -1;
	}
	struct vfio_area *area = &device->areas[device->area_count];

	area->offset = offset;
	area->size = size;
	area->memory = memory;
	device->area_count++;
	return 0;
}

/* Copies `size` bytes at `offset` of a description. Fails if the description is too short. */
static int chain_read(const void *info, size_t info_size, size_t offset, void *out, size_t size)
{
	if (offset > info_size || size > info_size - offset) {
		return -1;
	}
	memcpy(out, (const uint8_t *)info + offset, size);
	return 0;
}

int vfio_map_bar0(struct vfio_device *device, int fd, const void *info, size_t info_size,
		  struct error *error)
{
	struct vfio_region_info region;

	if (chain_read(info, info_size, 0, &region, sizeof(region)) != 0) {
		error_set(error, "%s: the description of BAR0 is truncated", device->address);
		return -1;
	}
	if (!(region.flags & VFIO_REGION_INFO_FLAG_MMAP)) {
		return 0;
	}
	size_t next = region.flags & VFIO_REGION_INFO_FLAG_CAPS ? region.cap_offset : 0;

	while (next != 0) {
		struct vfio_region_info_cap_sparse_mmap sparse;

		if (chain_read(info, info_size, next, &sparse, sizeof(sparse)) != 0) {
			error_set(error, "%s: a capability of BAR0 is truncated", device->address);
			return -1;
		}
		if (sparse.header.id == VFIO_REGION_INFO_CAP_SPARSE_MMAP) {
			for (uint32_t i = 0; i < sparse.nr_areas; i++) {
				struct vfio_region_sparse_mmap_area area;
				size_t at = next + sizeof(sparse) + i * sizeof(area);

				if (chain_read(info, info_size, at, &area, sizeof(area)) != 0) {
					error_set(error,
						  "%s: the list of mappable areas is truncated",
						  device->address);
					return -1;
				}
				if (vfio_map_area(device, fd, region.offset, area.offset, area.size,
						  error) != 0) {
					return -1;
				}
			}
			return 0;
		}
		/* Offsets of capabilities must ascend. Otherwise the list could loop. */
		if (sparse.header.next != 0 && sparse.header.next <= next) {
			error_set(error, "%s: the capabilities of BAR0 are looping",
				  device->address);
			return -1;
		}
		next = sparse.header.next;
	}
	return vfio_map_area(device, fd, region.offset, 0, device->bar0_size, error);
}
