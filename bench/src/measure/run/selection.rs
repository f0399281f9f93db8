//! The measurements that the command line selects.

use record::{BackendName, Implementation};

use super::arguments::RunArguments;
use super::card::VFIO_USER;
use super::config::{nothing, Block, Config, COUNTING};
use crate::build::builds::variants::{AGENT, DEFAULT, MAC, OVERFLOW_CHECKS, OWN_FLAGS, TUNED};
use crate::machine::host::address::PciAddress;
use crate::usage::UsageError;

/// The configuration that the command line selects: a file, or the rows of the counter table.
pub(super) fn configuration(arguments: &RunArguments) -> Result<Config, UsageError> {
    let mut config = match &arguments.config {
        Some(path) => Config::parse(path)?,
        None => Config::new(table_rows(arguments)),
    };
    use_card(&mut config, arguments)?;
    config.check()?;
    if arguments.config.is_some() {
        config.apply_filter(&arguments.filter)?;
    }
    if arguments.quick {
        config.make_quick();
    }
    if let Some(repeats) = arguments.repeats {
        config.perf.repeats = repeats;
        config.valgrind.repeats = repeats;
        config.wall.repeats = repeats;
        config.latency.repeats = repeats;
    }
    Ok(config)
}

/// The name of a generator that the user starts.
const NO_GENERATOR: &str = "none";
/// The configuration of the generator that `--generator user@host` runs.
const TESTPMD: &str = "bench/pktgen/testpmd.toml";

/// Takes the ports, the generator and the clocks of the command line.
fn use_card(config: &mut Config, arguments: &RunArguments) -> Result<(), UsageError> {
    match arguments.devices.as_slice() {
        [] => {}
        [first, second] => config.devices = Some([port(first)?, port(second)?]),
        some => {
            return Err(nothing(&format!(
                "--devices names {}, but a forwarder needs two ports, such as \
                 0000:03:00.0,0000:03:00.1",
                some.len()
            )))
        }
    }
    match arguments.generator.as_deref() {
        None => {}
        Some(NO_GENERATOR) => {
            config.pktgen = None;
            config.pktgen_host = None;
        }
        Some(file) if file.ends_with(".toml") => {
            config.pktgen_host = None;
            config.pktgen = Some(file.into());
        }
        Some(host) if host.is_empty() || host.starts_with('-') || host.contains(' ') => {
            return Err(nothing(&format!(
                "--generator {host:?} is none of these: user@host, FILE.toml, {NO_GENERATOR}"
            )));
        }
        Some(host) => {
            config.pktgen = Some(config.pktgen.take().unwrap_or_else(|| TESTPMD.into()));
            config.pktgen_host = Some(host.to_owned());
        }
    }
    if arguments.keep_clock {
        config.clocks_ghz.clear();
    }
    if !arguments.clock.is_empty() {
        config.clocks_ghz = arguments.clock.clone();
    }
    Ok(())
}

/// A port of the command line, with its whole address.
fn port(text: &str) -> Result<String, UsageError> {
    if text.starts_with(VFIO_USER) {
        return Ok(text.to_owned());
    }
    let address = text
        .parse::<PciAddress>()
        .map(|address| address.to_string());
    address.map_err(|error| nothing(&format!("--devices: {error}")))
}

/// The paper's own drivers, which the published table is about. DPDK's take longer to start than all others
/// take to measure, so only a configuration or `--impl` names them.
const OF_THE_PAPER: [Implementation; 3] = [
    Implementation::Ixy,
    Implementation::IxyRs,
    Implementation::IxyC2rust,
];

/// The drivers that bursts time by default: those whose cycles the paper compares. Each process
/// takes seconds, so only a configuration or `--impl` names the others.
const IN_BURSTS: [Implementation; 4] = [
    Implementation::C,
    Implementation::Rust,
    Implementation::Ixy,
    Implementation::IxyRs,
];

