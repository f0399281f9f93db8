/* Memory that the device may read and write. */
#include "driver/dma.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_SIZE (2ull << 20)

static size_t round_up(size_t size, size_t multiple)
{
	return (size + multiple - 1) / multiple * multiple;
}

int dma_alloc(struct vfio_container *container, size_t size, struct dma_memory *dma,
	      struct error *error)
{
	dma->container = container;
	dma->size = round_up(size, HUGE_PAGE_SIZE);
	dma->memory = vfio_memory_map(dma->size, true, &dma->fd);
	if (dma->memory == NULL) {
		dma->size = round_up(size, (size_t)sysconf(_SC_PAGESIZE));
		container->ordinary_pages = true;
		dma->memory = vfio_memory_map(dma->size, false, &dma->fd);
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
