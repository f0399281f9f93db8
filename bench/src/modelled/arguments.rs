//! The command line of `triptych model`.

use std::path::PathBuf;

use clap::Args;
use record::Implementation;

use crate::builds::variants::DEFAULT;
use crate::settings::values::{cpu_name, ghz, CpuName, Ghz};
use crate::usage::one_of;

/// Arguments of `triptych model`.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// Drivers
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = one_of::<Implementation>(), default_value = "c,rust,rust-unsafe")]
    pub implementations: Vec<Implementation>,
    /// The variant of each driver
    #[arg(long, value_name = "VARIANT", default_value = DEFAULT)]
    pub variant: String,
    /// Packets asked for per receive call, 1 to 512
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=512), default_value = "32,8")]
    pub batch: Vec<u32>,
    /// The processor, by the name of its CPU file
    #[arg(long, value_name = "NAME", value_parser = cpu_name, default_value = "haswell")]
    pub cpu: CpuName,
    /// The clock of the processor, GHz
    #[arg(long, value_name = "GHZ", value_parser = ghz, default_value = "1.6")]
    pub clock: Ghz,
    /// Also change each parameter of the processor by 20 % in both directions, and write the cycles to
    /// this CSV file
    #[arg(long, value_name = "FILE")]
    pub sensitivity: Option<PathBuf>,
    /// The folder with the built drivers
    #[arg(long, value_name = "DIR", default_value = "build")]
    pub build_dir: PathBuf,
}
