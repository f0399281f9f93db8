//! Which programs a machine has, what they print, and what they consist of.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use perfcounters::process::{find_program, is_executable};
use rustix::process::{kill_process_group, Pid, Signal};

use super::content::file_hash;

/// Longest time for an answer of a compiler. Only a wrapper that hangs needs longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A machine with compilers. Tests replace it.
pub trait Machine {
    /// The processor architecture, as Rust names it: `x86_64`, `aarch64`.
    fn architecture(&self) -> &str {
        std::env::consts::ARCH
    }
    /// The standard output of a command; `None` if the command cannot start or fails.
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String>;
    /// Whether a program, given by name or path, exists.
    fn has(&self, program: &str) -> bool;
    /// The standard error of a command that runs in the root folder, so that no answer depends on the
    /// current one; `None` if the command cannot start or fails.
    fn errors(&self, _program: &str, _arguments: &[&str]) -> Option<String> {
        None
    }
    /// The canonical path of a file, or of a program of the search path; `None` if there is none.
    fn canonical(&self, name: &str) -> Option<String>;
    /// SHA-256 of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn hash(&self, path: &str) -> io::Result<String>;
    /// Paths of the shared libraries that a command and its children load.
    fn libraries(&self, _program: &str, _arguments: &[&str]) -> Vec<String> {
        Vec::new()
    }
    /// Paths of all files below a folder, sorted; empty if there is no such folder.
    fn files_below(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }
}

/// The machine that this process runs on.
#[derive(Debug, Clone, Copy)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = answer(&mut command(program, arguments)?)?;
        Some(output.0)
    }

    fn errors(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = answer(command(program, arguments)?.current_dir("/"))?;
        Some(output.1)
    }

    fn has(&self, program: &str) -> bool {
        match program.contains('/') {
            true => is_executable(Path::new(program)),
            false => find_program(program).is_some(),
        }
    }

    fn canonical(&self, name: &str) -> Option<String> {
        let path = match name.contains('/') {
            true => PathBuf::from(name),
            false => find_program(name)?,
        };
        let path = fs::canonicalize(path).ok().filter(|path| path.is_file())?;
        Some(path.to_string_lossy().into_owned())
    }

    fn hash(&self, path: &str) -> io::Result<String> {
        file_hash(Path::new(path))
    }

    /// Asks the loader of glibc, which also names libraries behind wrappers. Other loaders name none.
    fn libraries(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let command = command(program, arguments);
        let said = command.and_then(|mut command| answer(command.env("LD_DEBUG", "libs")));
        let mut all: Vec<_> = said
            .map_or(String::new(), |(_, errors)| errors)
            .lines()
            .filter_map(|line| line.split_once("calling init: "))
            .map(|(_, path)| path.trim().to_owned())
            .filter(|path| path.starts_with('/'))
            .collect();
        all.sort();
        all.dedup();
        all
    }

    fn files_below(&self, folder: &str) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![PathBuf::from(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) if entry.path().is_file() => {
                        files.push(entry.path().to_string_lossy().into_owned());
                    }
                    _ => {}
                }
            }
        }
        files.sort();
        files
    }
}

fn command(program: &str, arguments: &[&str]) -> Option<Command> {
    let program = match program.contains('/') {
        true => std::path::absolute(program).ok()?,
        false => PathBuf::from(program),
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        // Without this, rustup would download missing toolchains unasked.
        .env("RUSTUP_AUTO_INSTALL", "0")
        .process_group(0)
        .stdin(Stdio::null());
    Some(command)
}

/// Standard output and standard error of a successful command.
fn answer(command: &mut Command) -> Option<(String, String)> {
    let (mut output, mut errors) = (tempfile::tempfile().ok()?, tempfile::tempfile().ok()?);
    command
        .stdout(output.try_clone().ok()?)
        .stderr(errors.try_clone().ok()?);
    let success = run(command)?.success();
    success.then(|| Some((text(&mut output)?, text(&mut errors)?)))?
}

/// Runs a command for at most [`LIMIT`]; after that, kills it and its children.
fn run(command: &mut Command) -> Option<ExitStatus> {
    let mut child = command.spawn().ok()?;
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Ok(status) => return status,
            Err(_) => break,
        }
    }
    // The group may have ended in the meantime.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
    None
}

fn text(file: &mut File) -> Option<String> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A machine for tests: the output of each command that it knows.
#[cfg(test)]
pub mod simulated {
    use std::collections::BTreeMap;
    use std::io;

    use super::super::content::text_hash;
    use super::Machine;

    /// Standard output by command line.
    pub struct SimulatedMachine(pub BTreeMap<&'static str, &'static str>);

    impl Machine for SimulatedMachine {
        fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
            let line = format!("{program} {}", arguments.join(" "));
            self.0.get(line.as_str()).map(|text| (*text).to_owned())
        }
        fn has(&self, program: &str) -> bool {
            self.0
                .keys()
                .any(|line| line.split(' ').next() == Some(program))
        }
        /// `gcc` is a link to `gcc-12`, and `rustc` a proxy of rustup.
        fn canonical(&self, name: &str) -> Option<String> {
            let target = match name {
                "gcc" => "gcc-12",
                "rustc" => "rustup",
                name => name,
            };
            let known = name.starts_with("/rust/") || self.has(name);
            known.then(|| match target.contains('/') {
                true => target.to_owned(),
                false => format!("/usr/bin/{target}"),
            })
        }
        fn hash(&self, path: &str) -> io::Result<String> {
            Ok(text_hash(path))
        }
    }

    /// A machine with two GCCs, a clang and four toolchains of rustup.
    pub fn machine() -> SimulatedMachine {
        SimulatedMachine(BTreeMap::from([
            ("gcc-12 --version", "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"),
            ("gcc --version", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"),
            ("clang-19 --version", "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"),
            ("/opt/cc --version", "tcc version 0.9.27"),
            ("/opt/gcc-4 --version", "gcc (GCC) 4.4.7"),
            (
                "rustup toolchain list",
                "stable-x86_64-unknown-linux-gnu (active, default)\n1.85.0-x86_64-unknown-linux-gnu\n\
                 nightly-x86_64-unknown-linux-gnu\n1.70.0-x86_64-unknown-linux-gnu\n",
            ),
            (
                "rustup run stable-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.95.0 (abc)\nrelease: 1.95.0\nLLVM version: 22.1.2\n",
            ),
            ("rustup run stable-x86_64-unknown-linux-gnu rustc --print sysroot", "/rust/stable\n"),
            (
                "rustup run 1.85.0-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.85.0 (abc)\nrelease: 1.85.0\nLLVM version: 19.1.7\n",
            ),
            ("rustup run 1.85.0-x86_64-unknown-linux-gnu rustc --print sysroot", "/rust/1.85.0\n"),
            (
                "rustup run 1.70.0-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.70.0 (abc)\nrelease: 1.70.0\nLLVM version: 16.0.2\n",
            ),
        ]))
    }
}
