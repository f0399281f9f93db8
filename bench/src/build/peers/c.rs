//! Builds a peer in C.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::change::{batch_change, copy_changed};
use super::flags::{check_cmake, for_project_cpu, language};
use super::manifest::{CPeer, Change, Source};
use super::stamp::Stamp;
use super::tool;
use super::workshop::{two_ports, Built, Workshop, DEFAULT};

/// Longest time to compile one program.
const LIMIT: Duration = Duration::from_secs(180);

/// The flags of a variant: the project's, with what the sources need, or the peer's own.
pub fn flags(workshop: &Workshop<'_>, peer: &CPeer, variant: &str) -> Vec<String> {
    match variant {
        DEFAULT => [language(&peer.own_flags), workshop.flags.c.clone()].concat(),
        _ => for_project_cpu(&peer.own_flags, &workshop.flags.c),
    }
}

/// Builds one program for each batch size.
///
/// # Errors
/// If the sources have another build file than peers.toml says, or the compiler's message.
pub fn build(
    workshop: &Workshop<'_>,
    peer: &CPeer,
    source: &Source,
    sources: &Path,
    variant: &str,
) -> Result<Built> {
    check_cmake(peer, sources)?;
    let flags = flags(workshop, peer, variant);
    let folder = workshop.folder(&peer.implementation, variant);
    let programs: Vec<Program> = workshop
        .batches
        .iter()
        .map(|batch| Program {
            batch: *batch,
            change: batch_change(&peer.program, &peer.constant, *batch),
            path: folder.join(format!("ixy-fwd-{batch}")),
        })
        .collect();
    let paths: Vec<PathBuf> = programs
        .iter()
        .map(|program| program.path.clone())
        .collect();
    let project = workshop.flags;
    let parts = [
        &source.tree,
        &project.cc,
        &project.cc_hash,
        &flags.join(" "),
    ];
    let stamp = Stamp::new(&folder, &parts.map(String::as_str));
    if !stamp.holds(&paths) {
        stamp.clear()?;
        for program in &programs {
            compile(workshop, peer, sources, &flags, program)
                .with_context(|| format!("batch {}", program.batch))?;
        }
        stamp.set()?;
    }
    let toolchain = format!("{} {}", project.cc_version, flags.join(" "));
    let builds = programs.into_iter().map(|program| {
        let change = program.change.map(|change| change.name());
        two_ports(program.batch, change, program.path, peer.ring_size)
    });
    Ok(Built {
        toolchain,
        builds: builds.collect(),
    })
}

struct Program {
    batch: u32,
    change: Option<Change>,
    path: PathBuf,
}

fn compile(
    workshop: &Workshop<'_>,
    peer: &CPeer,
    sources: &Path,
    flags: &[String],
    program: &Program,
) -> Result<()> {
    let mut command = Command::new(&workshop.flags.cc);
    // Paths relative to the sources keep this machine's paths out of the program.
    command
        .current_dir(sources)
        .args(flags)
        .arg("-I")
        .arg(&peer.include);
    match &program.change {
        None => command.arg(&peer.program),
        Some(change) => {
            let changed = program.path.with_extension("c");
            copy_changed(sources, &peer.program, Some(change), &changed)?;
            // Its `#include "..."` still means the folder that the file comes from.
            let home = peer.program.parent().unwrap_or(Path::new(""));
            command.arg("-iquote").arg(home).arg(changed)
        }
    };
    command.args(&peer.sources).arg("-o").arg(&program.path);
    tool::run("cc", command, LIMIT, workshop.interrupt).map(drop)
}
