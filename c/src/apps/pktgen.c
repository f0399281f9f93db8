/* ixgbe-pktgen: sends packets at a rate, or as fast as the device takes them. */
#define _GNU_SOURCE
#include "apps/flow_packet.h"
#include "apps/pcap_file.h"
#include "apps/port.h"
#include "apps/token_bucket.h"
#include "rooms/start.h"
#include "rooms/stats.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The lines as --help prints them. */
/* clang-format off */
static const char usage[] =
	"usage: ixgbe-pktgen [--rate PPS] [--size BYTES] [--flows N] [--template FILE] [--queues N]\n"
	"                    [--batch N] [--ring-size N] [--packets N] [--duration S]\n"
	"                    [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n"
	"\n"
	"Sends packets on a device: UDP in IPv4. The first 8 bytes of the payload are the packet's\n"
	"number in its flow. Drops what the device receives. Ends on SIGINT or SIGTERM, after N\n"
	"packets, or after S seconds.\n"
	"\n"
	COMMON_USAGE_DEVICE;
/* clang-format on */

static const struct program program = {.name = "ixgbe-pktgen", .usage = usage};

struct options {
	struct common_options common;
	uint64_t rate; /* packets a second, 0: no limit */
	uint32_t size;
	uint32_t flows;
	uint32_t queues;
	const char *template_file;
	const char *device;
};

/* The results of a run, in packets. */
struct totals {
	uint64_t tx;
	uint64_t tx_bytes; /* without CRC */
	uint64_t rx;
	double seconds;
	uint64_t tsc_cycles;
};

/* The generator and what it sends. */
struct generator {
	struct port port;
	struct mempool pools[DEVICE_MAX_QUEUES]; /* pools[i] feeds TX queue i, and nothing else */
	uint32_t queues;
	uint32_t flows;
	uint8_t frame[FLOW_PACKET_MAX_SIZE];
	uint32_t size;
	bool numbered; /* the frame has a flow and a sequence number */
	uint64_t sent[DEVICE_MAX_QUEUES]; /* packets on each TX queue */
	struct packet *packets[FORWARDER_MAX_BATCH];
};

static bool set_rate(const struct option_row *row, const char *text)
{
	return token_bucket_parse_rate(text, row->place);
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		{"rate", "PPS",
		 "packets a second, such as 250000, 10k or 1.5M (default: as many as the\n"
		 "device takes); a batch is the largest burst",
		 set_rate, &options->rate, "whole packets a second, from 1 to 100M", 0, 0},
		{"size", "BYTES", "bytes of a frame without CRC, 60 to 1514 (default 60)",
		 set_number, &options->size, "a number of bytes", FLOW_PACKET_MIN_SIZE, FLOW_PACKET_MAX_SIZE},
		{"flows", "N",
		 "flows, 1 to 65535, in turn; each has a UDP source port (default:\n"
		 "one for each queue)",
		 set_number, &options->flows, "a number", 1, FLOW_PACKET_MAX_FLOWS},
		{"template", "FILE", "send the first frame of this pcap file instead, unchanged",
		 set_text, &options->template_file, NULL, 0, 0},
		{"queues", "N",
		 "TX queues, 1 to 16, in turn; flow i uses queue i modulo N (default 1)",
		 set_number, &options->queues, "a number", 1, DEVICE_MAX_QUEUES},
		COMMON_ROWS(&options->common, "end after N sent packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if (options->template_file != NULL && (options->size != 0 || options->flows != 0)) {
		return usage_error(&program,
				   "--template sends the recorded frame unchanged; leave out "
				   "--size and --flows",
				   NULL);
	}
	options->size = options->size != 0 ? options->size : FLOW_PACKET_MIN_SIZE;
	options->flows = options->flows != 0 ? options->flows : options->queues;
	if (options->template_file == NULL && options->flows < options->queues) {
		return usage_error(&program,
				   "each queue needs a flow, because a flow uses one queue: raise "
				   "--flows to the number of --queues",
				   NULL);
	}
	if (argc - optind != 1) {
		return usage_error(&program, "one device is needed", NULL);
	}
	options->device = argv[optind];
	return -1;
}

/*
 * Writes the frame to all buffers of a pool. The pool feeds only one TX queue, and the device does not
 * write to what it sends. So a buffer keeps its frame, and needs new numbers only.
 */
static void prefill(struct mempool *pool, const struct generator *generator)
{
	for (uint32_t i = 0; i < pool->capacity; i++) {
		memcpy(pool->free[i]->data, generator->frame, generator->size);
		pool->free[i]->size = generator->size;
	}
}

static int generator_open(struct generator *generator, const struct options *options,
			  struct error *error)
{
	struct port *port = &generator->port;

	if (port_open(port, &program, options->device, 1, generator->queues, &options->common,
		      error) != 0) {
		return -1;
	}
	if (generator->numbered) {
		uint8_t mac[6];

		if (mac_read(&port->device, mac, error) != 0) {
			return -1;
		}
		flow_packet_fill(generator->frame, generator->size, mac);
	}
	for (uint32_t i = 0; i < generator->queues; i++) {
		if (mempool_create(&generator->pools[i], &port->container,
				   port_pool_capacity(&options->common), error) != 0) {
			return -1;
		}
		prefill(&generator->pools[i], generator);
	}
	return 0;
}

/*
 * Writes flow and sequence number of packet `nth` of a queue. Flow i uses queue i modulo the queues, so
 * that its packets stay in order. The flows of a queue take turns, and each has its own sequence.
 */
static void number_packet(struct packet *packet, const struct generator *generator, uint32_t queue,
			  uint64_t nth)
{
	uint32_t queues = generator->queues;
	uint64_t flows = (generator->flows - queue + queues - 1) / queues;

	flow_packet_number(packet->data, queue + queues * (uint32_t)(nth % flows), nth / flows);
}

