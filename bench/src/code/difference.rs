//! Compares two lists of machine code line by line, regardless of registers, stack slots and addresses.
//!
//! First the lines are aligned by what they do, without the names of registers and stack slots. Then
//! the names are compared: going through the aligned lines, each name of one side must stand for the
//! same name of the other side until it receives a new value. So two compilers may choose different
//! registers, but one that uses a wrong register is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;
use similar::{capture_diff_slices, Algorithm, DiffOp};

use super::lines::{Code, Line};
use super::names::{Name, Shape};

/// How a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Same,
    /// Both sides do the same with names that do not stand for each other.
    Names,
    Changed,
    OnlyA,
    OnlyB,
}

/// A row: a line of each side, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub lines: [Option<usize>; 2],
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    /// Rows that differ in more than names.
    pub differ: usize,
    /// Of these, rows with a line on both sides, or of one side alone.
    pub changed: usize,
    pub only_a: usize,
    pub only_b: usize,
    /// Rows that differ only in the names of registers or stack slots.
    pub names: usize,
    pub same: usize,
}

/// Two lists of code, aligned.
#[derive(Debug, Clone, Default)]
pub struct Difference {
    pub rows: Vec<Row>,
    /// The numbers of the labels, by the lines of each side. Equal numbers stand for the same place.
    pub labels: [BTreeMap<usize, usize>; 2],
}

impl Difference {
    /// Compares two lists of code. With `exact_names`, each other register or stack slot is a change.
    pub fn new(sides: [&Code; 2], exact_names: bool) -> Self {
        let algorithms = [Algorithm::Patience, Algorithm::Myers];
        let all = algorithms.map(|algorithm| {
            let mut found = Self {
                rows: align(sides, exact_names, algorithm),
                ..Self::default()
            };
            found.label(sides);
            found.compare_targets(sides);
            found.compare_names(sides);
            found
        });
        // The shorter difference. The default cannot occur.
        all.into_iter()
            .min_by_key(|found| (found.counts().differ, found.counts().names))
            .unwrap_or_default()
    }

    pub fn counts(&self) -> RowCounts {
        let mut counts = RowCounts::default();
        for row in &self.rows {
            match row.kind {
                Kind::Same => counts.same += 1,
                Kind::Names => counts.names += 1,
                Kind::Changed => counts.changed += 1,
                Kind::OnlyA => counts.only_a += 1,
                Kind::OnlyB => counts.only_b += 1,
            }
        }
        counts.differ = counts.changed + counts.only_a + counts.only_b;
        counts
    }

    /// The number of the label that the jump at a line of a side goes to.
    pub fn target(&self, sides: [&Code; 2], side: usize, line: usize) -> Option<usize> {
        let target = sides[side].lines[line].target?;
        self.labels[side].get(&target).copied()
    }

    /// Numbers the targets of jumps, so that targets at the same place have the same number. Between
    /// two equal rows there may be several targets; they are paired from the end.
    fn label(&mut self, sides: [&Code; 2]) {
        let targets = sides.map(Code::targets);
        let mut number = 0;
        let mut open = [Vec::new(), Vec::new()];
        let last = self.rows.len().saturating_sub(1);
        for (place, row) in self.rows.iter().enumerate() {
            for side in [0, 1] {
                open[side].extend(row.lines[side].filter(|line| targets[side].contains(line)));
            }
            if row.kind != Kind::Same && place != last {
                continue;
            }
            let longest = open[0].len().max(open[1].len());
            for (open, labels) in open.iter_mut().zip(&mut self.labels) {
                let skipped = longest - open.len();
                for (place, line) in open.drain(..).enumerate() {
                    labels.insert(line, number + skipped + place + 1);
                }
            }
            number += longest;
        }
    }

    fn compare_targets(&mut self, sides: [&Code; 2]) {
        for place in 0..self.rows.len() {
            if let [Some(a), Some(b)] = self.rows[place].lines {
                if self.target(sides, 0, a) != self.target(sides, 1, b) {
                    self.rows[place].kind = Kind::Changed;
                }
            }
        }
    }

    /// Marks rows with names that do not stand for each other.
    fn compare_names(&mut self, sides: [&Code; 2]) {
        let mut known = Correspondence::default();
        for row in &mut self.rows {
            let lines = [0, 1].map(|side| Some(&sides[side].lines[row.lines[side]?]));
            match lines {
                [Some(a), Some(b)] if a.shape.text == b.shape.text => {
                    if !known.fits(&a.shape, &b.shape) && row.kind == Kind::Same {
                        row.kind = Kind::Names;
                    }
                }
                // What only one side computes stands for nothing of the other side.
                lines => {
                    for (side, line) in lines.into_iter().enumerate() {
                        let shape = line.map(|line| &line.shape);
                        let defined = shape.and_then(|shape| Some(shape.names[shape.defines?]));
                        if let Some(name) = defined {
                            known.forget(side, name);
                        }
                    }
                }
            }
            let mut lines = lines.into_iter().flatten();
            if lines.any(|line| line.instruction.is_call()) {
                known.forget_changed_by_calls();
            }
        }
    }
}

