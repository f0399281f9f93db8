//! Writes that a driver should not make. Hardware accepts them, and they go wrong later.

use crate::device::families::Family;
use crate::device::packet_buffer::bytes_in_use;
use crate::device::register_file::{Located, RegisterFile};
use crate::device::registers::{self as r, RegisterId};

/// What is wrong with a write, in words; `None` if nothing is. `queue_is_off` says that the register
/// belongs to a queue that is not enabled.
pub(crate) fn misuse(
    register: &Located,
    value: u32,
    registers: &RegisterFile,
    queue_is_off: bool,
) -> Option<String> {
    let is_set = |address, bit| registers.get(address) & bit != 0;
    match register.id {
        RegisterId::RDT | RegisterId::TDT => (value != 0 && queue_is_off)
            .then(|| format!("{register} raised before the queue was enabled")),
        RegisterId::FCTRL if is_set(r::RXCTRL, r::RXCTRL_RXEN) => {
            Some("FCTRL changed while RXCTRL.RXEN is set: clear RXEN first".to_owned())
        }
        RegisterId::EIMC if value >> 31 == 1 => {
            Some("EIMC: bit 31 is reserved, and was written as 1".to_owned())
        }
        RegisterId::DTXMXSZRQ if value >> 12 != 0 => {
            Some("DTXMXSZRQ: bits above 11 are reserved, and were written as 1".to_owned())
        }
        RegisterId::DTXMXSZRQ
        | RegisterId::TXPBSIZE
        | RegisterId::TXPBTHRESH
        | RegisterId::MTQC
            if !is_set(r::RTTDCS, r::RTTDCS_ARBDIS) =>
        {
            let name = register.id;
            Some(format!("{name} changed while RTTDCS.ARBDIS is clear"))
        }
        _ if registers.is_read_only(register.address) => {
            Some(format!("write to {register}, which is read-only"))
        }
        _ => None,
    }
}

/// What is wrong with the division of the packet buffer, in words; `None` if nothing is. `written` is
/// the register that has just changed. A card does not receive while its buffers exceed its memory.
pub(crate) fn packet_buffer_misuse(
    written: &Located,
    registers: &RegisterFile,
    family: &Family,
) -> Option<String> {
    let (name, limit) = (family.name, family.rx_packet_buffer / 1024);
    match written.id {
        RegisterId::RXPBSIZE => {
            let kib = bytes_in_use(registers) / 1024;
            (kib > limit).then(|| {
                format!("RXPBSIZE: {kib} KiB in use, but the {name} has {limit} KiB; it does not receive")
            })
        }
        RegisterId::FCRTH => {
            let threshold = registers.get(written.address) & r::FCRTH_RTH;
            (threshold as usize > family.rx_packet_buffer).then(|| {
                let kib = threshold / 1024;
                format!("{written}: a threshold at {kib} KiB, but the {name} has {limit} KiB")
            })
        }
        _ => None,
    }
}

/// Descriptors that the card can hold for one transmit queue.
const ON_CHIP_DESCRIPTORS: u32 = 40;

/// What is wrong with the write-back settings of a transmit queue that a driver enables, in words;
/// `None` if nothing is. 7.2.3.4.1: the queue has 40 descriptors on the chip for prefetching and for
/// write-backs together. 8.2.3.9.10: the head write-back needs WTHRESH 0.
pub(crate) fn write_back_misuse(control: u32, head_write_back: bool) -> Option<String> {
    let prefetch = r::field_get(r::TXDCTL_PTHRESH, control);
    let write_back = r::field_get(r::TXDCTL_WTHRESH, control);
    if head_write_back && write_back > 0 {
        return Some(format!(
            "TXDCTL.WTHRESH {write_back} with TDWBAL.HEAD_WB_EN: the head write-back needs WTHRESH 0"
        ));
    }
    (prefetch + write_back > ON_CHIP_DESCRIPTORS).then(|| {
        format!(
            "TXDCTL: PTHRESH {prefetch} and WTHRESH {write_back} exceed the {ON_CHIP_DESCRIPTORS} descriptors on the chip"
        )
    })
}
