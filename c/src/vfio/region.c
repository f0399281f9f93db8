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

/* What is wrong with an area that a description permits, or NULL. */
static const char *area_fault(const struct vfio_device *device, const struct region_file *file,
			      uint64_t offset, uint64_t size)
{
	if (device->area_count == VFIO_MAX_AREAS) {
		return "is one too many";
	}
	if (size == 0 || size > device->bar0_size || offset > device->bar0_size - size) {
		return "lies outside BAR0";
	}
	/* mmap checks only the place in the file. The registers would lie elsewhere in the pages. */
	if ((offset | size | file->offset) % (uint64_t)sysconf(_SC_PAGESIZE) != 0) {
		return "is not whole pages of its file";
	}
	if (file->offset > file->size || offset + size > file->size - file->offset) {
		return "lies beyond the end of the file";
	}
	for (uint32_t i = 0; i < device->area_count; i++) {
		const struct vfio_area *other = &device->areas[i];

		if (offset < other->offset + other->size && other->offset < offset + size) {
			return "overlaps another one";
		}
	}
	return NULL;
}

/* Maps one area of BAR0. */
static int map_area(struct vfio_device *device, const struct region_file *file, uint64_t offset,
		    uint64_t size, struct error *error)
{
	const char *fault = area_fault(device, file, offset, size);

	if (fault != NULL) {
		return error_fail(error, "%s: a mappable area of BAR0 %s: 0x%llx bytes at 0x%llx",
				  device->address, fault, (unsigned long long)size,
				  (unsigned long long)offset);
	}
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd,
			    (off_t)(file->offset + offset));

	if (memory == MAP_FAILED) {
		return error_fail(error, "%s: mmap of BAR0 at 0x%llx: %s", device->address,
				  (unsigned long long)offset, strerror(errno));
	}
	device->areas[device->area_count] = (struct vfio_area){offset, size, memory};
	device->area_count++;
	return 0;
}

int vfio_info_read(const void *info, size_t info_size, size_t offset, void *out, size_t size)
{
	if (offset > info_size || size > info_size - offset) {
		return -1;
	}
	memcpy(out, (const uint8_t *)info + offset, size);
	return 0;
}

int vfio_info_find(const void *info, size_t info_size, size_t least, uint16_t id, size_t *at)
{
	struct vfio_info_cap_header header;

	for (; *at != 0; *at = header.next) {
		/* Offsets of capabilities must ascend. Otherwise the list could loop. */
		if (*at < least ||
		    vfio_info_read(info, info_size, *at, &header, sizeof(header)) != 0) {
			return -1;
		}
		if (header.id == id) {
			break;
		}
		least = *at + sizeof(header);
	}
	return 0;
}

static int truncated(const struct vfio_device *device, struct error *error)
{
	return error_fail(error, "%s: the description of BAR0 is truncated or looping",
			  device->address);
}

int vfio_map_bar0(struct vfio_device *device, int fd, uint64_t file_size, const void *info,
		  size_t info_size, struct error *error)
{
	struct vfio_region_info region;
	struct vfio_region_info_cap_sparse_mmap sparse;

	/* argsz is the size of the whole description. A longer one would lack its capabilities. */
	if (vfio_info_read(info, info_size, 0, &region, sizeof(region)) != 0 ||
	    region.argsz > info_size || region.argsz < sizeof(region)) {
		return truncated(device, error);
	}
	if (!(region.flags & VFIO_REGION_INFO_FLAG_MMAP)) {
		return 0;
	}
	const struct region_file file = {.fd = fd, .size = file_size, .offset = region.offset};

	size_t at = region.flags & VFIO_REGION_INFO_FLAG_CAPS ? region.cap_offset : 0;

	if (vfio_info_find(info, region.argsz, sizeof(region), VFIO_REGION_INFO_CAP_SPARSE_MMAP,
			   &at) != 0) {
		return truncated(device, error);
	}
	if (at == 0) {
		return map_area(device, &file, 0, device->bar0_size, error);
	}
	if (vfio_info_read(info, region.argsz, at, &sparse, sizeof(sparse)) != 0) {
		return truncated(device, error);
	}
	at += sizeof(sparse);
	for (uint32_t i = 0; i < sparse.nr_areas; i++) {
		struct vfio_region_sparse_mmap_area area;

		if (vfio_info_read(info, region.argsz, at, &area, sizeof(area)) != 0) {
			return truncated(device, error);
		}
		if (map_area(device, &file, area.offset, area.size, error) != 0) {
			return -1;
		}
		at += sizeof(area);
	}
	return 0;
}