/// Which name of one side stands for which name of the other, by the names of side A and of side B.
#[derive(Debug, Default)]
struct Correspondence([BTreeMap<Name, Name>; 2]);

impl Correspondence {
    /// Whether all names of two instructions stand for each other. From now on, they do.
    fn fits(&mut self, a: &Shape, b: &Shape) -> bool {
        let mut fits = true;
        for (place, (name_a, name_b)) in a.names.iter().zip(&b.names).enumerate() {
            let defined = a.defines == Some(place) && a.defines == b.defines;
            let known = [self.0[0].get(name_a), self.0[1].get(name_b)];
            let accepted = match known {
                [None, None] => true,
                known => known == [Some(name_b), Some(name_a)],
            };
            fits &= defined || accepted;
            self.forget(0, *name_a);
            self.forget(1, *name_b);
            self.0[0].insert(*name_a, *name_b);
            self.0[1].insert(*name_b, *name_a);
        }
        fits
    }

    fn forget(&mut self, side: usize, name: Name) {
        if let Some(other) = self.0[side].remove(&name) {
            self.0[1 - side].remove(&other);
        }
    }

    fn forget_changed_by_calls(&mut self) {
        for side in &mut self.0 {
            side.retain(|a, b| !a.is_changed_by_calls() && !b.is_changed_by_calls());
        }
    }
}

/// Aligns function by function if both sides have the same ones, otherwise all code at once.
fn align(sides: [&Code; 2], exact_names: bool, algorithm: Algorithm) -> Vec<Row> {
    let names = |code: &Code| -> Vec<String> {
        let parts = code.parts.iter();
        parts.map(|part| part.short.clone()).collect()
    };
    let [names_a, names_b] = sides.map(names);
    let unique = names_a.iter().collect::<BTreeSet<_>>().len() == names_a.len();
    let ranges = |code: &Code| -> Vec<Range<usize>> {
        if unique && names_a == names_b {
            code.parts.iter().map(|part| part.lines.clone()).collect()
        } else {
            std::iter::once(0..code.lines.len()).collect()
        }
    };
    let keys = |code: &Code| -> Vec<String> {
        let lines = code.lines.iter();
        let exact = |line: &Line| line.text.clone();
        let marked = |line: &Line| line.shape.text.clone();
        lines
            .map(if exact_names { exact } else { marked })
            .collect()
    };
    let [keys_a, keys_b] = sides.map(keys);
    let [ranges_a, ranges_b] = sides.map(ranges);
    let mut rows = Vec::new();
    for (a, b) in ranges_a.into_iter().zip(ranges_b) {
        let starts = [a.start, b.start];
        for op in capture_diff_slices(algorithm, &keys_a[a], &keys_b[b]) {
            add_rows(&op, starts, &mut rows);
        }
    }
    rows
}

