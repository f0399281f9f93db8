//! The guard: it makes the namespace, starts the card and the program, and cleans up behind them.

mod card;
mod process;
mod terminal;
mod watch;

use std::fs;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use bridge_config::Config;
use nix::sys::prctl;
use perfcounters::device::NicProgram;
use rustix::net::{recvmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use super::arguments::WithCardArguments;
use super::namespace::{self, Layout, FOLDER};
use super::port_identity::PortIdentity;
use super::program::Program;
use crate::usage::UsageError;
use card::Card;
use process::start_command;
use terminal::Terminal;
use watch::{Ending, Watch};

/// The name of the bridge, beside the card.
const BRIDGE: &str = "libtriptych_bridge.so";

/// Runs the program with the card. Returns the exit status of this process.
///
/// # Errors
/// The program cannot run with the card, or the card, the namespace or a process fails.
pub fn run(arguments: &WithCardArguments) -> Result<u8> {
    let control = std::io::stdin().as_fd().try_clone_to_owned();
    let control = UnixStream::from(control.context("cannot copy a socket")?);
    let input = receive_input(&control).context("only `triptych with-card` starts the guard")?;
    let program = Program::new(&arguments.program[0])?;
    let parts = Parts::find(arguments)?;
    let sockets = running_card(&arguments.socket)?;
    let terminal = Terminal::of_parent();
    prctl::set_child_subreaper(true).context("cannot watch over the program's processes")?;
    let mut watch = Watch::new(control)?;

    namespace::enter()?;
    let folder = Path::new(FOLDER);
    let (card, sockets) = match sockets {
        Some(sockets) => (None, sockets),
        None => {
            let card = Card::start(&parts.nic, &arguments.card, folder)?;
            let sockets = card.sockets();
            (Some(card), sockets)
        }
    };
    watch.card = card;
    let layout = Layout {
        sockets,
        same_group: arguments.same_group,
        address_width: arguments.aw_bits,
        memlock: arguments.memlock,
        permission_denied: arguments.permission_denied,
    };
    let config = layout.config();
    watch.wait_for_card()?;
    let identities = layout
        .sockets
        .iter()
        .map(|socket| PortIdentity::ask(socket));
    let identities: Vec<_> = identities.collect::<Result<_>>()?;
    namespace::add_ports(&layout, &config, &identities)?;

    let foreground = terminal.as_ref().is_some_and(Terminal::is_parents);
    let command = command(arguments, &program, &parts, &config, foreground)?;
    watch.start_program(command, input.into(), terminal)?;
    let ending = watch.until_end(arguments.duration.map(Duration::from_secs_f64));
    Ok(finish(ending, arguments.quiet))
}

/// Prints what happened, and the card's report. Returns the exit status.
fn finish(ending: Ending, quiet: bool) -> u8 {
    for note in &ending.notes {
        super::say(note);
    }
    let mut status = ending.status;
    if let Some(card) = ending.card {
        match card.stop() {
            Ok(report) if !quiet => {
                // A reader that has gone does not matter.
                let _ = std::io::stderr().write_all(report.as_bytes());
            }
            Ok(_) => {}
            Err(error) => {
                super::say(&format!("{error:#}"));
                status = 1;
            }
        }
    }
    status
}

/// The files that the program needs beside itself.
struct Parts {
    nic: PathBuf,
    bridge: PathBuf,
}

impl Parts {
    fn find(arguments: &WithCardArguments) -> Result<Self> {
        let folder = match &arguments.build_dir {
            Some(build) => build.join("bin"),
            None => {
                let this =
                    std::env::current_exe().context("cannot find this program's own file")?;
                this.parent().unwrap_or(Path::new("/")).to_owned()
            }
        };
        let nic = folder.join("nic");
        if arguments.socket.is_empty() {
            if let Some(why) = NicProgram::new(nic.clone()).unavailable() {
                return Err(UsageError(why).into());
            }
        }
        let bridge = folder.join(BRIDGE);
        let bridge = fs::canonicalize(&bridge).map_err(|_| {
            UsageError(format!(
                "there is no bridge, {}: build it with `make`",
                bridge.display()
            ))
        })?;
        let nic = std::path::absolute(&nic).unwrap_or(nic);
        Ok(Self { nic, bridge })
    }

    /// A path of the bridge for LD_PRELOAD, where spaces and colons separate paths.
    fn bridge(&self) -> Result<PathBuf> {
        let text = self.bridge.to_string_lossy();
        if !text.contains([' ', ':', '\t']) {
            return Ok(self.bridge.clone());
        }
        let link = Path::new(FOLDER).join(BRIDGE);
        std::os::unix::fs::symlink(&self.bridge, &link).context("cannot link the bridge")?;
        Ok(link)
    }
}

/// The sockets of a running card; `None` if the command starts one.
fn running_card(sockets: &[PathBuf]) -> Result<Option<Vec<PathBuf>>> {
    if sockets.is_empty() {
        return Ok(None);
    }
    if sockets.len() > bridge_config::MAX_PORTS {
        let most = bridge_config::MAX_PORTS;
        return Err(UsageError(format!("--socket: a card has at most {most} ports")).into());
    }
    let check = |socket: &PathBuf| {
        let say = |why: &str| UsageError(format!("--socket {}: {why}", socket.display()));
        let path = fs::canonicalize(socket).map_err(|error| say(&error.to_string()))?;
        match fs::metadata(&path) {
            Ok(data) if data.file_type().is_socket() => Ok(path),
            _ => Err(say("this is no socket; `nic --socket-dir DIR` makes some").into()),
        }
    };
    sockets.iter().map(check).collect::<Result<_>>().map(Some)
}

/// The command that becomes the program.
fn command(
    arguments: &WithCardArguments,
    program: &Program,
    parts: &Parts,
    config: &Config,
    foreground: bool,
) -> Result<Command> {
    let file = Path::new(FOLDER).join("bridge.json");
    fs::write(&file, serde_json::to_vec(config)?).context("cannot write the bridge's file")?;
    let preload = program.preload(std::env::var_os("LD_PRELOAD"), parts.bridge()?.as_os_str());
    let mut command = start_command(&program.path);
    if foreground {
        command.arg("--foreground");
    }
    if let Some(bytes) = config.memlock {
        command.arg(format!("--memlock={bytes}"));
    }
    command
        .arg("--preload")
        .arg(preload)
        .arg("--bridge")
        .arg(file)
        .arg("--")
        .args(&arguments.program);
    Ok(command)
}

/// Receives the standard input for the program.
fn receive_input(control: &UnixStream) -> Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(
        control,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        flags,
    )?;
    ancillary
        .drain()
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        })
        .context("no standard input arrived")
}
