//! What the programs have in common: messages, exit statuses, options, signals.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Args, Parser};
use ixgbe::driver::device::{MAX_RING_SIZE, MIN_RING_SIZE};
use ixgbe::rooms::forwarder::{
    DEFAULT_BATCH, DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_LINK_TIMEOUT_MS, DEFAULT_RING_SIZE,
    MAX_BATCH,
};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

const EXIT_RUN_TIME: u8 = 1;
const EXIT_USAGE: u8 = 2;

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

    /// Wait at most S seconds for the sockets, up to 3600 [default: 5]
    #[arg(long, value_name = "S", value_parser = parse_timeout)]
    connect_timeout: Option<u32>,

    /// Wait at most S seconds for each link, up to 3600 [default: 30]
    #[arg(long, value_name = "S", value_parser = parse_timeout)]
    link_timeout: Option<u32>,

    /// Write the totals to FILE at the end
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl CommonOptions {
    /// Milliseconds.
    pub fn connect_timeout_ms(&self) -> u32 {
        self.connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT_MS)
    }

    /// Milliseconds.
    pub fn link_timeout_ms(&self) -> u32 {
        self.link_timeout.unwrap_or(DEFAULT_LINK_TIMEOUT_MS)
    }
}

/// Parses the command line and runs the program. `check` says what is wrong with options that parse.
pub fn run_program<O: Parser>(
    check: impl FnOnce(&O) -> Result<(), String>,
    run: impl FnOnce(&O) -> anyhow::Result<()>,
) -> ExitCode {
    let options = match parse_command_line(check) {
        Ok(options) => options,
        Err(status) => return status,
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", O::command().get_name());
            ExitCode::from(EXIT_RUN_TIME)
        }
    }
}

/// Prints an error with a pointer to `--help` if the command line is wrong.
fn parse_command_line<O: Parser>(
    check: impl FnOnce(&O) -> Result<(), String>,
) -> Result<O, ExitCode> {
    let parsed = O::try_parse().and_then(|options| {
        check(&options)
            .map_err(|message| O::command().error(ErrorKind::ValueValidation, message))?;
        Ok(options)
    });
    parsed.map_err(|error| {
        // A closed standard error must not hide the exit status.
        let _ = error.print();
        if !error.use_stderr() {
            return ExitCode::SUCCESS;
        }
        ExitCode::from(EXIT_USAGE)
    })
}

/// A whole number from `low` to `high`, in digits only.
pub fn parse_number(text: &str, low: u64, high: u64) -> Option<u64> {
    let digits = text.bytes().all(|c| c.is_ascii_digit());
    let number = digits.then(|| text.parse().ok())??;
    (low..=high).contains(&number).then_some(number)
}

fn parse_batch(text: &str) -> Result<usize, String> {
    parse_number(text, 1, MAX_BATCH as u64)
        .map(|batch| batch as usize)
        .ok_or_else(|| format!("--batch must be a number from 1 to {MAX_BATCH}"))
}

fn parse_ring_size(text: &str) -> Result<u32, String> {
    parse_number(text, MIN_RING_SIZE.into(), MAX_RING_SIZE.into())
        .filter(|size| size.is_power_of_two())
        .map(|size| size as u32)
        .ok_or_else(|| {
            format!("--ring-size must be a power of two from {MIN_RING_SIZE} to {MAX_RING_SIZE}")
        })
}

/// The number of packets that ends a run.
pub fn parse_packets(text: &str) -> Result<u64, String> {
    parse_number(text, 1, u64::MAX - 1)
        .ok_or_else(|| "--packets must be a number from 1".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then_some(text)
        .filter(|text| text.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
        .and_then(|text| text.parse().ok())
        .filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 1e9)
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

/// Says that the memory is slower than it could be.
pub fn warn_of_ordinary_pages(program: &str) {
    eprintln!(
        "{program}: warning: too few huge pages of 2 MiB are free, using ordinary pages, which \
         are slower; `make hugepages` reserves some"
    );
}

/// Opens the file for the totals before the run, so that a wrong path fails at once.
pub fn json_open(path: Option<&Path>) -> anyhow::Result<Option<File>> {
    path.map(|path| File::create(path).with_context(|| path.display().to_string()))
        .transpose()
}

/// Writes the totals to the file that [`json_open`] opened.
pub fn json_write(
    file: Option<File>,
    path: Option<&Path>,
    totals: &impl Serialize,
) -> anyhow::Result<()> {
    match file.zip(path) {
        Some((file, path)) => write_line(file, totals).with_context(|| path.display().to_string()),
        None => Ok(()),
    }
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
