//! The folder `results/`: a folder for each machine, in it a folder for each run, named after the time, and a
//! link to the newest run. Runs of older versions lie in `results/` itself.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FlockOperation;

use crate::error::RecordError;
use crate::run::{read_run, read_text, RunRecord, RUN_FILE};
use crate::sample::{read_samples, Sample, HEADER};

/// File in a run folder that holds the samples.
pub const SAMPLES_FILE: &str = "samples.csv";
/// File that a run folder holds until the run is complete: the length of `samples.csv` after each
/// measurement, one per line.
pub const JOURNAL_FILE: &str = "samples.journal";
/// Folder in a run folder that has a file for each measured cell.
pub const CELLS_FOLDER: &str = "cells";
/// Link in the results folder to the newest run.
pub const LATEST_LINK: &str = "latest";

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    results: PathBuf,
    /// Its path below `results`.
    name: String,
    path: PathBuf,
    samples: File,
    /// Length of `samples.csv` after the last whole measurement. The journal receives it, because a
    /// process that is killed while it writes may leave half of a measurement behind.
    length: u64,
    count: u64,
    /// The open folder; its lock keeps other processes out.
    _lock: File,
    /// The contents of `run.json`; after a change call [`RunFolder::save`].
    pub record: RunRecord,
}

impl RunFolder {
    /// Creates `results/<machine>/<id>/`, named after the time, with `run.json` and an empty `samples.csv`.
    /// Without a machine in the record, the folder is `results/<id>/`.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the folder or one of the files cannot be created.
    pub fn create(
        results: &Path,
        now: SystemTime,
        mut record: RunRecord,
    ) -> Result<Self, RecordError> {
        let machine = results.join(&record.machine);
        let (id, path) = create_folder(&machine, now)?;
        record.id = id;
        record.start = humantime::format_rfc3339_seconds(now).to_string();
        record.end = None;
        Self::fill(results, path.clone(), record).inspect_err(|_| {
            // A full disk must not leave a part of a run. The first error is the one to report.
            let _ = fs::remove_dir_all(&path);
            // It stays if it has other runs.
            let _ = fs::remove_dir(&machine);
        })
    }

    fn fill(results: &Path, path: PathBuf, record: RunRecord) -> Result<Self, RecordError> {
        let mut folder = Self {
            results: results.to_owned(),
            name: name_of(&record.machine, &record.id),
            samples: append_to(&path.join(SAMPLES_FILE))?,
            length: 0,
            count: 0,
            _lock: lock(&path)?,
            path,
            record,
        };
        folder.append(HEADER.as_bytes())?;
        folder.save()?;
        Ok(folder)
    }

    /// Opens the folder `results/<id>` of an earlier run, so that the run can be resumed; returns the samples that
    /// are in it, too. A measurement that was half written is lost.
    ///
    /// # Errors
    /// [`RecordError::InUse`] if a process still writes to it; [`RecordError::Read`],
    /// [`RecordError::Malformed`] or [`RecordError::Write`] if its files were changed or cannot be
    /// used.
    pub fn reopen(results: &Path, id: &str) -> Result<(Self, Vec<Sample>), RecordError> {
        let path = results.join(id);
        let lock = lock(&path)?;
        let record = read_run(&path)?;
        let (csv, journal) = (path.join(SAMPLES_FILE), path.join(JOURNAL_FILE));
        let text = read_text(&csv)?;
        let noted = match journal.exists() {
            true => read_text(&journal)?,
            // The run was complete, and so are its samples.
            false => format!("{}\n", text.len()),
        };
        // The last line may be cut off; a part of a number would be a wrong length.
        let whole = noted.rfind('\n').map_or("", |end| &noted[..=end]);
        let length = whole
            .lines()
            .filter_map(|line| line.parse().ok())
            .rfind(|length: &usize| *length <= text.len())
            .filter(|length| text.starts_with(HEADER) && text[..*length].ends_with('\n'))
            .ok_or_else(|| {
                let why = format!("the journal does not belong to {}", csv.display());
                RecordError::Malformed(journal.clone(), 0, why)
            })? as u64;
        let cut = |path: &Path, length: u64| {
            let file = append_to(path)?;
            file.set_len(length).map_err(RecordError::write(path))?;
            Ok(file)
        };
        let file = cut(&csv, length)?;
        let samples = read_samples(&csv)?;
        let folder = Self {
            results: results.to_owned(),
            name: id.to_owned(),
            samples: file,
            length,
            count: samples.len() as u64,
            _lock: lock,
            path,
            record,
        };
        if journal.exists() {
            cut(&journal, whole.len() as u64)?;
            folder.note_length()?;
        }
        Ok((folder, samples))
    }

