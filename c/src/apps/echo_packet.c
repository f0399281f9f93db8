/* Turning a frame into its answer: MAC echo, ARP (RFC 826), ICMP echo (RFC 792). */
#include "apps/echo_packet.h"
#include <string.h>

/* Ethernet: destination, source, type. */
#define MAC_SIZE 6
#define ETHERNET_SOURCE 6
#define ETHERNET_TYPE 12
#define ETHERNET_SIZE 14
#define TYPE_IPV4 0x0800
#define TYPE_ARP 0x0806

/* RFC 826, from the start of the frame. */
#define ARP_FORMAT 14 /* hardware and protocol, and the sizes of their addresses */
#define ARP_OPERATION 20
#define ARP_SENDER_MAC 22
#define ARP_SENDER_IP 28
#define ARP_TARGET_MAC 32
#define ARP_TARGET_IP 38
#define ARP_END 42
#define ARP_REQUEST 1
#define ARP_REPLY 2

/* RFC 791, from the start of the IPv4 header. */
#define IP_SIZE 20 /* without options */
#define IP_TOTAL_LENGTH 2
#define IP_FRAGMENT 6
#define IP_FRAGMENT_MASK 0x3FFF /* more fragments, and the offset */
#define IP_TTL 8
#define IP_PROTOCOL 9
#define IP_CHECKSUM 10
#define IP_SOURCE 12
#define IP_DESTINATION 16
#define IP_ADDRESS_SIZE 4
#define PROTOCOL_ICMP 1
#define ANSWER_TTL 64

/* RFC 792, from the start of the ICMP header. */
#define ICMP_SIZE 8
#define ICMP_CHECKSUM 2
#define ICMP_ECHO_REQUEST 8
#define ICMP_ECHO_REPLY 0

static const uint8_t arp_format[] = {
	0, 1, TYPE_IPV4 >> 8, TYPE_IPV4 & 0xFF, MAC_SIZE, IP_ADDRESS_SIZE};

static uint32_t read16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static void write16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* RFC 1071: the one's complement sum of 16-bit words, folded. */
static uint32_t fold(uint32_t sum)
{
	while (sum > 0xFFFF) {
		sum = (sum & 0xFFFF) + (sum >> 16);
	}
	return sum;
}

static uint32_t sum_words(const uint8_t *bytes, uint32_t size)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < size; i += 2) {
		sum += read16(&bytes[i]);
	}
	return fold(sum);
}

static void swap(uint8_t *a, uint8_t *b, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		uint8_t kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

static enum echo_answer answer_arp(uint8_t *headers, uint32_t size, const struct echo_address *own)
{
	if (size < ARP_END || memcmp(&headers[ARP_FORMAT], arp_format, sizeof(arp_format)) != 0 ||
	    read16(&headers[ARP_OPERATION]) != ARP_REQUEST ||
	    memcmp(&headers[ARP_TARGET_IP], own->ip, IP_ADDRESS_SIZE) != 0) {
		return ECHO_NONE;
	}
	memcpy(headers, &headers[ETHERNET_SOURCE], MAC_SIZE);
	memcpy(&headers[ETHERNET_SOURCE], own->mac, MAC_SIZE);
	write16(&headers[ARP_OPERATION], ARP_REPLY);
	/* The sender becomes the target, with both of its addresses. */
	memcpy(&headers[ARP_TARGET_MAC], &headers[ARP_SENDER_MAC], MAC_SIZE + IP_ADDRESS_SIZE);
	memcpy(&headers[ARP_SENDER_MAC], own->mac, MAC_SIZE);
	memcpy(&headers[ARP_SENDER_IP], own->ip, IP_ADDRESS_SIZE);
	return ECHO_ARP;
}

static enum echo_answer answer_icmp(uint8_t *headers, uint32_t size, const struct echo_address *own)
{
	if (size < ETHERNET_SIZE + IP_SIZE + ICMP_SIZE) {
		return ECHO_NONE;
	}
	uint8_t *ip = &headers[ETHERNET_SIZE];
	uint32_t ip_size = (ip[0] & 0x0Fu) * 4;
	uint32_t total = read16(&ip[IP_TOTAL_LENGTH]);

	if (ip[0] >> 4 != 4 || ip_size < IP_SIZE || total < ip_size + ICMP_SIZE ||
	    total > size - ETHERNET_SIZE || sum_words(ip, ip_size) != 0xFFFF ||
	    (read16(&ip[IP_FRAGMENT]) & IP_FRAGMENT_MASK) != 0 ||
	    ip[IP_PROTOCOL] != PROTOCOL_ICMP ||
	    memcmp(&ip[IP_DESTINATION], own->ip, IP_ADDRESS_SIZE) != 0) {
		return ECHO_NONE;
	}
	uint8_t *icmp = &ip[ip_size];

	if (icmp[0] != ICMP_ECHO_REQUEST || icmp[1] != 0) {
		return ECHO_NONE;
	}
	swap(headers, &headers[ETHERNET_SOURCE], MAC_SIZE);
	swap(&ip[IP_SOURCE], &ip[IP_DESTINATION], IP_ADDRESS_SIZE);
	ip[IP_TTL] = ANSWER_TTL;
	write16(&ip[IP_CHECKSUM], 0);
	write16(&ip[IP_CHECKSUM], ~sum_words(ip, ip_size));
	icmp[0] = ICMP_ECHO_REPLY;
	/*
	 * RFC 1624: the checksum changes by what the type changed. So it still covers what the sender
	 * sent: if a byte was damaged on the way here, the sender notices.
	 */
	write16(&icmp[ICMP_CHECKSUM],
		fold(read16(&icmp[ICMP_CHECKSUM]) + ((ICMP_ECHO_REQUEST - ICMP_ECHO_REPLY) << 8)));
	return ECHO_ICMP;
}

enum echo_answer echo_packet(uint8_t *headers, uint32_t size, const struct echo_address *own)
{
	if (size < ETHERNET_SIZE) {
		return ECHO_NONE;
	}
	bool to_us = memcmp(headers, own->mac, MAC_SIZE) == 0;
	bool to_all = memcmp(headers, "\xff\xff\xff\xff\xff\xff", MAC_SIZE) == 0;
	/* A sender's address has no group bit, or the answer would go to many. */
	bool from_one = (headers[ETHERNET_SOURCE] & 1) == 0;
	uint32_t type = read16(&headers[ETHERNET_TYPE]);

	if (!from_one || (!to_us && !to_all)) {
		return ECHO_NONE;
	}
	if (own->has_ip && type == TYPE_ARP) {
		return answer_arp(headers, size, own);
	}
	if (own->has_ip && type == TYPE_IPV4 && to_us) {
		return answer_icmp(headers, size, own);
	}
	if (!own->has_ip && to_us) {
		swap(headers, &headers[ETHERNET_SOURCE], MAC_SIZE);
		return ECHO_MAC;
	}
	return ECHO_NONE;
}
