/* ixgbe-fwd: forwards packets between two devices, both ways. */
#define _GNU_SOURCE
#include "../forwarder.h"
#include "../mmio.h"
#include "../version.h"
#include "queue_threads.h"
#include "totals.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_RUN_TIME 1
#define EXIT_USAGE 2

#define ERROR_SIZE 1024

/* The forwarder checks the clock and the signals once every so many turns. */
#define TURNS_PER_LOOK 1024

/* The same when a turn may take four messages to servers, each 20 ms or more. */
#define TURNS_PER_LOOK_TRAPPED 8

/* The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap. */
#define WIRE_OVERHEAD_BYTES 20

#define NANOSECONDS 1000000000ull

/* With interrupts, the forwarder sleeps after so many turns without a packet, at most so long. */
#define EMPTY_TURNS 64
#define SLEEP_MS 100

/* With threads, the main thread looks at the clock and at them this often. */
#define LOOK_NANOSECONDS 20000000ull

/* The longest wait for a server or a link, in seconds. */
#define MAX_TIMEOUT 3600

static const char usage[] =
	"usage: ixgbe-fwd [--batch N] [--ring-size N] [--packets N | --duration S]\n"
	"                 [--queues N] [--cpus LIST] [--interrupts] [--interrupt-interval US]\n"
	"                 [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE DEVICE\n"
	"\n"
	"Forwards packets between two devices, both ways, and changes one byte of every packet.\n"
	"Ends on SIGINT or SIGTERM, after N packets, or after S seconds.\n"
	"\n"
	"  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a "
	"socket)\n"
	"  --batch N            packets per call, 1 to 512 (default 32)\n"
	"  --ring-size N        descriptors of every ring, a power of two, 64 to 4096 (default "
	"512)\n"
	"  --queues N           queue pairs of each device, 1 to 16, each with a thread of its "
	"own\n"
	"                       (default 1); RSS divides the flows among them\n"
	"  --cpus LIST          pin a thread to each of these CPUs, such as 1,3 or 0-3; with fewer "
	"CPUs\n"
	"                       than queues, a thread has several queues\n"
	"  --interrupts         sleep while no packets come, instead of polling; needs one queue\n"
	"  --interrupt-interval US\n"
	"                       at least US microseconds between two interrupts of a queue, 0 to\n"
	"                       1022 (default 50)\n"
	"  --packets N          end after N received packets, counted over both directions\n"
	"  --duration S         end after S seconds; fractions are allowed\n"
	"  --connect-timeout S  wait at most S seconds for the sockets, up to 3600 (default 5)\n"
	"  --link-timeout S     wait at most S seconds for each link, up to 3600 (default 30)\n"
	"  --json FILE          write the totals to FILE at the end\n"
	"  --help               print this text\n"
	"  --version            print the version\n";

struct options {
	uint32_t batch;
	uint32_t ring_size;
	uint32_t queues;
	struct cpu_list cpus;
	bool interrupts;
	uint32_t interrupt_interval_us;
	uint64_t packets; /* UINT64_MAX: no limit */
	uint64_t duration; /* nanoseconds, UINT64_MAX: no limit */
	uint32_t connect_timeout_ms;
	uint32_t link_timeout_ms;
	const char *json;
	const char *devices[2];
};

#define say(...) ((void)dprintf(STDERR_FILENO, __VA_ARGS__))

/* A whole number from `low` to `high`. */
static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
	char *end = NULL;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *number >= low && *number <= high;
}

static bool parse_duration(const char *text, uint64_t *nanoseconds)
{
	const double most = 1e9;
	char *end = NULL;

	/* Digits and a point: strtod would also take hexadecimal numbers and "inf". */
	if (text[0] < '0' || text[0] > '9' || text[strspn(text, "0123456789.")] != '\0') {
		return false;
	}
	errno = 0;
	double seconds = strtod(text, &end);

	if (errno != 0 || *end != '\0' || !(seconds > 0) || seconds > most) {
		return false;
	}
	*nanoseconds = (uint64_t)(seconds * (double)NANOSECONDS);
	return true;
}

/* Seconds up to an hour, as milliseconds, at least 1. */
static bool parse_timeout(const char *text, uint32_t *milliseconds)
{
	uint64_t nanoseconds = 0;

	if (!parse_duration(text, &nanoseconds) || nanoseconds > MAX_TIMEOUT * NANOSECONDS) {
		return false;
	}
	*milliseconds = (uint32_t)((nanoseconds + NANOSECONDS / 1000 - 1) / (NANOSECONDS / 1000));
	return true;
}

