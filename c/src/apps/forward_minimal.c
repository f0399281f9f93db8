/*
 * ixgbe-forward-minimal: forwards packets between two devices, both ways, until SIGINT or SIGTERM. It is the
 * driver's first example: all that it needs is in driver/. ixgbe-fwd is this and options.
 */
#include "driver/device.h"
#include <signal.h>

#define BATCH 32
#define PACKETS 2048
/* It looks for a signal once in so many turns. */
#define TURNS_PER_LOOK 1024
/* The byte of a packet that the forwarder changes. */
#define CHANGED_BYTE 1

/* Sends what one device has received with the other. Returns the number of packets sent. */
static uint32_t forward(struct device *from, struct device *to)
{
	struct packet *packets[BATCH];
	uint32_t received = rx_batch(&from->rx[0], packets, BATCH);

	for (uint32_t i = 0; i < received; i++) {
		packets[i]->data[CHANGED_BYTE]++;
	}
	uint32_t sent = tx_batch(&to->tx[0], packets, received);

	/* The ring is full. Dropping these packets is better than losing later ones in RX. */
	for (uint32_t i = sent; i < received; i++) {
		packet_free(packets[i]);
	}
	return sent;
}

/* Forwards both ways until a signal comes. Returns the number of packets sent. */
static uint64_t run(struct device *devices)
{
	uint64_t sent = 0;
	sigset_t pending;

	do {
		for (uint32_t i = 0; i < TURNS_PER_LOOK; i++) {
			sent += forward(&devices[0], &devices[1]);
			sent += forward(&devices[1], &devices[0]);
		}
		(void)sigpending(&pending);
	} while (!sigismember(&pending, SIGINT) && !sigismember(&pending, SIGTERM));
	return sent;
}

int main(int argc, char **argv)
{
	const struct device_config config = DEVICE_CONFIG_DEFAULT;
	struct vfio_container container;
	struct mempool pools[2];
	struct device devices[2];
	struct error error;
	sigset_t signals;
	int status = 0;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: ixgbe-forward-minimal DEVICE DEVICE\n");
		return 2;
	}
	/* A signal waits until the loop looks, so that the devices are stopped first. */
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	vfio_container_init(&container);
	for (int i = 0; i < 2; i++) {
		if (device_open(&devices[i], &container, argv[1 + i], &error) != 0) {
			goto failed;
		}
	}
	for (int i = 0; i < 2; i++) {
		if (mempool_create(&pools[i], &container, PACKETS, &error) != 0 ||
		    device_start(&devices[i], &config, &pools[i], &error) != 0) {
			goto failed;
		}
	}
	printf("sent %llu packets\n", (unsigned long long)run(devices));
	for (int i = 0; i < 2; i++) {
		if (device_stop(&devices[i], &error) != 0) {
			(void)fprintf(stderr, "ixgbe-forward-minimal: %s\n", error.text);
			status = 1;
		}
		device_release(&devices[i]);
	}
	/* A pool is mapped for both devices, so both are closed after both pools. */
	for (int i = 0; i < 2; i++) {
		mempool_destroy(&pools[i]);
	}
	for (int i = 0; i < 2; i++) {
		device_close(&devices[i]);
	}
	vfio_container_close(&container);
	return status;
failed:
	/* The end of the process closes the devices and frees the memory. */
	(void)fprintf(stderr, "ixgbe-forward-minimal: %s\n", error.text);
	return 1;
}
