//! What a comparison measured of a build.

use std::path::Path;

use record::{BackendName, Metric, SAMPLES_FILE};

use crate::build::sides::side::DriverBuild;

/// Instructions per packet of a build, and where they were counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Packets asked for per receive call.
    pub batch: u32,
    /// Instructions per packet.
    pub instructions: f64,
    /// The comparison: the name of its folder.
    pub comparison: String,
}

/// The instructions per packet in the newest comparison that has the build, at each batch size. A
/// build with further flags or of a commit is in no comparison.
pub fn instructions(results: &Path, driver: &DriverBuild) -> Vec<Measured> {
    if !driver.flags.is_empty() || driver.commit.is_some() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(results) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "latest")
        .collect();
    // The names start with the time.
    names.sort();
    for name in names.into_iter().rev() {
        let Ok(samples) = record::read_samples(&results.join(&name).join(SAMPLES_FILE)) else {
            continue;
        };
        let found: Vec<Measured> = samples
            .iter()
            .filter(|sample| {
                sample.implementation == driver.implementation
                    && sample.variant == driver.recipe.variant
                    && sample.metric == Metric::Instructions
                    && sample.backend == BackendName::Valgrind
            })
            .map(|sample| Measured {
                batch: sample.conditions.batch,
                instructions: sample.value,
                comparison: name.clone(),
            })
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}
