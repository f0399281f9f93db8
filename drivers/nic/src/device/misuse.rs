//! Writes that a driver should not make. Hardware accepts them, and they go wrong later.

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
