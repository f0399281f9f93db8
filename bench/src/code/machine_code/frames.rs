//! The functions that are inlined at an address, from a program's line tables.
//!
//! objdump does not find the names of functions that clang inlined at link time.

use std::fmt;
use std::path::Path;

use addr2line::Loader;
use anyhow::{anyhow, Result};

use super::listing::Place;

/// A function at an address: the function that the code belongs to, or one that is inlined there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The demangled name; empty if the line tables have none.
    pub function: String,
    /// The line of source.
    pub place: Option<Place>,
}

/// The line tables of a program.
pub struct Frames(Loader);

impl fmt::Debug for Frames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Frames")
    }
}

impl Frames {
    /// Reads a program.
    ///
    /// # Errors
    /// If the file cannot be read or is not an ELF file.
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
            let name = frame.function.as_ref().map(|name| name.demangle());
            let function = match name {
                Some(Ok(name)) => name.into_owned(),
                _ => String::new(),
            };
            let place = frame.location.and_then(|location| {
                Some(Place {
                    file: location.file?.to_owned(),
                    line: usize::try_from(location.line?).ok()?,
                })
            });
            all.push(Frame { function, place });
        }
        all
    }
}
