//! The measurements that the command line selects.

use record::Implementation;

use super::arguments::RunArguments;
use super::config::{Block, Config, ConfigError};
use crate::builds::variants::{DEFAULT, OVERFLOW_CHECKS};
use crate::settings::values::BoundedInteger;

/// The configuration that the command line selects: a file, or the rows of the counter table.
pub(super) fn configuration(arguments: &RunArguments) -> Result<Config, ConfigError> {
    let filter = arguments.matrix_filter();
    let mut config = match &arguments.config {
        Some(path) => {
            let mut config = Config::read(path)?;
            config.apply_filter(&filter)?;
            config
        }
        None => Config::new(table_rows(arguments)),
    };
    if arguments.quick {
        config.make_quick();
    }
    if let Some(repeats) = arguments.repeats {
        config.set_repeats(BoundedInteger(repeats));
    }
    config.check()?;
    Ok(config)
}

/// The blocks of the counter table, restricted to the named values. Without named variants, these
/// are the default variant of all drivers, and safe Rust with overflow checks.
fn table_rows(arguments: &RunArguments) -> Vec<Block> {
    fn or_default<T: Clone>(named: &[T], default: Vec<T>) -> Vec<T> {
        match named {
            [] => default,
            named => named.to_vec(),
        }
    }
    let named = arguments.matrix_filter();
    let default = Block::default();
    let block = Block {
        backends: or_default(&named.backends, default.backends),
        implementations: or_default(&named.implementations, default.implementations),
        variants: or_default(&named.variants, default.variants),
        batch: or_default(&named.batch, vec![BoundedInteger(32), BoundedInteger(8)]),
        ring_size: or_default(&named.ring_size, default.ring_size),
        frame_size: or_default(&named.frame_size, default.frame_size),
        ..Block::default()
    };
    let checked = Block {
        implementations: vec![Implementation::Rust],
        variants: vec![OVERFLOW_CHECKS.to_owned()],
        ..block.clone()
    };
    let with_checks = named.variants.is_empty()
        && block.implementations.contains(&Implementation::Rust)
        && block.variants == [DEFAULT];
    match with_checks {
        true => vec![block, checked],
        false => vec![block],
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use std::path::Path;

    use super::super::matrix::Matrix;
    use record::BackendName;

    fn arguments(words: &[&str]) -> RunArguments {
        let words = ["triptych", "run"].iter().chain(words);
        match crate::cli::Cli::parse_from(words).command {
            crate::cli::Command::Run(run) => *run,
            _ => panic!("not run"),
        }
    }

    fn drivers(words: &[&str]) -> Vec<String> {
        let config = configuration(&arguments(words)).unwrap();
        let matrix = Matrix::new(&config, Path::new("/nonexistent")).unwrap();
        matrix
            .drivers()
            .iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    #[test]
    fn the_rows_of_the_counter_table_are_the_default() {
        assert_eq!(
            drivers(&[]),
            [
                "c/default",
                "rust/default",
                "rust/overflow-checks",
                "rust-unsafe/default"
            ]
        );
        assert_eq!(drivers(&["--impl", "c"]), ["c/default"]);
        assert_eq!(
            drivers(&["--impl", "rust", "--variant", "default"]),
            ["rust/default"]
        );
        assert_eq!(
            drivers(&[
                "--variant",
                "default,overflow-checks",
                "--impl",
                "c,rust-unsafe,c"
            ]),
            [
                "c/default",
                "rust-unsafe/default",
                "rust-unsafe/overflow-checks"
            ]
        );
        let config = configuration(&arguments(&[])).unwrap();
        assert_eq!(
            config.blocks[0].batch,
            [BoundedInteger(32), BoundedInteger(8)]
        );
    }

    #[test]
    fn options_change_a_configuration() {
        let config = configuration(&arguments(&[
            "--quick",
            "--repeats",
            "7",
            "--ring-size",
            "64",
            "--batch",
            "8",
            "--backend",
            "wall",
        ]))
        .unwrap();
        assert_eq!(config.wall.repeats.0, 7);
        assert_eq!(config.lockstep.sessions.0, 1);
        assert_eq!(config.blocks[0].ring_size.len(), 1);
        assert_eq!(config.blocks[0].backends, [BackendName::Wall]);
    }
}
