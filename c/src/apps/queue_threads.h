/* Forwarding with several queues: threads, each with one or more queue pairs of its own. */
#ifndef IXGBE_APPS_QUEUE_THREADS_H
#define IXGBE_APPS_QUEUE_THREADS_H

#include "apps/threads.h"
#include "rooms/forwarder.h"

struct queue_threads;

/*
 * Starts the threads: one for each CPU of the list, or one for each queue without a list. The queues are
 * divided among them in turn. They forward until they have received `packets` packets together
 * (UINT64_MAX: no limit), or until queue_threads_stop. They block the signals that the caller blocks.
 * Returns NULL with the reason if a thread cannot start.
 */
struct queue_threads *queue_threads_start(struct forwarder *forwarder, uint32_t queues,
					  const struct cpu_list *cpus, uint64_t packets,
					  char *error, size_t error_size);

/* Whether all packets of the limit have been received, or a thread has failed. */
bool queue_threads_ended(struct queue_threads *threads);

/* Ends all threads and frees everything. Returns 0, or -1 with the reason if a thread has failed. */
int queue_threads_stop(struct queue_threads *threads, char *error, size_t error_size);

#endif
