//! Separates what an instruction does from the registers and stack slots that the compiler chose.

use super::disassembly::split;

/// A place that the compiler chooses freely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A general-purpose register, by its number.
    General(u8),
    /// A vector register, by its number.
    Vector(u8),
    /// A slot of the stack frame: its distance from the stack pointer in bytes, or a number for its
    /// distance from the frame pointer.
    Slot(i64),
}

/// General-purpose registers that a called function may change, by System V's ABI for x86-64: rax,
/// rcx, rdx, rsi, rdi and r8 to r11.
const CHANGED_BY_CALLS: [u8; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

impl Name {
    /// Whether a call may change it.
    pub fn is_changed_by_calls(self) -> bool {
        match self {
            Self::General(number) => CHANGED_BY_CALLS.contains(&number),
            Self::Vector(_) => true,
            Self::Slot(_) => false,
        }
    }
}

/// An instruction in which each name is replaced by a mark with its width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The instruction with marks.
    pub text: String,
    /// The names, in the order of the marks.
    pub names: Vec<Name>,
    /// The index in `names` of the place that receives a new value, if the old one does not matter.
    pub defines: Option<usize>,
}

/// The x86-64 general-purpose registers with names of their own, by their numbers. The stack
/// pointer, number 4, is not among them: it is no free choice.
const LETTERS: [(u8, [&str; 4]); 7] = [
    (0, ["rax", "eax", "ax", "al"]),
    (1, ["rcx", "ecx", "cx", "cl"]),
    (2, ["rdx", "edx", "dx", "dl"]),
    (3, ["rbx", "ebx", "bx", "bl"]),
    (5, ["rbp", "ebp", "bp", "bpl"]),
    (6, ["rsi", "esi", "si", "sil"]),
    (7, ["rdi", "edi", "di", "dil"]),
];
const WIDTHS: [&str; 4] = ["64", "32", "16", "8"];

/// The register and its width, by its name without the percent sign.
fn register(name: &str) -> Option<(Name, &'static str)> {
    for (number, names) in LETTERS {
        if let Some(width) = names.iter().position(|known| *known == name) {
            return Some((Name::General(number), WIDTHS[width]));
        }
    }
    // The second byte of a register.
    for (number, high) in (0..).zip(["ah", "ch", "dh", "bh"]) {
        if high == name {
            return Some((Name::General(number), "8h"));
        }
    }
    for (prefix, width) in [("xmm", "128"), ("ymm", "256"), ("zmm", "512")] {
        if let Some(number) = name.strip_prefix(prefix) {
            return Some((Name::Vector(number.parse().ok()?), width));
        }
    }
    let numbered = name.strip_prefix('r')?;
    let number = numbered.trim_end_matches(['d', 'w', 'b']);
    let width = match &numbered[number.len()..] {
        "" => "64",
        "d" => "32",
        "w" => "16",
        "b" => "8",
        _ => return None,
    };
    let number = number.parse().ok();
    let number = number.filter(|number| (8..32).contains(number))?;
    Some((Name::General(number), width))
}

/// Replaces the names of an instruction in AT&T syntax with marks.
pub fn shape(text: &str) -> Shape {
    let mut marked = String::with_capacity(text.len());
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        let (before, found) = rest.split_at(start);
        let word = &found[1..];
        let end = word
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(word.len());
        let after = &word[end..];
        if let Some((kept, slot)) = stack_slot(before, &word[..end], after) {
            marked.push_str(kept);
            marked.push_str("<slot>");
            names.push(Name::Slot(slot));
            rest = &after[1..];
            continue;
        }
        marked.push_str(before);
        match register(&word[..end]) {
            Some((name, width)) => {
                marked.push_str(match name {
                    Name::Vector(_) => "%v",
                    _ => "%r",
                });
                marked.push_str(width);
                names.push(name);
            }
            None => marked.push_str(&found[..=end]),
        }
        rest = after;
    }
    marked.push_str(rest);
    Shape {
        defines: defines(text, &names),
        text: marked,
        names,
    }
}

