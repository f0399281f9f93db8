// generated from registers.toml by `make registers`; do not edit
//! The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
//! values of fields, shifted to the place of the field. Each register has its datasheet section.
//! `drivers/ixgbe/registers.toml` has the whole map.
#![forbid(unsafe_code)]
#![allow(non_snake_case)] // the datasheet spells registers in capitals

/// `value` shifted to the place of the field that `mask` covers. It must fit the field.
pub const fn field(mask: u32, value: u32) -> u32 {
    value << (mask.trailing_zeros() & 31)
}

/// The value of the field that `mask` covers, in the register's value `register`.
pub const fn field_get(mask: u32, register: u32) -> u32 {
    (register & mask) >> (mask.trailing_zeros() & 31)
}

/// `value` shifted to the place of a descriptor word's field. It must fit the field.
pub const fn field64(mask: u64, value: u64) -> u64 {
    value << (mask.trailing_zeros() & 63)
}

/// The value of the field that `mask` covers, in the descriptor word `word`.
pub const fn field64_get(mask: u64, word: u64) -> u64 {
    (word & mask) >> (mask.trailing_zeros() & 63)
}

// ---- General control ----

/// CTRL, rw: Device control. Datasheet 8.2.3.1.1.
pub const CTRL: u32 = 0x00000;
/// Bit 2: Start no more bus transactions. STATUS.MASTER_ENABLE clears at the end.
pub const CTRL_MASTER_DISABLE: u32 = 0x00000004;
/// Bit 3, sc: Reset the link, and the device with it.
pub const CTRL_LNK_RST: u32 = 0x00000008;
/// Bit 26, sc: Reset the device. Touch no register for 1 ms, then wait 10 ms more.
pub const CTRL_RST: u32 = 0x04000000;

/// STATUS, ro: Device status. Datasheet 8.2.3.1.2.
pub const STATUS: u32 = 0x00008;
/// Bits 3:2: Which port of the card this is.
pub const STATUS_LAN_ID: u32 = 0x0000000C;
/// Bit 19: Bus transactions may be under way; 0 after CTRL.MASTER_DISABLE.
pub const STATUS_MASTER_ENABLE: u32 = 0x00080000;

/// CTRL_EXT, rw: Extended device control. Datasheet 8.2.3.1.3.
pub const CTRL_EXT: u32 = 0x00018;
/// Bit 16: Use no transaction without snooping, whatever other registers say.
pub const CTRL_EXT_NS_DIS: u32 = 0x00010000;
/// Bit 28: A driver is loaded. The firmware reads this bit.
pub const CTRL_EXT_DRV_LOAD: u32 = 0x10000000;

/// ESDP, rw: Software definable pins. Datasheet 8.2.3.1.4.
pub const ESDP: u32 = 0x00020;
/// Bit 3: Value of pin 3. On SFP+ cards, 1 turns the laser off.
pub const ESDP_SDP3: u32 = 0x00000008;

// ---- EEPROM and flash ----

/// EEC, rw: EEPROM and flash control. Datasheet 8.2.3.2.1.
pub const EEC: u32 = 0x10010;
/// Bit 9, ro: Auto-read done: the EEPROM has been read, or is absent.
pub const EEC_ARD: u32 = 0x00000200;

// ---- Semaphores and firmware ----

/// SWSM, rw: Software semaphore between drivers and firmware. Datasheet 8.2.3.4.9.
pub const SWSM: u32 = 0x10140;
/// Bit 0, rs: The driver that reads 0 has the semaphore. Writing 0 releases it.
pub const SWSM_SMBI: u32 = 0x00000001;

/// SW_FW_SYNC, rw: Owners of the shared resources. Access it only while you hold SWSM.SWESMBI. Datasheet 8.2.3.4.11.
pub const SW_FW_SYNC: u32 = 0x10160;
/// Bit 1: Software has PHY 0, and the I2C wires.
pub const SW_FW_SYNC_SW_PHY0: u32 = 0x00000002;
/// Bit 2: Software has PHY 1, and the I2C wires.
pub const SW_FW_SYNC_SW_PHY1: u32 = 0x00000004;
/// Bit 6: Firmware has PHY 0.
pub const SW_FW_SYNC_FW_PHY0: u32 = 0x00000040;
/// Bit 7: Firmware has PHY 1.
pub const SW_FW_SYNC_FW_PHY1: u32 = 0x00000080;
/// Bit 31, rs: The driver that reads 0 has this register. X540 and later.
pub const SW_FW_SYNC_REGSMP: u32 = 0x80000000;

