//! SIGSEGV and SIGSYS belong to the bridge. The program's own handlers of them run for signals that
//! are not the bridge's, and the program cannot block the two.

use std::mem::zeroed;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::entry::next;
use crate::entry::traps;
use crate::lock::Lock;
use crate::mmio::fault::{self, Outcome};
use crate::sys;

/// What the program wants: for SIGSEGV, then for SIGSYS. `None` is the default action.
static WANTED: Lock<[Option<libc::sigaction>; 2]> = Lock::new([None, None]);

/// The bridge's signals, in a mask.
const OURS: u64 = 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGSYS - 1);

/// Whether the bridge's handlers are in place.
static INSTALLED: AtomicBool = AtomicBool::new(false);

fn slot(signal: i32) -> Option<usize> {
    match signal {
        libc::SIGSEGV => Some(0),
        libc::SIGSYS => Some(1),
        _ => None,
    }
}

fn default_action() -> libc::sigaction {
    // SAFETY: all zeros is the default action.
    unsafe { zeroed() }
}

/// Calls the C library's sigaction.
fn set(signal: i32, action: &libc::sigaction) {
    // SAFETY: the action names a valid handler.
    unsafe { next::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Puts the bridge's handlers in place. They run on the alternate stack if the program's handler
/// would, so that the program can handle an overflow of its stack.
fn place(signal: i32, on_stack: bool) {
    let mut action = default_action();
    action.sa_sigaction = on_signal as *const () as usize;
    // System calls of the program go on after a fault in its other threads.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_RESTART;
    if on_stack && signal == libc::SIGSEGV {
        action.sa_flags |= libc::SA_ONSTACK;
    }
    set(signal, &action);
}

/// Takes SIGSEGV and SIGSYS over.
pub(super) fn install() {
    let mut wanted = WANTED.lock();
    for signal in [libc::SIGSEGV, libc::SIGSYS] {
        let Some(slot) = slot(signal) else { continue };
        let mut old = default_action();
        // SAFETY: `old` is one action.
        unsafe { next::sigaction(signal, std::ptr::null(), &raw mut old) };
        wanted[slot] = (old.sa_sigaction != libc::SIG_DFL).then_some(old);
        place(signal, old.sa_flags & libc::SA_ONSTACK != 0);
    }
    // A program that was started with the two blocked must not stay so.
    sys::set_signal_mask(libc::SIG_UNBLOCK, OURS);
    INSTALLED.store(true, Ordering::Release);
}

unsafe extern "C" fn on_signal(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: errno is a variable of this thread.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel passes both.
    let (info_ref, context_ref) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let outcome = match signal {
        // SAFETY: as above.
        libc::SIGSEGV => unsafe { fault::handle(info_ref, context_ref) },
        // SAFETY: as above.
        _ => unsafe { traps::handle(info_ref, context_ref) },
    };
    match outcome {
        Outcome::Done => {}
        // The access happens again and ends the program, with the instruction in its core dump.
        Outcome::Unknown => set(signal, &default_action()),
        // SAFETY: as above.
        Outcome::NotOurs => unsafe { pass_on(signal, info, context) },
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Does what the program wants for a signal.
///
/// # Safety
///
/// The arguments must be the kernel's.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(slot) = slot(signal) else { return };
    let resets = |action: &mut libc::sigaction| action.sa_flags & libc::SA_RESETHAND != 0;
    let wanted = {
        let mut wanted = WANTED.lock();
        let action = wanted[slot];
        let _ = wanted[slot].take_if(resets);
        action
    };
    // SAFETY: the kernel passes it.
    let sent = unsafe { (*info).si_code } <= 0;
    let ignored = wanted.is_some_and(|action| action.sa_sigaction == libc::SIG_IGN);
    let Some(action) = wanted.filter(|_| !ignored) else {
        if ignored && sent {
            return;
        }
        // A fault happens again and ends the program. A signal that was sent must be sent again.
        set(signal, &default_action());
        if sent || signal == libc::SIGSYS {
            let arguments = [u64::from(std::process::id()), signal as u64];
            // SAFETY: the arguments are numbers.
            let _ = unsafe { sys::call(libc::SYS_kill, arguments) };
        }
        return;
    };
    let mut mask = without_ours(mask_of(&action.sa_mask));
    if action.sa_flags & libc::SA_NODEFER == 0 {
        mask = without_ours(mask | 1 << (signal - 1));
    }
    let old = sys::set_signal_mask(libc::SIG_BLOCK, mask);
    type Handler = unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
    // SAFETY: the program gave a handler. The kernel, too, passes all three to one without SA_SIGINFO.
    unsafe {
        let handler = std::mem::transmute::<usize, Handler>(action.sa_sigaction);
        handler(signal, info, context);
    }
    sys::set_signal_mask(libc::SIG_SETMASK, old);
}

/// The kernel's 64 signals of a C library's set.
fn mask_of(set: &libc::sigset_t) -> u64 {
    // SAFETY: a set begins with a word of 64 bits.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read() }
}

fn without_ours(mask: u64) -> u64 {
    mask & !OURS
}

/// A copy of a set without the two signals.
fn allowed(set: &libc::sigset_t) -> libc::sigset_t {
    let mut copy = *set;
    // SAFETY: as in `mask_of`.
    unsafe {
        (&raw mut copy)
            .cast::<u64>()
            .write(without_ours(mask_of(set)))
    };
    copy
}

/// Answers sigaction(2): keeps the bridge's two signals, and lets no handler block them.
///
/// # Safety
///
/// The arguments must be what sigaction(2) takes.
pub(super) unsafe fn action(
    signal: i32,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> Option<i32> {
    if !INSTALLED.load(Ordering::Acquire) {
        return None;
    }
    // SAFETY: the caller vouches for the arguments.
    let new = unsafe { new.as_ref() };
    let Some(slot) = slot(signal) else {
        let mut action = *new?;
        action.sa_mask = allowed(&action.sa_mask);
        // SAFETY: as above.
        return Some(unsafe { next::sigaction(signal, &raw const action, old) });
    };
    let mut wanted = WANTED.lock();
    let before = wanted[slot].unwrap_or_else(default_action);
    if let Some(action) = new {
        wanted[slot] = (action.sa_sigaction != libc::SIG_DFL).then_some(*action);
        place(signal, action.sa_flags & libc::SA_ONSTACK != 0);
    }
    if !old.is_null() {
        // SAFETY: as above.
        unsafe { old.write(before) };
    }
    Some(0)
}

/// Answers signal(2).
pub(super) fn handler(signal: i32, handler: libc::sighandler_t) -> Option<libc::sighandler_t> {
    slot(signal)?;
    let (mut new, mut old) = (default_action(), default_action());
    new.sa_sigaction = handler;
    new.sa_flags = libc::SA_RESTART;
    // SAFETY: both are actions.
    unsafe { action(signal, &raw const new, &raw mut old) }.map(|_| old.sa_sigaction)
}

/// The mask that takes the place of one that may block the bridge's signals.
///
/// # Safety
///
/// The arguments must be what sigprocmask(2) takes.
pub(super) unsafe fn allowed_mask(how: i32, new: *const libc::sigset_t) -> Option<libc::sigset_t> {
    let may_block = how != libc::SIG_UNBLOCK && INSTALLED.load(Ordering::Acquire);
    // SAFETY: the caller vouches for the arguments.
    unsafe { new.as_ref() }.filter(|_| may_block).map(allowed)
}
