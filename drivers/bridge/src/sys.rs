//! System calls that bypass the interposed functions and the seccomp filter.
//!
//! The filter lets every call through whose `syscall` instruction is the one in this file. Errors
//! are [`Errno`] values; the C library's `errno` stays as it was.

use std::arch::global_asm;
use std::ffi::CStr;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// An error number of the kernel, for example `libc::EINVAL`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(self.0).unwrap_or("error"))?;
        write!(f, " ({})", self.0)
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        fn name(number: i32) -> Option<&'static str> {
            match number {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

names! {
    EACCES EBADF EBUSY ECONNREFUSED EEXIST EFAULT EINVAL EIO EMFILE ENODEV ENOENT ENOMEM ENOSPC ENOTTY EOPNOTSUPP EPERM
    EPIPE ETIMEDOUT
}

/// An error if a condition holds.
pub(crate) fn refuse_if(condition: bool, error: i32) -> Result<(), Errno> {
    (!condition).then_some(()).ok_or(Errno(error))
}

global_asm!(
    ".text",
    ".globl triptych_bridge_syscall",
    ".hidden triptych_bridge_syscall",
    ".type triptych_bridge_syscall, @function",
    "triptych_bridge_syscall:",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    ".globl triptych_bridge_syscall_end",
    ".hidden triptych_bridge_syscall_end",
    "triptych_bridge_syscall_end:",
    "ret",
);

type Gate = unsafe extern "C" fn(i64, u64, u64, u64, u64, u64, u64) -> i64;

extern "C" {
    fn triptych_bridge_syscall(number: i64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64;
    static triptych_bridge_syscall_end: u8;
}

/// Where the copy of the function above lies that the seccomp filter lets through. The address is
/// the same in every process, because filters survive exec.
const GATE: usize = 0x7000_5654_0000;

/// Whether that copy exists.
static HAS_GATE: AtomicBool = AtomicBool::new(false);

/// Makes the copy. Returns the address after its `syscall` instruction.
pub(crate) fn make_gate() -> Result<u64, Errno> {
    let start = triptych_bridge_syscall as *const () as usize;
    let end = &raw const triptych_bridge_syscall_end as usize;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: the kernel refuses a range that is in use.
    let at = unsafe { mmap(GATE, 4096, protection, flags, -1, 0)? };
    // SAFETY: the function is followed by a `ret` of one byte, and the page is new.
    unsafe {
        std::ptr::copy_nonoverlapping(start as *const u8, at as *mut u8, end - start + 1);
        mprotect(at, 4096, libc::PROT_READ | libc::PROT_EXEC)?;
    }
    HAS_GATE.store(true, Ordering::Release);
    Ok((at + end - start) as u64)
}

/// Makes a system call and returns what the kernel returned: a value, or a negative error number.
///
/// # Safety
///
/// The arguments must be valid for the call.
pub(crate) unsafe fn raw(number: i64, arguments: [u64; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    let gate: Gate = if HAS_GATE.load(Ordering::Acquire) {
        // SAFETY: the copy is that function.
        unsafe { std::mem::transmute::<usize, Gate>(GATE) }
    } else {
        triptych_bridge_syscall
    };
    // SAFETY: the caller vouches for the arguments; the function follows the C calling convention.
    unsafe { gate(number, a, b, c, d, e, f) }
}

/// Makes a system call with up to six arguments.
///
/// # Safety
///
/// The arguments must be valid for the call.
pub(crate) unsafe fn call<const N: usize>(number: i64, arguments: [u64; N]) -> Result<u64, Errno> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    // SAFETY: the caller vouches for the arguments.
    match unsafe { raw(number, all) } {
        error @ -4095..=-1 => Err(Errno(-error as i32)),
        value => Ok(value as u64),
    }
}

/// What mmap(2) is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRequest {
    pub(crate) at: usize,
    pub(crate) len: usize,
    pub(crate) protection: i32,
    pub(crate) flags: i32,
    pub(crate) fd: i32,
    pub(crate) offset: u64,
}

/// Maps memory as mmap(2).
///
/// # Safety
///
/// With MAP_FIXED, the range must not hold memory that Rust code uses.
pub(crate) unsafe fn mmap(
    at: usize,
    len: usize,
    protection: i32,
    flags: i32,
    fd: i32,
    offset: u64,
) -> Result<usize, Errno> {
    let [at, len] = [at, len].map(|number| number as u64);
    let [protection, flags, fd] = [protection, flags, fd].map(|number| number as u64);
    // SAFETY: the caller vouches for the range.
    unsafe { call(libc::SYS_mmap, [at, len, protection, flags, fd, offset]) }.map(|at| at as usize)
}

/// Unmaps memory.
///
/// # Safety
///
/// The range must not hold memory that Rust code uses.
pub(crate) unsafe fn munmap(at: usize, len: usize) -> Result<(), Errno> {
    // SAFETY: the caller vouches for the range.
    unsafe { call(libc::SYS_munmap, [at as u64, len as u64]) }.map(drop)
}

/// Moves memory over other memory, in one step for all threads.
///
/// # Safety
///
/// Neither range may hold memory that Rust code uses.
pub(crate) unsafe fn move_memory(from: usize, to: usize, len: usize) -> Result<(), Errno> {
    let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64;
    let [from, len, to] = [from, len, to].map(|number| number as u64);
    // SAFETY: the caller vouches for the ranges.
    unsafe { call(libc::SYS_mremap, [from, len, len, flags, to]) }.map(drop)
}

/// Changes the protection of memory.
///
/// # Safety
///
/// The range must not hold memory that Rust code uses.
pub(crate) unsafe fn mprotect(at: usize, len: usize, protection: i32) -> Result<(), Errno> {
    let arguments = [at as u64, len as u64, protection as u64];
    // SAFETY: the caller vouches for the range.
    unsafe { call(libc::SYS_mprotect, arguments) }.map(drop)
}

/// A system call whose arguments are numbers, so that it cannot touch memory.
fn numbers<const N: usize>(number: i64, arguments: [u64; N]) -> Result<u64, Errno> {
    // SAFETY: none of the arguments is a pointer.
    unsafe { call(number, arguments) }
}

/// A descriptor of the bridge's, closed when this is dropped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fd(i32);

impl Drop for Fd {
    fn drop(&mut self) {
        close(self.0);
    }
}

impl Fd {
    /// Takes over a descriptor that the kernel has just returned.
    pub(crate) fn new(number: u64) -> Self {
        Self(number as i32)
    }

    pub(crate) fn number(&self) -> i32 {
        self.0
    }

    /// Gives the descriptor to the program, or to the kernel.
    pub(crate) fn into_number(self) -> i32 {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Moves the descriptor to a high number: the program gets the low ones, as if the bridge were not there.
    pub(crate) fn raise(self) -> Result<Self, Errno> {
        duplicate(self.0)
    }
}

/// Closes a descriptor.
pub(crate) fn close(fd: i32) {
    let _ = numbers(libc::SYS_close, [fd as u64]);
}

/// Opens a file. The new descriptor closes on exec.
pub(crate) fn open(path: &CStr, flags: i32) -> Result<Fd, Errno> {
    let flags = flags | libc::O_CLOEXEC;
    let arguments = [libc::AT_FDCWD as u64, path.as_ptr() as u64, flags as u64];
    // SAFETY: the path ends with NUL.
    unsafe { call(libc::SYS_openat, arguments) }.map(Fd::new)
}

/// The least number of a copy, and the lowest that there was.
const LEAST: u64 = 600;
static LOWEST: AtomicI32 = AtomicI32::new(i32::MAX);

/// Whether a descriptor may be one of the bridge's: a quick test for the many that are not.
pub(crate) fn may_be_internal(fd: i32) -> bool {
    fd >= LOWEST.load(Ordering::Relaxed)
}

/// Copies a descriptor to a high number, or to any if none is free there.
pub(crate) fn duplicate(fd: i32) -> Result<Fd, Errno> {
    let request = |least| fcntl(fd, libc::F_DUPFD_CLOEXEC, least);
    let copy = Fd::new(request(LEAST).or_else(|_| request(0))?);
    LOWEST.fetch_min(copy.0, Ordering::Relaxed);
    Ok(copy)
}

/// A request to the kernel about a descriptor, with a number.
pub(crate) fn fcntl(fd: i32, request: i32, argument: u64) -> Result<u64, Errno> {
    numbers(libc::SYS_fcntl, [fd as u64, request as u64, argument])
}

/// Puts a copy of `fd` in the place of `over`.
pub(crate) fn duplicate_over(fd: i32, over: i32, cloexec: bool) -> Result<(), Errno> {
    let flags = if cloexec { libc::O_CLOEXEC } else { 0 };
    numbers(libc::SYS_dup3, [fd as u64, over as u64, flags as u64]).map(drop)
}

/// Whether a descriptor closes on exec.
pub(crate) fn closes_on_exec(fd: i32) -> Result<bool, Errno> {
    fcntl(fd, libc::F_GETFD, 0).map(|flags| flags & libc::FD_CLOEXEC as u64 != 0)
}

/// Which file a descriptor refers to: device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// What fstat(2) says about a descriptor.
pub(crate) fn file_status(fd: i32) -> Result<libc::stat, Errno> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
    let arguments = [fd as u64, status.as_mut_ptr() as u64];
    // SAFETY: the kernel fills `status`, and it did so if the call succeeded.
    unsafe {
        call(libc::SYS_fstat, arguments)?;
        Ok(status.assume_init())
    }
}

/// The file behind a descriptor.
pub(crate) fn file_id(fd: i32) -> Result<FileId, Errno> {
    file_status(fd).map(|status| FileId {
        device: status.st_dev,
        inode: status.st_ino,
    })
}

/// The file at a path.
pub(crate) fn path_id(path: &CStr) -> Result<FileId, Errno> {
    file_id(open(path, libc::O_PATH)?.number())
}

/// Makes a file in memory of `size` bytes. `flags` may add MFD_HUGETLB and a page size.
pub(crate) fn memory_file(size: u64, flags: u32) -> Result<Fd, Errno> {
    let name = c"triptych-bridge".as_ptr() as u64;
    let flags = u64::from(flags | libc::MFD_CLOEXEC);
    // SAFETY: the name ends with NUL.
    let file = unsafe { call(libc::SYS_memfd_create, [name, flags]) }.map(Fd::new)?;
    numbers(libc::SYS_ftruncate, [file.0 as u64, size])?;
    Ok(file)
}

/// Writes memory of this process to a file. Returns the bytes written, or EFAULT.
pub(crate) fn write_at(fd: i32, from: usize, len: usize, offset: u64) -> Result<usize, Errno> {
    let arguments = [fd as u64, from as u64, len as u64, offset];
    // SAFETY: the kernel checks that the memory may be read.
    unsafe { call(libc::SYS_pwrite64, arguments) }.map(|count| count as usize)
}

/// Reads from a file into a buffer. `offset` None reads on.
pub(crate) fn read(fd: i32, into: &mut [u8], offset: Option<u64>) -> Result<usize, Errno> {
    let (at, len) = (into.as_mut_ptr() as u64, into.len() as u64);
    let (number, offset) = match offset {
        Some(offset) => (libc::SYS_pread64, offset),
        None => (libc::SYS_read, 0),
    };
    // SAFETY: the buffer is `len` bytes long.
    unsafe { call(number, [fd as u64, at, len, offset]) }.map(|count| count as usize)
}

/// The next offset of a file at which there is data (SEEK_DATA), or a hole (SEEK_HOLE).
pub(crate) fn seek(fd: i32, from: u64, whence: i32) -> Result<u64, Errno> {
    numbers(libc::SYS_lseek, [fd as u64, from, whence as u64])
}

/// Writes bytes to a descriptor. Ignores errors.
pub(crate) fn write_out(fd: i32, bytes: &[u8]) {
    let arguments = [fd as u64, bytes.as_ptr() as u64, bytes.len() as u64];
    // SAFETY: the bytes are valid for the call.
    let _ = unsafe { call(libc::SYS_write, arguments) };
}

/// Adds one to the counter of an eventfd.
pub(crate) fn signal_eventfd(fd: i32) {
    write_out(fd, &1_u64.to_ne_bytes());
}

/// Waits until a descriptor is ready. Returns its events, or 0 after `milliseconds`.
pub(crate) fn poll(fd: i32, events: i16, milliseconds: i32) -> Result<i16, Errno> {
    let mut entry = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let arguments = [&raw mut entry as u64, 1, milliseconds as u64];
    // SAFETY: `entry` is one pollfd.
    unsafe { call(libc::SYS_poll, arguments)? };
    Ok(entry.revents)
}

/// Sets the calling thread's signal mask, and returns the one before. One bit for each signal.
pub(crate) fn set_signal_mask(how: i32, mask: u64) -> u64 {
    let mut old = 0_u64;
    let arguments = [how as u64, &raw const mask as u64, &raw mut old as u64, 8];
    // SAFETY: both masks are 8 bytes long.
    let _ = unsafe { call(libc::SYS_rt_sigprocmask, arguments) };
    old
}

/// Ends the process at once.
pub(crate) fn exit(status: i32) -> ! {
    loop {
        let _ = numbers(libc::SYS_exit_group, [status as u64]);
    }
}
