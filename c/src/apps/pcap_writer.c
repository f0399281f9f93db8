/* Files that frames are recorded to, in the classic pcap format with nanoseconds. */
#define _GNU_SOURCE
#include "apps/pcap_writer.h"
#include "apps/pcap_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NANOSECONDS 1000000000ull

/* A reader of a pipe that takes nothing for so long ends the run. */
#define PIPE_TIMEOUT_MS 1000

/* Writes the name of file `number`: "a.pcap", or with rotation "a-00001.pcap". Returns false if it is too long. */
static bool name_file(const struct pcap_options *options, uint32_t number, char *name, size_t size)
{
	const char *ending = strrchr(options->path, '.');
	const char *folder = strrchr(options->path, '/');
	int length = 0;

	if (options->rotate_size == 0) {
		length = snprintf(name, size, "%s", options->path);
	} else {
		/* A dot in the name of a folder is no ending. */
		if (ending == NULL || (folder != NULL && ending < folder)) {
			ending = options->path + strlen(options->path);
		}
		length = snprintf(name, size, "%.*s-%05" PRIu32 "%s", (int)(ending - options->path),
				  options->path, number, ending);
	}
	return length >= 0 && (size_t)length < size;
}

/* Appends to the buffer, which has room. */
static void put(struct pcap_writer *writer, const void *bytes, size_t size)
{
	memcpy(&writer->buffer[writer->used], bytes, size);
	writer->used += size;
}

/*
 * Opens the file that the user names, which may be a device or a pipe. A pipe without a reader is an error, so
 * that nothing waits.
 */
static int open_named(const char *name)
{
	return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644);
}

/*
 * Creates a file of a row, and replaces a file of the user's own. Others may have left a link or a pipe under its
 * name, which is an error.
 */
static int create_in_row(const char *name)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct stat old;
	int fd = open(name, flags, 0644);

	if (fd < 0 && errno == EEXIST && lstat(name, &old) == 0 && S_ISREG(old.st_mode) &&
	    old.st_uid == geteuid() && unlink(name) == 0) {
		fd = open(name, flags, 0644);
	}
	return fd;
}

/* Opens the next file, and removes the oldest one if there are too many. */
static int open_next(struct pcap_writer *writer, struct error *error)
{
	const struct pcap_options *options = writer->options;
	const struct pcap_file_header header = {
		.magic = PCAP_MAGIC_NANOSECONDS,
		.version = {2, 4},
		.snap = options->snap,
		.link_type = PCAP_LINK_TYPE_ETHERNET,
	};
	char oldest[PATH_MAX];

	writer->number++;
	if (!name_file(options, writer->number, writer->name, sizeof(writer->name))) {
		return error_fail(error, "%.900s: the name is too long", options->path);
	}
	writer->fd = options->rotate_size == 0 ? open_named(writer->name) :
						 create_in_row(writer->name);
	if (writer->fd < 0) {
		return error_fail(error, "%.900s: %s", writer->name, strerror(errno));
	}
	if (options->files != 0 && writer->number > options->files &&
	    name_file(options, writer->number - options->files, oldest, sizeof(oldest))) {
		/* Somebody may have removed it. */
		(void)unlink(oldest);
	}
	writer->written = 0;
	put(writer, &header, sizeof(header));
	return 0;
}

int pcap_writer_open(struct pcap_writer *writer, const struct pcap_options *options,
		     struct error *error)
{
	writer->options = options;
	writer->number = 0;
	writer->fd = -1;
	writer->frames = 0;
	writer->used = 0;
	writer->buffered = 0;
	return options->path != NULL ? open_next(writer, error) : 0;
}

/* The end of the record that begins at `start` of the buffer. */
static size_t record_end(const struct pcap_writer *writer, size_t start)
{
	struct pcap_record_header header;

	memcpy(&header, &writer->buffer[start], sizeof(header));
	return start + sizeof(header) + header.captured;
}

/* After a write that failed: ends the file with its last whole record. */
static void keep_whole_records(struct pcap_writer *writer, size_t done)
{
	size_t end = writer->written == 0 ? sizeof(struct pcap_file_header) : 0;

	if (done < end) {
		end = 0;
	} else {
		/* A record begins at `end`, because the buffer has more than `done` bytes. */
		while (record_end(writer, end) <= done) {
			end = record_end(writer, end);
			writer->frames++;
		}
	}
	writer->written += end;
	/* A device such as /dev/full has no size. */
	(void)!ftruncate(writer->fd, (off_t)writer->written);
}

/* Writes the buffer. Returns the number of written bytes: fewer, with errno, after an error. */
static size_t write_buffer(struct pcap_writer *writer)
{
	struct pollfd pipe = {.fd = writer->fd, .events = POLLOUT};
	size_t done = 0;

	while (done < writer->used) {
		ssize_t count = write(writer->fd, &writer->buffer[done], writer->used - done);

		if (count >= 0) {
			done += (size_t)count;
		} else if (errno != EINTR &&
			   (errno != EAGAIN || poll(&pipe, 1, PIPE_TIMEOUT_MS) == 0)) {
			break;
		}
	}
	return done;
}

int pcap_writer_flush(struct pcap_writer *writer, struct error *error)
{
	size_t done = write_buffer(writer);
	int result = 0;

	if (done < writer->used) {
		int cause = errno;

		keep_whole_records(writer, done);
		result = error_fail(error,
				    "%.800s: %s; %" PRIu64
				    " frames are written and stay; make room, or limit the files "
				    "with --rotate-size and --files",
				    writer->name, strerror(cause), writer->frames);
	} else {
		writer->written += done;
		writer->frames += writer->buffered;
	}
	writer->used = 0;
	writer->buffered = 0;
	return result;
}

int pcap_writer_close(struct pcap_writer *writer, struct error *error)
{
	if (writer->fd < 0) {
		return 0;
	}
	int result = pcap_writer_flush(writer, error);

	/* A file system may report a full disk only here. */
	if (close(writer->fd) != 0 && result == 0) {
		result = error_fail(error, "%.900s: %s", writer->name, strerror(errno));
	}
	writer->fd = -1;
	return result;
}

int pcap_writer_put(struct pcap_writer *writer, const uint8_t *frame, uint32_t size, uint64_t time,
		    struct error *error)
{
	const struct pcap_options *options = writer->options;
	const struct pcap_record_header header = {
		.seconds = (uint32_t)(time / NANOSECONDS),
		.fraction = (uint32_t)(time % NANOSECONDS),
		.captured = size < options->snap ? size : options->snap,
		.size = size,
	};
	size_t record = sizeof(header) + header.captured;
	uint64_t file = writer->written + writer->used;

	if (options->rotate_size != 0 && file > sizeof(struct pcap_file_header) &&
	    file + record > options->rotate_size) {
		if (pcap_writer_close(writer, error) != 0 || open_next(writer, error) != 0) {
			return -1;
		}
	}
	if (writer->used + record > sizeof(writer->buffer) &&
	    pcap_writer_flush(writer, error) != 0) {
		return -1;
	}
	put(writer, &header, sizeof(header));
	put(writer, frame, header.captured);
	writer->buffered++;
	return 0;
}
