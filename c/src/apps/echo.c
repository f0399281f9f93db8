/* ixgbe-echo: answers on a device what it receives: MAC echo, or ARP and ICMP echo for an address. */
#define _GNU_SOURCE
#include "apps/echo_packet.h"
#include "apps/port.h"
#include "rooms/stats.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The lines as --help prints them. */
/* clang-format off */
static const char usage[] =
	"usage: ixgbe-echo [--ip ADDRESS] [--batch N] [--ring-size N] [--packets N] [--duration S]\n"
	"                  [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n"
	"\n"
	"Answers the frames that a device receives. With --ip, it answers ARP and ping for that\n"
	"address. Without, it returns each frame that is addressed to the device to its sender.\n"
	"Ends on SIGINT or SIGTERM, after N packets, or after S seconds.\n"
	"\n"
	COMMON_USAGE_DEVICE;
/* clang-format on */

static const struct program program = {.name = "ixgbe-echo", .usage = usage};

struct options {
	struct common_options common;
	struct echo_address own;
	const char *device;
};

/* The results of a run, in packets. */
struct totals {
	uint64_t rx;
	uint64_t tx;
	uint64_t answers[ECHO_ICMP + 1]; /* by enum echo_answer; those of ECHO_NONE are ignored */
	uint64_t dropped; /* answers for which the TX ring had no room */
	double seconds;
	uint64_t tsc_cycles;
};

static bool set_address(const struct option_row *row, const char *text)
{
	struct echo_address *own = row->place;

	own->has_ip = inet_pton(AF_INET, text, own->ip) == 1;
	return own->has_ip;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		{"ip", "ADDRESS", "the IPv4 address to answer for, such as 10.0.0.2",
		 set_address, &options->own, "an IPv4 address, such as 10.0.0.2", 0, 0},
		COMMON_ROWS(&options->common, "end after N received packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if (argc - optind != 1) {
		return usage_error(&program, "one device is needed", NULL);
	}
	options->device = argv[optind];
	return -1;
}

/* Receives a batch of at most `count` packets and answers it. Returns the number of received packets. */
static uint32_t echo_turn(struct port *port, const struct echo_address *own, uint32_t count,
			  struct packet **packets, struct totals *totals)
{
	uint32_t received = rx_batch(&port->device.rx[0], packets, count);
	uint32_t answers = 0;

	for (uint32_t i = 0; i < received; i++) {
		struct packet *packet = packets[i];
		enum echo_answer answer = echo_packet(packet->data, packet->size, own);

		totals->answers[answer]++;
		if (answer == ECHO_NONE) {
			packet_free(packet);
			continue;
		}
		packets[answers] = packet;
		answers++;
	}
	uint32_t sent = tx_batch(&port->device.tx[0], packets, answers);

	packets_free(packets, sent, answers);
	totals->rx += received;
	totals->tx += sent;
	totals->dropped += answers - sent;
	return received;
}

/* Answers until the end of the run. Returns 0, or -1 with the reason. */
static int echo(struct port *port, const struct options *options, struct totals *totals,
		struct error *error)
{
	struct packet *packets[FORWARDER_MAX_BATCH];
	uint32_t turns = port_turns_per_look(port);
	uint64_t left = options->common.packets;
	bool ended = false;
	struct run run;

	run_start(&run, options->common.duration);
	while (left > 0 && !ended) {
		for (uint32_t i = 0; i < turns && left > 0; i++) {
			uint32_t batch = options->common.batch;
			uint32_t count = batch < left ? batch : (uint32_t)left;

			left -= echo_turn(port, &options->own, count, packets, totals);
		}
		if (run_look(&run, port, &ended, error) != 0) {
			return -1;
		}
	}
	totals->seconds = run_seconds(&run);
	totals->tsc_cycles = run_tsc_cycles(&run);
	return 0;
}

static int write_totals(int fd, const struct totals *totals)
{
	return json_close(fd, dprintf(fd,
				      "{\"rx\":%" PRIu64 ",\"tx\":%" PRIu64 ",\"mac\":%" PRIu64
				      ",\"arp\":%" PRIu64 ",\"icmp\":%" PRIu64
				      ",\"ignored\":%" PRIu64 ",\"dropped\":%" PRIu64
				      ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64 "}\n",
				      totals->rx, totals->tx, totals->answers[ECHO_MAC],
				      totals->answers[ECHO_ARP], totals->answers[ECHO_ICMP],
				      totals->answers[ECHO_NONE], totals->dropped, totals->seconds,
				      totals->tsc_cycles));
}

/* Opens the device, answers, and closes it. Returns the exit status. */
static int echo_until_end(struct options *options, int json_fd)
{
	struct port port;
	struct totals totals = {0};
	struct error error;
	int status = EXIT_SUCCESS;

	if (port_open(&port, &program, options->device, 1, 1, &options->common, &error) != 0) {
		say("ixgbe-echo: %s\n", error.text);
		return EXIT_RUN_TIME;
	}
	if (mac_read(&port.device, options->own.mac, &error) != 0 ||
	    echo(&port, options, &totals, &error) != 0) {
		say("ixgbe-echo: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (port_close(&port, &error) != 0 && status == EXIT_SUCCESS) {
		say("ixgbe-echo: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (json_fd >= 0 && write_totals(json_fd, &totals) != 0) {
		say("ixgbe-echo: %s: %s\n", options->common.json, strerror(errno));
		status = EXIT_RUN_TIME;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {.common = common_options_default()};
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	int json_fd = json_open(&program, options.common.json);

	return json_fd == -2 ? EXIT_RUN_TIME : echo_until_end(&options, json_fd);
}
