//! The cases.
#![allow(clippy::unwrap_used)]

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};

#[path = "exactness.rs"]
mod exactness;
#[path = "rules.rs"]
mod rules;

use exactness::*;
use rules::*;

/// IOVA of the memory that cases map.
const IOVA: u64 = 0x10_0000;
const CTRL: usize = 0;
const STATUS: usize = 8;

macro_rules! cases {
    ($($case:ident)*) => {
        /// Runs the case that the first argument names.
        pub fn run() {
            match std::env::args().nth(1).as_deref() {
                $(Some(stringify!($case)) => $case(),)*
                other => panic!("no case {other:?}"),
            }
        }
    };
}

cases! {
    rules locked iommufd descriptors signals segv memory huge interrupts reset exec raw flags wait
    refused fork_copies threads_after_fork killed_children unmapped plain_read write_while_mapping read_while_mapping
}

fn request(number: u64) -> u64 {
    u64::from(b';') << 8 | number
}

/// What a function of the C library returned, or errno.
fn checked(result: i32) -> Result<i32, i32> {
    match result {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        value => Ok(value),
    }
}

fn ioctl(fd: i32, number: u64, at: usize) -> Result<i32, i32> {
    // SAFETY: each case passes what the request takes.
    checked(unsafe { libc::ioctl(fd, request(number), at) })
}

/// Makes a request with words of 4 bytes, which the answer replaces.
fn words<const N: usize>(fd: i32, number: u64, mut words: [u32; N]) -> Result<[u32; N], i32> {
    ioctl(fd, number, words.as_mut_ptr() as usize).map(|_| words)
}

fn open(path: &CStr) -> Result<i32, i32> {
    // SAFETY: the path ends with NUL.
    checked(unsafe { libc::open(path.as_ptr(), libc::O_RDWR) })
}

fn close(fd: i32) {
    // SAFETY: the case owns the descriptor.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

/// An open container, group and device.
struct Opened {
    container: i32,
    group: i32,
    device: i32,
}

fn open_port() -> Opened {
    open_group(c"/dev/vfio/23", c"0000:03:00.0")
}

fn open_group(node: &CStr, address: &CStr) -> Opened {
    let container = open(c"/dev/vfio/vfio").unwrap();
    let group = open(node).unwrap();
    ioctl(group, 104, &raw const container as usize).unwrap();
    ioctl(container, 102, 3).unwrap();
    let device = ioctl(group, 106, address.as_ptr() as usize).unwrap();
    Opened {
        container,
        group,
        device,
    }
}

/// Maps BAR 0, as a driver does.
fn map_registers(device: i32) -> *mut u32 {
    let info = words(device, 108, [32, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(info[1] & 7, 7, "BAR 0 is readable, writable and mappable");
    let len = info[4] as usize;
    let offset = u64::from(info[6]) | u64::from(info[7]) << 32;
    map_new(len, libc::MAP_SHARED, device, offset).cast()
}

fn map_new(len: usize, flags: i32, fd: i32, offset: u64) -> *mut libc::c_void {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let at = unsafe { libc::mmap(null_mut(), len, protection, flags, fd, offset as i64) };
    assert_ne!(at, libc::MAP_FAILED);
    at
}

/// A register that a card which answers never has at all ones.
fn assert_answers(registers: *mut u32) {
    assert_ne!(read_register(registers, STATUS), u32::MAX);
}

fn read_register(registers: *mut u32, offset: usize) -> u32 {
    // SAFETY: the registers are mapped.
    unsafe { registers.byte_add(offset).read_volatile() }
}

fn anonymous(len: usize, flags: i32) -> u64 {
    map_new(len, flags | libc::MAP_ANONYMOUS, -1, 0) as u64
}

/// The low and the high word of a number.
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn map(container: i32, memory: u64, iova: u64, size: u64) -> Result<(), i32> {
    let [[a, b], [c, d], [e, f]] = [memory, iova, size].map(halves);
    words(container, 113, [32, 3, a, b, c, d, e, f]).map(drop)
}

fn unmap(container: i32, flags: u32, iova: u64, size: u64) -> Result<u64, i32> {
    let [[a, b], [c, d]] = [iova, size].map(halves);
    words(container, 114, [24, flags, a, b, c, d]).map(|r| u64::from(r[4]) | u64::from(r[5]) << 32)
}

fn descriptors() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: the case owns the descriptors.
    let copy = unsafe { libc::dup(port.device) };
    close(port.device);
    assert_eq!(words(copy, 107, [16, 0, 0, 0]), Ok([16, 3, 9, 5]));
    // A program that closes everything keeps its mapped registers.
    (3..1024).for_each(|fd| {
        // SAFETY: nothing below uses a descriptor.
        unsafe { libc::close(fd) };
    });
    // SAFETY: as above.
    assert_eq!(unsafe { libc::close_range(3, u32::MAX, 0) }, 0);
    assert_answers(registers);
    // SAFETY: the registers are not used after this.
    assert_eq!(unsafe { libc::munmap(registers.cast(), 512 << 10) }, 0);
    let again = open_port();
    assert_answers(map_registers(again.device));
}

fn wait_for_child(child: i32) {
    let mut status = 0;
    // SAFETY: `status` is an int.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child failed");
}

static SEEN: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: i32) {
    SEEN.store(signal, Ordering::SeqCst);
}

fn signals() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: all arguments are valid, and `note` only stores a number.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, null_mut());
        assert_answers(registers);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const all, null_mut());
        let before = libc::signal(libc::SIGSEGV, note as *const () as usize);
        assert_ne!(before, libc::SIG_ERR);
        assert_answers(registers);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0);
        libc::kill(libc::getpid(), libc::SIGSEGV);
        assert_eq!(SEEN.load(Ordering::SeqCst), libc::SIGSEGV);
        let before = libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        assert_eq!(before, note as *const () as usize);
        assert_answers(registers);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = touch as *const () as usize;
        action.sa_mask = all;
        libc::sigaction(libc::SIGUSR1, &raw const action, null_mut());
        REGISTERS.store(registers, Ordering::SeqCst);
        libc::raise(libc::SIGUSR1);
        assert_eq!(SEEN.load(Ordering::SeqCst), libc::SIGUSR1);
    }
}

