//! The whole result of a comparison as JSON, `compilers.json`. bench/README.md describes the fields.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{bail, Context, Result};
use record::GitFacts;
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

use super::comparisons::{Basis, Compared, Judge, NotCompared};
use super::rows::{BuildRow, SameLlvmPair};
use crate::build::stamp;
use crate::build::toolchain::compiler::SkippedCompiler;
use crate::build::toolchain::recipe::BuildRecipe;

/// The format of the file. A change that old readers misread gives it another number.
pub const FORMAT: &str = "triptych-compilers-1";
/// The file, for programs and the report.
pub const RESULT_FILE: &str = "compilers.json";

/// The compilers of some builds, each once, and the files that each consists of.
pub fn toolchains(recipes: &[BuildRecipe]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let all = recipes.iter().map(|recipe| &recipe.toolchain);
    let new = all.filter(|toolchain| seen.insert(toolchain.identity.key()));
    let listed = new.map(|toolchain| {
        let parts = toolchain.identity.parts.iter();
        let parts = parts.map(|(path, sha256)| json!({"path": path, "sha256": sha256}));
        let mut listed = json!(toolchain);
        listed["parts"] = parts.collect();
        listed
    });
    listed.collect()
}

#[derive(Debug, Serialize)]
pub struct UsedBaseline<'a> {
    pub name: &'a str,
    pub run: Option<&'a str>,
}

/// The contents of `compilers.json`.
#[derive(Debug, Serialize)]
pub struct ComparisonResult<'a> {
    pub format: &'static str,
    pub run: &'a str,
    pub start: &'a str,
    pub git: Option<&'a GitFacts>,
    pub judge: Judge,
    pub baseline: Option<UsedBaseline<'a>>,
    pub toolchains: Vec<Value>,
    pub rows: &'a [BuildRow],
    pub comparisons: Vec<Compared>,
    pub not_compared: Vec<NotCompared>,
    pub same_llvm: Vec<SameLlvmPair>,
    pub skipped: &'a [SkippedCompiler],
    pub failures: &'a [String],
}

impl ComparisonResult<'_> {
    pub fn worse_than_baseline(&self) -> bool {
        let mut made = self.comparisons.iter();
        made.any(|made| made.basis == Basis::Baseline && !made.worse_by().is_empty())
    }
}

/// The part of a stored result that a comparison needs.
#[derive(Debug, Clone, Deserialize)]
pub struct StoredResult {
    format: String,
    pub run: String,
    pub git: Option<GitFacts>,
    pub rows: Vec<BuildRow>,
}

impl StoredResult {
    pub fn read(path: &Path) -> Result<Self> {
        let inside = path.join(RESULT_FILE);
        let file = if path.is_dir() { &inside } else { path };
        let name = file.display();
        let stored: Self = serde_json::from_str(&stamp::read(file)?).with_context(|| {
            format!("{name} is not a result of this version of `triptych compare`")
        })?;
        if stored.format != FORMAT {
            let format = &stored.format;
            bail!("{name} has the format {format:?}, not {FORMAT:?}");
        }
        Ok(stored)
    }
}
