//! The cells of a matrix, and where the drivers' builds are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perfcounters::host::short_toolchain;
use perfcounters::process::is_executable;
use perfcounters::record::{Build, Implementation, DEFAULT_FRAME_SIZE, DEFAULT_RING_SIZE};
use perfcounters::Cell;

use crate::cli::BackendChoice;
use crate::config::{fits, Batch, Block, Config, ConfigError, FrameSize, RingSize, Within};

/// Variant that every driver is built in.
pub const DEFAULT: &str = "default";
/// Variant in which Rust's arithmetic is checked; C has none.
pub const OVERFLOW_CHECKS: &str = "overflow-checks";
/// Variant in which the compiler checks C's array indices and signed arithmetic.
pub const SANITIZED: &str = "sanitized";
/// Variant in which C is built as distributions do, with its own safety nets.
pub const FORTIFIED: &str = "fortified";
/// Variant without optimisation over the whole program.
pub const NO_LTO: &str = "no-lto";

/// The variants that `make variants` builds, and the default, in the order of tables.
pub const VARIANTS: [&str; 5] = [DEFAULT, OVERFLOW_CHECKS, SANITIZED, FORTIFIED, NO_LTO];

/// Whether a driver is built in a variant. One that the Makefile knows nothing of exists where
/// somebody has put it.
fn exists(build: &Path, implementation: Implementation, variant: &str) -> bool {
    match (variant, implementation) {
        (DEFAULT | NO_LTO, _) => true,
        (OVERFLOW_CHECKS, implementation) => implementation != Implementation::C,
        (SANITIZED | FORTIFIED, implementation) => implementation == Implementation::C,
        _ => build_folder(build, implementation, variant).is_dir(),
    }
}

/// A driver, built one way.
pub type Driver = (Implementation, String);

/// What a driver is measured under.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Packets asked for per receive call.
    pub batch: Batch,
    /// Descriptors per ring.
    pub ring_size: RingSize,
    /// Bytes of a frame without its CRC.
    pub frame_size: FrameSize,
}

impl Default for Conditions {
    /// The paper's.
    fn default() -> Self {
        Self {
            batch: Within(32),
            ring_size: RingSize(DEFAULT_RING_SIZE),
            frame_size: Within(DEFAULT_FRAME_SIZE),
        }
    }
}

/// The cells of a matrix, but for what is known only when measuring.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Under saturating load: for each backend, the drivers under the conditions.
    pub saturating: Vec<(BackendChoice, Vec<Compared>)>,
    /// Under given loads, of which latency is measured.
    pub loaded: Vec<(Conditions, Load, Vec<Driver>)>,
}

/// Drivers that are compared: under the same conditions.
pub type Compared = (Conditions, Vec<Driver>);

/// How much is offered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// So many million frames per second, both directions together.
    Mpps(f64),
    /// Such a share of what the slowest of the drivers carries.
    Fraction(f64),
}

