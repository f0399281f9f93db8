//! Families of compilers, and how to invoke a compiler.

use serde::{Deserialize, Serialize};

/// A family of compilers, whose versions can be ordered.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Family {
    /// The C compiler of GNU.
    Gcc,
    /// The C compiler of LLVM.
    Clang,
    /// The Rust compiler.
    Rustc,
}

/// How to invoke a compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Invocation {
    /// A program, by name or path.
    Program(String),
    /// A toolchain of rustup, by its name.
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
