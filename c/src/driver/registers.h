/* generated from registers.toml by `make registers`; do not edit */
/*
 * The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
 * values of fields, shifted to the place of the field. Each register has its datasheet section.
 * drivers/ixgbe/registers.toml has the whole map.
 */
#ifndef IXGBE_REGISTERS_H
#define IXGBE_REGISTERS_H

#include <stdint.h>

/* clang-format off */

/* `value` shifted to the place of the field that `mask` covers. It must fit the field. */
#define IXGBE_FIELD(mask, value) ((value) * ((mask) & (~(mask) + 1u)))
/* The value of the field that `mask` covers, in the register's value `reg`. */
#define IXGBE_FIELD_GET(mask, reg) (((reg) & (mask)) / ((mask) & (~(mask) + 1u)))


/* ---- General control ---- */

/* CTRL, rw: Device control. Datasheet 8.2.3.1.1. */
#define IXGBE_CTRL 0x00000u
/* Bit 2: Start no more bus transactions. STATUS.MASTER_ENABLE clears at the end. */
#define IXGBE_CTRL_MASTER_DISABLE 0x00000004u
/* Bit 3, sc: Reset the link, and the device with it. */
#define IXGBE_CTRL_LNK_RST 0x00000008u
/* Bit 26, sc: Reset the device. Touch no register for 1 ms, then wait 10 ms more. */
#define IXGBE_CTRL_RST 0x04000000u

/* STATUS, ro: Device status. Datasheet 8.2.3.1.2. */
#define IXGBE_STATUS 0x00008u
/* Bits 3:2: Which port of the card this is. */
#define IXGBE_STATUS_LAN_ID 0x0000000Cu
/* Bit 19: Bus transactions may be under way; 0 after CTRL.MASTER_DISABLE. */
#define IXGBE_STATUS_MASTER_ENABLE 0x00080000u

/* CTRL_EXT, rw: Extended device control. Datasheet 8.2.3.1.3. */
#define IXGBE_CTRL_EXT 0x00018u
/* Bit 16: Use no transaction without snooping, whatever other registers say. */
#define IXGBE_CTRL_EXT_NS_DIS 0x00010000u
/* Bit 28: A driver is loaded. The firmware reads this bit. */
#define IXGBE_CTRL_EXT_DRV_LOAD 0x10000000u

/* ESDP, rw: Software definable pins. Datasheet 8.2.3.1.4. */
#define IXGBE_ESDP 0x00020u
/* Bit 3: Value of pin 3. On SFP+ cards, 1 turns the laser off. */
#define IXGBE_ESDP_SDP3 0x00000008u

/* ---- EEPROM and flash ---- */

/* EEC, rw: EEPROM and flash control. Datasheet 8.2.3.2.1. */
#define IXGBE_EEC 0x10010u
/* Bit 9, ro: Auto-read done: the EEPROM has been read, or is absent. */
#define IXGBE_EEC_ARD 0x00000200u

/* ---- Semaphores and firmware ---- */

/* SWSM, rw: Software semaphore between drivers and firmware. Datasheet 8.2.3.4.9. */
#define IXGBE_SWSM 0x10140u
/* Bit 0, rs: The driver that reads 0 has the semaphore. Writing 0 releases it. */
#define IXGBE_SWSM_SMBI 0x00000001u

/* SW_FW_SYNC, rw: Owners of the shared resources. Access it only while you hold SWSM.SWESMBI. Datasheet 8.2.3.4.11. */
#define IXGBE_SW_FW_SYNC 0x10160u
/* Bit 1: Software has PHY 0, and the I2C wires. */
#define IXGBE_SW_FW_SYNC_SW_PHY0 0x00000002u
/* Bit 2: Software has PHY 1, and the I2C wires. */
#define IXGBE_SW_FW_SYNC_SW_PHY1 0x00000004u
/* Bit 6: Firmware has PHY 0. */
#define IXGBE_SW_FW_SYNC_FW_PHY0 0x00000040u
/* Bit 7: Firmware has PHY 1. */
#define IXGBE_SW_FW_SYNC_FW_PHY1 0x00000080u
/* Bit 31, rs: The driver that reads 0 has this register. X540 and later. */
#define IXGBE_SW_FW_SYNC_REGSMP 0x80000000u

