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

/// `--results` and `--machine`
#[derive(Debug, Clone, Args)]
pub struct ResultsDir {
    /// The folder that receives a folder for each run, in one for each machine
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    #[command(flatten)]
    machine: MachineName,
}

impl ResultsDir {
    pub fn machine(&self) -> String {
        self.machine.name()
    }
}

/// `--machine`
#[derive(Debug, Clone, Default, Args)]
pub struct MachineName {
    /// The name of this machine in results [default: a random name that stays the same]
    #[arg(long, value_name = "NAME", env = "TRIPTYCH_MACHINE", value_parser = file_name)]
    machine: Option<String>,
}

impl MachineName {
    pub fn name(&self) -> String {
        let name = self.machine.clone().or_else(record::machine_id);
        name.unwrap_or_else(|| "unknown".to_owned())
    }
}

/// Parses a name that becomes a folder of results.
pub fn file_name(name: &str) -> Result<String, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let first = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    // These are in the results folder already.
    let taken = ["latest", "latest-safety", "compilers"].contains(&name);
    let why = "is not a name for a folder of results: use up to 100 letters, digits, -, _ and .";
    let good = first && !taken && name.len() <= 100 && name.chars().all(word);
    good.then(|| name.to_owned())
        .ok_or_else(|| format!("{name:?} {why}"))
}

/// `--batch`
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct Batches {
    /// Packets asked for per receive call, 1 to 512 [default: those in the file, or 32; run: 32,8]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = number::<u32>(1..=512))]
    batch: Vec<u32>,
}

/// Lets an option that several commands share stand for its value.
macro_rules! stands_for {
    ($option:ty, $field:ident, $value:ty) => {
        impl Deref for $option {
            type Target = $value;
            fn deref(&self) -> &$value {
                &self.$field
            }
        }
    };
}

stands_for!(BuildDir, build_dir, Path);
stands_for!(ResultsDir, results, Path);
stands_for!(Batches, batch, [u32]);

/// What a process measures or tests that may crash. `triptych worker KIND FILE` is such a process.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum WorkerKind {
    Lockstep,
    Perf,
}

impl WorkerKind {
    /// The program and the arguments that run it; the file that describes its work follows.
    pub fn command(self) -> Result<(PathBuf, Vec<String>)> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let kind = format!("{self:?}").to_lowercase();
        Ok((program, vec!["worker".to_owned(), kind]))
    }
}

/// A table as text; empty without rows. Its columns are as wide as their cells, but at most 80 characters.
pub fn columns<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> String {
    let lines = || {
        [head]
            .into_iter()
            .chain(rows.iter().map(|row| row.each_ref().map(|cell| &**cell)))
    };
    let widths: [usize; N] = std::array::from_fn(|column| {
        let widths = lines().map(|cells| cells[column].chars().count());
        widths.max().unwrap_or_default().min(80)
    });
    let mut text = String::new();
    for cells in lines().filter(|_| !rows.is_empty()) {
        let cells = cells.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        text += &(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n");
    }
    text
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
    let peers = Implementation::PEERS.into_iter();
    let peers = peers.filter(|driver| !matches!(driver, DpdkVector | DpdkScalar));
    driver_among(Implementation::OURS.into_iter().chain(peers))
}

pub fn our_driver() -> impl TypedValueParser<Value = Implementation> {
    driver_among(Implementation::OURS.into_iter())
}

fn driver_among(
    drivers: impl Iterator<Item = Implementation>,
) -> impl TypedValueParser<Value = Implementation> {
    PossibleValuesParser::new(drivers.map(<&str>::from))
        .try_map(|name| name.parse::<Implementation>())
}
