/* generated from registers.toml by `make registers`; do not edit */
/*
 * The 82599's registers, as offsets from the start of its register space; their fields, as masks;
 * and named values of fields, already shifted to their place.
 */
#ifndef IXGBE_REGISTERS_H
#define IXGBE_REGISTERS_H

#include <stdint.h>

/* clang-format off */

/* `value` shifted to the place of the field that `mask` covers. It must fit the field. */
#define IXGBE_FIELD(mask, value) ((value) * ((mask) & (~(mask) + 1u)))
/* The value of the field that `mask` covers, in the register's value `reg`. */
#define IXGBE_FIELD_GET(mask, reg) (((reg) & (mask)) / ((mask) & (~(mask) + 1u)))

/* Bytes of the register space. */
#define IXGBE_BAR0_SIZE 0x20000u

/* ---- General control ---- */

/* CTRL, rw: Device control. Datasheet 8.2.3.1.1. */
/* Also at 0x00004. */
#define IXGBE_CTRL 0x00000u
/* Bit 2: Start no more bus transactions; STATUS.MASTER_ENABLE tells when all ended. */
#define IXGBE_CTRL_MASTER_DISABLE 0x00000004u
/* Bit 3, sc: Reset the link, and the device with it. */
#define IXGBE_CTRL_LNK_RST 0x00000008u
/* Bit 26, sc: Reset the device. Touch no register for 1 ms, then wait 10 ms more. */
#define IXGBE_CTRL_RST 0x04000000u

/* STATUS, ro: Device status. Datasheet 8.2.3.1.2. */
#define IXGBE_STATUS 0x00008u
/* Bits 3:2: Which port of the card this is. */
#define IXGBE_STATUS_LAN_ID 0x0000000Cu
/* Bit 7: The link is up. */
#define IXGBE_STATUS_LINK_UP 0x00000080u
/* Bits 17:10: Virtual functions that are enabled. */
#define IXGBE_STATUS_NUM_VFS 0x0003FC00u
/* Bit 18: Virtual functions are enabled. */
#define IXGBE_STATUS_IOV_ACTIVE 0x00040000u
/* Bit 19: Transactions on the bus may be going on; 0 after CTRL.MASTER_DISABLE. */
#define IXGBE_STATUS_MASTER_ENABLE 0x00080000u

/* CTRL_EXT, rw: Extended device control. Datasheet 8.2.3.1.3. */
#define IXGBE_CTRL_EXT 0x00018u
/* Bit 14, sc: The physical function's reset is done: tell the virtual ones. */
#define IXGBE_CTRL_EXT_PFRSTD 0x00004000u
/* Bit 16: Ask for no transaction without snooping, whatever others say. */
#define IXGBE_CTRL_EXT_NS_DIS 0x00010000u
/* Bit 17: Ask for no relaxed ordering, whatever others say. */
#define IXGBE_CTRL_EXT_RO_DIS 0x00020000u
/* Bit 26: Every packet has an outer VLAN tag. */
#define IXGBE_CTRL_EXT_EXTENDED_VLAN 0x04000000u
/* Bit 28: A driver is loaded: a word to the firmware. */
#define IXGBE_CTRL_EXT_DRV_LOAD 0x10000000u

/* ESDP, rw: Software definable pins. Datasheet 8.2.3.1.4. */
#define IXGBE_ESDP 0x00020u
/* Bit 0: Value of pin 0. */
#define IXGBE_ESDP_SDP0 0x00000001u
/* Bit 1: Value of pin 1. */
#define IXGBE_ESDP_SDP1 0x00000002u
/* Bit 2: Value of pin 2; on SFP+ cards, high when a module is in. */
#define IXGBE_ESDP_SDP2 0x00000004u
/* Bit 3: Value of pin 3. */
#define IXGBE_ESDP_SDP3 0x00000008u
/* Bit 4: Value of pin 4. */
#define IXGBE_ESDP_SDP4 0x00000010u
/* Bit 5: Value of pin 5. */
#define IXGBE_ESDP_SDP5 0x00000020u
/* Bit 6: Value of pin 6. */
#define IXGBE_ESDP_SDP6 0x00000040u
/* Bit 7: Value of pin 7. */
#define IXGBE_ESDP_SDP7 0x00000080u
/* Bit 8: Pin 0 is an output. */
#define IXGBE_ESDP_SDP0_DIR 0x00000100u
/* Bit 9: Pin 1 is an output. */
#define IXGBE_ESDP_SDP1_DIR 0x00000200u
/* Bit 10: Pin 2 is an output. */
#define IXGBE_ESDP_SDP2_DIR 0x00000400u
/* Bit 11: Pin 3 is an output. */
#define IXGBE_ESDP_SDP3_DIR 0x00000800u
/* Bit 12: Pin 4 is an output. */
#define IXGBE_ESDP_SDP4_DIR 0x00001000u
/* Bit 13: Pin 5 is an output. */
#define IXGBE_ESDP_SDP5_DIR 0x00002000u
/* Bit 14: Pin 6 is an output. */
#define IXGBE_ESDP_SDP6_DIR 0x00004000u
/* Bit 15: Pin 7 is an output. */
#define IXGBE_ESDP_SDP7_DIR 0x00008000u
/* Bit 16: Pin 0 has its built-in function. */
#define IXGBE_ESDP_SDP0_NATIVE 0x00010000u
/* Bit 17: Pin 1 has its built-in function. */
#define IXGBE_ESDP_SDP1_NATIVE 0x00020000u

/* I2CCTL, rw: The two wires to the SFP+ module. Datasheet 8.2.3.1.5. */
#define IXGBE_I2CCTL 0x00028u
#define IXGBE_EODSDP 0x00028u
/* Bit 0, ro: Clock, as it is on the wire. */
#define IXGBE_I2CCTL_CLK_IN 0x00000001u
/* Bit 1: Clock, as driven. */
#define IXGBE_I2CCTL_CLK_OUT 0x00000002u
/* Bit 2, ro: Data, as it is on the wire. */
#define IXGBE_I2CCTL_DATA_IN 0x00000004u
/* Bit 3: Data, as driven. */
#define IXGBE_I2CCTL_DATA_OUT 0x00000008u

/* FRTIMER, ro: Free running timer. */
#define IXGBE_FRTIMER 0x00048u

/* TCPTIMER, rw: Timer that can raise an interrupt. */
#define IXGBE_TCPTIMER 0x0004Cu
/* Bits 7:0: Time to run, in milliseconds. */
#define IXGBE_TCPTIMER_DURATION 0x000000FFu
/* Bit 8, sc: Start again. */
#define IXGBE_TCPTIMER_KS 0x00000100u
/* Bit 9: Run. */
#define IXGBE_TCPTIMER_COUNT_ENABLE 0x00000200u
/* Bit 10, sc: End at once. */
#define IXGBE_TCPTIMER_COUNT_FINISH 0x00000400u
/* Bit 11: Start again whenever the time is up. */
#define IXGBE_TCPTIMER_LOOP 0x00000800u

/* LEDCTL, rw: LEDs. Datasheet 8.2.3.1.6. */
#define IXGBE_LEDCTL 0x00200u
/* Bits 3:0: What LED 0 shows. */
#define IXGBE_LEDCTL_LED0_MODE 0x0000000Fu
#define IXGBE_LEDCTL_LED0_MODE_LINK_UP 0x00000000u
#define IXGBE_LEDCTL_LED0_MODE_LINK_10G 0x00000001u
#define IXGBE_LEDCTL_LED0_MODE_MAC_ACTIVITY 0x00000002u
#define IXGBE_LEDCTL_LED0_MODE_FILTER_ACTIVITY 0x00000003u
#define IXGBE_LEDCTL_LED0_MODE_LINK_ACTIVITY 0x00000004u
#define IXGBE_LEDCTL_LED0_MODE_LINK_1G 0x00000005u
#define IXGBE_LEDCTL_LED0_MODE_ON 0x0000000Eu
#define IXGBE_LEDCTL_LED0_MODE_OFF 0x0000000Fu
/* Bit 6: LED 0 inverted. */
#define IXGBE_LEDCTL_LED0_INVERT 0x00000040u
/* Bit 7: LED 0 blinks. */
#define IXGBE_LEDCTL_LED0_BLINK 0x00000080u
/* Bits 11:8: What LED 1 shows. */
#define IXGBE_LEDCTL_LED1_MODE 0x00000F00u
/* Bit 14: LED 1 inverted. */
#define IXGBE_LEDCTL_LED1_INVERT 0x00004000u
/* Bit 15: LED 1 blinks. */
#define IXGBE_LEDCTL_LED1_BLINK 0x00008000u
/* Bits 19:16: What LED 2 shows. */
#define IXGBE_LEDCTL_LED2_MODE 0x000F0000u
/* Bit 22: LED 2 inverted. */
#define IXGBE_LEDCTL_LED2_INVERT 0x00400000u
/* Bit 23: LED 2 blinks. */
#define IXGBE_LEDCTL_LED2_BLINK 0x00800000u
/* Bits 27:24: What LED 3 shows. */
#define IXGBE_LEDCTL_LED3_MODE 0x0F000000u
/* Bit 30: LED 3 inverted. */
#define IXGBE_LEDCTL_LED3_INVERT 0x40000000u
/* Bit 31: LED 3 blinks. */
#define IXGBE_LEDCTL_LED3_BLINK 0x80000000u

/* EXVET, rw: EtherType of the outer VLAN tag. */
#define IXGBE_EXVET 0x05078u
/* Bits 31:16: The EtherType. */
#define IXGBE_EXVET_VET_EXT 0xFFFF0000u

/* ---- EEPROM and flash ---- */

/* EEC, rw: EEPROM and flash control. Datasheet 8.2.3.2.1. */
#define IXGBE_EEC 0x10010u
/* Bit 0: Clock to the EEPROM. */
#define IXGBE_EEC_SK 0x00000001u
/* Bit 1: EEPROM selected. */
#define IXGBE_EEC_CS 0x00000002u
/* Bit 2: Data to the EEPROM. */
#define IXGBE_EEC_DI 0x00000004u
/* Bit 3, ro: Data from the EEPROM. */
#define IXGBE_EEC_DO 0x00000008u
/* Bits 5:4: Flash writes. */
#define IXGBE_EEC_FWE 0x00000030u
#define IXGBE_EEC_FWE_DISABLE 0x00000010u
#define IXGBE_EEC_FWE_ENABLE 0x00000020u
/* Bit 6: Ask for the EEPROM's wires. */
#define IXGBE_EEC_REQ 0x00000040u
/* Bit 7, ro: The wires are software's. */
#define IXGBE_EEC_GNT 0x00000080u
/* Bit 8, ro: An EEPROM is there and holds a good signature. */
#define IXGBE_EEC_PRES 0x00000100u
/* Bit 9, ro: The EEPROM has been read, or there is none. */
#define IXGBE_EEC_ARD 0x00000200u
/* Bit 10, ro: The EEPROM takes addresses of 16 bits; else of 8. */
#define IXGBE_EEC_ADDR_SIZE 0x00000400u
/* Bits 14:11, ro: Size: 2 to the power of this, times 128 bytes. */
#define IXGBE_EEC_SIZE 0x00007800u

/* EERD, rw: Reads a word of the EEPROM. Datasheet 8.2.3.2.2. */
#define IXGBE_EERD 0x10014u
/* Bit 0, sc: Read the word at ADDR. */
#define IXGBE_EERD_START 0x00000001u
/* Bit 1, ro: DATA is there. */
#define IXGBE_EERD_DONE 0x00000002u
/* Bits 15:2: Address of the word. */
#define IXGBE_EERD_ADDR 0x0000FFFCu
/* Bits 31:16, ro: The word. */
#define IXGBE_EERD_DATA 0xFFFF0000u

/* EEWR, rw: Writes a word of the EEPROM. X540 and later. */
#define IXGBE_EEWR 0x10018u
/* Bit 0, sc: Write DATA to the word at ADDR. */
#define IXGBE_EEWR_START 0x00000001u
/* Bit 1, ro: The word is written. */
#define IXGBE_EEWR_DONE 0x00000002u
/* Bits 15:2: Address of the word. */
#define IXGBE_EEWR_ADDR 0x0000FFFCu
/* Bits 31:16: The word. */
#define IXGBE_EEWR_DATA 0xFFFF0000u

/* FLA, rw: Flash access by hand. */
#define IXGBE_FLA 0x1001Cu

/* EEMNGCTL, rw: EEPROM access by the firmware. */
#define IXGBE_EEMNGCTL 0x10110u
/* Bits 14:0: Address of the word. */
#define IXGBE_EEMNGCTL_ADDR 0x00007FFFu
/* Bit 15, sc: Start the access. */
#define IXGBE_EEMNGCTL_START 0x00008000u
/* Bit 16: Write; else read. */
#define IXGBE_EEMNGCTL_WRITE 0x00010000u
/* Bit 17: The EEPROM is busy. */
#define IXGBE_EEMNGCTL_EEBUSY 0x00020000u
/* Bit 18: Port 0 has been configured from the EEPROM. */
#define IXGBE_EEMNGCTL_CFG_DONE0 0x00040000u
/* Bit 19: Port 1 has been configured from the EEPROM. */
#define IXGBE_EEMNGCTL_CFG_DONE1 0x00080000u
/* Bit 31, ro: The access has ended. */
#define IXGBE_EEMNGCTL_DONE 0x80000000u

/* EEMNGDATA, rw: Data of EEMNGCTL's access. */
#define IXGBE_EEMNGDATA 0x10114u

/* FLMNGCTL, rw: Flash access by the firmware. */
#define IXGBE_FLMNGCTL 0x10118u

/* FLMNGDATA, rw: Data of FLMNGCTL's access. */
#define IXGBE_FLMNGDATA 0x1011Cu

/* FLMNGCNT, rw: Bytes of FLMNGCTL's access. */
#define IXGBE_FLMNGCNT 0x10120u

/* FLOP, rw: Commands of the flash at hand. */
#define IXGBE_FLOP 0x1013Cu

/* GRC, rw: Whether the card may be woken, and is managed. */
#define IXGBE_GRC 0x10200u
/* Bit 0, ro: Manageability is on. */
#define IXGBE_GRC_MNG_EN 0x00000001u
/* Bit 1: Advanced power management wakes the system. */
#define IXGBE_GRC_APME 0x00000002u

/* SRAMREL, rw: Software has let go of the shadow memory. X540 and later. */
#define IXGBE_SRAMREL 0x10210u

/* ---- Semaphores and firmware ---- */

/* SWSM, rw: Software semaphore: drivers and firmware take turns. Datasheet 8.2.3.4.9. */
#define IXGBE_SWSM 0x10140u
/* Bit 0, rs: Taken by a driver: the first to read 0 has it. Writing 0 gives it back. */
#define IXGBE_SWSM_SMBI 0x00000001u
/* Bit 1: Software asks for SW_FW_SYNC; it has it when the bit reads back as 1. */
#define IXGBE_SWSM_SWESMBI 0x00000002u

/* FWSM, ro: Firmware semaphore and state. Datasheet 8.2.3.4.10. */
#define IXGBE_FWSM 0x10148u
/* Bit 0: Firmware has SW_FW_SYNC. */
#define IXGBE_FWSM_FWSMBI 0x00000001u
/* Bits 3:1: What firmware does. */
#define IXGBE_FWSM_FW_MODE 0x0000000Eu
#define IXGBE_FWSM_FW_MODE_NONE 0x00000000u
#define IXGBE_FWSM_FW_MODE_PASS_THROUGH 0x00000004u
/* Bit 6: Firmware has read the EEPROM again. */
#define IXGBE_FWSM_EEP_RELOAD 0x00000040u
/* Bit 15: The fields of this register are valid. */
#define IXGBE_FWSM_FW_VAL 0x00008000u
/* Bits 18:16: How often firmware has reset the device. */
#define IXGBE_FWSM_RESET_CNT 0x00070000u
/* Bits 24:19: Why firmware failed; 0 is no error. */
#define IXGBE_FWSM_EXT_ERR_IND 0x01F80000u

/* SW_FW_SYNC, rw: Who has which shared resource. Only while SWSM.SWESMBI is held. Datasheet 8.2.3.4.11. */
#define IXGBE_SW_FW_SYNC 0x10160u
#define IXGBE_GSSR 0x10160u
/* Bit 0: Software has the EEPROM. */
#define IXGBE_SW_FW_SYNC_SW_EEP 0x00000001u
/* Bit 1: Software has PHY 0, and the I2C wires. */
#define IXGBE_SW_FW_SYNC_SW_PHY0 0x00000002u
/* Bit 2: Software has PHY 1, and the I2C wires. */
#define IXGBE_SW_FW_SYNC_SW_PHY1 0x00000004u
/* Bit 3: Software has the shared registers, such as AUTOC. */
#define IXGBE_SW_FW_SYNC_SW_MAC_CSR 0x00000008u
/* Bit 4: Software has the flash. */
#define IXGBE_SW_FW_SYNC_SW_FLASH 0x00000010u
/* Bit 5: Firmware has the EEPROM. */
#define IXGBE_SW_FW_SYNC_FW_EEP 0x00000020u
/* Bit 6: Firmware has PHY 0. */
#define IXGBE_SW_FW_SYNC_FW_PHY0 0x00000040u
/* Bit 7: Firmware has PHY 1. */
#define IXGBE_SW_FW_SYNC_FW_PHY1 0x00000080u
/* Bit 8: Firmware has the shared registers. */
#define IXGBE_SW_FW_SYNC_FW_MAC_CSR 0x00000100u
/* Bit 9: Firmware has the flash. */
#define IXGBE_SW_FW_SYNC_FW_FLASH 0x00000200u
/* Bits 12:11: Software has the I2C wires of PHY 0, 1. X550. */
#define IXGBE_SW_FW_SYNC_I2C 0x00001800u
/* Bit 31, rs: Software has this register: the first to read 0. X540 and later. */
#define IXGBE_SW_FW_SYNC_REGSMP 0x80000000u

/* FACTPS, ro: Which functions are active, and their power states. */
#define IXGBE_FACTPS 0x10150u
/* Bits 1:0: Power state of function 0. */
#define IXGBE_FACTPS_FUNC0_POWER_STATE 0x00000003u
/* Bit 2: Port 0 is enabled. */
#define IXGBE_FACTPS_LAN0_VALID 0x00000004u
/* Bits 7:6: Power state of function 1. */
#define IXGBE_FACTPS_FUNC1_POWER_STATE 0x000000C0u
/* Bit 8: Port 1 is enabled. */
#define IXGBE_FACTPS_LAN1_VALID 0x00000100u
/* Bit 29: The firmware's clock is off. */
#define IXGBE_FACTPS_MNGCG 0x20000000u
/* Bit 30: The two ports are swapped. */
#define IXGBE_FACTPS_LFS 0x40000000u
/* Bit 31: A power state has changed. */
#define IXGBE_FACTPS_PM_STATE_CHANGED 0x80000000u

/* ---- PCI Express ---- */

/* GCR, rw: PCI Express control. */
#define IXGBE_GCR 0x11000u
/* Bits 15:12: Completion timeout, if the capability's version is 1. */
#define IXGBE_GCR_CMPL_TMOUT 0x0000F000u
#define IXGBE_GCR_CMPL_TMOUT_10MS 0x00001000u
/* Bit 16: Repeat a request whose completion timed out. */
#define IXGBE_GCR_CMPL_TMOUT_RESEND 0x00010000u
/* Bit 18, ro: The PCI Express capability has version 2. */
#define IXGBE_GCR_CAP_VER2 0x00040000u

/* GCR_EXT, rw: Extended PCI Express control. Datasheet 8.2.3.4.12. */
#define IXGBE_GCR_EXT 0x11050u
/* Bits 1:0: Number of virtual functions. */
#define IXGBE_GCR_EXT_VT_MODE 0x00000003u
#define IXGBE_GCR_EXT_VT_MODE_NONE 0x00000000u
#define IXGBE_GCR_EXT_VT_MODE_16 0x00000001u
#define IXGBE_GCR_EXT_VT_MODE_32 0x00000002u
#define IXGBE_GCR_EXT_VT_MODE_64 0x00000003u
/* Bit 30: Flush internal buffers: hold for 20 us before resetting a stuck device. */
#define IXGBE_GCR_EXT_BUFFERS_CLEAR 0x40000000u
/* Bit 31: Virtual functions use MSI-X. */
#define IXGBE_GCR_EXT_MSIX_EN 0x80000000u

/* MREVID, ro: Revision of the mask. */
#define IXGBE_MREVID 0x11064u

/* PICAUSE, w1c: Causes of PCI Express error interrupts. */
#define IXGBE_PICAUSE 0x110B0u

/* PIENA, rw: Which PCI Express errors raise an interrupt. */
#define IXGBE_PIENA 0x110B8u

/* CIAA, rw: Address for reading configuration space through CIAD. */
#define IXGBE_CIAA 0x11088u

/* CIAD, rw: Data of the access that CIAA names. */
#define IXGBE_CIAD 0x1108Cu

/* ---- Flow control ---- */

/* PFCTOP, rw: EtherType and opcode of pause frames. Datasheet 8.2.3.3.1. */
#define IXGBE_PFCTOP 0x03008u

