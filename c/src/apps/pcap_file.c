/* Files of recorded frames, in the classic pcap format. */
#define _GNU_SOURCE
#include "apps/pcap_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC_PCAPNG 0x0A0D0D0Au

/* Destination, source and type of a frame. */
#define MIN_FRAME 14

#define MAX_FILE_SIZE (2ll << 30)

#define NANOSECONDS 1000000000ull

/* A file that is being read, in memory. */
struct reader {
	const char *path;
	uint8_t *bytes;
	size_t size;
	size_t at; /* what has been read */
	uint64_t frames; /* read so far */
	uint32_t room; /* the most bytes of a frame */
	bool swapped; /* numbers have the other byte order */
	uint64_t fraction; /* nanoseconds of a unit of a time stamp's fraction */
};

/* Moves on by `count` bytes, and returns them. Returns NULL with the reason if there are fewer. */
static const uint8_t *take(struct reader *reader, size_t count, struct error *error)
{
	const uint8_t *bytes = &reader->bytes[reader->at];

	if (reader->size - reader->at < count) {
		error_set(error,
			  "%s: the file is cut short, or has no frame: it ends in frame %" PRIu64
			  "; record it again",
			  reader->path, reader->frames + 1);
		return NULL;
	}
	reader->at += count;
	return bytes;
}

static uint32_t in_order(const struct reader *reader, uint32_t word)
{
	return reader->swapped ? __builtin_bswap32(word) : word;
}

/* Reads the header of the file. */
static int read_header(struct reader *reader, struct error *error)
{
	struct pcap_file_header header;
	const uint8_t *bytes = take(reader, sizeof(header), error);

	if (bytes == NULL) {
		return -1;
	}
	memcpy(&header, bytes, sizeof(header));
	reader->swapped = header.magic == __builtin_bswap32(PCAP_MAGIC_MICROSECONDS) ||
			  header.magic == __builtin_bswap32(PCAP_MAGIC_NANOSECONDS);
	uint32_t magic = in_order(reader, header.magic);
	uint32_t link_type = in_order(reader, header.link_type);

	reader->fraction = magic == PCAP_MAGIC_NANOSECONDS ? 1 : 1000;
	if (magic == MAGIC_PCAPNG) {
		return error_fail(error,
				  "%s: this is pcapng, and only classic pcap is read; convert it: "
				  "editcap -F pcap",
				  reader->path);
	}
	if (magic != PCAP_MAGIC_MICROSECONDS && magic != PCAP_MAGIC_NANOSECONDS) {
		return error_fail(error, "%s: this is not a pcap file: it begins with %08x",
				  reader->path, magic);
	}
	if (link_type != PCAP_LINK_TYPE_ETHERNET) {
		return error_fail(error,
				  "%s: the link type is %u, not 1 (Ethernet); record on an "
				  "Ethernet interface",
				  reader->path, link_type);
	}
	return 0;
}

/* Reads the next frame. Its time is nanoseconds since 1970. */
static int read_frame(struct reader *reader, struct pcap_frame *frame, struct error *error)
{
	struct pcap_record_header header;
	const uint8_t *bytes = take(reader, sizeof(header), error);

	if (bytes == NULL) {
		return -1;
	}
	memcpy(&header, bytes, sizeof(header));
	uint32_t captured = in_order(reader, header.captured);
	uint32_t original = in_order(reader, header.size);

	if (captured != original) {
		return error_fail(error,
				  "%s: frame %" PRIu64 " has %u bytes, and %u of them are "
				  "recorded; record whole frames",
				  reader->path, reader->frames + 1, original, captured);
	}
	if (captured < MIN_FRAME || captured > reader->room) {
		return error_fail(
			error, "%s: frame %" PRIu64 " has %u bytes, and a frame has %u to %u",
			reader->path, reader->frames + 1, captured, MIN_FRAME, reader->room);
	}
	frame->time = in_order(reader, header.seconds) * NANOSECONDS +
		      in_order(reader, header.fraction) * reader->fraction;
	frame->size = captured;
	frame->data = take(reader, captured, error);
	reader->frames += frame->data != NULL;
	return frame->data != NULL ? 0 : -1;
}

/* Reads a file into new memory. */
static int read_file(struct reader *reader, struct error *error)
{
	struct stat status;

	if (stat(reader->path, &status) != 0) {
		return error_fail(error, "%s: %s", reader->path, strerror(errno));
	}
	/* A pipe without a writer would hold the program for ever. */
	if (!S_ISREG(status.st_mode)) {
		return error_fail(error, "%s: this is not a file; name a pcap file", reader->path);
	}
	if (status.st_size > MAX_FILE_SIZE) {
		return error_fail(error, "%s: the file has more than 2 GiB; divide it: editcap -c",
				  reader->path);
	}
	FILE *file = fopen(reader->path, "re");

	if (file == NULL) {
		return error_fail(error, "%s: %s", reader->path, strerror(errno));
	}
	int result = 0;

	/* One byte more, because an empty file needs memory too. */
	reader->bytes = malloc((size_t)status.st_size + 1);
	if (reader->bytes != NULL) {
		reader->size = fread(reader->bytes, 1, (size_t)status.st_size, file);
	}
	if (reader->bytes == NULL || ferror(file) != 0) {
		result = error_fail(error, "%s: %s", reader->path, strerror(errno));
	}
	(void)fclose(file);
	return result;
}

/* Reads the first `most` frames into the recording. */
static int read_frames(struct reader *reader, uint64_t most, struct pcap_recording *recording,
		       struct error *error)
{
	/* The most frames that fit into the file. It may have none. */
	size_t fit = reader->size / (sizeof(struct pcap_record_header) + MIN_FRAME) + 1;
	uint64_t first = 0;
	uint64_t last = 0;

	/* NOLINTNEXTLINE(clang-analyzer-optin.taint.TaintedAlloc): read_file limits the size. */
	recording->frames = calloc(fit, sizeof(struct pcap_frame));
	if (recording->frames == NULL) {
		return error_fail(error, "%s: out of memory for %zu frames", reader->path, fit);
	}
	do {
		struct pcap_frame *frame = &recording->frames[recording->count];

		if (read_frame(reader, frame, error) != 0) {
			return -1;
		}
		first = recording->count == 0 ? frame->time : first;
		/* A clock may go back. Then the frame follows the one before at once. */
		if (frame->time >= first && frame->time - first > last) {
			last = frame->time - first;
		}
		frame->time = last;
		recording->count++;
	} while (reader->at < reader->size && recording->count < most);
	return 0;
}

int pcap_load(const char *path, uint64_t most, uint32_t room, struct pcap_recording *recording,
	      struct error *error)
{
	struct reader reader = {.path = path, .room = room};
	int result = read_file(&reader, error);

	*recording = (struct pcap_recording){.bytes = reader.bytes};
	if (result == 0) {
		result = read_header(&reader, error);
	}
	if (result == 0) {
		result = read_frames(&reader, most, recording, error);
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
