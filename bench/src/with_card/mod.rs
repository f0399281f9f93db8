//! Runs a program that drives a card by VFIO with the software card: `triptych with-card`.
//!
//! This process makes a [`namespace`] in which the ports of the card exist, starts the card and the program in it, and
//! passes signals on until the program ends. Card, program and all that they start are in a PID namespace whose
//! [`init`] ends with this process, even if it is killed. The kernel then ends all of them.

pub(crate) mod arguments;
mod card;
mod init;
mod namespace;
mod program;
mod signals;
mod terminal;
mod watch;

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use bridge_config::{loaded_mark, Config, VARIABLE};
use nix::sys::prctl;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::sys::signal::Signal;
use perfcounters::device::NicProgram;
use signal_hook::consts::{SIGHUP, SIGINT};

use crate::usage::{Outcome, UsageError};
use arguments::WithCardArguments;
use card::Card;
use init::Init;
use namespace::FOLDER;
use signals::Signals;
use terminal::Terminal;
use watch::Watch;

/// The name of the bridge, beside the card.
const BRIDGE: &str = "libtriptych_bridge.so";
/// The status if the program ran without the bridge.
const NO_BRIDGE: u8 = 2;

/// Runs the program with the card. The outcome holds the status for the user.
///
/// # Errors
/// There is no such program, or the card, the namespace or a process fails.
pub fn run(arguments: &WithCardArguments) -> Result<Outcome> {
    let program = program::find(&arguments.program[0])?;
    let (nic, bridge) = parts(arguments)?;
    let absolute = |path: &PathBuf| {
        fs::canonicalize(path)
            .map_err(|error| UsageError(format!("--socket {}: {error}", path.display())))
    };
    let sockets = arguments.socket.iter().map(absolute);
    let sockets = sockets.collect::<Result<Vec<_>, _>>()?;
    let terminal = Terminal::open();
    let mut signals = Signals::catch().context("cannot handle signals")?;

    let death_signal = death_signal().context("cannot read this process's settings")?;
    namespace::enter()?;
    // A new user namespace forgets it.
    prctl::set_pdeathsig(death_signal).context("cannot bind this process to its parent")?;
    let init = Init::start()?;
    let mut card = if sockets.is_empty() {
        Some(Card::start(&nic, &arguments.card, Path::new(FOLDER))?)
    } else {
        None
    };
    let sockets = card.as_ref().map_or(sockets, Card::sockets);
    if let Some(card) = &mut card {
        card.wait_until_ready(&mut signals)?;
    }
    let config = namespace::config(arguments, sockets);
    namespace::add_ports(&config, arguments.permission_denied)?;

    let file = Path::new(FOLDER).join("bridge.json");
    fs::write(&file, serde_json::to_vec(&config)?).context("cannot write the bridge's file")?;
    let process = start(arguments, &program, &bridge, &config, &file)?;
    let mut watch = Watch::new(process, signals, terminal, card);
    let mut status = watch.until_end(arguments.duration);

    if !loaded_mark(&file).exists() {
        watch.notes.push(program::without_bridge(&program));
        status = status.max(NO_BRIDGE);
    }
    let left = init.processes().saturating_sub(watch.card.is_some().into());
    if left > 0 {
        let what = format!("ended processes that the program left behind ({left})");
        watch.notes.push(what);
    }
    watch.notes.iter().for_each(|note| say(note));
    match watch.card.map(Card::stop) {
        Some(Ok(report)) if !arguments.quiet => {
            // A reader that has gone does not matter.
            let _ = std::io::stderr().write_all(report.as_bytes());
        }
        Some(Err(error)) => {
            say(&format!("{error:#}"));
            status = 1;
        }
        _ => {}
    }
    Ok(Outcome::Program(status))
}

/// Starts the program in a process group of its own.
fn start(
    arguments: &WithCardArguments,
    program: &Path,
    bridge: &Path,
    config: &Config,
    file: &Path,
) -> Result<std::process::Child> {
    if let Some(bytes) = config.memlock {
        let (_, hard) = getrlimit(Resource::RLIMIT_MEMLOCK).context("cannot read a limit")?;
        let limit = bytes.min(hard);
        setrlimit(Resource::RLIMIT_MEMLOCK, limit, limit).context("cannot limit locked memory")?;
    }
    // Spaces and colons separate paths in LD_PRELOAD, so a link without them stands for the bridge.
    let link = Path::new(FOLDER).join(BRIDGE);
    std::os::unix::fs::symlink(bridge, &link).context("cannot link the bridge")?;
    let [name, rest @ ..] = arguments.program.as_slice() else {
        return Err(UsageError("name a program behind `--`".to_owned()).into());
    };
    let child = Command::new(program)
        .arg0(name)
        .args(rest)
        .env("LD_PRELOAD", program::preload(program, &link))
        .env(VARIABLE, file)
        .process_group(0)
        .spawn();
    child.map_err(|error| UsageError(format!("cannot run {}: {error}", program.display())).into())
}

/// The card and the bridge.
fn parts(arguments: &WithCardArguments) -> Result<(PathBuf, PathBuf)> {
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let folder = match &arguments.build_dir {
        Some(build) => build.join("bin"),
        None => this.with_file_name(""),
    };
    let nic = folder.join("nic");
    if arguments.socket.is_empty() {
        if let Some(why) = NicProgram::new(nic.clone()).unavailable() {
            return Err(UsageError(why).into());
        }
    }
    let bridge = folder.join(BRIDGE);
    let bridge = fs::canonicalize(&bridge).map_err(|_| {
        let path = bridge.display();
        UsageError(format!("there is no bridge, {path}: build it with `make`"))
    })?;
    Ok((std::path::absolute(&nic)?, bridge))
}

/// The signal that this process gets when its parent ends: the one that the parent has set, or SIGTERM for a script's
/// background job. Such a job ignores SIGINT, and would outlive the end of its script by Ctrl-C. A job below `nohup`
/// goes on.
fn death_signal() -> Result<Option<Signal>> {
    let in_background = signals::is_ignored(SIGINT) && !signals::is_ignored(SIGHUP);
    Ok(prctl::get_pdeathsig()?.or(in_background.then_some(Signal::SIGTERM)))
}

/// Prints a message of this command on standard error. A reader that has gone does not matter.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "triptych: {message}");
}
