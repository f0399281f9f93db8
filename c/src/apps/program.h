/* What the programs have in common: messages, exit statuses, options, signals, the clock. */
#ifndef IXGBE_PROGRAM_H
#define IXGBE_PROGRAM_H

#include "rooms/forwarder.h"
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_RUN_TIME 1
#define EXIT_USAGE 2

#define NANOSECONDS 1000000000ull

#define say(...) ((void)dprintf(STDERR_FILENO, __VA_ARGS__))

/* A program's name, and the text that --help prints. */
struct program {
	const char *name;
	const char *usage;
};

/* The options that all programs have. */
struct common_options {
	uint32_t batch;
	uint32_t ring_size;
	uint64_t packets; /* UINT64_MAX: no limit */
	uint64_t duration; /* nanoseconds, UINT64_MAX: no limit */
	uint32_t connect_timeout_ms;
	uint32_t link_timeout_ms;
	const char *json; /* NULL: no file */
};

/* The values of getopt_long for them. A program's own options begin at OPTION_OWN. */
enum {
	OPTION_BATCH = 1,
	OPTION_RING_SIZE,
	OPTION_PACKETS,
	OPTION_DURATION,
	OPTION_CONNECT_TIMEOUT,
	OPTION_LINK_TIMEOUT,
	OPTION_JSON,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_OWN
};

/* Their rows in the table for getopt_long. */
#define COMMON_OPTIONS                                                                             \
	{.name = "batch", .has_arg = required_argument, .val = OPTION_BATCH},                      \
		{.name = "ring-size", .has_arg = required_argument, .val = OPTION_RING_SIZE},      \
		{.name = "packets", .has_arg = required_argument, .val = OPTION_PACKETS},          \
		{.name = "duration", .has_arg = required_argument, .val = OPTION_DURATION},        \
		{.name = "connect-timeout",                                                        \
		 .has_arg = required_argument,                                                     \
		 .val = OPTION_CONNECT_TIMEOUT},                                                   \
		{.name = "link-timeout",                                                           \
		 .has_arg = required_argument,                                                     \
		 .val = OPTION_LINK_TIMEOUT},                                                      \
		{.name = "json", .has_arg = required_argument, .val = OPTION_JSON},                \
		{.name = "help", .val = OPTION_HELP},                                              \
	{                                                                                          \
		.name = "version", .val = OPTION_VERSION                                           \
	}

/* clang-format off */

/* Their lines in --help, besides --packets, whose meaning differs. */
#define COMMON_USAGE_RINGS                                                                         \
	"  --batch N            packets per call, 1 to 512 (default 32)\n"                         \
	"  --ring-size N        descriptors of every ring, a power of two, 64 to 4096 (default 512)\n"
#define COMMON_USAGE_RUN                                                                           \
	"  --duration S         end after S seconds; fractions are allowed\n"                      \
	"  --connect-timeout S  wait at most S seconds for the sockets, up to 3600 (default 5)\n"  \
	"  --link-timeout S     wait at most S seconds for each link, up to 3600 (default 30)\n"   \
	"  --json FILE          write the totals to FILE at the end\n"                             \
	"  --help               print this text\n"                                                 \
	"  --version            print the version\n"
#define COMMON_USAGE_DEVICE                                                                        \
	"  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n"

/* clang-format on */

/* The paper's batch and rings, no limit, and the timeouts that --help names. */
struct common_options common_options_default(void);

/*
 * Takes an option that getopt_long returned and that is not one of the program's own. Returns -1 to go
 * on, or the exit status.
 */
int common_option(const struct program *program, int option, char **argv,
		  struct common_options *options);

/* Prints what is wrong with the command line, and points to --help. Returns the exit status. */
int usage_error(const struct program *program, const char *what, const char *value);

/* A whole number from `low` to `high`, in digits only. */
bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *number);

/* A number of seconds above 0, as nanoseconds. */
bool parse_duration(const char *text, uint64_t *nanoseconds);

/* Nanoseconds since some moment in the past. */
uint64_t now_ns(void);

/* Blocks the signals that end a run, so that the program can stop its devices first. */
void hold_signals(sigset_t *held);

/* Whether a blocked signal has arrived, or arrives within less than a second. */
bool signal_comes(const sigset_t *held, uint64_t nanoseconds);

/*
 * Opens the file for the totals before the run, so that a wrong path fails at once. Returns its
 * descriptor, -1 if `path` is NULL, or -2 after a message.
 */
int json_open(const struct program *program, const char *path);

/*
 * Closes the file for the totals. `written` is what the last dprintf returned. Returns 0, or -1 with
 * errno: a file system may report a full disk only here.
 */
int json_close(int fd, int written);

#endif
