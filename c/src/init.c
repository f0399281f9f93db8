/*
 * From reset to running and back, in the order of the datasheet's section 4.6.3
 * "Initialization Sequence". Deviations are marked DEVIATION, with the reason.
 */
#include "device.h"
#include <inttypes.h>
#include <stdlib.h>

/*
 * Bounds of the waits, in milliseconds. The device is far faster when it works, but a software
 * one may have to wait for its processor.
 */
#define TIMEOUT_MASTER_DISABLE 1000
#define TIMEOUT_RESET 1000
#define TIMEOUT_EEPROM 1000
#define TIMEOUT_DMA_INIT 1000
#define TIMEOUT_QUEUE 1000
#define TIMEOUT_RX_HALT 1000
#define TIMEOUT_TX_DRAIN 1000
#define TIMEOUT_LINK 8000

/* 4.6.3.2: registers may be touched 1 ms after a reset, and 10 ms settle the device. */
#define RESET_SETTLE_US 10000

/* 4.6.7.1.2: how long a disabled queue may still write back. */
#define RX_DISABLE_SETTLE_US 100

/* Packet buffers in KiB (4.6.11.3.4: neither DCB nor virtualization). */
#define RX_PACKET_BUFFER_KB 512
#define TX_PACKET_BUFFER_KB 160
#define TX_MAX_PACKET_KB 2

/* 3.7.7.3.2: without flow control, the XOFF threshold leaves this much of the buffer. */
#define FLOW_CONTROL_RESERVE_KB 24

/* 7.2.3.4.1: PTHRESH + WTHRESH stay within the 40 on-chip descriptors; with WTHRESH 0, RS decides. */
#define TX_PREFETCH_THRESHOLD 32
#define TX_HOST_THRESHOLD 8
#define TX_WRITE_BACK_THRESHOLD 0

/* 8.2.3.5.6: bit 31 is reserved. */
#define ALL_INTERRUPT_CAUSES 0x7fffffffu

#define RX_BUFFER_KB (PACKET_BUFFER_SIZE / 1024)

static const char mend_device[] =
	"reset the device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC";

/* 4.6.3.1 Interrupts during initialization: all masked, all causes cleared. */
static void disable_interrupts(struct device *device)
{
	/* 8.2.3.5.6 EIMC clears EIMS. */
	reg_write(device, IXGBE_EIMC, ALL_INTERRUPT_CAUSES);
	/* 8.2.3.5.1 a read clears EICR. */
	(void)reg_read(device, IXGBE_EICR);
}

/* 5.2.5.3.2 Master disable: no request of the device is under way when this returns. */
static int disable_master(struct device *device, struct error *error)
{
	reg_set(device, IXGBE_CTRL, IXGBE_CTRL_MASTER_DISABLE);
	return reg_wait(device, IXGBE_STATUS, IXGBE_STATUS_MASTER_ENABLE, 0, TIMEOUT_MASTER_DISABLE,
			"STATUS.MASTER_ENABLE", mend_device, error);
}

/* 9.3.2 Command register: whether the device may access memory at all. */
static void enable_bus_master(struct device *device)
{
	uint16_t command = vfio_config_read16(&device->vfio, IXGBE_PCI_COMMAND);

	vfio_config_write16(&device->vfio, IXGBE_PCI_COMMAND,
			    command | IXGBE_PCI_COMMAND_BUS_MASTER);
}

static void disable_bus_master(struct device *device)
{
	uint16_t command = vfio_config_read16(&device->vfio, IXGBE_PCI_COMMAND);

	vfio_config_write16(&device->vfio, IXGBE_PCI_COMMAND,
			    (uint16_t)(command & ~IXGBE_PCI_COMMAND_BUS_MASTER));
}