static REGISTERS: std::sync::atomic::AtomicPtr<u32> = std::sync::atomic::AtomicPtr::new(null_mut());

extern "C" fn touch(signal: i32) {
    let status = read_register(REGISTERS.load(Ordering::SeqCst), STATUS);
    let seen = if status == u32::MAX { -1 } else { signal };
    SEEN.store(seen, Ordering::SeqCst);
}

fn segv() {
    let port = open_port();
    map_registers(port.device);
    // SAFETY: the access is meant to fault.
    unsafe { (16 as *mut u32).write_volatile(1) };
}

fn memory() {
    let port = open_port();
    let len = 0x4000;
    // SAFETY: the memory below is mapped before it is used.
    unsafe {
        let private = anonymous(len, libc::MAP_PRIVATE);
        (private as *mut u64).add(100).write_volatile(0x1234);
        map(port.container, private, IOVA, len as u64).unwrap();
        assert_eq!((private as *mut u64).add(100).read_volatile(), 0x1234);
        let shared = anonymous(len, libc::MAP_SHARED);
        map(port.container, shared, IOVA << 1, len as u64).unwrap();
        let mut heap: *mut libc::c_void = null_mut();
        assert_eq!(libc::posix_memalign(&raw mut heap, 4096, len), 0);
        heap.cast::<u8>().write_bytes(7, len);
        map(port.container, heap as u64, IOVA << 2, len as u64).unwrap();
        assert!((0..len).all(|at| heap.cast::<u8>().add(at).read_volatile() == 7));
        // Unmapping memory in mid-DMA is the program's right; the map goes on until it ends.
        libc::munmap(private as *mut libc::c_void, len);
        assert_eq!(unmap(port.container, 0, IOVA, len as u64), Ok(len as u64));
        libc::free(heap);
    }
}

fn huge() {
    let port = open_port();
    // The length is rounded up to whole huge pages.
    let memory = anonymous(3 << 20, libc::MAP_PRIVATE | libc::MAP_HUGETLB);
    assert_eq!(memory % (2 << 20), 0);
    // SAFETY: as above.
    unsafe { ((memory + (4 << 20) - 1) as *mut u8).write_volatile(1) };
    map(port.container, memory, 0x20_0000, 4 << 20).unwrap();
}