// ---- PCI Express ----

/// GCR_EXT, rw: Extended PCI Express control. Datasheet 8.2.3.4.12.
pub const GCR_EXT: u32 = 0x11050;
/// Bit 30: Flush internal buffers: hold for 20 us before resetting a stuck device.
pub const GCR_EXT_BUFFERS_CLEAR: u32 = 0x40000000;

// ---- Flow control ----

/// FCRTL, rw, n < 8: Fill of a packet buffer at which the card sends XON. Datasheet 8.2.3.3.3.
pub const fn FCRTL(n: u32) -> u32 { 0x03220 + 0x4 * n }

/// FCRTH, rw, n < 8: Fill of a packet buffer at which the card sends XOFF. Datasheet 8.2.3.3.4.
pub const fn FCRTH(n: u32) -> u32 { 0x03260 + 0x4 * n }

/// FCCFG, rw: Sending of pause frames. Datasheet 8.2.3.3.7.
pub const FCCFG: u32 = 0x03D00;

// ---- Interrupts ----

/// EICR, rc_w1c: Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16. Datasheet 8.2.3.5.1.
pub const EICR: u32 = 0x00800;
/// Bits 15:0: Queues, through IVAR.
pub const EICR_RTX_QUEUE: u32 = 0x0000FFFF;

/// EIMS, w1s: Enables causes. A read returns the enabled causes. Datasheet 8.2.3.5.3.
pub const EIMS: u32 = 0x00880;

/// EIMC, w1c: Disables causes. Datasheet 8.2.3.5.4.
pub const EIMC: u32 = 0x00888;

/// EIAC, rw: Causes that their MSI-X message clears. Datasheet 8.2.3.5.5.
pub const EIAC: u32 = 0x00810;

/// EIAM, rw: Causes that are disabled when they raise an interrupt. Datasheet 8.2.3.5.6.
pub const EIAM: u32 = 0x00890;

/// EIMC_EX, w1c, n < 2: EIMC for queue vectors 0 to 63. Datasheet 8.2.3.5.9.
pub const fn EIMC_EX(n: u32) -> u32 { 0x00AB0 + 0x4 * n }
/// Entries of [`EIMC_EX`].
pub const EIMC_EX_COUNT: u32 = 2;

/// EIAM_EX, rw, n < 2: EIAM for queue vectors 0 to 63. Datasheet 8.2.3.5.10.
pub const fn EIAM_EX(n: u32) -> u32 { 0x00AD0 + 0x4 * n }

/// EITR, rw, n < 129: Interrupt throttle of a vector. Datasheet 8.2.3.5.12.
pub const fn EITR(n: u32) -> u32 { if n < 24 { 0x00820 + 0x4 * n } else { 0x12300 + 0x4 * (n - 24) } }
/// Bits 11:3: Least time between interrupts, in units of 2 us at 10 Gbit/s.
pub const EITR_ITR_INTERVAL: u32 = 0x00000FF8;

/// IVAR, rw, n < 64: Vectors of the queues 2n and 2n + 1. Datasheet 8.2.3.5.16.
pub const fn IVAR(n: u32) -> u32 { 0x00900 + 0x4 * n }
/// Bits 5:0: Vector of RX queue 2n.
pub const IVAR_RX_EVEN: u32 = 0x0000003F;
/// Bit 7: The vector is valid.
pub const IVAR_RX_EVEN_VALID: u32 = 0x00000080;
/// Bits 21:16: Vector of RX queue 2n + 1.
pub const IVAR_RX_ODD: u32 = 0x003F0000;
/// Bit 23: The vector is valid.
pub const IVAR_RX_ODD_VALID: u32 = 0x00800000;

/// GPIE, rw: Interrupt modes. Datasheet 8.2.3.5.18.
pub const GPIE: u32 = 0x00898;
/// Bit 4: Use MSI-X with several vectors.
pub const GPIE_MSIX_MODE: u32 = 0x00000010;
/// Bit 5: A read of EICR clears only what may be cleared in MSI-X mode.
pub const GPIE_OCD: u32 = 0x00000020;
/// Bit 30: EIAM also applies in MSI-X mode.
pub const GPIE_EIAME: u32 = 0x40000000;
/// Bit 31: Pending bits are cleared as vectors are enabled.
pub const GPIE_PBA_SUPPORT: u32 = 0x80000000;

// ---- Receive: filters ----

