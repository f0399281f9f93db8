/* ixgbe-replay: sends the frames of a pcap file, at the recorded or at another speed. */
#define _GNU_SOURCE
#include "apps/pcap_file.h"
#include "apps/port.h"
#include "apps/token_bucket.h"
#include <inttypes.h>
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

static const struct program program = {
	.name = "ixgbe-replay",
	.usage = usage,
	.arguments = 2,
	.needs = "one file and one device are needed",
};

struct options {
	double speed; /* a multiple of the recorded one, 0: not given, so 1 */
	uint64_t rate; /* packets a second instead, or 0 */
	bool fast;
	uint64_t loops;
};

/* What is sent, where the program is in it, and its results in packets. */
struct replay {
	struct options options;
	struct pcap_recording recording;
	uint64_t next; /* the frame to send next */
	uint64_t loops; /* that are done */
	uint64_t tx;
	uint64_t tx_bytes; /* without CRC */
	uint64_t rx;
	uint64_t late; /* packets that were sent more than 1 ms after their time */
	uint64_t max_late; /* the most that one was late, in nanoseconds */
};

static bool set_speed(const struct option_row *row, const char *text)
{
	double *speed = row->place;
	const char *end = NULL;

	return parse_decimal(text, speed, &end) && *end == '\0' && *speed >= MIN_SPEED &&
	       *speed <= MAX_SPEED;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct common_options *common,
			 struct options *options)
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
		COMMON_ROWS(common, "end after N sent packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status < 0 && (options->speed > 0) + (options->rate > 0) + options->fast > 1) {
		return usage_error(&program, "--speed, --rate and --fast exclude each other", NULL);
	}
	return status;
}

/* Nanoseconds from the first frame of a loop to the first one of the next: the last pause is the mean one. */
static uint64_t loop_time(const struct pcap_recording *recording)
{
	uint64_t last = recording->frames[recording->count - 1].time;

	return recording->count == 1 ? 0 : last + last / (recording->count - 1);
}

/* When the next frame is due, in nanoseconds since the start of the run. */
static uint64_t due_time(const struct replay *replay)
{
	double speed = replay->options.speed > 0 ? replay->options.speed : 1;
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

/* Takes a packet and copies a frame to it. Returns NULL if no packet is free. */
static struct packet *packet_of(struct mempool *pool, const struct pcap_frame *frame)
{
	struct packet *packet = packet_alloc(pool);

	if (packet != NULL) {
		memcpy(packet->data, frame->data, frame->size);
		packet->size = frame->size;
	}
	return packet;
}

/*
 * Sends up to `count` frames that are due at `now`, in nanoseconds since the start. Without a speed, all
 * are. Returns the number of sent packets.
 */
static uint32_t send_due(struct port *port, struct replay *replay, uint32_t count, uint64_t now)
{
	bool timed = replay->options.rate == 0 && !replay->options.fast;
	uint64_t first = replay->next;
	uint64_t loops = replay->loops;
	uint32_t filled = 0;

	while (filled < count && !(timed && due_time(replay) > now)) {
		port->packets[filled] = packet_of(&port->pools[0],
						  &replay->recording.frames[replay->next]);
		if (port->packets[filled] == NULL) {
			break;
		}
		filled++;
		step(replay);
	}
	uint32_t sent = tx_batch(&port->device.tx[0], port->packets, filled);

	packets_free(port->packets, sent, filled);
	/* Goes back to the first frame that was not sent, and counts those that were. */
	replay->next = first;
	replay->loops = loops;
	for (uint32_t i = 0; i < sent; i++) {
		uint64_t late = timed ? now - due_time(replay) : 0;

		replay->late += late > LATE_NANOSECONDS;
		replay->max_late = late > replay->max_late ? late : replay->max_late;
		replay->tx_bytes += replay->recording.frames[replay->next].size;
		step(replay);
	}
	return sent;
}

/* Sends until the end of the run. */
static void send_all(struct run *run, struct port *port, void *state)
{
	struct replay *replay = state;
	uint64_t frames = replay->options.loops * replay->recording.count;
	uint32_t count = 0;

	run_start(run);
	struct token_bucket bucket = token_bucket_new(replay->options.rate, run->options->batch);

	run->left = frames < run->left ? frames : run->left;
	while (run_goes_on(run, port, &count)) {
		uint64_t now = now_ns() - run->start;
		uint32_t taken = token_bucket_take(&bucket, count);
		uint32_t sent = send_due(port, replay, taken, now);

		token_bucket_return(&bucket, taken - sent);
		run->left -= sent;
		replay->tx += sent;
		replay->rx += port_drop_received(port, run->options->batch);
	}
}

static void write_totals(const struct run *run, const void *state)
{
	const struct replay *replay = state;

	(void)fprintf(run->json,
		      "{\"tx\":%" PRIu64 ",\"tx_bytes\":%" PRIu64 ",\"rx\":%" PRIu64
		      ",\"loops\":%" PRIu64 ",\"late\":%" PRIu64
		      ",\"max_late_seconds\":%.9f,\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64 "}\n",
		      replay->tx, replay->tx_bytes, replay->rx, replay->loops, replay->late,
		      (double)replay->max_late / (double)NANOSECONDS, run->seconds,
		      run->tsc_cycles);
}

int main(int argc, char **argv)
{
	struct common_options common = common_options_default();
	struct replay replay = {.options = {.loops = 1}};
	struct error error;
	int status = parse_options(argc, argv, &common, &replay.options);
	const struct work work = {send_all, write_totals, &replay};

	if (status >= 0) {
		return status;
	}
	/* Reads the file first, so that a wrong one fails before the device is opened. */
	if (pcap_load(argv[optind], UINT64_MAX, MAX_FRAME, &replay.recording, &error) != 0) {
		return exit_status(&program, -1, &error);
	}
	status = run_on_port(&program, &common, argv[optind + 1], 0, &work);
	pcap_unload(&replay.recording);
	return status;
}
