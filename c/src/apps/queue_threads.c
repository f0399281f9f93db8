/* Forwarding with several queues: threads, each with one or more queue pairs of its own. */
#include "apps/queue_threads.h"
#include "apps/program.h"
#include "clock.h"
#include <sched.h>

/* Packets of the limit that a queue takes for itself until the next look. */
#define CLAIM 16384

/* Microseconds to wait while other threads have all that is left of the limit. */
#define RETRY_US 100

/* What the threads share. They look at it between rounds, not for each packet. */
struct shared {
	pthread_mutex_t lock;
	uint64_t left; /* packets of the limit that no queue has taken; UINT64_MAX: no limit */
	uint64_t claimed; /* packets that queues have taken and not received yet */
};

struct worker {
	const struct crew *crew;
	struct shared *shared;
	struct forwarder *forwarder;
	uint32_t (*turn)(struct forwarder *forwarder, uint32_t queue);
	uint32_t first; /* its queues: this one, and every `step`-th after it */
	uint32_t step;
	uint32_t queues; /* of all threads */
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

/* Whether nothing of the limit is left. */
static bool is_used_up(struct shared *shared)
{
	(void)pthread_mutex_lock(&shared->lock);
	bool used_up = shared->left == 0 && shared->claimed == 0;

	(void)pthread_mutex_unlock(&shared->lock);
	return used_up;
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
			uint32_t count = worker->turn(worker->forwarder, queue);

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

static int work(void *part, struct error *error)
{
	struct worker *worker = part;
	uint64_t checked = now_ms();
	int result = 0;

	while (result == 0 && !crew_ends(worker->crew) && !is_used_up(worker->shared)) {
		if (forward_round(worker) == 0) {
			/* More threads than CPUs: another one may have packets. */
			(void)sched_yield();
		}
		result = check_queues(worker->forwarder, worker->first, worker->step,
				      worker->queues, &checked, error);
	}
	return result;
}

int forward_in_threads(struct forwarder *forwarder, uint32_t path, uint32_t queues,
		       const struct cpu_list *cpus, uint64_t packets, const struct watch *watch,
		       struct error *error)
{
	struct shared shared = {.left = packets};
	struct worker workers[FORWARDER_MAX_QUEUES];
	struct crew crew = {.count = 0};
	uint32_t count = cpus->count > 0 ? cpus->count : queues;

	for (uint32_t i = 0; i < count; i++) {
		workers[i] = (struct worker){
			.crew = &crew,
			.shared = &shared,
			.forwarder = forwarder,
			.turn = path == FORWARDER_PATH_TUNED ? forwarder_tuned_queue_turn :
				path == FORWARDER_PATH_AGENT ? forwarder_agent_queue_turn :
							       forwarder_queue_turn,
			.first = i,
			.step = count,
			.queues = queues,
		};
		crew_add(&crew, STAGE_RECEIVE, work, &workers[i]);
	}
	(void)pthread_mutex_init(&shared.lock, NULL);
	forwarder_give_queues(forwarder, true);
	int result = crew_run(&crew, cpus, watch, error);

	forwarder_give_queues(forwarder, false);
	(void)pthread_mutex_destroy(&shared.lock);
	return result;
}