/* FCTTV, rw: How long to ask the other side to pause; two traffic classes an entry. Datasheet 8.2.3.3.2. */
#define IXGBE_FCTTV(n) (0x03200u + 0x4u * (n))
#define IXGBE_FCTTV_COUNT 4u
/* Bits 15:0: Of traffic class 2n, in units of 512 bit times. */
#define IXGBE_FCTTV_TTV_EVEN 0x0000FFFFu
/* Bits 31:16: Of traffic class 2n + 1, in units of 512 bit times. */
#define IXGBE_FCTTV_TTV_ODD 0xFFFF0000u

/* FCRTL, rw: Fill of a packet buffer at which to let the other side go on. Datasheet 8.2.3.3.3. */
#define IXGBE_FCRTL(n) (0x03220u + 0x4u * (n))
#define IXGBE_FCRTL_COUNT 8u
/* Bits 18:5: Low water mark, in units of 32 bytes. */
#define IXGBE_FCRTL_RTL 0x0007FFE0u
/* Bit 31: Send such frames. */
#define IXGBE_FCRTL_XONE 0x80000000u

/* FCRTH, rw: Fill of a packet buffer at which to ask the other side to pause. Datasheet 8.2.3.3.4. */
#define IXGBE_FCRTH(n) (0x03260u + 0x4u * (n))
#define IXGBE_FCRTH_COUNT 8u
/* Bits 18:5: High water mark, in units of 32 bytes. */
#define IXGBE_FCRTH_RTH 0x0007FFE0u
/* Bit 31: Send such frames. */
#define IXGBE_FCRTH_FCEN 0x80000000u

/* FCRTV, rw: When to repeat a request to pause. Datasheet 8.2.3.3.5. */
#define IXGBE_FCRTV 0x032A0u
/* Bits 15:0: Time left of the last pause, in units of 512 bit times. */
#define IXGBE_FCRTV_FC_REFRESH_TH 0x0000FFFFu

/* TFCS, ro: Which traffic classes the other side has paused. Datasheet 8.2.3.3.6. */
#define IXGBE_TFCS 0x0CE00u
/* Bits 7:0: A bit a class: it may send. */
#define IXGBE_TFCS_TC_XON 0x000000FFu

/* FCCFG, rw: Whether to send pause frames. Datasheet 8.2.3.3.7. */
#define IXGBE_FCCFG 0x03D00u
/* Bits 4:3: Which kind to send. */
#define IXGBE_FCCFG_TFCE 0x00000018u
#define IXGBE_FCCFG_TFCE_802_3X 0x00000008u
#define IXGBE_FCCFG_TFCE_PRIORITY 0x00000010u

/* PXONRXCNT, rc: Priority XON frames received, by class. */
#define IXGBE_PXONRXCNT(n) (0x04140u + 0x4u * (n))
#define IXGBE_PXONRXCNT_COUNT 8u

/* PXOFFRXCNT, rc: Priority XOFF frames received, by class. */
#define IXGBE_PXOFFRXCNT(n) (0x04160u + 0x4u * (n))
#define IXGBE_PXOFFRXCNT_COUNT 8u

/* ---- Interrupts ---- */

/* EICR, rc_w1c: Causes of interrupts. With GPIE.OCD, a read clears only bits 29:16. Datasheet 8.2.3.5.1. */
#define IXGBE_EICR 0x00800u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EICR_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EICR_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EICR_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EICR_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EICR_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EICR_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EICR_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EICR_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EICR_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EICR_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EICR_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EICR_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EICR_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EICR_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EICR_TCP_TIMER 0x40000000u
/* Bit 31, ro: Any of bits 30:16 that is not masked. */
#define IXGBE_EICR_OTHER 0x80000000u

/* EICS, w1s: Raises causes. A read tells EICR and clears nothing. Datasheet 8.2.3.5.2. */
#define IXGBE_EICS 0x00808u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EICS_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EICS_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EICS_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EICS_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EICS_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EICS_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EICS_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EICS_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EICS_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EICS_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EICS_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EICS_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EICS_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EICS_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EICS_TCP_TIMER 0x40000000u
/* Bit 31: Any of bits 30:16 that is not masked. */
#define IXGBE_EICS_OTHER 0x80000000u

/* EIMS, w1s: Enables causes. A read tells which are enabled. Datasheet 8.2.3.5.3. */
#define IXGBE_EIMS 0x00880u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EIMS_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EIMS_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EIMS_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EIMS_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EIMS_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EIMS_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EIMS_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EIMS_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EIMS_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EIMS_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EIMS_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EIMS_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EIMS_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EIMS_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EIMS_TCP_TIMER 0x40000000u
/* Bit 31: Any of bits 30:16 that is not masked. */
#define IXGBE_EIMS_OTHER 0x80000000u

/* EIMC, w1c: Disables causes. Datasheet 8.2.3.5.4. */
#define IXGBE_EIMC 0x00888u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EIMC_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EIMC_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EIMC_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EIMC_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EIMC_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EIMC_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EIMC_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EIMC_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EIMC_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EIMC_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EIMC_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EIMC_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EIMC_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EIMC_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EIMC_TCP_TIMER 0x40000000u
/* Bit 31: Any of bits 30:16 that is not masked. */
#define IXGBE_EIMC_OTHER 0x80000000u

/* EIAC, rw: Causes that their MSI-X message clears. Datasheet 8.2.3.5.5. */
#define IXGBE_EIAC 0x00810u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EIAC_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EIAC_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EIAC_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EIAC_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EIAC_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EIAC_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EIAC_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EIAC_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EIAC_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EIAC_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EIAC_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EIAC_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EIAC_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EIAC_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EIAC_TCP_TIMER 0x40000000u
/* Bit 31: Any of bits 30:16 that is not masked. */
#define IXGBE_EIAC_OTHER 0x80000000u

/* EIAM, rw: Causes that are disabled when they raise an interrupt. Datasheet 8.2.3.5.6. */
#define IXGBE_EIAM 0x00890u
/* Bits 15:0: Queues, through IVAR. */
#define IXGBE_EIAM_RTX_QUEUE 0x0000FFFFu
/* Bit 16: Flow director is out of room. */
#define IXGBE_EIAM_FLOW_DIR 0x00010000u
/* Bit 17: A packet buffer overflowed. */
#define IXGBE_EIAM_RX_MISS 0x00020000u
/* Bit 18: PCI Express error. */
#define IXGBE_EIAM_PCI 0x00040000u
/* Bit 19: A virtual function wrote to its mailbox. */
#define IXGBE_EIAM_MAILBOX 0x00080000u
/* Bit 20: The link's status changed. */
#define IXGBE_EIAM_LSC 0x00100000u
/* Bit 21: LinkSec's packet number runs out. */
#define IXGBE_EIAM_LINKSEC 0x00200000u
/* Bit 22: Firmware has something to say. */
#define IXGBE_EIAM_MNG 0x00400000u
/* Bit 23: Too hot. Reserved on the 82599; X540 and later. */
#define IXGBE_EIAM_TS 0x00800000u
/* Bit 24: Pin SDP0. */
#define IXGBE_EIAM_GPI_SDP0 0x01000000u
/* Bit 25: Pin SDP1. */
#define IXGBE_EIAM_GPI_SDP1 0x02000000u
/* Bit 26: Pin SDP2. */
#define IXGBE_EIAM_GPI_SDP2 0x04000000u
/* Bit 27: Pin SDP3. */
#define IXGBE_EIAM_GPI_SDP3 0x08000000u
/* Bit 28: Uncorrectable memory error. */
#define IXGBE_EIAM_ECC 0x10000000u
/* Bit 30: TCPTIMER ran out. */
#define IXGBE_EIAM_TCP_TIMER 0x40000000u
/* Bit 31: Any of bits 30:16 that is not masked. */
#define IXGBE_EIAM_OTHER 0x80000000u

/* EICS_EX, w1s: EICS for queue vectors 0 to 63. Datasheet 8.2.3.5.7. */
#define IXGBE_EICS_EX(n) (0x00A90u + 0x4u * (n))
#define IXGBE_EICS_EX_COUNT 2u

/* EIMS_EX, w1s: EIMS for queue vectors 0 to 63. Datasheet 8.2.3.5.8. */
#define IXGBE_EIMS_EX(n) (0x00AA0u + 0x4u * (n))
#define IXGBE_EIMS_EX_COUNT 2u

/* EIMC_EX, w1c: EIMC for queue vectors 0 to 63. Datasheet 8.2.3.5.9. */
#define IXGBE_EIMC_EX(n) (0x00AB0u + 0x4u * (n))
#define IXGBE_EIMC_EX_COUNT 2u

/* EIAM_EX, rw: EIAM for queue vectors 0 to 63. Datasheet 8.2.3.5.10. */
#define IXGBE_EIAM_EX(n) (0x00AD0u + 0x4u * (n))
#define IXGBE_EIAM_EX_COUNT 2u

/* EITRSEL, rw: Which throttles belong to virtual functions. Datasheet 8.2.3.5.11. */
#define IXGBE_EITRSEL 0x00894u

/* EITR, rw: Interrupt throttle of a vector. Datasheet 8.2.3.5.12. */
#define IXGBE_EITR(n) ((n) < 24u ? 0x00820u + 0x4u * (n) : 0x12300u + 0x4u * ((n) - 24u))
#define IXGBE_EITR_COUNT 129u
/* Bits 11:3: Least time between interrupts, in units of 2 us at 10 Gbit/s. */
#define IXGBE_EITR_ITR_INTERVAL 0x00000FF8u
/* Bit 15: Throttle low latency interrupts too. */
#define IXGBE_EITR_LLI_MODERATION 0x00008000u
/* Bits 20:16: Low latency interrupts left. */
#define IXGBE_EITR_LLI_CREDIT 0x001F0000u
/* Bits 27:21: Time left. */
#define IXGBE_EITR_ITR_COUNTER 0x0FE00000u
/* Bit 31: This write leaves the counters alone. */
#define IXGBE_EITR_CNT_WDIS 0x80000000u

/* IVAR, rw: Which vectors the queues 2n and 2n + 1 raise. Datasheet 8.2.3.5.16. */
#define IXGBE_IVAR(n) (0x00900u + 0x4u * (n))
#define IXGBE_IVAR_COUNT 64u
/* Bits 5:0: Vector of RX queue 2n. */
#define IXGBE_IVAR_RX_EVEN 0x0000003Fu
/* Bit 7: It has one. */
#define IXGBE_IVAR_RX_EVEN_VALID 0x00000080u
/* Bits 13:8: Vector of TX queue 2n. */
#define IXGBE_IVAR_TX_EVEN 0x00003F00u
/* Bit 15: It has one. */
#define IXGBE_IVAR_TX_EVEN_VALID 0x00008000u
/* Bits 21:16: Vector of RX queue 2n + 1. */
#define IXGBE_IVAR_RX_ODD 0x003F0000u
/* Bit 23: It has one. */
#define IXGBE_IVAR_RX_ODD_VALID 0x00800000u
/* Bits 29:24: Vector of TX queue 2n + 1. */
#define IXGBE_IVAR_TX_ODD 0x3F000000u
/* Bit 31: It has one. */
#define IXGBE_IVAR_TX_ODD_VALID 0x80000000u

/* IVAR_MISC, rw: Which vectors the other causes raise. Datasheet 8.2.3.5.17. */
#define IXGBE_IVAR_MISC 0x00A00u
/* Bits 6:0: Vector of TCPTIMER. */
#define IXGBE_IVAR_MISC_TCP_TIMER 0x0000007Fu
/* Bit 7: It has one. */
#define IXGBE_IVAR_MISC_TCP_TIMER_VALID 0x00000080u
/* Bits 14:8: Vector of everything else. */
#define IXGBE_IVAR_MISC_OTHER 0x00007F00u
/* Bit 15: It has one. */
#define IXGBE_IVAR_MISC_OTHER_VALID 0x00008000u

/* GPIE, rw: How interrupts are raised. Datasheet 8.2.3.5.18. */
#define IXGBE_GPIE 0x00898u
/* Bit 0: Pin SDP0 may. */
#define IXGBE_GPIE_SDP0_GPIEN 0x00000001u
/* Bit 1: Pin SDP1 may. */
#define IXGBE_GPIE_SDP1_GPIEN 0x00000002u
/* Bit 2: Pin SDP2 may. */
#define IXGBE_GPIE_SDP2_GPIEN 0x00000004u
/* Bit 3: Pin SDP3 may. */
#define IXGBE_GPIE_SDP3_GPIEN 0x00000008u
/* Bit 4: By MSI-X, with more than one vector. */
#define IXGBE_GPIE_MSIX_MODE 0x00000010u
/* Bit 5: A read of EICR clears only what may be cleared in MSI-X mode. */
#define IXGBE_GPIE_OCD 0x00000020u
/* Bit 6: At once when EICS is written, without throttling. */
#define IXGBE_GPIE_EIMEN 0x00000040u
/* Bits 10:7: Credits for low latency interrupts come this often. */
#define IXGBE_GPIE_LLI_INTERVAL 0x00000780u
/* Bits 13:11: How much longer coalescing may hold a packet. */
#define IXGBE_GPIE_RSC_DELAY 0x00003800u
/* Bits 15:14: Number of virtual functions. */
#define IXGBE_GPIE_VT_MODE 0x0000C000u
/* Bit 30: EIAM counts in MSI-X mode. */
#define IXGBE_GPIE_EIAME 0x40000000u
/* Bit 31: Pending bits are cleared as vectors are enabled. */
#define IXGBE_GPIE_PBA_SUPPORT 0x80000000u

/* PBACL, w1c: Clears pending bits of MSI-X vectors. */
/* Also at 0x11068 (entries 0..1). */
#define IXGBE_PBACL(n) (0x110C0u + 0x4u * (n))
#define IXGBE_PBACL_COUNT 8u

/* ---- Receive: filters ---- */

/* FCTRL, rw: Which packets are let in. Change it only while RXCTRL.RXEN is 0. Datasheet 8.2.3.7.1. */
#define IXGBE_FCTRL 0x05080u
/* Bit 1: Packets with errors too. */
#define IXGBE_FCTRL_SBP 0x00000002u
/* Bit 8: All multicast packets. */
#define IXGBE_FCTRL_MPE 0x00000100u
/* Bit 9: All unicast packets. */
#define IXGBE_FCTRL_UPE 0x00000200u
/* Bit 10: Broadcast packets. */
#define IXGBE_FCTRL_BAM 0x00000400u
/* Bit 12: MAC control frames too. */
#define IXGBE_FCTRL_PMCF 0x00001000u
/* Bit 13: No pause frames, even so. */
#define IXGBE_FCTRL_DPF 0x00002000u

/* VLNCTRL, rw: VLAN filter control. Datasheet 8.2.3.7.2. */
#define IXGBE_VLNCTRL 0x05088u
/* Bits 15:0: EtherType of VLAN tags. */
#define IXGBE_VLNCTRL_VET 0x0000FFFFu
/* Bit 28: Value of CFI that is let in. */
#define IXGBE_VLNCTRL_CFI 0x10000000u
/* Bit 29: CFI is looked at. */
#define IXGBE_VLNCTRL_CFIEN 0x20000000u
/* Bit 30: VFTA is looked at. */
#define IXGBE_VLNCTRL_VFE 0x40000000u
/* Bit 31: Tags are taken out; 82598 only, on the 82599 see RXDCTL.VME. */
#define IXGBE_VLNCTRL_VME 0x80000000u

/* MCSTCTRL, rw: Multicast filter control. Datasheet 8.2.3.7.3. */
#define IXGBE_MCSTCTRL 0x05090u
/* Bits 1:0: Which bits of the address index MTA. */
#define IXGBE_MCSTCTRL_MO 0x00000003u
#define IXGBE_MCSTCTRL_MO_47_36 0x00000000u
#define IXGBE_MCSTCTRL_MO_46_35 0x00000001u
#define IXGBE_MCSTCTRL_MO_45_34 0x00000002u
#define IXGBE_MCSTCTRL_MO_43_32 0x00000003u
/* Bit 2: MTA is looked at. */
#define IXGBE_MCSTCTRL_MFE 0x00000004u

/* PSRTYPE, rw: Where packets of a pool are split, and RSS queues of it. Datasheet 8.2.3.7.4. */
/* Also at 0x05480 + 0x4 * n (entries 0..16). */
#define IXGBE_PSRTYPE(n) (0x0EA00u + 0x4u * (n))
#define IXGBE_PSRTYPE_COUNT 64u
/* Bit 4: After the TCP header. */
#define IXGBE_PSRTYPE_TCPHDR 0x00000010u
/* Bit 5: After the UDP header. */
#define IXGBE_PSRTYPE_UDPHDR 0x00000020u
/* Bit 8: After the IPv4 header. */
#define IXGBE_PSRTYPE_IPV4HDR 0x00000100u
/* Bit 9: After the IPv6 header. */
#define IXGBE_PSRTYPE_IPV6HDR 0x00000200u
/* Bit 12: After the Ethernet header. */
#define IXGBE_PSRTYPE_L2HDR 0x00001000u
/* Bits 31:29: RSS queues of the pool: 2 to the power of this. */
#define IXGBE_PSRTYPE_RQPL 0xE0000000u

/* RXCSUM, rw: Receive checksums. Datasheet 8.2.3.7.5. */
#define IXGBE_RXCSUM 0x05000u
/* Bit 12: Calculate the checksum of UDP fragments. */
#define IXGBE_RXCSUM_IPPCSE 0x00001000u
/* Bit 13: Report the RSS hash instead of the fragment checksum. */
#define IXGBE_RXCSUM_PCSD 0x00002000u

/* RFCTL, rw: Receive filter control. Datasheet 8.2.3.7.6. */
#define IXGBE_RFCTL 0x05008u
/* Bit 0: No iSCSI. */
#define IXGBE_RFCTL_ISCSI_DIS 0x00000001u
/* Bit 5: No receive coalescing. */
#define IXGBE_RFCTL_RSC_DIS 0x00000020u
/* Bit 6: No NFS writes. */
#define IXGBE_RFCTL_NFSW_DIS 0x00000040u
/* Bit 7: No NFS reads. */
#define IXGBE_RFCTL_NFSR_DIS 0x00000080u
/* Bits 9:8: Version of NFS. */
#define IXGBE_RFCTL_NFS_VER 0x00000300u
/* Bit 10: No IPv6. */
#define IXGBE_RFCTL_IPV6_DIS 0x00000400u
/* Bit 14: No splitting of IP fragments. */
#define IXGBE_RFCTL_IPFRSP_DIS 0x00004000u

/* MTA, rw: Multicast addresses let in, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.7.7. */
#define IXGBE_MTA(n) (0x05200u + 0x4u * (n))
#define IXGBE_MTA_COUNT 128u

/* RAL, rw: A MAC address, first four bytes; the first is lowest. Datasheet 8.2.3.7.8. */
/* Also at 0x05400 + 0x8 * n (entries 0..16). */
#define IXGBE_RAL(n) (0x0A200u + 0x8u * (n))
#define IXGBE_RAL_COUNT 128u

/* RAH, rw: A MAC address, last two bytes. Datasheet 8.2.3.7.9. */
/* Also at 0x05404 + 0x8 * n (entries 0..16). */
#define IXGBE_RAH(n) (0x0A204u + 0x8u * (n))
#define IXGBE_RAH_COUNT 128u
/* Bits 15:0: The bytes. */
#define IXGBE_RAH_ADDRESS 0x0000FFFFu
/* Bit 31: The address is valid: its packets are let in. */
#define IXGBE_RAH_AV 0x80000000u

/* MPSAR, rw: Pools of a MAC address; 2n and 2n + 1 are those of RAL(n). Datasheet 8.2.3.7.10. */
#define IXGBE_MPSAR(n) (0x0A600u + 0x4u * (n))
#define IXGBE_MPSAR_COUNT 256u

/* VFTA, rw: VLANs let in: 4096 bits. Datasheet 8.2.3.7.11. */
#define IXGBE_VFTA(n) (0x0A000u + 0x4u * (n))
#define IXGBE_VFTA_COUNT 128u

/* PFUTA, rw: Unicast addresses let in, by 12 bits of the address: 4096 bits. Datasheet 8.2.3.27.17. */
#define IXGBE_PFUTA(n) (0x0F400u + 0x4u * (n))
#define IXGBE_PFUTA_COUNT 128u

/* ---- Receive: queues and buffers ---- */

/* RDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.8.1. */
#define IXGBE_RDBAL(n) ((n) < 64u ? 0x01000u + 0x40u * (n) : 0x0D000u + 0x40u * ((n) - 64u))
#define IXGBE_RDBAL_COUNT 128u

/* RDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.8.2. */
#define IXGBE_RDBAH(n) ((n) < 64u ? 0x01004u + 0x40u * (n) : 0x0D004u + 0x40u * ((n) - 64u))
#define IXGBE_RDBAH_COUNT 128u

/* RDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.8.3. */
#define IXGBE_RDLEN(n) ((n) < 64u ? 0x01008u + 0x40u * (n) : 0x0D008u + 0x40u * ((n) - 64u))
#define IXGBE_RDLEN_COUNT 128u

/* RDH, rw: Head: the descriptor that hardware fills next. Write 0 before enabling only. Datasheet 8.2.3.8.4. */
#define IXGBE_RDH(n) ((n) < 64u ? 0x01010u + 0x40u * (n) : 0x0D010u + 0x40u * ((n) - 64u))
#define IXGBE_RDH_COUNT 128u
/* Bits 15:0: Index in the ring. */
#define IXGBE_RDH_RDH 0x0000FFFFu

