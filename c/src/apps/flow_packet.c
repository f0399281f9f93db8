/* The packets of the generator: UDP in IPv4, with a flow and a sequence number. */
#include "apps/flow_packet.h"
#include <string.h>

#define ETHERNET_SIZE 14
#define IP_SIZE 20
#define IP_TOTAL_LENGTH 16
#define IP_CHECKSUM 24
#define UDP_SOURCE_PORT 34
#define UDP_LENGTH 38

/* Ethernet, IPv4 and UDP (RFC 791, RFC 768). Lengths, checksum and source port follow. */
static const uint8_t headers[FLOW_PACKET_SEQUENCE] = {
	0x02, 0,    0, 0, 0, 2, /* destination */
	0,    0,    0, 0, 0, 0, /* source */
	0x08, 0x00, /* IPv4 */
	0x45, 0, /* version, header of five words; type of service */
	0,    0, /* total length */
	0,    0,    0, 0, /* identification; no fragment */
	64,   17, /* time to live; UDP */
	0,    0, /* checksum */
	198,  18,   0, 1, /* source */
	198,  19,   0, 1, /* destination */
	0,    0, /* source port */
	0,    9, /* destination port: discard (RFC 863) */
	0,    0, /* length */
	0,    0, /* no checksum */
};

static void write16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* RFC 1071, over the IPv4 header. */
static uint32_t ip_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < IP_SIZE; i += 2) {
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	}
	sum = (sum & 0xFFFF) + (sum >> 16);
	sum = (sum & 0xFFFF) + (sum >> 16);
	return ~sum;
}

void flow_packet_fill(uint8_t *frame, uint32_t size, const uint8_t source[6])
{
	memset(frame, 0, size);
	memcpy(frame, headers, sizeof(headers));
	memcpy(&frame[6], source, 6);
	write16(&frame[IP_TOTAL_LENGTH], size - ETHERNET_SIZE);
	write16(&frame[IP_CHECKSUM], ip_checksum(&frame[ETHERNET_SIZE]));
	write16(&frame[UDP_LENGTH], size - ETHERNET_SIZE - IP_SIZE);
}

void flow_packet_number(uint8_t *frame, uint32_t flow, uint64_t sequence)
{
	write16(&frame[UDP_SOURCE_PORT], flow + 1);
	for (uint32_t i = 0; i < sizeof(sequence); i++) {
		frame[FLOW_PACKET_SEQUENCE + i] = (uint8_t)(sequence >> (56 - 8 * i));
	}
}
