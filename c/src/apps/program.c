/* What the programs have in common: messages, exit statuses, options, the version. */
#define _GNU_SOURCE
#include "apps/program.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The Makefile passes the version of Cargo.toml. Under TRANSPILE, rust-unsafe/src/shim.rs has it. */
#ifdef TRANSPILE
const char *project_version(void);
#else
#ifndef TRIPTYCH_VERSION
#define TRIPTYCH_VERSION "unknown"
#endif

static const char *project_version(void)
{
	return TRIPTYCH_VERSION;
}
#endif

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

/* A whole number from `low` to `high`, in digits only. */
static bool parse_number(const struct option_row *row, const char *text, uint64_t *number)
{
	char *end = NULL;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *number >= row->low && *number <= row->high;
}

bool parse_decimal(const char *text, double *number, const char **end)
{
	char *stop = NULL;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*number = strtod(text, &stop);
	*end = stop;
	/* strtod would also take hexadecimal numbers and exponents. */
	return errno == 0 && strspn(text, "0123456789.") == (size_t)(stop - text);
}

bool set_number(const struct option_row *row, const char *text)
{
	uint64_t number = 0;

	if (!parse_number(row, text, &number)) {
		return false;
	}
	*(uint32_t *)row->place = (uint32_t)number;
	return true;
}

bool set_power_of_two(const struct option_row *row, const char *text)
{
	uint64_t number = 0;

	return parse_number(row, text, &number) && (number & (number - 1)) == 0 &&
	       set_number(row, text);
}

bool set_large_number(const struct option_row *row, const char *text)
{
	return parse_number(row, text, row->place);
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
	const double most = 1e9;
	const char *end = NULL;
	double seconds = 0;

	if (!parse_decimal(text, &seconds, &end) || *end != '\0' || seconds <= 0 ||
	    seconds > most) {
		return false;
	}
	*(uint64_t *)row->place = (uint64_t)(seconds * (double)NANOSECONDS);
	return true;
}

/* A part of a millisecond counts as a whole one, so that the wait is at least 1. */
bool set_timeout(const struct option_row *row, const char *text)
{
	uint64_t nanoseconds = 0;
	const struct option_row duration = {.place = &nanoseconds};

	if (!set_duration(&duration, text) || nanoseconds > MAX_TIMEOUT * NANOSECONDS) {
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
	return argc - optind == program->arguments ? -1 :
						     usage_error(program, program->needs, NULL);
}

int exit_status(const struct program *program, int result, const struct error *error)
{
	if (result == 0) {
		return EXIT_SUCCESS;
	}
	say("%s: %s\n", program->name, error->text);
	return EXIT_RUN_TIME;
}

uint32_t turns_per_look(bool is_trapped)
{
	return is_trapped ? 8 : TURNS_PER_LOOK;
}

void warn_of_ordinary_pages(const struct program *program)
{
	say("%s: warning: too few huge pages of 2 MiB are free, using ordinary pages, which are "
	    "slower; `make hugepages` reserves some\n",
	    program->name);
}
