/*
 * Starting and stopping a device, in the order of the datasheet's section 4.6.3 "Initialization
 * Sequence". Each function names its section. DEVIATION-... and TRUST-... are names of rows in
 * drivers/ASSUMPTIONS.md.
 */
#include "clock.h"
#include "driver/device.h"
#include "driver/link.h"
#include "driver/reset.h"
#include <stdlib.h>

/* 4.6.7.1.2: a disabled queue may write back for this long. */
#define RX_DISABLE_SETTLE_US 100

/* 4.6.11.3.4: packet buffers in KiB, without DCB and virtualization. X540 and X550 have less. */
#define RX_PACKET_BUFFER_KB_82599 512
#define RX_PACKET_BUFFER_KB_X540 384
#define TX_PACKET_BUFFER_KB 160
#define TX_MAX_PACKET_KB 2

/* 3.7.7.3.2: without flow control, this much of the buffer lies above the XOFF threshold. */
#define FLOW_CONTROL_RESERVE_KB 24

/*
 * 7.2.3.4.1: PTHRESH + WTHRESH must not exceed the 40 on-chip descriptors. These are the values of
 * the published measurements. The device writes back 4 descriptors at once, a cache line, so it
 * needs a quarter of the PCIe writes that WTHRESH 0 needs.
 */
#define TX_PREFETCH_THRESHOLD 36
#define TX_HOST_THRESHOLD 8
#define TX_WRITE_BACK_THRESHOLD 4

#define RX_BUFFER_KB (PACKET_BUFFER_SIZE / 1024)

/* 4.6.11.3.4: the size of the memory for received packets, in KiB. */
static uint32_t rx_packet_buffer_kb(const struct device *device)
{
	return device->family == DEVICE_FAMILY_82599 ? RX_PACKET_BUFFER_KB_82599 :
						       RX_PACKET_BUFFER_KB_X540;
}

/* 4.6.3.2 General configuration: flow control and no-snoop off. */
static int init_general(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;

	/*
	 * 3.7.7.3.2, 8.2.3.3: no flow control. The XOFF threshold is needed all the same, because
	 * it also limits the packets that the device switches from TX to RX.
	 */
	reg_write(vfio, IXGBE_FCCFG, 0);
	reg_clear(vfio, IXGBE_MFLCN, IXGBE_MFLCN_RFCE | IXGBE_MFLCN_RPFCE);
	reg_write(vfio, IXGBE_FCRTL(0), 0);
	reg_write(vfio, IXGBE_FCRTH(0),
		  (rx_packet_buffer_kb(device) - FLOW_CONTROL_RESERVE_KB) * 1024);

	/*
	 * 5.2.5.3.1: no-snoop stays off, because descriptors and packets are in cached memory. 8.2.3.1.3: DRV_LOAD
	 * tells firmware that a driver has the port.
	 */
	reg_set(vfio, IXGBE_CTRL_EXT, IXGBE_CTRL_EXT_NS_DIS | IXGBE_CTRL_EXT_DRV_LOAD);
	return vfio_check(vfio, error);
}

/* 4.6.7: sets which frames are let in. RXCTRL.RXEN is 0 since the reset, as FCTRL demands. */
static void init_filters(struct device *device)
{
	struct vfio_device *vfio = &device->vfio;

	reg_set(vfio, IXGBE_FCTRL, IXGBE_FCTRL_BAM);
	if (device->config.promiscuous) {
		reg_set(vfio, IXGBE_FCTRL, IXGBE_FCTRL_MPE | IXGBE_FCTRL_UPE);
	}
}

/* Allocates the descriptors of a ring, and the table of its packets. */
static int ring_alloc(const struct vfio_device *vfio, uint32_t size, struct packet ***packets,
		      struct dma_memory *dma, struct error *error)
{
	*packets = calloc(size, sizeof(struct packet *));
	if (*packets == NULL) {
		error_set(error, "%s: out of memory for a ring", vfio->address);
		return -1;
	}
	return dma_alloc(vfio->container, size * sizeof(struct descriptor), dma, error);
}