/* ---- PCI Express ---- */

/* GCR_EXT, rw: Extended PCI Express control. Datasheet 8.2.3.4.12. */
#define IXGBE_GCR_EXT 0x11050u
/* Bit 30: Flush internal buffers: hold for 20 us before resetting a stuck device. */
#define IXGBE_GCR_EXT_BUFFERS_CLEAR 0x40000000u

/* ---- Flow control ---- */

/* FCRTL, rw: Fill of a packet buffer at which the card sends XON. Datasheet 8.2.3.3.3. */
#define IXGBE_FCRTL(n) (0x03220u + 0x4u * (n))

/* FCRTH, rw: Fill of a packet buffer at which the card sends XOFF. Datasheet 8.2.3.3.4. */
#define IXGBE_FCRTH(n) (0x03260u + 0x4u * (n))

/* FCCFG, rw: Sending of pause frames. Datasheet 8.2.3.3.7. */
#define IXGBE_FCCFG 0x03D00u

/* ---- Interrupts ---- */

/* EICR, rc_w1c: Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16. Datasheet 8.2.3.5.1. */
#define IXGBE_EICR 0x00800u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EICR_RTX_QUEUE 0x0000FFFFu

/* EIMS, w1s: Enables causes. A read returns the enabled causes. Datasheet 8.2.3.5.3. */
#define IXGBE_EIMS 0x00880u

/* EIMC, w1c: Disables causes. Datasheet 8.2.3.5.4. */
#define IXGBE_EIMC 0x00888u

/* EIAC, rw: Causes that their MSI-X message clears. Datasheet 8.2.3.5.5. */
#define IXGBE_EIAC 0x00810u

/* EIAM, rw: Causes that are disabled when they raise an interrupt. Datasheet 8.2.3.5.6. */
#define IXGBE_EIAM 0x00890u

/* EIMC_EX, w1c: EIMC for queue vectors 0 to 63. Datasheet 8.2.3.5.9. */
#define IXGBE_EIMC_EX(n) (0x00AB0u + 0x4u * (n))
#define IXGBE_EIMC_EX_COUNT 2u

/* EIAM_EX, rw: EIAM for queue vectors 0 to 63. Datasheet 8.2.3.5.10. */
#define IXGBE_EIAM_EX(n) (0x00AD0u + 0x4u * (n))

/* EITR, rw: Interrupt throttle of a vector. Datasheet 8.2.3.5.12. */
#define IXGBE_EITR(n) ((n) < 24u ? 0x00820u + 0x4u * (n) : 0x12300u + 0x4u * ((n) - 24u))
/* Bits 11:3: Least time between interrupts, in units of 2 us at 10 Gbit/s. */
#define IXGBE_EITR_ITR_INTERVAL 0x00000FF8u

/* IVAR, rw: Vectors of the queues 2n and 2n + 1. Datasheet 8.2.3.5.16. */
#define IXGBE_IVAR(n) (0x00900u + 0x4u * (n))
/* Bits 5:0: Vector of RX queue 2n. */
#define IXGBE_IVAR_RX_EVEN 0x0000003Fu
/* Bit 7: The vector is valid. */
#define IXGBE_IVAR_RX_EVEN_VALID 0x00000080u
/* Bits 21:16: Vector of RX queue 2n + 1. */
#define IXGBE_IVAR_RX_ODD 0x003F0000u
/* Bit 23: The vector is valid. */
#define IXGBE_IVAR_RX_ODD_VALID 0x00800000u

/* GPIE, rw: Interrupt modes. Datasheet 8.2.3.5.18. */
#define IXGBE_GPIE 0x00898u
/* Bit 4: Use MSI-X with several vectors. */
#define IXGBE_GPIE_MSIX_MODE 0x00000010u
/* Bit 5: A read of EICR clears only what may be cleared in MSI-X mode. */
#define IXGBE_GPIE_OCD 0x00000020u
/* Bit 30: EIAM also applies in MSI-X mode. */
#define IXGBE_GPIE_EIAME 0x40000000u
/* Bit 31: Pending bits are cleared as vectors are enabled. */
#define IXGBE_GPIE_PBA_SUPPORT 0x80000000u

/* ---- Receive: filters ---- */

