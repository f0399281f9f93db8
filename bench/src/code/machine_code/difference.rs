//! Compares two lists of machine code line by line, regardless of registers, stack slots and addresses.
//!
//! First the lines are aligned by what they do, without the names of registers and stack slots. Then
//! the names are compared: going through the aligned lines, each name of one side must stand for the
//! same name of the other side until it receives a new value. So two compilers may choose different
//! registers, but one that uses a wrong register is seen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::{capture_diff_slices, Algorithm, DiffOp};

use super::code::{Code, Part};
use super::names::Name;

/// How a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Both sides do the same.
    Same,
    /// Both sides do the same with names that do not stand for each other.
    Names,
    /// The sides do different things.
    Changed,
    /// Only side A has the line.
    OnlyA,
    /// Only side B has the line.
    OnlyB,
}

/// A row: a line of each side, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The line of side A.
    pub a: Option<usize>,
    /// The line of side B.
    pub b: Option<usize>,
    /// How they differ.
    pub kind: Kind,
}

/// The numbers of rows, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    /// Rows that differ in more than names.
    pub differ: usize,
    /// Of these, rows with a line on both sides.
    pub changed: usize,
    /// Of these, rows of side A alone.
    pub only_a: usize,
    /// Of these, rows of side B alone.
    pub only_b: usize,
    /// Rows that differ only in the names of registers or stack slots.
    pub names: usize,
    /// Rows without a difference.
    pub same: usize,
}

/// Two lists of code, aligned.
#[derive(Debug, Clone, Default)]
pub struct Difference {
    /// The rows, in the order of both sides.
    pub rows: Vec<Row>,
    /// The numbers of the labels, by the lines of side A. Equal numbers stand for the same place.
    pub labels_a: BTreeMap<usize, usize>,
    /// The same for side B.
    pub labels_b: BTreeMap<usize, usize>,
}

impl Difference {
    /// Compares two lists of code. With `exact_names`, each other register or stack slot is a change.
    pub fn new(a: &Code, b: &Code, exact_names: bool) -> Self {
        let algorithms = [Algorithm::Patience, Algorithm::Myers];
        let all = algorithms.map(|algorithm| {
            let mut found = Self {
                rows: align(a, b, exact_names, algorithm),
                ..Self::default()
            };
            found.label(a, b);
            found.compare_targets(a, b);
            found.compare_names(a, b);
            found
        });
        // The shorter difference. The default cannot occur.
        all.into_iter()
            .min_by_key(|found| (found.counts().differ, found.counts().names))
            .unwrap_or_default()
    }

    /// The numbers of rows.
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

    /// Numbers the targets of jumps, so that targets at the same place have the same number. Between
    /// two equal rows there may be several targets; they are paired from the end.
    fn label(&mut self, a: &Code, b: &Code) {
        let (targets_a, targets_b) = (a.targets(), b.targets());
        let mut number = 0;
        let (mut open_a, mut open_b) = (Vec::new(), Vec::new());
        let last = self.rows.len().saturating_sub(1);
        for (place, row) in self.rows.iter().enumerate() {
            open_a.extend(row.a.filter(|line| targets_a.contains(line)));
            open_b.extend(row.b.filter(|line| targets_b.contains(line)));
            if row.kind != Kind::Same && place != last {
                continue;
            }
            let longest = open_a.len().max(open_b.len());
            for (open, labels) in [
                (&mut open_a, &mut self.labels_a),
                (&mut open_b, &mut self.labels_b),
            ] {
                let skipped = longest - open.len();
                for (place, line) in open.drain(..).enumerate() {
                    labels.insert(line, number + skipped + place + 1);
                }
            }
            number += longest;
        }
    }

    /// Marks jumps that go to different places.
    fn compare_targets(&mut self, a: &Code, b: &Code) {
        for row in &mut self.rows {
            let (Some(in_a), Some(in_b)) = (row.a, row.b) else {
                continue;
            };
            let label_a = a.lines[in_a]
                .target
                .and_then(|line| self.labels_a.get(&line));
            let label_b = b.lines[in_b]
                .target
                .and_then(|line| self.labels_b.get(&line));
            if label_a != label_b {
                row.kind = Kind::Changed;
            }
        }
    }

