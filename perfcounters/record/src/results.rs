//! The folder `results/`: one folder per run, named after the time, and links to the newest.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::RecordError;
use crate::run::RUN_FILE;

/// File that a run folder holds until the run is complete: the length of `samples.csv` after each
/// measurement, one per line.
pub const JOURNAL_FILE: &str = "samples.journal";
/// Link in the results folder to the newest run.
pub const LATEST_LINK: &str = "latest";

/// Creates `results/<id>/`, named after the time; returns the id and the path.
///
/// # Errors
/// [`RecordError::Write`].
pub fn create_folder(results: &Path, now: SystemTime) -> Result<(String, PathBuf), RecordError> {
    fs::create_dir_all(results).map_err(RecordError::write(results))?;
    // Names sort by time, and every file system accepts them.
    let stamp = humantime::format_rfc3339_seconds(now)
        .to_string()
        .replace(':', "-");
    // Several runs may begin in the same second, but not a hundred.
    let mut attempt = 0;
    loop {
        let id = match attempt {
            0 => stamp.clone(),
            n => format!("{stamp}-{n}"),
        };
        let path = results.join(&id);
        match fs::create_dir(&path) {
            Ok(()) => return Ok((id, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                attempt += 1;
            }
            Err(cause) => return Err(RecordError::Write(path, cause)),
        }
    }
}

/// Points the link `results/<name>` at `id`. One rename replaces the link, so that a reader finds
/// either the old run or the new one.
///
/// # Errors
/// [`RecordError::Write`].
pub fn link(results: &Path, name: &str, id: &str) -> Result<(), RecordError> {
    let link = results.join(name);
    let fresh = tempfile::Builder::new().make_in(results, |path| symlink(id, path));
    let replaced = fresh.and_then(|fresh| Ok(fresh.persist(&link)?));
    replaced.map(drop).map_err(RecordError::write(&link))
}

/// The incomplete runs in a results folder, oldest first. They can be resumed.
pub fn unfinished_runs(results: &Path) -> Vec<String> {
    folders_with(results, JOURNAL_FILE)
}

/// All runs in a results folder, oldest first.
pub fn runs(results: &Path) -> Vec<String> {
    folders_with(results, RUN_FILE)
}

fn folders_with(results: &Path, file: &str) -> Vec<String> {
    let mut runs: Vec<String> = fs::read_dir(results)
        .into_iter()
        .flatten()
        .flatten()
        // The links would list a run twice.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.path().join(file).is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    runs.sort();
    runs
}