fn config_offset(device: i32) -> u64 {
    let info = words(device, 108, [32, 0, 7, 0, 0, 0, 0, 0]).unwrap();
    u64::from(info[6]) | u64::from(info[7]) << 32
}

fn reset() {
    let port = open_port();
    let offset = config_offset(port.device);
    // SAFETY: the descriptor is the device's; the case never closes it by itself.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(port.device) });
    file.write_all_at(&[6, 0], offset + 4).unwrap();
    ioctl(port.device, 111, 0).unwrap();
    let mut command = [0; 2];
    file.read_exact_at(&mut command, offset + 4).unwrap();
    assert_eq!(command, [6, 0], "bus mastering stays on");
    let group = port.group as u32;
    words(port.device, 113, [16, 0, 1, group]).unwrap();
    let unowned = words(port.device, 113, [16, 0, 0, group]);
    assert_eq!(unowned, Err(libc::EINVAL));
    // DPDK computes the kernel's offset.
    file.read_exact_at(&mut command, 7 << 40).unwrap();
    assert_eq!(command, [0x86, 0x80]);
}

fn exec() {
    let port = open_port();
    map_registers(port.device);
    let mut command = Command::new("/bin/true");
    assert!(command.status().unwrap().success());
    assert!(command.env_remove("LD_PRELOAD").status().unwrap().success());
    let own = std::env::current_exe().unwrap();
    let output = Command::new(own).arg("raw").output().unwrap();
    // The device is busy, but the new program has a bridge of its own that says so.
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("EBUSY"), "{text}");
}

fn raw() {
    let port = open_port();
    let syscall = |number: i64, fd: i64, b: u64, c: u64, d: u64| {
        let result: i64;
        // SAFETY: the arguments are those of the calls.
        unsafe {
            std::arch::asm!("syscall", inlateout("rax") number => result, in("rdi") fd, in("rsi") b,
                in("rdx") c, in("r10") d, out("rcx") _, out("r11") _);
        }
        result
    };
    let (mut info, mut word) = ([16_u32, 0, 0, 0], 0_u16);
    let at = info.as_mut_ptr() as u64;
    let fd = i64::from(port.device);
    assert_eq!(syscall(libc::SYS_ioctl, fd, request(107), at, 0), 0);
    assert_eq!(info, [16, 3, 9, 5]);
    let (to, offset) = (&raw mut word as u64, config_offset(port.device));
    assert_eq!(syscall(libc::SYS_pread64, fd, to, 2, offset), 2);
    assert_eq!(word, 0x8086);
    let refused = -syscall(libc::SYS_ioctl, 0, request(107), at, 0) as i32;
    assert!(refused == libc::ENOTTY || refused == libc::EBADF);
}

/// Tests bits of a register in memory: the program must see the flags.
fn flags() {
    let port = open_port();
    let registers = map_registers(port.device);
    let value = read_register(registers, STATUS);
    assert_ne!(value, 0);
    for (bits, wanted) in [(value, 0_u8), (!value, 1)] {
        let zero: u8;
        // SAFETY: the registers are mapped, and the instruction only reads.
        unsafe {
            std::arch::asm!(
                "test dword ptr [{register}], {bits:e}",
                "setz {zero}",
                register = in(reg) registers.byte_add(STATUS),
                bits = in(reg) bits,
                zero = out(reg_byte) zero,
            );
        }
        assert_eq!(zero, wanted, "{value:#x} and {bits:#x}");
    }
}

/// Reads registers until the card is gone, then checks what remains.
fn wait() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: a new eventfd, and a request that names it.
    let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
    words(port.device, 110, [24, 36, 3, 0, 1, event as u32]).unwrap();
    println!("ready");
    while read_register(registers, CTRL) != u32::MAX {}
    assert_eq!(words(port.device, 107, [16, 0, 0, 0]), Err(libc::EIO));
    let mut count = 0_u64;
    // SAFETY: the buffer has 8 bytes.
    assert_eq!(unsafe { libc::read(event, (&raw mut count).cast(), 8) }, 8);
}
