//! Expands the blocks of a configuration into the cells of a matrix.

use std::collections::BTreeMap;
use std::path::Path;

use record::{BackendName, Conditions, SkippedPeer};

use super::config::{fits, nothing, Block, Config};
use crate::build::builds::variants::{exists, table_order, Driver, PEER_VARIANTS, VARIANTS};
use crate::build::peers::record::Peers;
use crate::usage::UsageError;

/// The cells of a matrix. Loads that are shares of the capacity become known during the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Matrix {
    /// The cells under saturating load, by backend.
    pub saturating: BTreeMap<BackendName, Vec<Compared<Conditions>>>,
    /// The cells under a given load, for latency.
    pub loaded: Vec<Compared<(Conditions, Load)>>,
    pub skipped_peers: Vec<SkippedPeer>,
}

/// Drivers that are measured under the same conditions, to be compared.
pub(super) type Compared<C> = (C, Vec<Driver>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Load {
    /// Million packets per second, both directions together.
    Mpps(f64),
    /// A share of the throughput of the slowest driver.
    Fraction(f64),
}

impl Matrix {
    /// Expands all blocks. Each cell occurs once, and drivers under the same conditions stand
    /// together.
    pub fn new(config: &Config, build: &Path, peers: &Peers) -> Result<Self, UsageError> {
        let mut matrix = Self::default();
        for block in &config.blocks {
            check_variants(block, build)?;
            for skipped in products(block).filter_map(|driver| peers.skipped(&driver)) {
                if !matrix.skipped_peers.contains(&skipped) {
                    matrix.skipped_peers.push(skipped);
                }
            }
            let drivers = drivers(block, build, peers);
            let mut backends = block.backends.as_slice();
            if block.is_loaded() {
                // A share of the capacity needs the capacity.
                let capacity = !block.load_fractions.is_empty();
                backends = if capacity { &[BackendName::Wall] } else { &[] };
            }
            let absolute = block.loads_mpps.iter().copied().map(Load::Mpps);
            let shares = block.load_fractions.iter().copied().map(Load::Fraction);
            let loads: Vec<_> = absolute.chain(shares).collect();
            for conditions in conditions(block) {
                for backend in backends {
                    let groups = matrix.saturating.entry(*backend).or_default();
                    add(groups, conditions, &drivers);
                }
                for load in &loads {
                    add(&mut matrix.loaded, (conditions, *load), &drivers);
                }
            }
        }
        if !matrix.drivers().is_empty() {
            return Ok(matrix);
        }
        Err(nothing(&match matrix.skipped_peers.first() {
            None => "no selected driver has any of the selected variants".to_owned(),
            Some(first) => format!(
                "none of the selected drivers is there; {}/{}: {}",
                first.implementation, first.variant, first.reason
            ),
        }))
    }

    pub fn drivers(&self) -> Vec<Driver> {
        let saturating = self.saturating.values().flatten();
        let saturating = saturating.flat_map(|(_, drivers)| drivers);
        let loaded = self.loaded.iter().flat_map(|(_, drivers)| drivers);
        let mut all: Vec<_> = saturating.chain(loaded).cloned().collect();
        all.sort_by_key(table_order);
        all.dedup();
        all
    }
}

/// Adds drivers to those with the same conditions, in the order of tables.
pub(super) fn add<C: PartialEq + Copy>(
    groups: &mut Vec<Compared<C>>,
    conditions: C,
    drivers: &[Driver],
) {
    if !groups.iter().any(|(known, _)| *known == conditions) {
        groups.push((conditions, Vec::new()));
    }
    for (_, group) in groups.iter_mut().filter(|(known, _)| *known == conditions) {
        group.extend_from_slice(drivers);
        group.sort_by_key(table_order);
        group.dedup();
    }
}

fn product<A: Copy, B: Copy>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
    pairs.collect()
}

fn conditions(block: &Block) -> Vec<Conditions> {
    let mut all = Vec::new();
    let several = product(&block.queues, &block.waiting);
    for (frame_size, ring_size) in product(&block.frame_size, &block.ring_size) {
        for (batch, (queues, waiting)) in product(&block.batch, &several) {
            let conditions = Conditions {
                ring_size,
                frame_size,
                queues,
                waiting,
                ..Conditions::with_batch(batch)
            };
            if fits(batch, ring_size) && !all.contains(&conditions) {
                all.push(conditions);
            }
        }
    }
    all
}

