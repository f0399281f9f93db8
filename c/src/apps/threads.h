/* Threads on chosen CPUs. */
#ifndef IXGBE_APPS_THREADS_H
#define IXGBE_APPS_THREADS_H

#include "error.h"
#include "rooms/forwarder.h"
#include <pthread.h>

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
int cpu_list_parse(const char *text, struct cpu_list *list, struct error *error);

/* What the main thread does while the others work. */
struct watch {
	bool (*goes_on)(void *state); /* whether the run goes on; it may sleep */
	void *state;
};

/* What a thread is for. In a pipeline, a stage takes what the stage before put in. */
enum stage {
	STAGE_RECEIVE,
	STAGE_WORK,
	STAGE_SEND,
};

struct crew;

struct crew_thread {
	struct crew *crew;
	enum stage stage;
	int (*work)(void *part, struct error *error); /* returns 0, or -1 with the reason */
	void *part;
	pthread_t thread;
	int result;
	struct error error;
	uint32_t ended; /* shared; after it, `result` and `error` are valid */
};

/* Threads that work together. They look at what they share between rounds, not for each packet. */
struct crew {
	uint32_t count;
	uint32_t end; /* shared: all have to end, because somebody said so, or one has failed */
	struct crew_thread threads[2 + FORWARDER_MAX_QUEUES];
};

/* Adds a thread, before the first one runs. */
void crew_add(struct crew *crew, enum stage stage, int (*work)(void *part, struct error *error),
	      void *part);

/*
 * Runs the threads, which take the CPUs of the list in turn, and block the signals that the caller blocks.
 * They run until all have ended, one has failed, or `watch` says that the run ends. Returns 0, or -1 with
 * the reason if one could not start or has failed.
 */
int crew_run(struct crew *crew, const struct cpu_list *cpus, const struct watch *watch,
	     struct error *error);

/*
 * Once a second, checks that the queues are not stalled: each `step`-th from `first` on, below `queues`.
 * `checked` is when it did so last.
 */
int check_queues(struct forwarder *forwarder, uint32_t first, uint32_t step, uint32_t queues,
		 uint64_t *checked, struct error *error);

/* Whether the threads have to end. */
bool crew_ends(const struct crew *crew);

/* Whether all threads of a stage have ended. The caller then sees all that they did. */
bool crew_stage_ended(const struct crew *crew, enum stage stage);

#endif
