//! Cases in which a bridge could easily do almost what the kernel and the processor do.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
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
            other => panic!("no instruction {other:?}"),
        }
    }
}

/// Memory keeps what it held at the fork, or stays shared, as the program mapped it.
pub fn fork_copies() {
    const LEN: usize = 4 << 20;
    let port = open_port();
    let flags = [
        libc::MAP_PRIVATE,
        libc::MAP_PRIVATE | libc::MAP_HUGETLB,
        libc::MAP_SHARED,
        libc::MAP_SHARED | libc::MAP_HUGETLB,
    ];
    let memory = flags.map(|flags| anonymous(LEN, flags) as *mut u8);
    for (at, iova) in memory.iter().zip(1..) {
        map(port.container, *at as u64, iova * 0x100_0000, LEN as u64).unwrap();
        // SAFETY: the memory is mapped.
        unsafe { at.add(LEN - 1).write_volatile(65) };
    }
    let (mut go_on, mut signal) = UnixStream::pair().unwrap();
    // SAFETY: the child calls only what a fork allows.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            go_on.read_exact(&mut [0]).unwrap();
            let seen = memory.map(|at| at.add(LEN - 1).read_volatile());
            let _ = memory.map(|at| at.write_volatile(7));
            libc::_exit(i32::from(seen != [65, 65, 66, 66]));
        }
        let _ = memory.map(|at| at.add(LEN - 1).write_volatile(66));
        signal.write_all(&[0]).unwrap();
        wait_for_child(child);
        let seen = memory.map(|at| at.read_volatile());
        assert_eq!(seen, [0, 0, 7, 7]);
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
                    assert_answers(registers as *mut u32);
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
        let status = read_register(registers, STATUS);
        assert_ne!(status, u32::MAX, "after {round} children");
    }
}

/// Memory that was mapped for DMA is as before once it is not.
pub fn unmapped() {
    let port = open_port();
    let len = 3 << 20;
    let memory = anonymous(len, libc::MAP_PRIVATE);
    let byte = (memory + (2 << 20)) as *mut u8;
    // SAFETY: the memory is mapped.
    unsafe {
        byte.write_volatile(64);
        for iova in [IOVA, IOVA << 4] {
            map(port.container, memory, iova, len as u64).unwrap();
        }
        byte.write_volatile(65);
        unmap(port.container, 0, IOVA, len as u64).unwrap();
        byte.write_volatile(66);
        unmap(port.container, 0, IOVA << 4, len as u64).unwrap();
        assert_eq!(byte.read_volatile(), 66);
        libc::madvise(byte.cast(), 4096, libc::MADV_DONTNEED);
        assert_eq!(byte.read_volatile(), 0);
        // Closing the container unmaps too.
        map(port.container, memory, IOVA, len as u64).unwrap();
        byte.write_volatile(67);
        [port.device, port.group, port.container]
            .into_iter()
            .for_each(close);
        assert_eq!(byte.read_volatile(), 67);
        libc::madvise(byte.cast(), 4096, libc::MADV_DONTNEED);
        assert_eq!(byte.read_volatile(), 0);
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
        unsafe {
            assert_eq!(libc::read(fd, bytes.as_mut_ptr().cast(), 4), -1);
            assert_eq!(libc::write(fd, bytes.as_ptr().cast(), 4), -1);
        }
    }
}

/// A thread reads into memory that another thread maps for DMA. No call fails or is cut short.
pub fn read_while_mapping() {
    let port = open_port();
    let len = 2 << 20;
    for kind in [libc::MAP_PRIVATE, libc::MAP_SHARED] {
        let done = AtomicBool::new(false);
        let memory = anonymous(len, kind);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut zeros = File::open("/dev/zero").unwrap();
                // SAFETY: the memory is mapped, and no other thread touches its contents.
                let bytes = unsafe { std::slice::from_raw_parts_mut(memory as *mut u8, len) };
                let (mut count, mut failed) = (0, 0);
                while !done.load(Ordering::Relaxed) {
                    count += 1;
                    failed += i32::from(zeros.read(bytes).ok() != Some(len));
                }
                assert_eq!(failed, 0, "of {count} calls");
            });
            for _ in 0..200 {
                map(port.container, memory, IOVA, len as u64).unwrap();
                unmap(port.container, 0, IOVA, len as u64).unwrap();
                // Each round begins with new memory, without a moment between old and new.
                let flags = kind | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                let protection = libc::PROT_READ | libc::PROT_WRITE;
                // SAFETY: the range is the case's.
                let new = unsafe { libc::mmap(memory as *mut _, len, protection, flags, -1, 0) };
                assert_eq!(new as u64, memory);
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// A thread writes to memory that another thread maps for DMA, and no write is lost. With `unprivileged` as the second
/// argument, the kernel refuses a userfaultfd.
pub fn write_while_mapping() {
    static DONE: AtomicBool = AtomicBool::new(false);
    const PAGES: usize = 512;
    if std::env::args().nth(2).as_deref() == Some("unprivileged") {
        drop_ptrace();
    }
    let port = open_port();
    let memory = anonymous(PAGES * 4096, libc::MAP_PRIVATE);
    let writer = std::thread::spawn(move || {
        let mut written = [0_u64; PAGES];
        for page in (0..PAGES).cycle() {
            let word = (memory as usize + page * 4096) as *mut u64;
            // SAFETY: the memory is mapped, and only this thread uses it.
            let seen = unsafe { word.read_volatile() };
            assert_eq!(seen, written[page], "page {page}");
            written[page] += 1;
            // SAFETY: as above.
            unsafe { word.write_volatile(written[page]) };
            if DONE.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    for _ in 0..200 {
        map(port.container, memory, IOVA, PAGES as u64 * 4096).unwrap();
        unmap(port.container, 0, IOVA, PAGES as u64 * 4096).unwrap();
    }
    DONE.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

/// Gives up CAP_SYS_PTRACE, which lets a process have the kernel's faults.
fn drop_ptrace() {
    const CAP_SYS_PTRACE: u32 = 19;
    // Version 3 of the structures: version and process, and two words each of effective, permitted and inheritable.
    let mut sets = [0_u32; 6];
    let head = [0x2008_0522_u32, 0];
    // SAFETY: the arguments are the structures of the calls.
    unsafe {
        let got = libc::syscall(libc::SYS_capget, head.as_ptr(), sets.as_mut_ptr());
        sets[0] &= !(1 << CAP_SYS_PTRACE);
        let set = libc::syscall(libc::SYS_capset, head.as_ptr(), sets.as_ptr());
        assert_eq!((got, set), (0, 0));
        assert_eq!(libc::syscall(libc::SYS_userfaultfd, 0), -1);
    }
}
