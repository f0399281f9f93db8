//! Keeps all threads from writing to a range of memory for a moment.
//!
//! A userfaultfd lets their system calls wait too. The kernel refuses it to ordinary users by default.
//! Then the range is read-only: instructions wait in the handler of SIGSEGV, and system calls get EFAULT.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::dma::areas;
use crate::sys::{self, Errno, Fd};

/// The range that is read-only for the moment.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// How often a range became read-only.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// If a write hit a range that is or was read-only, waits and returns true: the access can be tried again.
pub(crate) fn wait_for(address: usize) -> bool {
    let count = COUNT.load(Ordering::SeqCst);
    if count == 0 {
        return false;
    }
    let inside = || (START.load(Ordering::SeqCst)..END.load(Ordering::SeqCst)).contains(&address);
    let end = Instant::now() + Duration::from_secs(5);
    while inside() && Instant::now() < end {
        std::thread::yield_now();
    }
    // The range may have been thawed between the fault and the handler, and may be frozen again.
    let areas = areas::overlapping(address, address + 1).unwrap_or_default();
    let writable = areas
        .iter()
        .any(|area| area.protection & libc::PROT_WRITE != 0);
    writable || inside() || COUNT.load(Ordering::SeqCst) != count
}

/// A range that is frozen until this is dropped.
pub(crate) struct Frozen {
    start: usize,
    end: usize,
    protection: i32,
    userfault: Option<Fd>,
}

impl Frozen {
    /// Freezes a range of the program's memory, but for the pages that exist: [`Self::keep`] freezes
    /// these. With `missing`, other pages come into being for no thread, the caller's neither.
    pub(crate) fn new(
        start: usize,
        end: usize,
        protection: i32,
        missing: bool,
    ) -> Result<Self, Errno> {
        let frozen = Self {
            start,
            end,
            protection,
            userfault: userfault(start, end, missing).ok(),
        };
        if frozen.userfault.is_none() {
            START.store(start, Ordering::SeqCst);
            END.store(end, Ordering::SeqCst);
            COUNT.fetch_add(1, Ordering::SeqCst);
            // SAFETY: the program's memory, which no Rust code of the bridge uses.
            unsafe { sys::mprotect(start, end - start, protection & !libc::PROT_WRITE)? };
        }
        Ok(frozen)
    }

    /// Freezes the pages of a part that exist.
    pub(crate) fn keep(&self, start: usize, end: usize) -> Result<(), Errno> {
        const WRITE_PROTECT: u64 = 0xc018_aa06;
        let words = [start as u64, (end - start) as u64, 1];
        let userfault = self.userfault.as_ref();
        userfault.map_or(Ok(()), |fd| request(fd, WRITE_PROTECT, words))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // Threads that wait try again, on the memory that is there now, when the descriptor closes.
        if self.userfault.is_some() {
            return;
        }
        // SAFETY: as above.
        let _ = unsafe { sys::mprotect(self.start, self.end - self.start, self.protection) };
        END.store(0, Ordering::SeqCst);
        START.store(0, Ordering::SeqCst);
    }
}

/// Makes a userfaultfd for a range. A thread that has a fault there waits until it is closed.
fn userfault(start: usize, end: usize, missing: bool) -> Result<Fd, Errno> {
    const API: u64 = 0xc018_aa3f;
    const REGISTER: u64 = 0xc020_aa00;
    const WRITES: u64 = 2;
    let flags = [libc::O_CLOEXEC as u64];
    // SAFETY: the arguments are numbers.
    let fd = unsafe { sys::call(libc::SYS_userfaultfd, flags) }.map(Fd::new)?;
    let mode = WRITES | u64::from(missing);
    request(&fd, API, [0xaa, 0, 0])?;
    request(&fd, REGISTER, [start as u64, (end - start) as u64, mode, 0])?;
    Ok(fd)
}

/// Makes a request to a userfaultfd, with a structure of words that the kernel may change.
fn request<const N: usize>(fd: &Fd, number: u64, mut words: [u64; N]) -> Result<(), Errno> {
    let arguments = [fd.number() as u64, number, words.as_mut_ptr() as u64];
    // SAFETY: the number holds the structure's size, which is that of `words`.
    unsafe { sys::call(libc::SYS_ioctl, arguments) }.map(drop)
}
