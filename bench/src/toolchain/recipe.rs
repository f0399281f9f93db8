//! A compiler with the flags of one build.

use record::Implementation;
use serde::{Deserialize, Serialize};

use super::compiler::{Family, Toolchain};

/// The processor that the drivers are built for unless something else is said.
pub const USUAL_CPU: &str = "usual";

/// An optimisation level.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::VariantNames,
)]
pub enum Level {
    /// That of the Makefile: 2 for C, 3 for Rust.
    #[serde(rename = "usual")]
    #[strum(serialize = "usual")]
    Usual,
    /// 1
    #[serde(rename = "1")]
    #[strum(serialize = "1")]
    One,
    /// 2
    #[serde(rename = "2")]
    #[strum(serialize = "2")]
    Two,
    /// 3
    #[serde(rename = "3")]
    #[strum(serialize = "3")]
    Three,
    /// For size.
    #[serde(rename = "s")]
    #[strum(serialize = "s")]
    Size,
}

impl Level {
    /// The level that this is for a compiler.
    fn for_family(self, family: Family) -> Self {
        match (self, family) {
            (Self::Usual, Family::Rustc) => Self::Three,
            (Self::Usual, _) => Self::Two,
            (level, _) => level,
        }
    }
}

/// A compiler, used one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Way {
    /// Its name as a variant, and its folder.
    pub variant: String,
    /// The compiler.
    #[serde(flatten)]
    pub toolchain: Toolchain,
    /// Optimisation level; never [`Level::Usual`].
    pub opt: Level,
    /// Processor.
    pub target_cpu: String,
    /// Whether the program is optimised as a whole.
    pub lto: bool,
    /// Whether it is optimised by a profile of itself.
    pub pgo: bool,
    /// Whether it is built as `make build` does, but for the compiler.
    pub usual: bool,
}

impl Way {
    /// A compiler and its use.
    pub fn new(toolchain: Toolchain, opt: Level, target_cpu: &str, lto: bool, pgo: bool) -> Self {
        let family = toolchain.family;
        let opt = opt.for_family(family);
        let mut variant = format!("{family}-{}-O{opt}", toolchain.version);
        if target_cpu != USUAL_CPU {
            variant.push_str(&format!("-{target_cpu}"));
        }
        if !lto {
            variant.push_str("-no-lto");
        }
        if pgo {
            variant.push_str("-pgo");
        }
        Self {
            usual: opt == Level::Usual.for_family(family) && target_cpu == USUAL_CPU && lto && !pgo,
            variant,
            opt,
            target_cpu: target_cpu.to_owned(),
            lto,
            pgo,
            toolchain,
        }
    }

    /// The drivers that it builds.
    pub fn implementations(&self) -> &'static [Implementation] {
        match self.toolchain.family {
            Family::Rustc => &[Implementation::Rust, Implementation::RustUnsafe],
            _ => &[Implementation::C],
        }
    }

    /// The flags in short, as tables show them.
    pub fn flags(&self) -> String {
        let mut text = format!("-O{}", self.opt);
        if self.target_cpu != USUAL_CPU {
            text.push_str(&format!(" {}", self.target_cpu));
        }
        text.push_str(if self.lto { "" } else { " no LTO" });
        text.push_str(if self.pgo { " PGO" } else { "" });
        text
    }
}