/// FCTRL, rw: Filter control. Change it only while RXCTRL.RXEN is 0. Datasheet 8.2.3.7.1.
pub const FCTRL: u32 = 0x05080;
/// Bit 8: Accept all multicast packets.
pub const FCTRL_MPE: u32 = 0x00000100;
/// Bit 9: Accept all unicast packets.
pub const FCTRL_UPE: u32 = 0x00000200;
/// Bit 10: Accept broadcast packets.
pub const FCTRL_BAM: u32 = 0x00000400;

/// RXCSUM, rw: Receive checksums. Datasheet 8.2.3.7.5.
pub const RXCSUM: u32 = 0x05000;
/// Bit 13: Report the RSS hash instead of the fragment checksum.
pub const RXCSUM_PCSD: u32 = 0x00002000;

/// MTA, rw, n < 128: Accepted multicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.7.7.
pub const fn MTA(n: u32) -> u32 { 0x05200 + 0x4 * n }
/// Entries of [`MTA`].
pub const MTA_COUNT: u32 = 128;

/// RAL, rw, n < 128: A MAC address, first four bytes; the first is lowest. Datasheet 8.2.3.7.8.
pub const fn RAL(n: u32) -> u32 { 0x0A200 + 0x8 * n }

/// RAH, rw, n < 128: A MAC address, last two bytes. Datasheet 8.2.3.7.9.
pub const fn RAH(n: u32) -> u32 { 0x0A204 + 0x8 * n }
/// Bit 31: The address is valid: the port accepts its packets.
pub const RAH_AV: u32 = 0x80000000;

/// VFTA, rw, n < 128: Accepted VLANs: 4096 bits. Datasheet 8.2.3.7.11.
pub const fn VFTA(n: u32) -> u32 { 0x0A000 + 0x4 * n }
/// Entries of [`VFTA`].
pub const VFTA_COUNT: u32 = 128;

/// PFUTA, rw, n < 128: Accepted unicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.27.17.
pub const fn PFUTA(n: u32) -> u32 { 0x0F400 + 0x4 * n }
/// Entries of [`PFUTA`].
pub const PFUTA_COUNT: u32 = 128;

// ---- Receive: queues and buffers ----

/// RDBAL, rw, n < 128: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.8.1.
pub const fn RDBAL(n: u32) -> u32 { if n < 64 { 0x01000 + 0x40 * n } else { 0x0D000 + 0x40 * (n - 64) } }

/// RDBAH, rw, n < 128: IOVA of the ring, high half. Datasheet 8.2.3.8.2.
pub const fn RDBAH(n: u32) -> u32 { if n < 64 { 0x01004 + 0x40 * n } else { 0x0D004 + 0x40 * (n - 64) } }

/// RDLEN, rw, n < 128: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.8.3.
pub const fn RDLEN(n: u32) -> u32 { if n < 64 { 0x01008 + 0x40 * n } else { 0x0D008 + 0x40 * (n - 64) } }

/// RDH, rw, n < 128: Head: the descriptor that hardware fills next. Write it only before enabling, as 0. Datasheet 8.2.3.8.4.
pub const fn RDH(n: u32) -> u32 { if n < 64 { 0x01010 + 0x40 * n } else { 0x0D010 + 0x40 * (n - 64) } }

/// RDT, rw, n < 128: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.8.5.
pub const fn RDT(n: u32) -> u32 { if n < 64 { 0x01018 + 0x40 * n } else { 0x0D018 + 0x40 * (n - 64) } }

/// RXDCTL, rw, n < 128: Receive queue control. Datasheet 8.2.3.8.6.
pub const fn RXDCTL(n: u32) -> u32 { if n < 64 { 0x01028 + 0x40 * n } else { 0x0D028 + 0x40 * (n - 64) } }
/// Entries of [`RXDCTL`].
pub const RXDCTL_COUNT: u32 = 128;
/// Bit 25: Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped.
pub const RXDCTL_ENABLE: u32 = 0x02000000;

/// SRRCTL, rw, n < 128: Buffers of a receive queue. Datasheet 8.2.3.8.7.
pub const fn SRRCTL(n: u32) -> u32 { if n < 64 { 0x01014 + 0x40 * n } else { 0x0D014 + 0x40 * (n - 64) } }
/// Bits 4:0: Size of a packet buffer, in KiB.
pub const SRRCTL_BSIZEPACKET: u32 = 0x0000001F;
/// Bits 27:25: Format of the descriptors.
pub const SRRCTL_DESCTYPE: u32 = 0x0E000000;
pub const SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER: u32 = 0x02000000;
/// Bit 28: Drop packets without descriptors. Else they wait and block all queues.
pub const SRRCTL_DROP_EN: u32 = 0x10000000;

