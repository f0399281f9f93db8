//! The source lines of instructions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::listing::Place;

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, relative to the top folder of the sources if it is in there.
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// The line without its indentation; empty if the file cannot be read.
    pub text: String,
}

/// Source files, by name; `None` for missing files.
#[derive(Debug)]
pub struct Sources {
    top: PathBuf,
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Source files below the folder `top`, from which the compiler was started.
    pub fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// Of some places, the innermost first, the first one that is not in a library.
    pub fn place<'p>(&self, places: &'p [Place]) -> Option<&'p Place> {
        let ours = |there: &&Place| {
            Path::new(&there.file).starts_with(&self.top) || !there.file.starts_with('/')
        };
        places.iter().find(ours).or(places.first())
    }

    /// The text of a place.
    pub fn line(&mut self, there: &Place) -> SourceLine {
        let path = self.top.join(&there.file);
        let read = |_: &String| {
            let text = std::fs::read_to_string(&path).ok()?;
            Some(text.lines().map(|line| line.trim().to_owned()).collect())
        };
        let lines: &Option<Vec<String>> = self
            .files
            .entry(there.file.clone())
            .or_insert_with_key(read);
        let text = lines
            .as_ref()
            .and_then(|lines| lines.get(there.line.checked_sub(1)?));
        let file = Path::new(&there.file);
        SourceLine {
            file: file
                .strip_prefix(&self.top)
                .unwrap_or(file)
                .display()
                .to_string(),
            line: there.line,
            text: text.cloned().unwrap_or_default(),
        }
    }
}
