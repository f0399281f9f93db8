/* The packets of the generator: UDP in IPv4, with a flow and a sequence number. */
#ifndef IXGBE_FLOW_PACKET_H
#define IXGBE_FLOW_PACKET_H

#include <stdint.h>

/* The sizes of a frame, in bytes without CRC. */
#define FLOW_PACKET_MIN_SIZE 60
#define FLOW_PACKET_MAX_SIZE 1514

/* A flow is a UDP source port from 1 on. */
#define FLOW_PACKET_MAX_FLOWS 65535

/* Where the sequence number is, from the start of the frame: the first 8 bytes of the payload, big-endian. */
#define FLOW_PACKET_SEQUENCE 42

/*
 * Writes a frame of `size` bytes from `source`. All of it is final except flow and sequence number. The
 * destination is a locally administered address, and the addresses are of the network for benchmarks
 * (RFC 2544). There is no UDP checksum, as IPv4 allows, so that a change of flow changes two bytes only.
 */
void flow_packet_fill(uint8_t *frame, uint32_t size, const uint8_t source[6]);

/* Writes the flow, from 0, and the sequence number. */
void flow_packet_number(uint8_t *frame, uint32_t flow, uint64_t sequence);

#endif
