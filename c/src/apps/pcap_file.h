/* Files of recorded frames, in the classic pcap format. */
#ifndef IXGBE_PCAP_FILE_H
#define IXGBE_PCAP_FILE_H

#include "../error.h"
#include <stdint.h>

/*
 * Reads the first frame of a file, at most `room` bytes. Returns 0, or -1 with file, reason and fix:
 * another format, another link type than Ethernet, cut short, no frame, or a frame that is too long, too
 * short, or recorded in part.
 */
int pcap_read_first(const char *path, uint8_t *frame, uint32_t room, uint32_t *size,
		    struct error *error);

#endif
