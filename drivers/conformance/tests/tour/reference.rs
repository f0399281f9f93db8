//! A reference of the tour: a line of a file, and what the line and those after it say.

/// `[FILE:LINE](../FILE#LLINE) `PIECE … PIECE``, or the link alone and a fenced block below it.
///
/// The first piece is the line. In a quote of one line, the others are later lines of the same
/// statement. In a block, they are the lines of code that follow.
#[derive(Debug, PartialEq, Eq)]
pub struct Reference {
    pub file: String,
    pub line: usize,
    pub pieces: Vec<String>,
    pub is_block: bool,
}

/// Stands for the lines that a quote leaves out.
const OMITTED: &str = " … ";
/// The same on a line of its own, in a block.
const OMITTED_LINES: &str = "…";
const FENCE: &str = "```";

/// The references of a text, in their order.
pub fn references(text: &str) -> Vec<Reference> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len())
        .filter_map(|at| Reference::parse(&lines[at..]))
        .collect()
}

impl Reference {
    /// Parses the reference that the first of these lines begins, if there is one.
    pub fn parse(lines: &[&str]) -> Option<Self> {
        let (line, below) = lines.split_first()?;
        let (_, rest) = line.split_once('[')?;
        let (place, rest) = rest.split_once("](../")?;
        let (target, rest) = rest.split_once(')')?;
        let (file, number) = place.rsplit_once(':')?;
        let is_block = rest.is_empty();
        let pieces: Vec<String> = if is_block {
            let code = block(below)?;
            code.iter().map(|line| line.trim().to_owned()).collect()
        } else {
            let code = rest.strip_prefix(" `")?.strip_suffix('`')?;
            code.split(OMITTED).map(str::to_owned).collect()
        };
        let reference = Self {
            file: file.to_owned(),
            line: number.parse().ok()?,
            pieces,
            is_block,
        };
        let target = target.trim_start_matches("../");
        (target == format!("{file}#L{number}")).then_some(reference)
    }

    /// The quote as the tour shows it.
    pub fn quote(&self) -> String {
        self.pieces.join(if self.is_block { " " } else { OMITTED })
    }

    /// The numbers of the source lines at which the quote begins.
    pub fn places(&self, source: &str) -> Vec<usize> {
        let lines: Vec<&str> = source.lines().collect();
        (1..=lines.len())
            .filter(|number| {
                let found = &lines[number - 1..];
                match self.is_block {
                    true => self.is_block_of(found),
                    false => self.is_statement_of(found),
                }
            })
            .collect()
    }

    fn is_statement_of(&self, lines: &[&str]) -> bool {
        let mut statement = statement(lines).into_iter();
        let first = statement.next() == self.pieces.first().map(String::as_str);
        first
            && self.pieces[1..]
                .iter()
                .all(|piece| statement.any(|line| line == piece))
    }

    /// Whether the code of these lines begins with the block. Comments and empty lines do not count.
    fn is_block_of(&self, lines: &[&str]) -> bool {
        let to_the_end = lines.iter().take_while(|line| **line != "}");
        let mut code = to_the_end
            .map(|line| line.trim())
            .filter(|line| is_code(line));
        if !lines.first().is_some_and(|line| is_code(line.trim())) {
            return false;
        }
        let mut omitted = false;
        self.pieces
            .iter()
            .filter(|piece| !piece.is_empty())
            .all(|piece| {
                if piece == OMITTED_LINES {
                    omitted = true;
                    return true;
                }
                match std::mem::take(&mut omitted) {
                    true => code.any(|line| line == piece),
                    false => code.next() == Some(piece),
                }
            })
    }
}

/// Whether a line without indentation is neither empty nor a comment.
fn is_code(line: &str) -> bool {
    let comment = line == "*"
        || ["//", "/*", "* ", "*/"]
            .iter()
            .any(|mark| line.starts_with(mark));
    !line.is_empty() && !comment
}

