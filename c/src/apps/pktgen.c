/* ixgbe-pktgen: sends packets at a rate, or as fast as the device takes them. */
#define _GNU_SOURCE
#include "apps/flow_packet.h"
#include "apps/pcap_file.h"
#include "apps/port.h"
#include "apps/token_bucket.h"
#include "rooms/stats.h"
#include <inttypes.h>
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

static const struct program program = {
	.name = "ixgbe-pktgen",
	.usage = usage,
	.arguments = 1,
	.needs = "one device is needed",
};

struct options {
	uint64_t rate; /* packets a second, 0: no limit */
	uint32_t size;
	uint32_t flows;
	uint32_t queues;
	const char *template_file;
};

/* What is sent, and the results in packets. */
struct generator {
	struct options options;
	uint8_t frame[FLOW_PACKET_MAX_SIZE];
	uint32_t size;
	uint64_t sent[DEVICE_MAX_QUEUES]; /* packets on each TX queue */
	uint64_t tx;
	uint64_t rx;
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct common_options *common,
			 struct options *options)
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
		COMMON_ROWS(common, "end after N sent packets"),
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

/*
 * Writes flow and sequence number of packet `nth` of a queue. Flow i uses queue i modulo the queues, so
 * that its packets stay in order. The flows of a queue take turns, and each has its own sequence.
 */
static void number_packet(struct packet *packet, const struct generator *generator, uint32_t queue,
			  uint64_t nth)
{
	uint32_t queues = generator->options.queues;
	uint64_t flows = (generator->options.flows - queue + queues - 1) / queues;

	flow_packet_number(packet->data, queue + queues * (uint32_t)(nth % flows), nth / flows);
}

/* Sends at most `count` packets on a queue. Returns the number of sent packets. */
static uint32_t send_batch(struct port *port, struct generator *generator, uint32_t queue,
			   uint32_t count)
{
	struct packet **packets = port->packets;
	uint32_t filled = 0;

	while (filled < count) {
		struct packet *packet = packet_alloc(&port->tx_pools[queue]);

		if (packet == NULL) {
			break;
		}
		if (generator->options.template_file == NULL) {
			number_packet(packet, generator, queue, generator->sent[queue] + filled);
		}
		packets[filled] = packet;
		filled++;
	}
	uint32_t sent = tx_batch(&port->device.tx[queue], packets, filled);

	packets_free(packets, sent, filled);
	generator->sent[queue] += sent;
	generator->tx += sent;
	return sent;
}

/* Sends until the end of the run. */
static void generate(struct run *run, struct port *port, void *state)
{
	struct generator *generator = state;
	const struct options *options = &generator->options;
	uint32_t queue = 0;
	uint32_t count = 0;

	if (options->template_file == NULL) {
		uint8_t mac[6] = {0};

		run->result = mac_read(&port->device, mac, &run->error);
		flow_packet_fill(generator->frame, generator->size, mac);
	}
	/* The pools of other queues are empty. */
	for (uint32_t i = 0; i < DEVICE_MAX_QUEUES; i++) {
		prefill(&port->tx_pools[i], generator);
	}
	run_start(run);
	struct token_bucket bucket = token_bucket_new(options->rate, run->options->batch);

	while (run_goes_on(run, port, &count)) {
		uint32_t taken = token_bucket_take(&bucket, count);
		uint32_t sent = send_batch(port, generator, queue, taken);

		token_bucket_return(&bucket, taken - sent);
		run->left -= sent;
		generator->rx += port_drop_received(port, run->options->batch);
		queue = (queue + 1) % options->queues;
	}
}

/* Writes the totals, with those of each queue if there are several. */
static void write_totals(const struct run *run, const void *state)
{
	const struct generator *generator = state;
	uint32_t queues = generator->options.queues;

	(void)fprintf(run->json,
		      "{\"tx\":%" PRIu64 ",\"tx_bytes\":%" PRIu64 ",\"rx\":%" PRIu64
		      ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64,
		      generator->tx, generator->tx * generator->size, generator->rx, run->seconds,
		      run->tsc_cycles);
	for (uint32_t i = 0; i < queues && queues > 1; i++) {
		(void)fprintf(run->json, "%s%" PRIu64, i == 0 ? ",\"queues\":[" : ",",
			      generator->sent[i]);
	}
	(void)fprintf(run->json, queues > 1 ? "]}\n" : "}\n");
}

int main(int argc, char **argv)
{
	struct common_options common = common_options_default();
	struct generator generator = {.options = {.queues = 1}};
	struct options *options = &generator.options;
	struct pcap_recording recording;
	struct error error;
	int status = parse_options(argc, argv, &common, options);
	const struct work work = {generate, write_totals, &generator};

	if (status >= 0) {
		return status;
	}
	generator.size = options->size;
	/* Reads the file first, so that a wrong one fails before the device is opened. */
	if (options->template_file != NULL) {
		if (pcap_load(options->template_file, 1, FLOW_PACKET_MAX_SIZE, &recording,
			      &error) != 0) {
			return exit_status(&program, -1, &error);
		}
		generator.size = recording.frames[0].size;
		memcpy(generator.frame, recording.frames[0].data, generator.size);
		pcap_unload(&recording);
	}
	return run_on_port(&program, &common, argv[optind], options->queues, &work);
}