/* FCTRL, rw: Filter control. Change it only while RXCTRL.RXEN is 0. Datasheet 8.2.3.7.1. */
#define IXGBE_FCTRL 0x05080u
/* Bit 8: Accept all multicast packets. */
#define IXGBE_FCTRL_MPE 0x00000100u
/* Bit 9: Accept all unicast packets. */
#define IXGBE_FCTRL_UPE 0x00000200u
/* Bit 10: Accept broadcast packets. */
#define IXGBE_FCTRL_BAM 0x00000400u

/* RXCSUM, rw: Receive checksums. Datasheet 8.2.3.7.5. */
#define IXGBE_RXCSUM 0x05000u
/* Bit 13: Report the RSS hash instead of the fragment checksum. */
#define IXGBE_RXCSUM_PCSD 0x00002000u

/* MTA, rw: Accepted multicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.7.7. */
#define IXGBE_MTA(n) (0x05200u + 0x4u * (n))
#define IXGBE_MTA_COUNT 128u

/* RAL, rw: A MAC address, first four bytes; the first is lowest. Datasheet 8.2.3.7.8. */
#define IXGBE_RAL(n) (0x0A200u + 0x8u * (n))

/* RAH, rw: A MAC address, last two bytes. Datasheet 8.2.3.7.9. */
#define IXGBE_RAH(n) (0x0A204u + 0x8u * (n))
/* Bit 31: The address is valid: the port accepts its packets. */
#define IXGBE_RAH_AV 0x80000000u

/* VFTA, rw: Accepted VLANs: 4096 bits. Datasheet 8.2.3.7.11. */
#define IXGBE_VFTA(n) (0x0A000u + 0x4u * (n))
#define IXGBE_VFTA_COUNT 128u

/* PFUTA, rw: Accepted unicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.27.17. */
#define IXGBE_PFUTA(n) (0x0F400u + 0x4u * (n))
#define IXGBE_PFUTA_COUNT 128u

/* ---- Receive: queues and buffers ---- */

/* RDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.8.1. */
#define IXGBE_RDBAL(n) ((n) < 64u ? 0x01000u + 0x40u * (n) : 0x0D000u + 0x40u * ((n) - 64u))

/* RDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.8.2. */
#define IXGBE_RDBAH(n) ((n) < 64u ? 0x01004u + 0x40u * (n) : 0x0D004u + 0x40u * ((n) - 64u))

/* RDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.8.3. */
#define IXGBE_RDLEN(n) ((n) < 64u ? 0x01008u + 0x40u * (n) : 0x0D008u + 0x40u * ((n) - 64u))

/* RDH, rw: Head: the descriptor that hardware fills next. Write it only before enabling, as 0. Datasheet 8.2.3.8.4. */
#define IXGBE_RDH(n) ((n) < 64u ? 0x01010u + 0x40u * (n) : 0x0D010u + 0x40u * ((n) - 64u))

/* RDT, rw: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.8.5. */
#define IXGBE_RDT(n) ((n) < 64u ? 0x01018u + 0x40u * (n) : 0x0D018u + 0x40u * ((n) - 64u))

/* RXDCTL, rw: Receive queue control. Datasheet 8.2.3.8.6. */
#define IXGBE_RXDCTL(n) ((n) < 64u ? 0x01028u + 0x40u * (n) : 0x0D028u + 0x40u * ((n) - 64u))
#define IXGBE_RXDCTL_COUNT 128u
/* Bit 25: Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped. */
#define IXGBE_RXDCTL_ENABLE 0x02000000u

/* SRRCTL, rw: Buffers of a receive queue. Datasheet 8.2.3.8.7. */
#define IXGBE_SRRCTL(n) ((n) < 64u ? 0x01014u + 0x40u * (n) : 0x0D014u + 0x40u * ((n) - 64u))
/* Bits 4:0: Size of a packet buffer, in KiB. */
#define IXGBE_SRRCTL_BSIZEPACKET 0x0000001Fu
/* Bits 27:25: Format of the descriptors. */
#define IXGBE_SRRCTL_DESCTYPE 0x0E000000u
#define IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER 0x02000000u
/* Bit 28: Drop packets without descriptors. Else they wait and block all queues. */
#define IXGBE_SRRCTL_DROP_EN 0x10000000u

