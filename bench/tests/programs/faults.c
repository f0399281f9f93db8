/*
 * faults MODE [LIBRARY]: uses VFIO as a broken program does. With LIBRARY, a libforwarder.so, it forwards meanwhile.
 * It prints what it saw. The exit status is 0 if the program itself came to its end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT_A "0000:03:00.0"
#define PORT_B "0000:04:00.0"
#define STATUS 0x8 /* a register that can always be read */

static int check(int result, const char *what)
{
	if (result < 0) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
	return result;
}

static int container;
static volatile uint32_t *registers;

static void open_port(void)
{
	struct vfio_region_info region = {.argsz = sizeof(region), .index = VFIO_PCI_BAR0_REGION_INDEX};
	container = check(open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC), "container");
	int group = check(open("/dev/vfio/23", O_RDWR | O_CLOEXEC), "group");
	check(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container), "set container");
	check(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU), "set IOMMU");
	int device = check(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, PORT_A), "device");
	check(ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &region), "region");
	void *bar = mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)region.offset);
	if (bar == MAP_FAILED)
		check(-1, "mmap of BAR 0");
	registers = bar;
}

/* Maps memory for DMA. Returns the error. */
static int map_dma(void *memory, uint64_t iova, uint64_t size)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)memory,
		.iova = iova,
		.size = size,
	};
	return ioctl(container, VFIO_IOMMU_MAP_DMA, &map) ? errno : 0;
}

static void *reserve(uint64_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory == MAP_FAILED)
		check(-1, "mmap");
	return memory;
}

typedef void *(*open_function)(const char *, const char *, uint32_t, uint32_t, uint32_t, uint32_t, char *, size_t);
typedef uint32_t (*turn_function)(void *);

static turn_function turn;
static void *forwarder;

static void open_forwarder(const char *library)
{
	char message[1024] = "";
	void *handle = dlopen(library, RTLD_NOW);
	if (!handle) {
		printf("%s\n", dlerror());
		exit(1);
	}
	open_function open_it = (open_function)dlsym(handle, "forwarder_open");
	turn = (turn_function)dlsym(handle, "forwarder_turn");
	forwarder = open_it(PORT_A, PORT_B, 32, 512, 0, 5000, message, sizeof(message));
	if (!forwarder) {
		printf("%s\n", message);
		exit(1);
	}
}

static uint64_t forward_for(double seconds)
{
	struct timespec start, now;
	uint64_t packets = 0;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		packets += turn(forwarder);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
	return packets;
}

/* Unmaps all memory from the container, while the card uses it. */
static void unmap_all(void)
{
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap), .flags = VFIO_DMA_UNMAP_FLAG_ALL};
	for (int fd = 3; fd < 256; fd++) {
		if (!ioctl(fd, VFIO_IOMMU_UNMAP_DMA, &unmap))
			printf("unmapped\n");
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2) {
		open_forwarder(argv[2]);
		printf("forwarded %d\n", forward_for(0.3) > 0);
	} else {
		open_port();
	}
	if (!strcmp(mode, "die")) {
		raise(SIGSEGV);
	} else if (!strcmp(mode, "abort")) {
		abort();
	} else if (!strcmp(mode, "hang")) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		for (;;)
			forwarder ? (void)turn(forwarder) : (void)registers[STATUS / 4];
	} else if (!strcmp(mode, "fork")) {
		pid_t child = check(fork(), "fork");
		if (child == 0)
			_exit(3);
		int status = 0;
		waitpid(child, &status, 0);
		printf("child %d, parent reads %d\n", WEXITSTATUS(status), registers[STATUS / 4] != UINT32_MAX);
	} else if (!strcmp(mode, "exec")) {
		execl(argv[0], argv[0], "open", NULL);
		check(-1, "exec");
	} else if (!strcmp(mode, "open")) {
		printf("status %d\n", registers[STATUS / 4] != UINT32_MAX);
	} else if (!strcmp(mode, "large")) {
		uint64_t size = 1ull << 40;
		/* From 1 MiB on, the range holds the addresses of interrupts. From 4 GiB on, it does not. */
		printf("1 TiB at 1 MiB: %s\n", strerror(map_dma(reserve(size), 1 << 20, size)));
		printf("1 TiB at 4 GiB: %s\n", strerror(map_dma(reserve(size), 1ull << 32, size)));
	} else if (!strcmp(mode, "limit")) {
		printf("2 MiB: %s\n", strerror(map_dma(reserve(2 << 20), 1 << 20, 2 << 20)));
	} else if (!strcmp(mode, "unmap")) {
		unmap_all();
		forward_for(0.3);
		printf("went on\n");
	} else if (!strcmp(mode, "close")) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		forward_for(0.3);
		printf("went on\n");
	}
	return 0;
}
