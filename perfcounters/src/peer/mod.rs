//! Peers: drivers of other projects, which are measured unmodified.
//!
//! A peer knows nothing of this project. It speaks the kernel's VFIO, so a launcher
//! (`triptych with-card`) connects it to the software card. It prints no report, so the card counts its
//! packets and checks its frames ([`card`]). It never ends by itself, so the measurement ends it with a
//! signal ([`run`]).

pub(crate) mod card;
pub(crate) mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::backend::Cell;
pub use crate::backend::PeerProgram;
use crate::device::Nic;
use crate::place::Place;
use crate::process::{Process, ProcessError};

/// PCI addresses under which the launcher shows the two ports, in the order of their sockets.
const PORTS: [&str; 2] = ["0000:03:00.0", "0000:04:00.0"];

/// DPDK's option for the processors of its threads.
const LCORES: &str = "--lcores=";

/// The command of a cell's program, ours or a peer, that runs it between the ports of a card.
pub(crate) fn command(cell: &Cell, nic: &Nic, cpu: Option<usize>) -> Command {
    if let Some(peer) = &cell.peer {
        return peer.command(&cell.program, &nic.sockets(), cpu);
    }
    let mut command = Command::new(&cell.program);
    command.args(cell.arguments()).args(nic.devices());
    command
}

/// Starts that command on the driver's CPU. A peer may end when its input ends.
pub(crate) fn start(cell: &Cell, nic: &Nic, place: &Place<'_>) -> Result<Process, ProcessError> {
    let cpu = place.placement.driver;
    Process::start_with(
        &cell.implementation.to_string(),
        command(cell, nic, cpu),
        cpu,
        place.folder(),
        (Stdio::piped(), Stdio::null()),
    )
}

impl PeerProgram {
    /// The command that runs `program` with the ports at `sockets`. DPDK chooses the processors
    /// of its threads itself, so `cpu` replaces its choice.
    fn command(&self, program: &Path, sockets: &[PathBuf; 2], cpu: Option<usize>) -> Command {
        let (launcher, first) = &self.launcher;
        let mut command = Command::new(launcher);
        command.args(first);
        for socket in sockets {
            command.arg("--socket").arg(socket);
        }
        command.arg("--").arg(program);
        for argument in &self.arguments {
            let argument = argument.replace("{port0}", PORTS[0]);
            let argument = argument.replace("{port1}", PORTS[1]);
            match cpu.filter(|_| argument.starts_with(LCORES)) {
                Some(cpu) => command.arg(format!("{LCORES}0@{cpu},1@{cpu}")),
                None => command.arg(argument),
            };
        }
        command.envs(&self.environment);
        command
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_command_line_has_launcher_sockets_and_program_in_this_order() {
        let peer = PeerProgram {
            launcher: ("/bin/triptych".into(), vec!["with-card".into()]),
            arguments: ["--lcores=0@0,1@7", "-a", "{port0},{port1}"]
                .map(str::to_owned)
                .into(),
            environment: BTreeMap::from([("KEY".into(), "value".into())]),
            expect: "touch@1".into(),
        };
        let sockets = ["/s/port0.sock".into(), "/s/port1.sock".into()];
        let command = peer.command(Path::new("/p"), &sockets, Some(3));
        let words: Vec<_> = command.get_args().map(|word| word.to_str()).collect();
        let wanted = "with-card --socket /s/port0.sock --socket /s/port1.sock -- /p \
                      --lcores=0@3,1@3 -a 0000:03:00.0,0000:04:00.0";
        let wanted: Vec<_> = wanted.split(' ').map(Some).collect();
        assert_eq!(words, wanted);
        assert_eq!(command.get_program(), "/bin/triptych");
        assert_eq!(command.get_envs().count(), 1);
    }
}
