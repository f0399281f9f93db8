//! Takes functions out of a program, also where the compiler inlined them.

use std::collections::BTreeMap;

use super::checks;
use super::disassembly::is_named;
use super::frames::Frame;
use super::listing::{short, Function, Instruction, Place};

/// The code of a wanted function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<'f> {
    /// Its name, and the function into which it was inlined.
    pub name: String,
    /// The last part of its name, without suffixes.
    pub short: String,
    /// Its lines.
    pub lines: Vec<ChosenLine<'f>>,
}

/// A line of a wanted function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenLine<'f> {
    /// The instruction.
    pub instruction: &'f Instruction,
    /// Whether it stands in a loop.
    pub in_loop: bool,
    /// Its places in the source, the innermost inlined function first.
    pub places: Vec<Place>,
}

/// The wanted functions, in the order of `wanted`. A function that exists is taken whole, with its
/// parts such as `f.cold`. For one that does not, the instructions that were inlined from it are
/// taken from the other functions. Each instruction is taken once: what is inlined from one wanted
/// function into another belongs to the outer one. `frames` gives the functions at an address.
pub fn choose<'f>(
    functions: &'f [Function],
    wanted: &[&str],
    frames: &dyn Fn(u64) -> Vec<Frame>,
) -> Vec<Chosen<'f>> {
    let alone = |name: &str| functions.iter().any(|function| is_named(function, name));
    let inlined: Vec<&str> = wanted.iter().copied().filter(|name| !alone(name)).collect();
    let mut found: Vec<(usize, Chosen<'f>)> = Vec::new();
    for function in functions {
        let position = wanted.iter().position(|name| is_named(function, name));
        match position {
            Some(position) => found.push((position, whole(function, frames))),
            None if inlined.is_empty() => {}
            None => found.extend(inlined_parts(function, wanted, &inlined, frames)),
        }
    }
    found.sort_by_key(|(position, _)| *position);
    found.into_iter().map(|(_, chosen)| chosen).collect()
}

fn whole<'f>(function: &'f Function, frames: &dyn Fn(u64) -> Vec<Frame>) -> Chosen<'f> {
    let depth = checks::analyse(function).depth;
    let lines = function.code.iter().zip(depth).map(|(instruction, depth)| {
        let frames = frames(instruction.address);
        line(instruction, depth, &frames)
    });
    Chosen {
        name: function.name.clone(),
        short: short(&function.name).to_owned(),
        lines: lines.collect(),
    }
}

/// The parts of a function that were inlined from functions that do not exist, with the positions
/// of their names in `wanted`.
fn inlined_parts<'f>(
    function: &'f Function,
    wanted: &[&str],
    inlined: &[&str],
    frames: &dyn Fn(u64) -> Vec<Frame>,
) -> Vec<(usize, Chosen<'f>)> {
    let depth = checks::analyse(function).depth;
    let mut parts: BTreeMap<usize, Vec<ChosenLine<'_>>> = BTreeMap::new();
    for (place, instruction) in function.code.iter().enumerate() {
        let frames = frames(instruction.address);
        let outermost = frames.iter().rev().find_map(|frame| {
            let name = short(&frame.function);
            let known = inlined.contains(&name);
            wanted.iter().position(|there| *there == name && known)
        });
        if let Some(position) = outermost {
            let part = parts.entry(position).or_default();
            part.push(line(instruction, depth[place], &frames));
        }
    }
    let chosen = parts.into_iter().map(|(position, lines)| {
        let short = wanted[position].to_owned();
        let chosen = Chosen {
            name: format!("{short} in {}", function.name),
            lines,
            short,
        };
        (position, chosen)
    });
    chosen.collect()
}

fn line<'f>(instruction: &'f Instruction, depth: usize, frames: &[Frame]) -> ChosenLine<'f> {
    ChosenLine {
        instruction,
        in_loop: depth > 0,
        places: frames
            .iter()
            .filter_map(|frame| frame.place.clone())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::parse;
    use super::*;

    const TEXT: &str = "\
0000000000001000 <main>:
    1000:\tpush   %rbx
    1001:\tinc    %eax
    1002:\tdec    %ecx
    1003:\tret
0000000000002000 <tx_batch>:
    2000:\tret
0000000000003000 <tx_batch.cold>:
    3000:\tud2
0000000000004000 <other>:
    4000:\tret
";

    #[test]
    fn inlined_functions_are_cut_out_of_their_callers() {
        let functions = parse(TEXT);
        let frames = |address: u64| {
            let names: &[&str] = match address {
                0x1001 => &["forward", "main"],
                0x1002 => &["rx_batch", "forward", "main"],
                _ => &["main"],
            };
            names
                .iter()
                .map(|name| Frame {
                    function: (*name).to_owned(),
                    place: None,
                })
                .collect()
        };
        let chosen = choose(&functions, &["forward", "rx_batch", "tx_batch"], &frames);
        let found: Vec<(&str, Vec<u64>)> = chosen
            .iter()
            .map(|part| {
                let addresses = part.lines.iter().map(|line| line.instruction.address);
                (part.name.as_str(), addresses.collect())
            })
            .collect();
        assert_eq!(
            found,
            [
                ("forward in main", vec![0x1001, 0x1002]),
                ("tx_batch", vec![0x2000]),
                ("tx_batch.cold", vec![0x3000]),
            ]
        );
    }
}
