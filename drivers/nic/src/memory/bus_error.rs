//! Survives a driver that takes memory back after it has mapped it.
//!
//! A process that shortens its memory file takes pages away from every process that maps the file.
//! The next access to such a page raises SIGBUS, which kills the process. A device must survive its
//! drivers, so a handler catches the signal. It replaces the whole mapping, at the same addresses,
//! by private memory full of zeros, and marks the mapping as lost. Then the instruction runs again.
//! The data plane compares [`losses`] in each round, which costs nothing, and withdraws the DMA
//! maps.
//!
//! Two alternatives do not work. Sealed files (`F_SEAL_SHRINK`) cannot become shorter, but drivers
//! and most virtual machines pass ordinary files. Copying through `pread` would cost a system call
//! for every packet.
//!
//! Soundness: the addresses stay valid throughout, because the kernel replaces a mapping in one
//! step, and accesses by other threads wait for it. The other process may change the contents at
//! any time anyway. The handler uses only atomics and `mmap`, which are safe in a signal handler. A
//! SIGBUS with another cause goes to the previous handler, or kills the process as usual.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::config::MAX_PORTS;
use crate::memory::map_request::MAX_PARTS;
use crate::threads::mappings::Slot;

/// Most mappings in this process: those of the clients of all ports, and the register files.
const MAX_MAPPINGS: usize = MAX_PORTS * (MAX_PARTS + 1);

/// Where the search for a free slot begins.
static NEXT: AtomicUsize = AtomicUsize::new(0);

static MAPPINGS: [Slot; MAX_MAPPINGS] = [const {
    Slot {
        base: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MAX_MAPPINGS];

/// Number of mappings lost so far.
static LOSSES: AtomicU32 = AtomicU32::new(0);

/// The previous handler of the signal.
static BEFORE: OnceLock<sigaction> = OnceLock::new();

/// Number of mappings that this process has lost so far. When the number changes, some
/// [`Watched`] mappings have become lost.
#[inline(always)]
pub(crate) fn losses() -> u32 {
    LOSSES.load(Ordering::Acquire)
}

/// Keeps a mapping safe against the loss of its file until dropped.
#[derive(Debug)]
pub(crate) struct Watched(usize);

impl Watched {
    /// Watches a shared mapping of this process from now on.
    pub(crate) fn new(base: usize, len: usize) -> io::Result<Self> {
        catch_signal()?;
        let from = NEXT.load(Ordering::Relaxed);
        let mut slots = (from..from + MAX_MAPPINGS).map(|nth| nth % MAX_MAPPINGS);
        let Some(index) = slots.find(|index| MAPPINGS[*index].take(base, len)) else {
            return Err(io::Error::other(format!(
                "{MAX_MAPPINGS} parts of files are mapped already"
            )));
        };
        NEXT.store((index + 1) % MAX_MAPPINGS, Ordering::Relaxed);
        Ok(Self(index))
    }

    /// Whether zeros have replaced the file's memory.
    pub(crate) fn lost(&self) -> bool {
        MAPPINGS[self.0].is_lost()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        MAPPINGS[self.0].free();
    }
}

/// Installs the handler for SIGBUS, once.
fn catch_signal() -> io::Result<()> {
    static CAUGHT: OnceLock<Result<(), i32>> = OnceLock::new();
    let caught = CAUGHT.get_or_init(|| {
        let errno = || {
            Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EINVAL))
        };
        // SAFETY: zeros are a valid `sigaction`: no handler, no flags, no signals blocked.
        let (mut before, mut ours): (sigaction, sigaction) = unsafe { std::mem::zeroed() };
        // SAFETY: only reads the present action into a local structure.
        if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) } != 0 {
            return errno();
        }
        // The handler reads this value, so it comes first.
        BEFORE.get_or_init(|| before);
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        ours.sa_sigaction = handler as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for.
        if unsafe { libc::sigaction(libc::SIGBUS, &ours, std::ptr::null_mut()) } != 0 {
            return errno();
        }
        Ok(())
    });
    caught.map_err(io::Error::from_raw_os_error)
}

extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid structure, which has an address for SIGBUS.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    if code == libc::BUS_ADRERR && MAPPINGS.iter().any(|slot| replace(slot, address)) {
        return;
    }
    pass_on(signal, info, context);
}

/// Replaces the mapping by zeros. Returns false if the address is not in it, or if the kernel
/// refuses.
fn replace(slot: &Slot, address: usize) -> bool {
    // The mapping that holds the address is in use and cannot go away. Other mappings can.
    let Some((base, len)) = slot.range_with(address) else {
        return false;
    };
    // SAFETY: reads errno of this thread. The interrupted code may be about to read it too.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the range is a watched mapping. It exists, because a thread has just accessed it. All
    // accesses to it are raw or atomic and rely on no value. `mmap` is only a system call.
    let replaced = unsafe {
        libc::mmap(
            base as *mut c_void,
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    if replaced == libc::MAP_FAILED {
        return false;
    }
    slot.lose();
    LOSSES.fetch_add(1, Ordering::Release);
    true
}

/// Handles the signal as the process would have without this module.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    match BEFORE.get() {
        Some(before) if before.sa_sigaction > libc::SIG_IGN => {
            if before.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: a handler with SA_SIGINFO has this signature.
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal, info, context);
            } else {
                // SAFETY: a handler without SA_SIGINFO has this signature.
                let handler: extern "C" fn(c_int) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal);
            }
        }
        _ => {
            // The instruction runs again, and the default action kills the process.
            // SAFETY: zeros are the default action.
            unsafe {
                let default: sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, std::ptr::null_mut());
            }
        }
    }
}
