//! What happens when a driver takes back memory that it has handed over.
//!
//! A process that makes its memory file shorter takes pages away from everybody who has mapped it,
//! and whoever touches them next gets SIGBUS, which kills. A device must survive its drivers, so
//! the signal is caught: the whole mapping is replaced, at the same addresses, by private memory
//! full of zeros, the instruction is run again, and the mapping is marked as lost. The data plane
//! looks at [`losses`] in each round, which costs nothing, and withdraws the DMA maps.
//!
//! Why not otherwise: sealed files (`F_SEAL_SHRINK`) cannot be made shorter, but ordinary ones are
//! what drivers and most virtual machines hand over; and copying through `pread` would cost every
//! packet a system call.
//!
//! Why it is sound: the addresses stay valid from before the signal to after it, because the kernel
//! replaces a mapping in one step, for which accesses by other threads wait; what is in the memory
//! was the other process's to change all along. The handler uses atomics and `mmap`, nothing that
//! is unsafe in a signal handler. A SIGBUS from anywhere else goes to whoever handled it before, or
//! kills as it should.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::threads::mappings::Slot;

/// Most mappings of a process.
const MAX_MAPPINGS: usize = 8192;

static MAPPINGS: [Slot; MAX_MAPPINGS] = [const {
    Slot {
        base: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MAX_MAPPINGS];

/// How many mappings have been lost so far.
static LOSSES: AtomicU32 = AtomicU32::new(0);

/// What handled the signal before.
static BEFORE: OnceLock<sigaction> = OnceLock::new();

/// How many mappings have been lost in this process so far: if that has changed, some of them say
/// so.
#[inline(always)]
pub(crate) fn losses() -> u32 {
    LOSSES.load(Ordering::Acquire)
}

/// A mapping that survives the loss of its file, until this is dropped.
#[derive(Debug)]
pub(crate) struct Watched(usize);

impl Watched {
    /// Watches a shared mapping of this process.
    pub(crate) fn new(base: usize, len: usize) -> io::Result<Self> {
        catch_signal()?;
        let taken = |slot: &Slot| slot.take(base, len);
        let Some(index) = MAPPINGS.iter().position(taken) else {
            return Err(io::Error::other(format!(
                "{MAX_MAPPINGS} files are mapped already"
            )));
        };
        Ok(Self(index))
    }

    /// Whether the memory is no longer what it was.
    pub(crate) fn lost(&self) -> bool {
        MAPPINGS[self.0].is_lost()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        MAPPINGS[self.0].free();
    }
}

/// Catches SIGBUS from now on.
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
        // SAFETY: asks for the present action only, into a structure of ours.
        if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) } != 0 {
            return errno();
        }
        // Before the handler that reads it.
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
    // SAFETY: the kernel passes a valid structure; for SIGBUS it has an address.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    if code == libc::BUS_ADRERR && MAPPINGS.iter().any(|slot| replace(slot, address)) {
        return;
    }
    pass_on(signal, info, context);
}

/// Replaces the mapping by zeros, if the address lies in it and the kernel lets us.
fn replace(slot: &Slot, address: usize) -> bool {
    // The mapping with the address cannot go away meanwhile, as it is in use; others can.
    let Some((base, len)) = slot.range_with(address) else {
        return false;
    };
    // SAFETY: errno of this thread, which the interrupted code may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the range is a mapping that this module was told of and that is in use, as somebody
    // has just touched it; all accesses are raw or atomic and rely on no value. `mmap` is a system
    // call and nothing more.
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

/// Does what would have been done without us.
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
            // The instruction runs again, and then it kills.
            // SAFETY: zeros are the default action.
            unsafe {
                let default: sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, std::ptr::null_mut());
            }
        }
    }
}