/* RDT, rw: Tail: the first descriptor that hardware may not have. Datasheet 8.2.3.8.5. */
#define IXGBE_RDT(n) ((n) < 64u ? 0x01018u + 0x40u * (n) : 0x0D018u + 0x40u * ((n) - 64u))
#define IXGBE_RDT_COUNT 128u
/* Bits 15:0: Index in the ring. */
#define IXGBE_RDT_RDT 0x0000FFFFu

/* RXDCTL, rw: Receive queue control. Datasheet 8.2.3.8.6. */
#define IXGBE_RXDCTL(n) ((n) < 64u ? 0x01028u + 0x40u * (n) : 0x0D028u + 0x40u * ((n) - 64u))
#define IXGBE_RXDCTL_COUNT 128u
/* Bits 13:0: Longest packet of the queue. X540 and later. */
#define IXGBE_RXDCTL_RLPML 0x00003FFFu
/* Bit 15: RLPML counts. X540 and later. */
#define IXGBE_RXDCTL_RLPML_EN 0x00008000u
/* Bit 25: The queue runs. Reads 1 once it does, and 0 once all is done: poll it. */
#define IXGBE_RXDCTL_ENABLE 0x02000000u
/* Bit 30: Take VLAN tags out. */
#define IXGBE_RXDCTL_VME 0x40000000u

/* SRRCTL, rw: Buffers of a receive queue. Datasheet 8.2.3.8.7. */
/* Also at 0x02100 + 0x4 * n (entries 0..16). */
#define IXGBE_SRRCTL(n) ((n) < 64u ? 0x01014u + 0x40u * (n) : 0x0D014u + 0x40u * ((n) - 64u))
#define IXGBE_SRRCTL_COUNT 128u
/* Bits 4:0: Size of a packet buffer, in KiB. */
#define IXGBE_SRRCTL_BSIZEPACKET 0x0000001Fu
/* Bits 13:8: Size of a header buffer, in units of 64 bytes. */
#define IXGBE_SRRCTL_BSIZEHEADER 0x00003F00u
/* Bits 24:22: Descriptors left at which to raise an interrupt, in units of 64. */
#define IXGBE_SRRCTL_RDMTS 0x01C00000u
/* Bits 27:25: Format of the descriptors. */
#define IXGBE_SRRCTL_DESCTYPE 0x0E000000u
#define IXGBE_SRRCTL_DESCTYPE_LEGACY 0x00000000u
#define IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER 0x02000000u
#define IXGBE_SRRCTL_DESCTYPE_HEADER_SPLIT 0x04000000u
#define IXGBE_SRRCTL_DESCTYPE_HEADER_SPLIT_ALWAYS 0x0A000000u
/* Bit 28: Without descriptors, drop the packet; else it waits and blocks all queues. */
#define IXGBE_SRRCTL_DROP_EN 0x10000000u

/* DCA_RXCTRL, rw: How a receive queue accesses memory. Datasheet 8.2.3.11.1. */
/* Also at 0x02200 + 0x4 * n (entries 0..16). */
#define IXGBE_DCA_RXCTRL(n) ((n) < 64u ? 0x0100Cu + 0x40u * (n) : 0x0D00Cu + 0x40u * ((n) - 64u))
#define IXGBE_DCA_RXCTRL_COUNT 128u
/* Bit 5: Hint the descriptors into a cache. */
#define IXGBE_DCA_RXCTRL_DESC_DCA_EN 0x00000020u
/* Bit 6: Hint the headers into a cache. */
#define IXGBE_DCA_RXCTRL_HEAD_DCA_EN 0x00000040u
/* Bit 7: Hint the packets into a cache. */
#define IXGBE_DCA_RXCTRL_DATA_DCA_EN 0x00000080u
/* Bit 9: Read descriptors with relaxed ordering. */
#define IXGBE_DCA_RXCTRL_DESC_RRO_EN 0x00000200u
/* Bit 11, ro: Write descriptors with relaxed ordering: never. */
#define IXGBE_DCA_RXCTRL_DESC_WRO_EN 0x00000800u
/* Bit 12: Reads 1 after reset, and has to be cleared. */
#define IXGBE_DCA_RXCTRL_RESERVED_12 0x00001000u
/* Bit 13: Write packets with relaxed ordering. */
#define IXGBE_DCA_RXCTRL_DATA_WRO_EN 0x00002000u
/* Bit 15: Write headers with relaxed ordering. */
#define IXGBE_DCA_RXCTRL_HEAD_WRO_EN 0x00008000u
/* Bits 31:24: Whose cache. */
#define IXGBE_DCA_RXCTRL_CPUID 0xFF000000u

/* RSCCTL, rw: Receive coalescing of a queue. Datasheet 8.2.3.8.13. */
#define IXGBE_RSCCTL(n) ((n) < 64u ? 0x0102Cu + 0x40u * (n) : 0x0D02Cu + 0x40u * ((n) - 64u))
#define IXGBE_RSCCTL_COUNT 128u
/* Bit 0: Coalesce. */
#define IXGBE_RSCCTL_RSCEN 0x00000001u
/* Bits 3:2: Descriptors that one coalesced packet may take. */
#define IXGBE_RSCCTL_MAXDESC 0x0000000Cu
#define IXGBE_RSCCTL_MAXDESC_1 0x00000000u
#define IXGBE_RSCCTL_MAXDESC_4 0x00000004u
#define IXGBE_RSCCTL_MAXDESC_8 0x00000008u
#define IXGBE_RSCCTL_MAXDESC_16 0x0000000Cu

/* RDRXCTL, rw: Receive DMA control. Datasheet 8.2.3.8.8. */
#define IXGBE_RDRXCTL 0x02F00u
/* Bit 1: Take the CRC off. Has to agree with HLREG0.RXCRCSTRP. */
#define IXGBE_RDRXCTL_CRCSTRIP 0x00000002u
/* Bit 3, ro: Receive DMA is ready after a reset. */
#define IXGBE_RDRXCTL_DMAIDONE 0x00000008u
/* Bit 16: No coalescing at all. */
#define IXGBE_RDRXCTL_AGGDIS 0x00010000u
/* Bits 21:17: 8 after reset; has to be set to 0. */
#define IXGBE_RDRXCTL_RSCFRSTSIZE 0x003E0000u
/* Bit 23: A low latency interrupt does not end coalescing. */
#define IXGBE_RDRXCTL_RSCLLIDIS 0x00800000u
/* Bit 25: 0 after reset; has to be set to 1. */
#define IXGBE_RDRXCTL_RSCACKC 0x02000000u
/* Bit 26: 0 after reset; has to be set to 1. */
#define IXGBE_RDRXCTL_FCOE_WRFIX 0x04000000u

/* RXPBSIZE, rw: Size of a receive packet buffer. Together 512 KiB: others than 0 need clearing. Datasheet 8.2.3.8.9. */
#define IXGBE_RXPBSIZE(n) (0x03C00u + 0x4u * (n))
#define IXGBE_RXPBSIZE_COUNT 8u
/* Bits 19:10: In KiB. */
#define IXGBE_RXPBSIZE_SIZE 0x000FFC00u
#define IXGBE_RXPBSIZE_SIZE_128KB 0x00020000u
#define IXGBE_RXPBSIZE_SIZE_512KB 0x00080000u

/* RXCTRL, rw: Receive control. Datasheet 8.2.3.8.10. */
#define IXGBE_RXCTRL 0x03000u
/* Bit 0: Receive. */
#define IXGBE_RXCTRL_RXEN 0x00000001u

/* RSCDBU, rw: Receive coalescing. Datasheet 8.2.3.8.12. */
#define IXGBE_RSCDBU 0x03028u
/* Bits 6:0: Do not coalesce packets with less payload than this, in units of 16 bytes. */
#define IXGBE_RSCDBU_RSCSMALDIS 0x0000007Fu
/* Bit 7: Do not coalesce pure acknowledgements. */
#define IXGBE_RSCDBU_RSCACKDIS 0x00000080u

/* ---- Receive side scaling ---- */

/* MRQC, rw: Multiple receive queues. Datasheet 8.2.3.7.12. */
/* Also at 0x05818. */
#define IXGBE_MRQC 0x0EC80u
/* Bits 3:0: How a queue is chosen. */
#define IXGBE_MRQC_MRQE 0x0000000Fu
#define IXGBE_MRQC_MRQE_OFF 0x00000000u
#define IXGBE_MRQC_MRQE_RSS 0x00000001u
#define IXGBE_MRQC_MRQE_DCB_8 0x00000002u
#define IXGBE_MRQC_MRQE_DCB_4 0x00000003u
#define IXGBE_MRQC_MRQE_RSS_DCB_8 0x00000004u
#define IXGBE_MRQC_MRQE_RSS_DCB_4 0x00000005u
#define IXGBE_MRQC_MRQE_VMDQ 0x00000008u
#define IXGBE_MRQC_MRQE_VMDQ_RSS_32 0x0000000Au
#define IXGBE_MRQC_MRQE_VMDQ_RSS_64 0x0000000Bu
#define IXGBE_MRQC_MRQE_VMDQ_DCB_16 0x0000000Cu
#define IXGBE_MRQC_MRQE_VMDQ_DCB_32 0x0000000Du
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

/* RQTC, rw: RSS queues of each traffic class. Datasheet 8.2.3.7.13. */
#define IXGBE_RQTC 0x0EC70u

/* RSSRK, rw: The RSS hash's key, 40 bytes; the first is lowest. Datasheet 8.2.3.7.14. */
/* Also at 0x05c80 + 0x4 * n (entries 0..10). */
#define IXGBE_RSSRK(n) (0x0EB80u + 0x4u * (n))
#define IXGBE_RSSRK_COUNT 10u

/* RETA, rw: RSS: queue by the hash's low 7 bits, 4 entries a register. Datasheet 8.2.3.7.15. */
/* Also at 0x05c00 + 0x4 * n (entries 0..32). */
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

/* ---- Transmit ---- */

/* DTXMXSZRQ, rw: Reads of packet data under way. Datasheet 8.2.3.9.1. */
#define IXGBE_DTXMXSZRQ 0x08100u
/* Bits 11:0: Their sum at most, in 256 bytes; 0xFFF unless there are traffic classes. */
#define IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ 0x00000FFFu

/* DMATXCTL, rw: Transmit DMA control. Datasheet 8.2.3.9.2. */
#define IXGBE_DMATXCTL 0x04A80u
/* Bit 0: Transmit. Set once, before the first queue is enabled. */
#define IXGBE_DMATXCTL_TE 0x00000001u
/* Bit 1: Header buffers need no snooping. */
#define IXGBE_DMATXCTL_NS 0x00000002u
/* Bit 3: Double VLAN mode. */
#define IXGBE_DMATXCTL_GDV 0x00000008u
/* Bits 31:16: EtherType of VLAN tags. */
#define IXGBE_DMATXCTL_VT 0xFFFF0000u

/* DTXTCPFLGL, rw: TCP flags of the first and middle segments. Datasheet 8.2.3.9.3. */
#define IXGBE_DTXTCPFLGL 0x04A88u
/* Bits 11:0: Flags that the first segment keeps. */
#define IXGBE_DTXTCPFLGL_FIRST 0x00000FFFu
/* Bits 27:16: Flags that the segments between keep. */
#define IXGBE_DTXTCPFLGL_MIDDLE 0x0FFF0000u

/* DTXTCPFLGH, rw: TCP flags of the last segment. Datasheet 8.2.3.9.4. */
#define IXGBE_DTXTCPFLGH 0x04A8Cu
/* Bits 11:0: Flags that the last segment keeps. */
#define IXGBE_DTXTCPFLGH_LAST 0x00000FFFu

/* TDBAL, rw: IOVA of the ring, low half: a multiple of 128. Datasheet 8.2.3.9.5. */
#define IXGBE_TDBAL(n) (0x06000u + 0x40u * (n))
#define IXGBE_TDBAL_COUNT 128u

/* TDBAH, rw: IOVA of the ring, high half. Datasheet 8.2.3.9.6. */
#define IXGBE_TDBAH(n) (0x06004u + 0x40u * (n))
#define IXGBE_TDBAH_COUNT 128u

/* TDLEN, rw: Bytes of the ring: a multiple of 128. Datasheet 8.2.3.9.7. */
#define IXGBE_TDLEN(n) (0x06008u + 0x40u * (n))
#define IXGBE_TDLEN_COUNT 128u

/* DCA_TXCTRL, rw: How a transmit queue accesses memory. Datasheet 8.2.3.11.2. */
#define IXGBE_DCA_TXCTRL(n) (0x0600Cu + 0x40u * (n))
#define IXGBE_DCA_TXCTRL_COUNT 128u
/* Bit 5: Hint the descriptors into a cache. */
#define IXGBE_DCA_TXCTRL_DESC_DCA_EN 0x00000020u
/* Bit 9: Read descriptors with relaxed ordering. */
#define IXGBE_DCA_TXCTRL_DESC_RRO_EN 0x00000200u
/* Bit 11: Write descriptors, or the head, with relaxed ordering. */
#define IXGBE_DCA_TXCTRL_DESC_WRO_EN 0x00000800u
/* Bit 13: Read packets with relaxed ordering. */
#define IXGBE_DCA_TXCTRL_DATA_RRO_EN 0x00002000u
/* Bits 31:24: Whose cache. */
#define IXGBE_DCA_TXCTRL_CPUID 0xFF000000u

/* TDH, rw: Head: the descriptor that hardware reads next. Write 0 before enabling only. Datasheet 8.2.3.9.8. */
#define IXGBE_TDH(n) (0x06010u + 0x40u * (n))
#define IXGBE_TDH_COUNT 128u
/* Bits 15:0: Index in the ring. */
#define IXGBE_TDH_TDH 0x0000FFFFu

/* TDT, rw: Tail: the first descriptor that hardware may not have. Datasheet 8.2.3.9.9. */
#define IXGBE_TDT(n) (0x06018u + 0x40u * (n))
#define IXGBE_TDT_COUNT 128u
/* Bits 15:0: Index in the ring. */
#define IXGBE_TDT_TDT 0x0000FFFFu

/* TXDCTL, rw: Transmit queue control. Datasheet 8.2.3.9.10. */
#define IXGBE_TXDCTL(n) (0x06028u + 0x40u * (n))
#define IXGBE_TXDCTL_COUNT 128u
/* Bits 6:0: Fetch more descriptors when fewer than this are on the chip. */
#define IXGBE_TXDCTL_PTHRESH 0x0000007Fu
/* Bits 14:8: But only if this many are there to fetch. */
#define IXGBE_TXDCTL_HTHRESH 0x00007F00u
/* Bits 22:16: Write descriptors back in groups of this many; 0 heeds RS one by one. */
#define IXGBE_TXDCTL_WTHRESH 0x007F0000u
/* Bit 25: The queue runs. Reads 1 once it does, and 0 once all is done: poll it. */
#define IXGBE_TXDCTL_ENABLE 0x02000000u
/* Bit 26, sc: Write back what is done, at once. */
#define IXGBE_TXDCTL_SWFLSH 0x04000000u

/* TDWBAL, rw: IOVA that the head is written to instead of descriptors, low half. Datasheet 8.2.3.9.11. */
#define IXGBE_TDWBAL(n) (0x06038u + 0x40u * (n))
#define IXGBE_TDWBAL_COUNT 128u
/* Bit 0: Do so. */
#define IXGBE_TDWBAL_HEAD_WB_EN 0x00000001u
/* Bits 31:2: The address. */
#define IXGBE_TDWBAL_HEADWB_LOW 0xFFFFFFFCu

/* TDWBAH, rw: IOVA that the head is written to, high half. Datasheet 8.2.3.9.12. */
#define IXGBE_TDWBAH(n) (0x0603Cu + 0x40u * (n))
#define IXGBE_TDWBAH_COUNT 128u

/* TXPBSIZE, rw: Size of a transmit packet buffer. Together 160 KiB: others than 0 need clearing. Datasheet 8.2.3.9.13. */
#define IXGBE_TXPBSIZE(n) (0x0CC00u + 0x4u * (n))
#define IXGBE_TXPBSIZE_COUNT 8u
/* Bits 19:10: In KiB. */
#define IXGBE_TXPBSIZE_SIZE 0x000FFC00u
#define IXGBE_TXPBSIZE_SIZE_40KB 0x0000A000u
#define IXGBE_TXPBSIZE_SIZE_160KB 0x00028000u

/* MNGTXMAP, rw: Traffic class of the firmware's packets. Datasheet 8.2.3.9.14. */
#define IXGBE_MNGTXMAP 0x0CD10u

/* MTQC, rw: Multiple transmit queues. Change it only while RTTDCS.ARBDIS is 1. Datasheet 8.2.3.9.15. */
#define IXGBE_MTQC 0x08120u
/* Bit 0: Traffic classes. */
#define IXGBE_MTQC_RT_ENA 0x00000001u
/* Bit 1: Virtual functions. */
#define IXGBE_MTQC_VT_ENA 0x00000002u
/* Bits 3:2: How queues are shared out. */
#define IXGBE_MTQC_NUM_TC_OR_Q 0x0000000Cu
#define IXGBE_MTQC_NUM_TC_OR_Q_64Q_1PB 0x00000000u
#define IXGBE_MTQC_NUM_TC_OR_Q_64VF 0x00000004u
#define IXGBE_MTQC_NUM_TC_OR_Q_32VF 0x00000008u
#define IXGBE_MTQC_NUM_TC_OR_Q_16VF 0x0000000Cu

/* TXPBTHRESH, rw: Free space that a packet buffer needs before data is fetched. Datasheet 8.2.3.9.16. */
#define IXGBE_TXPBTHRESH(n) (0x04950u + 0x4u * (n))
#define IXGBE_TXPBTHRESH_COUNT 8u
/* Bits 9:0: In KiB: its size less the longest packet. */
#define IXGBE_TXPBTHRESH_THRESH 0x000003FFu

/* ---- Traffic classes ---- */

/* RTRPCS, rw: Receive packet plane. Datasheet 8.2.3.10.1. */
#define IXGBE_RTRPCS 0x02430u
/* Bit 1: Recycle credits. */
#define IXGBE_RTRPCS_RRM 0x00000002u
/* Bit 2: Deficit fixed priority; else round robin. */
#define IXGBE_RTRPCS_RAC 0x00000004u

/* RTTDCS, rw: Transmit descriptor plane. Datasheet 8.2.3.10.2. */
#define IXGBE_RTTDCS 0x04900u
/* Bit 0: Arbitrate between traffic classes. */
#define IXGBE_RTTDCS_TDPAC 0x00000001u
/* Bit 1: Arbitrate between virtual functions. */
#define IXGBE_RTTDCS_VMPAC 0x00000002u
/* Bit 4: Recycle credits. */
#define IXGBE_RTTDCS_TDRM 0x00000010u
/* Bit 6: No arbitration: set around changes of DTXMXSZRQ, TXPBSIZE, MTQC. */
#define IXGBE_RTTDCS_ARBDIS 0x00000040u

/* RTTPCS, rw: Transmit packet plane. Datasheet 8.2.3.10.3. */
#define IXGBE_RTTPCS 0x0CD00u
/* Bit 5: Arbitrate between traffic classes. */
#define IXGBE_RTTPCS_TPPAC 0x00000020u
/* Bit 8: Recycle credits. */
#define IXGBE_RTTPCS_TPRM 0x00000100u
/* Bits 31:22: Delay of arbitration. */
#define IXGBE_RTTPCS_ARBD 0xFFC00000u

/* RTRUP2TC, rw: Traffic class of each received priority, 3 bits each. Datasheet 8.2.3.10.4. */
#define IXGBE_RTRUP2TC 0x03020u

/* RTTUP2TC, rw: Traffic class of each sent priority, 3 bits each. Datasheet 8.2.3.10.5. */
#define IXGBE_RTTUP2TC 0x0C800u

/* RTRPT4C, rw: Credits of a received traffic class. Datasheet 8.2.3.10.6. */
#define IXGBE_RTRPT4C(n) (0x02140u + 0x4u * (n))
#define IXGBE_RTRPT4C_COUNT 8u

/* RTTDT2C, rw: Credits of a traffic class in the transmit descriptor plane. Datasheet 8.2.3.10.9. */
#define IXGBE_RTTDT2C(n) (0x04910u + 0x4u * (n))
#define IXGBE_RTTDT2C_COUNT 8u

/* RTTPT2C, rw: Credits of a traffic class in the transmit packet plane. Datasheet 8.2.3.10.10. */
#define IXGBE_RTTPT2C(n) (0x0CD20u + 0x4u * (n))
#define IXGBE_RTTPT2C_COUNT 8u

/* RTTDQSEL, rw: Queue that RTTDT1C and the rate registers speak of. Datasheet 8.2.3.10.13. */
#define IXGBE_RTTDQSEL 0x04904u
/* Bits 6:0: The queue. */
#define IXGBE_RTTDQSEL_TXDQ_IDX 0x0000007Fu

/* RTTDT1C, rw: Credits of the queue that RTTDQSEL names. Datasheet 8.2.3.10.14. */
#define IXGBE_RTTDT1C 0x04908u
/* Bits 13:0: Credits. */
#define IXGBE_RTTDT1C_CRQ 0x00003FFFu

