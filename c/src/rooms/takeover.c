/* What an earlier driver has left in a device. */
#include "rooms/takeover.h"
#include "clock.h"
#include "driver/reset.h"

/* 5.2.5.3.2: how long GCR_EXT.BUFFERS_CLEAR must be set to flush the internal buffers. */
#define FLUSH_US 20

/* 4.6.7.1.2: disables the receive queues that an earlier driver left enabled. */
static int disable_old_rx_queues(struct vfio_device *vfio, struct error *error)
{
	for (uint32_t i = 0; i < IXGBE_RXDCTL_COUNT; i++) {
		if (!(reg_read(vfio, IXGBE_RXDCTL(i)) & IXGBE_RXDCTL_ENABLE)) {
			continue;
		}
		reg_clear(vfio, IXGBE_RXDCTL(i), IXGBE_RXDCTL_ENABLE);
		if (reg_wait(vfio, IXGBE_RXDCTL(i), IXGBE_RXDCTL_ENABLE, 0, "RXDCTL.ENABLE",
			     error) != 0) {
			return -1;
		}
	}
	return vfio_check(vfio, error);
}

/* 5.2.5.3.2: flushes the data path, with sending and receiving inhibited. */
static void flush_data_path(struct vfio_device *vfio)
{
	reg_set(vfio, IXGBE_HLREG0, IXGBE_HLREG0_LPBK);
	reg_clear(vfio, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	reg_set(vfio, IXGBE_GCR_EXT, IXGBE_GCR_EXT_BUFFERS_CLEAR);
	sleep_us(FLUSH_US);
	reg_clear(vfio, IXGBE_HLREG0, IXGBE_HLREG0_LPBK);
	reg_clear(vfio, IXGBE_GCR_EXT, IXGBE_GCR_EXT_BUFFERS_CLEAR);
}

int end_requests(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	struct error pending;

	disable_interrupts(vfio);
	bool ended = disable_old_rx_queues(vfio, &pending) == 0;

	/* DEVIATION-PENDING: a time-out is enough. The driver does not read Transactions Pending. */
	ended = disable_master(vfio, &pending) == 0 && ended;
	if (!ended && !vfio->failed) {
		flush_data_path(vfio);
		return reset_device(device, error);
	}
	return vfio_check(vfio, error);
}

void clear_tables(struct vfio_device *vfio)
{
	/* The reset makes address filters 1 and up invalid. It does not clear these tables. */
	for (uint32_t i = 0; i < IXGBE_PFUTA_COUNT; i++) {
		reg_write(vfio, IXGBE_PFUTA(i), 0);
	}
	for (uint32_t i = 0; i < IXGBE_MTA_COUNT; i++) {
		reg_write(vfio, IXGBE_MTA(i), 0);
	}
	for (uint32_t i = 0; i < IXGBE_VFTA_COUNT; i++) {
		reg_write(vfio, IXGBE_VFTA(i), 0);
	}
	/* 8.2.3.10.13, 8.2.3.10.16: nor the rate limits that a packet generator may have set. */
	for (uint32_t i = 0; i < IXGBE_TXDCTL_COUNT; i++) {
		reg_write(vfio, IXGBE_RTTDQSEL, i);
		reg_write(vfio, IXGBE_RTTBCNRC, 0);
	}
}
