//! The source line of an instruction, and the text of lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::format::Line;
use crate::code::source::Frames;

/// The folders of sources, as a recording names them.
const FOLDERS: [&str; 5] = [
    "rust-unsafe/src/",
    "rust/src/",
    "c/src/",
    "programs/lab.c",
    "programs/lab.rs",
];
/// Headers that only wrap an access. The line that uses them says more.
const WRAPPERS: [&str; 4] = [
    "/mmio.h",
    "/data_path.h",
    "/register_access.h",
    "/register_access.rs",
];
/// Lines shown around each that ran.
const AROUND: usize = 7;

/// An instruction of the driver or of the program that uses it.
#[derive(Clone, Debug)]
pub struct Place {
    pub line: Option<Line>,
}

pub struct Lines {
    frames: Frames,
    /// The address at which the program is loaded.
    base: u64,
    known: HashMap<u64, Option<Place>>,
    files: BTreeMap<String, PathBuf>,
    shown: BTreeSet<Line>,
}

impl Lines {
    pub fn of(program: &Path, pid: u32) -> Result<Self> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).context("the maps")?;
        let name = program.canonicalize()?.display().to_string();
        let first = maps.lines().find(|line| line.ends_with(&name));
        let start = first.and_then(|line| line.split('-').next());
        let base = start.and_then(|start| u64::from_str_radix(start, 16).ok());
        Ok(Self {
            frames: Frames::read(program)?,
            base: base.context("the program is not mapped")?,
            known: HashMap::new(),
            files: BTreeMap::new(),
            shown: BTreeSet::new(),
        })
    }

    /// The place of an instruction; `None` if it belongs to a library, or to a part that is no part of the way of packets.
    pub fn at(&mut self, address: u64) -> Option<Place> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let frames = self.frames.at(address.wrapping_sub(self.base));
        let ours: Vec<_> = frames
            .iter()
            .filter_map(|frame| frame.place.as_ref())
            .filter_map(|(file, line)| Some((short(file)?, file, *line)))
            .collect();
        let on_the_way = |file: &str| {
            file.contains("/driver/") || file.contains("/sys/") || file.starts_with("programs/")
        };
        let counts = ours.iter().any(|(file, ..)| on_the_way(file));
        let best = ours.iter().find(|(file, ..)| {
            let wraps = WRAPPERS.iter().any(|wrapper| file.ends_with(wrapper));
            (file.contains("/driver/") || file.starts_with("programs/")) && !wraps
        });
        let line = best.map(|(file, path, line)| {
            self.files.insert(file.clone(), PathBuf::from(path));
            (file.clone(), *line)
        });
        let place = counts.then_some(Place { line });
        self.known.insert(address, place.clone());
        place
    }

    /// The recording will have the text of this line.
    pub fn show(&mut self, line: &Line) {
        self.shown.insert(line.clone());
    }

    /// Shows what another recording of the program shows, too.
    pub fn show_all(&mut self, other: &Self) {
        self.shown.extend(other.shown.iter().cloned());
        self.files.extend(other.files.clone());
    }

    /// The text of the lines to show, and of those around them.
    pub fn text(&self) -> BTreeMap<String, BTreeMap<usize, String>> {
        let mut code: BTreeMap<String, BTreeMap<usize, String>> = BTreeMap::new();
        for (name, path) in &self.files {
            let text = fs::read_to_string(path).unwrap_or_default();
            let near = |number: usize| {
                let from = number.saturating_sub(AROUND);
                let mut lines = self
                    .shown
                    .range((name.clone(), from)..=(name.clone(), number + AROUND));
                lines.next().is_some()
            };
            for (nth, line) in text.lines().enumerate() {
                if near(nth + 1) {
                    let lines = code.entry(name.clone()).or_default();
                    lines.insert(nth + 1, line.to_owned());
                }
            }
        }
        code
    }
}

/// A file's name from the folder of sources on. A patched copy of the sources has the same names.
fn short(file: &str) -> Option<String> {
    FOLDERS.iter().find_map(|folder| {
        let at = file.rfind(&format!("/{folder}"))?;
        Some(file[at + 1..].to_owned())
    })
}