/* DCA_RXCTRL, rw: How a receive queue accesses memory. Datasheet 8.2.3.11.1. */
#define IXGBE_DCA_RXCTRL(n) ((n) < 64u ? 0x0100Cu + 0x40u * (n) : 0x0D00Cu + 0x40u * ((n) - 64u))
/* Bit 12: Reads 1 after reset. Software must clear it. */
#define IXGBE_DCA_RXCTRL_RESERVED_12 0x00001000u
/* Bit 13: Write packets with relaxed ordering. */
#define IXGBE_DCA_RXCTRL_DATA_WRO_EN 0x00002000u
/* Bit 15: Write headers with relaxed ordering. */
#define IXGBE_DCA_RXCTRL_HEAD_WRO_EN 0x00008000u

/* RDRXCTL, rw: Receive DMA control. Datasheet 8.2.3.8.8. */
#define IXGBE_RDRXCTL 0x02F00u
/* Bit 1: Strip the CRC. It must equal HLREG0.RXCRCSTRP. */
#define IXGBE_RDRXCTL_CRCSTRIP 0x00000002u
/* Bit 3, ro: Receive DMA is ready after a reset. */
#define IXGBE_RDRXCTL_DMAIDONE 0x00000008u
/* Bits 21:17: 8 after reset. Software must set it to 0. */
#define IXGBE_RDRXCTL_RSCFRSTSIZE 0x003E0000u
/* Bit 25: 0 after reset. Software must set it to 1. */
#define IXGBE_RDRXCTL_RSCACKC 0x02000000u
/* Bit 26: 0 after reset. Software must set it to 1. */
#define IXGBE_RDRXCTL_FCOE_WRFIX 0x04000000u

/* RXPBSIZE, rw: Size of a receive packet buffer. The sum is 512 KiB: to use one, clear the others. Datasheet 8.2.3.8.9. */
#define IXGBE_RXPBSIZE(n) (0x03C00u + 0x4u * (n))
#define IXGBE_RXPBSIZE_COUNT 8u
/* Bits 19:10: Size in KiB. */
#define IXGBE_RXPBSIZE_SIZE 0x000FFC00u

/* RXCTRL, rw: Receive control. Datasheet 8.2.3.8.10. */
#define IXGBE_RXCTRL 0x03000u
/* Bit 0: Enable reception. */
#define IXGBE_RXCTRL_RXEN 0x00000001u

/* ---- Receive side scaling ---- */

/* MRQC, rw: Multiple receive queues. Datasheet 8.2.3.7.12. */
#define IXGBE_MRQC 0x0EC80u
/* Bits 3:0: Way to choose the queue of a packet. */
#define IXGBE_MRQC_MRQE 0x0000000Fu
#define IXGBE_MRQC_MRQE_RSS 0x00000001u
/* Bit 16: Hash addresses and ports of TCP over IPv4. */
#define IXGBE_MRQC_RSS_TCP_IPV4 0x00010000u
/* Bit 17: Hash addresses of IPv4. */
#define IXGBE_MRQC_RSS_IPV4 0x00020000u
/* Bit 20: Hash addresses of IPv6. */
#define IXGBE_MRQC_RSS_IPV6 0x00100000u
/* Bit 21: Hash addresses and ports of TCP over IPv6. */
#define IXGBE_MRQC_RSS_TCP_IPV6 0x00200000u
/* Bit 22: Hash addresses and ports of UDP over IPv4. */
#define IXGBE_MRQC_RSS_UDP_IPV4 0x00400000u
/* Bit 23: Hash addresses and ports of UDP over IPv6. */
#define IXGBE_MRQC_RSS_UDP_IPV6 0x00800000u

/* RSSRK, rw: The RSS hash's key, 40 bytes; the first is lowest. Datasheet 8.2.3.7.14. */
#define IXGBE_RSSRK(n) (0x0EB80u + 0x4u * (n))
#define IXGBE_RSSRK_COUNT 10u

