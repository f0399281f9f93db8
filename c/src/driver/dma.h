/*
 * Memory that the device may read and write.
 *
 * The memory lives in a memfd, so that the driver can pass it to a vfio-user server. It is on 2 MiB
 * pages, because one IOMMU entry covers each. With 4 KiB pages the IOMMU costs up to 62 % of the
 * throughput ("User Space Network Drivers", section 6.4).
 */
#ifndef IXGBE_DMA_H
#define IXGBE_DMA_H

#include "vfio/vfio.h"

struct dma_memory {
	struct vfio_container *container;
	void *memory; /* the address for the CPU */
	uint64_t iova; /* the address for the device, a multiple of 2 MiB */
	size_t size; /* bytes, a multiple of the page size */
	int fd;
};

/* Allocates at least `size` bytes of zeroed memory and maps it for the container's devices. */
int dma_alloc(struct vfio_container *container, size_t size, struct dma_memory *dma,
	      struct error *error);

/* Unmaps and frees the memory. The devices must not use it any more. */
void dma_free(struct dma_memory *dma);

#endif
