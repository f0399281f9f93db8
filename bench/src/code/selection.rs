//! Takes functions out of a program, also where the compiler inlined them.

use std::collections::BTreeMap;

use super::disassembly::{short, Function};
use super::source::Frame;

/// The code of a wanted function.
pub struct Chosen<'f> {
    /// Its name, and the function into which it was inlined.
    pub name: String,
    pub short: String,
    pub function: &'f Function,
    /// The indices of its instructions in this function.
    pub places: Vec<usize>,
}

impl<'f> Chosen<'f> {
    pub fn whole(function: &'f Function) -> Self {
        Self {
            name: function.name.clone(),
            short: short(&function.name).to_owned(),
            function,
            places: (0..function.code.len()).collect(),
        }
    }
}

/// The wanted functions, in the order of `wanted`. A function that exists is taken whole, with its
/// parts such as `f.cold`. For one that does not, the instructions that were inlined from it are
/// taken from the other functions, or with `all` these whole functions. Each instruction is taken once: what is
/// inlined from one wanted function into another belongs to the outer one. `frames` gives the functions at an
/// address.
pub fn choose<'f>(
    functions: &'f [Function],
    wanted: &[&str],
    all: bool,
    frames: &dyn Fn(u64) -> Vec<Frame>,
) -> Vec<Chosen<'f>> {
    let is_inlined = |name: &&str| !functions.iter().any(|function| function.is_named(name));
    let inlined: Vec<&str> = wanted.iter().copied().filter(is_inlined).collect();
    let position = |name: &str| wanted.iter().position(|there| *there == name);
    let mut found: Vec<(usize, Chosen<'f>)> = Vec::new();
    for function in functions {
        if let Some(position) = position(short(&function.name)) {
            found.push((position, Chosen::whole(function)));
            continue;
        }
        if inlined.is_empty() {
            continue;
        }
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, instruction) in function.code.iter().enumerate() {
            let frames = frames(instruction.address);
            let ours = frames.iter().rev().filter(|frame| !frame.is_library());
            let mut names = ours.map(|frame| short(&frame.function));
            let outermost = names.find(|name| inlined.contains(name));
            if let Some(position) = outermost.and_then(position) {
                parts.entry(position).or_default().push(place);
            }
        }
        match parts.keys().next() {
            Some(first) if all => found.push((*first, Chosen::whole(function))),
            _ => found.extend(parts.into_iter().map(|(position, places)| {
                let short = wanted[position].to_owned();
                let chosen = Chosen {
                    name: format!("{short} in {}", function.name),
                    short,
                    function,
                    places,
                };
                (position, chosen)
            })),
        }
    }
    found.sort_by_key(|(position, _)| *position);
    found.into_iter().map(|(_, chosen)| chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::super::disassembly::parse;
    use super::*;

    const TEXT: &str = "\
0000000000001000 <main>:
    1000:\tpush   %rbx
    1001:\tinc    %eax
    1002:\tdec    %ecx
    1003:\tinc    %edx
    1004:\tret
0000000000002000 <tx_batch>:
    2000:\tret
0000000000003000 <tx_batch.cold>:
    3000:\tud2
0000000000004000 <other>:
    4000:\tret
";

    fn frames(address: u64) -> Vec<Frame> {
        let names: &[&str] = match address {
            0x1001 => &["forward", "main"],
            0x1002 => &["rx_batch", "forward", "main"],
            0x1003 => &["core::iter::Step::forward", "main"],
            _ => &["main"],
        };
        let frame = |name: &&str| Frame {
            function: (*name).to_owned(),
            place: name
                .starts_with("core")
                .then(|| ("/rustc/1/library/core/src/iter/range.rs".to_owned(), 1)),
        };
        names.iter().map(frame).collect()
    }

    #[test]
    fn inlined_functions_are_cut_out_of_their_callers() {
        let functions = parse(TEXT);
        let wanted = ["forward", "rx_batch", "tx_batch"];
        let found = |all: bool| {
            let chosen = choose(&functions, &wanted, all, &frames).into_iter();
            let chosen = chosen.map(|part| format!("{} {:?}", part.name, part.places));
            chosen.collect::<Vec<_>>().join(", ")
        };
        let others = "tx_batch [0], tx_batch.cold [0]";
        assert_eq!(found(false), format!("forward in main [1, 2], {others}"));
        assert_eq!(found(true), format!("main [0, 1, 2, 3, 4], {others}"));
    }
}