    /// Marks rows with names that do not stand for each other.
    fn compare_names(&mut self, a: &Code, b: &Code) {
        let mut known = Correspondence::default();
        for row in &mut self.rows {
            let shape_a = row.a.map(|line| &a.lines[line].shape);
            let shape_b = row.b.map(|line| &b.lines[line].shape);
            match (shape_a, shape_b) {
                (Some(shape_a), Some(shape_b)) if shape_a.text == shape_b.text => {
                    let pairs = shape_a.names.iter().zip(&shape_b.names);
                    let mut fits = true;
                    for (place, (name_a, name_b)) in pairs.enumerate() {
                        if shape_a.defines == Some(place) && shape_a.defines == shape_b.defines {
                            known.bind(*name_a, *name_b);
                        } else if !known.accepts(*name_a, *name_b) {
                            fits = false;
                            known.bind(*name_a, *name_b);
                        }
                    }
                    if !fits && row.kind == Kind::Same {
                        row.kind = Kind::Names;
                    }
                }
                // What only one side computes stands for nothing of the other side.
                (shape_a, shape_b) => {
                    let defined = |shape: &super::names::Shape| Some(shape.names[shape.defines?]);
                    if let Some(name) = shape_a.and_then(defined) {
                        known.forget_a(name);
                    }
                    if let Some(name) = shape_b.and_then(defined) {
                        known.forget_b(name);
                    }
                }
            }
            let calls = |code: &Code, line: Option<usize>| {
                line.is_some_and(|line| code.lines[line].instruction.is_call())
            };
            if calls(a, row.a) || calls(b, row.b) {
                known.forget_changed_by_calls();
            }
        }
    }
}

/// Which name of one side stands for which name of the other.
#[derive(Debug, Default)]
struct Correspondence {
    a_to_b: BTreeMap<Name, Name>,
    b_to_a: BTreeMap<Name, Name>,
}

impl Correspondence {
    /// Whether two names stand for each other. Two unknown names do from now on.
    fn accepts(&mut self, a: Name, b: Name) -> bool {
        match (self.a_to_b.get(&a), self.b_to_a.get(&b)) {
            (Some(known_b), Some(known_a)) => *known_b == b && *known_a == a,
            (None, None) => {
                self.bind(a, b);
                true
            }
            _ => false,
        }
    }

    fn bind(&mut self, a: Name, b: Name) {
        self.forget_a(a);
        self.forget_b(b);
        self.a_to_b.insert(a, b);
        self.b_to_a.insert(b, a);
    }

    fn forget_a(&mut self, a: Name) {
        if let Some(b) = self.a_to_b.remove(&a) {
            self.b_to_a.remove(&b);
        }
    }

    fn forget_b(&mut self, b: Name) {
        if let Some(a) = self.b_to_a.remove(&b) {
            self.a_to_b.remove(&a);
        }
    }

    fn forget_changed_by_calls(&mut self) {
        let gone = |a: &Name, b: &Name| a.is_changed_by_calls() || b.is_changed_by_calls();
        self.a_to_b.retain(|a, b| !gone(a, b));
        self.b_to_a.retain(|b, a| !gone(a, b));
    }
}

/// Aligns function by function if both sides have the same ones, otherwise all code at once.
fn align(a: &Code, b: &Code, exact_names: bool, algorithm: Algorithm) -> Vec<Row> {
    let names =
        |code: &Code| -> Vec<String> { code.parts.iter().map(|part| part.short.clone()).collect() };
    let unique = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let whole = |code: &Code| {
        vec![Part {
            name: String::new(),
            short: String::new(),
            start: 0,
            end: code.lines.len(),
        }]
    };
    let (names_a, names_b) = (names(a), names(b));
    let (parts_a, parts_b) = match names_a == names_b && unique(&names_a) {
        true => (a.parts.clone(), b.parts.clone()),
        false => (whole(a), whole(b)),
    };
    let keys = |code: &Code| -> Vec<String> {
        code.lines
            .iter()
            .map(|line| match exact_names {
                true => line.text.clone(),
                false => line.shape.text.clone(),
            })
            .collect()
    };
    let (keys_a, keys_b) = (keys(a), keys(b));
    let mut rows = Vec::new();
    for (part_a, part_b) in parts_a.iter().zip(&parts_b) {
        let ops = capture_diff_slices(
            algorithm,
            &keys_a[part_a.start..part_a.end],
            &keys_b[part_b.start..part_b.end],
        );
        for op in &ops {
            add_rows(op, part_a.start, part_b.start, &mut rows);
        }
    }
    rows
}

