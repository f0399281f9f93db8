//! Expands the blocks of a configuration into the cells of a matrix.

use std::path::Path;

use record::{BackendName, Conditions, SkippedPeer};

use crate::build::builds::peers::Peers;
use crate::build::builds::variants::{exists, table_order, Driver, PEER_VARIANTS, VARIANTS};

use super::config::{fits, Block, Config, ConfigError};

/// The cells of a matrix. Loads that are shares of the capacity become known during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The cells under saturating load, by backend.
    pub saturating: Vec<(BackendName, Vec<ComparedDrivers>)>,
    /// The cells under a given load, for latency.
    pub loaded: Vec<(Conditions, Load, Vec<Driver>)>,
    /// Selected peers that are not built.
    pub skipped_peers: Vec<SkippedPeer>,
}

/// Drivers that are measured under the same conditions, to be compared.
pub type ComparedDrivers = (Conditions, Vec<Driver>);

/// An offered load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Million packets per second, both directions together.
    Mpps(f64),
    /// A share of the throughput of the slowest driver.
    Fraction(f64),
}

impl Matrix {
    /// Expands all blocks. Each cell occurs once, and drivers under the same conditions stand
    /// together.
    ///
    /// # Errors
    /// [`ConfigError::Nothing`] if a variant is unknown, or no driver has any of the variants.
    pub fn new(config: &Config, build: &Path, peers: &Peers) -> Result<Self, ConfigError> {
        let mut matrix = Self {
            saturating: Vec::new(),
            loaded: Vec::new(),
            skipped_peers: Vec::new(),
        };
        for block in &config.blocks {
            check_variants(block, build)?;
            matrix.note_skipped(block, peers);
            let drivers = drivers(block, build, peers);
            for conditions in conditions(block) {
                if !block.is_loaded() {
                    for backend in &block.backends {
                        matrix.add(*backend, conditions, &drivers);
                    }
                    continue;
                }
                if !block.load_fractions.is_empty() {
                    matrix.add(BackendName::Wall, conditions, &drivers);
                }
                let loads = block
                    .loads_mpps
                    .iter()
                    .map(|load| Load::Mpps(load.0))
                    .chain(
                        block
                            .load_fractions
                            .iter()
                            .map(|part| Load::Fraction(part.0)),
                    );
                for load in loads {
                    matrix.add_loaded(conditions, load, &drivers);
                }
            }
        }
        matrix.saturating.sort_by_key(|(backend, _)| *backend);
        let groups = matrix
            .saturating
            .iter_mut()
            .flat_map(|(_, cells)| cells.iter_mut().map(|(_, drivers)| drivers))
            .chain(matrix.loaded.iter_mut().map(|(_, _, drivers)| drivers));
        groups.for_each(|drivers| drivers.sort_by_key(table_order));
        match matrix.drivers().is_empty() {
            true => Err(ConfigError::Nothing(matrix.why_nothing())),
            false => Ok(matrix),
        }
    }

    /// Notes the peers of a block that are not built.
    fn note_skipped(&mut self, block: &Block, peers: &Peers) {
        for driver in products(block) {
            if let Some(skipped) = peers.skipped(&driver) {
                if !self.skipped_peers.contains(&skipped) {
                    self.skipped_peers.push(skipped);
                }
            }
        }
    }

    fn why_nothing(&self) -> String {
        match self.skipped_peers.first() {
            None => "no selected driver has any of the selected variants".to_owned(),
            Some(first) => format!(
                "none of the selected drivers is there; {}/{}: {}",
                first.implementation, first.variant, first.reason
            ),
        }
    }

    fn add(&mut self, backend: BackendName, conditions: Conditions, drivers: &[Driver]) {
        let cells = match self
            .saturating
            .iter_mut()
            .find(|(name, _)| *name == backend)
        {
            Some((_, cells)) => cells,
            None => {
                self.saturating.push((backend, Vec::new()));
                match self.saturating.last_mut() {
                    Some((_, cells)) => cells,
                    None => return,
                }
            }
        };
        match cells.iter_mut().find(|(known, _)| *known == conditions) {
            Some((_, known)) => merge(known, drivers),
            None => cells.push((conditions, drivers.to_vec())),
        }
    }

