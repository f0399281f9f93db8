//! What `--baseline` names: a compiler of the comparison, another compiler, or a stored result.

use std::path::Path;

use perfcounters::process::is_executable;

use super::plan::CompareFile;
use super::result::StoredResult;
use super::rows::BuildRow;
use crate::build::toolchain::find::find;
use crate::build::toolchain::identity::Identity;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::usage::UsageError;

#[derive(Debug)]
pub struct Baseline {
    /// As the user wrote it.
    pub name: String,
    /// The result of an earlier comparison; `None` for a compiler.
    pub stored: Option<StoredResult>,
    identity: Option<Identity>,
}

impl Baseline {
    /// Recognises a name. A compiler that the file does not have is added to all its blocks.
    pub fn of(name: &str, file: &mut CompareFile) -> Result<Self, UsageError> {
        let mut baseline = Self {
            name: name.to_owned(),
            stored: None,
            identity: None,
        };
        let mut given = file.blocks.iter().flat_map(|block| &block.toolchains);
        let label = |given: &str| given.split_once('=').map(|(label, _)| label) == Some(name);
        if given.any(|given| given == name || label(given)) {
            return Ok(baseline);
        }
        let path = Path::new(name);
        let is_file = path.is_file() && !is_executable(path);
        if is_file || path.is_dir() || name.ends_with(".json") {
            let wrong = |error| UsageError(format!("--baseline {name}: {error:#}"));
            baseline.stored = Some(StoredResult::read(path).map_err(wrong)?);
            return Ok(baseline);
        }
        for block in &mut file.blocks {
            block.toolchains.push(name.to_owned());
        }
        Ok(baseline)
    }

    /// Finds the baseline's compiler, if it is one.
    pub fn identify(&mut self, recipes: &[BuildRecipe]) -> Result<(), UsageError> {
        if self.stored.is_some() {
            return Ok(());
        }
        let name = &self.name;
        let built = || recipes.iter().map(|recipe| &recipe.toolchain);
        let mut found = built().find(|toolchain| toolchain.label == *name).cloned();
        if found.is_none() {
            let named = find(std::slice::from_ref(name));
            if let Some(skip) = named.skipped.first() {
                return Err(UsageError(format!("the baseline is missing: {skip}")));
            }
            let mut named = named.toolchains.into_iter();
            found = named.find(|named| built().any(|known| known.identity == named.identity));
        }
        let missing = || UsageError(format!("nothing is built with the baseline {name}"));
        self.identity = Some(found.ok_or_else(missing)?.identity);
        Ok(())
    }

    /// Its rows, among those of this comparison or in the stored result.
    pub fn rows<'a>(&'a self, rows: &'a [BuildRow]) -> Vec<&'a BuildRow> {
        let identity = self.identity.as_ref();
        let is_ours = |row: &&BuildRow| {
            identity.is_some_and(|ours| ours.path == row.path && ours.sha256 == row.sha256)
        };
        match &self.stored {
            Some(stored) => stored.rows.iter().collect(),
            None => rows.iter().filter(is_ours).collect(),
        }
    }
}
