//! Boots emulated Arm machines and reports each check of the perf backend as a test. `make pmu-test`
//! runs it. Like Cargo's tests, it accepts `--list` and a filter.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

use anyhow::{bail, Context, Result};
use libtest_mimic::{Arguments, Failed, Trial};
use pmu_guest::checks::CHECKS;
use pmu_guest::{boot, repository, Image, Machine, Outcome};

/// The folder of the machines' logs.
const LOGS: &str = "build/logs/pmu";
/// The script's exit status if it cannot fetch the machine.
const CANNOT_FETCH: i32 = 2;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The tests run in this thread: QEMU ends with the thread that started it.
    arguments.test_threads = Some(1);
    let image = match prepare(arguments.list) {
        Ok(Ok(image)) => image.map(Arc::new),
        // `.ci/checks` looks for this line.
        Ok(Err(reason)) => {
            println!("skipped: {reason}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let tests = Machine::ALL
        .iter()
        .flat_map(|machine| tests(machine, image.as_ref()))
        .collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// The tests of one machine. The first of them boots it.
fn tests(machine: &'static Machine, image: Option<&Arc<Image>>) -> Vec<Trial> {
    let outcome: Arc<OnceLock<Result<Outcome, String>>> = Arc::default();
    let trial = |name: &'static str| {
        let (outcome, image) = (Arc::clone(&outcome), image.cloned());
        Trial::test(format!("{}::{name}", machine.name), move || {
            let image = image.ok_or("the image is not prepared")?;
            let outcome = outcome.get_or_init(|| {
                boot(machine, &image, &repository().join(LOGS))
                    .map_err(|error| format!("{error:#}"))
            });
            let result = outcome.as_ref().map_err(Failed::from)?.get(name);
            result
                .ok_or("the machine ended before this check")?
                .clone()
                .map_err(Failed::from)
        })
    };
    CHECKS.iter().map(|(name, _)| trial(name)).collect()
}

/// Fetches QEMU and the kernel, and builds the image that all machines boot; or the reason why the
/// machine cannot be fetched. There is no image to only list the tests.
fn prepare(list: bool) -> Result<Result<Option<Image>, String>> {
    if list {
        return Ok(Ok(None));
    }
    let script = repository().join("bench/setup/pmu-guest.sh");
    let fetched = Command::new(&script)
        .output()
        .with_context(|| script.display().to_string())?;
    let messages = String::from_utf8_lossy(&fetched.stderr);
    eprint!("{messages}");
    match fetched.status.code() {
        Some(0) => {}
        Some(CANNOT_FETCH) => {
            let reason = messages.lines().last().unwrap_or_default();
            return Ok(Err(reason.trim_start_matches("setup: ").to_owned()));
        }
        _ => bail!("{}: {}", script.display(), fetched.status),
    }
    let fetched = PathBuf::from(String::from_utf8(fetched.stdout)?.trim_end());
    // The folder that cargo built this test in.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .context("the target folder")?;
    Ok(Ok(Some(Image::prepare(&fetched, target)?)))
}
