//! Appends samples to `samples.csv`, one system call per measurement.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::sample::{Sample, HEADER};

/// Appends samples to a file; those of one measurement in one write.
#[derive(Debug)]
pub(crate) struct SampleWriter {
    path: PathBuf,
    file: File,
    /// Length of the file after the last whole measurement.
    length: u64,
    /// The file that receives this length. A process that is killed while it writes may leave half of
    /// a measurement behind.
    journal: Option<File>,
}

impl SampleWriter {
    /// Creates `path` with the header row, and its journal.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the file exists or cannot be written.
    pub fn create(path: &Path, journal: &Path) -> Result<Self, RecordError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(|cause| RecordError::write(path, cause))?;
        let mut writer = Self {
            path: path.to_owned(),
            file,
            length: 0,
            journal: Some(open_journal(journal)?),
        };
        writer.append(HEADER.as_bytes())?;
        Ok(writer)
    }

    /// Keeps a journal from now on, also of a run that was complete.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn keep_journal(&mut self, journal: &Path) -> Result<(), RecordError> {
        self.journal = Some(open_journal(journal)?);
        self.note_length()
            .map_err(|cause| RecordError::write(journal, cause))
    }

    /// Opens the file of an earlier run, and cuts off a measurement that is not whole.
    ///
    /// # Errors
    /// [`RecordError::Read`], [`RecordError::Write`], [`RecordError::Malformed`] if the journal does
    /// not belong to the samples.
    pub fn reopen(path: &Path, journal: &Path) -> Result<Self, RecordError> {
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|cause| RecordError::read(path, cause));
        let samples = read(path)?;
        let noted = match journal.exists() {
            true => read(journal)?,
            // The run was complete, and so are its samples.
            false => format!("{}\n", samples.len()),
        };
        // The last line may be cut off; a part of a number would be a wrong length.
        let whole = noted.rfind('\n').map_or("", |end| &noted[..=end]);
        let length = whole
            .lines()
            .filter_map(|line| line.parse().ok())
            .rfind(|length: &usize| *length <= samples.len())
            .filter(|length| samples.starts_with(HEADER) && samples[..*length].ends_with('\n'))
            .ok_or_else(|| {
                let why = format!("the journal does not belong to {}", path.display());
                RecordError::malformed(journal, 0, why)
            })? as u64;
        let fail = |cause| RecordError::write(path, cause);
        let file = OpenOptions::new().append(true).open(path).map_err(fail)?;
        file.set_len(length).map_err(fail)?;
        let kept = whole.len() as u64;
        let mut writer = Self {
            path: path.to_owned(),
            file,
            length,
            journal: None,
        };
        if journal.exists() {
            let file = open_journal(journal)?;
            let fail = |cause| RecordError::write(journal, cause);
            file.set_len(kept).map_err(fail)?;
            writer.journal = Some(file);
            writer.note_length().map_err(fail)?;
        }
        Ok(writer)
    }

    fn note_length(&mut self) -> io::Result<()> {
        match &mut self.journal {
            Some(journal) => journal.write_all(format!("{}\n", self.length).as_bytes()),
            None => Ok(()),
        }
    }

    /// Appends the rows of one measurement: all or none.
    ///
    /// # Errors
    /// [`RecordError::Malformed`] if a sample is invalid (not finite, no packets, a metric that its
    /// backend does not give); [`RecordError::Write`] if the disk is full. The file then ends as
    /// before.
    pub fn write(&mut self, measurement: &[Sample]) -> Result<(), RecordError> {
        let malformed = |why: String| RecordError::malformed(&self.path, 0, why);
        let mut csv = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        for sample in measurement {
            sample.check().map_err(malformed)?;
            csv.serialize(sample)
                .map_err(|error| malformed(error.to_string()))?;
        }
        let rows = csv
            .into_inner()
            .map_err(|error| malformed(error.to_string()))?;
        self.append(&rows)
    }

    fn append(&mut self, rows: &[u8]) -> Result<(), RecordError> {
        match self.file.write_all(rows) {
            Ok(()) => {
                self.length += rows.len() as u64;
                self.note_length()
                    .map_err(|cause| RecordError::write(&self.path, cause))
            }
            Err(cause) => {
                // Half a row would make the whole file unreadable. If the file cannot be cut
                // either, the first error is still the one to report.
                let _ = self.file.set_len(self.length);
                Err(RecordError::write(&self.path, cause))
            }
        }
    }

    /// Moves the rows from the kernel's memory to the disk.
    ///
    /// # Errors
    /// [`RecordError::Write`]: some file systems report a full disk only here.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        self.file
            .sync_all()
            .map_err(|cause| RecordError::write(&self.path, cause))
    }
}

fn open_journal(path: &Path) -> Result<File, RecordError> {
    let mut options = OpenOptions::new();
    let opened = options.append(true).create(true).open(path);
    opened.map_err(|cause| RecordError::write(path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::Conditions;
    use crate::names::BackendName;
    use crate::sample::read_samples;
    use crate::test_values::sample;

    /// Writes samples to a new file; gives its text and the samples read back from it.
    fn written(samples: &[Sample]) -> (String, Vec<Sample>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        let journal = folder.path().join("journal");
        let mut writer = SampleWriter::create(&path, &journal).unwrap();
        writer.write(samples).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        (text, read_samples(&path).unwrap())
    }

    #[test]
    fn header_and_rows_have_the_documented_columns() {
        let (text, read) = written(&[sample()]);
        assert_eq!(
            text,
            "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,\
             ring_size,frame_size,offered_mpps,note,cpu,queues,waiting,placement,process\n\
             rust-unsafe,overflow-checks,rustc 1.95.0,32,valgrind,branch_misses,0.125,branches/packet,200000,2,\
             1024,1514,12.5,multiplexed,,2,interrupts,memory,3\n"
        );
        assert_eq!(read, [sample()]);
    }

    #[test]
    fn an_absent_value_is_an_empty_field() {
        let plain = Sample {
            conditions: Conditions::default(),
            note: String::new(),
            ..sample()
        };
        let (text, read) = written(std::slice::from_ref(&plain));
        assert!(text.ends_with(",200000,2,512,60,,,,1,poll,,3\n"), "{text}");
        assert_eq!(read, [plain]);
    }

    #[test]
    fn a_simulated_value_keeps_its_cpu() {
        let simulated = Sample {
            backend: BackendName::Trace,
            note: String::new(),
            ..sample().on_cpu("haswell")
        };
        let (text, read) = written(std::slice::from_ref(&simulated));
        assert!(
            text.ends_with(",12.5,,haswell,2,interrupts,memory,3\n"),
            "{text}"
        );
        assert_eq!(read, [simulated]);
    }

    #[test]
    fn an_invalid_sample_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        let mut writer = SampleWriter::create(&path, &folder.path().join("journal")).unwrap();
        let bad = Sample {
            value: f64::NAN,
            ..sample()
        };
        let error = writer.write(&[sample(), bad]).unwrap_err().to_string();
        assert!(error.contains("branch_misses"), "{error}");
        assert_eq!(read_samples(&path).unwrap(), []);
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = Path::new("/dev/full");
        let mut writer = SampleWriter {
            path: full.to_owned(),
            file: OpenOptions::new().append(true).open(full).unwrap(),
            length: 0,
            journal: None,
        };
        let error = writer.write(&[sample()]).unwrap_err().to_string();
        assert!(error.contains("/dev/full"), "{error}");
        assert!(error.contains("free some space"), "{error}");
    }
}
