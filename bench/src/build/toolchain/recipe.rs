//! A compiler with the flags of one build.

use record::Implementation;
use serde::{Deserialize, Serialize};

use super::compiler::{Family, Toolchain};

/// The processor that the drivers are built for unless another one is named: the Makefile's.
pub const DEFAULT_CPU: &str = "default";

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
pub enum OptLevel {
    /// The Makefile's level: 2 for C, 3 for Rust.
    #[serde(rename = "default")]
    #[strum(serialize = "default")]
    Default,
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

impl OptLevel {
    /// Replaces the default level with the level of a compiler family.
    fn for_family(self, family: Family) -> Self {
        match (self, family) {
            (Self::Default, Family::Rustc) => Self::Three,
            (Self::Default, _) => Self::Two,
            (level, _) => level,
        }
    }
}

/// A compiler with the flags of one build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuildRecipe {
    /// The name of the build as a variant, which is also the name of its folder.
    pub variant: String,
    /// The compiler.
    #[serde(flatten)]
    pub toolchain: Toolchain,
    /// The optimisation level; never [`OptLevel::Default`].
    pub opt: OptLevel,
    /// The processor, as the compiler names it, or [`DEFAULT_CPU`].
    pub target_cpu: String,
    /// Whether link-time optimisation is on.
    pub lto: bool,
    /// Whether the build is optimised with a profile of itself.
    pub pgo: bool,
    /// Whether only the compiler differs from `make build`.
    #[serde(rename = "usual")]
    pub default_flags: bool,
}

impl BuildRecipe {
    /// A compiler with these flags.
    pub fn new(
        toolchain: Toolchain,
        opt: OptLevel,
        target_cpu: &str,
        lto: bool,
        pgo: bool,
    ) -> Self {
        let family = toolchain.family;
        let opt = opt.for_family(family);
        // Two identities never share a folder. The version is only for readers.
        let (version, key) = (&toolchain.version, toolchain.identity.key());
        let mut variant = format!("{family}-{version}-{key}-O{opt}");
        if target_cpu != DEFAULT_CPU {
            variant.push_str(&format!("-{target_cpu}"));
        }
        if !lto {
            variant.push_str("-no-lto");
        }
        if pgo {
            variant.push_str("-pgo");
        }
        Self {
            default_flags: opt == OptLevel::Default.for_family(family)
                && target_cpu == DEFAULT_CPU
                && lto
                && !pgo,
            variant,
            opt,
            target_cpu: target_cpu.to_owned(),
            lto,
            pgo,
            toolchain,
        }
    }

    /// The drivers that the compiler can build: ours, and the paper's own.
    pub fn implementations(&self) -> &'static [Implementation] {
        match self.toolchain.family {
            Family::Rustc => &[
                Implementation::Rust,
                Implementation::RustUnsafe,
                Implementation::IxyRs,
                Implementation::IxyC2rust,
            ],
            _ => &[Implementation::C, Implementation::Ixy],
        }
    }

    /// The flags as tables show them, such as `-O2 no LTO`.
    pub fn flags(&self) -> String {
        let mut text = format!("-O{}", self.opt);
        if self.target_cpu != DEFAULT_CPU {
            text.push_str(&format!(" {}", self.target_cpu));
        }
        text.push_str(if self.lto { "" } else { " no LTO" });
        text.push_str(if self.pgo { " PGO" } else { "" });
        text
    }
}
