//! What results leave out, because others read them: who measured, on which machine, and where the files are.
//!
//! A machine has an id: a hash of its number and of a random salt. Two runs of one machine have the same id, and the id
//! does not say which machine it is. The salt is in the user's state folder and not in `results/`: someone who has both could
//! try names until one fits, and results are sent. All clones of a user also share the folder.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use regex::{Captures, Regex};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A random number that identifies this machine.
const MACHINE_NUMBER: &str = "/etc/machine-id";
const ALIAS: &str = "private-";
/// An absolute path, and what stands before it. In JSON, a line begins after `\n`.
const PATH: &str =
    r"(^|[^A-Za-z0-9_.~/-]|-[IL]|\\[nt])(/[A-Za-z0-9_.~+%-]+(?:/[A-Za-z0-9_.~+%-]+)*)";
/// Folders with the same contents on many machines.
const SYSTEM: [&str; 10] = [
    "/bin/", "/dev/", "/etc/", "/lib/", "/proc/", "/run/", "/sbin/", "/sys/", "/tmp/", "/usr/",
];

/// The user's folder for salt and aliases.
#[derive(Debug)]
struct State(Option<PathBuf>);

impl State {
    /// `$XDG_STATE_HOME/triptych`, usually `~/.local/state/triptych`.
    fn of_user() -> Self {
        let absolute = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let state =
            absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
        Self(state.map(|state| state.join("triptych")))
    }

    /// Writes a file that only the user may read, unless it exists; returns its contents.
    fn keep(&self, name: &str, text: &str) -> Option<String> {
        let folder = self.0.as_ref()?;
        if let Ok(kept) = fs::read_to_string(folder.join(name)) {
            return Some(kept);
        }
        fs::create_dir_all(folder).ok()?;
        // Another process that writes the same file finds it whole or not at all.
        let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
        file.write_all(text.as_bytes()).ok()?;
        let _ = file.persist_noclobber(folder.join(name));
        fs::read_to_string(folder.join(name)).ok()
    }

    /// A hash of `text` that only this user can compute.
    fn hash(&self, text: &str) -> Option<String> {
        let mut random = [0; 16];
        fs::File::open("/dev/urandom")
            .ok()?
            .read_exact(&mut random)
            .ok()?;
        let salt = self.keep("salt", &format!("{:032x}", u128::from_ne_bytes(random)))?;
        let hash = Sha256::digest(format!("{salt}\0{text}"));
        Some(
            hash.iter()
                .take(6)
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        )
    }

    fn alias(&self, text: &str) -> String {
        let alias = format!(
            "{ALIAS}{}",
            self.hash(text).unwrap_or_else(|| "unknown".to_owned())
        );
        let _ = self.keep(&alias, text);
        alias
    }

    fn reveal(&self, text: &str) -> String {
        let known = self.aliases().into_iter();
        known.fold(text.to_owned(), |text, (alias, meant)| {
            text.replace(&alias, &meant)
        })
    }

    /// The aliases, with what they stand for.
    fn aliases(&self) -> Vec<(String, String)> {
        let files = self.0.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let names = files.into_iter().flatten().flatten();
        let names = names.map(|file| file.file_name().to_string_lossy().into_owned());
        let read =
            |name: String| Some((fs::read_to_string(self.0.as_ref()?.join(&name)).ok()?, name));
        let found = names
            .into_iter()
            .filter(|name| name.starts_with(ALIAS))
            .filter_map(read);
        found.map(|(text, name)| (name, text)).collect()
    }

    /// Replaces what identifies a person or a machine.
    fn clean(&self, text: &str) -> String {
        let mut text = paths(text, |path| {
            path.rsplit('/').next().unwrap_or_default().to_owned()
        });
        for (alias, meant) in self.aliases() {
            // A whole string may be a word of the record, such as the name of a driver.
            let host = meant.rsplit('@').next().unwrap_or_default();
            text = text.replace(&format!("\"{meant}\""), &format!("\"{alias}\""));
            let word = format!(
                r#"(^|[^A-Za-z0-9_"])(?:[A-Za-z0-9_.-]+@)?{}($|[^A-Za-z0-9_"])"#,
                regex::escape(host)
            );
            text = replaced(&word, &text, |found| {
                format!("{}{alias}{}", &found[1], &found[2])
            });
        }
        let mac = "(^|[^0-9a-fA-F:])[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}($|[^0-9a-fA-F:])";
        replaced(mac, &text, |found| {
            format!("{}(MAC address){}", &found[1], &found[2])
        })
    }
}

