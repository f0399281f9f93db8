/* Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue. */
#ifndef IXGBE_APPS_PIPELINE_THREADS_H
#define IXGBE_APPS_PIPELINE_THREADS_H

#include "apps/threads.h"
#include "rooms/forwarder.h"

/*
 * Forwards with a pipeline. Its threads take the CPUs of the list in turn: the RX thread, the TX thread, the
 * workers. They forward until they have received `packets` packets (UINT64_MAX: no limit), or until `watch`
 * says that the run ends. The RX thread ends first, so that the others forward what it received. Returns 0,
 * or -1 with the reason if a thread cannot start or has failed.
 */
int forward_in_pipeline(struct forwarder *forwarder, uint32_t queues, const struct cpu_list *cpus,
			uint64_t packets, const struct watch *watch, struct error *error);

#endif