/// The blocks of the counter table, restricted to the named values. Without named variants, these
/// are the default variant of all drivers, safe Rust with overflow checks, the counts of the tuned paths,
/// and all variants of the paper's.
fn table_rows(arguments: &RunArguments) -> Vec<Block> {
    let named = &arguments.filter;
    let default = Block::default();
    let row = |backends: &[BackendName], drivers: &[Implementation], variants: &[&str]| {
        let variants: Vec<_> = variants.iter().map(|name| (*name).to_owned()).collect();
        Block {
            backends: backends.to_vec(),
            implementations: drivers.to_vec(),
            variants: or_default(&named.variants, &variants),
            batch: or_default(&named.batch, &[32, 8]),
            ring_size: or_default(&named.ring_size, &default.ring_size),
            frame_size: or_default(&named.frame_size, &default.frame_size),
            ..Block::default()
        }
    };
    let mut backends = or_default(&named.backends, &default.backends);
    let by_default = named.backends.is_empty();
    if by_default && arguments.devices.is_empty() {
        // The software card sets the pace of whole processes, so the table could not show their throughput.
        backends.retain(|name| *name != BackendName::Wall);
    }
    let bursts = by_default || backends.contains(&BackendName::Burst);
    backends.retain(|name| *name != BackendName::Burst);
    let mut of_peers = backends.clone();
    if by_default {
        // Each of these measures our drivers only, or says little of a peer.
        use BackendName::{Lockstep, Valgrind, Wall};
        of_peers.retain(|name| !matches!(name, Valgrind | Lockstep | Wall));
    }
    let ours = named_or(&named.implementations, &Implementation::OURS);
    let all_peers: &[Implementation] = match named.implementations.as_slice() {
        [] => &OF_THE_PAPER,
        _ => &Implementation::PEERS,
    };
    let peers = named_or(&named.implementations, all_peers);
    let timed = or_default(&named.implementations, &IN_BURSTS);

    let mut rows = vec![row(&backends, &ours, &[DEFAULT])];
    if named.variants.is_empty() && ours.contains(&Implementation::Rust) {
        rows.push(row(&backends, &[Implementation::Rust], &[OVERFLOW_CHECKS]));
    }
    if named.variants.is_empty() && backends.contains(&COUNTING) {
        rows.push(row(&[COUNTING], &ours, &[TUNED, AGENT]));
    }
    rows.push(row(&of_peers, &peers, &[DEFAULT, OWN_FLAGS, MAC]));
    if bursts {
        rows.push(row(&[BackendName::Burst], &timed, &[DEFAULT]));
    }
    rows.retain(|row| !row.implementations.is_empty() && !row.backends.is_empty());
    rows
}

fn or_default<T: Clone>(named: &[T], default: &[T]) -> Vec<T> {
    match named {
        [] => default.to_vec(),
        named => named.to_vec(),
    }
}

