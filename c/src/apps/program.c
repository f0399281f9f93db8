/* What the programs have in common: messages, exit statuses, options, signals, the clock. */
#define _GNU_SOURCE
#include "apps/program.h"
#include "apps/version.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The column of --help at which the texts of the options begin. */
#define HELP_COLUMN 23

/* The longest wait for a server or a link, in seconds. */
#define MAX_TIMEOUT 3600

struct common_options common_options_default(void)
{
	return (struct common_options){
		.batch = FORWARDER_DEFAULT_BATCH,
		.ring_size = FORWARDER_DEFAULT_RING_SIZE,
		.packets = UINT64_MAX,
		.duration = UINT64_MAX,
		.connect_timeout_ms = FORWARDER_DEFAULT_CONNECT_TIMEOUT_MS,
		.link_timeout_ms = FORWARDER_DEFAULT_LINK_TIMEOUT_MS,
	};
}

bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
	char *end = NULL;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *number >= low && *number <= high;
}

bool parse_duration(const char *text, uint64_t *nanoseconds)
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

bool set_number(const struct option_row *row, const char *text)
{
	uint64_t number = 0;

	if (!parse_number(text, row->low, row->high, &number)) {
		return false;
	}
	*(uint32_t *)row->place = (uint32_t)number;
	return true;
}

bool set_power_of_two(const struct option_row *row, const char *text)
{
	uint64_t number = 0;

	return parse_number(text, row->low, row->high, &number) && (number & (number - 1)) == 0 &&
	       set_number(row, text);
}

bool set_large_number(const struct option_row *row, const char *text)
{
	return parse_number(text, row->low, row->high, row->place);
}

bool set_text(const struct option_row *row, const char *text)
{
	*(const char **)row->place = text;
	return true;
}

bool set_flag(const struct option_row *row, const char *text)
{
	(void)text;
	*(bool *)row->place = true;
	return true;
}

bool set_duration(const struct option_row *row, const char *text)
{
	return parse_duration(text, row->place);
}

/* A part of a millisecond counts as a whole one, so that the wait is at least 1. */
bool set_timeout(const struct option_row *row, const char *text)
{
	uint64_t nanoseconds = 0;

	if (!parse_duration(text, &nanoseconds) || nanoseconds > MAX_TIMEOUT * NANOSECONDS) {
		return false;
	}
	*(uint32_t *)row->place = (uint32_t)((nanoseconds + NANOSECONDS / 1000 - 1) /
					     (NANOSECONDS / 1000));
	return true;
}

int usage_error(const struct program *program, const char *what, const char *value)
{
	say("%s: %s%s%s\n\nFor more information, try '--help'.\n", program->name, what,
	    value != NULL ? ": " : "", value != NULL ? value : "");
	return EXIT_USAGE;
}

static int wrong_value(const struct program *program, const struct option_row *row,
		       const char *text)
{
	char bounds[64] = "";
	char what[256];

	if (row->high == UINT64_MAX - 1) {
		(void)snprintf(bounds, sizeof(bounds), " from %" PRIu64, row->low);
	} else if (row->high != 0) {
		(void)snprintf(bounds, sizeof(bounds), " from %" PRIu64 " to %" PRIu64, row->low,
			       row->high);
	}
	(void)snprintf(what, sizeof(what), "--%s must be %s%s, not", row->name, row->must_be,
		       bounds);
	return usage_error(program, what, text);
}

/* Prints an option, and its text from HELP_COLUMN on. */
static void print_row(const struct option_row *row)
{
	const char *line = row->help;
	int column = dprintf(STDOUT_FILENO, "  --%s%s%s", row->name, row->value != NULL ? " " : "",
			     row->value != NULL ? row->value : "");

	if (column >= HELP_COLUMN) {
		(void)dprintf(STDOUT_FILENO, "\n");
		column = 0;
	}
	while (*line != '\0') {
		int length = (int)strcspn(line, "\n");

		(void)dprintf(STDOUT_FILENO, "%*s%.*s\n", HELP_COLUMN - column, "", length, line);
		line += length;
		line += *line == '\n';
		column = 0;
	}
}

static int print_help(const struct program *program, const struct option_row *rows)
{
	(void)dprintf(STDOUT_FILENO, "%s", program->usage);
	for (; rows->name != NULL; rows++) {
		print_row(rows);
	}
	(void)dprintf(STDOUT_FILENO, "  --help               print this text\n"
				     "  --version            print the version\n");
	return EXIT_SUCCESS;
}

int parse_rows(const struct program *program, const struct option_row *rows, int argc, char **argv)
{
	struct option known[MAX_OPTIONS + 3] = {{.name = "help", .val = 'h'},
						{.name = "version", .val = 'V'}};
	int option = 0;
	int index = 0;

	for (uint32_t i = 0; i < MAX_OPTIONS && rows[i].name != NULL; i++) {
		known[i + 2].name = rows[i].name;
		known[i + 2].has_arg = rows[i].value != NULL ? required_argument : no_argument;
	}
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hV", known, &index)) != -1) {
		switch (option) {
		case 'h':
			return print_help(program, rows);
		case 'V':
			(void)dprintf(STDOUT_FILENO, "%s %s\n", program->name, project_version());
			return EXIT_SUCCESS;
		case ':':
			return usage_error(program, "an option has no value", argv[optind - 1]);
		case '?':
			return usage_error(program, "unknown option", argv[optind - 1]);
		default:
			if (!rows[index - 2].set(&rows[index - 2], optarg)) {
				return wrong_value(program, &rows[index - 2], optarg);
			}
		}
	}
	return -1;
}

uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

void hold_signals(sigset_t *held)
{
	(void)sigemptyset(held);
	(void)sigaddset(held, SIGINT);
	(void)sigaddset(held, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, held, NULL);
	/* If the reader of the output goes away, the devices must still be stopped. */
	(void)signal(SIGPIPE, SIG_IGN);
}

bool signal_comes(const sigset_t *held, uint64_t nanoseconds)
{
	const struct timespec time = {.tv_nsec = (long)nanoseconds};

	return sigtimedwait(held, NULL, &time) > 0;
}

int json_open(const struct program *program, const char *path)
{
	if (path == NULL) {
		return -1;
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0) {
		say("%s: %s: %s\n", program->name, path, strerror(errno));
		return -2;
	}
	return fd;
}

int json_close(int fd, int written)
{
	int cause = errno;
	int closed = close(fd);

	if (written < 0) {
		errno = cause;
		return -1;
	}
	return closed;
}
