//! Writes instructions as assembly for `llvm-mca`.

use std::fmt::Write;

use iced_x86::Mnemonic;

use super::program::{Llvm, LlvmError};
use crate::stream::Decoded;

/// The processor and system for `llvm-mc` and `llvm-mca`, which need not be those of this machine.
pub(super) const TARGET: &str = "x86_64-linux-gnu";

/// A no-operation of one byte.
const NOP: &[u8] = &[0x90];

/// One instruction in LLVM's syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Line {
    /// The assembly, without line break.
    pub text: String,
    /// Whether another instruction or form takes the place of the executed one.
    pub replaced: bool,
}

/// The machine code whose cost LLVM knows, and whether it differs from the executed one.
///
/// LLVM gives prefixes that it reads as instructions of their own a cost of 100 cycles: `lock`, and `rep` before branches and
/// strings. The same holds for landing pads of control-flow protection, which are no-operations here. A repeated string
/// instruction is one step for each iteration, so the cost without the prefix is right.
fn known_code(decoded: &Decoded) -> (Vec<u8>, bool) {
    let instruction = &decoded.instruction;
    if matches!(
        instruction.mnemonic(),
        Mnemonic::Endbr64 | Mnemonic::Endbr32
    ) {
        return (NOP.to_vec(), true);
    }
    let repeat = instruction.is_string_instruction() || decoded.branch().is_some();
    let dropped = |byte: &u8| match byte {
        0xf0 => instruction.has_lock_prefix(),
        0xf2 | 0xf3 => repeat,
        _ => false,
    };
    let prefixes = decoded
        .bytes()
        .iter()
        .take_while(|byte| {
            matches!(
                byte,
                0xf0 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64..=0x67
            )
        })
        .count();
    let (prefixes, rest) = decoded.bytes().split_at(prefixes);
    let mut code: Vec<u8> = prefixes
        .iter()
        .copied()
        .filter(|byte| !dropped(byte))
        .collect();
    code.extend_from_slice(rest);
    let replaced = code.len() != decoded.bytes().len();
    (code, replaced)
}

/// Writes each instruction as assembly, in the same order.
///
/// # Errors
/// `llvm-mc` failed, or did not know an instruction.
pub(in crate::pipeline) fn disassemble<'a>(
    llvm: &Llvm,
    instructions: impl Iterator<Item = &'a Decoded>,
) -> Result<Vec<Line>, LlvmError> {
    let mut input = String::new();
    let mut replaced = Vec::new();
    for decoded in instructions {
        let (code, other) = known_code(decoded);
        replaced.push((other, decoded.instruction.ip()));
        input.push('[');
        for byte in code {
            let _ = write!(input, "{byte:#04x} ");
        }
        input.push_str("]\n");
    }
    let output = llvm.run("llvm-mc", &["--disassemble", "-triple", TARGET], &input)?;
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.len() != replaced.len() {
        let first = replaced.first().map_or(0, |(_, address)| *address);
        return Err(LlvmError::Malformed {
            program: "llvm-mc".to_owned(),
            problem: format!(
                "{} lines for {} instructions from {first:#x} on, so it does not know one of them",
                lines.len(),
                replaced.len()
            ),
        });
    }
    Ok(lines
        .into_iter()
        .zip(replaced)
        .map(|(line, (replaced, _))| Line {
            text: line.to_owned(),
            replaced,
        })
        .collect())
}
