//! The unsafe code of this crate, except the assembler of `perf::known_loops`: a forwarder's shared
//! library, and the system calls of a child process between `fork` and `exec`.
//!
//! The public functions of this module are safe for every caller.

use std::ffi::{c_char, c_int, c_void, CString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr::NonNull;
use std::time::Duration;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
pub use record::tsc_ordered;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::thread::CpuSet;

/// The frequency of AArch64's generic timer, Hz; `None` on x86-64, where every time-stamp counter ticks
/// fast enough for all measurements here.
pub fn counter_hz() -> Option<u64> {
    #[cfg(target_arch = "aarch64")]
    {
        let hz;
        // SAFETY: the instruction only reads a register, which Linux lets every program read.
        unsafe {
            std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags));
        }
        Some(hz)
    }
    #[cfg(not(target_arch = "aarch64"))]
    None
}

/// Pins the calling thread to one CPU.
pub fn pin_this_thread(cpu: usize) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// The highest priority of ordinary scheduling.
const NICEST: i32 = -20;

/// Prepares a child process. It dies with the thread that starts it, and leads its own session and
/// process group. It runs on `cpu` and takes memory from `node`, where these are given. Its priority
/// is high, if the system permits that.
pub fn prepare_child(command: &mut Command, cpu: Option<usize>, node: Option<u32>) {
    let set = cpu.map(|cpu| {
        let mut set = CpuSet::new();
        set.set(cpu);
        set
    });
    // SAFETY: the closure runs in the child between fork and exec, where it may call only
    // async-signal-safe functions. It makes plain system calls, allocates no memory and takes no
    // locks; an `io::Error` from a system call stores only a number.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            rustix::process::setsid()?;
            if let Some(set) = &set {
                rustix::thread::sched_setaffinity(None, set)?;
            }
            if let Some(node) = node {
                match bind_memory(node) {
                    // Some containers forbid this call. Memory then comes from the node of the CPU
                    // that asks for it, while that node has some.
                    Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
                    result => result?,
                }
            }
            // Only root may do this. Without it a busy machine disturbs the measurement more, and the
            // backends report that.
            let _ = raise_priority();
            Ok(())
        });
    }
}

/// Takes all memory of this process from one NUMA node, as `numactl --membind` does.
fn bind_memory(node: u32) -> std::io::Result<()> {
    // The most nodes that a kernel can be configured for.
    let mut mask = [0 as libc::c_ulong; 1024 / libc::c_ulong::BITS as usize];
    let (word, bit) = (node / libc::c_ulong::BITS, node % libc::c_ulong::BITS);
    *mask
        .get_mut(word as usize)
        .ok_or(rustix::io::Errno::INVAL)? |= 1 << bit;
    // SAFETY: the system call reads `mask`, which has the given number of bits (the kernel reads one
    // bit less). It changes only the node that this process gets memory from.
    let result = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::MPOL_BIND,
            mask.as_ptr(),
            8 * size_of_val(&mask) + 1,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Raises the priority of this process within its session, and of the session among others. A kernel
/// that groups processes by session divides the time among sessions first.
fn raise_priority() -> rustix::io::Result<()> {
    rustix::process::setpriority_process(None, NICEST)?;
    let group = rustix::fs::open(
        c"/proc/self/autogroup",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    rustix::io::write(&group, b"-20")?;
    Ok(())
}

/// `struct forwarder_counts` of the forwarder's C interface: totals since it was opened.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForwarderCounts {
    /// Packets received.
    pub rx: u64,
    /// Packets handed to the device for sending.
    pub tx: u64,
    /// Packets dropped because a send ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
}

/// Longest error message of a forwarder, with its terminating zero, bytes.
const MESSAGE_SIZE: usize = 1024;

/// Milliseconds that a forwarder waits for each link; a copper link may train for ten seconds.
const LINK_TIMEOUT_MS: u32 = 30_000;

/// Milliseconds that a forwarder waits for the socket of a software card: the card runs already.
const CONNECT_TIMEOUT_MS: u32 = 0;

type Open = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    u32,
    u32,
    u32,
    u32,
    u32,
    *mut c_char,
    usize,
) -> *mut c_void;
type Turn = unsafe extern "C" fn(*mut c_void) -> u32;
type QueueTurn = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type ReadCounts = unsafe extern "C" fn(*const c_void, *mut ForwarderCounts);
type Close = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> c_int;

