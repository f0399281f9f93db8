//! The private texts of results, and their replacements. The same text always gets the same
//! replacement, so that equal values stay recognisable.

use std::collections::BTreeMap;

use anyhow::Result;
use regex::{Captures, Regex};
use sha2::{Digest, Sha256};

/// Words that are never replaced where they stand alone, because results need them or everyone has
/// them. In `user@host` and in paths they are replaced.
const COMMON: [&str; 19] = [
    "c",
    "rust",
    "rust-unsafe",
    "ixy",
    "ixy-rs",
    "ixy-c2rust",
    "dpdk-vector",
    "dpdk-scalar",
    "default",
    "perf",
    "valgrind",
    "lockstep",
    "wall",
    "root",
    "localhost",
    "triptych",
    "results",
    "build",
    "linux",
];

/// Kinds of texts that a pattern finds everywhere.
#[derive(Debug)]
struct Patterns {
    /// `user@host`.
    login: Regex,
    /// The folder of a user.
    home: Regex,
    mac: Regex,
    /// The serial number of a PCI Express device, which contains the MAC address.
    device_serial: Regex,
    /// `"serial": "..."`, `Serial Number: ...`
    serial: Regex,
    pci: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        let hex = "[0-9a-fA-F]";
        Ok(Self {
            login: Regex::new(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)@([A-Za-z0-9][A-Za-z0-9.-]*)")?,
            home: Regex::new(r"/(?:home|Users)/([A-Za-z0-9_][A-Za-z0-9_.-]*)|/root(?-u:\b)")?,
            mac: Regex::new(&format!(r"(?-u:\b){hex}{{2}}(?::{hex}{{2}}){{5}}(?-u:\b)"))?,
            device_serial: Regex::new(&format!(r"(?-u:\b){hex}{{2}}(?:-{hex}{{2}}){{7}}(?-u:\b)"))?,
            serial: Regex::new(
                r#"([Ss][Ee][Rr][Ii][Aa][Ll](?:[ _-]?[Nn][Uu][Mm][Bb][Ee][Rr])?"?[ \t]*[:=][ \t]*"?)([A-Za-z0-9._/-]+)"#,
            )?,
            pci: Regex::new(&format!(
                r"(?-u:\b){hex}{{4,8}}:{hex}{{2}}:{hex}{{2}}\.[0-7](?-u:\b)"
            ))?,
        })
    }
}

/// Finds and replaces private texts.
#[derive(Debug)]
pub(super) struct Private {
    patterns: Patterns,
    pci: bool,
    /// Words to replace, with their replacements. Longer words come first.
    words: Vec<(Regex, String, String)>,
    names: BTreeMap<String, String>,
    /// Addresses and serial numbers in lower case, with their replacements.
    numbers: BTreeMap<String, String>,
}

impl Private {
    /// Finds nothing yet.
    pub(super) fn new(pci: bool) -> Result<Self> {
        Ok(Self {
            patterns: Patterns::new()?,
            pci,
            words: Vec::new(),
            names: BTreeMap::new(),
            numbers: BTreeMap::new(),
        })
    }

    /// Collects the names of users and of other machines, the addresses and the serial numbers of a text.
    pub(super) fn collect(&mut self, text: &str) {
        let mut found: Vec<(String, &str)> = Vec::new();
        for captures in self.patterns.login.captures_iter(text) {
            found.push((captures[1].to_owned(), "user"));
            found.push((captures[2].to_owned(), "host"));
        }
        for captures in self.patterns.home.captures_iter(text) {
            if let Some(user) = captures.get(1) {
                found.push((user.as_str().to_owned(), "user"));
            }
        }
        let patterns = &self.patterns;
        for (pattern, kind) in [
            (&patterns.device_serial, "serial"),
            (&patterns.mac, "mac"),
            (&patterns.pci, "pci"),
        ] {
            for number in pattern.find_iter(text) {
                let count = self
                    .numbers
                    .values()
                    .filter(|new| new.starts_with(kind))
                    .count();
                self.numbers
                    .entry(number.as_str().to_lowercase())
                    .or_insert_with(|| format!("{kind}-{}", count + 1));
            }
        }
        for (name, kind) in found {
            self.name(&name, kind);
        }
    }

    /// Replaces a name of this kind: `user`, `host` or `name`.
    pub(super) fn name(&mut self, name: &str, kind: &str) {
        if name.is_empty() || self.names.contains_key(name) {
            return;
        }
        let count = self
            .names
            .values()
            .filter(|known| known.starts_with(kind))
            .count();
        self.names
            .insert(name.to_owned(), format!("{kind}-{}", count + 1));
    }

    /// Replaces the name of a measured machine. Equal names on equal machines get equal replacements,
    /// also in another call on that machine; `salt` must be secret.
    pub(super) fn machine(&mut self, name: &str, salt: &str) {
        if name.is_empty() {
            return;
        }
        let hash = Sha256::digest(format!("{salt}\0{name}"));
        let short: String = hash
            .iter()
            .take(3)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.names
            .insert(name.to_owned(), format!("machine-{short}"));
    }