    fn add_loaded(&mut self, conditions: Conditions, load: Load, drivers: &[Driver]) {
        let known = self
            .loaded
            .iter_mut()
            .find(|(there, offered, _)| (*there, *offered) == (conditions, load));
        match known {
            Some((_, _, known)) => merge(known, drivers),
            None => self.loaded.push((conditions, load, drivers.to_vec())),
        }
    }

    /// All drivers of the matrix, each once.
    pub fn drivers(&self) -> Vec<Driver> {
        let mut all = Vec::new();
        for (_, cells) in &self.saturating {
            for (_, drivers) in cells {
                merge(&mut all, drivers);
            }
        }
        for (_, _, drivers) in &self.loaded {
            merge(&mut all, drivers);
        }
        all.sort_by_key(table_order);
        all
    }
}

fn merge(known: &mut Vec<Driver>, more: &[Driver]) {
    for driver in more {
        if !known.contains(driver) {
            known.push(driver.clone());
        }
    }
}

fn product<A: Copy, B: Copy>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
    pairs.collect()
}

fn conditions(block: &Block) -> Vec<Conditions> {
    let mut all = Vec::new();
    for frame_size in &block.frame_size {
        for ring_size in &block.ring_size {
            let several = product(&block.queues, &block.waiting);
            for (batch, (queues, waiting)) in product(&block.batch, &several) {
                let conditions = Conditions {
                    batch: batch.0,
                    ring_size: ring_size.0,
                    frame_size: frame_size.0,
                    offered_mpps: None,
                    queues: queues.0,
                    waiting,
                    placement: None,
                };
                if fits(batch, *ring_size) && !all.contains(&conditions) {
                    all.push(conditions);
                }
            }
        }
    }
    all
}

fn drivers(block: &Block, build: &Path, peers: &Peers) -> Vec<Driver> {
    let there = |driver: &Driver| match driver.0.is_peer() {
        true => peers.has(driver),
        false => exists(build, driver.0, &driver.1),
    };
    products(block).filter(there).collect()
}

/// Each driver of a block with each variant, also those that do not exist.
fn products(block: &Block) -> impl Iterator<Item = Driver> + '_ {
    block.implementations.iter().flat_map(|implementation| {
        let variants = block.variants.iter();
        variants.map(|variant| (*implementation, variant.clone()))
    })
}