/* RTTBCNRC, rw: Rate limit of the queue that RTTDQSEL names. Datasheet 8.2.3.10.16. */
#define IXGBE_RTTBCNRC 0x04984u
/* Bits 13:0: Link rate divided by limit, fraction. */
#define IXGBE_RTTBCNRC_RF_DEC 0x00003FFFu
/* Bits 23:14: Link rate divided by limit, whole part. */
#define IXGBE_RTTBCNRC_RF_INT 0x00FFC000u
/* Bit 31: Limit it. */
#define IXGBE_RTTBCNRC_RS_ENA 0x80000000u

/* RTTBCNRM, rw: Memory of the rate limits. */
#define IXGBE_RTTBCNRM 0x04980u

/* ---- DCA ---- */

/* DCA_ID, ro: Identity for direct cache access. Datasheet 8.2.3.11.3. */
#define IXGBE_DCA_ID 0x11070u

/* DCA_CTRL, rw: Direct cache access. Datasheet 8.2.3.11.4. */
#define IXGBE_DCA_CTRL 0x11074u
/* Bit 0: None. */
#define IXGBE_DCA_CTRL_DCA_DIS 0x00000001u
/* Bits 4:1: Which protocol. */
#define IXGBE_DCA_CTRL_DCA_MODE 0x0000001Eu

/* ---- Security ---- */

/* SECTXCTRL, rw: Transmit security engine. Datasheet 8.2.3.12.1. */
#define IXGBE_SECTXCTRL 0x08800u
/* Bit 0: The engine is off. */
#define IXGBE_SECTXCTRL_SECTX_DIS 0x00000001u
/* Bit 1: Hold packets back; SECTXSTAT.SECTX_RDY tells when the path is empty. */
#define IXGBE_SECTXCTRL_TX_DIS 0x00000002u
/* Bit 2: Store a packet before sending it. */
#define IXGBE_SECTXCTRL_STORE_FORWARD 0x00000004u

/* SECTXSTAT, ro: Transmit security engine's state. Datasheet 8.2.3.12.2. */
#define IXGBE_SECTXSTAT 0x08804u
/* Bit 0: The path is empty. */
#define IXGBE_SECTXSTAT_SECTX_RDY 0x00000001u
/* Bit 1: The engine is fused off. */
#define IXGBE_SECTXSTAT_SECTX_OFF_DIS 0x00000002u

/* SECTXBUFFAF, rw: Fill at which the transmit security buffer is almost full. Datasheet 8.2.3.12.3. */
#define IXGBE_SECTXBUFFAF 0x08808u

/* SECTXMINIFG, rw: Least gap between frames. Datasheet 8.2.3.12.4. */
#define IXGBE_SECTXMINIFG 0x08810u
/* Bits 3:0: The gap. */
#define IXGBE_SECTXMINIFG_MINSECIFG 0x0000000Fu
/* Bits 12:8: Fill at which traffic classes hold back; 0x1F with them. */
#define IXGBE_SECTXMINIFG_SECTXDCB 0x00001F00u

/* SECRXCTRL, rw: Receive security engine. Datasheet 8.2.3.12.5. */
#define IXGBE_SECRXCTRL 0x08D00u
/* Bit 0: The engine is off. */
#define IXGBE_SECRXCTRL_SECRX_DIS 0x00000001u
/* Bit 1: Hold packets back; SECRXSTAT.SECRX_RDY tells when the path is empty. */
#define IXGBE_SECRXCTRL_RX_DIS 0x00000002u

/* SECRXSTAT, ro: Receive security engine's state. Datasheet 8.2.3.12.6. */
#define IXGBE_SECRXSTAT 0x08D04u
/* Bit 0: The path is empty. */
#define IXGBE_SECRXSTAT_SECRX_RDY 0x00000001u
/* Bit 1: The engine is fused off. */
#define IXGBE_SECRXSTAT_SECRX_OFF_DIS 0x00000002u

/* ---- MAC and link ---- */

/* PCS1GCFIG, rw: 1 Gbit/s coding: configuration. Datasheet 8.2.3.22.1. */
#define IXGBE_PCS1GCFIG 0x04200u

/* PCS1GLCTL, rw: 1 Gbit/s coding: link control. Datasheet 8.2.3.22.2. */
#define IXGBE_PCS1GLCTL 0x04208u
/* Bit 5: Force the link to the values given. */
#define IXGBE_PCS1GLCTL_FORCE_LINK 0x00000020u
/* Bit 18: Autonegotiation gives up after a while. */
#define IXGBE_PCS1GLCTL_AN_TIMEOUT_EN 0x00040000u
/* Bit 17, sc: Negotiate again. */
#define IXGBE_PCS1GLCTL_AN_RESTART 0x00020000u
/* Bit 16: Negotiate. */
#define IXGBE_PCS1GLCTL_AN_ENABLE 0x00010000u

/* PCS1GLSTA, ro: 1 Gbit/s coding: link status. Datasheet 8.2.3.22.3. */
#define IXGBE_PCS1GLSTA 0x0420Cu
/* Bit 0: The link is up. */
#define IXGBE_PCS1GLSTA_LINK_OK 0x00000001u
/* Bit 4: Synchronised. */
#define IXGBE_PCS1GLSTA_SYNC_OK 0x00000010u
/* Bit 16: Negotiated. */
#define IXGBE_PCS1GLSTA_AN_COMPLETE 0x00010000u
/* Bit 18: Negotiation gave up. */
#define IXGBE_PCS1GLSTA_AN_TIMED_OUT 0x00040000u

/* PCS1GANA, rw: 1 Gbit/s coding: what to advertise. Datasheet 8.2.3.22.4. */
#define IXGBE_PCS1GANA 0x04218u
/* Bit 7: Pause frames both ways. */
#define IXGBE_PCS1GANA_SYM_PAUSE 0x00000080u
/* Bit 8: Pause frames one way. */
#define IXGBE_PCS1GANA_ASM_PAUSE 0x00000100u

/* PCS1GANLP, ro: 1 Gbit/s coding: what the other side advertises. Datasheet 8.2.3.22.5. */
#define IXGBE_PCS1GANLP 0x0421Cu
/* Bit 7: Pause frames both ways. */
#define IXGBE_PCS1GANLP_SYM_PAUSE 0x00000080u
/* Bit 8: Pause frames one way. */
#define IXGBE_PCS1GANLP_ASM_PAUSE 0x00000100u

/* PCS1GANNP, rw: 1 Gbit/s coding: next page to send. Datasheet 8.2.3.22.6. */
#define IXGBE_PCS1GANNP 0x04220u

/* PCS1GANLPNP, ro: 1 Gbit/s coding: next page of the other side. Datasheet 8.2.3.22.7. */
#define IXGBE_PCS1GANLPNP 0x04224u

/* HLREG0, rw: MAC core control 0. Datasheet 8.2.3.22.8. */
#define IXGBE_HLREG0 0x04240u
/* Bit 0: Append a CRC to what is sent. */
#define IXGBE_HLREG0_TXCRCEN 0x00000001u
/* Bit 1: Take the CRC off. Has to agree with RDRXCTL.CRCSTRIP. */
#define IXGBE_HLREG0_RXCRCSTRP 0x00000002u
/* Bit 2: Jumbo frames, up to MAXFRS. */
#define IXGBE_HLREG0_JUMBOEN 0x00000004u
/* Bit 10: Pad what is sent to 64 bytes. */
#define IXGBE_HLREG0_TXPADEN 0x00000400u
/* Bit 15: Loop what is sent back to the receiver. */
#define IXGBE_HLREG0_LPBK 0x00008000u
/* Bit 16: The faster clock to the PHY. */
#define IXGBE_HLREG0_MDCSPD 0x00010000u
/* Bit 17: Clock to the PHY without pause. */
#define IXGBE_HLREG0_CONTMDC 0x00020000u
/* Bits 23:20: Dwords skipped at the start of each packet. */
#define IXGBE_HLREG0_PREPEND 0x00F00000u
/* Bit 27: Report wrong length fields. */
#define IXGBE_HLREG0_RXLNGTHERREN 0x08000000u
/* Bit 28: Take padding off; for debugging. */
#define IXGBE_HLREG0_RXPADSTRIPEN 0x10000000u

/* HLREG1, ro: MAC core status 1. Datasheet 8.2.3.22.9. */
#define IXGBE_HLREG1 0x04244u

/* PAP, rw: Pause time of frames that are sent without flow control. Datasheet 8.2.3.22.10. */
#define IXGBE_PAP 0x04248u
/* Bits 15:0: The time. */
#define IXGBE_PAP_TXPAUSECNT 0x0000FFFFu

/* MSCA, rw: MDIO command: an access to a register of the PHY. Datasheet 8.2.3.22.11. */
#define IXGBE_MSCA 0x0425Cu
/* Bits 15:0: Register, in the new protocol. */
#define IXGBE_MSCA_NP_ADDR 0x0000FFFFu
/* Bits 20:16: Device in the PHY, or register in the old protocol. */
#define IXGBE_MSCA_DEV_TYPE 0x001F0000u
/* Bits 25:21: PHY. */
#define IXGBE_MSCA_PHY_ADDR 0x03E00000u
/* Bits 27:26: What to do. */
#define IXGBE_MSCA_OP_CODE 0x0C000000u
#define IXGBE_MSCA_OP_CODE_ADDRESS 0x00000000u
#define IXGBE_MSCA_OP_CODE_WRITE 0x04000000u
#define IXGBE_MSCA_OP_CODE_READ_AUTOINC 0x08000000u
#define IXGBE_MSCA_OP_CODE_READ 0x0C000000u
/* Bits 29:28: Protocol. */
#define IXGBE_MSCA_ST_CODE 0x30000000u
#define IXGBE_MSCA_ST_CODE_NEW_PROTOCOL 0x00000000u
#define IXGBE_MSCA_ST_CODE_OLD_PROTOCOL 0x10000000u
/* Bit 30, sc: Do it. */
#define IXGBE_MSCA_MDI_COMMAND 0x40000000u
/* Bit 31: MDI_COMMAND tells the end. */
#define IXGBE_MSCA_MDI_IN_PROG_EN 0x80000000u

/* MSRWD, rw: MDIO data. Datasheet 8.2.3.22.12. */
#define IXGBE_MSRWD 0x04260u
/* Bits 15:0: To write. */
#define IXGBE_MSRWD_WRITE_DATA 0x0000FFFFu
/* Bits 31:16, ro: That was read. */
#define IXGBE_MSRWD_READ_DATA 0xFFFF0000u

/* MAXFRS, rw: Longest frame. Datasheet 8.2.3.22.13. */
#define IXGBE_MAXFRS 0x04268u
/* Bits 31:16: Bytes, with CRC, without VLAN tag; counts if HLREG0.JUMBOEN is set. */
#define IXGBE_MAXFRS_MFS 0xFFFF0000u

/* PCSS1, ro: 10 Gbit/s coding: status 1. Datasheet 8.2.3.22.14. */
#define IXGBE_PCSS1 0x04288u

/* PCSS2, ro: 10 Gbit/s coding: status 2. Datasheet 8.2.3.22.15. */
#define IXGBE_PCSS2 0x0428Cu

/* XPCSS, ro: 10GBASE-X coding: status. Datasheet 8.2.3.22.16. */
#define IXGBE_XPCSS 0x04290u

/* MFLCN, rw: Receiving pause frames. Datasheet 8.2.3.22.34. */
#define IXGBE_MFLCN 0x04294u
/* Bit 0: Pass MAC control frames on. */
#define IXGBE_MFLCN_PMCF 0x00000001u
/* Bit 1: Discard pause frames. */
#define IXGBE_MFLCN_DPF 0x00000002u
/* Bit 2: Heed priority pause frames. */
#define IXGBE_MFLCN_RPFCE 0x00000004u
/* Bit 3: Heed link pause frames. */
#define IXGBE_MFLCN_RFCE 0x00000008u
/* Bits 11:4: Which classes' priority pause frames. X540 and later. */
#define IXGBE_MFLCN_RPFCE_CLASSES 0x00000FF0u

/* SERDESC, rw: Serialiser: control. Datasheet 8.2.3.22.17. */
#define IXGBE_SERDESC 0x04298u

/* MACS, rw: FIFO control and status of the MAC. Datasheet 8.2.3.22.18. */
#define IXGBE_MACS 0x0429Cu

/* AUTOC, rw: Link mode and autonegotiation. Loaded from the EEPROM. Datasheet 8.2.3.22.19. */
#define IXGBE_AUTOC 0x042A0u
/* Bit 0: Force the link up. */
#define IXGBE_AUTOC_FLU 0x00000001u
/* Bits 8:7: 10 Gbit/s over four lanes. */
#define IXGBE_AUTOC_10G_PMA_PMD_PARALLEL 0x00000180u
#define IXGBE_AUTOC_10G_PMA_PMD_PARALLEL_XAUI 0x00000000u
#define IXGBE_AUTOC_10G_PMA_PMD_PARALLEL_KX4 0x00000080u
#define IXGBE_AUTOC_10G_PMA_PMD_PARALLEL_CX4 0x00000100u
/* Bit 9: 1 Gbit/s. */
#define IXGBE_AUTOC_1G_PMA_PMD 0x00000200u
#define IXGBE_AUTOC_1G_PMA_PMD_BX 0x00000000u
#define IXGBE_AUTOC_1G_PMA_PMD_KX 0x00000200u
/* Bit 12, sc: Take the link mode over, and negotiate again. */
#define IXGBE_AUTOC_AN_RESTART 0x00001000u
/* Bits 15:13: Link mode. */
#define IXGBE_AUTOC_LMS 0x0000E000u
#define IXGBE_AUTOC_LMS_1G_LINK_NO_AN 0x00000000u
#define IXGBE_AUTOC_LMS_10G_LINK_NO_AN 0x00002000u
#define IXGBE_AUTOC_LMS_1G_AN 0x00004000u
#define IXGBE_AUTOC_LMS_10G_SERIAL 0x00006000u
#define IXGBE_AUTOC_LMS_KX4_KX_KR 0x00008000u
#define IXGBE_AUTOC_LMS_SGMII_1G_100M 0x0000A000u
#define IXGBE_AUTOC_LMS_KX4_KX_KR_1G_AN 0x0000C000u
#define IXGBE_AUTOC_LMS_KX4_KX_KR_SGMII 0x0000E000u
/* Bit 16: Advertise KR. */
#define IXGBE_AUTOC_KR_SUPP 0x00010000u
/* Bit 17: Ask for forward error correction. */
#define IXGBE_AUTOC_FECR 0x00020000u
/* Bit 18: Offer forward error correction. */
#define IXGBE_AUTOC_FECA 0x00040000u
/* Bits 22:19: Alignment of received pages. */
#define IXGBE_AUTOC_AN_RX_ALIGN 0x00780000u
/* Bit 23: Allow for drift. */
#define IXGBE_AUTOC_AN_RX_DRIFT 0x00800000u
/* Bit 24: Allow for loose timing. */
#define IXGBE_AUTOC_AN_RX_LOOSE 0x01000000u
/* Bits 26:25: Parallel detection time. */
#define IXGBE_AUTOC_PD_TMR 0x06000000u
/* Bit 27: Tell of a remote fault. */
#define IXGBE_AUTOC_RF 0x08000000u
/* Bit 28: Advertise pause frames both ways. */
#define IXGBE_AUTOC_SYM_PAUSE 0x10000000u
/* Bit 29: Advertise pause frames one way. */
#define IXGBE_AUTOC_ASM_PAUSE 0x20000000u
/* Bit 30: Advertise KX. */
#define IXGBE_AUTOC_KX_SUPP 0x40000000u
/* Bit 31: Advertise KX4. */
#define IXGBE_AUTOC_KX4_SUPP 0x80000000u

/* LINKS, ro: Link status. Datasheet 8.2.3.22.20. */
#define IXGBE_LINKS 0x042A4u
/* Bits 11:8: Signal on each lane. */
#define IXGBE_LINKS_SIGNAL 0x00000F00u
/* Bit 17: Lanes are aligned. */
#define IXGBE_LINKS_10G_ALIGN 0x00020000u
/* Bit 7: The link is up now; UP tells whether it stayed so. */
#define IXGBE_LINKS_LINK_STATUS 0x00000080u
/* Bits 29:28: Speed. */
#define IXGBE_LINKS_SPEED 0x30000000u
#define IXGBE_LINKS_SPEED_100M 0x10000000u
#define IXGBE_LINKS_SPEED_1G 0x20000000u
#define IXGBE_LINKS_SPEED_10G 0x30000000u
/* Bit 30: The link is up. */
#define IXGBE_LINKS_UP 0x40000000u
/* Bit 31: Backplane autonegotiation is complete. */
#define IXGBE_LINKS_KX_AN_COMP 0x80000000u

/* LINKS2, ro: Link status 2. Datasheet 8.2.3.22.21. */
#define IXGBE_LINKS2 0x04324u
/* Bit 6: The other side negotiates. */
#define IXGBE_LINKS2_AN_SUPPORTED 0x00000040u

/* AUTOC2, rw: Link mode 2. Loaded from the EEPROM. Datasheet 8.2.3.22.22. */
#define IXGBE_AUTOC2 0x042A8u
/* Bits 17:16: 10 Gbit/s over one lane. */
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL 0x00030000u
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_KR 0x00000000u
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_XFI 0x00010000u
#define IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI 0x00020000u
/* Bits 30:28: Reasons to drop the link. */
#define IXGBE_AUTOC2_LINK_DISABLE 0x70000000u

/* AUTOC3, rw: Link mode 3. */
#define IXGBE_AUTOC3 0x042ACu

/* ANLP1, ro: Backplane autonegotiation: the other side's page, bits 31:0. Datasheet 8.2.3.22.23. */
#define IXGBE_ANLP1 0x042B0u
/* Bit 10: It takes pause frames both ways. */
#define IXGBE_ANLP1_SYM_PAUSE 0x00000400u
/* Bit 11: It takes pause frames one way. */
#define IXGBE_ANLP1_ASM_PAUSE 0x00000800u
/* Bits 19:16: State of the negotiation; 0 is at rest. */
#define IXGBE_ANLP1_AN_STATE 0x000F0000u

/* ANLP2, ro: Backplane autonegotiation: the other side's page, bits 47:32. */
#define IXGBE_ANLP2 0x042B4u

/* ANLPNP1, ro: Backplane autonegotiation: the other side's next page, bits 31:0. */
#define IXGBE_ANLPNP1 0x042D4u

/* ANLPNP2, ro: Backplane autonegotiation: the other side's next page, bits 47:32. */
#define IXGBE_ANLPNP2 0x042D8u

/* MMNGC, rw: Whether firmware keeps the link from changing. */
#define IXGBE_MMNGC 0x042D0u
/* Bit 0: It does. */
#define IXGBE_MMNGC_MNG_VETO 0x00000001u

/* KRPCSFC, rw: KR coding: control. */
#define IXGBE_KRPCSFC 0x042E0u

/* KRPCSS, ro: KR coding: status. */
#define IXGBE_KRPCSS 0x042E4u

/* MACC, rw: MAC control. */
#define IXGBE_MACC 0x04330u
/* Bit 0: Force the link up. */
#define IXGBE_MACC_FLU 0x00000001u
/* Bits 17:16: Forced speed. */
#define IXGBE_MACC_FSV 0x00030000u
#define IXGBE_MACC_FSV_10G 0x00030000u
/* Bit 18: Force the speed. */
#define IXGBE_MACC_FS 0x00040000u

/* CORECTL, rw: Write access to registers of the analogue part. Datasheet 8.2.3.22.32. */
#define IXGBE_CORECTL 0x14F00u
/* Bits 7:0: Data. */
#define IXGBE_CORECTL_DATA 0x000000FFu
/* Bits 15:8: Register. */
#define IXGBE_CORECTL_ADDRESS 0x0000FF00u
/* Bit 16, sc: Write; else select for reading. */
#define IXGBE_CORECTL_WRITE_CMD 0x00010000u

/* SMADARCTL, rw: Write access to registers of the SerDes. */
#define IXGBE_SMADARCTL 0x14F10u

/* ---- Statistics ---- */
/* Counters. A read clears them, and they stop at their highest value. */

/* CRCERRS, rc: Packets with a wrong CRC. */
#define IXGBE_CRCERRS 0x04000u

/* ILLERRC, rc: Packets with illegal bytes. */
#define IXGBE_ILLERRC 0x04004u

/* ERRBC, rc: Packets with error bytes. */
#define IXGBE_ERRBC 0x04008u

/* MSPDC, rc: Packets too short for the MAC. */
#define IXGBE_MSPDC 0x04010u

/* MPC, rc: Packets missed for want of room in a packet buffer. */
#define IXGBE_MPC(n) (0x03FA0u + 0x4u * (n))
#define IXGBE_MPC_COUNT 8u

/* MLFC, rc: Local faults of the link. */
#define IXGBE_MLFC 0x04034u

/* MRFC, rc: Remote faults of the link. */
#define IXGBE_MRFC 0x04038u

/* RLEC, rc: Packets with a wrong length field. */
#define IXGBE_RLEC 0x04040u

/* SSVPC, rc: Packets that were dropped for a forged address. */
#define IXGBE_SSVPC 0x08780u

