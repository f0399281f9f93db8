/* Memory that the device may read and write. */
#define _GNU_SOURCE
#include "driver/dma.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_SIZE (2ull << 20)

/* MFD_HUGE_2MB of linux/memfd.h, which conflicts with sys/mman.h. */
#define MEMFD_HUGE_2MB (21u << 26)

/* MADV_POPULATE_WRITE of linux/mman.h, since Linux 5.14. */
#define MADVISE_POPULATE_WRITE 23

static size_t round_up(size_t size, size_t multiple)
{
	return (size + multiple - 1) / multiple * multiple;
}

/*
 * Maps a memfd of `size` bytes, which keeps this size: a vfio-user server gets the file, and an access
 * beyond its end would be a signal. Returns NULL and errno if there is none with these flags.
 */
static void *map_memfd(size_t size, unsigned int flags, int *fd)
{
	*fd = memfd_create("ixgbe-dma", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	if (*fd < 0) {
		return NULL;
	}
	if (ftruncate(*fd, (off_t)size) == 0 &&
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
		void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
				    *fd, 0);

		if (memory != MAP_FAILED) {
			return memory;
		}
	}
	int cause = errno;

	(void)close(*fd);
	*fd = -1;
	errno = cause;
	return NULL;
}

/*
 * Keeps the pages of the memory too, once the servers have mapped it: F_SEAL_FUTURE_WRITE forbids to free
 * some of them, after which an access could find no huge page. No server may need another mapping.
 */
static int keep_pages(const struct dma_memory *dma, struct error *error)
{
	int sealed = fcntl(dma->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);

	/* Linux before 5.1 does not know the first of the two. */
	if (sealed != 0 && errno == EINVAL) {
		sealed = fcntl(dma->fd, F_ADD_SEALS, F_SEAL_SEAL);
	}
	/* Brings back pages that a server has freed before. Linux before 5.14 cannot. */
	if (sealed == 0) {
		sealed = madvise(dma->memory, dma->size, MADVISE_POPULATE_WRITE);
		if (sealed != 0 && errno == EINVAL) {
			sealed = 0;
		}
	}
	if (sealed != 0) {
		error_set(error,
			  "cannot keep the pages of DMA memory: %s; did a vfio-user server seal or "
			  "free them?",
			  strerror(errno));
		return -1;
	}
	return 0;
}

int dma_alloc(struct vfio_container *container, size_t size, struct dma_memory *dma,
	      struct error *error)
{
	dma->container = container;
	dma->size = round_up(size, HUGE_PAGE_SIZE);
	dma->huge = true;
	dma->memory = map_memfd(dma->size, MFD_HUGETLB | MEMFD_HUGE_2MB, &dma->fd);
	if (dma->memory == NULL) {
		dma->size = round_up(size, (size_t)sysconf(_SC_PAGESIZE));
		dma->huge = false;
		container->ordinary_pages = true;
		dma->memory = map_memfd(dma->size, 0, &dma->fd);
	}
	if (dma->memory == NULL) {
		error_set(error, "cannot allocate %zu bytes of DMA memory: %s", dma->size,
			  strerror(errno));
		return -1;
	}
	if (vfio_iova_alloc(container, dma->size, HUGE_PAGE_SIZE, &dma->iova, error) != 0 ||
	    vfio_dma_map(container, dma->fd, dma->memory, dma->iova, dma->size, error) != 0) {
		(void)munmap(dma->memory, dma->size);
		(void)close(dma->fd);
		dma->memory = NULL;
		return -1;
	}
	if (keep_pages(dma, error) != 0) {
		dma_free(dma);
		return -1;
	}
	return 0;
}

void dma_free(struct dma_memory *dma)
{
	if (dma->memory == NULL) {
		return;
	}
	vfio_dma_unmap(dma->container, dma->iova, dma->size);
	(void)munmap(dma->memory, dma->size);
	(void)close(dma->fd);
	dma->memory = NULL;
}
