//! What `--baseline` names: a compiler of the comparison, another compiler, or a stored result.

use std::path::Path;

use perfcounters::process::is_executable;

use super::comparisons::Baseline;
use super::plan::Comparison;
use super::result::{StoredResult, UsedBaseline};
use super::rows::ResultRow;
use crate::build::toolchain::find::find;
use crate::build::toolchain::identity::Identity;
use crate::build::toolchain::machine::Machine;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::usage::UsageError;

/// The baseline that the user named.
#[derive(Debug)]
pub enum NamedBaseline {
    /// A compiler that the comparison builds with.
    Compiler(String),
    /// The result of an earlier comparison.
    Stored(String, StoredResult),
}

impl NamedBaseline {
    /// Recognises a name. A compiler that the comparison does not have is added to all its blocks.
    ///
    /// # Errors
    /// If the name is that of a stored result which cannot be read.
    pub fn of(name: &str, comparison: &mut Comparison) -> Result<Self, UsageError> {
        let mut given = comparison.blocks.iter().flat_map(|block| &block.toolchains);
        let listed = |given: &String| {
            given == name
                || given
                    .split_once('=')
                    .is_some_and(|(label, _)| label == name)
        };
        if given.any(listed) {
            return Ok(Self::Compiler(name.to_owned()));
        }
        let path = Path::new(name);
        let is_file = path.is_file() && !is_executable(path);
        if is_file || path.is_dir() || name.ends_with(".json") {
            let stored = StoredResult::read(path)
                .map_err(|error| UsageError(format!("--baseline {name}: {error:#}")))?;
            return Ok(Self::Stored(name.to_owned(), stored));
        }
        for block in &mut comparison.blocks {
            block.toolchains.push(name.to_owned());
        }
        Ok(Self::Compiler(name.to_owned()))
    }

    /// The identity of the baseline's compiler; `None` for a stored result.
    ///
    /// # Errors
    /// If there is no such compiler, or nothing is built with it.
    pub fn identity(
        &self,
        machine: &dyn Machine,
        recipes: &[BuildRecipe],
    ) -> Result<Option<Identity>, UsageError> {
        let Self::Compiler(name) = self else {
            return Ok(None);
        };
        let built: Vec<_> = recipes.iter().map(|recipe| &recipe.toolchain).collect();
        if let Some(toolchain) = built.iter().find(|toolchain| toolchain.label == *name) {
            return Ok(Some(toolchain.identity.clone()));
        }
        let found = find(machine, std::slice::from_ref(name));
        if let Some(skip) = found.skipped.first() {
            return Err(UsageError(format!("the baseline is missing: {skip}")));
        }
        let same = |identity: &Identity| built.iter().any(|known| known.identity == *identity);
        let mut identities = found.toolchains.into_iter().map(|found| found.identity);
        match identities.find(same) {
            Some(identity) => Ok(Some(identity)),
            None => Err(UsageError(format!(
                "nothing is built with the baseline {name}"
            ))),
        }
    }

    /// The baseline as the result names it.
    pub fn used(&self) -> UsedBaseline {
        match self {
            Self::Compiler(name) => UsedBaseline {
                name: name.clone(),
                run: None,
            },
            Self::Stored(name, stored) => UsedBaseline {
                name: name.clone(),
                run: Some(stored.run.clone()),
            },
        }
    }

    /// The rows of the baseline, among those of this comparison or in the stored result.
    pub fn rows<'a>(&'a self, identity: Option<&Identity>, rows: &'a [ResultRow]) -> Baseline<'a> {
        let is_baseline = |row: &&ResultRow| {
            identity.is_some_and(|known| (&known.path, &known.sha256) == (&row.path, &row.sha256))
        };
        match self {
            Self::Compiler(_) => Baseline {
                rows: rows.iter().filter(is_baseline).collect(),
                stored: false,
            },
            Self::Stored(_, stored) => Baseline {
                rows: stored.rows.iter().collect(),
                stored: true,
            },
        }
    }
}
