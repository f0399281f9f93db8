//! What `triptych asm` shows of the found functions: the code of the data path, or all.

use std::path::Path;

use anyhow::Result;

use crate::code::machine_code::disassembly::is_named;
use crate::code::machine_code::frames::{Frame, Frames};
use crate::code::machine_code::listing::{short, Function};

/// The shown part of a function.
pub(super) struct Part<'f> {
    /// The function.
    pub function: &'f Function,
    /// For each instruction, whether it is shown.
    pub shown: Vec<bool>,
}

/// Puts functions of the data path first, then those into which it was inlined: of these, only the
/// instructions of the data path are shown, and none of the standard library's, which start threads.
/// With `all`, all is shown.
///
/// # Errors
/// If the line tables cannot be read.
pub(super) fn parts<'f>(
    program: &Path,
    found: &[&'f Function],
    wanted: &[&str],
    all: bool,
) -> Result<Vec<Part<'f>>> {
    let frames = Frames::read(program)?;
    Ok(choose(found, wanted, all, &|address| frames.at(address)))
}

fn choose<'f>(
    found: &[&'f Function],
    wanted: &[&str],
    all: bool,
    frames: &dyn Fn(u64) -> Vec<Frame>,
) -> Vec<Part<'f>> {
    let rank = |function: &Function| match wanted.iter().position(|name| is_named(function, name)) {
        Some(position) => position,
        None if is_library(function) => wanted.len() + 1,
        None => wanted.len(),
    };
    let mut ordered = found.to_vec();
    ordered.sort_by_key(|function| rank(function));
    let only_library = found.iter().all(|function| is_library(function));
    let part = |function: &'f Function| {
        let whole = all || rank(function) < wanted.len();
        let none = is_library(function) && !only_library;
        let shown = function.code.iter().map(|instruction| {
            let inlined = || is_of(&frames(instruction.address), wanted);
            whole || !none && inlined()
        });
        Part {
            function,
            shown: shown.collect(),
        }
    };
    ordered.into_iter().map(part).collect()
}

/// Whether code at these frames is of a wanted function. The core library also has a `forward`.
fn is_of(frames: &[Frame], wanted: &[&str]) -> bool {
    frames.iter().any(|frame| {
        let place = frame.place.as_ref();
        let library = place.is_some_and(|place| place.file.contains("/library/"));
        !library && wanted.contains(&short(&frame.function))
    })
}

fn is_library(function: &Function) -> bool {
    function.name.starts_with("std::")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::machine_code::data_path::DATA_PATH;
    use crate::code::machine_code::listing::{parse, Place};

    const TEXT: &str = "\
0000000000001000 <std::sys::start>:
    1000:\tret
0000000000002000 <run>:
    2000:\tpush   %rbx
    2001:\tinc    %eax
    2002:\tret
0000000000003000 <x::tx_batch>:
    3000:\tret
";

    fn frames(address: u64) -> Vec<Frame> {
        let file = match address {
            0x2002 => "/rustc/1/library/core/src/iter/range.rs",
            _ => "rust/src/rooms/forwarder.rs",
        };
        let function = match address {
            0x2000 => "run",
            _ => "forward",
        };
        vec![Frame {
            function: function.to_owned(),
            place: Some(Place {
                file: file.to_owned(),
                line: 1,
            }),
        }]
    }

    #[test]
    fn the_data_path_comes_first_and_the_rest_on_request() {
        let functions = parse(TEXT);
        let found: Vec<&Function> = functions.iter().collect();
        let shown = |all: bool| -> Vec<(&str, Vec<bool>)> {
            choose(&found, &DATA_PATH, all, &frames)
                .into_iter()
                .map(|part| (part.function.name.as_str(), part.shown))
                .collect()
        };
        let names = ["x::tx_batch", "run", "std::sys::start"];
        let path = [vec![true], vec![false, true, false], vec![false]];
        assert_eq!(
            shown(false),
            names.into_iter().zip(path).collect::<Vec<_>>()
        );
        let whole = [vec![true], vec![true; 3], vec![true]];
        assert_eq!(
            shown(true),
            names.into_iter().zip(whole).collect::<Vec<_>>()
        );
    }
}
