//! The exercises as data: `exercise.toml`, and patches against the driver.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use clap::ValueEnum;
use conformance::Implementation;
use safety_lab::builds::{apply, root};
use safety_lab::outcome::DriverBuild;
use serde::Deserialize;
use strum::{Display, EnumIter};

/// A language of the exercises.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Display, EnumIter, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Language {
    /// C.
    C,
    /// Safe Rust.
    Rust,
}

impl Language {
    /// Its driver, as the safety lab builds it.
    pub fn driver(self) -> DriverBuild {
        match self {
            Self::C => DriverBuild::C,
            Self::Rust => DriverBuild::Rust,
        }
    }

    /// Its driver, as the tests name it.
    pub fn implementation(self) -> Implementation {
        match self {
            Self::C => Implementation::C,
            Self::Rust => Implementation::Rust,
        }
    }
}

/// Texts of source files, by their path below the repository's root.
pub type Files = BTreeMap<String, String>;

/// A test of an exercise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// What the student reads.
    pub name: String,
    /// The function in `cases`.
    pub case: String,
    /// Marks.
    pub weight: u32,
    /// The part of the exercise that it tests, if the exercise has parts.
    pub part: Option<String>,
}

/// An exercise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// What it is about.
    pub title: String,
    /// The state of the lab's page that the driver should reach; `{impl}` stands for the language.
    pub lab: String,
    /// The files that the student edits.
    pub files: BTreeMap<Language, Vec<String>>,
    /// The first says least.
    pub hints: Vec<String>,
    /// In the order in which they run.
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
    /// Its number.
    #[serde(skip)]
    pub number: u8,
    #[serde(skip)]
    folder: PathBuf,
}

/// The number of exercises.
pub const EXERCISES: u8 = 8;

/// The folder of the exercises.
pub fn folder() -> PathBuf {
    root().join("drivers/exercises")
}

/// Reads an exercise.
pub fn load(number: u8) -> Result<Exercise> {
    let start = format!("{number}-");
    let entries = fs::read_dir(folder()).context("drivers/exercises")?;
    let mut entries = entries.filter_map(Result::ok);
    let found = entries.find(|it| it.file_name().to_string_lossy().starts_with(&start));
    let folder = { found }
        .with_context(|| format!("no exercise {number}"))?
        .path();
    let path = folder.join("exercise.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut exercise: Exercise =
        toml::from_str(&text).with_context(|| path.display().to_string())?;
    (exercise.number, exercise.folder) = (number, folder);
    Ok(exercise)
}

/// The driver's own texts of these files.
pub fn driver_files<'a>(paths: impl IntoIterator<Item = &'a String>) -> Result<Files> {
    let read = |path: &String| {
        let text = fs::read_to_string(root().join(path)).with_context(|| path.clone())?;
        Ok((path.clone(), text))
    };
    paths.into_iter().map(read).collect()
}

/// Applies a patch to the driver's texts of these files.
pub fn patched(paths: &[String], patch: &Path) -> Result<Files> {
    let work = tempfile::tempdir()?;
    let mut files = driver_files(paths)?;
    for (path, text) in &files {
        let target = work.path().join(path);
        fs::create_dir_all(target.parent().context("no folder")?)?;
        fs::write(target, text)?;
    }
    apply(work.path(), patch)?;
    for (path, text) in &mut files {
        *text = fs::read_to_string(work.path().join(path))?;
    }
    Ok(files)
}

/// The folder of a part.
pub fn below(folder: &Path, part: Option<&str>) -> PathBuf {
    part.map_or_else(|| folder.to_owned(), |part| folder.join(part))
}

impl Exercise {
    /// The names of its parts; one without a name if it has no parts.
    pub fn parts(&self) -> Vec<Option<String>> {
        let mut parts: Vec<_> = self.tests.iter().map(|test| test.part.clone()).collect();
        parts.dedup();
        parts
    }

    fn paths(&self, language: Language) -> Result<&[String]> {
        let paths = self.files.get(&language);
        Ok(paths.with_context(|| format!("no files in {language}"))?)
    }

    /// What the student begins with.
    pub fn skeleton(&self, language: Language, part: Option<&str>) -> Result<Files> {
        let folder = below(&self.folder.join("skeleton"), part);
        let paths = self.paths(language)?;
        let files = patched(paths, &folder.join(format!("{language}.patch")))?;
        ensure!(files != driver_files(paths)?, "the skeleton is the driver");
        Ok(files)
    }

    /// A solution: the driver itself, or the driver with a patch.
    pub fn solution(&self, language: Language) -> Result<Files> {
        let patch = self.folder.join(format!("solution/{language}.patch"));
        let paths = self.paths(language)?;
        match patch.is_file() {
            true => patched(paths, &patch),
            false => driver_files(paths),
        }
    }

    /// Where the student's copy of a file lies in the folder of a part.
    pub fn place(folder: &Path, path: &str) -> PathBuf {
        folder.join(Path::new(path).file_name().unwrap_or_default())
    }

    /// Writes the skeletons of files that are not in `work`. Returns the new files.
    pub fn begin(&self, language: Language, work: &Path) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for part in self.parts() {
            for (path, text) in self.skeleton(language, part.as_deref())? {
                let place = Self::place(&below(work, part.as_deref()), &path);
                if place.exists() {
                    continue;
                }
                fs::create_dir_all(place.parent().context("no folder")?)?;
                fs::write(&place, text).with_context(|| place.display().to_string())?;
                written.push(place);
            }
        }
        Ok(written)
    }

    /// Reads the student's files of a part.
    pub fn student(&self, language: Language, part: Option<&str>, work: &Path) -> Result<Files> {
        let read = |path: &String| {
            let place = Self::place(&below(work, part), path);
            let text = fs::read_to_string(&place).with_context(|| place.display().to_string())?;
            Ok((path.clone(), text))
        };
        self.paths(language)?.iter().map(read).collect()
    }
}