/// The named drivers among `all`; all of them if none are named.
fn named_or(named: &[Implementation], all: &[Implementation]) -> Vec<Implementation> {
    let wanted = |one: &&Implementation| named.is_empty() || named.contains(one);
    all.iter().filter(wanted).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use super::super::matrix::Matrix;
    use crate::build::peers::record::Peers;
    use strum::IntoEnumIterator;

    fn arguments(words: &[&str]) -> RunArguments {
        RunArguments::parse(words.iter().copied())
    }

    fn drivers(words: &[&str]) -> Vec<String> {
        let config = configuration(&arguments(words)).unwrap();
        let matrix = Matrix::new(&config, Path::new("/nonexistent"), &Peers::default()).unwrap();
        matrix
            .drivers()
            .iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    #[test]
    fn the_rows_of_the_counter_table_are_the_default() {
        for (words, expected) in [
            (
                &[][..],
                "c/default c/tuned c/agent rust/default rust/tuned rust/agent rust/overflow-checks \
                 rust-unsafe/default rust-unsafe/tuned",
            ),
            (&["--impl", "c"], "c/default c/tuned c/agent"),
            (&["--impl", "c", "--backend", "lockstep"], "c/default"),
            (&["--impl", "rust", "--variant", "default"], "rust/default"),
            (
                &["--variant", "default,overflow-checks", "--impl", "c,rust-unsafe,c"],
                "c/default rust-unsafe/default rust-unsafe/overflow-checks",
            ),
        ] {
            assert_eq!(drivers(words).join(" "), expected);
        }
        let config = configuration(&arguments(&[])).unwrap();
        assert_eq!(config.blocks[0].batch, [32, 8]);
    }

    #[test]
    fn each_driver_is_measured_by_the_backends_that_suit_it_and_its_card() {
        let backends = |of: Implementation, words: &[&str]| {
            let blocks = configuration(&arguments(words)).unwrap().blocks.into_iter();
            let blocks = blocks.filter(|block| block.implementations.contains(&of));
            let backends: Vec<_> = blocks.flat_map(|block| block.backends).collect();
            backends
        };
        let card = ["--devices=03:00.0,03:00.1"];
        for name in BackendName::iter() {
            let beside_software_card = backends(Implementation::C, &[]).contains(&name);
            assert_eq!(beside_software_card, name != BackendName::Wall, "{name}");
            assert!(backends(Implementation::C, &card).contains(&name), "{name}");
        }
        let peers = backends(Implementation::Ixy, &[]);
        assert!(peers.contains(&BackendName::Trace) && peers.contains(&BackendName::Burst));
        assert!(!peers.contains(&BackendName::Valgrind) && !peers.contains(&BackendName::Wall));
    }

    #[test]
    fn bursts_time_the_default_variant_of_the_drivers_that_the_paper_compares() {
        let bursts = |words: &[&str]| {
            let blocks = configuration(&arguments(words)).unwrap().blocks;
            let bursts = blocks.into_iter();
            let bursts = bursts.filter(|block| block.backends == [BackendName::Burst]);
            bursts.map(|block| (block.implementations.len(), block.variants))
        };
        let default = vec![DEFAULT.to_owned()];
        assert!(bursts(&[]).eq([(4, default.clone())]));
        assert!(bursts(&["--backend", "wall"]).eq([]));
        let named = ["--backend=burst", "--impl=ixy,c", "--variant=own-flags"];
        assert!(bursts(&named).eq([(2, vec![OWN_FLAGS.to_owned()])]));
        assert_eq!(configuration(&arguments(&named)).unwrap().blocks.len(), 1);
        assert!(bursts(&["--backend", "burst", "--impl", "dpdk-vector"]).eq([(1, default)]));
    }

    fn card(words: &[&str]) -> Result<Config, String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("card.toml");
        let mut all = vec!["--config", file.to_str().unwrap()];
        all.extend(words);
        configuration(&arguments(&all)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_names_ports_generator_and_clocks() {
        let devices = "--devices=03:00.0,0000:03:00.1";
        for (words, pktgen, host, clocks) in [
            (
                &["--generator", "me@loadgen"][..],
                Some(TESTPMD),
                Some("me@loadgen"),
                &[1.6, 3.3][..],
            ),
            (
                &["--generator", "my.toml", "--clock", "2,2.5"],
                Some("my.toml"),
                None,
                &[2.0, 2.5],
            ),
            (&["--generator", "none", "--keep-clock"], None, None, &[]),
        ] {
            let config = card(&[&[devices], words].concat()).unwrap();
            let ports = ["0000:03:00.0", "0000:03:00.1"];
            assert_eq!(config.devices.unwrap(), ports);
            assert_eq!(config.pktgen.as_deref(), pktgen.map(Path::new));
            assert_eq!(config.pktgen_host.as_deref(), host);
            assert_eq!(config.clocks_ghz, clocks);
        }
        // Without a matrix file, the rows of the counter table are measured.
        let config = configuration(&arguments(&[devices, "--generator", "me@loadgen"])).unwrap();
        assert_eq!(config.pktgen, Some(TESTPMD.into()));
    }

    #[test]
    fn mistakes_with_ports_and_generators_are_named() {
        for (words, part) in [
            (&[][..], "--devices"),
            (&["--devices", "0000:03:00.0"], "two"),
            (&["--devices", "a,b"], "\"a\" is not a PCI address"),
            (&["--devices", "03:00.0,03:00.0"], "two ports"),
            (
                &["--devices=03:00.0,03:00.1", "--generator=-oProxyCommand=x"],
                "user@host",
            ),
        ] {
            let error = card(words).unwrap_err();
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }
}
