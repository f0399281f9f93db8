//! Disassembles programs with objdump.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use perfcounters::process::find_program;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub address: u64,
    /// Mnemonic and operands.
    pub text: String,
    /// The data that an operand relative to the instruction pointer stands for: its address, and objdump's name.
    pub data: Option<(u64, String)>,
}

/// The mnemonic with its prefix, and the operands.
pub fn split(text: &str) -> (&str, &str) {
    const PREFIXES: [&str; 6] = ["bnd", "notrack", "lock", "rep", "repz", "repnz"];
    match text.split_once(' ') {
        Some((prefix, rest)) if PREFIXES.contains(&prefix) => {
            let rest = rest.trim_start();
            let end = text.len() - rest.len() + rest.find(' ').unwrap_or(rest.len());
            (&text[..end], text[end..].trim())
        }
        Some((name, operands)) => (name, operands.trim()),
        None => (text, ""),
    }
}

impl Instruction {
    pub fn mnemonic(&self) -> &str {
        let (name, _) = split(&self.text);
        let last = name.rsplit(' ').next().unwrap_or(name);
        last.split(',').next().unwrap_or(last)
    }

    pub fn is_jump(&self) -> bool {
        self.mnemonic().starts_with('j')
    }

    pub fn is_branch(&self) -> bool {
        self.is_jump() && !self.mnemonic().starts_with("jmp")
    }

    pub fn is_call(&self) -> bool {
        self.mnemonic().starts_with("call")
    }

    pub fn is_end(&self) -> bool {
        let mut ends = ["ret", "ud2", "hlt"].iter();
        ends.any(|end| self.mnemonic().starts_with(end))
    }

    /// Whether it only fills space, so that a loop or the next function starts at a round address.
    pub fn is_padding(&self) -> bool {
        let mut words = self.text.split_whitespace();
        let fills = |word: &str| word.starts_with("nop") || word == "int3";
        words.any(fills) || self.text.replace(' ', "") == "xchg%ax,%ax"
    }

    /// The address of its jump or call; `None` if the address is computed.
    pub fn target(&self) -> Option<u64> {
        let goes = self.is_jump() || self.is_call();
        let (_, operands) = split(&self.text);
        let word = operands.split(' ').next().filter(|_| goes)?;
        u64::from_str_radix(word, 16).ok()
    }

    /// The name that objdump gives to the target of its jump or call.
    pub fn names(&self) -> Option<&str> {
        let start = self.text.find('<')?;
        let end = self.text.rfind('>')?;
        self.text.get(start + 1..end)
    }
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub code: Vec<Instruction>,
}

impl Function {
    /// Whether it has this name, without its path and suffixes.
    pub fn is_named(&self, name: &str) -> bool {
        short(&self.name) == name
    }
}

/// The last part of a name: `rx_batch` for `ixgbe::driver::rx::RxQueue::rx_batch` and `rx_batch.constprop.0`.
pub fn short(name: &str) -> &str {
    let first = name.split(['<', '(']).next();
    let name = first.filter(|part| !part.is_empty()).unwrap_or(name);
    let last = name.rsplit("::").next().unwrap_or(name);
    last.split('.').next().unwrap_or(last)
}

pub fn disassemble(program: &Path) -> Result<Vec<Function>> {
    if !program.is_file() {
        bail!(
            "there is no {}: `make build` builds the drivers",
            program.display()
        );
    }
    if find_program("objdump").is_none() {
        bail!("there is no objdump; `sudo apt-get install binutils` installs it");
    }
    let output = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg("--section=.text")
        .arg(program)
        .output()
        .context("cannot run objdump")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("objdump cannot read {}: {}", program.display(), said.trim());
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

pub(super) fn parse(text: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in text.lines() {
        if let Some(name) = function_start(line) {
            let (name, code) = (name.to_owned(), Vec::new());
            functions.push(Function { name, code });
        } else if let Some(function) = functions.last_mut() {
            function.code.extend(instruction(line));
        }
    }
    for Function { code, .. } in &mut functions {
        let last = code.iter().rposition(|there| !there.is_padding());
        code.truncate(last.map_or(0, |last| last + 1));
    }
    name_targets(&mut functions);
    functions
}

/// Names the targets of jumps and calls by the functions that hold them. objdump may take the name of another
/// symbol in between, such as one that the linker made for a source file.
fn name_targets(functions: &mut [Function]) {
    let starts = functions.iter().filter_map(|function| {
        let (first, last) = (function.code.first()?, function.code.last()?);
        Some((first.address, last.address, function.name.clone()))
    });
    let mut starts: Vec<_> = starts.collect();
    starts.sort();
    for instruction in functions.iter_mut().flat_map(|function| &mut function.code) {
        let Some(target) = instruction.target() else {
            continue;
        };
        let before = starts.partition_point(|(first, ..)| *first <= target);
        let holder = before.checked_sub(1).and_then(|nth| starts.get(nth));
        let Some((first, _, name)) = holder.filter(|(_, last, _)| target <= *last) else {
            continue;
        };
        let offset = target - first;
        let text = &mut instruction.text;
        if let (Some(open), Some(close)) = (text.find('<'), text.rfind('>')) {
            text.replace_range(open + 1..close, name);
            if offset > 0 {
                text.insert_str(open + 1 + name.len(), &format!("+{offset:#x}"));
            }
        }
    }
}

fn function_start(line: &str) -> Option<&str> {
    let (address, rest) = line.split_once(" <")?;
    u64::from_str_radix(address, 16).ok()?;
    rest.strip_suffix(">:")
}

fn instruction(line: &str) -> Option<Instruction> {
    let (place, rest) = line.strip_prefix(' ')?.split_once(":\t")?;
    let address = |text: &str| u64::from_str_radix(text.trim(), 16).ok();
    let (text, comment) = rest.split_once(" # ").unwrap_or((rest, ""));
    Some(Instruction {
        address: address(place)?,
        text: text.trim_end().to_owned(),
        // The comment is ` 5000 <name+0x8>`.
        data: comment
            .trim_end()
            .split_once(" <")
            .and_then(|(data, name)| {
                let name = name.strip_suffix('>')?;
                Some((address(data)?, name.to_owned()))
            }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened() {
        for (long, name) in [
            ("ixgbe::driver::rx::RxQueue::rx_batch", "rx_batch"),
            ("tx_batch.constprop.0", "tx_batch"),
            ("rx_batch<T, U>", "rx_batch"),
            ("forward", "forward"),
        ] {
            assert_eq!(short(long), name);
        }
    }
}