/// DCA_RXCTRL, rw, n < 128: How a receive queue accesses memory. Datasheet 8.2.3.11.1.
pub const fn DCA_RXCTRL(n: u32) -> u32 { if n < 64 { 0x0100C + 0x40 * n } else { 0x0D00C + 0x40 * (n - 64) } }
/// Bit 12: Reads 1 after reset. Software must clear it.
pub const DCA_RXCTRL_RESERVED_12: u32 = 0x00001000;
/// Bit 13: Write packets with relaxed ordering.
pub const DCA_RXCTRL_DATA_WRO_EN: u32 = 0x00002000;
/// Bit 15: Write headers with relaxed ordering.
pub const DCA_RXCTRL_HEAD_WRO_EN: u32 = 0x00008000;

/// RDRXCTL, rw: Receive DMA control. Datasheet 8.2.3.8.8.
pub const RDRXCTL: u32 = 0x02F00;
/// Bit 1: Strip the CRC. It must equal HLREG0.RXCRCSTRP.
pub const RDRXCTL_CRCSTRIP: u32 = 0x00000002;
/// Bit 3, ro: Receive DMA is ready after a reset.
pub const RDRXCTL_DMAIDONE: u32 = 0x00000008;
/// Bits 21:17: 8 after reset. Software must set it to 0.
pub const RDRXCTL_RSCFRSTSIZE: u32 = 0x003E0000;
/// Bit 25: 0 after reset. Software must set it to 1.
pub const RDRXCTL_RSCACKC: u32 = 0x02000000;
/// Bit 26: 0 after reset. Software must set it to 1.
pub const RDRXCTL_FCOE_WRFIX: u32 = 0x04000000;

/// RXPBSIZE, rw, n < 8: Size of a receive packet buffer. The sum is 512 KiB: to use one, clear the others. Datasheet 8.2.3.8.9.
pub const fn RXPBSIZE(n: u32) -> u32 { 0x03C00 + 0x4 * n }
/// Entries of [`RXPBSIZE`].
pub const RXPBSIZE_COUNT: u32 = 8;
/// Bits 19:10: Size in KiB.
pub const RXPBSIZE_SIZE: u32 = 0x000FFC00;

/// RXCTRL, rw: Receive control. Datasheet 8.2.3.8.10.
pub const RXCTRL: u32 = 0x03000;
/// Bit 0: Enable reception.
pub const RXCTRL_RXEN: u32 = 0x00000001;

// ---- Receive side scaling ----

/// MRQC, rw: Multiple receive queues. Datasheet 8.2.3.7.12.
pub const MRQC: u32 = 0x0EC80;
/// Bits 3:0: Way to choose the queue of a packet.
pub const MRQC_MRQE: u32 = 0x0000000F;
pub const MRQC_MRQE_RSS: u32 = 0x00000001;
/// Bit 16: Hash addresses and ports of TCP over IPv4.
pub const MRQC_RSS_TCP_IPV4: u32 = 0x00010000;
/// Bit 17: Hash addresses of IPv4.
pub const MRQC_RSS_IPV4: u32 = 0x00020000;
/// Bit 20: Hash addresses of IPv6.
pub const MRQC_RSS_IPV6: u32 = 0x00100000;
/// Bit 21: Hash addresses and ports of TCP over IPv6.
pub const MRQC_RSS_TCP_IPV6: u32 = 0x00200000;
/// Bit 22: Hash addresses and ports of UDP over IPv4.
pub const MRQC_RSS_UDP_IPV4: u32 = 0x00400000;
/// Bit 23: Hash addresses and ports of UDP over IPv6.
pub const MRQC_RSS_UDP_IPV6: u32 = 0x00800000;

/// RSSRK, rw, n < 10: The RSS hash's key, 40 bytes; the first is lowest. Datasheet 8.2.3.7.14.
pub const fn RSSRK(n: u32) -> u32 { 0x0EB80 + 0x4 * n }
/// Entries of [`RSSRK`].
pub const RSSRK_COUNT: u32 = 10;

