/*
 * Memory that the device may read and write.
 *
 * It lives in a memfd, so that it can be handed to a vfio-user server, on 2 MiB
 * pages, so that one IOMMU entry covers it (with 4 KiB pages the IOMMU costs up to
 * 62 % of the throughput, "User Space Network Drivers", section 6.4).
 */
#ifndef IXGBE_DMA_H
#define IXGBE_DMA_H

#include "vfio.h"

struct dma_memory {
	struct vfio_container *container;
	void *memory; /* as the CPU sees it */
	uint64_t iova; /* as the device sees it, a multiple of 2 MiB */
	size_t size; /* bytes, a multiple of the page size */
	int fd;
	bool huge; /* on 2 MiB pages */
};

/* Allocates at least `size` bytes of zeroed memory and maps it for the container's devices. */
int dma_alloc(struct vfio_container *container, size_t size, struct dma_memory *dma,
	      struct error *error);

/* The devices must not use it any more. */
void dma_free(struct dma_memory *dma);

#endif
