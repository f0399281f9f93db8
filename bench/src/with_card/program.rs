//! The program that runs with the card: where it is, and what the loader loads before the bridge.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use perfcounters::process::{find_program, is_executable};

use crate::usage::UsageError;

/// The cache into which root's set-up can unpack testpmd for all users. A user without a home has no own one.
const SHARED_CACHE: &str = "/var/cache/triptych";
/// Libraries that insist on coming first: the sanitizers of gcc, when they are linked dynamically.
const FIRST: [&str; 3] = ["libasan.so", "libtsan.so", "libhwasan.so"];

/// The file of a program: a path, a name from PATH, or the testpmd in the project's cache.
///
/// # Errors
/// There is no such program, or it may not be executed.
pub(super) fn find(name: &OsStr) -> Result<PathBuf, UsageError> {
    let path = Path::new(name);
    let text = path.to_string_lossy();
    if text.contains('/') {
        let why = match std::fs::metadata(path) {
            Err(error) => error.to_string(),
            Ok(_) if !is_executable(path) => "this is no executable file".to_owned(),
            Ok(_) => return Ok(path.to_owned()),
        };
        return Err(UsageError(format!("cannot run {text}: {why}")));
    }
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cache/triptych"));
    let own = env::var_os("TRIPTYCH_CACHE").map(PathBuf::from).or(home);
    let caches = own.into_iter().chain([SHARED_CACHE.into()]);
    let mut in_cache = caches.map(|cache| cache.join("testpmd").join(path));
    let advice = match &*text {
        "dpdk-testpmd" => format!(
            "`bench/setup/testpmd.sh` unpacks it into a cache (30 MB, no root), and the Debian package dpdk-dev \
             contains it. For all users: `sudo env TRIPTYCH_CACHE={SHARED_CACHE} bench/setup/testpmd.sh && \
             sudo chmod -R a+rX {SHARED_CACHE}`"
        ),
        _ => format!("write a path to it, such as ./{text}"),
    };
    let missing = || UsageError(format!("there is no program {text} in PATH: {advice}"));
    let found = find_program(&text).or_else(|| in_cache.find(|file| is_executable(file)));
    found.ok_or_else(missing)
}

/// The value of LD_PRELOAD: libraries that must come first, those of the user, and the bridge.
pub(super) fn preload(program: &Path, bridge: &Path) -> OsString {
    // A script or a static program has no list.
    let list = Command::new("ldd").arg(program).output();
    let list = list.map_or(Vec::new(), |output| output.stdout);
    let list = String::from_utf8_lossy(&list);
    let needed = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let first = needed.filter(|name| FIRST.iter().any(|first| name.starts_with(first)));
    let users = env::var_os("LD_PRELOAD").filter(|users| !users.is_empty());
    let all = first
        .map(OsString::from)
        .chain(users)
        .chain([bridge.into()]);
    all.collect::<Vec<_>>().join(OsStr::new(":"))
}

/// What to say about a program that has ended and never loaded the bridge.
pub(super) fn without_bridge(program: &Path) -> String {
    format!(
        "{} ended and never loaded the bridge, so it did not see the card. No loader can load it into a program that is \
         statically linked, 32-bit, setuid or has file capabilities: link it dynamically, or copy it, because the copy \
         has no privileges. Or run it in the guest of `make test ONLY=vm-test`, whose own kernel gives it VFIO and the card",
        program.display()
    )
}