static int usage_error(const char *what, const char *value)
{
	say("ixgbe-fwd: %s%s%s\n%s", what, value != NULL ? ": " : "", value != NULL ? value : "",
	    usage);
	return EXIT_USAGE;
}

enum {
	OPTION_BATCH = 1,
	OPTION_RING_SIZE,
	OPTION_QUEUES,
	OPTION_CPUS,
	OPTION_INTERRUPTS,
	OPTION_INTERRUPT_INTERVAL,
	OPTION_PACKETS,
	OPTION_DURATION,
	OPTION_CONNECT_TIMEOUT,
	OPTION_LINK_TIMEOUT,
	OPTION_JSON,
	OPTION_HELP,
	OPTION_VERSION
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{.name = "batch", .has_arg = required_argument, .val = OPTION_BATCH},
		{.name = "ring-size", .has_arg = required_argument, .val = OPTION_RING_SIZE},
		{.name = "queues", .has_arg = required_argument, .val = OPTION_QUEUES},
		{.name = "cpus", .has_arg = required_argument, .val = OPTION_CPUS},
		{.name = "interrupts", .val = OPTION_INTERRUPTS},
		{.name = "interrupt-interval",
		 .has_arg = required_argument,
		 .val = OPTION_INTERRUPT_INTERVAL},
		{.name = "packets", .has_arg = required_argument, .val = OPTION_PACKETS},
		{.name = "duration", .has_arg = required_argument, .val = OPTION_DURATION},
		{.name = "connect-timeout",
		 .has_arg = required_argument,
		 .val = OPTION_CONNECT_TIMEOUT},
		{.name = "link-timeout", .has_arg = required_argument, .val = OPTION_LINK_TIMEOUT},
		{.name = "json", .has_arg = required_argument, .val = OPTION_JSON},
		{.name = "help", .val = OPTION_HELP},
		{.name = "version", .val = OPTION_VERSION},
		{.name = NULL},
	};
	uint64_t number = 0;
	char reason[ERROR_SIZE];

	opterr = 0;
	for (;;) {
		int option = getopt_long(argc, argv, ":hV", known, NULL);

		if (option == -1) {
			break;
		}
		switch (option) {
		case OPTION_BATCH:
			if (!parse_number(optarg, 1, FORWARDER_MAX_BATCH, &number)) {
				return usage_error("--batch must be a number from 1 to 512, not",
						   optarg);
			}
			options->batch = (uint32_t)number;
			break;
		case OPTION_RING_SIZE:
			if (!parse_number(optarg, 64, 4096, &number) ||
			    (number & (number - 1)) != 0) {
				return usage_error(
					"--ring-size must be a power of two from 64 to 4096, not",
					optarg);
			}
			options->ring_size = (uint32_t)number;
			break;
		case OPTION_QUEUES:
			if (!parse_number(optarg, 1, FORWARDER_MAX_QUEUES, &number)) {
				return usage_error("--queues must be a number from 1 to 16, not",
						   optarg);
			}
			options->queues = (uint32_t)number;
			break;
		case OPTION_CPUS:
			if (cpu_list_parse(optarg, &options->cpus, reason, sizeof(reason)) != 0) {
				return usage_error("--cpus", reason);
			}
			break;
		case OPTION_INTERRUPTS:
			options->interrupts = true;
			break;
		case OPTION_INTERRUPT_INTERVAL:
			if (!parse_number(optarg, 0, FORWARDER_MAX_INTERRUPT_INTERVAL_US,
					  &number)) {
				return usage_error("--interrupt-interval must be a number of "
						   "microseconds from 0 to 1022, not",
						   optarg);
			}
			options->interrupt_interval_us = (uint32_t)number;
			break;
		case OPTION_PACKETS:
			if (!parse_number(optarg, 1, UINT64_MAX - 1, &options->packets)) {
				return usage_error("--packets must be a number from 1, not",
						   optarg);
			}
			break;
		case OPTION_DURATION:
			if (!parse_duration(optarg, &options->duration)) {
				return usage_error(
					"--duration must be a number of seconds above 0, not",
					optarg);
			}
			break;
		case OPTION_CONNECT_TIMEOUT:
			if (!parse_timeout(optarg, &options->connect_timeout_ms)) {
				return usage_error("--connect-timeout must be a number of seconds "
						   "above 0, at most 3600, not",
						   optarg);
			}
			break;
		case OPTION_LINK_TIMEOUT:
			if (!parse_timeout(optarg, &options->link_timeout_ms)) {
				return usage_error("--link-timeout must be a number of seconds "
						   "above 0, at most 3600, not",
						   optarg);
			}
			break;
		case OPTION_JSON:
			options->json = optarg;
			break;
		case OPTION_HELP:
		case 'h':
			(void)dprintf(STDOUT_FILENO, "%s", usage);
			return EXIT_SUCCESS;
		case OPTION_VERSION:
		case 'V':
			(void)dprintf(STDOUT_FILENO, "ixgbe-fwd %s\n", project_version());
			return EXIT_SUCCESS;
		case ':':
			return usage_error("an option has no value", argv[optind - 1]);
		default:
			return usage_error("unknown option", argv[optind - 1]);
		}
	}
	if (options->packets != UINT64_MAX && options->duration != UINT64_MAX) {
		return usage_error("--packets and --duration exclude each other", NULL);
	}
	if (options->cpus.count > options->queues) {
		return usage_error(
			"--cpus names more CPUs than there are queues; each thread needs "
			"a queue: raise --queues",
			NULL);
	}
	if (options->interrupts && (options->queues > 1 || options->cpus.count > 0)) {
		return usage_error(
			"--interrupts needs one queue without threads; leave out --queues "
			"and --cpus",
			NULL);
	}
	if (argc - optind != 2) {
		return usage_error("two devices are needed", NULL);
	}
	options->devices[0] = argv[optind];
	options->devices[1] = argv[optind + 1];
	if (strcmp(options->devices[0], options->devices[1]) == 0) {
		return usage_error("the two devices must differ; both are", options->devices[0]);
	}
	return -1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* Blocks the signals that end a run, so that the program can stop the devices first. */