/* 4.6.7 Receive initialization: one ring. */
static int init_rx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	struct rx_queue *queue = &device->rx[id];
	uint32_t size = device->config.rx_ring_size;

	queue->vfio = vfio;
	queue->id = id;
	queue->pool = &device->pools[id];
	queue->mask = size - 1;
	queue->suspect = RX_NO_SUSPECT;
	queue->tail_offset = IXGBE_RDT(id);
	queue->tail = vfio_register(vfio, queue->tail_offset);
	if (ring_alloc(vfio, size, &queue->packets, &queue->dma, error) != 0) {
		return -1;
	}
	queue->ring = queue->dma.memory;
	for (uint32_t i = 0; i < size; i++) {
		struct packet *packet = packet_alloc(queue->pool);

		if (packet == NULL) {
			error_set(error, "%s: the pool has too few packets to fill RX queue %u",
				  vfio->address, id);
			return -1;
		}
		queue->packets[i] = packet;
		dma_store64(&queue->ring[i].lower, packet->iova);
		dma_store64(&queue->ring[i].upper, 0);
	}

	reg_write(vfio, IXGBE_RDBAL(id), (uint32_t)queue->dma.iova);
	reg_write(vfio, IXGBE_RDBAH(id), (uint32_t)(queue->dma.iova >> 32));
	reg_write(vfio, IXGBE_RDLEN(id), size * (uint32_t)sizeof(struct descriptor));
	reg_write(vfio, IXGBE_RDH(id), 0);
	reg_write(vfio, IXGBE_RDT(id), 0);
	/*
	 * 8.2.3.8.7: one buffer a frame. BSIZEPACKET counts in KiB, so 2 KiB must do although the
	 * headroom leaves 1984 bytes. TRUST-FRAME-SIZE: with HLREG0.JUMBOEN = 0 no frame is longer
	 * than 1522 bytes. DROP_EN drops a frame for which the queue has no descriptor, so that it
	 * does not block the other queues.
	 */
	reg_write_field(vfio, IXGBE_SRRCTL(id),
			IXGBE_SRRCTL_BSIZEPACKET | IXGBE_SRRCTL_DESCTYPE | IXGBE_SRRCTL_DROP_EN,
			IXGBE_FIELD(IXGBE_SRRCTL_BSIZEPACKET, RX_BUFFER_KB) |
				IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER | IXGBE_SRRCTL_DROP_EN);
	/*
	 * 8.2.3.11.1: bit 12 is 1 after a reset and must be written as 0. The device writes packets
	 * and descriptors in order: a DD must not overtake the data that it stands for.
	 */
	reg_clear(vfio, IXGBE_DCA_RXCTRL(id),
		  IXGBE_DCA_RXCTRL_RESERVED_12 | IXGBE_DCA_RXCTRL_DATA_WRO_EN |
			  IXGBE_DCA_RXCTRL_HEAD_WRO_EN);

	/* 4.6.7.1.1: enable the queue first. A tail written before that is lost. */
	reg_set(vfio, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE);
	if (reg_wait(vfio, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE, IXGBE_RXDCTL_ENABLE,
		     "RXDCTL.ENABLE", error) != 0) {
		return -1;
	}
	/* Orders the writes of the descriptors above before the write of RDT. */
	dma_write_barrier();
	/* All descriptors but one: see rx.h for the reason. */
	tail_write(vfio, queue->tail, IXGBE_RDT(id), size - 1);
	return vfio_check(vfio, error);
}

/* 4.6.7 Receive initialization. */
static int init_receive(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;

	init_filters(device);
	/* 4.6.11.3.4: packet buffer 0 gets all of the memory. */
	reg_write(vfio, IXGBE_RXPBSIZE(0),
		  IXGBE_FIELD(IXGBE_RXPBSIZE_SIZE, rx_packet_buffer_kb(device)));
	for (uint32_t i = 1; i < IXGBE_RXPBSIZE_COUNT; i++) {
		reg_write(vfio, IXGBE_RXPBSIZE(i), 0);
	}
	/* The device strips the CRC, by two bits that must agree. No jumbo frames. */
	reg_write_field(vfio, IXGBE_HLREG0, IXGBE_HLREG0_RXCRCSTRP | IXGBE_HLREG0_JUMBOEN,
			IXGBE_HLREG0_RXCRCSTRP);
	/* 8.2.3.8.8: RSCFRSTSIZE must be 0, RSCACKC and FCOE_WRFIX must be 1. */
	reg_write_field(vfio, IXGBE_RDRXCTL,
			IXGBE_RDRXCTL_CRCSTRIP | IXGBE_RDRXCTL_RSCFRSTSIZE | IXGBE_RDRXCTL_RSCACKC |
				IXGBE_RDRXCTL_FCOE_WRFIX,
			IXGBE_RDRXCTL_CRCSTRIP | IXGBE_RDRXCTL_RSCACKC | IXGBE_RDRXCTL_FCOE_WRFIX);
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		if (init_rx_queue(device, i, error) != 0) {
			return -1;
		}
	}
	return enable_rx(vfio, true, error);
}

