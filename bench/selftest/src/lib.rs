//! The checks of `triptych selftest`: two ports of a card, the cable between them, and the processor.
//!
//! The safe Rust driver starts the ports, checks link and cable, and exchanges frames of every size. Then come
//! the interrupts of the ports, and the processor's events. It tests the card, the cable and the machine; the
//! tests of the drivers are elsewhere.
//!
//! This is a crate of its own because the exchange must be fast, and the rest of the runner need not be. The compiler
//! therefore optimises only this one.

mod cable;
mod counters;
mod events;
mod exchange;
mod finding;
mod frame;
mod interrupts;
mod link;
mod ports;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use perfcounters::Interrupt;

pub use self::finding::{Finding, Grade};
pub use self::frame::SIZES;
use self::ports::{Opened, Ports};

/// Checks the ports with `frames` frames in each direction. Says each finding as soon as it is known.
pub fn check(
    devices: &[String; 2],
    link_timeout: Duration,
    frames: u64,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    drive(devices, link_timeout, frames, interrupt, say);
    if !interrupt.is_set() {
        interrupts::check(devices, interrupt, say);
    }
    // The last check, because it ties this thread to a CPU.
    if !interrupt.is_set() {
        events::check().into_iter().for_each(say);
    }
}

/// Opens the ports, tests them, and stops them.
fn drive(
    devices: &[String; 2],
    link_timeout: Duration,
    frames: u64,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    let opened = match Opened::open(devices) {
        Ok(opened) => opened,
        Err(why) => return say(Finding::fail("open", why)),
    };
    let ordinary = "too few huge pages are free, so it lies on ordinary pages, which costs speed; \
                    `make hugepages` reserves some";
    say(if opened.on_ordinary_pages() {
        Finding::not_available("driver memory", ordinary)
    } else {
        Finding::pass("driver memory", "on huge pages")
    });
    let mut ports = Ports::new(&opened);
    exercise(&mut ports, link_timeout, frames, interrupt, say);
    say(match ports.stop() {
        Ok(()) => Finding::pass("stop", "both ports stopped, with empty rings"),
        Err(why) => Finding::fail("stop", why),
    });
}

/// Everything between opening and stopping the ports. It ends at the first check without which the next
/// ones make no sense.
fn exercise(
    ports: &mut Ports<'_>,
    link_timeout: Duration,
    frames: u64,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(Finding),
) {
    if !link::bring_up(ports, link_timeout, interrupt, say) || interrupt.is_set() {
        return;
    }
    // The counters have seen the link come up, which is not free of errors.
    if let Err(why) = counters::clear_errors(ports.opened) {
        return say(Finding::fail("counters", why));
    }
    let run = RandomState::new().build_hasher().finish() as u32;
    let (finding, cabled) = cable::check(ports, run, interrupt);
    say(finding.figure("registers", counters::state(ports.opened)));
    if !cabled || interrupt.is_set() {
        return;
    }
    exchange::check(ports, run, frames, interrupt, say);
    let finding = counters::check(ports);
    say(finding.figure("registers", counters::state(ports.opened)));
}