/* 4.6.3.2 Global reset and general configuration. */
static int reset(struct device *device, struct error *error)
{
	disable_interrupts(device);
	/*
	 * 5.2.5.3.2: should requests still be pending, two resets in a row discard them;
	 * what a driver that died left behind must not keep us from starting.
	 */
	struct error pending;
	int resets = disable_master(device, &pending) == 0 ? 1 : 2;

	if (vfio_check(&device->vfio, error) != 0) {
		return -1;
	}
	for (int i = 0; i < resets; i++) {
		reg_set(device, IXGBE_CTRL, IXGBE_CTRL_RST | IXGBE_CTRL_LNK_RST);
		/* 4.2.1.6.1: a millisecond without any access. */
		sleep_us(1000);
		if (reg_wait(device, IXGBE_CTRL, IXGBE_CTRL_RST | IXGBE_CTRL_LNK_RST, 0,
			     TIMEOUT_RESET, "CTRL.RST", mend_device, error) != 0) {
			return -1;
		}
	}
	sleep_us(RESET_SETTLE_US);
	disable_interrupts(device);

	/*
	 * 3.7.7.3.2, 8.2.3.3: no flow control. The XOFF threshold must be set all the same,
	 * because it also governs the switch from TX to RX.
	 */
	reg_write(device, IXGBE_FCCFG, 0);
	reg_clear(device, IXGBE_MFLCN, IXGBE_MFLCN_RFCE | IXGBE_MFLCN_RPFCE);
	reg_write(device, IXGBE_FCRTL(0), 0);
	reg_write(device, IXGBE_FCRTH(0), (RX_PACKET_BUFFER_KB - FLOW_CONTROL_RESERVE_KB) * 1024);

	/* 5.2.5.3.1: no-snoop stays off, descriptors and packets are in cached memory. */
	reg_set(device, IXGBE_CTRL_EXT, IXGBE_CTRL_EXT_NS_DIS);
	return vfio_check(&device->vfio, error);
}

/*
 * 4.6.3: wait for EEPROM auto-read and for DMA initialization.
 * DEVIATION: EEMNGCTL.CFG_DONE is not waited for. No manageability traffic is used, and
 * boards without its firmware never set the bit.
 */
static int wait_until_ready(struct device *device, struct error *error)
{
	if (reg_wait(device, IXGBE_EEC, IXGBE_EEC_ARD, IXGBE_EEC_ARD, TIMEOUT_EEPROM, "EEC.ARD",
		     mend_device, error) != 0) {
		return -1;
	}
	return reg_wait(device, IXGBE_RDRXCTL, IXGBE_RDRXCTL_DMAIDONE, IXGBE_RDRXCTL_DMAIDONE,
			TIMEOUT_DMA_INIT, "RDRXCTL.DMAIDONE", mend_device, error);
}

/*
 * 4.6.4.2 Link initialization: 10 Gbit/s serial over SFI, the SFP+ ports' mode.
 * X540 and X550 have a copper PHY whose firmware brings the link up by itself.
 */
static void init_link(struct device *device)
{
	if (!device->is_82599) {
		return;
	}
	reg_write_field(device, IXGBE_AUTOC, IXGBE_AUTOC_LMS, IXGBE_AUTOC_LMS_10G_SERIAL);
	reg_write_field(device, IXGBE_AUTOC2, IXGBE_AUTOC2_10G_PMA_PMD_SERIAL,
			IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI);
	reg_set(device, IXGBE_AUTOC, IXGBE_AUTOC_AN_RESTART);
}

/* 4.6.7: which frames are let in. RXCTRL.RXEN is 0 since the reset, as FCTRL demands. */
static void init_filters(struct device *device)
{
	/* Address filters 1 and up are invalid after a reset; the tables below are memory. */
	for (uint32_t i = 0; i < IXGBE_PFUTA_COUNT; i++) {
		reg_write(device, IXGBE_PFUTA(i), 0);
	}
	for (uint32_t i = 0; i < IXGBE_MTA_COUNT; i++) {
		reg_write(device, IXGBE_MTA(i), 0);
	}
	for (uint32_t i = 0; i < IXGBE_VFTA_COUNT; i++) {
		reg_write(device, IXGBE_VFTA(i), 0);
	}
	reg_set(device, IXGBE_FCTRL, IXGBE_FCTRL_BAM);
	if (device->config.promiscuous) {
		reg_set(device, IXGBE_FCTRL, IXGBE_FCTRL_MPE | IXGBE_FCTRL_UPE);
	}
}