/* Sends at most `count` packets on a queue. Returns the number of sent packets. */
static uint32_t send_batch(struct generator *generator, uint32_t queue, uint32_t count)
{
	struct packet **packets = generator->packets;
	uint32_t filled = 0;

	while (filled < count) {
		struct packet *packet = packet_alloc(&generator->pools[queue]);

		if (packet == NULL) {
			break;
		}
		if (generator->numbered) {
			number_packet(packet, generator, queue, generator->sent[queue] + filled);
		}
		packets[filled] = packet;
		filled++;
	}
	uint32_t sent = tx_batch(&generator->port.device.tx[queue], packets, filled);

	packets_free(packets, sent, filled);
	generator->sent[queue] += sent;
	return sent;
}

/* Takes what the device has received, so that a loop in the cable does not fill the ring. */
static uint32_t drop_received(struct generator *generator, uint32_t batch)
{
	uint32_t received = rx_batch(&generator->port.device.rx[0], generator->packets, batch);

	packets_free(generator->packets, 0, received);
	return received;
}

/* Sends until the end of the run. Returns 0, or -1 with the reason. */
static int generate(struct generator *generator, const struct options *options,
		    struct totals *totals, struct error *error)
{
	const struct common_options *common = &options->common;
	uint32_t turns = port_turns_per_look(&generator->port);
	uint64_t left = common->packets;
	uint32_t queue = 0;
	bool ended = false;
	struct run run;

	run_start(&run, common->duration);
	struct token_bucket bucket = token_bucket_new(options->rate, common->batch, run.start);

	while (left > 0 && !ended) {
		for (uint32_t i = 0; i < turns && left > 0; i++) {
			uint32_t count = common->batch < left ? common->batch : (uint32_t)left;

			if (options->rate > 0) {
				count = token_bucket_take(&bucket, now_ns(), count);
			}
			uint32_t sent = send_batch(generator, queue, count);

			if (options->rate > 0) {
				token_bucket_return(&bucket, count - sent);
			}
			left -= sent;
			totals->tx += sent;
			totals->rx += drop_received(generator, common->batch);
			queue = (queue + 1) % generator->queues;
		}
		if (run_look(&run, &generator->port, &ended, error) != 0) {
			return -1;
		}
	}
	totals->tx_bytes = totals->tx * generator->size;
	totals->seconds = run_seconds(&run);
	totals->tsc_cycles = run_tsc_cycles(&run);
	return 0;
}

/* Writes the totals, with those of each queue if there are several. Returns 0, or -1 with errno. */
static int write_totals(int fd, const struct generator *generator, const struct totals *totals)
{
	int written = dprintf(fd,
			      "{\"tx\":%" PRIu64 ",\"tx_bytes\":%" PRIu64 ",\"rx\":%" PRIu64
			      ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64,
			      totals->tx, totals->tx_bytes, totals->rx, totals->seconds,
			      totals->tsc_cycles);

	if (written >= 0 && generator->queues > 1) {
		written = dprintf(fd, ",\"queues\":[%" PRIu64, generator->sent[0]);
		for (uint32_t i = 1; i < generator->queues && written >= 0; i++) {
			written = dprintf(fd, ",%" PRIu64, generator->sent[i]);
		}
		if (written >= 0) {
			written = dprintf(fd, "]");
		}
	}
	if (written >= 0) {
		written = dprintf(fd, "}\n");
	}
	return json_close(fd, written);
}

/*
 * Stops the device and frees everything. The pools of the TX queues are in the port's container, and
 * their packets in its rings. So the rings are released first, and the container is closed last.
 */
static int generator_close(struct generator *generator, struct error *error)
{
	int result = device_stop_queues(&generator->port.device, error);

	device_release(&generator->port.device);
	for (uint32_t i = 0; i < generator->queues; i++) {
		mempool_destroy(&generator->pools[i]);
	}
	port_free(&generator->port);
	return result;
}

/* Opens the device, sends, and closes it. Returns the exit status. */
static int generate_until_end(const struct options *options, struct generator *generator,
			      int json_fd)
{
	struct totals totals = {0};
	struct error error;
	int status = EXIT_SUCCESS;

	if (generator_open(generator, options, &error) != 0) {
		say("ixgbe-pktgen: %s\n", error.text);
		if (generator->port.opened) {
			(void)generator_close(generator, &error);
		}
		return EXIT_RUN_TIME;
	}
	if (generate(generator, options, &totals, &error) != 0) {
		say("ixgbe-pktgen: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (generator_close(generator, &error) != 0 && status == EXIT_SUCCESS) {
		say("ixgbe-pktgen: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (json_fd >= 0 && write_totals(json_fd, generator, &totals) != 0) {
		say("ixgbe-pktgen: %s: %s\n", options->common.json, strerror(errno));
		status = EXIT_RUN_TIME;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {.common = common_options_default(), .queues = 1};
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	struct generator generator = {
		.queues = options.queues,
		.flows = options.flows,
		.size = options.size,
		.numbered = options.template_file == NULL,
	};
	struct error error;

	/* Reads the file first, so that a wrong one fails before the device is opened. */
	if (!generator.numbered &&
	    pcap_read_first(options.template_file, generator.frame, FLOW_PACKET_MAX_SIZE,
			    &generator.size, &error) != 0) {
		say("ixgbe-pktgen: %s\n", error.text);
		return EXIT_RUN_TIME;
	}
	int json_fd = json_open(&program, options.common.json);

	return json_fd == -2 ? EXIT_RUN_TIME : generate_until_end(&options, &generator, json_fd);
}