static void hold_signals(sigset_t *held)
{
	(void)sigemptyset(held);
	(void)sigaddset(held, SIGINT);
	(void)sigaddset(held, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, held, NULL);
	/* If the reader of the output goes away, the devices must still be stopped. */
	(void)signal(SIGPIPE, SIG_IGN);
}

/* Whether a blocked signal has arrived, or arrives within less than a second. */
static bool signal_comes(const sigset_t *held, uint64_t nanoseconds)
{
	const struct timespec time = {.tv_nsec = (long)nanoseconds};

	return sigtimedwait(held, NULL, &time) > 0;
}

/* Prints million packets per second, and Gbit/s on the wire. */
static void print_rates(const char *device, const struct forwarder_device_stats *before,
			const struct forwarder_device_stats *now, double seconds)
{
	double rx = (double)(now->rx_packets - before->rx_packets);
	double tx = (double)(now->tx_packets - before->tx_packets);
	double rx_bits = ((double)(now->rx_bytes - before->rx_bytes) + rx * WIRE_OVERHEAD_BYTES) *
			 8;
	double tx_bits = ((double)(now->tx_bytes - before->tx_bytes) + tx * WIRE_OVERHEAD_BYTES) *
			 8;

	(void)dprintf(STDOUT_FILENO, "%s: RX %.2f Mpps %.2f Gbit/s, TX %.2f Mpps %.2f Gbit/s\n",
		      device, rx / seconds / 1e6, rx_bits / seconds / 1e9, tx / seconds / 1e6,
		      tx_bits / seconds / 1e9);
}

/* What the lines of each second remember. */
struct rates {
	uint64_t printed; /* when the last lines were printed, nanoseconds */
	struct forwarder_device_stats before[2];
};

/* Prints a line for each device. Returns 0, or -1 with the reason. */
static int print_both_rates(struct forwarder *forwarder, const struct options *options,
			    struct rates *rates, uint64_t time, char *error, size_t error_size)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct forwarder_device_stats now;

		if (forwarder_device_stats(forwarder, i, &now, error, error_size) != 0) {
			return -1;
		}
		print_rates(options->devices[i], &rates->before[i], &now,
			    (double)(time - rates->printed) / (double)NANOSECONDS);
		rates->before[i] = now;
	}
	rates->printed = time;
	return 0;
}

