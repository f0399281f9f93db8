//! Compares the machine code of two programs, regardless of addresses.

use super::listing::{Function, Instruction};

/// How a function of one program compares with the function of the same name in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeMatch {
    /// All instructions are equal.
    Same,
    /// Some instructions differ.
    Differs {
        /// The number of instructions in the other program.
        there: usize,
        /// The number of positions at which the instructions differ.
        places: usize,
    },
    /// The other program has no function of that name.
    Absent,
}

/// Compares a function with the one of the same name among `others`.
pub fn code_match(function: &Function, others: &[Function]) -> CodeMatch {
    // A generic function may occur several times.
    let named: Vec<&Function> = others
        .iter()
        .filter(|other| other.name == function.name)
        .collect();
    let places = |other: &&Function| {
        let shorter = function.code.len().min(other.code.len());
        let equal = function
            .code
            .iter()
            .zip(&other.code)
            .filter(|(a, b)| meaning(a) == meaning(b))
            .count();
        shorter - equal + function.code.len().abs_diff(other.code.len())
    };
    let Some(nearest) = named.into_iter().min_by_key(places) else {
        return CodeMatch::Absent;
    };
    match places(&nearest) {
        0 => CodeMatch::Same,
        places => CodeMatch::Differs {
            there: nearest.code.len(),
            places,
        },
    }
}

/// An instruction without addresses. A jump or call has the name of its target, and an access
/// relative to the instruction pointer has no distance.
fn meaning(instruction: &Instruction) -> String {
    let text = instruction.text.split_whitespace();
    match (instruction.target(), instruction.names()) {
        (Some(_), Some(name)) => format!("{} {name}", instruction.mnemonic()),
        _ => text
            .map(|word| match word.find("(%rip)") {
                // Keep the operands before the distance.
                Some(end) => {
                    let start = word[..end].rfind([',', '*']).map_or(0, |at| at + 1);
                    format!("{}{}", &word[..start], &word[end..])
                }
                None => word.to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::parse;
    use super::*;

    const ONE: &str = "\
0000000000001000 <forward>:
    1000:\tmov    0x10(%rip),%rax
    1003:\tjae    1009 <forward+0x9>
    1005:\tcall   3000 <rx_batch>
    1009:\tret
    100a:\tint3
    100b:\tnopw   0x0(%rax,%rax,1)
";

    #[test]
    fn addresses_make_no_difference() {
        let moved = ONE
            .replace("0000000000001000", "0000000000007000")
            .replace("0x10(%rip)", "-0x99(%rip)")
            .replace("1009 <", "7009 <")
            .replace("3000 <", "9000 <");
        assert_eq!(code_match(&parse(ONE)[0], &parse(&moved)), CodeMatch::Same);
    }

    /// objdump names a target by the nearest symbol, which need not be a function.
    #[test]
    fn another_symbol_inside_the_function_makes_no_difference() {
        let other = ONE.replace("<forward+0x9>", "<file.c.1234+0x2>");
        assert_eq!(code_match(&parse(ONE)[0], &parse(&other)), CodeMatch::Same);
    }

    #[test]
    fn another_instruction_target_or_operand_makes_a_difference() {
        for (from, to) in [
            ("ret", "ret\n    100a:\tpop    %rbp"),
            ("<rx_batch>", "<tx_batch>"),
            ("1009 <forward+0x9>", "1005 <forward+0x5>"),
            ("%rax\n", "%rbx\n"),
        ] {
            let other = parse(&ONE.replacen(from, to, 1));
            let found = code_match(&parse(ONE)[0], &other);
            assert!(
                matches!(found, CodeMatch::Differs { places: 1, .. }),
                "{to}: {found:?}"
            );
        }
        assert_eq!(
            code_match(&parse(ONE)[0], &parse(&ONE.replace("<forward>:", "<f>:"))),
            CodeMatch::Absent
        );
    }
}
