//! Finds the loops and the checks of a function.
//!
//! A *hot loop* is a natural loop. For a jump back to a block that dominates the jump, the loop is
//! that block and all blocks from which the jump is reached without passing that block. A *check* is
//! a conditional jump with one path that leads to a panic without another decision, and one that
//! does not.

use std::collections::{BTreeMap, BTreeSet};

use super::disassembly::{Function, Instruction};

/// The reason for which a program would stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Panic {
    /// An index or range outside its slice.
    Bounds,
    /// Arithmetic that overflowed.
    Overflow,
    /// A trap instruction, as C's sanitizers use it.
    Trap,
    /// Another reason: `unwrap`, `expect`, an explicit panic, a canary.
    Other,
}

const BOUNDS: &str =
    "panic_bounds_check slice_index slice_start_index slice_end_index len_mismatch_fail";
const OTHER: &str = "core::panicking:: std::panicking:: unwrap_failed expect_failed \
                     panic_already_borrowed __stack_chk_fail __chk_fail";

/// The kind of panic that an instruction starts, if any.
pub fn panic(instruction: &Instruction) -> Option<Panic> {
    if instruction.mnemonic().starts_with("ud2") {
        return Some(Panic::Trap);
    }
    if !instruction.is_call() && !instruction.is_jump() {
        return None;
    }
    // objdump names the target of a jump within a function by the function and an offset.
    let name = instruction.names().filter(|name| !name.contains("+0x"))?;
    let has = |parts: &str| parts.split(' ').any(|part| name.contains(part));
    if has(BOUNDS) {
        Some(Panic::Bounds)
    } else if name.contains("panic_const") && name.contains("overflow") {
        Some(Panic::Overflow)
    } else {
        has(OTHER).then_some(Panic::Other)
    }
}

/// The loops and checks of a function, by the index of the instruction.
#[derive(Default)]
pub struct Analysis {
    /// The number of loops around each instruction.
    pub depth: Vec<usize>,
    /// Checks, by what they guard against.
    pub checks: BTreeMap<usize, Panic>,
    pub panics: BTreeMap<usize, Panic>,
    pub loops: usize,
}

impl Analysis {
    pub fn mark(&self, place: usize) -> Option<String> {
        let check = self.checks.get(&place);
        let panics = || Some(format!("panic: {}", self.panics.get(&place)?));
        check.map(|kind| format!("{kind} check")).or_else(panics)
    }
}

/// A basic block: instructions without jumps into or out of the middle.
struct Block {
    start: usize,
    last: usize,
    next: Vec<usize>,
}

pub fn analyse(function: &Function) -> Analysis {
    let code = &function.code;
    let blocks = blocks(code);
    let panics = code.iter().enumerate();
    let mut analysis = Analysis {
        depth: vec![0; code.len()],
        panics: panics
            .filter_map(|(place, there)| Some((place, panic(there)?)))
            .collect(),
        ..Analysis::default()
    };
    for body in loops(&blocks) {
        analysis.loops += 1;
        for block in body {
            for depth in &mut analysis.depth[blocks[block].start..=blocks[block].last] {
                *depth += 1;
            }
        }
    }
    for block in &blocks {
        if !code[block.last].is_branch() {
            continue;
        }
        let next = block.next.iter();
        let ways: Vec<_> = next
            .map(|next| leads_to(*next, &blocks, &analysis))
            .collect();
        let check = match ways.as_slice() {
            [Some(kind), None] | [None, Some(kind)] => Some(*kind),
            // A conditional jump to another function that panics.
            [None] => analysis.panics.get(&block.last).copied(),
            _ => None,
        };
        if let Some(kind) = check {
            analysis.checks.insert(block.last, kind);
        }
    }
    analysis
}

fn blocks(code: &[Instruction]) -> Vec<Block> {
    let target = |instruction: &Instruction| {
        let target = instruction.target().filter(|_| instruction.is_jump())?;
        let place = code.binary_search_by_key(&target, |there| there.address);
        place.ok()
    };
    let ends = |place: usize| {
        let instruction = &code[place];
        instruction.is_jump()
            || instruction.is_end()
            || (instruction.is_call() && panic(instruction).is_some())
    };
    let mut starts: BTreeSet<usize> = code.iter().filter_map(target).collect();
    starts.extend((0..code.len()).filter(|place| *place == 0 || ends(place - 1)));
    let starts: Vec<usize> = starts.into_iter().collect();
    let block = |number: usize| {
        let last = starts.get(number + 1).map_or(code.len(), |next| *next) - 1;
        let stops = ends(last) && !code[last].is_branch();
        let after = Some(number + 1).filter(|next| !stops && *next < starts.len());
        let target = target(&code[last]).and_then(|at| starts.binary_search(&at).ok());
        Block {
            start: starts[number],
            last,
            next: after
                .into_iter()
                .chain(target.filter(|_| target != after))
                .collect(),
        }
    };
    (0..starts.len()).map(block).collect()
}