fn drivers(block: &Block, build: &Path, peers: &Peers) -> Vec<Driver> {
    let there = |driver: &Driver| peers.has(driver) || exists(build, driver.0, &driver.1);
    products(block).filter(there).collect()
}

/// Each driver of a block with each variant, also those that do not exist.
fn products(block: &Block) -> impl Iterator<Item = Driver> + '_ {
    block.implementations.iter().flat_map(|implementation| {
        let variants = block.variants.iter();
        variants.map(|variant| (*implementation, variant.clone()))
    })
}

fn check_variants(block: &Block, build: &Path) -> Result<(), UsageError> {
    for variant in &block.variants {
        let known = VARIANTS.contains(&variant.as_str())
            || PEER_VARIANTS.contains(&variant.as_str())
            || (!variant.contains('/') && build.join("variants").join(variant).is_dir());
        if !known {
            return Err(nothing(&format!(
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
    use crate::build::builds::variants::{DEFAULT, FORTIFIED};
    use record::Implementation;
    use Implementation::{Rust, RustUnsafe, C};

    fn names(drivers: &[Driver]) -> String {
        let names = drivers
            .iter()
            .map(|(driver, variant)| format!("{driver}/{variant}"));
        names.collect::<Vec<_>>().join(" ")
    }

    fn matrix(blocks: Vec<Block>) -> Result<Matrix, UsageError> {
        let nowhere = Path::new("/nonexistent");
        Matrix::new(&Config::new(blocks), nowhere, &Peers::default())
    }

    fn variants(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_driver_is_measured_in_the_variants_that_it_has() {
        let block = Block {
            variants: variants(&VARIANTS),
            ..Block::default()
        };
        assert_eq!(
            names(&matrix(vec![block]).unwrap().drivers()),
            "c/default c/stride c/tuned c/agent c/trapping-ubsan c/fortified c/no-lto \
             rust/default rust/stride rust/tuned rust/agent rust/overflow-checks rust/trusted-device \
             rust/untrusted-device-copy rust/no-lto rust-unsafe/default rust-unsafe/stride \
             rust-unsafe/tuned rust-unsafe/overflow-checks rust-unsafe/no-lto"
        );
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
        assert_eq!(names(&new().unwrap().drivers()), "c/clang");
    }

    #[test]
    fn blocks_are_products_and_do_not_multiply_with_each_other() {
        let blocks = vec![
            Block {
                backends: vec![BackendName::Wall, BackendName::Lockstep],
                batch: vec![32, 8],
                ..Block::default()
            },
            Block {
                implementations: vec![Rust, C],
                backends: vec![BackendName::Wall],
                variants: variants(&[DEFAULT, FORTIFIED]),
                ring_size: vec![64, 512],
                frame_size: vec![60, 1514],
                batch: vec![32, 64],
                ..Block::default()
            },
        ];
        let matrix = matrix(blocks).unwrap();
        assert!(matrix
            .saturating
            .keys()
            .eq(&[BackendName::Lockstep, BackendName::Wall]));
        assert_eq!(matrix.saturating[&BackendName::Lockstep].len(), 2);
        let wall = &matrix.saturating[&BackendName::Wall];
        // Both of the first block; of the second, batch 64 and ring 64 do not go together, and one
        // is the first block's.
        assert_eq!(wall.len(), 2 + 6 - 1);
        let usual = |group: &&Compared<_>| group.0 == Conditions::default();
        let usual = wall.iter().find(usual);
        assert_eq!(
            names(&usual.unwrap().1),
            "c/default c/fortified rust/default rust-unsafe/default"
        );
        let too_large = |there: &Conditions| there.batch == 64 && there.ring_size == 64;
        assert!(!wall.iter().any(|(there, _)| too_large(there)));
    }

    #[test]
    fn shares_of_the_capacity_need_the_capacity() {
        let block = Block {
            implementations: vec![C, RustUnsafe],
            loads_mpps: vec![1.0],
            ..Block::default()
        };
        let given = matrix(vec![block.clone()]).unwrap();
        assert!(given.saturating.is_empty());
        assert_eq!(given.loaded.len(), 1);
        let shares = Block {
            load_fractions: vec![0.5, 0.9],
            ..block
        };
        let shares = matrix(vec![shares]).unwrap();
        assert_eq!(shares.loaded.len(), 3);
        assert!(shares.saturating.keys().eq(&[BackendName::Wall]));
    }
}
