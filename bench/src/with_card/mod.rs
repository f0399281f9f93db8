//! Runs a program that drives a card by VFIO with the software card: `triptych with-card`.
//!
//! Three processes share the work. This one stands where the user expects the program: it passes
//! signals on, and ends with the program's status. It starts a [`guard`], which makes the namespace,
//! starts the card and the program, and cleans up behind them. The guard is in a process group of its
//! own, so it cleans up even if this process is killed. If the guard is killed, this process cleans up.
//! [`start`] is what the guard starts: it prepares itself and becomes the program.

pub mod arguments;
mod family;
pub mod guard;
mod namespace;
mod port_identity;
mod program;
mod signals;
pub mod start;

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::prctl;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::{getpgrp, getpid};
use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::usage::Outcome;

/// What the guard sends when the program was stopped, for example by Ctrl-Z.
const STOPPED: u8 = b'S';

/// Time for the processes to end that a killed guard leaves behind.
const CLEAN_UP: Duration = Duration::from_secs(3);

/// Runs the program of this process's own command line with the card.
///
/// # Errors
/// The guard cannot be started, or it was killed.
pub fn run() -> Result<Outcome> {
    // The processes of a killed guard become children of this one.
    prctl::set_child_subreaper(true).context("cannot watch over the program's processes")?;
    let (mut control, guards_end) = UnixStream::pair().context("cannot make a socket")?;
    let signals = signals::forwarded().context("cannot handle signals")?;

    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let mut guard = Command::new(this)
        .arg("with-card-guard")
        .args(std::env::args_os().skip(2))
        .stdin(Stdio::from(OwnedFd::from(guards_end)))
        .process_group(0)
        .spawn()
        .context("cannot start the guard of the program")?;
    send_input(&control, std::io::stdin().as_fd()).context("cannot reach the guard")?;
    let copy = || control.try_clone().context("cannot copy a socket");
    signals::forward(signals, copy()?);
    signals::end_with_the_script(copy()?, say)
        .context("cannot watch the script that started this")?;

    let mut message = [0];
    while let Ok(1) = control.read(&mut message) {
        if message[0] == STOPPED {
            // The shell sees that the job has stopped. After `fg`, SIGCONT arrives and is passed on.
            let _ = killpg(getpgrp(), Signal::SIGSTOP);
        }
    }
    let status = guard.wait().context("cannot wait for the guard")?;
    if let Some(code) = status.code() {
        return Ok(Outcome::Program(u8::try_from(code).unwrap_or(1)));
    }
    let ended = family::end(getpid(), &[], Duration::ZERO, CLEAN_UP);
    anyhow::bail!("the guard of the program ended with {status}; this killed its {ended} processes")
}

/// Sends the standard input of the program to the guard, whose own one is the socket.
fn send_input(control: &UnixStream, input: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let fds = [input];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(
        control,
        &[IoSlice::new(&[0])],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Prints a message of this command on standard error. A reader that has gone does not matter.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "triptych: {message}");
}
