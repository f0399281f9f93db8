/* Regions of a device: their description (linux/vfio.h), and mapping BAR0. */
#include "vfio/vfio.h"
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file of a region: BAR0 starts at `offset` of its `size` bytes. */
struct region_file {
	int fd;
	uint64_t size;
	uint64_t offset;
};

/* Whether the file has all of an area, which begins at `offset` of BAR0. */
static bool is_in_file(const struct region_file *file, uint64_t offset, uint64_t size)
{
	return file->offset <= file->size && offset + size <= file->size - file->offset;
}

static int check_area(const struct vfio_device *device, const struct region_file *file,
		      uint64_t offset, uint64_t size, struct error *error)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (device->area_count == VFIO_MAX_AREAS) {
		error_set(error, "%s: BAR0 has more than %d mappable areas", device->address,
			  VFIO_MAX_AREAS);
		return -1;
	}
	if (size == 0 || size > device->bar0_size || offset > device->bar0_size - size) {
		error_set(error, "%s: a mappable area lies outside BAR0", device->address);
		return -1;
	}
	/* mmap checks only the place in the file. The registers would lie elsewhere in the pages. */
	if ((offset | size | file->offset) % page != 0) {
		error_set(error,
			  "%s: a mappable area of BAR0 is not whole pages of its file: 0x%llx "
			  "bytes at 0x%llx",
			  device->address, (unsigned long long)size, (unsigned long long)offset);
		return -1;
	}
	if (!is_in_file(file, offset, size)) {
		error_set(error, "%s: a mappable area of BAR0 lies beyond the end of the file",
			  device->address);
		return -1;
	}
	for (uint32_t i = 0; i < device->area_count; i++) {
		const struct vfio_area *other = &device->areas[i];

		if (offset < other->offset + other->size && other->offset < offset + size) {
			error_set(error, "%s: two mappable areas of BAR0 overlap at 0x%llx",
				  device->address, (unsigned long long)offset);
			return -1;
		}
	}
	return 0;
}

/* Maps one area of BAR0. */
static int map_area(struct vfio_device *device, const struct region_file *file, uint64_t offset,
		    uint64_t size, struct error *error)
{
	if (check_area(device, file, offset, size, error) != 0) {
		return -1;
	}
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd,
			    (off_t)(file->offset + offset));

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

/* Maps the areas that a capability at `at` lists. */
static int map_sparse_areas(struct vfio_device *device, const struct region_file *file,
			    const void *info, size_t info_size, size_t at, struct error *error)
{
	struct vfio_region_info_cap_sparse_mmap sparse;

	if (chain_read(info, info_size, at, &sparse, sizeof(sparse)) != 0) {
		error_set(error, "%s: the list of mappable areas is truncated", device->address);
		return -1;
	}
	at += sizeof(sparse);
	for (uint32_t i = 0; i < sparse.nr_areas; i++) {
		struct vfio_region_sparse_mmap_area area;

		if (chain_read(info, info_size, at, &area, sizeof(area)) != 0) {
			error_set(error, "%s: the list of mappable areas is truncated",
				  device->address);
			return -1;
		}
		if (map_area(device, file, area.offset, area.size, error) != 0) {
			return -1;
		}
		at += sizeof(area);
	}
	return 0;
}

int vfio_map_bar0(struct vfio_device *device, int fd, uint64_t file_size, const void *info,
		  size_t info_size, struct error *error)
{
	struct vfio_region_info region;

	/* argsz is the size of the whole description. A longer one would lack its capabilities. */
	if (chain_read(info, info_size, 0, &region, sizeof(region)) != 0 ||
	    region.argsz > info_size || region.argsz < sizeof(region)) {
		error_set(error, "%s: the description of BAR0 is truncated", device->address);
		return -1;
	}
	info_size = region.argsz;
	if (!(region.flags & VFIO_REGION_INFO_FLAG_MMAP)) {
		return 0;
	}
	const struct region_file file = {.fd = fd, .size = file_size, .offset = region.offset};
	size_t next = region.flags & VFIO_REGION_INFO_FLAG_CAPS ? region.cap_offset : 0;
	size_t least = sizeof(region);

	while (next != 0) {
		struct vfio_info_cap_header header;

		/* Offsets of capabilities must ascend. Otherwise the list could loop. */
		if (next < least) {
			error_set(error, "%s: the capabilities of BAR0 are looping",
				  device->address);
			return -1;
		}
		if (chain_read(info, info_size, next, &header, sizeof(header)) != 0) {
			error_set(error, "%s: a capability of BAR0 is truncated", device->address);
			return -1;
		}
		if (header.id == VFIO_REGION_INFO_CAP_SPARSE_MMAP) {
			return map_sparse_areas(device, &file, info, info_size, next, error);
		}
		least = next + sizeof(header);
		next = header.next;
	}
	return map_area(device, &file, 0, device->bar0_size, error);
}
