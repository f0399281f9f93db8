/* ixgbe-capture: records what a device receives. */
#define _GNU_SOURCE
#include "apps/pcap_writer.h"
#include "apps/port.h"
#include "rooms/stats.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

static const struct program program = {.name = "ixgbe-capture", .usage = usage};

struct options {
	struct common_options common;
	const char *write_file; /* NULL: none */
	uint32_t snap;
	uint64_t rotate_size; /* 0: no limit */
	uint32_t files; /* 0: all */
	const char *device;
};

/* The results of a run, in packets. */
struct totals {
	uint64_t rx;
	uint64_t rx_bytes; /* without CRC */
	uint64_t written;
	uint64_t snapped; /* frames that are recorded in part */
	uint64_t dropped; /* by the card, because the RX ring was full */
	uint32_t files;
	double seconds;
	uint64_t tsc_cycles;
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	/* clang-format off */
	const struct option_row rows[] = {
		{"write", "FILE", "record to FILE; without it, frames are only counted",
		 set_text, &options->write_file, NULL, 0, 0},
		{"snap", "BYTES", "record at most so many bytes of a frame, 14 to 1984 (default 1984)",
		 set_number, &options->snap, "a number of bytes", 14, PACKET_MAX_SIZE},
		{"rotate-size", "BYTES",
		 "begin another file before one has more bytes than this, from 4096 on;\n"
		 "the files are FILE-00001, FILE-00002, with the ending of FILE",
		 set_large_number, &options->rotate_size, "a number of bytes", MIN_ROTATE_SIZE, UINT32_MAX},
		{"files", "N", "keep the newest N files only; needs --rotate-size",
		 set_number, &options->files, "a number", 1, 99999},
		COMMON_ROWS(&options->common, "end after N received packets"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if (options->rotate_size != 0 && options->write_file == NULL) {
		return usage_error(&program, "--rotate-size needs --write FILE", NULL);
	}
	if (options->files != 0 && options->rotate_size == 0) {
		return usage_error(&program, "--files needs --rotate-size BYTES", NULL);
	}
	if (argc - optind != 1) {
		return usage_error(&program, "one device is needed", NULL);
	}
	options->device = argv[optind];
	return -1;
}

/* Nanoseconds since 1970. */
static uint64_t wall_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* Records a batch of at most `count` packets. Returns their number, or -1 with the reason. */
static int64_t capture_turn(struct port *port, struct pcap_writer *writer, uint32_t count,
			    struct packet **packets, struct totals *totals, struct error *error)
{
	uint32_t received = rx_batch(&port->device.rx[0], packets, count);
	uint64_t time = received > 0 ? wall_time_ns() : 0;
	int result = 0;

	for (uint32_t i = 0; i < received; i++) {
		totals->rx_bytes += packets[i]->size;
		if (writer != NULL && result == 0) {
			totals->snapped += packets[i]->size > writer->snap;
			result = pcap_writer_put(writer, packets[i]->data, packets[i]->size, time,
						 error);
		}
	}
	packets_free(packets, 0, received);
	totals->rx += received;
	return result == 0 ? (int64_t)received : -1;
}

/* Records until the end of the run. Returns 0, or -1 with the reason. */
static int capture(struct port *port, struct pcap_writer *writer, const struct options *options,
		   struct totals *totals, struct error *error)
{
	struct packet *packets[FORWARDER_MAX_BATCH];
	uint32_t turns = port_turns_per_look(port);
	uint64_t left = options->common.packets;
	uint64_t flushed = 0;
	int64_t received = 0;
	bool ended = false;
	struct run run;

	run_start(&run, options->common.duration);
	while (left > 0 && !ended && received >= 0) {
		for (uint32_t i = 0; i < turns && left > 0 && received >= 0; i++) {
			uint32_t batch = options->common.batch;
			uint32_t count = batch < left ? batch : (uint32_t)left;

			received = capture_turn(port, writer, count, packets, totals, error);
			left -= received >= 0 ? (uint64_t)received : 0;
		}
		if (received >= 0 && run_look(&run, port, &ended, error) != 0) {
			received = -1;
		}
		/* A reader of the file sees the frames within a second. */
		if (received >= 0 && writer != NULL && run.time - flushed >= NANOSECONDS) {
			received = pcap_writer_flush(writer, error);
			flushed = run.time;
		}
	}
	totals->seconds = run_seconds(&run);
	totals->tsc_cycles = run_tsc_cycles(&run);
	return received >= 0 ? 0 : -1;
}

static int write_totals(int fd, const struct totals *totals)
{
	return json_close(
		fd, dprintf(fd,
			    "{\"rx\":%" PRIu64 ",\"rx_bytes\":%" PRIu64 ",\"written\":%" PRIu64
			    ",\"snapped\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"files\":%" PRIu32
			    ",\"seconds\":%.9f,\"tsc_cycles\":%" PRIu64 "}\n",
			    totals->rx, totals->rx_bytes, totals->written, totals->snapped,
			    totals->dropped, totals->files, totals->seconds, totals->tsc_cycles));
}

/* Reports the first error of a run only. */
static void report(const struct error *error, int *status)
{
	if (*status == EXIT_SUCCESS) {
		say("ixgbe-capture: %s\n", error->text);
	}
	*status = EXIT_RUN_TIME;
}

/* Opens the device, records, and closes it. Returns the exit status. */
static int capture_until_end(const struct options *options, struct pcap_writer *writer, int json_fd)
{
	struct port port;
	struct totals totals = {0};
	struct queue_stats stats = {0};
	struct error error;
	int status = EXIT_SUCCESS;

	if (port_open(&port, &program, options->device, 1, 1, &options->common, &error) != 0) {
		report(&error, &status);
		return status;
	}
	if (capture(&port, writer, options, &totals, &error) != 0 ||
	    queue_stats_read(&port.device, 0, &stats, &error) != 0) {
		report(&error, &status);
	}
	totals.dropped = stats.rx_dropped;
	if (port_close(&port, &error) != 0) {
		report(&error, &status);
	}
	if (writer != NULL) {
		if (pcap_writer_close(writer, &error) != 0) {
			report(&error, &status);
		}
		totals.written = writer->frames;
		totals.files = writer->number;
	}
	if (json_fd >= 0 && write_totals(json_fd, &totals) != 0) {
		error_set(&error, "%.900s: %s", options->common.json, strerror(errno));
		report(&error, &status);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {.common = common_options_default(), .snap = PACKET_MAX_SIZE};
	struct pcap_writer writer;
	struct error error;
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	/* Opens the files first, so that a wrong path fails before the run. */
	int json_fd = json_open(&program, options.common.json);

	if (json_fd == -2) {
		return EXIT_RUN_TIME;
	}
	if (options.write_file == NULL) {
		return capture_until_end(&options, NULL, json_fd);
	}
	if (pcap_writer_open(&writer, options.write_file, options.snap, options.rotate_size,
			     options.files, &error) != 0) {
		say("ixgbe-capture: %s\n", error.text);
		return EXIT_RUN_TIME;
	}
	return capture_until_end(&options, &writer, json_fd);
}
