//! Refuses programs that run with other privileges than their user. The loader ignores LD_PRELOAD for
//! them, so that the bridge cannot enter.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{getegid, geteuid};

use super::way_round::WAY_ROUND;
use crate::usage::UsageError;

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// The extended attribute that holds a file's capabilities.
const CAPABILITIES: &str = "security.capability";

/// Refuses a program that changes user, group or capabilities when it starts.
///
/// # Errors
/// The program does so, or its file cannot be examined.
pub fn check(path: &Path) -> Result<(), UsageError> {
    let data = std::fs::metadata(path)
        .map_err(|error| UsageError(format!("{}: {error}", path.display())))?;
    let what = if data.mode() & SET_USER != 0 && data.uid() != geteuid().as_raw() {
        "is a setuid program of another user"
    } else if data.mode() & SET_GROUP != 0 && data.gid() != getegid().as_raw() {
        "is a setgid program of another group"
    } else if !geteuid().is_root() && has_capabilities(path) {
        "has capabilities of its own"
    } else {
        return Ok(());
    };
    Err(UsageError(format!(
        "{} {what}, so the loader loads no bridge into it; copy the file, because the copy has no \
         such privileges, or {WAY_ROUND}",
        path.display()
    )))
}

fn has_capabilities(path: &Path) -> bool {
    let mut value = [0_u8; 64];
    rustix::fs::getxattr(path, CAPABILITIES, &mut value[..]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setuid_programs_of_others_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        let set = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            check(file.path())
        };
        assert!(set(0o755).is_ok());
        assert!(set(0o4755).is_ok(), "the user's own program keeps its user");
        if geteuid().is_root() {
            std::os::unix::fs::chown(file.path(), Some(12345), None).unwrap();
            let error = set(0o4755).unwrap_err().0;
            assert!(
                error.contains("setuid") && error.contains("make vm-test"),
                "{error}"
            );
        }
    }
}
