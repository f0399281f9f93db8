//! The source lines of instructions, from a program's line tables.
//!
//! objdump does not find the names of functions that clang inlined at link time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use anyhow::{anyhow, Result};
use serde::Serialize;

/// A function at an address: the function that the code belongs to, or one that is inlined there.
pub struct Frame {
    /// The demangled name; empty if the line tables have none.
    pub function: String,
    /// The file, as the compiler names it, and the line number, from 1.
    pub place: Option<(String, usize)>,
}

impl Frame {
    /// Whether it is of Rust's standard library. The core library also has a `forward`.
    pub fn is_library(&self) -> bool {
        let place = self.place.as_ref();
        place.is_some_and(|(file, _)| file.contains("/library/"))
    }
}

pub struct Frames(Loader);

impl fmt::Debug for Frames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Frames")
    }
}

impl Frames {
    pub fn read(program: &Path) -> Result<Self> {
        let loader = Loader::new(program)
            .map_err(|error| anyhow!("cannot read {}: {error}", program.display()))?;
        Ok(Self(loader))
    }

    /// The functions at an address, the innermost one first; empty without line tables.
    pub fn at(&self, address: u64) -> Vec<Frame> {
        let mut all = Vec::new();
        let Ok(mut frames) = self.0.find_frames(address) else {
            return all;
        };
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref();
            let name = name.and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let function = name.unwrap_or_default();
            let place = frame.location.and_then(|location| {
                let line = usize::try_from(location.line?).ok()?;
                Some((location.file?.to_owned(), line))
            });
            all.push(Frame { function, place });
        }
        all
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, relative to the top folder of the sources if it is in there.
    pub file: String,
    pub line: usize,
    /// The line without its indentation; empty if the file cannot be read.
    pub text: String,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}  {}", self.file, self.line, self.text)
    }
}

/// Source files, by name; without lines if a file is missing.
#[derive(Debug)]
pub struct Sources {
    top: PathBuf,
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// Source files below the folder `top`, from which the compiler was started.
    pub fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// The line of some frames, the innermost first: the first one that is not in a library.
    pub fn line(&mut self, frames: &[Frame]) -> Option<SourceLine> {
        let places = || frames.iter().filter_map(|frame| frame.place.as_ref());
        let ours = |(file, _): &&(String, usize)| {
            Path::new(file).starts_with(&self.top) || !file.starts_with('/')
        };
        let (file, line) = places().find(ours).or(places().next())?;
        let path = self.top.join(file);
        let lines = self.files.entry(file.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            text.lines().map(|line| line.trim().to_owned()).collect()
        });
        let text = line.checked_sub(1).and_then(|nth| lines.get(nth));
        let inside = path.strip_prefix(&self.top).unwrap_or(&path);
        Some(SourceLine {
            file: inside.display().to_string(),
            line: *line,
            text: text.cloned().unwrap_or_default(),
        })
    }
}