/// The panic that a block ends in without a decision.
fn leads_to(mut block: usize, blocks: &[Block], analysis: &Analysis) -> Option<Panic> {
    for _ in 0..blocks.len() {
        let Block { start, last, next } = &blocks[block];
        if let Some((_, kind)) = analysis.panics.range(start..=last).next() {
            return Some(*kind);
        }
        match next.as_slice() {
            [only] => block = *only,
            _ => return None,
        }
    }
    None
}

/// The blocks of each natural loop. Loops with the same head are merged.
fn loops(blocks: &[Block]) -> Vec<BTreeSet<usize>> {
    let mut before = vec![Vec::new(); blocks.len()];
    for (number, block) in blocks.iter().enumerate() {
        for next in &block.next {
            before[*next].push(number);
        }
    }
    let all = reached(blocks, None);
    let body = |head: usize| {
        let without = reached(blocks, Some(head));
        let tails = before[head].iter().copied();
        let mut open: Vec<usize> = tails
            .filter(|tail| all.contains(tail) && !without.contains(tail))
            .collect();
        let mut body = BTreeSet::new();
        if !open.is_empty() {
            body.insert(head);
        }
        while let Some(block) = open.pop() {
            if body.insert(block) {
                open.extend(&before[block]);
            }
        }
        body
    };
    let bodies = (0..blocks.len()).map(body);
    bodies.filter(|body| !body.is_empty()).collect()
}

/// The blocks to which a way leads from the first one that does not pass the block `without`. A block dominates
/// those that only ways through it reach.
fn reached(blocks: &[Block], without: Option<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = (0..blocks.len()).take(1).collect();
    while let Some(block) = open.pop() {
        if Some(block) != without && found.insert(block) {
            open.extend(&blocks[block].next);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::disassembly::parse;
    use super::*;

    /// A loop with a check, a check before it, an overflow check and a tail jump to a panic.
    const TEXT: &str = "\
0000000000001000 <ixgbe::driver::rx::RxQueue::rx_batch>:
    1000:\tcmp    %rax,%rbx
    1003:\tjae    1030 <ixgbe::driver::rx::RxQueue::rx_batch+0x30>
    1005:\tcmp    %rcx,%rdx
    1008:\tjae    1035 <ixgbe::driver::rx::RxQueue::rx_batch+0x35>
    100a:\tadd    $0x1,%rcx
    100e:\tjb     1040 <ixgbe::driver::rx::RxQueue::rx_batch+0x40>
    1010:\tcall   2000 <memmove@plt>
    1015:\tjne    1005 <ixgbe::driver::rx::RxQueue::rx_batch+0x5>
    1017:\tret
    1030:\tlea    0x10(%rip),%rdx        # 5000 <x>
    1033:\tcall   3000 <core::panicking::panic_bounds_check>
    1035:\tmov    %rcx,%rdi
    1038:\tjmp    1033 <ixgbe::driver::rx::RxQueue::rx_batch+0x33>
    1040:\tcall   3100 <core::panicking::panic_const::panic_const_add_overflow>

0000000000001100 <main>:
    1100:\tret
";

    #[test]
    fn checks_are_found_and_those_in_loops_are_hot() {
        let functions = parse(TEXT);
        assert_eq!((functions.len(), functions[0].code.len()), (2, 14));
        assert_eq!(functions[0].code[1].target(), Some(0x1030));
        let analysis = analyse(&functions[0]);
        assert_eq!(analysis.loops, 1);
        let checks = [(1, Panic::Bounds), (3, Panic::Bounds), (5, Panic::Overflow)];
        assert_eq!(analysis.checks, BTreeMap::from(checks));
        assert_eq!(analysis.depth[..9], [0, 0, 1, 1, 1, 1, 1, 1, 0]);
    }

    #[test]
    fn a_decision_before_a_panic_is_no_check() {
        let text = "\
0000000000001000 <forward>:
    1000:\tje     1006 <forward+0x6>
    1002:\tret
    1006:\tjne    1002 <forward+0x2>
    1008:\tud2
";
        let analysis = analyse(&parse(text)[0]);
        assert_eq!(analysis.checks, BTreeMap::from([(2, Panic::Trap)]));
        assert_eq!(analysis.loops, 0);
    }
}
