/* Threads on chosen CPUs. */
#ifndef IXGBE_APPS_THREADS_H
#define IXGBE_APPS_THREADS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_LIST_MAX 16

/* The CPUs of the threads, in their order. */
struct cpu_list {
	uint32_t count; /* 0 to CPU_LIST_MAX; 0 leaves the choice to the scheduler */
	uint32_t cpus[CPU_LIST_MAX];
};

/*
 * Reads a list of CPUs, such as 1,3 or 0-3. A CPU may appear twice: then two threads share it. Returns
 * 0, or -1 with the reason: the list is wrong, or this process may not use a CPU.
 */
int cpu_list_parse(const char *text, struct cpu_list *list, char *error, size_t error_size);

/* The CPU of a thread: the threads take the CPUs in turn. NULL if the list is empty. */
const uint32_t *cpu_list_get(const struct cpu_list *list, uint32_t nth);

/*
 * Starts a thread on `cpu`, or anywhere if that is NULL. It blocks the signals that the caller blocks.
 * Returns 0 or an errno.
 */
int thread_start(pthread_t *thread, const uint32_t *cpu, void *(*work)(void *), void *argument);

#endif
