/* Opening devices, allocating IOVAs, and mapping the areas of a region. */
#define _GNU_SOURCE
#include "vfio.h"
#include "test.h"
#include <linux/vfio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1ull << 20)

static void iovas_are_aligned_and_within_the_ranges(void)
{
	struct vfio_container container;
	struct error error;
	uint64_t iova = 0;

	vfio_container_init(&container);
	container.range_count = 2;
	container.ranges[0] = (struct iova_range){.first = MIB, .last = 6 * MIB - 1};
	container.ranges[1] = (struct iova_range){.first = 16 * MIB, .last = 20 * MIB - 1};
	CHECK(vfio_iova_alloc(&container, 4096, 2 * MIB, &iova, &error) == 0);
	CHECK_EQUAL(iova, 2 * MIB);
	/* There is no room below 6 MiB, so this comes from the second range. */
	CHECK(vfio_iova_alloc(&container, 2 * MIB + 4096, 2 * MIB, &iova, &error) == 0);
	CHECK_EQUAL(iova, 16 * MIB);
	CHECK(vfio_iova_alloc(&container, 4 * MIB, 2 * MIB, &iova, &error) == -1);
	CHECK_CONTAINS(error.text, "I/O address space");
}

static void iovas_end_with_the_address_space(void)
{
	struct vfio_container container;
	struct error error;
	uint64_t iova = 0;

	vfio_container_init(&container);
	container.ranges[0] = (struct iova_range){.first = UINT64_MAX - 4095, .last = UINT64_MAX};
	CHECK(vfio_iova_alloc(&container, 4096, 4096, &iova, &error) == 0);
	CHECK_EQUAL(iova, UINT64_MAX - 4095);
	container.ranges[0].first = UINT64_MAX - 100;
	container.next_iova = 0;
	CHECK(vfio_iova_alloc(&container, 4096, 4096, &iova, &error) == -1);
}

static void an_open_error_names_the_address(void)
{
	struct vfio_container container;
	struct vfio_device device;
	struct error error;
	char long_path[300] = "vfio-user:";

	vfio_container_init(&container);
	CHECK(vfio_open(&container, "vfio-user:/nonexistent/socket", &device, &error) == -1);
	CHECK_CONTAINS(error.text, "/nonexistent/socket");
	CHECK_CONTAINS(error.text, "No such file");
	CHECK(vfio_open(&container, "vfio-user:", &device, &error) == -1);
	CHECK_CONTAINS(error.text, "socket path");
	memset(long_path + 10, 'x', 110);
	CHECK(vfio_open(&container, long_path, &device, &error) == -1);
	CHECK_CONTAINS(error.text, "socket path");
	memset(long_path + 10, 'x', 280);
	CHECK(vfio_open(&container, long_path, &device, &error) == -1);
	CHECK_CONTAINS(error.text, "longer than");
	CHECK(vfio_open(&container, "eth0", &device, &error) == -1);
	CHECK_CONTAINS(error.text, "eth0");
	CHECK_CONTAINS(error.text, "PCI address");
	CHECK(vfio_open(&container, "0000:0g:00.0", &device, &error) == -1);
	CHECK_CONTAINS(error.text, "PCI address");
	CHECK(vfio_open(&container, "ffff:ff:1f.7", &device, &error) == -1);
	CHECK_CONTAINS(error.text, "no such PCI device");
	CHECK_EQUAL(container.device_count, 0);
	vfio_container_close(&container);
}

struct description {
	struct vfio_region_info info;
	struct vfio_region_info_cap_sparse_mmap sparse;
	struct vfio_region_sparse_mmap_area areas[2];
};

static struct description description(void)
{
	return (struct description){
		.info = {.flags = VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS,
			 .cap_offset = offsetof(struct description, sparse)},
		.sparse = {.header = {.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP}, .nr_areas = 2},
		.areas = {{.offset = 0x1000, .size = 0x1000}, {.offset = 0x6000, .size = 0x2000}},
	};
}

static int map(const struct description *described, size_t size, struct vfio_device *device,
	       struct error *error)
{
	int fd = memfd_create("bar0", 0);

	CHECK(fd >= 0);
	CHECK(ftruncate(fd, 0x20000) == 0);
	memset(device, 0, sizeof(*device));
	device->bar0_size = 0x20000;
	int result = vfio_map_bar0(device, fd, described, size, error);

	(void)close(fd);
	return result;
}

static void unmap(struct vfio_device *device)
{
	for (uint32_t i = 0; i < device->area_count; i++) {
		CHECK(munmap((void *)device->areas[i].memory, device->areas[i].size) == 0);
	}
}

static void the_areas_described_are_mapped(void)
{
	struct description described = description();
	struct vfio_device device;
	struct error error;

	CHECK(map(&described, sizeof(described), &device, &error) == 0);
	CHECK_EQUAL(device.area_count, 2);
	CHECK(vfio_register(&device, 0xffc) == NULL);
	CHECK(vfio_register(&device, 0x1000) != NULL);
	CHECK(vfio_register(&device, 0x1ffc) != NULL);
	CHECK(vfio_register(&device, 0x2000) == NULL);
	CHECK(vfio_register(&device, 0x7ffc) != NULL);
	CHECK(vfio_register(&device, 0x8000) == NULL);
	vfio_write32(&device, 0x6018, 42);
	CHECK_EQUAL(vfio_read32(&device, 0x6018), 42);
	unmap(&device);

	described.info.flags = VFIO_REGION_INFO_FLAG_MMAP;
	CHECK(map(&described, sizeof(described), &device, &error) == 0);
	CHECK_EQUAL(device.area_count, 1);
	CHECK(vfio_register(&device, 0x1fffc) != NULL);
	unmap(&device);

	described.info.flags = 0;
	CHECK(map(&described, sizeof(described), &device, &error) == 0);
	CHECK_EQUAL(device.area_count, 0);
}

static void a_wrong_description_is_refused(void)
{
	struct description described = description();
	struct vfio_device device;
	struct error error;

	for (size_t size = 0; size < sizeof(described); size++) {
		CHECK(map(&described, size, &device, &error) == -1);
		unmap(&device);
	}
	described.areas[1].size = 0x20000;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "outside BAR0");
	unmap(&device);
	described = description();
	described.areas[0].offset = UINT64_MAX - 0xfff;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	unmap(&device);
	described = description();
	described.sparse.nr_areas = UINT32_MAX;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	unmap(&device);
	described = description();
	described.sparse.header.id = 77;
	described.sparse.header.next = offsetof(struct description, sparse);
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "looping");
}

int main(void)
{
	iovas_are_aligned_and_within_the_ranges();
	iovas_end_with_the_address_space();
	an_open_error_names_the_address();
	the_areas_described_are_mapped();
	a_wrong_description_is_refused();
	return 0;
}
