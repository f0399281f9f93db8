//! What all builders of peers share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perfcounters::Interrupt;

use super::flags::ProjectFlags;
use super::record::Build;

/// The variant with the project's flags.
pub const DEFAULT: &str = "default";
/// The variant with the flags of the peer's own build files.
pub const OWN_FLAGS: &str = "own-flags";

/// Where and with which flags peers are built.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// The absolute folder for what is built.
    pub output: &'a Path,
    /// The project's flags.
    pub flags: &'a ProjectFlags,
    /// The environment of cargo: another compiler, or changes to the profile.
    pub environment: &'a [(String, String)],
    /// The batch sizes.
    pub batches: &'a [u32],
    /// Stops a build.
    pub interrupt: &'a Interrupt,
}

impl Workshop<'_> {
    /// The folder of one driver in one variant.
    pub fn folder(&self, implementation: &str, variant: &str) -> PathBuf {
        self.output.join(implementation).join(variant)
    }
}

/// A driver in one variant, as a builder hands it over.
#[derive(Debug)]
pub struct Built {
    /// The compiler and its flags.
    pub toolchain: String,
    /// One program for each batch size.
    pub builds: Vec<Build>,
}

/// A program that takes the addresses of both ports as its arguments, as ixy and ixy.rs do.
pub fn two_ports(batch: u32, change: Option<String>, program: PathBuf, ring_size: u32) -> Build {
    Build {
        batch,
        change,
        program,
        args: vec!["{port0}".to_owned(), "{port1}".to_owned()],
        env: BTreeMap::new(),
        ring_size,
    }
}
