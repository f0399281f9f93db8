//! Becomes a program, after preparations that only the process itself can make.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Error};
use bridge_config::VARIABLE;
use nix::sys::prctl;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getpgrp, tcsetpgrp};

use super::arguments::StartArguments;

/// Becomes the program. It dies with the guard, which started this process.
///
/// Returns the error if that fails.
pub fn run(arguments: &StartArguments) -> Error {
    if let Err(error) = prepare(arguments) {
        return error;
    }
    let [name, rest @ ..] = arguments.arguments.as_slice() else {
        return Error::msg("the program has no name");
    };
    let mut command = Command::new(&arguments.file);
    command.arg0(name).args(rest);
    if let Some(preload) = &arguments.preload {
        command.env("LD_PRELOAD", preload);
    }
    if let Some(bridge) = &arguments.bridge {
        command.env(VARIABLE, bridge);
    }
    let error = command.exec();
    Error::from(error).context(format!("cannot run {}", arguments.file.display()))
}

fn prepare(arguments: &StartArguments) -> Result<(), Error> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("cannot bind this process to its guard")?;
    if let Some(bytes) = arguments.memlock {
        let (_, hard) = getrlimit(Resource::RLIMIT_MEMLOCK).context("cannot read a limit")?;
        let limit = bytes.min(hard);
        setrlimit(Resource::RLIMIT_MEMLOCK, limit, limit).context("cannot limit locked memory")?;
    }
    if arguments.foreground {
        // The process is in the background until now, and SIGTTOU would stop it.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        blocked.thread_block().context("cannot block a signal")?;
        let terminal = std::fs::File::open("/dev/tty").context("cannot open the terminal")?;
        tcsetpgrp(&terminal, getpgrp()).context("cannot pass the terminal on")?;
    }
    Ok(())
}
