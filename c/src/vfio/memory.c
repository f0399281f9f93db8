/* Memory that can be shared with a vfio-user server. */
#define _GNU_SOURCE
#include "vfio/vfio.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* MFD_HUGE_2MB of linux/memfd.h, which conflicts with sys/mman.h. */
#define MEMFD_HUGE_2MB (21u << 26)

/* MADV_POPULATE_WRITE of linux/mman.h, since Linux 5.14. */
#define MADVISE_POPULATE_WRITE 23

void *vfio_memory_map(size_t size, bool huge, int *fd)
{
	unsigned int flags = huge ? MFD_HUGETLB | MEMFD_HUGE_2MB : 0;

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

int vfio_memory_keep(int fd, void *memory, uint64_t size, struct error *error)
{
	int sealed = fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);

	/* Linux before 5.1 does not know the first of the two. */
	if (sealed != 0 && errno == EINVAL) {
		sealed = fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
	}
	/* Brings back pages that a server has freed before. Linux before 5.14 cannot. */
	if (sealed == 0) {
		sealed = madvise(memory, size, MADVISE_POPULATE_WRITE);
		if (sealed != 0 && errno == EINVAL) {
			sealed = 0;
		}
	}
	if (sealed != 0) {
		return error_fail(
			error,
			"cannot keep the pages of DMA memory: %s; did a vfio-user server seal or "
			"free them?",
			strerror(errno));
	}
	return 0;
}
