/* Two ports, used frame by frame. */
#include "apps/ports.h"
#include "driver/device.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Enough packets for an RX ring, a TX ring and a batch. */
#define POOL_CAPACITY 2048

/* Long enough for a software NIC that starts at the same time, as in ixgbe-fwd. */
#define CONNECT_TIMEOUT_MS 5000

struct ports {
	struct vfio_container container;
	struct mempool pools[2]; /* pools[i] feeds the RX queue of devices[i] */
	struct device devices[2];
	uint32_t opened; /* devices that are open */
	struct packet *packets[PORTS_MAX_BATCH];
};

static struct device *device_of(struct ports *ports, uint32_t port)
{
	assert(port < 2);
	return &ports->devices[port];
}

/* Frees everything. The devices must be stopped or unreachable. */
static void destroy(struct ports *ports)
{
	for (uint32_t i = 0; i < ports->opened; i++) {
		device_release(&ports->devices[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		mempool_destroy(&ports->pools[i]);
	}
	for (uint32_t i = 0; i < ports->opened; i++) {
		device_close(&ports->devices[i]);
	}
	vfio_container_close(&ports->container);
	free(ports);
}

static int open_devices(struct ports *ports, const char *const *addresses, struct error *error)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (device_open(&ports->devices[i], &ports->container, addresses[i], error) != 0) {
			return -1;
		}
		ports->opened++;
	}
	for (uint32_t i = 0; i < 2; i++) {
		if (mempool_create(&ports->pools[i], &ports->container, POOL_CAPACITY, error) !=
		    0) {
			return -1;
		}
	}
	return 0;
}

struct ports *ports_open(const char *device_a, const char *device_b, char *error, size_t error_size)
{
	const char *const addresses[2] = {device_a, device_b};
	struct ports *ports = calloc(1, sizeof(*ports));
	struct error reason;

	if (ports == NULL) {
		(void)snprintf(error, error_size, "out of memory for the ports");
		return NULL;
	}
	vfio_container_init(&ports->container);
	ports->container.connect_timeout_ms = CONNECT_TIMEOUT_MS;
	if (error_copy(open_devices(ports, addresses, &reason), &reason, error, error_size) != 0) {
		destroy(ports);
		return NULL;
	}
	return ports;
}

static int start_again(struct device *device, struct mempool *pool, struct error *error)
{
	const struct device_config config = DEVICE_CONFIG_DEFAULT;

	if (device->running && device_stop_queues(device, error) != 0) {
		return -1;
	}
	return device_start_queues(device, &config, pool, error);
}

int ports_start(struct ports *ports, uint32_t port, char *error, size_t error_size)
{
	struct error reason;
	int result = start_again(device_of(ports, port), &ports->pools[port], &reason);

	return error_copy(result, &reason, error, error_size);
}

int ports_link_speed(struct ports *ports, uint32_t port, uint32_t *speed, char *error,
		     size_t error_size)
{
	struct error reason;
	int result = link_speed(device_of(ports, port), speed, &reason);

	return error_copy(result, &reason, error, error_size);
}

/* Copies a frame into a fresh packet. Returns NULL if it is too long or the pool is empty. */
static struct packet *packet_of(struct mempool *pool, const struct ports_frame *frame)
{
	if (frame->size > PACKET_MAX_SIZE) {
		return NULL;
	}
	struct packet *packet = packet_alloc(pool);

	if (packet != NULL) {
		memcpy(packet->data, frame->data, frame->size);
		packet->size = frame->size;
	}
	return packet;
}

uint32_t ports_send(struct ports *ports, uint32_t port, const struct ports_frame *frames,
		    uint32_t count)
{
	struct device *device = device_of(ports, port);
	uint32_t filled = 0;

	if (!device->running) {
		return 0;
	}
	while (filled < count && filled < PORTS_MAX_BATCH) {
		struct packet *packet = packet_of(&ports->pools[port], &frames[filled]);

		if (packet == NULL) {
			break;
		}
		ports->packets[filled] = packet;
		filled++;
	}
	uint32_t sent = tx_batch(&device->tx[0], ports->packets, filled);

	for (uint32_t i = sent; i < filled; i++) {
		packet_free(ports->packets[i]);
	}
	return sent;
}

uint32_t ports_receive(struct ports *ports, uint32_t port, struct ports_frame *frames,
		       uint32_t count)
{
	struct device *device = device_of(ports, port);

	if (!device->running) {
		return 0;
	}
	uint32_t wanted = count < PORTS_MAX_BATCH ? count : PORTS_MAX_BATCH;
	uint32_t received = rx_batch(&device->rx[0], ports->packets, wanted);

	for (uint32_t i = 0; i < received; i++) {
		struct packet *packet = ports->packets[i];
		uint32_t size = packet->size < frames[i].size ? packet->size : frames[i].size;

		memcpy(frames[i].data, packet->data, size);
		frames[i].size = packet->size;
		packet_free(packet);
	}
	return received;
}

int ports_stats(struct ports *ports, uint32_t port, struct ports_stats *stats, char *error,
		size_t error_size)
{
	struct device_stats read = {0};
	struct error reason;
	int result = stats_read(device_of(ports, port), &read, &reason);

	*stats = (struct ports_stats){
		read.rx_packets,
		read.rx_bytes,
		read.tx_packets,
		read.tx_bytes,
	};
	return error_copy(result, &reason, error, error_size);
}

int ports_register(struct ports *ports, uint32_t port, uint32_t offset, uint32_t *value,
		   char *error, size_t error_size)
{
	struct vfio_device *vfio = &device_of(ports, port)->vfio;
	struct error reason;

	*value = reg_read(vfio, offset);
	return error_copy(vfio_check(vfio, &reason), &reason, error, error_size);
}

bool ports_on_ordinary_pages(const struct ports *ports)
{
	return ports->container.ordinary_pages;
}

int ports_close(struct ports *ports, char *error, size_t error_size)
{
	struct error reason;
	struct error later;
	int result = 0;

	for (uint32_t i = 0; i < 2; i++) {
		struct device *device = &ports->devices[i];

		if (device->running &&
		    device_stop_queues(device, result == 0 ? &reason : &later) != 0) {
			result = -1;
		}
	}
	destroy(ports);
	return error_copy(result, &reason, error, error_size);
}
