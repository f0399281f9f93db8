//! What the programs have in common: messages, exit statuses, options, signals.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Args, Parser};
use ixgbe::driver::device::{MAX_RING_SIZE, MIN_RING_SIZE};
use ixgbe::rooms::forwarder::{DEFAULT_BATCH, DEFAULT_RING_SIZE, MAX_BATCH};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

/// The program's name, which begins its messages.
const PROGRAM: &str = env!("CARGO_BIN_NAME");

const EXIT_RUN_TIME: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// A program looks at the clock, the signals and what its threads share once every so many turns.
pub const TURNS_PER_LOOK: u32 = 1024;

/// The longest wait for a server or a link.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// The options that all programs have, besides `--packets`, whose meaning differs.
#[derive(Args, Clone, Debug)]
pub struct CommonOptions {
    /// Packets per call, 1 to 512
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH, value_parser = parse_batch)]
    pub batch: usize,

    /// Descriptors of every ring, a power of two, 64 to 4096
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RING_SIZE,
          value_parser = parse_ring_size)]
    pub ring_size: u32,

    /// End after S seconds; fractions are allowed
    #[arg(long, value_name = "S", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// Wait at most S seconds for the sockets, up to 3600
    #[arg(long = "connect-timeout", value_name = "S", default_value = "5",
          value_parser = parse_timeout)]
    pub connect_timeout_ms: u32,

    /// Wait at most S seconds for each link, up to 3600
    #[arg(long = "link-timeout", value_name = "S", default_value = "30",
          value_parser = parse_timeout)]
    pub link_timeout_ms: u32,

    /// Write the totals to FILE at the end
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Parses the command line and runs the program. `check` says what is wrong with options that parse.
pub fn run_program<O: Parser>(
    check: impl FnOnce(&O) -> Result<(), String>,
    run: impl FnOnce(&O) -> anyhow::Result<()>,
) -> ExitCode {
    let mut command = O::command()
        .name(PROGRAM)
        .max_term_width(80)
        .infer_long_args(true)
        .args_override_self(true);
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matches
        .and_then(|mut matches| O::from_arg_matches_mut(&mut matches))
        .and_then(|options| match check(&options) {
            Ok(()) => Ok(options),
            Err(message) => Err(command.error(ErrorKind::ValueValidation, message)),
        });
    let options = match parsed {
        Ok(options) => options,
        Err(error) => {
            // A closed standard error must not hide the exit status.
            let _ = error.print();
            return match error.use_stderr() {
                true => ExitCode::from(EXIT_USAGE),
                false => ExitCode::SUCCESS,
            };
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{PROGRAM}: {error:#}");
            ExitCode::from(EXIT_RUN_TIME)
        }
    }
}

/// A whole number in a range, in digits only. `must` says what the option must be.
pub fn parse_number<T: TryFrom<u64>>(
    text: &str,
    range: RangeInclusive<u64>,
    must: &str,
) -> Result<T, String> {
    let digits = text.bytes().all(|c| c.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .filter(|number| range.contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("{must} from {} to {}", range.start(), range.end()))
}

/// A number in digits, which may have a fraction.
pub fn parse_decimal(text: &str) -> Option<f64> {
    let digits = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    digits.then(|| text.parse().ok())?
}

fn parse_batch(text: &str) -> Result<usize, String> {
    parse_number(text, 1..=MAX_BATCH as u64, "--batch must be a number")
}

fn parse_ring_size(text: &str) -> Result<u32, String> {
    let range = MIN_RING_SIZE.into()..=MAX_RING_SIZE.into();
    let size = parse_number(text, range, "").ok();
    size.filter(|size: &u32| size.is_power_of_two())
        .ok_or_else(|| {
            format!("--ring-size must be a power of two from {MIN_RING_SIZE} to {MAX_RING_SIZE}")
        })
}

/// The number of packets that ends a run.
pub fn parse_packets(text: &str) -> Result<u64, String> {
    parse_number(text, 1..=u64::MAX - 1, "").map_err(|_| "--packets must be a number from 1".into())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_decimal(text)
        .filter(|seconds| *seconds > 0.0 && *seconds <= 1e9)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "--duration must be a number of seconds above 0".to_owned())
}

/// Seconds up to an hour, as milliseconds, at least 1.
fn parse_timeout(text: &str) -> Result<u32, String> {
    parse_duration(text)
        .ok()
        .filter(|timeout| *timeout <= MAX_TIMEOUT)
        .and_then(|timeout| u32::try_from(timeout.as_nanos().div_ceil(1_000_000)).ok())
        .ok_or_else(|| "the wait must be a number of seconds above 0, at most 3600".to_owned())
}

/// From here on, a signal sets the flag, so that the program can stop its devices first.
pub fn hold_signals() -> io::Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}

/// The turns between two looks. If a device is trapped, a turn may take two messages to each server, 20 ms or
/// more each.
pub fn turns_per_look(is_trapped: bool) -> u32 {
    match is_trapped {
        true => 8,
        false => TURNS_PER_LOOK,
    }
}

/// Says that the memory is slower than it could be.
pub fn warn_of_ordinary_pages() {
    eprintln!(
        "{PROGRAM}: warning: too few huge pages of 2 MiB are free, using ordinary pages, which \
         are slower; `make hugepages` reserves some"
    );
}

/// The file for the totals, and its path.
pub type JsonFile<'o> = Option<(File, &'o Path)>;

/// Opens the file for the totals before the run, so that a wrong path fails at once.
pub fn json_open(options: &CommonOptions) -> anyhow::Result<JsonFile<'_>> {
    let Some(path) = options.json.as_deref() else {
        return Ok(None);
    };
    let file = File::create(path).with_context(|| path.display().to_string())?;
    Ok(Some((file, path)))
}

/// Writes the totals to the file that [`json_open`] opened.
pub fn json_write(file: JsonFile<'_>, totals: &impl Serialize) -> anyhow::Result<()> {
    let Some((file, path)) = file else {
        return Ok(());
    };
    write_line(file, totals).with_context(|| path.display().to_string())
}

fn write_line(mut file: File, totals: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(totals)?;
    line.push('\n');
    file.write_all(line.as_bytes())?;
    // A file system may report a full disk only here. A pipe has nothing to sync.
    match file.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
