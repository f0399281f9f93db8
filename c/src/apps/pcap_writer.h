/* Files that frames are recorded to, in the classic pcap format with nanoseconds. */
#ifndef IXGBE_PCAP_WRITER_H
#define IXGBE_PCAP_WRITER_H

#include "error.h"
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* What a writer keeps before it writes: many records, so that there are few system calls. */
#define PCAP_BUFFER_SIZE (256u << 10)

/* What is recorded, and where. */
struct pcap_options {
	const char *path; /* as the user wrote it; NULL: nowhere */
	uint32_t snap; /* the most bytes of a frame that are recorded */
	uint64_t rotate_size; /* the most bytes of a file, 0: one file without a limit */
	uint32_t files; /* the newest files that are kept, 0: all */
};

/* A file that frames are recorded to, or a row of such files. */
struct pcap_writer {
	const struct pcap_options *options;
	uint32_t number; /* of the open file, from 1 */
	int fd;
	char name[PATH_MAX]; /* of the open file */
	uint64_t written; /* bytes of the open file, all of them whole records */
	uint64_t frames; /* written, in all files */
	size_t used; /* bytes in the buffer, all of them whole records */
	uint32_t buffered; /* frames in the buffer */
	uint8_t buffer[PCAP_BUFFER_SIZE];
};

/*
 * Opens the first file, if the user names one. With a limit of the size, a number precedes the ending of its
 * name. Returns 0, or -1 with the reason.
 */
int pcap_writer_open(struct pcap_writer *writer, const struct pcap_options *options,
		     struct error *error);

/*
 * Records a frame that came at `time`, in nanoseconds since 1970. Begins the next file if this one would
 * be too large. If the disk is full, the file ends with the last whole record, and the error says so.
 */
int pcap_writer_put(struct pcap_writer *writer, const uint8_t *frame, uint32_t size, uint64_t time,
		    struct error *error);

/* Writes what is in the buffer, so that a reader of the file sees it. */
int pcap_writer_flush(struct pcap_writer *writer, struct error *error);

/* Writes what is in the buffer, and closes the file. */
int pcap_writer_close(struct pcap_writer *writer, struct error *error);

#endif
