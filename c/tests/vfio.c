/* Allocating IOVAs, mapping the areas of a region, and the patience for servers. */
#define _GNU_SOURCE
#include "test.h"
#include "vfio/vfio.h"
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

struct description {
	struct vfio_region_info info;
	struct vfio_region_info_cap_sparse_mmap sparse;
	struct vfio_region_sparse_mmap_area areas[2];
};

static struct description description(void)
{
	return (struct description){
		.info = {.argsz = sizeof(struct description),
			 .flags = VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS,
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
	int result = vfio_map_bar0(device, fd, 0x20000, described, size, error);

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

static void a_register_lies_inside_its_area(void)
{
	uint8_t memory[8] = {0};
	struct vfio_device device = {
		.area_count = 1,
		.areas = {{.offset = 0x1000, .size = 6, .memory = memory}},
	};

	CHECK(vfio_register(&device, 0x1000) == (volatile uint32_t *)memory);
	CHECK(vfio_register(&device, 0x1001) == NULL);
	CHECK(vfio_register(&device, 0x1004) == NULL);
	CHECK(vfio_register(&device, 0xffc) == NULL);
}

static void one_device_does_not_use_up_the_reserve_of_another(void)
{
	struct vfio_container container;
	struct vfio_device devices[2];
	struct vfio_device kernel = {.container = &container, .kind = VFIO_KIND_KERNEL};
	const uint64_t reserve = VFIO_RESERVE_MS * 1000ULL;

	vfio_container_init(&container);
	for (uint32_t i = 0; i < 2; i++) {
		devices[i] = (struct vfio_device){
			.container = &container,
			.kind = VFIO_KIND_USER,
			.reserve_us = VFIO_RESERVE_MS * 1000ULL,
		};
	}
	CHECK_EQUAL(vfio_patience(&devices[0]), VFIO_PATIENCE_MS * 1000ULL + reserve);
	vfio_patience_use(&devices[0], 100000000);
	CHECK(vfio_patience(&devices[0]) < 100000);
	CHECK(vfio_patience(&devices[1]) >= reserve);
	CHECK(vfio_patience(&devices[1]) < reserve + 100000);
	vfio_patience_use(&kernel, 100000000);
	CHECK_EQUAL(vfio_patience(&kernel), UINT64_MAX);
	/* After 20 s, a second is back. */
	container.patience_us = 0;
	container.refilled_us -= 20000000;
	CHECK(vfio_patience(&devices[1]) >= reserve + 1000000);
	CHECK(vfio_patience(&devices[1]) < reserve + 1100000);
	container.refilled_us = 0;
	CHECK(vfio_patience(&devices[1]) <= VFIO_PATIENCE_MS * 1000ULL + reserve);
}

int main(void)
{
	iovas_are_aligned_and_within_the_ranges();
	iovas_end_with_the_address_space();
	the_areas_described_are_mapped();
	a_register_lies_inside_its_area();
	one_device_does_not_use_up_the_reserve_of_another();
	return 0;
}