fn add_rows(op: &DiffOp, starts: [usize; 2], rows: &mut Vec<Row>) {
    let (_, in_a, in_b) = op.as_tag_tuple();
    let both = match op {
        DiffOp::Equal { .. } => Kind::Same,
        _ => Kind::Changed,
    };
    for place in 0..in_a.len().max(in_b.len()) {
        let line = |range: &Range<usize>, start: usize| {
            (place < range.len()).then(|| start + range.start + place)
        };
        let lines = [line(&in_a, starts[0]), line(&in_b, starts[1])];
        let kind = match lines {
            [Some(_), None] => Kind::OnlyA,
            [None, Some(_)] => Kind::OnlyB,
            _ => both,
        };
        rows.push(Row { lines, kind });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use regex::{Captures, Regex};

    use super::super::lines::tests::code;
    use super::*;

    fn compared(a: &str, b: &str) -> RowCounts {
        Difference::new([&code(a), &code(b)], false).counts()
    }

    const F: &str = "\
0000000000001000 <f>:
    1000:\tmov    (%rdi),%rax
    1003:\tcmp    %rsi,%rax
    1006:\tje     1012 <f+0x12>
    1008:\tadd    $0x1,%rax
    100c:\tcall   3000 <g>
    1010:\tjmp    1000 <f>
    1012:\tmov    %rax,0x8(%rsp)
    1016:\tret
";

    #[test]
    fn another_register_stands_for_the_first_until_it_is_misused() {
        let renamed = F.replace("%rax", "%rbx");
        assert_eq!(compared(F, &renamed).same, 8);
        // The addition uses another register than the load.
        let wrong = renamed.replace("$0x1,%rbx", "$0x1,%rcx");
        let counts = compared(F, &wrong);
        assert_eq!((counts.differ, counts.names), (0, 1), "{counts:?}");
        let exact = Difference::new([&code(F), &code(&renamed)], true);
        assert_eq!(exact.counts().differ, 4);
    }

    #[test]
    fn another_instruction_operand_call_or_target_makes_a_difference() {
        for (from, to) in [
            ("add    $0x1", "add    $0x2"),
            ("add    $0x1", "sub    $0x1"),
            ("<g>", "<h>"),
            ("1012 <f+0x12>", "1010 <f+0x10>"),
            ("mov    (%rdi),%rax", "mov    (%rdi),%eax"),
        ] {
            let counts = compared(F, &F.replacen(from, to, 1));
            assert_eq!(
                (counts.differ, counts.changed),
                (1, 1),
                "{from}: {counts:?}"
            );
        }
    }

    #[test]
    fn a_new_line_changes_no_jump_over_it() {
        let more = F.replace("    1010:\tjmp", "    100e:\tinc    %rdx\n    1010:\tjmp");
        let counts = compared(F, &more);
        assert_eq!((counts.differ, counts.only_b), (1, 1), "{counts:?}");
    }

    #[test]
    fn functions_are_aligned_one_by_one() {
        let cold = "0000000000005000 <f.cold>:\n    5000:\tjmp    1000 <f>\n";
        let counts = compared(&format!("{F}{cold}"), &format!("{F}{cold}"));
        assert_eq!((counts.same, counts.differ), (9, 0));
    }

    const REGISTERS: [&str; 13] = [
        "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r15",
    ];
    const SLOTS: [&str; 4] = ["0x0(%rsp)", "0x8(%rsp)", "0x10(%rsp)", "0x18(%rsp)"];

    /// The instructions of a random function. A jump has the number of its target.
    fn random() -> impl Strategy<Value = Vec<(String, usize)>> {
        let register = || select(&REGISTERS[..]);
        let two = select(
            &[
                "mov    %",
                "add    %",
                "xor    %",
                "cmp    %",
                "lea    0x8(%",
            ][..],
        );
        let two = (two, register(), register()).prop_map(|(name, a, b)| match name {
            "lea    0x8(%" => format!("{name}{a}),%{b}"),
            _ => format!("{name}{a},%{b}"),
        });
        let load = (register(), register()).prop_map(|(a, b)| format!("mov    0x10(%{a}),%{b}"));
        let spill = (register(), select(&SLOTS[..]));
        let spill = spill.prop_map(|(register, slot)| format!("mov    %{register},{slot}"));
        let other = select(&["je", "jmp", "jb", "call"][..]).prop_map(str::to_owned);
        let line = prop_oneof![two, load, spill, other];
        proptest::collection::vec((line, 0..40_usize), 1..40)
    }

    /// A function in objdump's format, at an address.
    fn written(code: &[(String, usize)], start: usize) -> String {
        let lines = code.iter().enumerate().map(|(place, (text, target))| {
            let target = target % code.len();
            let text = match text.as_str() {
                "call" => format!("call   {:x} <g>", start + 0x9000),
                text if text.starts_with('j') => {
                    format!("{text}    {:x} <f+{target:#x}>", start + target)
                }
                text => text.to_owned(),
            };
            format!("    {:x}:\t{text}\n", start + place)
        });
        format!("{start:016x} <f>:\n{}", lines.collect::<String>())
    }

    proptest! {
        /// Neither other addresses nor a consistent change of registers and slots is a difference.
        #[test]
        fn other_addresses_registers_and_slots_make_no_difference(
            lines in random(),
            start in 0x1000_usize..0x9_0000,
            registers in Just(REGISTERS.to_vec()).prop_shuffle(),
            slots in Just(SLOTS.to_vec()).prop_shuffle(),
        ) {
            let a = written(&lines, 0x1000);
            let other = |found: &Captures<'_>| {
                let place = |list: &[&str]| list.iter().position(|name| *name == &found[1]);
                let register = place(&REGISTERS).map(|place| registers[place]);
                register.or(place(&SLOTS).map(|place| slots[place])).unwrap().to_owned()
            };
            let names = Regex::new(r"(0x[0-9a-f]+\(%rsp\)|r(?:[a-d]x|[sd]i|bp|[0-9]+))").unwrap();
            let b = written(&lines, start);
            let b = names.replace_all(&b, other);
            let counts = Difference::new([&code(&a), &code(&b)], false).counts();
            prop_assert_eq!(counts.same, lines.len(), "{}\n{}", a, b);
            prop_assert_eq!(counts.differ + counts.names, 0);
            let exact = Difference::new([&code(&a), &code(&a)], true).counts();
            prop_assert_eq!(exact.same, lines.len());
        }

        /// Each line of both sides stands in exactly one row, in its order.
        #[test]
        fn rows_hold_all_lines_in_order(a in random(), b in random()) {
            let [a, b] = [a, b].map(|lines| code(&written(&lines, 0x1000)));
            let rows = Difference::new([&a, &b], false).rows;
            for (side, code) in [a, b].into_iter().enumerate() {
                let lines: Vec<usize> = rows.iter().filter_map(|row| row.lines[side]).collect();
                prop_assert_eq!(lines, (0..code.lines.len()).collect::<Vec<_>>());
            }
        }
    }
}
