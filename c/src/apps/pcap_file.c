/* Files of recorded frames, in the classic pcap format. */
#define _GNU_SOURCE
#include "pcap_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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
#define CAPTURED_LENGTH 8
#define ORIGINAL_LENGTH 12

#define LINK_TYPE_ETHERNET 1

/* Destination, source and type of a frame. */
#define MIN_FRAME 14

static uint32_t read32(const uint8_t *bytes, bool swapped)
{
	uint32_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

/* Reads exactly `size` bytes. Returns false with the reason. */
static bool read_all(int fd, const char *path, void *bytes, size_t size, struct error *error)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count = read(fd, (uint8_t *)bytes + done, size - done);

		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count < 0) {
			error_set(error, "%s: %s", path, strerror(errno));
			return false;
		}
		if (count == 0) {
			error_set(error,
				  "%s: the file is cut short, or has no frame; record it again",
				  path);
			return false;
		}
		done += (size_t)count;
	}
	return true;
}

/* Reads the header of the file, and whether its numbers have the other byte order. */
static int read_header(int fd, const char *path, bool *swapped, struct error *error)
{
	uint8_t header[FILE_HEADER_SIZE];

	if (!read_all(fd, path, header, sizeof(header), error)) {
		return -1;
	}
	uint32_t magic = read32(header, false);

	*swapped = magic == __builtin_bswap32(MAGIC_MICROSECONDS) ||
		   magic == __builtin_bswap32(MAGIC_NANOSECONDS);
	if (magic == MAGIC_PCAPNG) {
		error_set(error,
			  "%s: this is pcapng, and only classic pcap is read; convert it: editcap "
			  "-F pcap",
			  path);
		return -1;
	}
	if (!*swapped && magic != MAGIC_MICROSECONDS && magic != MAGIC_NANOSECONDS) {
		error_set(error, "%s: this is not a pcap file: it begins with %08x", path, magic);
		return -1;
	}
	uint32_t link_type = read32(&header[LINK_TYPE], *swapped);

	if (link_type != LINK_TYPE_ETHERNET) {
		error_set(error,
			  "%s: the link type is %u, not 1 (Ethernet); record on an Ethernet "
			  "interface",
			  path, link_type);
		return -1;
	}
	return 0;
}

static int read_first(int fd, const char *path, uint8_t *frame, uint32_t room, uint32_t *size,
		      struct error *error)
{
	uint8_t record[RECORD_HEADER_SIZE];
	bool swapped = false;

	if (read_header(fd, path, &swapped, error) != 0 ||
	    !read_all(fd, path, record, sizeof(record), error)) {
		return -1;
	}
	uint32_t captured = read32(&record[CAPTURED_LENGTH], swapped);
	uint32_t original = read32(&record[ORIGINAL_LENGTH], swapped);

	if (captured != original) {
		error_set(error,
			  "%s: frame 1 has %u bytes, and %u of them are recorded; record whole "
			  "frames",
			  path, original, captured);
		return -1;
	}
	if (captured < MIN_FRAME || captured > room) {
		error_set(error, "%s: frame 1 has %u bytes, and a frame has %u to %u", path,
			  captured, MIN_FRAME, room);
		return -1;
	}
	*size = captured;
	return read_all(fd, path, frame, captured, error) ? 0 : -1;
}

int pcap_read_first(const char *path, uint8_t *frame, uint32_t room, uint32_t *size,
		    struct error *error)
{
	/* Without O_NONBLOCK, a pipe without a writer would hold the program for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int result = -1;

	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set(error, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		error_set(error, "%s: this is not a file; name a pcap file", path);
	} else {
		result = read_first(fd, path, frame, room, size, error);
	}
	if (fd < 0) {
		return -1;
	}

	(void)close(fd);
	return result;
}
