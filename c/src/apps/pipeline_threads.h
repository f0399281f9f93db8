/* Forwarding with a pipeline: an RX thread, a TX thread, and a worker for each queue. */
#ifndef IXGBE_APPS_PIPELINE_THREADS_H
#define IXGBE_APPS_PIPELINE_THREADS_H

#include "apps/threads.h"
#include "rooms/forwarder.h"

struct pipeline_threads;

/*
 * Starts the threads. They take the CPUs of the list in turn: the RX thread, the TX thread, the workers.
 * They forward until they have received `packets` packets (UINT64_MAX: no limit), or until
 * pipeline_threads_stop. They block the signals that the caller blocks. Returns NULL with the reason if a
 * thread cannot start.
 */
struct pipeline_threads *pipeline_threads_start(struct forwarder *forwarder, uint32_t queues,
						const struct cpu_list *cpus, uint64_t packets,
						char *error, size_t error_size);

/* Whether all packets of the limit have been forwarded, or a thread has failed. */
bool pipeline_threads_ended(struct pipeline_threads *threads);

/*
 * Ends all threads, the RX thread first, so that the others forward what it received. Frees everything.
 * Returns 0, or -1 with the reason if a thread has failed.
 */
int pipeline_threads_stop(struct pipeline_threads *threads, char *error, size_t error_size);

#endif
