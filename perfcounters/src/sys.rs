//! The unsafe code of this crate: the time-stamp counter, a forwarder's shared
//! library, and what a child process does between `fork` and `exec`.
//!
//! Everything that leaves this module can be used from safe code without care.

use std::ffi::{c_char, c_int, c_void, CString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr::NonNull;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::thread::CpuSet;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("cycles are counted with the time-stamp counter of x86-64");

/// Reads the time-stamp counter, roughly: the processor may reorder it.
pub fn tsc() -> u64 {
    // SAFETY: RDTSC reads a counter; every x86-64 processor has it and Linux does not forbid it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the time-stamp counter after all earlier instructions and before all later ones.
#[inline(always)]
pub fn tsc_ordered() -> u64 {
    use std::arch::x86_64::{__rdtscp, _mm_lfence};
    let mut cpu = 0;
    // SAFETY: LFENCE and RDTSCP touch nothing but registers and `cpu`, which is ours. RDTSCP waits
    // for what comes before it; LFENCE keeps what comes after it from starting early.
    unsafe {
        _mm_lfence();
        let now = __rdtscp(&mut cpu);
        _mm_lfence();
        now
    }
}

/// Keeps the calling thread on one CPU.
///
/// # Errors
/// The CPU does not exist or may not be used.
pub fn pin_this_thread(cpu: usize) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// The highest priority that ordinary scheduling knows.
const NICEST: i32 = -20;

/// Prepares a child: it dies with this process (more exactly: with the thread that starts it),
/// leads a session and process group of its own, runs on `cpu`, if one is given, and is not kept
/// waiting by other programs, if that is permitted.
pub fn prepare_child(command: &mut Command, cpu: Option<usize>) {
    let set = cpu.map(|cpu| {
        let mut set = CpuSet::new();
        set.set(cpu);
        set
    });
    // SAFETY: the closure runs in the child between fork and exec, where only what is
    // async-signal-safe may be called. It makes plain system calls, allocates nothing and takes
    // no locks; turning an error into an `io::Error` stores its number.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            rustix::process::setsid()?;
            if let Some(set) = &set {
                rustix::thread::sched_setaffinity(None, set)?;
            }
            // Only root may; without, a busy machine disturbs more, which the measurements notice.
            let _ = raise_priority();
            Ok(())
        });
    }
}

/// Raises the priority of this process within its session, and of the session among others:
/// where the kernel groups processes by session, it shares out the time among sessions first.
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

/// `struct forwarder_counts` of the forwarder's C interface: what it has done since it was opened.
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

/// Longest error message that a forwarder may give, with its end mark, bytes.
const MESSAGE_SIZE: usize = 1024;

type Open =
    unsafe extern "C" fn(*const c_char, *const c_char, u32, u32, *mut c_char, usize) -> *mut c_void;
type Turn = unsafe extern "C" fn(*mut c_void) -> u32;
type ReadCounts = unsafe extern "C" fn(*const c_void, *mut ForwarderCounts);
type Close = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> c_int;

/// A loaded `libforwarder.so`.
#[derive(Debug, Clone, Copy)]
pub struct ForwarderLibrary {
    open: Open,
    turn: Turn,
    read_counts: ReadCounts,
    close: Close,
}

impl ForwarderLibrary {
    /// Loads a library. It stays loaded until the process ends, because code in it may be
    /// registered to run then (destructors of thread-local values).
    ///
    /// # Errors
    /// The loader's message: no such file, or one without the four functions.
    pub fn load(path: &Path) -> Result<Self, String> {
        let say = |error: libloading::Error| format!("cannot load {}: {error}", path.display());
        // SAFETY: loading runs the library's initialisers. It is one of this project's forwarders,
        // whose initialisers are those of the C and Rust run time; it is code that we run anyway.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(say)?;
        // SAFETY: the four names have these types in the C interface that every libforwarder.so
        // implements. The pointers stay valid because the library is never unloaded.
        let api = unsafe {
            Self {
                open: *library.get::<Open>(b"forwarder_open\0").map_err(say)?,
                turn: *library.get::<Turn>(b"forwarder_turn\0").map_err(say)?,
                read_counts: *library
                    .get::<ReadCounts>(b"forwarder_read_counts\0")
                    .map_err(say)?,
                close: *library.get::<Close>(b"forwarder_close\0").map_err(say)?,
            }
        };
        std::mem::forget(library);
        Ok(api)
    }

    /// Opens a forwarder between two devices. `ring_size` is what each of its rings has of
    /// descriptors, a power of two.
    ///
    /// # Errors
    /// The forwarder's message.
    pub fn open(
        &self,
        device_a: &str,
        device_b: &str,
        batch: u32,
        ring_size: u32,
    ) -> Result<Forwarder, String> {
        let text = |device: &str| {
            CString::new(std::ffi::OsStr::new(device).as_bytes())
                .map_err(|_| format!("device name {device:?} contains a zero byte"))
        };
        let (device_a, device_b) = (text(device_a)?, text(device_b)?);
        let mut message = [0u8; MESSAGE_SIZE];
        // SAFETY: both names are NUL-terminated and outlive the call; `message` is writable and as
        // long as is said.
        let handle = unsafe {
            (self.open)(
                device_a.as_ptr(),
                device_b.as_ptr(),
                batch,
                ring_size,
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

/// An open forwarder; closed when dropped, at the latest.
///
/// It is not `Send`: it is used by the thread that opened it.
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
        // SAFETY: `handle` came from `open` of the same library and is not closed: only `close`
        // and `drop` do that, and both end this object.
        unsafe { (self.api.turn)(self.handle.as_ptr()) }
    }

    /// What it has done so far.
    pub fn counts(&self) -> ForwarderCounts {
        let mut counts = ForwarderCounts::default();
        // SAFETY: as in `turn`; `counts` is ours and has the layout of the C structure.
        unsafe { (self.api.read_counts)(self.handle.as_ptr(), &mut counts) };
        counts
    }

    /// Sends what waits to be sent and stops both devices.
    ///
    /// # Errors
    /// The forwarder's message; it is closed all the same.
    pub fn close(self) -> Result<(), String> {
        let mut message = [0u8; MESSAGE_SIZE];
        let closing = std::mem::ManuallyDrop::new(self);
        // SAFETY: as in `turn`; dropping is suppressed, so the handle is closed once.
        let result = unsafe {
            (closing.api.close)(
                closing.handle.as_ptr(),
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
        let mut message = [0u8; MESSAGE_SIZE];
        // SAFETY: as in `turn`; this object ends here. What it says has nobody left to hear it.
        unsafe {
            (self.api.close)(
                self.handle.as_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
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
    fn the_counter_counts() {
        let first = tsc_ordered();
        assert!(tsc_ordered() > first);
        assert!(tsc() > first);
    }

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
