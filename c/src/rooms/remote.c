/* Packets in threads that do not have their pool. */
#include "rooms/remote.h"
#include "rooms/atomics.h"

uint32_t tx_take(struct tx_queue *queue, struct packet **packets, uint32_t count)
{
	if (!tx_all_done(queue, count)) {
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		packets[i] = queue->packets[(queue->clean_index + i) & queue->mask];
	}
	queue->clean_index = (queue->clean_index + count) & queue->mask;
	queue->done += count;
	return count;
}

/* Puts the list from `first` to `last` in front of the packets that came before. */
static void return_list(struct packet *first, struct packet *last)
{
	struct mempool *pool = first->pool;
	void *before = NULL;

	do {
		before = atomic_load_pointer(&pool->returned);
		last->next = before;
		/* With release: shows the list, and what this thread wrote to the packets. */
	} while (!atomic_replace_pointer(&pool->returned, before, first));
}

void packets_return(struct packet *const *packets, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (packets[i]->pool == packets[first]->pool) {
			packets[i - 1]->next = packets[i];
		} else {
			return_list(packets[first], packets[i - 1]);
			first = i;
		}
	}
	if (count > 0) {
		return_list(packets[first], packets[count - 1]);
	}
}

void mempool_take_returned(struct mempool *pool)
{
	/* Looks first: taking would get the cache line for itself, even if nothing is there. */
	if (atomic_load_pointer(&pool->returned) == NULL) {
		return;
	}
	/* Takes the whole list. To take one packet would need care that none comes back meanwhile (ABA). */
	struct packet *packet = atomic_take_pointer(&pool->returned);

	while (packet != NULL) {
		struct packet *next = packet->next;

		packet_free(packet);
		packet = next;
	}
}