    /// Makes the run incomplete again, without the failures and obstacles that it had.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn forget_failures(&mut self) -> Result<(), RecordError> {
        self.note_length()?;
        self.record.failures.clear();
        self.record.not_measurable.clear();
        self.record.complete = false;
        self.save()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of samples that it holds.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends the samples of one measurement: all or none.
    ///
    /// # Errors
    /// [`RecordError::Malformed`] if a sample is invalid (not finite, no packets, a metric that its
    /// backend does not give); [`RecordError::Write`] if the disk is full. The file then ends as
    /// before.
    pub fn write(&mut self, measurement: &[Sample]) -> Result<(), RecordError> {
        let csv = self.path.join(SAMPLES_FILE);
        let malformed = |why: String| RecordError::Malformed(csv.clone(), 0, why);
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        for sample in measurement {
            sample.check().map_err(malformed)?;
            let row = writer.serialize(sample);
            row.map_err(|error| malformed(error.to_string()))?;
        }
        let rows = writer.into_inner();
        self.append(&rows.map_err(|error| malformed(error.to_string()))?)?;
        self.count += measurement.len() as u64;
        Ok(())
    }

    /// Appends rows with one system call.
    fn append(&mut self, rows: &[u8]) -> Result<(), RecordError> {
        if let Err(cause) = self.samples.write_all(rows) {
            // Half a row would make the whole file unreadable. If the file cannot be cut either, the
            // first error is still the one to report.
            let _ = self.samples.set_len(self.length);
            return Err(RecordError::Write(self.path.join(SAMPLES_FILE), cause));
        }
        self.length += rows.len() as u64;
        self.note_length()
    }

    fn note_length(&self) -> Result<(), RecordError> {
        let journal = self.path.join(JOURNAL_FILE);
        let noted = writeln!(append_to(&journal)?, "{}", self.length);
        noted.map_err(RecordError::write(&journal))
    }

    /// Replaces `run.json`; a reader sees the old or the new file, never half of one.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn save(&self) -> Result<(), RecordError> {
        let path = self.path.join(RUN_FILE);
        let json = crate::private::to_json(&self.record);
        let json = json.map_err(|error| RecordError::Write(path.clone(), error.into()))?;
        write_whole(&path, &json)
    }

    /// Ends the run: notes the time, and points `results/latest` here if the folder holds samples.
    /// A complete run cannot be resumed.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn finish(&mut self, now: SystemTime) -> Result<(), RecordError> {
        self.record.end = Some(humantime::format_rfc3339_seconds(now).to_string());
        // Some file systems report a full disk only here.
        let synced = self.samples.sync_all();
        synced.map_err(RecordError::write(&self.path.join(SAMPLES_FILE)))?;
        self.save()?;
        if self.record.complete {
            let journal = self.path.join(JOURNAL_FILE);
            fs::remove_file(&journal).map_err(RecordError::write(&journal))?;
        }
        if self.count > 0 {
            link(&self.results, LATEST_LINK, &self.name)?;
        }
        Ok(())
    }
}

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

/// A run's path below the results folder.
fn name_of(machine: &str, id: &str) -> String {
    match machine {
        "" => id.to_owned(),
        machine => format!("{machine}/{id}"),
    }
}

/// Begins the folder of a run whose cells several processes measure: with `run.json`, unless another process has
/// written it.
///
/// # Errors
/// [`RecordError::Write`].
pub fn begin_run(folder: &Path, record: &RunRecord) -> Result<(), RecordError> {
    let cells = folder.join(CELLS_FOLDER);
    fs::create_dir_all(&cells).map_err(RecordError::write(&cells))?;
    let file = folder.join(RUN_FILE);
    if file.exists() {
        return Ok(());
    }
    let json = crate::private::to_json(record);
    let json = json.map_err(|error| RecordError::Write(file.clone(), error.into()))?;
    match written(&file, &json)?.persist_noclobber(&file) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
            Err(RecordError::Write(file, error.error))
        }
        _ => Ok(()),
    }
}

