/* The checks of a test program. */
#ifndef IXGBE_TEST_H
#define IXGBE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program at the first failed check, like a sanitizer. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK_EQUAL(left, right)                                                                   \
	do {                                                                                       \
		unsigned long long left_value = (unsigned long long)(left);                        \
		unsigned long long right_value = (unsigned long long)(right);                      \
                                                                                                   \
		if (left_value != right_value) {                                                   \
			(void)fprintf(stderr, "%s:%d: failed: %s == %s: %llu, %llu\n", __FILE__,   \
				      __LINE__, #left, #right, left_value, right_value);           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define CHECK_CONTAINS(text, part) CHECK(strstr((text), (part)) != NULL)

#endif
