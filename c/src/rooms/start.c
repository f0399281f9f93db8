/* Starting and stopping a device with all that driver/ leaves out. */
#include "rooms/start.h"
#include "clock.h"
#include "driver/reset.h"
#include "rooms/interrupts.h"
#include "rooms/phy.h"
#include "rooms/rss.h"
#include "rooms/stats.h"
#include "rooms/takeover.h"
#include <inttypes.h>

#define LINK_INTERVAL_US 10000

/* An 82599 that has no link after this time, in milliseconds, is started again. */
#define LINK_ATTEMPT 2000

/* The count of sent packets is looked at this often, this far apart, before it is an error. */
#define CHECK_LOOKS 100
#define CHECK_INTERVAL_US 1000

/* What comes between the reset and the initialization of the queues. */
static int prepare(struct device *device, struct error *error)
{
	/* 4.6.5 Initialization of statistics: reading clears them. */
	if (stats_init(device, error) != 0 || mac_read(device, device->mac, error) != 0) {
		return -1;
	}
	clear_tables(&device->vfio);
	rss_init(device);
	return 0;
}

/* Resets the device. On X540 and X550, firmware brings the link up once the copper PHY has power. */
static int reset_and_power_up(struct device *device, const struct device_config *config,
			      struct mempool *pools, bool has_phy, struct error *error)
{
	if ((!device->running && end_requests(device, error) != 0) ||
	    device_reset(device, config, pools, error) != 0) {
		return -1;
	}
	return has_phy ? phy_power_up(&device->vfio, error) : 0;
}

int device_start_queues(struct device *device, const struct device_config *config,
			struct mempool *pools, struct error *error)
{
	const bool has_phy = device->family != DEVICE_FAMILY_82599;

	/* Firmware leaves the PHY alone until it has started again. */
	if (has_phy && phy_take(&device->vfio, error) != 0) {
		return -1;
	}
	int result = reset_and_power_up(device, config, pools, has_phy, error);

	if (has_phy) {
		phy_release(&device->vfio);
	}
	if (result != 0 || prepare(device, error) != 0) {
		return -1;
	}
	return device_init(device, error);
}

/* 8.2.3.23: checks that GPTC of a stopped device counts all packets that DD reported as sent. */
static int check_sent(struct device *device, struct error *error)
{
	struct device_stats stats = {0};
	uint64_t done = 0;

	for (uint32_t i = 0; i < device->config.tx_queues; i++) {
		done += device->tx[i].done;
	}
	/* The last packets may still be on their way to the wire. */
	for (uint32_t i = 0; i < CHECK_LOOKS; i++) {
		if (stats_read(device, &stats, error) != 0) {
			return -1;
		}
		if (stats.tx_packets >= done) {
			return 0;
		}
		sleep_us(CHECK_INTERVAL_US);
	}
	return error_fail(error,
			  "%s: the device reported %" PRIu64
			  " packets as sent, but GPTC counts %" PRIu64 "; the difference is lost",
			  device->vfio.address, done, stats.tx_packets);
}

int device_stop_queues(struct device *device, struct error *error)
{
	struct error later;

	interrupts_stop(device);
	int result = device_stop(device, error);

	/* The first error is the one to report. */
	if (check_sent(device, result == 0 ? error : &later) != 0) {
		result = -1;
	}
	return result;
}

/*
 * Whether the link is up within `timeout_ms` milliseconds, at two looks in a row: it may go down once more
 * while the other side starts. False, too, if an access fails.
 */
static bool link_comes_up(struct device *device, uint32_t timeout_ms)
{
	uint64_t deadline = now_ms() + timeout_ms;
	bool was_up = false;

	/* A link may take many seconds, so this wait has its own limit and uses up no patience. */
	for (;;) {
		bool late = now_ms() >= deadline;
		/* 8.2.3.22.20 */
		bool up = reg_read(&device->vfio, IXGBE_LINKS) & IXGBE_LINKS_UP;

		if (device->vfio.failed) {
			return false;
		}
		if ((up && was_up) || late) {
			return up;
		}
		was_up = up;
		sleep_us(LINK_INTERVAL_US);
	}
}

/* Resets the device and starts it as before. */
static int restart(struct device *device, struct error *error)
{
	struct device_config config = device->config;
	struct error ignored;

	/* The start ends what the stop could not end. Only a dead device ends the attempts. */
	(void)device_stop_queues(device, &ignored);
	if (vfio_check(&device->vfio, error) != 0) {
		return -1;
	}
	return device_start_queues(device, &config, device->pools, error);
}

int device_wait_for_link(struct device *device, uint32_t timeout_ms, struct error *error)
{
	uint32_t left = timeout_ms;
	uint32_t attempts = 0;

	for (uint32_t wait = LINK_ATTEMPT;; wait *= 2) {
		/* A reset of X540 or X550 would only start the training of the link again. */
		bool last = device->family != DEVICE_FAMILY_82599 || left <= wait;

		attempts++;
		if (link_comes_up(device, last ? left : wait)) {
			return 0;
		}
		if (vfio_check(&device->vfio, error) != 0) {
			return -1;
		}
		if (last) {
			break;
		}
		left -= wait;
		/* Some 82599s do not come up under traffic until they are reset once more. */
		if (restart(device, error) != 0) {
			return -1;
		}
	}
	return error_fail(
		error,
		"%s: no link after %u ms and %u attempts; check the cable, the module, and that "
		"the other side is up",
		device->vfio.address, timeout_ms, attempts);
}

bool device_is_trapped(const struct device *device)
{
	return device->rx[0].tail == NULL || device->tx[0].tail == NULL;
}