/// RETA, rw, n < 32: RSS table: queues by the hash's low 7 bits, 4 entries a register. Datasheet 8.2.3.7.15.
pub const fn RETA(n: u32) -> u32 { 0x0EB00 + 0x4 * n }
/// Entries of [`RETA`].
pub const RETA_COUNT: u32 = 32;
/// Bits 3:0: Queue of hash 4n.
pub const RETA_ENTRY0: u32 = 0x0000000F;
/// Bits 11:8: Queue of hash 4n + 1.
pub const RETA_ENTRY1: u32 = 0x00000F00;
/// Bits 19:16: Queue of hash 4n + 2.
pub const RETA_ENTRY2: u32 = 0x000F0000;
/// Bits 27:24: Queue of hash 4n + 3.
pub const RETA_ENTRY3: u32 = 0x0F000000;

/// ERETA, rw, n < 96: X550: more of the RSS table, for hashes whose low 9 bits are 128 or above.
pub const fn ERETA(n: u32) -> u32 { 0x0EE80 + 0x4 * n }
/// Entries of [`ERETA`].
pub const ERETA_COUNT: u32 = 96;

// ---- Transmit ----

/// DTXMXSZRQ, rw: Reads of packet data under way. Datasheet 8.2.3.9.1.
pub const DTXMXSZRQ: u32 = 0x08100;
/// Bits 11:0: Upper limit of their sum, in 256 bytes; 0xFFF without traffic classes.
pub const DTXMXSZRQ_MAX_BYTES_NUM_REQ: u32 = 0x00000FFF;

/// DMATXCTL, rw: Transmit DMA control. Datasheet 8.2.3.9.2.
pub const DMATXCTL: u32 = 0x04A80;
/// Bit 0: Enable transmission. Set it once, before the first queue.
pub const DMATXCTL_TE: u32 = 0x00000001;

/// TDBAL, rw, n < 128: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.9.5.
pub const fn TDBAL(n: u32) -> u32 { 0x06000 + 0x40 * n }

/// TDBAH, rw, n < 128: IOVA of the ring, high half. Datasheet 8.2.3.9.6.
pub const fn TDBAH(n: u32) -> u32 { 0x06004 + 0x40 * n }

/// TDLEN, rw, n < 128: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.9.7.
pub const fn TDLEN(n: u32) -> u32 { 0x06008 + 0x40 * n }

/// DCA_TXCTRL, rw, n < 128: How a transmit queue accesses memory. Datasheet 8.2.3.11.2.
pub const fn DCA_TXCTRL(n: u32) -> u32 { 0x0600C + 0x40 * n }
/// Bit 11: Write descriptors, or the head, with relaxed ordering.
pub const DCA_TXCTRL_DESC_WRO_EN: u32 = 0x00000800;

/// TDH, rw, n < 128: Head: the descriptor that hardware reads next. Write it only before enabling, as 0. Datasheet 8.2.3.9.8.
pub const fn TDH(n: u32) -> u32 { 0x06010 + 0x40 * n }
/// Bits 15:0: Index in the ring.
pub const TDH_TDH: u32 = 0x0000FFFF;

/// TDT, rw, n < 128: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.9.9.
pub const fn TDT(n: u32) -> u32 { 0x06018 + 0x40 * n }

/// TXDCTL, rw, n < 128: Transmit queue control. Datasheet 8.2.3.9.10.
pub const fn TXDCTL(n: u32) -> u32 { 0x06028 + 0x40 * n }
/// Entries of [`TXDCTL`].
pub const TXDCTL_COUNT: u32 = 128;
/// Bits 6:0: Fetch more descriptors when fewer than this are on the chip.
pub const TXDCTL_PTHRESH: u32 = 0x0000007F;
/// Bits 14:8: Fetch only if this many are there to fetch.
pub const TXDCTL_HTHRESH: u32 = 0x00007F00;
/// Bits 22:16: Write back in groups of this size; 0 writes each descriptor with RS.
pub const TXDCTL_WTHRESH: u32 = 0x007F0000;
/// Bit 25: Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped.
pub const TXDCTL_ENABLE: u32 = 0x02000000;
/// Bit 26, sc: Write finished descriptors back at once.
pub const TXDCTL_SWFLSH: u32 = 0x04000000;

/// TXPBSIZE, rw, n < 8: Size of a transmit packet buffer. The sum is 160 KiB: to use one, clear the others. Datasheet 8.2.3.9.13.
pub const fn TXPBSIZE(n: u32) -> u32 { 0x0CC00 + 0x4 * n }
/// Entries of [`TXPBSIZE`].
pub const TXPBSIZE_COUNT: u32 = 8;
/// Bits 19:10: Size in KiB.
pub const TXPBSIZE_SIZE: u32 = 0x000FFC00;

