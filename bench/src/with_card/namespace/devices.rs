//! The namespace's `/dev`: the machine's devices, and files that stand for VFIO's.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{symlink, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bridge_config::Config;
use nix::sys::stat::{makedev, mknod, Mode, SFlag};
use nix::unistd::geteuid;

use super::folder::{DEV, FOLDER};
use super::mounts;

/// Everyone may open VFIO's containers, because a container alone gives no device.
const FOR_ALL: u32 = 0o666;
/// A group or device belongs to its user.
const FOR_OWNER: u32 = 0o600;

/// Replaces `/dev` by one with the same devices, in which files can be made.
pub fn replace() -> Result<()> {
    let dev = Path::new(DEV);
    let old = mounts::reopen(dev, &["vfio", "iommu", "ptmx"])?;
    let folder = Path::new(FOLDER);
    fs::create_dir(folder).with_context(|| format!("cannot make {FOLDER}"))?;

    // The node of new terminals looks for its neighbour `pts`, so it works only in the old folder.
    let terminals = old.path().join("ptmx");
    if let Ok(kind) = fs::symlink_metadata(&terminals).map(|data| data.file_type()) {
        let target = if kind.is_char_device() {
            let place = folder.join("dev");
            fs::create_dir(&place).context("cannot make a folder for devices")?;
            old.show(&place)?;
            place.join("ptmx")
        } else {
            fs::read_link(&terminals).unwrap_or_else(|_| PathBuf::from("pts/ptmx"))
        };
        symlink(target, dev.join("ptmx")).context("cannot make /dev/ptmx")?;
    }
    add_huge_pages()
}

/// Mounts huge pages where the machine has some, but no file system of them. Only root may do so, and
/// only root's DPDK needs it.
fn add_huge_pages() -> Result<()> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let reserved = read("/proc/sys/vm/nr_hugepages")
        .trim()
        .parse::<u64>()
        .unwrap_or(0);
    let mounted = read("/proc/self/mountinfo").contains(" - hugetlbfs ");
    if reserved == 0 || mounted || !geteuid().is_root() {
        return Ok(());
    }
    let folder = Path::new("/dev/hugepages");
    fs::create_dir_all(folder).context("cannot make /dev/hugepages")?;
    // In a container root may lack the right. The program then says that it finds no huge pages.
    let _ = mounts::file_system("hugetlbfs", folder, "mode=1777", false);
    Ok(())
}

/// Adds the files that stand for VFIO's devices.
pub fn add(config: &Config, permission_denied: bool) -> Result<()> {
    let stand_ins = &config.placeholders;
    let devices = stand_ins.join("devices");
    fs::create_dir_all(&devices).with_context(|| format!("cannot make {}", devices.display()))?;
    make(&stand_ins.join("vfio"), FOR_ALL)?;
    make(&stand_ins.join("iommu"), FOR_ALL)?;

    let visible = Path::new(DEV).join("vfio");
    fs::create_dir_all(visible.join("devices")).context("cannot make /dev/vfio")?;
    link(&stand_ins.join("vfio"), &visible.join("vfio"))?;
    link(&stand_ins.join("iommu"), &Path::new(DEV).join("iommu"))?;
    let mut groups: Vec<_> = config
        .ports
        .iter()
        .map(|port| port.group.to_string())
        .collect();
    groups.dedup();
    let cdevs = config
        .ports
        .iter()
        .map(|port| format!("devices/{}", port.cdev));
    for name in groups.into_iter().chain(cdevs) {
        let (stand_in, target) = (stand_ins.join(&name), visible.join(&name));
        if permission_denied {
            refuse(&stand_in, &target)?;
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
fn refuse(stand_in: &Path, target: &Path) -> Result<()> {
    make(stand_in, 0)?;
    make(target, 0)?;
    if geteuid().is_root() {
        let node = stand_in.with_extension("node");
        mknod(&node, SFlag::S_IFCHR, Mode::empty(), makedev(1, 3))
            .with_context(|| format!("cannot make {}", node.display()))?;
        mounts::bind(&node, target)?;
        mounts::forbid_devices(target)?;
    }
    Ok(())
}
