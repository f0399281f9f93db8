/* ixgbe-replay: sends the frames of a pcap file, at the recorded or at another speed. */
#define _GNU_SOURCE
#include "apps/pcap_file.h"
#include "apps/port.h"
#include "apps/token_bucket.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The largest frame without CRC: with a VLAN tag. */
#define MAX_FRAME 1518

#define MAX_LOOPS 1000000000ull

/* The factors of --speed. */
#define MIN_SPEED 0.001
#define MAX_SPEED 1000.0

/* Nanoseconds: some 292 years. */
#define MAX_DUE (1ull << 63)

/* A frame that is sent so much after its time is late. */
#define LATE_NANOSECONDS 1000000ull

/* The lines as --help prints them. */
/* clang-format off */
static const char usage[] =
	"usage: ixgbe-replay [--speed X | --rate PPS | --fast] [--loops N]\n"
	"                    [--batch N] [--ring-size N] [--packets N] [--duration S]\n"
	"                    [--connect-timeout S] [--link-timeout S] [--json FILE] FILE DEVICE\n"
	"\n"
	"Sends the frames of a pcap file on a device, with the pauses between them. Checks the whole\n"
	"file first. Drops what the device receives. Ends after the last frame, on SIGINT or SIGTERM,\n"
	"after N packets, or after S seconds.\n"
	"\n"
	"  FILE                 classic pcap with whole Ethernet frames, up to 2 GiB\n"
	COMMON_USAGE_DEVICE;
/* clang-format on */

static const struct program program = {.name = "ixgbe-replay", .usage = usage};

struct options {
	struct common_options common;
	double speed; /* a multiple of the recorded one, 0: not given, so 1 */
	uint64_t rate; /* packets a second instead, or 0 */
	bool fast;
	uint64_t loops;
	const char *file;
	const char *device;
};

/* The results of a run, in packets. */
struct totals {
	uint64_t tx;
	uint64_t tx_bytes; /* without CRC */
	uint64_t rx;
	uint64_t loops; /* whole ones */
	uint64_t late; /* packets that were sent more than 1 ms after their time */
	uint64_t max_late; /* the most that one was late, in nanoseconds */
	double seconds;
	uint64_t tsc_cycles;
};

/* The port, what it sends, and where it is. */
struct replay {
	struct port port;
	struct pcap_recording recording;
	uint64_t next; /* the frame to send next */
	uint64_t loops; /* that are done */
	struct packet *packets[FORWARDER_MAX_BATCH];
};

static bool set_speed(const struct option_row *row, const char *text)
{
	double *speed = row->place;
	char *end = NULL;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*speed = strtod(text, &end);
	/* strtod would also take hexadecimal numbers and exponents. */
	bool decimal = strspn(text, "0123456789.") == (size_t)(end - text);

	return errno == 0 && decimal && *end == '\0' && *speed >= MIN_SPEED && *speed <= MAX_SPEED;
}

static bool set_rate(const struct option_row *row, const char *text)
{
	return token_bucket_parse_rate(text, row->place);
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		{"speed", "X", "X times the recorded speed, 0.001 to 1000 (default 1)",
		 set_speed, &options->speed, "a number from 0.001 to 1000", 0, 0},
		{"rate", "PPS", "packets a second instead, such as 250000, 10k or 1.5M",
		 set_rate, &options->rate, "whole packets a second, from 1 to 100M", 0, 0},
		{"fast", NULL, "as fast as the device takes them", set_flag, &options->fast, NULL, 0, 0},
		{"loops", "N", "send the file N times, up to 1000000000 (default 1)",
		 set_large_number, &options->loops, "a number", 1, MAX_LOOPS},
		COMMON_ROWS(&options->common, "end after N sent packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if ((options->speed > 0) + (options->rate > 0) + options->fast > 1) {
		return usage_error(&program, "--speed, --rate and --fast exclude each other", NULL);
	}
	if (argc - optind != 2) {
		return usage_error(&program, "one file and one device are needed", NULL);
	}
	options->speed = options->speed > 0 ? options->speed : 1;
	options->file = argv[optind];
	options->device = argv[optind + 1];
	return -1;
}

/* Nanoseconds from the first frame of a loop to the first one of the next: the last pause is the mean one. */
static uint64_t loop_time(const struct pcap_recording *recording)
{
	uint64_t last = recording->frames[recording->count - 1].time;

	return recording->count == 1 ? 0 : last + last / (recording->count - 1);
}

/* When the next frame is due, in nanoseconds since the start of the run. */
static uint64_t due_time(const struct replay *replay, double speed)
{
	double loops = (double)replay->loops * (double)loop_time(&replay->recording);
	double due = (loops + (double)replay->recording.frames[replay->next].time) / speed;

	/* No run lasts so long. */
	return due < (double)MAX_DUE ? (uint64_t)due : MAX_DUE;
}

static void step(struct replay *replay)
{
	replay->next++;
	if (replay->next == replay->recording.count) {
		replay->next = 0;
		replay->loops++;
	}
}

/* Takes a packet and copies the next frame to it. Returns false if no packet is free. */
static bool fill_packet(struct replay *replay, uint32_t index)
{
	const struct pcap_frame *frame = &replay->recording.frames[replay->next];
	struct packet *packet = packet_alloc(&replay->port.pools[0]);

	if (packet == NULL) {
		return false;
	}
	memcpy(packet->data, frame->data, frame->size);
	packet->size = frame->size;
	replay->packets[index] = packet;
	return true;
}

