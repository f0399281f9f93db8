//! The program that runs with the card: where it is, and whether the bridge can enter it.

mod elf;
mod find;
mod privileges;
mod script;
mod way_round;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::usage::UsageError;

use find::find;

/// Most interpreters that stand one behind another, as in Linux.
const MAX_INTERPRETERS: usize = 4;

/// A program that the bridge can enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Libraries that the loader must load before the bridge, by name.
    pub libraries_first: Vec<String>,
}

impl Program {
    /// Finds a program as a shell does, and checks that the bridge can enter it. The interpreter of a
    /// script is checked in place of the script.
    ///
    /// # Errors
    /// There is no such program, or the bridge cannot enter it; the text says why and what to do.
    pub fn new(name: &OsStr) -> Result<Self, UsageError> {
        let path = find(name)?;
        let mut file = path.clone();
        for _ in 0..=MAX_INTERPRETERS {
            privileges::check(&file)?;
            match script::interpreter(&file)? {
                Some(interpreter) => file = interpreter,
                None => {
                    let libraries_first = elf::check(&file)?;
                    return Ok(Self {
                        path,
                        libraries_first,
                    });
                }
            }
        }
        Err(UsageError(format!(
            "{}: more than {MAX_INTERPRETERS} interpreters stand one behind another",
            path.display()
        )))
    }

    /// The value of LD_PRELOAD: libraries that must come first, those of the user, and the bridge.
    pub fn preload(&self, users: Option<OsString>, bridge: &OsStr) -> OsString {
        let mut list = OsString::new();
        let users = users.filter(|users| !users.is_empty());
        let first = self.libraries_first.iter().map(OsString::from);
        for entry in first.chain(users).chain([bridge.to_owned()]) {
            if !list.is_empty() {
                list.push(":");
            }
            list.push(entry);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bridge_comes_last_in_the_list_of_libraries() {
        let mut program = Program::new("sh".as_ref()).unwrap();
        let bridge = OsStr::new("/b.so");
        assert_eq!(program.preload(None, bridge), "/b.so");
        assert_eq!(program.preload(Some("".into()), bridge), "/b.so");
        program.libraries_first = vec!["libasan.so.8".to_owned()];
        let users = Some("/u.so".into());
        assert_eq!(program.preload(users, bridge), "libasan.so.8:/u.so:/b.so");
    }

    #[test]
    fn scripts_that_interpret_each_other_end() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        std::fs::write(&path, format!("#!{}\n", path.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Program::new(path.as_os_str()).unwrap_err().to_string();
        assert!(error.contains("interpreters"), "{error}");
    }
}
