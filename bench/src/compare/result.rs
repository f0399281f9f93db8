//! The whole result of a comparison as JSON, `compilers.json`. bench/README.md describes the fields.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{bail, Context, Result};
use record::GitFacts;
use serde::{Deserialize, Serialize};

use super::analysis::SameLlvmPair;
use super::comparisons::{Comparison, Judge, NotCompared};
use super::rows::ResultRow;
use crate::build::toolchain::compiler::{SkippedCompiler, Toolchain};
use crate::build::toolchain::identity::Part;
use crate::build::toolchain::recipe::BuildRecipe;

/// The format of the file. A change that old readers misread gives it another number.
pub const FORMAT: &str = "triptych-compilers-1";
/// The file, for programs and the report.
pub const RESULT_FILE: &str = "compilers.json";

/// A compiler of a comparison, and the files that it consists of.
#[derive(Debug, Serialize)]
pub struct ListedToolchain {
    #[serde(flatten)]
    toolchain: Toolchain,
    parts: Vec<Part>,
}

/// The compilers of some builds, each once.
pub fn toolchains(recipes: &[BuildRecipe]) -> Vec<ListedToolchain> {
    let mut seen = BTreeSet::new();
    let new = recipes.iter().map(|recipe| &recipe.toolchain);
    new.filter(|toolchain| seen.insert(toolchain.identity.key()))
        .map(|toolchain| ListedToolchain {
            toolchain: toolchain.clone(),
            parts: toolchain.identity.parts.clone(),
        })
        .collect()
}

/// What the rows were compared with, if the user named it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsedBaseline {
    /// The name that the user gave.
    pub name: String,
    /// For a stored result: the run that measured it.
    pub run: Option<String>,
}

/// The contents of `compilers.json`.
#[derive(Debug, Serialize)]
pub struct ComparisonResult<'a> {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The folder of the run.
    pub run: &'a str,
    /// When it began, RFC 3339, UTC.
    pub start: &'a str,
    /// Revision of the drivers' sources.
    pub git: Option<&'a GitFacts>,
    /// What a change needs to be reported.
    pub judge: Judge,
    /// The baseline that the user named.
    pub baseline: Option<UsedBaseline>,
    /// The compilers and their files.
    pub toolchains: Vec<ListedToolchain>,
    /// All measured builds.
    pub rows: &'a [ResultRow],
    /// All pairs of builds that were compared.
    pub comparisons: &'a [Comparison],
    /// What was not compared, and why.
    pub not_compared: &'a [NotCompared],
    /// C beside Rust of the same LLVM.
    pub same_llvm: Vec<SameLlvmPair>,
    /// Compilers that could not be used.
    pub skipped: &'a [SkippedCompiler],
    /// Builds and measurements that failed.
    pub failures: &'a [String],
}

/// The part of a stored result that a comparison needs.
#[derive(Debug, Clone, Deserialize)]
pub struct StoredResult {
    format: String,
    /// The folder of its run.
    pub run: String,
    /// Revision of the drivers' sources.
    pub git: Option<GitFacts>,
    /// Its rows.
    pub rows: Vec<ResultRow>,
}

impl StoredResult {
    /// Reads `compilers.json`, given as a file or as its folder.
    ///
    /// # Errors
    /// If the file cannot be read, or has another format.
    pub fn read(path: &Path) -> Result<Self> {
        let file = match path.is_dir() {
            true => path.join(RESULT_FILE),
            false => path.to_owned(),
        };
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let stored: Self = serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is not a result of this version of `triptych compare`",
                file.display()
            )
        })?;
        if stored.format != FORMAT {
            let format = &stored.format;
            bail!(
                "{} has the format {format:?}, not {FORMAT:?}",
                file.display()
            );
        }
        Ok(stored)
    }
}
