/* A token bucket: packets at a rate, with bursts of a limited size. */
#include "apps/token_bucket.h"

/* A token in the unit of the bucket: a rate of 1 adds one unit in each nanosecond. */
#define TOKEN 1000000000ull

/* A longer time fills any bucket, and its product with the rate would not fit. */
#define MAX_ELAPSED 1000000000ull

struct token_bucket token_bucket_new(uint64_t rate, uint32_t burst)
{
	return (struct token_bucket){.rate = rate, .burst = burst * TOKEN, .filled = now_ns()};
}

uint32_t token_bucket_take(struct token_bucket *bucket, uint32_t wanted)
{
	if (bucket->rate == 0) {
		return wanted;
	}
	uint64_t now = now_ns();
	uint64_t elapsed = now - bucket->filled;

	bucket->tokens += (elapsed < MAX_ELAPSED ? elapsed : MAX_ELAPSED) * bucket->rate;
	if (bucket->tokens > bucket->burst) {
		bucket->tokens = bucket->burst;
	}
	bucket->filled = now;

	uint64_t available = bucket->tokens / TOKEN;
	uint32_t taken = available < wanted ? (uint32_t)available : wanted;

	bucket->tokens -= taken * TOKEN;
	return taken;
}

void token_bucket_return(struct token_bucket *bucket, uint32_t count)
{
	bucket->tokens += count * TOKEN;
}

bool set_rate(const struct option_row *row, const char *text)
{
	uint64_t *rate = row->place;
	const char *end = NULL;
	double number = 0;

	if (!parse_decimal(text, &number, &end)) {
		return false;
	}
	if (*end == 'k') {
		number *= 1e3;
		end++;
	} else if (*end == 'M') {
		number *= 1e6;
		end++;
	}
	*rate = (uint64_t)number;
	return *end == '\0' && number >= 1 && number <= (double)TOKEN_BUCKET_MAX_RATE &&
	       (double)*rate == number;
}