/// Writes a file; a reader sees the old or the new file, never a part of one, also after a crash of the machine.
///
/// # Errors
/// [`RecordError::Write`].
pub fn write_whole(path: &Path, text: &str) -> Result<(), RecordError> {
    let persisted = written(path, text)?.persist(path);
    persisted.map_err(|error| RecordError::Write(path.to_owned(), error.error))?;
    let folder = path.parent().unwrap_or(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(RecordError::write(path))
}

/// A temporary file beside `path`, with the text on the disk. Unless it is kept, it is removed.
fn written(path: &Path, text: &str) -> Result<tempfile::NamedTempFile, RecordError> {
    let mut file = tempfile::Builder::new()
        .prefix(".new.")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(path.parent().unwrap_or(path))
        .map_err(RecordError::write(path))?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all());
    written.map_err(RecordError::write(path))?;
    Ok(file)
}

/// The incomplete runs in a results folder, oldest first. They can be resumed.
pub fn unfinished_runs(results: &Path) -> Vec<String> {
    folders_with(results, JOURNAL_FILE)
}

/// All runs in a results folder, oldest first, each as `MACHINE/RUN`, or `RUN` if an older version wrote it.
pub fn runs(results: &Path) -> Vec<String> {
    folders_with(results, RUN_FILE)
}

/// The runs that `name` may mean, each by its path below the results folder: `MACHINE/RUN`, or `RUN` of any machine.
pub fn find_runs(results: &Path, name: &str) -> Vec<String> {
    if results.join(name).join(RUN_FILE).is_file() {
        return vec![name.trim_end_matches('/').to_owned()];
    }
    let mut found = runs(results);
    found.retain(|run| run.rsplit('/').next() == Some(name));
    found
}

fn folders_with(results: &Path, file: &str) -> Vec<String> {
    let of_machines = folders_in(results).into_iter().flat_map(|machine| {
        let inside = folders_in(&results.join(&machine)).into_iter();
        let inside = inside.map(move |run| format!("{machine}/{run}"));
        inside.collect::<Vec<_>>()
    });
    let mut runs: Vec<String> = folders_in(results).into_iter().chain(of_machines).collect();
    runs.retain(|run| results.join(run).join(file).is_file());
    runs.sort_by(|one, other| one.rsplit('/').cmp(other.rsplit('/')));
    runs
}

fn folders_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // The links would list a run twice.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

/// Opens a file to write at its end; creates it if there is none.
fn append_to(path: &Path) -> Result<File, RecordError> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(RecordError::write(path))
}