/* 4.6.7 Receive initialization: one ring. */
static int init_rx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct rx_queue *queue = &device->rx[id];
	uint32_t size = device->config.rx_ring_size;

	queue->device = device;
	queue->id = id;
	queue->pool = device->pool;
	queue->mask = size - 1;
	queue->tail = vfio_register(&device->vfio, IXGBE_RDT(id));
	queue->packets = calloc(size, sizeof(struct packet *));
	if (queue->packets == NULL) {
		error_set(error, "%s: out of memory for RX queue %u", device->vfio.address, id);
		return -1;
	}
	if (dma_alloc(device->vfio.container, size * sizeof(struct descriptor), &queue->dma,
		      error) != 0) {
		return -1;
	}
	queue->ring = queue->dma.memory;
	for (uint32_t i = 0; i < size; i++) {
		struct packet *packet = packet_alloc(device->pool);

		if (packet == NULL) {
			error_set(error, "%s: the pool has too few packets to fill RX queue %u",
				  device->vfio.address, id);
			return -1;
		}
		queue->packets[i] = packet;
		dma_store64(&queue->ring[i].lower, packet->iova);
		dma_store64(&queue->ring[i].upper, 0);
	}

	reg_write(device, IXGBE_RDBAL(id), (uint32_t)queue->dma.iova);
	reg_write(device, IXGBE_RDBAH(id), (uint32_t)(queue->dma.iova >> 32));
	reg_write(device, IXGBE_RDLEN(id), size * (uint32_t)sizeof(struct descriptor));
	reg_write(device, IXGBE_RDH(id), 0);
	reg_write(device, IXGBE_RDT(id), 0);
	/*
	 * 8.2.3.8.7: one buffer a frame. BSIZEPACKET counts in KiB, so it says 2 KiB although
	 * the headroom leaves 1984 bytes: HLREG0.JUMBOEN = 0 keeps frames within 1522.
	 * A frame without a descriptor is dropped rather than blocking the other queues.
	 */
	reg_write_field(device, IXGBE_SRRCTL(id),
			IXGBE_SRRCTL_BSIZEPACKET | IXGBE_SRRCTL_DESCTYPE | IXGBE_SRRCTL_DROP_EN,
			IXGBE_FIELD(IXGBE_SRRCTL_BSIZEPACKET, RX_BUFFER_KB) |
				IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER | IXGBE_SRRCTL_DROP_EN);
	/* 8.2.3.11.1: this bit reads 1 after a reset and must be written as 0. */
	reg_clear(device, IXGBE_DCA_RXCTRL(id), IXGBE_DCA_RXCTRL_RESERVED_12);

	/* 4.6.7.1.1: enable the queue, and only then hand it descriptors. */
	reg_set(device, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE);
	if (reg_wait(device, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE, IXGBE_RXDCTL_ENABLE,
		     TIMEOUT_QUEUE, "RXDCTL.ENABLE", mend_device, error) != 0) {
		return -1;
	}
	/* Orders the writes of the descriptors above before the write of RDT. */
	dma_write_barrier();
	tail_write(device, queue->tail, IXGBE_RDT(id), size - 1);
	return vfio_check(&device->vfio, error);
}