/* LXONTXC, rc: XON frames sent. */
#define IXGBE_LXONTXC 0x03F60u

/* LXOFFTXC, rc: XOFF frames sent. */
#define IXGBE_LXOFFTXC 0x03F68u

/* LXONRXCNT, rc: XON frames received. */
#define IXGBE_LXONRXCNT 0x041A4u

/* LXOFFRXCNT, rc: XOFF frames received. */
#define IXGBE_LXOFFRXCNT 0x041A8u

/* LXONRXC, rc: XON frames received; 82598 name, read and dropped by drivers. */
#define IXGBE_LXONRXC 0x0CF60u

/* LXOFFRXC, rc: XOFF frames received; 82598 name, read and dropped by drivers. */
#define IXGBE_LXOFFRXC 0x0CF68u

/* PXONTXC, rc: Priority XON frames sent, by class. */
#define IXGBE_PXONTXC(n) (0x03F00u + 0x4u * (n))
#define IXGBE_PXONTXC_COUNT 8u

/* PXOFFTXC, rc: Priority XOFF frames sent, by class. */
#define IXGBE_PXOFFTXC(n) (0x03F20u + 0x4u * (n))
#define IXGBE_PXOFFTXC_COUNT 8u

/* PXONRXC, rc: Priority XON frames received, by class; 82598 name. */
#define IXGBE_PXONRXC(n) (0x0CF00u + 0x4u * (n))
#define IXGBE_PXONRXC_COUNT 8u

/* PXOFFRXC, rc: Priority XOFF frames received, by class; 82598 name. */
#define IXGBE_PXOFFRXC(n) (0x0CF20u + 0x4u * (n))
#define IXGBE_PXOFFRXC_COUNT 8u

/* PXON2OFFCNT, rc: Times a class was paused again while paused. */
#define IXGBE_PXON2OFFCNT(n) (0x03240u + 0x4u * (n))
#define IXGBE_PXON2OFFCNT_COUNT 8u

/* PRC64, rc: Packets received, 64 bytes. */
#define IXGBE_PRC64 0x0405Cu

/* PRC127, rc: Packets received, 65 to 127 bytes. */
#define IXGBE_PRC127 0x04060u

/* PRC255, rc: Packets received, 128 to 255 bytes. */
#define IXGBE_PRC255 0x04064u

/* PRC511, rc: Packets received, 256 to 511 bytes. */
#define IXGBE_PRC511 0x04068u

/* PRC1023, rc: Packets received, 512 to 1023 bytes. */
#define IXGBE_PRC1023 0x0406Cu

/* PRC1522, rc: Packets received, 1024 bytes and more. */
#define IXGBE_PRC1522 0x04070u

/* GPRC, rc: Good packets received, with those dropped later for want of a buffer. Datasheet 8.2.3.23.26. */
#define IXGBE_GPRC 0x04074u

/* BPRC, rc: Broadcast packets received. */
#define IXGBE_BPRC 0x04078u

/* MPRC, rc: Multicast packets received. */
#define IXGBE_MPRC 0x0407Cu

/* GPTC, rc: Good packets sent. */
#define IXGBE_GPTC 0x04080u

/* GORCL, rc: Good bytes received, with CRC, low half. Read it before GORCH. */
#define IXGBE_GORCL 0x04088u

/* GORCH, rc: Good bytes received, bits 35:32. */
#define IXGBE_GORCH 0x0408Cu

/* GOTCL, rc: Good bytes sent, with CRC, low half. Read it before GOTCH. */
#define IXGBE_GOTCL 0x04090u

/* GOTCH, rc: Good bytes sent, bits 35:32. */
#define IXGBE_GOTCH 0x04094u

/* RNBC, rc: Packets that found no receive buffer, by packet buffer; 82598. */
#define IXGBE_RNBC(n) (0x03FC0u + 0x4u * (n))
#define IXGBE_RNBC_COUNT 8u

/* RUC, rc: Packets too short, with a good CRC. */
#define IXGBE_RUC 0x040A4u

/* RFC, rc: Packets too short, with a wrong CRC: fragments. */
#define IXGBE_RFC 0x040A8u

/* ROC, rc: Packets too long, with a good CRC. */
#define IXGBE_ROC 0x040ACu

/* RJC, rc: Packets too long, with a wrong CRC: jabber. */
#define IXGBE_RJC 0x040B0u

/* MNGPRC, rc: Packets received for the firmware. */
#define IXGBE_MNGPRC 0x040B4u

/* MNGPDC, rc: Packets for the firmware that were dropped. */
#define IXGBE_MNGPDC 0x040B8u

/* MNGPTC, rc: Packets sent by the firmware. */
#define IXGBE_MNGPTC 0x0CF90u

/* TORL, rc: Bytes received, good or not, low half. */
#define IXGBE_TORL 0x040C0u

/* TORH, rc: Bytes received, good or not, bits 35:32. */
#define IXGBE_TORH 0x040C4u

/* TPR, rc: Packets received, good or not. Datasheet 8.2.3.23.59. */
#define IXGBE_TPR 0x040D0u

/* TPT, rc: Packets sent, good or not. */
#define IXGBE_TPT 0x040D4u

/* PTC64, rc: Packets sent, 64 bytes. */
#define IXGBE_PTC64 0x040D8u

/* PTC127, rc: Packets sent, 65 to 127 bytes. */
#define IXGBE_PTC127 0x040DCu

/* PTC255, rc: Packets sent, 128 to 255 bytes. */
#define IXGBE_PTC255 0x040E0u

/* PTC511, rc: Packets sent, 256 to 511 bytes. */
#define IXGBE_PTC511 0x040E4u

/* PTC1023, rc: Packets sent, 512 to 1023 bytes. */
#define IXGBE_PTC1023 0x040E8u

/* PTC1522, rc: Packets sent, 1024 bytes and more. */
#define IXGBE_PTC1522 0x040ECu

/* MPTC, rc: Multicast packets sent. */
#define IXGBE_MPTC 0x040F0u

/* BPTC, rc: Broadcast packets sent. */
#define IXGBE_BPTC 0x040F4u

/* XEC, rc: Packets with a wrong TCP, UDP or IP checksum. */
#define IXGBE_XEC 0x04120u

/* RQSMR, rw: Which statistics receive queues 4n to 4n + 3 count in. Datasheet 8.2.3.23.71. */
#define IXGBE_RQSMR(n) (0x02300u + 0x4u * (n))
#define IXGBE_RQSMR_COUNT 32u
/* Bits 3:0: Statistics of queue 4n. */
#define IXGBE_RQSMR_QUEUE0 0x0000000Fu
/* Bits 11:8: Statistics of queue 4n + 1. */
#define IXGBE_RQSMR_QUEUE1 0x00000F00u
/* Bits 19:16: Statistics of queue 4n + 2. */
#define IXGBE_RQSMR_QUEUE2 0x000F0000u
/* Bits 27:24: Statistics of queue 4n + 3. */
#define IXGBE_RQSMR_QUEUE3 0x0F000000u

/* TQSM, rw: Which statistics transmit queues 4n to 4n + 3 count in. Datasheet 8.2.3.23.73. */
#define IXGBE_TQSM(n) (0x08600u + 0x4u * (n))
#define IXGBE_TQSM_COUNT 32u
/* Bits 3:0: Statistics of queue 4n. */
#define IXGBE_TQSM_QUEUE0 0x0000000Fu
/* Bits 11:8: Statistics of queue 4n + 1. */
#define IXGBE_TQSM_QUEUE1 0x00000F00u
/* Bits 19:16: Statistics of queue 4n + 2. */
#define IXGBE_TQSM_QUEUE2 0x000F0000u
/* Bits 27:24: Statistics of queue 4n + 3. */
#define IXGBE_TQSM_QUEUE3 0x0F000000u

/* RXDSTATCTRL, rw: Which queues the RX DMA counters count. */
#define IXGBE_RXDSTATCTRL 0x02F40u
/* Bits 4:0: Queues' statistics, or 16 for all. */
#define IXGBE_RXDSTATCTRL_QSEL 0x0000001Fu

/* QPRC, rc: Packets received, by queue statistics. */
#define IXGBE_QPRC(n) (0x01030u + 0x40u * (n))
#define IXGBE_QPRC_COUNT 16u

/* QPRDC, rc: Packets dropped for want of descriptors, by queue statistics. Datasheet 8.2.3.23.75. */
#define IXGBE_QPRDC(n) (0x01430u + 0x40u * (n))
#define IXGBE_QPRDC_COUNT 16u

/* QBRC_L, rc: Bytes received, by queue statistics, low half. */
#define IXGBE_QBRC_L(n) (0x01034u + 0x40u * (n))
#define IXGBE_QBRC_L_COUNT 16u

/* QBRC_H, rc: Bytes received, by queue statistics, bits 35:32. */
#define IXGBE_QBRC_H(n) (0x01038u + 0x40u * (n))
#define IXGBE_QBRC_H_COUNT 16u

/* QPTC, rc: Packets sent, by queue statistics. */
/* Also at 0x06030 + 0x40 * n (entries 0..16). */
#define IXGBE_QPTC(n) (0x08680u + 0x4u * (n))
#define IXGBE_QPTC_COUNT 16u

/* QBTC_L, rc: Bytes sent, by queue statistics, low half. */
#define IXGBE_QBTC_L(n) (0x08700u + 0x8u * (n))
#define IXGBE_QBTC_L_COUNT 16u

/* QBTC_H, rc: Bytes sent, by queue statistics, bits 35:32. */
#define IXGBE_QBTC_H(n) (0x08704u + 0x8u * (n))
#define IXGBE_QBTC_H_COUNT 16u

/* RXDGPC, rc: Good packets that receive DMA passed on. */
#define IXGBE_RXDGPC 0x02F50u

/* RXDGBCL, rc: Good bytes that receive DMA passed on, low half. */
#define IXGBE_RXDGBCL 0x02F54u

/* RXDGBCH, rc: Good bytes that receive DMA passed on, bits 35:32. */
#define IXGBE_RXDGBCH 0x02F58u

/* RXDDGPC, rc: Good packets passed on, of duplicates for other pools. */
#define IXGBE_RXDDGPC 0x02F5Cu

/* RXDDGBCL, rc: Good bytes passed on, of duplicates for other pools, low half. */
#define IXGBE_RXDDGBCL 0x02F60u

/* RXDDGBCH, rc: Good bytes passed on, of duplicates for other pools, bits 35:32. */
#define IXGBE_RXDDGBCH 0x02F64u

/* RXLPBKGPC, rc: Good packets passed on, of those looped back. */
#define IXGBE_RXLPBKGPC 0x02F68u

/* RXLPBKGBCL, rc: Good bytes passed on, of those looped back, low half. */
#define IXGBE_RXLPBKGBCL 0x02F6Cu

/* RXLPBKGBCH, rc: Good bytes passed on, of those looped back, bits 35:32. */
#define IXGBE_RXLPBKGBCH 0x02F70u

/* RXDLPBKGPC, rc: Good packets passed on, of duplicates looped back. */
#define IXGBE_RXDLPBKGPC 0x02F74u

/* RXDLPBKGBCL, rc: Good bytes passed on, of duplicates looped back, low half. */
#define IXGBE_RXDLPBKGBCL 0x02F78u

/* RXDLPBKGBCH, rc: Good bytes passed on, of duplicates looped back, bits 35:32. */
#define IXGBE_RXDLPBKGBCH 0x02F7Cu

/* RXNFGPC, rc: Good packets received, before filters. */
#define IXGBE_RXNFGPC 0x041B0u

/* RXNFGBCL, rc: Good bytes received, before filters, low half. */
#define IXGBE_RXNFGBCL 0x041B4u

/* RXNFGBCH, rc: Good bytes received, before filters, bits 35:32. */
#define IXGBE_RXNFGBCH 0x041B8u

/* TXDGPC, rc: Good packets that transmit DMA fetched. */
#define IXGBE_TXDGPC 0x087A0u

/* TXDGBCL, rc: Good bytes that transmit DMA fetched, low half. */
#define IXGBE_TXDGBCL 0x087A4u

/* TXDGBCH, rc: Good bytes that transmit DMA fetched, bits 35:32. */
#define IXGBE_TXDGBCH 0x087A8u

/* FCCRC, rc: FCoE packets with a wrong FC CRC. */
#define IXGBE_FCCRC 0x05118u

/* FCOERPDC, rc: FCoE packets dropped. */
#define IXGBE_FCOERPDC 0x0241Cu

/* FCLAST, rc: FCoE last errors. */
#define IXGBE_FCLAST 0x02424u

/* FCOEPRC, rc: FCoE packets received. */
#define IXGBE_FCOEPRC 0x02428u

/* FCOEDWRC, rc: FCoE dwords received. */
#define IXGBE_FCOEDWRC 0x0242Cu

/* FCOEPTC, rc: FCoE packets sent. */
#define IXGBE_FCOEPTC 0x08784u

/* FCOEDWTC, rc: FCoE dwords sent. */
#define IXGBE_FCOEDWTC 0x08788u

/* O2BGPTC, rc: Packets from the system to the firmware, good. X540 and later. */
#define IXGBE_O2BGPTC 0x041C4u

/* O2BSPC, rc: Packets from the system that the firmware missed. X540 and later. */
#define IXGBE_O2BSPC 0x087B0u

/* B2OSPC, rc: Packets that the firmware sent to the system. X540 and later. */
#define IXGBE_B2OSPC 0x041C0u

/* B2OGPRC, rc: Packets from the firmware that the system got. X540 and later. */
#define IXGBE_B2OGPRC 0x02F90u

/* ---- Filters for queues ---- */

/* ETQF, rw: Matches packets by EtherType. Datasheet 8.2.3.7.21. */
#define IXGBE_ETQF(n) (0x05128u + 0x4u * (n))
#define IXGBE_ETQF_COUNT 8u
/* Bits 15:0: The EtherType. */
#define IXGBE_ETQF_ETYPE 0x0000FFFFu
/* Bits 18:16: Priority in the VLAN tag. */
#define IXGBE_ETQF_UP 0x00070000u
/* Bit 19: The priority has to match. */
#define IXGBE_ETQF_UP_EN 0x00080000u
/* Bits 25:20: Pool that they go to. */
#define IXGBE_ETQF_POOL 0x03F00000u
/* Bit 26: POOL counts. */
#define IXGBE_ETQF_POOL_ENABLE 0x04000000u
/* Bit 27: They are FCoE. */
#define IXGBE_ETQF_FCOE 0x08000000u
/* Bit 30: They are time stamped. */
#define IXGBE_ETQF_1588 0x40000000u
/* Bit 31: The filter is on. */
#define IXGBE_ETQF_FILTER_EN 0x80000000u

/* ETQS, rw: Queue of what ETQF matches. Datasheet 8.2.3.7.22. */
#define IXGBE_ETQS(n) (0x0EC00u + 0x4u * (n))
#define IXGBE_ETQS_COUNT 8u
/* Bits 22:16: The queue. */
#define IXGBE_ETQS_RX_QUEUE 0x007F0000u
/* Bit 29: Raise a low latency interrupt. */
#define IXGBE_ETQS_LLI 0x20000000u
/* Bit 31: RX_QUEUE counts. */
#define IXGBE_ETQS_QUEUE_EN 0x80000000u

/* SAQF, rw: Five-tuple filter: source address. Datasheet 8.2.3.7.16. */
#define IXGBE_SAQF(n) (0x0E000u + 0x4u * (n))
#define IXGBE_SAQF_COUNT 128u

/* DAQF, rw: Five-tuple filter: destination address. Datasheet 8.2.3.7.17. */
#define IXGBE_DAQF(n) (0x0E200u + 0x4u * (n))
#define IXGBE_DAQF_COUNT 128u

/* SDPQF, rw: Five-tuple filter: ports. Datasheet 8.2.3.7.18. */
#define IXGBE_SDPQF(n) (0x0E400u + 0x4u * (n))
#define IXGBE_SDPQF_COUNT 128u
/* Bits 15:0: Source port, in network order. */
#define IXGBE_SDPQF_SOURCE_PORT 0x0000FFFFu
/* Bits 31:16: Destination port, in network order. */
#define IXGBE_SDPQF_DESTINATION_PORT 0xFFFF0000u

/* FTQF, rw: Five-tuple filter: protocol, and what counts. Datasheet 8.2.3.7.19. */
#define IXGBE_FTQF(n) (0x0E600u + 0x4u * (n))
#define IXGBE_FTQF_COUNT 128u
/* Bits 1:0: Protocol. */
#define IXGBE_FTQF_PROTOCOL 0x00000003u
#define IXGBE_FTQF_PROTOCOL_TCP 0x00000000u
#define IXGBE_FTQF_PROTOCOL_UDP 0x00000001u
#define IXGBE_FTQF_PROTOCOL_SCTP 0x00000002u
#define IXGBE_FTQF_PROTOCOL_OTHER 0x00000003u
/* Bits 4:2: Which filter wins: 7 over 1. */
#define IXGBE_FTQF_PRIORITY 0x0000001Cu
/* Bits 13:8: Pool. */
#define IXGBE_FTQF_POOL 0x00003F00u
/* Bits 29:25: Parts that need not match: addresses, ports, protocol. */
#define IXGBE_FTQF_MASK 0x3E000000u
/* Bit 30: The pool need not match. */
#define IXGBE_FTQF_POOL_MASK 0x40000000u
/* Bit 31: The filter is on. */
#define IXGBE_FTQF_QUEUE_ENABLE 0x80000000u

/* L34T_IMIR, rw: Queue of what a five-tuple filter matches. Datasheet 8.2.3.5.13. */
#define IXGBE_L34T_IMIR(n) (0x0E800u + 0x4u * (n))
#define IXGBE_L34T_IMIR_COUNT 128u
/* Bit 12: The size need not match. */
#define IXGBE_L34T_IMIR_SIZE_BP 0x00001000u
/* Bit 20: Raise a low latency interrupt. */
#define IXGBE_L34T_IMIR_LLI 0x00100000u
/* Bits 27:21: The queue. */
#define IXGBE_L34T_IMIR_RX_QUEUE 0x0FE00000u

/* SYNQF, rw: Queue of TCP connection requests. Datasheet 8.2.3.7.20. */
#define IXGBE_SYNQF 0x0EC30u
/* Bit 0: The filter is on. */
#define IXGBE_SYNQF_QUEUE_ENABLE 0x00000001u
/* Bits 7:1: The queue. */
#define IXGBE_SYNQF_RX_QUEUE 0x000000FEu
/* Bit 31: It wins over five-tuple filters. */
#define IXGBE_SYNQF_SYNQFP 0x80000000u

/* IMIRVP, rw: VLAN priority that raises low latency interrupts. Datasheet 8.2.3.5.15. */
#define IXGBE_IMIRVP 0x05AC0u
/* Bits 2:0: The priority. */
#define IXGBE_IMIRVP_PRIORITY 0x00000007u
/* Bit 3: It does. */
#define IXGBE_IMIRVP_PRIORITY_EN 0x00000008u

/* LLITHRESH, rw: Size of packet that raises low latency interrupts. Datasheet 8.2.3.5.14. */
#define IXGBE_LLITHRESH 0x0EC90u

/* RXFECCERR0, rw: Errors in the memories of the receive filters. Datasheet 8.2.3.7.23. */
#define IXGBE_RXFECCERR0 0x051B8u
/* Bit 9: Report them, and block reception. */
#define IXGBE_RXFECCERR0_ECCFLT_EN 0x00000200u

/* ---- Flow director ---- */

/* FDIRCTRL, rw: Flow director control. */
#define IXGBE_FDIRCTRL 0x0EE00u
/* Bits 1:0: Packet buffer memory that filters may take. */
#define IXGBE_FDIRCTRL_PBALLOC 0x00000003u
#define IXGBE_FDIRCTRL_PBALLOC_NONE 0x00000000u
#define IXGBE_FDIRCTRL_PBALLOC_64K 0x00000001u
#define IXGBE_FDIRCTRL_PBALLOC_128K 0x00000002u
#define IXGBE_FDIRCTRL_PBALLOC_256K 0x00000003u
/* Bit 3, ro: The filter memory has been set up. */
#define IXGBE_FDIRCTRL_INIT_DONE 0x00000008u
/* Bit 4: Exact filters; else by signature. */
#define IXGBE_FDIRCTRL_PERFECT_MATCH 0x00000010u
/* Bit 5: Report the match in the descriptor. */
#define IXGBE_FDIRCTRL_REPORT_STATUS 0x00000020u
/* Bit 7: Report it, match or not. */
#define IXGBE_FDIRCTRL_REPORT_STATUS_ALWAYS 0x00000080u
/* Bits 14:8: Queue whose packets are dropped. */
#define IXGBE_FDIRCTRL_DROP_Q 0x00007F00u
/* Bits 20:16: Position of the flexible bytes, in words. */
#define IXGBE_FDIRCTRL_FLEX 0x001F0000u
/* Bits 27:24: Entries of one hash that are searched. */
#define IXGBE_FDIRCTRL_MAX_LENGTH 0x0F000000u
/* Bits 31:28: Filters left at which to raise an interrupt, in units of 16. */
#define IXGBE_FDIRCTRL_FULL_THRESH 0xF0000000u

