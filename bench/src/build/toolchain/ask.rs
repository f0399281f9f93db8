//! Families of compilers, how to invoke one, and what it answers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use perfcounters::process::{find_program, is_executable};
use perfcounters::Interrupt;
use serde::{Deserialize, Serialize};

use crate::build::runner::{self, Ended};

/// Longest time for an answer of a compiler. Only a wrapper that hangs needs longer.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Family {
    Gcc,
    Clang,
    Rustc,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Invocation {
    Program(String),
    Rustup(String),
}

impl Invocation {
    /// The program, and its first arguments that together run rustc.
    pub fn rustc(&self) -> (&str, Vec<&str>) {
        match self {
            Self::Program(program) => (program, Vec::new()),
            Self::Rustup(name) => ("rustup", vec!["run", name, "rustc"]),
        }
    }
}

/// The standard output of a command; `None` if it cannot start or fails.
pub(super) fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    Some(answer(program, |command| command.args(arguments))?.stdout)
}

/// The standard error of a command that runs in the root folder, so that no answer depends on the current one.
pub(super) fn errors(program: &str, arguments: &[&str]) -> Option<String> {
    let said = answer(program, |command| command.args(arguments).current_dir("/"));
    Some(said?.stderr)
}

/// Paths of the shared libraries that a command and its children load. Asks the loader of glibc, which also names
/// libraries behind wrappers. Other loaders name none.
pub(super) fn libraries(program: &str, arguments: &[&str]) -> Vec<String> {
    let said = answer(program, |command| {
        command.args(arguments).env("LD_DEBUG", "libs")
    });
    let errors = said.map(|said| said.stderr).unwrap_or_default();
    let path = |line: &str| Some(line.split_once("calling init: ")?.1.trim().to_owned());
    let paths = errors.lines().filter_map(path);
    paths.filter(|path| path.starts_with('/')).collect()
}

pub(super) fn exists(program: &str) -> bool {
    if program.contains('/') {
        is_executable(Path::new(program))
    } else {
        find_program(program).is_some()
    }
}

/// The canonical path of a file, or of a program of the search path; `None` if there is none.
pub(super) fn canonical(name: &str) -> Option<PathBuf> {
    let path = if name.contains('/') {
        PathBuf::from(name)
    } else {
        find_program(name)?
    };
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn answer(program: &str, set: impl FnOnce(&mut Command) -> &mut Command) -> Option<Ended> {
    let mut command = Command::new(if program.contains('/') {
        std::path::absolute(program).ok()?
    } else {
        PathBuf::from(program)
    });
    set(&mut command);
    let ended = runner::run(command, LIMIT, &Interrupt::new()).ok()?;
    ended.result.is_ok().then_some(ended)
}
