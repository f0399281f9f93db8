//! A compiler with the flags of one build.

use record::Implementation;
use serde::{Deserialize, Serialize};

use super::compiler::{Family, Invocation, Toolchain};
use super::identity::text_hash;

/// The processor that the drivers are built for unless another one is named: the Makefile's.
pub const DEFAULT_CPU: &str = "default";

#[derive(
    Debug,
    Clone,
    Copy,
    Default,
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
    #[default]
    #[serde(rename = "default")]
    #[strum(serialize = "default")]
    Default,
    #[serde(rename = "1")]
    #[strum(serialize = "1")]
    One,
    #[serde(rename = "2")]
    #[strum(serialize = "2")]
    Two,
    #[serde(rename = "3")]
    #[strum(serialize = "3")]
    Three,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuildRecipe {
    /// The name of the build as a variant, which is also the name of its folder.
    pub variant: String,
    #[serde(flatten)]
    pub toolchain: Toolchain,
    /// The optimisation level; never [`OptLevel::Default`].
    pub opt: OptLevel,
    /// The processor, as the compiler names it, or [`DEFAULT_CPU`].
    pub target_cpu: String,
    pub lto: bool,
    pub pgo: bool,
    /// Whether only the compiler differs from `make build`.
    #[serde(rename = "usual")]
    pub default_flags: bool,
    #[serde(skip)]
    more: Vec<String>,
    /// Whether the build has line tables, which change nothing else.
    #[serde(skip)]
    line_tables: bool,
}

impl BuildRecipe {
    pub fn new(toolchain: Toolchain, opt: OptLevel, cpu: &str, lto: bool, pgo: bool) -> Self {
        let family = toolchain.family;
        let opt = opt.for_family(family);
        let is_default = opt == OptLevel::Default.for_family(family) && cpu == DEFAULT_CPU;
        let mut recipe = Self {
            default_flags: is_default && lto && !pgo,
            variant: String::new(),
            opt,
            target_cpu: cpu.to_owned(),
            lto,
            pgo,
            toolchain,
            more: Vec::new(),
            line_tables: false,
        };
        // Two identities never share a folder. The version is only for readers.
        let (version, key) = (&recipe.toolchain.version, recipe.toolchain.identity.key());
        let flags = recipe.flags().replace("LTO", "lto").replace("PGO", "pgo");
        recipe.variant = format!("{family}-{version}-{key}{}", flags.replace(' ', "-"));
        recipe
    }

    /// The recipe with line tables and further flags for the compiler. Each set of flags has a folder of its own.
    pub fn with_line_tables(mut self, more: &[String]) -> Self {
        if !more.is_empty() {
            let hash = text_hash(&more.join("\n"));
            self.variant.push_str(&format!("-{}", &hash[..8]));
            self.default_flags = false;
        }
        self.more = more.to_vec();
        self.line_tables = true;
        self
    }

    pub fn implementations(&self) -> &'static [Implementation] {
        use Implementation::{Ixy, IxyC2rust, IxyRs, Rust, RustUnsafe, C};
        match self.toolchain.family {
            Family::Rustc => &[Rust, RustUnsafe, IxyRs, IxyC2rust],
            _ => &[C, Ixy],
        }
    }

    /// The flags as tables show them, such as `-O2 no LTO`.
    pub fn flags(&self) -> String {
        let mut text = format!("-O{}", self.opt);
        if self.target_cpu != DEFAULT_CPU {
            text += &format!(" {}", self.target_cpu);
        }
        text += if self.lto { "" } else { " no LTO" };
        text += if self.pgo { " PGO" } else { "" };
        let more = self.more.iter().map(|flag| format!(" {flag}"));
        text + &more.collect::<String>()
    }

    pub fn variables(&self, profile: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut set = |name: &str, value: &str| all.push(format!("{name}={value}"));
        if self.target_cpu != DEFAULT_CPU {
            set("TARGET_CPU", &self.target_cpu);
        }
        let tables = match (self.toolchain.family, self.line_tables) {
            (Family::Gcc, true) => "-g1",
            (Family::Clang, true) => "-gline-tables-only",
            _ => "",
        };
        let extra = format!("{tables} {} {profile}", self.more.join(" "));
        let extra = extra.trim();
        let mut name = "RUST_EXTRA";
        if self.toolchain.family != Family::Rustc {
            name = "C_EXTRA";
            set("CC", self.toolchain.invocation.rustc().0);
            set("C_OPT", &format!("-O{}", self.opt));
            if !self.lto {
                set("C_LTO", "");
            }
        }
        if !extra.is_empty() {
            set(name, extra);
        }
        all
    }

    pub fn environment(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut set = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
        if self.toolchain.family == Family::Rustc {
            match &self.toolchain.invocation {
                Invocation::Rustup(name) => set("RUSTUP_TOOLCHAIN", name),
                Invocation::Program(program) => set("RUSTC", program),
            }
            // Only deviations, so that the default build is the Makefile's.
            if self.opt != OptLevel::Three {
                set("CARGO_PROFILE_DRIVER_OPT_LEVEL", &self.opt.to_string());
            }
            if !self.lto {
                set("CARGO_PROFILE_DRIVER_LTO", "off");
            }
            if self.line_tables {
                set("CARGO_PROFILE_DRIVER_DEBUG", "line-tables-only");
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiler::test_values::toolchain;
    use super::*;

    #[test]
    fn only_what_deviates_from_the_makefile_is_set() {
        let gcc = toolchain(Family::Gcc, "11.2.0", None);
        let recipe = BuildRecipe::new(gcc, OptLevel::Default, DEFAULT_CPU, false, false);
        let variables = ["CC=/opt/gcc-11.2.0", "C_OPT=-O2", "C_LTO="];
        assert_eq!(recipe.variables(""), variables);
        let recipe = recipe.with_line_tables(&["-fno-inline".to_owned()]);
        assert_eq!(recipe.flags(), "-O2 no LTO -fno-inline");
        assert_eq!(recipe.variables("-p")[3], "C_EXTRA=-g1 -fno-inline -p");
        assert!(recipe.environment().is_empty());
        let mut rustc = toolchain(Family::Rustc, "1.85.0", Some(19));
        let of = |rustc: &Toolchain, opt, lto| {
            let recipe = BuildRecipe::new(rustc.clone(), opt, DEFAULT_CPU, lto, false);
            assert!(recipe.variables("").is_empty());
            let names = recipe.environment().into_iter().map(|(name, _)| name);
            names.collect::<Vec<_>>()
        };
        let set = of(&rustc, OptLevel::Size, false).join(" ");
        let all = "RUSTC CARGO_PROFILE_DRIVER_OPT_LEVEL CARGO_PROFILE_DRIVER_LTO";
        assert_eq!(set, all);
        rustc.invocation = Invocation::Rustup("1.85.0".to_owned());
        assert_eq!(of(&rustc, OptLevel::Default, true), ["RUSTUP_TOOLCHAIN"]);
    }
}