/* FDIRHKEY, rw: Key of the hash that finds a filter. */
#define IXGBE_FDIRHKEY 0x0EE68u

/* FDIRSKEY, rw: Key of the hash that is a signature. */
#define IXGBE_FDIRSKEY 0x0EE6Cu

/* FDIRDIP4M, rw: Bits of an IPv4 destination address that count: those that are 0. */
#define IXGBE_FDIRDIP4M 0x0EE3Cu

/* FDIRSIP4M, rw: Bits of an IPv4 source address that count: those that are 0. */
#define IXGBE_FDIRSIP4M 0x0EE40u

/* FDIRTCPM, rw: Bits of TCP ports that count: those that are 0. */
#define IXGBE_FDIRTCPM 0x0EE44u

/* FDIRUDPM, rw: Bits of UDP ports that count: those that are 0. */
#define IXGBE_FDIRUDPM 0x0EE48u

/* FDIRIP6M, rw: Bytes of IPv6 addresses that count: those that are 0. */
#define IXGBE_FDIRIP6M 0x0EE74u

/* FDIRM, rw: Other parts of a packet that count: those that are 0. */
#define IXGBE_FDIRM 0x0EE70u
/* Bit 0: VLAN. */
#define IXGBE_FDIRM_VLANID 0x00000001u
/* Bit 1: VLAN priority. */
#define IXGBE_FDIRM_VLANP 0x00000002u
/* Bit 2: Pool. */
#define IXGBE_FDIRM_POOL 0x00000004u
/* Bit 3: Protocol. */
#define IXGBE_FDIRM_L4P 0x00000008u
/* Bit 4: Flexible bytes. */
#define IXGBE_FDIRM_FLEX 0x00000010u
/* Bit 5: IPv6 destination address. */
#define IXGBE_FDIRM_DIPV6 0x00000020u

/* FDIRFREE, rw: Filters free. */
#define IXGBE_FDIRFREE 0x0EE38u
/* Bits 15:0: How many. */
#define IXGBE_FDIRFREE_FREE 0x0000FFFFu
/* Bits 30:16: Filters with the hash of another one. */
#define IXGBE_FDIRFREE_COLL 0x7FFF0000u

/* FDIRLEN, rc: Longest list of filters with one hash. */
#define IXGBE_FDIRLEN 0x0EE4Cu
/* Bits 5:0: How many. */
#define IXGBE_FDIRLEN_MAXLEN 0x0000003Fu

/* FDIRUSTAT, rc: Filters added and removed. */
#define IXGBE_FDIRUSTAT 0x0EE50u
/* Bits 15:0: Added. */
#define IXGBE_FDIRUSTAT_ADD 0x0000FFFFu
/* Bits 31:16: Removed. */
#define IXGBE_FDIRUSTAT_REMOVE 0xFFFF0000u

/* FDIRFSTAT, rc: Filters that could not be added or removed. */
#define IXGBE_FDIRFSTAT 0x0EE54u
/* Bits 7:0: Not added. */
#define IXGBE_FDIRFSTAT_FADD 0x000000FFu
/* Bits 15:8: Not removed. */
#define IXGBE_FDIRFSTAT_FREMOVE 0x0000FF00u

/* FDIRMATCH, rc: Packets that a filter matched. */
#define IXGBE_FDIRMATCH 0x0EE58u

/* FDIRMISS, rc: Packets that no filter matched. */
#define IXGBE_FDIRMISS 0x0EE5Cu

/* FDIRSIPV6, rw: Filter: IPv6 source address, first three dwords. */
#define IXGBE_FDIRSIPV6(n) (0x0EE0Cu + 0x4u * (n))
#define IXGBE_FDIRSIPV6_COUNT 3u

/* FDIRIPSA, rw: Filter: IPv4 source address, or last dword of an IPv6 one. */
#define IXGBE_FDIRIPSA 0x0EE18u

/* FDIRIPDA, rw: Filter: IPv4 destination address. */
#define IXGBE_FDIRIPDA 0x0EE1Cu

/* FDIRPORT, rw: Filter: ports. */
#define IXGBE_FDIRPORT 0x0EE20u
/* Bits 15:0: Source port. */
#define IXGBE_FDIRPORT_SOURCE 0x0000FFFFu
/* Bits 31:16: Destination port. */
#define IXGBE_FDIRPORT_DESTINATION 0xFFFF0000u

/* FDIRVLAN, rw: Filter: VLAN and flexible bytes. */
#define IXGBE_FDIRVLAN 0x0EE24u
/* Bits 15:0: VLAN tag. */
#define IXGBE_FDIRVLAN_VLAN 0x0000FFFFu
/* Bits 31:16: Flexible bytes. */
#define IXGBE_FDIRVLAN_FLEX 0xFFFF0000u

/* FDIRHASH, rw: Filter: hash and signature. */
#define IXGBE_FDIRHASH 0x0EE28u
/* Bits 14:0: Hash. */
#define IXGBE_FDIRHASH_HASH 0x00007FFFu
/* Bit 15: The hash is valid. */
#define IXGBE_FDIRHASH_BUCKET_VALID 0x00008000u
/* Bits 30:16: Signature, or index in software's table. */
#define IXGBE_FDIRHASH_SIGNATURE 0x7FFF0000u

/* FDIRCMD, rw: Filter: what to do with it. The write starts it. */
#define IXGBE_FDIRCMD 0x0EE2Cu
/* Bits 1:0: Command; 0 when done. */
#define IXGBE_FDIRCMD_CMD 0x00000003u
#define IXGBE_FDIRCMD_CMD_NONE 0x00000000u
#define IXGBE_FDIRCMD_CMD_ADD 0x00000001u
#define IXGBE_FDIRCMD_CMD_REMOVE 0x00000002u
#define IXGBE_FDIRCMD_CMD_QUERY 0x00000003u
/* Bit 2, ro: The filter was there. */
#define IXGBE_FDIRCMD_FILTER_VALID 0x00000004u
/* Bit 3: Overwrite the filter if it is there. */
#define IXGBE_FDIRCMD_FILTER_UPDATE 0x00000008u
/* Bit 4: The filter is for IPv6. */
#define IXGBE_FDIRCMD_IPV6 0x00000010u
/* Bits 6:5: Protocol. */
#define IXGBE_FDIRCMD_L4TYPE 0x00000060u
#define IXGBE_FDIRCMD_L4TYPE_OTHER 0x00000000u
#define IXGBE_FDIRCMD_L4TYPE_UDP 0x00000020u
#define IXGBE_FDIRCMD_L4TYPE_TCP 0x00000040u
#define IXGBE_FDIRCMD_L4TYPE_SCTP 0x00000060u
/* Bit 8: Forget all filters. */
#define IXGBE_FDIRCMD_CLEARHT 0x00000100u
/* Bit 9: Drop what matches. */
#define IXGBE_FDIRCMD_DROP 0x00000200u
/* Bit 10: Raise an interrupt on a match. */
#define IXGBE_FDIRCMD_INT 0x00000400u
/* Bit 11: Last filter of its list. */
#define IXGBE_FDIRCMD_LAST 0x00000800u
/* Bit 12: A filter with the hash of another one. */
#define IXGBE_FDIRCMD_COLLISION 0x00001000u
/* Bit 15: RX_QUEUE counts. */
#define IXGBE_FDIRCMD_QUEUE_EN 0x00008000u
/* Bits 22:16: Queue of what matches. */
#define IXGBE_FDIRCMD_RX_QUEUE 0x007F0000u
/* Bits 29:24: Pool. */
#define IXGBE_FDIRCMD_POOL 0x3F000000u

/* ---- Virtual functions and pools ---- */

/* PFVTCTL, rw: Virtualisation. Datasheet 8.2.3.27.1. */
#define IXGBE_PFVTCTL 0x051B0u
#define IXGBE_PFVT_CTL 0x051B0u
/* Bit 0: Pools are used. */
#define IXGBE_PFVTCTL_VT_ENA 0x00000001u
/* Bits 12:7: Pool of packets that no filter claims. */
#define IXGBE_PFVTCTL_DEF_PL 0x00001F80u
/* Bit 29: Drop such packets instead. */
#define IXGBE_PFVTCTL_DIS_DEF_PL 0x20000000u
/* Bit 30: Copy multicast and broadcast packets for each pool. */
#define IXGBE_PFVTCTL_RPL_EN 0x40000000u

/* PFMAILBOX, rw: Mailbox to a virtual function: control. */
#define IXGBE_PFMAILBOX(n) (0x04B00u + 0x4u * (n))
#define IXGBE_PFMAILBOX_COUNT 64u
/* Bit 0, sc: Tell the virtual function that there is a message. */
#define IXGBE_PFMAILBOX_STS 0x00000001u
/* Bit 1, sc: Tell the virtual function that its message was read. */
#define IXGBE_PFMAILBOX_ACK 0x00000002u
/* Bit 2: The virtual function has the mailbox. */
#define IXGBE_PFMAILBOX_VFU 0x00000004u
/* Bit 3: The physical function has the mailbox. */
#define IXGBE_PFMAILBOX_PFU 0x00000008u
/* Bit 4, sc: Take the mailbox from the virtual function. */
#define IXGBE_PFMAILBOX_RVFU 0x00000010u

/* PFMBICR, w1c: Mailboxes of 16 virtual functions each that raised an interrupt. */
#define IXGBE_PFMBICR(n) (0x00710u + 0x4u * (n))
#define IXGBE_PFMBICR_COUNT 4u
/* Bits 15:0: With a message. */
#define IXGBE_PFMBICR_VFREQ 0x0000FFFFu
/* Bits 31:16: With an acknowledgement. */
#define IXGBE_PFMBICR_VFACK 0xFFFF0000u

/* PFMBIMR, rw: Virtual functions whose mailboxes may raise an interrupt. */
#define IXGBE_PFMBIMR(n) (0x00720u + 0x4u * (n))
#define IXGBE_PFMBIMR_COUNT 4u

/* PFVFLRE, ro: Virtual functions 32n + 31 to 32n that were reset. */
#define IXGBE_PFVFLRE(n) ((n) < 1u ? 0x00600u + 0x4u * (n) : 0x001C0u + 0x4u * ((n) - 1u))
#define IXGBE_PFVFLRE_COUNT 2u

/* PFVFLREC, w1c: Virtual functions that were reset: writing 1 acknowledges. Datasheet 8.2.3.27.6. */
#define IXGBE_PFVFLREC(n) (0x00700u + 0x4u * (n))
#define IXGBE_PFVFLREC_COUNT 2u

/* PFVFRE, rw: Virtual functions that may receive. Datasheet 8.2.3.27.7. */
#define IXGBE_PFVFRE(n) (0x051E0u + 0x4u * (n))
#define IXGBE_PFVFRE_COUNT 2u

/* PFVFTE, rw: Virtual functions that may send. Datasheet 8.2.3.27.8. */
#define IXGBE_PFVFTE(n) (0x08110u + 0x4u * (n))
#define IXGBE_PFVFTE_COUNT 2u

/* PFQDE, rw: Whether a queue drops packets when it has no descriptors, whatever SRRCTL says. Datasheet 8.2.3.27.9. */
#define IXGBE_PFQDE 0x02F04u
#define IXGBE_QDE 0x02F04u
/* Bit 0: It does. */
#define IXGBE_PFQDE_ENABLE 0x00000001u
/* Bit 1: VLAN tags are taken out and not shown. */
#define IXGBE_PFQDE_HIDE_VLAN 0x00000002u
/* Bits 14:8: The queue. */
#define IXGBE_PFQDE_IDX 0x00007F00u
/* Bit 16: Set it. */
#define IXGBE_PFQDE_WRITE 0x00010000u
/* Bit 17: Tell it. */
#define IXGBE_PFQDE_READ 0x00020000u

/* PFVMTXSW, rw: Pools whose packets may be looped back to other pools. */
#define IXGBE_PFVMTXSW(n) (0x05180u + 0x4u * (n))
#define IXGBE_PFVMTXSW_COUNT 2u

/* PFVFSPOOF, rw: Pools whose source addresses are checked, 8 an entry. */
#define IXGBE_PFVFSPOOF(n) (0x08200u + 0x4u * (n))
#define IXGBE_PFVFSPOOF_COUNT 8u
/* Bits 7:0: MAC address. */
#define IXGBE_PFVFSPOOF_MACAS 0x000000FFu
/* Bits 15:8: VLAN. */
#define IXGBE_PFVFSPOOF_VLANAS 0x0000FF00u

/* PFDTXGSWC, rw: Looping packets back between pools. */
#define IXGBE_PFDTXGSWC 0x08220u
/* Bit 0: It is done. */
#define IXGBE_PFDTXGSWC_LBE 0x00000001u

/* PFVMVIR, rw: VLAN tag that is put into a pool's packets. */
#define IXGBE_PFVMVIR(n) (0x08000u + 0x4u * (n))
#define IXGBE_PFVMVIR_COUNT 64u
/* Bits 15:0: The tag. */
#define IXGBE_PFVMVIR_PORT_VLAN 0x0000FFFFu
/* Bits 31:30: When: as the descriptor says, always, or never. */
#define IXGBE_PFVMVIR_VLANA 0xC0000000u
#define IXGBE_PFVMVIR_VLANA_DESCRIPTOR 0x00000000u
#define IXGBE_PFVMVIR_VLANA_DEFAULT 0x40000000u
#define IXGBE_PFVMVIR_VLANA_NEVER 0x80000000u

/* PFVML2FLT, rw: What a pool gets. Datasheet 8.2.3.27.14. */
#define IXGBE_PFVML2FLT(n) (0x0F000u + 0x4u * (n))
#define IXGBE_VMOLR(n) (0x0F000u + 0x4u * (n))
#define IXGBE_PFVML2FLT_COUNT 64u
/* Bit 22: All unicast packets. X540 and later. */
#define IXGBE_PFVML2FLT_UPE 0x00400000u
/* Bit 23: Packets of all VLANs. X540 and later. */
#define IXGBE_PFVML2FLT_VPE 0x00800000u
/* Bit 24: Packets without a VLAN tag. */
#define IXGBE_PFVML2FLT_AUPE 0x01000000u
/* Bit 25: Packets that MTA matches. */
#define IXGBE_PFVML2FLT_ROMPE 0x02000000u
/* Bit 26: Packets that PFUTA matches. */
#define IXGBE_PFVML2FLT_ROPE 0x04000000u
/* Bit 27: Broadcast packets. */
#define IXGBE_PFVML2FLT_BAM 0x08000000u
/* Bit 28: All multicast packets. */
#define IXGBE_PFVML2FLT_MPE 0x10000000u

/* PFVLVF, rw: A VLAN that pools share. Datasheet 8.2.3.27.15. */
#define IXGBE_PFVLVF(n) (0x0F100u + 0x4u * (n))
#define IXGBE_PFVLVF_COUNT 64u
/* Bits 11:0: The VLAN. */
#define IXGBE_PFVLVF_VLAN_ID 0x00000FFFu
/* Bit 31: It is valid. */
#define IXGBE_PFVLVF_VI_EN 0x80000000u

/* PFVLVFB, rw: Pools of a VLAN; 2n and 2n + 1 are those of PFVLVF(n). Datasheet 8.2.3.27.16. */
#define IXGBE_PFVLVFB(n) (0x0F200u + 0x4u * (n))
#define IXGBE_PFVLVFB_COUNT 128u

/* PFMRCTL, rw: What a rule mirrors, and to which pool. */
#define IXGBE_PFMRCTL(n) (0x0F600u + 0x4u * (n))
#define IXGBE_PFMRCTL_COUNT 4u
/* Bit 0: Packets of pools. */
#define IXGBE_PFMRCTL_VPME 0x00000001u
/* Bit 1: Packets received. */
#define IXGBE_PFMRCTL_UPME 0x00000002u
/* Bit 2: Packets sent. */
#define IXGBE_PFMRCTL_DPME 0x00000004u
/* Bit 3: Packets of VLANs. */
#define IXGBE_PFMRCTL_VLME 0x00000008u
/* Bits 13:8: Pool that gets them. */
#define IXGBE_PFMRCTL_MP 0x00003F00u

/* PFMRVLAN, rw: VLANs that a rule mirrors. */
#define IXGBE_PFMRVLAN(n) (0x0F610u + 0x4u * (n))
#define IXGBE_PFMRVLAN_COUNT 8u

/* PFMRVM, rw: Pools that a rule mirrors. */
#define IXGBE_PFMRVM(n) (0x0F630u + 0x4u * (n))
#define IXGBE_PFMRVM_COUNT 8u

/* VMECM, rw: Pools whose malicious packets are counted and stopped. X540 and later. */
#define IXGBE_VMECM(n) (0x08790u + 0x4u * (n))
#define IXGBE_VMECM_COUNT 2u

/* LVMMC_RX, ro: Last malicious receive event. */
#define IXGBE_LVMMC_RX 0x02FA8u

/* LVMMC_TX, ro: Last malicious transmit event. */
#define IXGBE_LVMMC_TX 0x08108u

/* LMVM_RX, ro: Last pool with a malicious receive event. */
#define IXGBE_LMVM_RX 0x02FA4u

/* LMVM_TX, ro: Last pool with a malicious transmit event. */
#define IXGBE_LMVM_TX 0x08124u

/* WQBR_RX, w1c: Receive queues stopped for malicious behaviour. */
#define IXGBE_WQBR_RX(n) (0x02FB0u + 0x4u * (n))
#define IXGBE_WQBR_RX_COUNT 4u

/* WQBR_TX, w1c: Transmit queues stopped for malicious behaviour. */
#define IXGBE_WQBR_TX(n) (0x08130u + 0x4u * (n))
#define IXGBE_WQBR_TX_COUNT 4u

/* PFMBMEM, rw: Mailboxes: memory, 16 dwords each; entry 16v + i is dword i of mailbox v. */
#define IXGBE_PFMBMEM(n) (0x13000u + 0x4u * (n))
#define IXGBE_PFMBMEM_COUNT 1024u

/* ---- FCoE ---- */

/* FCRXCTRL, rw: FCoE receive control. */
#define IXGBE_FCRXCTRL 0x05100u
/* Bit 0: Raise a low latency interrupt. */
#define IXGBE_FCRXCTRL_FCOELLI 0x00000001u
/* Bit 1: Keep bad frames. */
#define IXGBE_FCRXCTRL_SAVBAD 0x00000002u
/* Bit 2: Pass the first read header. */
#define IXGBE_FCRXCTRL_FRSTRDH 0x00000004u
/* Bit 3: Pass the last header of a sequence. */
#define IXGBE_FCRXCTRL_LASTSEQH 0x00000008u
/* Bit 4: Pass all headers. */
#define IXGBE_FCRXCTRL_ALLH 0x00000010u
/* Bit 5: Pass the first header of a sequence. */
#define IXGBE_FCRXCTRL_FRSTSEQH 0x00000020u
/* Bit 6: Ignore a wrong FC CRC. */
#define IXGBE_FCRXCTRL_ICRC 0x00000040u
/* Bit 7: Byte order of the FC CRC. */
#define IXGBE_FCRXCTRL_FCCRCBO 0x00000080u
/* Bits 11:8: Version of FCoE. */
#define IXGBE_FCRXCTRL_FCOEVER 0x00000F00u

/* FCRECTL, rw: FCoE redirection control. */
#define IXGBE_FCRECTL 0x0ED00u
/* Bit 0: Choose the queue by FCRETA. */
#define IXGBE_FCRECTL_ENA 0x00000001u

/* FCRETA, rw: FCoE redirection table. */
#define IXGBE_FCRETA(n) (0x0ED10u + 0x4u * (n))
#define IXGBE_FCRETA_COUNT 8u
/* Bits 6:0: Queue. */
#define IXGBE_FCRETA_ENTRY 0x0000007Fu

/* FCFLT, rw: FCoE filter context. */
#define IXGBE_FCFLT 0x05108u
/* Bit 0: It is valid. */
#define IXGBE_FCFLT_VALID 0x00000001u
/* Bit 1: First packet of a sequence is awaited. */
#define IXGBE_FCFLT_FIRST 0x00000002u
/* Bits 23:16: Sequence. */
#define IXGBE_FCFLT_SEQID 0x00FF0000u
/* Bits 31:24: Count within the sequence. */
#define IXGBE_FCFLT_SEQCNT 0xFF000000u

/* FCFLTRW, rw: Access to an FCoE filter context. */
#define IXGBE_FCFLTRW 0x05110u
/* Bits 8:0: Exchange. */
#define IXGBE_FCFLTRW_FCOESEL 0x000001FFu
/* Bit 13: Validate again. */
#define IXGBE_FCFLTRW_RVALDT 0x00002000u
/* Bit 14: Write. */
#define IXGBE_FCFLTRW_WE 0x00004000u
/* Bit 15: Read. */
#define IXGBE_FCFLTRW_RE 0x00008000u

/* FCPARAM, rw: FCoE parameter of the exchange. */
#define IXGBE_FCPARAM 0x051D8u

/* FCSMAC, rw: FCoE source address. */
#define IXGBE_FCSMAC 0x0510Cu

/* FCD_ID, rw: FCoE destination. */
#define IXGBE_FCD_ID 0x05114u

/* FCPTRL, rw: FCoE user descriptors' IOVA, low half. */
#define IXGBE_FCPTRL 0x02410u

