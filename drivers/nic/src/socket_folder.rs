//! The directory of the sockets: no other user may replace what is in it.

use std::fmt::Display;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use crate::error::NicError;

/// Makes the directory for this user alone, unless it exists. Then it must belong to this user or to
/// root, as must a link that leads to it. Without this check, another user could make a directory
/// with a predictable name first, and put sockets of an own server there.
pub(crate) fn open(path: &Path) -> Result<(), NicError> {
    let refuse = |reason: &dyn Display, remedy: &str| {
        NicError::unusable("socket directory", path, reason, remedy)
    };
    let failed = |reason: io::Error| refuse(&reason, "choose a directory that you can write to");
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(path).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
        Ok(_) => {}
    }
    let user = rustix::process::geteuid().as_raw();
    let link = fs::symlink_metadata(path).map_err(failed)?;
    let directory = fs::metadata(path).map_err(failed)?;
    if !directory.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
    }
    let owners = [link.uid(), directory.uid()];
    if let Some(owner) = owners.into_iter().find(|owner| ![user, 0].contains(owner)) {
        let reason = format!("it belongs to user {owner}, who could replace the sockets");
        return Err(refuse(&reason, "choose a directory of your own"));
    }
    if all_may_replace(&directory) {
        return Err(refuse(
            &"all users may write to it and replace the sockets",
            "take away that right (chmod o-w), or choose another directory",
        ));
    }
    Ok(())
}

/// Whether all users may rename and remove the entries of a directory. The sticky bit, which /tmp
/// has, leaves that to the owner of the entry.
fn all_may_replace(directory: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    const ALL_MAY_WRITE: u32 = 0o002;
    directory.mode() & (STICKY | ALL_MAY_WRITE) == ALL_MAY_WRITE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink, PermissionsExt};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_new_directory_is_for_its_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        open(&path).unwrap();
    }

    #[test]
    fn a_directory_in_which_all_may_replace_sockets_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let set = |mode| fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode));
        set(0o777).unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("all users may write"), "{error}");
        set(0o1777).unwrap();
        open(folder.path()).unwrap();
    }

    #[test]
    fn a_directory_or_link_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let parent = tempfile::tempdir().unwrap();
        let (own, other) = (parent.path().join("own"), parent.path().join("other"));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&other).unwrap();
        chown(&other, Some(65534), None).unwrap();
        let error = open(&other).unwrap_err().to_string();
        assert!(error.contains("belongs to user 65534"), "{error}");

        let link = parent.path().join("link");
        symlink(&own, &link).unwrap();
        open(&link).unwrap();
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        open(&link).unwrap_err();
    }

    #[test]
    fn a_file_in_its_place_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = open(file.path()).unwrap_err().to_string();
        assert!(error.contains("not a directory"), "{error}");
    }
}
