//! Counts the checks in the loops of a driver's data path.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, Result};
use record::{Build, Implementation};

use super::checks::{self, Panic};
use super::disassembly::{disassemble, Function};

/// The functions of the data path.
pub const DATA_PATH: [&str; 3] = ["forward", "rx_batch", "tx_batch"];

/// A function that has the code of `forward` inside, once for each direction, if the compiler inlines it.
const INLINES_FORWARD: &str = "queue_turn";

pub const KINDS: [Panic; 4] = [Panic::Bounds, Panic::Overflow, Panic::Trap, Panic::Other];

/// Counts the checks in the loops of a driver's data path, by kind. These are the checks in loops
/// of `forward` and of the data-path functions that it calls, and all checks in functions that
/// these loops call.
pub fn checks_in_loops(program: &Path) -> Result<BTreeMap<Panic, usize>> {
    if cfg!(not(target_arch = "x86_64")) {
        bail!("checks are counted only in x86-64 machine code");
    }
    let functions = disassemble(program)?;
    let [forward, receive, send] = DATA_PATH;
    let there = |name: &&str| functions.iter().any(|function| function.is_named(name));
    let Some(root) = [forward, INLINES_FORWARD].into_iter().find(there) else {
        bail!(
            "{} has no function {forward}: it is inlined or stripped, and the program has no line tables",
            program.display(),
        );
    };
    let names = [root, receive, send];
    let is_wanted = |function: &&Function| names.iter().any(|name| function.is_named(name));
    let chosen: Vec<&Function> = functions.iter().filter(is_wanted).collect();
    Ok(count_in_loops(&functions, &chosen))
}

/// Adds the number of checks in the data path to the record of a build. Only safe Rust is counted,
/// because only its source has implicit checks.
pub fn with_checks(mut build: Build, program: &Path) -> Build {
    if build.implementation != Implementation::Rust {
        return build;
    }
    match checks_in_loops(program) {
        Ok(counts) => {
            let counts = counts.into_iter();
            build.checks_in_loops = counts
                .map(|(kind, count)| (kind.to_string(), count))
                .collect();
        }
        Err(error) => build.checks_not_counted = Some(format!("{error:#}")),
    }
    build
}

/// Counts the checks in loops of the chosen functions and in what the loops call, by kind.
pub fn count_in_loops(functions: &[Function], chosen: &[&Function]) -> BTreeMap<Panic, usize> {
    let mut counts: BTreeMap<Panic, usize> = KINDS.into_iter().map(|kind| (kind, 0)).collect();
    let mut add = |function: &Function, only_in_loops: bool| {
        let analysis = checks::analyse(function);
        for (place, kind) in analysis.checks {
            if !only_in_loops || analysis.depth[place] > 0 {
                *counts.entry(kind).or_default() += 1;
            }
        }
    };
    for function in chosen {
        add(function, true);
    }
    // A function that a loop calls is as hot as the loop.
    for function in called_in_loops(functions, chosen) {
        add(function, false);
    }
    counts
}

/// The functions that the loops of `from` call, directly or indirectly. Only functions of the driver
/// and functions that index slices count. Other library functions, such as those that format an
/// error, have many checks but do not run for each packet.
pub fn called_in_loops<'a>(functions: &'a [Function], from: &[&'a Function]) -> Vec<&'a Function> {
    let at = |address: u64| {
        let starts = |function: &&Function| {
            function.code.first().map(|first| first.address) == Some(address)
        };
        functions.iter().find(starts)
    };
    let followed = |function: &Function| {
        let mut parts = ["ixgbe", "core::slice::", "::Index"].iter();
        parts.any(|part| function.name.contains(part))
    };
    let calls = |function: &Function, everywhere: bool| -> Vec<u64> {
        let analysis = checks::analyse(function);
        let depths = function.code.iter().zip(analysis.depth);
        let called = depths.filter(|(there, depth)| there.is_call() && (everywhere || *depth > 0));
        called.filter_map(|(there, _)| there.target()).collect()
    };
    let direct = from.iter().flat_map(|function| calls(function, false));
    let mut open: Vec<u64> = direct.collect();
    let mut found: BTreeMap<u64, &Function> = BTreeMap::new();
    while let Some(address) = open.pop() {
        let Some(function) = at(address) else {
            continue;
        };
        let counted = from.iter().any(|known| known.name == function.name);
        if counted || !followed(function) || found.contains_key(&address) {
            continue;
        }
        found.insert(address, function);
        open.extend(calls(function, true));
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::disassembly::parse;
    use super::*;

    #[test]
    fn functions_that_a_loop_calls_are_hot() {
        let functions = parse(
            "\
0000000000001000 <ixgbe::rooms::forwarder::Direction::forward>:
    1000:\tcall   3000 <ixgbe::rooms::stats::once>
    1005:\tcall   2000 <ixgbe::dma::at>
    100a:\tcall   4000 <core::fmt::write>
    1010:\tjne    1005 <ixgbe::rooms::forwarder::Direction::forward+0x5>
    1012:\tret
0000000000002000 <ixgbe::dma::at>:
    2000:\tjae    2005 <ixgbe::dma::at+0x5>
    2002:\tcall   2000 <ixgbe::dma::at>
    2004:\tret
    2005:\tcall   5000 <core::panicking::panic_bounds_check>
0000000000003000 <ixgbe::rooms::stats::once>:
    3000:\tjae    3005 <ixgbe::rooms::stats::once+0x5>
    3004:\tret
    3005:\tcall   5000 <core::panicking::panic_bounds_check>
0000000000004000 <core::fmt::write>:
    4000:\tjae    4005 <core::fmt::write+0x5>
    4004:\tret
    4005:\tcall   5000 <core::panicking::panic_bounds_check>
",
        );
        let counts = count_in_loops(&functions, &[&functions[0]]);
        assert_eq!(counts[&Panic::Bounds], 1, "{counts:?}");
        assert_eq!(counts[&Panic::Overflow], 0);
    }
}
