//! The mount and PID namespaces, and the user namespace that a user without root needs for them.

use std::fs;

use anyhow::{anyhow, Context, Result};
use nix::errno::Errno;
use nix::sched::{unshare as enter, CloneFlags};
use nix::unistd::{getegid, geteuid, Gid, Uid};

/// Settings that forbid user namespaces, with the values that forbid and permit them: Debian's, Linux's, and Ubuntu's.
const SETTINGS: [(&str, i64, i64); 3] = [
    ("kernel.unprivileged_userns_clone", 0, 1),
    ("user.max_user_namespaces", 0, 10000),
    ("kernel.apparmor_restrict_unprivileged_userns", 1, 0),
];

/// Puts this process into a new mount namespace, and its children into a new PID namespace. A user without root also
/// gets a user namespace, in which the user and the group keep their numbers.
///
/// # Errors
/// The system does not permit it; the text names the setting.
pub(super) fn unshare() -> Result<()> {
    let (user, group) = (geteuid(), getegid());
    let spaces = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    match enter(spaces) {
        Err(Errno::EPERM) => {}
        outcome => return outcome.context("cannot make a namespace"),
    }
    enter(CloneFlags::CLONE_NEWUSER | spaces)
        .map_err(std::io::Error::from)
        .and_then(|()| map(user, group))
        .map_err(|error| refusal(error.raw_os_error().unwrap_or_default(), setting))
}

/// Maps the user and the group to themselves.
fn map(user: Uid, group: Gid) -> std::io::Result<()> {
    // Without this an ordinary user may not map a group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The value of a kernel setting.
fn setting(name: &str) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()?;
    text.trim().parse().ok()
}

/// Says why the system permits no user namespace, and how to go on.
fn refusal(error: i32, setting: impl Fn(&str) -> Option<i64>) -> anyhow::Error {
    let error = Errno::from_raw(error);
    let mut settings = SETTINGS.iter();
    let why = match settings.find(|(name, forbids, _)| setting(name) == Some(*forbids)) {
        Some((name, forbids, permits)) => {
            format!("the setting {name} is {forbids}; `sudo sysctl {name}={permits}` permits them")
        }
        None if error == Errno::ENOSPC => "too many exist or stand inside each other".to_owned(),
        None if error == Errno::EINVAL => "the kernel is built without them".to_owned(),
        None => "a chroot, a container or a security policy forbids them".to_owned(),
    };
    anyhow!(
        "this user may not make a user namespace ({}): {why}; root needs no user namespace (`sudo`), and `make test ONLY=vm-test` \
         runs drivers in a guest",
        error.desc()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_named_with_the_command_that_helps() {
        for (name, value, command) in SETTINGS {
            let text = refusal(1, |asked| (asked == name).then_some(value)).to_string();
            assert!(
                text.contains(&format!("sudo sysctl {name}={command}")),
                "{text}"
            );
        }
        for (error, reason) in [
            (Errno::ENOSPC, "too many"),
            (Errno::EINVAL, "built without"),
            (Errno::EPERM, "container"),
        ] {
            let text = refusal(error as i32, |_| None).to_string();
            assert!(
                text.contains(reason) && text.contains("make test ONLY=vm-test"),
                "{text}"
            );
        }
    }
}