/* 4.6.7: RXCTRL.RXEN changes with the security block halted. */
int enable_rx(struct device *device, bool on, struct error *error)
{
	reg_set(device, IXGBE_SECRXCTRL, IXGBE_SECRXCTRL_RX_DIS);
	if (reg_wait(device, IXGBE_SECRXSTAT, IXGBE_SECRXSTAT_SECRX_RDY, IXGBE_SECRXSTAT_SECRX_RDY,
		     TIMEOUT_RX_HALT, "SECRXSTAT.SECRX_RDY", mend_device, error) != 0) {
		return -1;
	}
	if (on) {
		reg_set(device, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	} else {
		reg_clear(device, IXGBE_RXCTRL, IXGBE_RXCTRL_RXEN);
	}
	reg_clear(device, IXGBE_SECRXCTRL, IXGBE_SECRXCTRL_RX_DIS);
	return vfio_check(&device->vfio, error);
}

/* 4.6.7 Receive initialization. */
static int init_receive(struct device *device, struct error *error)
{
	init_filters(device);
	/* 4.6.11.3.4: the whole buffer for packet buffer 0. */
	reg_write(device, IXGBE_RXPBSIZE(0), IXGBE_FIELD(IXGBE_RXPBSIZE_SIZE, RX_PACKET_BUFFER_KB));
	for (uint32_t i = 1; i < IXGBE_RXPBSIZE_COUNT; i++) {
		reg_write(device, IXGBE_RXPBSIZE(i), 0);
	}
	/* The device strips the CRC, in two places that must agree; no jumbo frames. */
	reg_write_field(device, IXGBE_HLREG0, IXGBE_HLREG0_RXCRCSTRP | IXGBE_HLREG0_JUMBOEN,
			IXGBE_HLREG0_RXCRCSTRP);
	/* 8.2.3.8.8: RSCFRSTSIZE must be 0, RSCACKC and FCOE_WRFIX must be 1. */
	reg_write_field(device, IXGBE_RDRXCTL,
			IXGBE_RDRXCTL_CRCSTRIP | IXGBE_RDRXCTL_RSCFRSTSIZE | IXGBE_RDRXCTL_RSCACKC |
				IXGBE_RDRXCTL_FCOE_WRFIX,
			IXGBE_RDRXCTL_CRCSTRIP | IXGBE_RDRXCTL_RSCACKC | IXGBE_RDRXCTL_FCOE_WRFIX);
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		if (init_rx_queue(device, i, error) != 0) {
			return -1;
		}
	}
	return enable_rx(device, true, error);
}

/* 4.6.8 Transmit initialization: one ring. */
static int init_tx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct tx_queue *queue = &device->tx[id];
	uint32_t size = device->config.tx_ring_size;

	queue->device = device;
	queue->id = id;
	queue->mask = size - 1;
	queue->tail = vfio_register(&device->vfio, IXGBE_TDT(id));
	queue->packets = calloc(size, sizeof(struct packet *));
	if (queue->packets == NULL) {
		error_set(error, "%s: out of memory for TX queue %u", device->vfio.address, id);
		return -1;
	}
	if (dma_alloc(device->vfio.container, size * sizeof(struct descriptor), &queue->dma,
		      error) != 0) {
		return -1;
	}
	queue->ring = queue->dma.memory;

	reg_write(device, IXGBE_TDBAL(id), (uint32_t)queue->dma.iova);
	reg_write(device, IXGBE_TDBAH(id), (uint32_t)(queue->dma.iova >> 32));
	reg_write(device, IXGBE_TDLEN(id), size * (uint32_t)sizeof(struct descriptor));
	reg_write(device, IXGBE_TDH(id), 0);
	reg_write(device, IXGBE_TDT(id), 0);
	reg_write_field(device, IXGBE_TXDCTL(id),
			IXGBE_TXDCTL_PTHRESH | IXGBE_TXDCTL_HTHRESH | IXGBE_TXDCTL_WTHRESH,
			IXGBE_FIELD(IXGBE_TXDCTL_PTHRESH, TX_PREFETCH_THRESHOLD) |
				IXGBE_FIELD(IXGBE_TXDCTL_HTHRESH, TX_HOST_THRESHOLD) |
				IXGBE_FIELD(IXGBE_TXDCTL_WTHRESH, TX_WRITE_BACK_THRESHOLD));

	/* 4.6.8.1.1 */
	reg_set(device, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE);
	return reg_wait(device, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE, IXGBE_TXDCTL_ENABLE,
			TIMEOUT_QUEUE, "TXDCTL.ENABLE", mend_device, error);
}

