/* Forwarding with several queues: threads, each with one or more queue pairs of its own. */
#ifndef IXGBE_APPS_QUEUE_THREADS_H
#define IXGBE_APPS_QUEUE_THREADS_H

#include "apps/threads.h"
#include "rooms/forwarder.h"

/*
 * Forwards in threads: one for each CPU of the list, or one for each queue without a list. The queues are
 * divided among them in turn. `path` is the one with which the forwarder was opened. They forward until they
 * have received `packets` packets together (UINT64_MAX: no limit), or until `watch` says that the run ends.
 * Returns 0, or -1 with the reason if a thread cannot start or has failed.
 */
int forward_in_threads(struct forwarder *forwarder, uint32_t path, uint32_t queues,
		       const struct cpu_list *cpus, uint64_t packets, const struct watch *watch,
		       struct error *error);

#endif
