/* The client of the C driver, as an application uses it: open, read and write registers, map memory, close. */
#include "driver/dma.h"
#include "vfio/vfio.h"
#include <string.h>

void fuzz_client(const char *address);

void fuzz_client(const char *address)
{
	/* In mapped areas, in pages that are not mapped, and at the end of BAR0. */
	static const uint32_t OFFSETS[] = {0x0, 0x1000, 0x1014, 0x1018, 0x1ffc, 0x6018, 0x6ffc, 0x1fffc};
	struct vfio_container container;
	struct vfio_device device;
	struct dma_memory memory;
	struct error error;

	memset(&device, 0, sizeof(device));
	vfio_container_init(&container);
	if (vfio_open(&container, address, &device, &error) != 0) {
		vfio_container_close(&container);
		return;
	}
	for (size_t i = 0; i < sizeof(OFFSETS) / sizeof(OFFSETS[0]); i++) {
		volatile uint32_t *mapped = vfio_register(&device, OFFSETS[i]);

		if (mapped != NULL) {
			*mapped = *mapped + 1;
		}
		vfio_write32(&device, OFFSETS[i], vfio_read32(&device, OFFSETS[i]));
	}
	(void)vfio_config_read16(&device, 0);
	if (dma_alloc(&container, 4096, &memory, &error) == 0) {
		dma_free(&memory);
	}
	vfio_close(&device);
	vfio_container_close(&container);
}