/// Keeps other processes from writing to a run folder until the result is dropped.
fn lock(folder: &Path) -> Result<File, RecordError> {
    let file = File::open(folder).map_err(RecordError::read(folder))?;
    // A child process holds a copy of the lock between fork and exec, for a moment.
    for _ in 0..50 {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            Err(error) => return Err(RecordError::Write(folder.to_owned(), error.into())),
        }
    }
    Err(RecordError::InUse(folder.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::conditions::Conditions;
    use crate::names::BackendName;
    use crate::run::Failure;
    use crate::sample::tests::sample;

    fn record() -> RunRecord {
        RunRecord {
            command: vec!["triptych".into(), "run".into()],
            not_measurable: BTreeMap::from([(BackendName::Perf, "no PMU".into())]),
            complete: true,
            ..RunRecord::default()
        }
    }

    fn create(results: &TempDir, record: RunRecord) -> RunFolder {
        RunFolder::create(results.path(), SystemTime::UNIX_EPOCH, record).unwrap()
    }

    #[test]
    fn a_run_folder_holds_its_record_and_latest_points_to_it() {
        let results = tempfile::tempdir().unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut first = RunFolder::create(results.path(), time, record()).unwrap();
        let mut second = RunFolder::create(results.path(), time, record()).unwrap();
        assert_eq!(first.record.id, "2023-11-14T22-13-20Z");
        assert_eq!(second.record.id, "2023-11-14T22-13-20Z-1");
        for folder in [&mut first, &mut second] {
            folder.write(&[sample()]).unwrap();
            folder.finish(time + Duration::from_secs(60)).unwrap();
            let latest = results.path().join(LATEST_LINK);
            assert_eq!(read_run(&latest).unwrap(), folder.record);
            let samples = read_samples(&latest.join(SAMPLES_FILE)).unwrap();
            assert_eq!(samples, [sample()]);
        }
        // A run without samples is not the latest.
        let mut empty = create(&results, record());
        empty.finish(SystemTime::UNIX_EPOCH).unwrap();
        let latest = fs::read_link(results.path().join(LATEST_LINK)).unwrap();
        assert_eq!(latest, Path::new(&second.record.id));
        let left: Vec<_> = fs::read_dir(results.path()).unwrap().collect();
        assert_eq!(left.len(), 4, "temporary files are left: {left:?}");
    }

    #[test]
    fn runs_of_machines_are_found_beside_old_ones_by_either_name() {
        let results = tempfile::tempdir().unwrap();
        let on = |machine: &str| RunRecord {
            machine: machine.into(),
            ..record()
        };
        let machines = ["", "box1", "box2"];
        let folders = machines.map(|machine| create(&results, on(machine)));
        let id = folders[0].record.id.clone();
        let names = [id.clone(), format!("box1/{id}"), format!("box2/{id}")];
        assert_eq!(runs(results.path()), names);
        assert_eq!(unfinished_runs(results.path()), names);
        let find = |name: &str| find_runs(results.path(), name);
        assert_eq!(find("box2/"), Vec::<String>::new());
        assert_eq!(find(&names[2]), names[2..]);
        // The old one has this name alone.
        assert_eq!(find(&id), names[..1]);
        fs::remove_dir_all(results.path().join(&id)).unwrap();
        assert_eq!(find(&id), names[1..]);
    }

    #[test]
    fn a_run_of_several_processes_begins_once() {
        let results = tempfile::tempdir().unwrap();
        let folder = results.path().join("box/r1");
        for start in ["first", "second"] {
            let start = start.to_owned();
            begin_run(&folder, &RunRecord { start, ..record() }).unwrap();
        }
        assert_eq!(read_run(&folder).unwrap().start, "first");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn header_and_rows_have_the_documented_columns() {
        let plain = Sample {
            conditions: Conditions::default(),
            note: String::new(),
            ..sample()
        };
        let simulated = Sample {
            backend: BackendName::Trace,
            cpu: "haswell".into(),
            ..plain.clone()
        };
        let samples = [sample(), plain, simulated];
        let results = tempfile::tempdir().unwrap();
        let mut run = create(&results, record());
        run.write(&samples).unwrap();
        let csv = run.path().join(SAMPLES_FILE);
        let driver = "rust-unsafe,overflow-checks,rustc 1.95.0,32";
        assert_eq!(
            fs::read_to_string(&csv).unwrap(),
            format!(
                "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,\
                 ring_size,frame_size,offered_mpps,note,cpu,queues,waiting,placement,process\n\
                 {driver},valgrind,branch_misses,0.125,branches/packet,200000,2,\
                 1024,1514,12.5,multiplexed,,2,interrupts,memory,3\n\
                 {driver},valgrind,branch_misses,0.125,branches/packet,200000,2,512,60,,,,1,poll,,3\n\
                 {driver},trace,branch_misses,0.125,branches/packet,200000,2,512,60,,,haswell,1,poll,,3\n"
            )
        );
        assert_eq!(read_samples(&csv).unwrap(), samples);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_file_as_it_was_and_is_named() {
        let results = tempfile::tempdir().unwrap();
        let mut run = create(&results, record());
        let bad = Sample {
            value: f64::NAN,
            ..sample()
        };
        let error = run.write(&[sample(), bad]).unwrap_err().to_string();
        assert!(error.contains("branch_misses"), "{error}");
        assert_eq!(read_samples(&run.path().join(SAMPLES_FILE)).unwrap(), []);
        run.samples = append_to(Path::new("/dev/full")).unwrap();
        let error = run.write(&[sample()]).unwrap_err().to_string();
        assert!(error.contains("free some space"), "{error}");
        assert_eq!(run.count(), 0);
        let nowhere = Path::new("/dev/null/results");
        let error = RunFolder::create(nowhere, SystemTime::now(), record()).unwrap_err();
        assert!(error.to_string().contains("/dev/null/results"), "{error}");
    }

    /// Cuts `samples.csv` at many lengths, and resumes the run from each.
    #[test]
    fn a_killed_run_resumes_after_its_last_whole_measurement() {
        let results = tempfile::tempdir().unwrap();
        let unfinished = RunRecord {
            complete: false,
            ..record()
        };
        let mut run = create(&results, unfinished);
        let measurement = |repeat| {
            (0..5)
                .map(|index| Sample {
                    repeat,
                    value: f64::from(index),
                    ..sample()
                })
                .collect::<Vec<_>>()
        };
        let mut ends = vec![HEADER.len()];
        let path = run.path().to_owned();
        for repeat in 0..3 {
            run.write(&measurement(repeat)).unwrap();
            ends.push(fs::read(path.join(SAMPLES_FILE)).unwrap().len());
        }
        let id = run.record.id.clone();
        let error = RunFolder::reopen(results.path(), &id).unwrap_err();
        assert!(error.to_string().contains("another triptych"), "{error}");
        drop(run);
        let whole = fs::read(path.join(SAMPLES_FILE)).unwrap();
        let journal = fs::read_to_string(path.join(JOURNAL_FILE)).unwrap();
        let noted = |count: usize| {
            let lines = journal.lines().take(count).map(|line| format!("{line}\n"));
            lines.collect::<String>()
        };
        // Every length near the end of a measurement, and some between.
        let near = |cut: &usize| ends.iter().any(|end| end.abs_diff(*cut) < 3) || cut % 41 == 0;
        for cut in (HEADER.len()..=whole.len()).filter(near) {
            let complete = ends.iter().filter(|end| **end <= cut).count();
            // The process was killed before, after or while it wrote the journal.
            for (journal, kept) in [
                (noted(complete), complete),
                (noted(complete - 1), complete - 1),
                (format!("{}1", noted(complete)), complete),
            ] {
                if kept == 0 {
                    continue;
                }
                fs::write(path.join(SAMPLES_FILE), &whole[..cut]).unwrap();
                fs::write(path.join(JOURNAL_FILE), journal).unwrap();
                let (mut run, samples) = RunFolder::reopen(results.path(), &id).unwrap();
                assert_eq!(samples.len(), 5 * (kept - 1), "cut at {cut}");
                for repeat in kept - 1..3 {
                    run.write(&measurement(repeat as u32)).unwrap();
                }
                assert_eq!(run.count(), 15);
                assert_eq!(fs::read(path.join(SAMPLES_FILE)).unwrap(), whole);
                drop(run);
                let (_, samples) = RunFolder::reopen(results.path(), &id).unwrap();
                assert_eq!(samples.len(), 15);
            }
        }
    }

    #[test]
    fn runs_are_resumed_if_they_are_unfinished_or_their_failures_forgotten() {
        let results = tempfile::tempdir().unwrap();
        assert!(unfinished_runs(&results.path().join("none")).is_empty());
        let mut ids = Vec::new();
        for complete in [false, true, false] {
            let mut run = create(&results, record());
            run.write(&[sample()]).unwrap();
            run.record.complete = complete;
            run.record.failures.push(Failure {
                series: sample().series(),
                cause: "it broke".into(),
            });
            run.finish(SystemTime::UNIX_EPOCH).unwrap();
            ids.push(run.record.id.clone());
        }
        let reopen = |id| RunFolder::reopen(results.path(), id);
        // To open a run changes nothing yet.
        for id in &ids {
            assert_eq!(reopen(id).unwrap().1, [sample()]);
        }
        assert_eq!(unfinished_runs(results.path()), [&ids[0][..], &ids[2]]);
        reopen(&ids[1]).unwrap().0.forget_failures().unwrap();
        assert_eq!(unfinished_runs(results.path()), ids);
        let (run, samples) = reopen(&ids[1]).unwrap();
        assert_eq!(samples, [sample()]);
        assert!(run.record.failures.is_empty() && !run.record.complete);
        // A file that another program changed.
        let csv = results.path().join(&ids[0]).join(SAMPLES_FILE);
        fs::write(csv, "other,columns\n").unwrap();
        let error = reopen(&ids[0]).unwrap_err().to_string();
        assert!(error.contains("does not belong"), "{error}");
    }
}
