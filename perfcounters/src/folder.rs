//! The folders of `results/`: one a run, named after the time, and links to the newest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::record::{write_error, RecordError};

/// Creates `results/<id>/`, named after the time; gives the id and the path.
///
/// # Errors
/// [`RecordError::Write`].
pub fn create(results: &Path, now: SystemTime) -> Result<(String, PathBuf), RecordError> {
    fs::create_dir_all(results).map_err(|cause| write_error(results, cause))?;
    // It sorts by time, and is safe in any file system.
    let stamp = humantime::format_rfc3339_seconds(now)
        .to_string()
        .replace(':', "-");
    // Two runs may begin in the same second; a hundred of them do not.
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
            Err(cause) => return Err(write_error(&path, cause)),
        }
    }
}

/// Points the link `results/<name>` at `id`. It is replaced in one step: whoever follows it
/// meanwhile finds the old run or the new one.
///
/// # Errors
/// [`RecordError::Write`].
pub fn link(results: &Path, name: &str, id: &str) -> Result<(), RecordError> {
    let link = results.join(name);
    let fail = |cause| write_error(&link, cause);
    let folder = tempfile::Builder::new()
        .prefix(".link.")
        .tempdir_in(results)
        .map_err(fail)?;
    let fresh = folder.path().join(name);
    std::os::unix::fs::symlink(id, &fresh).map_err(fail)?;
    fs::rename(&fresh, &link).map_err(fail)
}
