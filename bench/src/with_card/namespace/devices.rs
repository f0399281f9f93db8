//! The namespace's `/dev`: the machine's devices, and files that stand for VFIO's.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{symlink, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bridge_config::Config;
use nix::mount::{umount2, MntFlags};
use nix::unistd::geteuid;

use super::mounts::{self, FOLDER};

/// Everyone may open VFIO's containers, because a container alone gives no device.
const FOR_ALL: u32 = 0o666;
/// A group or device belongs to its user.
const FOR_OWNER: u32 = 0o600;

/// Replaces `/dev` by one with the same devices, in which files can be made.
pub(super) fn replace() -> Result<()> {
    let dev = Path::new("/dev");
    let old = mounts::reopen(dev, &["vfio", "iommu", "ptmx"])?;
    let folder = Path::new(FOLDER);
    fs::create_dir(folder).with_context(|| format!("cannot make {FOLDER}"))?;

    // The node of new terminals looks for its neighbour `pts`, so it works only in the old folder.
    let terminals = mounts::path_of(&old).join("ptmx");
    if let Ok(kind) = fs::symlink_metadata(&terminals).map(|data| data.file_type()) {
        let target = if kind.is_char_device() {
            let place = folder.join("dev");
            fs::create_dir(&place).context("cannot make a folder for devices")?;
            mounts::bind(&mounts::path_of(&old), &place)?;
            // What replaced the old folder is mounted on it, so it was copied too.
            umount2(&place, MntFlags::MNT_DETACH).context("cannot uncover the old devices")?;
            place.join("ptmx")
        } else {
            fs::read_link(&terminals).unwrap_or_else(|_| PathBuf::from("pts/ptmx"))
        };
        symlink(target, dev.join("ptmx")).context("cannot make /dev/ptmx")?;
    }
    add_huge_pages()
}

/// Mounts huge pages where the machine has some, but no file system of them. Only root may do so, and only root's DPDK
/// needs it.
fn add_huge_pages() -> Result<()> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let reserved = read("/proc/sys/vm/nr_hugepages");
    let mounted = read("/proc/self/mountinfo").contains(" - hugetlbfs ");
    if matches!(reserved.trim(), "" | "0") || mounted || !geteuid().is_root() {
        return Ok(());
    }
    let folder = Path::new("/dev/hugepages");
    fs::create_dir_all(folder).context("cannot make /dev/hugepages")?;
    // In a container root may lack the right. The program then says that it finds no huge pages.
    let _ = mounts::file_system("hugetlbfs", folder, "mode=1777");
    Ok(())
}

/// Adds the files that stand for VFIO's devices.
pub(super) fn add(config: &Config, permission_denied: bool) -> Result<()> {
    let (stand_ins, dev) = (&config.placeholders, Path::new("/dev"));
    fs::create_dir_all(stand_ins.join("devices")).context("cannot make a folder")?;
    fs::create_dir_all(dev.join("vfio/devices")).context("cannot make /dev/vfio")?;
    for (name, target) in [("vfio", "vfio/vfio"), ("iommu", "iommu")] {
        make(&stand_ins.join(name), FOR_ALL)?;
        link(&stand_ins.join(name), &dev.join(target))?;
    }
    let groups = config.ports.iter().map(|port| port.group.to_string());
    let mut names: Vec<_> = groups.collect();
    names.dedup();
    names.extend(
        config
            .ports
            .iter()
            .map(|port| format!("devices/{}", port.cdev)),
    );
    for name in names {
        let (stand_in, target) = (stand_ins.join(&name), dev.join("vfio").join(&name));
        if permission_denied {
            refuse(&stand_in)?;
            refuse(&target)?;
        } else {
            make(&stand_in, FOR_OWNER)?;
            link(&stand_in, &target)?;
        }
    }
    Ok(())
}

fn make(path: &Path, mode: u32) -> Result<()> {
    File::create(path)
        .and_then(|file| file.set_permissions(Permissions::from_mode(mode)))
        .with_context(|| format!("cannot make {}", path.display()))
}

fn link(old: &Path, new: &Path) -> Result<()> {
    fs::hard_link(old, new).with_context(|| format!("cannot make {}", new.display()))
}

/// Makes a file that cannot be opened. Root ignores permissions, but not a mount without devices.
fn refuse(path: &Path) -> Result<()> {
    make(path, 0)?;
    if geteuid().is_root() {
        mounts::bind(Path::new("/dev/null"), path)?;
        mounts::forbid_devices(path)?;
    }
    Ok(())
}