impl Matrix {
    /// The cross products of all blocks, each cell once. What is compared (drivers under the same
    /// conditions) stands together.
    ///
    /// # Errors
    /// [`ConfigError::Nothing`] if a variant is unknown, or exists of none of the drivers.
    pub fn new(config: &Config, build: &Path) -> Result<Self, ConfigError> {
        let mut matrix = Self {
            saturating: Vec::new(),
            loaded: Vec::new(),
        };
        for block in &config.blocks {
            check_variants(block, build)?;
            let drivers = drivers(block, build);
            for conditions in conditions(block) {
                if !block.is_loaded() {
                    for backend in &block.backends {
                        matrix.add(*backend, conditions, &drivers);
                    }
                    continue;
                }
                if !block.load_fractions.is_empty() {
                    matrix.add(BackendChoice::Wall, conditions, &drivers);
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
        groups.for_each(|drivers| drivers.sort_by_key(in_tables));
        match matrix.drivers().is_empty() {
            true => Err(ConfigError::Nothing(
                "none of the drivers is built in one of these variants".to_owned(),
            )),
            false => Ok(matrix),
        }
    }

    fn add(&mut self, backend: BackendChoice, conditions: Conditions, drivers: &[Driver]) {
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

    /// All drivers that are measured.
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
        all.sort_by_key(in_tables);
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

/// Where a driver stands in tables.
fn in_tables(driver: &Driver) -> (Implementation, usize, String) {
    let place = VARIANTS.iter().position(|variant| *variant == driver.1);
    (driver.0, place.unwrap_or(VARIANTS.len()), driver.1.clone())
}

fn conditions(block: &Block) -> Vec<Conditions> {
    let mut all = Vec::new();
    for frame_size in &block.frame_size {
        for ring_size in &block.ring_size {
            for batch in &block.batch {
                let conditions = Conditions {
                    batch: *batch,
                    ring_size: *ring_size,
                    frame_size: *frame_size,
                };
                if fits(*batch, *ring_size) && !all.contains(&conditions) {
                    all.push(conditions);
                }
            }
        }
    }
    all
}

fn drivers(block: &Block, build: &Path) -> Vec<Driver> {
    block
        .implementations
        .iter()
        .flat_map(|implementation| {
            block
                .variants
                .iter()
                .filter(|variant| exists(build, *implementation, variant))
                .map(|variant| (*implementation, variant.clone()))
        })
        .collect()
}

fn check_variants(block: &Block, build: &Path) -> Result<(), ConfigError> {
    for variant in &block.variants {
        let known = VARIANTS.contains(&variant.as_str())
            || (!variant.contains('/') && build.join("variants").join(variant).is_dir());
        if !known {
            return Err(ConfigError::Nothing(format!(
                "there is no variant {variant:?}: it is none of {}, and there is no folder {}",
                VARIANTS.join(", "),
                build.join("variants").join(variant).display()
            )));
        }
    }
    Ok(())
}

/// The builds of the drivers, by driver.
#[derive(Debug, Clone)]
pub struct Builds {
    folder: PathBuf,
    builds: BTreeMap<Driver, Build>,
}

impl Builds {
    /// Finds out what each was built with.
    pub fn describe(folder: &Path, drivers: &[Driver]) -> Self {
        let describe = |driver: &Driver| {
            let build = describe_build(folder, driver.0, &driver.1);
            (driver.clone(), build)
        };
        Self {
            folder: folder.to_owned(),
            builds: drivers.iter().map(describe).collect(),
        }
    }

    /// All of them, in the order of tables.
    pub fn all(&self) -> Vec<Build> {
        let mut drivers: Vec<_> = self.builds.iter().collect();
        drivers.sort_by_key(|(driver, _)| in_tables(driver));
        drivers
            .into_iter()
            .map(|(_, build)| build.clone())
            .collect()
    }

    /// The cells of some drivers under the same conditions.
    pub fn cells(
        &self,
        conditions: Conditions,
        offered_mpps: Option<f64>,
        drivers: &[Driver],
    ) -> Vec<Cell> {
        drivers
            .iter()
            .filter_map(|driver| self.builds.get(driver))
            .map(|build| Cell {
                offered_mpps,
                ..cell(&self.folder, build, conditions)
            })
            .collect()
    }
}

/// Folder with the artefacts of one driver.
pub fn build_folder(build: &Path, implementation: Implementation, variant: &str) -> PathBuf {
    let parent = match variant {
        DEFAULT => build.join("bin"),
        variant => build.join("variants").join(variant),
    };
    parent.join(implementation.to_string())
}

/// What a driver was built with, as its build wrote it down.
pub fn describe_build(build: &Path, implementation: Implementation, variant: &str) -> Build {
    // A variant that left no note of its own was built by the same compiler as the default.
    let flags = [variant, DEFAULT]
        .iter()
        .map(|variant| build_folder(build, implementation, variant).join("toolchain.txt"))
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.lines().next().unwrap_or("").trim().to_owned())
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| "unknown".to_owned());
    Build {
        implementation,
        variant: variant.to_owned(),
        toolchain: short_toolchain(&flags),
        flags,
        checks_in_loops: BTreeMap::new(),
        checks_not_counted: None,
    }
}

/// The cell of a build under saturating load.
pub fn cell(build: &Path, row: &Build, conditions: Conditions) -> Cell {
    let folder = build_folder(build, row.implementation, &row.variant);
    Cell {
        implementation: row.implementation,
        variant: row.variant.clone(),
        toolchain: row.toolchain.clone(),
        batch: conditions.batch.0,
        ring_size: conditions.ring_size.0,
        frame_size: conditions.frame_size.0,
        offered_mpps: None,
        program: folder.join("ixgbe-fwd"),
        library: folder.join("libforwarder.so"),
    }
}

/// What is missing to measure a cell, with what to do about it.
pub fn missing(cell: &Cell, needs_library: bool) -> Option<String> {
    let artefact = match needs_library {
        true => &cell.library,
        false => &cell.program,
    };
    let there = match needs_library {
        true => artefact.is_file(),
        false => is_executable(artefact),
    };
    (!there).then(|| {
        format!(
            "{} is not there: build it with `make build variants`",
            artefact.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Fraction, Mpps};
    use Implementation::{Rust, RustUnsafe, C};

    fn names(drivers: &[Driver]) -> Vec<String> {
        drivers
            .iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    fn matrix(blocks: Vec<Block>) -> Result<Matrix, ConfigError> {
        Matrix::new(&Config::new(blocks), Path::new("/nonexistent"))
    }

    fn variants(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn variants_are_taken_of_all_that_can_have_them() {
        let block = Block {
            variants: variants(&VARIANTS),
            backends: vec![BackendChoice::Wall],
            ..Block::default()
        };
        let all = matrix(vec![block]).unwrap();
        assert_eq!(
            names(&all.drivers()),
            [
                "c/default",
                "c/sanitized",
                "c/fortified",
                "c/no-lto",
                "rust/default",
                "rust/overflow-checks",
                "rust/no-lto",
                "rust-unsafe/default",
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
    fn a_variant_of_ones_own_is_a_folder() {
        let build = tempfile::tempdir().unwrap();
        let config = Config::new(vec![Block {
            variants: variants(&["clang"]),
            ..Block::default()
        }]);
        let error = Matrix::new(&config, build.path()).unwrap_err().to_string();
        assert!(
            error.contains("\"clang\"") && error.contains("no-lto"),
            "{error}"
        );
        std::fs::create_dir_all(build.path().join("variants/clang/c")).unwrap();
        let drivers = Matrix::new(&config, build.path()).unwrap().drivers();
        assert_eq!(names(&drivers), ["c/clang"]);
    }

    #[test]
    fn blocks_are_products_and_do_not_multiply_with_each_other() {
        let blocks = vec![
            Block {
                backends: vec![BackendChoice::Wall, BackendChoice::Lockstep],
                batch: vec![Within(32), Within(8)],
                ..Block::default()
            },
            Block {
                implementations: vec![Rust, C],
                backends: vec![BackendChoice::Wall],
                variants: variants(&[DEFAULT, FORTIFIED]),
                ring_size: vec![RingSize(64), RingSize(512)],
                frame_size: vec![Within(60), Within(1514)],
                batch: vec![Within(32), Within(64)],
                ..Block::default()
            },
        ];
        let matrix = matrix(blocks).unwrap();
        let backends: Vec<_> = matrix.saturating.iter().map(|(name, _)| *name).collect();
        assert_eq!(backends, [BackendChoice::Lockstep, BackendChoice::Wall]);
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
            .any(|(there, _)| there.batch.0 == 64 && there.ring_size.0 == 64));
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
        assert_eq!(shares.saturating[0].0, BackendChoice::Wall);
        assert_eq!(shares.saturating[0].1[0].0, Conditions::default());
    }

    #[test]
    fn builds_are_found_by_variant() {
        let build = Path::new("build");
        assert_eq!(build_folder(build, C, DEFAULT), Path::new("build/bin/c"));
        assert_eq!(
            build_folder(build, RustUnsafe, OVERFLOW_CHECKS),
            Path::new("build/variants/overflow-checks/rust-unsafe")
        );
    }

    #[test]
    fn a_variant_without_a_note_has_the_defaults_compiler() {
        let build = tempfile::tempdir().unwrap();
        assert_eq!(
            describe_build(build.path(), Rust, OVERFLOW_CHECKS).toolchain,
            "unknown"
        );
        let folder = build_folder(build.path(), Rust, DEFAULT);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("toolchain.txt"),
            "rustc 1.95.0 -C opt-level=3\n",
        )
        .unwrap();
        let described = describe_build(build.path(), Rust, OVERFLOW_CHECKS);
        assert_eq!(described.toolchain, "rustc 1.95.0");
        assert_eq!(described.flags, "rustc 1.95.0 -C opt-level=3");
    }

    #[test]
    fn what_is_missing_is_named() {
        let build = tempfile::tempdir().unwrap();
        let row = describe_build(build.path(), C, DEFAULT);
        let cell = cell(build.path(), &row, Conditions::default());
        let text = missing(&cell, false).unwrap();
        assert!(
            text.contains("bin/c/ixgbe-fwd") && text.contains("make"),
            "{text}"
        );
        assert!(missing(&cell, true).unwrap().contains("libforwarder.so"));
    }
}