/// A loaded `libforwarder.so`.
#[derive(Debug, Clone, Copy)]
pub struct ForwarderLibrary {
    open: Open,
    turn: Turn,
    queue_turn: QueueTurn,
    /// Parts of a turn; only benchmarks of the parts need them.
    receive: Option<Turn>,
    send: Option<Turn>,
    alloc: Option<Turn>,
    read_counts: ReadCounts,
    close: Close,
}

/// A part of the forwarder that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Receive a batch from each device, send it to the other: a whole turn.
    Forward,
    /// Receive a batch from each device, and free it.
    Receive,
    /// Send a batch of fresh packets to each device.
    Send,
    /// Allocate a batch of packets from each pool, and free them.
    Alloc,
}

impl ForwarderLibrary {
    /// Loads a library. The library stays loaded until the process ends, because destructors of
    /// thread-local values may run at the end.
    pub fn load(path: &Path) -> Result<Self, String> {
        let say = |error: libloading::Error| format!("cannot load {}: {error}", path.display());
        // SAFETY: loading runs the library's initialisers. The library is one of this project's
        // forwarders, whose initialisers are those of the C and Rust run time.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(say)?;
        // SAFETY: the names have these types in the C interface that every libforwarder.so
        // implements. The pointers stay valid because the library is never unloaded.
        let api = unsafe {
            let part = |name: &[u8]| library.get::<Turn>(name).ok().map(|part| *part);
            let open = library.get::<Open>(b"forwarder_open_queues\0");
            let queue_turn = library.get::<QueueTurn>(b"forwarder_queue_turn\0");
            let counts = library.get::<ReadCounts>(b"forwarder_read_counts\0");
            Self {
                open: *open.map_err(say)?,
                turn: *library.get::<Turn>(b"forwarder_turn\0").map_err(say)?,
                queue_turn: *queue_turn.map_err(say)?,
                receive: part(b"forwarder_receive\0"),
                send: part(b"forwarder_send\0"),
                alloc: part(b"forwarder_alloc\0"),
                read_counts: *counts.map_err(say)?,
                close: *library.get::<Close>(b"forwarder_close\0").map_err(say)?,
            }
        };
        std::mem::forget(library);
        Ok(api)
    }

    /// Opens a forwarder between two devices. `ring_size` is the number of descriptors in each ring, a
    /// power of two. `link_timeout` is the longest time for the link of each device; `None` for the
    /// default of `ixgbe-fwd`.
    pub fn open(
        &self,
        device_a: &str,
        device_b: &str,
        batch: u32,
        ring_size: u32,
        link_timeout: Option<Duration>,
    ) -> Result<Forwarder, String> {
        self.open_queues(device_a, device_b, batch, ring_size, 1, link_timeout)
    }

