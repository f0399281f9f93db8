/* A port of an 82599 (or X540, X550): opening it, releasing its memory, closing it. */
#include "driver/device.h"
#include "driver/device_ids.h"
#include <stdlib.h>
#include <string.h>

/* Checks that this driver knows the open device. */
static int identify(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	uint16_t vendor = vfio_config_read16(vfio, IXGBE_PCI_VENDOR_ID);
	uint16_t id = vfio_config_read16(vfio, IXGBE_PCI_DEVICE_ID);
	const struct ixgbe_device_id *known = NULL;

	for (size_t i = 0; i < IXGBE_DEVICE_ID_COUNT; i++) {
		if (ixgbe_device_ids[i].id == id) {
			known = &ixgbe_device_ids[i];
		}
	}
	if (vfio_check(vfio, error) != 0) {
		return -1;
	}
	if (vendor != IXGBE_PCI_VENDOR_ID_INTEL || known == NULL) {
		error_set(error,
			  "%s: device %04x:%04x is not an Intel 82599, X540 or X550; "
			  "this driver supports no other",
			  vfio->address, vendor, id);
		return -1;
	}
	if (known->refused != NULL) {
		error_set(error, "%s: device %04x:%04x, %s, is not supported, because %s",
			  vfio->address, vendor, id, known->name, known->refused);
		return -1;
	}
	device->family = known->family;
	return 0;
}

int device_open(struct device *device, struct vfio_container *container, const char *address,
		struct error *error)
{
	memset(device, 0, sizeof(*device));
	if (vfio_open(container, address, &device->vfio, error) != 0) {
		return -1;
	}
	if (identify(device, error) != 0) {
		vfio_close(&device->vfio);
		return -1;
	}
	return 0;
}

void device_release(struct device *device)
{
	for (uint32_t i = 0; i < DEVICE_MAX_QUEUES; i++) {
		struct rx_queue *rx = &device->rx[i];
		struct tx_queue *tx = &device->tx[i];

		/*
		 * The device is stopped, so the packets in the rings are ours again. Backwards, so that a new start takes
		 * them in the same order.
		 */
		for (uint32_t j = rx->mask + 1; rx->packets != NULL && j > 0; j--) {
			if (rx->packets[j - 1] != NULL) {
				packet_free(rx->packets[j - 1]);
			}
		}
		for (uint32_t j = tx->clean_index; tx->packets != NULL && j != tx->index;
		     j = (j + 1) & tx->mask) {
			packet_free(tx->packets[j]);
		}
		free((void *)rx->packets);
		free((void *)tx->packets);
		dma_free(&rx->dma);
		dma_free(&tx->dma);
		/* The next start begins at descriptor 0. */
		memset(rx, 0, sizeof(*rx));
		memset(tx, 0, sizeof(*tx));
	}
}

void device_close(struct device *device)
{
	vfio_close(&device->vfio);
}
