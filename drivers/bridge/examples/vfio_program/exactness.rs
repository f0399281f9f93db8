//! Cases in which a bridge could easily do almost what the kernel and the processor do.

use super::*;

/// Accesses a register by the instruction that the second argument names.
pub fn refused() {
    let port = open_port();
    let register = map_registers(port.device).wrapping_byte_add(STATUS);
    // SAFETY: the registers are mapped, and the bridge refuses each of these instructions.
    unsafe {
        match std::env::args().nth(2).unwrap_or_default().as_str() {
            "float" => std::arch::asm!("fld dword ptr [rdi]", in("rdi") register),
            "segment" => std::arch::asm!("mov word ptr [rdi], es", in("rdi") register),
            "bit" => std::arch::asm!("bts dword ptr [rdi], eax", in("rdi") register, in("rax") 1),
            "wide" => std::arch::asm!("vmovdqu ymm1, [rdi]", in("rdi") register),
            // A load without lanes would not fault.
            "mask" => std::arch::asm!(
                "kmovw k1, eax",
                "vmovups xmm1{{k1}}, [rdi]",
                in("rdi") register,
                in("rax") 1,
            ),
            other => panic!("no instruction {other:?}"),
        }
    }
}
