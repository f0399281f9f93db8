//! The mount namespace, and the user namespace that a user without root needs for it.

use std::fs;

use anyhow::{anyhow, Context, Result};
use nix::errno::Errno;
use nix::sched::{unshare as enter, CloneFlags};
use nix::unistd::{getegid, geteuid, Gid, Uid};

/// What to do where the system permits no namespaces.
const WAY_ROUND: &str =
    "root needs no user namespace (`sudo`), and `make vm-test` runs drivers in a guest";

/// Puts this process into a new mount namespace. A user without root also gets a user namespace, in
/// which the user and the group keep their numbers.
///
/// # Errors
/// The system does not permit it; the text names the setting.
pub fn unshare() -> Result<()> {
    let (user, group) = (geteuid(), getegid());
    match enter(CloneFlags::CLONE_NEWNS) {
        Ok(()) => return Ok(()),
        Err(Errno::EPERM) => {}
        Err(error) => return Err(error).context("cannot make a mount namespace"),
    }
    enter(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
        .map_err(|error| refusal(error, &setting))?;
    map(user, group).map_err(|error| {
        let number = error.raw_os_error().map_or(Errno::EPERM, Errno::from_raw);
        refusal(number, &setting)
    })
}

/// Maps the user and the group to themselves.
fn map(user: Uid, group: Gid) -> std::io::Result<()> {
    // Without this an ordinary user may not map a group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The value of a kernel setting, by its path below /proc/sys.
fn setting(name: &str) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
    text.trim().parse().ok()
}

/// Says why the system permits no user namespace, and how to go on.
pub(super) fn refusal(error: Errno, setting: &dyn Fn(&str) -> Option<i64>) -> anyhow::Error {
    let (why, command) = if setting("kernel/unprivileged_userns_clone") == Some(0) {
        (
            "Debian's setting kernel.unprivileged_userns_clone is 0",
            Some("sudo sysctl kernel.unprivileged_userns_clone=1"),
        )
    } else if setting("user/max_user_namespaces") == Some(0) {
        (
            "the setting user.max_user_namespaces is 0",
            Some("sudo sysctl user.max_user_namespaces=10000"),
        )
    } else if setting("kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        (
            "Ubuntu's AppArmor restricts them: kernel.apparmor_restrict_unprivileged_userns is 1",
            Some("sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        )
    } else if error == Errno::ENOSPC {
        (
            "too many user namespaces exist or stand inside each other",
            None,
        )
    } else if error == Errno::EINVAL {
        ("the kernel is built without them", None)
    } else {
        (
            "a chroot, a container or a security policy forbids them",
            None,
        )
    };
    let command = command.map_or(String::new(), |command| {
        format!("`{command}` permits them; ")
    });
    anyhow!(
        "this user may not make a user namespace ({}): {why}; {command}{WAY_ROUND}",
        error.desc()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_restriction_names_the_command_that_lifts_it() {
        for (name, value) in [
            ("kernel/unprivileged_userns_clone", 0),
            ("user/max_user_namespaces", 0),
            ("kernel/apparmor_restrict_unprivileged_userns", 1),
        ] {
            let text = refusal(Errno::EPERM, &|asked| (asked == name).then_some(value)).to_string();
            let command = format!("sudo sysctl {}=", name.replace('/', "."));
            assert!(
                text.contains(&command) && text.contains("make vm-test"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_reasons_follow_from_the_error() {
        for (error, reason) in [
            (Errno::ENOSPC, "too many"),
            (Errno::EINVAL, "built without"),
            (Errno::EPERM, "container"),
        ] {
            let text = refusal(error, &|_| None).to_string();
            assert!(text.contains(reason), "{text}");
        }
    }
}