static void read_totals(const struct forwarder *forwarder, uint32_t queues, uint64_t start,
			uint64_t start_tsc, struct totals *totals)
{
	totals->tsc_cycles = tsc_read() - start_tsc;
	totals->seconds = (double)(now_ns() - start) / (double)NANOSECONDS;
	forwarder_read_counts(forwarder, &totals->counts);
	totals->queues = queues;
	for (uint32_t i = 0; i < queues; i++) {
		forwarder_read_queue_counts(forwarder, i, &totals->queue_counts[i]);
	}
}

/*
 * Forwards `turns` times, or until `packets` packets have been received. Returns their number. A function
 * of its own keeps all that the loop needs in registers.
 */
__attribute__((noinline)) static uint64_t forward_turns(struct forwarder *forwarder, uint32_t turns,
							uint64_t packets)
{
	uint64_t received = 0;

	for (; turns > 0 && received < packets; turns--) {
		received += forwarder_turn(forwarder);
	}
	return received;
}

/* Forwards until the end of the run. Returns 0, or -1 with the reason. */
static int run(struct forwarder *forwarder, const struct options *options, const sigset_t *held,
	       struct totals *totals, char *error, size_t error_size)
{
	struct rates rates = {.printed = now_ns()};
	uint64_t start_tsc = tsc_read();
	uint64_t start = now_ns();
	uint64_t time = start;
	uint64_t received = 0;
	uint64_t packets = options->packets;
	uint32_t turns = forwarder_is_trapped(forwarder) ? TURNS_PER_LOOK_TRAPPED : TURNS_PER_LOOK;
	int result = 0;

	while (received < packets && time - start < options->duration && result == 0) {
		received += forward_turns(forwarder, turns, packets - received);
		time = now_ns();
		if (signal_comes(held, 0)) {
			break;
		}
		if (time - rates.printed >= NANOSECONDS) {
			result = print_both_rates(forwarder, options, &rates, time, error,
						  error_size);
		}
	}
	read_totals(forwarder, 1, start, start_tsc, totals);
	return result;
}

/*
 * Forwards until EMPTY_TURNS turns in a row were empty, until `turns` turns were not, or until `packets`
 * packets have been received. Returns their number, and in `idle` whether the last turns were empty.
 */
__attribute__((noinline)) static uint64_t
forward_until_idle(struct forwarder *forwarder, uint32_t turns, uint64_t packets, bool *idle)
{
	uint64_t received = 0;
	uint32_t empty = 0;

	while (turns > 0 && empty < EMPTY_TURNS && received < packets) {
		uint32_t batch = forwarder_queue_turn(forwarder, 0);

		received += batch;
		turns -= batch > 0;
		empty = batch > 0 ? 0 : empty + 1;
	}
	*idle = empty == EMPTY_TURNS;
	return received;
}

/*
 * As run, but sleeps while no packets come. It has a loop of its own, so that the one of `run` stays as
 * small as it is.
 */
static int run_with_interrupts(struct forwarder *forwarder, const struct options *options,
			       const sigset_t *held, struct totals *totals, char *error,
			       size_t error_size)
{
	struct rates rates = {.printed = now_ns()};
	uint64_t start_tsc = tsc_read();
	uint64_t start = now_ns();
	uint64_t time = start;
	uint64_t received = 0;
	uint64_t packets = options->packets;
	uint32_t turns = forwarder_is_trapped(forwarder) ? TURNS_PER_LOOK_TRAPPED : TURNS_PER_LOOK;
	bool idle = false;
	int result = forwarder_use_interrupts(forwarder, options->interrupt_interval_us, error,
					      error_size);

	while (received < packets && time - start < options->duration && result == 0) {
		uint64_t left_ms = (options->duration - (time - start)) / 1000000;

		if (idle) {
			result = forwarder_wait(forwarder,
						left_ms < SLEEP_MS ? (uint32_t)left_ms : SLEEP_MS,
						error, error_size);
		}
		received += forward_until_idle(forwarder, turns, packets - received, &idle);
		time = now_ns();
		if (signal_comes(held, 0)) {
			break;
		}
		if (result == 0 && time - rates.printed >= NANOSECONDS) {
			result = print_both_rates(forwarder, options, &rates, time, error,
						  error_size);
		}
	}
	read_totals(forwarder, 1, start, start_tsc, totals);
	totals->interrupts = true;
	forwarder_read_waits(forwarder, &totals->waits);
	return result;
}

