//! Mounts of the namespace.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::mount::{mount, MsFlags};
use nix::unistd::{chdir, chroot, fchdir};
use rustix::fs::{Mode, OFlags};

/// The folder of the command's own files. It exists only in the namespace.
pub(crate) const FOLDER: &str = "/dev/.triptych";
/// Where the namespace's first process mounts its `/proc`.
pub(crate) const PROC: &str = "/dev/.triptych/proc";
const NOTHING: Option<&str> = None;
/// More folders than any path has.
const DEPTH: usize = 1024;

/// Keeps mounts of this namespace from the rest of the system.
pub(super) fn detach() -> Result<()> {
    let flags = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    let separate = || mount(NOTHING, "/", NOTHING, flags, NOTHING);
    match separate() {
        // Only a mount can be separated, and the root of a chroot is often a plain folder.
        Err(Errno::EINVAL) => outside_of_chroot(separate),
        outcome => outcome,
    }
    .context("cannot separate the mounts of the namespace")
}

/// Calls `act` with the root of the namespace as `/`, and returns into the chroot.
///
/// A mount on the chroot's own root would not do: it would reach the rest of the system before it is separate.
fn outside_of_chroot(act: impl Fn() -> nix::Result<()>) -> nix::Result<()> {
    let (root, here) = (open("/")?, open(".")?);
    // `..` ends at the root of a process. A working folder outside of that root leads past it.
    chdir("/")?;
    chroot("/dev")?;
    chdir("../".repeat(DEPTH).as_str())?;
    chroot(".")?;
    let outcome = act();
    fchdir(&root)?;
    chroot(".")?;
    fchdir(&here)?;
    outcome
}

fn open(folder: impl AsRef<Path>) -> nix::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder.as_ref(), flags, Mode::empty())
        .map_err(|error| Errno::from_raw(error.raw_os_error()))
}

/// Shows the file or folder `source`, with what is mounted below it, also at `target`.
pub(super) fn bind(source: &Path, target: &Path) -> Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), target, NOTHING, flags, NOTHING)
        .with_context(|| format!("cannot mount {} at {}", source.display(), target.display()))
}

/// Forbids to open device nodes at `path`, a mount of its own.
pub(super) fn forbid_devices(path: &Path) -> Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_NODEV;
    mount(NOTHING, path, NOTHING, flags, NOTHING)
        .with_context(|| format!("cannot forbid devices at {}", path.display()))
}

/// Mounts an empty file system of the given kind.
pub(super) fn file_system(kind: &str, target: &Path, options: &str) -> Result<()> {
    mount(
        Some(kind),
        target,
        Some(kind),
        MsFlags::MS_NOSUID,
        Some(options),
    )
    .with_context(|| format!("cannot mount {kind} at {}", target.display()))
}

/// The path of an open folder, which is valid in this process.
pub(super) fn path_of(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Replaces a folder by one of its own memory, in which new entries can be made. All entries of the old folder appear in
/// it, except those in `without`. Returns the old one.
pub(super) fn reopen(folder: &Path, without: &[&str]) -> Result<OwnedFd> {
    let say = || format!("cannot replace {}", folder.display());
    let old = open(folder).with_context(say)?;
    file_system("tmpfs", folder, "mode=755")?;
    for entry in fs::read_dir(path_of(&old)).with_context(say)? {
        let entry = entry.with_context(say)?;
        let name = entry.file_name();
        if without.iter().any(|hidden| name == *hidden) {
            continue;
        }
        let (source, target) = (entry.path(), folder.join(&name));
        let kind = entry.file_type().with_context(say)?;
        if kind.is_symlink() {
            let pointed = fs::read_link(&source).with_context(say)?;
            symlink(pointed, &target).with_context(say)?;
            continue;
        }
        if kind.is_dir() {
            fs::create_dir(&target).with_context(say)?;
        } else {
            File::create(&target).with_context(say)?;
        }
        bind(&source, &target)?;
    }
    Ok(old)
}

/// Shows the folder `source` at `target`, which need not exist if its parent does.
pub(super) fn cover(source: &Path, target: &Path) -> Result<()> {
    if !target.is_dir() {
        let parent = target.parent().unwrap_or(Path::new("/"));
        reopen(parent, &[])?;
        fs::create_dir(target).with_context(|| format!("cannot make {}", target.display()))?;
    }
    bind(source, target)
}
