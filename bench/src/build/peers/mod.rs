//! `triptych peers`: builds the drivers of other projects that are measured beside ours.
//!
//! [`manifest`] reads `peers.toml`, [`source`] takes the pinned sources, [`flags`] asks for the flags, and
//! [`c`], [`rust`], [`c2rust`] and [`testpmd`] make the programs. [`record`] is the result, `build/peers/peers.json`.

pub mod arguments;
pub mod c;
pub mod c2rust;
pub mod change;
mod collection;
pub mod flags;
pub mod list;
pub mod manifest;
pub mod obstacle;
pub mod record;
pub mod rust;
pub mod source;
pub mod stamp;
pub mod testpmd;
pub mod tool;
pub mod workshop;

use std::fs::{self, File};
use std::path::absolute;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::Interrupt;
use rustix::fs::{flock, FlockOperation};

use self::arguments::PeersArguments;
use self::collection::Collection;
use self::flags::ProjectFlags;
use self::manifest::Manifest;
use self::record::PeersRecord;
use self::source::Store;
use self::workshop::Workshop;
use crate::usage::{Outcome, UsageError};

/// Builds all peers that can be had, and writes `peers.json`. Prints what there is and what is skipped.
///
/// # Errors
/// A usage error for a wrong file or folder. Otherwise what failed; a peer that cannot be had is no error.
pub fn run(arguments: &PeersArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let manifest = Manifest::read(&arguments.config)?;
    if arguments.list {
        return match PeersRecord::read(&arguments.build_dir)? {
            Some(record) => {
                print!("{}", list::table(&record));
                Ok(Outcome::Good)
            }
            None => bail!("no peers are built: run `make peers`"),
        };
    }
    if let Some(folder) = &arguments.from {
        if !folder.is_dir() {
            let text = format!("there is no folder {} with git bundles", folder.display());
            return Err(UsageError(text).into());
        }
    }
    let folder =
        absolute(arguments.build_dir.join("peers")).context("cannot find the build folder")?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let _lock = lock(&folder)?;
    let project = absolute(".").context("cannot find the current folder")?;
    let flags = ProjectFlags::ask(&project, &[], &[], interrupt)?;
    let batches: Vec<u32> = manifest.batch.iter().map(|batch| batch.0).collect();
    let output = folder.join("built");
    let workshop = Workshop {
        project: &project,
        output: &output,
        flags: &flags,
        environment: &[],
        batches: &batches,
        interrupt,
    };
    let store = Store {
        folder: &folder,
        bundles: arguments.from.as_deref(),
        interrupt,
    };
    let mut collection = Collection::new(&manifest, &store, &workshop);
    collection.build_all();
    let Collection {
        record, failures, ..
    } = collection;
    ensure!(!interrupt.is_set(), "interrupted");
    record.write(&arguments.build_dir)?;
    print!("{}", list::table(&record));
    match failures.as_slice() {
        [] => Ok(Outcome::Good),
        failures => bail!("{}", failures.join("\n")),
    }
}

/// Keeps a second command out of the folder while this value lives.
fn lock(folder: &std::path::Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).with_context(|| {
        format!(
            "another `triptych peers` works in {}: wait until it has ended",
            folder.display()
        )
    })?;
    Ok(file)
}