/// MTQC, rw: Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1. Datasheet 8.2.3.9.15.
pub const MTQC: u32 = 0x08120;

/// TXPBTHRESH, rw, n < 8: Free space that a packet buffer needs before data is fetched. Datasheet 8.2.3.9.16.
pub const fn TXPBTHRESH(n: u32) -> u32 { 0x04950 + 0x4 * n }

// ---- Traffic classes ----

/// RTTDCS, rw: Transmit descriptor plane. Datasheet 8.2.3.10.2.
pub const RTTDCS: u32 = 0x04900;
/// Bit 6: Disable arbitration. Set it around changes of DTXMXSZRQ, TXPBSIZE and MTQC.
pub const RTTDCS_ARBDIS: u32 = 0x00000040;

/// RTTDQSEL, rw: Queue of RTTDT1C and of the rate registers. Datasheet 8.2.3.10.13.
pub const RTTDQSEL: u32 = 0x04904;

/// RTTBCNRC, rw: Rate limit of the queue that RTTDQSEL names. Datasheet 8.2.3.10.16.
pub const RTTBCNRC: u32 = 0x04984;

// ---- Security ----

/// SECRXCTRL, rw: Receive security engine. Datasheet 8.2.3.12.5.
pub const SECRXCTRL: u32 = 0x08D00;
/// Bit 1: Hold packets back. SECRXSTAT.SECRX_RDY is set once the path is empty.
pub const SECRXCTRL_RX_DIS: u32 = 0x00000002;

/// SECRXSTAT, ro: Receive security engine's state. Datasheet 8.2.3.12.6.
pub const SECRXSTAT: u32 = 0x08D04;
/// Bit 0: The path is empty.
pub const SECRXSTAT_SECRX_RDY: u32 = 0x00000001;

// ---- MAC and link ----

/// HLREG0, rw: MAC core control 0. Datasheet 8.2.3.22.8.
pub const HLREG0: u32 = 0x04240;
/// Bit 0: Append the CRC to sent packets.
pub const HLREG0_TXCRCEN: u32 = 0x00000001;
/// Bit 1: Strip the CRC. It must equal RDRXCTL.CRCSTRIP.
pub const HLREG0_RXCRCSTRP: u32 = 0x00000002;
/// Bit 2: Allow jumbo frames, up to MAXFRS.
pub const HLREG0_JUMBOEN: u32 = 0x00000004;
/// Bit 10: Pad sent packets to 64 bytes.
pub const HLREG0_TXPADEN: u32 = 0x00000400;
/// Bit 15: Loop sent packets back to the receiver.
pub const HLREG0_LPBK: u32 = 0x00008000;

/// MSCA, rw: MDIO command: an access to a register of the PHY. Datasheet 8.2.3.22.11.
pub const MSCA: u32 = 0x0425C;
/// Bits 15:0: Register, in the new protocol.
pub const MSCA_NP_ADDR: u32 = 0x0000FFFF;
/// Bits 20:16: Device in the PHY, or register in the old protocol.
pub const MSCA_DEV_TYPE: u32 = 0x001F0000;
/// Bits 25:21: Address of the PHY.
pub const MSCA_PHY_ADDR: u32 = 0x03E00000;
/// Bits 27:26: Operation.
pub const MSCA_OP_CODE: u32 = 0x0C000000;
pub const MSCA_OP_CODE_ADDRESS: u32 = 0x00000000;
pub const MSCA_OP_CODE_WRITE: u32 = 0x04000000;
pub const MSCA_OP_CODE_READ: u32 = 0x0C000000;
/// Bit 30, sc: Run the command.
pub const MSCA_MDI_COMMAND: u32 = 0x40000000;

/// MSRWD, rw: MDIO data. Datasheet 8.2.3.22.12.
pub const MSRWD: u32 = 0x04260;
/// Bits 15:0: Data to write.
pub const MSRWD_WRITE_DATA: u32 = 0x0000FFFF;
/// Bits 31:16, ro: Data that was read.
pub const MSRWD_READ_DATA: u32 = 0xFFFF0000;

/// MFLCN, rw: Receiving pause frames. Datasheet 8.2.3.22.34.
pub const MFLCN: u32 = 0x04294;
/// Bit 2: Obey priority pause frames.
pub const MFLCN_RPFCE: u32 = 0x00000004;
/// Bit 3: Obey link pause frames.
pub const MFLCN_RFCE: u32 = 0x00000008;

