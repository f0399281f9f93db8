//! The command line of `triptych run`.

use std::path::PathBuf;

use clap::Args;
use record::{BackendName, Implementation};

use super::config::MatrixFilter;
use crate::settings::values::{BoundedInteger, RingSize};
use crate::usage::one_of;

/// Arguments of `triptych run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// What to measure, as a file (see bench/README.md); the options below then leave only a part
    /// of it. Without, the counter table is measured
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Go on with a run that was interrupted: a folder in results/; without ID the newest
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// Drivers; without this, all
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = one_of::<Implementation>())]
    pub implementations: Vec<Implementation>,
    /// Ways they are built: default, overflow-checks, sanitized, fortified, no-lto, or a folder of
    /// build/variants/; without this, default, and overflow-checks for safe Rust
    #[arg(long = "variant", value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Packets asked for per receive call, each 1 to 512; without this, 32 and 8
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=512))]
    pub batch: Vec<u32>,
    /// Descriptors per ring, powers of two from 64 to 4096; without this, 512
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = ring_size)]
    pub ring_size: Vec<u32>,
    /// Bytes of a frame without its CRC, each 60 to 1514; without this, 60
    #[arg(long, value_name = "BYTES", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(60..=1514))]
    pub frame_size: Vec<u32>,
    /// Ways to count; without this, all that work here
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = one_of::<BackendName>())]
    pub backends: Vec<BackendName>,
    /// Repetitions of perf, valgrind, wall and latency; without this and in no file: 3, 1 (the
    /// counts are exact), 3 and 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Only see whether everything works: short runs, rough figures
    #[arg(long)]
    pub quick: bool,
    /// Folder that gets a folder per run
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Folder that the drivers were built in
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}

impl RunArguments {
    /// Whether the command line says anything about what to measure.
    pub fn says_what(&self) -> bool {
        self.config.is_some()
            || self.quick
            || self.repeats.is_some()
            || self.matrix_filter() != MatrixFilter::default()
    }

    /// What the command line leaves of a configuration.
    pub fn matrix_filter(&self) -> MatrixFilter {
        MatrixFilter {
            backends: self.backends.clone(),
            implementations: self.implementations.clone(),
            variants: self.variants.clone(),
            batch: self.batch.iter().copied().map(BoundedInteger).collect(),
            ring_size: self.ring_size.iter().copied().map(RingSize).collect(),
            frame_size: self
                .frame_size
                .iter()
                .copied()
                .map(BoundedInteger)
                .collect(),
        }
    }
}

fn ring_size(text: &str) -> Result<u32, String> {
    let number: i64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    RingSize::try_from(number).map(|size| size.0)
}