/* RETA, rw: RSS table: queues by the hash's low 7 bits, 4 entries a register. Datasheet 8.2.3.7.15. */
#define IXGBE_RETA(n) (0x0EB00u + 0x4u * (n))
#define IXGBE_RETA_COUNT 32u
/* Bits 3:0: Queue of hash 4n. */
#define IXGBE_RETA_ENTRY0 0x0000000Fu
/* Bits 11:8: Queue of hash 4n + 1. */
#define IXGBE_RETA_ENTRY1 0x00000F00u
/* Bits 19:16: Queue of hash 4n + 2. */
#define IXGBE_RETA_ENTRY2 0x000F0000u
/* Bits 27:24: Queue of hash 4n + 3. */
#define IXGBE_RETA_ENTRY3 0x0F000000u

/* ERETA, rw: X550: more of the RSS table, for hashes whose low 9 bits are 128 or above. */
#define IXGBE_ERETA(n) (0x0EE80u + 0x4u * (n))
#define IXGBE_ERETA_COUNT 96u

/* ---- Transmit ---- */

/* DTXMXSZRQ, rw: Reads of packet data under way. Datasheet 8.2.3.9.1. */
#define IXGBE_DTXMXSZRQ 0x08100u
/* Bits 11:0: Upper limit of their sum, in 256 bytes; 0xFFF without traffic classes. */
#define IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ 0x00000FFFu

/* DMATXCTL, rw: Transmit DMA control. Datasheet 8.2.3.9.2. */
#define IXGBE_DMATXCTL 0x04A80u
/* Bit 0: Enable transmission. Set it once, before the first queue. */
#define IXGBE_DMATXCTL_TE 0x00000001u

/* TDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.9.5. */
#define IXGBE_TDBAL(n) (0x06000u + 0x40u * (n))

/* TDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.9.6. */
#define IXGBE_TDBAH(n) (0x06004u + 0x40u * (n))

/* TDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.9.7. */
#define IXGBE_TDLEN(n) (0x06008u + 0x40u * (n))

/* DCA_TXCTRL, rw: How a transmit queue accesses memory. Datasheet 8.2.3.11.2. */
#define IXGBE_DCA_TXCTRL(n) (0x0600Cu + 0x40u * (n))
/* Bit 11: Write descriptors, or the head, with relaxed ordering. */
#define IXGBE_DCA_TXCTRL_DESC_WRO_EN 0x00000800u

/* TDH, rw: Head: the descriptor that hardware reads next. Write it only before enabling, as 0. Datasheet 8.2.3.9.8. */
#define IXGBE_TDH(n) (0x06010u + 0x40u * (n))
/* Bits 15:0: Index in the ring. */
#define IXGBE_TDH_TDH 0x0000FFFFu

/* TDT, rw: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.9.9. */
#define IXGBE_TDT(n) (0x06018u + 0x40u * (n))

/* TXDCTL, rw: Transmit queue control. Datasheet 8.2.3.9.10. */
#define IXGBE_TXDCTL(n) (0x06028u + 0x40u * (n))
#define IXGBE_TXDCTL_COUNT 128u
/* Bits 6:0: Fetch more descriptors when fewer than this are on the chip. */
#define IXGBE_TXDCTL_PTHRESH 0x0000007Fu
/* Bits 14:8: Fetch only if this many are there to fetch. */
#define IXGBE_TXDCTL_HTHRESH 0x00007F00u
/* Bits 22:16: Write back in groups of this size; 0 writes each descriptor with RS. */
#define IXGBE_TXDCTL_WTHRESH 0x007F0000u
/* Bit 25: Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped. */
#define IXGBE_TXDCTL_ENABLE 0x02000000u
/* Bit 26, sc: Write finished descriptors back at once. */
#define IXGBE_TXDCTL_SWFLSH 0x04000000u

/* TXPBSIZE, rw: Size of a transmit packet buffer. The sum is 160 KiB: to use one, clear the others. Datasheet 8.2.3.9.13. */
#define IXGBE_TXPBSIZE(n) (0x0CC00u + 0x4u * (n))
#define IXGBE_TXPBSIZE_COUNT 8u
/* Bits 19:10: Size in KiB. */
#define IXGBE_TXPBSIZE_SIZE 0x000FFC00u

/* MTQC, rw: Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1. Datasheet 8.2.3.9.15. */
#define IXGBE_MTQC 0x08120u

/* TXPBTHRESH, rw: Free space that a packet buffer needs before data is fetched. Datasheet 8.2.3.9.16. */
#define IXGBE_TXPBTHRESH(n) (0x04950u + 0x4u * (n))

