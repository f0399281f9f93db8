/*
 * How long a driver waits for servers, all waits together.
 *
 * A limit for each wait is not enough: a server could let each of a thousand waits take almost as long.
 * So all waits of a container use up one amount of time, its patience. It comes back slowly, so that a
 * long run does not use it up. Each device has a small reserve of its own: when one server has used up
 * the patience, the other device can still be stopped.
 *
 * The kernel's VFIO answers at once, so its devices only have the limits of the single waits.
 */
#include "clock.h"
#include "vfio/vfio.h"

#define PATIENCE_US (VFIO_PATIENCE_MS * 1000ull)

/* A microsecond of patience comes back in this many microseconds. */
#define REFILL_US 20

void vfio_patience_init(struct vfio_container *container)
{
	container->patience_us = PATIENCE_US;
	container->refilled_us = now_us();
}

uint64_t vfio_patience(struct vfio_device *device)
{
	struct vfio_container *container = device->container;

	if (device->kind != VFIO_KIND_USER) {
		return UINT64_MAX;
	}
	uint64_t back = (now_us() - container->refilled_us) / REFILL_US;

	container->refilled_us += back * REFILL_US;
	container->patience_us += back;
	if (container->patience_us > PATIENCE_US) {
		container->patience_us = PATIENCE_US;
	}
	return container->patience_us + device->reserve_us;
}

void vfio_patience_use(struct vfio_device *device, uint64_t waited_us)
{
	struct vfio_container *container = device->container;

	if (device->kind != VFIO_KIND_USER) {
		return;
	}
	uint64_t shared = waited_us < container->patience_us ? waited_us : container->patience_us;
	uint64_t own = waited_us - shared;

	container->patience_us -= shared;
	device->reserve_us -= own < device->reserve_us ? own : device->reserve_us;
}

void vfio_sleep(struct vfio_device *device, uint32_t microseconds)
{
	uint64_t asleep = now_us();

	sleep_us(microseconds);
	vfio_patience_use(device, now_us() - asleep);
}
