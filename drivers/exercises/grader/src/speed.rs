//! Exact instructions of a driver: a child process executes one turn of a full batch in single steps.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use conformance::{capturing, setup, Lockstep};
use nix::sys::ptrace;
use nix::sys::signal::{raise, Signal};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{alarm, Pid};

use crate::course::Language;
use crate::run;

/// Packets each way in a turn.
const BATCH: u32 = 32;
/// Turns before the counted one, so that the rings have wrapped and each turn takes sent packets back.
const WARM_UP: u32 = 20;
/// No turn of a correct driver has so many instructions.
const MOST: u64 = 1_000_000;
/// Seconds until the child ends itself.
const LIMIT: u32 = 10;

/// The child: stops before and after nothing, and after a turn.
pub fn child(language: Language) -> Result<()> {
    alarm::set(LIMIT);
    let setup = setup(BATCH, 512);
    let mut lockstep = Lockstep::open_with(language.implementation(), setup, capturing)?;
    for turn in 0..=WARM_UP {
        lockstep.inject(0, BATCH as usize)?;
        lockstep.inject(1, BATCH as usize)?;
        lockstep.poll();
        if turn < WARM_UP {
            lockstep.turn()?;
            lockstep.poll();
        }
    }
    let forwarder = lockstep.forwarder()?;
    ptrace::traceme()?;
    raise(Signal::SIGSTOP)?;
    raise(Signal::SIGSTOP)?;
    let received = forwarder.turn();
    raise(Signal::SIGSTOP)?;
    ensure!(received == 2 * BATCH, "the turn took {received} packets");
    Ok(())
}

/// Instructions a packet of the driver in `build`.
pub fn measure(language: Language, build: &Path) -> Result<f64> {
    let mut command = run::process("speed", build, language, 0)?;
    let child = command.spawn().context("the child")?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let counted = count(pid);
    // It may have ended already.
    let _ = ptrace::kill(pid);
    let _ = waitpid(pid, None);
    let [nothing, turn] = counted?;
    Ok((turn - nothing) as f64 / f64::from(2 * BATCH))
}

/// Single steps between the first and the second stop, and between the second and the third.
fn count(pid: Pid) -> Result<[u64; 2]> {
    let stop = || match waitpid(pid, None)? {
        WaitStatus::Stopped(_, signal @ (Signal::SIGSTOP | Signal::SIGTRAP)) => Ok(signal),
        other => bail!("the child did not reach the turn's end: {other:?}"),
    };
    stop()?;
    let mut counts = [0; 2];
    for count in &mut counts {
        ptrace::step(pid, None)?;
        while stop()? != Signal::SIGSTOP {
            *count += 1;
            ensure!(*count < MOST, "a turn has more than {MOST} instructions");
            ptrace::step(pid, None)?;
        }
    }
    Ok(counts)
}