/* FCPTRH, rw: FCoE user descriptors' IOVA, high half. */
#define IXGBE_FCPTRH 0x02414u

/* FCBUFF, rw: FCoE user buffers. */
#define IXGBE_FCBUFF 0x02418u
/* Bit 0: The context is valid. */
#define IXGBE_FCBUFF_VALID 0x00000001u
/* Bits 4:3: Size of a buffer: 4 KiB times 2 to the power of this. */
#define IXGBE_FCBUFF_BUFFSIZE 0x00000018u
/* Bit 7: This side is the target. */
#define IXGBE_FCBUFF_WRCONTX 0x00000080u
/* Bits 15:8: Buffers. */
#define IXGBE_FCBUFF_BUFFCNT 0x0000FF00u
/* Bits 31:16: Offset in the first buffer. */
#define IXGBE_FCBUFF_OFFSET 0xFFFF0000u

/* FCDMARW, rw: Access to an FCoE DMA context. */
#define IXGBE_FCDMARW 0x02420u
/* Bits 8:0: Exchange. */
#define IXGBE_FCDMARW_FCOESEL 0x000001FFu
/* Bit 14: Write. */
#define IXGBE_FCDMARW_WE 0x00004000u
/* Bit 15: Read. */
#define IXGBE_FCDMARW_RE 0x00008000u
/* Bits 31:16: Bytes in the last buffer. */
#define IXGBE_FCDMARW_LASTSIZE 0xFFFF0000u

/* TEOFF, rw: FCoE end-of-frame codes to send. */
#define IXGBE_TEOFF 0x04A94u

/* TSOFF, rw: FCoE start-of-frame codes to send. */
#define IXGBE_TSOFF 0x04A98u

/* REOFF, rw: FCoE end-of-frame codes received. */
#define IXGBE_REOFF 0x05158u

/* RSOFF, rw: FCoE start-of-frame codes received. */
#define IXGBE_RSOFF 0x051F8u

/* ---- Time stamps ---- */

/* TSYNCRXCTL, rw: Receive time stamps. */
#define IXGBE_TSYNCRXCTL 0x05188u
/* Bit 0, ro: RXSTMPL and RXSTMPH hold one. */
#define IXGBE_TSYNCRXCTL_VALID 0x00000001u
/* Bits 3:1: Packets that get one. */
#define IXGBE_TSYNCRXCTL_TYPE 0x0000000Eu
#define IXGBE_TSYNCRXCTL_TYPE_L2_V2 0x00000000u
#define IXGBE_TSYNCRXCTL_TYPE_L4_V1 0x00000002u
#define IXGBE_TSYNCRXCTL_TYPE_L2_L4_V2 0x00000004u
#define IXGBE_TSYNCRXCTL_TYPE_ALL 0x00000008u
#define IXGBE_TSYNCRXCTL_TYPE_EVENT_V2 0x0000000Au
/* Bit 4: They are taken. */
#define IXGBE_TSYNCRXCTL_ENABLED 0x00000010u

/* TSYNCTXCTL, rw: Transmit time stamps. */
#define IXGBE_TSYNCTXCTL 0x08C00u
/* Bit 0, ro: TXSTMPL and TXSTMPH hold one. */
#define IXGBE_TSYNCTXCTL_VALID 0x00000001u
/* Bit 4: They are taken. */
#define IXGBE_TSYNCTXCTL_ENABLED 0x00000010u

/* RXSTMPL, ro: Receive time stamp, low half. */
#define IXGBE_RXSTMPL 0x051E8u

/* RXSTMPH, ro: Receive time stamp, high half. The read frees it. */
#define IXGBE_RXSTMPH 0x051A4u

/* RXSATRL, ro: Source of the packet with the time stamp, low half. */
#define IXGBE_RXSATRL 0x051A0u

/* RXSATRH, ro: Source of the packet with the time stamp, high half, and its sequence. */
#define IXGBE_RXSATRH 0x051A8u

/* RXMTRL, rw: Messages that get a time stamp. */
#define IXGBE_RXMTRL 0x05120u
/* Bits 7:0: Control field of version 1. */
#define IXGBE_RXMTRL_CTRLT 0x000000FFu
/* Bits 15:8: Message type of version 2. */
#define IXGBE_RXMTRL_MSGT 0x0000FF00u
/* Bits 31:16: UDP port. */
#define IXGBE_RXMTRL_UDPT 0xFFFF0000u

/* TXSTMPL, ro: Transmit time stamp, low half. */
#define IXGBE_TXSTMPL 0x08C04u

/* TXSTMPH, ro: Transmit time stamp, high half. The read frees it. */
#define IXGBE_TXSTMPH 0x08C08u

/* SYSTIML, rw: The card's time, low half. The read holds SYSTIMH. */
#define IXGBE_SYSTIML 0x08C0Cu

/* SYSTIMH, rw: The card's time, high half. */
#define IXGBE_SYSTIMH 0x08C10u

/* TIMINCA, rw: How the card's time advances. */
#define IXGBE_TIMINCA 0x08C14u
/* Bits 23:0: Added at each step. */
#define IXGBE_TIMINCA_INCVALUE 0x00FFFFFFu
/* Bits 31:24: Clocks in a step. */
#define IXGBE_TIMINCA_INCPER 0xFF000000u

/* TIMADJL, rw: Adjustment of the card's time, low half. */
#define IXGBE_TIMADJL 0x08C18u

/* TIMADJH, rw: Adjustment of the card's time, high half and sign. */
#define IXGBE_TIMADJH 0x08C1Cu

/* TSAUXC, rw: Clock output and target times. */
#define IXGBE_TSAUXC 0x08C20u
/* Bit 0: Target time 0 counts. */
#define IXGBE_TSAUXC_EN_TT0 0x00000001u
/* Bit 1: Target time 1 counts. */
#define IXGBE_TSAUXC_EN_TT1 0x00000002u
/* Bit 2: Put out a clock. */
#define IXGBE_TSAUXC_EN_CLK 0x00000004u
/* Bit 3: Start the clock at the target time. */
#define IXGBE_TSAUXC_SYNCLK 0x00000008u
/* Bit 4: Level after target time 0. */
#define IXGBE_TSAUXC_ST0 0x00000010u
/* Bit 6: Pin SDP0 raises an interrupt. */
#define IXGBE_TSAUXC_SDP0_INT 0x00000040u
/* Bit 31: The card's time stands still. X550. */
#define IXGBE_TSAUXC_DISABLE_SYSTIME 0x80000000u

/* TRGTTIML0, rw: Target time 0, low half. */
#define IXGBE_TRGTTIML0 0x08C24u

/* TRGTTIMH0, rw: Target time 0, high half. */
#define IXGBE_TRGTTIMH0 0x08C28u

/* TRGTTIML1, rw: Target time 1, low half. */
#define IXGBE_TRGTTIML1 0x08C2Cu

/* TRGTTIMH1, rw: Target time 1, high half. */
#define IXGBE_TRGTTIMH1 0x08C30u

/* CLKTIML, rw: Period of the clock put out, low half. */
#define IXGBE_CLKTIML 0x08C34u

/* CLKTIMH, rw: Period of the clock put out, high half. */
#define IXGBE_CLKTIMH 0x08C38u

/* AUXSTMPL0, ro: Time stamp of pin event 0, low half. */
#define IXGBE_AUXSTMPL0 0x08C3Cu

/* AUXSTMPH0, ro: Time stamp of pin event 0, high half. */
#define IXGBE_AUXSTMPH0 0x08C40u

/* AUXSTMPL1, ro: Time stamp of pin event 1, low half. */
#define IXGBE_AUXSTMPL1 0x08C44u

/* AUXSTMPH1, ro: Time stamp of pin event 1, high half. */
#define IXGBE_AUXSTMPH1 0x08C48u

/* TSICR, w1c: Causes of time stamp interrupts. X540 and later. */
#define IXGBE_TSICR 0x08C60u

/* TSIM, rw: Time stamp interrupts that are enabled. X540 and later. */
#define IXGBE_TSIM 0x08C68u

/* ---- Waking the system ---- */

/* WUC, rw: Wake-up control. Datasheet 8.2.3.24.1. */
#define IXGBE_WUC 0x05800u
/* Bit 1: Wake the system. */
#define IXGBE_WUC_PME_EN 0x00000002u
/* Bit 2, w1c: The system was woken. */
#define IXGBE_WUC_PME_STATUS 0x00000004u
/* Bit 4: Use the pin PE_WAKE_N. */
#define IXGBE_WUC_WKEN 0x00000010u

/* WUFC, rw: What wakes the system. Datasheet 8.2.3.24.2. */
#define IXGBE_WUFC 0x05808u
/* Bit 0: A change of the link. */
#define IXGBE_WUFC_LNKC 0x00000001u
/* Bit 1: A magic packet. */
#define IXGBE_WUFC_MAG 0x00000002u
/* Bit 2: A packet to this address. */
#define IXGBE_WUFC_EX 0x00000004u
/* Bit 3: A multicast packet let in. */
#define IXGBE_WUFC_MC 0x00000008u
/* Bit 4: A broadcast packet. */
#define IXGBE_WUFC_BC 0x00000010u
/* Bit 5: An ARP request for this address. */
#define IXGBE_WUFC_ARP 0x00000020u
/* Bit 6: An IPv4 packet to this address. */
#define IXGBE_WUFC_IPV4 0x00000040u
/* Bit 7: An IPv6 packet to this address. */
#define IXGBE_WUFC_IPV6 0x00000080u
/* Bit 8: A packet for the firmware. */
#define IXGBE_WUFC_MNG 0x00000100u
/* Bit 15: Packets for the firmware do not count. */
#define IXGBE_WUFC_IGNORE_TCO 0x00008000u
/* Bits 21:16: Flexible filters, a bit each. */
#define IXGBE_WUFC_FLX 0x003F0000u
/* Bit 31: A reset of the firmware. */
#define IXGBE_WUFC_FW_RST_WK 0x80000000u

/* WUS, w1c: What woke the system. Bits as in WUFC. Datasheet 8.2.3.24.3. */
#define IXGBE_WUS 0x05810u

/* IPAV, rw: Which wake-up addresses are valid. */
#define IXGBE_IPAV 0x05838u

/* IP4AT, rw: IPv4 addresses that wake the system. */
#define IXGBE_IP4AT(n) (0x05840u + 0x8u * (n))
#define IXGBE_IP4AT_COUNT 4u

/* IP6AT, rw: IPv6 address that wakes the system. */
#define IXGBE_IP6AT(n) (0x05880u + 0x4u * (n))
#define IXGBE_IP6AT_COUNT 4u

/* WUPL, ro: Length of the packet that woke the system. */
#define IXGBE_WUPL 0x05900u

/* WUPM, ro: Start of the packet that woke the system. */
#define IXGBE_WUPM(n) (0x05A00u + 0x4u * (n))
#define IXGBE_WUPM_COUNT 32u

/* FHFT, rw: Flexible filters 0 to 3, 64 dwords each. Datasheet 8.2.3.24.9. */
#define IXGBE_FHFT(n) (0x09000u + 0x4u * (n))
#define IXGBE_FHFT_COUNT 256u

/* FHFT_EXT, rw: Flexible filters 4 and 5, 64 dwords each. Datasheet 8.2.3.24.9. */
#define IXGBE_FHFT_EXT(n) (0x09800u + 0x4u * (n))
#define IXGBE_FHFT_EXT_COUNT 128u

/* ---- Management ---- */

/* MANC, rw: Management control. */
#define IXGBE_MANC 0x05820u
/* Bit 17: The firmware gets packets. */
#define IXGBE_MANC_RCV_TCO_EN 0x00020000u
/* Bit 28: Packets between firmware and system. X540 and later. */
#define IXGBE_MANC_EN_BMC2OS 0x10000000u
/* Bit 30: The firmware answers for the system. X540 and later. */
#define IXGBE_MANC_MPROXYE 0x40000000u

/* MANC2H, ro: Packets for the firmware that the system gets too. */
#define IXGBE_MANC2H 0x05860u

/* MFVAL, ro: Which management filters are valid. */
#define IXGBE_MFVAL 0x05824u

/* MAVTV, rw: Management VLANs. */
#define IXGBE_MAVTV(n) (0x05010u + 0x4u * (n))
#define IXGBE_MAVTV_COUNT 8u

/* MFUTP, rw: Management ports. */
#define IXGBE_MFUTP(n) (0x05030u + 0x4u * (n))
#define IXGBE_MFUTP_COUNT 8u

/* MDEF, rw: Management filters. */
#define IXGBE_MDEF(n) (0x05890u + 0x4u * (n))
#define IXGBE_MDEF_COUNT 8u

/* MDEF_EXT, rw: Management filters, further conditions. */
#define IXGBE_MDEF_EXT(n) (0x05160u + 0x4u * (n))
#define IXGBE_MDEF_EXT_COUNT 8u

/* METF, rw: Management EtherTypes. */
#define IXGBE_METF(n) (0x05190u + 0x4u * (n))
#define IXGBE_METF_COUNT 4u

/* MMAL, rw: Management MAC addresses, first four bytes. */
#define IXGBE_MMAL(n) (0x05910u + 0x8u * (n))
#define IXGBE_MMAL_COUNT 4u

/* MMAH, rw: Management MAC addresses, last two bytes. */
#define IXGBE_MMAH(n) (0x05914u + 0x8u * (n))
#define IXGBE_MMAH_COUNT 4u

/* LSWFW, ro: Lock between LinkSec in software and firmware. */
#define IXGBE_LSWFW 0x15F14u

/* HICR, rw: Host interface to the firmware: control. */
#define IXGBE_HICR 0x15F00u
/* Bit 0, ro: The interface is on. */
#define IXGBE_HICR_EN 0x00000001u
/* Bit 1, sc: A command is in FLEX_MNG: run it. */
#define IXGBE_HICR_C 0x00000002u
/* Bit 2, ro: The answer is valid. */
#define IXGBE_HICR_SV 0x00000004u
/* Bit 6: The firmware may be reset. */
#define IXGBE_HICR_FW_RESET_ENABLE 0x00000040u
/* Bit 7, sc: Reset the firmware. */
#define IXGBE_HICR_FW_RESET 0x00000080u

/* FWSTS, rw: Firmware status. */
#define IXGBE_FWSTS 0x15F0Cu
/* Bit 9, w1c: The firmware was reset. */
#define IXGBE_FWSTS_FWRI 0x00000200u

/* FLEX_MNG, rw: Host interface to the firmware: commands and answers. */
#define IXGBE_FLEX_MNG(n) (0x15800u + 0x4u * (n))
#define IXGBE_FLEX_MNG_COUNT 448u

/* ---- LinkSec and IPsec ---- */

/* LSECTXCAP, ro: LinkSec transmit capabilities. */
#define IXGBE_LSECTXCAP 0x08A00u

/* LSECRXCAP, ro: LinkSec receive capabilities. */
#define IXGBE_LSECRXCAP 0x08F00u

/* LSECTXCTRL, rw: LinkSec transmit control. */
#define IXGBE_LSECTXCTRL 0x08A04u
/* Bits 1:0: What to do. */
#define IXGBE_LSECTXCTRL_EN 0x00000003u
#define IXGBE_LSECTXCTRL_EN_OFF 0x00000000u
#define IXGBE_LSECTXCTRL_EN_AUTHENTICATE 0x00000001u
#define IXGBE_LSECTXCTRL_EN_ENCRYPT 0x00000002u
/* Bit 5: Put the SCI into packets. */
#define IXGBE_LSECTXCTRL_AISCI 0x00000020u
/* Bits 31:8: Packet number at which to warn. */
#define IXGBE_LSECTXCTRL_PNTHRSH 0xFFFFFF00u

/* LSECRXCTRL, rw: LinkSec receive control. */
#define IXGBE_LSECRXCTRL 0x08F04u
/* Bits 3:2: What to do. */
#define IXGBE_LSECRXCTRL_EN 0x0000000Cu
#define IXGBE_LSECRXCTRL_EN_OFF 0x00000000u
#define IXGBE_LSECRXCTRL_EN_CHECK 0x00000004u
#define IXGBE_LSECRXCTRL_EN_STRICT 0x00000008u
#define IXGBE_LSECRXCTRL_EN_DROP 0x0000000Cu
/* Bit 6: Pass the header on. */
#define IXGBE_LSECRXCTRL_PLSH 0x00000040u
/* Bit 7: Protect against replay. */
#define IXGBE_LSECRXCTRL_RP 0x00000080u

/* LSECTXSCL, rw: LinkSec SCI to send, low half. */
#define IXGBE_LSECTXSCL 0x08A08u

/* LSECTXSCH, rw: LinkSec SCI to send, high half. */
#define IXGBE_LSECTXSCH 0x08A0Cu

/* LSECTXSA, rw: LinkSec associations to send. */
#define IXGBE_LSECTXSA 0x08A10u

/* LSECTXPN0, rw: LinkSec packet number to send, association 0. */
#define IXGBE_LSECTXPN0 0x08A14u

/* LSECTXPN1, rw: LinkSec packet number to send, association 1. */
#define IXGBE_LSECTXPN1 0x08A18u

/* LSECTXKEY0, wo: LinkSec key to send, association 0. */
#define IXGBE_LSECTXKEY0(n) (0x08A1Cu + 0x4u * (n))
#define IXGBE_LSECTXKEY0_COUNT 4u

/* LSECTXKEY1, wo: LinkSec key to send, association 1. */
#define IXGBE_LSECTXKEY1(n) (0x08A2Cu + 0x4u * (n))
#define IXGBE_LSECTXKEY1_COUNT 4u

/* LSECRXSCL, rw: LinkSec SCI to receive, low half. */
#define IXGBE_LSECRXSCL 0x08F08u

/* LSECRXSCH, rw: LinkSec SCI to receive, high half. */
#define IXGBE_LSECRXSCH 0x08F0Cu

/* LSECRXSA, rw: LinkSec associations to receive. */
#define IXGBE_LSECRXSA(n) (0x08F10u + 0x4u * (n))
#define IXGBE_LSECRXSA_COUNT 2u

/* LSECRXPN, rw: LinkSec packet numbers to receive. */
#define IXGBE_LSECRXPN(n) (0x08F18u + 0x4u * (n))
#define IXGBE_LSECRXPN_COUNT 2u

/* LSECRXKEY, wo: LinkSec keys to receive, 4 dwords for each of two associations. */
#define IXGBE_LSECRXKEY(n) (0x08F20u + 0x4u * (n))
#define IXGBE_LSECRXKEY_COUNT 8u

/* LSECTXUT, rc: LinkSec packets sent without a tag. */
#define IXGBE_LSECTXUT 0x08A3Cu

/* LSECTXPKTE, rc: LinkSec packets sent encrypted. */
#define IXGBE_LSECTXPKTE 0x08A40u

/* LSECTXPKTP, rc: LinkSec packets sent authenticated. */
#define IXGBE_LSECTXPKTP 0x08A44u

/* LSECTXOCTE, rc: LinkSec bytes sent encrypted. */
#define IXGBE_LSECTXOCTE 0x08A48u

/* LSECTXOCTP, rc: LinkSec bytes sent authenticated. */
#define IXGBE_LSECTXOCTP 0x08A4Cu

/* LSECRXUT, rc: LinkSec packets received without a tag. */
#define IXGBE_LSECRXUT 0x08F40u

/* LSECRXOCTD, rc: LinkSec bytes decrypted. */
#define IXGBE_LSECRXOCTD 0x08F44u

/* LSECRXOCTV, rc: LinkSec bytes checked. */
#define IXGBE_LSECRXOCTV 0x08F48u

/* LSECRXBAD, rc: LinkSec packets with a bad tag. */
#define IXGBE_LSECRXBAD 0x08F4Cu

/* LSECRXNOSCI, rc: LinkSec packets without an SCI. */
#define IXGBE_LSECRXNOSCI 0x08F50u

/* LSECRXUNSCI, rc: LinkSec packets with an unknown SCI. */
#define IXGBE_LSECRXUNSCI 0x08F54u

/* LSECRXUNCH, rc: LinkSec packets not checked. */
#define IXGBE_LSECRXUNCH 0x08F58u

/* LSECRXDELAY, rc: LinkSec packets delayed. */
#define IXGBE_LSECRXDELAY 0x08F5Cu

/* LSECRXLATE, rc: LinkSec packets late. */
#define IXGBE_LSECRXLATE 0x08F60u

/* LSECRXOK, rc: LinkSec packets good, by association. */
#define IXGBE_LSECRXOK(n) (0x08F64u + 0x4u * (n))
#define IXGBE_LSECRXOK_COUNT 2u

/* LSECRXINV, rc: LinkSec packets invalid, by association. */
#define IXGBE_LSECRXINV(n) (0x08F6Cu + 0x4u * (n))
#define IXGBE_LSECRXINV_COUNT 2u

/* LSECRXNV, rc: LinkSec packets not valid, by association. */
#define IXGBE_LSECRXNV(n) (0x08F74u + 0x4u * (n))
#define IXGBE_LSECRXNV_COUNT 2u

/* LSECRXUNSA, rc: LinkSec packets of an unused association. */
#define IXGBE_LSECRXUNSA 0x08F7Cu

/* LSECRXNUSA, rc: LinkSec packets of no association. */
#define IXGBE_LSECRXNUSA 0x08F80u

