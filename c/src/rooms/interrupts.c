/* Interrupts by MSI-X: a vector for each RX queue, and waiting for them. */
#include "rooms/interrupts.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The devices that sleep together. */
#define MAX_SLEEPERS 2

/* 8.2.3.5.12: the unit of EITR.ITR_INTERVAL at 10 Gbit/s, in microseconds. */
#define INTERVAL_UNIT_US 2

/* The EICR bits of the first `count` vectors (8.2.3.5.1). */
static uint32_t vector_bits(uint32_t count)
{
	return IXGBE_FIELD(IXGBE_EICR_RTX_QUEUE, (1u << count) - 1);
}

/*
 * Writes a register while the driver forwards. A message uses up no patience, because there may be
 * thousands of them a second.
 */
static void write_often(struct vfio_device *vfio, uint32_t offset, uint32_t value)
{
	if (vfio_register(vfio, offset) == NULL) {
		vfio_ring(vfio, offset, value);
		return;
	}
	reg_write(vfio, offset, value);
	/* A read waits until the posted write has reached the device. */
	(void)reg_read(vfio, IXGBE_EIMS);
}

/* 8.2.3.5.16: RX queue `id` uses vector `id`. */
static void init_vector(struct vfio_device *vfio, uint32_t id, uint32_t interval_us)
{
	uint32_t vector = id % 2 == 0 ? IXGBE_IVAR_RX_EVEN : IXGBE_IVAR_RX_ODD;
	uint32_t valid = id % 2 == 0 ? IXGBE_IVAR_RX_EVEN_VALID : IXGBE_IVAR_RX_ODD_VALID;

	reg_write_field(vfio, IXGBE_IVAR(id / 2), vector | valid, IXGBE_FIELD(vector, id) | valid);
	reg_write(vfio, IXGBE_EITR(id),
		  IXGBE_FIELD(IXGBE_EITR_ITR_INTERVAL,
			      (interval_us + INTERVAL_UNIT_US - 1) / INTERVAL_UNIT_US));
}

/* Opens an eventfd for each vector, and lets the device signal it. */
static int open_eventfds(struct device *device, struct error *error)
{
	struct device_interrupts *interrupts = &device->interrupts;
	struct error reason;

	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		interrupts->eventfds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (interrupts->eventfds[i] < 0) {
			return error_fail(error, "%s: eventfd for interrupts: %s",
					  device->vfio.address, strerror(errno));
		}
		interrupts->vectors++;
	}
	if (vfio_signal_msix(&device->vfio, interrupts->eventfds, interrupts->vectors, &reason) !=
	    0) {
		return error_fail(
			error,
			"%.900s; the device has no MSI-X to wait for: leave out --interrupts",
			reason.text);
	}
	return 0;
}

int interrupts_start(struct device *device, uint32_t interval_us, struct error *error)
{
	struct vfio_device *vfio = &device->vfio;
	uint32_t bits = vector_bits(device->config.rx_queues);

	assert(interval_us <= INTERRUPTS_MAX_INTERVAL_US);
	interrupts_stop(device);
	if (open_eventfds(device, error) != 0) {
		interrupts_stop(device);
		return -1;
	}
	/*
	 * 7.3.1.3, 8.2.3.5.18: with several vectors, EICR is cleared by the message (EIAC) and not by
	 * a read (OCD), EIAM applies (EIAME), and pending bits follow the mask (PBA_SUPPORT).
	 */
	reg_set(vfio, IXGBE_GPIE,
		IXGBE_GPIE_MSIX_MODE | IXGBE_GPIE_OCD | IXGBE_GPIE_EIAME | IXGBE_GPIE_PBA_SUPPORT);
	for (uint32_t i = 0; i < device->interrupts.vectors; i++) {
		init_vector(vfio, i, interval_us);
	}
	reg_write(vfio, IXGBE_EIAC, bits);
	reg_write(vfio, IXGBE_EIAM, bits);
	/* 8.2.3.5.10: these vectors have bits in both registers. The datasheet does not say which one counts. */
	reg_write(vfio, IXGBE_EIAM_EX(0), bits);
	return vfio_check(vfio, error);
}

