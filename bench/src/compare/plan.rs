//! The comparison file, such as `bench/compilers.toml`, and the builds that it lists.

use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use record::BackendName;
use serde::{Deserialize, Serialize};

use super::arguments::processor;
use crate::build::stamp;
use crate::build::toolchain::compiler::{numbers, SkippedCompiler, Toolchain};
use crate::build::toolchain::find::{find, profdata, wrong_label};
use crate::build::toolchain::recipe::{BuildRecipe, OptLevel, DEFAULT_CPU};
use crate::measure::run::config::COUNTING;
use crate::measure::settings::{batches, Lockstep, Valgrind};
use crate::usage::UsageError;

/// The file: the builds, and how to measure them.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CompareFile {
    /// The backends: `trace` or `valgrind`, and `lockstep`.
    #[serde(default = "default_backends")]
    pub backends: Vec<BackendName>,
    #[serde(default)]
    pub valgrind: Valgrind,
    #[serde(default)]
    pub lockstep: Lockstep,
    /// Packets asked for per receive call. Each build is measured at every batch size.
    #[serde(default = "default_batch", deserialize_with = "batches")]
    pub batch: Vec<u32>,
    #[serde(rename = "block")]
    pub blocks: Vec<Block>,
}

const POSSIBLE: [BackendName; 3] = [
    BackendName::Trace,
    BackendName::Valgrind,
    BackendName::Lockstep,
];

fn default_backends() -> Vec<BackendName> {
    vec![COUNTING, BackendName::Lockstep]
}

fn default_batch() -> Vec<u32> {
    vec![32]
}

/// Compilers, and the flags for each: a cross product.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    /// The compilers, by the names that [`find`] accepts.
    pub toolchains: Vec<String>,
    /// Optimisation levels: 1, 2, 3, s, or `default`, which is 2 for C and 3 for Rust.
    pub opt: Vec<OptLevel>,
    /// Processors, as the compilers name them; `default` is the Makefile's.
    pub target_cpu: Vec<String>,
    /// The architecture that has these processors, such as `x86_64`; the block is skipped on others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    pub lto: Vec<bool>,
    /// Whether the build is optimised with a profile of itself.
    pub pgo: Vec<bool>,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            toolchains: Vec::new(),
            opt: vec![OptLevel::Default],
            target_cpu: vec![DEFAULT_CPU.to_owned()],
            architecture: None,
            lto: vec![true],
            pgo: vec![false],
        }
    }
}

impl Block {
    /// Why the block has no builds on this machine; `None` if it has.
    fn foreign(&self) -> Option<SkippedCompiler> {
        let (theirs, ours) = (self.architecture.as_ref()?, std::env::consts::ARCH);
        (theirs != ours).then(|| SkippedCompiler {
            name: self.target_cpu.join(", "),
            why: format!("{theirs} only, and this machine is {ours}"),
            fix: None,
        })
    }
}