/// For `0x18(` before, `rsp` or `rbp`, and `)` after: what stands before the distance, and a number
/// for the slot.
fn stack_slot<'t>(before: &'t str, register: &str, after: &str) -> Option<(&'t str, i64)> {
    if !after.starts_with(')') {
        return None;
    }
    let distance = before.strip_suffix('(')?;
    let start = distance.rfind([',', ' ', '*', ':']).map_or(0, |at| at + 1);
    let (kept, number) = distance.split_at(start);
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number),
    };
    let value = match digits {
        "" => 0,
        digits => i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?,
    };
    match register {
        "rsp" => Some((kept, sign * value)),
        // Below a frame pointer lie slots, too. Their distances have another origin.
        "rbp" if sign < 0 => Some((kept, i64::from(i32::MIN) - value)),
        _ => None,
    }
}

/// Instructions whose only effect on their last operand is a new value, by how their names start.
const FRESH: &str =
    "mov lea pop vmov vpmov vpbroadcast vbroadcast popcnt tzcnt lzcnt bsf bsr shlx \
                     shrx sarx rorx cvt";

/// The index in `names` of the place that the instruction gives a new value.
fn defines(text: &str, names: &[Name]) -> Option<usize> {
    let (mnemonic, operands) = split(text);
    let last = names.len().checked_sub(1)?;
    // The last operand must be a plain register, or a stack slot that the instruction writes.
    let operand = operands.rsplit(',').next().unwrap_or("");
    let plain = operand.starts_with('%') && !operand.contains('(');
    let slot = matches!(names[last], Name::Slot(_)) && operand.contains('(');
    if !plain && !slot {
        return None;
    }
    let starts = |names: &str| names.split(' ').any(|name| mnemonic.starts_with(name));
    let fresh = starts(FRESH);
    // `xor %eax,%eax` gives 0, whatever the register held.
    let zeroes =
        starts("xor vpxor vxor") && names.len() >= 2 && names.iter().all(|name| *name == names[0]);
    let three = mnemonic.starts_with('v') || mnemonic.starts_with("imul") || mnemonic == "andn";
    let separate = three && operands.matches(',').count() >= 2 && !operands.contains('(');
    (fresh || zeroes || separate).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_slots_become_marks() {
        // Segments and the instruction pointer keep their names.
        let expected = "\
mov %rax,%rbx: mov %r64,%r64 [General(0), General(3)] Some(1)
mov %r10d,0x8(%rdx,%r9,8): mov %r32,0x8(%r64,%r64,8) [General(10), General(2), General(9)] None
movzbl %ah,%ecx: movzbl %r8h,%r32 [General(0), General(1)] Some(1)
xor %eax,%eax: xor %r32,%r32 [General(0), General(0)] Some(1)
add %eax,%ecx: add %r32,%r32 [General(0), General(1)] None
mov %rax,0x18(%rsp): mov %r64,<slot> [General(0), Slot(24)] Some(1)
add (%rsp),%rax: add <slot>,%r64 [Slot(0), General(0)] None
vpaddd %ymm1,%ymm2,%ymm3: vpaddd %v256,%v256,%v256 [Vector(1), Vector(2), Vector(3)] Some(2)
sub $0x18,%rsp: sub $0x18,%rsp [] None
mov 0x8(%rbp),%rax: mov 0x8(%r64),%r64 [General(5), General(0)] Some(1)
mov %fs:0x28,%rsp: mov %fs:0x28,%rsp [] None
lea name(%rip),%rsp: lea name(%rip),%rsp [] None";
        for line in expected.lines() {
            let (text, _) = line.split_once(": ").unwrap();
            let shape = shape(text);
            let (marked, names, defines) = (shape.text, shape.names, shape.defines);
            assert_eq!(format!("{text}: {marked} {names:?} {defines:?}"), line);
        }
    }
}