void interrupts_stop(struct device *device)
{
	struct error ignored;

	if (device->interrupts.vectors == 0) {
		return;
	}
	if (!device->vfio.failed) {
		reg_write(&device->vfio, IXGBE_EIMC, vector_bits(device->interrupts.vectors));
		/* Whatever the device answers, its end also ends its interrupts. */
		(void)vfio_signal_msix(&device->vfio, NULL, 0, &ignored);
	}
	for (uint32_t i = 0; i < device->interrupts.vectors; i++) {
		(void)close(device->interrupts.eventfds[i]);
	}
	device->interrupts.vectors = 0;
	device->interrupts.armed = 0;
}

/* Lets the vectors signal that have signalled since the last call, or never. */
static int arm(struct device *device, struct error *error)
{
	uint32_t masked = vector_bits(device->interrupts.vectors) & ~device->interrupts.armed;

	if (masked != 0) {
		write_often(&device->vfio, IXGBE_EIMS, masked);
		device->interrupts.armed |= masked;
	}
	return vfio_check(&device->vfio, error);
}

/* Sleeps until a vector of the devices signals, or a signal to this process comes. */
static int sleep_until_signal(const struct device *devices, uint32_t count, uint32_t timeout_ms,
			      struct error *error)
{
	struct pollfd ready[MAX_SLEEPERS * DEVICE_MAX_QUEUES];
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < devices[i].interrupts.vectors; j++) {
			ready[used] = (struct pollfd){.fd = devices[i].interrupts.eventfds[j],
						      .events = POLLIN};
			used++;
		}
	}
	if (timeout_ms > INTERRUPTS_MAX_SLEEP_MS) {
		timeout_ms = INTERRUPTS_MAX_SLEEP_MS;
	}
	if (poll(ready, used, (int)timeout_ms) < 0 && errno != EINTR) {
		return error_fail(error, "%s: poll for interrupts: %s", devices[0].vfio.address,
				  strerror(errno));
	}
	return 0;
}

/* Takes the signals that have arrived. Returns their number. */
static uint64_t take(struct device *device)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < device->interrupts.vectors; i++) {
		uint64_t signals = 0;

		/* An eventfd without a signal does not block: it reports EAGAIN. */
		if (read(device->interrupts.eventfds[i], &signals, sizeof(signals)) ==
		    (ssize_t)sizeof(signals)) {
			taken += signals;
			/* EIAM has masked the vector. */
			device->interrupts.armed &= ~IXGBE_FIELD(IXGBE_EICR_RTX_QUEUE, 1u << i);
		}
	}
	return taken;
}

/* Whether a packet waits in a ring. */
static bool packet_waits(const struct device *device)
{
	for (uint32_t i = 0; i < device->config.rx_queues; i++) {
		const struct rx_queue *rx = &device->rx[i];

		if (dma_load64(&rx->ring[rx->index].upper) & IXGBE_RXD_DD) {
			return true;
		}
	}
	return false;
}

int interrupts_wait(struct device *devices, uint32_t count, uint32_t timeout_ms,
		    struct interrupts_waits *waits, struct error *error)
{
	assert(count <= MAX_SLEEPERS);
	for (uint32_t i = 0; i < count; i++) {
		/* A vector that signalled while the driver polled is masked, and must be armed again. */
		waits->interrupts += take(&devices[i]);
		if (arm(&devices[i], error) != 0) {
			return -1;
		}
	}
	/* A packet that came after the last poll and before arming must not wait for the next one. */
	for (uint32_t i = 0; i < count; i++) {
		if (packet_waits(&devices[i])) {
			return 0;
		}
	}
	waits->sleeps++;
	if (sleep_until_signal(devices, count, timeout_ms, error) != 0) {
		return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		waits->interrupts += take(&devices[i]);
	}
	return 0;
}