/// AUTOC, rw: Link mode and autonegotiation. Loaded from the EEPROM. Datasheet 8.2.3.22.19.
pub const AUTOC: u32 = 0x042A0;
/// Bit 12, sc: Apply the link mode and negotiate again.
pub const AUTOC_AN_RESTART: u32 = 0x00001000;
/// Bits 15:13: Link mode.
pub const AUTOC_LMS: u32 = 0x0000E000;
pub const AUTOC_LMS_10G_SERIAL: u32 = 0x00006000;

/// LINKS, ro: Link status. Datasheet 8.2.3.22.20.
pub const LINKS: u32 = 0x042A4;
/// Bit 27: With SPEED 10G: 2.5 Gbit/s. With 100M: 5 Gbit/s. X550.
pub const LINKS_SPEED_NON_STD: u32 = 0x08000000;
/// Bits 29:28: Speed.
pub const LINKS_SPEED: u32 = 0x30000000;
pub const LINKS_SPEED_100M: u32 = 0x10000000;
pub const LINKS_SPEED_1G: u32 = 0x20000000;
pub const LINKS_SPEED_10G: u32 = 0x30000000;
/// Bit 30: The link is up.
pub const LINKS_UP: u32 = 0x40000000;

/// AUTOC2, rw: Link mode 2. Loaded from the EEPROM. Datasheet 8.2.3.22.22.
pub const AUTOC2: u32 = 0x042A8;
/// Bits 17:16: 10 Gbit/s over one lane.
pub const AUTOC2_10G_PMA_PMD_SERIAL: u32 = 0x00030000;
pub const AUTOC2_10G_PMA_PMD_SERIAL_SFI: u32 = 0x00020000;
/// Bits 30:28: Reasons to drop the link.
pub const AUTOC2_LINK_DISABLE: u32 = 0x70000000;

// ---- Statistics ----

/// GPTC, rc: Good packets sent.
pub const GPTC: u32 = 0x04080;

/// GOTCL, rc: Good bytes sent, with CRC, low half. Read it before GOTCH.
pub const GOTCL: u32 = 0x04090;

/// GOTCH, rc: Good bytes sent, bits 35:32.
pub const GOTCH: u32 = 0x04094;

/// RQSMR, rw, n < 32: Statistics registers of the receive queues 4n to 4n + 3. Datasheet 8.2.3.23.71.
pub const fn RQSMR(n: u32) -> u32 { 0x02300 + 0x4 * n }
/// Bits 3:0: Statistics of queue 4n.
pub const RQSMR_QUEUE0: u32 = 0x0000000F;
/// Bits 11:8: Statistics of queue 4n + 1.
pub const RQSMR_QUEUE1: u32 = 0x00000F00;
/// Bits 19:16: Statistics of queue 4n + 2.
pub const RQSMR_QUEUE2: u32 = 0x000F0000;
/// Bits 27:24: Statistics of queue 4n + 3.
pub const RQSMR_QUEUE3: u32 = 0x0F000000;

/// TQSM, rw, n < 32: Statistics registers of the transmit queues 4n to 4n + 3. Datasheet 8.2.3.23.73.
pub const fn TQSM(n: u32) -> u32 { 0x08600 + 0x4 * n }
/// Bits 3:0: Statistics of queue 4n.
pub const TQSM_QUEUE0: u32 = 0x0000000F;
/// Bits 11:8: Statistics of queue 4n + 1.
pub const TQSM_QUEUE1: u32 = 0x00000F00;
/// Bits 19:16: Statistics of queue 4n + 2.
pub const TQSM_QUEUE2: u32 = 0x000F0000;
/// Bits 27:24: Statistics of queue 4n + 3.
pub const TQSM_QUEUE3: u32 = 0x0F000000;

/// QPRC, rc, n < 16: Packets received, by queue statistics.
pub const fn QPRC(n: u32) -> u32 { 0x01030 + 0x40 * n }

/// QPRDC, rc, n < 16: Packets dropped without descriptors, by queue statistics. Datasheet 8.2.3.23.75.
pub const fn QPRDC(n: u32) -> u32 { 0x01430 + 0x40 * n }

/// QBRC_L, rc, n < 16: Bytes received, by queue statistics, low half.
pub const fn QBRC_L(n: u32) -> u32 { 0x01034 + 0x40 * n }

