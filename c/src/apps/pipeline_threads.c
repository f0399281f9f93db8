/* Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue. */
#include "apps/pipeline_threads.h"
#include "apps/program.h"
#include "clock.h"
#include "rooms/pipeline.h"
#include <sched.h>

/* A thread lets others run after so many rounds without a packet: there may be more threads than CPUs. */
#define EMPTY_TURNS 64

/* Milliseconds that the TX thread waits for a device that takes no packets, after all others have ended. */
#define DRAIN_MS 1000

/* The part of a thread. */
struct part {
	const struct crew *crew;
	struct forwarder *forwarder;
	struct pipeline *pipeline;
	uint32_t queue; /* of a worker */
	uint32_t queues;
	uint64_t packets; /* the limit of the RX thread */
};

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

static int receive_packets(void *argument, struct error *error)
{
	struct part *part = argument;
	uint64_t checked = now_ms();
	uint64_t received = 0;
	int result = 0;

	pipeline_limit(part->pipeline, part->packets);
	while (result == 0 && received < part->packets && !crew_ends(part->crew)) {
		received += round_of(part->pipeline, pipeline_receive, 0, part->queues);
		result = check_queues(part->forwarder, 0, 1, part->queues, &checked, error);
	}
	return result;
}

static int work_packets(void *argument, struct error *error)
{
	struct part *part = argument;
	uint64_t count = 0;
	bool last = false;

	(void)error;
	do {
		/* Looks first: what the RX thread put in before it ended is there by now. */
		last = crew_stage_ended(part->crew, STAGE_RECEIVE);
		count = round_of(part->pipeline, pipeline_work, part->queue, part->queue + 1);
	} while (count > 0 || !last);
	return 0;
}

static bool send_waits(const struct part *part)
{
	for (uint32_t queue = 0; queue < part->queues; queue++) {
		if (pipeline_send_waits(part->pipeline, queue)) {
			return true;
		}
	}
	return false;
}

static int send_packets(void *argument, struct error *error)
{
	struct part *part = argument;
	uint64_t progress = now_ms();

	(void)error;
	for (;;) {
		/* Looks first, as in work_packets. */
		bool last = crew_stage_ended(part->crew, STAGE_WORK);
		uint64_t count = round_of(part->pipeline, pipeline_send, 0, part->queues);

		if (count > 0 || !last) {
			progress = now_ms();
		} else if (!send_waits(part) || now_ms() - progress >= DRAIN_MS) {
			return 0;
		}
	}
}

int forward_in_pipeline(struct forwarder *forwarder, uint32_t queues, const struct cpu_list *cpus,
			uint64_t packets, const struct watch *watch, struct error *error)
{
	struct pipeline *pipeline = pipeline_create(forwarder, error->text, ERROR_SIZE);
	struct part parts[FORWARDER_MAX_QUEUES];
	struct crew crew = {.count = 0};

	if (pipeline == NULL) {
		return -1;
	}
	crew_add(&crew, STAGE_RECEIVE, receive_packets, &parts[0]);
	crew_add(&crew, STAGE_SEND, send_packets, &parts[0]);
	for (uint32_t i = 0; i < queues; i++) {
		parts[i] = (struct part){
			.crew = &crew,
			.forwarder = forwarder,
			.pipeline = pipeline,
			.queue = i,
			.queues = queues,
			.packets = packets,
		};
		crew_add(&crew, STAGE_WORK, work_packets, &parts[i]);
	}
	forwarder_give_queues(forwarder, true);
	int result = crew_run(&crew, cpus, watch, error);

	pipeline_destroy(pipeline);
	forwarder_give_queues(forwarder, false);
	return result;
}