fn replaced(pattern: &str, text: &str, new: impl Fn(&Captures<'_>) -> String) -> String {
    Regex::new(pattern).map_or_else(
        |_| String::new(),
        |pattern| pattern.replace_all(text, new).into_owned(),
    )
}

/// Replaces the paths that are the user's own. A path below the working directory becomes relative.
fn paths(text: &str, other: impl Fn(&str) -> String) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    replaced(PATH, text, |found| {
        let path = &found[2];
        let new = match Path::new(path).strip_prefix(&here) {
            Ok(below) if below == Path::new("") => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) if SYSTEM.iter().any(|folder| path.starts_with(folder)) => path.to_owned(),
            Err(_) => other(path),
        };
        format!("{}{new}", &found[1])
    })
}

/// The id of this machine; `None` if the salt cannot be kept.
pub fn machine_id() -> Option<String> {
    let number = fs::read_to_string(MACHINE_NUMBER).unwrap_or_default();
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    State::of_user().hash(if number.trim().is_empty() {
        &name
    } else {
        number.trim()
    })
}

/// The name that stands in results for a private text, such as the name of a machine. [`reveal`] needs the state folder.
pub fn alias(text: &str) -> String {
    State::of_user().alias(text)
}

/// Replaces the user's own paths in a text by names that [`reveal`] understands.
pub fn hide(text: &str) -> String {
    paths(text, alias)
}

/// Undoes [`alias`] and [`hide`], for the user who called them.
pub fn reveal(text: &str) -> String {
    State::of_user().reveal(text)
}

/// A record as JSON, without the user's own paths, MAC addresses and what has an alias.
///
/// # Errors
/// If it cannot be JSON.
pub fn to_json(record: &impl Serialize) -> serde_json::Result<String> {
    Ok(State::of_user().clean(&serde_json::to_string_pretty(record)?) + "\n")
}

/// The same in one line.
///
/// # Errors
/// If it cannot be JSON.
pub fn to_line(record: &impl Serialize) -> serde_json::Result<String> {
    Ok(State::of_user().clean(&serde_json::to_string(record)?) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_no_person_and_no_machine() {
        let folder = tempfile::tempdir().unwrap();
        let state = State(Some(folder.path().join("state")));
        let alias = state.alias("bert@loadgen.lab");
        let here = std::env::current_dir().unwrap();
        for (text, clean) in [
            (
                format!("\"{}/build/x\"", here.display()),
                "\"build/x\"".to_owned(),
            ),
            (
                "-I/home/anna/x --a=/opt/y /usr/bin/cc".into(),
                "-Ix --a=y /usr/bin/cc".into(),
            ),
            (
                r"failed\n/home/anna/cc: no".into(),
                r"failed\ncc: no".into(),
            ),
            (
                "c/src and 3/s and https://a/b".into(),
                "c/src and 3/s and https://a/b".into(),
            ),
            ("\"bert@loadgen.lab\"".into(), format!("\"{alias}\"")),
            (
                "ssh: loadgen.lab, root@loadgen.lab".into(),
                format!("ssh: {alias}, {alias}"),
            ),
            (
                "port 00:1b:21:aa:bb:cc, 0000:03:00.0".into(),
                "port (MAC address), 0000:03:00.0".into(),
            ),
        ] {
            assert_eq!(state.clean(&text), clean);
        }
        assert_eq!(
            state.reveal(&format!("vfio-user:{alias}")),
            "vfio-user:bert@loadgen.lab"
        );
    }

    #[test]
    fn names_of_drivers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let state = State(Some(folder.path().to_owned()));
        state.alias("me@rust");
        assert_eq!(
            state.clean("\"impl\": \"rust\", \"rusty\""),
            "\"impl\": \"rust\", \"rusty\""
        );
    }

    #[test]
    fn a_machine_keeps_its_id_and_another_salt_gives_another() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [one, other] = folders
            .each_ref()
            .map(|folder| State(Some(folder.path().to_owned())));
        assert_eq!(one.hash("xeon7"), one.hash("xeon7"));
        assert_ne!(one.hash("xeon7"), other.hash("xeon7"));
        assert_eq!(State(None).hash("xeon7"), None);
        assert!(State(None).alias("xeon7").starts_with(ALIAS));
    }
}
