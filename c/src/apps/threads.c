/* Threads on chosen CPUs. */
#define _GNU_SOURCE
#include "apps/threads.h"
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_SIZE 512

int thread_start(pthread_t *thread, const uint32_t *cpu, void *(*work)(void *), void *argument)
{
	pthread_attr_t attributes;
	int result = pthread_attr_init(&attributes);

	if (result != 0) {
		return result;
	}
	if (cpu != NULL) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(*cpu, &set);
		result = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	}
	if (result == 0) {
		result = pthread_create(thread, &attributes, work, argument);
	}
	(void)pthread_attr_destroy(&attributes);
	return result;
}

const uint32_t *cpu_list_get(const struct cpu_list *list, uint32_t nth)
{
	return list->count > 0 ? &list->cpus[nth % list->count] : NULL;
}

/* The CPUs that this process may use, as text. */
static void allowed_text(const cpu_set_t *allowed, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, allowed)) {
			continue;
		}
		int written = snprintf(text + used, size - used, "%s%u", used > 0 ? "," : "", cpu);

		if (written < 0 || (size_t)written >= size - used) {
			return;
		}
		used += (size_t)written;
	}
}

static int add_cpu(unsigned long cpu, struct cpu_list *list, char *error, size_t error_size)
{
	cpu_set_t allowed;
	char text[ERROR_SIZE];

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
		(void)snprintf(error, error_size, "cannot read the CPUs of this process: %s",
			       strerror(errno));
		return -1;
	}
	if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed)) {
		allowed_text(&allowed, text, sizeof(text));
		(void)snprintf(error, error_size,
			       "CPU %lu does not exist, is offline, or is not for this process, "
			       "which may use %s",
			       cpu, text);
		return -1;
	}
	if (list->count == CPU_LIST_MAX) {
		(void)snprintf(error, error_size, "the list has more than %d CPUs", CPU_LIST_MAX);
		return -1;
	}
	list->cpus[list->count] = (uint32_t)cpu;
	list->count++;
	return 0;
}

/* Reads a number at the beginning of `*text`, and moves `*text` behind it. */
static bool read_cpu(const char **text, unsigned long *cpu)
{
	char *end = NULL;

	if (**text < '0' || **text > '9') {
		return false;
	}
	*cpu = strtoul(*text, &end, 10);
	*text = end;
	return *cpu < CPU_SETSIZE;
}

int cpu_list_parse(const char *text, struct cpu_list *list, char *error, size_t error_size)
{
	const char *at = text;

	list->count = 0;
	for (;;) {
		unsigned long first = 0;

		if (!read_cpu(&at, &first)) {
			break;
		}
		unsigned long last = first;

		if (*at == '-') {
			at++;
			if (!read_cpu(&at, &last) || last < first) {
				break;
			}
		}
		for (unsigned long cpu = first; cpu <= last; cpu++) {
			if (add_cpu(cpu, list, error, error_size) != 0) {
				return -1;
			}
		}
		if (*at == '\0') {
			return 0;
		}
		if (*at != ',') {
			break;
		}
		at++;
	}
	(void)snprintf(error, error_size, "a list of CPUs looks like 1,3 or 0-3, not %s", text);
	return -1;
}
