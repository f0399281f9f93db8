//! The functions of one program as one list of lines without addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use object::{Architecture, Object};

use super::checks;
use super::counts::Counts;
use super::disassembly::{disassemble, split, Function, Instruction};
use super::names::{shape, Shape};
use super::selection::{choose, Chosen};
use super::source::{Frames, SourceLine, Sources};
use super::symbols::Symbols;

/// A program, as far as its code is read.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// Whether its code is for x86-64, whose instructions and registers alone are known here.
    pub is_x86_64: bool,
    pub functions: Vec<Function>,
    symbols: Symbols,
    frames: Frames,
}

impl Program {
    pub fn read(path: &Path) -> Result<Self> {
        let functions = disassemble(path)?;
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = object::File::parse(&*bytes)
            .with_context(|| format!("{} is not a program", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            is_x86_64: file.architecture() == Architecture::X86_64,
            functions,
            symbols: Symbols::of(&file),
            frames: Frames::read(path)?,
        })
    }

    /// The wanted functions, wherever the compiler put them; with `all`, also the code around them.
    pub fn choose(&self, wanted: &[&str], all: bool) -> Result<Vec<Chosen<'_>>> {
        let frames = |address| self.frames.at(address);
        let chosen = choose(&self.functions, wanted, all, &frames);
        let (program, names) = (self.path.display(), wanted.join(", "));
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        // Without symbols, objdump prints only the names of sections.
        let mut functions = self.functions.iter();
        if functions.all(|function| function.name.starts_with('.')) {
            bail!("{program} is stripped: it has no symbols to find {names}");
        }
        bail!(
            "{program} has no function {names}: it is inlined, and the program has no line tables; omit \
             --program to build one with line tables"
        )
    }

    pub fn code(&self, chosen: &[Chosen<'_>], sources: &mut Sources) -> Code {
        let source = &mut |address| sources.line(&self.frames.at(address));
        Code::new(chosen, &self.symbols, source)
    }
}

#[derive(Debug)]
pub struct Line {
    pub instruction: Instruction,
    /// The instruction without addresses: calls and data have names. The target of a jump within
    /// the code is missing.
    pub text: String,
    /// The same with marks instead of registers and stack slots.
    pub shape: Shape,
    /// The line that a jump goes to, if it is in this code.
    pub target: Option<usize>,
    pub depth: usize,
    pub mark: Option<String>,
    /// Whether code that was not chosen stands before it.
    pub after_gap: bool,
    pub source: Option<SourceLine>,
}

/// A function in [`Code`].
#[derive(Debug)]
pub struct Part {
    /// Its name, and the function into which it was inlined.
    pub name: String,
    /// The last part of its name, without suffixes.
    pub short: String,
    pub lines: Range<usize>,
    /// The number of loops in the function that holds it.
    pub loops: usize,
    /// The number of instructions of that function which were not chosen.
    pub hidden: usize,
}

#[derive(Debug, Default)]
pub struct Code {
    pub parts: Vec<Part>,
    pub lines: Vec<Line>,
}

impl Code {
    /// Takes addresses out of functions. `source` gives the line of source at an address.
    pub fn new(
        chosen: &[Chosen<'_>],
        symbols: &Symbols,
        source: &mut dyn FnMut(u64) -> Option<SourceLine>,
    ) -> Self {
        let mut code = Self::default();
        let mut addresses = BTreeMap::new();
        for part in chosen {
            let analysis = checks::analyse(part.function);
            let start = code.lines.len();
            let mut next = part.places.first().copied().unwrap_or(0);
            let mut after_gap = false;
            for place in &part.places {
                let instruction = &part.function.code[*place];
                // A jump to padding goes on with the next instruction.
                addresses.insert(instruction.address, code.lines.len());
                after_gap |= next != *place;
                next = place + 1;
                if instruction.is_padding() {
                    continue;
                }
                let text = text(instruction, symbols);
                code.lines.push(Line {
                    instruction: instruction.clone(),
                    shape: shape(&text),
                    text,
                    target: None,
                    depth: analysis.depth[*place],
                    mark: analysis.mark(*place),
                    after_gap: std::mem::take(&mut after_gap),
                    source: source(instruction.address),
                });
            }
            code.parts.push(Part {
                name: part.name.clone(),
                short: part.short.clone(),
                lines: start..code.lines.len(),
                loops: analysis.loops,
                hidden: part.function.code.len() - part.places.len(),
            });
        }
        code.link(&addresses);
        code
    }

    /// Replaces the targets of jumps by the lines that they go to.
    fn link(&mut self, addresses: &BTreeMap<u64, usize>) {
        let count = self.lines.len();
        for line in &mut self.lines {
            let target = line.instruction.target();
            let target = target.filter(|_| line.instruction.is_jump());
            line.target = target.and_then(|address| addresses.get(&address).copied());
            line.target = line.target.filter(|place| *place < count);
            if line.target.is_some() {
                line.text = split(&line.instruction.text).0.to_owned();
                line.shape = shape(&line.text);
            }
        }
    }

    pub fn targets(&self) -> BTreeSet<usize> {
        self.lines.iter().filter_map(|line| line.target).collect()
    }

    /// The numbers of instructions with at least so many loops around them.
    pub fn counts(&self, loops: usize) -> Counts {
        let lines = self.lines.iter().filter(|line| line.depth >= loops);
        Counts::of(lines.map(|line| &line.instruction))
    }
}

/// An instruction without addresses.
fn text(instruction: &Instruction, symbols: &Symbols) -> String {
    let (mnemonic, operands) = split(&instruction.text);
    if let (Some(_), Some(name)) = (instruction.target(), instruction.names()) {
        // A jump into the middle of another function has an offset.
        let name = name.split("+0x").next().unwrap_or(name);
        return format!("{mnemonic} {name}");
    }
    let text = match operands {
        "" => mnemonic.to_owned(),
        operands => format!("{mnemonic} {operands}"),
    };
    match (&instruction.data, text.find("(%rip)")) {
        (Some((address, name)), Some(end)) => {
            let start = text[..end].rfind([',', '*', ' ']).map_or(0, |at| at + 1);
            let name = symbols.name(*address, name);
            format!("{}{name}{}", &text[..start], &text[end..])
        }
        _ => text,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::disassembly::parse;
    use super::*;

    /// The code of the function `f` in objdump's output.
    pub(in super::super) fn code(text: &str) -> Code {
        let functions = parse(text);
        let chosen = choose(&functions, &["f"], false, &|_| Vec::new());
        Code::new(&chosen, &Symbols::default(), &mut |_| None)
    }

    #[test]
    fn addresses_become_names_and_lines() {
        let code = code(
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
        let lines = code.lines.iter().map(|line| match line.target {
            Some(target) => format!("{} {target}", line.text),
            None => line.text.clone(),
        });
        assert_eq!(
            lines.collect::<Vec<_>>().join("; "),
            "mov table+0x8(%rip),%rax; jae 4; call *memmove@GLIBC_2.2.5(%rip); bnd jmp g; call h; \
             ret; jmp 0"
        );
        let parts: Vec<_> = code.parts.iter().map(|part| part.lines.clone()).collect();
        assert_eq!(parts, [0..6, 6..7]);
        assert_eq!((code.counts(0).calls, code.counts(0).loads), (2, 2));
    }
}
