/* ixgbe-fwd: forwards packets between two devices, both ways. */
#define _GNU_SOURCE
#include "apps/pipeline_threads.h"
#include "apps/program.h"
#include "apps/queue_threads.h"
#include "apps/rates.h"
#include "apps/totals.h"
#include "clock.h"
#include "rooms/forwarder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The forwarder checks the clock and the signals once every so many turns. */
#define TURNS_PER_LOOK 1024

/* The same when a turn may take four messages to servers, each 20 ms or more. */
#define TURNS_PER_LOOK_TRAPPED 8

/* With interrupts, the forwarder sleeps after so many turns without a packet, at most so long. */
#define EMPTY_TURNS 64
#define SLEEP_MS 100

/* It only polls while more packets than BUSY_PACKETS come in BUSY_NANOSECONDS. */
#define BUSY_PACKETS 200
#define BUSY_NANOSECONDS 1000000ull

/* With threads, the main thread looks at the clock and at them this often. */
#define LOOK_NANOSECONDS 20000000ull

/* The lines as --help prints them. */
/* clang-format off */
static const char usage[] =
	"usage: ixgbe-fwd [--batch N] [--ring-size N] [--packets N | --duration S]\n"
	"                 [--queues N] [--cpus LIST] [--pipeline]\n"
	"                 [--interrupts] [--interrupt-interval US]\n"
	"                 [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE DEVICE\n"
	"\n"
	"Forwards packets between two devices, both ways, and changes one byte of every packet.\n"
	"Ends on SIGINT or SIGTERM, after N packets, or after S seconds.\n"
	"Prints the rates of each second. Without --json, it prints at the end how many packets\n"
	"were received, sent, dropped (no room in the TX ring) and missed (no RX descriptor).\n"
	"\n"
	COMMON_USAGE_DEVICE;
/* clang-format on */

static const struct program program = {.name = "ixgbe-fwd", .usage = usage};

struct options {
	struct common_options common;
	uint32_t queues;
	struct cpu_list cpus;
	bool pipeline;
	bool interrupts;
	uint32_t interrupt_interval_us;
	const char *devices[2];
};

/* Whether the queues have threads of their own. */
static bool in_threads(const struct options *options)
{
	return options->queues > 1 || options->cpus.count > 0 || options->pipeline;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	char reason[ERROR_SIZE];
	const char *cpus = NULL;
	/* clang-format off */
	const struct option_row rows[] = {
		{"queues", "N",
		 "queue pairs of each device, 1 to 16, each with a thread of its own\n"
		 "(default 1); RSS divides the flows among them",
		 set_number, &options->queues, "a number", 1, FORWARDER_MAX_QUEUES},
		{"cpus", "LIST",
		 "pin a thread to each of these CPUs, such as 1,3 or 0-3; with fewer CPUs\n"
		 "than queues, a thread has several queues",
		 set_text, &cpus, NULL, 0, 0},
		{"pipeline", NULL,
		 "hand packets from thread to thread: one receives, one for each queue\n"
		 "changes the packets, and one sends; they take the CPUs of --cpus in\n"
		 "turn, the receiving and the sending thread first",
		 set_flag, &options->pipeline, NULL, 0, 0},
		{"interrupts", NULL,
		 "sleep while few packets come, instead of polling; needs one queue",
		 set_flag, &options->interrupts, NULL, 0, 0},
		{"interrupt-interval", "US",
		 "at least US microseconds between two interrupts of a queue, 0 to\n"
		 "1022 (default 50)",
		 set_number, &options->interrupt_interval_us, "a number of microseconds", 0,
		 FORWARDER_MAX_INTERRUPT_INTERVAL_US},
		COMMON_ROWS(&options->common, "end after N received packets, counted over both directions"),
	};
	/* clang-format on */
	int status = parse_rows(&program, rows, argc, argv);

	if (status >= 0) {
		return status;
	}
	if (cpus != NULL && cpu_list_parse(cpus, &options->cpus, reason, sizeof(reason)) != 0) {
		return usage_error(&program, "--cpus", reason);
	}
	if (options->common.packets != UINT64_MAX && options->common.duration != UINT64_MAX) {
		return usage_error(&program, "--packets and --duration exclude each other", NULL);
	}
	if (options->pipeline && options->cpus.count > options->queues + 2) {
		return usage_error(
			&program,
			"--cpus names more CPUs than there are threads: with --pipeline, one "
			"for each queue, and two; raise --queues",
			NULL);
	}
	if (!options->pipeline && options->cpus.count > options->queues) {
		return usage_error(
			&program,
			"--cpus names more CPUs than there are queues; each thread needs "
			"a queue: raise --queues",
			NULL);
	}
	if (options->interrupts && in_threads(options)) {
		return usage_error(
			&program,
			"--interrupts needs one queue without threads; leave out --queues, "
			"--cpus and --pipeline",
			NULL);
	}
	if (argc - optind != 2) {
		return usage_error(&program, "two devices are needed", NULL);
	}
	options->devices[0] = argv[optind];
	options->devices[1] = argv[optind + 1];
	if (strcmp(options->devices[0], options->devices[1]) == 0) {
		return usage_error(&program, "the two devices must differ; both are",
				   options->devices[0]);
	}
	return -1;
}