fn check_variants(block: &Block, build: &Path) -> Result<(), ConfigError> {
    for variant in &block.variants {
        let known = VARIANTS.contains(&variant.as_str())
            || PEER_VARIANTS.contains(&variant.as_str())
            || (!variant.contains('/') && build.join("variants").join(variant).is_dir());
        if !known {
            return Err(ConfigError::Nothing(format!(
                "there is no variant {variant:?}: use {} or a folder {}",
                VARIANTS.join(", "),
                build.join("variants").join(variant).display()
            )));
        }
    }
    Ok(())
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::builds::variants::{DEFAULT, FORTIFIED, OVERFLOW_CHECKS};
    use crate::measure::settings::values::{BoundedInteger, RingSize};
    use crate::measure::settings::values::{Fraction, Mpps};
    use record::Implementation;
    use Implementation::{Rust, RustUnsafe, C};

    fn names(drivers: &[Driver]) -> Vec<String> {
        drivers
            .iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    fn matrix(blocks: Vec<Block>) -> Result<Matrix, ConfigError> {
        Matrix::new(
            &Config::new(blocks),
            Path::new("/nonexistent"),
            &Peers::default(),
        )
    }

    fn variants(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_driver_is_measured_in_the_variants_that_it_has() {
        let block = Block {
            variants: variants(&VARIANTS),
            backends: vec![BackendName::Wall],
            ..Block::default()
        };
        let all = matrix(vec![block]).unwrap();
        assert_eq!(
            names(&all.drivers()),
            [
                "c/default",
                "c/stride",
                "c/tuned",
                "c/agent",
                "c/trapping-ubsan",
                "c/fortified",
                "c/no-lto",
                "rust/default",
                "rust/stride",
                "rust/tuned",
                "rust/agent",
                "rust/overflow-checks",
                "rust/trusted-device",
                "rust/untrusted-device-copy",
                "rust/no-lto",
                "rust-unsafe/default",
                "rust-unsafe/stride",
                "rust-unsafe/tuned",
                "rust-unsafe/overflow-checks",
                "rust-unsafe/no-lto"
            ]
        );
        let block = Block {
            implementations: vec![C],
            variants: variants(&[OVERFLOW_CHECKS]),
            ..Block::default()
        };
        assert!(matrix(vec![block]).is_err());
    }

    #[test]
    fn a_folder_defines_a_new_variant() {
        let build = tempfile::tempdir().unwrap();
        let config = Config::new(vec![Block {
            variants: variants(&["clang"]),
            ..Block::default()
        }]);
        let new = || Matrix::new(&config, build.path(), &Peers::default());
        let error = new().unwrap_err().to_string();
        assert!(
            error.contains("\"clang\"") && error.contains("no-lto"),
            "{error}"
        );
        std::fs::create_dir_all(build.path().join("variants/clang/c")).unwrap();
        let drivers = new().unwrap().drivers();
        assert_eq!(names(&drivers), ["c/clang"]);
    }

    #[test]
    fn blocks_are_products_and_do_not_multiply_with_each_other() {
        let blocks = vec![
            Block {
                backends: vec![BackendName::Wall, BackendName::Lockstep],
                batch: vec![BoundedInteger(32), BoundedInteger(8)],
                ..Block::default()
            },
            Block {
                implementations: vec![Rust, C],
                backends: vec![BackendName::Wall],
                variants: variants(&[DEFAULT, FORTIFIED]),
                ring_size: vec![RingSize(64), RingSize(512)],
                frame_size: vec![BoundedInteger(60), BoundedInteger(1514)],
                batch: vec![BoundedInteger(32), BoundedInteger(64)],
                ..Block::default()
            },
        ];
        let matrix = matrix(blocks).unwrap();
        let backends: Vec<_> = matrix.saturating.iter().map(|(name, _)| *name).collect();
        assert_eq!(backends, [BackendName::Lockstep, BackendName::Wall]);
        assert_eq!(matrix.saturating[0].1.len(), 2);
        let wall = &matrix.saturating[1].1;
        // Both of the first block; of the second, batch 64 and ring 64 do not go together, and one
        // is the first block's.
        assert_eq!(wall.len(), 2 + 6 - 1);
        let usual = wall
            .iter()
            .find(|(conditions, _)| *conditions == Conditions::default())
            .unwrap();
        assert_eq!(
            names(&usual.1),
            [
                "c/default",
                "c/fortified",
                "rust/default",
                "rust-unsafe/default"
            ]
        );
        assert!(!wall
            .iter()
            .any(|(there, _)| there.batch == 64 && there.ring_size == 64));
    }

    #[test]
    fn shares_of_the_capacity_need_the_capacity() {
        let block = Block {
            implementations: vec![C, RustUnsafe],
            loads_mpps: vec![Mpps(1.0)],
            ..Block::default()
        };
        let given = matrix(vec![block.clone()]).unwrap();
        assert!(given.saturating.is_empty());
        assert_eq!(given.loaded.len(), 1);
        let shares = matrix(vec![Block {
            load_fractions: vec![Fraction(0.5), Fraction(0.9)],
            ..block
        }])
        .unwrap();
        assert_eq!(shares.loaded.len(), 3);
        assert_eq!(shares.saturating.len(), 1);
        assert_eq!(shares.saturating[0].0, BackendName::Wall);
        assert_eq!(shares.saturating[0].1[0].0, Conditions::default());
    }
}
