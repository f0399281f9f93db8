//! Families of compilers, and how to invoke a compiler.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A family of compilers, whose versions can be ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// The C compiler of GNU.
    Gcc,
    /// The C compiler of LLVM.
    Clang,
    /// The Rust compiler.
    Rustc,
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Rustc => "rustc",
        })
    }
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
        match self {
            Self::Program(program) => program,
            Self::Rustup(_) => "rustup",
        }
    }

    /// The program and its first arguments that together run rustc.
    pub fn rustc(&self) -> (&str, Vec<&str>) {
        match self {
            Self::Program(program) => (program, Vec::new()),
            Self::Rustup(name) => ("rustup", vec!["run", name, "rustc"]),
        }
    }
}
