/* What the programs have in common: messages, exit statuses, options, the version. */
#ifndef IXGBE_PROGRAM_H
#define IXGBE_PROGRAM_H

#include "error.h"
#include "rooms/forwarder.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_RUN_TIME 1
#define EXIT_USAGE 2

#define NANOSECONDS 1000000000ull

/* A program looks at the clock and the signals, and a thread at the others, once every so many turns. */
#define TURNS_PER_LOOK 1024

#define say(...) ((void)dprintf(STDERR_FILENO, __VA_ARGS__))

/* A program's command line, without its options. */
struct program {
	const char *name;
	const char *usage; /* what --help prints before the options */
	int arguments; /* that are no options */
	const char *needs; /* what to say if there are more or fewer */
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

/* An option: what --help says of it, and where its value goes. */
struct option_row {
	const char *name; /* without the dashes; NULL ends a table */
	const char *value; /* the value's name in --help, NULL: the option has none */
	const char *help; /* one or more lines */
	bool (*set)(const struct option_row *row, const char *text); /* false: the value is wrong */
	void *place;
	const char *must_be; /* what a right value is, for the message about a wrong one */
	uint64_t low; /* the bounds of a number, which complete `must_be` */
	uint64_t high;
};

/* How an option sets its place: a uint32_t, such a power of two, a uint64_t, a text, or true. */
bool set_number(const struct option_row *row, const char *text);
bool set_power_of_two(const struct option_row *row, const char *text);
bool set_large_number(const struct option_row *row, const char *text);
bool set_text(const struct option_row *row, const char *text);
bool set_flag(const struct option_row *row, const char *text);

/* Nanoseconds as a uint64_t, and milliseconds, at most an hour, as a uint32_t. */
bool set_duration(const struct option_row *row, const char *text);
bool set_timeout(const struct option_row *row, const char *text);

/* The most rows of a table. */
#define MAX_OPTIONS 24

/* clang-format off */

/* The rows of the options that all programs have. The meaning of --packets differs. */
#define COMMON_ROWS(common, packets_help)                                                          \
	{"batch", "N", "packets per call, 1 to 512 (default 32)", set_number, &(common)->batch,    \
	 "a number", 1, FORWARDER_MAX_BATCH},                                                      \
	{"ring-size", "N",                                                                         \
	 "descriptors of every ring, a power of two, 64 to 4096 (default 512)",                    \
	 set_power_of_two, &(common)->ring_size, "a power of two", 64, 4096},                      \
	{"packets", "N", packets_help, set_large_number, &(common)->packets, "a number", 1,        \
	 UINT64_MAX - 1},                                                                          \
	{"duration", "S", "end after S seconds; fractions are allowed", set_duration,              \
	 &(common)->duration, "a number of seconds above 0", 0, 0},                                \
	{"connect-timeout", "S",                                                                   \
	 "wait at most S seconds for the sockets, up to 3600 (default 5)", set_timeout,            \
	 &(common)->connect_timeout_ms, "a number of seconds above 0, at most 3600", 0, 0},        \
	{"link-timeout", "S",                                                                      \
	 "wait at most S seconds for each link, up to 3600 (default 30)", set_timeout,             \
	 &(common)->link_timeout_ms, "a number of seconds above 0, at most 3600", 0, 0},           \
	{"json", "FILE", "write the totals to FILE at the end", set_text, &(common)->json,         \
	 NULL, 0, 0},                                                                              \
	{NULL, NULL, NULL, NULL, NULL, NULL, 0, 0}

#define COMMON_USAGE_DEVICE                                                                        \
	"  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n"

/* clang-format on */

/* The paper's batch and rings, no limit, and the timeouts that --help names. */
struct common_options common_options_default(void);

/*
 * Sets the options on the command line, or prints what --help and --version say. Moves `optind` to the first
 * of the arguments that are no options, and checks their number. Returns -1 to go on, or the exit status.
 */
int parse_rows(const struct program *program, const struct option_row *rows, int argc, char **argv);

/* Prints what is wrong with the command line, and points to --help. Returns the exit status. */
int usage_error(const struct program *program, const char *what, const char *value);

/* Reads a number without sign and exponent at the start of a text. `end` is what follows it. */
bool parse_decimal(const char *text, double *number, const char **end);

/* Prints the reason of a result that is not 0. Returns the exit status. */
int exit_status(const struct program *program, int result, const struct error *error);

/* TURNS_PER_LOOK, or fewer if each doorbell is a message to the server: a turn may then take 20 ms or more. */
uint32_t turns_per_look(bool is_trapped);

/* Says that some memory is on ordinary pages. */
void warn_of_ordinary_pages(const struct program *program);

#endif
