// generated from registers.toml by `make registers`; do not edit
//! The 82599's registers: offsets, masks of fields and named values of fields, and [`REGISTERS`],
//! the table of what a read and a write do.

#![allow(dead_code, non_snake_case)] // the map is complete; the datasheet spells registers in capitals

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

/// Bytes of the register space.
pub const BAR0_SIZE: u32 = 0x20000;

// ---- General control ----

/// CTRL, rw: Device control. Datasheet 8.2.3.1.1.
/// Also at 0x00004.
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
/// Bit 7: The link is up.
pub const STATUS_LINK_UP: u32 = 0x00000080;
/// Bits 17:10: Virtual functions that are enabled.
pub const STATUS_NUM_VFS: u32 = 0x0003FC00;
/// Bit 18: Virtual functions are enabled.
pub const STATUS_IOV_ACTIVE: u32 = 0x00040000;
/// Bit 19: Bus transactions may be under way; 0 after CTRL.MASTER_DISABLE.
pub const STATUS_MASTER_ENABLE: u32 = 0x00080000;

/// CTRL_EXT, rw: Extended device control. Datasheet 8.2.3.1.3.
pub const CTRL_EXT: u32 = 0x00018;
/// Bit 14, sc: The physical function's reset is done, and virtual functions may go on.
pub const CTRL_EXT_PFRSTD: u32 = 0x00004000;
/// Bit 16: Use no transaction without snooping, whatever other registers say.
pub const CTRL_EXT_NS_DIS: u32 = 0x00010000;
/// Bit 17: Use no relaxed ordering, whatever other registers say.
pub const CTRL_EXT_RO_DIS: u32 = 0x00020000;
/// Bit 26: Every packet has an outer VLAN tag.
pub const CTRL_EXT_EXTENDED_VLAN: u32 = 0x04000000;
/// Bit 28: A driver is loaded. The firmware reads this bit.
pub const CTRL_EXT_DRV_LOAD: u32 = 0x10000000;

/// ESDP, rw: Software definable pins. Datasheet 8.2.3.1.4.
pub const ESDP: u32 = 0x00020;
/// Bit 0: Value of pin 0.
pub const ESDP_SDP0: u32 = 0x00000001;
/// Bit 1: Value of pin 1.
pub const ESDP_SDP1: u32 = 0x00000002;
/// Bit 2: Value of pin 2. On SFP+ cards it is high while the cage holds a module.
pub const ESDP_SDP2: u32 = 0x00000004;
/// Bit 3: Value of pin 3. On SFP+ cards, 1 turns the laser off.
pub const ESDP_SDP3: u32 = 0x00000008;
/// Bit 4: Value of pin 4.
pub const ESDP_SDP4: u32 = 0x00000010;
/// Bit 5: Value of pin 5.
pub const ESDP_SDP5: u32 = 0x00000020;
/// Bit 6: Value of pin 6.
pub const ESDP_SDP6: u32 = 0x00000040;
/// Bit 7: Value of pin 7.
pub const ESDP_SDP7: u32 = 0x00000080;
/// Bit 8: Pin 0 is an output.
pub const ESDP_SDP0_DIR: u32 = 0x00000100;
/// Bit 9: Pin 1 is an output.
pub const ESDP_SDP1_DIR: u32 = 0x00000200;
/// Bit 10: Pin 2 is an output.
pub const ESDP_SDP2_DIR: u32 = 0x00000400;
/// Bit 11: Pin 3 is an output.
pub const ESDP_SDP3_DIR: u32 = 0x00000800;
/// Bit 12: Pin 4 is an output.
pub const ESDP_SDP4_DIR: u32 = 0x00001000;
/// Bit 13: Pin 5 is an output.
pub const ESDP_SDP5_DIR: u32 = 0x00002000;
/// Bit 14: Pin 6 is an output.
pub const ESDP_SDP6_DIR: u32 = 0x00004000;
/// Bit 15: Pin 7 is an output.
pub const ESDP_SDP7_DIR: u32 = 0x00008000;
/// Bit 16: Pin 0 has its built-in function.
pub const ESDP_SDP0_NATIVE: u32 = 0x00010000;
/// Bit 17: Pin 1 has its built-in function.
pub const ESDP_SDP1_NATIVE: u32 = 0x00020000;

/// I2CCTL, rw: The two wires to the SFP+ module. Datasheet 8.2.3.1.5.
pub const I2CCTL: u32 = 0x00028;
/// EODSDP, rw: The two wires to the SFP+ module. Datasheet 8.2.3.1.5.
pub const EODSDP: u32 = 0x00028;
/// Bit 0, ro: Level of the clock wire.
pub const I2CCTL_CLK_IN: u32 = 0x00000001;
/// Bit 1: Level to drive the clock wire to.
pub const I2CCTL_CLK_OUT: u32 = 0x00000002;
/// Bit 2, ro: Level of the data wire.
pub const I2CCTL_DATA_IN: u32 = 0x00000004;
/// Bit 3: Level to drive the data wire to.
pub const I2CCTL_DATA_OUT: u32 = 0x00000008;

/// FRTIMER, ro: Free running timer.
pub const FRTIMER: u32 = 0x00048;

/// TCPTIMER, rw: Timer that can raise an interrupt.
pub const TCPTIMER: u32 = 0x0004C;
/// Bits 7:0: Time to run, in milliseconds.
pub const TCPTIMER_DURATION: u32 = 0x000000FF;
/// Bit 8, sc: Start again.
pub const TCPTIMER_KS: u32 = 0x00000100;
/// Bit 9: The timer runs.
pub const TCPTIMER_COUNT_ENABLE: u32 = 0x00000200;
/// Bit 10, sc: End at once.
pub const TCPTIMER_COUNT_FINISH: u32 = 0x00000400;
/// Bit 11: Start again at each end.
pub const TCPTIMER_LOOP: u32 = 0x00000800;

/// LEDCTL, rw: LEDs. Datasheet 8.2.3.1.6.
pub const LEDCTL: u32 = 0x00200;
/// Bits 3:0: State that LED 0 shows.
pub const LEDCTL_LED0_MODE: u32 = 0x0000000F;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_LINK_UP: u32 = 0x00000000;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_LINK_10G: u32 = 0x00000001;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_MAC_ACTIVITY: u32 = 0x00000002;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_FILTER_ACTIVITY: u32 = 0x00000003;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_LINK_ACTIVITY: u32 = 0x00000004;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_LINK_1G: u32 = 0x00000005;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_ON: u32 = 0x0000000E;
/// Value of [`LEDCTL_LED0_MODE`].
pub const LEDCTL_LED0_MODE_OFF: u32 = 0x0000000F;
/// Bit 6: LED 0 inverted.
pub const LEDCTL_LED0_INVERT: u32 = 0x00000040;
/// Bit 7: LED 0 blinks.
pub const LEDCTL_LED0_BLINK: u32 = 0x00000080;
/// Bits 11:8: State that LED 1 shows.
pub const LEDCTL_LED1_MODE: u32 = 0x00000F00;
/// Bit 14: LED 1 inverted.
pub const LEDCTL_LED1_INVERT: u32 = 0x00004000;
/// Bit 15: LED 1 blinks.
pub const LEDCTL_LED1_BLINK: u32 = 0x00008000;
/// Bits 19:16: State that LED 2 shows.
pub const LEDCTL_LED2_MODE: u32 = 0x000F0000;
/// Bit 22: LED 2 inverted.
pub const LEDCTL_LED2_INVERT: u32 = 0x00400000;
/// Bit 23: LED 2 blinks.
pub const LEDCTL_LED2_BLINK: u32 = 0x00800000;
/// Bits 27:24: State that LED 3 shows.
pub const LEDCTL_LED3_MODE: u32 = 0x0F000000;
/// Bit 30: LED 3 inverted.
pub const LEDCTL_LED3_INVERT: u32 = 0x40000000;
/// Bit 31: LED 3 blinks.
pub const LEDCTL_LED3_BLINK: u32 = 0x80000000;

/// EXVET, rw: EtherType of the outer VLAN tag.
pub const EXVET: u32 = 0x05078;
/// Bits 31:16: The EtherType.
pub const EXVET_VET_EXT: u32 = 0xFFFF0000;

// ---- EEPROM and flash ----

/// EEC, rw: EEPROM and flash control. Datasheet 8.2.3.2.1.
pub const EEC: u32 = 0x10010;
/// Bit 0: Clock to the EEPROM.
pub const EEC_SK: u32 = 0x00000001;
/// Bit 1: The EEPROM is selected.
pub const EEC_CS: u32 = 0x00000002;
/// Bit 2: Data to the EEPROM.
pub const EEC_DI: u32 = 0x00000004;
/// Bit 3, ro: Data from the EEPROM.
pub const EEC_DO: u32 = 0x00000008;
/// Bits 5:4: Flash writes.
pub const EEC_FWE: u32 = 0x00000030;
/// Value of [`EEC_FWE`].
pub const EEC_FWE_DISABLE: u32 = 0x00000010;
/// Value of [`EEC_FWE`].
pub const EEC_FWE_ENABLE: u32 = 0x00000020;
/// Bit 6: Request the EEPROM's wires.
pub const EEC_REQ: u32 = 0x00000040;
/// Bit 7, ro: Software has the wires.
pub const EEC_GNT: u32 = 0x00000080;
/// Bit 8, ro: The EEPROM is present and has a valid signature.
pub const EEC_PRES: u32 = 0x00000100;
/// Bit 9, ro: Auto-read done: the EEPROM has been read, or is absent.
pub const EEC_ARD: u32 = 0x00000200;
/// Bit 10, ro: The EEPROM takes addresses of 16 bits, not 8.
pub const EEC_ADDR_SIZE: u32 = 0x00000400;
/// Bits 14:11, ro: Size: 2 to the power of this, times 128 bytes.
pub const EEC_SIZE: u32 = 0x00007800;

/// EERD, rw: Reads a word of the EEPROM. Datasheet 8.2.3.2.2.
pub const EERD: u32 = 0x10014;
/// Bit 0, sc: Read the word at ADDR.
pub const EERD_START: u32 = 0x00000001;
/// Bit 1, ro: DATA is valid.
pub const EERD_DONE: u32 = 0x00000002;
/// Bits 15:2: Address of the word.
pub const EERD_ADDR: u32 = 0x0000FFFC;
/// Bits 31:16, ro: The word's value.
pub const EERD_DATA: u32 = 0xFFFF0000;

/// EEWR, rw: Writes a word of the EEPROM. X540 and later.
pub const EEWR: u32 = 0x10018;
/// Bit 0, sc: Write DATA to the word at ADDR.
pub const EEWR_START: u32 = 0x00000001;
/// Bit 1, ro: The word is written.
pub const EEWR_DONE: u32 = 0x00000002;
/// Bits 15:2: Address of the word.
pub const EEWR_ADDR: u32 = 0x0000FFFC;
/// Bits 31:16: The word's value.
pub const EEWR_DATA: u32 = 0xFFFF0000;

/// FLA, rw: Flash access by software.
pub const FLA: u32 = 0x1001C;

/// EEMNGCTL, rw: EEPROM access by the firmware.
pub const EEMNGCTL: u32 = 0x10110;
/// Bits 14:0: Address of the word.
pub const EEMNGCTL_ADDR: u32 = 0x00007FFF;
/// Bit 15, sc: Start the access.
pub const EEMNGCTL_START: u32 = 0x00008000;
/// Bit 16: Write, not read.
pub const EEMNGCTL_WRITE: u32 = 0x00010000;
/// Bit 17: The EEPROM is busy.
pub const EEMNGCTL_EEBUSY: u32 = 0x00020000;
/// Bit 18: Port 0 has been configured from the EEPROM.
pub const EEMNGCTL_CFG_DONE0: u32 = 0x00040000;
/// Bit 19: Port 1 has been configured from the EEPROM.
pub const EEMNGCTL_CFG_DONE1: u32 = 0x00080000;
/// Bit 31, ro: The access has ended.
pub const EEMNGCTL_DONE: u32 = 0x80000000;

/// EEMNGDATA, rw: Data of EEMNGCTL's access.
pub const EEMNGDATA: u32 = 0x10114;

/// FLMNGCTL, rw: Flash access by the firmware.
pub const FLMNGCTL: u32 = 0x10118;

/// FLMNGDATA, rw: Data of FLMNGCTL's access.
pub const FLMNGDATA: u32 = 0x1011C;

/// FLMNGCNT, rw: Bytes of FLMNGCTL's access.
pub const FLMNGCNT: u32 = 0x10120;

/// FLOP, rw: Opcodes of the flash chip.
pub const FLOP: u32 = 0x1013C;

/// GRC, rw: Wake-up and manageability.
pub const GRC: u32 = 0x10200;
/// Bit 0, ro: Manageability is on.
pub const GRC_MNG_EN: u32 = 0x00000001;
/// Bit 1: Advanced power management wakes the system.
pub const GRC_APME: u32 = 0x00000002;

/// SRAMREL, rw: Release of the shadow memory by software. X540 and later.
pub const SRAMREL: u32 = 0x10210;

// ---- Semaphores and firmware ----

/// SWSM, rw: Software semaphore between drivers and firmware. Datasheet 8.2.3.4.9.
pub const SWSM: u32 = 0x10140;
/// Bit 0, rs: The driver that reads 0 has the semaphore. Writing 0 releases it.
pub const SWSM_SMBI: u32 = 0x00000001;
/// Bit 1: Software requests SW_FW_SYNC, and has it once the bit reads 1.
pub const SWSM_SWESMBI: u32 = 0x00000002;

/// FWSM, ro: Firmware semaphore and state. Datasheet 8.2.3.4.10.
pub const FWSM: u32 = 0x10148;
/// Bit 0: Firmware has SW_FW_SYNC.
pub const FWSM_FWSMBI: u32 = 0x00000001;
/// Bits 3:1: The firmware's mode.
pub const FWSM_FW_MODE: u32 = 0x0000000E;
/// Value of [`FWSM_FW_MODE`].
pub const FWSM_FW_MODE_NONE: u32 = 0x00000000;
/// Value of [`FWSM_FW_MODE`].
pub const FWSM_FW_MODE_PASS_THROUGH: u32 = 0x00000004;
/// Bit 6: Firmware has read the EEPROM again.
pub const FWSM_EEP_RELOAD: u32 = 0x00000040;
/// Bit 15: The fields of this register are valid.
pub const FWSM_FW_VAL: u32 = 0x00008000;
/// Bits 18:16: How often firmware has reset the device.
pub const FWSM_RESET_CNT: u32 = 0x00070000;
/// Bits 24:19: The firmware's error code; 0 without error.
pub const FWSM_EXT_ERR_IND: u32 = 0x01F80000;

/// SW_FW_SYNC, rw: Owners of the shared resources. Access it only while you hold SWSM.SWESMBI. Datasheet 8.2.3.4.11.
pub const SW_FW_SYNC: u32 = 0x10160;
/// GSSR, rw: Owners of the shared resources. Access it only while you hold SWSM.SWESMBI. Datasheet 8.2.3.4.11.
pub const GSSR: u32 = 0x10160;
/// Bit 0: Software has the EEPROM.
pub const SW_FW_SYNC_SW_EEP: u32 = 0x00000001;
/// Bit 1: Software has PHY 0, and the I2C wires.
pub const SW_FW_SYNC_SW_PHY0: u32 = 0x00000002;
/// Bit 2: Software has PHY 1, and the I2C wires.
pub const SW_FW_SYNC_SW_PHY1: u32 = 0x00000004;
/// Bit 3: Software has the shared registers, such as AUTOC.
pub const SW_FW_SYNC_SW_MAC_CSR: u32 = 0x00000008;
/// Bit 4: Software has the flash.
pub const SW_FW_SYNC_SW_FLASH: u32 = 0x00000010;
/// Bit 5: Firmware has the EEPROM.
pub const SW_FW_SYNC_FW_EEP: u32 = 0x00000020;
/// Bit 6: Firmware has PHY 0.
pub const SW_FW_SYNC_FW_PHY0: u32 = 0x00000040;
/// Bit 7: Firmware has PHY 1.
pub const SW_FW_SYNC_FW_PHY1: u32 = 0x00000080;
/// Bit 8: Firmware has the shared registers.
pub const SW_FW_SYNC_FW_MAC_CSR: u32 = 0x00000100;
/// Bit 9: Firmware has the flash.
pub const SW_FW_SYNC_FW_FLASH: u32 = 0x00000200;
/// Bits 12:11: Software has the I2C wires of PHY 0, 1. X550.
pub const SW_FW_SYNC_I2C: u32 = 0x00001800;
/// Bit 31, rs: The driver that reads 0 has this register. X540 and later.
pub const SW_FW_SYNC_REGSMP: u32 = 0x80000000;

/// FACTPS, ro: Active functions and their power states.
pub const FACTPS: u32 = 0x10150;
/// Bits 1:0: Power state of function 0.
pub const FACTPS_FUNC0_POWER_STATE: u32 = 0x00000003;
/// Bit 2: Port 0 is enabled.
pub const FACTPS_LAN0_VALID: u32 = 0x00000004;
/// Bits 7:6: Power state of function 1.
pub const FACTPS_FUNC1_POWER_STATE: u32 = 0x000000C0;
/// Bit 8: Port 1 is enabled.
pub const FACTPS_LAN1_VALID: u32 = 0x00000100;
/// Bit 29: The firmware's clock is off.
pub const FACTPS_MNGCG: u32 = 0x20000000;
/// Bit 30: The two ports are swapped.
pub const FACTPS_LFS: u32 = 0x40000000;
/// Bit 31: A power state has changed.
pub const FACTPS_PM_STATE_CHANGED: u32 = 0x80000000;

// ---- PCI Express ----

/// GCR, rw: PCI Express control.
pub const GCR: u32 = 0x11000;
/// Bits 15:12: Completion timeout, if the capability's version is 1.
pub const GCR_CMPL_TMOUT: u32 = 0x0000F000;
/// Value of [`GCR_CMPL_TMOUT`].
pub const GCR_CMPL_TMOUT_10MS: u32 = 0x00001000;
/// Bit 16: Repeat a request whose completion timed out.
pub const GCR_CMPL_TMOUT_RESEND: u32 = 0x00010000;
/// Bit 18, ro: The PCI Express capability has version 2.
pub const GCR_CAP_VER2: u32 = 0x00040000;

/// GCR_EXT, rw: Extended PCI Express control. Datasheet 8.2.3.4.12.
pub const GCR_EXT: u32 = 0x11050;
/// Bits 1:0: Number of virtual functions.
pub const GCR_EXT_VT_MODE: u32 = 0x00000003;
/// Value of [`GCR_EXT_VT_MODE`].
pub const GCR_EXT_VT_MODE_NONE: u32 = 0x00000000;
/// Value of [`GCR_EXT_VT_MODE`].
pub const GCR_EXT_VT_MODE_16: u32 = 0x00000001;
/// Value of [`GCR_EXT_VT_MODE`].
pub const GCR_EXT_VT_MODE_32: u32 = 0x00000002;
/// Value of [`GCR_EXT_VT_MODE`].
pub const GCR_EXT_VT_MODE_64: u32 = 0x00000003;
/// Bit 30: Flush internal buffers: hold for 20 us before resetting a stuck device.
pub const GCR_EXT_BUFFERS_CLEAR: u32 = 0x40000000;
/// Bit 31: Virtual functions use MSI-X.
pub const GCR_EXT_MSIX_EN: u32 = 0x80000000;

/// MREVID, ro: Revision of the mask.
pub const MREVID: u32 = 0x11064;

/// PICAUSE, w1c: Causes of PCI Express error interrupts.
pub const PICAUSE: u32 = 0x110B0;

/// PIENA, rw: PCI Express errors that raise an interrupt.
pub const PIENA: u32 = 0x110B8;

/// CIAA, rw: Address for reading configuration space through CIAD.
pub const CIAA: u32 = 0x11088;

/// CIAD, rw: Data of the access that CIAA names.
pub const CIAD: u32 = 0x1108C;

// ---- Flow control ----

/// PFCTOP, rw: EtherType and opcode of pause frames. Datasheet 8.2.3.3.1.
pub const PFCTOP: u32 = 0x03008;

/// FCTTV, rw: Pause times to request from the link partner, two traffic classes an entry. Datasheet 8.2.3.3.2.
/// `n` is below 4.
pub const fn FCTTV(n: u32) -> u32 {
    0x03200 + 0x4 * n
}
/// Entries of [`FCTTV`].
pub const FCTTV_COUNT: u32 = 4;
/// Bits 15:0: Pause time of traffic class 2n, in units of 512 bit times.
pub const FCTTV_TTV_EVEN: u32 = 0x0000FFFF;
/// Bits 31:16: Pause time of traffic class 2n + 1, in units of 512 bit times.
pub const FCTTV_TTV_ODD: u32 = 0xFFFF0000;

/// FCRTL, rw: Fill of a packet buffer at which the card sends XON. Datasheet 8.2.3.3.3.
/// `n` is below 8.
pub const fn FCRTL(n: u32) -> u32 {
    0x03220 + 0x4 * n
}
/// Entries of [`FCRTL`].
pub const FCRTL_COUNT: u32 = 8;
/// Bits 18:5: Low water mark, in units of 32 bytes.
pub const FCRTL_RTL: u32 = 0x0007FFE0;
/// Bit 31: Send such frames.
pub const FCRTL_XONE: u32 = 0x80000000;

/// FCRTH, rw: Fill of a packet buffer at which the card sends XOFF. Datasheet 8.2.3.3.4.
/// `n` is below 8.
pub const fn FCRTH(n: u32) -> u32 {
    0x03260 + 0x4 * n
}
/// Entries of [`FCRTH`].
pub const FCRTH_COUNT: u32 = 8;
/// Bits 18:5: High water mark, in units of 32 bytes.
pub const FCRTH_RTH: u32 = 0x0007FFE0;
/// Bit 31: Send such frames.
pub const FCRTH_FCEN: u32 = 0x80000000;

/// FCRTV, rw: Time at which the card repeats XOFF. Datasheet 8.2.3.3.5.
pub const FCRTV: u32 = 0x032A0;
/// Bits 15:0: Time left of the last pause, in units of 512 bit times.
pub const FCRTV_FC_REFRESH_TH: u32 = 0x0000FFFF;

/// TFCS, ro: Traffic classes that the link partner has paused. Datasheet 8.2.3.3.6.
pub const TFCS: u32 = 0x0CE00;
/// Bits 7:0: One bit a class: the class may send.
pub const TFCS_TC_XON: u32 = 0x000000FF;

/// FCCFG, rw: Sending of pause frames. Datasheet 8.2.3.3.7.
pub const FCCFG: u32 = 0x03D00;
/// Bits 4:3: Kind of pause frames that the card sends.
pub const FCCFG_TFCE: u32 = 0x00000018;
/// Value of [`FCCFG_TFCE`].
pub const FCCFG_TFCE_802_3X: u32 = 0x00000008;
/// Value of [`FCCFG_TFCE`].
pub const FCCFG_TFCE_PRIORITY: u32 = 0x00000010;

/// PXONRXCNT, rc: Priority XON frames received, by class.
/// `n` is below 8.
pub const fn PXONRXCNT(n: u32) -> u32 {
    0x04140 + 0x4 * n
}
/// Entries of [`PXONRXCNT`].
pub const PXONRXCNT_COUNT: u32 = 8;

/// PXOFFRXCNT, rc: Priority XOFF frames received, by class.
/// `n` is below 8.
pub const fn PXOFFRXCNT(n: u32) -> u32 {
    0x04160 + 0x4 * n
}
/// Entries of [`PXOFFRXCNT`].
pub const PXOFFRXCNT_COUNT: u32 = 8;

// ---- Interrupts ----

/// EICR, rc_w1c: Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16. Datasheet 8.2.3.5.1.
pub const EICR: u32 = 0x00800;
/// Bits 15:0: Queues, through IVAR.
pub const EICR_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EICR_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EICR_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EICR_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EICR_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EICR_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EICR_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EICR_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EICR_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EICR_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EICR_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EICR_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EICR_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EICR_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EICR_TCP_TIMER: u32 = 0x40000000;
/// Bit 31, ro: Any of bits 30:16 that is not masked.
pub const EICR_OTHER: u32 = 0x80000000;

/// EICS, w1s: Raises causes. A read returns EICR and clears nothing. Datasheet 8.2.3.5.2.
pub const EICS: u32 = 0x00808;
/// Bits 15:0: Queues, through IVAR.
pub const EICS_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EICS_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EICS_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EICS_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EICS_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EICS_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EICS_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EICS_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EICS_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EICS_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EICS_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EICS_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EICS_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EICS_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EICS_TCP_TIMER: u32 = 0x40000000;
/// Bit 31: Any of bits 30:16 that is not masked.
pub const EICS_OTHER: u32 = 0x80000000;

/// EIMS, w1s: Enables causes. A read returns the enabled causes. Datasheet 8.2.3.5.3.
pub const EIMS: u32 = 0x00880;
/// Bits 15:0: Queues, through IVAR.
pub const EIMS_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EIMS_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EIMS_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EIMS_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EIMS_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EIMS_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EIMS_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EIMS_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EIMS_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EIMS_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EIMS_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EIMS_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EIMS_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EIMS_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EIMS_TCP_TIMER: u32 = 0x40000000;
/// Bit 31: Any of bits 30:16 that is not masked.
pub const EIMS_OTHER: u32 = 0x80000000;

/// EIMC, w1c: Disables causes. Datasheet 8.2.3.5.4.
pub const EIMC: u32 = 0x00888;
/// Bits 15:0: Queues, through IVAR.
pub const EIMC_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EIMC_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EIMC_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EIMC_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EIMC_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EIMC_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EIMC_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EIMC_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EIMC_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EIMC_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EIMC_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EIMC_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EIMC_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EIMC_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EIMC_TCP_TIMER: u32 = 0x40000000;
/// Bit 31: Any of bits 30:16 that is not masked.
pub const EIMC_OTHER: u32 = 0x80000000;

/// EIAC, rw: Causes that their MSI-X message clears. Datasheet 8.2.3.5.5.
pub const EIAC: u32 = 0x00810;
/// Bits 15:0: Queues, through IVAR.
pub const EIAC_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EIAC_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EIAC_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EIAC_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EIAC_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EIAC_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EIAC_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EIAC_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EIAC_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EIAC_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EIAC_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EIAC_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EIAC_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EIAC_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EIAC_TCP_TIMER: u32 = 0x40000000;
/// Bit 31: Any of bits 30:16 that is not masked.
pub const EIAC_OTHER: u32 = 0x80000000;

/// EIAM, rw: Causes that are disabled when they raise an interrupt. Datasheet 8.2.3.5.6.
pub const EIAM: u32 = 0x00890;
/// Bits 15:0: Queues, through IVAR.
pub const EIAM_RTX_QUEUE: u32 = 0x0000FFFF;
/// Bit 16: Flow director is out of room.
pub const EIAM_FLOW_DIR: u32 = 0x00010000;
/// Bit 17: A packet buffer overflowed.
pub const EIAM_RX_MISS: u32 = 0x00020000;
/// Bit 18: PCI Express error.
pub const EIAM_PCI: u32 = 0x00040000;
/// Bit 19: A virtual function wrote to its mailbox.
pub const EIAM_MAILBOX: u32 = 0x00080000;
/// Bit 20: The link's status changed.
pub const EIAM_LSC: u32 = 0x00100000;
/// Bit 21: LinkSec's packet number runs out.
pub const EIAM_LINKSEC: u32 = 0x00200000;
/// Bit 22: The firmware has a message.
pub const EIAM_MNG: u32 = 0x00400000;
/// Bit 23: The card is too hot. X540 and later; reserved on the 82599.
pub const EIAM_TS: u32 = 0x00800000;
/// Bit 24: Pin SDP0.
pub const EIAM_GPI_SDP0: u32 = 0x01000000;
/// Bit 25: Pin SDP1.
pub const EIAM_GPI_SDP1: u32 = 0x02000000;
/// Bit 26: Pin SDP2.
pub const EIAM_GPI_SDP2: u32 = 0x04000000;
/// Bit 27: Pin SDP3.
pub const EIAM_GPI_SDP3: u32 = 0x08000000;
/// Bit 28: Uncorrectable memory error.
pub const EIAM_ECC: u32 = 0x10000000;
/// Bit 30: TCPTIMER ran out.
pub const EIAM_TCP_TIMER: u32 = 0x40000000;
/// Bit 31: Any of bits 30:16 that is not masked.
pub const EIAM_OTHER: u32 = 0x80000000;

/// EICS_EX, w1s: EICS for queue vectors 0 to 63. Datasheet 8.2.3.5.7.
/// `n` is below 2.
pub const fn EICS_EX(n: u32) -> u32 {
    0x00A90 + 0x4 * n
}
/// Entries of [`EICS_EX`].
pub const EICS_EX_COUNT: u32 = 2;

/// EIMS_EX, w1s: EIMS for queue vectors 0 to 63. Datasheet 8.2.3.5.8.
/// `n` is below 2.
pub const fn EIMS_EX(n: u32) -> u32 {
    0x00AA0 + 0x4 * n
}
/// Entries of [`EIMS_EX`].
pub const EIMS_EX_COUNT: u32 = 2;

/// EIMC_EX, w1c: EIMC for queue vectors 0 to 63. Datasheet 8.2.3.5.9.
/// `n` is below 2.
pub const fn EIMC_EX(n: u32) -> u32 {
    0x00AB0 + 0x4 * n
}
/// Entries of [`EIMC_EX`].
pub const EIMC_EX_COUNT: u32 = 2;

/// EIAM_EX, rw: EIAM for queue vectors 0 to 63. Datasheet 8.2.3.5.10.
/// `n` is below 2.
pub const fn EIAM_EX(n: u32) -> u32 {
    0x00AD0 + 0x4 * n
}
/// Entries of [`EIAM_EX`].
pub const EIAM_EX_COUNT: u32 = 2;

/// EITRSEL, rw: Throttles that belong to virtual functions. Datasheet 8.2.3.5.11.
pub const EITRSEL: u32 = 0x00894;

/// EITR, rw: Interrupt throttle of a vector. Datasheet 8.2.3.5.12.
/// `n` is below 129.
pub const fn EITR(n: u32) -> u32 {
    if n < 24 {
        0x00820 + 0x4 * n
    } else {
        0x12300 + 0x4 * (n - 24)
    }
}
/// Entries of [`EITR`].
pub const EITR_COUNT: u32 = 129;
/// Bits 11:3: Least time between interrupts, in units of 2 us at 10 Gbit/s.
pub const EITR_ITR_INTERVAL: u32 = 0x00000FF8;
/// Bit 15: Throttle low latency interrupts too.
pub const EITR_LLI_MODERATION: u32 = 0x00008000;
/// Bits 20:16: Low latency interrupts left.
pub const EITR_LLI_CREDIT: u32 = 0x001F0000;
/// Bits 27:21: Time left.
pub const EITR_ITR_COUNTER: u32 = 0x0FE00000;
/// Bit 31: This write leaves the counters alone.
pub const EITR_CNT_WDIS: u32 = 0x80000000;

/// IVAR, rw: Vectors of the queues 2n and 2n + 1. Datasheet 8.2.3.5.16.
/// `n` is below 64.
pub const fn IVAR(n: u32) -> u32 {
    0x00900 + 0x4 * n
}
/// Entries of [`IVAR`].
pub const IVAR_COUNT: u32 = 64;
/// Bits 5:0: Vector of RX queue 2n.
pub const IVAR_RX_EVEN: u32 = 0x0000003F;
/// Bit 7: The vector is valid.
pub const IVAR_RX_EVEN_VALID: u32 = 0x00000080;
/// Bits 13:8: Vector of TX queue 2n.
pub const IVAR_TX_EVEN: u32 = 0x00003F00;
/// Bit 15: The vector is valid.
pub const IVAR_TX_EVEN_VALID: u32 = 0x00008000;
/// Bits 21:16: Vector of RX queue 2n + 1.
pub const IVAR_RX_ODD: u32 = 0x003F0000;
/// Bit 23: The vector is valid.
pub const IVAR_RX_ODD_VALID: u32 = 0x00800000;
/// Bits 29:24: Vector of TX queue 2n + 1.
pub const IVAR_TX_ODD: u32 = 0x3F000000;
/// Bit 31: The vector is valid.
pub const IVAR_TX_ODD_VALID: u32 = 0x80000000;

/// IVAR_MISC, rw: Vectors of the other causes. Datasheet 8.2.3.5.17.
pub const IVAR_MISC: u32 = 0x00A00;
/// Bits 6:0: Vector of TCPTIMER.
pub const IVAR_MISC_TCP_TIMER: u32 = 0x0000007F;
/// Bit 7: The vector is valid.
pub const IVAR_MISC_TCP_TIMER_VALID: u32 = 0x00000080;
/// Bits 14:8: Vector of all other causes.
pub const IVAR_MISC_OTHER: u32 = 0x00007F00;
/// Bit 15: The vector is valid.
pub const IVAR_MISC_OTHER_VALID: u32 = 0x00008000;

/// GPIE, rw: Interrupt modes. Datasheet 8.2.3.5.18.
pub const GPIE: u32 = 0x00898;
/// Bit 0: Pin SDP0 may raise an interrupt.
pub const GPIE_SDP0_GPIEN: u32 = 0x00000001;
/// Bit 1: Pin SDP1 may raise an interrupt.
pub const GPIE_SDP1_GPIEN: u32 = 0x00000002;
/// Bit 2: Pin SDP2 may raise an interrupt.
pub const GPIE_SDP2_GPIEN: u32 = 0x00000004;
/// Bit 3: Pin SDP3 may raise an interrupt.
pub const GPIE_SDP3_GPIEN: u32 = 0x00000008;
/// Bit 4: Use MSI-X with several vectors.
pub const GPIE_MSIX_MODE: u32 = 0x00000010;
/// Bit 5: A read of EICR clears only what may be cleared in MSI-X mode.
pub const GPIE_OCD: u32 = 0x00000020;
/// Bit 6: A write to EICS raises interrupts at once, without throttling.
pub const GPIE_EIMEN: u32 = 0x00000040;
/// Bits 10:7: Credits for low latency interrupts come this often.
pub const GPIE_LLI_INTERVAL: u32 = 0x00000780;
/// Bits 13:11: How much longer coalescing may hold a packet.
pub const GPIE_RSC_DELAY: u32 = 0x00003800;
/// Bits 15:14: Number of virtual functions.
pub const GPIE_VT_MODE: u32 = 0x0000C000;
/// Bit 30: EIAM also applies in MSI-X mode.
pub const GPIE_EIAME: u32 = 0x40000000;
/// Bit 31: Pending bits are cleared as vectors are enabled.
pub const GPIE_PBA_SUPPORT: u32 = 0x80000000;

/// PBACL, w1c: Clears pending bits of MSI-X vectors.
/// Also at 0x11068 (entries 0..1).
/// `n` is below 8.
pub const fn PBACL(n: u32) -> u32 {
    0x110C0 + 0x4 * n
}
/// Entries of [`PBACL`].
pub const PBACL_COUNT: u32 = 8;

// ---- Receive: filters ----

/// FCTRL, rw: Filter control. Change it only while RXCTRL.RXEN is 0. Datasheet 8.2.3.7.1.
pub const FCTRL: u32 = 0x05080;
/// Bit 1: Store packets with errors too.
pub const FCTRL_SBP: u32 = 0x00000002;
/// Bit 8: Accept all multicast packets.
pub const FCTRL_MPE: u32 = 0x00000100;
/// Bit 9: Accept all unicast packets.
pub const FCTRL_UPE: u32 = 0x00000200;
/// Bit 10: Accept broadcast packets.
pub const FCTRL_BAM: u32 = 0x00000400;
/// Bit 12: Pass MAC control frames on.
pub const FCTRL_PMCF: u32 = 0x00001000;
/// Bit 13: Discard pause frames all the same.
pub const FCTRL_DPF: u32 = 0x00002000;

/// VLNCTRL, rw: VLAN filter control. Datasheet 8.2.3.7.2.
pub const VLNCTRL: u32 = 0x05088;
/// Bits 15:0: EtherType of VLAN tags.
pub const VLNCTRL_VET: u32 = 0x0000FFFF;
/// Bit 28: Value of CFI that passes the filter.
pub const VLNCTRL_CFI: u32 = 0x10000000;
/// Bit 29: Filter by CFI.
pub const VLNCTRL_CFIEN: u32 = 0x20000000;
/// Bit 30: Filter by VFTA.
pub const VLNCTRL_VFE: u32 = 0x40000000;
/// Bit 31: Strip VLAN tags. 82598 only; on the 82599 see RXDCTL.VME.
pub const VLNCTRL_VME: u32 = 0x80000000;

/// MCSTCTRL, rw: Multicast filter control. Datasheet 8.2.3.7.3.
pub const MCSTCTRL: u32 = 0x05090;
/// Bits 1:0: Choice of the address bits that index MTA.
pub const MCSTCTRL_MO: u32 = 0x00000003;
/// Value of [`MCSTCTRL_MO`].
pub const MCSTCTRL_MO_47_36: u32 = 0x00000000;
/// Value of [`MCSTCTRL_MO`].
pub const MCSTCTRL_MO_46_35: u32 = 0x00000001;
/// Value of [`MCSTCTRL_MO`].
pub const MCSTCTRL_MO_45_34: u32 = 0x00000002;
/// Value of [`MCSTCTRL_MO`].
pub const MCSTCTRL_MO_43_32: u32 = 0x00000003;
/// Bit 2: Filter by MTA.
pub const MCSTCTRL_MFE: u32 = 0x00000004;

/// PSRTYPE, rw: Places where a pool's packets are split, and the pool's RSS queues. Datasheet 8.2.3.7.4.
/// Also at 0x05480 + 0x4 * n (entries 0..16).
/// `n` is below 64.
pub const fn PSRTYPE(n: u32) -> u32 {
    0x0EA00 + 0x4 * n
}
/// Entries of [`PSRTYPE`].
pub const PSRTYPE_COUNT: u32 = 64;
/// Bit 4: After the TCP header.
pub const PSRTYPE_TCPHDR: u32 = 0x00000010;
/// Bit 5: After the UDP header.
pub const PSRTYPE_UDPHDR: u32 = 0x00000020;
/// Bit 8: After the IPv4 header.
pub const PSRTYPE_IPV4HDR: u32 = 0x00000100;
/// Bit 9: After the IPv6 header.
pub const PSRTYPE_IPV6HDR: u32 = 0x00000200;
/// Bit 12: After the Ethernet header.
pub const PSRTYPE_L2HDR: u32 = 0x00001000;
/// Bits 31:29: RSS queues of the pool: 2 to the power of this.
pub const PSRTYPE_RQPL: u32 = 0xE0000000;

/// RXCSUM, rw: Receive checksums. Datasheet 8.2.3.7.5.
pub const RXCSUM: u32 = 0x05000;
/// Bit 12: Calculate the checksum of UDP fragments.
pub const RXCSUM_IPPCSE: u32 = 0x00001000;
/// Bit 13: Report the RSS hash instead of the fragment checksum.
pub const RXCSUM_PCSD: u32 = 0x00002000;

/// RFCTL, rw: Receive filter control. Datasheet 8.2.3.7.6.
pub const RFCTL: u32 = 0x05008;
/// Bit 0: Disable the iSCSI filter.
pub const RFCTL_ISCSI_DIS: u32 = 0x00000001;
/// Bit 5: Disable receive coalescing.
pub const RFCTL_RSC_DIS: u32 = 0x00000020;
/// Bit 6: Disable the filter for NFS writes.
pub const RFCTL_NFSW_DIS: u32 = 0x00000040;
/// Bit 7: Disable the filter for NFS reads.
pub const RFCTL_NFSR_DIS: u32 = 0x00000080;
/// Bits 9:8: Version of NFS.
pub const RFCTL_NFS_VER: u32 = 0x00000300;
/// Bit 10: Disable the IPv6 filter.
pub const RFCTL_IPV6_DIS: u32 = 0x00000400;
/// Bit 14: Do not split IP fragments.
pub const RFCTL_IPFRSP_DIS: u32 = 0x00004000;

/// MTA, rw: Accepted multicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.7.7.
/// `n` is below 128.
pub const fn MTA(n: u32) -> u32 {
    0x05200 + 0x4 * n
}
/// Entries of [`MTA`].
pub const MTA_COUNT: u32 = 128;

/// RAL, rw: A MAC address, first four bytes; the first is lowest. Datasheet 8.2.3.7.8.
/// Also at 0x05400 + 0x8 * n (entries 0..16).
/// `n` is below 128.
pub const fn RAL(n: u32) -> u32 {
    0x0A200 + 0x8 * n
}
/// Entries of [`RAL`].
pub const RAL_COUNT: u32 = 128;

/// RAH, rw: A MAC address, last two bytes. Datasheet 8.2.3.7.9.
/// Also at 0x05404 + 0x8 * n (entries 0..16).
/// `n` is below 128.
pub const fn RAH(n: u32) -> u32 {
    0x0A204 + 0x8 * n
}
/// Entries of [`RAH`].
pub const RAH_COUNT: u32 = 128;
/// Bits 15:0: The bytes.
pub const RAH_ADDRESS: u32 = 0x0000FFFF;
/// Bit 31: The address is valid: the port accepts its packets.
pub const RAH_AV: u32 = 0x80000000;

/// MPSAR, rw: Pools of a MAC address; 2n and 2n + 1 are those of RAL(n). Datasheet 8.2.3.7.10.
/// `n` is below 256.
pub const fn MPSAR(n: u32) -> u32 {
    0x0A600 + 0x4 * n
}
/// Entries of [`MPSAR`].
pub const MPSAR_COUNT: u32 = 256;

/// VFTA, rw: Accepted VLANs: 4096 bits. Datasheet 8.2.3.7.11.
/// `n` is below 128.
pub const fn VFTA(n: u32) -> u32 {
    0x0A000 + 0x4 * n
}
/// Entries of [`VFTA`].
pub const VFTA_COUNT: u32 = 128;

/// PFUTA, rw: Accepted unicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.27.17.
/// `n` is below 128.
pub const fn PFUTA(n: u32) -> u32 {
    0x0F400 + 0x4 * n
}
/// Entries of [`PFUTA`].
pub const PFUTA_COUNT: u32 = 128;

// ---- Receive: queues and buffers ----

/// RDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.8.1.
/// `n` is below 128.
pub const fn RDBAL(n: u32) -> u32 {
    if n < 64 {
        0x01000 + 0x40 * n
    } else {
        0x0D000 + 0x40 * (n - 64)
    }
}
/// Entries of [`RDBAL`].
pub const RDBAL_COUNT: u32 = 128;

/// RDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.8.2.
/// `n` is below 128.
pub const fn RDBAH(n: u32) -> u32 {
    if n < 64 {
        0x01004 + 0x40 * n
    } else {
        0x0D004 + 0x40 * (n - 64)
    }
}
/// Entries of [`RDBAH`].
pub const RDBAH_COUNT: u32 = 128;

/// RDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.8.3.
/// `n` is below 128.
pub const fn RDLEN(n: u32) -> u32 {
    if n < 64 {
        0x01008 + 0x40 * n
    } else {
        0x0D008 + 0x40 * (n - 64)
    }
}
/// Entries of [`RDLEN`].
pub const RDLEN_COUNT: u32 = 128;

/// RDH, rw: Head: the descriptor that hardware fills next. Write it only before enabling, as 0. Datasheet 8.2.3.8.4.
/// `n` is below 128.
pub const fn RDH(n: u32) -> u32 {
    if n < 64 {
        0x01010 + 0x40 * n
    } else {
        0x0D010 + 0x40 * (n - 64)
    }
}
/// Entries of [`RDH`].
pub const RDH_COUNT: u32 = 128;
/// Bits 15:0: Index in the ring.
pub const RDH_RDH: u32 = 0x0000FFFF;

/// RDT, rw: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.8.5.
/// `n` is below 128.
pub const fn RDT(n: u32) -> u32 {
    if n < 64 {
        0x01018 + 0x40 * n
    } else {
        0x0D018 + 0x40 * (n - 64)
    }
}
/// Entries of [`RDT`].
pub const RDT_COUNT: u32 = 128;
/// Bits 15:0: Index in the ring.
pub const RDT_RDT: u32 = 0x0000FFFF;

/// RXDCTL, rw: Receive queue control. Datasheet 8.2.3.8.6.
/// `n` is below 128.
pub const fn RXDCTL(n: u32) -> u32 {
    if n < 64 {
        0x01028 + 0x40 * n
    } else {
        0x0D028 + 0x40 * (n - 64)
    }
}
/// Entries of [`RXDCTL`].
pub const RXDCTL_COUNT: u32 = 128;
/// Bits 13:0: Longest packet of the queue. X540 and later.
pub const RXDCTL_RLPML: u32 = 0x00003FFF;
/// Bit 15: RLPML applies. X540 and later.
pub const RXDCTL_RLPML_EN: u32 = 0x00008000;
/// Bit 25: Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped.
pub const RXDCTL_ENABLE: u32 = 0x02000000;
/// Bit 30: Strip VLAN tags.
pub const RXDCTL_VME: u32 = 0x40000000;

/// SRRCTL, rw: Buffers of a receive queue. Datasheet 8.2.3.8.7.
/// Also at 0x02100 + 0x4 * n (entries 0..16).
/// `n` is below 128.
pub const fn SRRCTL(n: u32) -> u32 {
    if n < 64 {
        0x01014 + 0x40 * n
    } else {
        0x0D014 + 0x40 * (n - 64)
    }
}
/// Entries of [`SRRCTL`].
pub const SRRCTL_COUNT: u32 = 128;
/// Bits 4:0: Size of a packet buffer, in KiB.
pub const SRRCTL_BSIZEPACKET: u32 = 0x0000001F;
/// Bits 13:8: Size of a header buffer, in units of 64 bytes.
pub const SRRCTL_BSIZEHEADER: u32 = 0x00003F00;
/// Bits 24:22: Descriptors left at which to raise an interrupt, in units of 64.
pub const SRRCTL_RDMTS: u32 = 0x01C00000;
/// Bits 27:25: Format of the descriptors.
pub const SRRCTL_DESCTYPE: u32 = 0x0E000000;
/// Value of [`SRRCTL_DESCTYPE`].
pub const SRRCTL_DESCTYPE_LEGACY: u32 = 0x00000000;
/// Value of [`SRRCTL_DESCTYPE`].
pub const SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER: u32 = 0x02000000;
/// Value of [`SRRCTL_DESCTYPE`].
pub const SRRCTL_DESCTYPE_HEADER_SPLIT: u32 = 0x04000000;
/// Value of [`SRRCTL_DESCTYPE`].
pub const SRRCTL_DESCTYPE_HEADER_SPLIT_ALWAYS: u32 = 0x0A000000;
/// Bit 28: Drop packets without descriptors. Else they wait and block all queues.
pub const SRRCTL_DROP_EN: u32 = 0x10000000;

/// DCA_RXCTRL, rw: How a receive queue accesses memory. Datasheet 8.2.3.11.1.
/// Also at 0x02200 + 0x4 * n (entries 0..16).
/// `n` is below 128.
pub const fn DCA_RXCTRL(n: u32) -> u32 {
    if n < 64 {
        0x0100C + 0x40 * n
    } else {
        0x0D00C + 0x40 * (n - 64)
    }
}
/// Entries of [`DCA_RXCTRL`].
pub const DCA_RXCTRL_COUNT: u32 = 128;
/// Bit 5: Hint the descriptors into a cache.
pub const DCA_RXCTRL_DESC_DCA_EN: u32 = 0x00000020;
/// Bit 6: Hint the headers into a cache.
pub const DCA_RXCTRL_HEAD_DCA_EN: u32 = 0x00000040;
/// Bit 7: Hint the packets into a cache.
pub const DCA_RXCTRL_DATA_DCA_EN: u32 = 0x00000080;
/// Bit 9: Read descriptors with relaxed ordering.
pub const DCA_RXCTRL_DESC_RRO_EN: u32 = 0x00000200;
/// Bit 11, ro: Write descriptors with relaxed ordering. Always leave it 0.
pub const DCA_RXCTRL_DESC_WRO_EN: u32 = 0x00000800;
/// Bit 12: Reads 1 after reset. Software must clear it.
pub const DCA_RXCTRL_RESERVED_12: u32 = 0x00001000;
/// Bit 13: Write packets with relaxed ordering.
pub const DCA_RXCTRL_DATA_WRO_EN: u32 = 0x00002000;
/// Bit 15: Write headers with relaxed ordering.
pub const DCA_RXCTRL_HEAD_WRO_EN: u32 = 0x00008000;
/// Bits 31:24: Processor whose cache gets the hints.
pub const DCA_RXCTRL_CPUID: u32 = 0xFF000000;

/// RSCCTL, rw: Receive coalescing of a queue. Datasheet 8.2.3.8.13.
/// `n` is below 128.
pub const fn RSCCTL(n: u32) -> u32 {
    if n < 64 {
        0x0102C + 0x40 * n
    } else {
        0x0D02C + 0x40 * (n - 64)
    }
}
/// Entries of [`RSCCTL`].
pub const RSCCTL_COUNT: u32 = 128;
/// Bit 0: Coalesce packets.
pub const RSCCTL_RSCEN: u32 = 0x00000001;
/// Bits 3:2: Descriptors that one coalesced packet may take.
pub const RSCCTL_MAXDESC: u32 = 0x0000000C;
/// Value of [`RSCCTL_MAXDESC`].
pub const RSCCTL_MAXDESC_1: u32 = 0x00000000;
/// Value of [`RSCCTL_MAXDESC`].
pub const RSCCTL_MAXDESC_4: u32 = 0x00000004;
/// Value of [`RSCCTL_MAXDESC`].
pub const RSCCTL_MAXDESC_8: u32 = 0x00000008;
/// Value of [`RSCCTL_MAXDESC`].
pub const RSCCTL_MAXDESC_16: u32 = 0x0000000C;

/// RDRXCTL, rw: Receive DMA control. Datasheet 8.2.3.8.8.
pub const RDRXCTL: u32 = 0x02F00;
/// Bit 1: Strip the CRC. It must equal HLREG0.RXCRCSTRP.
pub const RDRXCTL_CRCSTRIP: u32 = 0x00000002;
/// Bit 3, ro: Receive DMA is ready after a reset.
pub const RDRXCTL_DMAIDONE: u32 = 0x00000008;
/// Bit 16: Disable coalescing of all queues.
pub const RDRXCTL_AGGDIS: u32 = 0x00010000;
/// Bits 21:17: 8 after reset. Software must set it to 0.
pub const RDRXCTL_RSCFRSTSIZE: u32 = 0x003E0000;
/// Bit 23: A low latency interrupt does not end coalescing.
pub const RDRXCTL_RSCLLIDIS: u32 = 0x00800000;
/// Bit 25: 0 after reset. Software must set it to 1.
pub const RDRXCTL_RSCACKC: u32 = 0x02000000;
/// Bit 26: 0 after reset. Software must set it to 1.
pub const RDRXCTL_FCOE_WRFIX: u32 = 0x04000000;

/// RXPBSIZE, rw: Size of a receive packet buffer. The sum is 512 KiB: to use one, clear the others. Datasheet 8.2.3.8.9.
/// `n` is below 8.
pub const fn RXPBSIZE(n: u32) -> u32 {
    0x03C00 + 0x4 * n
}
/// Entries of [`RXPBSIZE`].
pub const RXPBSIZE_COUNT: u32 = 8;
/// Bits 19:10: Size in KiB.
pub const RXPBSIZE_SIZE: u32 = 0x000FFC00;
/// Value of [`RXPBSIZE_SIZE`].
pub const RXPBSIZE_SIZE_128KB: u32 = 0x00020000;
/// Value of [`RXPBSIZE_SIZE`].
pub const RXPBSIZE_SIZE_512KB: u32 = 0x00080000;

/// RXCTRL, rw: Receive control. Datasheet 8.2.3.8.10.
pub const RXCTRL: u32 = 0x03000;
/// Bit 0: Enable reception.
pub const RXCTRL_RXEN: u32 = 0x00000001;

/// RSCDBU, rw: Receive coalescing. Datasheet 8.2.3.8.12.
pub const RSCDBU: u32 = 0x03028;
/// Bits 6:0: Do not coalesce packets with less payload than this, in units of 16 bytes.
pub const RSCDBU_RSCSMALDIS: u32 = 0x0000007F;
/// Bit 7: Do not coalesce pure acknowledgements.
pub const RSCDBU_RSCACKDIS: u32 = 0x00000080;

// ---- Receive side scaling ----

/// MRQC, rw: Multiple receive queues. Datasheet 8.2.3.7.12.
/// Also at 0x05818.
pub const MRQC: u32 = 0x0EC80;
/// Bits 3:0: Way to choose the queue of a packet.
pub const MRQC_MRQE: u32 = 0x0000000F;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_OFF: u32 = 0x00000000;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_RSS: u32 = 0x00000001;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_DCB_8: u32 = 0x00000002;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_DCB_4: u32 = 0x00000003;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_RSS_DCB_8: u32 = 0x00000004;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_RSS_DCB_4: u32 = 0x00000005;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_VMDQ: u32 = 0x00000008;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_VMDQ_RSS_32: u32 = 0x0000000A;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_VMDQ_RSS_64: u32 = 0x0000000B;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_VMDQ_DCB_16: u32 = 0x0000000C;
/// Value of [`MRQC_MRQE`].
pub const MRQC_MRQE_VMDQ_DCB_32: u32 = 0x0000000D;
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

/// RQTC, rw: RSS queues of each traffic class. Datasheet 8.2.3.7.13.
pub const RQTC: u32 = 0x0EC70;

/// RSSRK, rw: The RSS hash's key, 40 bytes; the first is lowest. Datasheet 8.2.3.7.14.
/// Also at 0x05c80 + 0x4 * n (entries 0..10).
/// `n` is below 10.
pub const fn RSSRK(n: u32) -> u32 {
    0x0EB80 + 0x4 * n
}
/// Entries of [`RSSRK`].
pub const RSSRK_COUNT: u32 = 10;

/// RETA, rw: RSS table: queues by the hash's low 7 bits, 4 entries a register. Datasheet 8.2.3.7.15.
/// Also at 0x05c00 + 0x4 * n (entries 0..32).
/// `n` is below 32.
pub const fn RETA(n: u32) -> u32 {
    0x0EB00 + 0x4 * n
}
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

/// ERETA, rw: X550: more of the RSS table, for hashes whose low 9 bits are 128 or above.
/// `n` is below 96.
pub const fn ERETA(n: u32) -> u32 {
    0x0EE80 + 0x4 * n
}
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
/// Bit 1: Header buffers need no snooping.
pub const DMATXCTL_NS: u32 = 0x00000002;
/// Bit 3: Double VLAN mode.
pub const DMATXCTL_GDV: u32 = 0x00000008;
/// Bits 31:16: EtherType of VLAN tags.
pub const DMATXCTL_VT: u32 = 0xFFFF0000;

/// DTXTCPFLGL, rw: TCP flags of the first and middle segments. Datasheet 8.2.3.9.3.
pub const DTXTCPFLGL: u32 = 0x04A88;
/// Bits 11:0: Flags that the first segment keeps.
pub const DTXTCPFLGL_FIRST: u32 = 0x00000FFF;
/// Bits 27:16: Flags that the segments between keep.
pub const DTXTCPFLGL_MIDDLE: u32 = 0x0FFF0000;

/// DTXTCPFLGH, rw: TCP flags of the last segment. Datasheet 8.2.3.9.4.
pub const DTXTCPFLGH: u32 = 0x04A8C;
/// Bits 11:0: Flags that the last segment keeps.
pub const DTXTCPFLGH_LAST: u32 = 0x00000FFF;

/// TDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.9.5.
/// `n` is below 128.
pub const fn TDBAL(n: u32) -> u32 {
    0x06000 + 0x40 * n
}
/// Entries of [`TDBAL`].
pub const TDBAL_COUNT: u32 = 128;

/// TDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.9.6.
/// `n` is below 128.
pub const fn TDBAH(n: u32) -> u32 {
    0x06004 + 0x40 * n
}
/// Entries of [`TDBAH`].
pub const TDBAH_COUNT: u32 = 128;

/// TDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.9.7.
/// `n` is below 128.
pub const fn TDLEN(n: u32) -> u32 {
    0x06008 + 0x40 * n
}
/// Entries of [`TDLEN`].
pub const TDLEN_COUNT: u32 = 128;

/// DCA_TXCTRL, rw: How a transmit queue accesses memory. Datasheet 8.2.3.11.2.
/// `n` is below 128.
pub const fn DCA_TXCTRL(n: u32) -> u32 {
    0x0600C + 0x40 * n
}
/// Entries of [`DCA_TXCTRL`].
pub const DCA_TXCTRL_COUNT: u32 = 128;
/// Bit 5: Hint the descriptors into a cache.
pub const DCA_TXCTRL_DESC_DCA_EN: u32 = 0x00000020;
/// Bit 9: Read descriptors with relaxed ordering.
pub const DCA_TXCTRL_DESC_RRO_EN: u32 = 0x00000200;
/// Bit 11: Write descriptors, or the head, with relaxed ordering.
pub const DCA_TXCTRL_DESC_WRO_EN: u32 = 0x00000800;
/// Bit 13: Read packets with relaxed ordering.
pub const DCA_TXCTRL_DATA_RRO_EN: u32 = 0x00002000;
/// Bits 31:24: Processor whose cache gets the hints.
pub const DCA_TXCTRL_CPUID: u32 = 0xFF000000;

/// TDH, rw: Head: the descriptor that hardware reads next. Write it only before enabling, as 0. Datasheet 8.2.3.9.8.
/// `n` is below 128.
pub const fn TDH(n: u32) -> u32 {
    0x06010 + 0x40 * n
}
/// Entries of [`TDH`].
pub const TDH_COUNT: u32 = 128;
/// Bits 15:0: Index in the ring.
pub const TDH_TDH: u32 = 0x0000FFFF;

/// TDT, rw: Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.9.9.
/// `n` is below 128.
pub const fn TDT(n: u32) -> u32 {
    0x06018 + 0x40 * n
}
/// Entries of [`TDT`].
pub const TDT_COUNT: u32 = 128;
/// Bits 15:0: Index in the ring.
pub const TDT_TDT: u32 = 0x0000FFFF;

/// TXDCTL, rw: Transmit queue control. Datasheet 8.2.3.9.10.
/// `n` is below 128.
pub const fn TXDCTL(n: u32) -> u32 {
    0x06028 + 0x40 * n
}
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

/// TDWBAL, rw: IOVA of the head write-back, low half. It replaces the descriptor write-back. Datasheet 8.2.3.9.11.
/// `n` is below 128.
pub const fn TDWBAL(n: u32) -> u32 {
    0x06038 + 0x40 * n
}
/// Entries of [`TDWBAL`].
pub const TDWBAL_COUNT: u32 = 128;
/// Bit 0: Enable the head write-back.
pub const TDWBAL_HEAD_WB_EN: u32 = 0x00000001;
/// Bits 31:2: The address.
pub const TDWBAL_HEADWB_LOW: u32 = 0xFFFFFFFC;

/// TDWBAH, rw: IOVA of the head write-back, high half. Datasheet 8.2.3.9.12.
/// `n` is below 128.
pub const fn TDWBAH(n: u32) -> u32 {
    0x0603C + 0x40 * n
}
/// Entries of [`TDWBAH`].
pub const TDWBAH_COUNT: u32 = 128;

/// TXPBSIZE, rw: Size of a transmit packet buffer. The sum is 160 KiB: to use one, clear the others. Datasheet 8.2.3.9.13.
/// `n` is below 8.
pub const fn TXPBSIZE(n: u32) -> u32 {
    0x0CC00 + 0x4 * n
}
/// Entries of [`TXPBSIZE`].
pub const TXPBSIZE_COUNT: u32 = 8;
/// Bits 19:10: Size in KiB.
pub const TXPBSIZE_SIZE: u32 = 0x000FFC00;
/// Value of [`TXPBSIZE_SIZE`].
pub const TXPBSIZE_SIZE_40KB: u32 = 0x0000A000;
/// Value of [`TXPBSIZE_SIZE`].
pub const TXPBSIZE_SIZE_160KB: u32 = 0x00028000;

/// MNGTXMAP, rw: Traffic class of the firmware's packets. Datasheet 8.2.3.9.14.
pub const MNGTXMAP: u32 = 0x0CD10;

/// MTQC, rw: Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1. Datasheet 8.2.3.9.15.
pub const MTQC: u32 = 0x08120;
/// Bit 0: Use traffic classes.
pub const MTQC_RT_ENA: u32 = 0x00000001;
/// Bit 1: Use virtual functions.
pub const MTQC_VT_ENA: u32 = 0x00000002;
/// Bits 3:2: Distribution of the queues.
pub const MTQC_NUM_TC_OR_Q: u32 = 0x0000000C;
/// Value of [`MTQC_NUM_TC_OR_Q`].
pub const MTQC_NUM_TC_OR_Q_64Q_1PB: u32 = 0x00000000;
/// Value of [`MTQC_NUM_TC_OR_Q`].
pub const MTQC_NUM_TC_OR_Q_64VF: u32 = 0x00000004;
/// Value of [`MTQC_NUM_TC_OR_Q`].
pub const MTQC_NUM_TC_OR_Q_32VF: u32 = 0x00000008;
/// Value of [`MTQC_NUM_TC_OR_Q`].
pub const MTQC_NUM_TC_OR_Q_16VF: u32 = 0x0000000C;

/// TXPBTHRESH, rw: Free space that a packet buffer needs before data is fetched. Datasheet 8.2.3.9.16.
/// `n` is below 8.
pub const fn TXPBTHRESH(n: u32) -> u32 {
    0x04950 + 0x4 * n
}
/// Entries of [`TXPBTHRESH`].
pub const TXPBTHRESH_COUNT: u32 = 8;
/// Bits 9:0: Threshold in KiB: the buffer's size less the longest packet.
pub const TXPBTHRESH_THRESH: u32 = 0x000003FF;

// ---- Traffic classes ----

/// RTRPCS, rw: Receive packet plane. Datasheet 8.2.3.10.1.
pub const RTRPCS: u32 = 0x02430;
/// Bit 1: Recycle credits.
pub const RTRPCS_RRM: u32 = 0x00000002;
/// Bit 2: Use deficit fixed priority, not round robin.
pub const RTRPCS_RAC: u32 = 0x00000004;

/// RTTDCS, rw: Transmit descriptor plane. Datasheet 8.2.3.10.2.
pub const RTTDCS: u32 = 0x04900;
/// Bit 0: Arbitrate between traffic classes.
pub const RTTDCS_TDPAC: u32 = 0x00000001;
/// Bit 1: Arbitrate between virtual functions.
pub const RTTDCS_VMPAC: u32 = 0x00000002;
/// Bit 4: Recycle credits.
pub const RTTDCS_TDRM: u32 = 0x00000010;
/// Bit 6: Disable arbitration. Set it around changes of DTXMXSZRQ, TXPBSIZE and MTQC.
pub const RTTDCS_ARBDIS: u32 = 0x00000040;

/// RTTPCS, rw: Transmit packet plane. Datasheet 8.2.3.10.3.
pub const RTTPCS: u32 = 0x0CD00;
/// Bit 5: Arbitrate between traffic classes.
pub const RTTPCS_TPPAC: u32 = 0x00000020;
/// Bit 8: Recycle credits.
pub const RTTPCS_TPRM: u32 = 0x00000100;
/// Bits 31:22: Delay of arbitration.
pub const RTTPCS_ARBD: u32 = 0xFFC00000;

/// RTRUP2TC, rw: Traffic class of each received priority, 3 bits each. Datasheet 8.2.3.10.4.
pub const RTRUP2TC: u32 = 0x03020;

/// RTTUP2TC, rw: Traffic class of each sent priority, 3 bits each. Datasheet 8.2.3.10.5.
pub const RTTUP2TC: u32 = 0x0C800;

/// RTRPT4C, rw: Credits of a received traffic class. Datasheet 8.2.3.10.6.
/// `n` is below 8.
pub const fn RTRPT4C(n: u32) -> u32 {
    0x02140 + 0x4 * n
}
/// Entries of [`RTRPT4C`].
pub const RTRPT4C_COUNT: u32 = 8;

/// RTTDT2C, rw: Credits of a traffic class in the transmit descriptor plane. Datasheet 8.2.3.10.9.
/// `n` is below 8.
pub const fn RTTDT2C(n: u32) -> u32 {
    0x04910 + 0x4 * n
}
/// Entries of [`RTTDT2C`].
pub const RTTDT2C_COUNT: u32 = 8;

/// RTTPT2C, rw: Credits of a traffic class in the transmit packet plane. Datasheet 8.2.3.10.10.
/// `n` is below 8.
pub const fn RTTPT2C(n: u32) -> u32 {
    0x0CD20 + 0x4 * n
}
/// Entries of [`RTTPT2C`].
pub const RTTPT2C_COUNT: u32 = 8;

/// RTTDQSEL, rw: Queue of RTTDT1C and of the rate registers. Datasheet 8.2.3.10.13.
pub const RTTDQSEL: u32 = 0x04904;
/// Bits 6:0: The queue.
pub const RTTDQSEL_TXDQ_IDX: u32 = 0x0000007F;

/// RTTDT1C, rw: Credits of the queue that RTTDQSEL names. Datasheet 8.2.3.10.14.
pub const RTTDT1C: u32 = 0x04908;
/// Bits 13:0: Credits.
pub const RTTDT1C_CRQ: u32 = 0x00003FFF;

/// RTTBCNRC, rw: Rate limit of the queue that RTTDQSEL names. Datasheet 8.2.3.10.16.
pub const RTTBCNRC: u32 = 0x04984;
/// Bits 13:0: Link rate divided by limit, fraction.
pub const RTTBCNRC_RF_DEC: u32 = 0x00003FFF;
/// Bits 23:14: Link rate divided by limit, whole part.
pub const RTTBCNRC_RF_INT: u32 = 0x00FFC000;
/// Bit 31: Enable the limit.
pub const RTTBCNRC_RS_ENA: u32 = 0x80000000;

/// RTTBCNRM, rw: Memory of the rate limits.
pub const RTTBCNRM: u32 = 0x04980;

// ---- DCA ----

/// DCA_ID, ro: Identity for direct cache access. Datasheet 8.2.3.11.3.
pub const DCA_ID: u32 = 0x11070;

/// DCA_CTRL, rw: Direct cache access. Datasheet 8.2.3.11.4.
pub const DCA_CTRL: u32 = 0x11074;
/// Bit 0: Disable direct cache access.
pub const DCA_CTRL_DCA_DIS: u32 = 0x00000001;
/// Bits 4:1: Protocol.
pub const DCA_CTRL_DCA_MODE: u32 = 0x0000001E;

// ---- Security ----

/// SECTXCTRL, rw: Transmit security engine. Datasheet 8.2.3.12.1.
pub const SECTXCTRL: u32 = 0x08800;
/// Bit 0: The engine is off.
pub const SECTXCTRL_SECTX_DIS: u32 = 0x00000001;
/// Bit 1: Hold packets back. SECTXSTAT.SECTX_RDY is set once the path is empty.
pub const SECTXCTRL_TX_DIS: u32 = 0x00000002;
/// Bit 2: Store a packet before sending it.
pub const SECTXCTRL_STORE_FORWARD: u32 = 0x00000004;

/// SECTXSTAT, ro: Transmit security engine's state. Datasheet 8.2.3.12.2.
pub const SECTXSTAT: u32 = 0x08804;
/// Bit 0: The path is empty.
pub const SECTXSTAT_SECTX_RDY: u32 = 0x00000001;
/// Bit 1: The engine is fused off.
pub const SECTXSTAT_SECTX_OFF_DIS: u32 = 0x00000002;

/// SECTXBUFFAF, rw: Fill at which the transmit security buffer is almost full. Datasheet 8.2.3.12.3.
pub const SECTXBUFFAF: u32 = 0x08808;

/// SECTXMINIFG, rw: Least gap between frames. Datasheet 8.2.3.12.4.
pub const SECTXMINIFG: u32 = 0x08810;
/// Bits 3:0: The gap.
pub const SECTXMINIFG_MINSECIFG: u32 = 0x0000000F;
/// Bits 12:8: Fill at which traffic classes hold back; 0x1F if they are used.
pub const SECTXMINIFG_SECTXDCB: u32 = 0x00001F00;

/// SECRXCTRL, rw: Receive security engine. Datasheet 8.2.3.12.5.
pub const SECRXCTRL: u32 = 0x08D00;
/// Bit 0: The engine is off.
pub const SECRXCTRL_SECRX_DIS: u32 = 0x00000001;
/// Bit 1: Hold packets back. SECRXSTAT.SECRX_RDY is set once the path is empty.
pub const SECRXCTRL_RX_DIS: u32 = 0x00000002;

/// SECRXSTAT, ro: Receive security engine's state. Datasheet 8.2.3.12.6.
pub const SECRXSTAT: u32 = 0x08D04;
/// Bit 0: The path is empty.
pub const SECRXSTAT_SECRX_RDY: u32 = 0x00000001;
/// Bit 1: The engine is fused off.
pub const SECRXSTAT_SECRX_OFF_DIS: u32 = 0x00000002;

// ---- MAC and link ----

/// PCS1GCFIG, rw: 1 Gbit/s coding: configuration. Datasheet 8.2.3.22.1.
pub const PCS1GCFIG: u32 = 0x04200;

/// PCS1GLCTL, rw: 1 Gbit/s coding: link control. Datasheet 8.2.3.22.2.
pub const PCS1GLCTL: u32 = 0x04208;
/// Bit 5: Force the link to the values given.
pub const PCS1GLCTL_FORCE_LINK: u32 = 0x00000020;
/// Bit 18: Autonegotiation gives up after a while.
pub const PCS1GLCTL_AN_TIMEOUT_EN: u32 = 0x00040000;
/// Bit 17, sc: Negotiate again.
pub const PCS1GLCTL_AN_RESTART: u32 = 0x00020000;
/// Bit 16: Negotiate.
pub const PCS1GLCTL_AN_ENABLE: u32 = 0x00010000;

/// PCS1GLSTA, ro: 1 Gbit/s coding: link status. Datasheet 8.2.3.22.3.
pub const PCS1GLSTA: u32 = 0x0420C;
/// Bit 0: The link is up.
pub const PCS1GLSTA_LINK_OK: u32 = 0x00000001;
/// Bit 4: The receiver is synchronised.
pub const PCS1GLSTA_SYNC_OK: u32 = 0x00000010;
/// Bit 16: Negotiation is complete.
pub const PCS1GLSTA_AN_COMPLETE: u32 = 0x00010000;
/// Bit 18: Negotiation gave up.
pub const PCS1GLSTA_AN_TIMED_OUT: u32 = 0x00040000;

/// PCS1GANA, rw: 1 Gbit/s coding: abilities to advertise. Datasheet 8.2.3.22.4.
pub const PCS1GANA: u32 = 0x04218;
/// Bit 7: Pause frames both ways.
pub const PCS1GANA_SYM_PAUSE: u32 = 0x00000080;
/// Bit 8: Pause frames one way.
pub const PCS1GANA_ASM_PAUSE: u32 = 0x00000100;

/// PCS1GANLP, ro: 1 Gbit/s coding: abilities that the link partner advertises. Datasheet 8.2.3.22.5.
pub const PCS1GANLP: u32 = 0x0421C;
/// Bit 7: Pause frames both ways.
pub const PCS1GANLP_SYM_PAUSE: u32 = 0x00000080;
/// Bit 8: Pause frames one way.
pub const PCS1GANLP_ASM_PAUSE: u32 = 0x00000100;

/// PCS1GANNP, rw: 1 Gbit/s coding: next page to send. Datasheet 8.2.3.22.6.
pub const PCS1GANNP: u32 = 0x04220;

/// PCS1GANLPNP, ro: 1 Gbit/s coding: next page of the other side. Datasheet 8.2.3.22.7.
pub const PCS1GANLPNP: u32 = 0x04224;

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
/// Bit 16: Use the faster MDIO clock.
pub const HLREG0_MDCSPD: u32 = 0x00010000;
/// Bit 17: Run the MDIO clock all the time.
pub const HLREG0_CONTMDC: u32 = 0x00020000;
/// Bits 23:20: Dwords skipped at the start of each packet.
pub const HLREG0_PREPEND: u32 = 0x00F00000;
/// Bit 27: Report wrong length fields.
pub const HLREG0_RXLNGTHERREN: u32 = 0x08000000;
/// Bit 28: Strip padding, for debugging.
pub const HLREG0_RXPADSTRIPEN: u32 = 0x10000000;

/// HLREG1, ro: MAC core status 1. Datasheet 8.2.3.22.9.
pub const HLREG1: u32 = 0x04244;

/// PAP, rw: Pause time of frames that are sent without flow control. Datasheet 8.2.3.22.10.
pub const PAP: u32 = 0x04248;
/// Bits 15:0: Pause time.
pub const PAP_TXPAUSECNT: u32 = 0x0000FFFF;

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
/// Value of [`MSCA_OP_CODE`].
pub const MSCA_OP_CODE_ADDRESS: u32 = 0x00000000;
/// Value of [`MSCA_OP_CODE`].
pub const MSCA_OP_CODE_WRITE: u32 = 0x04000000;
/// Value of [`MSCA_OP_CODE`].
pub const MSCA_OP_CODE_READ_AUTOINC: u32 = 0x08000000;
/// Value of [`MSCA_OP_CODE`].
pub const MSCA_OP_CODE_READ: u32 = 0x0C000000;
/// Bits 29:28: Protocol.
pub const MSCA_ST_CODE: u32 = 0x30000000;
/// Value of [`MSCA_ST_CODE`].
pub const MSCA_ST_CODE_NEW_PROTOCOL: u32 = 0x00000000;
/// Value of [`MSCA_ST_CODE`].
pub const MSCA_ST_CODE_OLD_PROTOCOL: u32 = 0x10000000;
/// Bit 30, sc: Run the command.
pub const MSCA_MDI_COMMAND: u32 = 0x40000000;
/// Bit 31: MDI_COMMAND clears at the end of the command.
pub const MSCA_MDI_IN_PROG_EN: u32 = 0x80000000;

/// MSRWD, rw: MDIO data. Datasheet 8.2.3.22.12.
pub const MSRWD: u32 = 0x04260;
/// Bits 15:0: Data to write.
pub const MSRWD_WRITE_DATA: u32 = 0x0000FFFF;
/// Bits 31:16, ro: Data that was read.
pub const MSRWD_READ_DATA: u32 = 0xFFFF0000;

/// MAXFRS, rw: Longest frame. Datasheet 8.2.3.22.13.
pub const MAXFRS: u32 = 0x04268;
/// Bits 31:16: Bytes with CRC, without VLAN tag. It applies while HLREG0.JUMBOEN is set.
pub const MAXFRS_MFS: u32 = 0xFFFF0000;

/// PCSS1, ro: 10 Gbit/s coding: status 1. Datasheet 8.2.3.22.14.
pub const PCSS1: u32 = 0x04288;

/// PCSS2, ro: 10 Gbit/s coding: status 2. Datasheet 8.2.3.22.15.
pub const PCSS2: u32 = 0x0428C;

/// XPCSS, ro: 10GBASE-X coding: status. Datasheet 8.2.3.22.16.
pub const XPCSS: u32 = 0x04290;

/// MFLCN, rw: Receiving pause frames. Datasheet 8.2.3.22.34.
pub const MFLCN: u32 = 0x04294;
/// Bit 0: Pass MAC control frames on.
pub const MFLCN_PMCF: u32 = 0x00000001;
/// Bit 1: Discard pause frames.
pub const MFLCN_DPF: u32 = 0x00000002;
/// Bit 2: Obey priority pause frames.
pub const MFLCN_RPFCE: u32 = 0x00000004;
/// Bit 3: Obey link pause frames.
pub const MFLCN_RFCE: u32 = 0x00000008;
/// Bits 11:4: Classes whose priority pause frames apply. X540 and later.
pub const MFLCN_RPFCE_CLASSES: u32 = 0x00000FF0;

/// SERDESC, rw: Serialiser: control. Datasheet 8.2.3.22.17.
pub const SERDESC: u32 = 0x04298;

/// MACS, rw: FIFO control and status of the MAC. Datasheet 8.2.3.22.18.
pub const MACS: u32 = 0x0429C;

/// AUTOC, rw: Link mode and autonegotiation. Loaded from the EEPROM. Datasheet 8.2.3.22.19.
pub const AUTOC: u32 = 0x042A0;
/// Bit 0: Force the link up.
pub const AUTOC_FLU: u32 = 0x00000001;
/// Bits 8:7: 10 Gbit/s over four lanes.
pub const AUTOC_10G_PMA_PMD_PARALLEL: u32 = 0x00000180;
/// Value of [`AUTOC_10G_PMA_PMD_PARALLEL`].
pub const AUTOC_10G_PMA_PMD_PARALLEL_XAUI: u32 = 0x00000000;
/// Value of [`AUTOC_10G_PMA_PMD_PARALLEL`].
pub const AUTOC_10G_PMA_PMD_PARALLEL_KX4: u32 = 0x00000080;
/// Value of [`AUTOC_10G_PMA_PMD_PARALLEL`].
pub const AUTOC_10G_PMA_PMD_PARALLEL_CX4: u32 = 0x00000100;
/// Bit 9: 1 Gbit/s.
pub const AUTOC_1G_PMA_PMD: u32 = 0x00000200;
/// Value of [`AUTOC_1G_PMA_PMD`].
pub const AUTOC_1G_PMA_PMD_BX: u32 = 0x00000000;
/// Value of [`AUTOC_1G_PMA_PMD`].
pub const AUTOC_1G_PMA_PMD_KX: u32 = 0x00000200;
/// Bit 12, sc: Apply the link mode and negotiate again.
pub const AUTOC_AN_RESTART: u32 = 0x00001000;
/// Bits 15:13: Link mode.
pub const AUTOC_LMS: u32 = 0x0000E000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_1G_LINK_NO_AN: u32 = 0x00000000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_10G_LINK_NO_AN: u32 = 0x00002000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_1G_AN: u32 = 0x00004000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_10G_SERIAL: u32 = 0x00006000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_KX4_KX_KR: u32 = 0x00008000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_SGMII_1G_100M: u32 = 0x0000A000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_KX4_KX_KR_1G_AN: u32 = 0x0000C000;
/// Value of [`AUTOC_LMS`].
pub const AUTOC_LMS_KX4_KX_KR_SGMII: u32 = 0x0000E000;
/// Bit 16: Advertise KR.
pub const AUTOC_KR_SUPP: u32 = 0x00010000;
/// Bit 17: Ask for forward error correction.
pub const AUTOC_FECR: u32 = 0x00020000;
/// Bit 18: Offer forward error correction.
pub const AUTOC_FECA: u32 = 0x00040000;
/// Bits 22:19: Alignment of received pages.
pub const AUTOC_AN_RX_ALIGN: u32 = 0x00780000;
/// Bit 23: Tolerate drift.
pub const AUTOC_AN_RX_DRIFT: u32 = 0x00800000;
/// Bit 24: Tolerate loose timing.
pub const AUTOC_AN_RX_LOOSE: u32 = 0x01000000;
/// Bits 26:25: Parallel detection time.
pub const AUTOC_PD_TMR: u32 = 0x06000000;
/// Bit 27: Advertise a remote fault.
pub const AUTOC_RF: u32 = 0x08000000;
/// Bit 28: Advertise pause frames both ways.
pub const AUTOC_SYM_PAUSE: u32 = 0x10000000;
/// Bit 29: Advertise pause frames one way.
pub const AUTOC_ASM_PAUSE: u32 = 0x20000000;
/// Bit 30: Advertise KX.
pub const AUTOC_KX_SUPP: u32 = 0x40000000;
/// Bit 31: Advertise KX4.
pub const AUTOC_KX4_SUPP: u32 = 0x80000000;

/// LINKS, ro: Link status. Datasheet 8.2.3.22.20.
pub const LINKS: u32 = 0x042A4;
/// Bits 11:8: Signal on each lane.
pub const LINKS_SIGNAL: u32 = 0x00000F00;
/// Bit 17: Lanes are aligned.
pub const LINKS_10G_ALIGN: u32 = 0x00020000;
/// Bit 7: The link is up now.
pub const LINKS_LINK_STATUS: u32 = 0x00000080;
/// Bit 27: With SPEED 10G: 2.5 Gbit/s. With 100M: 5 Gbit/s. X550.
pub const LINKS_SPEED_NON_STD: u32 = 0x08000000;
/// Bits 29:28: Speed.
pub const LINKS_SPEED: u32 = 0x30000000;
/// Value of [`LINKS_SPEED`].
pub const LINKS_SPEED_100M: u32 = 0x10000000;
/// Value of [`LINKS_SPEED`].
pub const LINKS_SPEED_1G: u32 = 0x20000000;
/// Value of [`LINKS_SPEED`].
pub const LINKS_SPEED_10G: u32 = 0x30000000;
/// Bit 30: The link is up.
pub const LINKS_UP: u32 = 0x40000000;
/// Bit 31: Backplane autonegotiation is complete.
pub const LINKS_KX_AN_COMP: u32 = 0x80000000;

/// LINKS2, ro: Link status 2. Datasheet 8.2.3.22.21.
pub const LINKS2: u32 = 0x04324;
/// Bit 6: The other side negotiates.
pub const LINKS2_AN_SUPPORTED: u32 = 0x00000040;

/// AUTOC2, rw: Link mode 2. Loaded from the EEPROM. Datasheet 8.2.3.22.22.
pub const AUTOC2: u32 = 0x042A8;
/// Bits 17:16: 10 Gbit/s over one lane.
pub const AUTOC2_10G_PMA_PMD_SERIAL: u32 = 0x00030000;
/// Value of [`AUTOC2_10G_PMA_PMD_SERIAL`].
pub const AUTOC2_10G_PMA_PMD_SERIAL_KR: u32 = 0x00000000;
/// Value of [`AUTOC2_10G_PMA_PMD_SERIAL`].
pub const AUTOC2_10G_PMA_PMD_SERIAL_XFI: u32 = 0x00010000;
/// Value of [`AUTOC2_10G_PMA_PMD_SERIAL`].
pub const AUTOC2_10G_PMA_PMD_SERIAL_SFI: u32 = 0x00020000;
/// Bits 30:28: Reasons to drop the link.
pub const AUTOC2_LINK_DISABLE: u32 = 0x70000000;

/// AUTOC3, rw: Link mode 3.
pub const AUTOC3: u32 = 0x042AC;

/// ANLP1, ro: Backplane autonegotiation: the other side's page, bits 31:0. Datasheet 8.2.3.22.23.
pub const ANLP1: u32 = 0x042B0;
/// Bit 10: The link partner takes pause frames both ways.
pub const ANLP1_SYM_PAUSE: u32 = 0x00000400;
/// Bit 11: The link partner takes pause frames one way.
pub const ANLP1_ASM_PAUSE: u32 = 0x00000800;
/// Bits 19:16: State of the negotiation; 0 is idle.
pub const ANLP1_AN_STATE: u32 = 0x000F0000;

/// ANLP2, ro: Backplane autonegotiation: the other side's page, bits 47:32.
pub const ANLP2: u32 = 0x042B4;

/// ANLPNP1, ro: Backplane autonegotiation: the other side's next page, bits 31:0.
pub const ANLPNP1: u32 = 0x042D4;

/// ANLPNP2, ro: Backplane autonegotiation: the other side's next page, bits 47:32.
pub const ANLPNP2: u32 = 0x042D8;

/// MMNGC, rw: The firmware's hold on the link.
pub const MMNGC: u32 = 0x042D0;
/// Bit 0: Yes.
pub const MMNGC_MNG_VETO: u32 = 0x00000001;

/// KRPCSFC, rw: KR coding: control.
pub const KRPCSFC: u32 = 0x042E0;

/// KRPCSS, ro: KR coding: status.
pub const KRPCSS: u32 = 0x042E4;

/// MACC, rw: MAC control.
pub const MACC: u32 = 0x04330;
/// Bit 0: Force the link up.
pub const MACC_FLU: u32 = 0x00000001;
/// Bits 17:16: Forced speed.
pub const MACC_FSV: u32 = 0x00030000;
/// Value of [`MACC_FSV`].
pub const MACC_FSV_10G: u32 = 0x00030000;
/// Bit 18: Force the speed.
pub const MACC_FS: u32 = 0x00040000;

/// CORECTL, rw: Write access to registers of the analogue part. Datasheet 8.2.3.22.32.
pub const CORECTL: u32 = 0x14F00;
/// Bits 7:0: Data.
pub const CORECTL_DATA: u32 = 0x000000FF;
/// Bits 15:8: Register.
pub const CORECTL_ADDRESS: u32 = 0x0000FF00;
/// Bit 16, sc: Write the register. Else select it for reading.
pub const CORECTL_WRITE_CMD: u32 = 0x00010000;

/// SMADARCTL, rw: Write access to registers of the SerDes.
pub const SMADARCTL: u32 = 0x14F10;

// ---- Statistics ----
// Counters. A read clears them, and they stop at their highest value.

/// CRCERRS, rc: Packets with a wrong CRC.
pub const CRCERRS: u32 = 0x04000;

/// ILLERRC, rc: Packets with illegal bytes.
pub const ILLERRC: u32 = 0x04004;

/// ERRBC, rc: Packets with error bytes.
pub const ERRBC: u32 = 0x04008;

/// MSPDC, rc: Packets too short for the MAC.
pub const MSPDC: u32 = 0x04010;

/// MPC, rc: Packets missed because a packet buffer was full.
/// `n` is below 8.
pub const fn MPC(n: u32) -> u32 {
    0x03FA0 + 0x4 * n
}
/// Entries of [`MPC`].
pub const MPC_COUNT: u32 = 8;

/// MLFC, rc: Local faults of the link.
pub const MLFC: u32 = 0x04034;

/// MRFC, rc: Remote faults of the link.
pub const MRFC: u32 = 0x04038;

/// RLEC, rc: Packets with a wrong length field.
pub const RLEC: u32 = 0x04040;

/// SSVPC, rc: Packets that were dropped for a forged address.
pub const SSVPC: u32 = 0x08780;

/// LXONTXC, rc: XON frames sent.
pub const LXONTXC: u32 = 0x03F60;

/// LXOFFTXC, rc: XOFF frames sent.
pub const LXOFFTXC: u32 = 0x03F68;

/// LXONRXCNT, rc: XON frames received.
pub const LXONRXCNT: u32 = 0x041A4;

/// LXOFFRXCNT, rc: XOFF frames received.
pub const LXOFFRXCNT: u32 = 0x041A8;

/// LXONRXC, rc: XON frames received; 82598 name, read and dropped by drivers.
pub const LXONRXC: u32 = 0x0CF60;

/// LXOFFRXC, rc: XOFF frames received; 82598 name, read and dropped by drivers.
pub const LXOFFRXC: u32 = 0x0CF68;

/// PXONTXC, rc: Priority XON frames sent, by class.
/// `n` is below 8.
pub const fn PXONTXC(n: u32) -> u32 {
    0x03F00 + 0x4 * n
}
/// Entries of [`PXONTXC`].
pub const PXONTXC_COUNT: u32 = 8;

/// PXOFFTXC, rc: Priority XOFF frames sent, by class.
/// `n` is below 8.
pub const fn PXOFFTXC(n: u32) -> u32 {
    0x03F20 + 0x4 * n
}
/// Entries of [`PXOFFTXC`].
pub const PXOFFTXC_COUNT: u32 = 8;

/// PXONRXC, rc: Priority XON frames received, by class; 82598 name.
/// `n` is below 8.
pub const fn PXONRXC(n: u32) -> u32 {
    0x0CF00 + 0x4 * n
}
/// Entries of [`PXONRXC`].
pub const PXONRXC_COUNT: u32 = 8;

/// PXOFFRXC, rc: Priority XOFF frames received, by class; 82598 name.
/// `n` is below 8.
pub const fn PXOFFRXC(n: u32) -> u32 {
    0x0CF20 + 0x4 * n
}
/// Entries of [`PXOFFRXC`].
pub const PXOFFRXC_COUNT: u32 = 8;

/// PXON2OFFCNT, rc: Times a class was paused again while paused.
/// `n` is below 8.
pub const fn PXON2OFFCNT(n: u32) -> u32 {
    0x03240 + 0x4 * n
}
/// Entries of [`PXON2OFFCNT`].
pub const PXON2OFFCNT_COUNT: u32 = 8;

/// PRC64, rc: Packets received, 64 bytes.
pub const PRC64: u32 = 0x0405C;

/// PRC127, rc: Packets received, 65 to 127 bytes.
pub const PRC127: u32 = 0x04060;

/// PRC255, rc: Packets received, 128 to 255 bytes.
pub const PRC255: u32 = 0x04064;

/// PRC511, rc: Packets received, 256 to 511 bytes.
pub const PRC511: u32 = 0x04068;

/// PRC1023, rc: Packets received, 512 to 1023 bytes.
pub const PRC1023: u32 = 0x0406C;

/// PRC1522, rc: Packets received, 1024 bytes and more.
pub const PRC1522: u32 = 0x04070;

/// GPRC, rc: Good packets received, including those dropped later without a buffer. Datasheet 8.2.3.23.26.
pub const GPRC: u32 = 0x04074;

/// BPRC, rc: Broadcast packets received.
pub const BPRC: u32 = 0x04078;

/// MPRC, rc: Multicast packets received.
pub const MPRC: u32 = 0x0407C;

/// GPTC, rc: Good packets sent.
pub const GPTC: u32 = 0x04080;

/// GORCL, rc: Good bytes received, with CRC, low half. Read it before GORCH.
pub const GORCL: u32 = 0x04088;

/// GORCH, rc: Good bytes received, bits 35:32.
pub const GORCH: u32 = 0x0408C;

/// GOTCL, rc: Good bytes sent, with CRC, low half. Read it before GOTCH.
pub const GOTCL: u32 = 0x04090;

/// GOTCH, rc: Good bytes sent, bits 35:32.
pub const GOTCH: u32 = 0x04094;

/// RNBC, rc: Packets that found no receive buffer, by packet buffer; 82598.
/// `n` is below 8.
pub const fn RNBC(n: u32) -> u32 {
    0x03FC0 + 0x4 * n
}
/// Entries of [`RNBC`].
pub const RNBC_COUNT: u32 = 8;

/// RUC, rc: Packets too short, with a good CRC.
pub const RUC: u32 = 0x040A4;

/// RFC, rc: Packets too short, with a wrong CRC: fragments.
pub const RFC: u32 = 0x040A8;

/// ROC, rc: Packets too long, with a good CRC.
pub const ROC: u32 = 0x040AC;

/// RJC, rc: Packets too long, with a wrong CRC: jabber.
pub const RJC: u32 = 0x040B0;

/// MNGPRC, rc: Packets received for the firmware.
pub const MNGPRC: u32 = 0x040B4;

/// MNGPDC, rc: Packets for the firmware that were dropped.
pub const MNGPDC: u32 = 0x040B8;

/// MNGPTC, rc: Packets sent by the firmware.
pub const MNGPTC: u32 = 0x0CF90;

/// TORL, rc: Bytes received, good or not, low half.
pub const TORL: u32 = 0x040C0;

/// TORH, rc: Bytes received, good or not, bits 35:32.
pub const TORH: u32 = 0x040C4;

/// TPR, rc: Packets received, good or not. Datasheet 8.2.3.23.59.
pub const TPR: u32 = 0x040D0;

/// TPT, rc: Packets sent, good or not.
pub const TPT: u32 = 0x040D4;

/// PTC64, rc: Packets sent, 64 bytes.
pub const PTC64: u32 = 0x040D8;

/// PTC127, rc: Packets sent, 65 to 127 bytes.
pub const PTC127: u32 = 0x040DC;

/// PTC255, rc: Packets sent, 128 to 255 bytes.
pub const PTC255: u32 = 0x040E0;

/// PTC511, rc: Packets sent, 256 to 511 bytes.
pub const PTC511: u32 = 0x040E4;

/// PTC1023, rc: Packets sent, 512 to 1023 bytes.
pub const PTC1023: u32 = 0x040E8;

/// PTC1522, rc: Packets sent, 1024 bytes and more.
pub const PTC1522: u32 = 0x040EC;

/// MPTC, rc: Multicast packets sent.
pub const MPTC: u32 = 0x040F0;

/// BPTC, rc: Broadcast packets sent.
pub const BPTC: u32 = 0x040F4;

/// XEC, rc: Packets with a wrong TCP, UDP or IP checksum.
pub const XEC: u32 = 0x04120;

/// RQSMR, rw: Statistics registers of the receive queues 4n to 4n + 3. Datasheet 8.2.3.23.71.
/// `n` is below 32.
pub const fn RQSMR(n: u32) -> u32 {
    0x02300 + 0x4 * n
}
/// Entries of [`RQSMR`].
pub const RQSMR_COUNT: u32 = 32;
/// Bits 3:0: Statistics of queue 4n.
pub const RQSMR_QUEUE0: u32 = 0x0000000F;
/// Bits 11:8: Statistics of queue 4n + 1.
pub const RQSMR_QUEUE1: u32 = 0x00000F00;
/// Bits 19:16: Statistics of queue 4n + 2.
pub const RQSMR_QUEUE2: u32 = 0x000F0000;
/// Bits 27:24: Statistics of queue 4n + 3.
pub const RQSMR_QUEUE3: u32 = 0x0F000000;

/// TQSM, rw: Statistics registers of the transmit queues 4n to 4n + 3. Datasheet 8.2.3.23.73.
/// `n` is below 32.
pub const fn TQSM(n: u32) -> u32 {
    0x08600 + 0x4 * n
}
/// Entries of [`TQSM`].
pub const TQSM_COUNT: u32 = 32;
/// Bits 3:0: Statistics of queue 4n.
pub const TQSM_QUEUE0: u32 = 0x0000000F;
/// Bits 11:8: Statistics of queue 4n + 1.
pub const TQSM_QUEUE1: u32 = 0x00000F00;
/// Bits 19:16: Statistics of queue 4n + 2.
pub const TQSM_QUEUE2: u32 = 0x000F0000;
/// Bits 27:24: Statistics of queue 4n + 3.
pub const TQSM_QUEUE3: u32 = 0x0F000000;

/// RXDSTATCTRL, rw: Queues that the RX DMA counters count.
pub const RXDSTATCTRL: u32 = 0x02F40;
/// Bits 4:0: Statistics register, or 16 for all queues.
pub const RXDSTATCTRL_QSEL: u32 = 0x0000001F;

/// QPRC, rc: Packets received, by queue statistics.
/// `n` is below 16.
pub const fn QPRC(n: u32) -> u32 {
    0x01030 + 0x40 * n
}
/// Entries of [`QPRC`].
pub const QPRC_COUNT: u32 = 16;

/// QPRDC, rc: Packets dropped without descriptors, by queue statistics. Datasheet 8.2.3.23.75.
/// `n` is below 16.
pub const fn QPRDC(n: u32) -> u32 {
    0x01430 + 0x40 * n
}
/// Entries of [`QPRDC`].
pub const QPRDC_COUNT: u32 = 16;

/// QBRC_L, rc: Bytes received, by queue statistics, low half.
/// `n` is below 16.
pub const fn QBRC_L(n: u32) -> u32 {
    0x01034 + 0x40 * n
}
/// Entries of [`QBRC_L`].
pub const QBRC_L_COUNT: u32 = 16;

/// QBRC_H, rc: Bytes received, by queue statistics, bits 35:32.
/// `n` is below 16.
pub const fn QBRC_H(n: u32) -> u32 {
    0x01038 + 0x40 * n
}
/// Entries of [`QBRC_H`].
pub const QBRC_H_COUNT: u32 = 16;

/// QPTC, rc: Packets sent, by queue statistics.
/// Also at 0x06030 + 0x40 * n (entries 0..16).
/// `n` is below 16.
pub const fn QPTC(n: u32) -> u32 {
    0x08680 + 0x4 * n
}
/// Entries of [`QPTC`].
pub const QPTC_COUNT: u32 = 16;

/// QBTC_L, rc: Bytes sent, by queue statistics, low half.
/// `n` is below 16.
pub const fn QBTC_L(n: u32) -> u32 {
    0x08700 + 0x8 * n
}
/// Entries of [`QBTC_L`].
pub const QBTC_L_COUNT: u32 = 16;

/// QBTC_H, rc: Bytes sent, by queue statistics, bits 35:32.
/// `n` is below 16.
pub const fn QBTC_H(n: u32) -> u32 {
    0x08704 + 0x8 * n
}
/// Entries of [`QBTC_H`].
pub const QBTC_H_COUNT: u32 = 16;

/// RXDGPC, rc: Good packets that receive DMA passed on.
pub const RXDGPC: u32 = 0x02F50;

/// RXDGBCL, rc: Good bytes that receive DMA passed on, low half.
pub const RXDGBCL: u32 = 0x02F54;

/// RXDGBCH, rc: Good bytes that receive DMA passed on, bits 35:32.
pub const RXDGBCH: u32 = 0x02F58;

/// RXDDGPC, rc: Good duplicates for other pools passed on, in packets.
pub const RXDDGPC: u32 = 0x02F5C;

/// RXDDGBCL, rc: Good duplicates for other pools passed on, in bytes, low half.
pub const RXDDGBCL: u32 = 0x02F60;

/// RXDDGBCH, rc: Good duplicates for other pools passed on, in bytes, bits 35:32.
pub const RXDDGBCH: u32 = 0x02F64;

/// RXLPBKGPC, rc: Good looped-back packets passed on.
pub const RXLPBKGPC: u32 = 0x02F68;

/// RXLPBKGBCL, rc: Good looped-back bytes passed on, low half.
pub const RXLPBKGBCL: u32 = 0x02F6C;

/// RXLPBKGBCH, rc: Good looped-back bytes passed on, bits 35:32.
pub const RXLPBKGBCH: u32 = 0x02F70;

/// RXDLPBKGPC, rc: Good looped-back duplicates passed on, in packets.
pub const RXDLPBKGPC: u32 = 0x02F74;

/// RXDLPBKGBCL, rc: Good looped-back duplicates passed on, in bytes, low half.
pub const RXDLPBKGBCL: u32 = 0x02F78;

/// RXDLPBKGBCH, rc: Good looped-back duplicates passed on, in bytes, bits 35:32.
pub const RXDLPBKGBCH: u32 = 0x02F7C;

/// RXNFGPC, rc: Good packets received, before filters.
pub const RXNFGPC: u32 = 0x041B0;

/// RXNFGBCL, rc: Good bytes received, before filters, low half.
pub const RXNFGBCL: u32 = 0x041B4;

/// RXNFGBCH, rc: Good bytes received, before filters, bits 35:32.
pub const RXNFGBCH: u32 = 0x041B8;

/// TXDGPC, rc: Good packets that transmit DMA fetched.
pub const TXDGPC: u32 = 0x087A0;

/// TXDGBCL, rc: Good bytes that transmit DMA fetched, low half.
pub const TXDGBCL: u32 = 0x087A4;

/// TXDGBCH, rc: Good bytes that transmit DMA fetched, bits 35:32.
pub const TXDGBCH: u32 = 0x087A8;

/// FCCRC, rc: FCoE packets with a wrong FC CRC.
pub const FCCRC: u32 = 0x05118;

/// FCOERPDC, rc: FCoE packets dropped.
pub const FCOERPDC: u32 = 0x0241C;

/// FCLAST, rc: FCoE last errors.
pub const FCLAST: u32 = 0x02424;

/// FCOEPRC, rc: FCoE packets received.
pub const FCOEPRC: u32 = 0x02428;

/// FCOEDWRC, rc: FCoE dwords received.
pub const FCOEDWRC: u32 = 0x0242C;

/// FCOEPTC, rc: FCoE packets sent.
pub const FCOEPTC: u32 = 0x08784;

/// FCOEDWTC, rc: FCoE dwords sent.
pub const FCOEDWTC: u32 = 0x08788;

/// O2BGPTC, rc: Packets from the system to the firmware, good. X540 and later.
pub const O2BGPTC: u32 = 0x041C4;

/// O2BSPC, rc: Packets from the system that the firmware missed. X540 and later.
pub const O2BSPC: u32 = 0x087B0;

/// B2OSPC, rc: Packets that the firmware sent to the system. X540 and later.
pub const B2OSPC: u32 = 0x041C0;

/// B2OGPRC, rc: Packets from the firmware that the system got. X540 and later.
pub const B2OGPRC: u32 = 0x02F90;

// ---- Filters for queues ----

/// ETQF, rw: Matches packets by EtherType. Datasheet 8.2.3.7.21.
/// `n` is below 8.
pub const fn ETQF(n: u32) -> u32 {
    0x05128 + 0x4 * n
}
/// Entries of [`ETQF`].
pub const ETQF_COUNT: u32 = 8;
/// Bits 15:0: The EtherType.
pub const ETQF_ETYPE: u32 = 0x0000FFFF;
/// Bits 18:16: Priority in the VLAN tag.
pub const ETQF_UP: u32 = 0x00070000;
/// Bit 19: The priority has to match.
pub const ETQF_UP_EN: u32 = 0x00080000;
/// Bits 25:20: Pool that they go to.
pub const ETQF_POOL: u32 = 0x03F00000;
/// Bit 26: POOL applies.
pub const ETQF_POOL_ENABLE: u32 = 0x04000000;
/// Bit 27: The packets are FCoE.
pub const ETQF_FCOE: u32 = 0x08000000;
/// Bit 30: The card time-stamps the packets.
pub const ETQF_1588: u32 = 0x40000000;
/// Bit 31: The filter is on.
pub const ETQF_FILTER_EN: u32 = 0x80000000;

/// ETQS, rw: Queue of packets that ETQF matches. Datasheet 8.2.3.7.22.
/// `n` is below 8.
pub const fn ETQS(n: u32) -> u32 {
    0x0EC00 + 0x4 * n
}
/// Entries of [`ETQS`].
pub const ETQS_COUNT: u32 = 8;
/// Bits 22:16: The queue.
pub const ETQS_RX_QUEUE: u32 = 0x007F0000;
/// Bit 29: Raise a low latency interrupt.
pub const ETQS_LLI: u32 = 0x20000000;
/// Bit 31: RX_QUEUE applies.
pub const ETQS_QUEUE_EN: u32 = 0x80000000;

/// SAQF, rw: Five-tuple filter: source address. Datasheet 8.2.3.7.16.
/// `n` is below 128.
pub const fn SAQF(n: u32) -> u32 {
    0x0E000 + 0x4 * n
}
/// Entries of [`SAQF`].
pub const SAQF_COUNT: u32 = 128;

/// DAQF, rw: Five-tuple filter: destination address. Datasheet 8.2.3.7.17.
/// `n` is below 128.
pub const fn DAQF(n: u32) -> u32 {
    0x0E200 + 0x4 * n
}
/// Entries of [`DAQF`].
pub const DAQF_COUNT: u32 = 128;

/// SDPQF, rw: Five-tuple filter: ports. Datasheet 8.2.3.7.18.
/// `n` is below 128.
pub const fn SDPQF(n: u32) -> u32 {
    0x0E400 + 0x4 * n
}
/// Entries of [`SDPQF`].
pub const SDPQF_COUNT: u32 = 128;
/// Bits 15:0: Source port, in network order.
pub const SDPQF_SOURCE_PORT: u32 = 0x0000FFFF;
/// Bits 31:16: Destination port, in network order.
pub const SDPQF_DESTINATION_PORT: u32 = 0xFFFF0000;

/// FTQF, rw: Five-tuple filter: protocol, and the parts that must match. Datasheet 8.2.3.7.19.
/// `n` is below 128.
pub const fn FTQF(n: u32) -> u32 {
    0x0E600 + 0x4 * n
}
/// Entries of [`FTQF`].
pub const FTQF_COUNT: u32 = 128;
/// Bits 1:0: Protocol.
pub const FTQF_PROTOCOL: u32 = 0x00000003;
/// Value of [`FTQF_PROTOCOL`].
pub const FTQF_PROTOCOL_TCP: u32 = 0x00000000;
/// Value of [`FTQF_PROTOCOL`].
pub const FTQF_PROTOCOL_UDP: u32 = 0x00000001;
/// Value of [`FTQF_PROTOCOL`].
pub const FTQF_PROTOCOL_SCTP: u32 = 0x00000002;
/// Value of [`FTQF_PROTOCOL`].
pub const FTQF_PROTOCOL_OTHER: u32 = 0x00000003;
/// Bits 4:2: Priority among filters: 7 wins over 1.
pub const FTQF_PRIORITY: u32 = 0x0000001C;
/// Bits 13:8: Pool.
pub const FTQF_POOL: u32 = 0x00003F00;
/// Bits 29:25: Parts that need not match: addresses, ports, protocol.
pub const FTQF_MASK: u32 = 0x3E000000;
/// Bit 30: The pool need not match.
pub const FTQF_POOL_MASK: u32 = 0x40000000;
/// Bit 31: The filter is on.
pub const FTQF_QUEUE_ENABLE: u32 = 0x80000000;

/// L34T_IMIR, rw: Queue of packets that a five-tuple filter matches. Datasheet 8.2.3.5.13.
/// `n` is below 128.
pub const fn L34T_IMIR(n: u32) -> u32 {
    0x0E800 + 0x4 * n
}
/// Entries of [`L34T_IMIR`].
pub const L34T_IMIR_COUNT: u32 = 128;
/// Bit 12: The size need not match.
pub const L34T_IMIR_SIZE_BP: u32 = 0x00001000;
/// Bit 20: Raise a low latency interrupt.
pub const L34T_IMIR_LLI: u32 = 0x00100000;
/// Bits 27:21: The queue.
pub const L34T_IMIR_RX_QUEUE: u32 = 0x0FE00000;

/// SYNQF, rw: Queue of TCP connection requests. Datasheet 8.2.3.7.20.
pub const SYNQF: u32 = 0x0EC30;
/// Bit 0: The filter is on.
pub const SYNQF_QUEUE_ENABLE: u32 = 0x00000001;
/// Bits 7:1: The queue.
pub const SYNQF_RX_QUEUE: u32 = 0x000000FE;
/// Bit 31: The filter wins over five-tuple filters.
pub const SYNQF_SYNQFP: u32 = 0x80000000;

/// IMIRVP, rw: VLAN priority that raises low latency interrupts. Datasheet 8.2.3.5.15.
pub const IMIRVP: u32 = 0x05AC0;
/// Bits 2:0: The priority.
pub const IMIRVP_PRIORITY: u32 = 0x00000007;
/// Bit 3: Yes.
pub const IMIRVP_PRIORITY_EN: u32 = 0x00000008;

/// LLITHRESH, rw: Size of packet that raises low latency interrupts. Datasheet 8.2.3.5.14.
pub const LLITHRESH: u32 = 0x0EC90;

/// RXFECCERR0, rw: Errors in the memories of the receive filters. Datasheet 8.2.3.7.23.
pub const RXFECCERR0: u32 = 0x051B8;
/// Bit 9: Report them, and block reception.
pub const RXFECCERR0_ECCFLT_EN: u32 = 0x00000200;

// ---- Flow director ----

/// FDIRCTRL, rw: Flow director control.
pub const FDIRCTRL: u32 = 0x0EE00;
/// Bits 1:0: Packet buffer memory that filters may take.
pub const FDIRCTRL_PBALLOC: u32 = 0x00000003;
/// Value of [`FDIRCTRL_PBALLOC`].
pub const FDIRCTRL_PBALLOC_NONE: u32 = 0x00000000;
/// Value of [`FDIRCTRL_PBALLOC`].
pub const FDIRCTRL_PBALLOC_64K: u32 = 0x00000001;
/// Value of [`FDIRCTRL_PBALLOC`].
pub const FDIRCTRL_PBALLOC_128K: u32 = 0x00000002;
/// Value of [`FDIRCTRL_PBALLOC`].
pub const FDIRCTRL_PBALLOC_256K: u32 = 0x00000003;
/// Bit 3, ro: The filter memory has been set up.
pub const FDIRCTRL_INIT_DONE: u32 = 0x00000008;
/// Bit 4: Use exact filters, not signatures.
pub const FDIRCTRL_PERFECT_MATCH: u32 = 0x00000010;
/// Bit 5: Report the match in the descriptor.
pub const FDIRCTRL_REPORT_STATUS: u32 = 0x00000020;
/// Bit 7: Report it, match or not.
pub const FDIRCTRL_REPORT_STATUS_ALWAYS: u32 = 0x00000080;
/// Bits 14:8: Queue whose packets are dropped.
pub const FDIRCTRL_DROP_Q: u32 = 0x00007F00;
/// Bits 20:16: Position of the flexible bytes, in words.
pub const FDIRCTRL_FLEX: u32 = 0x001F0000;
/// Bits 27:24: Entries of one hash that are searched.
pub const FDIRCTRL_MAX_LENGTH: u32 = 0x0F000000;
/// Bits 31:28: Filters left at which to raise an interrupt, in units of 16.
pub const FDIRCTRL_FULL_THRESH: u32 = 0xF0000000;

/// FDIRHKEY, rw: Key of the hash that finds a filter.
pub const FDIRHKEY: u32 = 0x0EE68;

/// FDIRSKEY, rw: Key of the hash that is a signature.
pub const FDIRSKEY: u32 = 0x0EE6C;

/// FDIRDIP4M, rw: IPv4 destination address mask: bits that are 0 must match.
pub const FDIRDIP4M: u32 = 0x0EE3C;

/// FDIRSIP4M, rw: IPv4 source address mask: bits that are 0 must match.
pub const FDIRSIP4M: u32 = 0x0EE40;

/// FDIRTCPM, rw: TCP port mask: bits that are 0 must match.
pub const FDIRTCPM: u32 = 0x0EE44;

/// FDIRUDPM, rw: UDP port mask: bits that are 0 must match.
pub const FDIRUDPM: u32 = 0x0EE48;

/// FDIRIP6M, rw: IPv6 address mask: bytes whose bit is 0 must match.
pub const FDIRIP6M: u32 = 0x0EE74;

/// FDIRM, rw: Mask of other parts of a packet: parts whose bit is 0 must match.
pub const FDIRM: u32 = 0x0EE70;
/// Bit 0: VLAN.
pub const FDIRM_VLANID: u32 = 0x00000001;
/// Bit 1: VLAN priority.
pub const FDIRM_VLANP: u32 = 0x00000002;
/// Bit 2: Pool.
pub const FDIRM_POOL: u32 = 0x00000004;
/// Bit 3: Protocol.
pub const FDIRM_L4P: u32 = 0x00000008;
/// Bit 4: Flexible bytes.
pub const FDIRM_FLEX: u32 = 0x00000010;
/// Bit 5: IPv6 destination address.
pub const FDIRM_DIPV6: u32 = 0x00000020;

/// FDIRFREE, rw: Free filters.
pub const FDIRFREE: u32 = 0x0EE38;
/// Bits 15:0: Number of filters.
pub const FDIRFREE_FREE: u32 = 0x0000FFFF;
/// Bits 30:16: Filters with the hash of another one.
pub const FDIRFREE_COLL: u32 = 0x7FFF0000;

/// FDIRLEN, rc: Longest list of filters with one hash.
pub const FDIRLEN: u32 = 0x0EE4C;
/// Bits 5:0: Number of filters.
pub const FDIRLEN_MAXLEN: u32 = 0x0000003F;

/// FDIRUSTAT, rc: Filters added and removed.
pub const FDIRUSTAT: u32 = 0x0EE50;
/// Bits 15:0: Filters added.
pub const FDIRUSTAT_ADD: u32 = 0x0000FFFF;
/// Bits 31:16: Filters removed.
pub const FDIRUSTAT_REMOVE: u32 = 0xFFFF0000;

/// FDIRFSTAT, rc: Filters that could not be added or removed.
pub const FDIRFSTAT: u32 = 0x0EE54;
/// Bits 7:0: Filters not added.
pub const FDIRFSTAT_FADD: u32 = 0x000000FF;
/// Bits 15:8: Filters not removed.
pub const FDIRFSTAT_FREMOVE: u32 = 0x0000FF00;

/// FDIRMATCH, rc: Packets that a filter matched.
pub const FDIRMATCH: u32 = 0x0EE58;

/// FDIRMISS, rc: Packets that no filter matched.
pub const FDIRMISS: u32 = 0x0EE5C;

/// FDIRSIPV6, rw: Filter: IPv6 source address, first three dwords.
/// `n` is below 3.
pub const fn FDIRSIPV6(n: u32) -> u32 {
    0x0EE0C + 0x4 * n
}
/// Entries of [`FDIRSIPV6`].
pub const FDIRSIPV6_COUNT: u32 = 3;

/// FDIRIPSA, rw: Filter: IPv4 source address, or last dword of an IPv6 one.
pub const FDIRIPSA: u32 = 0x0EE18;

/// FDIRIPDA, rw: Filter: IPv4 destination address.
pub const FDIRIPDA: u32 = 0x0EE1C;

/// FDIRPORT, rw: Filter: ports.
pub const FDIRPORT: u32 = 0x0EE20;
/// Bits 15:0: Source port.
pub const FDIRPORT_SOURCE: u32 = 0x0000FFFF;
/// Bits 31:16: Destination port.
pub const FDIRPORT_DESTINATION: u32 = 0xFFFF0000;

/// FDIRVLAN, rw: Filter: VLAN and flexible bytes.
pub const FDIRVLAN: u32 = 0x0EE24;
/// Bits 15:0: VLAN tag.
pub const FDIRVLAN_VLAN: u32 = 0x0000FFFF;
/// Bits 31:16: Flexible bytes.
pub const FDIRVLAN_FLEX: u32 = 0xFFFF0000;

/// FDIRHASH, rw: Filter: hash and signature.
pub const FDIRHASH: u32 = 0x0EE28;
/// Bits 14:0: Hash.
pub const FDIRHASH_HASH: u32 = 0x00007FFF;
/// Bit 15: The hash is valid.
pub const FDIRHASH_BUCKET_VALID: u32 = 0x00008000;
/// Bits 30:16: Signature, or index in software's table.
pub const FDIRHASH_SIGNATURE: u32 = 0x7FFF0000;

/// FDIRCMD, rw: Filter: command. The write starts it.
pub const FDIRCMD: u32 = 0x0EE2C;
/// Bits 1:0: Command; 0 when done.
pub const FDIRCMD_CMD: u32 = 0x00000003;
/// Value of [`FDIRCMD_CMD`].
pub const FDIRCMD_CMD_NONE: u32 = 0x00000000;
/// Value of [`FDIRCMD_CMD`].
pub const FDIRCMD_CMD_ADD: u32 = 0x00000001;
/// Value of [`FDIRCMD_CMD`].
pub const FDIRCMD_CMD_REMOVE: u32 = 0x00000002;
/// Value of [`FDIRCMD_CMD`].
pub const FDIRCMD_CMD_QUERY: u32 = 0x00000003;
/// Bit 2, ro: The filter was there.
pub const FDIRCMD_FILTER_VALID: u32 = 0x00000004;
/// Bit 3: Overwrite the filter if it is there.
pub const FDIRCMD_FILTER_UPDATE: u32 = 0x00000008;
/// Bit 4: The filter is for IPv6.
pub const FDIRCMD_IPV6: u32 = 0x00000010;
/// Bits 6:5: Protocol.
pub const FDIRCMD_L4TYPE: u32 = 0x00000060;
/// Value of [`FDIRCMD_L4TYPE`].
pub const FDIRCMD_L4TYPE_OTHER: u32 = 0x00000000;
/// Value of [`FDIRCMD_L4TYPE`].
pub const FDIRCMD_L4TYPE_UDP: u32 = 0x00000020;
/// Value of [`FDIRCMD_L4TYPE`].
pub const FDIRCMD_L4TYPE_TCP: u32 = 0x00000040;
/// Value of [`FDIRCMD_L4TYPE`].
pub const FDIRCMD_L4TYPE_SCTP: u32 = 0x00000060;
/// Bit 8: Delete all filters.
pub const FDIRCMD_CLEARHT: u32 = 0x00000100;
/// Bit 9: Drop packets that match.
pub const FDIRCMD_DROP: u32 = 0x00000200;
/// Bit 10: Raise an interrupt on a match.
pub const FDIRCMD_INT: u32 = 0x00000400;
/// Bit 11: Last filter of its list.
pub const FDIRCMD_LAST: u32 = 0x00000800;
/// Bit 12: A filter with the hash of another one.
pub const FDIRCMD_COLLISION: u32 = 0x00001000;
/// Bit 15: RX_QUEUE applies.
pub const FDIRCMD_QUEUE_EN: u32 = 0x00008000;
/// Bits 22:16: Queue of packets that match.
pub const FDIRCMD_RX_QUEUE: u32 = 0x007F0000;
/// Bits 29:24: Pool.
pub const FDIRCMD_POOL: u32 = 0x3F000000;

// ---- Virtual functions and pools ----

/// PFVTCTL, rw: Virtualisation. Datasheet 8.2.3.27.1.
pub const PFVTCTL: u32 = 0x051B0;
/// PFVT_CTL, rw: Virtualisation. Datasheet 8.2.3.27.1.
pub const PFVT_CTL: u32 = 0x051B0;
/// Bit 0: Pools are used.
pub const PFVTCTL_VT_ENA: u32 = 0x00000001;
/// Bits 12:7: Pool of packets that no filter claims.
pub const PFVTCTL_DEF_PL: u32 = 0x00001F80;
/// Bit 29: Drop such packets instead.
pub const PFVTCTL_DIS_DEF_PL: u32 = 0x20000000;
/// Bit 30: Copy multicast and broadcast packets for each pool.
pub const PFVTCTL_RPL_EN: u32 = 0x40000000;

/// PFMAILBOX, rw: Mailbox to a virtual function: control.
/// `n` is below 64.
pub const fn PFMAILBOX(n: u32) -> u32 {
    0x04B00 + 0x4 * n
}
/// Entries of [`PFMAILBOX`].
pub const PFMAILBOX_COUNT: u32 = 64;
/// Bit 0, sc: Signal a message to the virtual function.
pub const PFMAILBOX_STS: u32 = 0x00000001;
/// Bit 1, sc: Acknowledge the virtual function's message.
pub const PFMAILBOX_ACK: u32 = 0x00000002;
/// Bit 2: The virtual function has the mailbox.
pub const PFMAILBOX_VFU: u32 = 0x00000004;
/// Bit 3: The physical function has the mailbox.
pub const PFMAILBOX_PFU: u32 = 0x00000008;
/// Bit 4, sc: Take the mailbox from the virtual function.
pub const PFMAILBOX_RVFU: u32 = 0x00000010;

/// PFMBICR, w1c: Mailboxes of 16 virtual functions each that raised an interrupt.
/// `n` is below 4.
pub const fn PFMBICR(n: u32) -> u32 {
    0x00710 + 0x4 * n
}
/// Entries of [`PFMBICR`].
pub const PFMBICR_COUNT: u32 = 4;
/// Bits 15:0: Virtual functions with a message.
pub const PFMBICR_VFREQ: u32 = 0x0000FFFF;
/// Bits 31:16: Virtual functions with an acknowledgement.
pub const PFMBICR_VFACK: u32 = 0xFFFF0000;

/// PFMBIMR, rw: Virtual functions whose mailboxes may raise an interrupt.
/// `n` is below 4.
pub const fn PFMBIMR(n: u32) -> u32 {
    0x00720 + 0x4 * n
}
/// Entries of [`PFMBIMR`].
pub const PFMBIMR_COUNT: u32 = 4;

/// PFVFLRE, ro: Virtual functions 32n + 31 to 32n that were reset.
/// `n` is below 2.
pub const fn PFVFLRE(n: u32) -> u32 {
    if n < 1 {
        0x00600 + 0x4 * n
    } else {
        0x001C0 + 0x4 * (n - 1)
    }
}
/// Entries of [`PFVFLRE`].
pub const PFVFLRE_COUNT: u32 = 2;

/// PFVFLREC, w1c: Virtual functions that were reset: writing 1 acknowledges. Datasheet 8.2.3.27.6.
/// `n` is below 2.
pub const fn PFVFLREC(n: u32) -> u32 {
    0x00700 + 0x4 * n
}
/// Entries of [`PFVFLREC`].
pub const PFVFLREC_COUNT: u32 = 2;

/// PFVFRE, rw: Virtual functions that may receive. Datasheet 8.2.3.27.7.
/// `n` is below 2.
pub const fn PFVFRE(n: u32) -> u32 {
    0x051E0 + 0x4 * n
}
/// Entries of [`PFVFRE`].
pub const PFVFRE_COUNT: u32 = 2;

/// PFVFTE, rw: Virtual functions that may send. Datasheet 8.2.3.27.8.
/// `n` is below 2.
pub const fn PFVFTE(n: u32) -> u32 {
    0x08110 + 0x4 * n
}
/// Entries of [`PFVFTE`].
pub const PFVFTE_COUNT: u32 = 2;

/// PFQDE, rw: Per queue: drop packets without descriptors, whatever SRRCTL says. Datasheet 8.2.3.27.9.
pub const PFQDE: u32 = 0x02F04;
/// QDE, rw: Per queue: drop packets without descriptors, whatever SRRCTL says. Datasheet 8.2.3.27.9.
pub const QDE: u32 = 0x02F04;
/// Bit 0: Yes.
pub const PFQDE_ENABLE: u32 = 0x00000001;
/// Bit 1: Strip VLAN tags and do not report them.
pub const PFQDE_HIDE_VLAN: u32 = 0x00000002;
/// Bits 14:8: The queue.
pub const PFQDE_IDX: u32 = 0x00007F00;
/// Bit 16: Write the setting.
pub const PFQDE_WRITE: u32 = 0x00010000;
/// Bit 17: Read the setting.
pub const PFQDE_READ: u32 = 0x00020000;

/// PFVMTXSW, rw: Pools whose packets may be looped back to other pools.
/// `n` is below 2.
pub const fn PFVMTXSW(n: u32) -> u32 {
    0x05180 + 0x4 * n
}
/// Entries of [`PFVMTXSW`].
pub const PFVMTXSW_COUNT: u32 = 2;

/// PFVFSPOOF, rw: Pools whose source addresses are checked, 8 an entry.
/// `n` is below 8.
pub const fn PFVFSPOOF(n: u32) -> u32 {
    0x08200 + 0x4 * n
}
/// Entries of [`PFVFSPOOF`].
pub const PFVFSPOOF_COUNT: u32 = 8;
/// Bits 7:0: MAC address.
pub const PFVFSPOOF_MACAS: u32 = 0x000000FF;
/// Bits 15:8: VLAN.
pub const PFVFSPOOF_VLANAS: u32 = 0x0000FF00;

/// PFDTXGSWC, rw: Looping packets back between pools.
pub const PFDTXGSWC: u32 = 0x08220;
/// Bit 0: Loop packets back.
pub const PFDTXGSWC_LBE: u32 = 0x00000001;

/// PFVMVIR, rw: VLAN tag that is put into a pool's packets.
/// `n` is below 64.
pub const fn PFVMVIR(n: u32) -> u32 {
    0x08000 + 0x4 * n
}
/// Entries of [`PFVMVIR`].
pub const PFVMVIR_COUNT: u32 = 64;
/// Bits 15:0: The tag.
pub const PFVMVIR_PORT_VLAN: u32 = 0x0000FFFF;
/// Bits 31:30: Choice: as the descriptor says, always, or never.
pub const PFVMVIR_VLANA: u32 = 0xC0000000;
/// Value of [`PFVMVIR_VLANA`].
pub const PFVMVIR_VLANA_DESCRIPTOR: u32 = 0x00000000;
/// Value of [`PFVMVIR_VLANA`].
pub const PFVMVIR_VLANA_DEFAULT: u32 = 0x40000000;
/// Value of [`PFVMVIR_VLANA`].
pub const PFVMVIR_VLANA_NEVER: u32 = 0x80000000;

/// PFVML2FLT, rw: Packets that a pool gets. Datasheet 8.2.3.27.14.
/// `n` is below 64.
pub const fn PFVML2FLT(n: u32) -> u32 {
    0x0F000 + 0x4 * n
}
/// VMOLR, rw: Packets that a pool gets. Datasheet 8.2.3.27.14.
/// `n` is below 64.
pub const fn VMOLR(n: u32) -> u32 {
    0x0F000 + 0x4 * n
}
/// Entries of [`PFVML2FLT`].
pub const PFVML2FLT_COUNT: u32 = 64;
/// Bit 22: All unicast packets. X540 and later.
pub const PFVML2FLT_UPE: u32 = 0x00400000;
/// Bit 23: Packets of all VLANs. X540 and later.
pub const PFVML2FLT_VPE: u32 = 0x00800000;
/// Bit 24: Packets without a VLAN tag.
pub const PFVML2FLT_AUPE: u32 = 0x01000000;
/// Bit 25: Packets that MTA matches.
pub const PFVML2FLT_ROMPE: u32 = 0x02000000;
/// Bit 26: Packets that PFUTA matches.
pub const PFVML2FLT_ROPE: u32 = 0x04000000;
/// Bit 27: Accept broadcast packets.
pub const PFVML2FLT_BAM: u32 = 0x08000000;
/// Bit 28: Accept all multicast packets.
pub const PFVML2FLT_MPE: u32 = 0x10000000;

/// PFVLVF, rw: A VLAN that pools share. Datasheet 8.2.3.27.15.
/// `n` is below 64.
pub const fn PFVLVF(n: u32) -> u32 {
    0x0F100 + 0x4 * n
}
/// Entries of [`PFVLVF`].
pub const PFVLVF_COUNT: u32 = 64;
/// Bits 11:0: The VLAN.
pub const PFVLVF_VLAN_ID: u32 = 0x00000FFF;
/// Bit 31: The entry is valid.
pub const PFVLVF_VI_EN: u32 = 0x80000000;

/// PFVLVFB, rw: Pools of a VLAN; 2n and 2n + 1 are those of PFVLVF(n). Datasheet 8.2.3.27.16.
/// `n` is below 128.
pub const fn PFVLVFB(n: u32) -> u32 {
    0x0F200 + 0x4 * n
}
/// Entries of [`PFVLVFB`].
pub const PFVLVFB_COUNT: u32 = 128;

/// PFMRCTL, rw: Packets that a rule mirrors, and the pool that gets them.
/// `n` is below 4.
pub const fn PFMRCTL(n: u32) -> u32 {
    0x0F600 + 0x4 * n
}
/// Entries of [`PFMRCTL`].
pub const PFMRCTL_COUNT: u32 = 4;
/// Bit 0: Packets of pools.
pub const PFMRCTL_VPME: u32 = 0x00000001;
/// Bit 1: Packets received.
pub const PFMRCTL_UPME: u32 = 0x00000002;
/// Bit 2: Packets sent.
pub const PFMRCTL_DPME: u32 = 0x00000004;
/// Bit 3: Packets of VLANs.
pub const PFMRCTL_VLME: u32 = 0x00000008;
/// Bits 13:8: Pool that gets them.
pub const PFMRCTL_MP: u32 = 0x00003F00;

/// PFMRVLAN, rw: VLANs that a rule mirrors.
/// `n` is below 8.
pub const fn PFMRVLAN(n: u32) -> u32 {
    0x0F610 + 0x4 * n
}
/// Entries of [`PFMRVLAN`].
pub const PFMRVLAN_COUNT: u32 = 8;

/// PFMRVM, rw: Pools that a rule mirrors.
/// `n` is below 8.
pub const fn PFMRVM(n: u32) -> u32 {
    0x0F630 + 0x4 * n
}
/// Entries of [`PFMRVM`].
pub const PFMRVM_COUNT: u32 = 8;

/// VMECM, rw: Pools whose malicious packets are counted and stopped. X540 and later.
/// `n` is below 2.
pub const fn VMECM(n: u32) -> u32 {
    0x08790 + 0x4 * n
}
/// Entries of [`VMECM`].
pub const VMECM_COUNT: u32 = 2;

/// LVMMC_RX, ro: Last malicious receive event.
pub const LVMMC_RX: u32 = 0x02FA8;

/// LVMMC_TX, ro: Last malicious transmit event.
pub const LVMMC_TX: u32 = 0x08108;

/// LMVM_RX, ro: Last pool with a malicious receive event.
pub const LMVM_RX: u32 = 0x02FA4;

/// LMVM_TX, ro: Last pool with a malicious transmit event.
pub const LMVM_TX: u32 = 0x08124;

/// WQBR_RX, w1c: Receive queues that the card stopped for malicious behaviour.
/// `n` is below 4.
pub const fn WQBR_RX(n: u32) -> u32 {
    0x02FB0 + 0x4 * n
}
/// Entries of [`WQBR_RX`].
pub const WQBR_RX_COUNT: u32 = 4;

/// WQBR_TX, w1c: Transmit queues that the card stopped for malicious behaviour.
/// `n` is below 4.
pub const fn WQBR_TX(n: u32) -> u32 {
    0x08130 + 0x4 * n
}
/// Entries of [`WQBR_TX`].
pub const WQBR_TX_COUNT: u32 = 4;

/// PFMBMEM, rw: Mailboxes: memory, 16 dwords each; entry 16v + i is dword i of mailbox v.
/// `n` is below 1024.
pub const fn PFMBMEM(n: u32) -> u32 {
    0x13000 + 0x4 * n
}
/// Entries of [`PFMBMEM`].
pub const PFMBMEM_COUNT: u32 = 1024;

// ---- FCoE ----

/// FCRXCTRL, rw: FCoE receive control.
pub const FCRXCTRL: u32 = 0x05100;
/// Bit 0: Raise a low latency interrupt.
pub const FCRXCTRL_FCOELLI: u32 = 0x00000001;
/// Bit 1: Keep bad frames.
pub const FCRXCTRL_SAVBAD: u32 = 0x00000002;
/// Bit 2: Pass the first read header.
pub const FCRXCTRL_FRSTRDH: u32 = 0x00000004;
/// Bit 3: Pass the last header of a sequence.
pub const FCRXCTRL_LASTSEQH: u32 = 0x00000008;
/// Bit 4: Pass all headers.
pub const FCRXCTRL_ALLH: u32 = 0x00000010;
/// Bit 5: Pass the first header of a sequence.
pub const FCRXCTRL_FRSTSEQH: u32 = 0x00000020;
/// Bit 6: Ignore a wrong FC CRC.
pub const FCRXCTRL_ICRC: u32 = 0x00000040;
/// Bit 7: Byte order of the FC CRC.
pub const FCRXCTRL_FCCRCBO: u32 = 0x00000080;
/// Bits 11:8: Version of FCoE.
pub const FCRXCTRL_FCOEVER: u32 = 0x00000F00;

/// FCRECTL, rw: FCoE redirection control.
pub const FCRECTL: u32 = 0x0ED00;
/// Bit 0: Choose the queue by FCRETA.
pub const FCRECTL_ENA: u32 = 0x00000001;

/// FCRETA, rw: FCoE redirection table.
/// `n` is below 8.
pub const fn FCRETA(n: u32) -> u32 {
    0x0ED10 + 0x4 * n
}
/// Entries of [`FCRETA`].
pub const FCRETA_COUNT: u32 = 8;
/// Bits 6:0: Queue.
pub const FCRETA_ENTRY: u32 = 0x0000007F;

/// FCFLT, rw: FCoE filter context.
pub const FCFLT: u32 = 0x05108;
/// Bit 0: The entry is valid.
pub const FCFLT_VALID: u32 = 0x00000001;
/// Bit 1: First packet of a sequence is awaited.
pub const FCFLT_FIRST: u32 = 0x00000002;
/// Bits 23:16: Sequence.
pub const FCFLT_SEQID: u32 = 0x00FF0000;
/// Bits 31:24: Count within the sequence.
pub const FCFLT_SEQCNT: u32 = 0xFF000000;

/// FCFLTRW, rw: Access to an FCoE filter context.
pub const FCFLTRW: u32 = 0x05110;
/// Bits 8:0: Exchange.
pub const FCFLTRW_FCOESEL: u32 = 0x000001FF;
/// Bit 13: Validate again.
pub const FCFLTRW_RVALDT: u32 = 0x00002000;
/// Bit 14: Write.
pub const FCFLTRW_WE: u32 = 0x00004000;
/// Bit 15: Read.
pub const FCFLTRW_RE: u32 = 0x00008000;

/// FCPARAM, rw: FCoE parameter of the exchange.
pub const FCPARAM: u32 = 0x051D8;

/// FCSMAC, rw: FCoE source address.
pub const FCSMAC: u32 = 0x0510C;

/// FCD_ID, rw: FCoE destination.
pub const FCD_ID: u32 = 0x05114;

/// FCPTRL, rw: FCoE user descriptors' IOVA, low half.
pub const FCPTRL: u32 = 0x02410;

/// FCPTRH, rw: FCoE user descriptors' IOVA, high half.
pub const FCPTRH: u32 = 0x02414;

/// FCBUFF, rw: FCoE user buffers.
pub const FCBUFF: u32 = 0x02418;
/// Bit 0: The context is valid.
pub const FCBUFF_VALID: u32 = 0x00000001;
/// Bits 4:3: Size of a buffer: 4 KiB times 2 to the power of this.
pub const FCBUFF_BUFFSIZE: u32 = 0x00000018;
/// Bit 7: This side is the target.
pub const FCBUFF_WRCONTX: u32 = 0x00000080;
/// Bits 15:8: Buffers.
pub const FCBUFF_BUFFCNT: u32 = 0x0000FF00;
/// Bits 31:16: Offset in the first buffer.
pub const FCBUFF_OFFSET: u32 = 0xFFFF0000;

/// FCDMARW, rw: Access to an FCoE DMA context.
pub const FCDMARW: u32 = 0x02420;
/// Bits 8:0: Exchange.
pub const FCDMARW_FCOESEL: u32 = 0x000001FF;
/// Bit 14: Write.
pub const FCDMARW_WE: u32 = 0x00004000;
/// Bit 15: Read.
pub const FCDMARW_RE: u32 = 0x00008000;
/// Bits 31:16: Bytes in the last buffer.
pub const FCDMARW_LASTSIZE: u32 = 0xFFFF0000;

/// TEOFF, rw: FCoE end-of-frame codes to send.
pub const TEOFF: u32 = 0x04A94;

/// TSOFF, rw: FCoE start-of-frame codes to send.
pub const TSOFF: u32 = 0x04A98;

/// REOFF, rw: FCoE end-of-frame codes received.
pub const REOFF: u32 = 0x05158;

/// RSOFF, rw: FCoE start-of-frame codes received.
pub const RSOFF: u32 = 0x051F8;

// ---- Time stamps ----

/// TSYNCRXCTL, rw: Receive time stamps.
pub const TSYNCRXCTL: u32 = 0x05188;
/// Bit 0, ro: RXSTMPL and RXSTMPH hold a time stamp.
pub const TSYNCRXCTL_VALID: u32 = 0x00000001;
/// Bits 3:1: Packets that get a time stamp.
pub const TSYNCRXCTL_TYPE: u32 = 0x0000000E;
/// Value of [`TSYNCRXCTL_TYPE`].
pub const TSYNCRXCTL_TYPE_L2_V2: u32 = 0x00000000;
/// Value of [`TSYNCRXCTL_TYPE`].
pub const TSYNCRXCTL_TYPE_L4_V1: u32 = 0x00000002;
/// Value of [`TSYNCRXCTL_TYPE`].
pub const TSYNCRXCTL_TYPE_L2_L4_V2: u32 = 0x00000004;
/// Value of [`TSYNCRXCTL_TYPE`].
pub const TSYNCRXCTL_TYPE_ALL: u32 = 0x00000008;
/// Value of [`TSYNCRXCTL_TYPE`].
pub const TSYNCRXCTL_TYPE_EVENT_V2: u32 = 0x0000000A;
/// Bit 4: Take time stamps.
pub const TSYNCRXCTL_ENABLED: u32 = 0x00000010;

/// TSYNCTXCTL, rw: Transmit time stamps.
pub const TSYNCTXCTL: u32 = 0x08C00;
/// Bit 0, ro: TXSTMPL and TXSTMPH hold a time stamp.
pub const TSYNCTXCTL_VALID: u32 = 0x00000001;
/// Bit 4: Take time stamps.
pub const TSYNCTXCTL_ENABLED: u32 = 0x00000010;

/// RXSTMPL, ro: Receive time stamp, low half.
pub const RXSTMPL: u32 = 0x051E8;

/// RXSTMPH, ro: Receive time stamp, high half. The read frees it.
pub const RXSTMPH: u32 = 0x051A4;

/// RXSATRL, ro: Source of the packet with the time stamp, low half.
pub const RXSATRL: u32 = 0x051A0;

/// RXSATRH, ro: Source of the packet with the time stamp, high half, and its sequence.
pub const RXSATRH: u32 = 0x051A8;

/// RXMTRL, rw: Messages that get a time stamp.
pub const RXMTRL: u32 = 0x05120;
/// Bits 7:0: Control field of version 1.
pub const RXMTRL_CTRLT: u32 = 0x000000FF;
/// Bits 15:8: Message type of version 2.
pub const RXMTRL_MSGT: u32 = 0x0000FF00;
/// Bits 31:16: UDP port.
pub const RXMTRL_UDPT: u32 = 0xFFFF0000;

/// TXSTMPL, ro: Transmit time stamp, low half.
pub const TXSTMPL: u32 = 0x08C04;

/// TXSTMPH, ro: Transmit time stamp, high half. The read frees it.
pub const TXSTMPH: u32 = 0x08C08;

/// SYSTIML, rw: The card's time, low half. The read holds SYSTIMH.
pub const SYSTIML: u32 = 0x08C0C;

/// SYSTIMH, rw: The card's time, high half.
pub const SYSTIMH: u32 = 0x08C10;

/// TIMINCA, rw: How the card's time advances.
pub const TIMINCA: u32 = 0x08C14;
/// Bits 23:0: Added at each step.
pub const TIMINCA_INCVALUE: u32 = 0x00FFFFFF;
/// Bits 31:24: Clocks in a step.
pub const TIMINCA_INCPER: u32 = 0xFF000000;

/// TIMADJL, rw: Adjustment of the card's time, low half.
pub const TIMADJL: u32 = 0x08C18;

/// TIMADJH, rw: Adjustment of the card's time, high half and sign.
pub const TIMADJH: u32 = 0x08C1C;

/// TSAUXC, rw: Clock output and target times.
pub const TSAUXC: u32 = 0x08C20;
/// Bit 0: Target time 0 applies.
pub const TSAUXC_EN_TT0: u32 = 0x00000001;
/// Bit 1: Target time 1 applies.
pub const TSAUXC_EN_TT1: u32 = 0x00000002;
/// Bit 2: Put out a clock.
pub const TSAUXC_EN_CLK: u32 = 0x00000004;
/// Bit 3: Start the clock at the target time.
pub const TSAUXC_SYNCLK: u32 = 0x00000008;
/// Bit 4: Level after target time 0.
pub const TSAUXC_ST0: u32 = 0x00000010;
/// Bit 6: Pin SDP0 raises an interrupt.
pub const TSAUXC_SDP0_INT: u32 = 0x00000040;
/// Bit 31: The card's time stands still. X550.
pub const TSAUXC_DISABLE_SYSTIME: u32 = 0x80000000;

/// TRGTTIML0, rw: Target time 0, low half.
pub const TRGTTIML0: u32 = 0x08C24;

/// TRGTTIMH0, rw: Target time 0, high half.
pub const TRGTTIMH0: u32 = 0x08C28;

/// TRGTTIML1, rw: Target time 1, low half.
pub const TRGTTIML1: u32 = 0x08C2C;

/// TRGTTIMH1, rw: Target time 1, high half.
pub const TRGTTIMH1: u32 = 0x08C30;

/// CLKTIML, rw: Period of the clock put out, low half.
pub const CLKTIML: u32 = 0x08C34;

/// CLKTIMH, rw: Period of the clock put out, high half.
pub const CLKTIMH: u32 = 0x08C38;

/// AUXSTMPL0, ro: Time stamp of pin event 0, low half.
pub const AUXSTMPL0: u32 = 0x08C3C;

/// AUXSTMPH0, ro: Time stamp of pin event 0, high half.
pub const AUXSTMPH0: u32 = 0x08C40;

/// AUXSTMPL1, ro: Time stamp of pin event 1, low half.
pub const AUXSTMPL1: u32 = 0x08C44;

/// AUXSTMPH1, ro: Time stamp of pin event 1, high half.
pub const AUXSTMPH1: u32 = 0x08C48;

/// TSICR, w1c: Causes of time stamp interrupts. X540 and later.
pub const TSICR: u32 = 0x08C60;

/// TSIM, rw: Time stamp interrupts that are enabled. X540 and later.
pub const TSIM: u32 = 0x08C68;

// ---- Waking the system ----

/// WUC, rw: Wake-up control. Datasheet 8.2.3.24.1.
pub const WUC: u32 = 0x05800;
/// Bit 1: Wake the system.
pub const WUC_PME_EN: u32 = 0x00000002;
/// Bit 2, w1c: The system was woken.
pub const WUC_PME_STATUS: u32 = 0x00000004;
/// Bit 4: Use the pin PE_WAKE_N.
pub const WUC_WKEN: u32 = 0x00000010;

/// WUFC, rw: Events that wake the system. Datasheet 8.2.3.24.2.
pub const WUFC: u32 = 0x05808;
/// Bit 0: A change of the link.
pub const WUFC_LNKC: u32 = 0x00000001;
/// Bit 1: A magic packet.
pub const WUFC_MAG: u32 = 0x00000002;
/// Bit 2: A packet to this address.
pub const WUFC_EX: u32 = 0x00000004;
/// Bit 3: An accepted multicast packet.
pub const WUFC_MC: u32 = 0x00000008;
/// Bit 4: A broadcast packet.
pub const WUFC_BC: u32 = 0x00000010;
/// Bit 5: An ARP request for this address.
pub const WUFC_ARP: u32 = 0x00000020;
/// Bit 6: An IPv4 packet to this address.
pub const WUFC_IPV4: u32 = 0x00000040;
/// Bit 7: An IPv6 packet to this address.
pub const WUFC_IPV6: u32 = 0x00000080;
/// Bit 8: A packet for the firmware.
pub const WUFC_MNG: u32 = 0x00000100;
/// Bit 15: Packets for the firmware do not count.
pub const WUFC_IGNORE_TCO: u32 = 0x00008000;
/// Bits 21:16: Flexible filters, a bit each.
pub const WUFC_FLX: u32 = 0x003F0000;
/// Bit 31: A reset of the firmware.
pub const WUFC_FW_RST_WK: u32 = 0x80000000;

/// WUS, w1c: Events that woke the system. The bits are those of WUFC. Datasheet 8.2.3.24.3.
pub const WUS: u32 = 0x05810;

/// IPAV, rw: Valid wake-up addresses.
pub const IPAV: u32 = 0x05838;

/// IP4AT, rw: IPv4 addresses that wake the system.
/// `n` is below 4.
pub const fn IP4AT(n: u32) -> u32 {
    0x05840 + 0x8 * n
}
/// Entries of [`IP4AT`].
pub const IP4AT_COUNT: u32 = 4;

/// IP6AT, rw: IPv6 address that wakes the system.
/// `n` is below 4.
pub const fn IP6AT(n: u32) -> u32 {
    0x05880 + 0x4 * n
}
/// Entries of [`IP6AT`].
pub const IP6AT_COUNT: u32 = 4;

/// WUPL, ro: Length of the packet that woke the system.
pub const WUPL: u32 = 0x05900;

/// WUPM, ro: Start of the packet that woke the system.
/// `n` is below 32.
pub const fn WUPM(n: u32) -> u32 {
    0x05A00 + 0x4 * n
}
/// Entries of [`WUPM`].
pub const WUPM_COUNT: u32 = 32;

/// FHFT, rw: Flexible filters 0 to 3, 64 dwords each. Datasheet 8.2.3.24.9.
/// `n` is below 256.
pub const fn FHFT(n: u32) -> u32 {
    0x09000 + 0x4 * n
}
/// Entries of [`FHFT`].
pub const FHFT_COUNT: u32 = 256;

/// FHFT_EXT, rw: Flexible filters 4 and 5, 64 dwords each. Datasheet 8.2.3.24.9.
/// `n` is below 128.
pub const fn FHFT_EXT(n: u32) -> u32 {
    0x09800 + 0x4 * n
}
/// Entries of [`FHFT_EXT`].
pub const FHFT_EXT_COUNT: u32 = 128;

// ---- Management ----

/// MANC, rw: Management control.
pub const MANC: u32 = 0x05820;
/// Bit 17: The firmware gets packets.
pub const MANC_RCV_TCO_EN: u32 = 0x00020000;
/// Bit 28: Packets between firmware and system. X540 and later.
pub const MANC_EN_BMC2OS: u32 = 0x10000000;
/// Bit 30: The firmware answers for the system. X540 and later.
pub const MANC_MPROXYE: u32 = 0x40000000;

/// MANC2H, ro: Packets for the firmware that the system gets too.
pub const MANC2H: u32 = 0x05860;

/// MFVAL, ro: Valid management filters.
pub const MFVAL: u32 = 0x05824;

/// MAVTV, rw: Management VLANs.
/// `n` is below 8.
pub const fn MAVTV(n: u32) -> u32 {
    0x05010 + 0x4 * n
}
/// Entries of [`MAVTV`].
pub const MAVTV_COUNT: u32 = 8;

/// MFUTP, rw: Management ports.
/// `n` is below 8.
pub const fn MFUTP(n: u32) -> u32 {
    0x05030 + 0x4 * n
}
/// Entries of [`MFUTP`].
pub const MFUTP_COUNT: u32 = 8;

/// MDEF, rw: Management filters.
/// `n` is below 8.
pub const fn MDEF(n: u32) -> u32 {
    0x05890 + 0x4 * n
}
/// Entries of [`MDEF`].
pub const MDEF_COUNT: u32 = 8;

/// MDEF_EXT, rw: Management filters, further conditions.
/// `n` is below 8.
pub const fn MDEF_EXT(n: u32) -> u32 {
    0x05160 + 0x4 * n
}
/// Entries of [`MDEF_EXT`].
pub const MDEF_EXT_COUNT: u32 = 8;

/// METF, rw: Management EtherTypes.
/// `n` is below 4.
pub const fn METF(n: u32) -> u32 {
    0x05190 + 0x4 * n
}
/// Entries of [`METF`].
pub const METF_COUNT: u32 = 4;

/// MMAL, rw: Management MAC addresses, first four bytes.
/// `n` is below 4.
pub const fn MMAL(n: u32) -> u32 {
    0x05910 + 0x8 * n
}
/// Entries of [`MMAL`].
pub const MMAL_COUNT: u32 = 4;

/// MMAH, rw: Management MAC addresses, last two bytes.
/// `n` is below 4.
pub const fn MMAH(n: u32) -> u32 {
    0x05914 + 0x8 * n
}
/// Entries of [`MMAH`].
pub const MMAH_COUNT: u32 = 4;

/// LSWFW, ro: Lock between LinkSec in software and firmware.
pub const LSWFW: u32 = 0x15F14;

/// HICR, rw: Host interface to the firmware: control.
pub const HICR: u32 = 0x15F00;
/// Bit 0, ro: The interface is on.
pub const HICR_EN: u32 = 0x00000001;
/// Bit 1, sc: A command is in FLEX_MNG: run it.
pub const HICR_C: u32 = 0x00000002;
/// Bit 2, ro: The answer is valid.
pub const HICR_SV: u32 = 0x00000004;
/// Bit 6: The firmware may be reset.
pub const HICR_FW_RESET_ENABLE: u32 = 0x00000040;
/// Bit 7, sc: Reset the firmware.
pub const HICR_FW_RESET: u32 = 0x00000080;

/// FWSTS, rw: Firmware status.
pub const FWSTS: u32 = 0x15F0C;
/// Bit 9, w1c: The firmware was reset.
pub const FWSTS_FWRI: u32 = 0x00000200;

/// FLEX_MNG, rw: Host interface to the firmware: commands and answers.
/// `n` is below 448.
pub const fn FLEX_MNG(n: u32) -> u32 {
    0x15800 + 0x4 * n
}
/// Entries of [`FLEX_MNG`].
pub const FLEX_MNG_COUNT: u32 = 448;

// ---- LinkSec and IPsec ----

/// LSECTXCAP, ro: LinkSec transmit capabilities.
pub const LSECTXCAP: u32 = 0x08A00;

/// LSECRXCAP, ro: LinkSec receive capabilities.
pub const LSECRXCAP: u32 = 0x08F00;

/// LSECTXCTRL, rw: LinkSec transmit control.
pub const LSECTXCTRL: u32 = 0x08A04;
/// Bits 1:0: Operation.
pub const LSECTXCTRL_EN: u32 = 0x00000003;
/// Value of [`LSECTXCTRL_EN`].
pub const LSECTXCTRL_EN_OFF: u32 = 0x00000000;
/// Value of [`LSECTXCTRL_EN`].
pub const LSECTXCTRL_EN_AUTHENTICATE: u32 = 0x00000001;
/// Value of [`LSECTXCTRL_EN`].
pub const LSECTXCTRL_EN_ENCRYPT: u32 = 0x00000002;
/// Bit 5: Put the SCI into packets.
pub const LSECTXCTRL_AISCI: u32 = 0x00000020;
/// Bits 31:8: Packet number at which to warn.
pub const LSECTXCTRL_PNTHRSH: u32 = 0xFFFFFF00;

/// LSECRXCTRL, rw: LinkSec receive control.
pub const LSECRXCTRL: u32 = 0x08F04;
/// Bits 3:2: Operation.
pub const LSECRXCTRL_EN: u32 = 0x0000000C;
/// Value of [`LSECRXCTRL_EN`].
pub const LSECRXCTRL_EN_OFF: u32 = 0x00000000;
/// Value of [`LSECRXCTRL_EN`].
pub const LSECRXCTRL_EN_CHECK: u32 = 0x00000004;
/// Value of [`LSECRXCTRL_EN`].
pub const LSECRXCTRL_EN_STRICT: u32 = 0x00000008;
/// Value of [`LSECRXCTRL_EN`].
pub const LSECRXCTRL_EN_DROP: u32 = 0x0000000C;
/// Bit 6: Pass the header on.
pub const LSECRXCTRL_PLSH: u32 = 0x00000040;
/// Bit 7: Protect against replay.
pub const LSECRXCTRL_RP: u32 = 0x00000080;

/// LSECTXSCL, rw: LinkSec SCI to send, low half.
pub const LSECTXSCL: u32 = 0x08A08;

/// LSECTXSCH, rw: LinkSec SCI to send, high half.
pub const LSECTXSCH: u32 = 0x08A0C;

/// LSECTXSA, rw: LinkSec associations to send.
pub const LSECTXSA: u32 = 0x08A10;

/// LSECTXPN0, rw: LinkSec packet number to send, association 0.
pub const LSECTXPN0: u32 = 0x08A14;

/// LSECTXPN1, rw: LinkSec packet number to send, association 1.
pub const LSECTXPN1: u32 = 0x08A18;

/// LSECTXKEY0, wo: LinkSec key to send, association 0.
/// `n` is below 4.
pub const fn LSECTXKEY0(n: u32) -> u32 {
    0x08A1C + 0x4 * n
}
/// Entries of [`LSECTXKEY0`].
pub const LSECTXKEY0_COUNT: u32 = 4;

/// LSECTXKEY1, wo: LinkSec key to send, association 1.
/// `n` is below 4.
pub const fn LSECTXKEY1(n: u32) -> u32 {
    0x08A2C + 0x4 * n
}
/// Entries of [`LSECTXKEY1`].
pub const LSECTXKEY1_COUNT: u32 = 4;

/// LSECRXSCL, rw: LinkSec SCI to receive, low half.
pub const LSECRXSCL: u32 = 0x08F08;

/// LSECRXSCH, rw: LinkSec SCI to receive, high half.
pub const LSECRXSCH: u32 = 0x08F0C;

/// LSECRXSA, rw: LinkSec associations to receive.
/// `n` is below 2.
pub const fn LSECRXSA(n: u32) -> u32 {
    0x08F10 + 0x4 * n
}
/// Entries of [`LSECRXSA`].
pub const LSECRXSA_COUNT: u32 = 2;

/// LSECRXPN, rw: LinkSec packet numbers to receive.
/// `n` is below 2.
pub const fn LSECRXPN(n: u32) -> u32 {
    0x08F18 + 0x4 * n
}
/// Entries of [`LSECRXPN`].
pub const LSECRXPN_COUNT: u32 = 2;

/// LSECRXKEY, wo: LinkSec keys to receive, 4 dwords for each of two associations.
/// `n` is below 8.
pub const fn LSECRXKEY(n: u32) -> u32 {
    0x08F20 + 0x4 * n
}
/// Entries of [`LSECRXKEY`].
pub const LSECRXKEY_COUNT: u32 = 8;

/// LSECTXUT, rc: LinkSec packets sent without a tag.
pub const LSECTXUT: u32 = 0x08A3C;

/// LSECTXPKTE, rc: LinkSec packets sent encrypted.
pub const LSECTXPKTE: u32 = 0x08A40;

/// LSECTXPKTP, rc: LinkSec packets sent authenticated.
pub const LSECTXPKTP: u32 = 0x08A44;

/// LSECTXOCTE, rc: LinkSec bytes sent encrypted.
pub const LSECTXOCTE: u32 = 0x08A48;

/// LSECTXOCTP, rc: LinkSec bytes sent authenticated.
pub const LSECTXOCTP: u32 = 0x08A4C;

/// LSECRXUT, rc: LinkSec packets received without a tag.
pub const LSECRXUT: u32 = 0x08F40;

/// LSECRXOCTD, rc: LinkSec bytes decrypted.
pub const LSECRXOCTD: u32 = 0x08F44;

/// LSECRXOCTV, rc: LinkSec bytes checked.
pub const LSECRXOCTV: u32 = 0x08F48;

/// LSECRXBAD, rc: LinkSec packets with a bad tag.
pub const LSECRXBAD: u32 = 0x08F4C;

/// LSECRXNOSCI, rc: LinkSec packets without an SCI.
pub const LSECRXNOSCI: u32 = 0x08F50;

/// LSECRXUNSCI, rc: LinkSec packets with an unknown SCI.
pub const LSECRXUNSCI: u32 = 0x08F54;

/// LSECRXUNCH, rc: LinkSec packets not checked.
pub const LSECRXUNCH: u32 = 0x08F58;

/// LSECRXDELAY, rc: LinkSec packets delayed.
pub const LSECRXDELAY: u32 = 0x08F5C;

/// LSECRXLATE, rc: LinkSec packets late.
pub const LSECRXLATE: u32 = 0x08F60;

/// LSECRXOK, rc: LinkSec packets good, by association.
/// `n` is below 2.
pub const fn LSECRXOK(n: u32) -> u32 {
    0x08F64 + 0x4 * n
}
/// Entries of [`LSECRXOK`].
pub const LSECRXOK_COUNT: u32 = 2;

/// LSECRXINV, rc: LinkSec packets invalid, by association.
/// `n` is below 2.
pub const fn LSECRXINV(n: u32) -> u32 {
    0x08F6C + 0x4 * n
}
/// Entries of [`LSECRXINV`].
pub const LSECRXINV_COUNT: u32 = 2;

/// LSECRXNV, rc: LinkSec packets not valid, by association.
/// `n` is below 2.
pub const fn LSECRXNV(n: u32) -> u32 {
    0x08F74 + 0x4 * n
}
/// Entries of [`LSECRXNV`].
pub const LSECRXNV_COUNT: u32 = 2;

/// LSECRXUNSA, rc: LinkSec packets of an unused association.
pub const LSECRXUNSA: u32 = 0x08F7C;

/// LSECRXNUSA, rc: LinkSec packets of no association.
pub const LSECRXNUSA: u32 = 0x08F80;

/// IPSTXIDX, rw: IPsec transmit table: access.
pub const IPSTXIDX: u32 = 0x08900;
/// Bit 0: Process IPsec in sent packets.
pub const IPSTXIDX_IPS_TX_EN: u32 = 0x00000001;
/// Bits 12:3: Index in the table.
pub const IPSTXIDX_TB_IDX: u32 = 0x00001FF8;
/// Bit 30, sc: Read the entry.
pub const IPSTXIDX_READ: u32 = 0x40000000;
/// Bit 31, sc: Write the entry.
pub const IPSTXIDX_WRITE: u32 = 0x80000000;

/// IPSTXSALT, rw: IPsec transmit table: salt.
pub const IPSTXSALT: u32 = 0x08904;

/// IPSTXKEY, rw: IPsec transmit table: key.
/// `n` is below 4.
pub const fn IPSTXKEY(n: u32) -> u32 {
    0x08908 + 0x4 * n
}
/// Entries of [`IPSTXKEY`].
pub const IPSTXKEY_COUNT: u32 = 4;

/// IPSRXIDX, rw: IPsec receive tables: access.
pub const IPSRXIDX: u32 = 0x08E00;
/// Bit 0: Process IPsec in received packets.
pub const IPSRXIDX_IPS_RX_EN: u32 = 0x00000001;
/// Bits 2:1: Table.
pub const IPSRXIDX_TABLE: u32 = 0x00000006;
/// Value of [`IPSRXIDX_TABLE`].
pub const IPSRXIDX_TABLE_IP: u32 = 0x00000002;
/// Value of [`IPSRXIDX_TABLE`].
pub const IPSRXIDX_TABLE_SPI: u32 = 0x00000004;
/// Value of [`IPSRXIDX_TABLE`].
pub const IPSRXIDX_TABLE_KEY: u32 = 0x00000006;
/// Bits 12:3: Index in the table.
pub const IPSRXIDX_TB_IDX: u32 = 0x00001FF8;
/// Bit 30, sc: Read the entry.
pub const IPSRXIDX_READ: u32 = 0x40000000;
/// Bit 31, sc: Write the entry.
pub const IPSRXIDX_WRITE: u32 = 0x80000000;

/// IPSRXIPADDR, rw: IPsec receive tables: address.
/// `n` is below 4.
pub const fn IPSRXIPADDR(n: u32) -> u32 {
    0x08E04 + 0x4 * n
}
/// Entries of [`IPSRXIPADDR`].
pub const IPSRXIPADDR_COUNT: u32 = 4;

/// IPSRXSPI, rw: IPsec receive tables: SPI.
pub const IPSRXSPI: u32 = 0x08E14;

/// IPSRXIPIDX, rw: IPsec receive tables: index of the address.
pub const IPSRXIPIDX: u32 = 0x08E18;

/// IPSRXKEY, rw: IPsec receive tables: key.
/// `n` is below 4.
pub const fn IPSRXKEY(n: u32) -> u32 {
    0x08E1C + 0x4 * n
}
/// Entries of [`IPSRXKEY`].
pub const IPSRXKEY_COUNT: u32 = 4;

/// IPSRXSALT, rw: IPsec receive tables: salt.
pub const IPSRXSALT: u32 = 0x08E2C;

/// IPSRXMOD, rw: IPsec receive tables: mode.
pub const IPSRXMOD: u32 = 0x08E30;
/// Bit 0: The entry is valid.
pub const IPSRXMOD_VALID: u32 = 0x00000001;
/// Bit 2: ESP, not AH.
pub const IPSRXMOD_PROTO: u32 = 0x00000004;
/// Bit 3: Decrypt.
pub const IPSRXMOD_DECRYPT: u32 = 0x00000008;
/// Bit 4: The address is an IPv6 one.
pub const IPSRXMOD_IPV6: u32 = 0x00000010;

// ---- Diagnostics ----

/// RDHMPN, rw: Access to receive descriptors on the chip.
pub const RDHMPN: u32 = 0x02F08;

/// RIC_DW, ro: A receive descriptor on the chip.
/// `n` is below 4.
pub const fn RIC_DW(n: u32) -> u32 {
    0x02F10 + 0x4 * n
}
/// Entries of [`RIC_DW`].
pub const RIC_DW_COUNT: u32 = 4;

/// RDPROBE, rw: Probe in receive DMA.
pub const RDPROBE: u32 = 0x02F20;

/// RDMAM, rw: Access to the memories of receive DMA.
pub const RDMAM: u32 = 0x02F30;

/// RDMAD, ro: A dword of a memory of receive DMA.
pub const RDMAD: u32 = 0x02F34;

/// TDHMPN2, rw: Access to transmit descriptors on the chip.
pub const TDHMPN2: u32 = 0x082FC;

/// TXDESCIC, ro: Transmit descriptors on the chip.
pub const TXDESCIC: u32 = 0x082CC;
/// Bit 31: TIC_DW2 holds a descriptor.
pub const TXDESCIC_READY: u32 = 0x80000000;

/// TIC_DW2, ro: A transmit descriptor on the chip.
/// `n` is below 4.
pub const fn TIC_DW2(n: u32) -> u32 {
    0x082B0 + 0x4 * n
}
/// Entries of [`TIC_DW2`].
pub const TIC_DW2_COUNT: u32 = 4;

/// TXLLQ, rw: Queues with strict low latency.
/// `n` is below 4.
pub const fn TXLLQ(n: u32) -> u32 {
    0x082E0 + 0x4 * n
}
/// Entries of [`TXLLQ`].
pub const TXLLQ_COUNT: u32 = 4;

/// RDSTATCTL, rw: Receive statistics for debugging: control.
pub const RDSTATCTL: u32 = 0x02C20;

/// RDSTAT, rc: Receive statistics for debugging.
/// `n` is below 8.
pub const fn RDSTAT(n: u32) -> u32 {
    0x02C00 + 0x4 * n
}
/// Entries of [`RDSTAT`].
pub const RDSTAT_COUNT: u32 = 8;

/// RXMEMWRAP, ro: Times a receive packet buffer wrapped.
pub const RXMEMWRAP: u32 = 0x03190;

/// RXUSED, ro: Fill of a receive packet buffer.
/// `n` is below 8.
pub const fn RXUSED(n: u32) -> u32 {
    0x03120 + 0x4 * n
}
/// Entries of [`RXUSED`].
pub const RXUSED_COUNT: u32 = 8;

/// TXUSED, ro: Fill of a transmit packet buffer.
/// `n` is below 8.
pub const fn TXUSED(n: u32) -> u32 {
    0x0C120 + 0x4 * n
}
/// Entries of [`TXUSED`].
pub const TXUSED_COUNT: u32 = 8;

/// PCIE_DIAG, ro: PCI Express diagnostics.
/// `n` is below 8.
pub const fn PCIE_DIAG(n: u32) -> u32 {
    0x11090 + 0x4 * n
}
/// Entries of [`PCIE_DIAG`].
pub const PCIE_DIAG_COUNT: u32 = 8;

/// GSCL_1, rw: PCI Express statistics: control.
pub const GSCL_1: u32 = 0x11010;

/// GSCL_2, rw: PCI Express statistics: events.
pub const GSCL_2: u32 = 0x11014;

/// GSCL_5, rw: PCI Express statistics: thresholds.
/// `n` is below 4.
pub const fn GSCL_5(n: u32) -> u32 {
    0x11030 + 0x4 * n
}
/// Entries of [`GSCL_5`].
pub const GSCL_5_COUNT: u32 = 4;

/// GSCN, rc: PCI Express statistics: counters.
/// `n` is below 4.
pub const fn GSCN(n: u32) -> u32 {
    0x11020 + 0x4 * n
}
/// Entries of [`GSCN`].
pub const GSCN_COUNT: u32 = 4;

/// BARCTRL, ro: Sizes of the memory regions.
pub const BARCTRL: u32 = 0x110F4;
/// Bits 10:8: Flash.
pub const BARCTRL_FLSIZE: u32 = 0x00000700;
/// Bit 13: Registers have 256 KiB, not 128 KiB.
pub const BARCTRL_CSRSIZE: u32 = 0x00002000;

/// ECC_CTRL_0, rw: PCI Express memory errors: control 0.
pub const ECC_CTRL_0: u32 = 0x11100;

/// ECC_CTRL_1, rw: PCI Express memory errors: control 1.
pub const ECC_CTRL_1: u32 = 0x11104;

/// ECC_STATUS, ro: PCI Express memory errors.
pub const ECC_STATUS: u32 = 0x110E0;

// ---- Descriptors ----
// Masks of 64 bits, of one of the two quad words of a descriptor.

// RXD, as software writes it: Advanced receive descriptor with buffer addresses, as software writes it. Datasheet 7.1.6.1.

/// Word 0, bits 63:0: IOVA of the packet buffer.
pub const RXD_PACKET_ADDRESS: u64 = 0xFFFFFFFFFFFFFFFF;
/// Word 1, bits 63:1: IOVA of the header buffer. Hardware writes DD to bit 0.
pub const RXD_HEADER_ADDRESS: u64 = 0xFFFFFFFFFFFFFFFE;

// RXD, as hardware writes it back: Advanced receive descriptor with results, as hardware writes it back. Datasheet 7.1.6.2.

/// Word 0, bits 3:0: Which fields of the packet the RSS hash covers.
pub const RXD_RSS_TYPE: u64 = 0x000000000000000F;
/// Word 0, bits 16:4: Protocols found in the packet.
pub const RXD_PACKET_TYPE: u64 = 0x000000000001FFF0;
/// Word 0, bits 20:17: Packets coalesced into this one.
pub const RXD_RSCCNT: u64 = 0x00000000001E0000;
/// Word 0, bits 30:21: Bytes in the header buffer.
pub const RXD_HDR_LEN: u64 = 0x000000007FE00000;
/// Word 0, bit 31: The header was found and may have been split off.
pub const RXD_SPH: u64 = 0x0000000080000000;
/// Word 0, bits 63:32: RSS hash, or what another filter reports in its place.
pub const RXD_RSS_HASH: u64 = 0xFFFFFFFF00000000;
/// Word 1, bits 19:0: All status bits, DD to TS; each has its own name too.
pub const RXD_STATUS: u64 = 0x00000000000FFFFF;
/// Word 1, bits 31:20: All error bits; some have their own name too.
pub const RXD_ERRORS: u64 = 0x00000000FFF00000;
/// Word 1, bits 47:32: Bytes in the packet buffer.
pub const RXD_LENGTH: u64 = 0x0000FFFF00000000;
/// Word 1, bits 63:48: VLAN tag that was taken out of the packet.
pub const RXD_VLAN: u64 = 0xFFFF000000000000;

// RXD, bits of STATUS and ERRORS: Advanced receive descriptor: the status and error bits one by one. Datasheet 7.1.6.2.

/// Word 1, bit 0: Descriptor done: software owns it again.
pub const RXD_DD: u64 = 0x0000000000000001;
/// Word 1, bit 1: End of packet: the packet ends in this buffer.
pub const RXD_EOP: u64 = 0x0000000000000002;
/// Word 1, bit 2: A flow director filter matched.
pub const RXD_FLM: u64 = 0x0000000000000004;
/// Word 1, bit 3: The packet had a VLAN tag.
pub const RXD_VP: u64 = 0x0000000000000008;
/// Word 1, bit 4: UDP checksum was calculated.
pub const RXD_UDPCS: u64 = 0x0000000000000010;
/// Word 1, bit 5: TCP or UDP checksum was checked.
pub const RXD_L4I: u64 = 0x0000000000000020;
/// Word 1, bit 6: IPv4 checksum was checked.
pub const RXD_IPCS: u64 = 0x0000000000000040;
/// Word 1, bit 7: Address matched by hash only, not exactly.
pub const RXD_PIF: u64 = 0x0000000000000080;
/// Word 1, bit 9: Outer VLAN tag found, in double VLAN mode.
pub const RXD_VEXT: u64 = 0x0000000000000200;
/// Word 1, bit 10: UDP checksum field is not zero.
pub const RXD_UDPV: u64 = 0x0000000000000400;
/// Word 1, bit 11: Low latency interrupt was raised for it.
pub const RXD_LLINT: u64 = 0x0000000000000800;
/// Word 1, bit 16: A time stamp was taken.
pub const RXD_TS: u64 = 0x0000000000010000;
/// Word 1, bit 17: IPsec or LinkSec was processed.
pub const RXD_SECP: u64 = 0x0000000000020000;
/// Word 1, bit 18: Looped back from another pool of this port.
pub const RXD_LB: u64 = 0x0000000000040000;
/// Word 1, bits 22:20: Flow director error.
pub const RXD_FDIRERR: u64 = 0x0000000000700000;
/// Word 1, bit 23: Header buffer overflow.
pub const RXD_HBO: u64 = 0x0000000000800000;
/// Word 1, bits 28:27: IPsec or LinkSec error.
pub const RXD_SECERR: u64 = 0x0000000018000000;
/// Word 1, bit 29: MAC error: CRC, length, size or symbol.
pub const RXD_RXE: u64 = 0x0000000020000000;
/// Word 1, bit 30: TCP or UDP checksum is wrong.
pub const RXD_L4E: u64 = 0x0000000040000000;
/// Word 1, bit 31: IPv4 checksum is wrong.
pub const RXD_IPE: u64 = 0x0000000080000000;

// TXD, data, as software writes it: Advanced transmit data descriptor: a packet to send, or a part of one. Datasheet 7.2.3.2.4.

/// Word 0, bits 63:0: IOVA of the data.
pub const TXD_ADDRESS: u64 = 0xFFFFFFFFFFFFFFFF;
/// Word 1, bits 15:0: Bytes at that address.
pub const TXD_DTALEN: u64 = 0x000000000000FFFF;
/// Word 1, bits 19:18: Work for the MAC: time stamp, LinkSec.
pub const TXD_MAC: u64 = 0x00000000000C0000;
/// Value of [`TXD_MAC`].
pub const TXD_MAC_LINKSEC: u64 = 0x0000000000040000;
/// Value of [`TXD_MAC`].
pub const TXD_MAC_1588: u64 = 0x0000000000080000;
/// Word 1, bits 23:20: Kind of advanced descriptor.
pub const TXD_DTYP: u64 = 0x0000000000F00000;
/// Value of [`TXD_DTYP`].
pub const TXD_DTYP_CONTEXT: u64 = 0x0000000000200000;
/// Value of [`TXD_DTYP`].
pub const TXD_DTYP_DATA: u64 = 0x0000000000300000;
/// Word 1, bit 24: End of packet.
pub const TXD_EOP: u64 = 0x0000000001000000;
/// Word 1, bit 25: Insert the frame's CRC.
pub const TXD_IFCS: u64 = 0x0000000002000000;
/// Word 1, bit 27: Report status: write the descriptor back with DD.
pub const TXD_RS: u64 = 0x0000000008000000;
/// Word 1, bit 29: Advanced format; 0 is the legacy one.
pub const TXD_DEXT: u64 = 0x0000000020000000;
/// Word 1, bit 30: Insert a VLAN tag.
pub const TXD_VLE: u64 = 0x0000000040000000;
/// Word 1, bit 31: Segment TCP.
pub const TXD_TSE: u64 = 0x0000000080000000;
/// Word 1, bits 38:36: Context that offloads refer to.
pub const TXD_IDX: u64 = 0x0000007000000000;
/// Word 1, bit 39: Check context: one has been set up.
pub const TXD_CC: u64 = 0x0000008000000000;
/// Word 1, bits 45:40: Packet options: IP and TCP checksum, IPsec.
pub const TXD_POPTS: u64 = 0x00003F0000000000;
/// Value of [`TXD_POPTS`].
pub const TXD_POPTS_IXSM: u64 = 0x0000010000000000;
/// Value of [`TXD_POPTS`].
pub const TXD_POPTS_TXSM: u64 = 0x0000020000000000;
/// Value of [`TXD_POPTS`].
pub const TXD_POPTS_IPSEC: u64 = 0x0000040000000000;
/// Word 1, bits 63:46: Bytes of the whole packet, without CRC.
pub const TXD_PAYLEN: u64 = 0xFFFFC00000000000;

// TXD, context, as software writes it: Advanced transmit context descriptor: places of the headers, for offloads. Datasheet 7.2.3.2.3.

/// Word 0, bits 8:0: Bytes of the IP header, extensions included.
pub const TXD_CONTEXT_IPLEN: u64 = 0x00000000000001FF;
/// Word 0, bits 15:9: Bytes of the Ethernet header, without the tag to insert.
pub const TXD_CONTEXT_MACLEN: u64 = 0x000000000000FE00;
/// Word 0, bits 31:16: VLAN tag to insert.
pub const TXD_CONTEXT_VLAN: u64 = 0x00000000FFFF0000;
/// Word 1, bit 10: The IP header is version 4.
pub const TXD_CONTEXT_IPV4: u64 = 0x0000000000000400;
/// Word 1, bits 12:11: Protocol after the IP header.
pub const TXD_CONTEXT_L4T: u64 = 0x0000000000001800;
/// Value of [`TXD_CONTEXT_L4T`].
pub const TXD_CONTEXT_L4T_UDP: u64 = 0x0000000000000000;
/// Value of [`TXD_CONTEXT_L4T`].
pub const TXD_CONTEXT_L4T_TCP: u64 = 0x0000000000000800;
/// Value of [`TXD_CONTEXT_L4T`].
pub const TXD_CONTEXT_L4T_SCTP: u64 = 0x0000000000001000;
/// Word 1, bits 47:40: Bytes of that protocol's header, for segmentation.
pub const TXD_CONTEXT_L4LEN: u64 = 0x0000FF0000000000;
/// Word 1, bits 63:48: Most payload bytes in a segment, for segmentation.
pub const TXD_CONTEXT_MSS: u64 = 0xFFFF000000000000;

// TXD, as hardware writes it back: Transmit descriptor: done. Datasheet 7.2.3.2.4.

/// Word 1, bit 32: Descriptor done: hardware has fetched the data.
pub const TXD_DD: u64 = 0x0000000100000000;

// ---- PCI configuration space ----

/// Vendor of the device (2 bytes).
pub const PCI_VENDOR_ID: u32 = 0x00;
/// Value of [`PCI_VENDOR_ID`].
pub const PCI_VENDOR_ID_INTEL: u16 = 0x8086;

/// Device id: see the table of network cards (2 bytes).
pub const PCI_DEVICE_ID: u32 = 0x02;

/// Permissions of the device on the bus (2 bytes).
pub const PCI_COMMAND: u32 = 0x04;
/// Bit 0: Answer accesses to the I/O space.
pub const PCI_COMMAND_IO: u16 = 0x0001;
/// Bit 1: Answer accesses to the memory space, such as the registers.
pub const PCI_COMMAND_MEMORY: u16 = 0x0002;
/// Bit 2: Start bus transactions: DMA and MSI.
pub const PCI_COMMAND_BUS_MASTER: u16 = 0x0004;
/// Bit 6: Report parity errors.
pub const PCI_COMMAND_PARITY: u16 = 0x0040;
/// Bit 8: Report errors to the system.
pub const PCI_COMMAND_SERR: u16 = 0x0100;
/// Bit 10: Do not raise legacy interrupts.
pub const PCI_COMMAND_INTX_DISABLE: u16 = 0x0400;

/// Events on the bus (2 bytes).
pub const PCI_STATUS: u32 = 0x06;
/// Bit 4: The configuration space has a list of capabilities.
pub const PCI_STATUS_CAPABILITIES: u16 = 0x0010;

/// Revision of the device (1 bytes).
pub const PCI_REVISION_ID: u32 = 0x08;

/// Kind of device: base class and subclass (2 bytes).
pub const PCI_CLASS_CODE: u32 = 0x0a;
/// Value of [`PCI_CLASS_CODE`].
pub const PCI_CLASS_CODE_ETHERNET: u16 = 0x0200;

/// Layout of the header, and a bit for several functions (1 bytes).
pub const PCI_HEADER_TYPE: u32 = 0x0e;

/// Address of the register space, low half; BAR 0 has 64 bits (4 bytes).
pub const PCI_BAR0: u32 = 0x10;

/// Vendor of the card (2 bytes).
pub const PCI_SUBSYSTEM_VENDOR_ID: u32 = 0x2c;

/// Id of the card (2 bytes).
pub const PCI_SUBSYSTEM_ID: u32 = 0x2e;

/// Start of the list of capabilities (1 bytes).
pub const PCI_CAPABILITIES: u32 = 0x34;

/// Power state of the function: PMCSR of the capability at 0x40 (2 bytes).
pub const PCI_POWER_STATUS: u32 = 0x44;
/// Bits 1:0: 0 is D0, working; 3 is D3.
pub const PCI_POWER_STATUS_POWER_STATE: u16 = 0x0003;
/// Bit 8: Wake the system.
pub const PCI_POWER_STATUS_PME_EN: u16 = 0x0100;
/// Bit 15: The system was woken.
pub const PCI_POWER_STATUS_PME_STATUS: u16 = 0x8000;

/// State of the function: Device Status of the PCI Express capability at 0xA0 (2 bytes).
pub const PCI_DEVICE_STATUS: u32 = 0xaa;
/// Bit 5: The device has requests under way.
pub const PCI_DEVICE_STATUS_TRANSACTION_PENDING: u16 = 0x0020;

/// Speed and width of the slot: Link Status of the PCI Express capability at 0xA0 (2 bytes).
pub const PCI_LINK_STATUS: u32 = 0xb2;
/// Bits 3:0: 1 is 2.5 GT/s, 2 is 5 GT/s, 3 is 8 GT/s.
pub const PCI_LINK_STATUS_SPEED: u16 = 0x000F;
/// Bits 9:4: Lanes.
pub const PCI_LINK_STATUS_WIDTH: u16 = 0x03F0;

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

// ---- Network cards ----

/// A family of network cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The 82599, with SFP+ ports.
    Intel82599,
    /// The X540, with copper ports.
    X540,
    /// The X550, with copper ports.
    X550,
}

impl Family {
    /// The family's name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intel82599 => "82599",
            Self::X540 => "X540",
            Self::X550 => "X550",
        }
    }
}

/// A network card that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// PCI device id; the vendor is Intel.
    pub id: u16,
    /// Name for people.
    pub name: &'static str,
    /// 82599, X540 or X550.
    pub family: Family,
    /// Why the driver refuses this card, if it does.
    pub refused: Option<&'static str>,
}

/// The network cards that the driver knows.
#[rustfmt::skip] // a card a line
pub const DEVICE_IDS: &[DeviceId] = &[
    DeviceId { id: 0x10f7, name: "82599 backplane KX4", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10f8, name: "82599 backplane, combined", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10f9, name: "82599 CX4", family: Family::Intel82599, refused: Some("its ports are CX4, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x10fb, name: "82599ES SFI/SFP+ (X520)", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x10fc, name: "82599 XAUI/BX4", family: Family::Intel82599, refused: Some("its ports are XAUI or BX4, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1507, name: "82599 SFP+, extended module support", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x1514, name: "82599 backplane KX4 mezzanine (X520)", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1517, name: "82599 backplane KR", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x151c, name: "82599 10GBASE-T", family: Family::Intel82599, refused: Some("its ports are 10GBASE-T, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1529, name: "82599 SFP+ with FCoE", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x152a, name: "82599 backplane with FCoE", family: Family::Intel82599, refused: Some("its ports go to a backplane, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x154a, name: "X520-4, four SFP+ ports", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x154d, name: "X520 SFP+", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x154f, name: "82599 LS", family: Family::Intel82599, refused: Some("its fiber module is fixed, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1557, name: "82599EN SFI", family: Family::Intel82599, refused: None },
    DeviceId { id: 0x1558, name: "X520-Q1, QSFP+", family: Family::Intel82599, refused: Some("its port is QSFP+, and the driver sets up SFP+ ports only") },
    DeviceId { id: 0x1528, name: "X540-AT2 10GBASE-T", family: Family::X540, refused: None },
    DeviceId { id: 0x1560, name: "X540-T1 10GBASE-T", family: Family::X540, refused: None },
    DeviceId { id: 0x1563, name: "X550-T 10GBASE-T", family: Family::X550, refused: None },
    DeviceId { id: 0x15d1, name: "X550-T1 10GBASE-T", family: Family::X550, refused: None },
    DeviceId { id: 0x15aa, name: "X552 backplane KX4", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ab, name: "X552 backplane KR", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ac, name: "X552 SFP+", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ad, name: "X552/X557-AT 10GBASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ae, name: "X552 1000BASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15b0, name: "X552 XFI", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c2, name: "X553 backplane KR", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c3, name: "X553 backplane KR, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c4, name: "X553 SFP+, native", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c6, name: "X553 SGMII", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c7, name: "X553 SGMII, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15c8, name: "X553/X557-AT 10GBASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15ce, name: "X553 SFP+", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15e4, name: "X553 1000BASE-T", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
    DeviceId { id: 0x15e5, name: "X553 1000BASE-T, low power", family: Family::X550, refused: Some("its EEC is at another address, and its PHY needs a set-up that the driver lacks") },
];

// ---- The table ----

/// What a read or a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Keeps what is written.
    ReadWrite,
    /// Writes have no effect.
    ReadOnly,
    /// Reads return 0.
    WriteOnly,
    /// A read clears it; writes have no effect.
    ReadClear,
    /// A read returns the old value and sets the bits; a write sets the value.
    ReadSet,
    /// Writing 1 clears a bit.
    WriteOneClear,
    /// Writing 1 sets a bit.
    WriteOneSet,
    /// A read clears it, and so does writing 1.
    ReadClearWriteOneClear,
    /// Writing 1 starts an operation; the bit clears itself when the operation is done.
    SelfClearing,
}

/// Consecutive entries of a register array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Index of the first entry here.
    pub first: u32,
    /// Address of that entry.
    pub offset: u32,
    /// Bytes between entries.
    pub stride: u32,
    /// Number of entries here.
    pub count: u32,
}

/// Some of a register's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name within the register.
    pub name: &'static str,
    /// The bits, as a mask.
    pub mask: u32,
    /// What reads and writes do to these bits.
    pub access: Access,
    /// Description in one line.
    pub summary: &'static str,
}

/// A register, or an array of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its place in [`REGISTERS`], as a type.
    pub id: RegisterId,
    /// The datasheet's name.
    pub name: &'static str,
    /// Address of entry 0.
    pub offset: u32,
    /// Bytes between entries, from entry 0 on.
    pub stride: u32,
    /// Number of entries; 1 if the register is not an array.
    pub count: u32,
    /// The places of the entries, in order of their index: one range, or two.
    pub ranges: &'static [Range],
    /// Other addresses of the same entries.
    pub aliases: &'static [Range],
    /// What reads and writes do to bits outside `fields`.
    pub access: Access,
    /// Value after reset of all entries but entry 0.
    pub reset: u32,
    /// Value of entry 0 after reset.
    pub reset_first: u32,
    /// The register whose bits a write to this one sets or clears, if not its own.
    pub acts_on: Option<RegisterId>,
    /// The fields. Bits outside them are reserved.
    pub fields: &'static [Field],
    /// Section of the 82599 datasheet, where known.
    pub section: Option<&'static str>,
    /// Description in one line.
    pub summary: &'static str,
}

impl Range {
    /// The entry at `address`, if the range has it.
    pub const fn entry_at(&self, address: u32) -> Option<u32> {
        if address < self.offset || self.stride == 0 {
            return None;
        }
        let distance = address - self.offset;
        if distance % self.stride != 0 || distance / self.stride >= self.count {
            return None;
        }
        Some(self.first + distance / self.stride)
    }
}

impl Register {
    /// The canonical address of entry `n`, if the array has that entry.
    pub fn address(&self, n: u32) -> Option<u32> {
        let range = self
            .ranges
            .iter()
            .find(|range| n >= range.first && n - range.first < range.count)?;
        Some(range.offset + range.stride * (n - range.first))
    }

    /// The entry at `address`, which is its canonical address or an alias.
    pub fn entry_at(&self, address: u32) -> Option<u32> {
        self.ranges
            .iter()
            .chain(self.aliases)
            .find_map(|range| range.entry_at(address))
    }

    /// What entry `n` holds after reset.
    pub const fn reset_of(&self, n: u32) -> u32 {
        if n == 0 {
            self.reset_first
        } else {
            self.reset
        }
    }

    /// The bits with this kind of access.
    pub fn bits_with(&self, access: Access) -> u32 {
        let outside = !self.fields.iter().fold(0, |mask, field| mask | field.mask);
        let own = if self.access == access { outside } else { 0 };
        self.fields
            .iter()
            .filter(|field| field.access == access)
            .fold(own, |mask, field| mask | field.mask)
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl RegisterId {
    /// How many registers there are: every `id as usize` is below it.
    pub const COUNT: usize = REGISTERS.len();

    /// The register's row in the table.
    pub fn register(self) -> &'static Register {
        &REGISTERS[self as usize]
    }

    /// The datasheet's name.
    pub fn name(self) -> &'static str {
        self.register().name
    }

    /// Section of the 82599 datasheet, where known.
    pub fn section(self) -> Option<&'static str> {
        self.register().section
    }

    /// What reads and writes do to bits outside the fields.
    pub fn access(self) -> Access {
        self.register().access
    }

    /// What entry `n` holds after reset.
    pub fn reset_of(self, n: u32) -> u32 {
        self.register().reset_of(n)
    }
}

impl std::fmt::Display for RegisterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The register of that name.
pub fn register(name: &str) -> Option<&'static Register> {
    REGISTERS.iter().find(|register| register.name == name)
}

/// The register at `address`, canonical or alias, and the entry's index. Searches the whole table:
/// frequent callers keep an index of their own.
pub fn locate(address: u32) -> Option<(&'static Register, u32)> {
    REGISTERS
        .iter()
        .find_map(|register| Some((register, register.entry_at(address)?)))
}

/// Names a register, or all entries of a register array. The variants have the datasheet's names.
#[allow(non_camel_case_types, clippy::upper_case_acronyms)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum RegisterId {
    /// Device control. Datasheet 8.2.3.1.1.
    CTRL,
    /// Device status. Datasheet 8.2.3.1.2.
    STATUS,
    /// Extended device control. Datasheet 8.2.3.1.3.
    CTRL_EXT,
    /// Software definable pins. Datasheet 8.2.3.1.4.
    ESDP,
    /// The two wires to the SFP+ module. Datasheet 8.2.3.1.5.
    I2CCTL,
    /// Free running timer.
    FRTIMER,
    /// Timer that can raise an interrupt.
    TCPTIMER,
    /// LEDs. Datasheet 8.2.3.1.6.
    LEDCTL,
    /// EtherType of the outer VLAN tag.
    EXVET,
    /// EEPROM and flash control. Datasheet 8.2.3.2.1.
    EEC,
    /// Reads a word of the EEPROM. Datasheet 8.2.3.2.2.
    EERD,
    /// Writes a word of the EEPROM. X540 and later.
    EEWR,
    /// Flash access by software.
    FLA,
    /// EEPROM access by the firmware.
    EEMNGCTL,
    /// Data of EEMNGCTL's access.
    EEMNGDATA,
    /// Flash access by the firmware.
    FLMNGCTL,
    /// Data of FLMNGCTL's access.
    FLMNGDATA,
    /// Bytes of FLMNGCTL's access.
    FLMNGCNT,
    /// Opcodes of the flash chip.
    FLOP,
    /// Wake-up and manageability.
    GRC,
    /// Release of the shadow memory by software. X540 and later.
    SRAMREL,
    /// Software semaphore between drivers and firmware. Datasheet 8.2.3.4.9.
    SWSM,
    /// Firmware semaphore and state. Datasheet 8.2.3.4.10.
    FWSM,
    /// Owners of the shared resources. Access it only while you hold SWSM.SWESMBI. Datasheet 8.2.3.4.11.
    SW_FW_SYNC,
    /// Active functions and their power states.
    FACTPS,
    /// PCI Express control.
    GCR,
    /// Extended PCI Express control. Datasheet 8.2.3.4.12.
    GCR_EXT,
    /// Revision of the mask.
    MREVID,
    /// Causes of PCI Express error interrupts.
    PICAUSE,
    /// PCI Express errors that raise an interrupt.
    PIENA,
    /// Address for reading configuration space through CIAD.
    CIAA,
    /// Data of the access that CIAA names.
    CIAD,
    /// EtherType and opcode of pause frames. Datasheet 8.2.3.3.1.
    PFCTOP,
    /// Pause times to request from the link partner, two traffic classes an entry. Datasheet 8.2.3.3.2.
    FCTTV,
    /// Fill of a packet buffer at which the card sends XON. Datasheet 8.2.3.3.3.
    FCRTL,
    /// Fill of a packet buffer at which the card sends XOFF. Datasheet 8.2.3.3.4.
    FCRTH,
    /// Time at which the card repeats XOFF. Datasheet 8.2.3.3.5.
    FCRTV,
    /// Traffic classes that the link partner has paused. Datasheet 8.2.3.3.6.
    TFCS,
    /// Sending of pause frames. Datasheet 8.2.3.3.7.
    FCCFG,
    /// Priority XON frames received, by class.
    PXONRXCNT,
    /// Priority XOFF frames received, by class.
    PXOFFRXCNT,
    /// Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16. Datasheet 8.2.3.5.1.
    EICR,
    /// Raises causes. A read returns EICR and clears nothing. Datasheet 8.2.3.5.2.
    EICS,
    /// Enables causes. A read returns the enabled causes. Datasheet 8.2.3.5.3.
    EIMS,
    /// Disables causes. Datasheet 8.2.3.5.4.
    EIMC,
    /// Causes that their MSI-X message clears. Datasheet 8.2.3.5.5.
    EIAC,
    /// Causes that are disabled when they raise an interrupt. Datasheet 8.2.3.5.6.
    EIAM,
    /// EICS for queue vectors 0 to 63. Datasheet 8.2.3.5.7.
    EICS_EX,
    /// EIMS for queue vectors 0 to 63. Datasheet 8.2.3.5.8.
    EIMS_EX,
    /// EIMC for queue vectors 0 to 63. Datasheet 8.2.3.5.9.
    EIMC_EX,
    /// EIAM for queue vectors 0 to 63. Datasheet 8.2.3.5.10.
    EIAM_EX,
    /// Throttles that belong to virtual functions. Datasheet 8.2.3.5.11.
    EITRSEL,
    /// Interrupt throttle of a vector. Datasheet 8.2.3.5.12.
    EITR,
    /// Vectors of the queues 2n and 2n + 1. Datasheet 8.2.3.5.16.
    IVAR,
    /// Vectors of the other causes. Datasheet 8.2.3.5.17.
    IVAR_MISC,
    /// Interrupt modes. Datasheet 8.2.3.5.18.
    GPIE,
    /// Clears pending bits of MSI-X vectors.
    PBACL,
    /// Filter control. Change it only while RXCTRL.RXEN is 0. Datasheet 8.2.3.7.1.
    FCTRL,
    /// VLAN filter control. Datasheet 8.2.3.7.2.
    VLNCTRL,
    /// Multicast filter control. Datasheet 8.2.3.7.3.
    MCSTCTRL,
    /// Places where a pool's packets are split, and the pool's RSS queues. Datasheet 8.2.3.7.4.
    PSRTYPE,
    /// Receive checksums. Datasheet 8.2.3.7.5.
    RXCSUM,
    /// Receive filter control. Datasheet 8.2.3.7.6.
    RFCTL,
    /// Accepted multicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.7.7.
    MTA,
    /// A MAC address, first four bytes; the first is lowest. Datasheet 8.2.3.7.8.
    RAL,
    /// A MAC address, last two bytes. Datasheet 8.2.3.7.9.
    RAH,
    /// Pools of a MAC address; 2n and 2n + 1 are those of RAL(n). Datasheet 8.2.3.7.10.
    MPSAR,
    /// Accepted VLANs: 4096 bits. Datasheet 8.2.3.7.11.
    VFTA,
    /// Accepted unicast addresses, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.27.17.
    PFUTA,
    /// IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.8.1.
    RDBAL,
    /// IOVA of the ring, high half. Datasheet 8.2.3.8.2.
    RDBAH,
    /// Bytes of the ring: a multiple of 128. Datasheet 8.2.3.8.3.
    RDLEN,
    /// Head: the descriptor that hardware fills next. Write it only before enabling, as 0. Datasheet 8.2.3.8.4.
    RDH,
    /// Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.8.5.
    RDT,
    /// Receive queue control. Datasheet 8.2.3.8.6.
    RXDCTL,
    /// Buffers of a receive queue. Datasheet 8.2.3.8.7.
    SRRCTL,
    /// How a receive queue accesses memory. Datasheet 8.2.3.11.1.
    DCA_RXCTRL,
    /// Receive coalescing of a queue. Datasheet 8.2.3.8.13.
    RSCCTL,
    /// Receive DMA control. Datasheet 8.2.3.8.8.
    RDRXCTL,
    /// Size of a receive packet buffer. The sum is 512 KiB: to use one, clear the others. Datasheet 8.2.3.8.9.
    RXPBSIZE,
    /// Receive control. Datasheet 8.2.3.8.10.
    RXCTRL,
    /// Receive coalescing. Datasheet 8.2.3.8.12.
    RSCDBU,
    /// Multiple receive queues. Datasheet 8.2.3.7.12.
    MRQC,
    /// RSS queues of each traffic class. Datasheet 8.2.3.7.13.
    RQTC,
    /// The RSS hash's key, 40 bytes; the first is lowest. Datasheet 8.2.3.7.14.
    RSSRK,
    /// RSS table: queues by the hash's low 7 bits, 4 entries a register. Datasheet 8.2.3.7.15.
    RETA,
    /// X550: more of the RSS table, for hashes whose low 9 bits are 128 or above.
    ERETA,
    /// Reads of packet data under way. Datasheet 8.2.3.9.1.
    DTXMXSZRQ,
    /// Transmit DMA control. Datasheet 8.2.3.9.2.
    DMATXCTL,
    /// TCP flags of the first and middle segments. Datasheet 8.2.3.9.3.
    DTXTCPFLGL,
    /// TCP flags of the last segment. Datasheet 8.2.3.9.4.
    DTXTCPFLGH,
    /// IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.9.5.
    TDBAL,
    /// IOVA of the ring, high half. Datasheet 8.2.3.9.6.
    TDBAH,
    /// Bytes of the ring: a multiple of 128. Datasheet 8.2.3.9.7.
    TDLEN,
    /// How a transmit queue accesses memory. Datasheet 8.2.3.11.2.
    DCA_TXCTRL,
    /// Head: the descriptor that hardware reads next. Write it only before enabling, as 0. Datasheet 8.2.3.9.8.
    TDH,
    /// Tail: the first descriptor that hardware does not own. Datasheet 8.2.3.9.9.
    TDT,
    /// Transmit queue control. Datasheet 8.2.3.9.10.
    TXDCTL,
    /// IOVA of the head write-back, low half. It replaces the descriptor write-back. Datasheet 8.2.3.9.11.
    TDWBAL,
    /// IOVA of the head write-back, high half. Datasheet 8.2.3.9.12.
    TDWBAH,
    /// Size of a transmit packet buffer. The sum is 160 KiB: to use one, clear the others. Datasheet 8.2.3.9.13.
    TXPBSIZE,
    /// Traffic class of the firmware's packets. Datasheet 8.2.3.9.14.
    MNGTXMAP,
    /// Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1. Datasheet 8.2.3.9.15.
    MTQC,
    /// Free space that a packet buffer needs before data is fetched. Datasheet 8.2.3.9.16.
    TXPBTHRESH,
    /// Receive packet plane. Datasheet 8.2.3.10.1.
    RTRPCS,
    /// Transmit descriptor plane. Datasheet 8.2.3.10.2.
    RTTDCS,
    /// Transmit packet plane. Datasheet 8.2.3.10.3.
    RTTPCS,
    /// Traffic class of each received priority, 3 bits each. Datasheet 8.2.3.10.4.
    RTRUP2TC,
    /// Traffic class of each sent priority, 3 bits each. Datasheet 8.2.3.10.5.
    RTTUP2TC,
    /// Credits of a received traffic class. Datasheet 8.2.3.10.6.
    RTRPT4C,
    /// Credits of a traffic class in the transmit descriptor plane. Datasheet 8.2.3.10.9.
    RTTDT2C,
    /// Credits of a traffic class in the transmit packet plane. Datasheet 8.2.3.10.10.
    RTTPT2C,
    /// Queue of RTTDT1C and of the rate registers. Datasheet 8.2.3.10.13.
    RTTDQSEL,
    /// Credits of the queue that RTTDQSEL names. Datasheet 8.2.3.10.14.
    RTTDT1C,
    /// Rate limit of the queue that RTTDQSEL names. Datasheet 8.2.3.10.16.
    RTTBCNRC,
    /// Memory of the rate limits.
    RTTBCNRM,
    /// Identity for direct cache access. Datasheet 8.2.3.11.3.
    DCA_ID,
    /// Direct cache access. Datasheet 8.2.3.11.4.
    DCA_CTRL,
    /// Transmit security engine. Datasheet 8.2.3.12.1.
    SECTXCTRL,
    /// Transmit security engine's state. Datasheet 8.2.3.12.2.
    SECTXSTAT,
    /// Fill at which the transmit security buffer is almost full. Datasheet 8.2.3.12.3.
    SECTXBUFFAF,
    /// Least gap between frames. Datasheet 8.2.3.12.4.
    SECTXMINIFG,
    /// Receive security engine. Datasheet 8.2.3.12.5.
    SECRXCTRL,
    /// Receive security engine's state. Datasheet 8.2.3.12.6.
    SECRXSTAT,
    /// 1 Gbit/s coding: configuration. Datasheet 8.2.3.22.1.
    PCS1GCFIG,
    /// 1 Gbit/s coding: link control. Datasheet 8.2.3.22.2.
    PCS1GLCTL,
    /// 1 Gbit/s coding: link status. Datasheet 8.2.3.22.3.
    PCS1GLSTA,
    /// 1 Gbit/s coding: abilities to advertise. Datasheet 8.2.3.22.4.
    PCS1GANA,
    /// 1 Gbit/s coding: abilities that the link partner advertises. Datasheet 8.2.3.22.5.
    PCS1GANLP,
    /// 1 Gbit/s coding: next page to send. Datasheet 8.2.3.22.6.
    PCS1GANNP,
    /// 1 Gbit/s coding: next page of the other side. Datasheet 8.2.3.22.7.
    PCS1GANLPNP,
    /// MAC core control 0. Datasheet 8.2.3.22.8.
    HLREG0,
    /// MAC core status 1. Datasheet 8.2.3.22.9.
    HLREG1,
    /// Pause time of frames that are sent without flow control. Datasheet 8.2.3.22.10.
    PAP,
    /// MDIO command: an access to a register of the PHY. Datasheet 8.2.3.22.11.
    MSCA,
    /// MDIO data. Datasheet 8.2.3.22.12.
    MSRWD,
    /// Longest frame. Datasheet 8.2.3.22.13.
    MAXFRS,
    /// 10 Gbit/s coding: status 1. Datasheet 8.2.3.22.14.
    PCSS1,
    /// 10 Gbit/s coding: status 2. Datasheet 8.2.3.22.15.
    PCSS2,
    /// 10GBASE-X coding: status. Datasheet 8.2.3.22.16.
    XPCSS,
    /// Receiving pause frames. Datasheet 8.2.3.22.34.
    MFLCN,
    /// Serialiser: control. Datasheet 8.2.3.22.17.
    SERDESC,
    /// FIFO control and status of the MAC. Datasheet 8.2.3.22.18.
    MACS,
    /// Link mode and autonegotiation. Loaded from the EEPROM. Datasheet 8.2.3.22.19.
    AUTOC,
    /// Link status. Datasheet 8.2.3.22.20.
    LINKS,
    /// Link status 2. Datasheet 8.2.3.22.21.
    LINKS2,
    /// Link mode 2. Loaded from the EEPROM. Datasheet 8.2.3.22.22.
    AUTOC2,
    /// Link mode 3.
    AUTOC3,
    /// Backplane autonegotiation: the other side's page, bits 31:0. Datasheet 8.2.3.22.23.
    ANLP1,
    /// Backplane autonegotiation: the other side's page, bits 47:32.
    ANLP2,
    /// Backplane autonegotiation: the other side's next page, bits 31:0.
    ANLPNP1,
    /// Backplane autonegotiation: the other side's next page, bits 47:32.
    ANLPNP2,
    /// The firmware's hold on the link.
    MMNGC,
    /// KR coding: control.
    KRPCSFC,
    /// KR coding: status.
    KRPCSS,
    /// MAC control.
    MACC,
    /// Write access to registers of the analogue part. Datasheet 8.2.3.22.32.
    CORECTL,
    /// Write access to registers of the SerDes.
    SMADARCTL,
    /// Packets with a wrong CRC.
    CRCERRS,
    /// Packets with illegal bytes.
    ILLERRC,
    /// Packets with error bytes.
    ERRBC,
    /// Packets too short for the MAC.
    MSPDC,
    /// Packets missed because a packet buffer was full.
    MPC,
    /// Local faults of the link.
    MLFC,
    /// Remote faults of the link.
    MRFC,
    /// Packets with a wrong length field.
    RLEC,
    /// Packets that were dropped for a forged address.
    SSVPC,
    /// XON frames sent.
    LXONTXC,
    /// XOFF frames sent.
    LXOFFTXC,
    /// XON frames received.
    LXONRXCNT,
    /// XOFF frames received.
    LXOFFRXCNT,
    /// XON frames received; 82598 name, read and dropped by drivers.
    LXONRXC,
    /// XOFF frames received; 82598 name, read and dropped by drivers.
    LXOFFRXC,
    /// Priority XON frames sent, by class.
    PXONTXC,
    /// Priority XOFF frames sent, by class.
    PXOFFTXC,
    /// Priority XON frames received, by class; 82598 name.
    PXONRXC,
    /// Priority XOFF frames received, by class; 82598 name.
    PXOFFRXC,
    /// Times a class was paused again while paused.
    PXON2OFFCNT,
    /// Packets received, 64 bytes.
    PRC64,
    /// Packets received, 65 to 127 bytes.
    PRC127,
    /// Packets received, 128 to 255 bytes.
    PRC255,
    /// Packets received, 256 to 511 bytes.
    PRC511,
    /// Packets received, 512 to 1023 bytes.
    PRC1023,
    /// Packets received, 1024 bytes and more.
    PRC1522,
    /// Good packets received, including those dropped later without a buffer. Datasheet 8.2.3.23.26.
    GPRC,
    /// Broadcast packets received.
    BPRC,
    /// Multicast packets received.
    MPRC,
    /// Good packets sent.
    GPTC,
    /// Good bytes received, with CRC, low half. Read it before GORCH.
    GORCL,
    /// Good bytes received, bits 35:32.
    GORCH,
    /// Good bytes sent, with CRC, low half. Read it before GOTCH.
    GOTCL,
    /// Good bytes sent, bits 35:32.
    GOTCH,
    /// Packets that found no receive buffer, by packet buffer; 82598.
    RNBC,
    /// Packets too short, with a good CRC.
    RUC,
    /// Packets too short, with a wrong CRC: fragments.
    RFC,
    /// Packets too long, with a good CRC.
    ROC,
    /// Packets too long, with a wrong CRC: jabber.
    RJC,
    /// Packets received for the firmware.
    MNGPRC,
    /// Packets for the firmware that were dropped.
    MNGPDC,
    /// Packets sent by the firmware.
    MNGPTC,
    /// Bytes received, good or not, low half.
    TORL,
    /// Bytes received, good or not, bits 35:32.
    TORH,
    /// Packets received, good or not. Datasheet 8.2.3.23.59.
    TPR,
    /// Packets sent, good or not.
    TPT,
    /// Packets sent, 64 bytes.
    PTC64,
    /// Packets sent, 65 to 127 bytes.
    PTC127,
    /// Packets sent, 128 to 255 bytes.
    PTC255,
    /// Packets sent, 256 to 511 bytes.
    PTC511,
    /// Packets sent, 512 to 1023 bytes.
    PTC1023,
    /// Packets sent, 1024 bytes and more.
    PTC1522,
    /// Multicast packets sent.
    MPTC,
    /// Broadcast packets sent.
    BPTC,
    /// Packets with a wrong TCP, UDP or IP checksum.
    XEC,
    /// Statistics registers of the receive queues 4n to 4n + 3. Datasheet 8.2.3.23.71.
    RQSMR,
    /// Statistics registers of the transmit queues 4n to 4n + 3. Datasheet 8.2.3.23.73.
    TQSM,
    /// Queues that the RX DMA counters count.
    RXDSTATCTRL,
    /// Packets received, by queue statistics.
    QPRC,
    /// Packets dropped without descriptors, by queue statistics. Datasheet 8.2.3.23.75.
    QPRDC,
    /// Bytes received, by queue statistics, low half.
    QBRC_L,
    /// Bytes received, by queue statistics, bits 35:32.
    QBRC_H,
    /// Packets sent, by queue statistics.
    QPTC,
    /// Bytes sent, by queue statistics, low half.
    QBTC_L,
    /// Bytes sent, by queue statistics, bits 35:32.
    QBTC_H,
    /// Good packets that receive DMA passed on.
    RXDGPC,
    /// Good bytes that receive DMA passed on, low half.
    RXDGBCL,
    /// Good bytes that receive DMA passed on, bits 35:32.
    RXDGBCH,
    /// Good duplicates for other pools passed on, in packets.
    RXDDGPC,
    /// Good duplicates for other pools passed on, in bytes, low half.
    RXDDGBCL,
    /// Good duplicates for other pools passed on, in bytes, bits 35:32.
    RXDDGBCH,
    /// Good looped-back packets passed on.
    RXLPBKGPC,
    /// Good looped-back bytes passed on, low half.
    RXLPBKGBCL,
    /// Good looped-back bytes passed on, bits 35:32.
    RXLPBKGBCH,
    /// Good looped-back duplicates passed on, in packets.
    RXDLPBKGPC,
    /// Good looped-back duplicates passed on, in bytes, low half.
    RXDLPBKGBCL,
    /// Good looped-back duplicates passed on, in bytes, bits 35:32.
    RXDLPBKGBCH,
    /// Good packets received, before filters.
    RXNFGPC,
    /// Good bytes received, before filters, low half.
    RXNFGBCL,
    /// Good bytes received, before filters, bits 35:32.
    RXNFGBCH,
    /// Good packets that transmit DMA fetched.
    TXDGPC,
    /// Good bytes that transmit DMA fetched, low half.
    TXDGBCL,
    /// Good bytes that transmit DMA fetched, bits 35:32.
    TXDGBCH,
    /// FCoE packets with a wrong FC CRC.
    FCCRC,
    /// FCoE packets dropped.
    FCOERPDC,
    /// FCoE last errors.
    FCLAST,
    /// FCoE packets received.
    FCOEPRC,
    /// FCoE dwords received.
    FCOEDWRC,
    /// FCoE packets sent.
    FCOEPTC,
    /// FCoE dwords sent.
    FCOEDWTC,
    /// Packets from the system to the firmware, good. X540 and later.
    O2BGPTC,
    /// Packets from the system that the firmware missed. X540 and later.
    O2BSPC,
    /// Packets that the firmware sent to the system. X540 and later.
    B2OSPC,
    /// Packets from the firmware that the system got. X540 and later.
    B2OGPRC,
    /// Matches packets by EtherType. Datasheet 8.2.3.7.21.
    ETQF,
    /// Queue of packets that ETQF matches. Datasheet 8.2.3.7.22.
    ETQS,
    /// Five-tuple filter: source address. Datasheet 8.2.3.7.16.
    SAQF,
    /// Five-tuple filter: destination address. Datasheet 8.2.3.7.17.
    DAQF,
    /// Five-tuple filter: ports. Datasheet 8.2.3.7.18.
    SDPQF,
    /// Five-tuple filter: protocol, and the parts that must match. Datasheet 8.2.3.7.19.
    FTQF,
    /// Queue of packets that a five-tuple filter matches. Datasheet 8.2.3.5.13.
    L34T_IMIR,
    /// Queue of TCP connection requests. Datasheet 8.2.3.7.20.
    SYNQF,
    /// VLAN priority that raises low latency interrupts. Datasheet 8.2.3.5.15.
    IMIRVP,
    /// Size of packet that raises low latency interrupts. Datasheet 8.2.3.5.14.
    LLITHRESH,
    /// Errors in the memories of the receive filters. Datasheet 8.2.3.7.23.
    RXFECCERR0,
    /// Flow director control.
    FDIRCTRL,
    /// Key of the hash that finds a filter.
    FDIRHKEY,
    /// Key of the hash that is a signature.
    FDIRSKEY,
    /// IPv4 destination address mask: bits that are 0 must match.
    FDIRDIP4M,
    /// IPv4 source address mask: bits that are 0 must match.
    FDIRSIP4M,
    /// TCP port mask: bits that are 0 must match.
    FDIRTCPM,
    /// UDP port mask: bits that are 0 must match.
    FDIRUDPM,
    /// IPv6 address mask: bytes whose bit is 0 must match.
    FDIRIP6M,
    /// Mask of other parts of a packet: parts whose bit is 0 must match.
    FDIRM,
    /// Free filters.
    FDIRFREE,
    /// Longest list of filters with one hash.
    FDIRLEN,
    /// Filters added and removed.
    FDIRUSTAT,
    /// Filters that could not be added or removed.
    FDIRFSTAT,
    /// Packets that a filter matched.
    FDIRMATCH,
    /// Packets that no filter matched.
    FDIRMISS,
    /// Filter: IPv6 source address, first three dwords.
    FDIRSIPV6,
    /// Filter: IPv4 source address, or last dword of an IPv6 one.
    FDIRIPSA,
    /// Filter: IPv4 destination address.
    FDIRIPDA,
    /// Filter: ports.
    FDIRPORT,
    /// Filter: VLAN and flexible bytes.
    FDIRVLAN,
    /// Filter: hash and signature.
    FDIRHASH,
    /// Filter: command. The write starts it.
    FDIRCMD,
    /// Virtualisation. Datasheet 8.2.3.27.1.
    PFVTCTL,
    /// Mailbox to a virtual function: control.
    PFMAILBOX,
    /// Mailboxes of 16 virtual functions each that raised an interrupt.
    PFMBICR,
    /// Virtual functions whose mailboxes may raise an interrupt.
    PFMBIMR,
    /// Virtual functions 32n + 31 to 32n that were reset.
    PFVFLRE,
    /// Virtual functions that were reset: writing 1 acknowledges. Datasheet 8.2.3.27.6.
    PFVFLREC,
    /// Virtual functions that may receive. Datasheet 8.2.3.27.7.
    PFVFRE,
    /// Virtual functions that may send. Datasheet 8.2.3.27.8.
    PFVFTE,
    /// Per queue: drop packets without descriptors, whatever SRRCTL says. Datasheet 8.2.3.27.9.
    PFQDE,
    /// Pools whose packets may be looped back to other pools.
    PFVMTXSW,
    /// Pools whose source addresses are checked, 8 an entry.
    PFVFSPOOF,
    /// Looping packets back between pools.
    PFDTXGSWC,
    /// VLAN tag that is put into a pool's packets.
    PFVMVIR,
    /// Packets that a pool gets. Datasheet 8.2.3.27.14.
    PFVML2FLT,
    /// A VLAN that pools share. Datasheet 8.2.3.27.15.
    PFVLVF,
    /// Pools of a VLAN; 2n and 2n + 1 are those of PFVLVF(n). Datasheet 8.2.3.27.16.
    PFVLVFB,
    /// Packets that a rule mirrors, and the pool that gets them.
    PFMRCTL,
    /// VLANs that a rule mirrors.
    PFMRVLAN,
    /// Pools that a rule mirrors.
    PFMRVM,
    /// Pools whose malicious packets are counted and stopped. X540 and later.
    VMECM,
    /// Last malicious receive event.
    LVMMC_RX,
    /// Last malicious transmit event.
    LVMMC_TX,
    /// Last pool with a malicious receive event.
    LMVM_RX,
    /// Last pool with a malicious transmit event.
    LMVM_TX,
    /// Receive queues that the card stopped for malicious behaviour.
    WQBR_RX,
    /// Transmit queues that the card stopped for malicious behaviour.
    WQBR_TX,
    /// Mailboxes: memory, 16 dwords each; entry 16v + i is dword i of mailbox v.
    PFMBMEM,
    /// FCoE receive control.
    FCRXCTRL,
    /// FCoE redirection control.
    FCRECTL,
    /// FCoE redirection table.
    FCRETA,
    /// FCoE filter context.
    FCFLT,
    /// Access to an FCoE filter context.
    FCFLTRW,
    /// FCoE parameter of the exchange.
    FCPARAM,
    /// FCoE source address.
    FCSMAC,
    /// FCoE destination.
    FCD_ID,
    /// FCoE user descriptors' IOVA, low half.
    FCPTRL,
    /// FCoE user descriptors' IOVA, high half.
    FCPTRH,
    /// FCoE user buffers.
    FCBUFF,
    /// Access to an FCoE DMA context.
    FCDMARW,
    /// FCoE end-of-frame codes to send.
    TEOFF,
    /// FCoE start-of-frame codes to send.
    TSOFF,
    /// FCoE end-of-frame codes received.
    REOFF,
    /// FCoE start-of-frame codes received.
    RSOFF,
    /// Receive time stamps.
    TSYNCRXCTL,
    /// Transmit time stamps.
    TSYNCTXCTL,
    /// Receive time stamp, low half.
    RXSTMPL,
    /// Receive time stamp, high half. The read frees it.
    RXSTMPH,
    /// Source of the packet with the time stamp, low half.
    RXSATRL,
    /// Source of the packet with the time stamp, high half, and its sequence.
    RXSATRH,
    /// Messages that get a time stamp.
    RXMTRL,
    /// Transmit time stamp, low half.
    TXSTMPL,
    /// Transmit time stamp, high half. The read frees it.
    TXSTMPH,
    /// The card's time, low half. The read holds SYSTIMH.
    SYSTIML,
    /// The card's time, high half.
    SYSTIMH,
    /// How the card's time advances.
    TIMINCA,
    /// Adjustment of the card's time, low half.
    TIMADJL,
    /// Adjustment of the card's time, high half and sign.
    TIMADJH,
    /// Clock output and target times.
    TSAUXC,
    /// Target time 0, low half.
    TRGTTIML0,
    /// Target time 0, high half.
    TRGTTIMH0,
    /// Target time 1, low half.
    TRGTTIML1,
    /// Target time 1, high half.
    TRGTTIMH1,
    /// Period of the clock put out, low half.
    CLKTIML,
    /// Period of the clock put out, high half.
    CLKTIMH,
    /// Time stamp of pin event 0, low half.
    AUXSTMPL0,
    /// Time stamp of pin event 0, high half.
    AUXSTMPH0,
    /// Time stamp of pin event 1, low half.
    AUXSTMPL1,
    /// Time stamp of pin event 1, high half.
    AUXSTMPH1,
    /// Causes of time stamp interrupts. X540 and later.
    TSICR,
    /// Time stamp interrupts that are enabled. X540 and later.
    TSIM,
    /// Wake-up control. Datasheet 8.2.3.24.1.
    WUC,
    /// Events that wake the system. Datasheet 8.2.3.24.2.
    WUFC,
    /// Events that woke the system. The bits are those of WUFC. Datasheet 8.2.3.24.3.
    WUS,
    /// Valid wake-up addresses.
    IPAV,
    /// IPv4 addresses that wake the system.
    IP4AT,
    /// IPv6 address that wakes the system.
    IP6AT,
    /// Length of the packet that woke the system.
    WUPL,
    /// Start of the packet that woke the system.
    WUPM,
    /// Flexible filters 0 to 3, 64 dwords each. Datasheet 8.2.3.24.9.
    FHFT,
    /// Flexible filters 4 and 5, 64 dwords each. Datasheet 8.2.3.24.9.
    FHFT_EXT,
    /// Management control.
    MANC,
    /// Packets for the firmware that the system gets too.
    MANC2H,
    /// Valid management filters.
    MFVAL,
    /// Management VLANs.
    MAVTV,
    /// Management ports.
    MFUTP,
    /// Management filters.
    MDEF,
    /// Management filters, further conditions.
    MDEF_EXT,
    /// Management EtherTypes.
    METF,
    /// Management MAC addresses, first four bytes.
    MMAL,
    /// Management MAC addresses, last two bytes.
    MMAH,
    /// Lock between LinkSec in software and firmware.
    LSWFW,
    /// Host interface to the firmware: control.
    HICR,
    /// Firmware status.
    FWSTS,
    /// Host interface to the firmware: commands and answers.
    FLEX_MNG,
    /// LinkSec transmit capabilities.
    LSECTXCAP,
    /// LinkSec receive capabilities.
    LSECRXCAP,
    /// LinkSec transmit control.
    LSECTXCTRL,
    /// LinkSec receive control.
    LSECRXCTRL,
    /// LinkSec SCI to send, low half.
    LSECTXSCL,
    /// LinkSec SCI to send, high half.
    LSECTXSCH,
    /// LinkSec associations to send.
    LSECTXSA,
    /// LinkSec packet number to send, association 0.
    LSECTXPN0,
    /// LinkSec packet number to send, association 1.
    LSECTXPN1,
    /// LinkSec key to send, association 0.
    LSECTXKEY0,
    /// LinkSec key to send, association 1.
    LSECTXKEY1,
    /// LinkSec SCI to receive, low half.
    LSECRXSCL,
    /// LinkSec SCI to receive, high half.
    LSECRXSCH,
    /// LinkSec associations to receive.
    LSECRXSA,
    /// LinkSec packet numbers to receive.
    LSECRXPN,
    /// LinkSec keys to receive, 4 dwords for each of two associations.
    LSECRXKEY,
    /// LinkSec packets sent without a tag.
    LSECTXUT,
    /// LinkSec packets sent encrypted.
    LSECTXPKTE,
    /// LinkSec packets sent authenticated.
    LSECTXPKTP,
    /// LinkSec bytes sent encrypted.
    LSECTXOCTE,
    /// LinkSec bytes sent authenticated.
    LSECTXOCTP,
    /// LinkSec packets received without a tag.
    LSECRXUT,
    /// LinkSec bytes decrypted.
    LSECRXOCTD,
    /// LinkSec bytes checked.
    LSECRXOCTV,
    /// LinkSec packets with a bad tag.
    LSECRXBAD,
    /// LinkSec packets without an SCI.
    LSECRXNOSCI,
    /// LinkSec packets with an unknown SCI.
    LSECRXUNSCI,
    /// LinkSec packets not checked.
    LSECRXUNCH,
    /// LinkSec packets delayed.
    LSECRXDELAY,
    /// LinkSec packets late.
    LSECRXLATE,
    /// LinkSec packets good, by association.
    LSECRXOK,
    /// LinkSec packets invalid, by association.
    LSECRXINV,
    /// LinkSec packets not valid, by association.
    LSECRXNV,
    /// LinkSec packets of an unused association.
    LSECRXUNSA,
    /// LinkSec packets of no association.
    LSECRXNUSA,
    /// IPsec transmit table: access.
    IPSTXIDX,
    /// IPsec transmit table: salt.
    IPSTXSALT,
    /// IPsec transmit table: key.
    IPSTXKEY,
    /// IPsec receive tables: access.
    IPSRXIDX,
    /// IPsec receive tables: address.
    IPSRXIPADDR,
    /// IPsec receive tables: SPI.
    IPSRXSPI,
    /// IPsec receive tables: index of the address.
    IPSRXIPIDX,
    /// IPsec receive tables: key.
    IPSRXKEY,
    /// IPsec receive tables: salt.
    IPSRXSALT,
    /// IPsec receive tables: mode.
    IPSRXMOD,
    /// Access to receive descriptors on the chip.
    RDHMPN,
    /// A receive descriptor on the chip.
    RIC_DW,
    /// Probe in receive DMA.
    RDPROBE,
    /// Access to the memories of receive DMA.
    RDMAM,
    /// A dword of a memory of receive DMA.
    RDMAD,
    /// Access to transmit descriptors on the chip.
    TDHMPN2,
    /// Transmit descriptors on the chip.
    TXDESCIC,
    /// A transmit descriptor on the chip.
    TIC_DW2,
    /// Queues with strict low latency.
    TXLLQ,
    /// Receive statistics for debugging: control.
    RDSTATCTL,
    /// Receive statistics for debugging.
    RDSTAT,
    /// Times a receive packet buffer wrapped.
    RXMEMWRAP,
    /// Fill of a receive packet buffer.
    RXUSED,
    /// Fill of a transmit packet buffer.
    TXUSED,
    /// PCI Express diagnostics.
    PCIE_DIAG,
    /// PCI Express statistics: control.
    GSCL_1,
    /// PCI Express statistics: events.
    GSCL_2,
    /// PCI Express statistics: thresholds.
    GSCL_5,
    /// PCI Express statistics: counters.
    GSCN,
    /// Sizes of the memory regions.
    BARCTRL,
    /// PCI Express memory errors: control 0.
    ECC_CTRL_0,
    /// PCI Express memory errors: control 1.
    ECC_CTRL_1,
    /// PCI Express memory errors.
    ECC_STATUS,
}

/// Every register, in the order of the reference and of [`RegisterId`].
#[rustfmt::skip] // a register in two lines, a field a line
pub static REGISTERS: &[Register] = &[
    Register { id: RegisterId::CTRL, name: "CTRL", offset: 0x00000, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00000, stride: 0x4, count: 1 }], aliases: &[Range { first: 0, offset: 0x00004, stride: 0x4, count: 1 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.1.1"), summary: "Device control.", fields: &[
        Field { name: "MASTER_DISABLE", mask: CTRL_MASTER_DISABLE, access: Access::ReadWrite, summary: "Start no more bus transactions. STATUS.MASTER_ENABLE clears at the end." },
        Field { name: "LNK_RST", mask: CTRL_LNK_RST, access: Access::SelfClearing, summary: "Reset the link, and the device with it." },
        Field { name: "RST", mask: CTRL_RST, access: Access::SelfClearing, summary: "Reset the device. Touch no register for 1 ms, then wait 10 ms more." },
    ] },
    Register { id: RegisterId::STATUS, name: "STATUS", offset: 0x00008, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00008, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00080000, reset_first: 0x00080000, acts_on: None, section: Some("8.2.3.1.2"), summary: "Device status.", fields: &[
        Field { name: "LAN_ID", mask: STATUS_LAN_ID, access: Access::ReadOnly, summary: "Which port of the card this is." },
        Field { name: "LINK_UP", mask: STATUS_LINK_UP, access: Access::ReadOnly, summary: "The link is up." },
        Field { name: "NUM_VFS", mask: STATUS_NUM_VFS, access: Access::ReadOnly, summary: "Virtual functions that are enabled." },
        Field { name: "IOV_ACTIVE", mask: STATUS_IOV_ACTIVE, access: Access::ReadOnly, summary: "Virtual functions are enabled." },
        Field { name: "MASTER_ENABLE", mask: STATUS_MASTER_ENABLE, access: Access::ReadOnly, summary: "Bus transactions may be under way; 0 after CTRL.MASTER_DISABLE." },
    ] },
    Register { id: RegisterId::CTRL_EXT, name: "CTRL_EXT", offset: 0x00018, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00018, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.1.3"), summary: "Extended device control.", fields: &[
        Field { name: "PFRSTD", mask: CTRL_EXT_PFRSTD, access: Access::SelfClearing, summary: "The physical function's reset is done, and virtual functions may go on." },
        Field { name: "NS_DIS", mask: CTRL_EXT_NS_DIS, access: Access::ReadWrite, summary: "Use no transaction without snooping, whatever other registers say." },
        Field { name: "RO_DIS", mask: CTRL_EXT_RO_DIS, access: Access::ReadWrite, summary: "Use no relaxed ordering, whatever other registers say." },
        Field { name: "EXTENDED_VLAN", mask: CTRL_EXT_EXTENDED_VLAN, access: Access::ReadWrite, summary: "Every packet has an outer VLAN tag." },
        Field { name: "DRV_LOAD", mask: CTRL_EXT_DRV_LOAD, access: Access::ReadWrite, summary: "A driver is loaded. The firmware reads this bit." },
    ] },
    Register { id: RegisterId::ESDP, name: "ESDP", offset: 0x00020, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00020, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.1.4"), summary: "Software definable pins.", fields: &[
        Field { name: "SDP0", mask: ESDP_SDP0, access: Access::ReadWrite, summary: "Value of pin 0." },
        Field { name: "SDP1", mask: ESDP_SDP1, access: Access::ReadWrite, summary: "Value of pin 1." },
        Field { name: "SDP2", mask: ESDP_SDP2, access: Access::ReadWrite, summary: "Value of pin 2. On SFP+ cards it is high while the cage holds a module." },
        Field { name: "SDP3", mask: ESDP_SDP3, access: Access::ReadWrite, summary: "Value of pin 3. On SFP+ cards, 1 turns the laser off." },
        Field { name: "SDP4", mask: ESDP_SDP4, access: Access::ReadWrite, summary: "Value of pin 4." },
        Field { name: "SDP5", mask: ESDP_SDP5, access: Access::ReadWrite, summary: "Value of pin 5." },
        Field { name: "SDP6", mask: ESDP_SDP6, access: Access::ReadWrite, summary: "Value of pin 6." },
        Field { name: "SDP7", mask: ESDP_SDP7, access: Access::ReadWrite, summary: "Value of pin 7." },
        Field { name: "SDP0_DIR", mask: ESDP_SDP0_DIR, access: Access::ReadWrite, summary: "Pin 0 is an output." },
        Field { name: "SDP1_DIR", mask: ESDP_SDP1_DIR, access: Access::ReadWrite, summary: "Pin 1 is an output." },
        Field { name: "SDP2_DIR", mask: ESDP_SDP2_DIR, access: Access::ReadWrite, summary: "Pin 2 is an output." },
        Field { name: "SDP3_DIR", mask: ESDP_SDP3_DIR, access: Access::ReadWrite, summary: "Pin 3 is an output." },
        Field { name: "SDP4_DIR", mask: ESDP_SDP4_DIR, access: Access::ReadWrite, summary: "Pin 4 is an output." },
        Field { name: "SDP5_DIR", mask: ESDP_SDP5_DIR, access: Access::ReadWrite, summary: "Pin 5 is an output." },
        Field { name: "SDP6_DIR", mask: ESDP_SDP6_DIR, access: Access::ReadWrite, summary: "Pin 6 is an output." },
        Field { name: "SDP7_DIR", mask: ESDP_SDP7_DIR, access: Access::ReadWrite, summary: "Pin 7 is an output." },
        Field { name: "SDP0_NATIVE", mask: ESDP_SDP0_NATIVE, access: Access::ReadWrite, summary: "Pin 0 has its built-in function." },
        Field { name: "SDP1_NATIVE", mask: ESDP_SDP1_NATIVE, access: Access::ReadWrite, summary: "Pin 1 has its built-in function." },
    ] },
    Register { id: RegisterId::I2CCTL, name: "I2CCTL", offset: 0x00028, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00028, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x0000000F, reset_first: 0x0000000F, acts_on: None, section: Some("8.2.3.1.5"), summary: "The two wires to the SFP+ module.", fields: &[
        Field { name: "CLK_IN", mask: I2CCTL_CLK_IN, access: Access::ReadOnly, summary: "Level of the clock wire." },
        Field { name: "CLK_OUT", mask: I2CCTL_CLK_OUT, access: Access::ReadWrite, summary: "Level to drive the clock wire to." },
        Field { name: "DATA_IN", mask: I2CCTL_DATA_IN, access: Access::ReadOnly, summary: "Level of the data wire." },
        Field { name: "DATA_OUT", mask: I2CCTL_DATA_OUT, access: Access::ReadWrite, summary: "Level to drive the data wire to." },
    ] },
    Register { id: RegisterId::FRTIMER, name: "FRTIMER", offset: 0x00048, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00048, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Free running timer.", fields: &[] },
    Register { id: RegisterId::TCPTIMER, name: "TCPTIMER", offset: 0x0004C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0004C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Timer that can raise an interrupt.", fields: &[
        Field { name: "DURATION", mask: TCPTIMER_DURATION, access: Access::ReadWrite, summary: "Time to run, in milliseconds." },
        Field { name: "KS", mask: TCPTIMER_KS, access: Access::SelfClearing, summary: "Start again." },
        Field { name: "COUNT_ENABLE", mask: TCPTIMER_COUNT_ENABLE, access: Access::ReadWrite, summary: "The timer runs." },
        Field { name: "COUNT_FINISH", mask: TCPTIMER_COUNT_FINISH, access: Access::SelfClearing, summary: "End at once." },
        Field { name: "LOOP", mask: TCPTIMER_LOOP, access: Access::ReadWrite, summary: "Start again at each end." },
    ] },
    Register { id: RegisterId::LEDCTL, name: "LEDCTL", offset: 0x00200, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00200, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.1.6"), summary: "LEDs.", fields: &[
        Field { name: "LED0_MODE", mask: LEDCTL_LED0_MODE, access: Access::ReadWrite, summary: "State that LED 0 shows." },
        Field { name: "LED0_INVERT", mask: LEDCTL_LED0_INVERT, access: Access::ReadWrite, summary: "LED 0 inverted." },
        Field { name: "LED0_BLINK", mask: LEDCTL_LED0_BLINK, access: Access::ReadWrite, summary: "LED 0 blinks." },
        Field { name: "LED1_MODE", mask: LEDCTL_LED1_MODE, access: Access::ReadWrite, summary: "State that LED 1 shows." },
        Field { name: "LED1_INVERT", mask: LEDCTL_LED1_INVERT, access: Access::ReadWrite, summary: "LED 1 inverted." },
        Field { name: "LED1_BLINK", mask: LEDCTL_LED1_BLINK, access: Access::ReadWrite, summary: "LED 1 blinks." },
        Field { name: "LED2_MODE", mask: LEDCTL_LED2_MODE, access: Access::ReadWrite, summary: "State that LED 2 shows." },
        Field { name: "LED2_INVERT", mask: LEDCTL_LED2_INVERT, access: Access::ReadWrite, summary: "LED 2 inverted." },
        Field { name: "LED2_BLINK", mask: LEDCTL_LED2_BLINK, access: Access::ReadWrite, summary: "LED 2 blinks." },
        Field { name: "LED3_MODE", mask: LEDCTL_LED3_MODE, access: Access::ReadWrite, summary: "State that LED 3 shows." },
        Field { name: "LED3_INVERT", mask: LEDCTL_LED3_INVERT, access: Access::ReadWrite, summary: "LED 3 inverted." },
        Field { name: "LED3_BLINK", mask: LEDCTL_LED3_BLINK, access: Access::ReadWrite, summary: "LED 3 blinks." },
    ] },
    Register { id: RegisterId::EXVET, name: "EXVET", offset: 0x05078, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05078, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x81000000, reset_first: 0x81000000, acts_on: None, section: None, summary: "EtherType of the outer VLAN tag.", fields: &[
        Field { name: "VET_EXT", mask: EXVET_VET_EXT, access: Access::ReadWrite, summary: "The EtherType." },
    ] },
    Register { id: RegisterId::EEC, name: "EEC", offset: 0x10010, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10010, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000110, reset_first: 0x00000110, acts_on: None, section: Some("8.2.3.2.1"), summary: "EEPROM and flash control.", fields: &[
        Field { name: "SK", mask: EEC_SK, access: Access::ReadWrite, summary: "Clock to the EEPROM." },
        Field { name: "CS", mask: EEC_CS, access: Access::ReadWrite, summary: "The EEPROM is selected." },
        Field { name: "DI", mask: EEC_DI, access: Access::ReadWrite, summary: "Data to the EEPROM." },
        Field { name: "DO", mask: EEC_DO, access: Access::ReadOnly, summary: "Data from the EEPROM." },
        Field { name: "FWE", mask: EEC_FWE, access: Access::ReadWrite, summary: "Flash writes." },
        Field { name: "REQ", mask: EEC_REQ, access: Access::ReadWrite, summary: "Request the EEPROM's wires." },
        Field { name: "GNT", mask: EEC_GNT, access: Access::ReadOnly, summary: "Software has the wires." },
        Field { name: "PRES", mask: EEC_PRES, access: Access::ReadOnly, summary: "The EEPROM is present and has a valid signature." },
        Field { name: "ARD", mask: EEC_ARD, access: Access::ReadOnly, summary: "Auto-read done: the EEPROM has been read, or is absent." },
        Field { name: "ADDR_SIZE", mask: EEC_ADDR_SIZE, access: Access::ReadOnly, summary: "The EEPROM takes addresses of 16 bits, not 8." },
        Field { name: "SIZE", mask: EEC_SIZE, access: Access::ReadOnly, summary: "Size: 2 to the power of this, times 128 bytes." },
    ] },
    Register { id: RegisterId::EERD, name: "EERD", offset: 0x10014, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10014, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.2.2"), summary: "Reads a word of the EEPROM.", fields: &[
        Field { name: "START", mask: EERD_START, access: Access::SelfClearing, summary: "Read the word at ADDR." },
        Field { name: "DONE", mask: EERD_DONE, access: Access::ReadOnly, summary: "DATA is valid." },
        Field { name: "ADDR", mask: EERD_ADDR, access: Access::ReadWrite, summary: "Address of the word." },
        Field { name: "DATA", mask: EERD_DATA, access: Access::ReadOnly, summary: "The word's value." },
    ] },
    Register { id: RegisterId::EEWR, name: "EEWR", offset: 0x10018, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10018, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Writes a word of the EEPROM. X540 and later.", fields: &[
        Field { name: "START", mask: EEWR_START, access: Access::SelfClearing, summary: "Write DATA to the word at ADDR." },
        Field { name: "DONE", mask: EEWR_DONE, access: Access::ReadOnly, summary: "The word is written." },
        Field { name: "ADDR", mask: EEWR_ADDR, access: Access::ReadWrite, summary: "Address of the word." },
        Field { name: "DATA", mask: EEWR_DATA, access: Access::ReadWrite, summary: "The word's value." },
    ] },
    Register { id: RegisterId::FLA, name: "FLA", offset: 0x1001C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x1001C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Flash access by software.", fields: &[] },
    Register { id: RegisterId::EEMNGCTL, name: "EEMNGCTL", offset: 0x10110, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10110, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x800C0000, reset_first: 0x800C0000, acts_on: None, section: None, summary: "EEPROM access by the firmware.", fields: &[
        Field { name: "ADDR", mask: EEMNGCTL_ADDR, access: Access::ReadWrite, summary: "Address of the word." },
        Field { name: "START", mask: EEMNGCTL_START, access: Access::SelfClearing, summary: "Start the access." },
        Field { name: "WRITE", mask: EEMNGCTL_WRITE, access: Access::ReadWrite, summary: "Write, not read." },
        Field { name: "EEBUSY", mask: EEMNGCTL_EEBUSY, access: Access::ReadWrite, summary: "The EEPROM is busy." },
        Field { name: "CFG_DONE0", mask: EEMNGCTL_CFG_DONE0, access: Access::ReadWrite, summary: "Port 0 has been configured from the EEPROM." },
        Field { name: "CFG_DONE1", mask: EEMNGCTL_CFG_DONE1, access: Access::ReadWrite, summary: "Port 1 has been configured from the EEPROM." },
        Field { name: "DONE", mask: EEMNGCTL_DONE, access: Access::ReadOnly, summary: "The access has ended." },
    ] },
    Register { id: RegisterId::EEMNGDATA, name: "EEMNGDATA", offset: 0x10114, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10114, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Data of EEMNGCTL's access.", fields: &[] },
    Register { id: RegisterId::FLMNGCTL, name: "FLMNGCTL", offset: 0x10118, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10118, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Flash access by the firmware.", fields: &[] },
    Register { id: RegisterId::FLMNGDATA, name: "FLMNGDATA", offset: 0x1011C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x1011C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Data of FLMNGCTL's access.", fields: &[] },
    Register { id: RegisterId::FLMNGCNT, name: "FLMNGCNT", offset: 0x10120, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10120, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes of FLMNGCTL's access.", fields: &[] },
    Register { id: RegisterId::FLOP, name: "FLOP", offset: 0x1013C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x1013C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Opcodes of the flash chip.", fields: &[] },
    Register { id: RegisterId::GRC, name: "GRC", offset: 0x10200, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10200, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Wake-up and manageability.", fields: &[
        Field { name: "MNG_EN", mask: GRC_MNG_EN, access: Access::ReadOnly, summary: "Manageability is on." },
        Field { name: "APME", mask: GRC_APME, access: Access::ReadWrite, summary: "Advanced power management wakes the system." },
    ] },
    Register { id: RegisterId::SRAMREL, name: "SRAMREL", offset: 0x10210, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10210, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Release of the shadow memory by software. X540 and later.", fields: &[] },
    Register { id: RegisterId::SWSM, name: "SWSM", offset: 0x10140, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10140, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.4.9"), summary: "Software semaphore between drivers and firmware.", fields: &[
        Field { name: "SMBI", mask: SWSM_SMBI, access: Access::ReadSet, summary: "The driver that reads 0 has the semaphore. Writing 0 releases it." },
        Field { name: "SWESMBI", mask: SWSM_SWESMBI, access: Access::ReadWrite, summary: "Software requests SW_FW_SYNC, and has it once the bit reads 1." },
    ] },
    Register { id: RegisterId::FWSM, name: "FWSM", offset: 0x10148, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10148, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.4.10"), summary: "Firmware semaphore and state.", fields: &[
        Field { name: "FWSMBI", mask: FWSM_FWSMBI, access: Access::ReadOnly, summary: "Firmware has SW_FW_SYNC." },
        Field { name: "FW_MODE", mask: FWSM_FW_MODE, access: Access::ReadOnly, summary: "The firmware's mode." },
        Field { name: "EEP_RELOAD", mask: FWSM_EEP_RELOAD, access: Access::ReadOnly, summary: "Firmware has read the EEPROM again." },
        Field { name: "FW_VAL", mask: FWSM_FW_VAL, access: Access::ReadOnly, summary: "The fields of this register are valid." },
        Field { name: "RESET_CNT", mask: FWSM_RESET_CNT, access: Access::ReadOnly, summary: "How often firmware has reset the device." },
        Field { name: "EXT_ERR_IND", mask: FWSM_EXT_ERR_IND, access: Access::ReadOnly, summary: "The firmware's error code; 0 without error." },
    ] },
    Register { id: RegisterId::SW_FW_SYNC, name: "SW_FW_SYNC", offset: 0x10160, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10160, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.4.11"), summary: "Owners of the shared resources. Access it only while you hold SWSM.SWESMBI.", fields: &[
        Field { name: "SW_EEP", mask: SW_FW_SYNC_SW_EEP, access: Access::ReadWrite, summary: "Software has the EEPROM." },
        Field { name: "SW_PHY0", mask: SW_FW_SYNC_SW_PHY0, access: Access::ReadWrite, summary: "Software has PHY 0, and the I2C wires." },
        Field { name: "SW_PHY1", mask: SW_FW_SYNC_SW_PHY1, access: Access::ReadWrite, summary: "Software has PHY 1, and the I2C wires." },
        Field { name: "SW_MAC_CSR", mask: SW_FW_SYNC_SW_MAC_CSR, access: Access::ReadWrite, summary: "Software has the shared registers, such as AUTOC." },
        Field { name: "SW_FLASH", mask: SW_FW_SYNC_SW_FLASH, access: Access::ReadWrite, summary: "Software has the flash." },
        Field { name: "FW_EEP", mask: SW_FW_SYNC_FW_EEP, access: Access::ReadWrite, summary: "Firmware has the EEPROM." },
        Field { name: "FW_PHY0", mask: SW_FW_SYNC_FW_PHY0, access: Access::ReadWrite, summary: "Firmware has PHY 0." },
        Field { name: "FW_PHY1", mask: SW_FW_SYNC_FW_PHY1, access: Access::ReadWrite, summary: "Firmware has PHY 1." },
        Field { name: "FW_MAC_CSR", mask: SW_FW_SYNC_FW_MAC_CSR, access: Access::ReadWrite, summary: "Firmware has the shared registers." },
        Field { name: "FW_FLASH", mask: SW_FW_SYNC_FW_FLASH, access: Access::ReadWrite, summary: "Firmware has the flash." },
        Field { name: "I2C", mask: SW_FW_SYNC_I2C, access: Access::ReadWrite, summary: "Software has the I2C wires of PHY 0, 1. X550." },
        Field { name: "REGSMP", mask: SW_FW_SYNC_REGSMP, access: Access::ReadSet, summary: "The driver that reads 0 has this register. X540 and later." },
    ] },
    Register { id: RegisterId::FACTPS, name: "FACTPS", offset: 0x10150, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x10150, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Active functions and their power states.", fields: &[
        Field { name: "FUNC0_POWER_STATE", mask: FACTPS_FUNC0_POWER_STATE, access: Access::ReadOnly, summary: "Power state of function 0." },
        Field { name: "LAN0_VALID", mask: FACTPS_LAN0_VALID, access: Access::ReadOnly, summary: "Port 0 is enabled." },
        Field { name: "FUNC1_POWER_STATE", mask: FACTPS_FUNC1_POWER_STATE, access: Access::ReadOnly, summary: "Power state of function 1." },
        Field { name: "LAN1_VALID", mask: FACTPS_LAN1_VALID, access: Access::ReadOnly, summary: "Port 1 is enabled." },
        Field { name: "MNGCG", mask: FACTPS_MNGCG, access: Access::ReadOnly, summary: "The firmware's clock is off." },
        Field { name: "LFS", mask: FACTPS_LFS, access: Access::ReadOnly, summary: "The two ports are swapped." },
        Field { name: "PM_STATE_CHANGED", mask: FACTPS_PM_STATE_CHANGED, access: Access::ReadOnly, summary: "A power state has changed." },
    ] },
    Register { id: RegisterId::GCR, name: "GCR", offset: 0x11000, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11000, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express control.", fields: &[
        Field { name: "CMPL_TMOUT", mask: GCR_CMPL_TMOUT, access: Access::ReadWrite, summary: "Completion timeout, if the capability's version is 1." },
        Field { name: "CMPL_TMOUT_RESEND", mask: GCR_CMPL_TMOUT_RESEND, access: Access::ReadWrite, summary: "Repeat a request whose completion timed out." },
        Field { name: "CAP_VER2", mask: GCR_CAP_VER2, access: Access::ReadOnly, summary: "The PCI Express capability has version 2." },
    ] },
    Register { id: RegisterId::GCR_EXT, name: "GCR_EXT", offset: 0x11050, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11050, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.4.12"), summary: "Extended PCI Express control.", fields: &[
        Field { name: "VT_MODE", mask: GCR_EXT_VT_MODE, access: Access::ReadWrite, summary: "Number of virtual functions." },
        Field { name: "BUFFERS_CLEAR", mask: GCR_EXT_BUFFERS_CLEAR, access: Access::ReadWrite, summary: "Flush internal buffers: hold for 20 us before resetting a stuck device." },
        Field { name: "MSIX_EN", mask: GCR_EXT_MSIX_EN, access: Access::ReadWrite, summary: "Virtual functions use MSI-X." },
    ] },
    Register { id: RegisterId::MREVID, name: "MREVID", offset: 0x11064, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11064, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Revision of the mask.", fields: &[] },
    Register { id: RegisterId::PICAUSE, name: "PICAUSE", offset: 0x110B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x110B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Causes of PCI Express error interrupts.", fields: &[] },
    Register { id: RegisterId::PIENA, name: "PIENA", offset: 0x110B8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x110B8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express errors that raise an interrupt.", fields: &[] },
    Register { id: RegisterId::CIAA, name: "CIAA", offset: 0x11088, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11088, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Address for reading configuration space through CIAD.", fields: &[] },
    Register { id: RegisterId::CIAD, name: "CIAD", offset: 0x1108C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x1108C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Data of the access that CIAA names.", fields: &[] },
    Register { id: RegisterId::PFCTOP, name: "PFCTOP", offset: 0x03008, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03008, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00008808, reset_first: 0x00008808, acts_on: None, section: Some("8.2.3.3.1"), summary: "EtherType and opcode of pause frames.", fields: &[] },
    Register { id: RegisterId::FCTTV, name: "FCTTV", offset: 0x03200, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x03200, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.2"), summary: "Pause times to request from the link partner, two traffic classes an entry.", fields: &[
        Field { name: "TTV_EVEN", mask: FCTTV_TTV_EVEN, access: Access::ReadWrite, summary: "Pause time of traffic class 2n, in units of 512 bit times." },
        Field { name: "TTV_ODD", mask: FCTTV_TTV_ODD, access: Access::ReadWrite, summary: "Pause time of traffic class 2n + 1, in units of 512 bit times." },
    ] },
    Register { id: RegisterId::FCRTL, name: "FCRTL", offset: 0x03220, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03220, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.3"), summary: "Fill of a packet buffer at which the card sends XON.", fields: &[
        Field { name: "RTL", mask: FCRTL_RTL, access: Access::ReadWrite, summary: "Low water mark, in units of 32 bytes." },
        Field { name: "XONE", mask: FCRTL_XONE, access: Access::ReadWrite, summary: "Send such frames." },
    ] },
    Register { id: RegisterId::FCRTH, name: "FCRTH", offset: 0x03260, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03260, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.4"), summary: "Fill of a packet buffer at which the card sends XOFF.", fields: &[
        Field { name: "RTH", mask: FCRTH_RTH, access: Access::ReadWrite, summary: "High water mark, in units of 32 bytes." },
        Field { name: "FCEN", mask: FCRTH_FCEN, access: Access::ReadWrite, summary: "Send such frames." },
    ] },
    Register { id: RegisterId::FCRTV, name: "FCRTV", offset: 0x032A0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x032A0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.5"), summary: "Time at which the card repeats XOFF.", fields: &[
        Field { name: "FC_REFRESH_TH", mask: FCRTV_FC_REFRESH_TH, access: Access::ReadWrite, summary: "Time left of the last pause, in units of 512 bit times." },
    ] },
    Register { id: RegisterId::TFCS, name: "TFCS", offset: 0x0CE00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CE00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.6"), summary: "Traffic classes that the link partner has paused.", fields: &[
        Field { name: "TC_XON", mask: TFCS_TC_XON, access: Access::ReadOnly, summary: "One bit a class: the class may send." },
    ] },
    Register { id: RegisterId::FCCFG, name: "FCCFG", offset: 0x03D00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03D00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.3.7"), summary: "Sending of pause frames.", fields: &[
        Field { name: "TFCE", mask: FCCFG_TFCE, access: Access::ReadWrite, summary: "Kind of pause frames that the card sends." },
    ] },
    Register { id: RegisterId::PXONRXCNT, name: "PXONRXCNT", offset: 0x04140, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x04140, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XON frames received, by class.", fields: &[] },
    Register { id: RegisterId::PXOFFRXCNT, name: "PXOFFRXCNT", offset: 0x04160, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x04160, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XOFF frames received, by class.", fields: &[] },
    Register { id: RegisterId::EICR, name: "EICR", offset: 0x00800, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00800, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClearWriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.1"), summary: "Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16.", fields: &[
        Field { name: "RTX_QUEUE", mask: EICR_RTX_QUEUE, access: Access::ReadClearWriteOneClear, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EICR_FLOW_DIR, access: Access::ReadClearWriteOneClear, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EICR_RX_MISS, access: Access::ReadClearWriteOneClear, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EICR_PCI, access: Access::ReadClearWriteOneClear, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EICR_MAILBOX, access: Access::ReadClearWriteOneClear, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EICR_LSC, access: Access::ReadClearWriteOneClear, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EICR_LINKSEC, access: Access::ReadClearWriteOneClear, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EICR_MNG, access: Access::ReadClearWriteOneClear, summary: "The firmware has a message." },
        Field { name: "TS", mask: EICR_TS, access: Access::ReadClearWriteOneClear, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EICR_GPI_SDP0, access: Access::ReadClearWriteOneClear, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EICR_GPI_SDP1, access: Access::ReadClearWriteOneClear, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EICR_GPI_SDP2, access: Access::ReadClearWriteOneClear, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EICR_GPI_SDP3, access: Access::ReadClearWriteOneClear, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EICR_ECC, access: Access::ReadClearWriteOneClear, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EICR_TCP_TIMER, access: Access::ReadClearWriteOneClear, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EICR_OTHER, access: Access::ReadOnly, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EICS, name: "EICS", offset: 0x00808, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00808, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneSet, reset: 0x00000000, reset_first: 0x00000000, acts_on: Some(RegisterId::EICR), section: Some("8.2.3.5.2"), summary: "Raises causes. A read returns EICR and clears nothing.", fields: &[
        Field { name: "RTX_QUEUE", mask: EICS_RTX_QUEUE, access: Access::WriteOneSet, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EICS_FLOW_DIR, access: Access::WriteOneSet, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EICS_RX_MISS, access: Access::WriteOneSet, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EICS_PCI, access: Access::WriteOneSet, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EICS_MAILBOX, access: Access::WriteOneSet, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EICS_LSC, access: Access::WriteOneSet, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EICS_LINKSEC, access: Access::WriteOneSet, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EICS_MNG, access: Access::WriteOneSet, summary: "The firmware has a message." },
        Field { name: "TS", mask: EICS_TS, access: Access::WriteOneSet, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EICS_GPI_SDP0, access: Access::WriteOneSet, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EICS_GPI_SDP1, access: Access::WriteOneSet, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EICS_GPI_SDP2, access: Access::WriteOneSet, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EICS_GPI_SDP3, access: Access::WriteOneSet, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EICS_ECC, access: Access::WriteOneSet, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EICS_TCP_TIMER, access: Access::WriteOneSet, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EICS_OTHER, access: Access::WriteOneSet, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EIMS, name: "EIMS", offset: 0x00880, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00880, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneSet, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.3"), summary: "Enables causes. A read returns the enabled causes.", fields: &[
        Field { name: "RTX_QUEUE", mask: EIMS_RTX_QUEUE, access: Access::WriteOneSet, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EIMS_FLOW_DIR, access: Access::WriteOneSet, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EIMS_RX_MISS, access: Access::WriteOneSet, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EIMS_PCI, access: Access::WriteOneSet, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EIMS_MAILBOX, access: Access::WriteOneSet, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EIMS_LSC, access: Access::WriteOneSet, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EIMS_LINKSEC, access: Access::WriteOneSet, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EIMS_MNG, access: Access::WriteOneSet, summary: "The firmware has a message." },
        Field { name: "TS", mask: EIMS_TS, access: Access::WriteOneSet, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EIMS_GPI_SDP0, access: Access::WriteOneSet, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EIMS_GPI_SDP1, access: Access::WriteOneSet, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EIMS_GPI_SDP2, access: Access::WriteOneSet, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EIMS_GPI_SDP3, access: Access::WriteOneSet, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EIMS_ECC, access: Access::WriteOneSet, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EIMS_TCP_TIMER, access: Access::WriteOneSet, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EIMS_OTHER, access: Access::WriteOneSet, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EIMC, name: "EIMC", offset: 0x00888, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00888, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: Some(RegisterId::EIMS), section: Some("8.2.3.5.4"), summary: "Disables causes.", fields: &[
        Field { name: "RTX_QUEUE", mask: EIMC_RTX_QUEUE, access: Access::WriteOneClear, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EIMC_FLOW_DIR, access: Access::WriteOneClear, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EIMC_RX_MISS, access: Access::WriteOneClear, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EIMC_PCI, access: Access::WriteOneClear, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EIMC_MAILBOX, access: Access::WriteOneClear, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EIMC_LSC, access: Access::WriteOneClear, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EIMC_LINKSEC, access: Access::WriteOneClear, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EIMC_MNG, access: Access::WriteOneClear, summary: "The firmware has a message." },
        Field { name: "TS", mask: EIMC_TS, access: Access::WriteOneClear, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EIMC_GPI_SDP0, access: Access::WriteOneClear, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EIMC_GPI_SDP1, access: Access::WriteOneClear, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EIMC_GPI_SDP2, access: Access::WriteOneClear, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EIMC_GPI_SDP3, access: Access::WriteOneClear, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EIMC_ECC, access: Access::WriteOneClear, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EIMC_TCP_TIMER, access: Access::WriteOneClear, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EIMC_OTHER, access: Access::WriteOneClear, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EIAC, name: "EIAC", offset: 0x00810, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00810, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.5"), summary: "Causes that their MSI-X message clears.", fields: &[
        Field { name: "RTX_QUEUE", mask: EIAC_RTX_QUEUE, access: Access::ReadWrite, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EIAC_FLOW_DIR, access: Access::ReadWrite, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EIAC_RX_MISS, access: Access::ReadWrite, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EIAC_PCI, access: Access::ReadWrite, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EIAC_MAILBOX, access: Access::ReadWrite, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EIAC_LSC, access: Access::ReadWrite, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EIAC_LINKSEC, access: Access::ReadWrite, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EIAC_MNG, access: Access::ReadWrite, summary: "The firmware has a message." },
        Field { name: "TS", mask: EIAC_TS, access: Access::ReadWrite, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EIAC_GPI_SDP0, access: Access::ReadWrite, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EIAC_GPI_SDP1, access: Access::ReadWrite, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EIAC_GPI_SDP2, access: Access::ReadWrite, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EIAC_GPI_SDP3, access: Access::ReadWrite, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EIAC_ECC, access: Access::ReadWrite, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EIAC_TCP_TIMER, access: Access::ReadWrite, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EIAC_OTHER, access: Access::ReadWrite, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EIAM, name: "EIAM", offset: 0x00890, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00890, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.6"), summary: "Causes that are disabled when they raise an interrupt.", fields: &[
        Field { name: "RTX_QUEUE", mask: EIAM_RTX_QUEUE, access: Access::ReadWrite, summary: "Queues, through IVAR." },
        Field { name: "FLOW_DIR", mask: EIAM_FLOW_DIR, access: Access::ReadWrite, summary: "Flow director is out of room." },
        Field { name: "RX_MISS", mask: EIAM_RX_MISS, access: Access::ReadWrite, summary: "A packet buffer overflowed." },
        Field { name: "PCI", mask: EIAM_PCI, access: Access::ReadWrite, summary: "PCI Express error." },
        Field { name: "MAILBOX", mask: EIAM_MAILBOX, access: Access::ReadWrite, summary: "A virtual function wrote to its mailbox." },
        Field { name: "LSC", mask: EIAM_LSC, access: Access::ReadWrite, summary: "The link's status changed." },
        Field { name: "LINKSEC", mask: EIAM_LINKSEC, access: Access::ReadWrite, summary: "LinkSec's packet number runs out." },
        Field { name: "MNG", mask: EIAM_MNG, access: Access::ReadWrite, summary: "The firmware has a message." },
        Field { name: "TS", mask: EIAM_TS, access: Access::ReadWrite, summary: "The card is too hot. X540 and later; reserved on the 82599." },
        Field { name: "GPI_SDP0", mask: EIAM_GPI_SDP0, access: Access::ReadWrite, summary: "Pin SDP0." },
        Field { name: "GPI_SDP1", mask: EIAM_GPI_SDP1, access: Access::ReadWrite, summary: "Pin SDP1." },
        Field { name: "GPI_SDP2", mask: EIAM_GPI_SDP2, access: Access::ReadWrite, summary: "Pin SDP2." },
        Field { name: "GPI_SDP3", mask: EIAM_GPI_SDP3, access: Access::ReadWrite, summary: "Pin SDP3." },
        Field { name: "ECC", mask: EIAM_ECC, access: Access::ReadWrite, summary: "Uncorrectable memory error." },
        Field { name: "TCP_TIMER", mask: EIAM_TCP_TIMER, access: Access::ReadWrite, summary: "TCPTIMER ran out." },
        Field { name: "OTHER", mask: EIAM_OTHER, access: Access::ReadWrite, summary: "Any of bits 30:16 that is not masked." },
    ] },
    Register { id: RegisterId::EICS_EX, name: "EICS_EX", offset: 0x00A90, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00A90, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::WriteOneSet, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.7"), summary: "EICS for queue vectors 0 to 63.", fields: &[] },
    Register { id: RegisterId::EIMS_EX, name: "EIMS_EX", offset: 0x00AA0, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00AA0, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::WriteOneSet, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.8"), summary: "EIMS for queue vectors 0 to 63.", fields: &[] },
    Register { id: RegisterId::EIMC_EX, name: "EIMC_EX", offset: 0x00AB0, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00AB0, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: Some(RegisterId::EIMS_EX), section: Some("8.2.3.5.9"), summary: "EIMC for queue vectors 0 to 63.", fields: &[] },
    Register { id: RegisterId::EIAM_EX, name: "EIAM_EX", offset: 0x00AD0, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00AD0, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.10"), summary: "EIAM for queue vectors 0 to 63.", fields: &[] },
    Register { id: RegisterId::EITRSEL, name: "EITRSEL", offset: 0x00894, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00894, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.11"), summary: "Throttles that belong to virtual functions.", fields: &[] },
    Register { id: RegisterId::EITR, name: "EITR", offset: 0x00820, stride: 0x4, count: 129, ranges: &[Range { first: 0, offset: 0x00820, stride: 0x4, count: 24 }, Range { first: 24, offset: 0x12300, stride: 0x4, count: 105 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.12"), summary: "Interrupt throttle of a vector.", fields: &[
        Field { name: "ITR_INTERVAL", mask: EITR_ITR_INTERVAL, access: Access::ReadWrite, summary: "Least time between interrupts, in units of 2 us at 10 Gbit/s." },
        Field { name: "LLI_MODERATION", mask: EITR_LLI_MODERATION, access: Access::ReadWrite, summary: "Throttle low latency interrupts too." },
        Field { name: "LLI_CREDIT", mask: EITR_LLI_CREDIT, access: Access::ReadWrite, summary: "Low latency interrupts left." },
        Field { name: "ITR_COUNTER", mask: EITR_ITR_COUNTER, access: Access::ReadWrite, summary: "Time left." },
        Field { name: "CNT_WDIS", mask: EITR_CNT_WDIS, access: Access::ReadWrite, summary: "This write leaves the counters alone." },
    ] },
    Register { id: RegisterId::IVAR, name: "IVAR", offset: 0x00900, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x00900, stride: 0x4, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.16"), summary: "Vectors of the queues 2n and 2n + 1.", fields: &[
        Field { name: "RX_EVEN", mask: IVAR_RX_EVEN, access: Access::ReadWrite, summary: "Vector of RX queue 2n." },
        Field { name: "RX_EVEN_VALID", mask: IVAR_RX_EVEN_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
        Field { name: "TX_EVEN", mask: IVAR_TX_EVEN, access: Access::ReadWrite, summary: "Vector of TX queue 2n." },
        Field { name: "TX_EVEN_VALID", mask: IVAR_TX_EVEN_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
        Field { name: "RX_ODD", mask: IVAR_RX_ODD, access: Access::ReadWrite, summary: "Vector of RX queue 2n + 1." },
        Field { name: "RX_ODD_VALID", mask: IVAR_RX_ODD_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
        Field { name: "TX_ODD", mask: IVAR_TX_ODD, access: Access::ReadWrite, summary: "Vector of TX queue 2n + 1." },
        Field { name: "TX_ODD_VALID", mask: IVAR_TX_ODD_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
    ] },
    Register { id: RegisterId::IVAR_MISC, name: "IVAR_MISC", offset: 0x00A00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00A00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00008000, reset_first: 0x00008000, acts_on: None, section: Some("8.2.3.5.17"), summary: "Vectors of the other causes.", fields: &[
        Field { name: "TCP_TIMER", mask: IVAR_MISC_TCP_TIMER, access: Access::ReadWrite, summary: "Vector of TCPTIMER." },
        Field { name: "TCP_TIMER_VALID", mask: IVAR_MISC_TCP_TIMER_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
        Field { name: "OTHER", mask: IVAR_MISC_OTHER, access: Access::ReadWrite, summary: "Vector of all other causes." },
        Field { name: "OTHER_VALID", mask: IVAR_MISC_OTHER_VALID, access: Access::ReadWrite, summary: "The vector is valid." },
    ] },
    Register { id: RegisterId::GPIE, name: "GPIE", offset: 0x00898, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x00898, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.18"), summary: "Interrupt modes.", fields: &[
        Field { name: "SDP0_GPIEN", mask: GPIE_SDP0_GPIEN, access: Access::ReadWrite, summary: "Pin SDP0 may raise an interrupt." },
        Field { name: "SDP1_GPIEN", mask: GPIE_SDP1_GPIEN, access: Access::ReadWrite, summary: "Pin SDP1 may raise an interrupt." },
        Field { name: "SDP2_GPIEN", mask: GPIE_SDP2_GPIEN, access: Access::ReadWrite, summary: "Pin SDP2 may raise an interrupt." },
        Field { name: "SDP3_GPIEN", mask: GPIE_SDP3_GPIEN, access: Access::ReadWrite, summary: "Pin SDP3 may raise an interrupt." },
        Field { name: "MSIX_MODE", mask: GPIE_MSIX_MODE, access: Access::ReadWrite, summary: "Use MSI-X with several vectors." },
        Field { name: "OCD", mask: GPIE_OCD, access: Access::ReadWrite, summary: "A read of EICR clears only what may be cleared in MSI-X mode." },
        Field { name: "EIMEN", mask: GPIE_EIMEN, access: Access::ReadWrite, summary: "A write to EICS raises interrupts at once, without throttling." },
        Field { name: "LLI_INTERVAL", mask: GPIE_LLI_INTERVAL, access: Access::ReadWrite, summary: "Credits for low latency interrupts come this often." },
        Field { name: "RSC_DELAY", mask: GPIE_RSC_DELAY, access: Access::ReadWrite, summary: "How much longer coalescing may hold a packet." },
        Field { name: "VT_MODE", mask: GPIE_VT_MODE, access: Access::ReadWrite, summary: "Number of virtual functions." },
        Field { name: "EIAME", mask: GPIE_EIAME, access: Access::ReadWrite, summary: "EIAM also applies in MSI-X mode." },
        Field { name: "PBA_SUPPORT", mask: GPIE_PBA_SUPPORT, access: Access::ReadWrite, summary: "Pending bits are cleared as vectors are enabled." },
    ] },
    Register { id: RegisterId::PBACL, name: "PBACL", offset: 0x110C0, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x110C0, stride: 0x4, count: 8 }], aliases: &[Range { first: 0, offset: 0x11068, stride: 0x4, count: 1 }],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Clears pending bits of MSI-X vectors.", fields: &[] },
    Register { id: RegisterId::FCTRL, name: "FCTRL", offset: 0x05080, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05080, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.1"), summary: "Filter control. Change it only while RXCTRL.RXEN is 0.", fields: &[
        Field { name: "SBP", mask: FCTRL_SBP, access: Access::ReadWrite, summary: "Store packets with errors too." },
        Field { name: "MPE", mask: FCTRL_MPE, access: Access::ReadWrite, summary: "Accept all multicast packets." },
        Field { name: "UPE", mask: FCTRL_UPE, access: Access::ReadWrite, summary: "Accept all unicast packets." },
        Field { name: "BAM", mask: FCTRL_BAM, access: Access::ReadWrite, summary: "Accept broadcast packets." },
        Field { name: "PMCF", mask: FCTRL_PMCF, access: Access::ReadWrite, summary: "Pass MAC control frames on." },
        Field { name: "DPF", mask: FCTRL_DPF, access: Access::ReadWrite, summary: "Discard pause frames all the same." },
    ] },
    Register { id: RegisterId::VLNCTRL, name: "VLNCTRL", offset: 0x05088, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05088, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00008100, reset_first: 0x00008100, acts_on: None, section: Some("8.2.3.7.2"), summary: "VLAN filter control.", fields: &[
        Field { name: "VET", mask: VLNCTRL_VET, access: Access::ReadWrite, summary: "EtherType of VLAN tags." },
        Field { name: "CFI", mask: VLNCTRL_CFI, access: Access::ReadWrite, summary: "Value of CFI that passes the filter." },
        Field { name: "CFIEN", mask: VLNCTRL_CFIEN, access: Access::ReadWrite, summary: "Filter by CFI." },
        Field { name: "VFE", mask: VLNCTRL_VFE, access: Access::ReadWrite, summary: "Filter by VFTA." },
        Field { name: "VME", mask: VLNCTRL_VME, access: Access::ReadWrite, summary: "Strip VLAN tags. 82598 only; on the 82599 see RXDCTL.VME." },
    ] },
    Register { id: RegisterId::MCSTCTRL, name: "MCSTCTRL", offset: 0x05090, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05090, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.3"), summary: "Multicast filter control.", fields: &[
        Field { name: "MO", mask: MCSTCTRL_MO, access: Access::ReadWrite, summary: "Choice of the address bits that index MTA." },
        Field { name: "MFE", mask: MCSTCTRL_MFE, access: Access::ReadWrite, summary: "Filter by MTA." },
    ] },
    Register { id: RegisterId::PSRTYPE, name: "PSRTYPE", offset: 0x0EA00, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x0EA00, stride: 0x4, count: 64 }], aliases: &[Range { first: 0, offset: 0x05480, stride: 0x4, count: 16 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.4"), summary: "Places where a pool's packets are split, and the pool's RSS queues.", fields: &[
        Field { name: "TCPHDR", mask: PSRTYPE_TCPHDR, access: Access::ReadWrite, summary: "After the TCP header." },
        Field { name: "UDPHDR", mask: PSRTYPE_UDPHDR, access: Access::ReadWrite, summary: "After the UDP header." },
        Field { name: "IPV4HDR", mask: PSRTYPE_IPV4HDR, access: Access::ReadWrite, summary: "After the IPv4 header." },
        Field { name: "IPV6HDR", mask: PSRTYPE_IPV6HDR, access: Access::ReadWrite, summary: "After the IPv6 header." },
        Field { name: "L2HDR", mask: PSRTYPE_L2HDR, access: Access::ReadWrite, summary: "After the Ethernet header." },
        Field { name: "RQPL", mask: PSRTYPE_RQPL, access: Access::ReadWrite, summary: "RSS queues of the pool: 2 to the power of this." },
    ] },
    Register { id: RegisterId::RXCSUM, name: "RXCSUM", offset: 0x05000, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05000, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.5"), summary: "Receive checksums.", fields: &[
        Field { name: "IPPCSE", mask: RXCSUM_IPPCSE, access: Access::ReadWrite, summary: "Calculate the checksum of UDP fragments." },
        Field { name: "PCSD", mask: RXCSUM_PCSD, access: Access::ReadWrite, summary: "Report the RSS hash instead of the fragment checksum." },
    ] },
    Register { id: RegisterId::RFCTL, name: "RFCTL", offset: 0x05008, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05008, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.6"), summary: "Receive filter control.", fields: &[
        Field { name: "ISCSI_DIS", mask: RFCTL_ISCSI_DIS, access: Access::ReadWrite, summary: "Disable the iSCSI filter." },
        Field { name: "RSC_DIS", mask: RFCTL_RSC_DIS, access: Access::ReadWrite, summary: "Disable receive coalescing." },
        Field { name: "NFSW_DIS", mask: RFCTL_NFSW_DIS, access: Access::ReadWrite, summary: "Disable the filter for NFS writes." },
        Field { name: "NFSR_DIS", mask: RFCTL_NFSR_DIS, access: Access::ReadWrite, summary: "Disable the filter for NFS reads." },
        Field { name: "NFS_VER", mask: RFCTL_NFS_VER, access: Access::ReadWrite, summary: "Version of NFS." },
        Field { name: "IPV6_DIS", mask: RFCTL_IPV6_DIS, access: Access::ReadWrite, summary: "Disable the IPv6 filter." },
        Field { name: "IPFRSP_DIS", mask: RFCTL_IPFRSP_DIS, access: Access::ReadWrite, summary: "Do not split IP fragments." },
    ] },
    Register { id: RegisterId::MTA, name: "MTA", offset: 0x05200, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x05200, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.7"), summary: "Accepted multicast addresses, by 12 bits of the address: 4096 bits.", fields: &[] },
    Register { id: RegisterId::RAL, name: "RAL", offset: 0x0A200, stride: 0x8, count: 128, ranges: &[Range { first: 0, offset: 0x0A200, stride: 0x8, count: 128 }], aliases: &[Range { first: 0, offset: 0x05400, stride: 0x8, count: 16 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.8"), summary: "A MAC address, first four bytes; the first is lowest.", fields: &[] },
    Register { id: RegisterId::RAH, name: "RAH", offset: 0x0A204, stride: 0x8, count: 128, ranges: &[Range { first: 0, offset: 0x0A204, stride: 0x8, count: 128 }], aliases: &[Range { first: 0, offset: 0x05404, stride: 0x8, count: 16 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x80000000, acts_on: None, section: Some("8.2.3.7.9"), summary: "A MAC address, last two bytes.", fields: &[
        Field { name: "ADDRESS", mask: RAH_ADDRESS, access: Access::ReadWrite, summary: "The bytes." },
        Field { name: "AV", mask: RAH_AV, access: Access::ReadWrite, summary: "The address is valid: the port accepts its packets." },
    ] },
    Register { id: RegisterId::MPSAR, name: "MPSAR", offset: 0x0A600, stride: 0x4, count: 256, ranges: &[Range { first: 0, offset: 0x0A600, stride: 0x4, count: 256 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.10"), summary: "Pools of a MAC address; 2n and 2n + 1 are those of RAL(n).", fields: &[] },
    Register { id: RegisterId::VFTA, name: "VFTA", offset: 0x0A000, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0A000, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.11"), summary: "Accepted VLANs: 4096 bits.", fields: &[] },
    Register { id: RegisterId::PFUTA, name: "PFUTA", offset: 0x0F400, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0F400, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.17"), summary: "Accepted unicast addresses, by 12 bits of the address: 4096 bits.", fields: &[] },
    Register { id: RegisterId::RDBAL, name: "RDBAL", offset: 0x01000, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01000, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D000, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.1"), summary: "IOVA of the ring, low half: a multiple of 128.", fields: &[] },
    Register { id: RegisterId::RDBAH, name: "RDBAH", offset: 0x01004, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01004, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D004, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.2"), summary: "IOVA of the ring, high half.", fields: &[] },
    Register { id: RegisterId::RDLEN, name: "RDLEN", offset: 0x01008, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01008, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D008, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.3"), summary: "Bytes of the ring: a multiple of 128.", fields: &[] },
    Register { id: RegisterId::RDH, name: "RDH", offset: 0x01010, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01010, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D010, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.4"), summary: "Head: the descriptor that hardware fills next. Write it only before enabling, as 0.", fields: &[
        Field { name: "RDH", mask: RDH_RDH, access: Access::ReadWrite, summary: "Index in the ring." },
    ] },
    Register { id: RegisterId::RDT, name: "RDT", offset: 0x01018, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01018, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D018, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.5"), summary: "Tail: the first descriptor that hardware does not own.", fields: &[
        Field { name: "RDT", mask: RDT_RDT, access: Access::ReadWrite, summary: "Index in the ring." },
    ] },
    Register { id: RegisterId::RXDCTL, name: "RXDCTL", offset: 0x01028, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01028, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D028, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.6"), summary: "Receive queue control.", fields: &[
        Field { name: "RLPML", mask: RXDCTL_RLPML, access: Access::ReadWrite, summary: "Longest packet of the queue. X540 and later." },
        Field { name: "RLPML_EN", mask: RXDCTL_RLPML_EN, access: Access::ReadWrite, summary: "RLPML applies. X540 and later." },
        Field { name: "ENABLE", mask: RXDCTL_ENABLE, access: Access::ReadWrite, summary: "Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped." },
        Field { name: "VME", mask: RXDCTL_VME, access: Access::ReadWrite, summary: "Strip VLAN tags." },
    ] },
    Register { id: RegisterId::SRRCTL, name: "SRRCTL", offset: 0x01014, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x01014, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D014, stride: 0x40, count: 64 }], aliases: &[Range { first: 0, offset: 0x02100, stride: 0x4, count: 16 }],
        access: Access::ReadWrite, reset: 0x00000402, reset_first: 0x00000402, acts_on: None, section: Some("8.2.3.8.7"), summary: "Buffers of a receive queue.", fields: &[
        Field { name: "BSIZEPACKET", mask: SRRCTL_BSIZEPACKET, access: Access::ReadWrite, summary: "Size of a packet buffer, in KiB." },
        Field { name: "BSIZEHEADER", mask: SRRCTL_BSIZEHEADER, access: Access::ReadWrite, summary: "Size of a header buffer, in units of 64 bytes." },
        Field { name: "RDMTS", mask: SRRCTL_RDMTS, access: Access::ReadWrite, summary: "Descriptors left at which to raise an interrupt, in units of 64." },
        Field { name: "DESCTYPE", mask: SRRCTL_DESCTYPE, access: Access::ReadWrite, summary: "Format of the descriptors." },
        Field { name: "DROP_EN", mask: SRRCTL_DROP_EN, access: Access::ReadWrite, summary: "Drop packets without descriptors. Else they wait and block all queues." },
    ] },
    Register { id: RegisterId::DCA_RXCTRL, name: "DCA_RXCTRL", offset: 0x0100C, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x0100C, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D00C, stride: 0x40, count: 64 }], aliases: &[Range { first: 0, offset: 0x02200, stride: 0x4, count: 16 }],
        access: Access::ReadWrite, reset: 0x0000B200, reset_first: 0x0000B200, acts_on: None, section: Some("8.2.3.11.1"), summary: "How a receive queue accesses memory.", fields: &[
        Field { name: "DESC_DCA_EN", mask: DCA_RXCTRL_DESC_DCA_EN, access: Access::ReadWrite, summary: "Hint the descriptors into a cache." },
        Field { name: "HEAD_DCA_EN", mask: DCA_RXCTRL_HEAD_DCA_EN, access: Access::ReadWrite, summary: "Hint the headers into a cache." },
        Field { name: "DATA_DCA_EN", mask: DCA_RXCTRL_DATA_DCA_EN, access: Access::ReadWrite, summary: "Hint the packets into a cache." },
        Field { name: "DESC_RRO_EN", mask: DCA_RXCTRL_DESC_RRO_EN, access: Access::ReadWrite, summary: "Read descriptors with relaxed ordering." },
        Field { name: "DESC_WRO_EN", mask: DCA_RXCTRL_DESC_WRO_EN, access: Access::ReadOnly, summary: "Write descriptors with relaxed ordering. Always leave it 0." },
        Field { name: "RESERVED_12", mask: DCA_RXCTRL_RESERVED_12, access: Access::ReadWrite, summary: "Reads 1 after reset. Software must clear it." },
        Field { name: "DATA_WRO_EN", mask: DCA_RXCTRL_DATA_WRO_EN, access: Access::ReadWrite, summary: "Write packets with relaxed ordering." },
        Field { name: "HEAD_WRO_EN", mask: DCA_RXCTRL_HEAD_WRO_EN, access: Access::ReadWrite, summary: "Write headers with relaxed ordering." },
        Field { name: "CPUID", mask: DCA_RXCTRL_CPUID, access: Access::ReadWrite, summary: "Processor whose cache gets the hints." },
    ] },
    Register { id: RegisterId::RSCCTL, name: "RSCCTL", offset: 0x0102C, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x0102C, stride: 0x40, count: 64 }, Range { first: 64, offset: 0x0D02C, stride: 0x40, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.13"), summary: "Receive coalescing of a queue.", fields: &[
        Field { name: "RSCEN", mask: RSCCTL_RSCEN, access: Access::ReadWrite, summary: "Coalesce packets." },
        Field { name: "MAXDESC", mask: RSCCTL_MAXDESC, access: Access::ReadWrite, summary: "Descriptors that one coalesced packet may take." },
    ] },
    Register { id: RegisterId::RDRXCTL, name: "RDRXCTL", offset: 0x02F00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00100000, reset_first: 0x00100000, acts_on: None, section: Some("8.2.3.8.8"), summary: "Receive DMA control.", fields: &[
        Field { name: "CRCSTRIP", mask: RDRXCTL_CRCSTRIP, access: Access::ReadWrite, summary: "Strip the CRC. It must equal HLREG0.RXCRCSTRP." },
        Field { name: "DMAIDONE", mask: RDRXCTL_DMAIDONE, access: Access::ReadOnly, summary: "Receive DMA is ready after a reset." },
        Field { name: "AGGDIS", mask: RDRXCTL_AGGDIS, access: Access::ReadWrite, summary: "Disable coalescing of all queues." },
        Field { name: "RSCFRSTSIZE", mask: RDRXCTL_RSCFRSTSIZE, access: Access::ReadWrite, summary: "8 after reset. Software must set it to 0." },
        Field { name: "RSCLLIDIS", mask: RDRXCTL_RSCLLIDIS, access: Access::ReadWrite, summary: "A low latency interrupt does not end coalescing." },
        Field { name: "RSCACKC", mask: RDRXCTL_RSCACKC, access: Access::ReadWrite, summary: "0 after reset. Software must set it to 1." },
        Field { name: "FCOE_WRFIX", mask: RDRXCTL_FCOE_WRFIX, access: Access::ReadWrite, summary: "0 after reset. Software must set it to 1." },
    ] },
    Register { id: RegisterId::RXPBSIZE, name: "RXPBSIZE", offset: 0x03C00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03C00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00080000, reset_first: 0x00080000, acts_on: None, section: Some("8.2.3.8.9"), summary: "Size of a receive packet buffer. The sum is 512 KiB: to use one, clear the others.", fields: &[
        Field { name: "SIZE", mask: RXPBSIZE_SIZE, access: Access::ReadWrite, summary: "Size in KiB." },
    ] },
    Register { id: RegisterId::RXCTRL, name: "RXCTRL", offset: 0x03000, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03000, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.10"), summary: "Receive control.", fields: &[
        Field { name: "RXEN", mask: RXCTRL_RXEN, access: Access::ReadWrite, summary: "Enable reception." },
    ] },
    Register { id: RegisterId::RSCDBU, name: "RSCDBU", offset: 0x03028, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03028, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.8.12"), summary: "Receive coalescing.", fields: &[
        Field { name: "RSCSMALDIS", mask: RSCDBU_RSCSMALDIS, access: Access::ReadWrite, summary: "Do not coalesce packets with less payload than this, in units of 16 bytes." },
        Field { name: "RSCACKDIS", mask: RSCDBU_RSCACKDIS, access: Access::ReadWrite, summary: "Do not coalesce pure acknowledgements." },
    ] },
    Register { id: RegisterId::MRQC, name: "MRQC", offset: 0x0EC80, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EC80, stride: 0x4, count: 1 }], aliases: &[Range { first: 0, offset: 0x05818, stride: 0x4, count: 1 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.12"), summary: "Multiple receive queues.", fields: &[
        Field { name: "MRQE", mask: MRQC_MRQE, access: Access::ReadWrite, summary: "Way to choose the queue of a packet." },
        Field { name: "RSS_TCP_IPV4", mask: MRQC_RSS_TCP_IPV4, access: Access::ReadWrite, summary: "Hash addresses and ports of TCP over IPv4." },
        Field { name: "RSS_IPV4", mask: MRQC_RSS_IPV4, access: Access::ReadWrite, summary: "Hash addresses of IPv4." },
        Field { name: "RSS_IPV6", mask: MRQC_RSS_IPV6, access: Access::ReadWrite, summary: "Hash addresses of IPv6." },
        Field { name: "RSS_TCP_IPV6", mask: MRQC_RSS_TCP_IPV6, access: Access::ReadWrite, summary: "Hash addresses and ports of TCP over IPv6." },
        Field { name: "RSS_UDP_IPV4", mask: MRQC_RSS_UDP_IPV4, access: Access::ReadWrite, summary: "Hash addresses and ports of UDP over IPv4." },
        Field { name: "RSS_UDP_IPV6", mask: MRQC_RSS_UDP_IPV6, access: Access::ReadWrite, summary: "Hash addresses and ports of UDP over IPv6." },
    ] },
    Register { id: RegisterId::RQTC, name: "RQTC", offset: 0x0EC70, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EC70, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.13"), summary: "RSS queues of each traffic class.", fields: &[] },
    Register { id: RegisterId::RSSRK, name: "RSSRK", offset: 0x0EB80, stride: 0x4, count: 10, ranges: &[Range { first: 0, offset: 0x0EB80, stride: 0x4, count: 10 }], aliases: &[Range { first: 0, offset: 0x05C80, stride: 0x4, count: 10 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.14"), summary: "The RSS hash's key, 40 bytes; the first is lowest.", fields: &[] },
    Register { id: RegisterId::RETA, name: "RETA", offset: 0x0EB00, stride: 0x4, count: 32, ranges: &[Range { first: 0, offset: 0x0EB00, stride: 0x4, count: 32 }], aliases: &[Range { first: 0, offset: 0x05C00, stride: 0x4, count: 32 }],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.15"), summary: "RSS table: queues by the hash's low 7 bits, 4 entries a register.", fields: &[
        Field { name: "ENTRY0", mask: RETA_ENTRY0, access: Access::ReadWrite, summary: "Queue of hash 4n." },
        Field { name: "ENTRY1", mask: RETA_ENTRY1, access: Access::ReadWrite, summary: "Queue of hash 4n + 1." },
        Field { name: "ENTRY2", mask: RETA_ENTRY2, access: Access::ReadWrite, summary: "Queue of hash 4n + 2." },
        Field { name: "ENTRY3", mask: RETA_ENTRY3, access: Access::ReadWrite, summary: "Queue of hash 4n + 3." },
    ] },
    Register { id: RegisterId::ERETA, name: "ERETA", offset: 0x0EE80, stride: 0x4, count: 96, ranges: &[Range { first: 0, offset: 0x0EE80, stride: 0x4, count: 96 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "X550: more of the RSS table, for hashes whose low 9 bits are 128 or above.", fields: &[] },
    Register { id: RegisterId::DTXMXSZRQ, name: "DTXMXSZRQ", offset: 0x08100, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08100, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000010, reset_first: 0x00000010, acts_on: None, section: Some("8.2.3.9.1"), summary: "Reads of packet data under way.", fields: &[
        Field { name: "MAX_BYTES_NUM_REQ", mask: DTXMXSZRQ_MAX_BYTES_NUM_REQ, access: Access::ReadWrite, summary: "Upper limit of their sum, in 256 bytes; 0xFFF without traffic classes." },
    ] },
    Register { id: RegisterId::DMATXCTL, name: "DMATXCTL", offset: 0x04A80, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04A80, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x81000000, reset_first: 0x81000000, acts_on: None, section: Some("8.2.3.9.2"), summary: "Transmit DMA control.", fields: &[
        Field { name: "TE", mask: DMATXCTL_TE, access: Access::ReadWrite, summary: "Enable transmission. Set it once, before the first queue." },
        Field { name: "NS", mask: DMATXCTL_NS, access: Access::ReadWrite, summary: "Header buffers need no snooping." },
        Field { name: "GDV", mask: DMATXCTL_GDV, access: Access::ReadWrite, summary: "Double VLAN mode." },
        Field { name: "VT", mask: DMATXCTL_VT, access: Access::ReadWrite, summary: "EtherType of VLAN tags." },
    ] },
    Register { id: RegisterId::DTXTCPFLGL, name: "DTXTCPFLGL", offset: 0x04A88, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04A88, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x0FF60FF6, reset_first: 0x0FF60FF6, acts_on: None, section: Some("8.2.3.9.3"), summary: "TCP flags of the first and middle segments.", fields: &[
        Field { name: "FIRST", mask: DTXTCPFLGL_FIRST, access: Access::ReadWrite, summary: "Flags that the first segment keeps." },
        Field { name: "MIDDLE", mask: DTXTCPFLGL_MIDDLE, access: Access::ReadWrite, summary: "Flags that the segments between keep." },
    ] },
    Register { id: RegisterId::DTXTCPFLGH, name: "DTXTCPFLGH", offset: 0x04A8C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04A8C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000F7F, reset_first: 0x00000F7F, acts_on: None, section: Some("8.2.3.9.4"), summary: "TCP flags of the last segment.", fields: &[
        Field { name: "LAST", mask: DTXTCPFLGH_LAST, access: Access::ReadWrite, summary: "Flags that the last segment keeps." },
    ] },
    Register { id: RegisterId::TDBAL, name: "TDBAL", offset: 0x06000, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06000, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.5"), summary: "IOVA of the ring, low half: a multiple of 128.", fields: &[] },
    Register { id: RegisterId::TDBAH, name: "TDBAH", offset: 0x06004, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06004, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.6"), summary: "IOVA of the ring, high half.", fields: &[] },
    Register { id: RegisterId::TDLEN, name: "TDLEN", offset: 0x06008, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06008, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.7"), summary: "Bytes of the ring: a multiple of 128.", fields: &[] },
    Register { id: RegisterId::DCA_TXCTRL, name: "DCA_TXCTRL", offset: 0x0600C, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x0600C, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00002A00, reset_first: 0x00002A00, acts_on: None, section: Some("8.2.3.11.2"), summary: "How a transmit queue accesses memory.", fields: &[
        Field { name: "DESC_DCA_EN", mask: DCA_TXCTRL_DESC_DCA_EN, access: Access::ReadWrite, summary: "Hint the descriptors into a cache." },
        Field { name: "DESC_RRO_EN", mask: DCA_TXCTRL_DESC_RRO_EN, access: Access::ReadWrite, summary: "Read descriptors with relaxed ordering." },
        Field { name: "DESC_WRO_EN", mask: DCA_TXCTRL_DESC_WRO_EN, access: Access::ReadWrite, summary: "Write descriptors, or the head, with relaxed ordering." },
        Field { name: "DATA_RRO_EN", mask: DCA_TXCTRL_DATA_RRO_EN, access: Access::ReadWrite, summary: "Read packets with relaxed ordering." },
        Field { name: "CPUID", mask: DCA_TXCTRL_CPUID, access: Access::ReadWrite, summary: "Processor whose cache gets the hints." },
    ] },
    Register { id: RegisterId::TDH, name: "TDH", offset: 0x06010, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06010, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.8"), summary: "Head: the descriptor that hardware reads next. Write it only before enabling, as 0.", fields: &[
        Field { name: "TDH", mask: TDH_TDH, access: Access::ReadWrite, summary: "Index in the ring." },
    ] },
    Register { id: RegisterId::TDT, name: "TDT", offset: 0x06018, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06018, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.9"), summary: "Tail: the first descriptor that hardware does not own.", fields: &[
        Field { name: "TDT", mask: TDT_TDT, access: Access::ReadWrite, summary: "Index in the ring." },
    ] },
    Register { id: RegisterId::TXDCTL, name: "TXDCTL", offset: 0x06028, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06028, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.10"), summary: "Transmit queue control.", fields: &[
        Field { name: "PTHRESH", mask: TXDCTL_PTHRESH, access: Access::ReadWrite, summary: "Fetch more descriptors when fewer than this are on the chip." },
        Field { name: "HTHRESH", mask: TXDCTL_HTHRESH, access: Access::ReadWrite, summary: "Fetch only if this many are there to fetch." },
        Field { name: "WTHRESH", mask: TXDCTL_WTHRESH, access: Access::ReadWrite, summary: "Write back in groups of this size; 0 writes each descriptor with RS." },
        Field { name: "ENABLE", mask: TXDCTL_ENABLE, access: Access::ReadWrite, summary: "Run the queue. Poll it: 1 once the queue runs, 0 once it has stopped." },
        Field { name: "SWFLSH", mask: TXDCTL_SWFLSH, access: Access::SelfClearing, summary: "Write finished descriptors back at once." },
    ] },
    Register { id: RegisterId::TDWBAL, name: "TDWBAL", offset: 0x06038, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x06038, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.11"), summary: "IOVA of the head write-back, low half. It replaces the descriptor write-back.", fields: &[
        Field { name: "HEAD_WB_EN", mask: TDWBAL_HEAD_WB_EN, access: Access::ReadWrite, summary: "Enable the head write-back." },
        Field { name: "HEADWB_LOW", mask: TDWBAL_HEADWB_LOW, access: Access::ReadWrite, summary: "The address." },
    ] },
    Register { id: RegisterId::TDWBAH, name: "TDWBAH", offset: 0x0603C, stride: 0x40, count: 128, ranges: &[Range { first: 0, offset: 0x0603C, stride: 0x40, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.12"), summary: "IOVA of the head write-back, high half.", fields: &[] },
    Register { id: RegisterId::TXPBSIZE, name: "TXPBSIZE", offset: 0x0CC00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0CC00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00028000, reset_first: 0x00028000, acts_on: None, section: Some("8.2.3.9.13"), summary: "Size of a transmit packet buffer. The sum is 160 KiB: to use one, clear the others.", fields: &[
        Field { name: "SIZE", mask: TXPBSIZE_SIZE, access: Access::ReadWrite, summary: "Size in KiB." },
    ] },
    Register { id: RegisterId::MNGTXMAP, name: "MNGTXMAP", offset: 0x0CD10, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CD10, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.14"), summary: "Traffic class of the firmware's packets.", fields: &[] },
    Register { id: RegisterId::MTQC, name: "MTQC", offset: 0x08120, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08120, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.9.15"), summary: "Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1.", fields: &[
        Field { name: "RT_ENA", mask: MTQC_RT_ENA, access: Access::ReadWrite, summary: "Use traffic classes." },
        Field { name: "VT_ENA", mask: MTQC_VT_ENA, access: Access::ReadWrite, summary: "Use virtual functions." },
        Field { name: "NUM_TC_OR_Q", mask: MTQC_NUM_TC_OR_Q, access: Access::ReadWrite, summary: "Distribution of the queues." },
    ] },
    Register { id: RegisterId::TXPBTHRESH, name: "TXPBTHRESH", offset: 0x04950, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x04950, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000096, acts_on: None, section: Some("8.2.3.9.16"), summary: "Free space that a packet buffer needs before data is fetched.", fields: &[
        Field { name: "THRESH", mask: TXPBTHRESH_THRESH, access: Access::ReadWrite, summary: "Threshold in KiB: the buffer's size less the longest packet." },
    ] },
    Register { id: RegisterId::RTRPCS, name: "RTRPCS", offset: 0x02430, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02430, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.1"), summary: "Receive packet plane.", fields: &[
        Field { name: "RRM", mask: RTRPCS_RRM, access: Access::ReadWrite, summary: "Recycle credits." },
        Field { name: "RAC", mask: RTRPCS_RAC, access: Access::ReadWrite, summary: "Use deficit fixed priority, not round robin." },
    ] },
    Register { id: RegisterId::RTTDCS, name: "RTTDCS", offset: 0x04900, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04900, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.2"), summary: "Transmit descriptor plane.", fields: &[
        Field { name: "TDPAC", mask: RTTDCS_TDPAC, access: Access::ReadWrite, summary: "Arbitrate between traffic classes." },
        Field { name: "VMPAC", mask: RTTDCS_VMPAC, access: Access::ReadWrite, summary: "Arbitrate between virtual functions." },
        Field { name: "TDRM", mask: RTTDCS_TDRM, access: Access::ReadWrite, summary: "Recycle credits." },
        Field { name: "ARBDIS", mask: RTTDCS_ARBDIS, access: Access::ReadWrite, summary: "Disable arbitration. Set it around changes of DTXMXSZRQ, TXPBSIZE and MTQC." },
    ] },
    Register { id: RegisterId::RTTPCS, name: "RTTPCS", offset: 0x0CD00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CD00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.3"), summary: "Transmit packet plane.", fields: &[
        Field { name: "TPPAC", mask: RTTPCS_TPPAC, access: Access::ReadWrite, summary: "Arbitrate between traffic classes." },
        Field { name: "TPRM", mask: RTTPCS_TPRM, access: Access::ReadWrite, summary: "Recycle credits." },
        Field { name: "ARBD", mask: RTTPCS_ARBD, access: Access::ReadWrite, summary: "Delay of arbitration." },
    ] },
    Register { id: RegisterId::RTRUP2TC, name: "RTRUP2TC", offset: 0x03020, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03020, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.4"), summary: "Traffic class of each received priority, 3 bits each.", fields: &[] },
    Register { id: RegisterId::RTTUP2TC, name: "RTTUP2TC", offset: 0x0C800, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0C800, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.5"), summary: "Traffic class of each sent priority, 3 bits each.", fields: &[] },
    Register { id: RegisterId::RTRPT4C, name: "RTRPT4C", offset: 0x02140, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x02140, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.6"), summary: "Credits of a received traffic class.", fields: &[] },
    Register { id: RegisterId::RTTDT2C, name: "RTTDT2C", offset: 0x04910, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x04910, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.9"), summary: "Credits of a traffic class in the transmit descriptor plane.", fields: &[] },
    Register { id: RegisterId::RTTPT2C, name: "RTTPT2C", offset: 0x0CD20, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0CD20, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.10"), summary: "Credits of a traffic class in the transmit packet plane.", fields: &[] },
    Register { id: RegisterId::RTTDQSEL, name: "RTTDQSEL", offset: 0x04904, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04904, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.13"), summary: "Queue of RTTDT1C and of the rate registers.", fields: &[
        Field { name: "TXDQ_IDX", mask: RTTDQSEL_TXDQ_IDX, access: Access::ReadWrite, summary: "The queue." },
    ] },
    Register { id: RegisterId::RTTDT1C, name: "RTTDT1C", offset: 0x04908, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04908, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.14"), summary: "Credits of the queue that RTTDQSEL names.", fields: &[
        Field { name: "CRQ", mask: RTTDT1C_CRQ, access: Access::ReadWrite, summary: "Credits." },
    ] },
    Register { id: RegisterId::RTTBCNRC, name: "RTTBCNRC", offset: 0x04984, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04984, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.10.16"), summary: "Rate limit of the queue that RTTDQSEL names.", fields: &[
        Field { name: "RF_DEC", mask: RTTBCNRC_RF_DEC, access: Access::ReadWrite, summary: "Link rate divided by limit, fraction." },
        Field { name: "RF_INT", mask: RTTBCNRC_RF_INT, access: Access::ReadWrite, summary: "Link rate divided by limit, whole part." },
        Field { name: "RS_ENA", mask: RTTBCNRC_RS_ENA, access: Access::ReadWrite, summary: "Enable the limit." },
    ] },
    Register { id: RegisterId::RTTBCNRM, name: "RTTBCNRM", offset: 0x04980, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04980, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Memory of the rate limits.", fields: &[] },
    Register { id: RegisterId::DCA_ID, name: "DCA_ID", offset: 0x11070, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11070, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.11.3"), summary: "Identity for direct cache access.", fields: &[] },
    Register { id: RegisterId::DCA_CTRL, name: "DCA_CTRL", offset: 0x11074, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11074, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000001, reset_first: 0x00000001, acts_on: None, section: Some("8.2.3.11.4"), summary: "Direct cache access.", fields: &[
        Field { name: "DCA_DIS", mask: DCA_CTRL_DCA_DIS, access: Access::ReadWrite, summary: "Disable direct cache access." },
        Field { name: "DCA_MODE", mask: DCA_CTRL_DCA_MODE, access: Access::ReadWrite, summary: "Protocol." },
    ] },
    Register { id: RegisterId::SECTXCTRL, name: "SECTXCTRL", offset: 0x08800, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08800, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000001, reset_first: 0x00000001, acts_on: None, section: Some("8.2.3.12.1"), summary: "Transmit security engine.", fields: &[
        Field { name: "SECTX_DIS", mask: SECTXCTRL_SECTX_DIS, access: Access::ReadWrite, summary: "The engine is off." },
        Field { name: "TX_DIS", mask: SECTXCTRL_TX_DIS, access: Access::ReadWrite, summary: "Hold packets back. SECTXSTAT.SECTX_RDY is set once the path is empty." },
        Field { name: "STORE_FORWARD", mask: SECTXCTRL_STORE_FORWARD, access: Access::ReadWrite, summary: "Store a packet before sending it." },
    ] },
    Register { id: RegisterId::SECTXSTAT, name: "SECTXSTAT", offset: 0x08804, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08804, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000001, reset_first: 0x00000001, acts_on: None, section: Some("8.2.3.12.2"), summary: "Transmit security engine's state.", fields: &[
        Field { name: "SECTX_RDY", mask: SECTXSTAT_SECTX_RDY, access: Access::ReadOnly, summary: "The path is empty." },
        Field { name: "SECTX_OFF_DIS", mask: SECTXSTAT_SECTX_OFF_DIS, access: Access::ReadOnly, summary: "The engine is fused off." },
    ] },
    Register { id: RegisterId::SECTXBUFFAF, name: "SECTXBUFFAF", offset: 0x08808, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08808, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000250, reset_first: 0x00000250, acts_on: None, section: Some("8.2.3.12.3"), summary: "Fill at which the transmit security buffer is almost full.", fields: &[] },
    Register { id: RegisterId::SECTXMINIFG, name: "SECTXMINIFG", offset: 0x08810, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08810, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00001001, reset_first: 0x00001001, acts_on: None, section: Some("8.2.3.12.4"), summary: "Least gap between frames.", fields: &[
        Field { name: "MINSECIFG", mask: SECTXMINIFG_MINSECIFG, access: Access::ReadWrite, summary: "The gap." },
        Field { name: "SECTXDCB", mask: SECTXMINIFG_SECTXDCB, access: Access::ReadWrite, summary: "Fill at which traffic classes hold back; 0x1F if they are used." },
    ] },
    Register { id: RegisterId::SECRXCTRL, name: "SECRXCTRL", offset: 0x08D00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08D00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000001, reset_first: 0x00000001, acts_on: None, section: Some("8.2.3.12.5"), summary: "Receive security engine.", fields: &[
        Field { name: "SECRX_DIS", mask: SECRXCTRL_SECRX_DIS, access: Access::ReadWrite, summary: "The engine is off." },
        Field { name: "RX_DIS", mask: SECRXCTRL_RX_DIS, access: Access::ReadWrite, summary: "Hold packets back. SECRXSTAT.SECRX_RDY is set once the path is empty." },
    ] },
    Register { id: RegisterId::SECRXSTAT, name: "SECRXSTAT", offset: 0x08D04, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08D04, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.12.6"), summary: "Receive security engine's state.", fields: &[
        Field { name: "SECRX_RDY", mask: SECRXSTAT_SECRX_RDY, access: Access::ReadOnly, summary: "The path is empty." },
        Field { name: "SECRX_OFF_DIS", mask: SECRXSTAT_SECRX_OFF_DIS, access: Access::ReadOnly, summary: "The engine is fused off." },
    ] },
    Register { id: RegisterId::PCS1GCFIG, name: "PCS1GCFIG", offset: 0x04200, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04200, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.1"), summary: "1 Gbit/s coding: configuration.", fields: &[] },
    Register { id: RegisterId::PCS1GLCTL, name: "PCS1GLCTL", offset: 0x04208, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04208, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.2"), summary: "1 Gbit/s coding: link control.", fields: &[
        Field { name: "FORCE_LINK", mask: PCS1GLCTL_FORCE_LINK, access: Access::ReadWrite, summary: "Force the link to the values given." },
        Field { name: "AN_TIMEOUT_EN", mask: PCS1GLCTL_AN_TIMEOUT_EN, access: Access::ReadWrite, summary: "Autonegotiation gives up after a while." },
        Field { name: "AN_RESTART", mask: PCS1GLCTL_AN_RESTART, access: Access::SelfClearing, summary: "Negotiate again." },
        Field { name: "AN_ENABLE", mask: PCS1GLCTL_AN_ENABLE, access: Access::ReadWrite, summary: "Negotiate." },
    ] },
    Register { id: RegisterId::PCS1GLSTA, name: "PCS1GLSTA", offset: 0x0420C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0420C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.3"), summary: "1 Gbit/s coding: link status.", fields: &[
        Field { name: "LINK_OK", mask: PCS1GLSTA_LINK_OK, access: Access::ReadOnly, summary: "The link is up." },
        Field { name: "SYNC_OK", mask: PCS1GLSTA_SYNC_OK, access: Access::ReadOnly, summary: "The receiver is synchronised." },
        Field { name: "AN_COMPLETE", mask: PCS1GLSTA_AN_COMPLETE, access: Access::ReadOnly, summary: "Negotiation is complete." },
        Field { name: "AN_TIMED_OUT", mask: PCS1GLSTA_AN_TIMED_OUT, access: Access::ReadOnly, summary: "Negotiation gave up." },
    ] },
    Register { id: RegisterId::PCS1GANA, name: "PCS1GANA", offset: 0x04218, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04218, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.4"), summary: "1 Gbit/s coding: abilities to advertise.", fields: &[
        Field { name: "SYM_PAUSE", mask: PCS1GANA_SYM_PAUSE, access: Access::ReadWrite, summary: "Pause frames both ways." },
        Field { name: "ASM_PAUSE", mask: PCS1GANA_ASM_PAUSE, access: Access::ReadWrite, summary: "Pause frames one way." },
    ] },
    Register { id: RegisterId::PCS1GANLP, name: "PCS1GANLP", offset: 0x0421C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0421C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.5"), summary: "1 Gbit/s coding: abilities that the link partner advertises.", fields: &[
        Field { name: "SYM_PAUSE", mask: PCS1GANLP_SYM_PAUSE, access: Access::ReadOnly, summary: "Pause frames both ways." },
        Field { name: "ASM_PAUSE", mask: PCS1GANLP_ASM_PAUSE, access: Access::ReadOnly, summary: "Pause frames one way." },
    ] },
    Register { id: RegisterId::PCS1GANNP, name: "PCS1GANNP", offset: 0x04220, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04220, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.6"), summary: "1 Gbit/s coding: next page to send.", fields: &[] },
    Register { id: RegisterId::PCS1GANLPNP, name: "PCS1GANLPNP", offset: 0x04224, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04224, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.7"), summary: "1 Gbit/s coding: next page of the other side.", fields: &[] },
    Register { id: RegisterId::HLREG0, name: "HLREG0", offset: 0x04240, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04240, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x08010403, reset_first: 0x08010403, acts_on: None, section: Some("8.2.3.22.8"), summary: "MAC core control 0.", fields: &[
        Field { name: "TXCRCEN", mask: HLREG0_TXCRCEN, access: Access::ReadWrite, summary: "Append the CRC to sent packets." },
        Field { name: "RXCRCSTRP", mask: HLREG0_RXCRCSTRP, access: Access::ReadWrite, summary: "Strip the CRC. It must equal RDRXCTL.CRCSTRIP." },
        Field { name: "JUMBOEN", mask: HLREG0_JUMBOEN, access: Access::ReadWrite, summary: "Allow jumbo frames, up to MAXFRS." },
        Field { name: "TXPADEN", mask: HLREG0_TXPADEN, access: Access::ReadWrite, summary: "Pad sent packets to 64 bytes." },
        Field { name: "LPBK", mask: HLREG0_LPBK, access: Access::ReadWrite, summary: "Loop sent packets back to the receiver." },
        Field { name: "MDCSPD", mask: HLREG0_MDCSPD, access: Access::ReadWrite, summary: "Use the faster MDIO clock." },
        Field { name: "CONTMDC", mask: HLREG0_CONTMDC, access: Access::ReadWrite, summary: "Run the MDIO clock all the time." },
        Field { name: "PREPEND", mask: HLREG0_PREPEND, access: Access::ReadWrite, summary: "Dwords skipped at the start of each packet." },
        Field { name: "RXLNGTHERREN", mask: HLREG0_RXLNGTHERREN, access: Access::ReadWrite, summary: "Report wrong length fields." },
        Field { name: "RXPADSTRIPEN", mask: HLREG0_RXPADSTRIPEN, access: Access::ReadWrite, summary: "Strip padding, for debugging." },
    ] },
    Register { id: RegisterId::HLREG1, name: "HLREG1", offset: 0x04244, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04244, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.9"), summary: "MAC core status 1.", fields: &[] },
    Register { id: RegisterId::PAP, name: "PAP", offset: 0x04248, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04248, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x0000FFFF, reset_first: 0x0000FFFF, acts_on: None, section: Some("8.2.3.22.10"), summary: "Pause time of frames that are sent without flow control.", fields: &[
        Field { name: "TXPAUSECNT", mask: PAP_TXPAUSECNT, access: Access::ReadWrite, summary: "Pause time." },
    ] },
    Register { id: RegisterId::MSCA, name: "MSCA", offset: 0x0425C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0425C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.11"), summary: "MDIO command: an access to a register of the PHY.", fields: &[
        Field { name: "NP_ADDR", mask: MSCA_NP_ADDR, access: Access::ReadWrite, summary: "Register, in the new protocol." },
        Field { name: "DEV_TYPE", mask: MSCA_DEV_TYPE, access: Access::ReadWrite, summary: "Device in the PHY, or register in the old protocol." },
        Field { name: "PHY_ADDR", mask: MSCA_PHY_ADDR, access: Access::ReadWrite, summary: "Address of the PHY." },
        Field { name: "OP_CODE", mask: MSCA_OP_CODE, access: Access::ReadWrite, summary: "Operation." },
        Field { name: "ST_CODE", mask: MSCA_ST_CODE, access: Access::ReadWrite, summary: "Protocol." },
        Field { name: "MDI_COMMAND", mask: MSCA_MDI_COMMAND, access: Access::SelfClearing, summary: "Run the command." },
        Field { name: "MDI_IN_PROG_EN", mask: MSCA_MDI_IN_PROG_EN, access: Access::ReadWrite, summary: "MDI_COMMAND clears at the end of the command." },
    ] },
    Register { id: RegisterId::MSRWD, name: "MSRWD", offset: 0x04260, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04260, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.12"), summary: "MDIO data.", fields: &[
        Field { name: "WRITE_DATA", mask: MSRWD_WRITE_DATA, access: Access::ReadWrite, summary: "Data to write." },
        Field { name: "READ_DATA", mask: MSRWD_READ_DATA, access: Access::ReadOnly, summary: "Data that was read." },
    ] },
    Register { id: RegisterId::MAXFRS, name: "MAXFRS", offset: 0x04268, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04268, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x05EE0000, reset_first: 0x05EE0000, acts_on: None, section: Some("8.2.3.22.13"), summary: "Longest frame.", fields: &[
        Field { name: "MFS", mask: MAXFRS_MFS, access: Access::ReadWrite, summary: "Bytes with CRC, without VLAN tag. It applies while HLREG0.JUMBOEN is set." },
    ] },
    Register { id: RegisterId::PCSS1, name: "PCSS1", offset: 0x04288, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04288, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.14"), summary: "10 Gbit/s coding: status 1.", fields: &[] },
    Register { id: RegisterId::PCSS2, name: "PCSS2", offset: 0x0428C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0428C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.15"), summary: "10 Gbit/s coding: status 2.", fields: &[] },
    Register { id: RegisterId::XPCSS, name: "XPCSS", offset: 0x04290, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04290, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.16"), summary: "10GBASE-X coding: status.", fields: &[] },
    Register { id: RegisterId::MFLCN, name: "MFLCN", offset: 0x04294, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04294, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.34"), summary: "Receiving pause frames.", fields: &[
        Field { name: "PMCF", mask: MFLCN_PMCF, access: Access::ReadWrite, summary: "Pass MAC control frames on." },
        Field { name: "DPF", mask: MFLCN_DPF, access: Access::ReadWrite, summary: "Discard pause frames." },
        Field { name: "RPFCE", mask: MFLCN_RPFCE, access: Access::ReadWrite, summary: "Obey priority pause frames." },
        Field { name: "RFCE", mask: MFLCN_RFCE, access: Access::ReadWrite, summary: "Obey link pause frames." },
        Field { name: "RPFCE_CLASSES", mask: MFLCN_RPFCE_CLASSES, access: Access::ReadWrite, summary: "Classes whose priority pause frames apply. X540 and later." },
    ] },
    Register { id: RegisterId::SERDESC, name: "SERDESC", offset: 0x04298, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04298, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.17"), summary: "Serialiser: control.", fields: &[] },
    Register { id: RegisterId::MACS, name: "MACS", offset: 0x0429C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0429C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.18"), summary: "FIFO control and status of the MAC.", fields: &[] },
    Register { id: RegisterId::AUTOC, name: "AUTOC", offset: 0x042A0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042A0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0xC09C6084, reset_first: 0xC09C6084, acts_on: None, section: Some("8.2.3.22.19"), summary: "Link mode and autonegotiation. Loaded from the EEPROM.", fields: &[
        Field { name: "FLU", mask: AUTOC_FLU, access: Access::ReadWrite, summary: "Force the link up." },
        Field { name: "10G_PMA_PMD_PARALLEL", mask: AUTOC_10G_PMA_PMD_PARALLEL, access: Access::ReadWrite, summary: "10 Gbit/s over four lanes." },
        Field { name: "1G_PMA_PMD", mask: AUTOC_1G_PMA_PMD, access: Access::ReadWrite, summary: "1 Gbit/s." },
        Field { name: "AN_RESTART", mask: AUTOC_AN_RESTART, access: Access::SelfClearing, summary: "Apply the link mode and negotiate again." },
        Field { name: "LMS", mask: AUTOC_LMS, access: Access::ReadWrite, summary: "Link mode." },
        Field { name: "KR_SUPP", mask: AUTOC_KR_SUPP, access: Access::ReadWrite, summary: "Advertise KR." },
        Field { name: "FECR", mask: AUTOC_FECR, access: Access::ReadWrite, summary: "Ask for forward error correction." },
        Field { name: "FECA", mask: AUTOC_FECA, access: Access::ReadWrite, summary: "Offer forward error correction." },
        Field { name: "AN_RX_ALIGN", mask: AUTOC_AN_RX_ALIGN, access: Access::ReadWrite, summary: "Alignment of received pages." },
        Field { name: "AN_RX_DRIFT", mask: AUTOC_AN_RX_DRIFT, access: Access::ReadWrite, summary: "Tolerate drift." },
        Field { name: "AN_RX_LOOSE", mask: AUTOC_AN_RX_LOOSE, access: Access::ReadWrite, summary: "Tolerate loose timing." },
        Field { name: "PD_TMR", mask: AUTOC_PD_TMR, access: Access::ReadWrite, summary: "Parallel detection time." },
        Field { name: "RF", mask: AUTOC_RF, access: Access::ReadWrite, summary: "Advertise a remote fault." },
        Field { name: "SYM_PAUSE", mask: AUTOC_SYM_PAUSE, access: Access::ReadWrite, summary: "Advertise pause frames both ways." },
        Field { name: "ASM_PAUSE", mask: AUTOC_ASM_PAUSE, access: Access::ReadWrite, summary: "Advertise pause frames one way." },
        Field { name: "KX_SUPP", mask: AUTOC_KX_SUPP, access: Access::ReadWrite, summary: "Advertise KX." },
        Field { name: "KX4_SUPP", mask: AUTOC_KX4_SUPP, access: Access::ReadWrite, summary: "Advertise KX4." },
    ] },
    Register { id: RegisterId::LINKS, name: "LINKS", offset: 0x042A4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042A4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.20"), summary: "Link status.", fields: &[
        Field { name: "SIGNAL", mask: LINKS_SIGNAL, access: Access::ReadOnly, summary: "Signal on each lane." },
        Field { name: "10G_ALIGN", mask: LINKS_10G_ALIGN, access: Access::ReadOnly, summary: "Lanes are aligned." },
        Field { name: "LINK_STATUS", mask: LINKS_LINK_STATUS, access: Access::ReadOnly, summary: "The link is up now." },
        Field { name: "SPEED_NON_STD", mask: LINKS_SPEED_NON_STD, access: Access::ReadOnly, summary: "With SPEED 10G: 2.5 Gbit/s. With 100M: 5 Gbit/s. X550." },
        Field { name: "SPEED", mask: LINKS_SPEED, access: Access::ReadOnly, summary: "Speed." },
        Field { name: "UP", mask: LINKS_UP, access: Access::ReadOnly, summary: "The link is up." },
        Field { name: "KX_AN_COMP", mask: LINKS_KX_AN_COMP, access: Access::ReadOnly, summary: "Backplane autonegotiation is complete." },
    ] },
    Register { id: RegisterId::LINKS2, name: "LINKS2", offset: 0x04324, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04324, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.21"), summary: "Link status 2.", fields: &[
        Field { name: "AN_SUPPORTED", mask: LINKS2_AN_SUPPORTED, access: Access::ReadOnly, summary: "The other side negotiates." },
    ] },
    Register { id: RegisterId::AUTOC2, name: "AUTOC2", offset: 0x042A8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042A8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00020000, reset_first: 0x00020000, acts_on: None, section: Some("8.2.3.22.22"), summary: "Link mode 2. Loaded from the EEPROM.", fields: &[
        Field { name: "10G_PMA_PMD_SERIAL", mask: AUTOC2_10G_PMA_PMD_SERIAL, access: Access::ReadWrite, summary: "10 Gbit/s over one lane." },
        Field { name: "LINK_DISABLE", mask: AUTOC2_LINK_DISABLE, access: Access::ReadWrite, summary: "Reasons to drop the link." },
    ] },
    Register { id: RegisterId::AUTOC3, name: "AUTOC3", offset: 0x042AC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042AC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Link mode 3.", fields: &[] },
    Register { id: RegisterId::ANLP1, name: "ANLP1", offset: 0x042B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.23"), summary: "Backplane autonegotiation: the other side's page, bits 31:0.", fields: &[
        Field { name: "SYM_PAUSE", mask: ANLP1_SYM_PAUSE, access: Access::ReadOnly, summary: "The link partner takes pause frames both ways." },
        Field { name: "ASM_PAUSE", mask: ANLP1_ASM_PAUSE, access: Access::ReadOnly, summary: "The link partner takes pause frames one way." },
        Field { name: "AN_STATE", mask: ANLP1_AN_STATE, access: Access::ReadOnly, summary: "State of the negotiation; 0 is idle." },
    ] },
    Register { id: RegisterId::ANLP2, name: "ANLP2", offset: 0x042B4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042B4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Backplane autonegotiation: the other side's page, bits 47:32.", fields: &[] },
    Register { id: RegisterId::ANLPNP1, name: "ANLPNP1", offset: 0x042D4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042D4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Backplane autonegotiation: the other side's next page, bits 31:0.", fields: &[] },
    Register { id: RegisterId::ANLPNP2, name: "ANLPNP2", offset: 0x042D8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042D8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Backplane autonegotiation: the other side's next page, bits 47:32.", fields: &[] },
    Register { id: RegisterId::MMNGC, name: "MMNGC", offset: 0x042D0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042D0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "The firmware's hold on the link.", fields: &[
        Field { name: "MNG_VETO", mask: MMNGC_MNG_VETO, access: Access::ReadWrite, summary: "Yes." },
    ] },
    Register { id: RegisterId::KRPCSFC, name: "KRPCSFC", offset: 0x042E0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042E0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "KR coding: control.", fields: &[] },
    Register { id: RegisterId::KRPCSS, name: "KRPCSS", offset: 0x042E4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x042E4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "KR coding: status.", fields: &[] },
    Register { id: RegisterId::MACC, name: "MACC", offset: 0x04330, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04330, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "MAC control.", fields: &[
        Field { name: "FLU", mask: MACC_FLU, access: Access::ReadWrite, summary: "Force the link up." },
        Field { name: "FSV", mask: MACC_FSV, access: Access::ReadWrite, summary: "Forced speed." },
        Field { name: "FS", mask: MACC_FS, access: Access::ReadWrite, summary: "Force the speed." },
    ] },
    Register { id: RegisterId::CORECTL, name: "CORECTL", offset: 0x14F00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x14F00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.22.32"), summary: "Write access to registers of the analogue part.", fields: &[
        Field { name: "DATA", mask: CORECTL_DATA, access: Access::ReadWrite, summary: "Data." },
        Field { name: "ADDRESS", mask: CORECTL_ADDRESS, access: Access::ReadWrite, summary: "Register." },
        Field { name: "WRITE_CMD", mask: CORECTL_WRITE_CMD, access: Access::SelfClearing, summary: "Write the register. Else select it for reading." },
    ] },
    Register { id: RegisterId::SMADARCTL, name: "SMADARCTL", offset: 0x14F10, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x14F10, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Write access to registers of the SerDes.", fields: &[] },
    Register { id: RegisterId::CRCERRS, name: "CRCERRS", offset: 0x04000, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04000, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets with a wrong CRC.", fields: &[] },
    Register { id: RegisterId::ILLERRC, name: "ILLERRC", offset: 0x04004, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04004, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets with illegal bytes.", fields: &[] },
    Register { id: RegisterId::ERRBC, name: "ERRBC", offset: 0x04008, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04008, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets with error bytes.", fields: &[] },
    Register { id: RegisterId::MSPDC, name: "MSPDC", offset: 0x04010, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04010, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets too short for the MAC.", fields: &[] },
    Register { id: RegisterId::MPC, name: "MPC", offset: 0x03FA0, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03FA0, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets missed because a packet buffer was full.", fields: &[] },
    Register { id: RegisterId::MLFC, name: "MLFC", offset: 0x04034, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04034, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Local faults of the link.", fields: &[] },
    Register { id: RegisterId::MRFC, name: "MRFC", offset: 0x04038, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04038, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Remote faults of the link.", fields: &[] },
    Register { id: RegisterId::RLEC, name: "RLEC", offset: 0x04040, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04040, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets with a wrong length field.", fields: &[] },
    Register { id: RegisterId::SSVPC, name: "SSVPC", offset: 0x08780, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08780, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that were dropped for a forged address.", fields: &[] },
    Register { id: RegisterId::LXONTXC, name: "LXONTXC", offset: 0x03F60, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03F60, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XON frames sent.", fields: &[] },
    Register { id: RegisterId::LXOFFTXC, name: "LXOFFTXC", offset: 0x03F68, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03F68, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XOFF frames sent.", fields: &[] },
    Register { id: RegisterId::LXONRXCNT, name: "LXONRXCNT", offset: 0x041A4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041A4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XON frames received.", fields: &[] },
    Register { id: RegisterId::LXOFFRXCNT, name: "LXOFFRXCNT", offset: 0x041A8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041A8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XOFF frames received.", fields: &[] },
    Register { id: RegisterId::LXONRXC, name: "LXONRXC", offset: 0x0CF60, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CF60, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XON frames received; 82598 name, read and dropped by drivers.", fields: &[] },
    Register { id: RegisterId::LXOFFRXC, name: "LXOFFRXC", offset: 0x0CF68, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CF68, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "XOFF frames received; 82598 name, read and dropped by drivers.", fields: &[] },
    Register { id: RegisterId::PXONTXC, name: "PXONTXC", offset: 0x03F00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03F00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XON frames sent, by class.", fields: &[] },
    Register { id: RegisterId::PXOFFTXC, name: "PXOFFTXC", offset: 0x03F20, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03F20, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XOFF frames sent, by class.", fields: &[] },
    Register { id: RegisterId::PXONRXC, name: "PXONRXC", offset: 0x0CF00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0CF00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XON frames received, by class; 82598 name.", fields: &[] },
    Register { id: RegisterId::PXOFFRXC, name: "PXOFFRXC", offset: 0x0CF20, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0CF20, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Priority XOFF frames received, by class; 82598 name.", fields: &[] },
    Register { id: RegisterId::PXON2OFFCNT, name: "PXON2OFFCNT", offset: 0x03240, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03240, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Times a class was paused again while paused.", fields: &[] },
    Register { id: RegisterId::PRC64, name: "PRC64", offset: 0x0405C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0405C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 64 bytes.", fields: &[] },
    Register { id: RegisterId::PRC127, name: "PRC127", offset: 0x04060, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04060, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 65 to 127 bytes.", fields: &[] },
    Register { id: RegisterId::PRC255, name: "PRC255", offset: 0x04064, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04064, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 128 to 255 bytes.", fields: &[] },
    Register { id: RegisterId::PRC511, name: "PRC511", offset: 0x04068, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04068, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 256 to 511 bytes.", fields: &[] },
    Register { id: RegisterId::PRC1023, name: "PRC1023", offset: 0x0406C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0406C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 512 to 1023 bytes.", fields: &[] },
    Register { id: RegisterId::PRC1522, name: "PRC1522", offset: 0x04070, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04070, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, 1024 bytes and more.", fields: &[] },
    Register { id: RegisterId::GPRC, name: "GPRC", offset: 0x04074, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04074, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.23.26"), summary: "Good packets received, including those dropped later without a buffer.", fields: &[] },
    Register { id: RegisterId::BPRC, name: "BPRC", offset: 0x04078, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04078, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Broadcast packets received.", fields: &[] },
    Register { id: RegisterId::MPRC, name: "MPRC", offset: 0x0407C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0407C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Multicast packets received.", fields: &[] },
    Register { id: RegisterId::GPTC, name: "GPTC", offset: 0x04080, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04080, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good packets sent.", fields: &[] },
    Register { id: RegisterId::GORCL, name: "GORCL", offset: 0x04088, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04088, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes received, with CRC, low half. Read it before GORCH.", fields: &[] },
    Register { id: RegisterId::GORCH, name: "GORCH", offset: 0x0408C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0408C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes received, bits 35:32.", fields: &[] },
    Register { id: RegisterId::GOTCL, name: "GOTCL", offset: 0x04090, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04090, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes sent, with CRC, low half. Read it before GOTCH.", fields: &[] },
    Register { id: RegisterId::GOTCH, name: "GOTCH", offset: 0x04094, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04094, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes sent, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RNBC, name: "RNBC", offset: 0x03FC0, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03FC0, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that found no receive buffer, by packet buffer; 82598.", fields: &[] },
    Register { id: RegisterId::RUC, name: "RUC", offset: 0x040A4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040A4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets too short, with a good CRC.", fields: &[] },
    Register { id: RegisterId::RFC, name: "RFC", offset: 0x040A8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040A8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets too short, with a wrong CRC: fragments.", fields: &[] },
    Register { id: RegisterId::ROC, name: "ROC", offset: 0x040AC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040AC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets too long, with a good CRC.", fields: &[] },
    Register { id: RegisterId::RJC, name: "RJC", offset: 0x040B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets too long, with a wrong CRC: jabber.", fields: &[] },
    Register { id: RegisterId::MNGPRC, name: "MNGPRC", offset: 0x040B4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040B4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received for the firmware.", fields: &[] },
    Register { id: RegisterId::MNGPDC, name: "MNGPDC", offset: 0x040B8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040B8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets for the firmware that were dropped.", fields: &[] },
    Register { id: RegisterId::MNGPTC, name: "MNGPTC", offset: 0x0CF90, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0CF90, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent by the firmware.", fields: &[] },
    Register { id: RegisterId::TORL, name: "TORL", offset: 0x040C0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040C0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes received, good or not, low half.", fields: &[] },
    Register { id: RegisterId::TORH, name: "TORH", offset: 0x040C4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040C4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes received, good or not, bits 35:32.", fields: &[] },
    Register { id: RegisterId::TPR, name: "TPR", offset: 0x040D0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040D0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.23.59"), summary: "Packets received, good or not.", fields: &[] },
    Register { id: RegisterId::TPT, name: "TPT", offset: 0x040D4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040D4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, good or not.", fields: &[] },
    Register { id: RegisterId::PTC64, name: "PTC64", offset: 0x040D8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040D8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 64 bytes.", fields: &[] },
    Register { id: RegisterId::PTC127, name: "PTC127", offset: 0x040DC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040DC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 65 to 127 bytes.", fields: &[] },
    Register { id: RegisterId::PTC255, name: "PTC255", offset: 0x040E0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040E0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 128 to 255 bytes.", fields: &[] },
    Register { id: RegisterId::PTC511, name: "PTC511", offset: 0x040E4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040E4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 256 to 511 bytes.", fields: &[] },
    Register { id: RegisterId::PTC1023, name: "PTC1023", offset: 0x040E8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040E8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 512 to 1023 bytes.", fields: &[] },
    Register { id: RegisterId::PTC1522, name: "PTC1522", offset: 0x040EC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040EC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, 1024 bytes and more.", fields: &[] },
    Register { id: RegisterId::MPTC, name: "MPTC", offset: 0x040F0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040F0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Multicast packets sent.", fields: &[] },
    Register { id: RegisterId::BPTC, name: "BPTC", offset: 0x040F4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x040F4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Broadcast packets sent.", fields: &[] },
    Register { id: RegisterId::XEC, name: "XEC", offset: 0x04120, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04120, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets with a wrong TCP, UDP or IP checksum.", fields: &[] },
    Register { id: RegisterId::RQSMR, name: "RQSMR", offset: 0x02300, stride: 0x4, count: 32, ranges: &[Range { first: 0, offset: 0x02300, stride: 0x4, count: 32 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.23.71"), summary: "Statistics registers of the receive queues 4n to 4n + 3.", fields: &[
        Field { name: "QUEUE0", mask: RQSMR_QUEUE0, access: Access::ReadWrite, summary: "Statistics of queue 4n." },
        Field { name: "QUEUE1", mask: RQSMR_QUEUE1, access: Access::ReadWrite, summary: "Statistics of queue 4n + 1." },
        Field { name: "QUEUE2", mask: RQSMR_QUEUE2, access: Access::ReadWrite, summary: "Statistics of queue 4n + 2." },
        Field { name: "QUEUE3", mask: RQSMR_QUEUE3, access: Access::ReadWrite, summary: "Statistics of queue 4n + 3." },
    ] },
    Register { id: RegisterId::TQSM, name: "TQSM", offset: 0x08600, stride: 0x4, count: 32, ranges: &[Range { first: 0, offset: 0x08600, stride: 0x4, count: 32 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.23.73"), summary: "Statistics registers of the transmit queues 4n to 4n + 3.", fields: &[
        Field { name: "QUEUE0", mask: TQSM_QUEUE0, access: Access::ReadWrite, summary: "Statistics of queue 4n." },
        Field { name: "QUEUE1", mask: TQSM_QUEUE1, access: Access::ReadWrite, summary: "Statistics of queue 4n + 1." },
        Field { name: "QUEUE2", mask: TQSM_QUEUE2, access: Access::ReadWrite, summary: "Statistics of queue 4n + 2." },
        Field { name: "QUEUE3", mask: TQSM_QUEUE3, access: Access::ReadWrite, summary: "Statistics of queue 4n + 3." },
    ] },
    Register { id: RegisterId::RXDSTATCTRL, name: "RXDSTATCTRL", offset: 0x02F40, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F40, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Queues that the RX DMA counters count.", fields: &[
        Field { name: "QSEL", mask: RXDSTATCTRL_QSEL, access: Access::ReadWrite, summary: "Statistics register, or 16 for all queues." },
    ] },
    Register { id: RegisterId::QPRC, name: "QPRC", offset: 0x01030, stride: 0x40, count: 16, ranges: &[Range { first: 0, offset: 0x01030, stride: 0x40, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets received, by queue statistics.", fields: &[] },
    Register { id: RegisterId::QPRDC, name: "QPRDC", offset: 0x01430, stride: 0x40, count: 16, ranges: &[Range { first: 0, offset: 0x01430, stride: 0x40, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.23.75"), summary: "Packets dropped without descriptors, by queue statistics.", fields: &[] },
    Register { id: RegisterId::QBRC_L, name: "QBRC_L", offset: 0x01034, stride: 0x40, count: 16, ranges: &[Range { first: 0, offset: 0x01034, stride: 0x40, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes received, by queue statistics, low half.", fields: &[] },
    Register { id: RegisterId::QBRC_H, name: "QBRC_H", offset: 0x01038, stride: 0x40, count: 16, ranges: &[Range { first: 0, offset: 0x01038, stride: 0x40, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes received, by queue statistics, bits 35:32.", fields: &[] },
    Register { id: RegisterId::QPTC, name: "QPTC", offset: 0x08680, stride: 0x4, count: 16, ranges: &[Range { first: 0, offset: 0x08680, stride: 0x4, count: 16 }], aliases: &[Range { first: 0, offset: 0x06030, stride: 0x40, count: 16 }],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets sent, by queue statistics.", fields: &[] },
    Register { id: RegisterId::QBTC_L, name: "QBTC_L", offset: 0x08700, stride: 0x8, count: 16, ranges: &[Range { first: 0, offset: 0x08700, stride: 0x8, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes sent, by queue statistics, low half.", fields: &[] },
    Register { id: RegisterId::QBTC_H, name: "QBTC_H", offset: 0x08704, stride: 0x8, count: 16, ranges: &[Range { first: 0, offset: 0x08704, stride: 0x8, count: 16 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Bytes sent, by queue statistics, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RXDGPC, name: "RXDGPC", offset: 0x02F50, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F50, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good packets that receive DMA passed on.", fields: &[] },
    Register { id: RegisterId::RXDGBCL, name: "RXDGBCL", offset: 0x02F54, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F54, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes that receive DMA passed on, low half.", fields: &[] },
    Register { id: RegisterId::RXDGBCH, name: "RXDGBCH", offset: 0x02F58, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F58, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes that receive DMA passed on, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RXDDGPC, name: "RXDDGPC", offset: 0x02F5C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F5C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good duplicates for other pools passed on, in packets.", fields: &[] },
    Register { id: RegisterId::RXDDGBCL, name: "RXDDGBCL", offset: 0x02F60, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F60, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good duplicates for other pools passed on, in bytes, low half.", fields: &[] },
    Register { id: RegisterId::RXDDGBCH, name: "RXDDGBCH", offset: 0x02F64, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F64, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good duplicates for other pools passed on, in bytes, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RXLPBKGPC, name: "RXLPBKGPC", offset: 0x02F68, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F68, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back packets passed on.", fields: &[] },
    Register { id: RegisterId::RXLPBKGBCL, name: "RXLPBKGBCL", offset: 0x02F6C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F6C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back bytes passed on, low half.", fields: &[] },
    Register { id: RegisterId::RXLPBKGBCH, name: "RXLPBKGBCH", offset: 0x02F70, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F70, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back bytes passed on, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RXDLPBKGPC, name: "RXDLPBKGPC", offset: 0x02F74, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F74, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back duplicates passed on, in packets.", fields: &[] },
    Register { id: RegisterId::RXDLPBKGBCL, name: "RXDLPBKGBCL", offset: 0x02F78, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F78, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back duplicates passed on, in bytes, low half.", fields: &[] },
    Register { id: RegisterId::RXDLPBKGBCH, name: "RXDLPBKGBCH", offset: 0x02F7C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F7C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good looped-back duplicates passed on, in bytes, bits 35:32.", fields: &[] },
    Register { id: RegisterId::RXNFGPC, name: "RXNFGPC", offset: 0x041B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good packets received, before filters.", fields: &[] },
    Register { id: RegisterId::RXNFGBCL, name: "RXNFGBCL", offset: 0x041B4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041B4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes received, before filters, low half.", fields: &[] },
    Register { id: RegisterId::RXNFGBCH, name: "RXNFGBCH", offset: 0x041B8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041B8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes received, before filters, bits 35:32.", fields: &[] },
    Register { id: RegisterId::TXDGPC, name: "TXDGPC", offset: 0x087A0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x087A0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good packets that transmit DMA fetched.", fields: &[] },
    Register { id: RegisterId::TXDGBCL, name: "TXDGBCL", offset: 0x087A4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x087A4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes that transmit DMA fetched, low half.", fields: &[] },
    Register { id: RegisterId::TXDGBCH, name: "TXDGBCH", offset: 0x087A8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x087A8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Good bytes that transmit DMA fetched, bits 35:32.", fields: &[] },
    Register { id: RegisterId::FCCRC, name: "FCCRC", offset: 0x05118, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05118, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE packets with a wrong FC CRC.", fields: &[] },
    Register { id: RegisterId::FCOERPDC, name: "FCOERPDC", offset: 0x0241C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0241C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE packets dropped.", fields: &[] },
    Register { id: RegisterId::FCLAST, name: "FCLAST", offset: 0x02424, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02424, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE last errors.", fields: &[] },
    Register { id: RegisterId::FCOEPRC, name: "FCOEPRC", offset: 0x02428, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02428, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE packets received.", fields: &[] },
    Register { id: RegisterId::FCOEDWRC, name: "FCOEDWRC", offset: 0x0242C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0242C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE dwords received.", fields: &[] },
    Register { id: RegisterId::FCOEPTC, name: "FCOEPTC", offset: 0x08784, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08784, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE packets sent.", fields: &[] },
    Register { id: RegisterId::FCOEDWTC, name: "FCOEDWTC", offset: 0x08788, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08788, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE dwords sent.", fields: &[] },
    Register { id: RegisterId::O2BGPTC, name: "O2BGPTC", offset: 0x041C4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041C4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets from the system to the firmware, good. X540 and later.", fields: &[] },
    Register { id: RegisterId::O2BSPC, name: "O2BSPC", offset: 0x087B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x087B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets from the system that the firmware missed. X540 and later.", fields: &[] },
    Register { id: RegisterId::B2OSPC, name: "B2OSPC", offset: 0x041C0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x041C0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that the firmware sent to the system. X540 and later.", fields: &[] },
    Register { id: RegisterId::B2OGPRC, name: "B2OGPRC", offset: 0x02F90, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F90, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets from the firmware that the system got. X540 and later.", fields: &[] },
    Register { id: RegisterId::ETQF, name: "ETQF", offset: 0x05128, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x05128, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.21"), summary: "Matches packets by EtherType.", fields: &[
        Field { name: "ETYPE", mask: ETQF_ETYPE, access: Access::ReadWrite, summary: "The EtherType." },
        Field { name: "UP", mask: ETQF_UP, access: Access::ReadWrite, summary: "Priority in the VLAN tag." },
        Field { name: "UP_EN", mask: ETQF_UP_EN, access: Access::ReadWrite, summary: "The priority has to match." },
        Field { name: "POOL", mask: ETQF_POOL, access: Access::ReadWrite, summary: "Pool that they go to." },
        Field { name: "POOL_ENABLE", mask: ETQF_POOL_ENABLE, access: Access::ReadWrite, summary: "POOL applies." },
        Field { name: "FCOE", mask: ETQF_FCOE, access: Access::ReadWrite, summary: "The packets are FCoE." },
        Field { name: "1588", mask: ETQF_1588, access: Access::ReadWrite, summary: "The card time-stamps the packets." },
        Field { name: "FILTER_EN", mask: ETQF_FILTER_EN, access: Access::ReadWrite, summary: "The filter is on." },
    ] },
    Register { id: RegisterId::ETQS, name: "ETQS", offset: 0x0EC00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0EC00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.22"), summary: "Queue of packets that ETQF matches.", fields: &[
        Field { name: "RX_QUEUE", mask: ETQS_RX_QUEUE, access: Access::ReadWrite, summary: "The queue." },
        Field { name: "LLI", mask: ETQS_LLI, access: Access::ReadWrite, summary: "Raise a low latency interrupt." },
        Field { name: "QUEUE_EN", mask: ETQS_QUEUE_EN, access: Access::ReadWrite, summary: "RX_QUEUE applies." },
    ] },
    Register { id: RegisterId::SAQF, name: "SAQF", offset: 0x0E000, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0E000, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.16"), summary: "Five-tuple filter: source address.", fields: &[] },
    Register { id: RegisterId::DAQF, name: "DAQF", offset: 0x0E200, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0E200, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.17"), summary: "Five-tuple filter: destination address.", fields: &[] },
    Register { id: RegisterId::SDPQF, name: "SDPQF", offset: 0x0E400, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0E400, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.18"), summary: "Five-tuple filter: ports.", fields: &[
        Field { name: "SOURCE_PORT", mask: SDPQF_SOURCE_PORT, access: Access::ReadWrite, summary: "Source port, in network order." },
        Field { name: "DESTINATION_PORT", mask: SDPQF_DESTINATION_PORT, access: Access::ReadWrite, summary: "Destination port, in network order." },
    ] },
    Register { id: RegisterId::FTQF, name: "FTQF", offset: 0x0E600, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0E600, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.19"), summary: "Five-tuple filter: protocol, and the parts that must match.", fields: &[
        Field { name: "PROTOCOL", mask: FTQF_PROTOCOL, access: Access::ReadWrite, summary: "Protocol." },
        Field { name: "PRIORITY", mask: FTQF_PRIORITY, access: Access::ReadWrite, summary: "Priority among filters: 7 wins over 1." },
        Field { name: "POOL", mask: FTQF_POOL, access: Access::ReadWrite, summary: "Pool." },
        Field { name: "MASK", mask: FTQF_MASK, access: Access::ReadWrite, summary: "Parts that need not match: addresses, ports, protocol." },
        Field { name: "POOL_MASK", mask: FTQF_POOL_MASK, access: Access::ReadWrite, summary: "The pool need not match." },
        Field { name: "QUEUE_ENABLE", mask: FTQF_QUEUE_ENABLE, access: Access::ReadWrite, summary: "The filter is on." },
    ] },
    Register { id: RegisterId::L34T_IMIR, name: "L34T_IMIR", offset: 0x0E800, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0E800, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.13"), summary: "Queue of packets that a five-tuple filter matches.", fields: &[
        Field { name: "SIZE_BP", mask: L34T_IMIR_SIZE_BP, access: Access::ReadWrite, summary: "The size need not match." },
        Field { name: "LLI", mask: L34T_IMIR_LLI, access: Access::ReadWrite, summary: "Raise a low latency interrupt." },
        Field { name: "RX_QUEUE", mask: L34T_IMIR_RX_QUEUE, access: Access::ReadWrite, summary: "The queue." },
    ] },
    Register { id: RegisterId::SYNQF, name: "SYNQF", offset: 0x0EC30, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EC30, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.20"), summary: "Queue of TCP connection requests.", fields: &[
        Field { name: "QUEUE_ENABLE", mask: SYNQF_QUEUE_ENABLE, access: Access::ReadWrite, summary: "The filter is on." },
        Field { name: "RX_QUEUE", mask: SYNQF_RX_QUEUE, access: Access::ReadWrite, summary: "The queue." },
        Field { name: "SYNQFP", mask: SYNQF_SYNQFP, access: Access::ReadWrite, summary: "The filter wins over five-tuple filters." },
    ] },
    Register { id: RegisterId::IMIRVP, name: "IMIRVP", offset: 0x05AC0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05AC0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.5.15"), summary: "VLAN priority that raises low latency interrupts.", fields: &[
        Field { name: "PRIORITY", mask: IMIRVP_PRIORITY, access: Access::ReadWrite, summary: "The priority." },
        Field { name: "PRIORITY_EN", mask: IMIRVP_PRIORITY_EN, access: Access::ReadWrite, summary: "Yes." },
    ] },
    Register { id: RegisterId::LLITHRESH, name: "LLITHRESH", offset: 0x0EC90, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EC90, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x14000000, reset_first: 0x14000000, acts_on: None, section: Some("8.2.3.5.14"), summary: "Size of packet that raises low latency interrupts.", fields: &[] },
    Register { id: RegisterId::RXFECCERR0, name: "RXFECCERR0", offset: 0x051B8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051B8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.7.23"), summary: "Errors in the memories of the receive filters.", fields: &[
        Field { name: "ECCFLT_EN", mask: RXFECCERR0_ECCFLT_EN, access: Access::ReadWrite, summary: "Report them, and block reception." },
    ] },
    Register { id: RegisterId::FDIRCTRL, name: "FDIRCTRL", offset: 0x0EE00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Flow director control.", fields: &[
        Field { name: "PBALLOC", mask: FDIRCTRL_PBALLOC, access: Access::ReadWrite, summary: "Packet buffer memory that filters may take." },
        Field { name: "INIT_DONE", mask: FDIRCTRL_INIT_DONE, access: Access::ReadOnly, summary: "The filter memory has been set up." },
        Field { name: "PERFECT_MATCH", mask: FDIRCTRL_PERFECT_MATCH, access: Access::ReadWrite, summary: "Use exact filters, not signatures." },
        Field { name: "REPORT_STATUS", mask: FDIRCTRL_REPORT_STATUS, access: Access::ReadWrite, summary: "Report the match in the descriptor." },
        Field { name: "REPORT_STATUS_ALWAYS", mask: FDIRCTRL_REPORT_STATUS_ALWAYS, access: Access::ReadWrite, summary: "Report it, match or not." },
        Field { name: "DROP_Q", mask: FDIRCTRL_DROP_Q, access: Access::ReadWrite, summary: "Queue whose packets are dropped." },
        Field { name: "FLEX", mask: FDIRCTRL_FLEX, access: Access::ReadWrite, summary: "Position of the flexible bytes, in words." },
        Field { name: "MAX_LENGTH", mask: FDIRCTRL_MAX_LENGTH, access: Access::ReadWrite, summary: "Entries of one hash that are searched." },
        Field { name: "FULL_THRESH", mask: FDIRCTRL_FULL_THRESH, access: Access::ReadWrite, summary: "Filters left at which to raise an interrupt, in units of 16." },
    ] },
    Register { id: RegisterId::FDIRHKEY, name: "FDIRHKEY", offset: 0x0EE68, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE68, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x80000001, reset_first: 0x80000001, acts_on: None, section: None, summary: "Key of the hash that finds a filter.", fields: &[] },
    Register { id: RegisterId::FDIRSKEY, name: "FDIRSKEY", offset: 0x0EE6C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE6C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x80800101, reset_first: 0x80800101, acts_on: None, section: None, summary: "Key of the hash that is a signature.", fields: &[] },
    Register { id: RegisterId::FDIRDIP4M, name: "FDIRDIP4M", offset: 0x0EE3C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE3C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPv4 destination address mask: bits that are 0 must match.", fields: &[] },
    Register { id: RegisterId::FDIRSIP4M, name: "FDIRSIP4M", offset: 0x0EE40, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE40, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPv4 source address mask: bits that are 0 must match.", fields: &[] },
    Register { id: RegisterId::FDIRTCPM, name: "FDIRTCPM", offset: 0x0EE44, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE44, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "TCP port mask: bits that are 0 must match.", fields: &[] },
    Register { id: RegisterId::FDIRUDPM, name: "FDIRUDPM", offset: 0x0EE48, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE48, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "UDP port mask: bits that are 0 must match.", fields: &[] },
    Register { id: RegisterId::FDIRIP6M, name: "FDIRIP6M", offset: 0x0EE74, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE74, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPv6 address mask: bytes whose bit is 0 must match.", fields: &[] },
    Register { id: RegisterId::FDIRM, name: "FDIRM", offset: 0x0EE70, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE70, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Mask of other parts of a packet: parts whose bit is 0 must match.", fields: &[
        Field { name: "VLANID", mask: FDIRM_VLANID, access: Access::ReadWrite, summary: "VLAN." },
        Field { name: "VLANP", mask: FDIRM_VLANP, access: Access::ReadWrite, summary: "VLAN priority." },
        Field { name: "POOL", mask: FDIRM_POOL, access: Access::ReadWrite, summary: "Pool." },
        Field { name: "L4P", mask: FDIRM_L4P, access: Access::ReadWrite, summary: "Protocol." },
        Field { name: "FLEX", mask: FDIRM_FLEX, access: Access::ReadWrite, summary: "Flexible bytes." },
        Field { name: "DIPV6", mask: FDIRM_DIPV6, access: Access::ReadWrite, summary: "IPv6 destination address." },
    ] },
    Register { id: RegisterId::FDIRFREE, name: "FDIRFREE", offset: 0x0EE38, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE38, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00008000, reset_first: 0x00008000, acts_on: None, section: None, summary: "Free filters.", fields: &[
        Field { name: "FREE", mask: FDIRFREE_FREE, access: Access::ReadWrite, summary: "Number of filters." },
        Field { name: "COLL", mask: FDIRFREE_COLL, access: Access::ReadWrite, summary: "Filters with the hash of another one." },
    ] },
    Register { id: RegisterId::FDIRLEN, name: "FDIRLEN", offset: 0x0EE4C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE4C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Longest list of filters with one hash.", fields: &[
        Field { name: "MAXLEN", mask: FDIRLEN_MAXLEN, access: Access::ReadClear, summary: "Number of filters." },
    ] },
    Register { id: RegisterId::FDIRUSTAT, name: "FDIRUSTAT", offset: 0x0EE50, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE50, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filters added and removed.", fields: &[
        Field { name: "ADD", mask: FDIRUSTAT_ADD, access: Access::ReadClear, summary: "Filters added." },
        Field { name: "REMOVE", mask: FDIRUSTAT_REMOVE, access: Access::ReadClear, summary: "Filters removed." },
    ] },
    Register { id: RegisterId::FDIRFSTAT, name: "FDIRFSTAT", offset: 0x0EE54, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE54, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filters that could not be added or removed.", fields: &[
        Field { name: "FADD", mask: FDIRFSTAT_FADD, access: Access::ReadClear, summary: "Filters not added." },
        Field { name: "FREMOVE", mask: FDIRFSTAT_FREMOVE, access: Access::ReadClear, summary: "Filters not removed." },
    ] },
    Register { id: RegisterId::FDIRMATCH, name: "FDIRMATCH", offset: 0x0EE58, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE58, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that a filter matched.", fields: &[] },
    Register { id: RegisterId::FDIRMISS, name: "FDIRMISS", offset: 0x0EE5C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE5C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that no filter matched.", fields: &[] },
    Register { id: RegisterId::FDIRSIPV6, name: "FDIRSIPV6", offset: 0x0EE0C, stride: 0x4, count: 3, ranges: &[Range { first: 0, offset: 0x0EE0C, stride: 0x4, count: 3 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: IPv6 source address, first three dwords.", fields: &[] },
    Register { id: RegisterId::FDIRIPSA, name: "FDIRIPSA", offset: 0x0EE18, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE18, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: IPv4 source address, or last dword of an IPv6 one.", fields: &[] },
    Register { id: RegisterId::FDIRIPDA, name: "FDIRIPDA", offset: 0x0EE1C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE1C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: IPv4 destination address.", fields: &[] },
    Register { id: RegisterId::FDIRPORT, name: "FDIRPORT", offset: 0x0EE20, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE20, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: ports.", fields: &[
        Field { name: "SOURCE", mask: FDIRPORT_SOURCE, access: Access::ReadWrite, summary: "Source port." },
        Field { name: "DESTINATION", mask: FDIRPORT_DESTINATION, access: Access::ReadWrite, summary: "Destination port." },
    ] },
    Register { id: RegisterId::FDIRVLAN, name: "FDIRVLAN", offset: 0x0EE24, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE24, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: VLAN and flexible bytes.", fields: &[
        Field { name: "VLAN", mask: FDIRVLAN_VLAN, access: Access::ReadWrite, summary: "VLAN tag." },
        Field { name: "FLEX", mask: FDIRVLAN_FLEX, access: Access::ReadWrite, summary: "Flexible bytes." },
    ] },
    Register { id: RegisterId::FDIRHASH, name: "FDIRHASH", offset: 0x0EE28, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE28, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: hash and signature.", fields: &[
        Field { name: "HASH", mask: FDIRHASH_HASH, access: Access::ReadWrite, summary: "Hash." },
        Field { name: "BUCKET_VALID", mask: FDIRHASH_BUCKET_VALID, access: Access::ReadWrite, summary: "The hash is valid." },
        Field { name: "SIGNATURE", mask: FDIRHASH_SIGNATURE, access: Access::ReadWrite, summary: "Signature, or index in software's table." },
    ] },
    Register { id: RegisterId::FDIRCMD, name: "FDIRCMD", offset: 0x0EE2C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0EE2C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Filter: command. The write starts it.", fields: &[
        Field { name: "CMD", mask: FDIRCMD_CMD, access: Access::ReadWrite, summary: "Command; 0 when done." },
        Field { name: "FILTER_VALID", mask: FDIRCMD_FILTER_VALID, access: Access::ReadOnly, summary: "The filter was there." },
        Field { name: "FILTER_UPDATE", mask: FDIRCMD_FILTER_UPDATE, access: Access::ReadWrite, summary: "Overwrite the filter if it is there." },
        Field { name: "IPV6", mask: FDIRCMD_IPV6, access: Access::ReadWrite, summary: "The filter is for IPv6." },
        Field { name: "L4TYPE", mask: FDIRCMD_L4TYPE, access: Access::ReadWrite, summary: "Protocol." },
        Field { name: "CLEARHT", mask: FDIRCMD_CLEARHT, access: Access::ReadWrite, summary: "Delete all filters." },
        Field { name: "DROP", mask: FDIRCMD_DROP, access: Access::ReadWrite, summary: "Drop packets that match." },
        Field { name: "INT", mask: FDIRCMD_INT, access: Access::ReadWrite, summary: "Raise an interrupt on a match." },
        Field { name: "LAST", mask: FDIRCMD_LAST, access: Access::ReadWrite, summary: "Last filter of its list." },
        Field { name: "COLLISION", mask: FDIRCMD_COLLISION, access: Access::ReadWrite, summary: "A filter with the hash of another one." },
        Field { name: "QUEUE_EN", mask: FDIRCMD_QUEUE_EN, access: Access::ReadWrite, summary: "RX_QUEUE applies." },
        Field { name: "RX_QUEUE", mask: FDIRCMD_RX_QUEUE, access: Access::ReadWrite, summary: "Queue of packets that match." },
        Field { name: "POOL", mask: FDIRCMD_POOL, access: Access::ReadWrite, summary: "Pool." },
    ] },
    Register { id: RegisterId::PFVTCTL, name: "PFVTCTL", offset: 0x051B0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051B0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.1"), summary: "Virtualisation.", fields: &[
        Field { name: "VT_ENA", mask: PFVTCTL_VT_ENA, access: Access::ReadWrite, summary: "Pools are used." },
        Field { name: "DEF_PL", mask: PFVTCTL_DEF_PL, access: Access::ReadWrite, summary: "Pool of packets that no filter claims." },
        Field { name: "DIS_DEF_PL", mask: PFVTCTL_DIS_DEF_PL, access: Access::ReadWrite, summary: "Drop such packets instead." },
        Field { name: "RPL_EN", mask: PFVTCTL_RPL_EN, access: Access::ReadWrite, summary: "Copy multicast and broadcast packets for each pool." },
    ] },
    Register { id: RegisterId::PFMAILBOX, name: "PFMAILBOX", offset: 0x04B00, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x04B00, stride: 0x4, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Mailbox to a virtual function: control.", fields: &[
        Field { name: "STS", mask: PFMAILBOX_STS, access: Access::SelfClearing, summary: "Signal a message to the virtual function." },
        Field { name: "ACK", mask: PFMAILBOX_ACK, access: Access::SelfClearing, summary: "Acknowledge the virtual function's message." },
        Field { name: "VFU", mask: PFMAILBOX_VFU, access: Access::ReadWrite, summary: "The virtual function has the mailbox." },
        Field { name: "PFU", mask: PFMAILBOX_PFU, access: Access::ReadWrite, summary: "The physical function has the mailbox." },
        Field { name: "RVFU", mask: PFMAILBOX_RVFU, access: Access::SelfClearing, summary: "Take the mailbox from the virtual function." },
    ] },
    Register { id: RegisterId::PFMBICR, name: "PFMBICR", offset: 0x00710, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x00710, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Mailboxes of 16 virtual functions each that raised an interrupt.", fields: &[
        Field { name: "VFREQ", mask: PFMBICR_VFREQ, access: Access::WriteOneClear, summary: "Virtual functions with a message." },
        Field { name: "VFACK", mask: PFMBICR_VFACK, access: Access::WriteOneClear, summary: "Virtual functions with an acknowledgement." },
    ] },
    Register { id: RegisterId::PFMBIMR, name: "PFMBIMR", offset: 0x00720, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x00720, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0xFFFFFFFF, reset_first: 0xFFFFFFFF, acts_on: None, section: None, summary: "Virtual functions whose mailboxes may raise an interrupt.", fields: &[] },
    Register { id: RegisterId::PFVFLRE, name: "PFVFLRE", offset: 0x00600, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00600, stride: 0x4, count: 1 }, Range { first: 1, offset: 0x001C0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Virtual functions 32n + 31 to 32n that were reset.", fields: &[] },
    Register { id: RegisterId::PFVFLREC, name: "PFVFLREC", offset: 0x00700, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x00700, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.6"), summary: "Virtual functions that were reset: writing 1 acknowledges.", fields: &[] },
    Register { id: RegisterId::PFVFRE, name: "PFVFRE", offset: 0x051E0, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x051E0, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.7"), summary: "Virtual functions that may receive.", fields: &[] },
    Register { id: RegisterId::PFVFTE, name: "PFVFTE", offset: 0x08110, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08110, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.8"), summary: "Virtual functions that may send.", fields: &[] },
    Register { id: RegisterId::PFQDE, name: "PFQDE", offset: 0x02F04, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F04, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.9"), summary: "Per queue: drop packets without descriptors, whatever SRRCTL says.", fields: &[
        Field { name: "ENABLE", mask: PFQDE_ENABLE, access: Access::ReadWrite, summary: "Yes." },
        Field { name: "HIDE_VLAN", mask: PFQDE_HIDE_VLAN, access: Access::ReadWrite, summary: "Strip VLAN tags and do not report them." },
        Field { name: "IDX", mask: PFQDE_IDX, access: Access::ReadWrite, summary: "The queue." },
        Field { name: "WRITE", mask: PFQDE_WRITE, access: Access::ReadWrite, summary: "Write the setting." },
        Field { name: "READ", mask: PFQDE_READ, access: Access::ReadWrite, summary: "Read the setting." },
    ] },
    Register { id: RegisterId::PFVMTXSW, name: "PFVMTXSW", offset: 0x05180, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x05180, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Pools whose packets may be looped back to other pools.", fields: &[] },
    Register { id: RegisterId::PFVFSPOOF, name: "PFVFSPOOF", offset: 0x08200, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x08200, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Pools whose source addresses are checked, 8 an entry.", fields: &[
        Field { name: "MACAS", mask: PFVFSPOOF_MACAS, access: Access::ReadWrite, summary: "MAC address." },
        Field { name: "VLANAS", mask: PFVFSPOOF_VLANAS, access: Access::ReadWrite, summary: "VLAN." },
    ] },
    Register { id: RegisterId::PFDTXGSWC, name: "PFDTXGSWC", offset: 0x08220, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08220, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Looping packets back between pools.", fields: &[
        Field { name: "LBE", mask: PFDTXGSWC_LBE, access: Access::ReadWrite, summary: "Loop packets back." },
    ] },
    Register { id: RegisterId::PFVMVIR, name: "PFVMVIR", offset: 0x08000, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x08000, stride: 0x4, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "VLAN tag that is put into a pool's packets.", fields: &[
        Field { name: "PORT_VLAN", mask: PFVMVIR_PORT_VLAN, access: Access::ReadWrite, summary: "The tag." },
        Field { name: "VLANA", mask: PFVMVIR_VLANA, access: Access::ReadWrite, summary: "Choice: as the descriptor says, always, or never." },
    ] },
    Register { id: RegisterId::PFVML2FLT, name: "PFVML2FLT", offset: 0x0F000, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x0F000, stride: 0x4, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.14"), summary: "Packets that a pool gets.", fields: &[
        Field { name: "UPE", mask: PFVML2FLT_UPE, access: Access::ReadWrite, summary: "All unicast packets. X540 and later." },
        Field { name: "VPE", mask: PFVML2FLT_VPE, access: Access::ReadWrite, summary: "Packets of all VLANs. X540 and later." },
        Field { name: "AUPE", mask: PFVML2FLT_AUPE, access: Access::ReadWrite, summary: "Packets without a VLAN tag." },
        Field { name: "ROMPE", mask: PFVML2FLT_ROMPE, access: Access::ReadWrite, summary: "Packets that MTA matches." },
        Field { name: "ROPE", mask: PFVML2FLT_ROPE, access: Access::ReadWrite, summary: "Packets that PFUTA matches." },
        Field { name: "BAM", mask: PFVML2FLT_BAM, access: Access::ReadWrite, summary: "Accept broadcast packets." },
        Field { name: "MPE", mask: PFVML2FLT_MPE, access: Access::ReadWrite, summary: "Accept all multicast packets." },
    ] },
    Register { id: RegisterId::PFVLVF, name: "PFVLVF", offset: 0x0F100, stride: 0x4, count: 64, ranges: &[Range { first: 0, offset: 0x0F100, stride: 0x4, count: 64 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.15"), summary: "A VLAN that pools share.", fields: &[
        Field { name: "VLAN_ID", mask: PFVLVF_VLAN_ID, access: Access::ReadWrite, summary: "The VLAN." },
        Field { name: "VI_EN", mask: PFVLVF_VI_EN, access: Access::ReadWrite, summary: "The entry is valid." },
    ] },
    Register { id: RegisterId::PFVLVFB, name: "PFVLVFB", offset: 0x0F200, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x0F200, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.27.16"), summary: "Pools of a VLAN; 2n and 2n + 1 are those of PFVLVF(n).", fields: &[] },
    Register { id: RegisterId::PFMRCTL, name: "PFMRCTL", offset: 0x0F600, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x0F600, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets that a rule mirrors, and the pool that gets them.", fields: &[
        Field { name: "VPME", mask: PFMRCTL_VPME, access: Access::ReadWrite, summary: "Packets of pools." },
        Field { name: "UPME", mask: PFMRCTL_UPME, access: Access::ReadWrite, summary: "Packets received." },
        Field { name: "DPME", mask: PFMRCTL_DPME, access: Access::ReadWrite, summary: "Packets sent." },
        Field { name: "VLME", mask: PFMRCTL_VLME, access: Access::ReadWrite, summary: "Packets of VLANs." },
        Field { name: "MP", mask: PFMRCTL_MP, access: Access::ReadWrite, summary: "Pool that gets them." },
    ] },
    Register { id: RegisterId::PFMRVLAN, name: "PFMRVLAN", offset: 0x0F610, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0F610, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "VLANs that a rule mirrors.", fields: &[] },
    Register { id: RegisterId::PFMRVM, name: "PFMRVM", offset: 0x0F630, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0F630, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Pools that a rule mirrors.", fields: &[] },
    Register { id: RegisterId::VMECM, name: "VMECM", offset: 0x08790, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08790, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Pools whose malicious packets are counted and stopped. X540 and later.", fields: &[] },
    Register { id: RegisterId::LVMMC_RX, name: "LVMMC_RX", offset: 0x02FA8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02FA8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Last malicious receive event.", fields: &[] },
    Register { id: RegisterId::LVMMC_TX, name: "LVMMC_TX", offset: 0x08108, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08108, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Last malicious transmit event.", fields: &[] },
    Register { id: RegisterId::LMVM_RX, name: "LMVM_RX", offset: 0x02FA4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02FA4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Last pool with a malicious receive event.", fields: &[] },
    Register { id: RegisterId::LMVM_TX, name: "LMVM_TX", offset: 0x08124, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08124, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Last pool with a malicious transmit event.", fields: &[] },
    Register { id: RegisterId::WQBR_RX, name: "WQBR_RX", offset: 0x02FB0, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x02FB0, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive queues that the card stopped for malicious behaviour.", fields: &[] },
    Register { id: RegisterId::WQBR_TX, name: "WQBR_TX", offset: 0x08130, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08130, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Transmit queues that the card stopped for malicious behaviour.", fields: &[] },
    Register { id: RegisterId::PFMBMEM, name: "PFMBMEM", offset: 0x13000, stride: 0x4, count: 1024, ranges: &[Range { first: 0, offset: 0x13000, stride: 0x4, count: 1024 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Mailboxes: memory, 16 dwords each; entry 16v + i is dword i of mailbox v.", fields: &[] },
    Register { id: RegisterId::FCRXCTRL, name: "FCRXCTRL", offset: 0x05100, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05100, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE receive control.", fields: &[
        Field { name: "FCOELLI", mask: FCRXCTRL_FCOELLI, access: Access::ReadWrite, summary: "Raise a low latency interrupt." },
        Field { name: "SAVBAD", mask: FCRXCTRL_SAVBAD, access: Access::ReadWrite, summary: "Keep bad frames." },
        Field { name: "FRSTRDH", mask: FCRXCTRL_FRSTRDH, access: Access::ReadWrite, summary: "Pass the first read header." },
        Field { name: "LASTSEQH", mask: FCRXCTRL_LASTSEQH, access: Access::ReadWrite, summary: "Pass the last header of a sequence." },
        Field { name: "ALLH", mask: FCRXCTRL_ALLH, access: Access::ReadWrite, summary: "Pass all headers." },
        Field { name: "FRSTSEQH", mask: FCRXCTRL_FRSTSEQH, access: Access::ReadWrite, summary: "Pass the first header of a sequence." },
        Field { name: "ICRC", mask: FCRXCTRL_ICRC, access: Access::ReadWrite, summary: "Ignore a wrong FC CRC." },
        Field { name: "FCCRCBO", mask: FCRXCTRL_FCCRCBO, access: Access::ReadWrite, summary: "Byte order of the FC CRC." },
        Field { name: "FCOEVER", mask: FCRXCTRL_FCOEVER, access: Access::ReadWrite, summary: "Version of FCoE." },
    ] },
    Register { id: RegisterId::FCRECTL, name: "FCRECTL", offset: 0x0ED00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0ED00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE redirection control.", fields: &[
        Field { name: "ENA", mask: FCRECTL_ENA, access: Access::ReadWrite, summary: "Choose the queue by FCRETA." },
    ] },
    Register { id: RegisterId::FCRETA, name: "FCRETA", offset: 0x0ED10, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0ED10, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE redirection table.", fields: &[
        Field { name: "ENTRY", mask: FCRETA_ENTRY, access: Access::ReadWrite, summary: "Queue." },
    ] },
    Register { id: RegisterId::FCFLT, name: "FCFLT", offset: 0x05108, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05108, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE filter context.", fields: &[
        Field { name: "VALID", mask: FCFLT_VALID, access: Access::ReadWrite, summary: "The entry is valid." },
        Field { name: "FIRST", mask: FCFLT_FIRST, access: Access::ReadWrite, summary: "First packet of a sequence is awaited." },
        Field { name: "SEQID", mask: FCFLT_SEQID, access: Access::ReadWrite, summary: "Sequence." },
        Field { name: "SEQCNT", mask: FCFLT_SEQCNT, access: Access::ReadWrite, summary: "Count within the sequence." },
    ] },
    Register { id: RegisterId::FCFLTRW, name: "FCFLTRW", offset: 0x05110, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05110, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Access to an FCoE filter context.", fields: &[
        Field { name: "FCOESEL", mask: FCFLTRW_FCOESEL, access: Access::ReadWrite, summary: "Exchange." },
        Field { name: "RVALDT", mask: FCFLTRW_RVALDT, access: Access::ReadWrite, summary: "Validate again." },
        Field { name: "WE", mask: FCFLTRW_WE, access: Access::ReadWrite, summary: "Write." },
        Field { name: "RE", mask: FCFLTRW_RE, access: Access::ReadWrite, summary: "Read." },
    ] },
    Register { id: RegisterId::FCPARAM, name: "FCPARAM", offset: 0x051D8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051D8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE parameter of the exchange.", fields: &[] },
    Register { id: RegisterId::FCSMAC, name: "FCSMAC", offset: 0x0510C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x0510C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE source address.", fields: &[] },
    Register { id: RegisterId::FCD_ID, name: "FCD_ID", offset: 0x05114, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05114, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE destination.", fields: &[] },
    Register { id: RegisterId::FCPTRL, name: "FCPTRL", offset: 0x02410, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02410, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE user descriptors' IOVA, low half.", fields: &[] },
    Register { id: RegisterId::FCPTRH, name: "FCPTRH", offset: 0x02414, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02414, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE user descriptors' IOVA, high half.", fields: &[] },
    Register { id: RegisterId::FCBUFF, name: "FCBUFF", offset: 0x02418, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02418, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE user buffers.", fields: &[
        Field { name: "VALID", mask: FCBUFF_VALID, access: Access::ReadWrite, summary: "The context is valid." },
        Field { name: "BUFFSIZE", mask: FCBUFF_BUFFSIZE, access: Access::ReadWrite, summary: "Size of a buffer: 4 KiB times 2 to the power of this." },
        Field { name: "WRCONTX", mask: FCBUFF_WRCONTX, access: Access::ReadWrite, summary: "This side is the target." },
        Field { name: "BUFFCNT", mask: FCBUFF_BUFFCNT, access: Access::ReadWrite, summary: "Buffers." },
        Field { name: "OFFSET", mask: FCBUFF_OFFSET, access: Access::ReadWrite, summary: "Offset in the first buffer." },
    ] },
    Register { id: RegisterId::FCDMARW, name: "FCDMARW", offset: 0x02420, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02420, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Access to an FCoE DMA context.", fields: &[
        Field { name: "FCOESEL", mask: FCDMARW_FCOESEL, access: Access::ReadWrite, summary: "Exchange." },
        Field { name: "WE", mask: FCDMARW_WE, access: Access::ReadWrite, summary: "Write." },
        Field { name: "RE", mask: FCDMARW_RE, access: Access::ReadWrite, summary: "Read." },
        Field { name: "LASTSIZE", mask: FCDMARW_LASTSIZE, access: Access::ReadWrite, summary: "Bytes in the last buffer." },
    ] },
    Register { id: RegisterId::TEOFF, name: "TEOFF", offset: 0x04A94, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04A94, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE end-of-frame codes to send.", fields: &[] },
    Register { id: RegisterId::TSOFF, name: "TSOFF", offset: 0x04A98, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x04A98, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE start-of-frame codes to send.", fields: &[] },
    Register { id: RegisterId::REOFF, name: "REOFF", offset: 0x05158, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05158, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE end-of-frame codes received.", fields: &[] },
    Register { id: RegisterId::RSOFF, name: "RSOFF", offset: 0x051F8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051F8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "FCoE start-of-frame codes received.", fields: &[] },
    Register { id: RegisterId::TSYNCRXCTL, name: "TSYNCRXCTL", offset: 0x05188, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05188, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive time stamps.", fields: &[
        Field { name: "VALID", mask: TSYNCRXCTL_VALID, access: Access::ReadOnly, summary: "RXSTMPL and RXSTMPH hold a time stamp." },
        Field { name: "TYPE", mask: TSYNCRXCTL_TYPE, access: Access::ReadWrite, summary: "Packets that get a time stamp." },
        Field { name: "ENABLED", mask: TSYNCRXCTL_ENABLED, access: Access::ReadWrite, summary: "Take time stamps." },
    ] },
    Register { id: RegisterId::TSYNCTXCTL, name: "TSYNCTXCTL", offset: 0x08C00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Transmit time stamps.", fields: &[
        Field { name: "VALID", mask: TSYNCTXCTL_VALID, access: Access::ReadOnly, summary: "TXSTMPL and TXSTMPH hold a time stamp." },
        Field { name: "ENABLED", mask: TSYNCTXCTL_ENABLED, access: Access::ReadWrite, summary: "Take time stamps." },
    ] },
    Register { id: RegisterId::RXSTMPL, name: "RXSTMPL", offset: 0x051E8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051E8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive time stamp, low half.", fields: &[] },
    Register { id: RegisterId::RXSTMPH, name: "RXSTMPH", offset: 0x051A4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051A4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive time stamp, high half. The read frees it.", fields: &[] },
    Register { id: RegisterId::RXSATRL, name: "RXSATRL", offset: 0x051A0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051A0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Source of the packet with the time stamp, low half.", fields: &[] },
    Register { id: RegisterId::RXSATRH, name: "RXSATRH", offset: 0x051A8, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x051A8, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Source of the packet with the time stamp, high half, and its sequence.", fields: &[] },
    Register { id: RegisterId::RXMTRL, name: "RXMTRL", offset: 0x05120, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05120, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x319F0000, reset_first: 0x319F0000, acts_on: None, section: None, summary: "Messages that get a time stamp.", fields: &[
        Field { name: "CTRLT", mask: RXMTRL_CTRLT, access: Access::ReadWrite, summary: "Control field of version 1." },
        Field { name: "MSGT", mask: RXMTRL_MSGT, access: Access::ReadWrite, summary: "Message type of version 2." },
        Field { name: "UDPT", mask: RXMTRL_UDPT, access: Access::ReadWrite, summary: "UDP port." },
    ] },
    Register { id: RegisterId::TXSTMPL, name: "TXSTMPL", offset: 0x08C04, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C04, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Transmit time stamp, low half.", fields: &[] },
    Register { id: RegisterId::TXSTMPH, name: "TXSTMPH", offset: 0x08C08, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C08, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Transmit time stamp, high half. The read frees it.", fields: &[] },
    Register { id: RegisterId::SYSTIML, name: "SYSTIML", offset: 0x08C0C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C0C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "The card's time, low half. The read holds SYSTIMH.", fields: &[] },
    Register { id: RegisterId::SYSTIMH, name: "SYSTIMH", offset: 0x08C10, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C10, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "The card's time, high half.", fields: &[] },
    Register { id: RegisterId::TIMINCA, name: "TIMINCA", offset: 0x08C14, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C14, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "How the card's time advances.", fields: &[
        Field { name: "INCVALUE", mask: TIMINCA_INCVALUE, access: Access::ReadWrite, summary: "Added at each step." },
        Field { name: "INCPER", mask: TIMINCA_INCPER, access: Access::ReadWrite, summary: "Clocks in a step." },
    ] },
    Register { id: RegisterId::TIMADJL, name: "TIMADJL", offset: 0x08C18, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C18, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Adjustment of the card's time, low half.", fields: &[] },
    Register { id: RegisterId::TIMADJH, name: "TIMADJH", offset: 0x08C1C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C1C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Adjustment of the card's time, high half and sign.", fields: &[] },
    Register { id: RegisterId::TSAUXC, name: "TSAUXC", offset: 0x08C20, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C20, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Clock output and target times.", fields: &[
        Field { name: "EN_TT0", mask: TSAUXC_EN_TT0, access: Access::ReadWrite, summary: "Target time 0 applies." },
        Field { name: "EN_TT1", mask: TSAUXC_EN_TT1, access: Access::ReadWrite, summary: "Target time 1 applies." },
        Field { name: "EN_CLK", mask: TSAUXC_EN_CLK, access: Access::ReadWrite, summary: "Put out a clock." },
        Field { name: "SYNCLK", mask: TSAUXC_SYNCLK, access: Access::ReadWrite, summary: "Start the clock at the target time." },
        Field { name: "ST0", mask: TSAUXC_ST0, access: Access::ReadWrite, summary: "Level after target time 0." },
        Field { name: "SDP0_INT", mask: TSAUXC_SDP0_INT, access: Access::ReadWrite, summary: "Pin SDP0 raises an interrupt." },
        Field { name: "DISABLE_SYSTIME", mask: TSAUXC_DISABLE_SYSTIME, access: Access::ReadWrite, summary: "The card's time stands still. X550." },
    ] },
    Register { id: RegisterId::TRGTTIML0, name: "TRGTTIML0", offset: 0x08C24, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C24, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Target time 0, low half.", fields: &[] },
    Register { id: RegisterId::TRGTTIMH0, name: "TRGTTIMH0", offset: 0x08C28, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C28, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Target time 0, high half.", fields: &[] },
    Register { id: RegisterId::TRGTTIML1, name: "TRGTTIML1", offset: 0x08C2C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C2C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Target time 1, low half.", fields: &[] },
    Register { id: RegisterId::TRGTTIMH1, name: "TRGTTIMH1", offset: 0x08C30, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C30, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Target time 1, high half.", fields: &[] },
    Register { id: RegisterId::CLKTIML, name: "CLKTIML", offset: 0x08C34, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C34, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Period of the clock put out, low half.", fields: &[] },
    Register { id: RegisterId::CLKTIMH, name: "CLKTIMH", offset: 0x08C38, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C38, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Period of the clock put out, high half.", fields: &[] },
    Register { id: RegisterId::AUXSTMPL0, name: "AUXSTMPL0", offset: 0x08C3C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C3C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Time stamp of pin event 0, low half.", fields: &[] },
    Register { id: RegisterId::AUXSTMPH0, name: "AUXSTMPH0", offset: 0x08C40, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C40, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Time stamp of pin event 0, high half.", fields: &[] },
    Register { id: RegisterId::AUXSTMPL1, name: "AUXSTMPL1", offset: 0x08C44, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C44, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Time stamp of pin event 1, low half.", fields: &[] },
    Register { id: RegisterId::AUXSTMPH1, name: "AUXSTMPH1", offset: 0x08C48, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C48, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Time stamp of pin event 1, high half.", fields: &[] },
    Register { id: RegisterId::TSICR, name: "TSICR", offset: 0x08C60, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C60, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Causes of time stamp interrupts. X540 and later.", fields: &[] },
    Register { id: RegisterId::TSIM, name: "TSIM", offset: 0x08C68, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08C68, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Time stamp interrupts that are enabled. X540 and later.", fields: &[] },
    Register { id: RegisterId::WUC, name: "WUC", offset: 0x05800, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05800, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.24.1"), summary: "Wake-up control.", fields: &[
        Field { name: "PME_EN", mask: WUC_PME_EN, access: Access::ReadWrite, summary: "Wake the system." },
        Field { name: "PME_STATUS", mask: WUC_PME_STATUS, access: Access::WriteOneClear, summary: "The system was woken." },
        Field { name: "WKEN", mask: WUC_WKEN, access: Access::ReadWrite, summary: "Use the pin PE_WAKE_N." },
    ] },
    Register { id: RegisterId::WUFC, name: "WUFC", offset: 0x05808, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05808, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.24.2"), summary: "Events that wake the system.", fields: &[
        Field { name: "LNKC", mask: WUFC_LNKC, access: Access::ReadWrite, summary: "A change of the link." },
        Field { name: "MAG", mask: WUFC_MAG, access: Access::ReadWrite, summary: "A magic packet." },
        Field { name: "EX", mask: WUFC_EX, access: Access::ReadWrite, summary: "A packet to this address." },
        Field { name: "MC", mask: WUFC_MC, access: Access::ReadWrite, summary: "An accepted multicast packet." },
        Field { name: "BC", mask: WUFC_BC, access: Access::ReadWrite, summary: "A broadcast packet." },
        Field { name: "ARP", mask: WUFC_ARP, access: Access::ReadWrite, summary: "An ARP request for this address." },
        Field { name: "IPV4", mask: WUFC_IPV4, access: Access::ReadWrite, summary: "An IPv4 packet to this address." },
        Field { name: "IPV6", mask: WUFC_IPV6, access: Access::ReadWrite, summary: "An IPv6 packet to this address." },
        Field { name: "MNG", mask: WUFC_MNG, access: Access::ReadWrite, summary: "A packet for the firmware." },
        Field { name: "IGNORE_TCO", mask: WUFC_IGNORE_TCO, access: Access::ReadWrite, summary: "Packets for the firmware do not count." },
        Field { name: "FLX", mask: WUFC_FLX, access: Access::ReadWrite, summary: "Flexible filters, a bit each." },
        Field { name: "FW_RST_WK", mask: WUFC_FW_RST_WK, access: Access::ReadWrite, summary: "A reset of the firmware." },
    ] },
    Register { id: RegisterId::WUS, name: "WUS", offset: 0x05810, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05810, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::WriteOneClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.24.3"), summary: "Events that woke the system. The bits are those of WUFC.", fields: &[] },
    Register { id: RegisterId::IPAV, name: "IPAV", offset: 0x05838, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05838, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Valid wake-up addresses.", fields: &[] },
    Register { id: RegisterId::IP4AT, name: "IP4AT", offset: 0x05840, stride: 0x8, count: 4, ranges: &[Range { first: 0, offset: 0x05840, stride: 0x8, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPv4 addresses that wake the system.", fields: &[] },
    Register { id: RegisterId::IP6AT, name: "IP6AT", offset: 0x05880, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x05880, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPv6 address that wakes the system.", fields: &[] },
    Register { id: RegisterId::WUPL, name: "WUPL", offset: 0x05900, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05900, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Length of the packet that woke the system.", fields: &[] },
    Register { id: RegisterId::WUPM, name: "WUPM", offset: 0x05A00, stride: 0x4, count: 32, ranges: &[Range { first: 0, offset: 0x05A00, stride: 0x4, count: 32 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Start of the packet that woke the system.", fields: &[] },
    Register { id: RegisterId::FHFT, name: "FHFT", offset: 0x09000, stride: 0x4, count: 256, ranges: &[Range { first: 0, offset: 0x09000, stride: 0x4, count: 256 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.24.9"), summary: "Flexible filters 0 to 3, 64 dwords each.", fields: &[] },
    Register { id: RegisterId::FHFT_EXT, name: "FHFT_EXT", offset: 0x09800, stride: 0x4, count: 128, ranges: &[Range { first: 0, offset: 0x09800, stride: 0x4, count: 128 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: Some("8.2.3.24.9"), summary: "Flexible filters 4 and 5, 64 dwords each.", fields: &[] },
    Register { id: RegisterId::MANC, name: "MANC", offset: 0x05820, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05820, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management control.", fields: &[
        Field { name: "RCV_TCO_EN", mask: MANC_RCV_TCO_EN, access: Access::ReadWrite, summary: "The firmware gets packets." },
        Field { name: "EN_BMC2OS", mask: MANC_EN_BMC2OS, access: Access::ReadWrite, summary: "Packets between firmware and system. X540 and later." },
        Field { name: "MPROXYE", mask: MANC_MPROXYE, access: Access::ReadWrite, summary: "The firmware answers for the system. X540 and later." },
    ] },
    Register { id: RegisterId::MANC2H, name: "MANC2H", offset: 0x05860, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05860, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Packets for the firmware that the system gets too.", fields: &[] },
    Register { id: RegisterId::MFVAL, name: "MFVAL", offset: 0x05824, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x05824, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Valid management filters.", fields: &[] },
    Register { id: RegisterId::MAVTV, name: "MAVTV", offset: 0x05010, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x05010, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management VLANs.", fields: &[] },
    Register { id: RegisterId::MFUTP, name: "MFUTP", offset: 0x05030, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x05030, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management ports.", fields: &[] },
    Register { id: RegisterId::MDEF, name: "MDEF", offset: 0x05890, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x05890, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management filters.", fields: &[] },
    Register { id: RegisterId::MDEF_EXT, name: "MDEF_EXT", offset: 0x05160, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x05160, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management filters, further conditions.", fields: &[] },
    Register { id: RegisterId::METF, name: "METF", offset: 0x05190, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x05190, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management EtherTypes.", fields: &[] },
    Register { id: RegisterId::MMAL, name: "MMAL", offset: 0x05910, stride: 0x8, count: 4, ranges: &[Range { first: 0, offset: 0x05910, stride: 0x8, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management MAC addresses, first four bytes.", fields: &[] },
    Register { id: RegisterId::MMAH, name: "MMAH", offset: 0x05914, stride: 0x8, count: 4, ranges: &[Range { first: 0, offset: 0x05914, stride: 0x8, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Management MAC addresses, last two bytes.", fields: &[] },
    Register { id: RegisterId::LSWFW, name: "LSWFW", offset: 0x15F14, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x15F14, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Lock between LinkSec in software and firmware.", fields: &[] },
    Register { id: RegisterId::HICR, name: "HICR", offset: 0x15F00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x15F00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Host interface to the firmware: control.", fields: &[
        Field { name: "EN", mask: HICR_EN, access: Access::ReadOnly, summary: "The interface is on." },
        Field { name: "C", mask: HICR_C, access: Access::SelfClearing, summary: "A command is in FLEX_MNG: run it." },
        Field { name: "SV", mask: HICR_SV, access: Access::ReadOnly, summary: "The answer is valid." },
        Field { name: "FW_RESET_ENABLE", mask: HICR_FW_RESET_ENABLE, access: Access::ReadWrite, summary: "The firmware may be reset." },
        Field { name: "FW_RESET", mask: HICR_FW_RESET, access: Access::SelfClearing, summary: "Reset the firmware." },
    ] },
    Register { id: RegisterId::FWSTS, name: "FWSTS", offset: 0x15F0C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x15F0C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Firmware status.", fields: &[
        Field { name: "FWRI", mask: FWSTS_FWRI, access: Access::WriteOneClear, summary: "The firmware was reset." },
    ] },
    Register { id: RegisterId::FLEX_MNG, name: "FLEX_MNG", offset: 0x15800, stride: 0x4, count: 448, ranges: &[Range { first: 0, offset: 0x15800, stride: 0x4, count: 448 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Host interface to the firmware: commands and answers.", fields: &[] },
    Register { id: RegisterId::LSECTXCAP, name: "LSECTXCAP", offset: 0x08A00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec transmit capabilities.", fields: &[] },
    Register { id: RegisterId::LSECRXCAP, name: "LSECRXCAP", offset: 0x08F00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec receive capabilities.", fields: &[] },
    Register { id: RegisterId::LSECTXCTRL, name: "LSECTXCTRL", offset: 0x08A04, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A04, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec transmit control.", fields: &[
        Field { name: "EN", mask: LSECTXCTRL_EN, access: Access::ReadWrite, summary: "Operation." },
        Field { name: "AISCI", mask: LSECTXCTRL_AISCI, access: Access::ReadWrite, summary: "Put the SCI into packets." },
        Field { name: "PNTHRSH", mask: LSECTXCTRL_PNTHRSH, access: Access::ReadWrite, summary: "Packet number at which to warn." },
    ] },
    Register { id: RegisterId::LSECRXCTRL, name: "LSECRXCTRL", offset: 0x08F04, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F04, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec receive control.", fields: &[
        Field { name: "EN", mask: LSECRXCTRL_EN, access: Access::ReadWrite, summary: "Operation." },
        Field { name: "PLSH", mask: LSECRXCTRL_PLSH, access: Access::ReadWrite, summary: "Pass the header on." },
        Field { name: "RP", mask: LSECRXCTRL_RP, access: Access::ReadWrite, summary: "Protect against replay." },
    ] },
    Register { id: RegisterId::LSECTXSCL, name: "LSECTXSCL", offset: 0x08A08, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A08, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec SCI to send, low half.", fields: &[] },
    Register { id: RegisterId::LSECTXSCH, name: "LSECTXSCH", offset: 0x08A0C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A0C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec SCI to send, high half.", fields: &[] },
    Register { id: RegisterId::LSECTXSA, name: "LSECTXSA", offset: 0x08A10, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A10, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec associations to send.", fields: &[] },
    Register { id: RegisterId::LSECTXPN0, name: "LSECTXPN0", offset: 0x08A14, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A14, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packet number to send, association 0.", fields: &[] },
    Register { id: RegisterId::LSECTXPN1, name: "LSECTXPN1", offset: 0x08A18, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A18, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packet number to send, association 1.", fields: &[] },
    Register { id: RegisterId::LSECTXKEY0, name: "LSECTXKEY0", offset: 0x08A1C, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08A1C, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::WriteOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec key to send, association 0.", fields: &[] },
    Register { id: RegisterId::LSECTXKEY1, name: "LSECTXKEY1", offset: 0x08A2C, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08A2C, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::WriteOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec key to send, association 1.", fields: &[] },
    Register { id: RegisterId::LSECRXSCL, name: "LSECRXSCL", offset: 0x08F08, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F08, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec SCI to receive, low half.", fields: &[] },
    Register { id: RegisterId::LSECRXSCH, name: "LSECRXSCH", offset: 0x08F0C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F0C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec SCI to receive, high half.", fields: &[] },
    Register { id: RegisterId::LSECRXSA, name: "LSECRXSA", offset: 0x08F10, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08F10, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec associations to receive.", fields: &[] },
    Register { id: RegisterId::LSECRXPN, name: "LSECRXPN", offset: 0x08F18, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08F18, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packet numbers to receive.", fields: &[] },
    Register { id: RegisterId::LSECRXKEY, name: "LSECRXKEY", offset: 0x08F20, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x08F20, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::WriteOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec keys to receive, 4 dwords for each of two associations.", fields: &[] },
    Register { id: RegisterId::LSECTXUT, name: "LSECTXUT", offset: 0x08A3C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A3C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets sent without a tag.", fields: &[] },
    Register { id: RegisterId::LSECTXPKTE, name: "LSECTXPKTE", offset: 0x08A40, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A40, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets sent encrypted.", fields: &[] },
    Register { id: RegisterId::LSECTXPKTP, name: "LSECTXPKTP", offset: 0x08A44, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A44, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets sent authenticated.", fields: &[] },
    Register { id: RegisterId::LSECTXOCTE, name: "LSECTXOCTE", offset: 0x08A48, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A48, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec bytes sent encrypted.", fields: &[] },
    Register { id: RegisterId::LSECTXOCTP, name: "LSECTXOCTP", offset: 0x08A4C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08A4C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec bytes sent authenticated.", fields: &[] },
    Register { id: RegisterId::LSECRXUT, name: "LSECRXUT", offset: 0x08F40, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F40, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets received without a tag.", fields: &[] },
    Register { id: RegisterId::LSECRXOCTD, name: "LSECRXOCTD", offset: 0x08F44, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F44, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec bytes decrypted.", fields: &[] },
    Register { id: RegisterId::LSECRXOCTV, name: "LSECRXOCTV", offset: 0x08F48, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F48, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec bytes checked.", fields: &[] },
    Register { id: RegisterId::LSECRXBAD, name: "LSECRXBAD", offset: 0x08F4C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F4C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets with a bad tag.", fields: &[] },
    Register { id: RegisterId::LSECRXNOSCI, name: "LSECRXNOSCI", offset: 0x08F50, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F50, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets without an SCI.", fields: &[] },
    Register { id: RegisterId::LSECRXUNSCI, name: "LSECRXUNSCI", offset: 0x08F54, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F54, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets with an unknown SCI.", fields: &[] },
    Register { id: RegisterId::LSECRXUNCH, name: "LSECRXUNCH", offset: 0x08F58, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F58, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets not checked.", fields: &[] },
    Register { id: RegisterId::LSECRXDELAY, name: "LSECRXDELAY", offset: 0x08F5C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F5C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets delayed.", fields: &[] },
    Register { id: RegisterId::LSECRXLATE, name: "LSECRXLATE", offset: 0x08F60, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F60, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets late.", fields: &[] },
    Register { id: RegisterId::LSECRXOK, name: "LSECRXOK", offset: 0x08F64, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08F64, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets good, by association.", fields: &[] },
    Register { id: RegisterId::LSECRXINV, name: "LSECRXINV", offset: 0x08F6C, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08F6C, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets invalid, by association.", fields: &[] },
    Register { id: RegisterId::LSECRXNV, name: "LSECRXNV", offset: 0x08F74, stride: 0x4, count: 2, ranges: &[Range { first: 0, offset: 0x08F74, stride: 0x4, count: 2 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets not valid, by association.", fields: &[] },
    Register { id: RegisterId::LSECRXUNSA, name: "LSECRXUNSA", offset: 0x08F7C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F7C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets of an unused association.", fields: &[] },
    Register { id: RegisterId::LSECRXNUSA, name: "LSECRXNUSA", offset: 0x08F80, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08F80, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "LinkSec packets of no association.", fields: &[] },
    Register { id: RegisterId::IPSTXIDX, name: "IPSTXIDX", offset: 0x08900, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08900, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec transmit table: access.", fields: &[
        Field { name: "IPS_TX_EN", mask: IPSTXIDX_IPS_TX_EN, access: Access::ReadWrite, summary: "Process IPsec in sent packets." },
        Field { name: "TB_IDX", mask: IPSTXIDX_TB_IDX, access: Access::ReadWrite, summary: "Index in the table." },
        Field { name: "READ", mask: IPSTXIDX_READ, access: Access::SelfClearing, summary: "Read the entry." },
        Field { name: "WRITE", mask: IPSTXIDX_WRITE, access: Access::SelfClearing, summary: "Write the entry." },
    ] },
    Register { id: RegisterId::IPSTXSALT, name: "IPSTXSALT", offset: 0x08904, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08904, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec transmit table: salt.", fields: &[] },
    Register { id: RegisterId::IPSTXKEY, name: "IPSTXKEY", offset: 0x08908, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08908, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec transmit table: key.", fields: &[] },
    Register { id: RegisterId::IPSRXIDX, name: "IPSRXIDX", offset: 0x08E00, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08E00, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: access.", fields: &[
        Field { name: "IPS_RX_EN", mask: IPSRXIDX_IPS_RX_EN, access: Access::ReadWrite, summary: "Process IPsec in received packets." },
        Field { name: "TABLE", mask: IPSRXIDX_TABLE, access: Access::ReadWrite, summary: "Table." },
        Field { name: "TB_IDX", mask: IPSRXIDX_TB_IDX, access: Access::ReadWrite, summary: "Index in the table." },
        Field { name: "READ", mask: IPSRXIDX_READ, access: Access::SelfClearing, summary: "Read the entry." },
        Field { name: "WRITE", mask: IPSRXIDX_WRITE, access: Access::SelfClearing, summary: "Write the entry." },
    ] },
    Register { id: RegisterId::IPSRXIPADDR, name: "IPSRXIPADDR", offset: 0x08E04, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08E04, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: address.", fields: &[] },
    Register { id: RegisterId::IPSRXSPI, name: "IPSRXSPI", offset: 0x08E14, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08E14, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: SPI.", fields: &[] },
    Register { id: RegisterId::IPSRXIPIDX, name: "IPSRXIPIDX", offset: 0x08E18, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08E18, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: index of the address.", fields: &[] },
    Register { id: RegisterId::IPSRXKEY, name: "IPSRXKEY", offset: 0x08E1C, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x08E1C, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: key.", fields: &[] },
    Register { id: RegisterId::IPSRXSALT, name: "IPSRXSALT", offset: 0x08E2C, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08E2C, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: salt.", fields: &[] },
    Register { id: RegisterId::IPSRXMOD, name: "IPSRXMOD", offset: 0x08E30, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x08E30, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "IPsec receive tables: mode.", fields: &[
        Field { name: "VALID", mask: IPSRXMOD_VALID, access: Access::ReadWrite, summary: "The entry is valid." },
        Field { name: "PROTO", mask: IPSRXMOD_PROTO, access: Access::ReadWrite, summary: "ESP, not AH." },
        Field { name: "DECRYPT", mask: IPSRXMOD_DECRYPT, access: Access::ReadWrite, summary: "Decrypt." },
        Field { name: "IPV6", mask: IPSRXMOD_IPV6, access: Access::ReadWrite, summary: "The address is an IPv6 one." },
    ] },
    Register { id: RegisterId::RDHMPN, name: "RDHMPN", offset: 0x02F08, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F08, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Access to receive descriptors on the chip.", fields: &[] },
    Register { id: RegisterId::RIC_DW, name: "RIC_DW", offset: 0x02F10, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x02F10, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "A receive descriptor on the chip.", fields: &[] },
    Register { id: RegisterId::RDPROBE, name: "RDPROBE", offset: 0x02F20, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F20, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Probe in receive DMA.", fields: &[] },
    Register { id: RegisterId::RDMAM, name: "RDMAM", offset: 0x02F30, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F30, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Access to the memories of receive DMA.", fields: &[] },
    Register { id: RegisterId::RDMAD, name: "RDMAD", offset: 0x02F34, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02F34, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "A dword of a memory of receive DMA.", fields: &[] },
    Register { id: RegisterId::TDHMPN2, name: "TDHMPN2", offset: 0x082FC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x082FC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Access to transmit descriptors on the chip.", fields: &[] },
    Register { id: RegisterId::TXDESCIC, name: "TXDESCIC", offset: 0x082CC, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x082CC, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Transmit descriptors on the chip.", fields: &[
        Field { name: "READY", mask: TXDESCIC_READY, access: Access::ReadOnly, summary: "TIC_DW2 holds a descriptor." },
    ] },
    Register { id: RegisterId::TIC_DW2, name: "TIC_DW2", offset: 0x082B0, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x082B0, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "A transmit descriptor on the chip.", fields: &[] },
    Register { id: RegisterId::TXLLQ, name: "TXLLQ", offset: 0x082E0, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x082E0, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Queues with strict low latency.", fields: &[] },
    Register { id: RegisterId::RDSTATCTL, name: "RDSTATCTL", offset: 0x02C20, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x02C20, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive statistics for debugging: control.", fields: &[] },
    Register { id: RegisterId::RDSTAT, name: "RDSTAT", offset: 0x02C00, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x02C00, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Receive statistics for debugging.", fields: &[] },
    Register { id: RegisterId::RXMEMWRAP, name: "RXMEMWRAP", offset: 0x03190, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x03190, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Times a receive packet buffer wrapped.", fields: &[] },
    Register { id: RegisterId::RXUSED, name: "RXUSED", offset: 0x03120, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x03120, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Fill of a receive packet buffer.", fields: &[] },
    Register { id: RegisterId::TXUSED, name: "TXUSED", offset: 0x0C120, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x0C120, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Fill of a transmit packet buffer.", fields: &[] },
    Register { id: RegisterId::PCIE_DIAG, name: "PCIE_DIAG", offset: 0x11090, stride: 0x4, count: 8, ranges: &[Range { first: 0, offset: 0x11090, stride: 0x4, count: 8 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express diagnostics.", fields: &[] },
    Register { id: RegisterId::GSCL_1, name: "GSCL_1", offset: 0x11010, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11010, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express statistics: control.", fields: &[] },
    Register { id: RegisterId::GSCL_2, name: "GSCL_2", offset: 0x11014, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11014, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express statistics: events.", fields: &[] },
    Register { id: RegisterId::GSCL_5, name: "GSCL_5", offset: 0x11030, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x11030, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express statistics: thresholds.", fields: &[] },
    Register { id: RegisterId::GSCN, name: "GSCN", offset: 0x11020, stride: 0x4, count: 4, ranges: &[Range { first: 0, offset: 0x11020, stride: 0x4, count: 4 }], aliases: &[],
        access: Access::ReadClear, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express statistics: counters.", fields: &[] },
    Register { id: RegisterId::BARCTRL, name: "BARCTRL", offset: 0x110F4, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x110F4, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "Sizes of the memory regions.", fields: &[
        Field { name: "FLSIZE", mask: BARCTRL_FLSIZE, access: Access::ReadOnly, summary: "Flash." },
        Field { name: "CSRSIZE", mask: BARCTRL_CSRSIZE, access: Access::ReadOnly, summary: "Registers have 256 KiB, not 128 KiB." },
    ] },
    Register { id: RegisterId::ECC_CTRL_0, name: "ECC_CTRL_0", offset: 0x11100, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11100, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express memory errors: control 0.", fields: &[] },
    Register { id: RegisterId::ECC_CTRL_1, name: "ECC_CTRL_1", offset: 0x11104, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x11104, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadWrite, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express memory errors: control 1.", fields: &[] },
    Register { id: RegisterId::ECC_STATUS, name: "ECC_STATUS", offset: 0x110E0, stride: 0x4, count: 1, ranges: &[Range { first: 0, offset: 0x110E0, stride: 0x4, count: 1 }], aliases: &[],
        access: Access::ReadOnly, reset: 0x00000000, reset_first: 0x00000000, acts_on: None, section: None, summary: "PCI Express memory errors.", fields: &[] },
];
