/* Counters (datasheet 8.2.3.23), MAC address and promiscuous mode (7.1.1), and the speed of the link. */
#include "rooms/stats.h"
#include "rooms/health.h"
#include <assert.h>
#include <string.h>

/* 8.2.3.23.71: a register assigns four queues to registers of statistics. */
#define QUEUES_A_REGISTER 4

#define MBIT_PER_SECOND_10G 10000
#define MBIT_PER_SECOND_5G 5000
#define MBIT_PER_SECOND_2_5G 2500
#define MBIT_PER_SECOND_1G 1000
#define MBIT_PER_SECOND_100M 100

/* Reads a 36-bit counter. The low register comes first: a read of the high one clears both. */
static uint64_t counter_read36(struct vfio_device *vfio, uint32_t low_offset, uint32_t high_offset)
{
	uint64_t low = reg_read(vfio, low_offset);
	uint64_t high = reg_read(vfio, high_offset);

	return low | (high & 0xf) << 32;
}

int stats_read(struct device *device, struct device_stats *stats, struct error *error)
{
	struct device_stats *total = &device->stats;
	struct vfio_device *vfio = &device->vfio;
	uint64_t tx_packets = reg_read(vfio, IXGBE_GPTC);
	uint64_t tx_bytes = counter_read36(vfio, IXGBE_GOTCL, IXGBE_GOTCH);
	uint64_t rx_packets = 0;
	uint64_t rx_bytes = 0;

	/* GPRC and GORC would also count the frames for which no descriptor was free. */
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		struct queue_stats queue;

		if (queue_stats_read(device, i, &queue, error) != 0) {
			return -1;
		}
		rx_packets += queue.rx_packets;
		rx_bytes += queue.rx_bytes;
	}
	uint32_t status = reg_read(vfio, IXGBE_STATUS);

	/* Comes first, because a failed read is all ones, too. */
	if (vfio_check(vfio, error) != 0) {
		return -1;
	}
	/* All registers of a removed device read as all ones. */
	if (status == UINT32_MAX) {
		return error_fail(
			error,
			"%s: STATUS reads 0xffffffff: the device is gone; reset it or plug it in "
			"again",
			vfio->address);
	}
	if (vfio_check_request(vfio, error) != 0) {
		return -1;
	}
	total->rx_packets = rx_packets;
	total->rx_bytes = rx_bytes;
	total->tx_packets += tx_packets;
	total->tx_bytes += tx_bytes;
	*stats = *total;
	if (!device->running || device->queues_in_threads) {
		return 0;
	}
	struct error stall;
	int result = 0;

	for (uint32_t i = 0; i < device->config.rx_queues && result == 0; i++) {
		result = rx_check_stall(&device->rx[i], &stall);
	}
	if (vfio_check(&device->vfio, error) != 0) {
		return -1;
	}
	return result == 0 ? 0 : error_fail(error, "%s", stall.text);
}

int stats_init(struct device *device, struct error *error)
{
	/* After the reset, all queues share the first registers of statistics. One queue needs no more. */
	if (device->config.rx_queues > 1 || device->config.tx_queues > 1) {
		for (uint32_t i = 0; i < DEVICE_MAX_QUEUES / QUEUES_A_REGISTER; i++) {
			uint32_t first = i * QUEUES_A_REGISTER;

			reg_write(&device->vfio, IXGBE_RQSMR(i),
				  IXGBE_FIELD(IXGBE_RQSMR_QUEUE0, first) |
					  IXGBE_FIELD(IXGBE_RQSMR_QUEUE1, first + 1) |
					  IXGBE_FIELD(IXGBE_RQSMR_QUEUE2, first + 2) |
					  IXGBE_FIELD(IXGBE_RQSMR_QUEUE3, first + 3));
			reg_write(&device->vfio, IXGBE_TQSM(i),
				  IXGBE_FIELD(IXGBE_TQSM_QUEUE0, first) |
					  IXGBE_FIELD(IXGBE_TQSM_QUEUE1, first + 1) |
					  IXGBE_FIELD(IXGBE_TQSM_QUEUE2, first + 2) |
					  IXGBE_FIELD(IXGBE_TQSM_QUEUE3, first + 3));
		}
		for (uint32_t i = 0; i < DEVICE_MAX_QUEUES; i++) {
			struct queue_stats ignored;

			if (queue_stats_read(device, i, &ignored, error) != 0) {
				return -1;
			}
		}
	}
	struct device_stats ignored;

	if (stats_read(device, &ignored, error) != 0) {
		return -1;
	}
	memset(&device->stats, 0, sizeof(device->stats));
	memset(device->queue_stats, 0, sizeof(device->queue_stats));
	return 0;
}

