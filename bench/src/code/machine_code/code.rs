//! The functions of one program as one list of lines without addresses.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::Counts;
use super::listing::Instruction;
use super::names::{shape, Shape};
use super::selection::Chosen;
use super::source::{SourceLine, Sources};
use super::symbols::Symbols;

/// A line of machine code.
#[derive(Debug, Clone)]
pub struct Line {
    /// The instruction as objdump prints it.
    pub instruction: Instruction,
    /// The instruction without addresses: calls and data have names. The target of a jump within
    /// the code is missing.
    pub text: String,
    /// The same with marks instead of registers and stack slots.
    pub shape: Shape,
    /// The line that a jump goes to, if it is in this code.
    pub target: Option<usize>,
    /// Whether the line stands in a loop.
    pub in_loop: bool,
    /// The line of source that the instruction belongs to.
    pub source: Option<SourceLine>,
}

/// A function in [`Code`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, and the function into which it was inlined.
    pub name: String,
    /// The last part of its name, without suffixes.
    pub short: String,
    /// Its first line.
    pub start: usize,
    /// The line after its last one.
    pub end: usize,
}

/// The machine code of some functions.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// The functions, in the order of their lines.
    pub parts: Vec<Part>,
    /// All lines.
    pub lines: Vec<Line>,
}

impl Code {
    /// Takes addresses out of functions.
    pub fn new(chosen: &[Chosen<'_>], symbols: &Symbols, sources: &mut Sources) -> Self {
        let mut code = Self::default();
        let mut addresses = BTreeMap::new();
        for part in chosen {
            let start = code.lines.len();
            for there in &part.lines {
                // A jump to padding goes on with the next instruction.
                addresses.insert(there.instruction.address, code.lines.len());
                if there.instruction.is_padding() {
                    continue;
                }
                let text = text(there.instruction, symbols);
                let place = sources.place(&there.places).cloned();
                code.lines.push(Line {
                    instruction: there.instruction.clone(),
                    shape: shape(&text),
                    text,
                    target: None,
                    in_loop: there.in_loop,
                    source: place.map(|place| sources.line(&place)),
                });
            }
            code.parts.push(Part {
                name: part.name.clone(),
                short: part.short.clone(),
                start,
                end: code.lines.len(),
            });
        }
        code.link(&addresses);
        code
    }

    /// Replaces the targets of jumps by the lines that they go to.
    fn link(&mut self, addresses: &BTreeMap<u64, usize>) {
        let count = self.lines.len();
        for line in &mut self.lines {
            let target = line
                .instruction
                .target()
                .filter(|_| line.instruction.is_jump());
            let place = target.and_then(|address| addresses.get(&address).copied());
            if let Some(place) = place.filter(|place| *place < count) {
                line.target = Some(place);
                line.text = mnemonic_of(&line.instruction);
                line.shape = shape(&line.text);
            }
        }
    }

    /// The lines that jumps go to.
    pub fn targets(&self) -> BTreeSet<usize> {
        self.lines.iter().filter_map(|line| line.target).collect()
    }

    /// The numbers of instructions.
    pub fn counts(&self) -> Counts {
        Counts::of(self.lines.iter().map(|line| &line.instruction))
    }

    /// The numbers of instructions in loops.
    pub fn counts_in_loops(&self) -> Counts {
        let hot = self.lines.iter().filter(|line| line.in_loop);
        Counts::of(hot.map(|line| &line.instruction))
    }
}

/// The mnemonic with its prefixes.
fn mnemonic_of(instruction: &Instruction) -> String {
    let mnemonic = instruction.mnemonic();
    let end = instruction.text.find(mnemonic).unwrap_or(0) + mnemonic.len();
    let words: Vec<&str> = instruction.text[..end].split_whitespace().collect();
    words.join(" ")
}

/// An instruction without addresses.
fn text(instruction: &Instruction, symbols: &Symbols) -> String {
    if let (Some(_), Some(name)) = (instruction.target(), instruction.names()) {
        // A jump into the middle of another function has an offset.
        let name = name.split("+0x").next().unwrap_or(name);
        return format!("{} {name}", mnemonic_of(instruction));
    }
    let words: Vec<&str> = instruction.text.split_whitespace().collect();
    let text = words.join(" ");
    match (&instruction.data, text.find("(%rip)")) {
        (Some(data), Some(end)) => {
            let start = text[..end].rfind([',', '*', ' ']).map_or(0, |at| at + 1);
            let name = symbols.name(data.address, &data.name);
            format!("{}{name}{}", &text[..start], &text[end..])
        }
        _ => text,
    }
}
#[cfg(test)]
mod tests {
    use super::super::listing::parse;
    use super::super::selection::choose;
    use super::*;
    use std::path::Path;

    #[test]
    fn addresses_become_names_and_lines() {
        let functions = parse(
            "\
0000000000001000 <f>:
    1000:\tmov    0x10(%rip),%rax        # 5000 <table+0x8>
    1003:\tjae    1010 <f+0x10>
    1005:\tcall   *0x99(%rip)        # 6000 <memmove@GLIBC_2.2.5>
    1009:\tbnd jmp 2004 <g+0x4>
    100d:\tnopw   0x0(%rax,%rax,1)
    1010:\tcall   3000 <h>
    1013:\tret
0000000000001100 <f.cold>:
    1100:\tjmp    1000 <f>
",
        );
        let chosen = choose(&functions, &["f"], &|_| Vec::new());
        let code = Code::new(
            &chosen,
            &Symbols::default(),
            &mut Sources::new(Path::new("/")),
        );
        let lines: Vec<(&str, Option<usize>)> = code
            .lines
            .iter()
            .map(|line| (line.text.as_str(), line.target))
            .collect();
        assert_eq!(
            lines,
            [
                ("mov table+0x8(%rip),%rax", None),
                ("jae", Some(4)),
                ("call *memmove@GLIBC_2.2.5(%rip)", None),
                ("bnd jmp g", None),
                ("call h", None),
                ("ret", None),
                ("jmp", Some(0)),
            ]
        );
        let parts: Vec<_> = code
            .parts
            .iter()
            .map(|part| (part.start, part.end))
            .collect();
        assert_eq!(parts, [(0, 6), (6, 7)]);
        assert_eq!(code.counts().calls, 2);
        assert_eq!(code.counts().loads, 2);
    }
}
