/* Files that frames are recorded to, in the classic pcap format with nanoseconds. */
#define _GNU_SOURCE
#include "apps/pcap_writer.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MAGIC_NANOSECONDS 0xA1B23C4Du
#define VERSION_2_4 (4u << 16 | 2)
#define LINK_TYPE_ETHERNET 1

/* The header of the file, and places in it. */
#define FILE_HEADER_SIZE 24
#define VERSION 4
#define SNAP_LENGTH 16
#define LINK_TYPE 20

/* The header of a record, and places in it. */
#define RECORD_HEADER_SIZE 16
#define SECONDS 0
#define NANOSECONDS 4
#define CAPTURED_LENGTH 8
#define ORIGINAL_LENGTH 12

#define NANOSECONDS_PER_SECOND 1000000000ull

static uint32_t read32(const uint8_t *bytes)
{
	uint32_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Writes the name of file `number`: "a.pcap", or with rotation "a-00001.pcap". Returns false if it is too long. */
static bool name_file(const struct pcap_writer *writer, uint32_t number, char *name, size_t size)
{
	const char *ending = strrchr(writer->path, '.');
	const char *folder = strrchr(writer->path, '/');
	int length = 0;

	if (writer->rotate_size == 0) {
		length = snprintf(name, size, "%s", writer->path);
	} else {
		/* A dot in the name of a folder is no ending. */
		if (ending == NULL || (folder != NULL && ending < folder)) {
			ending = writer->path + strlen(writer->path);
		}
		length = snprintf(name, size, "%.*s-%05" PRIu32 "%s", (int)(ending - writer->path),
				  writer->path, number, ending);
	}
	return length >= 0 && (size_t)length < size;
}

/* Puts the header of the file into the empty buffer. */
static void put_header(struct pcap_writer *writer)
{
	const uint32_t magic = MAGIC_NANOSECONDS;
	const uint32_t version = VERSION_2_4;
	const uint32_t link_type = LINK_TYPE_ETHERNET;

	memset(writer->buffer, 0, FILE_HEADER_SIZE);
	memcpy(writer->buffer, &magic, sizeof(magic));
	memcpy(&writer->buffer[VERSION], &version, sizeof(version));
	memcpy(&writer->buffer[SNAP_LENGTH], &writer->snap, sizeof(writer->snap));
	memcpy(&writer->buffer[LINK_TYPE], &link_type, sizeof(link_type));
	writer->used = FILE_HEADER_SIZE;
}

/* Opens the next file, and removes the oldest one if there are too many. */
static int open_next(struct pcap_writer *writer, struct error *error)
{
	char oldest[PATH_MAX];

	writer->number++;
	if (!name_file(writer, writer->number, writer->name, sizeof(writer->name))) {
		error_set(error, "%.900s: the name is too long", writer->path);
		return -1;
	}
	writer->fd = open(writer->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (writer->fd < 0) {
		error_set(error, "%.900s: %s", writer->name, strerror(errno));
		return -1;
	}
	if (writer->files != 0 && writer->number > writer->files &&
	    name_file(writer, writer->number - writer->files, oldest, sizeof(oldest))) {
		/* Somebody may have removed it. */
		(void)unlink(oldest);
	}
	writer->written = 0;
	put_header(writer);
	return 0;
}

int pcap_writer_open(struct pcap_writer *writer, const char *path, uint32_t snap,
		     uint64_t rotate_size, uint32_t files, struct error *error)
{
	writer->path = path;
	writer->snap = snap;
	writer->rotate_size = rotate_size;
	writer->files = files;
	writer->number = 0;
	writer->fd = -1;
	writer->frames = 0;
	return open_next(writer, error);
}

/* The bytes of the whole records among the first `size` bytes of the buffer. Counts their frames. */
static size_t whole_records(const struct pcap_writer *writer, size_t size, uint64_t *frames)
{
	size_t end = writer->written == 0 ? FILE_HEADER_SIZE : 0;

	if (end > size) {
		return 0;
	}
	*frames = 0;
	for (;;) {
		if (end + RECORD_HEADER_SIZE > size) {
			return end;
		}
		size_t next = end + RECORD_HEADER_SIZE +
			      read32(&writer->buffer[end + CAPTURED_LENGTH]);

		if (next > size) {
			return end;
		}
		end = next;
		(*frames)++;
	}
}

/* After a write that failed: ends the file with its last whole record. */
static void keep_whole_records(struct pcap_writer *writer, size_t done)
{
	uint64_t frames = 0;

	writer->written += whole_records(writer, done, &frames);
	writer->frames += frames;
	writer->used = 0;
	/* A device such as /dev/full has no size. */
	(void)!ftruncate(writer->fd, (off_t)writer->written);
}

int pcap_writer_flush(struct pcap_writer *writer, struct error *error)
{
	size_t done = 0;
	uint64_t frames = 0;

	while (done < writer->used) {
		ssize_t count = write(writer->fd, &writer->buffer[done], writer->used - done);

		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count < 0) {
			int cause = errno;

			keep_whole_records(writer, done);
			error_set(error,
				  "%.800s: %s; %" PRIu64
				  " frames are written and stay; make room, or limit the files "
				  "with --rotate-size and --files",
				  writer->name, strerror(cause), writer->frames);
			return -1;
		}
		done += (size_t)count;
	}
	(void)whole_records(writer, done, &frames);
	writer->frames += frames;
	writer->written += done;
	writer->used = 0;
	return 0;
}

int pcap_writer_close(struct pcap_writer *writer, struct error *error)
{
	if (writer->fd < 0) {
		return 0;
	}
	int result = pcap_writer_flush(writer, error);

	/* A file system may report a full disk only here. */
	if (close(writer->fd) != 0 && result == 0) {
		error_set(error, "%.900s: %s", writer->name, strerror(errno));
		result = -1;
	}
	writer->fd = -1;
	return result;
}

int pcap_writer_put(struct pcap_writer *writer, const uint8_t *frame, uint32_t size, uint64_t time,
		    struct error *error)
{
	uint32_t captured = size < writer->snap ? size : writer->snap;
	size_t record = RECORD_HEADER_SIZE + captured;
	uint64_t file = writer->written + writer->used;

	if (writer->rotate_size != 0 && file > FILE_HEADER_SIZE &&
	    file + record > writer->rotate_size) {
		if (pcap_writer_close(writer, error) != 0 || open_next(writer, error) != 0) {
			return -1;
		}
	}
	if (writer->used + record > sizeof(writer->buffer) &&
	    pcap_writer_flush(writer, error) != 0) {
		return -1;
	}
	uint8_t *at = &writer->buffer[writer->used];
	const uint32_t seconds = (uint32_t)(time / NANOSECONDS_PER_SECOND);
	const uint32_t nanoseconds = (uint32_t)(time % NANOSECONDS_PER_SECOND);

	memcpy(&at[SECONDS], &seconds, sizeof(seconds));
	memcpy(&at[NANOSECONDS], &nanoseconds, sizeof(nanoseconds));
	memcpy(&at[CAPTURED_LENGTH], &captured, sizeof(captured));
	memcpy(&at[ORIGINAL_LENGTH], &size, sizeof(size));
	memcpy(&at[RECORD_HEADER_SIZE], frame, captured);
	writer->used += record;
	return 0;
}
