//! The note of the earlier clock settings, `/run/triptych-clocks.json`. It outlives a killed run, and a
//! reboot removes it together with the changed settings.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::cpufreq::{ClockError, Cpufreq, Settings};

const NOTE: &str = "run/triptych-clocks.json";
const LOCK: &str = "run/triptych-clocks.lock";

/// The note below a root, which is `/` except in tests.
fn note_path(root: &Path) -> PathBuf {
    root.join(NOTE)
}

/// The earlier settings that a killed run left behind; `None` without a note.
///
/// # Errors
/// [`ClockError::File`], [`ClockError::Note`].
pub fn left_behind(root: &Path) -> Result<Option<Settings>, ClockError> {
    let path = note_path(root);
    match fs::read_to_string(&path) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(settings) => Ok(Some(settings)),
            Err(error) => Err(ClockError::Note {
                path,
                why: error.to_string(),
            }),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(ClockError::file("read", &path, cause)),
    }
}

/// The right to change the clocks. Only one process has it.
#[derive(Debug)]
pub struct Clocks {
    root: PathBuf,
    cpufreq: Cpufreq,
    /// Its lock keeps other processes out.
    _lock: File,
}

impl Clocks {
    /// Takes the right to change the clocks.
    ///
    /// # Errors
    /// [`ClockError::Held`] if another process has it, [`ClockError::File`].
    pub fn take(root: &Path) -> Result<Self, ClockError> {
        let path = root.join(LOCK);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|cause| ClockError::file("open", &path, cause))?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self {
                root: root.to_owned(),
                cpufreq: Cpufreq::below(root),
                _lock: lock,
            }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(ClockError::Held(path)),
            Err(error) => Err(ClockError::file("lock", &path, error.into())),
        }
    }

    /// Fixes the clock, after writing the note. After an error the earlier settings are restored.
    ///
    /// # Errors
    /// [`ClockError`].
    pub fn fix(&self, ghz: f64) -> Result<(), ClockError> {
        // A killed run left its own settings behind; the note has those from before that run.
        if left_behind(&self.root)?.is_none() {
            self.write_note(&self.cpufreq.read()?)?;
        }
        let fixed = self.cpufreq.fix(ghz);
        if fixed.is_err() {
            self.restore()?;
        }
        fixed
    }

    /// Restores the settings of the note, and removes the note. Returns whether there was a note.
    ///
    /// # Errors
    /// [`ClockError`].
    pub fn restore(&self) -> Result<bool, ClockError> {
        let Some(earlier) = left_behind(&self.root)? else {
            return Ok(false);
        };
        self.cpufreq.restore(&earlier)?;
        let path = note_path(&self.root);
        fs::remove_file(&path).map_err(|cause| ClockError::file("remove", &path, cause))?;
        Ok(true)
    }

    fn write_note(&self, settings: &Settings) -> Result<(), ClockError> {
        let path = note_path(&self.root);
        let fail = |cause| ClockError::file("write", &path, cause);
        let json = serde_json::to_vec(settings).map_err(|error| fail(error.into()))?;
        let folder = self.root.join("run");
        let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(fail)?;
        file.write_all(&json).map_err(fail)?;
        file.persist(&path).map_err(|error| fail(error.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpufreq::tests::machine;
    use super::*;

    #[test]
    fn a_killed_run_leaves_a_note_and_the_next_start_restores_the_first_settings() {
        let root = machine();
        let cpufreq = Cpufreq::below(root.path());
        let before = cpufreq.read().unwrap();
        let killed = Clocks::take(root.path()).unwrap();
        killed.fix(1.6).unwrap();
        drop(killed);
        assert_eq!(left_behind(root.path()).unwrap(), Some(before.clone()));
        let next = Clocks::take(root.path()).unwrap();
        next.fix(3.3).unwrap();
        assert!(next.restore().unwrap());
        assert_eq!(cpufreq.read().unwrap(), before);
        assert!(!next.restore().unwrap(), "the note is gone");
    }

    #[test]
    fn a_refused_clock_changes_nothing() {
        let root = machine();
        let before = Cpufreq::below(root.path()).read().unwrap();
        let clocks = Clocks::take(root.path()).unwrap();
        clocks.fix(9.9).unwrap_err();
        assert_eq!(Cpufreq::below(root.path()).read().unwrap(), before);
        assert_eq!(left_behind(root.path()).unwrap(), None);
    }

    #[test]
    fn two_processes_cannot_hold_the_clocks() {
        let root = machine();
        let _first = Clocks::take(root.path()).unwrap();
        let error = Clocks::take(root.path()).unwrap_err().to_string();
        assert!(error.contains("another triptych"), "{error}");
    }

    #[test]
    fn a_malformed_note_is_named() {
        let root = machine();
        fs::write(note_path(root.path()), "{").unwrap();
        let error = left_behind(root.path()).unwrap_err().to_string();
        assert!(
            error.contains("triptych-clocks.json is malformed"),
            "{error}"
        );
    }
}
