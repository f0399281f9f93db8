/* Files of recorded frames, in the classic pcap format. */
#define _GNU_SOURCE
#include "apps/pcap_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first word, with times in microseconds or in nanoseconds. */
#define MAGIC_MICROSECONDS 0xA1B2C3D4u
#define MAGIC_NANOSECONDS 0xA1B23C4Du
#define MAGIC_PCAPNG 0x0A0D0D0Au

/* The headers of the file and of a record, and places in them. */
#define FILE_HEADER_SIZE 24
#define LINK_TYPE 20
#define RECORD_HEADER_SIZE 16
#define SECONDS 0
#define FRACTION 4
#define CAPTURED_LENGTH 8
#define ORIGINAL_LENGTH 12

#define LINK_TYPE_ETHERNET 1

/* Destination, source and type of a frame. */
#define MIN_FRAME 14

#define MAX_FILE_SIZE (2ull << 30)

#define NANOSECONDS 1000000000ull

/* A file that is being read, in memory. */
struct reader {
	const char *path;
	const uint8_t *bytes;
	size_t size;
	size_t at; /* where the next record begins */
	uint64_t frames; /* read so far */
	uint32_t room; /* the most bytes of a frame */
	bool swapped; /* numbers have the other byte order */
	uint64_t fraction; /* nanoseconds of a unit of a time stamp's fraction */
};

static uint32_t read32(const struct reader *reader, size_t at)
{
	uint32_t value = 0;

	memcpy(&value, reader->bytes + at, sizeof(value));
	return reader->swapped ? __builtin_bswap32(value) : value;
}

/* Whether `count` more bytes are there. If not, says so. */
static bool has(const struct reader *reader, size_t count, struct error *error)
{
	if (reader->size - reader->at >= count) {
		return true;
	}
	error_set(error,
		  "%s: the file is cut short, or has no frame: it ends in frame %" PRIu64
		  "; record it again",
		  reader->path, reader->frames + 1);
	return false;
}

/* Reads the header of the file. */
static int read_header(struct reader *reader, struct error *error)
{
	if (!has(reader, FILE_HEADER_SIZE, error)) {
		return -1;
	}
	uint32_t magic = read32(reader, 0);

	reader->swapped = magic == __builtin_bswap32(MAGIC_MICROSECONDS) ||
			  magic == __builtin_bswap32(MAGIC_NANOSECONDS);
	reader->fraction = read32(reader, 0) == MAGIC_NANOSECONDS ? 1 : 1000;
	if (magic == MAGIC_PCAPNG) {
		error_set(error,
			  "%s: this is pcapng, and only classic pcap is read; convert it: editcap "
			  "-F pcap",
			  reader->path);
		return -1;
	}
	if (!reader->swapped && magic != MAGIC_MICROSECONDS && magic != MAGIC_NANOSECONDS) {
		error_set(error, "%s: this is not a pcap file: it begins with %08x", reader->path,
			  magic);
		return -1;
	}
	uint32_t link_type = read32(reader, LINK_TYPE);

	if (link_type != LINK_TYPE_ETHERNET) {
		error_set(error,
			  "%s: the link type is %u, not 1 (Ethernet); record on an Ethernet "
			  "interface",
			  reader->path, link_type);
		return -1;
	}
	reader->at = FILE_HEADER_SIZE;
	return 0;
}

/* Reads the next frame. Its time is nanoseconds since 1970. */
static int read_frame(struct reader *reader, struct pcap_frame *frame, struct error *error)
{
	if (!has(reader, RECORD_HEADER_SIZE, error)) {
		return -1;
	}
	uint32_t captured = read32(reader, reader->at + CAPTURED_LENGTH);
	uint32_t original = read32(reader, reader->at + ORIGINAL_LENGTH);

	if (captured != original) {
		error_set(error,
			  "%s: frame %" PRIu64 " has %u bytes, and %u of them are recorded; record "
			  "whole frames",
			  reader->path, reader->frames + 1, original, captured);
		return -1;
	}
	if (captured < MIN_FRAME || captured > reader->room) {
		error_set(error, "%s: frame %" PRIu64 " has %u bytes, and a frame has %u to %u",
			  reader->path, reader->frames + 1, captured, MIN_FRAME, reader->room);
		return -1;
	}
	if (!has(reader, RECORD_HEADER_SIZE + (size_t)captured, error)) {
		return -1;
	}
	frame->time = read32(reader, reader->at + SECONDS) * NANOSECONDS +
		      read32(reader, reader->at + FRACTION) * reader->fraction;
	frame->data = reader->bytes + reader->at + RECORD_HEADER_SIZE;
	frame->size = captured;
	reader->at += RECORD_HEADER_SIZE + (size_t)captured;
	reader->frames++;
	return 0;
}

