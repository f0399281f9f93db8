/* ixgbe-capture: records what a device receives. */
#define _GNU_SOURCE
#include "apps/pcap_writer.h"
#include "apps/port.h"
#include "rooms/stats.h"
#include <inttypes.h>
#include <time.h>

/* The smallest file of a row: its header and a record with a whole frame fit. */
#define MIN_ROTATE_SIZE 4096

/* The lines as --help prints them. */
/* clang-format off */
static const char usage[] =
	"usage: ixgbe-capture [--write FILE] [--snap BYTES] [--rotate-size BYTES] [--files N]\n"
	"                     [--batch N] [--ring-size N] [--packets N] [--duration S]\n"
	"                     [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n"
	"\n"
	"Records the frames that a device receives, in the pcap format with nanoseconds. The frames\n"
	"of a batch have one time. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.\n"
	"\n"
	COMMON_USAGE_DEVICE;
/* clang-format on */

static const struct program program = {
	.name = "ixgbe-capture",
	.usage = usage,
	.arguments = 1,
	.needs = "one device is needed",
};

/* The state of a run, and its results in packets. */
struct capture {
	struct pcap_options options;
	struct pcap_writer writer;
	uint64_t flushed; /* when the writer was flushed last, nanoseconds */
	uint64_t rx;
	uint64_t rx_bytes; /* without CRC */
	uint64_t snapped; /* frames that are recorded in part */
	uint64_t dropped; /* by the card, because the RX ring was full */
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct common_options *common,
			 struct pcap_options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		{"write", "FILE", "record to FILE; without it, frames are only counted",
		 set_text, &options->path, NULL, 0, 0},
		{"snap", "BYTES", "record at most so many bytes of a frame, 14 to 1984 (default 1984)",
		 set_number, &options->snap, "a number of bytes", 14, PACKET_MAX_SIZE},
		{"rotate-size", "BYTES",
		 "begin another file before one has more bytes than this, from 4096 on;\n"
		 "the files are FILE-00001, FILE-00002, with the ending of FILE",
		 set_large_number, &options->rotate_size, "a number of bytes", MIN_ROTATE_SIZE, UINT32_MAX},
		{"files", "N", "keep the newest N files only; needs --rotate-size",
		 set_number, &options->files, "a number", 1, 99999},
		COMMON_ROWS(common, "end after N received packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if (options->rotate_size != 0 && options->path == NULL) {
		return usage_error(&program, "--rotate-size needs --write FILE", NULL);
	}
	if (options->files != 0 && options->rotate_size == 0) {
		return usage_error(&program, "--files needs --rotate-size BYTES", NULL);
	}
	return -1;
}

/* Nanoseconds since 1970. */
static uint64_t wall_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* Records a batch. Returns 0, or -1 with the reason. */
static int record(struct capture *capture, struct packet **packets, uint32_t count,
		  struct error *error)
{
	uint64_t time = wall_time_ns();

	for (uint32_t i = 0; i < count; i++) {
		capture->snapped += packets[i]->size > capture->options.snap;
		if (pcap_writer_put(&capture->writer, packets[i]->data, packets[i]->size, time,
				    error) != 0) {
			return -1;
		}
	}
	return 0;
}

/* Records what has been received: at most `count` packets. Returns their number. */
static uint32_t capture_turn(struct run *run, struct port *port, struct capture *capture,
			     uint32_t count)
{
	uint32_t received = rx_batch(&port->device.rx[0], port->packets, count);

	for (uint32_t i = 0; i < received; i++) {
		capture->rx_bytes += port->packets[i]->size;
	}
	if (capture->options.path != NULL && received > 0) {
		run->result = record(capture, port->packets, received, &run->error);
	}
	packets_free(port->packets, 0, received);
	capture->rx += received;
	return received;
}

/* Records until the end of the run, and closes the file. */
static void capture_packets(struct run *run, struct port *port, void *state)
{
	struct capture *capture = state;
	struct pcap_writer *writer = &capture->writer;
	struct queue_stats stats = {0};
	struct error error;
	uint32_t count = 0;

	run_start(run);
	while (run_goes_on(run, port, &count)) {
		run->left -= capture_turn(run, port, capture, count);
		/* A reader of the file sees the frames within a second. */
		if (run->result == 0 && run->time - capture->flushed >= NANOSECONDS) {
			run->result = pcap_writer_flush(writer, &run->error);
			capture->flushed = run->time;
		}
	}
	run_check(run, queue_stats_read(&port->device, 0, &stats, &error), &error);
	capture->dropped = stats.rx_dropped;
	run_check(run, pcap_writer_close(writer, &error), &error);
}

static void write_totals(const struct run *run, const void *state)
{
	const struct capture *capture = state;

	(void)fprintf(run->json,
		      "{\"rx\":%" PRIu64 ",\"rx_bytes\":%" PRIu64 ",\"written\":%" PRIu64
		      ",\"snapped\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"files\":%" PRIu32
		      ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64 "}\n",
		      capture->rx, capture->rx_bytes, capture->writer.frames, capture->snapped,
		      capture->dropped, capture->writer.number, run->seconds, run->tsc_cycles);
}

int main(int argc, char **argv)
{
	struct common_options common = common_options_default();
	struct capture state = {.options = {.snap = PACKET_MAX_SIZE}};
	struct error error;
	int status = parse_options(argc, argv, &common, &state.options);
	const struct work work = {capture_packets, write_totals, &state};

	if (status >= 0) {
		return status;
	}
	/* Opens the file first, so that a wrong path fails before the run. */
	if (pcap_writer_open(&state.writer, &state.options, &error) != 0) {
		return exit_status(&program, -1, &error);
	}
	return run_on_port(&program, &common, argv[optind], 0, &work);
}