/*
 * Sends up to `count` frames that are due at `now`, in nanoseconds since the start. Without a speed, all
 * are. Returns the number of sent packets.
 */
static uint32_t send_due(struct replay *replay, const struct options *options, uint32_t count,
			 uint64_t now, struct totals *totals)
{
	bool timed = options->rate == 0 && !options->fast;
	uint64_t first = replay->next;
	uint64_t loops = replay->loops;
	uint32_t filled = 0;

	while (filled < count && replay->loops < options->loops) {
		if ((timed && due_time(replay, options->speed) > now) ||
		    !fill_packet(replay, filled)) {
			break;
		}
		filled++;
		step(replay);
	}
	uint32_t sent = tx_batch(&replay->port.device.tx[0], replay->packets, filled);

	packets_free(replay->packets, sent, filled);
	/* Goes back to the first frame that was not sent, and counts those that were. */
	replay->next = first;
	replay->loops = loops;
	for (uint32_t i = 0; i < sent; i++) {
		uint64_t late = timed ? now - due_time(replay, options->speed) : 0;

		totals->late += late > LATE_NANOSECONDS;
		totals->max_late = late > totals->max_late ? late : totals->max_late;
		totals->tx_bytes += replay->recording.frames[replay->next].size;
		step(replay);
	}
	return sent;
}

/* Takes what the device has received, so that a loop in the cable does not fill the ring. */
static uint32_t drop_received(struct replay *replay, uint32_t batch)
{
	uint32_t received = rx_batch(&replay->port.device.rx[0], replay->packets, batch);

	packets_free(replay->packets, 0, received);
	return received;
}

/* Sends until the end of the run. Returns 0, or -1 with the reason. */
static int send_all(struct replay *replay, const struct options *options, struct totals *totals,
		    struct error *error)
{
	const struct common_options *common = &options->common;
	uint32_t turns = port_turns_per_look(&replay->port);
	uint64_t left = common->packets;
	bool ended = false;
	struct run run;

	run_start(&run, common->duration);
	/* Without a rate, the bucket is not used. */
	struct token_bucket bucket = token_bucket_new(options->rate, common->batch, run.start);

	while (left > 0 && !ended && replay->loops < options->loops) {
		for (uint32_t i = 0; i < turns && left > 0 && replay->loops < options->loops; i++) {
			uint32_t count = common->batch < left ? common->batch : (uint32_t)left;
			uint64_t now = now_ns();

			if (options->rate > 0) {
				count = token_bucket_take(&bucket, now, count);
			}
			uint32_t sent = send_due(replay, options, count, now - run.start, totals);

			if (options->rate > 0) {
				token_bucket_return(&bucket, count - sent);
			}
			left -= sent;
			totals->tx += sent;
			totals->rx += drop_received(replay, common->batch);
		}
		if (run_look(&run, &replay->port, &ended, error) != 0) {
			return -1;
		}
	}
	totals->loops = replay->loops;
	totals->seconds = run_seconds(&run);
	totals->tsc_cycles = run_tsc_cycles(&run);
	return 0;
}

/* Writes the totals to `fd` and closes it. Returns 0, or -1 with errno. */
static int write_totals(int fd, const struct totals *totals)
{
	int written = dprintf(fd,
			      "{\"tx\":%" PRIu64 ",\"tx_bytes\":%" PRIu64 ",\"rx\":%" PRIu64
			      ",\"loops\":%" PRIu64 ",\"late\":%" PRIu64
			      ",\"max_late_seconds\":%.9f,\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64
			      "}\n",
			      totals->tx, totals->tx_bytes, totals->rx, totals->loops, totals->late,
			      (double)totals->max_late / (double)NANOSECONDS, totals->seconds,
			      totals->tsc_cycles);

	return json_close(fd, written);
}

/* Opens the device, sends, and closes it. Returns the exit status. */
static int replay_until_end(const struct options *options, struct replay *replay, int json_fd)
{
	struct totals totals = {0};
	struct error error;
	int status = EXIT_SUCCESS;

	if (port_open(&replay->port, &program, options->device, 1, 1, &options->common, &error) !=
	    0) {
		say("ixgbe-replay: %s\n", error.text);
		return EXIT_RUN_TIME;
	}
	if (send_all(replay, options, &totals, &error) != 0) {
		say("ixgbe-replay: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (port_close(&replay->port, &error) != 0 && status == EXIT_SUCCESS) {
		say("ixgbe-replay: %s\n", error.text);
		status = EXIT_RUN_TIME;
	}
	if (json_fd >= 0 && write_totals(json_fd, &totals) != 0) {
		say("ixgbe-replay: %s: %s\n", options->common.json, strerror(errno));
		status = EXIT_RUN_TIME;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {
		.common = common_options_default(),
		.loops = 1,
	};
	struct replay replay = {.next = 0};
	struct error error;
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	/* Reads the file first, so that a wrong one fails before the device is opened. */
	if (pcap_load(options.file, MAX_FRAME, &replay.recording, &error) != 0) {
		say("ixgbe-replay: %s\n", error.text);
		return EXIT_RUN_TIME;
	}
	int json_fd = json_open(&program, options.common.json);

	status = json_fd == -2 ? EXIT_RUN_TIME : replay_until_end(&options, &replay, json_fd);
	pcap_unload(&replay.recording);
	return status;
}