/* Forwards in threads until the end of the run. Returns 0, or -1 with the reason. */
static int run_threads(struct forwarder *forwarder, const struct options *options,
		       const sigset_t *held, struct totals *totals, char *error, size_t error_size)
{
	struct rates rates = {.printed = now_ns()};
	uint64_t start_tsc = tsc_read();
	uint64_t start = now_ns();
	uint64_t time = start;
	char failure[ERROR_SIZE];
	int result = 0;

	if (forwarder_is_trapped(forwarder)) {
		(void)snprintf(
			error, error_size,
			"%s: the queues cannot have threads of their own, because a doorbell is "
			"not mapped; start the software NIC with --mmio shared",
			options->devices[0]);
		return -1;
	}
	struct queue_threads *threads = queue_threads_start(
		forwarder, options->queues, &options->cpus, options->packets, error, error_size);

	if (threads == NULL) {
		return -1;
	}
	while (result == 0 && time - start < options->duration && !queue_threads_ended(threads) &&
	       !signal_comes(held, LOOK_NANOSECONDS)) {
		time = now_ns();
		if (time - rates.printed >= NANOSECONDS) {
			result = print_both_rates(forwarder, options, &rates, time, error,
						  error_size);
		}
	}
	/* The first error is the one to report. */
	if (queue_threads_stop(threads, failure, sizeof(failure)) != 0 && result == 0) {
		(void)snprintf(error, error_size, "%s", failure);
		result = -1;
	}
	read_totals(forwarder, options->queues, start, start_tsc, totals);
	return result;
}

/* Opens the devices, forwards, and closes them. Returns the exit status. */
static int forward_until_end(const struct options *options, int json_fd)
{
	char error[ERROR_SIZE] = "";
	struct totals totals = {0};
	sigset_t held;
	int status = EXIT_SUCCESS;
	bool in_threads = options->queues > 1 || options->cpus.count > 0;
	struct forwarder *forwarder = forwarder_open_queues(
		options->devices[0], options->devices[1], options->batch, options->ring_size,
		options->queues, options->connect_timeout_ms, options->link_timeout_ms, error,
		sizeof(error));

	if (forwarder == NULL) {
		say("ixgbe-fwd: %s\n", error);
		return EXIT_RUN_TIME;
	}
	hold_signals(&held);
	if (forwarder_on_ordinary_pages(forwarder)) {
		say("ixgbe-fwd: warning: too few huge pages of 2 MiB are free, using ordinary "
		    "pages, which are slower; `make hugepages` reserves some\n");
	}
	if (options->packets != UINT64_MAX && !in_threads) {
		forwarder_limit(forwarder, options->packets);
	}
	int (*run_as)(struct forwarder *, const struct options *, const sigset_t *, struct totals *,
		      char *, size_t) = run;

	if (in_threads) {
		run_as = run_threads;
	} else if (options->interrupts) {
		run_as = run_with_interrupts;
	}
	int ran = run_as(forwarder, options, &held, &totals, error, sizeof(error));

	if (ran != 0) {
		say("ixgbe-fwd: %s\n", error);
		status = EXIT_RUN_TIME;
	}
	if (forwarder_close(forwarder, error, sizeof(error)) != 0 && status == EXIT_SUCCESS) {
		say("ixgbe-fwd: %s\n", error);
		status = EXIT_RUN_TIME;
	}
	if (json_fd >= 0 && totals_write(json_fd, &totals) != 0) {
		say("ixgbe-fwd: %s: %s\n", options->json, strerror(errno));
		status = EXIT_RUN_TIME;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {
		.batch = FORWARDER_DEFAULT_BATCH,
		.ring_size = FORWARDER_DEFAULT_RING_SIZE,
		.queues = 1,
		.interrupt_interval_us = FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US,
		.packets = UINT64_MAX,
		.duration = UINT64_MAX,
		.connect_timeout_ms = FORWARDER_DEFAULT_CONNECT_TIMEOUT_MS,
		.link_timeout_ms = FORWARDER_DEFAULT_LINK_TIMEOUT_MS,
	};
	int json_fd = -1;
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	/* Opens the file first, so that a wrong path fails before the run. */
	if (options.json != NULL) {
		json_fd = open(options.json, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (json_fd < 0) {
			say("ixgbe-fwd: %s: %s\n", options.json, strerror(errno));
			return EXIT_RUN_TIME;
		}
	}
	return forward_until_end(&options, json_fd);
}