/* 4.6.8 Transmit initialization. */
static int init_transmit(struct device *device, struct error *error)
{
	/* The device adds the CRC and pads short frames. */
	reg_set(device, IXGBE_HLREG0, IXGBE_HLREG0_TXCRCEN | IXGBE_HLREG0_TXPADEN);
	/* 4.6.8: the arbiter is halted while the packet buffers change (4.6.11.3.4). */
	reg_set(device, IXGBE_RTTDCS, IXGBE_RTTDCS_ARBDIS);
	reg_write(device, IXGBE_DTXMXSZRQ, IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ);
	reg_write(device, IXGBE_TXPBSIZE(0), IXGBE_FIELD(IXGBE_TXPBSIZE_SIZE, TX_PACKET_BUFFER_KB));
	reg_write(device, IXGBE_TXPBTHRESH(0), TX_PACKET_BUFFER_KB - TX_MAX_PACKET_KB);
	for (uint32_t i = 1; i < IXGBE_TXPBSIZE_COUNT; i++) {
		reg_write(device, IXGBE_TXPBSIZE(i), 0);
		reg_write(device, IXGBE_TXPBTHRESH(i), 0);
	}
	reg_write(device, IXGBE_MTQC, 0);
	reg_clear(device, IXGBE_RTTDCS, IXGBE_RTTDCS_ARBDIS);
	/* 8.2.3.9.2: before the first queue is enabled. */
	reg_set(device, IXGBE_DMATXCTL, IXGBE_DMATXCTL_TE);
	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		if (init_tx_queue(device, i, error) != 0) {
			return -1;
		}
	}
	return vfio_check(&device->vfio, error);
}

static int wait_for_link(struct device *device, struct error *error)
{
	return reg_wait(device, IXGBE_LINKS, IXGBE_LINKS_UP, IXGBE_LINKS_UP, TIMEOUT_LINK,
			"LINKS.UP",
			"check the cable, the SFP+ module and that the other side is up", error);
}

static int check_config(const struct device *device, struct error *error)
{
	const struct device_config *config = &device->config;

	if (config->rx_queues < 1 || config->rx_queues > DEVICE_MAX_QUEUES ||
	    config->tx_queues < 1 || config->tx_queues > DEVICE_MAX_QUEUES) {
		error_set(error, "%s: a device has 1 to %d RX and TX queues, not %u and %u",
			  device->vfio.address, DEVICE_MAX_QUEUES, config->rx_queues,
			  config->tx_queues);
		return -1;
	}
	uint32_t sizes[] = {config->rx_ring_size, config->tx_ring_size};

	for (uint32_t i = 0; i < 2; i++) {
		if (sizes[i] < DEVICE_MIN_RING_SIZE || sizes[i] > DEVICE_MAX_RING_SIZE ||
		    (sizes[i] & (sizes[i] - 1)) != 0) {
			error_set(error,
				  "%s: a ring has a power of two of descriptors, %d to %d, not %u",
				  device->vfio.address, DEVICE_MIN_RING_SIZE, DEVICE_MAX_RING_SIZE,
				  sizes[i]);
			return -1;
		}
	}
	return 0;
}

/* 4.6.3 Initialization sequence. */
static int initialize(struct device *device, struct error *error)
{
	if (reset(device, error) != 0 || wait_until_ready(device, error) != 0) {
		return -1;
	}
	init_link(device);
	/* 4.6.5 Initialization of statistics: reading clears them. */
	if (stats_clear(device, error) != 0 || mac_read(device, device->mac, error) != 0) {
		return -1;
	}
	/* Without this, the device could not fetch the descriptors it is about to get. */
	enable_bus_master(device);
	if (init_receive(device, error) != 0 || init_transmit(device, error) != 0) {
		return -1;
	}
	return wait_for_link(device, error);
}

