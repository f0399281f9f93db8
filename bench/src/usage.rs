//! What the commands share: how they end, common options, and parsers for the values of options.

use std::ops::{Deref, RangeInclusive};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use record::Implementation;
use strum::VariantNames;

/// An error of usage: a wrong option, or a configuration that cannot be used. The program exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// How a command ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Good,
    /// The machine or the card is not fit for a run.
    NotReady,
    /// A build is worse than the baseline, or a case differs from the record.
    Worse,
    /// The program that ran with the card ended with this status.
    Program(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Good => 0,
            Outcome::NotReady => 1,
            Outcome::Worse => 3,
            Outcome::Program(status) => status,
        })
    }
}

/// `--build-dir`
#[derive(Debug, Clone, Args)]
pub struct BuildDir {
    /// The folder with everything built
    #[arg(long, value_name = "DIR", default_value = "build")]
    build_dir: PathBuf,
}

impl Deref for BuildDir {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.build_dir
    }
}

/// `--results`
#[derive(Debug, Clone, Args)]
pub struct ResultsDir {
    /// The folder that receives a folder for each run
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

impl Deref for ResultsDir {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.results
    }
}

/// `--batch`
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct Batches {
    /// Packets asked for per receive call, 1 to 512 [default: those in the file, or 32; run: 32,8]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = number::<u32>(1..=512))]
    batch: Vec<u32>,
}

impl Deref for Batches {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.batch
    }
}

/// What a process measures or tests that may crash. `triptych worker KIND FILE` is such a process.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum WorkerKind {
    /// Measures in lockstep.
    Lockstep,
    /// Forwards and counts events.
    Perf,
}

impl WorkerKind {
    /// The program and the arguments that run it; the file that describes its work follows.
    ///
    /// # Errors
    /// If this program cannot find its own file.
    pub fn command(self) -> Result<(PathBuf, Vec<String>)> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let kind = format!("{self:?}").to_lowercase();
        Ok((program, vec!["worker".to_owned(), kind]))
    }
}

/// Parses the name of an enumeration's value. An unknown name gives an error that lists the names.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = strum::ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse())
}

/// Parses a whole number. Anything else gives an error that names the range.
pub fn number<T>(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = T>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| -> Result<T, String> {
        let wrong = || format!("write a number from {} to {}", range.start(), range.end());
        let number = text.parse().ok().filter(|number| range.contains(number));
        T::try_from(number.ok_or_else(wrong)?).map_err(|_| wrong())
    }
}

/// Parses the name of a driver that a compiler can build here: all but DPDK, which is a package.
pub fn compiled_driver() -> impl TypedValueParser<Value = Implementation> {
    use Implementation::{DpdkScalar, DpdkVector};
    let all = Implementation::OURS
        .into_iter()
        .chain(Implementation::PEERS);
    let compiled = all.filter(|driver| !matches!(driver, DpdkVector | DpdkScalar));
    PossibleValuesParser::new(compiled.map(<&str>::from))
        .try_map(|name| name.parse::<Implementation>())
}

/// Parses the name of a driver of this repository.
pub fn our_driver() -> impl TypedValueParser<Value = Implementation> {
    let names = Implementation::OURS.map(<&str>::from);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Implementation>())
}
