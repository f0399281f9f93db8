/* A token bucket: packets at a rate, with bursts of a limited size. */
#ifndef IXGBE_TOKEN_BUCKET_H
#define IXGBE_TOKEN_BUCKET_H

#include "apps/run.h"

/* The highest rate, in packets a second: more than two ports of 10 Gbit/s carry. */
#define TOKEN_BUCKET_MAX_RATE 100000000ull

struct token_bucket {
	uint64_t rate; /* packets a second, 1 to TOKEN_BUCKET_MAX_RATE; 0: no limit */
	uint64_t burst; /* the most packets at once, in billionths */
	uint64_t tokens; /* packets that may be sent, in billionths */
	uint64_t filled; /* when tokens were added last, nanoseconds */
};

/* An empty bucket. */
struct token_bucket token_bucket_new(uint64_t rate, uint32_t burst);

/* Adds the tokens of the time until now, and takes at most `wanted`. Returns how many. */
uint32_t token_bucket_take(struct token_bucket *bucket, uint32_t wanted);

/* Puts tokens back that were taken and not used. */
void token_bucket_return(struct token_bucket *bucket, uint32_t count);

/* Sets an option to a whole number of packets a second, which may have a fraction before k or M. */
bool set_rate(const struct option_row *row, const char *text);

#endif
