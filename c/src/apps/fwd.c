/* ixgbe-fwd: forwards packets between two devices, both ways. */
#define _GNU_SOURCE
#include "apps/pipeline_threads.h"
#include "apps/queue_threads.h"
#include "apps/run.h"
#include "rooms/forwarder.h"
#include <inttypes.h>
#include <string.h>

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
	"                 [--path PATH] [--queues N] [--cpus LIST] [--pipeline]\n"
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

static const struct program program = {
	.name = "ixgbe-fwd",
	.usage = usage,
	.arguments = 2,
	.needs = "two devices are needed",
};

struct options {
	struct common_options common;
	uint32_t path; /* an enum forwarder_path */
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

/* Sets an enum forwarder_path. */
static bool set_path(const struct option_row *row, const char *text)
{
	static const char *const paths[] = {
		[FORWARDER_PATH_DEFAULT] = "default",
		[FORWARDER_PATH_STRIDE] = "stride",
		[FORWARDER_PATH_TUNED] = "tuned",
		[FORWARDER_PATH_AGENT] = "agent",
	};

	for (uint32_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(text, paths[i]) == 0) {
			*(uint32_t *)row->place = i;
			return true;
		}
	}
	return false;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	struct error error;
	const char *cpus = NULL;
	/* clang-format off */
	const struct option_row rows[] = {
		{"path", "PATH",
		 "how packets travel: default; stride, with buffers 2112 bytes apart in\n"
		 "place of 2048; tuned, four at a time, in exchange for sent ones; or\n"
		 "agent, with one buffer for each descriptor for ever, which drops none",
		 set_path, &options->path, "default, stride, tuned or agent", 0, 0},
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
	if (cpus != NULL && cpu_list_parse(cpus, &options->cpus, &error) != 0) {
		return usage_error(&program, "--cpus", error.text);
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
	if (options->path >= FORWARDER_PATH_TUNED && (options->pipeline || options->interrupts)) {
		return usage_error(&program,
				   "--path tuned and agent exclude --pipeline and --interrupts, "
				   "which need a pool",
				   NULL);
	}
	options->devices[0] = argv[optind];
	options->devices[1] = argv[optind + 1];
	if (strcmp(options->devices[0], options->devices[1]) == 0) {
		return usage_error(&program, "the two devices must differ; both are",
				   options->devices[0]);
	}
	return -1;
}

static int read_stats(void *owner, uint32_t device, struct device_stats *stats, struct error *error)
{
	struct forwarder_device_stats read = {0};
	int result = forwarder_device_stats(owner, device, &read, error->text, ERROR_SIZE);

	*stats = (struct device_stats){
		.rx_packets = read.rx_packets,
		.rx_bytes = read.rx_bytes,
		.tx_packets = read.tx_packets,
		.tx_bytes = read.tx_bytes,
	};
	return result;
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

/* The same by the tuned path. */
__attribute__((noinline)) static uint64_t tuned_turns(struct forwarder *forwarder, uint32_t turns,
						      uint64_t packets)
{
	uint64_t received = 0;

	for (; turns > 0 && received < packets; turns--) {
		received += forwarder_tuned_turn(forwarder);
	}
	return received;
}

/* The same by the agent. */
__attribute__((noinline)) static uint64_t agent_turns(struct forwarder *forwarder, uint32_t turns,
						      uint64_t packets)
{
	uint64_t received = 0;

	for (; turns > 0 && received < packets; turns--) {
		received += forwarder_agent_turn(forwarder);
	}
	return received;
}

/* Forwards until the end of the run. */
static void forward(struct run *run, struct forwarder *forwarder, uint32_t path)
{
	uint64_t (*const take_turns)(struct forwarder *, uint32_t,
				     uint64_t) = path == FORWARDER_PATH_TUNED ? tuned_turns :
						 path == FORWARDER_PATH_AGENT ? agent_turns :
										forward_turns;
	uint32_t turns = turns_per_look(forwarder_is_trapped(forwarder));

	do {
		run->left -= take_turns(forwarder, turns, run->left);
	} while (run->left > 0 && run_look(run, 0));
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
	uint64_t received; /* packets since then */
};

static void load_update(struct load *load, uint64_t time, uint64_t received)
{
	uint64_t period = time - load->since;

	load->received += received;
	if (period >= BUSY_NANOSECONDS) {
		load->busy = load->received * BUSY_NANOSECONDS > BUSY_PACKETS * period;
		load->since = time;
		load->received = 0;
	}
}

/* Sleeps until a packet arrives, but not beyond the end of the run. Returns 0, or -1 with the reason. */
static int wait_for_packet(struct run *run, struct forwarder *forwarder)
{
	uint64_t left_ms = (run->options->duration - (run->time - run->start)) / 1000000;

	return forwarder_wait(forwarder, left_ms < SLEEP_MS ? (uint32_t)left_ms : SLEEP_MS,
			      run->error.text, ERROR_SIZE);
}

/*
 * As forward, but sleeps while few packets come. It has a loop of its own, so that the one of `forward` stays
 * as small as it is.
 */
static void forward_with_interrupts(struct run *run, struct forwarder *forwarder,
				    uint32_t interval_us)
{
	struct load load = {.since = run->start};
	uint32_t turns = turns_per_look(forwarder_is_trapped(forwarder));
	bool idle = false;

	run->result = forwarder_use_interrupts(forwarder, interval_us, run->error.text, ERROR_SIZE);
	while (run->result == 0) {
		uint64_t received = forward_until_idle(forwarder, turns, run->left, &idle);

		run->left -= received;
		if (run->left == 0 || !run_look(run, 0)) {
			break;
		}
		load_update(&load, run->time, received);
		if (idle && !load.busy) {
			run->result = wait_for_packet(run, forwarder);
		}
	}
}

static bool threads_go_on(void *run)
{
	return run_look(run, LOOK_NANOSECONDS);
}

static void forward_with_threads(struct run *run, struct forwarder *forwarder,
				 const struct options *options)
{
	const struct watch watch = {threads_go_on, run};
	struct error error;
	int result = 0;

	if (forwarder_is_trapped(forwarder)) {
		result = error_fail(
			&error,
			"%s: the queues cannot have threads of their own, because a "
			"doorbell is not mapped; start the software NIC with --mmio shared",
			run->devices[0]);
	} else if (options->pipeline) {
		result = forward_in_pipeline(forwarder, options->queues, &options->cpus,
					     options->common.packets, &watch, &error);
	} else {
		result = forward_in_threads(forwarder, options->path, options->queues,
					    &options->cpus, options->common.packets, &watch,
					    &error);
	}
	run_check(run, result, &error);
}

static void write_counts(FILE *file, const struct forwarder_counts *counts)
{
	(void)fprintf(file,
		      "\"rx\":%" PRIu64 ",\"tx\":%" PRIu64 ",\"dropped\":%" PRIu64
		      ",\"rx_calls\":%" PRIu64 ",\"full_batches\":%" PRIu64,
		      counts->rx, counts->tx, counts->dropped, counts->rx_calls,
		      counts->full_batches);
}

/* Writes the totals, with those of each queue if there are several. */
static void write_totals(const struct run *run, const struct forwarder *forwarder,
			 const struct options *options)
{
	FILE *file = run->json;
	struct forwarder_counts counts;
	struct forwarder_waits waits;

	forwarder_read_counts(forwarder, &counts);
	(void)fprintf(file, "{");
	write_counts(file, &counts);
	(void)fprintf(file, ",\"seconds\":%.9f,\"cpu_seconds\":%.9f,\"tsc_cycles\":%" PRIu64,
		      run->seconds, run->cpu_seconds, run->tsc_cycles);
	if (options->interrupts) {
		forwarder_read_waits(forwarder, &waits);
		(void)fprintf(file, ",\"interrupts\":%" PRIu64 ",\"sleeps\":%" PRIu64,
			      waits.interrupts, waits.sleeps);
	}
	for (uint32_t i = 0; i < options->queues && options->queues > 1; i++) {
		forwarder_read_queue_counts(forwarder, i, &counts);
		(void)fprintf(file, "%s{\"queue\":%u,", i == 0 ? ",\"queues\":[" : ",", i);
		write_counts(file, &counts);
		(void)fprintf(file, "}");
	}
	(void)fprintf(file, options->queues > 1 ? "]}\n" : "}\n");
}

/* Forwards until the end of the run, and stops the devices. */
static void forward_until_end(struct run *run, struct forwarder *forwarder,
			      const struct options *options)
{
	struct forwarder_counts counts;
	uint64_t missed = 0;
	struct error error;

	if (forwarder_on_ordinary_pages(forwarder)) {
		warn_of_ordinary_pages(&program);
	}
	if (options->common.packets != UINT64_MAX && !in_threads(options)) {
		forwarder_limit(forwarder, options->common.packets);
	}
	run_start(run);
	if (in_threads(options)) {
		forward_with_threads(run, forwarder, options);
	} else if (options->interrupts) {
		forward_with_interrupts(run, forwarder, options->interrupt_interval_us);
	} else {
		forward(run, forwarder, options->path);
	}
	run_end(run);
	if (run->result == 0) {
		run->result = forwarder_read_missed(forwarder, &missed, run->error.text,
						    ERROR_SIZE);
	}
	forwarder_read_counts(forwarder, &counts);
	if (run->json != NULL) {
		write_totals(run, forwarder, options);
	}
	run_check(run, forwarder_close(forwarder, error.text, ERROR_SIZE), &error);
	if (run->json == NULL && run->result == 0) {
		(void)dprintf(STDOUT_FILENO,
			      "both devices: received %" PRIu64 ", sent %" PRIu64
			      ", dropped %" PRIu64 ", missed %" PRIu64 "\n",
			      counts.rx, counts.tx, counts.dropped, missed);
	}
}

int main(int argc, char **argv)
{
	struct options options = {
		.common = common_options_default(),
		.queues = 1,
		.interrupt_interval_us = FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US,
	};
	struct run run = {
		.program = &program,
		.options = &options.common,
		.device_count = 2,
		.read_stats = read_stats,
	};
	int status = parse_options(argc, argv, &options);

	if (status >= 0) {
		return status;
	}
	run.devices[0] = options.devices[0];
	run.devices[1] = options.devices[1];
	if (run_open(&run) == 0) {
		const struct forwarder_options how = {
			.batch = options.common.batch,
			.ring_size = options.common.ring_size,
			.queues = options.queues,
			.path = options.path,
			.connect_timeout_ms = options.common.connect_timeout_ms,
			.link_timeout_ms = options.common.link_timeout_ms,
		};
		struct forwarder *forwarder = forwarder_open_with(run.devices[0], run.devices[1],
								  &how, run.error.text, ERROR_SIZE);

		run.result = forwarder == NULL ? -1 : 0;
		run.owner = forwarder;
		if (forwarder != NULL) {
			forward_until_end(&run, forwarder, &options);
		}
	}
	return run_close(&run);
}
