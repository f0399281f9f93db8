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
//! SIGBUS with another cause goes to the previous handler, or kills the process as usual: the module
//! gives the signal back.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::config::MAX_PORTS;
use crate::memory::map_request::MAX_PARTS;
use crate::threads::mappings::Slot;

/// Most mappings in this process: those of the clients of all ports, and the register files.
const MAX_MAPPINGS: usize = MAX_PORTS * (MAX_PARTS + 1);

static MAPPINGS: [Slot; MAX_MAPPINGS] = [const {
    Slot {
        base: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MAX_MAPPINGS];

/// Number of mappings lost so far.
static LOSSES: AtomicU32 = AtomicU32::new(0);

/// The previous action of the signal, or the error number of the attempt to replace it.
static BEFORE: OnceLock<Result<sigaction, i32>> = OnceLock::new();

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
        let free = MAPPINGS.iter().position(|slot| slot.take(base, len));
        let full = || format!("{MAX_MAPPINGS} parts of files are mapped already");
        free.map(Self).ok_or_else(|| io::Error::other(full()))
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
    let caught = BEFORE.get_or_init(|| {
        // SAFETY: zeros are a valid `sigaction`: no handler, no flags, no signals blocked.
        let (mut before, mut ours): (sigaction, sigaction) = unsafe { std::mem::zeroed() };
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        ours.sa_sigaction = handler as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for.
        match unsafe { libc::sigaction(libc::SIGBUS, &ours, &mut before) } {
            0 => Ok(before),
            _ => Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EINVAL)),
        }
    });
    caught.map(drop).map_err(io::Error::from_raw_os_error)
}

extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes a valid structure, which has an address for SIGBUS.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    if code == libc::BUS_ADRERR && MAPPINGS.iter().any(|slot| replace(slot, address)) {
        return;
    }
    // The instruction runs again, and the previous handler, or the default, takes the signal.
    // SAFETY: zeros are the default action.
    let default: sigaction = unsafe { std::mem::zeroed() };
    let before = BEFORE.get().and_then(|before| before.as_ref().ok());
    // SAFETY: the action was in force before, or is the default.
    unsafe { libc::sigaction(signal, before.unwrap_or(&default), std::ptr::null_mut()) };
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
