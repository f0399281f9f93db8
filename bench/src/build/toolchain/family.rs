//! Families of compilers, and how to invoke a compiler.

use serde::{Deserialize, Serialize};

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
    /// The program, without the arguments that select a toolchain.
    pub fn program(&self) -> &str {
        self.rustc().0
    }

    /// The program and its first arguments that together run rustc.
    pub fn rustc(&self) -> (&str, Vec<&str>) {
        match self {
            Self::Program(program) => (program, Vec::new()),
            Self::Rustup(name) => ("rustup", vec!["run", name, "rustc"]),
        }
    }
}