/// QBRC_H, rc, n < 16: Bytes received, by queue statistics, bits 35:32.
pub const fn QBRC_H(n: u32) -> u32 { 0x01038 + 0x40 * n }

/// QPTC, rc, n < 16: Packets sent, by queue statistics.
pub const fn QPTC(n: u32) -> u32 { 0x08680 + 0x4 * n }

/// QBTC_L, rc, n < 16: Bytes sent, by queue statistics, low half.
pub const fn QBTC_L(n: u32) -> u32 { 0x08700 + 0x8 * n }

/// QBTC_H, rc, n < 16: Bytes sent, by queue statistics, bits 35:32.
pub const fn QBTC_H(n: u32) -> u32 { 0x08704 + 0x8 * n }

// ---- Descriptors: masks of 64 bits, of one of the two quad words ----

// RXD, as hardware writes it back: Advanced receive descriptor with results, as hardware writes it back. Datasheet 7.1.6.2.

/// Word 1, bits 47:32: Bytes in the packet buffer.
pub const RXD_LENGTH: u64 = 0x0000FFFF00000000;

// RXD, bits of STATUS and ERRORS: Advanced receive descriptor: the status and error bits one by one. Datasheet 7.1.6.2.

/// Word 1, bit 0: Descriptor done: software owns it again.
pub const RXD_DD: u64 = 0x0000000000000001;
/// Word 1, bit 1: End of packet: the packet ends in this buffer.
pub const RXD_EOP: u64 = 0x0000000000000002;

// TXD, data, as software writes it: Advanced transmit data descriptor: a packet to send, or a part of one. Datasheet 7.2.3.2.4.

/// Word 1, bits 15:0: Bytes at that address.
pub const TXD_DTALEN: u64 = 0x000000000000FFFF;
/// Word 1, bits 23:20: Kind of advanced descriptor.
pub const TXD_DTYP: u64 = 0x0000000000F00000;
pub const TXD_DTYP_DATA: u64 = 0x0000000000300000;
/// Word 1, bit 24: End of packet.
pub const TXD_EOP: u64 = 0x0000000001000000;
/// Word 1, bit 25: Insert the frame's CRC.
pub const TXD_IFCS: u64 = 0x0000000002000000;
/// Word 1, bit 27: Report status: write the descriptor back with DD.
pub const TXD_RS: u64 = 0x0000000008000000;
/// Word 1, bit 29: Advanced format; 0 is the legacy one.
pub const TXD_DEXT: u64 = 0x0000000020000000;
/// Word 1, bits 63:46: Bytes of the whole packet, without CRC.
pub const TXD_PAYLEN: u64 = 0xFFFFC00000000000;

// TXD, as hardware writes it back: Transmit descriptor: done. Datasheet 7.2.3.2.4.

/// Word 1, bit 32: Descriptor done: hardware has fetched the data.
pub const TXD_DD: u64 = 0x0000000100000000;

// ---- PCI configuration space ----

/// Vendor of the device (2 bytes).
pub const PCI_VENDOR_ID: u32 = 0x00;
pub const PCI_VENDOR_ID_INTEL: u16 = 0x8086;

/// Device id: see the table of network cards (2 bytes).
pub const PCI_DEVICE_ID: u32 = 0x02;

/// Permissions of the device on the bus (2 bytes).
pub const PCI_COMMAND: u32 = 0x04;
/// Bit 1: Answer accesses to the memory space, such as the registers.
pub const PCI_COMMAND_MEMORY: u16 = 0x0002;
/// Bit 2: Start bus transactions: DMA and MSI.
pub const PCI_COMMAND_BUS_MASTER: u16 = 0x0004;

// ---- Copper PHY: device and address of its registers on the MDIO bus ----

/// The device in the PHY that has [`PHY_ID_HIGH`].
pub const PHY_ID_HIGH_DEVICE: u32 = 1;
/// Upper half of the PHY's identifier. It reads 0 or 0xffff where no PHY answers.
pub const PHY_ID_HIGH: u32 = 0x0002;

/// The device in the PHY that has [`PHY_VENDOR_CONTROL`].
pub const PHY_VENDOR_CONTROL_DEVICE: u32 = 30;
/// Control of the PHY as a whole.
pub const PHY_VENDOR_CONTROL: u32 = 0x0000;
/// Bit 11: The PHY is powered down, so it has no link.
pub const PHY_VENDOR_CONTROL_LOW_POWER: u32 = 0x00000800;