/* 4.6.8 Transmit initialization: one ring. */
static int init_tx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	struct tx_queue *queue = &device->tx[id];
	uint32_t size = device->config.tx_ring_size;
	/* 7.2.3.4.1: with WTHRESH 0 the device writes back only descriptors with RS. */
	uint32_t threshold = device->config.tx_sparse_rs ? 0 : TX_WRITE_BACK_THRESHOLD;

	queue->vfio = vfio;
	queue->id = id;
	queue->mask = size - 1;
	queue->tail_offset = IXGBE_TDT(id);
	queue->tail = vfio_register(vfio, queue->tail_offset);
	if (ring_alloc(vfio, size, &queue->packets, &queue->dma, error) != 0) {
		return -1;
	}
	queue->ring = queue->dma.memory;

	/* X550 datasheet 4.6.8.1: DMATXCTL.TE has enabled queue 0. Its ring may change only while off. */
	reg_clear(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE);
	if (reg_wait(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE, 0, "TXDCTL.ENABLE", error) != 0) {
		return -1;
	}
	reg_write(vfio, IXGBE_TDBAL(id), (uint32_t)queue->dma.iova);
	reg_write(vfio, IXGBE_TDBAH(id), (uint32_t)(queue->dma.iova >> 32));
	reg_write(vfio, IXGBE_TDLEN(id), size * (uint32_t)sizeof(struct descriptor));
	reg_write(vfio, IXGBE_TDH(id), 0);
	reg_write(vfio, IXGBE_TDT(id), 0);
	reg_write_field(vfio, IXGBE_TXDCTL(id),
			IXGBE_TXDCTL_PTHRESH | IXGBE_TXDCTL_HTHRESH | IXGBE_TXDCTL_WTHRESH,
			IXGBE_FIELD(IXGBE_TXDCTL_PTHRESH, TX_PREFETCH_THRESHOLD) |
				IXGBE_FIELD(IXGBE_TXDCTL_HTHRESH, TX_HOST_THRESHOLD) |
				IXGBE_FIELD(IXGBE_TXDCTL_WTHRESH, threshold));
	/* 8.2.3.11.2: descriptors are written back in order, as TRUST-TX-ORDER needs it. */
	reg_clear(vfio, IXGBE_DCA_TXCTRL(id), IXGBE_DCA_TXCTRL_DESC_WRO_EN);

	/* 4.6.8.1.1: enable the queue. */
	reg_set(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE);
	return reg_wait(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE, IXGBE_TXDCTL_ENABLE,
			"TXDCTL.ENABLE", error);
}

/* 4.6.8 Transmit initialization. */
static int init_transmit(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;

	/* The device adds the CRC and pads short frames. */
	reg_set(vfio, IXGBE_HLREG0, IXGBE_HLREG0_TXCRCEN | IXGBE_HLREG0_TXPADEN);
	/* 4.6.8: halt the arbiter while the packet buffers change (4.6.11.3.4). */
	reg_set(vfio, IXGBE_RTTDCS, IXGBE_RTTDCS_ARBDIS);
	reg_write(vfio, IXGBE_DTXMXSZRQ, IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ);
	reg_write(vfio, IXGBE_TXPBSIZE(0), IXGBE_FIELD(IXGBE_TXPBSIZE_SIZE, TX_PACKET_BUFFER_KB));
	reg_write(vfio, IXGBE_TXPBTHRESH(0), TX_PACKET_BUFFER_KB - TX_MAX_PACKET_KB);
	for (uint32_t i = 1; i < IXGBE_TXPBSIZE_COUNT; i++) {
		reg_write(vfio, IXGBE_TXPBSIZE(i), 0);
		reg_write(vfio, IXGBE_TXPBTHRESH(i), 0);
	}
	reg_write(vfio, IXGBE_MTQC, 0);
	reg_clear(vfio, IXGBE_RTTDCS, IXGBE_RTTDCS_ARBDIS);
	/* 8.2.3.9.2: set TE before the first queue is enabled. */
	reg_set(vfio, IXGBE_DMATXCTL, IXGBE_DMATXCTL_TE);
	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		if (init_tx_queue(device, i, error) != 0) {
			return -1;
		}
	}
	return vfio_check(vfio, error);
}

static bool is_ring_size(uint32_t size)
{
	return size >= DEVICE_MIN_RING_SIZE && size <= DEVICE_MAX_RING_SIZE &&
	       (size & (size - 1)) == 0;
}

