/* Allocating IOVAs, finding a register in an area, and the patience for servers. */
#include "test.h"
#include "vfio/vfio.h"
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

static void a_closed_device_has_no_mappings(void)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vfio_container container;
	struct vfio_device device = {
		.container = &container,
		.kind = VFIO_KIND_USER,
		.fd = -1,
		.area_count = 1,
		.areas = {{.size = size, .memory = page}},
	};

	CHECK(page != MAP_FAILED);
	vfio_container_init(&container);
	CHECK_EQUAL(msync(page, size, MS_ASYNC), 0);
	vfio_close(&device);
	/* msync fails where nothing is mapped. */
	CHECK_EQUAL(msync(page, size, MS_ASYNC), -1);
	CHECK(vfio_register(&device, 0) == NULL);
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
	a_register_lies_inside_its_area();
	a_closed_device_has_no_mappings();
	one_device_does_not_use_up_the_reserve_of_another();
	return 0;
}
