/* ixgbe-echo: answers on a device what it receives: MAC echo, or ARP and ICMP echo for an address. */
#define _GNU_SOURCE
#include "apps/echo_packet.h"
#include "apps/port.h"
#include "rooms/stats.h"
#include <arpa/inet.h>
#include <inttypes.h>

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

static const struct program program = {
	.name = "ixgbe-echo",
	.usage = usage,
	.arguments = 1,
	.needs = "one device is needed",
};

/* Who answers, and the results in packets. */
struct echo {
	struct echo_address own;
	uint64_t rx;
	uint64_t tx;
	uint64_t answers[ECHO_ICMP + 1]; /* by enum echo_answer; those of ECHO_NONE are ignored */
	uint64_t dropped; /* answers for which the TX ring had no room */
};

static bool set_address(const struct option_row *row, const char *text)
{
	struct echo_address *own = row->place;

	own->has_ip = inet_pton(AF_INET, text, own->ip) == 1;
	return own->has_ip;
}

/* Answers what has been received: at most `count` packets. Returns their number. */
static uint32_t echo_turn(struct port *port, struct echo *echo, uint32_t count)
{
	struct packet **packets = port->packets;
	uint32_t received = rx_batch(&port->device.rx[0], packets, count);
	uint32_t answers = 0;

	for (uint32_t i = 0; i < received; i++) {
		struct packet *packet = packets[i];
		enum echo_answer answer = echo_packet(packet->data, packet->size, &echo->own);

		echo->answers[answer]++;
		if (answer == ECHO_NONE) {
			packet_free(packet);
			continue;
		}
		packets[answers] = packet;
		answers++;
	}
	uint32_t sent = tx_batch(&port->device.tx[0], packets, answers);

	packets_free(packets, sent, answers);
	echo->rx += received;
	echo->tx += sent;
	echo->dropped += answers - sent;
	return received;
}

/* Answers until the end of the run. */
static void echo(struct run *run, struct port *port, void *state)
{
	struct echo *echo = state;
	uint32_t count = 0;

	run->result = mac_read(&port->device, echo->own.mac, &run->error);
	run_start(run);
	while (run_goes_on(run, port, &count)) {
		run->left -= echo_turn(port, echo, count);
	}
}

static void write_totals(const struct run *run, const void *state)
{
	const struct echo *echo = state;

	(void)fprintf(run->json,
		      "{\"rx\":%" PRIu64 ",\"tx\":%" PRIu64 ",\"mac\":%" PRIu64 ",\"arp\":%" PRIu64
		      ",\"icmp\":%" PRIu64 ",\"ignored\":%" PRIu64 ",\"dropped\":%" PRIu64
		      ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64 "}\n",
		      echo->rx, echo->tx, echo->answers[ECHO_MAC], echo->answers[ECHO_ARP],
		      echo->answers[ECHO_ICMP], echo->answers[ECHO_NONE], echo->dropped,
		      run->seconds, run->tsc_cycles);
}

int main(int argc, char **argv)
{
	struct common_options common = common_options_default();
	struct echo state = {.rx = 0};
	/* clang-format off */
	const struct option_row rows[] = {
		{"ip", "ADDRESS", "the IPv4 address to answer for, such as 10.0.0.2",
		 set_address, &state.own, "an IPv4 address, such as 10.0.0.2", 0, 0},
		COMMON_ROWS(&common, "end after N received packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);
	const struct work work = {echo, write_totals, &state};

	return status >= 0 ? status : run_on_port(&program, &common, argv[optind], 0, &work);
}