/// The code of a fenced block, if the next line that is not empty begins one.
fn block<'a, 'l>(lines: &'a [&'l str]) -> Option<&'a [&'l str]> {
    let first = lines.iter().position(|line| !line.is_empty())?;
    let code = &lines[first + 1..];
    let last = code.iter().position(|line| line.starts_with(FENCE))?;
    lines[first].starts_with(FENCE).then(|| &code[..last])
}

/// The lines of the statement that begins with the first line, without indentation. C2Rust makes two
/// statements of an assignment to a place; they count as one.
pub fn statement<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut taken = Vec::new();
    let mut depth = 0;
    let mut place = false;
    for line in lines.iter().map(|line| line.trim()) {
        place |= line.starts_with("let ref mut fresh");
        for bracket in line.chars() {
            match bracket {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
        }
        taken.push(line);
        let ended = depth <= 0 && (line.ends_with(';') || line.ends_with('{'));
        if ended && !std::mem::take(&mut place) {
            break;
        }
    }
    taken
}

/// The name of the function that contains a line, in C or Rust.
pub fn function(file: &str, source: &str, line: usize) -> Option<String> {
    let before: Vec<&str> = source.lines().take(line).collect();
    let name_before = |text: &str| {
        let name = text.rsplit(|c: char| !is_word(c)).next();
        name.filter(|name| !name.is_empty()).map(str::to_owned)
    };
    before.iter().rev().find_map(|text| {
        let (head, _) = text.split_once('(')?;
        if file.ends_with(".c") {
            // A definition is the only code that begins at the margin and has a bracket.
            let code = text
                .trim_start_matches("DATA_PATH ")
                .starts_with(|c: char| c.is_ascii_lowercase());
            return code.then(|| name_before(head)).flatten();
        }
        let (_, name) = text.split_once("fn ")?;
        name_before(name.split(['(', '<']).next()?)
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Words that another driver writes otherwise: types, keywords, and the macros of registers and
/// fields, which the transpiler replaces by numbers.
fn is_local(word: &str) -> bool {
    let keyword = ["struct", "const", "if", "return", "while", "for"].contains(&word);
    keyword || word.ends_with("_t") || word.starts_with("IXGBE_")
}

/// The names in a piece of code.
pub fn names(code: &str) -> Vec<&str> {
    code.split(|c: char| !is_word(c))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .filter(|word| !is_local(word))
        .collect()
}

/// The functions that a piece of C calls.
fn calls(code: &str) -> Vec<&str> {
    names(code)
        .into_iter()
        .filter(|name| code.contains(&format!("{name}(")))
        .collect()
}

/// The names of a C line that its transpiled statement lacks, and those that the quote of it lacks.
/// The quote must show what the line does: the functions that it calls, or else all names.
pub fn lacks<'c>(c: &'c str, statement: &str, quote: &str) -> Vec<&'c str> {
    let (said, shown) = (names(statement), names(quote));
    let mut shows = calls(c);
    if shows.is_empty() {
        shows = names(c);
    }
    let missing = names(c).into_iter().filter(|name| !said.contains(name));
    let hidden = shows.into_iter().filter(|name| !shown.contains(name));
    let mut lacks: Vec<_> = missing.chain(hidden).collect();
    lacks.sort_unstable();
    lacks.dedup();
    lacks
}

/// Whether two lines have a part of a name in common: `packet_alloc` and `pool.alloc` have `alloc`.
pub fn related(one: &str, other: &str) -> bool {
    let parts = |code| -> Vec<String> {
        names(code)
            .into_iter()
            .flat_map(|name| name.split('_'))
            .map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()))
            .filter(|part| part.len() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let parts_of_other = parts(other);
    parts(one).iter().any(|part| parts_of_other.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_reference_does_not_parse() {
        let right = "- C: [c/src/driver/rx.c:7](../c/src/driver/rx.c#L7) `int x;`";
        let reference = Reference::parse(&[right]).unwrap();
        assert_eq!((reference.line, reference.quote().as_str()), (7, "int x;"));
        assert_eq!(
            reference.places("a\n\tint x;\nint x; // y\nint x;\n"),
            [2, 4]
        );
        for wrong in [
            "- C: [c/src/driver/rx.c:7](../c/src/driver/rx.c#L8) `int x;`",
            "- C: [c/src/driver/rx.c:7](../c/src/driver/tx.c#L7) `int x;`",
            "- C: [c/src/driver/rx.c](../c/src/driver/rx.c#L7) `int x;`",
            "- C: [c/src/driver/rx.c:7](../c/src/driver/rx.c#L7) int x;",
        ] {
            assert_eq!(Reference::parse(&[wrong]), None, "{wrong}");
        }
    }

    #[test]
    fn the_pieces_of_a_quote_belong_to_one_statement() {
        let source = "f(\n    a,\n    b,\n);\nf(\n    c,\n    b,\n);\n";
        let place = |quote: &str| {
            let line = format!("- C: [x.c:1](../x.c#L1) `{quote}`");
            Reference::parse(&[line.as_str()]).unwrap().places(source)
        };
        assert_eq!(place("f( … b,"), [1, 5]);
        assert_eq!(place("f( … c,"), [5]);
        assert_eq!(place("f( … b, … a,"), [0; 0]);
        assert_eq!(place("a, … f("), [0; 0]);
    }

    #[test]
    fn a_block_quotes_the_code_below_its_line() {
        let source =
            "if a {\n    // why\n    b();\n    c();\n}\n\nfn x() {\n    if a {\n        c();\n";
        let places = |code: &str| {
            let text = format!("[x.rs:1](../../x.rs#L1)\n```rust\n{code}\n```\n");
            let lines: Vec<&str> = text.lines().collect();
            Reference::parse(&lines).unwrap().places(source)
        };
        assert_eq!(places("if a {\n    b();\n    c();"), [1]);
        assert_eq!(places("if a {\n    …\n    c();"), [1, 8]);
        assert_eq!(places("if a {\n\n    c();"), [8]);
        assert_eq!(places("b();\nif a {"), [0; 0]);
    }

    #[test]
    fn the_function_of_a_line_is_the_one_that_contains_it() {
        let c = "static int one(int a)\n{\n\tcall(a);\n}\n\nint two(int a,\n\tint b)\n{\n\tx();\n";
        assert_eq!(function("x.c", c, 3).as_deref(), Some("one"));
        assert_eq!(function("x.c", c, 9).as_deref(), Some("two"));
        let rust = "impl X {\n    pub fn one<T>(&self) {\n        call();\n    }\n}\n";
        assert_eq!(function("x.rs", rust, 3).as_deref(), Some("one"));
        assert_eq!(function("x.rs", "use x;\n", 1), None);
    }

    /// The tour once quoted these lines beside each other.
    #[test]
    fn a_line_that_does_something_else_is_noticed() {
        let tail = "tail_write(queue->vfio, queue->tail, IXGBE_TDT(queue->id), index);";
        let translation =
            "tail_write( (*queue).vfio, (*queue).tail, 0x6018, (*queue).id, index, );";
        assert_eq!(lacks(tail, translation, "tail_write("), [""; 0]);
        assert_eq!(
            lacks(tail, "dma_write_barrier();", "dma_write_barrier();").first(),
            Some(&"id")
        );
        let argument = "size.wrapping_sub(1 as uint32_t), );";
        assert!(lacks(tail, argument, argument).contains(&"tail_write"));
        let slot = "queue->packets[index] = fresh;";
        let read = "let mut packet: *mut packet = *(*queue).packets.offset(index as isize);";
        assert_eq!(lacks(slot, read, read), ["fresh"]);
        let place = "let ref mut fresh0 = *(*queue).packets.offset(index as isize);";
        let write = format!("{place} *fresh0 = fresh;");
        assert_eq!(lacks(slot, &write, place), ["fresh"]);
        assert_eq!(lacks(slot, &write, &write), [""; 0]);
    }

    #[test]
    fn related_lines_have_a_part_of_a_name_in_common() {
        assert!(related("packet_alloc(pool)", "let x = source.alloc()"));
        assert!(related(
            "dma_load64(&descriptor->upper)",
            "entry.load_upper()"
        ));
        assert!(!related("dma_write_barrier();", "self.index = index;"));
    }
}
