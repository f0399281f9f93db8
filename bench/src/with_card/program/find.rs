//! Finds a program by its name.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use perfcounters::process::{find_program, is_executable};

use crate::usage::UsageError;

/// DPDK's forwarder, which set-up can unpack into the cache.
const TESTPMD: &str = "dpdk-testpmd";

/// The file of a program: a path, a name from PATH, or the testpmd in the project's cache.
///
/// # Errors
/// There is no such program, or it may not be executed.
pub fn find(name: &OsStr) -> Result<PathBuf, UsageError> {
    let path = Path::new(name);
    if path.components().count() > 1 || path.is_absolute() {
        return check(path);
    }
    let name = path.to_string_lossy();
    if let Some(found) = find_program(&name) {
        return Ok(found);
    }
    if name == TESTPMD {
        return cached_testpmd().ok_or_else(|| {
            UsageError(format!(
                "{TESTPMD} is neither in PATH nor in the cache: `bench/setup/testpmd.sh` unpacks it \
                 (20 MB, no root), and the Debian package dpdk-dev contains it"
            ))
        });
    }
    Err(UsageError(format!(
        "there is no program {name} in PATH; write a path to it, such as ./{name}"
    )))
}

fn check(path: &Path) -> Result<PathBuf, UsageError> {
    let say = |why: &str| Err(UsageError(format!("{}: {why}", path.display())));
    match std::fs::metadata(path) {
        Err(error) => say(&format!("cannot run this program: {error}")),
        Ok(data) if !data.is_file() => say("this is no file, so it cannot run"),
        Ok(_) if !is_executable(path) => say("this file is not executable; `chmod +x` makes it so"),
        Ok(_) => Ok(path.to_owned()),
    }
}

/// The testpmd of `bench/setup/testpmd.sh`.
fn cached_testpmd() -> Option<PathBuf> {
    let cache = match env::var_os("TRIPTYCH_CACHE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env::var_os("HOME")?).join(".cache/triptych"),
    };
    let program = cache.join("testpmd").join(TESTPMD);
    is_executable(&program).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "x").unwrap();
        for (name, reason) in [
            ("no-such-program-anywhere", "in PATH"),
            ("./no-such-program", "No such file"),
            ("/", "no file"),
            (plain.to_str().unwrap(), "chmod +x"),
        ] {
            let error = find(name.as_ref()).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
        assert!(find("sh".as_ref()).unwrap().is_absolute());
    }
}
