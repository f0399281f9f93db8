/*
 * Opening devices, allocating IOVAs, mapping the areas of a region, DMA memory, and what a vfio-user
 * server can do to all that.
 */
#define _GNU_SOURCE
#include "driver/dma.h"
#include "test.h"
#include "vfio/vfio.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
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
	described.info.cap_offset = 8;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "looping");
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t lies[] = {0, 31, 32, UINT32_MAX};

		described = description();
		described.info.argsz = lies[i];
		CHECK(map(&described, sizeof(described), &device, &error) == -1);
		CHECK_CONTAINS(error.text, "truncated");
	}
	described = description();
	described.sparse.header.id = 77;
	described.sparse.header.next = offsetof(struct description, sparse);
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "looping");
}

static void an_area_that_is_not_whole_pages_is_refused(void)
{
	struct description described = description();
	struct vfio_device device;
	struct error error;

	/* mmap takes this area, but register 0x1018 would lie 2 bytes beyond the mapping. */
	described.info.offset = 0xfe6;
	described.areas[0].offset = 0x1a;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "whole pages");
	described = description();
	described.areas[1].size = 0x1800;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "whole pages");
	unmap(&device);
	described = description();
	described.areas[1].offset = 0x1000;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "overlap");
	unmap(&device);
	/* The file has 0x20000 bytes from its beginning. */
	described = description();
	described.info.offset = 0x19000;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "end of the file");
	unmap(&device);
	described.info.offset = UINT64_MAX - 0xfff;
	CHECK(map(&described, sizeof(described), &device, &error) == -1);
	CHECK_CONTAINS(error.text, "end of the file");
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

static unsigned int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int count = 0;

	CHECK(folder != NULL);
	while (readdir(folder) != NULL) {
		count++;
	}
	(void)closedir(folder);
	return count;
}

/* Answers the first message on `listener` with a reply that carries `count` descriptors. */
static void answer_with_descriptors(int listener, unsigned int count)
{
	uint8_t request[512];
	struct {
		uint16_t id;
		uint16_t command;
		uint32_t size;
		uint32_t flags;
		uint32_t error;
		uint16_t version[2];
	} reply = {.command = 1, .size = 20, .flags = 1, .version = {0, 1}};
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(16 * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = &reply, .iov_len = sizeof(reply)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE(count * sizeof(int))};
	int connection = accept(listener, NULL, NULL);

	CHECK(connection >= 0 && read(connection, request, sizeof(request)) > 0);
	memset(&control, 0, sizeof(control));
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (unsigned int i = 0; i < count; i++) {
		memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &listener, sizeof(listener));
	}
	CHECK(sendmsg(connection, &message, 0) == (ssize_t)sizeof(reply));
	(void)close(connection);
}

static void no_descriptor_of_a_reply_stays_open(void)
{
	char folder[] = "/tmp/ixgbe-test-XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char device_address[128];
	struct vfio_container container;
	struct vfio_device device;
	struct error error;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	(void)snprintf(device_address, sizeof(device_address), "vfio-user:%s/socket", folder);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, 1) == 0);
	unsigned int before = open_files();

	/* The receiver has room for two. */
	for (unsigned int count = 1; count <= 16; count++) {
		int status = 0;
		pid_t server = fork();

		CHECK(server >= 0);
		if (server == 0) {
			answer_with_descriptors(listener, count);
			_exit(0);
		}
		vfio_container_init(&container);
		CHECK(vfio_open(&container, device_address, &device, &error) == -1);
		CHECK_CONTAINS(error.text, "file descriptors");
		vfio_container_close(&container);
		CHECK(waitpid(server, &status, 0) == server && status == 0);
		CHECK_EQUAL(open_files(), before);
	}
	(void)close(listener);
	(void)unlink(address.sun_path);
	(void)rmdir(folder);
}

static void dma_memory_keeps_its_size(void)
{
	struct vfio_container container;
	struct dma_memory dma;
	struct error error;

	vfio_container_init(&container);
	CHECK(dma_alloc(&container, 100, &dma, &error) == 0);
	CHECK(ftruncate(dma.fd, 0) == -1 && errno == EPERM);
	CHECK(ftruncate(dma.fd, 1LL << 40) == -1 && errno == EPERM);
	CHECK(fallocate(dma.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)dma.size) ==
		      -1 &&
	      errno == EPERM);
	CHECK(fcntl(dma.fd, F_ADD_SEALS, F_SEAL_WRITE) == -1);
	((uint8_t *)dma.memory)[dma.size - 1] = 1;
	dma_free(&dma);
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
	an_open_error_names_the_address();
	the_areas_described_are_mapped();
	a_wrong_description_is_refused();
	an_area_that_is_not_whole_pages_is_refused();
	a_register_lies_inside_its_area();
	no_descriptor_of_a_reply_stays_open();
	dma_memory_keeps_its_size();
	one_device_does_not_use_up_the_reserve_of_another();
	return 0;
}
