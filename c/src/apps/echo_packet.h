/* Turning a frame into its answer: MAC echo, ARP (RFC 826), ICMP echo (RFC 792). */
#ifndef IXGBE_ECHO_PACKET_H
#define IXGBE_ECHO_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes at the start of a frame that an answer may depend on: Ethernet, IPv4 with options, ICMP. */
#define ECHO_HEADERS 82

/* Who answers. */
struct echo_address {
	uint8_t mac[6];
	bool has_ip; /* answers ARP and ICMP for `ip`; otherwise returns each frame to its sender */
	uint8_t ip[4];
};

enum echo_answer {
	ECHO_NONE, /* the frame is unchanged and needs no answer */
	ECHO_MAC,
	ECHO_ARP,
	ECHO_ICMP,
};

/*
 * Turns the frame of `size` bytes that begins with `headers` into its answer. It touches at most the
 * first ECHO_HEADERS bytes. An answer has the size of its request.
 */
enum echo_answer echo_packet(uint8_t *headers, uint32_t size, const struct echo_address *own);

#endif