/* What the lines of each second remember. */
struct rates {
	uint64_t printed; /* when the last lines were printed, nanoseconds */
	struct device_stats before[2];
};

/* Prints a line for each device. Returns 0, or -1 with the reason. */
static int print_both_rates(struct forwarder *forwarder, const struct options *options,
			    struct rates *rates, uint64_t time, char *error, size_t error_size)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct forwarder_device_stats read;

		if (forwarder_device_stats(forwarder, i, &read, error, error_size) != 0) {
			return -1;
		}
		const struct device_stats now = {
			.rx_packets = read.rx_packets,
			.rx_bytes = read.rx_bytes,
			.tx_packets = read.tx_packets,
			.tx_bytes = read.tx_bytes,
		};
		rates_print(options->devices[i], &rates->before[i], &now,
			    (double)(time - rates->printed) / (double)NANOSECONDS);
		rates->before[i] = now;
	}
	rates->printed = time;
	return 0;
}

/* The processor time of this process, all threads together, in nanoseconds. */
static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* The clocks at the start of a run. */
struct start {
	uint64_t time; /* nanoseconds */
	uint64_t cpu_time; /* of this process, nanoseconds */
	uint64_t tsc;
};

static struct start start_now(void)
{
	return (struct start){.time = now_ns(), .cpu_time = cpu_time_ns(), .tsc = tsc_read()};
}

