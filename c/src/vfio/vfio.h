/*
 * Opening a device and sharing memory with it.
 *
 * A device is a PCI function behind the kernel's VFIO ("0000:03:00.0") or the vfio-user socket of
 * a server ("vfio-user:PATH"). Code outside vfio*.c does not know which of the two an open device
 * is.
 *
 * The devices of a container share one view of memory: a mapping holds for all of them, at the
 * same I/O virtual address (IOVA). Open all devices first, then map.
 */
#ifndef IXGBE_VFIO_H
#define IXGBE_VFIO_H

#include "error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VFIO_MAX_DEVICES 8
#define VFIO_MAX_AREAS 8
#define VFIO_MAX_RANGES 16
#define VFIO_ADDRESS_SIZE 128
#define VFIO_MAX_VECTORS 16

/* Regions of a PCI device, as linux/vfio.h numbers them. */
#define VFIO_REGION_BAR0 0
#define VFIO_REGION_CONFIG 7

/*
 * The patience of a container, in milliseconds: how long it waits for its servers, all waits together,
 * for replies and for registers. One millisecond comes back in 20. Each device has a reserve besides.
 *
 * A correct server takes a tenth of a second of it for a start. The waits for a server that starts
 * (connect_timeout_ms) and for the link have limits of their own. patience.c
 */
#define VFIO_PATIENCE_MS 5000
#define VFIO_RESERVE_MS 500

/* IOVAs that may be mapped, both ends included. */
struct iova_range {
	uint64_t first;
	uint64_t last;
};

enum vfio_kind {
	VFIO_KIND_KERNEL,
	VFIO_KIND_USER,
};

/* A part of BAR0 that is mapped into this process. */
struct vfio_area {
	uint64_t offset; /* in BAR0, bytes */
	uint64_t size;   /* bytes */
	volatile uint8_t *memory;
};

/* An access to a region: to a register or to the configuration space. */
struct vfio_access {
	uint32_t region;
	uint32_t offset;
	void *data;
	uint32_t size;
	bool write;
	uint64_t free_us; /* of the wait for the reply, what uses up no patience */
};

struct vfio_device {
	struct vfio_container *container;
	uint64_t reserve_us; /* vfio-user: its patience besides the container's */
	char address[VFIO_ADDRESS_SIZE]; /* as the user wrote it */
	enum vfio_kind kind;
	int fd; /* the kernel's device, or the socket */
	int request_fd; /* kernel: readable when the kernel wants the device back, or -1 */
	int group; /* kernel: index into the container's groups */
	uint32_t area_count;
	uint16_t next_message; /* vfio-user: id of the next message */
	uint64_t bar0_size;
	uint64_t bar0_file_offset; /* kernel: where region 0 starts in fd */
	uint64_t config_file_offset; /* kernel: where region 7 starts in fd */
	struct vfio_area areas[VFIO_MAX_AREAS];
	bool failed; /* an access failed with `failure`. Later accesses fail at once */
	struct error failure;
};

/* An IOMMU group: VFIO assigns and isolates its devices together. */
struct vfio_group {
	int number;
	int fd;
	uint32_t users; /* devices that hold the group. 0 marks a free entry */
};

struct vfio_container {
	int fd; /* /dev/vfio/vfio, or -1 while no kernel device is open */
	struct vfio_group groups[VFIO_MAX_DEVICES];
	uint32_t device_count;
	struct vfio_device *devices[VFIO_MAX_DEVICES];
	uint32_t range_count;
	struct iova_range ranges[VFIO_MAX_RANGES]; /* ascending, disjoint */
	uint64_t next_iova; /* all IOVAs below this one are in use */
	uint32_t map_count; /* the number of mappings */
	bool ordinary_pages; /* some of the memory is not on 2 MiB pages */
	uint32_t
		connect_timeout_ms; /* vfio-user: the longest wait for servers that start, in all */
	uint64_t connect_by_ms; /* the end of that time by the clock, once it has begun */
	uint64_t patience_us; /* vfio-user: what is left of it, when it was refilled */
	uint64_t refilled_us; /* by the clock */
};

/* vfio_open does not wait for a server unless the caller sets connect_timeout_ms afterwards. */
void vfio_container_init(struct vfio_container *container);
void vfio_container_close(struct vfio_container *container);

/*
 * Opens the device at `address` and turns on its memory space. The structure must not move while
 * the device is open.
 */
int vfio_open(struct vfio_container *container, const char *address, struct vfio_device *device,
	      struct error *error);
void vfio_close(struct vfio_device *device);

/*
 * The address of a 4-byte register, or NULL if its page is not mapped. Then vfio_read32 and
 * vfio_write32 reach it.
 */
volatile uint32_t *vfio_register(const struct vfio_device *device, uint32_t offset);

/*
 * Read and write a 4-byte register of BAR0. A failed access marks the device as failed. A failed
 * read returns all ones, like a read of a removed device.
 */
uint32_t vfio_read32(struct vfio_device *device, uint32_t offset);
void vfio_write32(struct vfio_device *device, uint32_t offset, uint32_t value);

