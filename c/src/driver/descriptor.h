/*
 * The 82599's advanced descriptors: two 64-bit words, in memory shared with the
 * device. Their bits are in registers.h (IXGBE_RXD_*, IXGBE_TXD_*).
 *
 *            written by the driver          written back by the device
 * RX  lower  address of the packet data     RSS hash, packet type (not used)
 *     upper  header address, 0              length, error, status (DD, EOP)
 * TX  lower  address of the packet data
 *     upper  length, command, PAYLEN        status (DD)
 */
#ifndef IXGBE_DESCRIPTOR_H
#define IXGBE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

struct descriptor {
	uint64_t lower;
	uint64_t upper;
};

/* 7.1.6, 7.2.3.2.4: a descriptor is 16 bytes, without padding. */
_Static_assert(sizeof(struct descriptor) == 16, "size of a descriptor");
_Static_assert(offsetof(struct descriptor, upper) == 8, "offset of the upper half");

#endif
