//! The command line of `triptych run`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, Parser};

use super::config::MatrixFilter;
use crate::machine::clocks::cli::ghz;
use crate::usage::{file_name, number, BuildDir, ResultsDir};

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The matrix to measure, as bench/README.md describes it; the options below then select a part
    /// of it [default: the rows of the counter table]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Continue an interrupted run, a folder in results/, and measure its failed cells again [default
    /// ID: the newest]
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// Measure the failed cells of a run again, also of a complete one [default ID: the newest]
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "resume")]
    pub retry_failed: Option<Option<String>>,
    /// Measure nothing but the instructions per packet that FILE records, such as bench/budget.toml,
    /// and fail if a driver needs more
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "resume", "retry_failed",
        "implementations", "variants", "batch", "ring_size", "frame_size", "backends", "repeats", "quick",
        "devices", "generator", "clock", "keep_clock", "dry_run", "list_runs", "list_cells", "cell", "results"])]
    pub budget: Option<PathBuf>,
    #[command(flatten)]
    pub filter: MatrixFilter,
    /// How often perf, valgrind, wall and latency measure each cell [default: those in the file, or
    /// 3, 1, 3 and 1; valgrind's counts are exact]
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=1000))]
    pub repeats: Option<u32>,
    /// Only check that everything works: short runs, rough figures
    #[arg(long)]
    pub quick: bool,
    /// The two ports of a real card, such as 0000:03:00.0,0000:03:00.1, or the sockets of a running
    /// software card: vfio-user:PATH,vfio-user:PATH [default: those in the file]
    #[arg(long, value_name = "PORT,PORT", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Who sends to a real card: user@host runs testpmd there, FILE.toml is a configuration of
    /// `triptych pktgen`, and none leaves it to you [default: the one in the file]
    #[arg(long, value_name = "GENERATOR")]
    pub generator: Option<String>,
    /// Clocks to fix all CPUs at, in GHz, one run for each (needs root or sudo) [default: those in the
    /// file]
    #[arg(long, value_name = "GHZ", value_delimiter = ',', value_parser = ghz)]
    pub clock: Vec<f64>,
    /// Measure at the clock that the machine has
    #[arg(long, conflicts_with = "clock")]
    pub keep_clock: bool,
    /// Print what the run would do, and touch nothing
    #[arg(long, conflicts_with_all = ["resume", "retry_failed"])]
    pub dry_run: bool,
    /// Print the jobs of the run, one line of JSON each, and touch nothing. bench/README.md describes
    /// them
    #[arg(long, conflicts_with_all = ["resume", "retry_failed", "dry_run"])]
    pub list_cells: bool,
    /// Measure one job of `--list-cells`, and write the files of its cells to the run of --id
    #[arg(long, value_name = "JOB", requires = "id",
        conflicts_with_all = ["resume", "retry_failed", "dry_run", "list_cells", "list_runs"])]
    pub cell: Option<String>,
    /// The run that receives the cells: results/MACHINE/RUN, which several processes may fill at once
    #[arg(long, value_name = "RUN", requires = "cell", value_parser = file_name)]
    pub id: Option<String>,
    /// Also write the folders of the runs to this file, one per line
    #[arg(long, value_name = "FILE")]
    pub list_runs: Option<PathBuf>,
    /// A file for the folder of each run, written before the first measurement: its name and text.
    #[arg(skip)]
    pub attached: Option<(String, String)>,
    /// Change the clocks of a machine below this folder (for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub clocks_root: PathBuf,
    #[command(flatten)]
    pub results: ResultsDir,
    #[command(flatten)]
    pub build_dir: BuildDir,
}

impl RunArguments {
    /// The arguments that measure a matrix file, with the defaults of the command line.
    pub fn of(config: &Path) -> Self {
        Self::parse([OsStr::new("--config"), config.as_os_str()])
    }

    /// The arguments of a command line.
    pub(super) fn parse<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Self {
        #[derive(Parser)]
        #[command(no_binary_name = true)]
        struct OnlyRun {
            #[command(flatten)]
            run: RunArguments,
        }
        OnlyRun::parse_from(words).run
    }

    /// Whether the command line selects any measurements.
    pub fn selects_measurements(&self) -> bool {
        self.config.is_some()
            || self.quick
            || self.repeats.is_some()
            || !self.devices.is_empty()
            || self.generator.is_some()
            || !self.clock.is_empty()
            || self.filter != MatrixFilter::default()
    }
}