    /// Fixes the names. After this, only [`Private::replace`] and [`Private::left`] are called.
    ///
    /// # Errors
    /// A name that cannot be searched for.
    pub(super) fn fix(&mut self) -> Result<()> {
        let mut names: Vec<_> = self
            .names
            .iter()
            .filter(|(name, _)| !COMMON.contains(&name.as_str()) && name.len() > 1)
            .collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        self.words = names
            .into_iter()
            .map(|(name, new)| {
                let escaped = regex::escape(name);
                let word = Regex::new(&format!(r"(^|[^A-Za-z0-9_]){escaped}($|[^A-Za-z0-9_])"))?;
                Ok((word, name.clone(), new.clone()))
            })
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// Replaces everything private in a text.
    pub(super) fn replace(&self, text: &str) -> String {
        let text = self
            .patterns
            .login
            .replace_all(text, |found: &Captures<'_>| {
                let new = |name: &str| {
                    self.names
                        .get(name)
                        .cloned()
                        .unwrap_or_else(|| name.to_owned())
                };
                format!("{}@{}", new(&found[1]), new(&found[2]))
            });
        let text = self.patterns.home.replace_all(&text, "~");
        let mut text = self.numbered(&self.patterns.device_serial, &text);
        text = self.numbered(&self.patterns.mac, &text);
        text = self
            .patterns
            .serial
            .replace_all(&text, "${1}removed")
            .into_owned();
        if self.pci {
            text = self.numbered(&self.patterns.pci, &text);
        }
        for (word, _, new) in &self.words {
            // A match consumes its neighbours, so two adjacent names need two passes.
            for _ in 0..2 {
                text = word
                    .replace_all(&text, |found: &Captures<'_>| {
                        format!("{}{new}{}", &found[1], &found[2])
                    })
                    .into_owned();
            }
        }
        text
    }

    /// Replaces each number that matches.
    fn numbered(&self, pattern: &Regex, text: &str) -> String {
        let new = |found: &Captures<'_>| match self.numbers.get(&found[0].to_lowercase()) {
            Some(new) => new.clone(),
            None => found[0].to_owned(),
        };
        pattern.replace_all(text, new).into_owned()
    }

    /// What a text still has of the private texts.
    pub(super) fn left(&self, text: &str) -> Vec<String> {
        let mut left: Vec<String> = [
            &self.patterns.home,
            &self.patterns.mac,
            &self.patterns.device_serial,
        ]
        .into_iter()
        .chain(self.pci.then_some(&self.patterns.pci))
        .flat_map(|pattern| {
            pattern
                .find_iter(text)
                .map(|found| found.as_str().to_owned())
        })
        .collect();
        left.extend(
            self.words
                .iter()
                .filter(|(word, ..)| word.is_match(text))
                .map(|(_, name, _)| name.clone()),
        );
        left.dedup();
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(pci: bool, text: &str) -> Private {
        let mut private = Private::new(pci).unwrap();
        private.machine("xeon7", "salt");
        private.collect(text);
        private.fix().unwrap();
        private
    }

    #[test]
    fn names_of_users_and_hosts_are_replaced_everywhere() {
        let text =
            "/home/anna/results on xeon7: ssh anna@loadgen.lab; anna waits for loadgen.lab, xeon7.";
        let private = private(false, text);
        let new = private.replace(text);
        for name in ["anna", "loadgen", "lab", "xeon7", "/home"] {
            assert!(!new.contains(name), "{name}: {new}");
        }
        assert!(new.contains("~/results on machine-"), "{new}");
        assert!(private.left(&new).is_empty());
        assert_eq!(private.left("of xeon7"), ["xeon7"]);
    }

    #[test]
    fn equal_addresses_stay_equal() {
        let text = "00:1b:21:aa:bb:cc 00:1B:21:AA:BB:CC 00:1b:21:aa:bb:cd 00-1b-21-ff-ff-aa-bb-cc";
        assert_eq!(
            private(false, text).replace(text),
            "mac-1 mac-1 mac-2 serial-1"
        );
    }

    #[test]
    fn serial_numbers_are_removed() {
        for (text, new) in [
            ("\"serial\": \"CZ123\"", "\"serial\": \"removed\""),
            ("Serial Number: AB-12", "Serial Number: removed"),
        ] {
            assert_eq!(private(false, text).replace(text), new);
        }
    }

    #[test]
    fn pci_addresses_are_replaced_only_if_asked() {
        let text = "0000:03:00.0 and 0000:03:00.1";
        assert_eq!(private(false, text).replace(text), text);
        assert_eq!(private(true, text).replace(text), "pci-1 and pci-2");
    }

    #[test]
    fn words_that_results_need_stay() {
        let text = "rust@perf measured rust with perf; root@wall; parts of wallet and xeon70 stay";
        let new = private(false, text).replace(text);
        assert!(new.contains("measured rust with perf"), "{new}");
        assert!(new.starts_with("user-1@host-1"), "{new}");
        assert!(new.contains("wallet and xeon70"), "{new}");
    }

    #[test]
    fn the_same_machine_keeps_its_replacement() {
        let name = |salt: &str| {
            let mut private = Private::new(false).unwrap();
            private.machine("xeon7", salt);
            private.fix().unwrap();
            private.replace("xeon7")
        };
        assert_eq!(name("a"), name("a"));
        assert_ne!(name("a"), name("b"));
    }
}
