//! Both sides in two columns, with marks between them.

use console::Style;

use super::entries::{entries, Context, Entry};
use super::{painted, Comparison};
use crate::code::machine_code::difference::Kind;
use crate::code::machine_code::source::SourceLine;

/// The narrowest column that is of use.
const NARROWEST: usize = 24;

/// Both sides, `width` characters wide. The marks are those of `diff --side-by-side`: `|` for a
/// changed line, `<` and `>` for a line of one side. `~` marks other registers or stack slots.
pub fn side_by_side(
    comparison: &Comparison,
    context: Context,
    width: usize,
    colours: bool,
) -> String {
    let column = (width.saturating_sub(3) / 2).max(NARROWEST);
    let mut text = String::new();
    for entry in entries(comparison, context) {
        let (style, a, mark, b) = match entry {
            Entry::Fold(count) => {
                let line = format!("      ... equal lines: {count} ...");
                text.push_str(&painted(&Style::new().dim(), &line, colours));
                text.push('\n');
                continue;
            }
            Entry::Function(a, b) => {
                let name =
                    |name: Option<&str>| name.map(|name| format!("{name}:")).unwrap_or_default();
                (Style::new().bold(), name(a), ' ', name(b))
            }
            Entry::Label(a, b) => (Style::new(), label(a), ' ', label(b)),
            Entry::Source(a, b) => (Style::new().dim(), source(a), ' ', source(b)),
            Entry::Code(row) => {
                let (style, mark) = look(row.kind);
                let a = row.a.map(|line| comparison.text_a(line));
                let b = row.b.map(|line| comparison.text_b(line));
                let indented = |text: Option<String>| {
                    text.map_or(String::new(), |text| format!("      {text}"))
                };
                (style, indented(a), mark, indented(b))
            }
        };
        let line = format!(
            "{} {mark} {}",
            cut(&a, column, true),
            cut(&b, column, false)
        );
        text.push_str(&painted(&style, line.trim_end(), colours));
        text.push('\n');
    }
    text
}

fn label(number: Option<usize>) -> String {
    number
        .map(|number| format!(".L{number}:"))
        .unwrap_or_default()
}

fn source(line: Option<&SourceLine>) -> String {
    line.map(|line| format!("  ; {}:{}  {}", line.file, line.line, line.text))
        .unwrap_or_default()
}

/// The colour and the mark of a row.
fn look(kind: Kind) -> (Style, char) {
    match kind {
        Kind::Same => (Style::new(), ' '),
        Kind::Names => (Style::new().cyan(), '~'),
        Kind::Changed => (Style::new().yellow(), '|'),
        Kind::OnlyA => (Style::new().red(), '<'),
        Kind::OnlyB => (Style::new().green(), '>'),
    }
}

/// A text of at most `width` characters, filled with spaces if wanted.
fn cut(text: &str, width: usize, fill: bool) -> String {
    let length = text.chars().count();
    match length > width {
        true => text.chars().take(width - 1).chain(['…']).collect(),
        false if fill => format!("{text}{}", " ".repeat(width - length)),
        false => text.to_owned(),
    }
}
