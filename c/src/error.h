/*
 * Errors: sentences for the user that name the failure, its place, and the remedy.
 *
 * A function that can fail takes a `struct error *` last and returns 0, or -1 (or NULL) and the
 * text.
 */
#ifndef IXGBE_ERROR_H
#define IXGBE_ERROR_H

#include <stdio.h>

#define ERROR_SIZE 1024

struct error {
	char text[ERROR_SIZE];
};

/*
 * Sets the text. A macro and not a variadic function, because C2Rust can call
 * variadic functions on stable Rust but cannot define them.
 */
#define error_set(error, ...) ((void)snprintf((error)->text, sizeof((error)->text), __VA_ARGS__))

/* Sets the text, and is -1, for a function to return. */
#define error_fail(error, ...) (error_set(error, __VA_ARGS__), -1)

/* Says on standard error what does not keep the program from going on. */
static inline void error_warn(const struct error *error)
{
	(void)fprintf(stderr, "warning: %s\n", error->text);
}

/* If `result` is not 0, copies its reason for a caller outside a library. Returns the result. */
static inline int error_copy(int result, const struct error *reason, char *text, size_t size)
{
	if (result != 0) {
		(void)snprintf(text, size, "%s", reason->text);
	}
	return result;
}

#endif