/*
 * Writes a tail register that is not mapped. Unlike vfio_write32, it uses up patience only for what it
 * takes beyond VFIO_DOORBELL_MS: while a driver forwards, it waits for doorbells most of the time.
 * It is never inlined: rx_batch and tx_batch would need a larger stack frame for each call.
 */
__attribute__((cold, noinline)) void vfio_ring(struct vfio_device *device, uint32_t offset,
					       uint32_t value);

#define VFIO_DOORBELL_MS 100

/* Read and write 16 bits of the PCI configuration space. */
uint16_t vfio_config_read16(struct vfio_device *device, uint32_t offset);
void vfio_config_write16(struct vfio_device *device, uint32_t offset, uint16_t value);

/*
 * Signals eventfds[i] at each message of MSI-X vector i, at most VFIO_MAX_VECTORS of them. A count of 0
 * switches MSI-X off.
 */
int vfio_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
		     struct error *error);

/* Returns -1 and the reason if any access to the device has failed so far. */
int vfio_check(const struct vfio_device *device, struct error *error);

/*
 * The patience for a device, in microseconds: the full one of a container, what is left of it, and using
 * it up, also by sleeping between two looks at the device. patience.c
 */
void vfio_patience_init(struct vfio_container *container);
uint64_t vfio_patience(struct vfio_device *device);
void vfio_patience_use(struct vfio_device *device, uint64_t waited_us);
void vfio_sleep(struct vfio_device *device, uint32_t microseconds);

/* Returns -1 if the kernel wants the device back: it is being unbound or removed. */
int vfio_check_request(const struct vfio_device *device, struct error *error);

/*
 * Maps a memfd of `size` bytes, on pages of 2 MiB with `huge`. The file keeps this size: a vfio-user server
 * gets it, and an access beyond its end would be a signal. Returns NULL and errno if there is none. memory.c
 */
void *vfio_memory_map(size_t size, bool huge, int *fd);

/*
 * Keeps the pages of the memory too, once the servers have mapped it: F_SEAL_FUTURE_WRITE forbids to free some
 * of them, after which an access could find no huge page. No server may need another mapping. memory.c
 */
int vfio_memory_keep(int fd, void *memory, uint64_t size, struct error *error);

/*
 * Allocates `size` bytes of permitted IOVAs, aligned to `alignment`, which is a power of two.
 * IOVAs are not reused: a container lives as long as its memory.
 */
int vfio_iova_alloc(struct vfio_container *container, uint64_t size, uint64_t alignment,
		    uint64_t *iova, struct error *error);

/* Maps `size` bytes of the file `fd` for all devices at `iova`. `memory` is their address here. */
int vfio_dma_map(struct vfio_container *container, int fd, void *memory, uint64_t iova,
		 uint64_t size, struct error *error);
void vfio_dma_unmap(struct vfio_container *container, uint64_t iova, uint64_t size);

/* The two kinds of device. Only vfio.c calls these functions. */
int vfio_kernel_open(struct vfio_device *device, struct error *error);
void vfio_kernel_close(struct vfio_device *device);
int vfio_kernel_check_request(const struct vfio_device *device, struct error *error);
int vfio_kernel_access(struct vfio_device *device, const struct vfio_access *access,
		       struct error *error);
int vfio_kernel_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
			    struct error *error);
int vfio_kernel_dma_map(struct vfio_container *container, void *memory, uint64_t iova,
			uint64_t size, struct error *error);
void vfio_kernel_dma_unmap(struct vfio_container *container, uint64_t iova, uint64_t size);

int vfio_user_open(struct vfio_device *device, const char *path, struct error *error);
void vfio_user_close(struct vfio_device *device);
int vfio_user_access(struct vfio_device *device, const struct vfio_access *access,
		     struct error *error);
int vfio_user_signal_msix(struct vfio_device *device, const int *eventfds, uint32_t count,
			  struct error *error);
int vfio_user_dma_map(struct vfio_device *device, int fd, uint64_t iova, uint64_t size,
		      struct error *error);
int vfio_user_dma_unmap(struct vfio_device *device, uint64_t iova, uint64_t size,
			struct error *error);

/*
 * Maps the areas of BAR0 that its description permits: those of the sparse-mmap capability, or the
 * whole BAR. `info` is a struct vfio_region_info and its capabilities, `info_size` bytes in all. Every
 * area must be whole pages inside BAR0 and inside the `file_size` bytes of `fd`, and none may overlap.
 * region.c
 *
 * TRUST-BAR-FILE: the file must not become shorter. An access beyond its end is a signal (SIGBUS). The
 * kernel's VFIO does not shorten it, and a server's file must be sealed. vfio_user.c
 */
int vfio_map_bar0(struct vfio_device *device, int fd, uint64_t file_size, const void *info,
		  size_t info_size, struct error *error);

/* Copies `size` bytes at `offset` of a description. Returns -1 if it is too short. region.c */
int vfio_info_read(const void *info, size_t info_size, size_t offset, void *out, size_t size);

/*
 * Moves `*at` from the first capability of a description to that with this id, or to 0 if there is none.
 * Returns -1 if a capability lies before `least`, or outside the description, or if they loop. region.c
 */
int vfio_info_find(const void *info, size_t info_size, size_t least, uint16_t id, size_t *at);

#endif