/* ---- Traffic classes ---- */

/* RTTDCS, rw: Transmit descriptor plane. Datasheet 8.2.3.10.2. */
#define IXGBE_RTTDCS 0x04900u
/* Bit 6: Disable arbitration. Set it around changes of DTXMXSZRQ, TXPBSIZE and MTQC. */
#define IXGBE_RTTDCS_ARBDIS 0x00000040u

/* RTTDQSEL, rw: Queue of RTTDT1C and of the rate registers. Datasheet 8.2.3.10.13. */
#define IXGBE_RTTDQSEL 0x04904u

/* RTTBCNRC, rw: Rate limit of the queue that RTTDQSEL names. Datasheet 8.2.3.10.16. */
#define IXGBE_RTTBCNRC 0x04984u

/* ---- Security ---- */

/* SECRXCTRL, rw: Receive security engine. Datasheet 8.2.3.12.5. */
#define IXGBE_SECRXCTRL 0x08D00u
/* Bit 1: Hold packets back. SECRXSTAT.SECRX_RDY is set once the path is empty. */
#define IXGBE_SECRXCTRL_RX_DIS 0x00000002u

/* SECRXSTAT, ro: Receive security engine's state. Datasheet 8.2.3.12.6. */
#define IXGBE_SECRXSTAT 0x08D04u
/* Bit 0: The path is empty. */
#define IXGBE_SECRXSTAT_SECRX_RDY 0x00000001u

/* ---- MAC and link ---- */

/* HLREG0, rw: MAC core control 0. Datasheet 8.2.3.22.8. */
#define IXGBE_HLREG0 0x04240u
/* Bit 0: Append the CRC to sent packets. */
#define IXGBE_HLREG0_TXCRCEN 0x00000001u
/* Bit 1: Strip the CRC. It must equal RDRXCTL.CRCSTRIP. */
#define IXGBE_HLREG0_RXCRCSTRP 0x00000002u
/* Bit 2: Allow jumbo frames, up to MAXFRS. */
#define IXGBE_HLREG0_JUMBOEN 0x00000004u
/* Bit 10: Pad sent packets to 64 bytes. */
#define IXGBE_HLREG0_TXPADEN 0x00000400u
/* Bit 15: Loop sent packets back to the receiver. */
#define IXGBE_HLREG0_LPBK 0x00008000u

/* MSCA, rw: MDIO command: an access to a register of the PHY. Datasheet 8.2.3.22.11. */
#define IXGBE_MSCA 0x0425Cu
/* Bits 15:0: Register, in the new protocol. */
#define IXGBE_MSCA_NP_ADDR 0x0000FFFFu
/* Bits 20:16: Device in the PHY, or register in the old protocol. */
#define IXGBE_MSCA_DEV_TYPE 0x001F0000u
/* Bits 25:21: Address of the PHY. */
#define IXGBE_MSCA_PHY_ADDR 0x03E00000u
/* Bits 27:26: Operation. */
#define IXGBE_MSCA_OP_CODE 0x0C000000u
#define IXGBE_MSCA_OP_CODE_ADDRESS 0x00000000u
#define IXGBE_MSCA_OP_CODE_WRITE 0x04000000u
#define IXGBE_MSCA_OP_CODE_READ 0x0C000000u
/* Bit 30, sc: Run the command. */
#define IXGBE_MSCA_MDI_COMMAND 0x40000000u

/* MSRWD, rw: MDIO data. Datasheet 8.2.3.22.12. */
#define IXGBE_MSRWD 0x04260u
/* Bits 15:0: Data to write. */
#define IXGBE_MSRWD_WRITE_DATA 0x0000FFFFu
/* Bits 31:16, ro: Data that was read. */
#define IXGBE_MSRWD_READ_DATA 0xFFFF0000u

/* MFLCN, rw: Receiving pause frames. Datasheet 8.2.3.22.34. */
#define IXGBE_MFLCN 0x04294u
/* Bit 2: Obey priority pause frames. */
#define IXGBE_MFLCN_RPFCE 0x00000004u
/* Bit 3: Obey link pause frames. */
#define IXGBE_MFLCN_RFCE 0x00000008u

