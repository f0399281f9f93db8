/* Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue. */
#include "apps/pipeline_threads.h"
#include "clock.h"
#include "rooms/pipeline.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread looks at what it shares with the others once every so many turns. */
#define TURNS_PER_LOOK 1024

/* A thread lets others run after so many rounds without a packet: there may be more threads than CPUs. */
#define EMPTY_TURNS 64

/* Milliseconds between two checks for a stalled queue. */
#define CHECK_MS 1000

/* Milliseconds that the TX thread waits for a device that takes no packets, after all others have ended. */
#define DRAIN_MS 1000

#define ERROR_SIZE 1024

/* The RX thread, the TX thread, and the workers. */
#define MAX_THREADS (2 + FORWARDER_MAX_QUEUES)

/* What the threads share. They look at it between rounds, not for each packet. */
struct shared {
	pthread_mutex_t lock;
	bool end; /* the RX thread has to end */
	uint32_t receiving; /* RX threads that run: 1, then 0 */
	uint32_t working; /* workers that run */
	uint32_t sending; /* TX threads that run */
	bool failed;
	char error[ERROR_SIZE]; /* of the first thread that failed */
};

struct stage {
	struct shared *shared;
	struct forwarder *forwarder;
	struct pipeline *pipeline;
	uint32_t queue; /* of a worker */
	uint32_t queues;
	uint64_t packets; /* the limit of the RX thread */
	pthread_t thread;
};

struct pipeline_threads {
	struct shared shared;
	struct pipeline *pipeline;
	struct forwarder *forwarder;
	uint32_t count; /* threads that run */
	struct stage stages[MAX_THREADS];
};

static void fail(struct shared *shared, const char *error)
{
	(void)pthread_mutex_lock(&shared->lock);
	if (!shared->failed) {
		shared->failed = true;
		(void)snprintf(shared->error, sizeof(shared->error), "%s", error);
	}
	(void)pthread_mutex_unlock(&shared->lock);
}

/* Reads whether the RX thread has to end. */
static bool ends(struct shared *shared)
{
	(void)pthread_mutex_lock(&shared->lock);
	bool ended = shared->end || shared->failed;

	(void)pthread_mutex_unlock(&shared->lock);
	return ended;
}

/* Reads one of the numbers of running threads. */
static uint32_t running(struct shared *shared, const uint32_t *number)
{
	(void)pthread_mutex_lock(&shared->lock);
	uint32_t count = *number;

	(void)pthread_mutex_unlock(&shared->lock);
	return count;
}

/* Notes that a thread has ended. The lock shows what it did to those that read the number. */
static void ended(struct shared *shared, uint32_t *number)
{
	(void)pthread_mutex_lock(&shared->lock);
	(*number)--;
	(void)pthread_mutex_unlock(&shared->lock);
}

typedef uint32_t (*turn_function)(struct pipeline *pipeline, uint32_t queue);

/*
 * Does up to TURNS_PER_LOOK turns of the queues from `first` to `end`, fewer if there is nothing to do.
 * Returns the number of packets.
 */
static uint64_t round_of(struct pipeline *pipeline, turn_function turn, uint32_t first,
			 uint32_t end)
{
	uint64_t total = 0;
	uint32_t empty = 0;

	for (uint32_t turns = TURNS_PER_LOOK; turns > 0 && empty < EMPTY_TURNS; turns--) {
		uint32_t count = 0;

		for (uint32_t queue = first; queue < end; queue++) {
			count += turn(pipeline, queue);
		}
		total += count;
		empty = count > 0 ? 0 : empty + 1;
	}
	if (empty == EMPTY_TURNS) {
		(void)sched_yield();
	}
	return total;
}

static void check(struct stage *stage)
{
	char error[ERROR_SIZE];

	for (uint32_t queue = 0; queue < stage->queues; queue++) {
		if (forwarder_queue_check(stage->forwarder, queue, error, sizeof(error)) != 0) {
			fail(stage->shared, error);
		}
	}
}

static void *receive_packets(void *argument)
{
	struct stage *stage = argument;
	uint64_t checked = now_ms();
	uint64_t received = 0;

	pipeline_limit(stage->pipeline, stage->packets);
	while (received < stage->packets && !ends(stage->shared)) {
		received += round_of(stage->pipeline, pipeline_receive, 0, stage->queues);
		uint64_t now = now_ms();

		if (now - checked >= CHECK_MS) {
			check(stage);
			checked = now;
		}
	}
	ended(stage->shared, &stage->shared->receiving);
	return NULL;
}