static void read_totals(const struct forwarder *forwarder, uint32_t queues,
			const struct start *start, struct totals *totals)
{
	totals->tsc_cycles = tsc_read() - start->tsc;
	totals->seconds = (double)(now_ns() - start->time) / (double)NANOSECONDS;
	totals->cpu_seconds = (double)(cpu_time_ns() - start->cpu_time) / (double)NANOSECONDS;
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
	struct start start = start_now();
	uint64_t time = start.time;
	uint64_t received = 0;
	uint64_t packets = options->common.packets;
	uint32_t turns = forwarder_is_trapped(forwarder) ? TURNS_PER_LOOK_TRAPPED : TURNS_PER_LOOK;
	int result = 0;

	while (received < packets && time - start.time < options->common.duration && result == 0) {
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
	read_totals(forwarder, 1, &start, totals);
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

/* Whether many packets come, as of the last whole period. */
struct load {
	bool busy;
	uint64_t since; /* when the period began, nanoseconds */
	uint64_t received; /* packets until then */
};

static void load_update(struct load *load, uint64_t time, uint64_t received)
{
	uint64_t period = time - load->since;

	if (period < BUSY_NANOSECONDS) {
		return;
	}
	load->busy = (received - load->received) * BUSY_NANOSECONDS > BUSY_PACKETS * period;
	load->since = time;
	load->received = received;
}

/*
 * As run, but sleeps while few packets come. It has a loop of its own, so that the one of `run` stays as
 * small as it is.
 */
static int run_with_interrupts(struct forwarder *forwarder, const struct options *options,
			       const sigset_t *held, struct totals *totals, char *error,
			       size_t error_size)
{
	struct rates rates = {.printed = now_ns()};
	struct start start = start_now();
	uint64_t time = start.time;
	uint64_t received = 0;
	uint64_t packets = options->common.packets;
	uint32_t turns = forwarder_is_trapped(forwarder) ? TURNS_PER_LOOK_TRAPPED : TURNS_PER_LOOK;
	struct load load = {.since = time};
	bool idle = false;
	int result = forwarder_use_interrupts(forwarder, options->interrupt_interval_us, error,
					      error_size);

	while (received < packets && time - start.time < options->common.duration && result == 0) {
		uint64_t left_ms = (options->common.duration - (time - start.time)) / 1000000;

		if (idle && !load.busy) {
			result = forwarder_wait(forwarder,
						left_ms < SLEEP_MS ? (uint32_t)left_ms : SLEEP_MS,
						error, error_size);
		}
		received += forward_until_idle(forwarder, turns, packets - received, &idle);
		time = now_ns();
		load_update(&load, time, received);
		if (signal_comes(held, 0)) {
			break;
		}
		if (result == 0 && time - rates.printed >= NANOSECONDS) {
			result = print_both_rates(forwarder, options, &rates, time, error,
						  error_size);
		}
	}
	read_totals(forwarder, 1, &start, totals);
	totals->interrupts = true;
	forwarder_read_waits(forwarder, &totals->waits);
	return result;
}

/* The threads of a run: those of the queues, or those of the pipeline. The other one is NULL. */
struct threads {
	struct queue_threads *queues;
	struct pipeline_threads *pipeline;
};

/* Returns 0, or -1 with the reason. */
static int threads_start(struct threads *threads, struct forwarder *forwarder,
			 const struct options *options, char *error, size_t error_size)
{
	*threads = (struct threads){.queues = NULL};
	if (forwarder_is_trapped(forwarder)) {
		(void)snprintf(
			error, error_size,
			"%s: the queues cannot have threads of their own, because a doorbell is "
			"not mapped; start the software NIC with --mmio shared",
			options->devices[0]);
		return -1;
	}
	if (options->pipeline) {
		threads->pipeline = pipeline_threads_start(forwarder, options->queues,
							   &options->cpus, options->common.packets,
							   error, error_size);
		return threads->pipeline == NULL ? -1 : 0;
	}
	threads->queues = queue_threads_start(forwarder, options->queues, &options->cpus,
					      options->common.packets, error, error_size);
	return threads->queues == NULL ? -1 : 0;
}

static bool threads_ended(const struct threads *threads)
{
	return threads->pipeline != NULL ? pipeline_threads_ended(threads->pipeline) :
					   queue_threads_ended(threads->queues);
}

static int threads_stop(const struct threads *threads, char *error, size_t error_size)
{
	return threads->pipeline != NULL ?
		       pipeline_threads_stop(threads->pipeline, error, error_size) :
		       queue_threads_stop(threads->queues, error, error_size);
}

/* Forwards in threads until the end of the run. Returns 0, or -1 with the reason. */
static int run_threads(struct forwarder *forwarder, const struct options *options,
		       const sigset_t *held, struct totals *totals, char *error, size_t error_size)
{
	struct rates rates = {.printed = now_ns()};
	struct start start = start_now();
	uint64_t time = start.time;
	char failure[ERROR_SIZE];
	struct threads threads;
	int result = threads_start(&threads, forwarder, options, error, error_size);

	if (result != 0) {
		return -1;
	}
	while (result == 0 && time - start.time < options->common.duration &&
	       !threads_ended(&threads) && !signal_comes(held, LOOK_NANOSECONDS)) {
		time = now_ns();
		if (time - rates.printed >= NANOSECONDS) {
			result = print_both_rates(forwarder, options, &rates, time, error,
						  error_size);
		}
	}
	/* The first error is the one to report. */
	if (threads_stop(&threads, failure, sizeof(failure)) != 0 && result == 0) {
		(void)snprintf(error, error_size, "%s", failure);
		result = -1;
	}
	read_totals(forwarder, options->queues, &start, totals);
	return result;
}

/* Opens the devices, forwards, and closes them. Returns the exit status. */
static int forward_until_end(const struct options *options, int json_fd)
{
	char error[ERROR_SIZE] = "";
	struct totals totals = {0};
	uint64_t missed = 0;
	sigset_t held;
	int status = EXIT_SUCCESS;
	struct forwarder *forwarder = forwarder_open_queues(
		options->devices[0], options->devices[1], options->common.batch,
		options->common.ring_size, options->queues, options->common.connect_timeout_ms,
		options->common.link_timeout_ms, error, sizeof(error));

	if (forwarder == NULL) {
		say("ixgbe-fwd: %s\n", error);
		return EXIT_RUN_TIME;
	}
	hold_signals(&held);
	if (forwarder_on_ordinary_pages(forwarder)) {
		say("ixgbe-fwd: warning: too few huge pages of 2 MiB are free, using ordinary "
		    "pages, which are slower; `make hugepages` reserves some\n");
	}
	if (options->common.packets != UINT64_MAX && !in_threads(options)) {
		forwarder_limit(forwarder, options->common.packets);
	}
	int (*run_as)(struct forwarder *, const struct options *, const sigset_t *, struct totals *,
		      char *, size_t) = run;

	if (in_threads(options)) {
		run_as = run_threads;
	} else if (options->interrupts) {
		run_as = run_with_interrupts;
	}
	int ran = run_as(forwarder, options, &held, &totals, error, sizeof(error));

	if (ran == 0) {
		ran = forwarder_read_missed(forwarder, &missed, error, sizeof(error));
	}
	if (ran != 0) {
		say("ixgbe-fwd: %s\n", error);
		status = EXIT_RUN_TIME;
	}
	if (forwarder_close(forwarder, error, sizeof(error)) != 0 && status == EXIT_SUCCESS) {
		say("ixgbe-fwd: %s\n", error);
		status = EXIT_RUN_TIME;
	}
	if (options->common.json == NULL && status == EXIT_SUCCESS) {
		totals_print(&totals, missed);
	}
	if (json_fd >= 0 && totals_write(json_fd, &totals) != 0) {
		say("ixgbe-fwd: %s: %s\n", options->common.json, strerror(errno));
		status = EXIT_RUN_TIME;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {
		.common = common_options_default(),
		.queues = 1,
		.interrupt_interval_us = FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US,
	};
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	int json_fd = json_open(&program, options.common.json);

	return json_fd == -2 ? EXIT_RUN_TIME : forward_until_end(&options, json_fd);
}