/* AUTOC, rw: Link mode and autonegotiation. Loaded from the EEPROM. Datasheet 8.2.3.22.19. */
#define IXGBE_AUTOC 0x042A0u
/* Bit 12, sc: Apply the link mode and negotiate again. */
#define IXGBE_AUTOC_AN_RESTART 0x00001000u
/* Bits 15:13: Link mode. */
#define IXGBE_AUTOC_LMS 0x0000E000u
#define IXGBE_AUTOC_LMS_10G_SERIAL 0x00006000u

/* LINKS, ro: Link status. Datasheet 8.2.3.22.20. */
#define IXGBE_LINKS 0x042A4u
/* Bit 27: With SPEED 10G: 2.5 Gbit/s. With 100M: 5 Gbit/s. X550. */
#define IXGBE_LINKS_SPEED_NON_STD 0x08000000u
/* Bits 29:28: Speed. */
#define IXGBE_LINKS_SPEED 0x30000000u
#define IXGBE_LINKS_SPEED_100M 0x10000000u
#define IXGBE_LINKS_SPEED_1G 0x20000000u
#define IXGBE_LINKS_SPEED_10G 0x30000000u
/* Bit 30: The link is up. */
#define IXGBE_LINKS_UP 0x40000000u

/* AUTOC2, rw: Link mode 2. Loaded from the EEPROM. Datasheet 8.2.3.22.22. */
#define IXGBE_AUTOC2 0x042A8u
/* Bits 17:16: 10 Gbit/s over one lane. */
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL 0x00030000u
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI 0x00020000u
/* Bits 30:28: Reasons to drop the link. */
#define IXGBE_AUTOC2_LINK_DISABLE 0x70000000u

/* ---- Statistics ---- */

/* GPTC, rc: Good packets sent. */
#define IXGBE_GPTC 0x04080u

/* GOTCL, rc: Good bytes sent, with CRC, low half. Read it before GOTCH. */
#define IXGBE_GOTCL 0x04090u

/* GOTCH, rc: Good bytes sent, bits 35:32. */
#define IXGBE_GOTCH 0x04094u

/* RQSMR, rw: Statistics registers of the receive queues 4n to 4n + 3. Datasheet 8.2.3.23.71. */
#define IXGBE_RQSMR(n) (0x02300u + 0x4u * (n))
/* Bits 3:0: Statistics of queue 4n. */
#define IXGBE_RQSMR_QUEUE0 0x0000000Fu
/* Bits 11:8: Statistics of queue 4n + 1. */
#define IXGBE_RQSMR_QUEUE1 0x00000F00u
/* Bits 19:16: Statistics of queue 4n + 2. */
#define IXGBE_RQSMR_QUEUE2 0x000F0000u
/* Bits 27:24: Statistics of queue 4n + 3. */
#define IXGBE_RQSMR_QUEUE3 0x0F000000u

/* TQSM, rw: Statistics registers of the transmit queues 4n to 4n + 3. Datasheet 8.2.3.23.73. */
#define IXGBE_TQSM(n) (0x08600u + 0x4u * (n))
/* Bits 3:0: Statistics of queue 4n. */
#define IXGBE_TQSM_QUEUE0 0x0000000Fu
/* Bits 11:8: Statistics of queue 4n + 1. */
#define IXGBE_TQSM_QUEUE1 0x00000F00u
/* Bits 19:16: Statistics of queue 4n + 2. */
#define IXGBE_TQSM_QUEUE2 0x000F0000u
/* Bits 27:24: Statistics of queue 4n + 3. */
#define IXGBE_TQSM_QUEUE3 0x0F000000u

/* QPRC, rc: Packets received, by queue statistics. */
#define IXGBE_QPRC(n) (0x01030u + 0x40u * (n))

/* QPRDC, rc: Packets dropped without descriptors, by queue statistics. Datasheet 8.2.3.23.75. */
#define IXGBE_QPRDC(n) (0x01430u + 0x40u * (n))

/* QBRC_L, rc: Bytes received, by queue statistics, low half. */
#define IXGBE_QBRC_L(n) (0x01034u + 0x40u * (n))

/* QBRC_H, rc: Bytes received, by queue statistics, bits 35:32. */
#define IXGBE_QBRC_H(n) (0x01038u + 0x40u * (n))

/* QPTC, rc: Packets sent, by queue statistics. */
#define IXGBE_QPTC(n) (0x08680u + 0x4u * (n))

