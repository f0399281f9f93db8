/*
 * Errors: a sentence for the person at the terminal.
 *
 * Functions that can fail take a `struct error *` last and return 0 or -1 (or
 * NULL); on failure the text names what failed, where, and what to do.
 */
#ifndef IXGBE_ERROR_H
#define IXGBE_ERROR_H

#include <stdio.h>

#define ERROR_SIZE 768

struct error {
	char text[ERROR_SIZE];
};

/*
 * Sets the text. A macro and not a variadic function, because C2Rust can call
 * variadic functions on stable Rust but cannot define them.
 */
#define error_set(error, ...) ((void)snprintf((error)->text, sizeof((error)->text), __VA_ARGS__))

#endif
