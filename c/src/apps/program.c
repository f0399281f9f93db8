/* What the programs have in common: messages, exit statuses, options, signals, the clock. */
#define _GNU_SOURCE
#include "apps/program.h"
#include "apps/version.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int usage_error(const struct program *program, const char *what, const char *value)
{
	say("%s: %s%s%s\n\nFor more information, try '--help'.\n", program->name, what,
	    value != NULL ? ": " : "", value != NULL ? value : "");
	return EXIT_USAGE;
}

/* Returns what is wrong with the value of an option, or NULL. */
static const char *set_option(int option, const char *value, struct common_options *options)
{
	uint64_t number = 0;

	switch (option) {
	case OPTION_BATCH:
		if (!parse_number(value, 1, FORWARDER_MAX_BATCH, &number)) {
			return "--batch must be a number from 1 to 512, not";
		}
		options->batch = (uint32_t)number;
		return NULL;
	case OPTION_RING_SIZE:
		if (!parse_number(value, 64, 4096, &number) || (number & (number - 1)) != 0) {
			return "--ring-size must be a power of two from 64 to 4096, not";
		}
		options->ring_size = (uint32_t)number;
		return NULL;
	case OPTION_PACKETS:
		return parse_number(value, 1, UINT64_MAX - 1, &options->packets) ?
			       NULL :
			       "--packets must be a number from 1, not";
	case OPTION_DURATION:
		return parse_duration(value, &options->duration) ?
			       NULL :
			       "--duration must be a number of seconds above 0, not";
	case OPTION_CONNECT_TIMEOUT:
		return parse_timeout(value, &options->connect_timeout_ms) ?
			       NULL :
			       "--connect-timeout must be a number of seconds above 0, at most "
			       "3600, not";
	case OPTION_LINK_TIMEOUT:
		return parse_timeout(value, &options->link_timeout_ms) ?
			       NULL :
			       "--link-timeout must be a number of seconds above 0, at most 3600, "
			       "not";
	default:
		options->json = value;
		return NULL;
	}
}

int common_option(const struct program *program, int option, char **argv,
		  struct common_options *options)
{
	switch (option) {
	case OPTION_HELP:
	case 'h':
		(void)dprintf(STDOUT_FILENO, "%s", program->usage);
		return EXIT_SUCCESS;
	case OPTION_VERSION:
	case 'V':
		(void)dprintf(STDOUT_FILENO, "%s %s\n", program->name, project_version());
		return EXIT_SUCCESS;
	case ':':
		return usage_error(program, "an option has no value", argv[optind - 1]);
	case '?':
		return usage_error(program, "unknown option", argv[optind - 1]);
	default:
		break;
	}
	const char *wrong = set_option(option, optarg, options);

	return wrong == NULL ? -1 : usage_error(program, wrong, optarg);
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