/* QBTC_L, rc: Bytes sent, by queue statistics, low half. */
#define IXGBE_QBTC_L(n) (0x08700u + 0x8u * (n))

/* QBTC_H, rc: Bytes sent, by queue statistics, bits 35:32. */
#define IXGBE_QBTC_H(n) (0x08704u + 0x8u * (n))

/* ---- Descriptors: masks of 64 bits, of one of the two quad words ---- */

/* RXD, as hardware writes it back: Advanced receive descriptor with results, as hardware writes it back. Datasheet 7.1.6.2. */
/* Word 1, bits 47:32: Bytes in the packet buffer. */
#define IXGBE_RXD_LENGTH UINT64_C(0x0000FFFF00000000)

/* RXD, bits of STATUS and ERRORS: Advanced receive descriptor: the status and error bits one by one. Datasheet 7.1.6.2. */
/* Word 1, bit 0: Descriptor done: software owns it again. */
#define IXGBE_RXD_DD UINT64_C(0x0000000000000001)
/* Word 1, bit 1: End of packet: the packet ends in this buffer. */
#define IXGBE_RXD_EOP UINT64_C(0x0000000000000002)

/* TXD, data, as software writes it: Advanced transmit data descriptor: a packet to send, or a part of one. Datasheet 7.2.3.2.4. */
/* Word 1, bits 15:0: Bytes at that address. */
#define IXGBE_TXD_DTALEN UINT64_C(0x000000000000FFFF)
/* Word 1, bits 23:20: Kind of advanced descriptor. */
#define IXGBE_TXD_DTYP UINT64_C(0x0000000000F00000)
#define IXGBE_TXD_DTYP_DATA UINT64_C(0x0000000000300000)
/* Word 1, bit 24: End of packet. */
#define IXGBE_TXD_EOP UINT64_C(0x0000000001000000)
/* Word 1, bit 25: Insert the frame's CRC. */
#define IXGBE_TXD_IFCS UINT64_C(0x0000000002000000)
/* Word 1, bit 27: Report status: write the descriptor back with DD. */
#define IXGBE_TXD_RS UINT64_C(0x0000000008000000)
/* Word 1, bit 29: Advanced format; 0 is the legacy one. */
#define IXGBE_TXD_DEXT UINT64_C(0x0000000020000000)
/* Word 1, bits 63:46: Bytes of the whole packet, without CRC. */
#define IXGBE_TXD_PAYLEN UINT64_C(0xFFFFC00000000000)

/* TXD, as hardware writes it back: Transmit descriptor: done. Datasheet 7.2.3.2.4. */
/* Word 1, bit 32: Descriptor done: hardware has fetched the data. */
#define IXGBE_TXD_DD UINT64_C(0x0000000100000000)

/* ---- PCI configuration space ---- */

/* Vendor of the device. (2 bytes) */
#define IXGBE_PCI_VENDOR_ID 0x00u
#define IXGBE_PCI_VENDOR_ID_INTEL 0x8086u

/* Device id: see the table of network cards. (2 bytes) */
#define IXGBE_PCI_DEVICE_ID 0x02u

/* Permissions of the device on the bus. (2 bytes) */
#define IXGBE_PCI_COMMAND 0x04u
/* Bit 1: Answer accesses to the memory space, such as the registers. */
#define IXGBE_PCI_COMMAND_MEMORY 0x0002u
/* Bit 2: Start bus transactions: DMA and MSI. */
#define IXGBE_PCI_COMMAND_BUS_MASTER 0x0004u

/* ---- Copper PHY: device and address of its registers on the MDIO bus ---- */

/* Upper half of the PHY's identifier. It reads 0 or 0xffff where no PHY answers. */
#define IXGBE_PHY_ID_HIGH_DEVICE 1u
#define IXGBE_PHY_ID_HIGH 0x0002u

/* Control of the PHY as a whole. */
#define IXGBE_PHY_VENDOR_CONTROL_DEVICE 30u
#define IXGBE_PHY_VENDOR_CONTROL 0x0000u
/* Bit 11: The PHY is powered down, so it has no link. */
#define IXGBE_PHY_VENDOR_CONTROL_LOW_POWER 0x00000800u

/* clang-format on */

#endif
