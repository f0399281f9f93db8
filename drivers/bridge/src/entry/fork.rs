//! A fork: the child gets consistent tables, shares the connections, and its memory is its own.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::card::connection::prepare_to_share;
use crate::dma::{files, private};
use crate::lock::ALL_SIGNALS;
use crate::mmio::bars;
use crate::{ports, state, sys, ALLOCATOR};

/// The signal mask before the fork.
static MASK: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn prepare() {
    if ports::all().any(|port| port.connection().is_open()) {
        prepare_to_share();
    }
    let mask = sys::set_signal_mask(libc::SIG_BLOCK, ALL_SIGNALS);
    state::STATE.acquire();
    private::copy_for_child();
    files::OWN.acquire();
    ports::all().for_each(|port| port.connection().channel.acquire());
    bars::MAPPED.acquire();
    ALLOCATOR.0.acquire();
    MASK.store(mask, Ordering::Relaxed);
}

fn release(in_child: bool) {
    ALLOCATOR.0.release();
    bars::MAPPED.release();
    private::finish_fork(in_child);
    ports::all().for_each(|port| port.connection().channel.release());
    files::OWN.release();
    state::STATE.release();
    sys::set_signal_mask(libc::SIG_SETMASK, MASK.load(Ordering::Relaxed));
}

unsafe extern "C" fn parent() {
    release(false);
}

unsafe extern "C" fn child() {
    release(true);
}

/// Registers the handlers.
pub(super) fn install() {
    extern "C" {
        fn __register_atfork(
            prepare: unsafe extern "C" fn(),
            parent: unsafe extern "C" fn(),
            child: unsafe extern "C" fn(),
            library: *const u8,
        ) -> i32;
    }
    // SAFETY: the handlers take no arguments, and the library is never unloaded.
    unsafe { __register_atfork(prepare, parent, child, std::ptr::null()) };
}
