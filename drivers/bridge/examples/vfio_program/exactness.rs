//! Cases in which a bridge could easily do almost what the kernel and the processor do.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

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

/// A thread for each port touches registers, in parent and child.
pub fn threads_after_fork() {
    let ports = [open_port(), open_group(c"/dev/vfio/24", c"0000:04:00.0")];
    let registers = ports.map(|port| map_registers(port.device) as usize);
    // SAFETY: the process has one thread, so the child may call everything.
    let child = unsafe { libc::fork() };
    std::thread::scope(|scope| {
        for registers in registers {
            scope.spawn(move || {
                for _ in 0..3000 {
                    assert_ne!(read_register(registers as *mut u32, STATUS), u32::MAX);
                }
            });
        }
    });
    if child != 0 {
        wait_for_child(child);
    }
}

/// Kills children that touch registers. The parent goes on.
pub fn killed_children() {
    let port = open_port();
    let registers = map_registers(port.device);
    for round in 0..300 {
        let (mut ready, mut signal) = UnixStream::pair().unwrap();
        // SAFETY: the child calls only what a fork allows.
        let child = unsafe { libc::fork() };
        if child == 0 {
            signal.write_all(&[0]).unwrap();
            loop {
                read_register(registers, STATUS);
            }
        }
        ready.read_exact(&mut [0]).unwrap();
        std::thread::sleep(Duration::from_micros(round * 7));
        // SAFETY: the child is this process's.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, null_mut(), 0);
        }
        assert_ne!(
            read_register(registers, STATUS),
            u32::MAX,
            "after {round} children"
        );
    }
}

/// Reading and writing a descriptor without an offset ends at once.
pub fn plain_read() {
    // SAFETY: the arguments are numbers. A call that waits ends the program.
    unsafe { libc::alarm(10) };
    let port = open_port();
    for fd in [port.device, port.group, port.container] {
        let mut bytes = [0_u8; 4];
        // SAFETY: the buffer has 4 bytes.
        let results = unsafe {
            [
                libc::read(fd, bytes.as_mut_ptr().cast(), 4),
                libc::write(fd, bytes.as_ptr().cast(), 4),
            ]
        };
        assert_eq!(results, [-1, -1]);
    }
}
