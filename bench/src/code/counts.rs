//! Counts the instructions of a listing, by what they do.

use serde::Serialize;

use super::disassembly::{split, Instruction};

/// Numbers of instructions. Padding does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub instructions: usize,
    /// Instructions that read memory, with `pop` and without `ret`.
    pub loads: usize,
    /// Instructions that write memory, with `push` and without `call`.
    pub stores: usize,
    pub branches: usize,
    pub calls: usize,
}

impl Counts {
    pub fn of<'i>(code: impl IntoIterator<Item = &'i Instruction>) -> Self {
        let mut counts = Self::default();
        for instruction in code {
            let (load, store) = access(instruction);
            counts.instructions += 1;
            counts.loads += usize::from(load);
            counts.stores += usize::from(store);
            counts.branches += usize::from(instruction.is_branch());
            counts.calls += usize::from(instruction.is_call());
        }
        counts
    }

    /// Each number with its name, in the order of tables.
    pub fn named(&self) -> [(&'static str, usize); 5] {
        [
            ("instructions", self.instructions),
            ("loads", self.loads),
            ("stores", self.stores),
            ("branches", self.branches),
            ("calls", self.calls),
        ]
    }
}

/// Instructions that only read the operand that stands last, by how their names start.
const ONLY_READ: &str = "cmp test bt ucomis comis vucomis vcomis mul div idiv vptest vtest";
/// Instructions that write their last operand without reading it, by how their names start.
const ONLY_WRITE: &str = "mov vmov set stos vextract pextr vpextr";
/// Instructions that compute with an address or only announce an access.
const NO_ACCESS: &str = "lea nop prefetch endbr";

/// Whether an instruction reads and whether it writes memory.
fn access(instruction: &Instruction) -> (bool, bool) {
    let mnemonic = instruction.mnemonic();
    let starts = |names: &str| names.split(' ').any(|name| mnemonic.starts_with(name));
    if starts(NO_ACCESS) {
        return (false, false);
    }
    let (_, operands) = split(&instruction.text);
    if instruction.is_jump() || instruction.is_call() {
        return (operands.contains('('), false);
    }
    let operands = separate(operands);
    let last = operands.last().copied().unwrap_or_default();
    let mut sources = operands.iter().rev().skip(1);
    let read = sources.any(|operand| is_memory(operand));
    let push = mnemonic.starts_with("push");
    let pop = mnemonic.starts_with("pop") && mnemonic != "popcnt";
    let one_operand_multiply = mnemonic.starts_with("imul") && operands.len() == 1;
    match is_memory(last) {
        _ if push => (is_memory(last), true),
        _ if pop => (true, is_memory(last)),
        true if starts(ONLY_READ) || one_operand_multiply => (true, false),
        true if starts(ONLY_WRITE) => (read, true),
        true => (true, true),
        false => (read, false),
    }
}

/// Splits operands at commas outside of parentheses.
fn separate(operands: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = operands.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn is_memory(operand: &str) -> bool {
    operand.contains('(') || operand.contains(':') || operand.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_a_load_or_a_store_or_both() {
        for (text, load, store) in [
            ("mov    (%rax),%rbx", true, false),
            ("mov    %rbx,(%rax)", false, true),
            ("movl   $0x1,0x8(%rax,%rcx,4)", false, true),
            ("add    %rbx,(%rax)", true, true),
            ("lock xadd %eax,(%rbx)", true, true),
            ("incq   0x60(%rdi)", true, true),
            ("cmpb   $0x0,0x28(%rdi)", true, false),
            ("test   %eax,(%rdi)", true, false),
            ("lea    0x8(%rax),%rbx", false, false),
            ("add    %rax,%rbx", false, false),
            ("push   %rbx", false, true),
            ("pop    %rbx", true, false),
            ("popcnt %rax,%rbx", false, false),
            ("call   *0x10(%rip)", true, false),
            ("call   2830 <rx_discard>", false, false),
            ("vmovdqu (%rax),%ymm0", true, false),
            ("vmovdqu %ymm0,(%rax)", false, true),
            ("vpaddd (%rax),%ymm0,%ymm1", true, false),
            ("rep stos %al,%es:(%rdi)", false, true),
            ("mov    %fs:0x28,%rax", true, false),
            ("ret", false, false),
        ] {
            let (address, text, data) = (0, text.to_owned(), None);
            let instruction = Instruction {
                address,
                text,
                data,
            };
            assert_eq!(access(&instruction), (load, store), "{instruction:?}");
        }
    }
}
