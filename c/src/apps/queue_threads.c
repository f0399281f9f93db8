/* Forwarding with several queues: threads, each with one or more queue pairs of its own. */
#include "apps/queue_threads.h"
#include "clock.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread looks at what it shares with the others once every so many turns. */
#define TURNS_PER_LOOK 1024

/* Packets of the limit that a queue takes for itself until the next look. */
#define CLAIM 16384

/* Milliseconds between two checks for a stalled queue. */
#define CHECK_MS 1000

/* Microseconds to wait while other threads have all that is left of the limit. */
#define RETRY_US 100

#define ERROR_SIZE 1024

/* What the threads share. They look at it between rounds, not for each packet. */
struct shared {
	pthread_mutex_t lock;
	bool end;
	uint64_t left; /* packets of the limit that no queue has taken; UINT64_MAX: no limit */
	uint64_t claimed; /* packets that queues have taken and not received yet */
	bool failed;
	char error[ERROR_SIZE]; /* of the first thread that failed */
};

struct worker {
	struct shared *shared;
	struct forwarder *forwarder;
	uint32_t first; /* its queues: this one, and every `step`-th after it */
	uint32_t step;
	uint32_t queues; /* of all threads */
	pthread_t thread;
};

struct queue_threads {
	struct shared shared;
	uint32_t count; /* threads that run */
	struct worker workers[FORWARDER_MAX_QUEUES];
};

/* Takes packets of the limit for a queue. Returns their number, UINT64_MAX without a limit. */
static uint64_t claim(struct shared *shared)
{
	uint64_t taken = UINT64_MAX;

	(void)pthread_mutex_lock(&shared->lock);
	if (shared->left != UINT64_MAX) {
		taken = shared->left < CLAIM ? shared->left : CLAIM;
		shared->left -= taken;
		shared->claimed += taken;
	}
	(void)pthread_mutex_unlock(&shared->lock);
	return taken;
}

/* Gives back what a queue did not receive. */
static void settle(struct shared *shared, uint64_t taken, uint64_t received)
{
	if (taken == UINT64_MAX) {
		return;
	}
	(void)pthread_mutex_lock(&shared->lock);
	shared->claimed -= taken;
	shared->left += taken - received;
	(void)pthread_mutex_unlock(&shared->lock);
}

static void fail(struct shared *shared, const char *error)
{
	(void)pthread_mutex_lock(&shared->lock);
	if (!shared->failed) {
		shared->failed = true;
		(void)snprintf(shared->error, sizeof(shared->error), "%s", error);
	}
	(void)pthread_mutex_unlock(&shared->lock);
}

/* Whether a thread ends: somebody said so, one has failed, or nothing of the limit is left. */
static bool ends(struct shared *shared)
{
	(void)pthread_mutex_lock(&shared->lock);
	bool ended = shared->end || shared->failed || (shared->left == 0 && shared->claimed == 0);

	(void)pthread_mutex_unlock(&shared->lock);
	return ended;
}

/* Forwards with all queues of a thread until the next look. Returns the number of received packets. */
static uint64_t forward_round(struct worker *worker)
{
	uint64_t taken[FORWARDER_MAX_QUEUES] = {0};
	uint64_t received[FORWARDER_MAX_QUEUES] = {0};
	uint64_t left = 0;
	uint64_t total = 0;

	for (uint32_t queue = worker->first; queue < worker->queues; queue += worker->step) {
		taken[queue] = claim(worker->shared);
		left = taken[queue] > UINT64_MAX - left ? UINT64_MAX : left + taken[queue];
		forwarder_queue_limit(worker->forwarder, queue, taken[queue]);
	}
	for (uint32_t turns = TURNS_PER_LOOK; turns > 0 && total < left; turns--) {
		for (uint32_t queue = worker->first; queue < worker->queues;
		     queue += worker->step) {
			uint32_t count = forwarder_queue_turn(worker->forwarder, queue);

			received[queue] += count;
			total += count;
		}
	}
	for (uint32_t queue = worker->first; queue < worker->queues; queue += worker->step) {
		settle(worker->shared, taken[queue], received[queue]);
	}
	if (left == 0) {
		sleep_us(RETRY_US);
	}
	return total;
}

static void check(struct worker *worker)
{
	char error[ERROR_SIZE];

	for (uint32_t queue = worker->first; queue < worker->queues; queue += worker->step) {
		if (forwarder_queue_check(worker->forwarder, queue, error, sizeof(error)) != 0) {
			fail(worker->shared, error);
		}
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t checked = now_ms();

	while (!ends(worker->shared)) {
		if (forward_round(worker) == 0) {
			/* More threads than CPUs: another one may have packets. */
			(void)sched_yield();
		}
		uint64_t now = now_ms();

		if (now - checked >= CHECK_MS) {
			check(worker);
			checked = now;
		}
	}
	return NULL;
}

struct queue_threads *queue_threads_start(struct forwarder *forwarder, uint32_t queues,
					  const struct cpu_list *cpus, uint64_t packets,
					  char *error, size_t error_size)
{
	struct queue_threads *threads = calloc(1, sizeof(*threads));
	uint32_t count = cpus->count > 0 ? cpus->count : queues;

	if (threads == NULL) {
		(void)snprintf(error, error_size, "out of memory for the threads");
		return NULL;
	}
	(void)pthread_mutex_init(&threads->shared.lock, NULL);
	threads->shared.left = packets;
	/* Before the first thread starts. */
	forwarder_give_queues(forwarder, true);
	for (uint32_t i = 0; i < count && i < queues; i++) {
		struct worker *worker = &threads->workers[i];

		worker->shared = &threads->shared;
		worker->forwarder = forwarder;
		worker->first = i;
		worker->step = count;
		worker->queues = queues;
		int result = thread_start(&worker->thread, cpu_list_get(cpus, i), work, worker);

		if (result != 0) {
			char ignored[ERROR_SIZE];

			(void)snprintf(error, error_size, "cannot start thread %u: %s", i,
				       strerror(result));
			(void)queue_threads_stop(threads, ignored, sizeof(ignored));
			return NULL;
		}
		threads->count++;
	}
	return threads;
}

bool queue_threads_ended(struct queue_threads *threads)
{
	return ends(&threads->shared);
}

int queue_threads_stop(struct queue_threads *threads, char *error, size_t error_size)
{
	int result = 0;

	(void)pthread_mutex_lock(&threads->shared.lock);
	threads->shared.end = true;
	(void)pthread_mutex_unlock(&threads->shared.lock);
	for (uint32_t i = 0; i < threads->count; i++) {
		(void)pthread_join(threads->workers[i].thread, NULL);
	}
	forwarder_give_queues(threads->workers[0].forwarder, false);
	if (threads->shared.failed) {
		(void)snprintf(error, error_size, "%s", threads->shared.error);
		result = -1;
	}
	(void)pthread_mutex_destroy(&threads->shared.lock);
	free(threads);
	return result;
}