static int check_config(const struct device *device, struct error *error)
{
	const struct device_config *config = &device->config;

	if (config->rx_queues < 1 || config->rx_queues > DEVICE_MAX_QUEUES ||
	    config->tx_queues < 1 || config->tx_queues > DEVICE_MAX_QUEUES) {
		error_set(error, "%s: %u RX and %u TX queues are out of range, 1 to %d each",
			  device->vfio.address, config->rx_queues, config->tx_queues,
			  DEVICE_MAX_QUEUES);
		return -1;
	}
	uint32_t size = is_ring_size(config->rx_ring_size) ? config->tx_ring_size :
							     config->rx_ring_size;

	if (!is_ring_size(size)) {
		error_set(error,
			  "%s: the number of descriptors is a power of two, %d to %d, not %u",
			  device->vfio.address, DEVICE_MIN_RING_SIZE, DEVICE_MAX_RING_SIZE, size);
		return -1;
	}
	return 0;
}

int device_reset(struct device *device, const struct device_config *config, struct mempool *pools,
		 struct error *error)
{
	if (device->running) {
		error_set(error, "%s: the device is running already", device->vfio.address);
		return -1;
	}
	/* Frees the rings of an earlier start. */
	device_release(device);
	device->config = *config;
	device->pools = pools;
	if (check_config(device, error) != 0 || reset_device(device, error) != 0 ||
	    init_general(device, error) != 0) {
		return -1;
	}
	return wait_until_ready(&device->vfio, error);
}

int device_init(struct device *device, struct error *error)
{
	if (device->family == DEVICE_FAMILY_82599) {
		link_init(&device->vfio);
	}
	/* Without bus mastering, the device cannot fetch descriptors. */
	set_bus_master(&device->vfio, true);
	if (init_receive(device, error) != 0 || init_transmit(device, error) != 0) {
		/* The device must not access memory that the caller is about to free. */
		set_bus_master(&device->vfio, false);
		return -1;
	}
	device->running = true;
	return 0;
}

int device_start(struct device *device, const struct device_config *config, struct mempool *pools,
		 struct error *error)
{
	if (device_reset(device, config, pools, error) != 0) {
		return -1;
	}
	return device_init(device, error);
}

/* 4.6.8.1.2: disables a TX queue once it is empty. */
static int stop_tx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	struct tx_queue *queue = &device->tx[id];
	/*
	 * 7.2.3.4.2: SWFLSH writes back the descriptors that WTHRESH holds back. TDH may move only with
	 * write-backs, and packets that are sent after a flush are held back again.
	 */
	int result = reg_wait_setting(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_SWFLSH, IXGBE_TDH(id),
				      IXGBE_TDH_TDH, queue->index,
				      "TDH (the packets left in the TX ring were not sent)", error);
	struct error later;

	reg_write_field(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE | IXGBE_TXDCTL_SWFLSH,
			IXGBE_TXDCTL_SWFLSH);
	if (reg_wait(vfio, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE, 0, "TXDCTL.ENABLE",
		     result == 0 ? error : &later) != 0) {
		result = -1;
	}
	if (!device->config.tx_sparse_rs) {
		tx_reclaim(queue);
		return result;
	}
	/* DD never shows the packets behind the last RS. TDH has shown that they were sent. */
	if (result == 0) {
		queue->done += (queue->index - queue->clean_index) & queue->mask;
	}
	queue->clean_index = queue->index;
	return result;
}

/* 4.6.7.1.2: disables an RX queue. */
static int stop_rx_queue(struct device *device, uint32_t id, struct error *error)
{
	reg_clear(&device->vfio, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE);
	int result = reg_wait(&device->vfio, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE, 0,
			      "RXDCTL.ENABLE", error);

	sleep_us(RX_DISABLE_SETTLE_US);
	return result;
}

/* Goes on after a step of the stop, and keeps the first of several errors. */
static void keep_first(int *result, struct error *first, int step, const struct error *next)
{
	if (step != 0 && *result == 0) {
		*first = *next;
		*result = -1;
	}
}

int device_stop(struct device *device, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	struct error next;
	int result = 0;

	device->running = false;
	/* Stop receiving, send what is in the TX rings, then disable the queues. */
	keep_first(&result, error, enable_rx(vfio, false, &next), &next);
	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		keep_first(&result, error, stop_tx_queue(device, i, &next), &next);
	}
	reg_clear(vfio, IXGBE_DMATXCTL, IXGBE_DMATXCTL_TE);
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		keep_first(&result, error, stop_rx_queue(device, i, &next), &next);
	}
	disable_interrupts(vfio);
	reg_clear(vfio, IXGBE_CTRL_EXT, IXGBE_CTRL_EXT_DRV_LOAD);
	/* The end of bus mastering keeps a device that is too slow from further requests. */
	if (disable_master(vfio, &next) != 0 && !vfio->failed) {
		error_warn(&next);
	}
	set_bus_master(vfio, false);
	keep_first(&result, error, vfio_check(vfio, &next), &next);
	return result;
}