int queue_stats_read(struct device *device, uint32_t id, struct queue_stats *stats,
		     struct error *error)
{
	struct queue_stats *total = &device->queue_stats[id];
	struct vfio_device *vfio = &device->vfio;

	assert(id < DEVICE_MAX_QUEUES);
	/* QPTC first: in the software card, it brings the counters in the shared pages up to date. */
	uint64_t tx_packets = reg_read(vfio, IXGBE_QPTC(id));
	uint64_t rx_packets = reg_read(vfio, IXGBE_QPRC(id));
	uint64_t rx_dropped = reg_read(vfio, IXGBE_QPRDC(id));
	uint64_t rx_bytes = counter_read36(vfio, IXGBE_QBRC_L(id), IXGBE_QBRC_H(id));
	uint64_t tx_bytes = counter_read36(vfio, IXGBE_QBTC_L(id), IXGBE_QBTC_H(id));

	if (vfio_check(vfio, error) != 0) {
		return -1;
	}
	total->rx_packets += rx_packets;
	total->rx_dropped += rx_dropped;
	total->rx_bytes += rx_bytes;
	total->tx_packets += tx_packets;
	total->tx_bytes += tx_bytes;
	*stats = *total;
	return 0;
}

int mac_read(struct device *device, uint8_t mac[6], struct error *error)
{
	uint32_t low = reg_read(&device->vfio, IXGBE_RAL(0));
	uint32_t high = reg_read(&device->vfio, IXGBE_RAH(0));

	for (uint32_t i = 0; i < 4; i++) {
		mac[i] = (uint8_t)(low >> (8 * i));
	}
	for (uint32_t i = 0; i < 2; i++) {
		mac[4 + i] = (uint8_t)(high >> (8 * i));
	}
	return vfio_check(&device->vfio, error);
}

int mac_write(struct device *device, const uint8_t mac[6], struct error *error)
{
	uint32_t low = (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 |
		       (uint32_t)mac[3] << 24;
	uint32_t high = (uint32_t)mac[4] | (uint32_t)mac[5] << 8;

	/* 8.2.3.7.9: RAH.AV makes the entry valid. A write without AV would make it invalid. */
	reg_write(&device->vfio, IXGBE_RAL(0), low);
	reg_write(&device->vfio, IXGBE_RAH(0), high | IXGBE_RAH_AV);
	if (vfio_check(&device->vfio, error) != 0) {
		return -1;
	}
	memcpy(device->mac, mac, sizeof(device->mac));
	return 0;
}

int promiscuous_set(struct device *device, bool on, struct error *error)
{
	bool receiving = reg_read(&device->vfio, IXGBE_RXCTRL) & IXGBE_RXCTRL_RXEN;

	/* 8.2.3.7.1: FCTRL may change only while RXCTRL.RXEN is 0. */
	if (receiving && enable_rx(&device->vfio, false, error) != 0) {
		return -1;
	}
	if (on) {
		reg_set(&device->vfio, IXGBE_FCTRL, IXGBE_FCTRL_MPE | IXGBE_FCTRL_UPE);
	} else {
		reg_clear(&device->vfio, IXGBE_FCTRL, IXGBE_FCTRL_MPE | IXGBE_FCTRL_UPE);
	}
	if (receiving && enable_rx(&device->vfio, true, error) != 0) {
		return -1;
	}
	if (vfio_check(&device->vfio, error) != 0) {
		return -1;
	}
	device->config.promiscuous = on;
	return 0;
}

int link_speed(struct device *device, uint32_t *speed, struct error *error)
{
	uint32_t links = reg_read(&device->vfio, IXGBE_LINKS);
	/* Other families use this bit for something else. */
	bool nonstandard = device->family == DEVICE_FAMILY_X550 &&
			   links & IXGBE_LINKS_SPEED_NON_STD;

	*speed = 0;
	if (links & IXGBE_LINKS_UP) {
		switch (links & IXGBE_LINKS_SPEED) {
		case IXGBE_LINKS_SPEED_10G:
			*speed = nonstandard ? MBIT_PER_SECOND_2_5G : MBIT_PER_SECOND_10G;
			break;
		case IXGBE_LINKS_SPEED_1G:
			*speed = MBIT_PER_SECOND_1G;
			break;
		case IXGBE_LINKS_SPEED_100M:
			*speed = nonstandard ? MBIT_PER_SECOND_5G : MBIT_PER_SECOND_100M;
			break;
		default:
			break;
		}
	}
	return vfio_check(&device->vfio, error);
}
