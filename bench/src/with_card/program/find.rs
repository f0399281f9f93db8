//! Finds a program by its name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use perfcounters::process::{find_program, is_executable};

use crate::usage::UsageError;

/// DPDK's forwarder, which set-up can unpack into the cache.
const TESTPMD: &str = "dpdk-testpmd";

/// The cache that root fills for all users. A user without a home has no cache.
const SHARED_CACHE: &str = "/var/cache/triptych";

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
        let caches = caches(env::var_os("TRIPTYCH_CACHE"), env::var_os("HOME"));
        return cached_testpmd(&caches).ok_or_else(|| {
            let places: Vec<_> = caches.iter().map(|cache| cache.to_string_lossy()).collect();
            UsageError(format!(
                "{TESTPMD} is neither in PATH nor in a cache ({}): `bench/setup/testpmd.sh` unpacks it \
                 (20 MB, no root), and the Debian package dpdk-dev contains it. For all users: \
                 `sudo env TRIPTYCH_CACHE={SHARED_CACHE} bench/setup/testpmd.sh && sudo chmod -R a+rX {SHARED_CACHE}`",
                places.join(", ")
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

/// Where `bench/setup/testpmd.sh` may have unpacked it: the user's cache, then the one for all users.
fn caches(named: Option<OsString>, home: Option<OsString>) -> Vec<PathBuf> {
    let of_home = || home.map(|home| Path::new(&home).join(".cache/triptych"));
    let own = named.map(PathBuf::from).or_else(of_home);
    own.into_iter().chain([SHARED_CACHE.into()]).collect()
}

/// The first testpmd of these caches that this user may run.
fn cached_testpmd(caches: &[PathBuf]) -> Option<PathBuf> {
    let mut programs = caches
        .iter()
        .map(|cache| cache.join("testpmd").join(TESTPMD));
    programs.find(|program| is_executable(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_cache_finds_the_testpmd_for_all_users() {
        use std::os::unix::fs::PermissionsExt;
        let own = caches(Some("/named".into()), Some("/home/u".into()));
        assert_eq!(own, [Path::new("/named"), Path::new(SHARED_CACHE)]);
        let own = caches(None, Some("/home/u".into()));
        assert_eq!(own[0], Path::new("/home/u/.cache/triptych"));
        assert_eq!(caches(None, None), [Path::new(SHARED_CACHE)]);

        let shared = tempfile::tempdir().unwrap();
        let program = shared.path().join("testpmd").join(TESTPMD);
        std::fs::create_dir(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        let caches = ["/nonexistent".into(), shared.path().to_owned()];
        assert_eq!(cached_testpmd(&caches), None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(cached_testpmd(&caches), Some(program));
    }

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