fn add_rows(op: &DiffOp, start_a: usize, start_b: usize, rows: &mut Vec<Row>) {
    let (_, in_a, in_b) = op.as_tag_tuple();
    let both = match op {
        DiffOp::Equal { .. } => Kind::Same,
        _ => Kind::Changed,
    };
    for place in 0..in_a.len().max(in_b.len()) {
        let a = (place < in_a.len()).then(|| start_a + in_a.start + place);
        let b = (place < in_b.len()).then(|| start_b + in_b.start + place);
        let kind = match (a, b) {
            (Some(_), None) => Kind::OnlyA,
            (None, Some(_)) => Kind::OnlyB,
            _ => both,
        };
        rows.push(Row { a, b, kind });
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::listing::parse;
    use super::super::selection::choose;
    use super::super::source::Sources;
    use super::super::symbols::Symbols;
    use super::*;

    /// The code of the function `f` in objdump's output.
    fn code(text: &str) -> Code {
        let functions = parse(text);
        let chosen = choose(&functions, &["f"], &|_| Vec::new());
        Code::new(
            &chosen,
            &Symbols::default(),
            &mut Sources::new(Path::new("/")),
        )
    }

    fn compared(a: &str, b: &str) -> RowCounts {
        Difference::new(&code(a), &code(b), false).counts()
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
        assert_eq!(
            Difference::new(&code(F), &code(&renamed), true)
                .counts()
                .differ,
            4
        );
    }

    #[test]
    fn another_stack_slot_makes_no_difference() {
        assert_eq!(compared(F, &F.replace("0x8(%rsp)", "0x18(%rsp)")).same, 8);
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

    /// An instruction of a random function. Registers and slots are numbers, targets are lines.
    #[derive(Debug, Clone)]
    enum Random {
        Two(&'static str, usize, usize),
        Load(usize, usize),
        Spill(usize, usize),
        Jump(&'static str, usize),
        Call,
    }

    const REGISTERS: [&str; 13] = [
        "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r15",
    ];

    fn random() -> impl Strategy<Value = Random> {
        let register = 0..REGISTERS.len();
        prop_oneof![
            (
                prop_oneof![
                    Just("mov"),
                    Just("add"),
                    Just("xor"),
                    Just("cmp"),
                    Just("lea")
                ],
                register.clone(),
                register.clone()
            )
                .prop_map(|(name, a, b)| Random::Two(name, a, b)),
            (register.clone(), register.clone()).prop_map(|(a, b)| Random::Load(a, b)),
            (register, 0..4_usize).prop_map(|(a, slot)| Random::Spill(a, slot)),
            (
                prop_oneof![Just("je"), Just("jmp"), Just("jb")],
                0..40_usize
            )
                .prop_map(|(name, line)| Random::Jump(name, line)),
            Just(Random::Call),
        ]
    }

    /// A function in objdump's format, at an address, with registers and slots in another order.
    fn written(code: &[Random], start: u64, registers: &[usize], slots: &[usize]) -> String {
        let name = |register: usize| REGISTERS[registers[register]];
        let mut text = format!("{start:016x} <f>:\n");
        for (place, instruction) in code.iter().enumerate() {
            let written = match instruction {
                Random::Two("lea", a, b) => format!("lea    0x8(%{}),%{}", name(*a), name(*b)),
                Random::Two(mnemonic, a, b) => format!("{mnemonic}    %{},%{}", name(*a), name(*b)),
                Random::Load(a, b) => format!("mov    0x10(%{}),%{}", name(*a), name(*b)),
                Random::Spill(a, slot) => {
                    format!("mov    %{},{:#x}(%rsp)", name(*a), 8 * slots[*slot])
                }
                Random::Jump(mnemonic, line) => {
                    let line = (line % code.len()) as u64;
                    format!("{mnemonic}    {:x} <f+{line:#x}>", start + line)
                }
                Random::Call => format!("call   {:x} <g>", start + 0x9000),
            };
            writeln!(text, "    {:x}:\t{written}", start + place as u64).unwrap();
        }
        text
    }

    proptest! {
        /// Neither other addresses nor a consistent change of registers and slots is a difference.
        #[test]
        fn other_addresses_registers_and_slots_make_no_difference(
            lines in proptest::collection::vec(random(), 1..40),
            start in 0x1000_u64..0x9_0000,
            registers in Just((0..REGISTERS.len()).collect::<Vec<_>>()).prop_shuffle(),
            slots in Just((0..4).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let identity: Vec<usize> = (0..REGISTERS.len()).collect();
            let a = written(&lines, 0x1000, &identity, &identity);
            let b = written(&lines, start, &registers, &slots);
            let counts = Difference::new(&code(&a), &code(&b), false).counts();
            prop_assert_eq!(counts.same, lines.len(), "{}\n{}", a, b);
            prop_assert_eq!(counts.differ + counts.names, 0);
            let exact = Difference::new(&code(&a), &code(&a), true).counts();
            prop_assert_eq!(exact.same, lines.len());
        }

        /// Each line of both sides stands in exactly one row, in its order.
        #[test]
        fn rows_hold_all_lines_in_order(
            a in proptest::collection::vec(random(), 1..40),
            b in proptest::collection::vec(random(), 1..40),
        ) {
            let identity: Vec<usize> = (0..REGISTERS.len()).collect();
            let [a, b] = [a, b].map(|lines| code(&written(&lines, 0x1000, &identity, &identity)));
            let rows = Difference::new(&a, &b, false).rows;
            let lines_a: Vec<usize> = rows.iter().filter_map(|row| row.a).collect();
            let lines_b: Vec<usize> = rows.iter().filter_map(|row| row.b).collect();
            prop_assert_eq!(lines_a, (0..a.lines.len()).collect::<Vec<_>>());
            prop_assert_eq!(lines_b, (0..b.lines.len()).collect::<Vec<_>>());
        }
    }
}