impl CompareFile {
    pub fn read(path: &Path) -> Result<Self> {
        let text = stamp::read(path)?;
        Self::parse(&text).with_context(|| format!("{} is not a comparison", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let comparison: Self = toml::from_str(text)?;
        if comparison.batch.is_empty() {
            bail!("`batch` is an empty list");
        }
        let mut backends = comparison.backends.iter();
        if let Some(other) = backends.find(|backend| !POSSIBLE.contains(backend)) {
            let possible = POSSIBLE.map(|backend| backend.to_string()).join(", ");
            bail!("`backends` has {other}, but a comparison uses only {possible}");
        }
        let cpus = comparison.blocks.iter().flat_map(|block| &block.target_cpu);
        for cpu in cpus {
            processor(cpu).map_err(|why| anyhow!("`target_cpu`: {why}"))?;
        }
        Ok(comparison)
    }

    /// The builds, each once, and the compilers that are missing or lack a tool for profiles.
    pub fn plan(&self) -> Result<Plan, UsageError> {
        let labels = self.blocks.iter().flat_map(|block| &block.toolchains);
        if let Some(wrong) = labels.into_iter().find_map(|name| wrong_label(name)) {
            return Err(UsageError(wrong));
        }
        let mut plan = Plan::default();
        let mut known: Vec<Toolchain> = Vec::new();
        for block in &self.blocks {
            if let Some(skip) = block.foreign() {
                note(skip, &mut plan.skipped);
                continue;
            }
            let found = find(&block.toolchains);
            let (skipped, same) = (found.skipped.into_iter(), found.same.into_iter());
            skipped.for_each(|skip| note(skip, &mut plan.skipped));
            same.for_each(|same| note(same, &mut plan.same));
            for toolchain in found.toolchains {
                plan.add(&remember(toolchain, &mut known)?, block);
            }
        }
        tell_apart(&known, &mut plan.recipes);
        plan.recipes.sort_by_key(|recipe| {
            let toolchain = &recipe.toolchain;
            (
                toolchain.family,
                numbers(&toolchain.version),
                !recipe.default_flags,
            )
        });
        Ok(plan)
    }
}

#[derive(Debug, Default)]
pub struct Plan {
    pub recipes: Vec<BuildRecipe>,
    pub skipped: Vec<SkippedCompiler>,
    /// Names of compilers that the list has twice, in sentences.
    pub same: Vec<String>,
}

impl Plan {
    /// Adds a compiler with all flags of a block.
    fn add(&mut self, toolchain: &Toolchain, block: &Block) {
        for pgo in &block.pgo {
            if let Some(skip) = pgo.then(|| profdata(toolchain).err()).flatten() {
                note(skip, &mut self.skipped);
                continue;
            }
            for opt in &block.opt {
                for cpu in &block.target_cpu {
                    for lto in &block.lto {
                        let recipe = BuildRecipe::new(toolchain.clone(), *opt, cpu, *lto, *pgo);
                        let mut known = self.recipes.iter();
                        if known.all(|known| known.variant != recipe.variant) {
                            self.recipes.push(recipe);
                        }
                    }
                }
            }
        }
    }
}

/// Notes a compiler of a block. A compiler that an earlier block has keeps its label.
fn remember(toolchain: Toolchain, known: &mut Vec<Toolchain>) -> Result<Toolchain, UsageError> {
    let same = |known: &&Toolchain| known.identity == toolchain.identity;
    if let Some(known) = known.iter().find(same) {
        return Ok(known.clone());
    }
    let label = |known: &&Toolchain| known.named && known.label == toolchain.label;
    if let Some(other) = known.iter().find(label).filter(|_| toolchain.named) {
        return Err(UsageError(format!(
            "the label {:?} names two compilers, {} and {}: give each its own",
            toolchain.label, other.identity.path, toolchain.identity.path
        )));
    }
    known.push(toolchain.clone());
    Ok(toolchain)
}

/// Adds the paths to labels that several compilers share.
fn tell_apart(known: &[Toolchain], recipes: &mut [BuildRecipe]) {
    for ours in recipes.iter_mut().map(|recipe| &mut recipe.toolchain) {
        let (label, path) = (&ours.label, &ours.identity.path);
        let mut shared = known.iter().filter(|other| other.label == *label);
        if !ours.named && shared.any(|other| other.identity.path != *path) {
            ours.label = format!("{label} at {path}");
        }
    }
}

fn note<T: PartialEq>(item: T, list: &mut Vec<T>) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::toolchain::compiler::test_values::stub;

    #[test]
    fn blocks_are_products_and_each_build_occurs_once() {
        let folder = tempfile::tempdir().unwrap();
        let stub = |line| stub(folder.path(), line);
        let text = r#"
            [[block]]
            toolchains = ["gcc-12", "rustc-1.85"]
            [[block]]
            toolchains = ["gcc-12", "rustc-1.85"]
            opt = ["2", "3"]
            pgo = [false, true]
            [[block]]
            toolchains = ["gcc-12"]
            opt = ["s"]
            target_cpu = ["x86-64-v2"]
            lto = [false]
            [[block]]
            toolchains = ["gcc-12"]
            target_cpu = ["x86-64-v9", "x86-64-v10"]
            architecture = "x86_128"
            "#;
        let text = text.replace("gcc-12", &stub("gcc (Stub) 12.2.0"));
        let text = text.replace("rustc-1.85", &stub("rustc 1.85.0"));
        let plan = CompareFile::parse(&text).unwrap().plan().unwrap();
        let names = plan.recipes.iter().map(|recipe| {
            let key = format!("-{}", recipe.toolchain.identity.key());
            let default = if recipe.default_flags { " default" } else { "" };
            recipe.variant.replace(&key, "") + default
        });
        assert_eq!(
            names.collect::<Vec<_>>().join(", "),
            "gcc-12.2.0-O2 default, gcc-12.2.0-O3, gcc-12.2.0-O2-pgo, gcc-12.2.0-O3-pgo, \
             gcc-12.2.0-Os-x86-64-v2-no-lto, rustc-1.85.0-O3 default, rustc-1.85.0-O2"
        );
        let skipped: Vec<_> = plan.skipped.iter().map(ToString::to_string).collect();
        assert!(skipped[0].starts_with("rustc 1.85.0 with PGO: there is no llvm-profdata"));
        assert!(skipped[1].starts_with("x86-64-v9, x86-64-v10: x86_128 only"));
    }

    #[test]
    fn malformed_files_are_refused_and_those_of_this_repository_are_not() {
        let block = "[[block]]\ntoolchains = ['gcc']";
        for (before, after, why) in [
            ("batch = []", "", "empty list"),
            ("backends = ['wall']", "", "only trace, valgrind, lockstep"),
            ("", "opt = ['9']", "9"),
            ("", "target_cpu = ['a b']", "a b"),
            ("", "toolchain = ['gcc']", "toolchain"),
        ] {
            let text = format!("{before}\n{block}\n{after}");
            let error = format!("{:#}", CompareFile::parse(&text).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
        for file in ["compilers.toml", "compilers-quick.toml"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            assert!(!CompareFile::read(&path).unwrap().blocks.is_empty());
        }
    }
}