    /// The same with `queues` queue pairs for each device, 1 to 16.
    pub fn open_queues(
        &self,
        device_a: &str,
        device_b: &str,
        batch: u32,
        ring_size: u32,
        queues: u32,
        link_timeout: Option<Duration>,
    ) -> Result<Forwarder, String> {
        let text = |device: &str| {
            CString::new(std::ffi::OsStr::new(device).as_bytes())
                .map_err(|_| format!("device name {device:?} contains a zero byte"))
        };
        let (device_a, device_b) = (text(device_a)?, text(device_b)?);
        let link_timeout_ms = link_timeout.map_or(LINK_TIMEOUT_MS, |time| {
            u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
        });
        let mut message = [0u8; MESSAGE_SIZE];
        // SAFETY: both names are NUL-terminated and outlive the call; `message` is writable and has the
        // given length.
        let handle = unsafe {
            (self.open)(
                device_a.as_ptr(),
                device_b.as_ptr(),
                batch,
                ring_size,
                queues,
                CONNECT_TIMEOUT_MS,
                link_timeout_ms,
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        match NonNull::new(handle) {
            Some(handle) => Ok(Forwarder { api: *self, handle }),
            None => Err(message_text(&message)),
        }
    }
}

/// An open forwarder; dropping it closes it.
///
/// It is not `Send`: only the thread that opened it may use it.
#[derive(Debug)]
pub struct Forwarder {
    api: ForwarderLibrary,
    handle: NonNull<c_void>,
}

impl Forwarder {
    /// One turn: a batch from the first device to the second, and one back.
    /// Returns how many packets were received.
    #[inline(always)]
    pub fn turn(&mut self) -> u32 {
        // SAFETY: `handle` came from `open` of the same library, and is open: only `close` and `drop`
        // close it, and both end this object.
        unsafe { (self.api.turn)(self.handle.as_ptr()) }
    }

    /// One turn of a queue pair. The forwarder has that many queues; with one, this is [`Forwarder::turn`].
    #[inline(always)]
    pub fn queue_turn(&mut self, queue: u32) -> u32 {
        // SAFETY: as in `turn`; the library takes the number of the queue modulo 16.
        unsafe { (self.api.queue_turn)(self.handle.as_ptr(), queue) }
    }

    /// Runs a part of a turn; returns the number of packets, `None` if the library cannot run the part
    /// alone.
    #[inline(always)]
    pub fn part(&mut self, part: Part) -> Option<u32> {
        let function = match part {
            Part::Forward => Some(self.api.turn),
            Part::Receive => self.api.receive,
            Part::Send => self.api.send,
            Part::Alloc => self.api.alloc,
        };
        // SAFETY: as in `turn`.
        function.map(|function| unsafe { function(self.handle.as_ptr()) })
    }

    /// Totals since it was opened.
    pub fn counts(&self) -> ForwarderCounts {
        let mut counts = ForwarderCounts::default();
        // SAFETY: as in `turn`; `counts` is a local variable with the layout of the C structure.
        unsafe { (self.api.read_counts)(self.handle.as_ptr(), &mut counts) };
        counts
    }

    /// Sends the packets that wait in the rings, and stops both devices.
    /// It is closed even if that fails.
    pub fn close(self) -> Result<(), String> {
        std::mem::ManuallyDrop::new(self).end()
    }

    /// Closes it. It is not used afterwards.
    fn end(&mut self) -> Result<(), String> {
        let mut message = [0u8; MESSAGE_SIZE];
        // SAFETY: as in `turn`; only `close` and `drop` call this, and each ends the object, so that the
        // handle is closed once.
        let result = unsafe {
            (self.api.close)(
                self.handle.as_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(message_text(&message)),
        }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        // Without a caller, the message is lost.
        let _ = self.end();
    }
}

/// The text before the end mark; a library that wrote none gets a text of ours.
fn message_text(message: &[u8]) -> String {
    let text = message.split(|byte| *byte == 0).next().unwrap_or(message);
    match String::from_utf8_lossy(text).trim() {
        "" => "the forwarder failed and gave no reason".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error = ForwarderLibrary::load(Path::new("/nonexistent/libforwarder.so")).unwrap_err();
        assert!(error.contains("/nonexistent/libforwarder.so"), "{error}");
    }

    #[test]
    fn a_library_without_the_functions_is_refused() {
        // The C library is loaded anyway, under this name on every glibc system.
        let error = ForwarderLibrary::load(Path::new("libc.so.6")).unwrap_err();
        assert!(error.contains("forwarder_open"), "{error}");
    }

    #[test]
    fn messages_end_at_the_mark() {
        assert_eq!(message_text(b"no link\0garbage"), "no link");
        assert!(message_text(&[0; 8]).contains("no reason"));
        assert_eq!(message_text(b"unterminated"), "unterminated");
    }
}