static void *work_packets(void *argument)
{
	struct stage *stage = argument;
	struct shared *shared = stage->shared;

	for (;;) {
		/* Reads the number first: what the RX thread put in before it ended is there by now. */
		bool last = running(shared, &shared->receiving) == 0;

		if (round_of(stage->pipeline, pipeline_work, stage->queue, stage->queue + 1) == 0 &&
		    last) {
			break;
		}
	}
	ended(shared, &shared->working);
	return NULL;
}

static bool send_waits(const struct stage *stage)
{
	for (uint32_t queue = 0; queue < stage->queues; queue++) {
		if (pipeline_send_waits(stage->pipeline, queue)) {
			return true;
		}
	}
	return false;
}

static void *send_packets(void *argument)
{
	struct stage *stage = argument;
	struct shared *shared = stage->shared;
	uint64_t progress = now_ms();

	for (;;) {
		/* Reads the number first, as in work_packets. */
		bool last = running(shared, &shared->working) == 0;
		uint64_t count = round_of(stage->pipeline, pipeline_send, 0, stage->queues);

		if (count > 0 || !last) {
			progress = now_ms();
		} else if (!send_waits(stage) || now_ms() - progress >= DRAIN_MS) {
			break;
		}
	}
	ended(shared, &shared->sending);
	return NULL;
}

static int start(struct pipeline_threads *threads, uint32_t queues, const struct cpu_list *cpus,
		 uint64_t packets, char *error, size_t error_size)
{
	for (uint32_t i = 0; i < 2 + queues; i++) {
		struct stage *stage = &threads->stages[i];
		void *(*run)(void *) = work_packets;

		if (i < 2) {
			run = i == 0 ? receive_packets : send_packets;
		}
		*stage = (struct stage){
			.shared = &threads->shared,
			.forwarder = threads->forwarder,
			.pipeline = threads->pipeline,
			.queue = i - 2,
			.queues = queues,
			.packets = packets,
		};
		int result = thread_start(&stage->thread, cpu_list_get(cpus, i), run, stage);

		if (result != 0) {
			(void)snprintf(error, error_size, "cannot start thread %u: %s", i,
				       strerror(result));
			return -1;
		}
		threads->count++;
	}
	return 0;
}

struct pipeline_threads *pipeline_threads_start(struct forwarder *forwarder, uint32_t queues,
						const struct cpu_list *cpus, uint64_t packets,
						char *error, size_t error_size)
{
	struct pipeline_threads *threads = calloc(1, sizeof(*threads));
	char ignored[ERROR_SIZE];

	if (threads == NULL) {
		(void)snprintf(error, error_size, "out of memory for the threads");
		return NULL;
	}
	threads->forwarder = forwarder;
	threads->pipeline = pipeline_create(forwarder, error, error_size);
	if (threads->pipeline == NULL) {
		free(threads);
		return NULL;
	}
	(void)pthread_mutex_init(&threads->shared.lock, NULL);
	threads->shared.receiving = 1;
	threads->shared.working = queues;
	threads->shared.sending = 1;
	/* Before the first thread starts. */
	forwarder_give_queues(forwarder, true);
	if (start(threads, queues, cpus, packets, error, error_size) != 0) {
		/* The threads that did not start do not end, so the others must not wait for them. */
		uint32_t workers = threads->count > 2 ? threads->count - 2 : 0;

		(void)pthread_mutex_lock(&threads->shared.lock);
		threads->shared.receiving -= threads->count == 0;
		threads->shared.working -= queues - workers;
		(void)pthread_mutex_unlock(&threads->shared.lock);
		(void)pipeline_threads_stop(threads, ignored, sizeof(ignored));
		return NULL;
	}
	return threads;
}

bool pipeline_threads_ended(struct pipeline_threads *threads)
{
	struct shared *shared = &threads->shared;

	(void)pthread_mutex_lock(&shared->lock);
	bool all = shared->sending == 0 || shared->failed;

	(void)pthread_mutex_unlock(&shared->lock);
	return all;
}

int pipeline_threads_stop(struct pipeline_threads *threads, char *error, size_t error_size)
{
	int result = 0;

	(void)pthread_mutex_lock(&threads->shared.lock);
	threads->shared.end = true;
	(void)pthread_mutex_unlock(&threads->shared.lock);
	for (uint32_t i = 0; i < threads->count; i++) {
		(void)pthread_join(threads->stages[i].thread, NULL);
	}
	pipeline_destroy(threads->pipeline);
	forwarder_give_queues(threads->forwarder, false);
	if (threads->shared.failed) {
		(void)snprintf(error, error_size, "%s", threads->shared.error);
		result = -1;
	}
	(void)pthread_mutex_destroy(&threads->shared.lock);
	free(threads);
	return result;
}