int device_start(struct device *device, const struct device_config *config, struct mempool *pool,
		 struct error *error)
{
	if (device->running) {
		error_set(error, "%s: is running already", device->vfio.address);
		return -1;
	}
	/* The rings of an earlier start. */
	device_release(device);
	device->config = *config;
	device->pool = pool;
	if (check_config(device, error) != 0) {
		return -1;
	}
	if (initialize(device, error) != 0) {
		/* Half-way there, the device must not touch the memory that is about to go. */
		disable_bus_master(device);
		return -1;
	}
	device->running = true;
	return 0;
}

/* 4.6.8.1.2: a TX queue is disabled once it is empty. */
static int stop_tx_queue(struct device *device, uint32_t id, struct error *error)
{
	struct tx_queue *queue = &device->tx[id];
	int result = reg_wait(device, IXGBE_TDH(id), IXGBE_TDH_TDH, queue->index, TIMEOUT_TX_DRAIN,
			      "TDH", "packets left in the TX ring were not sent", error);
	struct error later;

	tx_reclaim(queue);
	reg_clear(device, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE);
	if (reg_wait(device, IXGBE_TXDCTL(id), IXGBE_TXDCTL_ENABLE, 0, TIMEOUT_QUEUE,
		     "TXDCTL.ENABLE", mend_device, result == 0 ? error : &later) != 0) {
		result = -1;
	}
	return result;
}

/* 4.6.7.1.2 */
static int stop_rx_queue(struct device *device, uint32_t id, struct error *error)
{
	reg_clear(device, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE);
	int result = reg_wait(device, IXGBE_RXDCTL(id), IXGBE_RXDCTL_ENABLE, 0, TIMEOUT_QUEUE,
			      "RXDCTL.ENABLE", mend_device, error);

	sleep_us(RX_DISABLE_SETTLE_US);
	return result;
}

/* Keeps the first of several errors. */
static void keep_first(int *result, struct error *first, const struct error *next)
{
	if (*result == 0) {
		*first = *next;
		*result = -1;
	}
}

/* 8.2.3.23 GPTC must come to as many packets as the descriptors say were sent. */
static int check_sent(struct device *device, struct error *error)
{
	struct device_stats stats = {0};
	uint64_t done = 0;

	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		done += device->tx[i].done;
	}
	/* The last ones may still be on their way to the wire. */
	for (uint32_t i = 0; i < DEVICE_CHECK_LOOKS; i++) {
		if (stats_read(device, &stats, error) != 0) {
			return -1;
		}
		if (stats.tx_packets >= done) {
			return 0;
		}
		sleep_us(DEVICE_CHECK_INTERVAL_US);
	}
	error_set(error,
		  "%s: the device reported %" PRIu64 " packets as sent, and GPTC counts %" PRIu64
		  "; the others are lost",
		  device->vfio.address, done, stats.tx_packets);
	return -1;
}

int device_stop(struct device *device, struct error *error)
{
	struct error next;
	int result = 0;

	device->running = false;
	/* Nothing new comes in, what is in the TX rings goes out, then the queues close. */
	if (enable_rx(device, false, &next) != 0) {
		keep_first(&result, error, &next);
	}
	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		if (stop_tx_queue(device, i, &next) != 0) {
			keep_first(&result, error, &next);
		}
	}
	if (check_sent(device, &next) != 0) {
		keep_first(&result, error, &next);
	}
	reg_clear(device, IXGBE_DMATXCTL, IXGBE_DMATXCTL_TE);
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		if (stop_rx_queue(device, i, &next) != 0) {
			keep_first(&result, error, &next);
		}
	}
	disable_interrupts(device);
	if (disable_master(device, &next) != 0) {
		keep_first(&result, error, &next);
	}
	disable_bus_master(device);
	if (vfio_check(&device->vfio, &next) != 0) {
		keep_first(&result, error, &next);
	}
	return result;
}