/* IPSTXIDX, rw: IPsec transmit table: access. */
#define IXGBE_IPSTXIDX 0x08900u
/* Bit 0: Look for IPsec in what is sent. */
#define IXGBE_IPSTXIDX_IPS_TX_EN 0x00000001u
/* Bits 12:3: Index in the table. */
#define IXGBE_IPSTXIDX_TB_IDX 0x00001FF8u
/* Bit 30, sc: Read the entry. */
#define IXGBE_IPSTXIDX_READ 0x40000000u
/* Bit 31, sc: Write the entry. */
#define IXGBE_IPSTXIDX_WRITE 0x80000000u

/* IPSTXSALT, rw: IPsec transmit table: salt. */
#define IXGBE_IPSTXSALT 0x08904u

/* IPSTXKEY, rw: IPsec transmit table: key. */
#define IXGBE_IPSTXKEY(n) (0x08908u + 0x4u * (n))
#define IXGBE_IPSTXKEY_COUNT 4u

/* IPSRXIDX, rw: IPsec receive tables: access. */
#define IXGBE_IPSRXIDX 0x08E00u
/* Bit 0: Look for IPsec in what is received. */
#define IXGBE_IPSRXIDX_IPS_RX_EN 0x00000001u
/* Bits 2:1: Which table. */
#define IXGBE_IPSRXIDX_TABLE 0x00000006u
#define IXGBE_IPSRXIDX_TABLE_IP 0x00000002u
#define IXGBE_IPSRXIDX_TABLE_SPI 0x00000004u
#define IXGBE_IPSRXIDX_TABLE_KEY 0x00000006u
/* Bits 12:3: Index in the table. */
#define IXGBE_IPSRXIDX_TB_IDX 0x00001FF8u
/* Bit 30, sc: Read the entry. */
#define IXGBE_IPSRXIDX_READ 0x40000000u
/* Bit 31, sc: Write the entry. */
#define IXGBE_IPSRXIDX_WRITE 0x80000000u

/* IPSRXIPADDR, rw: IPsec receive tables: address. */
#define IXGBE_IPSRXIPADDR(n) (0x08E04u + 0x4u * (n))
#define IXGBE_IPSRXIPADDR_COUNT 4u

/* IPSRXSPI, rw: IPsec receive tables: SPI. */
#define IXGBE_IPSRXSPI 0x08E14u

/* IPSRXIPIDX, rw: IPsec receive tables: index of the address. */
#define IXGBE_IPSRXIPIDX 0x08E18u

/* IPSRXKEY, rw: IPsec receive tables: key. */
#define IXGBE_IPSRXKEY(n) (0x08E1Cu + 0x4u * (n))
#define IXGBE_IPSRXKEY_COUNT 4u

/* IPSRXSALT, rw: IPsec receive tables: salt. */
#define IXGBE_IPSRXSALT 0x08E2Cu

/* IPSRXMOD, rw: IPsec receive tables: mode. */
#define IXGBE_IPSRXMOD 0x08E30u
/* Bit 0: The entry is valid. */
#define IXGBE_IPSRXMOD_VALID 0x00000001u
/* Bit 2: ESP; else AH. */
#define IXGBE_IPSRXMOD_PROTO 0x00000004u
/* Bit 3: Decrypt. */
#define IXGBE_IPSRXMOD_DECRYPT 0x00000008u
/* Bit 4: The address is an IPv6 one. */
#define IXGBE_IPSRXMOD_IPV6 0x00000010u

/* ---- Diagnostics ---- */

/* RDHMPN, rw: Access to receive descriptors on the chip. */
#define IXGBE_RDHMPN 0x02F08u

/* RIC_DW, ro: A receive descriptor on the chip. */
#define IXGBE_RIC_DW(n) (0x02F10u + 0x4u * (n))
#define IXGBE_RIC_DW_COUNT 4u

/* RDPROBE, rw: Probe in receive DMA. */
#define IXGBE_RDPROBE 0x02F20u

/* RDMAM, rw: Access to the memories of receive DMA. */
#define IXGBE_RDMAM 0x02F30u

/* RDMAD, ro: A dword of a memory of receive DMA. */
#define IXGBE_RDMAD 0x02F34u

/* TDHMPN2, rw: Access to transmit descriptors on the chip. */
#define IXGBE_TDHMPN2 0x082FCu

/* TXDESCIC, ro: Transmit descriptors on the chip. */
#define IXGBE_TXDESCIC 0x082CCu
/* Bit 31: TIC_DW2 holds one. */
#define IXGBE_TXDESCIC_READY 0x80000000u

/* TIC_DW2, ro: A transmit descriptor on the chip. */
#define IXGBE_TIC_DW2(n) (0x082B0u + 0x4u * (n))
#define IXGBE_TIC_DW2_COUNT 4u

/* TXLLQ, rw: Queues with strict low latency. */
#define IXGBE_TXLLQ(n) (0x082E0u + 0x4u * (n))
#define IXGBE_TXLLQ_COUNT 4u

/* RDSTATCTL, rw: Receive statistics for debugging: control. */
#define IXGBE_RDSTATCTL 0x02C20u

/* RDSTAT, rc: Receive statistics for debugging. */
#define IXGBE_RDSTAT(n) (0x02C00u + 0x4u * (n))
#define IXGBE_RDSTAT_COUNT 8u

/* RXMEMWRAP, ro: Times a receive packet buffer wrapped. */
#define IXGBE_RXMEMWRAP 0x03190u

/* RXUSED, ro: Fill of a receive packet buffer. */
#define IXGBE_RXUSED(n) (0x03120u + 0x4u * (n))
#define IXGBE_RXUSED_COUNT 8u

/* TXUSED, ro: Fill of a transmit packet buffer. */
#define IXGBE_TXUSED(n) (0x0C120u + 0x4u * (n))
#define IXGBE_TXUSED_COUNT 8u

/* PCIE_DIAG, ro: PCI Express diagnostics. */
#define IXGBE_PCIE_DIAG(n) (0x11090u + 0x4u * (n))
#define IXGBE_PCIE_DIAG_COUNT 8u

/* GSCL_1, rw: PCI Express statistics: control. */
#define IXGBE_GSCL_1 0x11010u

/* GSCL_2, rw: PCI Express statistics: events. */
#define IXGBE_GSCL_2 0x11014u

/* GSCL_5, rw: PCI Express statistics: thresholds. */
#define IXGBE_GSCL_5(n) (0x11030u + 0x4u * (n))
#define IXGBE_GSCL_5_COUNT 4u

/* GSCN, rc: PCI Express statistics: counters. */
#define IXGBE_GSCN(n) (0x11020u + 0x4u * (n))
#define IXGBE_GSCN_COUNT 4u

/* BARCTRL, ro: Sizes of the memory regions. */
#define IXGBE_BARCTRL 0x110F4u
/* Bits 10:8: Flash. */
#define IXGBE_BARCTRL_FLSIZE 0x00000700u
/* Bit 13: Registers: 256 KiB; else 128 KiB. */
#define IXGBE_BARCTRL_CSRSIZE 0x00002000u

/* ECC_CTRL_0, rw: PCI Express memory errors: control 0. */
#define IXGBE_ECC_CTRL_0 0x11100u

/* ECC_CTRL_1, rw: PCI Express memory errors: control 1. */
#define IXGBE_ECC_CTRL_1 0x11104u

/* ECC_STATUS, ro: PCI Express memory errors. */
#define IXGBE_ECC_STATUS 0x110E0u

/* ---- Descriptors ---- */
/* Masks of 64 bits, of one of the two quad words of a descriptor. */

/* RXD, as software writes it: Advanced receive descriptor: where the packet goes. Datasheet 7.1.6.1. */
/* Word 0, bits 63:0: IOVA of the packet buffer. */
#define IXGBE_RXD_PACKET_ADDRESS UINT64_C(0xFFFFFFFFFFFFFFFF)
/* Word 1, bits 63:1: IOVA of the header buffer; its bit 0 is where DD will be. */
#define IXGBE_RXD_HEADER_ADDRESS UINT64_C(0xFFFFFFFFFFFFFFFE)

/* RXD, as hardware writes it back: Advanced receive descriptor: what has arrived. Datasheet 7.1.6.2. */
/* Word 0, bits 3:0: Which fields of the packet the RSS hash covers. */
#define IXGBE_RXD_RSS_TYPE UINT64_C(0x000000000000000F)
/* Word 0, bits 16:4: Protocols found in the packet. */
#define IXGBE_RXD_PACKET_TYPE UINT64_C(0x000000000001FFF0)
/* Word 0, bits 20:17: Packets coalesced into this one. */
#define IXGBE_RXD_RSCCNT UINT64_C(0x00000000001E0000)
/* Word 0, bits 30:21: Bytes in the header buffer. */
#define IXGBE_RXD_HDR_LEN UINT64_C(0x000000007FE00000)
/* Word 0, bit 31: The header was found and may have been split off. */
#define IXGBE_RXD_SPH UINT64_C(0x0000000080000000)
/* Word 0, bits 63:32: RSS hash, or what another filter reports in its place. */
#define IXGBE_RXD_RSS_HASH UINT64_C(0xFFFFFFFF00000000)
/* Word 1, bits 19:0: All status bits, DD to TS; each has its own name too. */
#define IXGBE_RXD_STATUS UINT64_C(0x00000000000FFFFF)
/* Word 1, bits 31:20: All error bits; some have their own name too. */
#define IXGBE_RXD_ERRORS UINT64_C(0x00000000FFF00000)
/* Word 1, bits 47:32: Bytes in the packet buffer. */
#define IXGBE_RXD_LENGTH UINT64_C(0x0000FFFF00000000)
/* Word 1, bits 63:48: VLAN tag that was taken out of the packet. */
#define IXGBE_RXD_VLAN UINT64_C(0xFFFF000000000000)

/* RXD, bits of STATUS and ERRORS: Advanced receive descriptor: the status and error bits one by one. Datasheet 7.1.6.2. */
/* Word 1, bit 0: Descriptor done: it is software's again. */
#define IXGBE_RXD_DD UINT64_C(0x0000000000000001)
/* Word 1, bit 1: End of packet: the packet ends in this buffer. */
#define IXGBE_RXD_EOP UINT64_C(0x0000000000000002)
/* Word 1, bit 2: A flow director filter matched. */
#define IXGBE_RXD_FLM UINT64_C(0x0000000000000004)
/* Word 1, bit 3: The packet had a VLAN tag. */
#define IXGBE_RXD_VP UINT64_C(0x0000000000000008)
/* Word 1, bit 4: UDP checksum was calculated. */
#define IXGBE_RXD_UDPCS UINT64_C(0x0000000000000010)
/* Word 1, bit 5: TCP or UDP checksum was checked. */
#define IXGBE_RXD_L4I UINT64_C(0x0000000000000020)
/* Word 1, bit 6: IPv4 checksum was checked. */
#define IXGBE_RXD_IPCS UINT64_C(0x0000000000000040)
/* Word 1, bit 7: Address matched by hash only, not exactly. */
#define IXGBE_RXD_PIF UINT64_C(0x0000000000000080)
/* Word 1, bit 9: Outer VLAN tag found, in double VLAN mode. */
#define IXGBE_RXD_VEXT UINT64_C(0x0000000000000200)
/* Word 1, bit 10: UDP checksum field is not zero. */
#define IXGBE_RXD_UDPV UINT64_C(0x0000000000000400)
/* Word 1, bit 11: Low latency interrupt was raised for it. */
#define IXGBE_RXD_LLINT UINT64_C(0x0000000000000800)
/* Word 1, bit 16: A time stamp was taken. */
#define IXGBE_RXD_TS UINT64_C(0x0000000000010000)
/* Word 1, bit 17: IPsec or LinkSec was processed. */
#define IXGBE_RXD_SECP UINT64_C(0x0000000000020000)
/* Word 1, bit 18: Looped back from another pool of this port. */
#define IXGBE_RXD_LB UINT64_C(0x0000000000040000)
/* Word 1, bits 22:20: Flow director error. */
#define IXGBE_RXD_FDIRERR UINT64_C(0x0000000000700000)
/* Word 1, bit 23: Header buffer overflow. */
#define IXGBE_RXD_HBO UINT64_C(0x0000000000800000)
/* Word 1, bits 28:27: IPsec or LinkSec error. */
#define IXGBE_RXD_SECERR UINT64_C(0x0000000018000000)
/* Word 1, bit 29: MAC error: CRC, length, size or symbol. */
#define IXGBE_RXD_RXE UINT64_C(0x0000000020000000)
/* Word 1, bit 30: TCP or UDP checksum is wrong. */
#define IXGBE_RXD_L4E UINT64_C(0x0000000040000000)
/* Word 1, bit 31: IPv4 checksum is wrong. */
#define IXGBE_RXD_IPE UINT64_C(0x0000000080000000)

/* TXD, data, as software writes it: Advanced transmit data descriptor: a packet, or a part of one, to send. Datasheet 7.2.3.2.4. */
/* Word 0, bits 63:0: IOVA of the data. */
#define IXGBE_TXD_ADDRESS UINT64_C(0xFFFFFFFFFFFFFFFF)
/* Word 1, bits 15:0: Bytes at that address. */
#define IXGBE_TXD_DTALEN UINT64_C(0x000000000000FFFF)
/* Word 1, bits 19:18: Work for the MAC: time stamp, LinkSec. */
#define IXGBE_TXD_MAC UINT64_C(0x00000000000C0000)
#define IXGBE_TXD_MAC_LINKSEC UINT64_C(0x0000000000040000)
#define IXGBE_TXD_MAC_1588 UINT64_C(0x0000000000080000)
/* Word 1, bits 23:20: Kind of advanced descriptor. */
#define IXGBE_TXD_DTYP UINT64_C(0x0000000000F00000)
#define IXGBE_TXD_DTYP_CONTEXT UINT64_C(0x0000000000200000)
#define IXGBE_TXD_DTYP_DATA UINT64_C(0x0000000000300000)
/* Word 1, bit 24: End of packet. */
#define IXGBE_TXD_EOP UINT64_C(0x0000000001000000)
/* Word 1, bit 25: Insert the frame's CRC. */
#define IXGBE_TXD_IFCS UINT64_C(0x0000000002000000)
/* Word 1, bit 27: Report status: write the descriptor back with DD. */
#define IXGBE_TXD_RS UINT64_C(0x0000000008000000)
/* Word 1, bit 29: Advanced format; 0 is the legacy one. */
#define IXGBE_TXD_DEXT UINT64_C(0x0000000020000000)
/* Word 1, bit 30: Insert a VLAN tag. */
#define IXGBE_TXD_VLE UINT64_C(0x0000000040000000)
/* Word 1, bit 31: Segment TCP. */
#define IXGBE_TXD_TSE UINT64_C(0x0000000080000000)
/* Word 1, bits 38:36: Context that offloads refer to. */
#define IXGBE_TXD_IDX UINT64_C(0x0000007000000000)
/* Word 1, bit 39: Check context: one has been set up. */
#define IXGBE_TXD_CC UINT64_C(0x0000008000000000)
/* Word 1, bits 45:40: Packet options: IP and TCP checksum, IPsec. */
#define IXGBE_TXD_POPTS UINT64_C(0x00003F0000000000)
#define IXGBE_TXD_POPTS_IXSM UINT64_C(0x0000010000000000)
#define IXGBE_TXD_POPTS_TXSM UINT64_C(0x0000020000000000)
#define IXGBE_TXD_POPTS_IPSEC UINT64_C(0x0000040000000000)
/* Word 1, bits 63:46: Bytes of the whole packet, without CRC. */
#define IXGBE_TXD_PAYLEN UINT64_C(0xFFFFC00000000000)

/* TXD, context, as software writes it: Advanced transmit context descriptor: where headers are, for offloads. Datasheet 7.2.3.2.3. */
/* Word 0, bits 8:0: Bytes of the IP header, extensions included. */
#define IXGBE_TXD_CONTEXT_IPLEN UINT64_C(0x00000000000001FF)
/* Word 0, bits 15:9: Bytes of the Ethernet header, without the tag to insert. */
#define IXGBE_TXD_CONTEXT_MACLEN UINT64_C(0x000000000000FE00)
/* Word 0, bits 31:16: VLAN tag to insert. */
#define IXGBE_TXD_CONTEXT_VLAN UINT64_C(0x00000000FFFF0000)
/* Word 1, bit 10: The IP header is version 4. */
#define IXGBE_TXD_CONTEXT_IPV4 UINT64_C(0x0000000000000400)
/* Word 1, bits 12:11: What follows the IP header. */
#define IXGBE_TXD_CONTEXT_L4T UINT64_C(0x0000000000001800)
#define IXGBE_TXD_CONTEXT_L4T_UDP UINT64_C(0x0000000000000000)
#define IXGBE_TXD_CONTEXT_L4T_TCP UINT64_C(0x0000000000000800)
#define IXGBE_TXD_CONTEXT_L4T_SCTP UINT64_C(0x0000000000001000)
/* Word 1, bits 47:40: Bytes of that header; for segmentation. */
#define IXGBE_TXD_CONTEXT_L4LEN UINT64_C(0x0000FF0000000000)
/* Word 1, bits 63:48: Most bytes of payload in a segment; for segmentation. */
#define IXGBE_TXD_CONTEXT_MSS UINT64_C(0xFFFF000000000000)

/* TXD, as hardware writes it back: Transmit descriptor: done. Datasheet 7.2.3.2.4. */
/* Word 1, bit 32: Descriptor done: hardware has fetched the data. */
#define IXGBE_TXD_DD UINT64_C(0x0000000100000000)

/* ---- PCI configuration space ---- */

/* Who made the device. (2 bytes) */
#define IXGBE_PCI_VENDOR_ID 0x00u
#define IXGBE_PCI_VENDOR_ID_INTEL 0x8086u

/* Which device it is: see the table of network cards. (2 bytes) */
#define IXGBE_PCI_DEVICE_ID 0x02u

/* What the device may do on the bus. (2 bytes) */
#define IXGBE_PCI_COMMAND 0x04u
/* Bit 0: Answer accesses to I/O ports. */
#define IXGBE_PCI_COMMAND_IO 0x0001u
/* Bit 1: Answer accesses to memory, such as the registers. */
#define IXGBE_PCI_COMMAND_MEMORY 0x0002u
/* Bit 2: Read and write memory by itself: DMA, and MSI. */
#define IXGBE_PCI_COMMAND_BUS_MASTER 0x0004u
/* Bit 6: Report parity errors. */
#define IXGBE_PCI_COMMAND_PARITY 0x0040u
/* Bit 8: Report errors to the system. */
#define IXGBE_PCI_COMMAND_SERR 0x0100u
/* Bit 10: Do not raise legacy interrupts. */
#define IXGBE_PCI_COMMAND_INTX_DISABLE 0x0400u

/* What has happened on the bus. (2 bytes) */
#define IXGBE_PCI_STATUS 0x06u
/* Bit 4: There is a list of capabilities. */
#define IXGBE_PCI_STATUS_CAPABILITIES 0x0010u

/* Revision of the device. (1 bytes) */
#define IXGBE_PCI_REVISION_ID 0x08u

/* Kind of device: base class and subclass. (2 bytes) */
#define IXGBE_PCI_CLASS_CODE 0x0au
#define IXGBE_PCI_CLASS_CODE_ETHERNET 0x0200u

/* Layout of the rest, and whether there are more functions. (1 bytes) */
#define IXGBE_PCI_HEADER_TYPE 0x0eu

/* Address of the register space, low half; BAR 0 has 64 bits. (4 bytes) */
#define IXGBE_PCI_BAR0 0x10u

/* Who made the card. (2 bytes) */
#define IXGBE_PCI_SUBSYSTEM_VENDOR_ID 0x2cu

/* Which card it is. (2 bytes) */
#define IXGBE_PCI_SUBSYSTEM_ID 0x2eu

/* Where the list of capabilities starts. (1 bytes) */
#define IXGBE_PCI_CAPABILITIES 0x34u

/* Power state of the function: PMCSR of the capability at 0x40. (2 bytes) */
#define IXGBE_PCI_POWER_STATUS 0x44u
/* Bits 1:0: 0 is D0, working; 3 is D3. */
#define IXGBE_PCI_POWER_STATUS_POWER_STATE 0x0003u
/* Bit 8: Wake the system. */
#define IXGBE_PCI_POWER_STATUS_PME_EN 0x0100u
/* Bit 15: The system was woken. */
#define IXGBE_PCI_POWER_STATUS_PME_STATUS 0x8000u

/* State of the function: Device Status of the PCI Express capability at 0xA0. (2 bytes) */
#define IXGBE_PCI_DEVICE_STATUS 0xaau
/* Bit 5: Requests of the device are under way. */
#define IXGBE_PCI_DEVICE_STATUS_TRANSACTION_PENDING 0x0020u

/* Speed and width of the slot: Link Status of the PCI Express capability at 0xA0. (2 bytes) */
#define IXGBE_PCI_LINK_STATUS 0xb2u
/* Bits 3:0: 1 is 2.5 GT/s, 2 is 5 GT/s, 3 is 8 GT/s. */
#define IXGBE_PCI_LINK_STATUS_SPEED 0x000fu
/* Bits 9:4: Lanes. */
#define IXGBE_PCI_LINK_STATUS_WIDTH 0x03f0u

/* clang-format on */

#endif
