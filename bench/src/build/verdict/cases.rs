//! The cases of a verdict that are conformance tests: each runs in a process of its own.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};
use perfcounters::Interrupt;
use record::Implementation;

use super::message;
use super::report::Row;
use super::site::Site;
use crate::build::runner;
use crate::progress::Progress;

/// Tests in lockstep: time plays no part, so two of them may share the processors.
pub(super) const LOCKSTEP: [&str; 4] = ["data_path", "paths", "register_trace", "pool_exhaustion"];
/// Tests of the program: card and driver poll all the time, so these tests run one after the other.
pub(super) const PROGRAM: [&str; 5] = ["usage", "ending", "failures", "hardware", "forwarding"];

/// Time limits for a test. The slowest in lockstep takes some seconds, and of the program some 20 s.
const LOCKSTEP_LIMIT: Duration = Duration::from_secs(40);
const PROGRAM_LIMIT: Duration = Duration::from_secs(120);
const EXPECTED: &str = "passes";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    file: String,
    program: PathBuf,
    name: String,
    driver: Option<Implementation>,
}

/// Lists the cases of a test program that these drivers take part in. A case of all drivers needs all.
pub(super) fn list(file: &str, program: &Path, drivers: &[Implementation]) -> Result<Vec<Case>> {
    let mut command = Command::new(program);
    command.args(["--list", "--format", "terse"]);
    let text = runner::output(command, LOCKSTEP_LIMIT, &Interrupt::new())?;
    let name = program.display();
    ensure!(text.contains(": test"), "{name} lists no tests");
    let cases = text.lines().filter_map(|line| {
        let name = line.strip_suffix(": test")?;
        let module = name.split("::").next()?;
        let is_of = |one: &Implementation| one.to_string().replace('-', "_") == module;
        let driver = Implementation::OURS.into_iter().find(is_of);
        let needed = match driver {
            Some(driver) => drivers.contains(&driver),
            None => drivers.len() == Implementation::OURS.len(),
        };
        needed.then(|| Case {
            file: file.to_owned(),
            program: program.to_owned(),
            name: name.to_owned(),
            driver,
        })
    });
    Ok(cases.collect())
}

/// Runs cases, `jobs` at a time, and returns a row for each.
pub(super) fn run(
    cases: &[Case],
    site: &Site<'_>,
    jobs: usize,
    progress: &mut Progress,
) -> Result<Vec<Row>> {
    let progress = Mutex::new(progress);
    let share = |first: usize| -> Result<Vec<Row>> {
        let mine = cases.iter().skip(first).step_by(jobs);
        let rows = mine.map(|case| {
            let shown = progress.lock();
            shown
                .unwrap_or_else(PoisonError::into_inner)
                .step(&case.name);
            case.run(site)
        });
        rows.collect()
    };
    thread::scope(|scope| {
        let share = &share;
        let workers = (0..jobs).map(|first| scope.spawn(move || share(first)));
        let workers: Vec<_> = workers.collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(all)
    })
}

impl Case {
    fn title(&self) -> String {
        let name = self.name.rsplit("::").next().unwrap_or(&self.name);
        format!("{}: {}", self.file, name.replace('_', " "))
    }

    fn run(&self, site: &Site<'_>) -> Result<Row> {
        let mut command = Command::new(&self.program);
        command
            .args(["--exact", &self.name, "--nocapture", "--test-threads", "1"])
            .env("TRIPTYCH_BUILD", &site.build)
            .env("RUST_BACKTRACE", "0");
        let limit = if LOCKSTEP.contains(&self.file.as_str()) {
            LOCKSTEP_LIMIT
        } else {
            PROGRAM_LIMIT
        };
        let ended = runner::run(command, limit, site.interrupt)?;
        let seen = match &ended.result {
            Ok(()) => EXPECTED.to_owned(),
            Err(error) => message::of_test(&ended.both(), error),
        };
        let driver = self.driver.map_or("all", <&str>::from);
        Ok(Row::new(&self.title(), driver, EXPECTED, &seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcounters::temporary::TemporaryFolder;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn cases_belong_to_their_drivers() {
        let folder = TemporaryFolder::create().unwrap();
        let program = folder.path().join("data_path");
        let lines =
            "#!/bin/sh\nprintf 'c::a_limit: test\nrust_unsafe::a_limit: test\nall_agree: test\n'";
        std::fs::write(&program, lines).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let drivers = |of: &[Implementation]| {
            let cases = list("data_path", &program, of).unwrap();
            assert_eq!(cases[0].title(), "data_path: a limit");
            cases.iter().map(|case| case.driver).collect::<Vec<_>>()
        };
        use Implementation::{RustUnsafe, C};
        assert_eq!(drivers(&[C]), [Some(C)]);
        let all = [Some(C), Some(RustUnsafe), None];
        assert_eq!(drivers(&Implementation::OURS), all);
    }
}
