//! The identity of a compiler: the path of its program, and a hash of everything that it runs.
//!
//! Versions do not tell compilers apart: a patched compiler prints the version of the unpatched one. A wrapper script is
//! not its target: its own content counts, and so do the commands that the compiler would run through it.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::ask::{ask, canonical, errors, libraries, Family, Invocation};

/// Compiles an empty file. With `-###` before it, a compiler prints the commands instead.
const COMPILE_NOTHING: [&str; 6] = ["-O2", "-S", "-o", "/dev/null", "-xc", "/dev/null"];
/// The commands of these name the linker, its plugins and the files that it adds.
const LINK_NOTHING: [&str; 6] = ["-###", "-flto", "-o", "/dev/null", "-xc", "/dev/null"];
/// Questions for files that these commands do not name. A compiler answers with a bare name if it lacks the file.
const QUESTIONS: [&str; 7] = [
    "-print-prog-name=as",
    "-print-prog-name=ld",
    "-print-prog-name=lto1",
    "-print-file-name=libgcc.a",
    "-print-file-name=libgcov.a",
    "-print-file-name=specs",
    "-print-libgcc-file-name",
];

/// What makes a toolchain itself. Two toolchains are equal if and only if their identities are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Identity {
    pub path: String,
    /// SHA-256 over the contents of all parts and over the commands that the compiler would run.
    pub sha256: String,
    /// The hash of each part, by its path.
    #[serde(skip)]
    pub parts: BTreeMap<String, String>,
}

impl Identity {
    pub(super) fn of(family: Family, invocation: &Invocation) -> Result<Self, String> {
        let mut parts = Parts::default();
        let (path, commands) = match family {
            Family::Rustc => (parts.rust_compiler(invocation)?, String::new()),
            Family::Gcc | Family::Clang => parts.c_compiler(invocation.rustc().0)?,
        };
        let parts = parts.0;
        let mut contents: Vec<_> = parts.values().map(String::as_str).collect();
        contents.sort_unstable();
        let sha256 = text_hash(&format!("{}\n{commands}", contents.join("\n")));
        Ok(Self {
            path,
            sha256,
            parts,
        })
    }

    /// A short name for folders: 12 hexadecimal digits, made of the path and the contents.
    pub fn key(&self) -> String {
        text_hash(&format!("{}\n{}", self.path, self.sha256))[..12].to_owned()
    }

    pub fn path_key(&self) -> String {
        text_hash(&self.path)[..12].to_owned()
    }
}

/// The parts of a compiler while they are collected: the hash of each path.
#[derive(Default)]
struct Parts(BTreeMap<String, String>);

impl Parts {
    fn add(&mut self, path: &Path) -> Result<String, String> {
        let hash =
            file_hash(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let path = path.to_string_lossy().into_owned();
        self.0.insert(path.clone(), hash);
        Ok(path)
    }

    /// Adds a file or a program of the search path, unless it does not exist.
    fn add_if_there(&mut self, name: &str) -> Result<(), String> {
        match canonical(name) {
            Some(path) => self.add(&path).map(drop),
            None => Ok(()),
        }
    }

    /// Adds what a C compiler runs, loads and links. Returns its path, and the commands that it would run, with all
    /// flags that wrappers and configuration files add.
    fn c_compiler(&mut self, program: &str) -> Result<(String, String), String> {
        let path = canonical(program).ok_or_else(|| format!("{program} is not found"))?;
        let path = self.add(&path)?;
        for question in QUESTIONS {
            self.add_if_there(ask(program, &[question]).unwrap_or_default().trim())?;
        }
        for library in libraries(program, &COMPILE_NOTHING) {
            self.add_if_there(&library)?;
        }
        let compile = errors(program, &[&["-###"][..], &COMPILE_NOTHING].concat());
        let compile = compile.unwrap_or_default();
        let link = errors(program, &LINK_NOTHING).unwrap_or_default();
        for line in compile.lines().chain(link.lines()) {
            // Programs may lie behind wrappers. GCC names the driver in a line of its own.
            let driver = line.strip_prefix("COLLECT_GCC=");
            self.add_if_there(driver.unwrap_or_default())?;
            let words = line.split(|c: char| c.is_whitespace() || "\"=".contains(c));
            for word in words.filter(|word| word.starts_with('/')) {
                self.add_if_there(word)?;
            }
        }
        let commands = compile.lines().filter(|line| line.starts_with(' '));
        Ok((path, commands.collect::<Vec<_>>().join("\n")))
    }

    /// Adds what a Rust compiler loads and links. Returns the path of its program: that of the toolchain, if the user
    /// named a proxy of rustup.
    fn rust_compiler(&mut self, invocation: &Invocation) -> Result<String, String> {
        let (program, before) = invocation.rustc();
        let asked = |question: &[&str]| {
            let said = ask(program, &[&before[..], question].concat());
            said.ok_or_else(|| format!("`rustc {}` fails", question.join(" ")))
        };
        let sysroot = asked(&["--print", "sysroot"])?;
        let sysroot = Path::new(sysroot.trim());
        let own = sysroot.join("bin/rustc");
        let said = asked(&["-vV"])?;
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        let is_proxy = |path: &PathBuf| path.ends_with("rustup") || path.ends_with("rustup-init");
        let named = canonical(program).filter(|path| !is_proxy(path));
        let path = named.or_else(|| own.canonicalize().ok());
        let path = self.add(&path.ok_or_else(|| format!("there is no {}", own.display()))?)?;
        self.add_if_there(&own.to_string_lossy())?;
        for library in libraries(program, &[&before[..], &["-vV"]].concat()) {
            self.add_if_there(&library)?;
        }
        let host = host.unwrap_or_default().trim();
        let target = sysroot.join(format!("lib/rustlib/{host}"));
        let mut folders = vec![target.join("lib"), target.join("bin")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    self.add_if_there(&path.to_string_lossy())?
                }
            }
        }
        Ok(path)
    }
}

/// SHA-256 of a file. A compiler has hundreds of megabytes, and several compilers share files. The process therefore
/// remembers each hash as long as the file has the same inode, size and times.
pub(crate) fn file_hash(path: &Path) -> io::Result<String> {
    type Facts = (u64, u64, u64, SystemTime, (i64, i64));
    static KNOWN: LazyLock<Mutex<HashMap<Facts, String>>> = LazyLock::new(Mutex::default);
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let (modified, changed) = (facts.modified()?, (facts.ctime(), facts.ctime_nsec()));
    let facts = (facts.dev(), facts.ino(), facts.len(), modified, changed);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known.get(&facts) {
        return Ok(hash.clone());
    }
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher)?;
    let hash = hex(&hasher.finalize());
    known.insert(facts, hash.clone());
    Ok(hash)
}

pub(crate) fn text_hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("cc1"), folder.path().join("new"));
        fs::write(&path, "abc").unwrap();
        assert_eq!(file_hash(&path).unwrap(), text_hash("abc"));
        // Equal length, and perhaps the same tick of the clock: the new file has another inode.
        fs::write(&new, "abd").unwrap();
        fs::rename(&new, &path).unwrap();
        assert_eq!(file_hash(&path).unwrap(), text_hash("abd"));
        assert!(file_hash(&folder.path().join("absent")).is_err());
    }
}