/* Reads `size` bytes, or fewer at the end of the file. Returns their number, or -1 with errno. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count = read(fd, bytes + done, size - done);

		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count < 0) {
			return -1;
		}
		if (count == 0) {
			break;
		}
		done += (size_t)count;
	}
	return (ssize_t)done;
}

/* Reads at most `most` bytes of a file into new memory. Returns NULL with the reason. */
static uint8_t *read_file(const char *path, size_t most, size_t *size, struct error *error)
{
	/* Without O_NONBLOCK, a pipe without a writer would hold the program for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	uint8_t *bytes = NULL;

	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set(error, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		error_set(error, "%s: this is not a file; name a pcap file", path);
	} else {
		size_t wanted = (size_t)status.st_size < most ? (size_t)status.st_size : most;

		/* One byte more, because an empty file needs memory too. */
		bytes = malloc(wanted + 1);
		ssize_t count = bytes == NULL ? -1 : read_all(fd, bytes, wanted);

		if (count < 0) {
			error_set(error, "%s: %s", path, strerror(errno));
			free(bytes);
			bytes = NULL;
		}
		*size = (size_t)count;
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return bytes;
}

int pcap_read_first(const char *path, uint8_t *frame, uint32_t room, uint32_t *size,
		    struct error *error)
{
	struct reader reader = {.path = path, .room = room};
	struct pcap_frame first;
	size_t most = FILE_HEADER_SIZE + RECORD_HEADER_SIZE + (size_t)room;
	uint8_t *bytes = read_file(path, most, &reader.size, error);

	if (bytes == NULL) {
		return -1;
	}
	reader.bytes = bytes;
	int result = read_header(&reader, error);

	if (result == 0) {
		result = read_frame(&reader, &first, error);
	}
	if (result == 0) {
		memcpy(frame, first.data, first.size);
		*size = first.size;
	}
	free(bytes);
	return result;
}

/* Adds a frame to a recording that has room for `*room` frames. */
static int add_frame(struct pcap_recording *recording, uint64_t *room, struct pcap_frame frame)
{
	if (recording->count == *room) {
		uint64_t more = *room == 0 ? 1024 : 2 * *room;
		struct pcap_frame *frames = reallocarray(recording->frames, more,
							 sizeof(struct pcap_frame));

		if (frames == NULL) {
			return -1;
		}
		recording->frames = frames;
		*room = more;
	}
	recording->frames[recording->count] = frame;
	recording->count++;
	return 0;
}

static int load(struct reader *reader, struct pcap_recording *recording, struct error *error)
{
	uint64_t room = 0;
	uint64_t first = 0;
	uint64_t last = 0;

	if (read_header(reader, error) != 0) {
		return -1;
	}
	do {
		struct pcap_frame frame;

		if (read_frame(reader, &frame, error) != 0) {
			return -1;
		}
		first = recording->count == 0 ? frame.time : first;
		/* A clock may go back. Then the frame follows the one before at once. */
		if (frame.time >= first && frame.time - first > last) {
			last = frame.time - first;
		}
		frame.time = last;
		if (add_frame(recording, &room, frame) != 0) {
			error_set(error, "%s: out of memory for %" PRIu64 " frames", reader->path,
				  recording->count);
			return -1;
		}
	} while (reader->at < reader->size);
	return 0;
}

int pcap_load(const char *path, uint32_t room, struct pcap_recording *recording,
	      struct error *error)
{
	struct reader reader = {.path = path, .room = room};

	*recording = (struct pcap_recording){.bytes = NULL};
	recording->bytes = read_file(path, MAX_FILE_SIZE + 1, &recording->size, error);
	if (recording->bytes == NULL) {
		return -1;
	}
	reader.bytes = recording->bytes;
	reader.size = recording->size;
	int result = -1;

	if (recording->size > MAX_FILE_SIZE) {
		error_set(error, "%s: the file has more than 2 GiB; divide it: editcap -c", path);
	} else {
		result = load(&reader, recording, error);
	}
	if (result != 0) {
		pcap_unload(recording);
	}
	return result;
}

void pcap_unload(struct pcap_recording *recording)
{
	free(recording->frames);
	free(recording->bytes);
	*recording = (struct pcap_recording){.bytes = NULL};
}
