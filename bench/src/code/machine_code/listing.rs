//! Parses objdump's output: functions, instructions and their source lines.

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
}

/// Data that an instruction refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// Its address.
    pub address: u64,
    /// The name that objdump gives to it.
    pub name: String,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub address: u64,
    /// Mnemonic and operands.
    pub text: String,
    /// The data that an operand relative to the instruction pointer stands for.
    pub data: Option<Data>,
    /// Its source lines, the innermost inlined function first; empty without line tables.
    pub places: Vec<Place>,
}

impl Instruction {
    /// The mnemonic without prefixes.
    pub fn mnemonic(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let first = words.next().unwrap_or("");
        match first {
            "bnd" | "notrack" | "lock" | "rep" | "repz" | "repnz" => words.next().unwrap_or(first),
            first => first.split(',').next().unwrap_or(first),
        }
    }

    /// Whether it is a jump, conditional or not.
    pub fn is_jump(&self) -> bool {
        self.mnemonic().starts_with('j')
    }

    /// Whether it is a conditional jump.
    pub fn is_branch(&self) -> bool {
        self.is_jump() && !self.mnemonic().starts_with("jmp")
    }

    /// Whether it is a call.
    pub fn is_call(&self) -> bool {
        self.mnemonic().starts_with("call")
    }

    /// Whether control never continues with the next instruction.
    pub fn is_end(&self) -> bool {
        ["ret", "ud2", "hlt"]
            .iter()
            .any(|end| self.mnemonic().starts_with(end))
    }

    /// Whether it only fills space, so that a loop or the next function starts at a round address.
    pub fn is_padding(&self) -> bool {
        let mut words = self.text.split_whitespace();
        let fills = |word: &str| word.starts_with("nop") || word == "int3";
        words.any(fills) || self.text.replace(' ', "") == "xchg%ax,%ax"
    }

    /// The address of its jump or call; `None` if the address is computed.
    pub fn target(&self) -> Option<u64> {
        if !self.is_jump() && !self.is_call() {
            return None;
        }
        let word = self
            .text
            .split_whitespace()
            .find_map(|word| u64::from_str_radix(word, 16).ok());
        word.filter(|_| !self.text.contains('*'))
    }

    /// The name that objdump gives to the target of its jump or call.
    pub fn names(&self) -> Option<&str> {
        let start = self.text.find('<')?;
        let end = self.text.rfind('>')?;
        self.text.get(start + 1..end)
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Function {
    /// Its demangled name.
    pub name: String,
    /// The names of the functions that are inlined into it.
    pub inlined: Vec<String>,
    /// Its code.
    pub code: Vec<Instruction>,
}

/// The last part of a name: `rx_batch` for `ixgbe::driver::rx::RxQueue::rx_batch` and `rx_batch.constprop.0`.
pub fn short(name: &str) -> &str {
    let name = name
        .split(['<', '('])
        .next()
        .filter(|part| !part.is_empty())
        .unwrap_or(name);
    let last = name
        .trim_end_matches(':')
        .rsplit("::")
        .next()
        .unwrap_or(name);
    last.split('.').next().unwrap_or(last)
}

impl Function {
    /// Whether it has one of `names`, or a function with one of them was inlined into it.
    pub fn holds(&self, names: &[&str]) -> bool {
        names.contains(&short(&self.name))
            || self.inlined.iter().any(|name| names.contains(&short(name)))
    }
}

/// Parses the output of `objdump -d -l --inlines -C --no-show-raw-insn`.
pub fn parse(text: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    // objdump prints the innermost line only when it changes, but the outer lines every time.
    let mut innermost: Option<Place> = None;
    let mut outer: Vec<Place> = Vec::new();
    for line in text.lines() {
        if let Some(name) = function_start(line) {
            functions.push(Function {
                name: name.to_owned(),
                ..Function::default()
            });
            innermost = None;
            outer.clear();
            continue;
        }
        let Some(function) = functions.last_mut() else {
            continue;
        };
        if let Some((address, text, data)) = instruction(line) {
            let places = innermost.iter().cloned().chain(outer.drain(..)).collect();
            function.code.push(Instruction {
                address,
                text: text.to_owned(),
                data,
                places,
            });
        } else if let Some(rest) = line.strip_prefix("inlined by ") {
            let (at, name) = rest.rsplit_once(" (").unwrap_or((rest, ""));
            outer.extend(place(at));
            note(function, name.trim_end_matches(')'));
        } else if let Some(name) = line.strip_suffix("():") {
            note(function, name);
        } else if let Some(at) = place(line) {
            innermost = Some(at);
        }
    }
    for function in &mut functions {
        while function.code.last().is_some_and(Instruction::is_padding) {
            function.code.pop();
        }
    }
    name_targets(&mut functions);
    functions
}

/// Names the targets of jumps and calls by the functions that hold them. objdump may take the name of another
/// symbol in between, such as one that the linker made for a source file.
fn name_targets(functions: &mut [Function]) {
    let mut starts: Vec<_> = functions
        .iter()
        .filter_map(|function| {
            let (first, last) = (function.code.first()?, function.code.last()?);
            Some((first.address, last.address, function.name.clone()))
        })
        .collect();
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
        if let (Some(open), Some(close)) = (instruction.text.find('<'), instruction.text.rfind('>'))
        {
            let name = match target - first {
                0 => name.clone(),
                offset => format!("{name}+{offset:#x}"),
            };
            instruction.text.replace_range(open + 1..close, &name);
        }
    }
}

fn note(function: &mut Function, name: &str) {
    if !name.is_empty() && !function.inlined.iter().any(|known| known == name) {
        function.inlined.push(name.to_owned());
    }
}

fn function_start(line: &str) -> Option<&str> {
    let (address, rest) = line.split_once(" <")?;
    u64::from_str_radix(address, 16).ok()?;
    rest.strip_suffix(">:")
}

/// The address, the text and the data of an instruction.
fn instruction(line: &str) -> Option<(u64, &str, Option<Data>)> {
    let (address, rest) = line.strip_prefix(' ')?.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let (text, comment) = rest.split_once(" # ").unwrap_or((rest, ""));
    Some((address, text.trim_end(), data(comment)))
}

/// Reads objdump's comment ` 5000 <name+0x8>`.
fn data(comment: &str) -> Option<Data> {
    let (address, name) = comment.trim().split_once(" <")?;
    let address = u64::from_str_radix(address, 16).ok()?;
    Some(Data {
        address,
        name: name.strip_suffix('>')?.to_owned(),
    })
}

fn place(text: &str) -> Option<Place> {
    let text = text.split(" (discriminator").next().unwrap_or(text);
    let (file, line) = text.rsplit_once(':')?;
    let line = line.parse().ok()?;
    (!file.is_empty()).then(|| Place {
        file: file.to_owned(),
        line,
    })
}
