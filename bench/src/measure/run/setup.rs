//! The setup of a run: its matrix, the builds and the CPUs.

use std::path::Path;

use anyhow::Result;
use perfcounters::path_of;
use perfcounters::placement::{self, Topology};
use record::{Build, Placement};

use super::config::Config;
use super::matrix::Matrix;
use crate::build::builds::cells::Builds;
use crate::build::builds::peers::Peers;
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::code::machine_code::data_path::with_checks;
use crate::usage::UsageError;

/// The matrix of a run, the builds to measure, and the CPUs to run on.
pub(super) struct RunSetup {
    pub(super) matrix: Matrix,
    pub(super) builds: Builds,
    pub(super) placement: Placement,
}

impl RunSetup {
    pub(super) fn new(config: &Config, build: &Path) -> Result<Self> {
        let peers = Peers::read(build).map_err(UsageError)?;
        let matrix = Matrix::new(config, build, &peers).map_err(UsageError::from)?;
        let builds = Builds::describe(build, &matrix.drivers(), peers);
        let node = config
            .devices
            .as_ref()
            .and_then(|[device, _]| placement::node_of_device(device));
        Ok(Self {
            builds,
            matrix,
            placement: Topology::here().choose(node),
        })
    }

    /// The builds, with the number of checks in their machine code.
    pub(super) fn described(&self, build_dir: &Path) -> Vec<Build> {
        let described = self.builds.all().into_iter().map(|build| {
            // Only the functions of the default path are counted.
            let default = path_of(&build.variant) == path_of(DEFAULT);
            if build.implementation.is_peer() || !default {
                return build;
            }
            let folder = build_folder(build_dir, build.implementation, &build.variant);
            with_checks(build, &folder.join("ixgbe-fwd"))
        });
        described.collect()
    }
}
