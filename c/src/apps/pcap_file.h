/* Files of recorded frames, in the classic pcap format. */
#ifndef IXGBE_PCAP_FILE_H
#define IXGBE_PCAP_FILE_H

#include "error.h"
#include <stddef.h>
#include <stdint.h>

/* A frame of a recording. */
struct pcap_frame {
	const uint8_t *data; /* in the bytes of the recording */
	uint32_t size; /* bytes, without CRC */
	uint64_t
		time; /* nanoseconds since the first frame, not less than that of the frame before */
};

/* All frames of a file, in memory. */
struct pcap_recording {
	uint8_t *bytes; /* the whole file */
	size_t size; /* bytes of the file */
	struct pcap_frame *frames;
	uint64_t count; /* frames, at least 1 */
};

/*
 * Reads the first frame of a file, at most `room` bytes. Returns 0, or -1 with file, reason and fix:
 * another format, another link type than Ethernet, cut short, no frame, or a frame that is too long, too
 * short, or recorded in part.
 */
int pcap_read_first(const char *path, uint8_t *frame, uint32_t room, uint32_t *size,
		    struct error *error);

/*
 * Reads and checks all frames of a file, each at most `room` bytes. Returns 0, or -1 as pcap_read_first;
 * the reason names the first wrong frame. A file may have up to 2 GiB.
 */
int pcap_load(const char *path, uint32_t room, struct pcap_recording *recording,
	      struct error *error);

/* Frees a recording. */
void pcap_unload(struct pcap_recording *recording);

#endif
