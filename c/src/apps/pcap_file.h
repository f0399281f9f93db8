/* Files of recorded frames, in the classic pcap format. */
#ifndef IXGBE_PCAP_FILE_H
#define IXGBE_PCAP_FILE_H

#include "error.h"
#include <stddef.h>
#include <stdint.h>

/* The first word of a file, with times in microseconds or in nanoseconds. */
#define PCAP_MAGIC_MICROSECONDS 0xA1B2C3D4u
#define PCAP_MAGIC_NANOSECONDS 0xA1B23C4Du

#define PCAP_LINK_TYPE_ETHERNET 1

struct pcap_file_header {
	uint32_t magic;
	uint16_t version[2];
	uint32_t reserved[2];
	uint32_t snap; /* the most bytes of a frame that are recorded */
	uint32_t link_type;
};

struct pcap_record_header {
	uint32_t seconds;
	uint32_t fraction;
	uint32_t captured; /* bytes of the frame that follow */
	uint32_t size; /* bytes of the frame */
};

/* A frame of a recording. */
struct pcap_frame {
	const uint8_t *data; /* in the bytes of the recording */
	uint32_t size; /* bytes, without CRC */
	/* Nanoseconds since the first frame, not less than those of the frame before. */
	uint64_t time;
};

/* All frames of a file, in memory. */
struct pcap_recording {
	uint8_t *bytes; /* the whole file */
	struct pcap_frame *frames;
	uint64_t count; /* frames, at least 1 */
};

/*
 * Reads and checks the first `most` frames of a file, each at most `room` bytes. A file may have up to 2 GiB.
 * Returns 0, or -1 with file, reason and fix: another format, another link type than Ethernet, cut short, no
 * frame, or a frame that is too long, too short, or recorded in part.
 */
int pcap_load(const char *path, uint64_t most, uint32_t room, struct pcap_recording *recording,
	      struct error *error);

/* Frees a recording. */
void pcap_unload(struct pcap_recording *recording);

#endif
