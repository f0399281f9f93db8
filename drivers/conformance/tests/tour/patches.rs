//! "Now break it": each step has a patch, which applies and changes what the step shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};

use crate::reference::references;
use crate::{read, root, steps, title, PAGES, TOUR};

/// The folder of the patches, and how the tour begins a reference to one.
const FOLDER: &str = "drivers/tour/break";
/// What the command that tries a patch begins with.
const COMMAND: &str = "triptych verdict --patch ";
/// What begins the part of a step that says what was seen.
const ANSWER: &str = "<details>";

/// The files that a patch changes.
pub fn files_of(patch: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(patch).with_context(|| patch.display().to_string())?;
    let files = text.lines().filter_map(|line| line.strip_prefix("+++ b/"));
    Ok(files.map(str::to_owned).collect())
}

/// The patches that a step names, as paths below the root.
fn patches_of(step: &str) -> Vec<String> {
    step.split(COMMAND)
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_step_can_be_broken() -> Result<()> {
    for step in steps(&read(TOUR)?)? {
        let title = title(step);
        ensure!(
            !patches_of(step).is_empty(),
            "step {title:?}: no `{COMMAND}`"
        );
        ensure!(step.contains(ANSWER), "step {title:?}: no {ANSWER}");
        let shown: Vec<String> = references(step)
            .into_iter()
            .map(|shown| shown.file)
            .collect();
        for patch in patches_of(step) {
            for file in files_of(&root().join(&patch))? {
                ensure!(
                    shown.contains(&file),
                    "{patch} changes {file}, of which step {title:?} shows nothing"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn every_patch_applies_and_belongs_to_a_page() -> Result<()> {
    let pages = PAGES.map(read).into_iter().collect::<Result<Vec<_>>>()?;
    let named: Vec<String> = pages.iter().flat_map(|page| patches_of(page)).collect();
    let mut files: Vec<PathBuf> = fs::read_dir(root().join(FOLDER))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let path = format!("{FOLDER}/{name}");
        ensure!(named.contains(&path), "the tour does not name {path}");
        let output = Command::new("git")
            .current_dir(root())
            .args(["apply", "--check", "--verbose"])
            .arg(&file)
            .output()
            .context("git")?;
        ensure!(
            output.status.success(),
            "{path} does not apply: make the same mistake in the new sources\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
