/* Threads on chosen CPUs. */
#define _GNU_SOURCE
#include "apps/threads.h"
#include "clock.h"
#include "rooms/atomics.h"
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds between two checks for a stalled queue. */
#define CHECK_MS 1000

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

static int add_cpu(unsigned long cpu, struct cpu_list *list, struct error *error)
{
	cpu_set_t allowed;
	char text[ERROR_SIZE / 2];

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
		return error_fail(error, "cannot read the CPUs of this process: %s",
				  strerror(errno));
	}
	if (!CPU_ISSET(cpu, &allowed)) {
		allowed_text(&allowed, text, sizeof(text));
		return error_fail(error,
				  "CPU %lu does not exist, is offline, or is not for this process, "
				  "which may use %s",
				  cpu, text);
	}
	if (list->count == CPU_LIST_MAX) {
		return error_fail(error, "the list has more than %d CPUs", CPU_LIST_MAX);
	}
	list->cpus[list->count] = (uint32_t)cpu;
	list->count++;
	return 0;
}

/* Reads a number at the beginning of a text. Returns what follows it, or NULL if there is no number. */
static const char *read_cpu(const char *text, unsigned long *cpu)
{
	char *end = NULL;

	if (*text < '0' || *text > '9') {
		return NULL;
	}
	*cpu = strtoul(text, &end, 10);
	return *cpu < CPU_SETSIZE ? end : NULL;
}

/* Reads a CPU, or a range such as 0-3. Returns what follows it, or NULL. */
static const char *read_range(const char *text, unsigned long *first, unsigned long *last)
{
	const char *end = read_cpu(text, first);

	*last = *first;
	if (end != NULL && *end == '-') {
		end = read_cpu(end + 1, last);
	}
	return end != NULL && *last >= *first && (*end == '\0' || *end == ',') ? end : NULL;
}

int cpu_list_parse(const char *text, struct cpu_list *list, struct error *error)
{
	const char *at = text;

	list->count = 0;
	do {
		unsigned long first = 0;
		unsigned long last = 0;

		at = read_range(at, &first, &last);
		if (at == NULL) {
			return error_fail(error, "a list of CPUs looks like 1,3 or 0-3, not %.900s",
					  text);
		}
		for (unsigned long cpu = first; cpu <= last; cpu++) {
			if (add_cpu(cpu, list, error) != 0) {
				return -1;
			}
		}
	} while (*at++ == ',');
	return 0;
}

static void *run_thread(void *argument)
{
	struct crew_thread *thread = argument;

	thread->result = thread->work(thread->part, &thread->error);
	if (thread->result != 0) {
		atomic_store32_release(&thread->crew->end, 1);
	}
	atomic_store32_release(&thread->ended, 1);
	return NULL;
}

/* Starts a thread on CPU `nth` of the list. Returns 0 or an errno. */
static int start_thread(struct crew_thread *thread, const struct cpu_list *cpus, uint32_t nth)
{
	pthread_attr_t attributes;
	int result = pthread_attr_init(&attributes);

	if (result != 0) {
		return result;
	}
	if (cpus->count > 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpus->cpus[nth % cpus->count], &set);
		result = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	}
	if (result == 0) {
		result = pthread_create(&thread->thread, &attributes, run_thread, thread);
	}
	(void)pthread_attr_destroy(&attributes);
	return result;
}

void crew_add(struct crew *crew, enum stage stage, int (*work)(void *part, struct error *error),
	      void *part)
{
	crew->threads[crew->count] = (struct crew_thread){
		.crew = crew,
		.stage = stage,
		.work = work,
		.part = part,
	};
	crew->count++;
}

/* Starts the threads. Returns the number of those that run: fewer, with the reason, if one cannot start. */
static uint32_t start_all(struct crew *crew, const struct cpu_list *cpus, struct error *error)
{
	for (uint32_t i = 0; i < crew->count; i++) {
		int result = start_thread(&crew->threads[i], cpus, i);

		if (result != 0) {
			error_set(error, "cannot start thread %u: %s", i, strerror(result));
			return i;
		}
	}
	return crew->count;
}

static bool all_ended(const struct crew *crew)
{
	return crew_stage_ended(crew, STAGE_RECEIVE) && crew_stage_ended(crew, STAGE_WORK) &&
	       crew_stage_ended(crew, STAGE_SEND);
}

int crew_run(struct crew *crew, const struct cpu_list *cpus, const struct watch *watch,
	     struct error *error)
{
	uint32_t started = start_all(crew, cpus, error);
	int result = started == crew->count ? 0 : -1;

	/* The others must not wait for threads that did not start. */
	for (uint32_t i = started; i < crew->count; i++) {
		atomic_store32_release(&crew->threads[i].ended, 1);
	}
	while (result == 0 && !crew_ends(crew) && !all_ended(crew) &&
	       watch->goes_on(watch->state)) {
	}
	atomic_store32_release(&crew->end, 1);
	for (uint32_t i = 0; i < started; i++) {
		const struct crew_thread *thread = &crew->threads[i];

		(void)pthread_join(thread->thread, NULL);
		/* The first error is the one to report. */
		if (thread->result != 0 && result == 0) {
			result = -1;
			*error = thread->error;
		}
	}
	return result;
}

int check_queues(struct forwarder *forwarder, uint32_t first, uint32_t step, uint32_t queues,
		 uint64_t *checked, struct error *error)
{
	uint64_t now = now_ms();

	if (now - *checked < CHECK_MS) {
		return 0;
	}
	*checked = now;
	for (uint32_t queue = first; queue < queues; queue += step) {
		if (forwarder_queue_check(forwarder, queue, error->text, ERROR_SIZE) != 0) {
			return -1;
		}
	}
	return 0;
}

bool crew_ends(const struct crew *crew)
{
	return atomic_load32_acquire(&crew->end) != 0;
}

bool crew_stage_ended(const struct crew *crew, enum stage stage)
{
	for (uint32_t i = 0; i < crew->count; i++) {
		const struct crew_thread *thread = &crew->threads[i];

		if (thread->stage == stage && atomic_load32_acquire(&thread->ended) == 0) {
			return false;
		}
	}
	return true;
}
